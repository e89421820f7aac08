//! A store of keys: versions of each key, policies of who may do what, private keys sealed at rest, and an audit log
//! that only the store adds to, and that nobody can cut unseen up to a head that was kept elsewhere.
#![forbid(unsafe_code)]

extern crate alloc;

pub mod audit;
pub mod custody;
#[cfg(feature = "door")]
pub mod door;
mod encoding;
mod name;
pub mod policy;
mod record;
#[cfg(feature = "remote")]
pub mod remote;
pub mod sealing;
mod signer;
pub mod storage;
mod store;
#[cfg(any(feature = "door", feature = "remote"))]
mod versioned;

pub use encoding::InvalidRecord;
pub use name::{InvalidName, KeyId, KeyName, Version};
pub use record::{
    InvalidGrantsFile, MAX_GRANTS_FILE_LEN, Origin, Scope, StoreGrants, UnknownScope, VersionState,
};
pub use signer::StoredSigner;
pub use store::{
    Attestation, AttestedVersion, CheckReport, Damage, Encapsulated, InvalidAttestation,
    KeyDetails, KeyPage, KeyPlace, KeySummary, Orphan, Rotated, RotationEnded, SignRequest, Signed,
    Store, StoreError, StoreOptions, VerifyRequest, VersionDetails, visible_damage,
};
#[cfg(feature = "metrics")]
pub use store::{DURATION_BUCKETS, OPERATION_DURATION, OPERATIONS};

/// The README's programs, which are compiled as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
