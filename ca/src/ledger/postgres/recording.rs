//! Certificates that are recorded.

use alloc::collections::{BTreeMap, BTreeSet};

use pq_postgres::Failure;
use pq_postgres::tokio_postgres::types::Type;
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CrlReason;
use sha2::{Digest, Sha256};

use super::changing::Worker;
use super::clock::Clock;
use super::conditions::Owned;
use super::locks::{Hold, Locks, digest};
use super::rows::{request_id, seconds, serial_number};
use super::searching::indexed;
use super::session::{Session, Stop, column};
use super::text::{escaped, lines};
use crate::ledger::KeyHash;
use crate::ledger::audit::{AuditedCertificate, Deed};
use crate::ledger::entry::{AdoptedEntry, Issued, NewEntry, Revocation};
use crate::ledger::error::LedgerError;
use crate::ledger::events;
use crate::ledger::name;
use crate::ledger::request_id::RequestId;
use crate::ledger::serial_number::SerialNumber;

/// A certificate as it is written.
pub(super) struct Written<'e> {
    pub(super) entry: &'e NewEntry<'static>,
    /// `None` if its time says nothing of today.
    pub(super) era: Option<i64>,
    pub(super) revocation: Option<Revocation>,
}

/// The events of certificates that are recorded: one after another in each column.
#[derive(Default)]
struct Said<'e> {
    deeds: Vec<&'static str>,
    serials: Vec<&'e [u8]>,
    times: Vec<i64>,
    reasons: Vec<Option<i16>>,
    by: Vec<String>,
    bodies: Vec<Vec<u8>>,
}

impl<'e> Said<'e> {
    fn of(written: &[Written<'e>]) -> Result<Self, Failure> {
        let mut said = Self::default();
        for one in written {
            let issued = &one.entry.issued;
            let number = &issued.serial_number;
            let certificates = vec![AuditedCertificate {
                issued: issued.clone(),
                digest: Sha256::digest(&one.entry.certificate).into(),
            }];
            let deed = match one.era {
                Some(_) => Deed::Issued(certificates),
                None => Deed::Adopted(certificates, Vec::new()),
            };
            said.add(number, &deed, issued.at, None, &issued.by)?;
            if let Some(revocation) = &one.revocation {
                let deed = Deed::Revoked(vec![(revocation.clone(), vec![*number])]);
                let reason = Some(revocation.reason as i16);
                said.add(number, &deed, revocation.at, reason, &revocation.by)?;
            }
        }
        Ok(said)
    }

    fn add(
        &mut self,
        number: &'e SerialNumber,
        deed: &Deed,
        at: UnixTime,
        reason: Option<i16>,
        by: &str,
    ) -> Result<(), Failure> {
        self.deeds.push(deed.name());
        self.serials.push(number.as_bytes());
        self.times.push(seconds(at)?);
        self.reasons.push(reason);
        self.by.push(escaped(by));
        self.bodies.push(events::encode(deed));
        Ok(())
    }
}

/// The names of certificates, as they are written for searches: one after another in each column.
#[derive(Default)]
struct Named<'e> {
    names: Vec<Vec<u8>>,
    ends: Vec<i64>,
    serials: Vec<&'e [u8]>,
}

impl<'e> Named<'e> {
    fn of(issued: impl Iterator<Item = &'e Issued>) -> Result<Self, Failure> {
        let mut named = Self::default();
        for one in issued {
            // One that is there twice is written once.
            for name in one.names.iter().filter_map(|name| name::reversed(name)) {
                named.names.push(indexed(&name).to_vec());
                named.ends.push(seconds(one.not_after)?);
                named.serials.push(one.serial_number.as_bytes());
            }
        }
        Ok(named)
    }
}

/// The keys of certificates, in the same way.
#[derive(Default)]
struct Keyed<'e> {
    keys: Vec<Vec<u8>>,
    serials: Vec<&'e [u8]>,
}

impl<'e> Keyed<'e> {
    fn of(issued: impl Iterator<Item = &'e Issued>) -> Self {
        let mut keyed = Self::default();
        for one in issued {
            for key in one.keys() {
                keyed.keys.push(key.as_bytes().to_vec());
                keyed.serials.push(one.serial_number.as_bytes());
            }
        }
        keyed
    }
}

