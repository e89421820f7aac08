//! Locks on what a change decides by. They are a transaction's, and end with it.

use alloc::collections::BTreeMap;

use pq_postgres::Failure;
use pq_postgres::tokio_postgres::types::Type;
use sha2::{Digest, Sha256};

use super::session::Session;
use crate::ledger::KeyHash;
use crate::ledger::request_id::RequestId;
use crate::ledger::serial_number::SerialNumber;

/// How many locks all certificates share, all keys, and all requests: a server has room for some thousand locks.
const SHARES: u64 = 512;

/// Locks that a change needs, in the order in which they are taken.
#[derive(Debug, Default)]
pub(super) struct Locks(BTreeMap<i64, Hold>);

/// Who else may have a lock.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Hold {
    /// Those who share it, too: all of them read what it is about.
    Shared,
    /// Nobody.
    Alone,
}

impl Locks {
    /// Whether the ledger is in force.
    pub(super) fn standing(&mut self, hold: Hold) {
        self.add(b"standing", 0, hold);
    }

    /// Which certificates there are.
    pub(super) fn records(&mut self, hold: Hold) {
        self.add(b"records", 0, hold);
    }

    /// The generations of the issuing key.
    pub(super) fn generations(&mut self, hold: Hold) {
        self.add(b"generations", 0, hold);
    }

    /// The state of a certificate.
    pub(super) fn certificate(&mut self, number: &SerialNumber, hold: Hold) {
        self.add(b"certificate", share(number.as_bytes()), hold);
    }

    /// Whether others may know a key.
    pub(super) fn key(&mut self, key: &KeyHash, hold: Hold) {
        self.add(b"key", share(key.as_bytes()), hold);
    }

    /// Which certificate a request has.
    pub(super) fn request(&mut self, request: &RequestId, hold: Hold) {
        self.add(b"request", share(request.as_bytes()), hold);
    }

    /// An issuer's lists, and what its next one has.
    pub(super) fn lists(&mut self, issuer: &str, hold: Hold) {
        self.add(b"lists", digest(issuer.as_bytes()), hold);
    }

    fn add(&mut self, kind: &[u8], which: u64, hold: Hold) {
        let number = digest(&[kind, b"\0", &which.to_be_bytes()].concat());
        let held = self.0.entry(number.cast_signed()).or_insert(hold);
        *held = (*held).max(hold);
    }
}

/// The first bytes of a digest.
pub(super) fn digest(bytes: &[u8]) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = <[u8; 32]>::from(Sha256::digest(bytes));
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

fn share(bytes: &[u8]) -> u64 {
    digest(bytes) % SHARES
}

impl Session<'_> {
    /// Waits for the locks. What is read after this is what it was when they were taken, until the transaction ends.
    pub(super) async fn lock(&self, locks: &Locks) -> Result<(), Failure> {
        if locks.0.is_empty() {
            return Ok(());
        }
        // Each schema has locks of its own.
        let schema = digest(self.schema().as_bytes()).cast_signed();
        let mut numbered: Vec<_> = (locks.0.iter())
            .map(|(number, hold)| (number ^ schema, *hold == Hold::Alone))
            .collect();
        numbered.sort_unstable();
        let (numbers, alone): (Vec<i64>, Vec<bool>) = numbered.into_iter().unzip();
        self.query(
            "SELECT CASE WHEN alone THEN pg_advisory_xact_lock(number) \
             ELSE pg_advisory_xact_lock_shared(number) END \
             FROM unnest($1, $2) AS locks (number, alone)",
            &[(&numbers, Type::INT8_ARRAY), (&alone, Type::BOOL_ARRAY)],
        )
        .await?;
        Ok(())
    }
}
