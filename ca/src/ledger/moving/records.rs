//! All that a ledger has, in a form that each ledger can read and write.

use pq_x509::pki_types::UnixTime;

use crate::ledger::entry::{NewEntry, Revocation};
use crate::ledger::generation::Generation;

/// A certificate with all that a ledger has about it.
#[derive(Clone, Debug)]
pub struct KeptEntry {
    /// The certificate, and what was recorded with it.
    pub entry: NewEntry<'static>,
    /// Its revocation, if it has one.
    pub revoked: Option<KeptRevocation>,
}

/// A revocation, and which lists may have it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeptRevocation {
    /// The revocation.
    pub revocation: Revocation,
    /// The number of the issuer's last list that was begun before it.
    pub last_list: u64,
}

/// What is known of an issuer's revocation lists.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeptLists {
    /// Whose lists they are.
    pub issuer: String,
    /// The number of the last one that was begun.
    pub begun: u64,
    /// The number of the last one that was written, 0 if none was.
    pub written: u64,
    /// Its time.
    pub written_at: UnixTime,
}

/// What a ledger has besides entries and history.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Rest {
    /// The lists of each issuer, in the order of the issuers' names.
    pub lists: Vec<KeptLists>,
    /// The generations of the issuing key.
    pub generations: Vec<Generation>,
    /// The last time that the ledger knows, which a person may have confirmed.
    pub clock: Option<UnixTime>,
}
