//! Why a store did not do something.

use pq_keys::any::{AnyAlgorithm, AnyKeyError};
use pq_keys::errors::from_causes;
use pq_keys::random::RandomnessError;

use crate::audit::{BrokenChain, InvalidHead};
use crate::custody::{TokenError, TokenName};
use crate::encoding::InvalidRecord;
use crate::name::{KeyId, KeyName, Version};
use crate::policy::{InputKind, Principal, Verb};
use crate::record::VersionState;
use crate::sealing::KekError;
use crate::storage::StorageError;

/// Why a store did not do something. Nothing was changed, except with
/// [`OutcomeUnknown`](Self::OutcomeUnknown) and [`LeftInToken`](Self::LeftInToken).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The principal has no right to this. Whether there is such a key, it doesn't learn.
    #[error("{principal} may not {verb} {key}")]
    Denied {
        /// Who asked.
        principal: Principal,
        /// What for.
        verb: Verb,
        /// With which key, or the store.
        key: String,
    },
    /// There is no such key.
    #[error("there is no key {0}")]
    NotFound(KeyName),
    /// The key has no such version, or it was removed.
    #[error("there is no version {0}")]
    VersionNotFound(KeyId),
    /// No version of the key has this public key.
    #[error("no version of {0} has this public key")]
    NoVersionWithKey(KeyName),
    /// The key was deleted: each of its versions was destroyed, and verifies nothing any more.
    #[error(
        "the key {0} was deleted, and its name is not used again, since signatures and the audit log name its versions; take another name"
    )]
    Deleted(KeyName),
    /// There is such a key already.
    #[error("there is a key {0} already")]
    Exists(KeyName),
    /// The state of the version does not permit it.
    #[error("{id} is {}, so it can't {verb}", .state.name())]
    State {
        /// Which version.
        id: KeyId,
        /// Its state.
        state: VersionState,
        /// What was asked for.
        verb: Verb,
    },
    /// No version of the key is enabled.
    #[error("{0} has no enabled version; enable one, or rotate it")]
    NoEnabledVersion(KeyName),
    /// The policy permits only later versions.
    #[error("{id} is older than version {min_version}, the first that the key's policy permits")]
    BelowMinimum {
        /// Which version.
        id: KeyId,
        /// The first that is permitted.
        min_version: Version,
    },
    /// The policy doesn't permit this kind of input.
    #[error("the policy of {key} permits no {}", .kind.name())]
    InputNotPermitted {
        /// Which key.
        key: KeyName,
        /// What was given.
        kind: InputKind,
    },
    /// The message is longer than the policy permits.
    #[error("the message has more than {limit} bytes, the most that the policy of {key} permits")]
    MessageTooLong {
        /// Which key.
        key: KeyName,
        /// The longest.
        limit: u64,
    },
    /// Keys of this algorithm can't do this, or take no such input.
    #[error("a key of {algorithm} can't {what}")]
    Algorithm {
        /// Which algorithm.
        algorithm: AnyAlgorithm,
        /// What it can't do.
        what: &'static str,
    },
    /// The signature is not valid.
    #[error("the signature is not valid")]
    InvalidSignature,
    /// The signature is not valid under the newest versions, and there are older ones, which have to be named.
    #[error("the signature is not valid under the newest {tried} versions; name the version")]
    VersionNeeded {
        /// How many were tried.
        tried: usize,
    },
    /// The key's policy said at its creation that it is never exported.
    #[error("{0} was not made to be exported")]
    NotExportable(KeyName),
    /// Whether a key may be exported was decided when it was made.
    #[error("whether {0} may be exported was decided when it was made, and doesn't change")]
    ExportableChanged(KeyName),
    /// A policy or the store's grants can't be like this.
    #[error("{0}")]
    Policy(&'static str),
    /// The time of the destruction hasn't come.
    #[error("{id} may be destroyed {seconds} seconds from now")]
    NotYet {
        /// Which version.
        id: KeyId,
        /// How long it takes.
        seconds: u64,
    },
    /// The key is not due for rotation any more, since others have rotated it: [`rotate_due`](crate::Store::rotate_due) leaves
    /// out such a key.
    #[error("{0} is not due for rotation any more")]
    NotDue(KeyName),
    /// The clock is behind the latest time that the store knows, so one of them is wrong. Where the clock is right,
    /// [`confirm_time`](crate::Store::confirm_time) says so.
    #[error(
        "the clock of the machine that has the store open is {seconds} seconds behind the latest time at which the store was changed. Set it; or, if it is right, and was \
         ahead then, have the time confirmed"
    )]
    ClockBehind {
        /// By how much.
        seconds: u64,
    },
    /// The clock is more than 400 days ahead of the latest time that the store knows, so it may be wrong. Where it is right,
    /// [`confirm_time`](crate::Store::confirm_time) says so.
    #[error(
        "the clock of the machine that has the store open is {days} days ahead of the latest time at which the store was changed. Set it; or, if it is right, have the \
         time confirmed"
    )]
    ClockAhead {
        /// By how much.
        days: u64,
    },
    /// There would be more than a store takes.
    #[error("{0}")]
    Limit(&'static str),
    /// A row isn't as the store wrote it. Other keys can be used.
    #[error("the row {row} is damaged: {reason}; restore it from a backup")]
    Damaged {
        /// Its key.
        row: String,
        /// What is wrong.
        reason: Damage,
    },
    /// There is no store in the storage.
    #[error("there is no key store in {0}; create one")]
    NoStore(String),
    /// There is no store in the storage, but some of what a store has, as after a copy that was not finished.
    #[error("there is no key store in {0}, but an unfinished copy of one")]
    Unfinished(String),
    /// The storage has another store now than the one that was opened.
    #[error("there is another key store in {0} than the one that was opened; open it anew")]
    OtherStore(String),
    /// There is a store in the storage already.
    #[error("there is a key store in {0} already")]
    StoreExists(String),
    /// The store's key can't be wrapped or unwrapped.
    #[error("{0}")]
    Kek(KekError),
    /// The storage can't be read or written.
    #[error("{0}")]
    Storage(StorageError),
    /// The storage can't be reached, and the key's policy permits no use meanwhile.
    #[error(
        "the storage has not been reached for {seconds} seconds, and the policy of {key} permits no use meanwhile; try again"
    )]
    Away {
        /// Which key.
        key: KeyName,
        /// For how long.
        seconds: u64,
    },
    /// The change may have been made or not. Look at the key before you try again.
    #[error("{0}")]
    OutcomeUnknown(String),
    /// Others changed the same rows each time it was tried.
    #[error("others change the same keys all the time; try again")]
    Contended,
    /// Whoever asked for it waits for it no more.
    #[error("nobody waits for it any more")]
    Abandoned,
    /// The audit log isn't as it was written.
    #[error("{0}")]
    Log(BrokenChain),
    /// The audit log doesn't have an entry that a kept head has: it was cut, or is another one.
    #[error(
        "the log does not lead to the kept head of entry {sequence}: it was cut, put back or replaced"
    )]
    HeadNotReached {
        /// The entry of the kept head.
        sequence: u64,
    },
    /// A kept head isn't one of this store.
    #[error("{0}")]
    Head(InvalidHead),
    /// A key can't be made, read or used.
    #[error("{0}")]
    Key(AnyKeyError),
    /// A token did not do something.
    #[error("token {token}: {error}")]
    Token {
        /// Which one.
        token: TokenName,
        /// Why.
        error: TokenError,
    },
    /// The token that the store was given doesn't have the private key of a version, which was made in another one of its name.
    #[error("token {token} has no private key of {id}: {error}")]
    InAnotherToken {
        /// Which version.
        id: KeyId,
        /// The name of both tokens.
        token: TokenName,
        /// Which two.
        error: TokenError,
    },
    /// The versions are destroyed or removed, but private keys of theirs were not removed from a token: it was away, or it has
    /// no such key, as another token has that was given the same name.
    #[error(
        "it is destroyed, but its private key was not removed from token {token}: {error}; then destroy it again, or remove what no version refers to"
    )]
    LeftInToken {
        /// Which token.
        token: TokenName,
        /// Why it was not removed from there.
        error: TokenError,
    },
    /// A key that is to be imported isn't wrapped under the store's key, or was changed.
    #[error(
        "it is not wrapped under the store's wrapping key, by RSA-OAEP with SHA-256 and AES-KWP"
    )]
    Wrapped,
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness: {0}")]
    Randomness(RandomnessError),
}

