//! Algorithm Key Pairs (RFC 9964): keys with their algorithm, independent of JSON and CBOR, and their
//! thumbprints.
//!
//! It uses [`encoding`](crate::encoding).

mod algorithm;
mod error;
mod key;
mod selection;
mod thumbprint;

pub use algorithm::Algorithm;
pub use error::AkpError;
pub(crate) use key::{PrivateKey, PublicKey, signs_by_its_key};
pub(crate) use selection::{Identified, NoKey, verify};
pub use thumbprint::Thumbprint;
