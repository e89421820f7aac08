//! Certificates that are revoked, and released from a hold.

use alloc::collections::BTreeMap;

use pq_postgres::Failure;
use pq_postgres::tokio_postgres::types::Type;
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CrlReason;

use super::changing::Worker;
use super::conditions::Owned;
use super::locks::{Hold, Locks};
use super::rows::seconds;
use super::session::{Session, Stop};
use super::text::escaped;
use crate::ledger::audit::Deed;
use crate::ledger::entry::{Change, Entry, Revocation, Revoked, State};
use crate::ledger::error::LedgerError;
use crate::ledger::events;
use crate::ledger::serial_number::SerialNumber;

impl Worker {
    pub(super) async fn revoke(
        &self,
        numbers: &[SerialNumber],
        revocation: &Revocation,
        conditions: &[Owned],
    ) -> Result<Vec<Revoked>, LedgerError> {
        self.change(async |session| {
            // Whose they are and which keys they have never changes. The rest is read under the locks.
            let known = session.entries(numbers).await?;
            let mut locks = Locks::default();
            for (number, entry) in &known {
                locks.certificate(number, Hold::Alone);
                locks.lists(&entry.issued.issuer, Hold::Shared);
                if revocation.is_compromise() {
                    for key in entry.issued.keys() {
                        locks.key(&key, Hold::Alone);
                    }
                }
            }
            for condition in conditions {
                condition.lock(&mut locks);
            }
            session.lock(&locks).await?;
            session.check(conditions).await?;
            if revocation.reason == CrlReason::RemoveFromCRL {
                return Err(LedgerError::NotAReason.into());
            }
            let mut entries = session.entries(numbers).await?;
            let mut changes = BTreeMap::new();
            let mut new = Vec::new();
            for number in numbers {
                // What was recorded only now, nothing was locked for.
                let entry = entries
                    .get_mut(number)
                    .filter(|_| known.contains_key(number));
                let entry = entry.ok_or(LedgerError::Unknown(*number))?;
                if changes.contains_key(number) {
                    continue;
                }
                let (state, change) = revocation.applied_to(entry);
                if let Some(state) = state {
                    new.push((*number, state.clone()));
                    entry.state = State::Revoked(state);
                }
                changes.insert(*number, change);
            }
            session.set_revoked(&new).await?;
            let revoked = numbers.iter().map(|number| {
                let entry = entries.get(number).cloned();
                Ok(Revoked {
                    entry: entry.ok_or(LedgerError::Unknown(*number))?,
                    change: changes.get(number).cloned().unwrap_or(Change::Unchanged),
                })
            });
            revoked.collect()
        })
        .await
    }

    pub(super) async fn reinstate(
        &self,
        number: &SerialNumber,
        at: UnixTime,
        by: &str,
        conditions: &[Owned],
    ) -> Result<Entry, LedgerError> {
        self.change(async |session| {
            let known = session.entry(number).await?;
            let mut locks = Locks::default();
            if let Some(entry) = &known {
                locks.certificate(number, Hold::Alone);
                locks.lists(&entry.issued.issuer, Hold::Shared);
                for key in entry.issued.keys() {
                    locks.key(&key, Hold::Shared);
                }
            }
            for condition in conditions {
                condition.lock(&mut locks);
            }
            session.lock(&locks).await?;
            session.check(conditions).await?;
            known.ok_or(LedgerError::Unknown(*number))?;
            let entry = session.entry(number).await?;
            let mut entry = entry.ok_or(LedgerError::Unknown(*number))?;
            if !entry.revocation().is_some_and(Revocation::is_hold) {
                return Err(LedgerError::NotOnHold(*number).into());
            }
            session.check_keys(entry.issued.keys()).await?;
            let deed = Deed::Reinstated {
                number: *number,
                at,
                by: by.into(),
            };
            session
                .query(
                    "WITH said AS (
                        INSERT INTO @.events (what, serial, at, said_by, body) VALUES ($4, $1, $2, $3, $5)
                    )
                    UPDATE @.certificates SET revoked_at = NULL, reason = NULL, revoked_by = NULL, last_list = NULL
                    WHERE serial = $1",
                    &[
                        (&number.as_bytes(), Type::BYTEA),
                        (&seconds(at)?, Type::INT8),
                        (&escaped(by), Type::TEXT),
                        (&deed.name(), Type::TEXT),
                        (&events::encode(&deed), Type::BYTEA),
                    ],
                )
                .await?;
            entry.state = State::Valid;
            Ok(entry)
        })
        .await
    }
}

impl Session<'_> {
    async fn set_revoked(&self, new: &[(SerialNumber, Revocation)]) -> Result<(), Stop> {
        if new.is_empty() {
            return Ok(());
        }
        let serials: Vec<&[u8]> = new.iter().map(|(number, _)| number.as_bytes()).collect();
        let times = new.iter().map(|(_, revocation)| seconds(revocation.at));
        let times = times.collect::<Result<Vec<i64>, Failure>>()?;
        let reasons = new.iter().map(|(_, revocation)| revocation.reason as i16);
        let reasons: Vec<i16> = reasons.collect();
        let by: Vec<String> = new.iter().map(|(_, one)| escaped(&one.by)).collect();
        let deeds = (new.iter())
            .map(|(number, revocation)| Deed::Revoked(vec![(revocation.clone(), vec![*number])]));
        let bodies: Vec<Vec<u8>> = deeds.map(|deed| events::encode(&deed)).collect();
        let rows = self
            .query(
                "WITH said AS (
                    INSERT INTO @.events (what, serial, at, reason, said_by, body)
                    SELECT 'revoked', * FROM unnest($1, $2, $3, $4, $5)
                )
                UPDATE @.certificates c
                SET revoked_at = n.at, reason = n.reason, revoked_by = n.said_by,
                    last_list = COALESCE((SELECT l.begun FROM @.lists l WHERE l.issuer_id = c.issuer_id), 0)
                FROM unnest($1, $2, $3, $4) AS n (serial, at, reason, said_by)
                WHERE c.serial = n.serial RETURNING 1",
                &[
                    (&serials, Type::BYTEA_ARRAY),
                    (&times, Type::INT8_ARRAY),
                    (&reasons, Type::INT2_ARRAY),
                    (&by, Type::TEXT_ARRAY),
                    (&bodies, Type::BYTEA_ARRAY),
                ],
            )
            .await?;
        match rows.len() == new.len() {
            true => Ok(()),
            false => Err(Failure::damaged("a certificate has gone under a lock").into()),
        }
    }
}
