//! `ClassicalKey`, the private key that signs: read in three encodings (PKCS#8, ECPrivateKey and RSAPrivateKey),
//! written as PKCS#8, and given to others as a `Signer`.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;

use pki_types::SubjectPublicKeyInfoDer;
use spki::AlgorithmIdentifierOwned;
use zeroize::Zeroizing;

use super::algorithm::{ClassicalAlgorithm, RsaScheme};
use super::document::Document;
use super::error::ClassicalKeyError;
use super::graviola;
use super::private_key::PrivateKey;
use super::public_key::ClassicalPublicKey;
use crate::encoding::{identifier_in, pem};
use crate::keys::{SignError, Signer, SubjectKey};

/// A private key of ECDSA, Ed25519 or RSA that signs certificates and requests.
///
/// It is a [`Signer`](crate::Signer): what issues certificates takes it like a post-quantum key. Clones share
/// one key. Buffers that hold a key are wiped, but graviola moves keys by value, which may leave copies
/// on the stack.
///
/// ```
/// use pq_keys::classical::{ClassicalAlgorithm, ClassicalKey};
///
/// let key = ClassicalKey::generate(ClassicalAlgorithm::EcdsaP256)?;
/// let pem = key.to_pkcs8_pem();
///
/// let signature = ClassicalKey::from_pem(&pem)?.sign(b"message")?;
/// key.public_key().verify(b"message", &signature)?;
/// # Ok::<_, pq_keys::classical::ClassicalKeyError>(())
/// ```
#[derive(Clone)]
pub struct ClassicalKey {
    key: Arc<dyn PrivateKey>,
    public_key: ClassicalPublicKey,
}

impl ClassicalKey {
    /// Makes a new key from the operating system's randomness.
    ///
    /// RSA takes a while, 4096 bits up to some seconds, and RSA key generation is not constant time:
    /// don't make RSA keys where others can time or otherwise watch the program.
    ///
    /// # Errors
    ///
    /// [`ClassicalKeyError::Randomness`] if there is no randomness. Like all functions that make or
    /// read a key: [`ClassicalKeyError::UnsupportedCpu`] and
    /// [`ClassicalKeyError::UnsupportedArchitecture`].
    pub fn generate(algorithm: ClassicalAlgorithm) -> Result<Self, ClassicalKeyError> {
        Self::new(graviola::generate(algorithm)?)
    }

    /// Reads the DER of a private key: PKCS#8 of version 1 or 2 (RFC 5958), ECPrivateKey with the name of
    /// its curve (RFC 5915), or RSAPrivateKey (RFC 8017).
    ///
    /// If the document has a public key too, both must belong together. For RSA this compares public
    /// numbers only; [`check`](Self::check) tells whether the private numbers belong to them.
    ///
    /// # Errors
    ///
    /// A [`ClassicalKeyError`] that says what is wrong with the key.
    pub fn from_der(der: &[u8]) -> Result<Self, ClassicalKeyError> {
        let document = Document::read(der)?;
        let key = Self::new(graviola::read(document.family, document.key)?)?;
        match document.public_key {
            Some(public_key) if public_key != key.public_key.as_bytes() => {
                Err(ClassicalKeyError::PublicKeyMismatch(document.family.name()))
            }
            _ => Ok(key),
        }
    }

