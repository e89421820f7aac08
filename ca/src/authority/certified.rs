//! The CAs that a key has certified, and how one more is recorded: only after somebody looked at all that there are.

use alloc::collections::BTreeSet;
use core::ops::ControlFlow;
use core::slice;

use pq_x509::certificate::{Certificate, is_same_name};
use pq_x509::issuing::IssueError;
use pq_x509::keys::Signer;
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CrlReason;
use pq_x509::x509_cert::name::Name;

use super::{Authority, AuthorityError, CA_PROFILE, SUBORDINATE_PROFILE};
use crate::ledger::{
    Condition, Entry, Filter, Generation, KeyHash, Ledger, LedgerError, NewEntry, Revocation,
    SerialNumber,
};

/// The CAs, its own and others, that a key has certified, as the ledger had them when somebody looked.
pub(crate) struct CertifiedCas {
    filter: Filter,
    numbers: BTreeSet<SerialNumber>,
    found: Vec<(Entry, Certificate)>,
}

impl CertifiedCas {
    /// Whether one has this name, with another key than this one, and its certificate is valid as far as the ledger knows,
    /// or may be valid again after a hold.
    pub(crate) fn has_named(&self, name: &Name, key: Option<&KeyHash>, now: UnixTime) -> bool {
        let is_named = |entry: &Entry, ca: &Certificate| {
            Some(&entry.issued.key) != key && is_same_name(ca.subject(), name)
        };
        let mut found = self.found.iter();
        found.any(|(entry, ca)| may_be_valid(entry, now) && is_named(entry, ca))
    }

    /// The certificates for this key that are valid as far as the ledger knows.
    pub(crate) fn valid_for(&self, key: &KeyHash, now: UnixTime) -> Vec<Certificate> {
        let of_key = self
            .valid(now)
            .filter(|(entry, _)| entry.issued.key == *key);
        of_key.map(|(_, ca)| ca.clone()).collect()
    }

    /// The entries of the certificates for this key.
    pub(crate) fn entries_for(&self, key: &KeyHash) -> impl Iterator<Item = &Entry> {
        let entries = self.found.iter().map(|(entry, _)| entry);
        entries.filter(move |entry| entry.issued.key == *key)
    }

    /// The certificate whose revocation or hold another one for this key, or for another key of a CA of this name, would get
    /// round: there is none that is valid. What was superseded says nothing against the key; and a CA gets another key
    /// unless it is the CA that was not to go on.
    fn barring(&self, key: &KeyHash, name: &Name, now: UnixTime) -> Option<&Entry> {
        let of_key = |entry: &Entry, _: &Certificate| entry.issued.key == *key;
        let of_name = |entry: &Entry, ca: &Certificate| {
            is_of_one_ca((ca.subject(), &entry.issued.key), (name, key))
        };
        // No option has a key certified again that others may know.
        let is_of_key = |revocation: &Revocation| {
            revocation.reason != CrlReason::Superseded && !revocation.is_compromise()
        };
        self.revoked(of_key, is_of_key, now)
            .or_else(|| self.revoked(of_name, is_of_ca, now))
    }

    /// A certificate like this that is revoked like that, if none like this is valid.
    fn revoked(
        &self,
        is_like: impl Fn(&Entry, &Certificate) -> bool,
        is_meant: impl Fn(&Revocation) -> bool,
        now: UnixTime,
    ) -> Option<&Entry> {
        if self.valid(now).any(|(entry, ca)| is_like(entry, ca)) {
            return None;
        }
        let mut found = self.found.iter();
        let found = found.find(|(entry, ca)| {
            is_like(entry, ca)
                && entry.revocation().is_some_and(&is_meant)
                && !entry.is_expired(now)
        });
        found.map(|(entry, _)| entry)
    }

    fn valid(&self, now: UnixTime) -> impl Iterator<Item = &(Entry, Certificate)> {
        let is_valid = move |entry: &Entry| entry.revocation().is_none() && !entry.is_expired(now);
        self.found.iter().filter(move |(entry, _)| is_valid(entry))
    }
}

/// The common name of a CA, if this is that of a key which followed another: it has a number, and the beginning of its
/// digest.
pub(crate) fn numbered_stem(name: &str, key: &KeyHash) -> Option<String> {
    let end = format!(" ({})", &key.to_string()[..DIGITS]);
    let (stem, number) = name.strip_suffix(&end)?.rsplit_once(' ')?;
    number.parse::<u32>().ok().map(|_| stem.into())
}

/// How much of a key's digest is in the name of one that follows others.
pub(crate) const DIGITS: usize = 8;

/// The common name in the certificate of a key.
pub(crate) fn common_name(name: &Name) -> Option<String> {
    let common = name.common_name().ok().flatten();
    common.map(|common| common.value().into_owned())
}

/// Whether two keys with their names are of one CA, by its name alone or with their numbers.
fn is_of_one_ca(one: (&Name, &KeyHash), other: (&Name, &KeyHash)) -> bool {
    if is_same_name(one.0, other.0) {
        return true;
    }
    let names = [one, other].map(|(name, key)| {
        let common = common_name(name)?;
        let stem = numbered_stem(&common, key);
        Some((stem.is_some(), stem.unwrap_or(common)))
    });
    match names {
        [Some((is_next, one)), Some((is_other_next, other))] => {
            (is_next || is_other_next) && one == other
        }
        _ => false,
    }
}

/// Whether a revocation is about the CA, and not about its key.
fn is_of_ca(revocation: &Revocation) -> bool {
    matches!(
        revocation.reason,
        CrlReason::CertificateHold
            | CrlReason::PrivilegeWithdrawn
            | CrlReason::AffiliationChanged
            | CrlReason::CessationOfOperation
    )
}

