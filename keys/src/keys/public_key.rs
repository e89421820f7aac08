//! The public keys `VerifyingKey` and `EncapsulationKey`, and `PublicKey`, which is either: used, and read from and
//! written to SubjectPublicKeyInfo.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;

use der::asn1::BitStringRef;
use der::{Decode, Encode};
use pki_types::SubjectPublicKeyInfoDer;
use pq_core::ml_dsa::PreHash;
use pq_core::ml_kem::{SHARED_SECRET_LEN, SharedSecret};
use spki::{AlgorithmIdentifierRef, ObjectIdentifier, SubjectPublicKeyInfoRef};
use zeroize::Zeroizing;

use super::algorithm::{Algorithm, KemAlgorithm, PreHashRow, SignatureAlgorithm};
use super::backend::{AnyEncapsulationKey, AnyVerifyingKey, Message};
use super::error::KeyError;
use super::message::{Hashed, HashedMessage, Hashing, MessageHasher, SignatureOptions};
use super::mode::Mode;
use super::random;
use super::signer::SubjectKey;
use crate::encoding::pem;
use crate::encoding::syntax::{self, whole_octets};

/// A public key that verifies signatures, of any ML-DSA or SLH-DSA parameter set.
///
/// It is a key of HashSLH-DSA if it was read from a SubjectPublicKeyInfo that says so, and else pure.
///
/// Clones share one key.
#[derive(Clone)]
pub struct VerifyingKey {
    algorithm: SignatureAlgorithm,
    /// Set for a key of HashSLH-DSA.
    pre_hash: Option<&'static PreHashRow>,
    key: Arc<dyn AnyVerifyingKey>,
    spki: Arc<[u8]>,
}

impl VerifyingKey {
    /// Reads the raw key of FIPS 204 (algorithm 22, pkEncode) or of FIPS 205 (figure 16).
    ///
    /// # Errors
    ///
    /// [`KeyError::Malformed`] if the length is wrong.
    pub fn from_bytes(algorithm: SignatureAlgorithm, bytes: &[u8]) -> Result<Self, KeyError> {
        Self::new(algorithm, None, bytes)
    }

    pub(crate) fn new(
        algorithm: SignatureAlgorithm,
        pre_hash: Option<&'static PreHashRow>,
        bytes: &[u8],
    ) -> Result<Self, KeyError> {
        let key = (algorithm.row().verifying_key)(bytes).map_err(|error| KeyError::Malformed {
            algorithm: algorithm.into(),
            error,
        })?;
        let oid = pre_hash.map_or_else(|| algorithm.oid(), |row| row.oid);
        Ok(Self {
            algorithm,
            pre_hash,
            key,
            spki: encode_spki(oid, bytes)?,
        })
    }

    /// Whether the key is for messages or for hashes of them (HashSLH-DSA, RFC 9909). Only a key
    /// that was read can be for hashes.
    pub fn mode(&self) -> Mode {
        match self.pre_hash {
            None => Mode::Pure,
            Some(_) => Mode::PreHash,
        }
    }

    /// The object identifier of the key and of its signatures, which is not that of
    /// [`algorithm`](Self::algorithm) if the [`mode`](Self::mode) is [`Mode::PreHash`].
    pub fn oid(&self) -> ObjectIdentifier {
        self.pre_hash
            .map_or_else(|| self.algorithm.oid(), |row| row.oid)
    }

    /// Returns the same key with precomputed values, for a key that verifies many signatures.
    ///
    /// An ML-DSA key then keeps Â, t₁ and tr, which take 22 to 67 KiB more, instead of computing them for
    /// each signature. For SLH-DSA there is nothing to precompute.
    ///
    /// ```
    /// use pq_keys::{SignatureAlgorithm, SigningKey};
    ///
    /// let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
    /// let expanded = key.verifying_key().expand();
    /// assert_eq!(&expanded, key.verifying_key());
    /// expanded.verify(b"message", &key.sign(b"message")?)?;
    /// # Ok::<_, pq_keys::KeyError>(())
    /// ```
    pub fn expand(&self) -> Self {
        let mut expanded = self.clone();
        if let Some(key) = self.key.expand() {
            expanded.key = key;
        }
        expanded
    }

