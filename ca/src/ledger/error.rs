//! The errors of ledgers.

use core::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use pq_keys::encoding::rfc3339;
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CrlReason;

use super::advice::{AFTER_A_BACKUP, remedy};
use super::database::DatabaseError;
use super::lost_head::LostHead;
use super::request_id::RequestId;
use super::serial_number::{NoRandomness, SerialNumber};
use super::stage::Stage;
use super::{AHEAD, BEHIND, GREATEST_NUMBER};

/// Why a ledger did not do what was asked. Unless a variant says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The serial number belongs to another certificate.
    #[error(
        "serial number {0} belongs to another certificate; issue this one again, with a new random number"
    )]
    SerialNumberTaken(SerialNumber),
    /// The request has its certificate already.
    #[error(
        "request {request} was answered already, by the certificate with serial number {number}; hand out that one, or ask \
         for another certificate by another request"
    )]
    RequestTaken {
        /// The request.
        request: RequestId,
        /// The number of its certificate.
        number: SerialNumber,
    },
    /// There is no certificate with this number.
    #[error(
        "the ledger has no certificate with serial number {0}; look for its name or subject, or ask the \
         ledger of the CA that issued it"
    )]
    Unknown(SerialNumber),
    /// A certificate that is not on hold can't be reinstated.
    #[error(
        "the certificate with serial number {0} is not on hold, and only a hold can be released (RFC 5280 \
         section 5.3.1); if it is valid, there is nothing to do, and if it is revoked, issue another certificate"
    )]
    NotOnHold(SerialNumber),
    /// `removeFromCRL` was given as a reason.
    #[error(
        "removeFromCRL is not a reason to revoke a certificate (RFC 5280 section 5.3.1); to release one \
         that is on hold, reinstate it"
    )]
    NotAReason,
    /// The certificate's key was revoked before, because others may know it.
    #[error(
        "the key was in the certificate with serial number {0}, which was revoked because others may know the key, so \
         nothing is valid for it again; make a new key (of a composite key, both halves)"
    )]
    KeyCompromised(SerialNumber),
    /// There is no such revocation list.
    #[error(
        "the ledger has no list {number} of \"{issuer}\"; confirm lists that this ledger numbered"
    )]
    UnknownList {
        /// Whose list it would be.
        issuer: String,
        /// Its number.
        number: u64,
    },
    /// A list was to get a number that is not above those of the lists before: clients would not take it for newer.
    #[error(
        "number {number} is not above {last}, which a list of \"{issuer}\" had already, and at most {GREATEST_NUMBER}; \
         give one that is above all lists that clients may have, or none for the next one"
    )]
    NotAboveLists {
        /// Whose list it is.
        issuer: String,
        /// The number that was given.
        number: u64,
        /// The number of the last list that the ledger knows.
        last: u64,
    },
    /// A later list was made meanwhile, which may have revocations that this one lacks.
    #[error(
        "list {number} of \"{issuer}\" is outdated: list {later} was {} since, and may have more on it; make the list \
         again, and let clients get none but the newest",
        match .is_written { true => "written", false => "begun" }
    )]
    LaterList {
        /// Whose list it is.
        issuer: String,
        /// Its number.
        number: u64,
        /// The number of the later one.
        later: u64,
        /// Whether the later one was written where clients get it, as far as the ledger knows.
        is_written: bool,
    },
    /// A certificate that should have been valid is revoked: see
    /// [`Condition::NotRevoked`](super::Condition::NotRevoked).
    #[error(
        "the certificate with serial number {number} is revoked; look at its entry in the ledger"
    )]
    Revoked {
        /// Its serial number.
        number: SerialNumber,
        /// Why it was revoked.
        reason: CrlReason,
    },
    /// The certificate of the CA itself is revoked: see
    /// [`Condition::IssuerNotRevoked`](super::Condition::IssuerNotRevoked).
    #[error(
        "the CA's own certificate, with serial number {number}, is revoked, and nobody should accept what it issues: \
         {}",
        what_instead(*.reason, number)
    )]
    IssuerRevoked {
        /// Its serial number.
        number: SerialNumber,
        /// Why it was revoked.
        reason: CrlReason,
    },
    /// A certificate belongs to another issuer: see [`Condition::IssuedBy`](super::Condition::IssuedBy).
    #[error(
        "the certificate with serial number {number} was issued by \"{issuer}\", not by \"{asked}\"; \
         ask that issuer"
    )]
    AnotherIssuers {
        /// Its serial number.
        number: SerialNumber,
        /// Who issued it.
        issuer: String,
        /// Who was asked.
        asked: String,
    },
    /// A key that another took the place of, or is to take its place, was to issue: see
    /// [`Condition::Issues`](super::Condition::Issues).
    #[error(
        "the key \"{name}\" is not the one that issues: it is {}; issue with the key that does (if this program runs on, \
         start it again)",
        .stage.name()
    )]
    NotIssuing {
        /// The key's name.
        name: String,
        /// What it is used for.
        stage: Stage,
    },
    /// The generations of the issuing key are not those that the change was for.
    #[error(
        "another process changed which keys the CA has, or which of them issues; nothing was changed; look at the CA \
         (\"pqtls ca show\"), and try again"
    )]
    GenerationsChanged,
    /// A certificate was recorded that nobody knew of who asked for the change: see
    /// [`Condition::NoOthers`](super::Condition::NoOthers).
    #[error(
        "another process had a certificate recorded meanwhile; nothing was changed; look at what the CA issued \
         (\"pqtls ca list\"), and try again"
    )]
    RecordedMeanwhile,
    /// The generations of the issuing key can't be changed in this way.
    #[error("{0}, and keys only follow one another; look at the CA's keys (\"pqtls ca show\")")]
    NoSuccession(&'static str),
    /// The time of a certificate or a list is far from the last one that the ledger knows. If the clock is right, a
    /// program confirms that with [`Ledger::confirm_time`](super::Ledger::confirm_time), as the command in the text
    /// does.
    #[error(
        "the clock says {}, and the last list or certificate in the ledger is of {}, which is {} that; if the clock is wrong, \
         set it; if it is right, confirm that with \"pqtls ca crl --clock-is-right\", and try again",
        rfc3339(*.now),
        rfc3339(*.last),
        distance(*.now, *.last)
    )]
    Clock {
        /// What the clock says.
        now: UnixTime,
        /// The last time in the ledger.
        last: UnixTime,
    },
    /// The ledger was opened for reading alone.
    #[error("the ledger {path} is open for reading alone; to change it, {remedy}")]
    ReadOnly {
        /// The folder.
        path: PathBuf,
        /// What to do.
        remedy: String,
    },
    /// The folder has no ledger.
    #[error("{path} has no ledger; check the path, or create a ledger there")]
    NoLedger {
        /// The folder.
        path: PathBuf,
    },
    /// The folder where a ledger should be created has one already.
    #[error("{path} has a ledger already; open that, or create one elsewhere")]
    AlreadyThere {
        /// The folder.
        path: PathBuf,
    },
    /// A file was written by a newer version of this crate.
    #[error(
        "{path} has format {format}, and this program knows {known}; use the newer version that wrote it"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of the file's format.
        format: u32,
        /// The newest version that this crate reads.
        known: u32,
    },
    /// A file was written by a version of this crate that was never released.
    #[error(
        "{path} has format {format} of a version before the first release, and this program reads {known}; make a \
         new CA, or use the version that wrote it"
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// The version of the file's format.
        format: u32,
        /// The oldest version that this crate reads.
        known: u32,
    },
    /// The content of a file is damaged, or is an old copy.
    #[error(
        "{path} is damaged: {what}; nothing was changed; keep a copy of the folder, restore the newest backup while \
         nothing uses the ledger, {AFTER_A_BACKUP}"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A file was replaced or deleted while this process had the ledger open. What this process would write, nobody
    /// would read.
    #[error(
        "{0} was replaced or deleted while this program had the ledger open; nothing was changed; look whether the \
         files are the right ones, and open the ledger again (restart the program)"
    )]
    Replaced(PathBuf),
    /// Other users may write to a file of the ledger.
    #[error(
        "{0} can be changed by other users; look whether somebody did, and allow nobody else to (chmod go-w {0})"
    )]
    Writable(PathBuf),
    /// A file of the ledger belongs to somebody else.
    #[error(
        "{0} belongs to another user, who can change it; run this as its owner, or look at it and take it over \
         (chown)"
    )]
    OtherOwner(PathBuf),
    /// The index can't be read or written.
    #[error(
        "the index {path}: {cause}; delete that file while nothing uses the ledger: it is made again from the \
         journal, and nothing is lost"
    )]
    Index {
        /// The file.
        path: PathBuf,
        /// The error of the database.
        cause: String,
    },
    /// The index was not made from the journal beside it.
    #[error(
        "the index {0} was not made from the journal beside it, and either may be the wrong one; nothing was changed; \
         keep a copy of the folder and find out which it is, while nothing uses the ledger: in place of a wrong \
         journal put the right one with its head, and move a wrong index elsewhere, which is made again from the \
         journal"
    )]
    OtherIndex(PathBuf),
    /// A file can't be read or written. If the disk failed, the change may be in the ledger
    /// nevertheless.
    #[error("can't {doing} {path}: {cause}; {}", advice(.cause, path))]
    Io {
        /// What failed, as a verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// The ledger is being moved to another place.
    #[error(
        "{ledger} is being moved to {to}, and nothing in it is changed meanwhile; try again when that is done; if it was \
         interrupted, the same move goes on (\"pqtls ca move --to\"), or is taken back (\"pqtls ca move --undo\")"
    )]
    Leaving {
        /// What it is.
        ledger: String,
        /// Where it is moved to.
        to: String,
    },
    /// The ledger was moved to another place.
    #[error(
        "{ledger} was moved to {to}, and that is the one in force; use that (if this program was running, start it again; if \
         the CA's folder doesn't name it yet, the same move completes that: \"pqtls ca move --to\")"
    )]
    Left {
        /// What it is.
        ledger: String,
        /// Where it was moved to.
        to: String,
    },
    /// The ledger is being filled from another one, which is in force.
    #[error(
        "{ledger} is being filled from {from}, and is not complete; use that until it is done; if it was interrupted, the same \
         move goes on (\"pqtls ca move --to\")"
    )]
    Arriving {
        /// What it is.
        ledger: String,
        /// Where its records come from.
        from: String,
    },
    /// The ledger was to be filled from another one, and has records of its own.
    #[error(
        "{0} is not empty, and a ledger is moved to an empty one; name another place, such as another schema; nothing was \
         changed"
    )]
    NotEmpty(String),
    /// What is read from the target of a move is not what the source has.
    #[error(
        "{0} does not have the records that were written to it, so it was not put in force; the ledger that was to be moved is \
         complete: try again, or take the move back (\"pqtls ca move --undo\")"
    )]
    Differs(String),
    /// Another move has a part in the ledger.
    #[error(
        "another move, or another process that goes on with this one, takes part in {0}; look which one does; nothing was \
         changed"
    )]
    OtherMove(String),
    /// No move was begun.
    #[error("{0} is not being moved, so there is nothing to take back")]
    NotMoving(String),
    /// A ledger in a database did not do it.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The ledger's events don't lead to a head that was kept.
    #[error(transparent)]
    LostHead(#[from] LostHead),
    /// The operating system gave no randomness.
    #[error(transparent)]
    Randomness(#[from] NoRandomness),
    /// An error of another implementation of [`Ledger`](super::Ledger). Its text says what to do.
    #[error("{0}")]
    Other(Box<dyn Error + Send + Sync>),
}

/// How far the last time in the ledger is from what the clock says.
fn distance(now: UnixTime, last: UnixTime) -> String {
    match now < last {
        true => format!("more than {} hour after", BEHIND.as_secs() / (60 * 60)),
        false => format!("more than {} days before", AHEAD.as_secs() / (24 * 60 * 60)),
    }
}

impl LedgerError {
    /// Whether nothing was changed for certain. After a failure of the disk or of another implementation, for example,
    /// the change may be in the ledger nevertheless.
    pub fn changed_nothing(&self) -> bool {
        !matches!(
            self,
            // Reading it again, after the journal has the change, may be what failed.
            Self::Io { .. }
                | Self::Index { .. }
                | Self::Damaged { .. }
                | Self::Database(DatabaseError::OutcomeUnknown { .. })
                | Self::Other(_)
        )
    }
}

fn what_instead(reason: CrlReason, number: &SerialNumber) -> String {
    match reason {
        CrlReason::CertificateHold => format!(
            "it is on hold; reinstate it (\"pqtls ca reinstate {number}\") if it is to issue again"
        ),
        _ => "have a new key issue (\"pqtls ca rollover\"), or make a new CA if it is the root"
            .into(),
    }
}

fn advice(cause: &io::Error, path: &Path) -> String {
    let otherwise =
        || "fix that, and check in the ledger what was done before you try again".into();
    remedy(cause, path).unwrap_or_else(otherwise)
}
