//! What only graviola needs: cipher suites, groups and verification that add what graviola's lack.
//!
//! It uses [`verify`](crate::verify) and [`error`](crate::error); only the door above knows it.

mod cleared;
mod hkdf;
#[cfg(feature = "quic")]
mod quic;
mod suites;
mod verification;

use pq_keys::classical::missing_cpu_features;
use rustls::crypto::CryptoProvider;

use super::Base;
use crate::Error;

pub(super) fn detect() -> Result<Base, Error> {
    let missing = missing_cpu_features();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_is_missing() {
        let error = Error::UnsupportedCpu {
            missing: vec!["avx2", "adx"],
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
