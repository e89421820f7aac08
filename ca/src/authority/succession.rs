//! What a CA with several keys does: whose certificates it may change, what its revocation lists have, and how the
//! certificate of a new key comes into the ledger.

use core::ops::ControlFlow;
use std::time::SystemTime;

use pq_x509::certificate::{Certificate, is_same_name};
use pq_x509::issuing::{Ca, CertificateBuilder, IssueError};
use pq_x509::keys::{Signer, SubjectKey};
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CrlReason;
use pq_x509::x509_cert::der::oid::AssociatedOid;
use pq_x509::x509_cert::ext::pkix::NameConstraints;
use pq_x509::x509_cert::name::Name;

use super::{Authority, AuthorityError, CA_PROFILE, SUBORDINATE_PROFILE};
use crate::ledger::{
    Condition, Entry, Filter, Generation, Issued, KeyHash, Ledger, LedgerError, NewEntry,
    SerialNumber,
};
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

    /// Whether this key certified a CA of this name, with another key than this one, whose certificate is valid as far as
    /// the ledger knows.
    pub(crate) fn has_ca_named(
        &self,
        name: &Name,
        key: Option<&KeyHash>,
        now: UnixTime,
    ) -> Result<bool, AuthorityError> {
        let filter = Filter::all().valid().expires_from(now);
        let certified = self.certified_cas(filter, &|issued| Some(&issued.key) != key)?;
        Ok(certified.iter().any(|ca| is_same_name(ca.subject(), name)))
    }

    /// Whether one of this CA's own keys has this name in its certificate, be that valid or not: those that this one
    /// certified, as the root did also before the first of them was followed by a next one, and all generations.
    pub(crate) fn has_own_key_named(&self, name: &Name) -> Result<bool, AuthorityError> {
        if is_same_name(self.issuer.certificate().subject(), name) {
            return Ok(true);
        }
        let mut own = self.certified_cas(Filter::all(), &|issued| issued.profile == CA_PROFILE)?;
        for generation in self.ledger.generations()? {
            if let Some(der) = generation.certificate() {
                own.push(Certificate::from_der(der).map_err(IssueError::from)?);
            }
        }
        Ok(own.iter().any(|one| is_same_name(one.subject(), name)))
    }

    /// The certificates of CAs with this key which this one signed, and which are valid as far as the ledger knows.
    pub(crate) fn certificates_for(
        &self,
        key: &KeyHash,
        now: UnixTime,
    ) -> Result<Vec<Certificate>, AuthorityError> {
        let filter = Filter::all().valid().expires_from(now);
        self.certified_cas(filter, &|issued| issued.key == *key)
    }

    /// The certificates of CAs that this key signed.
    fn certified_cas(
        &self,
        filter: Filter,
        is_meant: &dyn Fn(&Issued) -> bool,
    ) -> Result<Vec<Certificate>, AuthorityError> {
        let mut numbers = Vec::new();
        let filter = filter.issuer(&self.name);
        self.ledger.find(&filter, &mut |entry| {
            let is_of_ca = [CA_PROFILE, SUBORDINATE_PROFILE].contains(&&*entry.issued.profile);
            if is_of_ca && is_meant(&entry.issued) {
                numbers.push(entry.issued.serial_number);
            }
            ControlFlow::Continue(())
        })?;
        let read = |number: SerialNumber| {
            let der = self.ledger.certificate(&number)?;
            let der = der.ok_or(LedgerError::Unknown(number))?;
            Ok(Certificate::from_der(&der).map_err(IssueError::from)?)
        };
        numbers.into_iter().map(read).collect()
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
                )
            })
        })
    }

    /// Records a certificate of another CA that this one signed.
    pub(crate) fn record_ca(&self, made: NewEntry<'static>) -> Result<Certificate, AuthorityError> {
        self.with_own(&[], |conditions| {
            self.ledger
                .record_if(core::slice::from_ref(&made), conditions)
        })?;
        Ok(Certificate::from_der(&made.certificate).map_err(IssueError::from)?)
    }
}

/// An entry of a revocation list.
pub(super) type Revoked = (SerialNumber, SystemTime, CrlReason);
