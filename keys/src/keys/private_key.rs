//! The private keys `SigningKey` and `DecapsulationKey`, and `PrivateKey`, which is either: made, used, and read from
//! and written to PKCS#8 in every form. Passphrases are in `protection`.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;

use der::asn1::OctetStringRef;
use pki_types::SubjectPublicKeyInfoDer;
use pq_core::ml_dsa::PreHash;
use pq_core::ml_kem::{SHARED_SECRET_LEN, SharedSecret};
use spki::{AlgorithmIdentifierOwned, ObjectIdentifier};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::algorithm::{Algorithm, KemAlgorithm, PreHashRow, PrivateKeyForm, SignatureAlgorithm};
use super::backend::{AnyDecapsulationKey, AnyPrivateKey, AnySigningKey, Message, Randomness};
use super::error::KeyError;
use super::message::{Hashed, HashedMessage, MessageHasher, SignatureOptions, SigningVariant};
use super::private_key_info::{self, KeyMaterial, PrivateKeyFields, SeedAndExpanded};
use super::public_key::{EncapsulationKey, VerifyingKey};
use super::random;
use super::signer::{SignError, Signer, SubjectKey};
use crate::encoding::pem;

/// A private key that signs, of any ML-DSA or SLH-DSA parameter set.
///
/// Clones share one key, which is wiped when the last of them is dropped.
///
/// [`sign`](Self::sign) signs as certificates and TLS do. [`sign_with`](Self::sign_with) signs with a
/// context, signs a hash of the message, or signs deterministically. For messages that do not fit in
/// memory, or are elsewhere, see [`MessageHasher`].
#[derive(Clone)]
pub struct SigningKey {
    /// Boxed, because moving the key into the `Arc` would leave a copy of it behind.
    key: Arc<Box<dyn AnySigningKey>>,
    verifying_key: VerifyingKey,
}

impl SigningKey {
    /// Makes a new key from the operating system's randomness.
    ///
    /// # Errors
    ///
    /// [`KeyError::Randomness`] if there is none.
    pub fn generate(algorithm: SignatureAlgorithm) -> Result<Self, KeyError> {
        Self::from_seed(algorithm, &random::secret(algorithm.seed_len())?)
    }

    /// Expands a key from its seed.
    ///
    /// The seed is for ML-DSA the 32 bytes ξ of FIPS 204, algorithm 6; for SLH-DSA
    /// SK.seed ‖ SK.prf ‖ PK.seed of FIPS 205, algorithm 18. With the *s* sets of
    /// SLH-DSA this takes up to a second.
    ///
    /// # Errors
    ///
    /// [`KeyError::Malformed`] if the seed has a wrong length.
    pub fn from_seed(algorithm: SignatureAlgorithm, seed: &[u8]) -> Result<Self, KeyError> {
        let key = (algorithm.row().from_seed)(seed).map_err(malformed(algorithm.into()))?;
        Self::new(algorithm, None, key)
    }

    /// Reads a key from its expanded form, as [`to_expanded`](Self::to_expanded) gives it (FIPS 204,
    /// algorithm 24; FIPS 205, figure 15). For an SLH-DSA key, [`check`](Self::check) checks more.
    ///
    /// # Errors
    ///
    /// [`KeyError::Malformed`] if the length is wrong, a coefficient out of range, or the key's parts
    /// don't belong together.
    pub fn from_expanded(algorithm: SignatureAlgorithm, bytes: &[u8]) -> Result<Self, KeyError> {
        let key = (algorithm.row().from_expanded)(bytes).map_err(malformed(algorithm.into()))?;
        Self::new(algorithm, None, key)
    }

    /// Checks that the public part of an SLH-DSA key belongs to its secret part.
    ///
    /// Reading a key does not check this, because it takes as long as making the key. For other
    /// algorithms nothing is left to check.
    ///
    /// A key that fails makes no signatures either: [`sign`](Self::sign) returns an error.
    ///
    /// # Errors
    ///
    /// [`KeyError::Malformed`] if the parts don't belong together.
    pub fn check(&self) -> Result<(), KeyError> {
        self.key.check().map_err(malformed(self.algorithm().into()))
    }

