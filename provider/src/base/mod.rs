//! Base providers, which supply the classical algorithms: one for each feature.
//!
//! They are unchanged, except for what [`graviola()`] says. They may have post-quantum algorithms
//! too: graviola has its own group X25519MLKEM768, which [`Builder`](crate::Builder) replaces with
//! this crate's.
//!
//! # How they differ
//!
//! A test checks this table. Another test checks that the bases verify and negotiate the same in
//! all else: cipher suites, signature schemes, signatures in chains, and classical groups.
//!

// This room uses `verify`, `interned` and `error`.

#![doc = include_str!("base_table.md")]
//!
//! So if a peer's certificate, or one of its CAs, has a P-521 key, use AWS-LC. A client offers suites
//! and schemes in the order of its base; servers go by their clients' order.

#[cfg(all(
    feature = "graviola",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod graviola;

use alloc::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::server::ProducesTickets;

use crate::Error;

/// [graviola](https://docs.rs/graviola): Rust and inline assembly, which build without a C compiler,
/// cmake or an assembler.
///
/// This crate changes the following:
///
/// * With the feature `quic`, the TLS 1.3 cipher suites can be used for QUIC.
/// * The TLS 1.3 cipher suites use this crate's HKDF over RustCrypto's SHA-2, which makes handshakes
///   faster.
/// * The TLS 1.2 cipher suites for ECDSA take Ed25519 keys, like those of the other bases.
/// * In chains, RSA signatures are accepted even if their algorithm identifier lacks its NULL.
/// * ECDSA keys that recur in chains and handshakes are kept together with graviola's tables for them.
/// * graviola leaves the upper halves of vector registers in use, which slows whatever runs next on
///   some Intel CPUs. They are cleared after classical key exchanges, after keys of TLS 1.3 and QUIC,
///   and after ECDSA verification.
///
/// # Errors
///
/// [`Error::UnsupportedCpu`] if the CPU lacks a feature that graviola needs: on x86-64 AES,
/// PCLMULQDQ, SSSE3, AVX, AVX2, BMI1, BMI2 and ADX (Intel since Broadwell, AMD since Zen), on
/// AArch64 NEON, AES, PMULL and SHA-2. Without this check graviola would panic in the first
/// handshake. [`Error::UnsupportedArchitecture`] on any other architecture.
#[cfg(feature = "graviola")]
pub fn graviola() -> Result<CryptoProvider, Error> {
    Ok((graviola::detect()?.provider)())
}

/// [AWS-LC](https://docs.rs/aws-lc-rs), as rustls provides it.
#[cfg(feature = "aws-lc-rs")]
pub fn aws_lc_rs() -> CryptoProvider {
    (AWS_LC_RS.provider)()
}

/// [ring](https://docs.rs/ring), as rustls provides it.
#[cfg(feature = "ring")]
pub fn ring() -> CryptoProvider {
    (RING.provider)()
}

/// The first of graviola, AWS-LC and ring that is compiled in and that the CPU can run.
///
/// # Errors
///
/// [`Error::NoBase`] if none is compiled in; if graviola is the only one,
/// [`Error::UnsupportedCpu`] or [`Error::UnsupportedArchitecture`].
pub fn first_usable() -> Result<CryptoProvider, Error> {
    Ok((Base::first_usable()?.provider)())
}

/// A producer of stateless session tickets, from the same base as [`first_usable()`].
///
/// Stateless tickets carry the client's certificate chain, and with an ML-DSA chain they become too
/// large for the next ClientHello. Servers that request client certificates should use
/// [`Tickets`](crate::Tickets), which keeps such sessions on the server, or rustls's default, which
/// keeps all sessions on the server.
///
/// # Errors
///
/// Those of [`first_usable()`]; and [`Error::Rustls`] if there is no randomness for the ticket key.
pub fn ticketer() -> Result<Arc<dyn ProducesTickets>, Error> {
    Ok((Base::first_usable()?.ticketer)()?)
}

/// A function that makes a [`ticketer`] with a new key at each call.
pub(crate) fn ticket_maker() -> Result<TicketMaker, Error> {
    Ok(Base::first_usable()?.ticketer)
}

pub(crate) type TicketMaker = fn() -> Result<Arc<dyn ProducesTickets>, rustls::Error>;

/// A base that the CPU can run, which was checked when it was made.
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
