//! `CompositeKey`, the private key: made, read from and written to PKCS#8, and how both halves sign the same message
//! representative.

use core::fmt;

use der::Decode;
use pkcs8::PrivateKeyInfoRef;
use pki_types::SubjectPublicKeyInfoDer;
use spki::AlgorithmIdentifierOwned;
use zeroize::Zeroizing;

use super::algorithm::CompositeAlgorithm;
use super::encoding;
use super::error::{CompositeKeyError, of_classical, of_ml_dsa};
use super::message::HashedMessage;
use super::public_key::CompositePublicKey;
use crate::classical::ClassicalKey;
use crate::encoding::pem;
use crate::keys::{SignError, SignatureOptions, Signer, SigningKey, SigningVariant, SubjectKey};

/// A composite private key, which signs certificates, requests and documents.
///
/// It is a [`Signer`](crate::Signer): what issues certificates takes it like a post-quantum key. Clones share
/// one key. Buffers that hold a key are wiped, but graviola moves keys by value, which may leave copies
/// on the stack.
#[derive(Clone)]
pub struct CompositeKey {
    ml_dsa: SigningKey,
    classical: ClassicalKey,
    public_key: CompositePublicKey,
}

impl CompositeKey {
    /// Makes two new keys from the operating system's randomness.
    ///
    /// With RSA it takes a while: see [`ClassicalKey::generate`].
    ///
    /// # Errors
    ///
    /// [`CompositeKeyError::Randomness`] if there is no randomness; [`CompositeKeyError::Classical`] if
    /// graviola doesn't run on this machine, like all functions that make or read a key.
    pub fn generate(algorithm: CompositeAlgorithm) -> Result<Self, CompositeKeyError> {
        let row = algorithm.row();
        Self::of_halves(
            algorithm,
            SigningKey::generate(row.ml_dsa).map_err(of_ml_dsa(algorithm))?,
            ClassicalKey::generate(row.classical).map_err(of_classical(algorithm))?,
        )
    }

    /// Reads the key alone: the ML-DSA seed of 32 bytes, then the classical half.
    ///
    /// The classical half is the DER of ECPrivateKey with the curve and without the public key, the
    /// Ed25519 seed, or the DER of RSAPrivateKey (section 4 of the draft). No other encoding is accepted.
    ///
    /// # Errors
    ///
    /// A [`CompositeKeyError`] that says what is wrong with the key.
    pub fn from_bytes(
        algorithm: CompositeAlgorithm,
        bytes: &[u8],
    ) -> Result<Self, CompositeKeyError> {
        let row = algorithm.row();
        let (seed, classical) =
            bytes
                .split_at_checked(row.ml_dsa.seed_len())
                .ok_or(CompositeKeyError::Malformed {
                    algorithm,
                    reason: "it ends within its ML-DSA half",
                })?;
        Self::of_halves(
            algorithm,
            SigningKey::from_seed(row.ml_dsa, seed).map_err(of_ml_dsa(algorithm))?,
            encoding::read(algorithm, classical)?,
        )
    }

    /// Reads a PKCS#8 private key (RFC 5958, version 1 or 2) from DER.
    ///
    /// If there is a public key too, it must be the private key's own.
    ///
    /// # Errors
    ///
    /// A [`CompositeKeyError`] that says what is wrong with the key.
    pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, CompositeKeyError> {
        let info = PrivateKeyInfoRef::from_der(der)?;
        let algorithm = encoding::algorithm(&info.algorithm)?;
        let key = Self::from_bytes(algorithm, info.private_key.as_bytes())?;
        match info.public_key {
            Some(bits) if bits.as_bytes() != Some(key.public_key.as_bytes()) => {
                Err(CompositeKeyError::PublicKeyMismatch(algorithm))
            }
            _ => Ok(key),
        }
    }

