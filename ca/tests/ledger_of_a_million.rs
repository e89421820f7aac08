//! A ledger of a million certificates, beside an empty one.
//!
//! ```sh
//! cargo test --release -p pq-ca --test ledger_of_a_million -- --ignored --nocapture
//! ```
//!
//! It takes some minutes, and about 6 GB in the temporary folder, which has to be on a disk: the test
//! mostly compares the time until data is on the disk. `PQ_CA_TEST_CERTIFICATES`
//! sets another number of certificates.
#![cfg(target_os = "linux")]

use core::ops::ControlFlow;
use core::time::Duration;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use std::{env, fs, thread};

use pq_ca::ledger::{
    Entry, Filter, Issued, KeyHash, Ledger, LocalLedger, NewEntry, Revocation, SerialNumber,
};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CrlReason;

#[test]
#[ignore = "takes some minutes and 6 GB of the temporary folder"]
fn ledger_of_a_million() {
    let many: u64 =
        env::var("PQ_CA_TEST_CERTIFICATES").map_or(1_000_000, |number| number.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("full");
    let full = LocalLedger::create(&place).unwrap();
    let empty = LocalLedger::create(folder.path().join("empty")).unwrap();

    let begun = Instant::now();
    for first in (0..many).step_by(IN_ONE_CALL as usize) {
        let certificates = vec![0x30; CERTIFICATE_BYTES];
        let entries: Vec<_> = (first..many.min(first + IN_ONE_CALL))
            .map(|n| new_entry(n, many, &certificates))
            .collect();
        full.record(&entries).unwrap();
    }
    println!(
        "{many} certificates recorded, {IN_ONE_CALL} in a call: {:?}",
        begun.elapsed()
    );

    let revoked = many / 10;
    let begun = Instant::now();
    let numbers: Vec<_> = (0..revoked).map(|n| number(n * 10)).collect();
    for numbers in numbers.chunks(IN_ONE_CALL as usize) {
        full.revoke_if(numbers, &revocation(), &[]).unwrap();
    }
    println!(
        "{revoked} revoked, {IN_ONE_CALL} in a call: {:?}",
        begun.elapsed()
    );
    for file in ["journal", "index"] {
        let bytes = fs::metadata(place.join(file)).unwrap().len();
        println!("{file}: {} MB", bytes / 1_000_000);
    }

    let all = Filter::all;
    let finds = [
        ("a name", all().name(name_of(many / 2)), 1),
        (
            "a domain",
            all().domain(domain_of(7)),
            many.div_ceil(DOMAINS) as usize,
        ),
        (
            "what expires in a minute",
            all()
                .expires_from(at(many / 2))
                .expires_before(at(many / 2 + 60)),
            60,
        ),
        (
            "the first ten that are revoked",
            all().revoked().limit(10),
            10,
        ),
        ("what another key signed", all().issuer("root"), 1),
    ];
    let mut slowest_find = Duration::ZERO;
    for (what, filter, expected) in finds {
        let (found, time) = timed(|| count(&full, &filter));
        println!("{what}: {found} found in {time:?}");
        assert_eq!(found, expected, "{what}");
        slowest_find = slowest_find.max(time);
    }
    let (found, time) = timed(|| count(&full, &all()));
    println!("all: {found} found in {time:?}");

    let mut listed = 0;
    let (_, list_time) = timed(|| {
        full.next_list("issuing", at(0), &mut |_, _| listed += 1)
            .unwrap()
    });
    println!("a list of {listed}: {list_time:?}");
    assert_eq!(listed, revoked);

    let ratio = compare(&full, &empty, many);

    drop(full);
    let (_, open_time) = timed(|| open(&place));
    println!("opened in {open_time:?}");
    let mut slowest_open = Duration::ZERO;
    for round in 0..KILLS {
        let mut worker = start(&place);
        thread::sleep(Duration::from_millis(100 + 5 * round));
        worker.kill().unwrap();
        worker.wait().unwrap();
        let (_, time) = timed(|| open(&place));
        slowest_open = slowest_open.max(time);
    }
    println!(
        "opened after each of {KILLS} kills, while the index was written: {slowest_open:?} at most"
    );
    let peak = peak_memory_kb();
    println!("peak of memory: {} MB", peak / 1000);

    assert!(ratio < 1.05, "{ratio}");
    assert!(
        slowest_find < Duration::from_millis(100),
        "{slowest_find:?}"
    );
    assert!(list_time < Duration::from_secs(1), "{list_time:?}");
    assert!(slowest_open < Duration::from_secs(1), "{slowest_open:?}");
    assert!(peak < 100_000, "{peak} kB");
}

/// Opens the ledger, and looks up an entry.
fn open(place: &Path) {
    let ledger = LocalLedger::open(place).unwrap();
    assert!(ledger.entry(&number(0)).unwrap().is_some());
}

/// If started with [`FOLDER`] set, makes the ledger write its index again and again, until it is
/// killed.
#[test]
fn worker() {
    let Some(place) = env::var_os(FOLDER) else {
        return;
    };
    let ledger = LocalLedger::open(place).unwrap();
    let certificate = vec![0x30; CERTIFICATE_BYTES];
    loop {
        let entries: Vec<_> = (0..1200)
            .map(|n| {
                let mut entry = new_entry(n, 1, &certificate);
                entry.issued.serial_number = SerialNumber::random().unwrap();
                entry
            })
            .collect();
        ledger.record(&entries).unwrap();
    }
}

fn start(place: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["worker", "--exact", "--nocapture"])
        .env(FOLDER, place)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

const FOLDER: &str = "PQ_CA_TEST_FOLDER";
const KILLS: u64 = 20;

/// About the size of a certificate with ML-DSA-44; the larger ones have up to 8 KB.
const CERTIFICATE_BYTES: usize = 4096;
const IN_ONE_CALL: u64 = 2000;
const DOMAINS: u64 = 1000;
/// The number of certificates that are recorded one by one. The index is written four times meanwhile.
const ROUNDS: u64 = 4096;

/// Issues certificates for the two ledgers in turn. Returns the time for the first
/// divided by the time for the second.
fn compare(full: &LocalLedger, empty: &LocalLedger, many: u64) -> f64 {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let issuer = Issuer::self_signed(CertificateBuilder::ca("Example CA"), key).unwrap();
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let mut issued = [Vec::new(), Vec::new()];
    let mut recorded = [Vec::new(), Vec::new()];
    for n in many..many + ROUNDS {
        // The second one may find the disk busy with the first one's data.
        let mut turns = [(0, full), (1, empty)];
        if n % 2 == 0 {
            turns.reverse();
        }
        for (which, ledger) in turns {
            let begun = Instant::now();
            let builder = CertificateBuilder::server()
                .dns_name(name_of(n))
                .serial_number(number(n).as_bytes());
            let certificate = issuer.issue(builder, &key).unwrap();
            let entry = new_entry(n, many, certificate.der());
            let (_, time) = timed(|| ledger.record(&[entry]).unwrap());
            recorded[which].push(time);
            issued[which].push(begun.elapsed());
        }
    }
    for (what, times) in [("recorded", &recorded), ("issued", &issued)] {
        let [full, empty] = times;
        let ratio =
            |of: fn(&[Duration]) -> Duration| of(full).as_secs_f64() / of(empty).as_secs_f64();
        println!(
            "one {what}: median {:?}, in the empty ledger {:?}: {:.3}; mean {:?} and {:?}: {:.3}",
            median(full),
            median(empty),
            ratio(median),
            mean(full),
            mean(empty),
            ratio(mean),
        );
    }
    median(&issued[0]).as_secs_f64() / median(&issued[1]).as_secs_f64()
}

fn new_entry(n: u64, many: u64, certificate: &[u8]) -> NewEntry<'_> {
    NewEntry {
        certificate: certificate.into(),
        issued: Issued {
            serial_number: number(n),
            issuer: if n + 1 == many { "root" } else { "issuing" }.into(),
            subject: format!("CN={}", name_of(n)),
            names: vec![name_of(n), format!("www.{}", name_of(n))],
            not_before: at(0),
            not_after: at(n),
            profile: "server".into(),
            key_algorithm: "ML-DSA-65".into(),
            key: KeyHash::from_bytes([7; 32]),
            halves: Vec::new(),
            by: "somebody@example.org".into(),
            at: at(0),
            request: None,
            policy: None,
            evidence: None,
        },
    }
}

