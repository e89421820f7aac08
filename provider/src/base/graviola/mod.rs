//! What only graviola needs: the check of the CPU, and cipher suites, groups and verification that
//! add what graviola's lack.
//!
//! It uses [`verify`](crate::verify) and [`error`](crate::error); only the door above knows it.

mod cleared;
mod ecdsa;
mod ed25519;
mod hkdf;
#[cfg(feature = "quic")]
mod quic;
mod rsa;
mod suites;
mod verification;

use rustls::crypto::CryptoProvider;

pub(crate) use self::cleared::Clearing;
use super::Base;
use crate::Error;
use crate::verify::Algorithm;

pub(super) fn detect() -> Result<Base, Error> {
    let missing = missing_features();
    if !missing.is_empty() {
        return Err(Error::UnsupportedCpu { missing });
    }

    Ok(Base {
        provider,
        ticketer: rustls_graviola::Ticketer::new,
    })
}

fn provider() -> CryptoProvider {
    let provider = rustls_graviola::default_provider();
    verification::in_place(suites::in_place(cleared::in_place(provider)))
}

pub(super) fn missing_features() -> Vec<&'static str> {
    missing(&cpu_features())
}

pub(super) fn verification() -> &'static [Algorithm] {
    verification::all()
}

fn missing(features: &[(&'static str, bool)]) -> Vec<&'static str> {
    features
        .iter()
        .filter(|(_, present)| !present)
        .map(|(name, _)| *name)
        .collect()
}

/// The features that graviola lists in its README and asserts at its entry points, each with whether
/// the CPU has it.
#[cfg(target_arch = "x86_64")]
fn cpu_features() -> [(&'static str, bool); 8] {
    macro_rules! detected {
        ($($feature:tt),*) => {
            [$(($feature, std::arch::is_x86_feature_detected!($feature))),*]
        };
    }
    detected!(
        "aes",
        "pclmulqdq",
        "ssse3",
        "avx",
        "avx2",
        "bmi1",
        "bmi2",
        "adx"
    )
}

/// The features that graviola lists in its README and asserts at its entry points, each with whether
/// the CPU has it.
#[cfg(target_arch = "aarch64")]
fn cpu_features() -> [(&'static str, bool); 4] {
    macro_rules! detected {
        ($($feature:tt),*) => {
            [$(($feature, std::arch::is_aarch64_feature_detected!($feature))),*]
        };
    }
    detected!("neon", "aes", "pmull", "sha2")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_is_missing() {
        let features = [
            ("aes", true),
            ("avx2", false),
            ("bmi2", true),
            ("adx", false),
        ];
        assert_eq!(missing(&features), ["avx2", "adx"]);
        assert!(missing(&features[..1]).is_empty());

        let error = Error::UnsupportedCpu {
            missing: missing(&features),
        };
        assert_eq!(
            error.to_string(),
            "graviola needs CPU features that this CPU lacks: avx2, adx; use another base: the \
             features `aws-lc-rs` and `ring` of rustls-pq bring one each, and \
             `rustls_pq::Builder::new` takes any provider"
        );
    }

    #[test]
    fn agrees_with_graviola() {
        // graviola checks the CPU at each of its entry points, and panics.
        let runs = std::panic::catch_unwind(|| rustls_graviola::kx::ALL_KX_GROUPS[0].start());
        assert_eq!(detect().is_ok(), runs.is_ok());
    }
}
