//! Classical keys, implemented with graviola.
//!
//! It uses algorithms, traits and errors of the room above.

mod clearing;
mod cpu;
mod curve_private_key;
mod ecdsa;
mod ed25519;
mod rsa;
mod verification;
mod x25519;

use const_oid::db::rfc8410::ID_X_25519;
use graviola::key_agreement::x25519::PublicKey as X25519PublicKey;
use graviola::signing::ecdsa::{P256, P384, VerifyingKey};
use graviola::signing::eddsa::Ed25519VerifyingKey;
use graviola::signing::rsa::{KeySize, VerifyingKey as RsaVerifyingKey};

pub use self::clearing::Clearing;
pub use self::cpu::missing_cpu_features;
use self::ecdsa::Ecdsa;
use self::ed25519::Ed25519;
use self::rsa::Rsa;
use self::x25519::X25519;
use super::agreement_algorithm::AgreementAlgorithm;
use super::algorithm::ClassicalAlgorithm;
use super::error::ClassicalKeyError;
use super::family::Family;
use super::private_key::{Agreeing, PrivateKey};
use super::verification::ClassicalVerification;

type Key = Box<dyn PrivateKey>;

/// An error if the CPU can't run graviola, which would panic otherwise.
fn available() -> Result<(), ClassicalKeyError> {
    let missing = missing_cpu_features();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(ClassicalKeyError::UnsupportedCpu { missing }),
    }
}

pub(super) fn generate(algorithm: ClassicalAlgorithm) -> Result<Key, ClassicalKeyError> {
    available()?;
    match algorithm {
        ClassicalAlgorithm::EcdsaP256 => Ecdsa::<P256>::generate(),
        ClassicalAlgorithm::EcdsaP384 => Ecdsa::<P384>::generate(),
        ClassicalAlgorithm::Ed25519 => Ed25519::generate(),
        ClassicalAlgorithm::Rsa2048 => Rsa::generate(KeySize::Rsa2048),
        ClassicalAlgorithm::Rsa3072 => Rsa::generate(KeySize::Rsa3072),
        ClassicalAlgorithm::Rsa4096 => Rsa::generate(KeySize::Rsa4096),
    }
    // Nothing else can go wrong.
    .map_err(|_| ClassicalKeyError::Randomness)
}

/// Reads the contents of the OCTET STRING in PKCS#8: ECPrivateKey (RFC 5915), CurvePrivateKey (RFC 8410)
/// or RSAPrivateKey (RFC 8017).
pub(super) fn read(family: Family, key: &[u8]) -> Result<Key, ClassicalKeyError> {
    available()?;
    match family {
        Family::P256 => Ecdsa::<P256>::read(key),
        Family::P384 => Ecdsa::<P384>::read(key),
        Family::Ed25519 => Ed25519::read(key),
        Family::X25519 => return Err(ClassicalKeyError::UnsupportedAlgorithm(ID_X_25519)),
        Family::Rsa => Rsa::read(key),
    }
    .map_err(malformed(family))
}

/// Reads an ECDSA scalar or an Ed25519 seed, whose length was checked.
pub(super) fn from_raw(
    algorithm: ClassicalAlgorithm,
    key: &[u8],
) -> Result<Key, ClassicalKeyError> {
    available()?;
    let family = Family::from(algorithm);
    match family {
        Family::P256 => Ecdsa::<P256>::from_raw(key),
        Family::P384 => Ecdsa::<P384>::from_raw(key),
        Family::Ed25519 => Ed25519::from_raw(key),
        Family::X25519 => return Err(ClassicalKeyError::UnsupportedAlgorithm(ID_X_25519)),
        Family::Rsa => return Err(ClassicalKeyError::NoRawBytes(algorithm)),
    }
    .map_err(malformed(family))
}

pub(super) fn generate_agreeing(
    algorithm: AgreementAlgorithm,
) -> Result<Box<dyn Agreeing>, ClassicalKeyError> {
    available()?;
    let key: Result<Box<dyn Agreeing>, _> = match algorithm {
        AgreementAlgorithm::EcdhP256 => Ecdsa::<P256>::generate_agreeing(),
        AgreementAlgorithm::EcdhP384 => Ecdsa::<P384>::generate_agreeing(),
        AgreementAlgorithm::X25519 => X25519::generate(),
    };
    // Nothing else can go wrong.
    key.map_err(|_| ClassicalKeyError::Randomness)
}

/// Reads a key agreement key from the contents of the OCTET STRING in PKCS#8.
pub(super) fn read_agreeing(
    family: Family,
    key: &[u8],
) -> Result<Box<dyn Agreeing>, ClassicalKeyError> {
    available()?;
    let key: Result<Box<dyn Agreeing>, _> = match family {
        Family::P256 => Ecdsa::<P256>::read_agreeing(key),
        Family::P384 => Ecdsa::<P384>::read_agreeing(key),
        Family::X25519 => X25519::read(key),
        Family::Ed25519 | Family::Rsa => {
            return Err(ClassicalKeyError::NoAgreement(family.name()));
        }
    };
    key.map_err(malformed(family))
}

/// Reads an ECDH scalar or an X25519 private key, whose length was checked.
pub(super) fn agreeing_from_raw(
    algorithm: AgreementAlgorithm,
    key: &[u8],
) -> Result<Box<dyn Agreeing>, ClassicalKeyError> {
    available()?;
    match algorithm {
        AgreementAlgorithm::EcdhP256 => Ecdsa::<P256>::agreeing_from_raw(key),
        AgreementAlgorithm::EcdhP384 => Ecdsa::<P384>::agreeing_from_raw(key),
        AgreementAlgorithm::X25519 => X25519::from_raw(key),
    }
    .map_err(malformed(algorithm.family()))
}

/// Refuses bits that are not a valid public key, such as a point that is not on the curve.
pub(super) fn check_public_key(family: Family, key: &[u8]) -> Result<(), ClassicalKeyError> {
    available()?;
    match family {
        Family::P256 => VerifyingKey::<P256>::from_x962_uncompressed(key).map(drop),
        Family::P384 => VerifyingKey::<P384>::from_x962_uncompressed(key).map(drop),
        Family::Ed25519 => Ed25519VerifyingKey::from_bytes(key).map(drop),
        Family::X25519 => X25519PublicKey::try_from_slice(key).map(drop),
        Family::Rsa => RsaVerifyingKey::from_pkcs1_der(key).map(drop),
    }
    .map_err(malformed(family))
}

pub(super) fn verifications() -> Result<&'static [ClassicalVerification], ClassicalKeyError> {
    available()?;
    Ok(&verification::ALL)
}

/// For `map_err`: graviola's error about a key of this family.
fn malformed(family: Family) -> impl Fn(graviola::Error) -> ClassicalKeyError {
    move |error| ClassicalKeyError::Malformed {
        algorithm: family.name(),
        reason: error.to_string(),
    }
}

/// For `map_err`: graviola's error when a key did not sign.
fn not_signed(error: graviola::Error) -> ClassicalKeyError {
    match error {
        graviola::Error::RngFailed => ClassicalKeyError::Randomness,
        // RSA verifies its signature, and fails if the key is unsound.
        _ => ClassicalKeyError::Unsound,
    }
}

/// For `expect` on writes to buffers for encodings.
const LONG_ENOUGH: &str = "the buffer is longer than any encoding";
