//! PKCS#12 (RFC 7292): private keys and certificates in one file under one passphrase, as browsers, Windows,
//! macOS and Java use them.
//!
//! It uses [`protection`](crate::protection), [`certificate`](crate::certificate), [`keys`](crate::keys),
//! [`encoding`](crate::encoding) and [`errors`](crate::errors).

mod asn1;
mod attributes;
mod error;
mod mac;
mod read;
mod store;
mod write;

pub use error::Pkcs12Error;
pub use mac::Pkcs12Mac;
pub use store::{Pkcs12, Pkcs12Certificate, Pkcs12Key};