    /// Checks a signature as certificates and TLS do: in the key's [`mode`](Self::mode), with an
    /// empty context.
    ///
    /// # Errors
    ///
    /// [`KeyError::InvalidSignature`], also for a signature of a wrong length.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), KeyError> {
        self.verify_with(message, signature, &SignatureOptions::new())
    }

    /// Checks a signature with a context, or of a hash of the message.
    ///
    /// It accepts any hash function, even one that [`sign_with`](crate::SigningKey::sign_with) refuses
    /// as too weak: other signers may use it, and each verifier decides what to accept.
    ///
    /// # Errors
    ///
    /// [`KeyError::InvalidSignature`], also for a signature of a wrong length;
    /// [`KeyError::OtherPreHash`] if the key is for another hash function; [`KeyError::Operation`] if
    /// the context has more than 255 bytes.
    pub fn verify_with(
        &self,
        message: &[u8],
        signature: &[u8],
        options: &SignatureOptions<'_>,
    ) -> Result<(), KeyError> {
        let message = self.message(message, options)?;
        let verified = self.key.verify(message, options.context, signature);
        verified.map_err(|error| self.refusal(error))
    }

    /// Checks a signature of a message that [`hasher`](Self::hasher) hashed, or of an external µ.
    ///
    /// # Errors
    ///
    /// [`KeyError::InvalidSignature`], also for a signature of a wrong length; [`KeyError::NoMu`] if
    /// the message is µ but the key is not one of ML-DSA; [`KeyError::OtherPreHash`] if the key is for
    /// another hash function.
    pub fn verify_hashed(&self, message: &HashedMessage, signature: &[u8]) -> Result<(), KeyError> {
        match &message.0 {
            Hashed::Mu(mu) => {
                let verified = self.key.verify_mu(mu, signature);
                verified.ok_or(KeyError::NoMu(self.algorithm))?
            }
            Hashed::PreHash { digest, context } => {
                self.pre_hash_with(Some(digest.hash()))?;
                let message = Message::Digest(digest.hash(), digest.as_bytes());
                self.key.verify(message, context, signature)
            }
        }
        .map_err(|error| self.refusal(error))
    }

    /// Starts to hash a message that comes in pieces. It needs no secret: the result can be sent to
    /// where the private key is.
    ///
    /// # Errors
    ///
    /// [`KeyError::CannotStream`] for pure SLH-DSA, [`KeyError::OtherPreHash`] if the key is for
    /// another hash function, [`KeyError::Operation`] if the context has more than 255 bytes.
    pub fn hasher(&self, options: &SignatureOptions<'_>) -> Result<MessageHasher, KeyError> {
        let context = options.context;
        let hasher = match self.pre_hash_with(options.pre_hash)? {
            Some(_) if context.len() > MAX_CONTEXT_LEN => {
                return Err(self.refusal(pq_core::Error::ContextTooLong));
            }
            Some(hash) => Hashing::PreHash {
                hasher: hash.hasher(),
                context: context.into(),
            },
            None => match self.key.mu_hasher(context) {
                Some(hasher) => Hashing::Mu(hasher.map_err(|error| self.refusal(error))?),
                None => return Err(KeyError::CannotStream(self.algorithm)),
            },
        };
        Ok(MessageHasher(hasher))
    }

    pub(super) fn backend(&self) -> &dyn AnyVerifyingKey {
        &*self.key
    }

    /// The form in which a message is signed: itself, or hashed.
    pub(super) fn message<'a>(
        &self,
        message: &'a [u8],
        options: &SignatureOptions<'_>,
    ) -> Result<Message<'a>, KeyError> {
        Ok(match self.pre_hash_with(options.pre_hash)? {
            None => Message::Pure(message),
            Some(hash) => Message::Hashed(hash, message),
        })
    }

    /// The hash function to use if the caller asks for this one, or for none.
    pub(super) fn pre_hash_with(
        &self,
        asked: Option<PreHash>,
    ) -> Result<Option<PreHash>, KeyError> {
        let own = self.pre_hash.map(|row| row.hash);
        match (own, asked) {
            (Some(own), Some(asked)) if own != asked => Err(KeyError::OtherPreHash {
                algorithm: self.algorithm,
                own,
                asked,
            }),
            _ => Ok(own.or(asked)),
        }
    }

    /// Converts an error of pq-core's verification: wrong options, or else an invalid signature.
    pub(super) fn refusal(&self, error: pq_core::Error) -> KeyError {
        match error {
            pq_core::Error::ContextTooLong => KeyError::Operation {
                algorithm: self.algorithm.into(),
                error,
            },
            _ => KeyError::InvalidSignature(self.algorithm),
        }
    }
}

/// FIPS 204, algorithm 2; FIPS 205, algorithm 22.
const MAX_CONTEXT_LEN: usize = 255;

/// A public key that others encapsulate to, of any ML-KEM parameter set.
///
/// Clones share one key.
#[derive(Clone)]
pub struct EncapsulationKey {
    algorithm: KemAlgorithm,
    key: Arc<dyn AnyEncapsulationKey>,
    spki: Arc<[u8]>,
}

