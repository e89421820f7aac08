//! A process that can't write any more reports this, and the ledger keeps everything that it reported
//! as recorded.
//!
//! A limit for the size of files, which a shell sets for a process of this program, stands in for a
//! full disk.

use core::ops::ControlFlow;
use core::time::Duration;
use std::env;
use std::process::Command;

use pq_ca::ledger::{
    Filter, Issued, KeyHash, Ledger, LedgerError, LocalLedger, NewEntry, SerialNumber,
};
use pq_x509::pki_types::UnixTime;

#[test]
fn a_journal_that_can_not_grow_keeps_what_is_in_it() {
    let (recorded, error) = fill(4096, 4_000_000);
    assert!(recorded > 100, "{recorded}");
    assert!(error.contains("can't write"), "{error}");
    assert!(error.contains("journal: "), "{error}");
}

#[test]
fn an_index_that_can_not_grow_loses_nothing() {
    let (recorded, error) = fill(1, 1_100_000);
    assert!(recorded > 100, "{recorded}");
    assert!(error.starts_with("the index "), "{error}");
}

#[test]
fn an_index_that_can_not_be_made_is_made_later() {
    let (recorded, error) = fill(1, 100_000);
    assert_eq!(recorded, 0);
    assert!(error.starts_with("the index "), "{error}");
}

/// If started with [`FOLDER`] set, records entries until that fails; otherwise this does nothing. The last line
/// of the output is how many were recorded, and why no more.
#[test]
fn worker() {
    let Some(folder) = env::var_os(FOLDER) else {
        return;
    };
    let certificate = vec![0x30; env::var(BYTES).unwrap().parse().unwrap()];
    let ledger = LocalLedger::open(folder).unwrap();
    let mut recorded = 0;
    let error = loop {
        match ledger.record(&[new_entry(recorded + 1, &certificate)]) {
            Ok(()) => recorded += 1,
            Err(error) => break error,
        }
    };
    if recorded > 0 {
        // The recorded entries can still be read.
        hold_to(&ledger, recorded, certificate.len()).unwrap();
    }
    println!("\n{recorded}:{error}");
}

const FOLDER: &str = "PQ_CA_TEST_FOLDER";
const BYTES: &str = "PQ_CA_TEST_BYTES";

/// Records certificates of this many bytes until a file would exceed the limit. Returns how
/// many were recorded, and why no more.
fn fill(certificate_bytes: usize, limit: u64) -> (u64, String) {
    let folder = tempfile::tempdir().unwrap();
    LocalLedger::create(folder.path()).unwrap();
    let output = Command::new("sh")
        .arg("-c")
        // If the signal is ignored, the writing call returns an error.
        .arg(format!(
            "trap '' XFSZ; ulimit -f {}; exec \"$@\"",
            limit / 512
        ))
        .arg("sh")
        .arg(env::current_exe().unwrap())
        .args([
            "ledger_survives_full_disk::worker",
            "--exact",
            "--nocapture",
        ])
        .env(FOLDER, folder.path())
        .env(BYTES, certificate_bytes.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let said = text
        .lines()
        .find_map(|line| line.split_once(':').filter(|(number, _)| is_number(number)));
    let (recorded, error) = said.unwrap_or_else(|| panic!("{text}"));
    let recorded: u64 = recorded.parse().unwrap();

    // When there is space again, recording goes on.
    let ledger = LocalLedger::open(folder.path()).unwrap();
    ledger
        .record(&[new_entry(recorded + 1, &vec![0x30; certificate_bytes])])
        .unwrap();
    hold_to(&ledger, recorded + 1, certificate_bytes).unwrap();
    (recorded, error.into())
}

/// Checks that the ledger has this many certificates, and no others.
fn hold_to(
    ledger: &LocalLedger,
    recorded: u64,
    certificate_bytes: usize,
) -> Result<(), LedgerError> {
    for n in 1..=recorded {
        assert!(ledger.entry(&number(n))?.is_some(), "{n} is lost");
        assert_eq!(
            ledger.certificate(&number(n))?.unwrap().len(),
            certificate_bytes
        );
    }
    // The last looks for what it finds in one turn.
    for filter in [Filter::all(), Filter::all().domain("example.org")] {
        let mut found = 0;
        let mut show = |_| {
            found += 1;
            ControlFlow::Continue(())
        };
        ledger.find(&filter, &mut show)?;
        assert_eq!(found, recorded, "{filter:?}");
    }
    Ok(())
}

fn new_entry(n: u64, certificate: &[u8]) -> NewEntry<'_> {
    NewEntry {
        certificate: certificate.into(),
        issued: Issued {
            serial_number: number(n),
            issuer: "issuing".into(),
            subject: format!("CN=Number {n}"),
            names: vec![format!("host{n}.example.org")],
            not_before: at(0),
            not_after: at(n),
            profile: "server".into(),
            key_algorithm: "ML-DSA-65".into(),
            key: KeyHash::from_bytes([7; 32]),
            halves: Vec::new(),
            by: "somebody".into(),
            at: at(0),
            request: None,
            policy: None,
            evidence: None,
        },
    }
}

fn number(n: u64) -> SerialNumber {
    SerialNumber::from_bytes(&n.to_be_bytes()).unwrap()
}

fn at(seconds: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(seconds))
}

fn is_number(text: &str) -> bool {
    text.parse::<u64>().is_ok()
}
