//! Keys: their algorithms, private and public halves in every encoding, what signs, and what verifies
//! signatures.
//!
//! It uses [`encoding`](crate::encoding) and [`errors`](crate::errors).

mod agreement;
mod algorithm;
mod backend;
mod batch;
mod classical;
mod composite;
mod error;
mod expanded_keys;
mod identifier;
mod key_algorithm;
mod key_hash;
mod message;
mod mode;
mod private_key;
mod private_key_info;
mod public_key;
pub mod random;
mod signer;

pub use agreement::{Agreement, AgreementError, AgreementKey, AgreementPublicKey};
pub use algorithm::{
    Algorithm, KemAlgorithm, PrivateKeyForm, SignatureAlgorithm, UnknownAlgorithm,
};
pub use batch::{Unverified, verify_batch};
pub use classical::check_classical;
pub use composite::CompositeIdentifier;
pub use error::KeyError;
pub use expanded_keys::ExpandedKeys;
pub use identifier::is_hash_ml_dsa;
pub use key_algorithm::KeyAlgorithm;
pub use key_hash::KeyHash;
pub use message::{HashedMessage, MessageHasher, SignatureOptions, SigningVariant};
pub use mode::Mode;
pub use private_key::{DecapsulationKey, PrivateKey, SigningKey};
pub use private_key_info::check_pkcs8;
pub use public_key::{EncapsulationKey, PublicKey, VerifyingKey, algorithm_of_spki, read_spki};
pub use signer::{SignError, Signer, SubjectKey};
