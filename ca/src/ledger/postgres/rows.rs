//! Entries as rows, and what single rows say.

use alloc::collections::BTreeMap;
use core::time::Duration;

use pq_postgres::Failure;
use pq_postgres::tokio_postgres::Row;
use pq_postgres::tokio_postgres::types::Type;
use pq_x509::pki_types::{CertificateDer, UnixTime};
use pq_x509::revocation::CrlReason;

use super::session::{Session, Stop, column};
use super::text::{of_lines, unescaped};
use crate::ledger::KeyHash;
use crate::ledger::decision::{Evidence, PolicyId};
use crate::ledger::entry::{Entry, Issued, Revocation, State};
use crate::ledger::generation::Generation;
use crate::ledger::request_id::RequestId;
use crate::ledger::serial_number::SerialNumber;
use crate::ledger::stage::Stage;

/// The columns of an entry, as [`entry`] reads them.
pub(super) const ENTRY: &str = "c.serial, c.issuer, c.subject, c.names, c.not_before, c.not_after, c.profile, \
     c.key_algorithm, c.key, c.halves, c.requester, c.issued_at, c.revoked_at, c.reason, c.revoked_by, c.request, c.policy, c.policy_reader, \
     c.evidence";

/// The reasons of a compromise.
pub(super) const COMPROMISES: [i16; 3] = [
    CrlReason::KeyCompromise as i16,
    CrlReason::CaCompromise as i16,
    CrlReason::AaCompromise as i16,
];

pub(super) fn entry(row: &Row) -> Result<Entry, Failure> {
    let text = |at| unescaped(column(row, at)?);
    let time = |at| time(column(row, at)?);
    let halves: &[u8] = column(row, 9)?;
    let issued = Issued {
        serial_number: serial_number(column(row, 0)?)?,
        issuer: text(1)?,
        subject: text(2)?,
        names: of_lines(column(row, 3)?)?,
        not_before: time(4)?,
        not_after: time(5)?,
        profile: text(6)?,
        key_algorithm: text(7)?,
        key: key_hash(column(row, 8)?)?,
        halves: halves.chunks(32).map(key_hash).collect::<Result<_, _>>()?,
        by: text(10)?,
        at: time(11)?,
        request: column::<Option<&[u8]>>(row, 15)?
            .map(request_id)
            .transpose()?,
        policy: policy(column(row, 16)?, column(row, 17)?)?,
        evidence: column::<Option<&str>>(row, 18)?.map(evidence).transpose()?,
    };
    let state = match column::<Option<i64>>(row, 12)? {
        None => State::Valid,
        Some(_) => State::Revoked(revocation(row, 12)?),
    };
    Ok(Entry { issued, state })
}

/// The revocation in three columns from this one on.
pub(super) fn revocation(row: &Row, at: usize) -> Result<Revocation, Failure> {
    Ok(Revocation {
        at: time(column(row, at)?)?,
        reason: reason(column(row, at + 1)?)?,
        by: unescaped(column(row, at + 2)?)?,
    })
}

pub(super) fn reason(number: i16) -> Result<CrlReason, Failure> {
    let reason = u32::try_from(number).ok().map(CrlReason::try_from);
    match reason {
        Some(Ok(reason)) => Ok(reason),
        _ => Err(Failure::damaged("a reason that there is not")),
    }
}

pub(super) fn serial_number(bytes: &[u8]) -> Result<SerialNumber, Failure> {
    SerialNumber::from_bytes(bytes).map_err(|_| Failure::damaged("a serial number"))
}

pub(super) fn key_hash(bytes: &[u8]) -> Result<KeyHash, Failure> {
    let bytes = bytes.try_into();
    let bytes = bytes.map_err(|_| Failure::damaged("the digest of a key"))?;
    Ok(KeyHash::from_bytes(bytes))
}

pub(super) fn request_id(bytes: &[u8]) -> Result<RequestId, Failure> {
    let bytes = bytes.try_into();
    Ok(RequestId::from_bytes(bytes.map_err(|_| {
        Failure::damaged("the number of a request")
    })?))
}

fn policy(digest: Option<&[u8]>, reader: Option<&str>) -> Result<Option<PolicyId>, Failure> {
    let (Some(digest), Some(reader)) = (digest, reader) else {
        return Ok(None);
    };
    let digest = digest.try_into();
    Ok(Some(PolicyId {
        digest: digest.map_err(|_| Failure::damaged("the digest of a policy"))?,
        reader: unescaped(reader)?,
    }))
}