    /// The parameter set.
    pub fn algorithm(&self) -> SignatureAlgorithm {
        self.verifying_key.algorithm()
    }

    /// The public key that verifies this key's signatures.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying_key
    }

    /// Signs a message as certificates and TLS do: pure, hedged, with an empty context.
    ///
    /// A key that was read with an identifier of HashSLH-DSA (RFC 9909) makes HashSLH-DSA signatures
    /// instead: see [`VerifyingKey::mode`].
    ///
    /// # Errors
    ///
    /// [`KeyError::Randomness`] if the operating system gives none to hedge with, and those of
    /// [`sign_with_randomness`](Self::sign_with_randomness).
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        self.sign_with(message, &SignatureOptions::new(), SigningVariant::Hedged)
    }

    /// Signs a message with a context, or a hash of it, or deterministically.
    ///
    /// A key that was read with an identifier of HashSLH-DSA signs by its own hash function.
    ///
    /// # Errors
    ///
    /// [`KeyError::WeakPreHash`] for a hash function that is weaker than the key, which the standards
    /// do not allow; [`KeyError::OtherPreHash`] if the key is for another hash function;
    /// [`KeyError::Operation`] if the context has more than 255 bytes, or if an SLH-DSA key's public
    /// part isn't its own; [`KeyError::Randomness`] if the operating system gives none to hedge with.
    pub fn sign_with(
        &self,
        message: &[u8],
        options: &SignatureOptions<'_>,
        variant: SigningVariant,
    ) -> Result<Vec<u8>, KeyError> {
        self.check_strength(options.pre_hash)?;
        let message = self.verifying_key.message(message, options)?;
        variant.sign(|randomness| self.sign_message(message, options.context, randomness))
    }

    /// Starts to hash a message that comes in pieces.
    ///
    /// It refuses at once what [`sign_hashed`](Self::sign_hashed) would refuse in the end.
    /// [`VerifyingKey::hasher`] does the same without the private key.
    ///
    /// # Errors
    ///
    /// Those of [`VerifyingKey::hasher`]; [`KeyError::WeakPreHash`] for a hash function that is weaker
    /// than the key.
    pub fn hasher(&self, options: &SignatureOptions<'_>) -> Result<MessageHasher, KeyError> {
        self.check_strength(options.pre_hash)?;
        self.verifying_key.hasher(options)
    }

    /// Signs a message that was hashed before, or an external µ.
    ///
    /// # Errors
    ///
    /// [`KeyError::NoMu`] if the message is µ but the key is not one of ML-DSA, and those of
    /// [`sign_with`](Self::sign_with).
    pub fn sign_hashed(
        &self,
        message: &HashedMessage,
        variant: SigningVariant,
    ) -> Result<Vec<u8>, KeyError> {
        match &message.0 {
            Hashed::Mu(mu) => variant.sign(|randomness| {
                let signature = self.key.sign_mu(mu, randomness);
                signature.ok_or_else(|| KeyError::NoMu(self.algorithm()))
            }),
            Hashed::PreHash { digest, context } => {
                let hash = digest.hash();
                self.check_strength(Some(hash))?;
                self.verifying_key.pre_hash_with(Some(hash))?;
                let message = Message::Digest(hash, digest.as_bytes());
                variant.sign(|randomness| self.sign_message(message, context, randomness))
            }
        }
    }

    /// Signs as [`sign`](Self::sign) does, hedged with the caller's randomness instead of
    /// the operating system's: rnd of FIPS 204, algorithm 2, or addrnd of FIPS 205,
    /// algorithm 22, which takes the first n bytes. Draw it anew from a
    /// cryptographic generator for each signature.
    ///
    /// # Errors
    ///
    /// [`KeyError::Operation`] if an SLH-DSA key's public part isn't its own, as
    /// [`check`](Self::check) can tell beforehand.
    pub fn sign_with_randomness(
        &self,
        message: &[u8],
        randomness: &[u8; 32],
    ) -> Result<Vec<u8>, KeyError> {
        let options = SignatureOptions::new();
        let message = self.verifying_key.message(message, &options)?;
        self.sign_message(message, &[], Some(randomness))
    }

    fn sign_message(
        &self,
        message: Message<'_>,
        context: &[u8],
        randomness: Randomness<'_>,
    ) -> Result<Vec<u8>, KeyError> {
        let signature = self.key.sign(message, context, randomness);
        signature.map_err(|error| KeyError::Operation {
            algorithm: self.algorithm().into(),
            error,
        })
    }

    /// Refuses a hash function that is weaker than the key, for signing only: the standards say "needs to
    /// be" of its strength when signing, and nothing of verification.
    fn check_strength(&self, hash: Option<PreHash>) -> Result<(), KeyError> {
        let algorithm = self.algorithm();
        match hash {
            Some(hash) if hash.digest_len() < algorithm.least_digest_len() => {
                Err(KeyError::WeakPreHash { algorithm, hash })
            }
            _ => Ok(()),
        }
    }

    fn new(
        algorithm: SignatureAlgorithm,
        pre_hash: Option<&'static PreHashRow>,
        key: Box<dyn AnySigningKey>,
    ) -> Result<Self, KeyError> {
        let verifying_key = VerifyingKey::new(algorithm, pre_hash, key.public_key())?;
        Ok(Self {
            key: Arc::new(key),
            verifying_key,
        })
    }

    fn oid(&self) -> ObjectIdentifier {
        self.verifying_key.oid()
    }

    fn from_fields(
        algorithm: SignatureAlgorithm,
        fields: &PrivateKeyFields<'_>,
    ) -> Result<Self, KeyError> {
        let row = algorithm.row();
        let key = load(fields, row.from_seed, row.from_expanded)?;
        Self::new(algorithm, fields.pre_hash, key)
    }

    fn any(&self) -> &dyn AnyPrivateKey {
        &**self.key
    }
}

