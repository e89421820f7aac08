//! Keys for tests, from fixed seeds.

use pq_jose::Algorithm;
use pq_jose::jwk::{Jwk, PrivateJwk};
use pq_keys::pki_types::SubjectPublicKeyInfoDer;
use pq_keys::signing::{PreHash, SignatureOptions, SigningVariant};
use pq_keys::spki::AlgorithmIdentifierOwned;
use pq_keys::{SignError, Signer, SigningKey, SubjectKey};

pub(crate) fn signing_key(algorithm: Algorithm, seed: u8) -> SigningKey {
    SigningKey::from_seed(algorithm.into(), &[seed; 32]).unwrap()
}

pub(crate) fn private(seed: u8) -> PrivateJwk {
    PrivateJwk::new(signing_key(Algorithm::MlDsa44, seed)).unwrap()
}

pub(crate) fn public(seed: u8) -> Jwk {
    private(seed).public().clone()
}

/// Signs without randomness, as for the examples of RFC 9964; also an example of a signer that is not one of this
/// project's types.
pub(crate) struct Deterministic(pub(crate) SigningKey);

impl SubjectKey for Deterministic {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.0.spki()
    }
}

impl Signer for Deterministic {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        self.0.signature_algorithm()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let options = SignatureOptions::new();
        let signature = self
            .0
            .sign_with(message, &options, SigningVariant::Deterministic);
        signature.map_err(SignError::new)
    }
}

pub(crate) fn sha256(bytes: impl AsRef<[u8]>) -> String {
    let mut hasher = PreHash::Sha256.hasher();
    hasher.update(bytes.as_ref());
    hex::encode(hasher.finish().as_bytes())
}

/// Changes to a byte that distinguish the checks from one another: all changes would take minutes.
pub(crate) fn changes(byte: u8) -> impl Iterator<Item = u8> {
    [byte ^ 1, byte ^ 0x80, byte.wrapping_add(1), b'A', b'.', 0]
        .into_iter()
        .filter(move |other| *other != byte)
}
