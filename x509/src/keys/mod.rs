//! Keys: their algorithms, private and public halves in every encoding, what signs, and what verifies
//! signatures.
//!
//! It uses [`encoding`](crate::encoding).

mod algorithm;
mod backend;
mod error;
mod private_key;
mod private_key_info;
mod public_key;
pub(crate) mod random;
mod signer;
pub mod verification;

pub use algorithm::{Algorithm, KemAlgorithm, SignatureAlgorithm, UnknownAlgorithm};
pub(crate) use error::from_causes;
pub use error::{KeyError, PemError};
pub use private_key::{DecapsulationKey, PrivateKey, PrivateKeyForm, SigningKey};
pub(crate) use public_key::whole_octets;
pub use public_key::{EncapsulationKey, PublicKey, VerifyingKey};
pub use random::RandomnessError;
pub use signer::{SignError, Signer, SubjectKey};
