//! A version of a remote key as a signer.

use core::fmt;

use base64ct::{Base64, Encoding};
use pq_keys::any::{AnyKeyError, AnyPublicKey};
use pq_keys::classical::ClassicalAlgorithm;
use pq_keys::encoding::identifier_in;
use pq_keys::pki_types::{SubjectPublicKeyInfoDer, alg_id};
use pq_keys::signing::SignatureOptions;
use pq_keys::spki::AlgorithmIdentifierOwned;
use pq_keys::{Algorithm, KeyError, PublicKey, SignError, Signer, SubjectKey};

use super::client::RemoteStore;
use super::error::RemoteError;
use super::messages::Use;
use crate::name::Version;

/// One version of a key behind a network, which signs for pq-x509, pq-cms, pq-jose and pq-ssh.
///
/// It asks each time, and keeps nothing but the public key. Of ML-DSA it sends µ, 64 bytes, whatever the message's length.
/// It stays with its version when the key is rotated: [another](Self::newest) is of the new version. An error says in
/// [`RemoteError::retry`], which [`SignError::get_ref`] gives access to, whether trying again helps.
#[derive(Clone)]
pub struct RemoteSigner {
    store: RemoteStore,
    name: String,
    version: Version,
    key: AnyPublicKey,
    algorithm: AlgorithmIdentifierOwned,
}

impl fmt::Debug for RemoteSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSigner")
            .field("name", &self.name)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl RemoteSigner {
    /// The newest version of a key.
    ///
    /// # Errors
    ///
    /// Those of [`RemoteStore::public_key`], and [`RemoteError::Answer`] if it is no key that signs.
    pub fn newest(store: &RemoteStore, name: &str) -> Result<Self, RemoteError> {
        let (version, key) = store.public_key(name, None)?;
        let algorithm = signature_algorithm(&key)?;
        Ok(Self {
            store: store.clone(),
            name: name.into(),
            version,
            key,
            algorithm,
        })
    }

    /// Which version it is.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The public key.
    pub fn public_key(&self) -> &AnyPublicKey {
        &self.key
    }

    /// What is sent for a message: µ, or the message where there is no µ.
    fn input(&self, message: &[u8]) -> Result<(String, bool), RemoteError> {
        if let AnyPublicKey::PostQuantum(PublicKey::Verifying(key)) = &self.key {
            match key.hasher(&SignatureOptions::new()) {
                Ok(mut hasher) => {
                    hasher.update(message);
                    if let Some(mu) = hasher.finish().mu() {
                        return Ok((Base64::encode_string(mu), true));
                    }
                }
                Err(KeyError::CannotStream(_)) => {}
                Err(error) => return Err(AnyKeyError::from(error).into()),
            }
        }
        Ok((Base64::encode_string(message), false))
    }
}

/// The identifier of the signatures that belong to a public key.
fn signature_algorithm(key: &AnyPublicKey) -> Result<AlgorithmIdentifierOwned, RemoteError> {
    let plain = |oid| AlgorithmIdentifierOwned {
        oid,
        parameters: None,
    };
    let identifier = match key {
        AnyPublicKey::PostQuantum(PublicKey::Verifying(key)) => {
            return Ok(plain(Algorithm::Signature(key.algorithm()).oid()));
        }
        AnyPublicKey::Composite(key) => return Ok(plain(key.algorithm().oid())),
        AnyPublicKey::Classical(key) => match key.algorithm() {
            ClassicalAlgorithm::EcdsaP256 => alg_id::ECDSA_SHA256,
            ClassicalAlgorithm::EcdsaP384 => alg_id::ECDSA_SHA384,
            ClassicalAlgorithm::Ed25519 => alg_id::ED25519,
            ClassicalAlgorithm::Rsa2048
            | ClassicalAlgorithm::Rsa3072
            | ClassicalAlgorithm::Rsa4096 => alg_id::RSA_PKCS1_SHA256,
            _ => return Err(RemoteError::Answer("the key does not sign")),
        },
        _ => return Err(RemoteError::Answer("the key does not sign")),
    };
    let read = identifier_in(&identifier);
    let read = read.map_err(|_| RemoteError::Answer("the key does not sign"))?;
    Ok(AlgorithmIdentifierOwned {
        oid: read.oid,
        parameters: read.parameters.map(Into::into),
    })
}

impl SubjectKey for RemoteSigner {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.key.to_spki_der().into()
    }
}

impl Signer for RemoteSigner {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        self.algorithm.clone()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let (input, prehashed) = self.input(message).map_err(SignError::new)?;
        let body = Use {
            key_version: Some(self.version.get()),
            prehashed,
            signature_algorithm: Some("pkcs1v15"),
            input: Some(input),
            signature: None,
            batch_input: None,
        };
        let signed = self
            .store
            .sign_with(&self.name, Some(self.version), &body)
            .map_err(SignError::new)?;
        Ok(signed.signature)
    }
}
