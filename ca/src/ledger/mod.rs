// This room uses no other.

//! The record of what a CA issued and revoked. [`LocalLedger`] is a [`Ledger`] in a folder, for one machine. For
//! several machines, implement the trait for a database.

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
    /// [`LedgerError::SerialNumberTaken`] if one has the serial number of another, in the ledger
    /// or among these.
    fn record(&self, entries: &[NewEntry<'_>]) -> Result<(), LedgerError>;

    /// The entry of a certificate, or `None` if the ledger has no certificate with this number.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    fn entry(&self, number: &SerialNumber) -> Result<Option<Entry>, LedgerError>;

    /// The certificate itself, or `None` if the ledger has no certificate with this number.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    fn certificate(
        &self,
        number: &SerialNumber,
    ) -> Result<Option<CertificateDer<'static>>, LedgerError>;

    /// Revokes a certificate, and returns its new entry. A certificate that was revoked before keeps its
    /// first revocation, unless that was a hold and the new one is not.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Unknown`] if the ledger has no certificate with this number, and
    /// [`LedgerError::NotAReason`] for `removeFromCRL`.
    fn revoke(&self, number: &SerialNumber, revocation: &Revocation) -> Result<Entry, LedgerError>;

    /// Revokes certificates as [`revoke`](Self::revoke) does: all of them, or none.
    ///
    /// # Errors
    ///
    /// The errors of [`revoke`](Self::revoke).
    fn revoke_all(
        &self,
        numbers: &[SerialNumber],
        revocation: &Revocation,
    ) -> Result<(), LedgerError>;

    /// Releases a certificate that is on hold, and returns its new entry. The next revocation list does
    /// not contain it (RFC 5280 section 5.3.1).
    ///
    /// # Errors
    ///
    /// [`LedgerError::NotOnHold`], and [`LedgerError::Unknown`] if the ledger has no certificate with
    /// this number.
    fn reinstate(
        &self,
        number: &SerialNumber,
        at: UnixTime,
        by: &str,
    ) -> Result<Entry, LedgerError>;

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

    /// Takes the next number for an issuer's revocation list, and shows the certificates that belong on
    /// this list. The first number is 1. `now` is the time of the list.
    ///
    /// A revoked certificate of the issuer stays on the lists until it has been on a list that was made
    /// after its expiry (RFC 5280 section 3.3). `show` must not call the ledger: this would deadlock.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read or written. Then ignore everything that was shown.
    fn next_list(
        &self,
        issuer: &str,
        now: UnixTime,
        show: &mut dyn FnMut(&SerialNumber, &Revocation),
    ) -> Result<u64, LedgerError>;
}