impl EncapsulationKey {
    /// Reads the raw key of FIPS 203, with the checks of its section 7.2.
    ///
    /// # Errors
    ///
    /// [`KeyError::Malformed`] if the length is wrong or a coefficient not reduced.
    pub fn from_bytes(algorithm: KemAlgorithm, bytes: &[u8]) -> Result<Self, KeyError> {
        let key =
            (algorithm.row().encapsulation_key)(bytes).map_err(|error| KeyError::Malformed {
                algorithm: algorithm.into(),
                error,
            })?;
        Ok(Self {
            algorithm,
            key,
            spki: encode_spki(algorithm.oid(), bytes)?,
        })
    }

    /// Makes a shared secret and the ciphertext that carries it to the key's owner,
    /// with the operating system's randomness.
    ///
    /// The secret is boxed, because returning it by value would leave a copy of it on the stack.
    ///
    /// # Errors
    ///
    /// [`KeyError::Randomness`] if there is none.
    pub fn encapsulate(&self) -> Result<(Vec<u8>, Box<SharedSecret>), KeyError> {
        let mut secret = Zeroizing::new([0; SHARED_SECRET_LEN]);
        let ciphertext = self.encapsulate_into(&mut secret)?;
        Ok((ciphertext, SharedSecret::boxed_from_bytes(&secret)))
    }

    /// Writes the secret of [`encapsulate`](Self::encapsulate) to the caller's buffer, which the caller
    /// must wipe, and returns the ciphertext.
    ///
    /// # Errors
    ///
    /// [`KeyError::Randomness`] if there is none; then nothing is written.
    pub fn encapsulate_into(
        &self,
        secret: &mut [u8; SHARED_SECRET_LEN],
    ) -> Result<Vec<u8>, KeyError> {
        let mut m = Zeroizing::new([0; 32]);
        random::fill(&mut *m)?;
        Ok(self.encapsulate_with_randomness(&m, secret))
    }

    /// [`encapsulate_into`](Self::encapsulate_into) with the caller's randomness instead of the
    /// operating system's: m of FIPS 203, algorithm 17. Whoever knows m knows the secret: draw a new one
    /// from a cryptographic generator for each secret, and wipe it.
    pub fn encapsulate_with_randomness(
        &self,
        m: &[u8; 32],
        secret: &mut [u8; SHARED_SECRET_LEN],
    ) -> Vec<u8> {
        self.key.encapsulate(m, secret)
    }
}

/// A public key of any algorithm, as a file or a certificate may hold it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PublicKey {
    /// A key that verifies signatures.
    Verifying(VerifyingKey),
    /// A key that others encapsulate to.
    Encapsulation(EncapsulationKey),
}

impl PublicKey {
    /// Reads a raw key of the algorithm given.
    ///
    /// # Errors
    ///
    /// [`KeyError::Malformed`] if the key fails a check of its standard.
    pub fn from_bytes(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, KeyError> {
        match algorithm {
            Algorithm::Signature(algorithm) => {
                VerifyingKey::from_bytes(algorithm, bytes).map(Self::Verifying)
            }
            Algorithm::Kem(algorithm) => {
                EncapsulationKey::from_bytes(algorithm, bytes).map(Self::Encapsulation)
            }
        }
    }

    /// The parameter set.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Self::Verifying(key) => key.algorithm.into(),
            Self::Encapsulation(key) => key.algorithm.into(),
        }
    }

    /// The raw key, as its FIPS encodes it.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Verifying(key) => key.as_bytes(),
            Self::Encapsulation(key) => key.as_bytes(),
        }
    }

    /// The key as the DER of a SubjectPublicKeyInfo.
    pub fn to_spki_der(&self) -> &[u8] {
        match self {
            Self::Verifying(key) => &key.spki,
            Self::Encapsulation(key) => &key.spki,
        }
    }
}

impl TryFrom<PublicKey> for VerifyingKey {
    type Error = KeyError;

    fn try_from(key: PublicKey) -> Result<Self, Self::Error> {
        match key {
            PublicKey::Verifying(key) => Ok(key),
            PublicKey::Encapsulation(key) => Err(KeyError::NotASignatureKey(key.algorithm)),
        }
    }
}

impl TryFrom<PublicKey> for EncapsulationKey {
    type Error = KeyError;

    fn try_from(key: PublicKey) -> Result<Self, Self::Error> {
        match key {
            PublicKey::Verifying(key) => Err(KeyError::NotAKemKey(key.algorithm)),
            PublicKey::Encapsulation(key) => Ok(key),
        }
    }
}