impl Worker {
    pub(super) async fn record(
        &self,
        entries: &[NewEntry<'static>],
        conditions: &[Owned],
    ) -> Result<(), LedgerError> {
        if entries.is_empty() && conditions.is_empty() {
            return Ok(());
        }
        let locks = locks_to_record(entries, conditions);
        self.change(async |session| {
            session.lock(&locks).await?;
            session.check(conditions).await?;
            session.record(entries).await
        })
        .await
    }

    pub(super) async fn adopt(&self, adopted: &[AdoptedEntry<'static>]) -> Result<(), LedgerError> {
        let mut locks = Locks::default();
        let mut compromised = BTreeMap::new();
        locks.records(Hold::Shared);
        lock_requests(&mut locks, adopted.iter().map(|one| &one.entry));
        for AdoptedEntry { entry, revocation } in adopted {
            let issued = &entry.issued;
            let is_compromise = revocation.as_ref().is_some_and(Revocation::is_compromise);
            for key in issued.keys() {
                match is_compromise {
                    true => locks.key(&key, Hold::Alone),
                    false => locks.key(&key, Hold::Shared),
                }
                if is_compromise {
                    compromised.insert(key, issued.serial_number);
                }
            }
            if revocation.is_some() {
                locks.lists(&issued.issuer, Hold::Shared);
            }
        }
        self.change(async |session| {
            session.lock(&locks).await?;
            let entries = adopted.iter().map(|one| &one.entry);
            session.check_numbers_are_free(entries.clone()).await?;
            session.check_requests_are_free(entries).await?;
            if (adopted.iter().filter_map(|one| one.revocation.as_ref()))
                .any(|one| one.reason == CrlReason::RemoveFromCRL)
            {
                return Err(LedgerError::NotAReason.into());
            }
            let valid = adopted.iter().filter(|one| one.revocation.is_none());
            let valid: Vec<_> = valid.map(|one| &one.entry).collect();
            let keys = || valid.iter().flat_map(|entry| entry.issued.keys());
            if let Some(number) = keys().find_map(|key| compromised.get(&key)) {
                return Err(LedgerError::KeyCompromised(*number).into());
            }
            session.check_keys(keys()).await?;
            let written: Vec<_> = adopted
                .iter()
                .map(|one| Written {
                    entry: &one.entry,
                    era: None,
                    revocation: (one.revocation.as_ref())
                        .map(|revocation| revocation.for_certificate(&one.entry.issued)),
                })
                .collect();
            session.write(&written, true).await
        })
        .await
    }
}

/// Adds locks on requests, where several are answered at once: two that answer the same ones in different orders would wait
/// for each other. A single one waits in the index, and not for those that share a lock with it.
fn lock_requests<'e>(
    locks: &mut Locks,
    entries: impl ExactSizeIterator<Item = &'e NewEntry<'static>>,
) {
    if entries.len() > 1 {
        for request in entries.filter_map(|entry| entry.issued.request) {
            locks.request(&request, Hold::Alone);
        }
    }
}

/// The locks of a change that records certificates under conditions.
pub(super) fn locks_to_record(entries: &[NewEntry<'static>], conditions: &[Owned]) -> Locks {
    let mut locks = Locks::default();
    locks.records(Hold::Shared);
    lock_requests(&mut locks, entries.iter());
    for entry in entries {
        for key in entry.issued.keys() {
            locks.key(&key, Hold::Shared);
        }
    }
    for condition in conditions {
        condition.lock(&mut locks);
    }
    locks
}

impl Session<'_> {
    /// Records certificates, if they can be.
    pub(super) async fn record(&self, entries: &[NewEntry<'static>]) -> Result<(), Stop> {
        if entries.is_empty() {
            return Ok(());
        }
        let keys = entries.iter().flat_map(|entry| entry.issued.keys());
        let (free, unanswered, keys, clock) = tokio::join!(
            self.check_numbers_are_free(entries.iter()),
            self.check_requests_are_free(entries.iter()),
            self.check_keys(keys),
            self.clock(),
        );
        free?;
        unanswered?;
        keys?;
        let clock: Clock = clock?;
        for entry in entries {
            clock.check_is_not_ahead(entry.issued.at)?;
        }
        let written = entries.iter().map(|entry| Written {
            entry,
            era: Some(clock.era),
            revocation: None,
        });
        self.write(&written.collect::<Vec<_>>(), true).await
    }

    async fn check_numbers_are_free<'e>(
        &self,
        entries: impl Iterator<Item = &'e NewEntry<'static>>,
    ) -> Result<(), Stop> {
        let mut numbers = BTreeSet::new();
        for entry in entries {
            let number = entry.issued.serial_number;
            if !numbers.insert(number) {
                return Err(LedgerError::SerialNumberTaken(number).into());
            }
        }
        let asked: Vec<&[u8]> = numbers.iter().map(SerialNumber::as_bytes).collect();
        let statement =
            "SELECT serial FROM @.certificates WHERE serial = ANY ($1) ORDER BY serial LIMIT 1";
        let taken = self
            .query(statement, &[(&asked, Type::BYTEA_ARRAY)])
            .await?;
        match taken.first() {
            Some(row) => {
                let number = serial_number(column(row, 0)?)?;
                Err(LedgerError::SerialNumberTaken(number).into())
            }
            None => Ok(()),
        }
    }

    async fn check_requests_are_free<'e>(
        &self,
        entries: impl Iterator<Item = &'e NewEntry<'static>>,
    ) -> Result<(), Stop> {
        let mut numbers = BTreeMap::new();
        for Issued {
            serial_number: number,
            request,
            ..
        } in entries.map(|entry| &entry.issued)
        {
            let Some(request) = *request else { continue };
            if let Some(number) = numbers.insert(request, *number) {
                return Err(LedgerError::RequestTaken { request, number }.into());
            }
        }
        match self.request_taken(numbers.into_keys()).await? {
            Some(taken) => Err(taken.into()),
            None => Ok(()),
        }
    }

