//! Validation: whether a chain leads to a trusted root and nothing on it was revoked, and if not,
//! why.
//!
//! It uses [`certificate`](crate::certificate), [`verification`](crate::verification) and [`pq_keys`], and doesn't
//! know [`issuing`](crate::issuing).

mod constraints;
mod critical;
mod diagnosis;
mod error;
mod ocsp;
mod revocation;
mod roots;
mod search;
mod spiffe;
mod stand_ins;
mod validator;

pub use error::{OcspError, ValidationError};
pub use ocsp::{OcspVerifier, VerifiedAnswer};
pub use revocation::RevocationPolicy;
pub use spiffe::SvidError;
pub use validator::{ChainValidator, Purpose, ValidatedChain};