impl Signer for SigningKey {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        AlgorithmIdentifierOwned {
            oid: self.oid(),
            parameters: None,
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        self.sign(message).map_err(SignError::new)
    }
}

impl SubjectKey for SigningKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.verifying_key.spki()
    }
}

/// A private key that decapsulates, of any ML-KEM parameter set.
///
/// Clones share one key, which is wiped when the last of them is dropped.
#[derive(Clone)]
pub struct DecapsulationKey {
    /// Boxed, because moving the key into the `Arc` would leave a copy of it behind.
    key: Arc<Box<dyn AnyDecapsulationKey>>,
    encapsulation_key: EncapsulationKey,
}

impl DecapsulationKey {
    /// Makes a new key from the operating system's randomness.
    ///
    /// # Errors
    ///
    /// [`KeyError::Randomness`] if there is none.
    pub fn generate(algorithm: KemAlgorithm) -> Result<Self, KeyError> {
        Self::from_seed(algorithm, &random::secret(algorithm.seed_len())?)
    }

    /// Expands a key from its seed (64 bytes for ML-KEM: d ‖ z of FIPS 203, algorithm 16).
    ///
    /// # Errors
    ///
    /// [`KeyError::Malformed`] if the seed has a wrong length.
    pub fn from_seed(algorithm: KemAlgorithm, seed: &[u8]) -> Result<Self, KeyError> {
        let key = (algorithm.row().from_seed)(seed).map_err(malformed(algorithm.into()))?;
        Self::new(algorithm, key)
    }

