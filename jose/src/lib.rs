//! Post-quantum JOSE and COSE: keys and signatures of ML-DSA as JSON and CBOR have them (RFC 9964).
//!
//! * **Keys.** [`jwk`]: JSON Web Keys and sets of them; [`cose`]: COSE_Keys. Private keys are seeds.
//! * **Signatures.** [`jws`]: JSON Web Signatures, compact, as JSON and detached; [`cose`]: COSE_Sign1.
//! * **Tokens.** [`jwt`]: JSON Web Tokens, whose claims a policy decides on.
//!
//! Whatever signs is a [`Signer`](pq_x509::Signer): a key of this crate, a
//! [`SigningKey`](pq_x509::SigningKey), or one in a hardware module.
//!
//! The key says the algorithm. A signature or a token names it as well, and one that names another than its
//! key has is refused; nothing is verified by what it says of itself, and `none` is the name of no
//! algorithm. Reading is strict: base64url and CBOR have one spelling for each value, no member of an
//! object is there twice, and lengths and depths have limits.
//!
//! # Secrets
//!
//! Private keys are wiped when dropped, and so is what they are written to. What is read is read where it
//! stands, so that of a private key in it there is no copy.
//!
//! # Errors
//!
//! The text of an error has that of its cause in it. [`source`](core::error::Error::source) is `None`
//! therefore.
//!
//! # Limits
//!
//! There is no encryption (JWE, COSE_Encrypt), and of signatures ML-DSA's alone: SLH-DSA has requested
//! numbers in a draft (draft-ietf-cose-sphincs-plus), and composites as well. Contents are in memory as a
//! whole. COSE_Sign, of several signers, and payloads that are not encoded (RFC 7797) are not supported.
#![forbid(unsafe_code)]

extern crate alloc;

mod akp;
pub mod cose;
mod encoding;
pub mod jwk;
pub mod jws;
pub mod jwt;

pub use akp::{AkpError, Algorithm, Thumbprint};
pub use encoding::{Base64Error, CborError, JsonError};
