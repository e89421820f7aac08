//! What of PKCS#12 (RFC 7292) is not about certificates: the MAC over a file, and BER made into DER. The files themselves are
//! in pq-x509.
//!
//! It uses [`protection`](crate::protection), `keys` and [`errors`](crate::errors).

mod asn1;
mod ber;
mod error;
mod mac;

pub use ber::BerError;
pub use mac::Pkcs12Mac;

/// The parts of which pq-x509 makes its reader and its writer of files. No interface for others: it changes with these.
#[doc(hidden)]
pub mod for_pkcs12 {
    pub use super::asn1::MacData;
    pub use super::ber::to_der;
    pub use super::error::MacError;
    pub use super::mac::{IsBySha1, bmp, make, verify};
    pub use crate::protection::cost::Budget;
    pub use crate::protection::pbes2::Pbes2;
}