/// What is wrong with a row.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// Its MAC isn't right: it was changed, or belongs elsewhere.
    #[error("it was changed, or stands in the place of another")]
    Unauthentic,
    /// It can't be read.
    #[error("{0}")]
    Record(InvalidRecord),
    /// It is missing.
    #[error("it is missing")]
    Missing,
    /// It is an older one, or the index is.
    #[error("it is an older one that was put back, or the index is")]
    PutBack,
    /// Its private key can't be opened, or is another one than its public key.
    #[error("its private key does not belong to it")]
    PrivateKey,
    /// The token doesn't have its private key.
    #[error("its private key is not in the token")]
    NotInToken,
    /// The token has several private keys in its place.
    #[error("the token has {0} private keys in its place, so that none is used")]
    SeveralInToken(usize),
    /// The token has another private key in its place.
    #[error("the token has another private key in its place")]
    AnotherInToken,
    /// The token has a private key in its place, and doesn't use it.
    #[error("its private key in the token can't be used: {0}")]
    UnusableInToken(String),
}

impl StoreError {
    /// A stable name for the error, such as `not-found`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Denied { .. } => "denied",
            Self::NotFound(_) => "not-found",
            Self::VersionNotFound(_) | Self::NoVersionWithKey(_) => "version-not-found",
            Self::Deleted(_) => "deleted",
            Self::Exists(_) => "exists",
            Self::State { .. } => "state",
            Self::NoEnabledVersion(_) => "no-enabled-version",
            Self::BelowMinimum { .. } => "below-min-version",
            Self::InputNotPermitted { .. } => "input-not-permitted",
            Self::MessageTooLong { .. } => "message-too-long",
            Self::Algorithm { .. } => "algorithm",
            Self::InvalidSignature => "invalid-signature",
            Self::VersionNeeded { .. } => "version-needed",
            Self::NotExportable(_) => "not-exportable",
            Self::ExportableChanged(_) => "exportable-changed",
            Self::Policy(_) => "policy",
            Self::NotYet { .. } => "not-yet",
            Self::NotDue(_) => "not-due",
            Self::ClockBehind { .. } => "clock-behind",
            Self::ClockAhead { .. } => "clock-ahead",
            Self::Limit(_) => "limit",
            Self::Damaged { reason, .. } => match reason {
                Damage::PutBack => "put-back",
                Damage::Missing => "missing",
                _ => "damaged",
            },
            Self::NoStore(_) => "no-store",
            Self::Unfinished(_) => "unfinished",
            Self::OtherStore(_) => "other-store",
            Self::StoreExists(_) => "store-exists",
            Self::Kek(error) => error.code(),
            Self::Storage(error) => match error {
                StorageError::Away { .. } => "away",
                StorageError::Full { .. } => "storage-full",
                StorageError::InUse { .. } => "storage-in-use",
                StorageError::Replaced { .. } => "storage-replaced",
                StorageError::NotAStorage { .. } => "not-a-storage",
                StorageError::Damaged { .. } => "storage-damaged",
                StorageError::Limit(_) => "limit",
                _ => "storage",
            },
            Self::Away { .. } => "away",
            Self::OutcomeUnknown(_) => "outcome-unknown",
            Self::Contended => "contended",
            Self::Abandoned => "abandoned",
            Self::Log(_) => "log-broken",
            Self::HeadNotReached { .. } => "head-not-reached",
            Self::Head(_) => "head",
            Self::Key(_) => "key",
            Self::Token { error, .. } | Self::InAnotherToken { error, .. } => error.code(),
            Self::LeftInToken { .. } => "left-in-token",
            Self::Wrapped => "wrapped",
            Self::Randomness(_) => "randomness",
        }
    }

    /// Whether trying the same again helps.
    pub fn retry(&self) -> bool {
        match self {
            Self::Storage(error) => error.retry(),
            Self::Kek(error) => error.retry(),
            Self::Away { .. } | Self::Contended | Self::Randomness(_) => true,
            Self::Key(error) => error.is_lack_of_randomness(),
            Self::Token { error, .. } | Self::LeftInToken { error, .. } => error.retry(),
            _ => false,
        }
    }

    pub(super) fn damaged(row: impl ToString, reason: Damage) -> Self {
        Self::Damaged {
            row: row.to_string(),
            reason,
        }
    }
}

from_causes!(StoreError: Storage(StorageError), Kek(KekError), Key(AnyKeyError), Randomness(RandomnessError), Log(BrokenChain), Head(InvalidHead));