    /// Reads a key from its expanded form, as [`to_expanded`](Self::to_expanded) gives it (FIPS 203,
    /// algorithm 16).
    ///
    /// # Errors
    ///
    /// [`KeyError::Malformed`] if the length is wrong, a coefficient not reduced, or the key's parts
    /// don't belong together.
    pub fn from_expanded(algorithm: KemAlgorithm, bytes: &[u8]) -> Result<Self, KeyError> {
        let key = (algorithm.row().from_expanded)(bytes).map_err(malformed(algorithm.into()))?;
        Self::new(algorithm, key)
    }

    /// The parameter set.
    pub fn algorithm(&self) -> KemAlgorithm {
        self.encapsulation_key.algorithm()
    }

    /// The public key that others encapsulate to.
    pub fn encapsulation_key(&self) -> &EncapsulationKey {
        &self.encapsulation_key
    }

    /// Recovers the shared secret from a ciphertext. A ciphertext that was not made
    /// for this key gives a secret that nobody else has (implicit rejection).
    ///
    /// The secret is boxed, because returning it by value would leave a copy of it on the stack.
    ///
    /// # Errors
    ///
    /// [`KeyError::Operation`] if the ciphertext has a wrong length.
    pub fn decapsulate(&self, ciphertext: &[u8]) -> Result<Box<SharedSecret>, KeyError> {
        let mut secret = Zeroizing::new([0; SHARED_SECRET_LEN]);
        self.decapsulate_into(ciphertext, &mut secret)?;
        Ok(SharedSecret::boxed_from_bytes(&secret))
    }

    /// Writes the shared secret of [`decapsulate`](Self::decapsulate) to the caller's buffer, which the
    /// caller must wipe.
    ///
    /// # Errors
    ///
    /// [`KeyError::Operation`] if the ciphertext has a wrong length; then nothing is written.
    pub fn decapsulate_into(
        &self,
        ciphertext: &[u8],
        secret: &mut [u8; SHARED_SECRET_LEN],
    ) -> Result<(), KeyError> {
        self.key
            .decapsulate(ciphertext, secret)
            .map_err(|error| KeyError::Operation {
                algorithm: self.algorithm().into(),
                error,
            })
    }

    fn new(algorithm: KemAlgorithm, key: Box<dyn AnyDecapsulationKey>) -> Result<Self, KeyError> {
        let encapsulation_key = EncapsulationKey::from_bytes(algorithm, key.public_key())?;
        Ok(Self {
            key: Arc::new(key),
            encapsulation_key,
        })
    }

    fn from_fields(
        algorithm: KemAlgorithm,
        fields: &PrivateKeyFields<'_>,
    ) -> Result<Self, KeyError> {
        let row = algorithm.row();
        Self::new(algorithm, load(fields, row.from_seed, row.from_expanded)?)
    }

    fn oid(&self) -> ObjectIdentifier {
        self.algorithm().oid()
    }

    fn any(&self) -> &dyn AnyPrivateKey {
        &**self.key
    }
}

impl SubjectKey for DecapsulationKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.encapsulation_key.spki()
    }
}

/// A private key of any algorithm, as a file may hold it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PrivateKey {
    /// A key that signs.
    Signing(SigningKey),
    /// A key that decapsulates.
    Decapsulation(DecapsulationKey),
}

impl PrivateKey {
    /// The parameter set.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Self::Signing(key) => key.algorithm().into(),
            Self::Decapsulation(key) => key.algorithm().into(),
        }
    }

    fn oid(&self) -> ObjectIdentifier {
        match self {
            Self::Signing(key) => key.oid(),
            Self::Decapsulation(key) => key.oid(),
        }
    }

    fn any(&self) -> &dyn AnyPrivateKey {
        match self {
            Self::Signing(key) => key.any(),
            Self::Decapsulation(key) => key.any(),
        }
    }
}

impl SubjectKey for PrivateKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        match self {
            Self::Signing(key) => key.spki(),
            Self::Decapsulation(key) => key.spki(),
        }
    }
}

impl TryFrom<PrivateKey> for SigningKey {
    type Error = KeyError;