fn evidence(text: &str) -> Result<Evidence, Failure> {
    let evidence = Evidence::new(unescaped(text)?);
    evidence.map_err(|_| Failure::damaged("a text that is no evidence"))
}

pub(super) fn time(seconds: i64) -> Result<UnixTime, Failure> {
    let seconds = u64::try_from(seconds).map_err(|_| Failure::damaged("a negative time"))?;
    Ok(UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
}

/// A time as the database has it.
pub(super) fn seconds(time: UnixTime) -> Result<i64, Failure> {
    i64::try_from(time.as_secs()).map_err(|_| Failure::Limit("seconds since 1970"))
}

/// A number of a list, which is greater than the database's integers may be.
pub(super) fn list_number(text: &str) -> Result<u64, Failure> {
    text.parse()
        .map_err(|_| Failure::damaged("the number of a list"))
}

impl Session<'_> {
    pub(super) async fn entries(
        &self,
        numbers: &[SerialNumber],
    ) -> Result<BTreeMap<SerialNumber, Entry>, Stop> {
        let asked: Vec<&[u8]> = numbers.iter().map(SerialNumber::as_bytes).collect();
        let statement = format!("SELECT {ENTRY} FROM @.certificates c WHERE c.serial = ANY ($1)");
        let rows = self
            .query(&statement, &[(&asked, Type::BYTEA_ARRAY)])
            .await?;
        let entries = rows.iter().map(|row| {
            let entry = entry(row)?;
            Ok((entry.issued.serial_number, entry))
        });
        entries.collect()
    }

    pub(super) async fn entry(&self, number: &SerialNumber) -> Result<Option<Entry>, Stop> {
        Ok(self.entries(&[*number]).await?.remove(number))
    }

    /// The entry of a certificate that was issued for this request.
    pub(super) async fn of_request(&self, request: &RequestId) -> Result<Option<Entry>, Stop> {
        let statement = format!("SELECT {ENTRY} FROM @.certificates c WHERE c.request = $1");
        let asked = &request.as_bytes()[..];
        let rows = self.query(&statement, &[(&asked, Type::BYTEA)]).await?;
        Ok(rows.first().map(entry).transpose()?)
    }

    pub(super) async fn certificate(
        &self,
        number: &SerialNumber,
    ) -> Result<Option<CertificateDer<'static>>, Stop> {
        let statement = "SELECT certificate FROM @.certificates WHERE serial = $1";
        let rows = self
            .query(statement, &[(&number.as_bytes(), Type::BYTEA)])
            .await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        Ok(Some(CertificateDer::from(column::<Vec<u8>>(row, 0)?)))
    }

    /// Of keys that others may know, a certificate for each that was revoked for it.
    pub(super) async fn compromised(
        &self,
        keys: &[KeyHash],
    ) -> Result<BTreeMap<KeyHash, SerialNumber>, Stop> {
        let asked: Vec<&[u8]> = keys.iter().map(|key| &key.as_bytes()[..]).collect();
        let rows = self
            .query(
                "SELECT k.key, k.serial FROM @.keys k JOIN @.certificates c USING (serial) \
                 WHERE k.key = ANY ($1) AND c.reason = ANY ($2)",
                &[
                    (&asked, Type::BYTEA_ARRAY),
                    (&&COMPROMISES[..], Type::INT2_ARRAY),
                ],
            )
            .await?;
        let found = rows
            .iter()
            .map(|row| Ok((key_hash(column(row, 0)?)?, serial_number(column(row, 1)?)?)));
        found.collect()
    }

    pub(super) async fn generations(&self) -> Result<Vec<Generation>, Stop> {
        let statement =
            "SELECT name, chain, stage, since, brought_about_by FROM @.generations ORDER BY place";
        let rows = self.query(statement, &[]).await?;
        let generations = rows.iter().map(|row| {
            let chain: Vec<Vec<u8>> = column(row, 1)?;
            Ok(Generation {
                name: unescaped(column(row, 0)?)?,
                chain: chain.into_iter().map(CertificateDer::from).collect(),
                stage: u8::try_from(column::<i16>(row, 2)?)
                    .ok()
                    .and_then(Stage::of_number)
                    .ok_or_else(|| Failure::damaged("a stage that there is not"))?,
                since: time(column(row, 3)?)?,
                by: unescaped(column(row, 4)?)?,
            })
        });
        generations.collect()
    }
}
