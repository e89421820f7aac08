//! What a CA with several keys does: whose certificates it may change, what its revocation lists have, and how the
//! certificate of a new key comes into the ledger.

use std::time::SystemTime;

use pq_x509::certificate::Certificate;
use pq_x509::issuing::{Ca, CertificateBuilder};
use pq_x509::keys::{Signer, SubjectKey};
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CrlReason;
use pq_x509::x509_cert::der::oid::AssociatedOid;
use pq_x509::x509_cert::ext::pkix::NameConstraints;

use super::{Authority, AuthorityError, matching};
use crate::ledger::{Condition, Entry, Generation, Ledger, LedgerError, NewEntry, SerialNumber};
use crate::policy::KeyAlgorithm;

impl<S: Signer, L: Ledger> Authority<S, L> {
    /// That this CA issued a certificate, with this key or with another of its generations.
    pub(super) fn check_own(&self, entry: &Entry) -> Result<(), AuthorityError> {
        let Entry { issued, .. } = entry;
        if issued.issuer == self.name {
            return Ok(());
        }
        let generations = self.ledger.generations()?;
        let is_of = |name: &str| generations.iter().any(|one| one.name == name);
        match is_of(&self.name) && is_of(&issued.issuer) {
            true => Ok(()),
            false => Err(AuthorityError::Ledger(LedgerError::AnotherIssuers {
                number: issued.serial_number,
                issuer: issued.issuer.clone(),
                asked: self.name.clone(),
            })),
        }
    }

    /// The same of the certificate with this number. Who issued a certificate never changes, so this is no condition.
    pub(super) fn check_owns(&self, number: &SerialNumber) -> Result<(), AuthorityError> {
        let entry = self.ledger.entry(number)?;
        self.check_own(&entry.ok_or(LedgerError::Unknown(*number))?)
    }

    /// Takes a number for a revocation list, and says what belongs on it.
    pub(super) fn number_list(
        &self,
        given: Option<u64>,
        now: UnixTime,
    ) -> Result<(u64, Vec<Revoked>), AuthorityError> {
        let mut wanted = given;
        loop {
            let mut revoked = Vec::new();
            match self.number_lists(wanted, now, &mut revoked) {
                Ok(number) => return Ok((number, revoked)),
                // A key of the same name has made more lists than this one, or another process was faster.
                Err(LedgerError::NotAboveLists { last, .. })
                    if given.is_none() && last.checked_add(1) > wanted =>
                {
                    wanted = last.checked_add(1);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Takes one number in the sequences of all keys of this name.
    fn number_lists(
        &self,
        wanted: Option<u64>,
        now: UnixTime,
        revoked: &mut Vec<Revoked>,
    ) -> Result<u64, LedgerError> {
        let mut show = |number: &SerialNumber, revocation: &crate::ledger::Revocation| {
            let at = crate::time::system_time(revocation.at);
            revoked.push((*number, at, revocation.reason));
        };
        let mut number = self
            .ledger
            .numbered_list(&self.name, wanted, now, &mut show)?;
        for name in &self.of_same_name {
            number = self
                .ledger
                .numbered_list(name, Some(number), now, &mut show)?;
        }
        Ok(number)
    }

    /// Signs a certificate for a CA's key, which the ledger doesn't have yet. It gets the name constraints of `like`, if
    /// that has some.
    pub(crate) fn sign_ca(
        &self,
        builder: CertificateBuilder<Ca>,
        like: Option<&Certificate>,
        key: &dyn SubjectKey,
        profile: &str,
        (by, now): (&str, UnixTime),
    ) -> Result<NewEntry<'static>, AuthorityError> {
        let number = SerialNumber::random()?;
        let builder = builder.serial_number(number.as_bytes());
        let mut tbs = self.issuer.prepare(builder, key)?;
        let extensions = like.and_then(|like| like.parsed().tbs_certificate().extensions());
        let mut extensions = extensions.into_iter().flatten();
        if let Some(constraints) = extensions.find(|one| one.extn_id == NameConstraints::OID) {
            tbs.extensions.push(constraints.clone());
            // Whoever certified this CA may have written others than this one would.
            tbs.check_rules()?;
        }
        let algorithm = KeyAlgorithm::of(key)?;
        self.sign(tbs, key, algorithm, number, profile, by, now)
    }

    /// Records the certificates of keys, and what the generations are from then on: both or nothing.
    pub(crate) fn record_generations(
        &self,
        before: &[Generation],
        after: &[Generation],
        certificates: &[NewEntry<'_>],
    ) -> Result<(), AuthorityError> {
        self.with_own(&[], |conditions| {
            let ledger = &self.ledger;
            ledger.change_generations(before, after, certificates, conditions)
        })
    }

    /// Whether the ledger would take a certificate under these conditions, as far as it knows now. It records nothing.
    pub(crate) fn check_recordable(
        &self,
        made: &NewEntry<'_>,
        conditions: &[Condition<'_>],
    ) -> Result<(), AuthorityError> {
        for key in made.issued.keys() {
            if let Some(number) = self.ledger.compromised(&key)? {
                return Err(LedgerError::KeyCompromised(number).into());
            }
        }
        self.with_own(conditions, |conditions| {
            conditions.iter().try_for_each(|condition| {
                condition.check(
                    |number| self.ledger.entry(number),
                    |key| self.ledger.compromised(key),
                    || self.ledger.generations(),
                    |filter| matching(&self.ledger, filter),
                )
            })
        })
    }
}

/// An entry of a revocation list.
pub(super) type Revoked = (SerialNumber, SystemTime, CrlReason);
