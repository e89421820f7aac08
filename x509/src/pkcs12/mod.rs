//! PKCS#12 (RFC 7292): private keys and certificates in one file under one passphrase, as browsers, Windows,
//! macOS and Java use them.
//!
//! It uses [`certificate`](crate::certificate) and [`pq_keys`], which has the keys, their protection and the MAC.

mod asn1;
mod attributes;
mod error;
mod read;
mod store;
mod write;

pub use error::Pkcs12Error;
pub use pq_keys::pkcs12::{BerError, Pkcs12Mac};
pub use store::{Pkcs12, Pkcs12Certificate, Pkcs12Key};