    /// Whether one of these requests has its certificate.
    async fn request_taken(
        &self,
        requests: impl Iterator<Item = RequestId>,
    ) -> Result<Option<LedgerError>, Stop> {
        let requests: Vec<_> = requests.collect();
        if requests.is_empty() {
            return Ok(None);
        }
        let asked: Vec<&[u8]> = requests.iter().map(|one| &one.as_bytes()[..]).collect();
        let statement = "SELECT request, serial FROM @.certificates WHERE request = ANY ($1) ORDER BY request LIMIT 1";
        let taken = self
            .query(statement, &[(&asked, Type::BYTEA_ARRAY)])
            .await?;
        let taken = taken.first().map(|row| {
            Ok::<_, Failure>(LedgerError::RequestTaken {
                request: request_id(column(row, 0)?)?,
                number: serial_number(column(row, 1)?)?,
            })
        });
        Ok(taken.transpose()?)
    }

    /// That nobody else may know certificates' keys.
    pub(super) async fn check_keys(&self, keys: impl Iterator<Item = KeyHash>) -> Result<(), Stop> {
        let compromised = self.compromised(&keys.collect::<Vec<_>>()).await?;
        match compromised.into_values().next() {
            Some(number) => Err(LedgerError::KeyCompromised(number).into()),
            None => Ok(()),
        }
    }