    /// Reads the first `PRIVATE KEY` block of a PEM text.
    ///
    /// # Errors
    ///
    /// [`CompositeKeyError::Pem`] if there is none, and those of DER.
    pub fn from_pkcs8_pem(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, CompositeKeyError> {
        Self::from_pkcs8_der(&pem::decode_first(text, PEM_LABEL)?)
    }

    fn of_halves(
        algorithm: CompositeAlgorithm,
        ml_dsa: SigningKey,
        classical: ClassicalKey,
    ) -> Result<Self, CompositeKeyError> {
        let public_key = CompositePublicKey::of_halves(
            algorithm,
            ml_dsa.verifying_key().clone(),
            classical.public_key().clone(),
        )?;
        Ok(Self {
            ml_dsa,
            classical,
            public_key,
        })
    }

    /// The algorithm.
    pub fn algorithm(&self) -> CompositeAlgorithm {
        self.public_key.algorithm()
    }

    /// The composite public key.
    pub fn public_key(&self) -> &CompositePublicKey {
        &self.public_key
    }

    /// The key alone, which [`from_bytes`](Self::from_bytes) reads.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let seed = self.ml_dsa.seed().expect("it was made from its seed");
        let classical = encoding::write(&self.classical);
        [seed, &*classical].concat().into()
    }

    /// The key in PKCS#8 of version 1, as in the draft.
    pub fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
        encoding::pkcs8(self.algorithm(), &self.to_bytes())
    }

    /// The key in PKCS#8 of version 1, as PEM.
    pub fn to_pkcs8_pem(&self) -> Zeroizing<String> {
        Zeroizing::new(pem::encode(PEM_LABEL, &self.to_pkcs8_der()))
    }

    /// Checks that the key works: signs a message and verifies the signature.
    ///
    /// The private exponent of RSA is not checked, because nothing uses it.
    ///
    /// # Errors
    ///
    /// [`CompositeKeyError::Unsound`] if the key doesn't work, and [`CompositeKeyError::Randomness`] if
    /// there is no randomness to sign with.
    pub fn check(&self) -> Result<(), CompositeKeyError> {
        const MESSAGE: &[u8] = b"rustls-pq check";
        let signature = self.sign(MESSAGE)?;
        let verified = self.public_key.verify(MESSAGE, &signature);
        verified.map_err(|_| CompositeKeyError::Unsound(self.algorithm()))
    }

    /// Signs a message as for certificates, with an empty context.
    ///
    /// # Errors
    ///
    /// [`CompositeKeyError::Randomness`] if there is no randomness, and [`CompositeKeyError::Unsound`] if the
    /// parts of an RSA half don't belong together.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, CompositeKeyError> {
        self.sign_with_context(message, &[])
    }

    /// Signs a message with a context of at most 255 bytes, which separates signatures for different
    /// purposes.
    ///
    /// # Errors
    ///
    /// As [`sign`](Self::sign), and [`CompositeKeyError::ContextTooLong`].
    pub fn sign_with_context(
        &self,
        message: &[u8],
        context: &[u8],
    ) -> Result<Vec<u8>, CompositeKeyError> {
        self.sign_hashed(&HashedMessage::of(self.algorithm(), message, context)?)
    }

    /// Signs a message that was hashed before.
    ///
    /// # Errors
    ///
    /// As [`sign`](Self::sign), and [`CompositeKeyError::OtherAlgorithm`] if it was hashed for
    /// another combination.
    pub fn sign_hashed(&self, message: &HashedMessage) -> Result<Vec<u8>, CompositeKeyError> {
        let algorithm = self.algorithm();
        let message = message.for_key_of(algorithm)?;
        let row = algorithm.row();
        let label = algorithm.label();
        let options = SignatureOptions::new().context(label.as_bytes());
        let ml_dsa = self
            .ml_dsa
            .sign_with(message, &options, SigningVariant::Hedged)
            .map_err(of_ml_dsa(algorithm))?;
        let classical = self
            .classical
            .sign_with(message, row.rsa)
            .map_err(of_classical(algorithm))?;
        Ok([ml_dsa, classical].concat())
    }
}

impl SubjectKey for CompositeKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.public_key.spki()
    }
}

impl Signer for CompositeKey {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        AlgorithmIdentifierOwned {
            oid: self.algorithm().oid(),
            parameters: None,
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        self.sign(message).map_err(SignError::new)
    }
}

impl fmt::Debug for CompositeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompositeKey")
            .field("algorithm", &self.algorithm())
            .finish_non_exhaustive()
    }
}

const PEM_LABEL: &str = "PRIVATE KEY";