/// Reading and writing SubjectPublicKeyInfo, the same for each type of public key.
macro_rules! spki_methods {
    ($($key:ident from $narrow:path),+) => {$(
        impl $key {
            /// Reads the DER of a SubjectPublicKeyInfo. Nothing may follow it.
            ///
            /// # Errors
            ///
            /// A [`KeyError`] for malformed DER, another algorithm, parameters that are
            /// present, or a key that fails a check of its standard.
            pub fn from_spki_der(der: &[u8]) -> Result<Self, KeyError> {
                parse(der).and_then($narrow)
            }

            /// Reads the first `PUBLIC KEY` block of a PEM text, as
            /// [`from_spki_der`](Self::from_spki_der) does.
            ///
            /// # Errors
            ///
            /// [`KeyError::Pem`] if there is no such block, and the errors of
            /// [`from_spki_der`](Self::from_spki_der).
            pub fn from_spki_pem(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, KeyError> {
                Self::from_spki_der(&pem::decode_first(text, PEM_LABEL)?)
            }

            /// The key as the PEM of a SubjectPublicKeyInfo.
            pub fn to_spki_pem(&self) -> String {
                pem::encode(PEM_LABEL, self.to_spki_der())
            }
        }

        impl SubjectKey for $key {
            fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
                self.to_spki_der().into()
            }
        }
    )+};
}

spki_methods!(
    VerifyingKey from VerifyingKey::try_from,
    EncapsulationKey from EncapsulationKey::try_from,
    PublicKey from Ok
);

/// Methods of the two public key structs.
macro_rules! key_struct_methods {
    ($($key:ident: $algorithm:ident),+) => {$(
        impl $key {
            /// The parameter set.
            pub fn algorithm(&self) -> $algorithm {
                self.algorithm
            }

            /// The raw key, as its FIPS encodes it.
            pub fn as_bytes(&self) -> &[u8] {
                self.key.as_bytes()
            }

            /// The key as the DER of a SubjectPublicKeyInfo.
            pub fn to_spki_der(&self) -> &[u8] {
                &self.spki
            }
        }

        impl PartialEq for $key {
            fn eq(&self, other: &Self) -> bool {
                self.spki == other.spki
            }
        }

        impl Eq for $key {}

        impl fmt::Debug for $key {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($key)).field(&self.algorithm).finish()
            }
        }
    )+};
}

key_struct_methods!(VerifyingKey: SignatureAlgorithm, EncapsulationKey: KemAlgorithm);

const PEM_LABEL: &str = "PUBLIC KEY";

fn parse(der: &[u8]) -> Result<PublicKey, KeyError> {
    public_key(&read_spki(der)?)
}

fn public_key(spki: &SubjectPublicKeyInfoRef<'_>) -> Result<PublicKey, KeyError> {
    let (algorithm, pre_hash, bytes) = fields(spki)?;
    match algorithm {
        Algorithm::Signature(algorithm) => {
            VerifyingKey::new(algorithm, pre_hash, bytes).map(PublicKey::Verifying)
        }
        Algorithm::Kem(algorithm) => {
            EncapsulationKey::from_bytes(algorithm, bytes).map(PublicKey::Encapsulation)
        }
    }
}

/// The algorithm of a key that passes the checks of its standard, for callers that don't use the key:
/// values that verification needs are not computed.
///
/// # Errors
///
/// Those of [`PublicKey::from_spki_der`].
pub fn algorithm_of_spki(spki: &SubjectPublicKeyInfoRef<'_>) -> Result<Algorithm, KeyError> {
    match fields(spki)? {
        // Any bytes of this length are a key (FIPS 204, algorithm 23; FIPS 205, figure 16).
        (algorithm @ Algorithm::Signature(_), _, bytes)
            if bytes.len() == algorithm.public_key_len() =>
        {
            Ok(algorithm)
        }
        _ => public_key(spki).map(|key| key.algorithm()),
    }
}

/// Reads the DER of a SubjectPublicKeyInfo, of any algorithm.
///
/// # Errors
///
/// [`KeyError::Der`] or [`KeyError::Syntax`].
pub fn read_spki(der: &[u8]) -> Result<SubjectPublicKeyInfoRef<'_>, KeyError> {
    let spki = SubjectPublicKeyInfoRef::from_der(der)?;
    syntax::check(der)?;
    Ok(spki)
}

/// What a SubjectPublicKeyInfo says: the algorithm, the hash function of HashSLH-DSA, and the raw key.
fn fields<'a>(
    spki: &SubjectPublicKeyInfoRef<'a>,
) -> Result<(Algorithm, Option<&'static PreHashRow>, &'a [u8]), KeyError> {
    let bytes = whole_octets(spki.subject_public_key)?;
    let (algorithm, pre_hash) = Algorithm::of_key(&spki.algorithm)?;
    Ok((algorithm, pre_hash, bytes))
}

fn encode_spki(oid: ObjectIdentifier, bytes: &[u8]) -> Result<Arc<[u8]>, der::Error> {
    let spki = SubjectPublicKeyInfoRef {
        algorithm: AlgorithmIdentifierRef {
            oid,
            parameters: None,
        },
        subject_public_key: BitStringRef::from_bytes(bytes)?,
    };
    Ok(spki.to_der()?.into())
}
