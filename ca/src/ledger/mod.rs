//! The record of what a CA issued and revoked. [`LocalLedger`] is a [`Ledger`] in a folder, for one machine. For
//! several machines, implement the trait for a database, and hold it to the suite (`suite/`, the feature of that name).

// This room uses no other.

mod advice;
mod audit;
mod clock;
mod codec;
mod condition;
mod database;
mod decision;
mod digits;
mod encoded;
mod entry;
mod error;
mod events;
mod filter;
mod forward;
mod generation;
mod lists;
mod local;
mod lost_head;
mod moving;
mod name;
#[cfg(feature = "postgres")]
mod postgres;
mod request_id;
mod serial_number;
mod stage;
#[cfg(any(test, feature = "suite"))]
pub mod suite;

use core::ops::ControlFlow;
use core::slice;
use core::time::Duration;

pub use pq_x509::keys::identifiers::KeyHash;
use pq_x509::pki_types::{CertificateDer, UnixTime};

pub(crate) use self::advice::{AFTER_A_BACKUP, remedy};
pub use self::audit::{
    AuditEvent, AuditHead, AuditedCertificate, Deed, HeadCheck, InvalidAuditHead,
};
pub use self::condition::Condition;
pub use self::database::DatabaseError;
pub use self::decision::{Evidence, InvalidEvidence, PolicyId};
pub use self::entry::{AdoptedEntry, Change, Entry, Issued, NewEntry, Revocation, Revoked, State};
pub use self::error::LedgerError;
pub use self::filter::{Filter, NameFilter};
pub use self::generation::Generation;
pub use self::local::LocalLedger;
#[cfg(unix)]
pub(crate) use self::local::is_at;
pub(crate) use self::local::{Fault, Owner, Reader, check_writable};
#[cfg(unix)]
pub(crate) use self::local::{is_of_this_user, user};
pub use self::lost_head::LostHead;
pub use self::moving::{
    KeptEntry, KeptLists, KeptRevocation, Movable, Move, MoveId, Moved, Rest, Standing,
    move_ledger, undo_move,
};
#[cfg(feature = "postgres")]
pub use self::postgres::{InvalidPostgresOptions, PostgresLedger, PostgresOptions};
pub use self::request_id::RequestId;
pub use self::serial_number::{InvalidSerialNumber, NoRandomness, SerialNumber};
pub use self::stage::Stage;