/// Whether a certificate is valid as far as the ledger knows, or is on hold, which may end.
fn may_be_valid(entry: &Entry, now: UnixTime) -> bool {
    entry.revocation().is_none_or(Revocation::is_hold) && !entry.is_expired(now)
}

impl<S: Signer, L: Ledger> Authority<S, L> {
    /// The CAs that this key has certified until now.
    pub(crate) fn certified_cas(&self) -> Result<CertifiedCas, AuthorityError> {
        let profiles = [CA_PROFILE, SUBORDINATE_PROFILE];
        let filter = Filter::all().issuer(self.name()).profiles(profiles);
        let mut entries = Vec::new();
        self.ledger.find(&filter, &mut |entry| {
            entries.push(entry);
            ControlFlow::Continue(())
        })?;
        let read = |entry: Entry| {
            let number = entry.issued.serial_number;
            let der = self.ledger.certificate(&number)?;
            let der = der.ok_or(LedgerError::Unknown(number))?;
            let certificate = Certificate::from_der(&der).map_err(IssueError::from)?;
            Ok((entry, certificate))
        };
        let found = entries.into_iter().map(read);
        let found = found.collect::<Result<Vec<_>, AuthorityError>>()?;
        let numbers = found.iter().map(|(entry, _)| entry.issued.serial_number);
        Ok(CertifiedCas {
            filter,
            numbers: numbers.collect(),
            found,
        })
    }

    /// That a certificate for this key, or for another key of a CA of this name, gets round no revocation and no hold,
    /// unless that is [meant](Self::despite_revocations).
    pub(crate) fn check_not_barred(
        &self,
        certified: &CertifiedCas,
        key: &KeyHash,
        name: &Name,
        now: UnixTime,
    ) -> Result<(), AuthorityError> {
        match certified.barring(key, name, now) {
            Some(entry) => self.refuse_barred(entry),
            None => Ok(()),
        }
    }

    /// The same for the next key of a CA whose key before has this certificate.
    pub(crate) fn check_may_go_on(&self, number: &SerialNumber) -> Result<(), AuthorityError> {
        match self.ledger.entry(number)? {
            Some(entry) if entry.revocation().is_some_and(is_of_ca) => self.refuse_barred(&entry),
            _ => Ok(()),
        }
    }

    fn refuse_barred(&self, entry: &Entry) -> Result<(), AuthorityError> {
        match entry.revocation() {
            Some(revocation) if !self.despite_revocations => Err(AuthorityError::Barred {
                subject: entry.issued.subject.clone(),
                number: entry.issued.serial_number,
                revocation: revocation.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Whether one of this CA's own keys has this name in its certificate, be that valid or not: those that this one
    /// certified, as the root did also before the first of them was followed by a next one, and all generations.
    pub(crate) fn has_own_key_named(
        &self,
        certified: &CertifiedCas,
        name: &Name,
    ) -> Result<bool, AuthorityError> {
        let is_named = |one: &Certificate| is_same_name(one.subject(), name);
        let mut own = certified.found.iter();
        if is_named(self.issuer.certificate())
            || own.any(|(entry, ca)| entry.issued.profile == CA_PROFILE && is_named(ca))
        {
            return Ok(true);
        }
        for generation in self.ledger.generations()? {
            if let Some(der) = generation.certificate()
                && is_named(&Certificate::from_der(der).map_err(IssueError::from)?)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Records a certificate of another CA that this one signed, if `check` finds nothing wrong with it beside those that
    /// the ledger has. Nothing comes between the two: whoever was faster with another CA is among them.
    pub(crate) fn record_ca<E: From<AuthorityError>>(
        &self,
        made: &NewEntry<'_>,
        check: impl Fn(&CertifiedCas) -> Result<(), E>,
    ) -> Result<Certificate, E> {
        let record = |conditions: &[Condition<'_>]| {
            let made = slice::from_ref(made);
            self.ledger.record_if(made, conditions)
        };
        self.after_check(check, record)?;
        let certificate = Certificate::from_der(&made.certificate);
        Ok(certificate.map_err(|error| AuthorityError::from(IssueError::from(error)))?)
    }

    /// Records the certificate of a key that follows others, with the generations from then on, if `check` finds nothing
    /// wrong with it, as [`record_ca`](Self::record_ca) does.
    pub(crate) fn record_next_key<E: From<AuthorityError>>(
        &self,
        before: &[Generation],
        after: &[Generation],
        made: &NewEntry<'_>,
        check: impl Fn(&CertifiedCas) -> Result<(), E>,
    ) -> Result<(), E> {
        self.after_check(check, |conditions| {
            let made = slice::from_ref(made);
            let ledger = &self.ledger;
            ledger.change_generations(before, after, made, conditions)
        })
    }

    /// Checks and records, again if another process recorded the certificate of a CA in between.
    fn after_check<E: From<AuthorityError>>(
        &self,
        check: impl Fn(&CertifiedCas) -> Result<(), E>,
        record: impl Fn(&[Condition<'_>]) -> Result<(), LedgerError>,
    ) -> Result<(), E> {
        loop {
            let certified = self.certified_cas()?;
            check(&certified)?;
            let same = Condition::NoOthers(&certified.filter, &certified.numbers);
            match self.with_own(&[same], &record) {
                Err(AuthorityError::Ledger(LedgerError::RecordedMeanwhile)) => {}
                recorded => return Ok(recorded?),
            }
        }
    }
}
