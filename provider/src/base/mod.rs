// This room uses `verify`, `interned` and `error`.

//! The providers that classical algorithms can come from, one for each feature.
//!
//! They are as their makers have them, save for what [`graviola()`] says, and need not be classical
//! only: graviola's has a group X25519MLKEM768 of its own, in whose place
//! [`Builder`](crate::Builder) puts this crate's.
//!
//! # Which has what
//!
//! A test makes this table, and another one that nothing else differs in what they verify and
//! negotiate: cipher suites, signature schemes, signatures in chains, and classical groups.
//!
#![doc = include_str!("base_table.md")]
//!
//! So a peer whose certificate, or one of whose CAs, has a key on P-521 takes AWS-LC. Suites and
//! schemes are offered in the order of the base; servers go by their clients' order.

#[cfg(all(
    feature = "graviola",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod graviola;

use alloc::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::server::ProducesTickets;

use crate::Error;
#[cfg(all(
    feature = "graviola",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
use crate::verify::Algorithm;

/// [graviola](https://docs.rs/graviola): pure Rust and inline assembly, so that it
/// builds without a C compiler, cmake or an assembler.
///
/// Its cipher suites can be used for QUIC where the feature `quic` is enabled. Those of TLS 1.3 have
/// an HKDF of this crate, over RustCrypto's SHA-2, which handshakes are faster with, and those of TLS
/// 1.2 for ECDSA take Ed25519 keys, as those of the other bases do. In chains RSA signatures are
/// accepted whose algorithm identifier lacks its NULL. ECDSA keys that chains and handshakes keep
/// coming back to are kept with graviola's tables for them. After classical key exchanges, keys of
/// TLS 1.3 and of QUIC, and ECDSA verification the upper halves of vector registers are cleared,
/// which graviola leaves in use: on some of Intel's CPUs that slows whatever runs next.
///
/// # Errors
///
/// [`Error::UnsupportedCpu`] where the CPU lacks what graviola needs: on x86-64 AES,
/// PCLMULQDQ, SSSE3, AVX, AVX2, BMI1, BMI2 and ADX (Intel's since Broadwell, AMD's since Zen), on
/// AArch64 NEON, AES, PMULL and SHA-2. Without this check graviola would panic in the first
/// handshake. [`Error::UnsupportedArchitecture`] on any other architecture.
#[cfg(feature = "graviola")]
pub fn graviola() -> Result<CryptoProvider, Error> {
    Ok((graviola::detect()?.provider)())
}

/// What graviola needs and the CPU lacks, as `std::arch` names it.
#[cfg(all(
    feature = "graviola",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(crate) fn missing_for_graviola() -> Vec<&'static str> {
    graviola::missing_features()
}

/// To be dropped after what graviola wipes.
#[cfg(all(
    feature = "graviola",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(crate) use self::graviola::Clearing;

/// What [`graviola()`] verifies in chains, without the rest of it.
#[cfg(all(
    feature = "graviola",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(crate) fn graviola_verification() -> &'static [Algorithm] {
    graviola::verification()
}

/// [AWS-LC](https://docs.rs/aws-lc-rs), by way of rustls.
#[cfg(feature = "aws-lc-rs")]
pub fn aws_lc_rs() -> CryptoProvider {
    (AWS_LC_RS.provider)()
}

/// [ring](https://docs.rs/ring), by way of rustls.
#[cfg(feature = "ring")]
pub fn ring() -> CryptoProvider {
    (RING.provider)()
}

/// The first of graviola, AWS-LC and ring that is compiled in and that the CPU can
/// run.
///
/// # Errors
///
/// [`Error::NoBase`] if none is compiled in; if graviola is the only one,
/// [`Error::UnsupportedCpu`] or [`Error::UnsupportedArchitecture`].
pub fn first_usable() -> Result<CryptoProvider, Error> {
    Ok((Base::first_usable()?.provider)())
}

/// A producer of stateless session tickets, from the same base as
/// [`first_usable()`].
///
/// Stateless tickets carry the client's certificate chain, and ML-DSA chains make
/// them so large that the next ClientHello can't carry them: servers that ask for
/// client certificates had better use [`Tickets`](crate::Tickets), which keeps such
/// sessions on the server, or rustls's default, which keeps all.
///
/// # Errors
///
/// Those of [`first_usable()`]; and [`Error::Rustls`] if there is no randomness for
/// the ticket key.
pub fn ticketer() -> Result<Arc<dyn ProducesTickets>, Error> {
    Ok((Base::first_usable()?.ticketer)()?)
}

/// What makes a [`ticketer`] with a key of its own, each time.
pub(crate) fn ticket_maker() -> Result<TicketMaker, Error> {
    Ok(Base::first_usable()?.ticketer)
}

pub(crate) type TicketMaker = fn() -> Result<Arc<dyn ProducesTickets>, rustls::Error>;

/// A base that the CPU can run: what makes one has checked that.
struct Base {
    provider: fn() -> CryptoProvider,
    ticketer: TicketMaker,
}

impl Base {
    fn first_usable() -> Result<Self, Error> {
        let mut refusal = Error::NoBase;
        for detect in BASES {
            match detect() {
                Ok(base) => return Ok(base),
                Err(error) => refusal = error,
            }
        }
        Err(refusal)
    }
}

/// In order of preference.
static BASES: &[fn() -> Result<Base, Error>] = &[
    #[cfg(feature = "graviola")]
    graviola::detect,
    #[cfg(feature = "aws-lc-rs")]
    || Ok(AWS_LC_RS),
    #[cfg(feature = "ring")]
    || Ok(RING),
];

#[cfg(feature = "aws-lc-rs")]
const AWS_LC_RS: Base = Base {
    provider: rustls::crypto::aws_lc_rs::default_provider,
    ticketer: rustls::crypto::aws_lc_rs::Ticketer::new,
};

#[cfg(feature = "ring")]
const RING: Base = Base {
    provider: rustls::crypto::ring::default_provider,
    ticketer: rustls::crypto::ring::Ticketer::new,
};

#[cfg(all(
    feature = "graviola",
    not(any(target_arch = "x86_64", target_arch = "aarch64"))
))]
mod graviola {
    use super::Base;
    use crate::Error;

    pub(super) fn detect() -> Result<Base, Error> {
        Err(Error::UnsupportedArchitecture {
            architecture: std::env::consts::ARCH,
        })
    }
}