    /// Reads the first private key of a PEM text: a block `PRIVATE KEY`, `EC PRIVATE KEY` or
    /// `RSA PRIVATE KEY`.
    ///
    /// # Errors
    ///
    /// [`ClassicalKeyError::Pem`] if there is none, and those of DER.
    pub fn from_pem(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, ClassicalKeyError> {
        let labels = [PEM_LABEL, "EC PRIVATE KEY", "RSA PRIVATE KEY"];
        Self::from_der(&pem::decode_first_of(text, &labels)?.1)
    }

    /// Takes an ECDSA scalar of 32 or 48 bytes, big-endian, or an Ed25519 seed of 32 bytes.
    ///
    /// # Errors
    ///
    /// [`ClassicalKeyError::NoRawBytes`] for RSA, [`ClassicalKeyError::RawLength`] for a wrong length,
    /// and [`ClassicalKeyError::Malformed`] for a scalar that is out of range.
    pub fn from_raw(algorithm: ClassicalAlgorithm, key: &[u8]) -> Result<Self, ClassicalKeyError> {
        let expected = algorithm.raw_private_key_len();
        match expected.ok_or(ClassicalKeyError::NoRawBytes(algorithm))? {
            expected if expected != key.len() => Err(ClassicalKeyError::RawLength {
                algorithm,
                expected,
                found: key.len(),
            }),
            _ => Self::new(graviola::from_raw(algorithm, key)?),
        }
    }

    fn new(key: Box<dyn PrivateKey>) -> Result<Self, ClassicalKeyError> {
        Ok(Self {
            public_key: ClassicalPublicKey::from_spki_der(&key.spki())?,
            key: key.into(),
        })
    }

    /// The algorithm.
    pub fn algorithm(&self) -> ClassicalAlgorithm {
        self.public_key.algorithm()
    }

    /// The public half.
    pub fn public_key(&self) -> &ClassicalPublicKey {
        &self.public_key
    }

    /// The key in PKCS#8 of version 1, which all implementations read.
    ///
    /// For ECDSA it contains the name of the curve and the public key (RFC 5915), for Ed25519 the seed
    /// alone (RFC 8410).
    pub fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
        self.key.pkcs8()
    }

    /// The key in PKCS#8 of version 1, as PEM.
    pub fn to_pkcs8_pem(&self) -> Zeroizing<String> {
        Zeroizing::new(pem::encode(PEM_LABEL, &self.key.pkcs8()))
    }

    /// The raw key, which [`from_raw`](Self::from_raw) takes.
    ///
    /// # Errors
    ///
    /// [`ClassicalKeyError::NoRawBytes`] for RSA.
    pub fn to_raw(&self) -> Result<Zeroizing<Vec<u8>>, ClassicalKeyError> {
        let raw = self.key.raw();
        raw.ok_or_else(|| ClassicalKeyError::NoRawBytes(self.algorithm()))
    }

    /// Checks that the key works: signs a message and verifies the signature.
    ///
    /// The private exponent of RSA is not checked, because nothing uses it.
    ///
    /// # Errors
    ///
    /// [`ClassicalKeyError::Unsound`] if the key doesn't work, and [`ClassicalKeyError::Randomness`] if
    /// there is no randomness to sign with.
    pub fn check(&self) -> Result<(), ClassicalKeyError> {
        const MESSAGE: &[u8] = b"rustls-pq check";
        let signature = self.sign(MESSAGE)?;
        let verified = self.public_key.verify(MESSAGE, &signature);
        verified.map_err(|_| ClassicalKeyError::Unsound)
    }

    /// Signs a message as for certificates: [`ClassicalAlgorithm`] names the hash and padding.
    ///
    /// # Errors
    ///
    /// [`ClassicalKeyError::Randomness`] if there is no randomness, and [`ClassicalKeyError::Unsound`] if the
    /// parts of an RSA key don't belong together.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, ClassicalKeyError> {
        self.sign_with(message, RsaScheme::default())
    }

    /// Signs a message with another RSA scheme, which documents may require. Keys of other algorithms
    /// sign as [`sign`](Self::sign) does.
    ///
    /// # Errors
    ///
    /// Those of [`sign`](Self::sign).
    pub fn sign_with(&self, message: &[u8], rsa: RsaScheme) -> Result<Vec<u8>, ClassicalKeyError> {
        self.key.sign(message, rsa)
    }
}

impl SubjectKey for ClassicalKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.public_key.spki()
    }
}

impl Signer for ClassicalKey {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        let algorithm = self.algorithm();
        let identifier = algorithm.signature_identifier(RsaScheme::default());
        let identifier = identifier_in(&identifier).expect("it is a constant");
        AlgorithmIdentifierOwned {
            oid: identifier.oid,
            parameters: identifier.parameters.map(Into::into),
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        self.sign(message).map_err(SignError::new)
    }
}

impl fmt::Debug for ClassicalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClassicalKey")
            .field("algorithm", &self.algorithm())
            .finish_non_exhaustive()
    }
}

const PEM_LABEL: &str = "PRIVATE KEY";
