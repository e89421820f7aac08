//! Entries and revocations for the tests, and what they ask of a ledger.

use core::ops::ControlFlow;
use core::time::Duration;

use pq_x509::pki_types::{CertificateDer, UnixTime};
use pq_x509::revocation::CrlReason;

use crate::ledger::{
    Entry, Evidence, Filter, Issued, KEPT, KeyHash, Ledger, NewEntry, PolicyId, RequestId,
    Revocation, SerialNumber, State,
};

pub(in crate::ledger) fn at(seconds: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(seconds))
}

pub(in crate::ledger) fn number(number: u64) -> SerialNumber {
    SerialNumber::from_bytes(&number.to_be_bytes()).unwrap()
}

/// The digest of a key that only certificate number `n` is for.
pub(in crate::ledger) fn key(n: u64) -> KeyHash {
    let mut bytes = [0xf0; 32];
    bytes[..8].copy_from_slice(&n.to_be_bytes());
    KeyHash::from_bytes(bytes)
}

/// Certificate number `n` of the key "issuing", which expires at 1000 + n.
pub(in crate::ledger) fn issued(n: u64) -> Issued {
    Issued {
        serial_number: number(n),
        issuer: "issuing".into(),
        subject: format!("CN=Number {n},O=Example"),
        names: vec![format!("host{n}.example.org")],
        not_before: at(10),
        not_after: at(1000 + n),
        profile: "server".into(),
        key_algorithm: "ML-DSA-65".into(),
        key: key(n),
        halves: Vec::new(),
        by: "somebody".into(),
        at: at(20),
        request: None,
        policy: None,
        evidence: None,
    }
}

/// The same for a request, with all that may be known of how it came about.
pub(in crate::ledger) fn requested(n: u64, request: RequestId) -> Issued {
    Issued {
        request: Some(request),
        policy: Some(PolicyId {
            digest: [0x5a; 32],
            reader: "tests \0\n\\".into(),
        }),
        evidence: Some(
            Evidence::new(format!("http-01 host{n}.example.org\\n from 192.0.2.7")).unwrap(),
        ),
        ..issued(n)
    }
}

/// A request of which the first bytes are those of others.
pub(in crate::ledger) fn request(n: u8) -> RequestId {
    let mut bytes = [0xff; 32];
    bytes[31] = n;
    RequestId::from_bytes(bytes)
}

pub(in crate::ledger) fn new_entry(issued: Issued) -> NewEntry<'static> {
    NewEntry {
        certificate: CertificateDer::from(
            format!("certificate {}", issued.serial_number).into_bytes(),
        ),
        issued,
    }
}

pub(in crate::ledger) fn entry(issued: Issued) -> Entry {
    Entry {
        issued,
        state: State::Valid,
    }
}

pub(in crate::ledger) fn record(ledger: &impl Ledger, issued: impl IntoIterator<Item = Issued>) {
    let entries: Vec<_> = issued.into_iter().map(new_entry).collect();
    ledger.record(&entries).unwrap();
}

pub(in crate::ledger) fn revocation(seconds: u64, reason: CrlReason) -> Revocation {
    Revocation {
        at: at(seconds),
        reason,
        by: "somebody else".into(),
    }
}

pub(in crate::ledger) fn find(ledger: &impl Ledger, filter: &Filter) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut show = |entry| {
        entries.push(entry);
        ControlFlow::Continue(())
    };
    ledger.find(filter, &mut show).unwrap();
    entries
}

pub(in crate::ledger) fn found(ledger: &impl Ledger, filter: Filter) -> Vec<u64> {
    let entries = find(ledger, &filter);
    let number = |entry: Entry| {
        let bytes = entry.issued.serial_number;
        bytes
            .as_bytes()
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    entries.into_iter().map(number).collect()
}

/// Makes a list, and says that it was written.
pub(in crate::ledger) fn next_list(
    ledger: &impl Ledger,
    issuer: &str,
    seconds: u64,
) -> (u64, Vec<(SerialNumber, Revocation)>) {
    let list = lost_list(ledger, issuer, seconds);
    ledger.confirm_list(issuer, list.0, at(seconds)).unwrap();
    list
}

/// Makes a list which is written nowhere.
pub(in crate::ledger) fn lost_list(
    ledger: &impl Ledger,
    issuer: &str,
    seconds: u64,
) -> (u64, Vec<(SerialNumber, Revocation)>) {
    let mut shown = Vec::new();
    let mut show = |number: &SerialNumber, revocation: &Revocation| {
        shown.push((*number, revocation.clone()));
    };
    let list = ledger.next_list(issuer, at(seconds), &mut show).unwrap();
    shown.sort_unstable_by_key(|(number, _)| *number);
    (list, shown)
}

/// Seconds after the expiry of certificate 1, beyond the time for which it stays on every list.
pub(in crate::ledger) fn kept_and(seconds: u64) -> u64 {
    1001 + KEPT.as_secs() + seconds
}