    fn try_from(key: PrivateKey) -> Result<Self, Self::Error> {
        match key {
            PrivateKey::Signing(key) => Ok(key),
            PrivateKey::Decapsulation(key) => Err(KeyError::NotASignatureKey(key.algorithm())),
        }
    }
}

impl TryFrom<PrivateKey> for DecapsulationKey {
    type Error = KeyError;

    fn try_from(key: PrivateKey) -> Result<Self, Self::Error> {
        match key {
            PrivateKey::Signing(key) => Err(KeyError::NotAKemKey(key.algorithm())),
            PrivateKey::Decapsulation(key) => Ok(key),
        }
    }
}

/// Reading and writing PKCS#8, the same for each type of private key.
macro_rules! pkcs8_methods {
    ($($key:ident from $narrow:path),+) => {$(
        impl $key {
            /// Reads a PKCS#8 private key (RFC 5958, version 1 or 2) from DER.
            ///
            /// The key may be a seed, an expanded key or both; SLH-DSA has one form only. Seeds and
            /// expanded keys are also read without a tag, as Botan writes them, and expanded keys
            /// followed by the public key, as liboqs writes them.
            ///
            /// Reading checks the lengths, what FIPS 203 section 7.3 and FIPS 204 demand, that seed
            /// and expanded key belong together, and that private and public part do. Nothing may
            /// follow the key. The public part within an SLH-DSA key is not checked, because this
            /// takes as long as making the key.
            ///
            /// # Errors
            ///
            /// A [`KeyError`] that says which of these failed.
            pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, KeyError> {
                parse(der).and_then($narrow)
            }

            /// Reads the first `PRIVATE KEY` block of a PEM text, as
            /// [`from_pkcs8_der`](Self::from_pkcs8_der) does. Other blocks, such as
            /// certificates, may stand around it.
            ///
            /// # Errors
            ///
            /// [`KeyError::Pem`] if there is no such block, and the errors of
            /// [`from_pkcs8_der`](Self::from_pkcs8_der).
            pub fn from_pkcs8_pem(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, KeyError> {
                Self::from_pkcs8_der(&pem::decode_first(text, PEM_LABEL)?)
            }

            /// Writes the key as PKCS#8 DER in the form that its algorithm
            /// [prefers](Algorithm::preferred_form): its seed, or the one form of SLH-DSA.
            ///
            /// # Errors
            ///
            /// [`KeyError::NoSeed`] if the key was read from its expanded form.
            pub fn to_pkcs8_der(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
                self.to_pkcs8_der_as(self.algorithm().preferred_form())
            }

            /// Writes the key as PKCS#8 DER in the form asked for.
            ///
            /// # Errors
            ///
            /// [`KeyError::NoSeed`] if the form has a seed and the key has none,
            /// [`KeyError::FormUnavailable`] if the algorithm doesn't have the form.
            pub fn to_pkcs8_der_as(
                &self,
                form: PrivateKeyForm,
            ) -> Result<Zeroizing<Vec<u8>>, KeyError> {
                write(self.algorithm().into(), self.oid(), self.any(), form)
            }

            /// Writes the key as PKCS#8 PEM, as [`to_pkcs8_der`](Self::to_pkcs8_der) does.
            ///
            /// # Errors
            ///
            /// [`KeyError::NoSeed`] if the key was read from its expanded form.
            pub fn to_pkcs8_pem(&self) -> Result<Zeroizing<String>, KeyError> {
                self.to_pkcs8_pem_as(self.algorithm().preferred_form())
            }

            /// Writes the key as PKCS#8 PEM in the form asked for.
            ///
            /// # Errors
            ///
            /// [`KeyError::NoSeed`] if the form has a seed and the key has none,
            /// [`KeyError::FormUnavailable`] if the algorithm doesn't have the form.
            pub fn to_pkcs8_pem_as(
                &self,
                form: PrivateKeyForm,
            ) -> Result<Zeroizing<String>, KeyError> {
                let der = self.to_pkcs8_der_as(form)?;
                Ok(Zeroizing::new(pem::encode(PEM_LABEL, &der)))
            }

            /// The seed, unless the key was read from its expanded form.
            pub fn seed(&self) -> Option<&[u8]> {
                self.any().seed()
            }

            /// The expanded key in the encoding of FIPS 203, FIPS 204 or FIPS 205.
            pub fn to_expanded(&self) -> Zeroizing<Vec<u8>> {
                self.any().to_expanded()
            }
        }
    )+};
}

pkcs8_methods!(
    SigningKey from SigningKey::try_from,
    DecapsulationKey from DecapsulationKey::try_from,
    PrivateKey from Ok
);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("verifying_key", &self.verifying_key)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for DecapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecapsulationKey")
            .field("encapsulation_key", &self.encapsulation_key)
            .finish_non_exhaustive()
    }
}

