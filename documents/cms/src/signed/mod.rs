//! SignedData (RFC 5652, section 5): signing and verifying with ML-DSA (RFC 9882), SLH-DSA (RFC 9814) and any
//! other algorithm.
//!
//! It uses [`encoding`](crate::encoding), [`algorithms`](crate::algorithms) and
//! [`identifier`](crate::identifier).

mod attributes;
mod certificates;
mod content;
mod error;
mod guard;
mod message;
mod outline;
mod signer_info;
mod signing;
mod verification;

pub use certificates::{decode_certificates, encode_certificates};
pub use error::{SignatureRefusal, SigningError, VerificationError};
pub use guard::AttributesGuard;
pub(crate) use outline::outline;
pub use outline::{SignedOutline, SignerOutline};
pub use signing::{DocumentSigner, SignedDataBuilder};
pub use verification::{VerificationTime, Verified, VerifiedSigner, Verifier};
