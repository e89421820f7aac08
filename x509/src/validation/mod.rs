//! Validation: whether a chain leads to a trusted root and nothing on it was revoked, and if not,
//! why.
//!
//! It uses [`certificate`](crate::certificate), [`verification`](crate::verification) and [`pq_keys`], and doesn't
//! know [`issuing`](crate::issuing).

mod constraints;
mod critical;
mod diagnosis;
pub(crate) mod error;
pub(crate) mod ocsp;
mod probe;
pub(crate) mod revocation;
mod roots;
mod search;
mod spiffe;
mod stand_ins;
mod validator;

pub use error::ValidationError;
pub use spiffe::SvidError;
pub use validator::{ChainValidator, Purpose, ValidatedChain};
