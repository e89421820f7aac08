//! ML-KEM (FIPS 203), ML-DSA (FIPS 204) and SLH-DSA (FIPS 205), every parameter set, in pure
//! Rust.
//!
//! * [`ml_kem`]: key encapsulation, [`MlKem512`](ml_kem::MlKem512),
//!   [`MlKem768`](ml_kem::MlKem768) and [`MlKem1024`](ml_kem::MlKem1024);
//! * [`ml_dsa`]: signatures, [`MlDsa44`](ml_dsa::MlDsa44),
//!   [`MlDsa65`](ml_dsa::MlDsa65) and [`MlDsa87`](ml_dsa::MlDsa87);
//! * [`slh_dsa`]: signatures that rely on hash functions alone, from
//!   [`SlhDsaShake128f`](slh_dsa::SlhDsaShake128f) to
//!   [`SlhDsaSha2_256s`](slh_dsa::SlhDsaSha2_256s), and, with the feature
//!   `slh-dsa-sp800-230-draft`, the sets of a draft, with smaller signatures, at most 2²⁴ per key;
//! * with the feature `aes-ctr`, on x86-64, `aes_ctr`: AES in counter mode, for pq-keys;
//! * with the feature `hazmat-internal`, the modules `internal` of all three, for tests and validation: the
//!   standards' internal algorithms, which no application may offer.
//!
//! The crate is `no_std`, allocates nothing, panics on no input, and takes its randomness as an
//! argument: fill it from the operating system's generator, for example with the `getrandom` crate.
//! (FIPS 203, section 3.3, requires the cryptographic module to generate the randomness. That
//! module is this crate together with its caller, for example pq-x509, whose keys generate it
//! themselves.) Everything that depends on a secret runs in constant time, and every type that
//! holds a secret wipes it when dropped. (With the feature `rayon`, SLH-DSA needs the standard
//! library and threads, which allocate; with `alloc`, there are functions that return a key in a
//! box.)
//!
//! Rust moves a value by copying it, and leaves the old bytes behind. Functions whose names end in
//! `_into` or begin with `boxed_` write a secret directly to its final place; functions that return
//! one by value can leave a copy of it on the stack. SECURITY.md says where a test looked for such
//! copies and what it found.
//!
//! ```
//! use pq_core::ml_kem::{DecapsulationKey, MlKem768, ParameterSet};
//!
//! # fn random<const N: usize>() -> [u8; N] { [7; N] }
//! // 64 and 32 fresh random bytes
//! let mut place = None;
//! let decapsulation_key = DecapsulationKey::<MlKem768>::from_seed_into(&random(), &mut place);
//! let mut ciphertext = [0; MlKem768::CIPHERTEXT_LEN];
//! // secrets: wipe them when they are done with, for example by the crate zeroize
//! let (mut ours, mut theirs) = ([0; 32], [0; 32]);
//! decapsulation_key
//!     .encapsulation_key()
//!     .encapsulate_into(&random(), &mut ciphertext, &mut ours)?;
//! decapsulation_key.decapsulate_into(&ciphertext, &mut theirs)?;
//! assert_eq!(ours, theirs);
//! # Ok::<(), pq_core::Error>(())
//! ```
#![no_std]
// Only `arch` may lift this, one backend at a time.
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(all(feature = "aes-ctr", target_arch = "x86_64"))]
pub mod aes_ctr;
pub mod arch;
mod context;
mod dimension;
mod error;
mod groups;
mod hash;
mod hex;
mod instances;
mod kernel;
pub mod ml_dsa;
pub mod ml_kem;
mod place;
mod prehash;
#[cfg(all(test, not(without_proofs)))]
mod proofs;
// Most proofs don't depend on the machine that runs them, and take long to compile for each target.
#[cfg(all(test, without_proofs))]
#[path = "proofs/elsewhere.rs"]
mod proofs;
mod sealed;
mod secret;
pub mod slh_dsa;
#[cfg(test)]
mod test_random;

pub use dimension::{Array, Dim, Dimension, Element};
pub use error::Error;
#[cfg(feature = "limit")]
#[doc(hidden)]
pub use hash::{permute_few_lanes, permute_lanes};
pub use secret::wiping_stack;

/// The README's program, which is compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
