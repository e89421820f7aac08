//! Post-quantum JOSE and COSE: ML-DSA keys and signatures in JSON and CBOR (RFC 9964).
//!
//! * **Keys.** [`jwk`]: JSON Web Keys and sets of them; [`cose`]: COSE_Keys. Private keys are seeds.
//! * **Signatures.** [`jws`]: JSON Web Signatures, compact, as JSON and detached; [`cose`]: COSE_Sign1.
//! * **Other keys.** With the feature `classical`, `any` has keys of ECDSA, Ed25519 and RSA beside those of ML-DSA, and
//!   signatures of all of them in the flattened form, for protocols such as ACME.
//! * **Tokens.** [`jwt`]: JSON Web Tokens. A policy decides whether their claims are accepted.
//!
//! Everything that signs is a [`Signer`](pq_keys::Signer): a key of this crate, a
//! [`SigningKey`](pq_keys::SigningKey), or a key in a hardware module.
//!
//! The key decides the algorithm. A signature or a token also names an algorithm, and is refused if that is not
//! the algorithm of its key. What a document names never decides how it is verified, and `none` is not an algorithm.
//! Reading is strict: base64url and CBOR have one encoding for each value, no member of an object may occur twice,
//! and lengths and depths have limits.
//!
//! # Secrets
//!
//! Private keys are wiped when dropped, and so are the buffers that they are written to. Documents are read in
//! place, so reading makes no copy of a private key in them.
//!
//! # Errors
//!
//! The text of an error includes the text of its cause. Therefore [`source`](core::error::Error::source) is `None`.
//!
//! # Limits
//!
//! There is no encryption (JWE, COSE_Encrypt), and ML-DSA is the only signature algorithm outside of `any`: SLH-DSA and composites
//! have only requested numbers, in drafts such as draft-ietf-cose-sphincs-plus. Whole contents are kept in memory.
//! COSE_Sign (several signers) and unencoded payloads (RFC 7797) are not supported.
#![forbid(unsafe_code)]

extern crate alloc;

mod akp;
#[cfg(feature = "classical")]
pub mod any;
pub mod cose;
pub mod encoding;
pub mod jwk;
pub mod jws;
pub mod jwt;

pub use akp::{AkpError, Algorithm, Thumbprint};
pub use encoding::{Base64Error, CborError, JsonError};

/// The README's program, which is compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