/// The record of what a CA issued and revoked.
///
/// When a method has returned, its changes survive a crash of the process or of the machine. Several
/// processes may use one ledger at a time. Each call runs as if no other did, except that
/// [`find`](Self::find) may show changes that others make meanwhile.
///
/// Times have a resolution of one second, as in certificates and revocation lists.
pub trait Ledger: Send + Sync {
    /// Records certificates, all of them or none, before they are handed out.
    ///
    /// # Errors
    ///
    /// Those of [`record_if`](Self::record_if) without conditions.
    fn record(&self, entries: &[NewEntry<'_>]) -> Result<(), LedgerError> {
        self.record_if(entries, &[])
    }

    /// Records certificates if all conditions hold: all of them or none. Nothing comes between the check of the
    /// conditions and the change.
    ///
    /// # Errors
    ///
    /// [`LedgerError::SerialNumberTaken`] if one has the serial number of another, in the ledger or among these,
    /// [`LedgerError::RequestTaken`] if one has the [request](Issued::request) of another,
    /// [`LedgerError::KeyCompromised`] if a certificate that has one of the same [keys](Issued::keys) was revoked for
    /// a [compromise](Revocation::is_compromise), whoever issued it, [`LedgerError::Clock`] if one was issued long
    /// after everything in the ledger, and the errors of the [conditions](Condition).
    fn record_if(
        &self,
        entries: &[NewEntry<'_>],
        conditions: &[Condition<'_>],
    ) -> Result<(), LedgerError>;

    /// Records certificates that the CA issued and that this ledger lacks, as after an older backup was put in its
    /// place, each with its revocation if it has one: all of it or nothing. A revocation gets the time that
    /// [`Revocation::for_certificate`] says. Times of certificates that were issued earlier are not compared with those
    /// that the ledger knows, and a key that others may know does not keep its certificate from being revoked.
    ///
    /// # Errors
    ///
    /// [`LedgerError::SerialNumberTaken`] if one has the serial number of another, in the ledger or among these,
    /// [`LedgerError::RequestTaken`] if one has the [request](Issued::request) of another,
    /// [`LedgerError::KeyCompromised`], for one without a revocation, if a certificate for the same key was revoked for a
    /// [compromise](Revocation::is_compromise), in the ledger or among these, and [`LedgerError::NotAReason`] for `removeFromCRL`.
    fn adopt(&self, entries: &[AdoptedEntry<'_>]) -> Result<(), LedgerError>;

    /// The entry of a certificate, or `None` if the ledger has no certificate with this number.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    fn entry(&self, number: &SerialNumber) -> Result<Option<Entry>, LedgerError>;

    /// The entry of the certificate that was issued for this request, or `None` if none was.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    fn of_request(&self, request: &RequestId) -> Result<Option<Entry>, LedgerError>;

    /// The certificate itself, or `None` if the ledger has no certificate with this number.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    fn certificate(
        &self,
        number: &SerialNumber,
    ) -> Result<Option<CertificateDer<'static>>, LedgerError>;

    /// The certificate for this key, or with this key as a half, that was revoked for a
    /// [compromise](Revocation::is_compromise), or `None` if none was. If there are several, it is one of them.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    fn compromised(&self, key: &KeyHash) -> Result<Option<SerialNumber>, LedgerError>;

    /// Revokes a certificate, and says what this changed.
    ///
    /// # Errors
    ///
    /// Those of [`revoke_if`](Self::revoke_if) without conditions.
    fn revoke(
        &self,
        number: &SerialNumber,
        revocation: &Revocation,
    ) -> Result<Revoked, LedgerError> {
        let mut revoked = self.revoke_if(slice::from_ref(number), revocation, &[])?;
        revoked.pop().ok_or(LedgerError::Unknown(*number))
    }

    /// Revokes certificates if all conditions hold: all of them or none. Returns what this changed, in the order of
    /// the numbers. A certificate that was revoked before keeps its first revocation, unless
    /// [`Revocation::after`] says otherwise. The revocation gets the time that
    /// [`Revocation::for_certificate`] says.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Unknown`] if the ledger has no certificate with such a number,
    /// [`LedgerError::NotAReason`] for `removeFromCRL`, and the errors of the [conditions](Condition).
    fn revoke_if(
        &self,
        numbers: &[SerialNumber],
        revocation: &Revocation,
        conditions: &[Condition<'_>],
    ) -> Result<Vec<Revoked>, LedgerError>;

    /// Releases a certificate that is on hold if all conditions hold, and returns its new entry. The next
    /// revocation list does not contain it (RFC 5280 section 5.3.1).
    ///
    /// # Errors
    ///
    /// [`LedgerError::NotOnHold`], [`LedgerError::KeyCompromised`] if another certificate for the same key was revoked
    /// for a [compromise](Revocation::is_compromise), [`LedgerError::Unknown`] if the ledger has no certificate with
    /// this number, and the errors of the [conditions](Condition).
    fn reinstate_if(
        &self,
        number: &SerialNumber,
        at: UnixTime,
        by: &str,
        conditions: &[Condition<'_>],
    ) -> Result<Entry, LedgerError>;

    /// Releases a certificate that is on hold, and returns its new entry.
    ///
    /// # Errors
    ///
    /// Those of [`reinstate_if`](Self::reinstate_if) without conditions.
    fn reinstate(
        &self,
        number: &SerialNumber,
        at: UnixTime,
        by: &str,
    ) -> Result<Entry, LedgerError> {
        self.reinstate_if(number, at, by, &[])
    }

    /// Shows the certificates that match a filter, ordered by expiry, until there are no more or `show`
    /// breaks off. No certificate is shown twice.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    fn find(
        &self,
        filter: &Filter,
        show: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), LedgerError>;

    /// Takes the next number for an issuer's revocation list, and shows the certificates that belong on this list: see
    /// [`numbered_list`](Self::numbered_list).
    ///
    /// # Errors
    ///
    /// Those of [`numbered_list`](Self::numbered_list) without a number.
    fn next_list(
        &self,
        issuer: &str,
        now: UnixTime,
        show: &mut dyn FnMut(&SerialNumber, &Revocation),
    ) -> Result<u64, LedgerError> {
        self.numbered_list(issuer, None, now, show)
    }

    /// Takes a number for an issuer's revocation list, by default the next one, and shows the certificates that belong
    /// on this list. The first number is 1. `now` is the time of the list.
    ///
    /// A number that is given has to be above those of all lists that the ledger knows, and later lists have numbers
    /// above it. This is for a ledger from an older backup: lists with greater numbers than it knows may be in use.
    ///
    /// A revoked certificate stays on its issuer's lists until one that was numbered after its revocation, and so had it, was
    /// made more than [`KEPT`] after its expiry and was written, as [`confirm_list`](Self::confirm_list) says: RFC 5280 section 3.3 asks for a list after
    /// its expiry. A list that could not be made or written has used up its number, which does no harm, and leaves out
    /// nothing. What a list leaves out depends on its own time and on that of the last one that was written, so if both
    /// came from a clock that was wrong, the next list has the certificates again. `show` must not call the ledger:
    /// this would deadlock.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Clock`] if `now` is more than [`AHEAD`] after the last time that the ledger knows, or more than
    /// [`BEHIND`] before it. These are the times of the lists and certificates since the last
    /// [`confirm_time`](Self::confirm_time). [`LedgerError::NotAboveLists`] if the number is not above those of the
    /// lists before, or above [`GREATEST_NUMBER`]. Another error if the ledger can't be read or written. Then ignore
    /// everything that was shown.
    fn numbered_list(
        &self,
        issuer: &str,
        number: Option<u64>,
        now: UnixTime,
        show: &mut dyn FnMut(&SerialNumber, &Revocation),
    ) -> Result<u64, LedgerError>;

    /// Checks that no later list of this issuer was begun. Call this just before clients can get the list: another
    /// process may have made one meanwhile, with later revocations, and this one must not take its place.
    ///
    /// If the other process takes a number only after this call, and its list is where clients get it before this one
    /// is, [`confirm_list`](Self::confirm_list) says so.
    ///
    /// # Errors
    ///
    /// [`LedgerError::LaterList`], [`LedgerError::UnknownList`] if the number is none of this issuer's lists, and
    /// others if the ledger can't be read.
    fn check_list(&self, issuer: &str, number: u64) -> Result<(), LedgerError>;

    /// Notes that a list of [`next_list`](Self::next_list) was written where clients get it. `at` is the list's time.
    /// Without this, expired certificates stay on the lists.
    ///
    /// # Errors
    ///
    /// [`LedgerError::LaterList`] if a later one was written before, whose place this one may have taken: make the list
    /// again then. [`LedgerError::UnknownList`] if the number is none of this issuer's lists, and others if the ledger
    /// can't be read or written.
    fn confirm_list(&self, issuer: &str, number: u64, at: UnixTime) -> Result<(), LedgerError>;

    /// Compares a time with the last one that the ledger knows, as [`next_list`](Self::next_list) does. For what is
    /// signed without being recorded, such as OCSP responses.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Clock`] if `now` is more than [`AHEAD`] after that time, or more than [`BEHIND`] before it.
    /// Another error if the ledger can't be read.
    fn check_time(&self, now: UnixTime) -> Result<(), LedgerError>;

    /// Takes a person's word that it is `now`: from here on, times are compared with this one, and a list that was
    /// written with a later time counts as one of now. `by` says whose word it is. Call this after [`LedgerError::Clock`], if the clock is right.
    ///
    /// # Errors
    ///
    /// If the ledger can't be written.
    fn confirm_time(&self, now: UnixTime, by: &str) -> Result<(), LedgerError>;

    /// Shows all changes of the ledger, each with the head that it makes, in the order in which they are chained, until there
    /// are no more or `show` breaks off. Returns the head after the last that was shown. What a ledger was given before it
    /// kept events, it shows none of.
    ///
    /// Each event that is shown was seen to follow the one before. What was cut off the end, only a head shows that was kept
    /// elsewhere: see [`verify`](Self::verify).
    ///
    /// # Errors
    ///
    /// If an event is not the one that was hashed, or is missing, and if the ledger can't be read.
    fn audit(
        &self,
        show: &mut dyn FnMut(AuditEvent) -> ControlFlow<()>,
    ) -> Result<AuditHead, LedgerError>;

    /// Walks through all [events](Self::audit), and returns the head to keep now. If one was kept before, it has to be among
    /// them: then nothing of what came before it was taken away, changed or put in since.
    ///
    /// # Errors
    ///
    /// Those of [`audit`](Self::audit), and [`LedgerError::LostHead`].
    fn verify(&self, kept: Option<&AuditHead>) -> Result<AuditHead, LedgerError> {
        let mut check = HeadCheck::new(kept);
        let end = self.audit(&mut |event| {
            check.see(&event);
            ControlFlow::Continue(())
        })?;
        check.finish(&end)?;
        Ok(end)
    }

    /// The generations of the CA's issuing key, in the order in which they were published. There are none while the CA
    /// has only the key that it was made with.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    fn generations(&self) -> Result<Vec<Generation>, LedgerError>;

    /// Records certificates and changes the generations from `before` to `after`, all of it or nothing, if the
    /// generations are `before` and all conditions hold. So of two processes that change them at once, one does.
    ///
    /// # Errors
    ///
    /// [`LedgerError::GenerationsChanged`] if they are others, those of [`Generation::check_change`], and those of
    /// [`record_if`](Self::record_if).
    fn change_generations(
        &self,
        before: &[Generation],
        after: &[Generation],
        entries: &[NewEntry<'_>],
        conditions: &[Condition<'_>],
    ) -> Result<(), LedgerError>;
}

/// The greatest number that a list may be [given](Ledger::numbered_list). The next lists have greater ones, and one that
/// follows the last list of another [generation](Ledger::generations) may be given, since those of one name share a
/// sequence.
pub const GREATEST_NUMBER: u64 = i64::MAX as u64;
/// How far the time of a certificate or of a list may be after the last one that the ledger knows: 400 days, since the
/// list of a root is made at least once a year.
pub const AHEAD: Duration = Duration::from_secs(400 * DAY);
/// How far the time of a list may be before the last one that the ledger knows: an hour.
pub const BEHIND: Duration = Duration::from_secs(60 * 60);
/// How long after its expiry a revoked certificate is on every list, at least: 7 days.
pub const KEPT: Duration = Duration::from_secs(7 * DAY);
const DAY: u64 = 24 * 60 * 60;
