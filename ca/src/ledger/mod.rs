// This room uses no other.

//! What a CA issued and revoked. A [`Ledger`] is where that is kept: [`LocalLedger`] is one in a
//! folder, for one machine; a database for a fleet takes its place by implementing the trait.

mod entry;
mod error;
mod filter;
mod local;
mod name;
mod serial_number;
#[cfg(test)]
mod suite;

use core::ops::ControlFlow;

use pq_x509::pki_types::{CertificateDer, UnixTime};

pub use self::entry::{Entry, Issued, NewEntry, Revocation, State};
pub use self::error::LedgerError;
pub(crate) use self::error::remedy;
pub use self::filter::{Filter, NameFilter};
pub use self::local::LocalLedger;
pub use self::serial_number::{InvalidSerialNumber, NoRandomness, SerialNumber};

/// What a CA issued and revoked.
///
/// What a method has returned is kept, whatever happens to the process or to the machine
/// afterwards. Several processes may use one ledger at a time: each call is done as if no other
/// were, save that [`find`](Self::find) may show what others do meanwhile.
///
/// Times are kept to the second, as certificates and revocation lists have them.
pub trait Ledger: Send + Sync {
    /// Keeps certificates, all of them or none, before anybody is handed one.
    ///
    /// # Errors
    ///
    /// [`LedgerError::SerialNumberTaken`] if one has the serial number of another, in the ledger
    /// or among these.
    fn record(&self, entries: &[NewEntry<'_>]) -> Result<(), LedgerError>;

    /// What is known of a certificate, or `None` if the ledger has none of this number.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    fn entry(&self, number: &SerialNumber) -> Result<Option<Entry>, LedgerError>;

    /// The certificate itself, or `None` if the ledger has none of this number.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    fn certificate(
        &self,
        number: &SerialNumber,
    ) -> Result<Option<CertificateDer<'static>>, LedgerError>;

    /// Takes back a certificate, and returns what is known of it now. One that was revoked before
    /// keeps its first revocation, unless that was a hold and this is none.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Unknown`] if the ledger has none of this number, and
    /// [`LedgerError::NotAReason`] for `removeFromCRL`.
    fn revoke(&self, number: &SerialNumber, revocation: &Revocation) -> Result<Entry, LedgerError>;

    /// Takes back certificates, as [`revoke`](Self::revoke) does one: all of them, or none.
    ///
    /// # Errors
    ///
    /// As for [`revoke`](Self::revoke).
    fn revoke_all(
        &self,
        numbers: &[SerialNumber],
        revocation: &Revocation,
    ) -> Result<(), LedgerError>;

    /// Releases a certificate that is on hold, and returns what is known of it now. The next list
    /// doesn't have it (RFC 5280 section 5.3.1).
    ///
    /// # Errors
    ///
    /// [`LedgerError::NotOnHold`], and [`LedgerError::Unknown`] if the ledger has none of this
    /// number.
    fn reinstate(
        &self,
        number: &SerialNumber,
        at: UnixTime,
        by: &str,
    ) -> Result<Entry, LedgerError>;

    /// Shows the certificates that a filter lets through, in the order of their expiry, until there
    /// are no more or `show` has seen enough. None is shown twice.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    fn find(
        &self,
        filter: &Filter,
        show: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), LedgerError>;

    /// Takes the next number of an issuer's revocation lists, and shows what belongs on the list of
    /// that number: what it issued and what is revoked, until one list has had it that was made
    /// after it expired (RFC 5280 section 3.3). `now` is the time of this list. The first number is
    /// 1. `show` must not call the ledger, which waits for it.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read or written. Then nothing that was shown counts.
    fn next_list(
        &self,
        issuer: &str,
        now: UnixTime,
        show: &mut dyn FnMut(&SerialNumber, &Revocation),
    ) -> Result<u64, LedgerError>;
}