    /// Writes certificates, unless one of the numbers or requests was taken meanwhile, and notes that if it `is_noted`.
    pub(super) async fn write(&self, written: &[Written<'_>], is_noted: bool) -> Result<(), Stop> {
        let issued = || written.iter().map(|one| &one.entry.issued);
        let revocation = || written.iter().map(|one| one.revocation.as_ref());
        let serials: Vec<&[u8]> = issued().map(|one| one.serial_number.as_bytes()).collect();
        let issuers: Vec<String> = issued().map(|one| escaped(&one.issuer)).collect();
        let ids = issued().map(|one| digest(one.issuer.as_bytes()).cast_signed());
        let ids: Vec<i64> = ids.collect();
        let subjects: Vec<String> = issued().map(|one| escaped(&one.subject)).collect();
        let all_names: Vec<String> = issued().map(|one| lines(&one.names)).collect();
        let beginnings = issued().map(|one| seconds(one.not_before));
        let beginnings = beginnings.collect::<Result<Vec<i64>, Failure>>()?;
        let ends = issued().map(|one| seconds(one.not_after));
        let ends = ends.collect::<Result<Vec<i64>, Failure>>()?;
        let profiles: Vec<String> = issued().map(|one| escaped(&one.profile)).collect();
        let algorithms: Vec<String> = issued().map(|one| escaped(&one.key_algorithm)).collect();
        let keys: Vec<&[u8]> = issued().map(|one| &one.key.as_bytes()[..]).collect();
        let halves = issued().map(|one| {
            one.halves
                .iter()
                .flat_map(|half| *half.as_bytes())
                .collect()
        });
        let halves: Vec<Vec<u8>> = halves.collect();
        let requesters: Vec<String> = issued().map(|one| escaped(&one.by)).collect();
        let times = issued().map(|one| seconds(one.at));
        let times = times.collect::<Result<Vec<i64>, Failure>>()?;
        let eras: Vec<Option<i64>> = written.iter().map(|one| one.era).collect();
        let certificates: Vec<&[u8]> = written.iter().map(|one| &*one.entry.certificate).collect();
        let revoked_at = revocation().map(|one| one.map(|one| seconds(one.at)).transpose());
        let revoked_at = revoked_at.collect::<Result<Vec<Option<i64>>, Failure>>()?;
        let reasons: Vec<Option<i16>> = revocation()
            .map(|one| one.map(|one| one.reason as i16))
            .collect();
        let revoked_by: Vec<Option<String>> = revocation()
            .map(|one| one.map(|one| escaped(&one.by)))
            .collect();

        let requests = issued().map(|one| one.request.as_ref().map(|one| &one.as_bytes()[..]));
        let requests: Vec<Option<&[u8]>> = requests.collect();
        let policies = issued().map(|one| one.policy.as_ref().map(|one| &one.digest[..]));
        let policies: Vec<Option<&[u8]>> = policies.collect();
        let readers = issued().map(|one| one.policy.as_ref().map(|one| escaped(&one.reader)));
        let readers: Vec<Option<String>> = readers.collect();
        let evidence = issued().map(|one| one.evidence.as_ref().map(|one| escaped(one.as_str())));
        let evidence: Vec<Option<String>> = evidence.collect();

        let said = match is_noted {
            true => Said::of(written)?,
            false => Said::default(),
        };
        let named = Named::of(issued())?;
        let keyed = Keyed::of(issued());

        let rows = self
            .query(
                "WITH recorded AS (
                    INSERT INTO @.certificates (serial, issuer, issuer_id, subject, names, not_before, not_after,
                        profile, key_algorithm, key, halves, requester, issued_at, era, certificate,
                        revoked_at, reason, revoked_by, request, policy, policy_reader, evidence, last_list)
                    SELECT n.serial, n.issuer, n.issuer_id, n.subject, n.names, n.not_before, n.not_after,
                        n.profile, n.key_algorithm, n.key, n.halves, n.requester, n.issued_at, n.era, n.certificate,
                        n.revoked_at, n.reason, n.revoked_by, n.request, n.policy, n.policy_reader, n.evidence,
                        CASE WHEN n.reason IS NOT NULL THEN
                            COALESCE((SELECT l.begun FROM @.lists l WHERE l.issuer_id = n.issuer_id), 0)
                        END
                    FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $24,
                        $25, $26, $27)
                        AS n (serial, issuer, issuer_id, subject, names, not_before, not_after, profile,
                            key_algorithm, key, halves, requester, issued_at, era, certificate,
                            revoked_at, reason, revoked_by, request, policy, policy_reader, evidence)
                    ON CONFLICT DO NOTHING RETURNING serial
                ), named AS (
                    INSERT INTO @.names (name, not_after, serial) SELECT * FROM unnest($19, $20, $21)
                    ON CONFLICT DO NOTHING
                ), keyed AS (
                    INSERT INTO @.keys (key, serial) SELECT * FROM unnest($22, $23) ON CONFLICT DO NOTHING
                ), said AS (
                    INSERT INTO @.events (what, serial, at, reason, said_by, body)
                    SELECT * FROM unnest($28, $29, $30, $31, $32, $33)
                )
                SELECT serial FROM recorded",
                &[
                    (&serials, Type::BYTEA_ARRAY),
                    (&issuers, Type::TEXT_ARRAY),
                    (&ids, Type::INT8_ARRAY),
                    (&subjects, Type::TEXT_ARRAY),
                    (&all_names, Type::TEXT_ARRAY),
                    (&beginnings, Type::INT8_ARRAY),
                    (&ends, Type::INT8_ARRAY),
                    (&profiles, Type::TEXT_ARRAY),
                    (&algorithms, Type::TEXT_ARRAY),
                    (&keys, Type::BYTEA_ARRAY),
                    (&halves, Type::BYTEA_ARRAY),
                    (&requesters, Type::TEXT_ARRAY),
                    (&times, Type::INT8_ARRAY),
                    (&eras, Type::INT8_ARRAY),
                    (&certificates, Type::BYTEA_ARRAY),
                    (&revoked_at, Type::INT8_ARRAY),
                    (&reasons, Type::INT2_ARRAY),
                    (&revoked_by, Type::TEXT_ARRAY),
                    (&named.names, Type::BYTEA_ARRAY),
                    (&named.ends, Type::INT8_ARRAY),
                    (&named.serials, Type::BYTEA_ARRAY),
                    (&keyed.keys, Type::BYTEA_ARRAY),
                    (&keyed.serials, Type::BYTEA_ARRAY),
                    (&requests, Type::BYTEA_ARRAY),
                    (&policies, Type::BYTEA_ARRAY),
                    (&readers, Type::TEXT_ARRAY),
                    (&evidence, Type::TEXT_ARRAY),
                    (&said.deeds, Type::TEXT_ARRAY),
                    (&said.serials, Type::BYTEA_ARRAY),
                    (&said.times, Type::INT8_ARRAY),
                    (&said.reasons, Type::INT2_ARRAY),
                    (&said.by, Type::TEXT_ARRAY),
                    (&said.bodies, Type::BYTEA_ARRAY),
                ],
            )
            .await?;
        let recorded = rows.iter().map(|row| column::<&[u8]>(row, 0));
        let recorded = recorded.collect::<Result<BTreeSet<_>, Failure>>()?;
        let missing = issued().find(|one| !recorded.contains(one.serial_number.as_bytes()));
        let Some(missing) = missing else {
            return Ok(());
        };
        match self.request_taken(missing.request.into_iter()).await? {
            Some(taken) => Err(taken.into()),
            None => Err(LedgerError::SerialNumberTaken(missing.serial_number).into()),
        }
    }
}