const PEM_LABEL: &str = "PRIVATE KEY";

fn parse(der: &[u8]) -> Result<PrivateKey, KeyError> {
    let fields = private_key_info::parse(der)?;
    Ok(match fields.algorithm {
        Algorithm::Signature(algorithm) => {
            PrivateKey::Signing(SigningKey::from_fields(algorithm, &fields)?)
        }
        Algorithm::Kem(algorithm) => {
            PrivateKey::Decapsulation(DecapsulationKey::from_fields(algorithm, &fields)?)
        }
    })
}

fn load<K: AnyPrivateKey + ?Sized>(
    fields: &PrivateKeyFields<'_>,
    from_seed: impl Fn(&[u8]) -> Result<Box<K>, pq_core::Error>,
    from_expanded: impl Fn(&[u8]) -> Result<Box<K>, pq_core::Error>,
) -> Result<Box<K>, KeyError> {
    let algorithm = fields.algorithm;
    let key = match &fields.material {
        KeyMaterial::Seed(seed) => from_seed(seed.as_bytes()),
        KeyMaterial::Expanded(expanded) => from_expanded(expanded.as_bytes()),
        KeyMaterial::Both(both) => from_seed(both.seed.as_bytes()),
    }
    .map_err(malformed(algorithm))?;
    if let KeyMaterial::Both(both) = &fields.material {
        // Slices of different lengths are unequal. A key that equals the expansion needs
        // none of the checks of an expanded key.
        let matches = key.to_expanded().ct_eq(both.expanded.as_bytes());
        if !bool::from(matches) {
            return Err(KeyError::SeedMismatch(algorithm));
        }
    }
    if fields
        .public_key
        .is_some_and(|claimed| claimed != key.public_key())
    {
        return Err(KeyError::PublicKeyMismatch(algorithm));
    }
    Ok(key)
}

fn write(
    algorithm: Algorithm,
    oid: ObjectIdentifier,
    key: &dyn AnyPrivateKey,
    form: PrivateKeyForm,
) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    if form != PrivateKeyForm::Expanded && algorithm.private_key_is_bare() {
        return Err(KeyError::FormUnavailable { algorithm, form });
    }
    let seed = || key.seed().ok_or(KeyError::NoSeed(algorithm));
    match form {
        PrivateKeyForm::Seed => {
            let seed = OctetStringRef::new(seed()?)?;
            private_key_info::write(algorithm, oid, &KeyMaterial::Seed(seed))
        }
        PrivateKeyForm::Expanded => {
            let expanded = key.to_expanded();
            let expanded = OctetStringRef::new(&expanded)?;
            private_key_info::write(algorithm, oid, &KeyMaterial::Expanded(expanded))
        }
        PrivateKeyForm::Both => {
            let expanded = key.to_expanded();
            let both = SeedAndExpanded {
                seed: OctetStringRef::new(seed()?)?,
                expanded: OctetStringRef::new(&expanded)?,
            };
            private_key_info::write(algorithm, oid, &KeyMaterial::Both(both))
        }
    }
}

fn malformed(algorithm: Algorithm) -> impl Fn(pq_core::Error) -> KeyError {
    move |error| KeyError::Malformed { algorithm, error }
}