/// Twenty bytes in no order; those in front are from a bijection (SplitMix64).
fn number(n: u64) -> SerialNumber {
    let mut mixed = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    let mut bytes = [0x40; 20];
    bytes[1..9].copy_from_slice(&mixed.to_be_bytes());
    SerialNumber::from_bytes(&bytes).unwrap()
}

fn name_of(n: u64) -> String {
    format!("host{n}.{}", domain_of(n))
}

fn domain_of(n: u64) -> String {
    format!("example{}.org", n % DOMAINS)
}

/// This many seconds after a time in 2026.
fn at(seconds: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(1_790_000_000 + seconds))
}

fn revocation() -> Revocation {
    Revocation {
        at: at(0),
        reason: CrlReason::Superseded,
        by: "somebody@example.org".into(),
    }
}

fn count(ledger: &LocalLedger, filter: &Filter) -> usize {
    let mut found = 0;
    let mut show = |_: Entry| {
        found += 1;
        ControlFlow::Continue(())
    };
    ledger.find(filter, &mut show).unwrap();
    found
}

fn timed<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let result = act();
    (result, begun.elapsed())
}

fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

fn mean(times: &[Duration]) -> Duration {
    times.iter().sum::<Duration>() / times.len() as u32
}

/// The most memory that this process ever had, in kB.
fn peak_memory_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap()
}
