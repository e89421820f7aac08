//! Classical keys: ECDSA on P-256 and P-384, Ed25519 and RSA for certificates, ECDH and X25519 for
//! encrypted documents. This module makes, reads, writes and uses them.
//!
//! They serve peers that don't accept post-quantum certificates yet: from a server with a
//! twin certificate of each kind, or under a widely trusted CA. All of it uses graviola, and needs the
//! feature `classical`.

// This room uses `keys` and `encoding`.

mod agreement;
mod agreement_algorithm;
mod algorithm;
mod document;
mod error;
mod family;
mod key;
mod private_key;
mod public_key;
mod verification;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod graviola;

pub use agreement::{ClassicalAgreementKey, ClassicalAgreementPublicKey};
pub use agreement_algorithm::AgreementAlgorithm;
pub use algorithm::{ClassicalAlgorithm, RsaScheme, UnknownClassicalAlgorithm};
pub use error::ClassicalKeyError;
// For the provider, which calls graviola, too.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[doc(hidden)]
pub use graviola::Clearing;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub use graviola::missing_cpu_features;
pub use key::ClassicalKey;
pub use public_key::ClassicalPublicKey;
pub use verification::ClassicalVerification;

/// Verification of classical signatures, for certificates.
///
/// It includes the algorithms of this module, RSA keys of other lengths, other hashes, and RSA-PSS.
///
/// # Errors
///
/// [`ClassicalKeyError::UnsupportedCpu`] and [`ClassicalKeyError::UnsupportedArchitecture`].
pub fn verifications() -> Result<&'static [ClassicalVerification], ClassicalKeyError> {
    graviola::verifications()
}

/// Stands in for graviola on other architectures.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod graviola {
    use super::agreement_algorithm::AgreementAlgorithm;
    use super::algorithm::ClassicalAlgorithm;
    use super::error::ClassicalKeyError;
    use super::family::Family;
    use super::private_key::{Agreeing, PrivateKey};
    use super::verification::ClassicalVerification;

    fn unsupported<T>() -> Result<T, ClassicalKeyError> {
        Err(ClassicalKeyError::UnsupportedArchitecture {
            architecture: std::env::consts::ARCH,
        })
    }

    pub(super) fn generate(
        _: ClassicalAlgorithm,
    ) -> Result<Box<dyn PrivateKey>, ClassicalKeyError> {
        unsupported()
    }

    pub(super) fn read(_: Family, _: &[u8]) -> Result<Box<dyn PrivateKey>, ClassicalKeyError> {
        unsupported()
    }

    pub(super) fn from_raw(
        _: ClassicalAlgorithm,
        _: &[u8],
    ) -> Result<Box<dyn PrivateKey>, ClassicalKeyError> {
        unsupported()
    }

    pub(super) fn generate_agreeing(
        _: AgreementAlgorithm,
    ) -> Result<Box<dyn Agreeing>, ClassicalKeyError> {
        unsupported()
    }

    pub(super) fn read_agreeing(
        _: Family,
        _: &[u8],
    ) -> Result<Box<dyn Agreeing>, ClassicalKeyError> {
        unsupported()
    }

    pub(super) fn agreeing_from_raw(
        _: AgreementAlgorithm,
        _: &[u8],
    ) -> Result<Box<dyn Agreeing>, ClassicalKeyError> {
        unsupported()
    }

    pub(super) fn check_public_key(_: Family, _: &[u8]) -> Result<(), ClassicalKeyError> {
        unsupported()
    }

    pub(super) fn verifications() -> Result<&'static [ClassicalVerification], ClassicalKeyError> {
        unsupported()
    }
}
