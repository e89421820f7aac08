//! Processes that use one ledger at the same time are killed at any moment, and nothing is lost for
//! which a call returned.
//!
//! Each worker is this test program again. After each call that returned, it writes a line with the
//! result into a file of its own; in the end, the ledger has to contain all these results.

use core::fmt::Write as _;
use core::ops::ControlFlow;
use core::time::Duration;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::{env, process, thread};

use pq_ca::ledger::{
    Entry, Filter, Issued, KeyHash, Ledger, LedgerError, LocalLedger, NewEntry, Revocation,
    SerialNumber,
};
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CrlReason;
use testing::spent::Spent;

#[test]
fn nothing_is_lost_in_40_kills() {
    kill_workers(40, Duration::from_millis(200));
}

#[test]
#[ignore = "takes some minutes"]
fn nothing_is_lost_in_1000_kills() {
    kill_workers(1000, Duration::from_millis(200));
}

/// The worker, if it is started with [`FOLDER`] set; otherwise this does nothing.
#[test]
fn worker() {
    if let Some(folder) = env::var_os(FOLDER) {
        let name = env::var(WORKER).unwrap();
        work(Path::new(&folder), &name);
    }
}

const FOLDER: &str = "PQ_CA_TEST_FOLDER";
const WORKER: &str = "PQ_CA_TEST_WORKER";
const WORKERS: usize = 4;
/// Workers choose some serial numbers among this many, so that they often choose one that is taken.
const CONTENDED: u64 = 1000;

fn kill_workers(kills: usize, longest: Duration) {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("ledger");
    LocalLedger::create(&place).unwrap();
    let mut slowest = Duration::ZERO;
    let mut done = 0;
    // On a machine that is busy, the workers need more rounds to do enough.
    while done < kills || !did_enough(folder.path(), kills) && done < 20 * kills {
        kill_a_few(folder.path(), done, longest);
        done += A_FEW;
        // After all workers died, whatever they were doing, the ledger opens, and quickly.
        let begun = Spent::now();
        let ledger = LocalLedger::open(&place).unwrap();
        ledger.entry(&SerialNumber::random().unwrap()).unwrap();
        slowest = slowest.max(begun.elapsed());
    }
    assert!(did_enough(folder.path(), kills));
    let claims = Claims::read(folder.path());
    let ledger = LocalLedger::open(&place).unwrap();
    let kept = check(&ledger, &claims);
    println!(
        "{done} kills: {} issued, {} revoked, {} lists; opened in {slowest:?} at most",
        claims.issued.len(),
        claims.revoked.len(),
        claims.lists.len()
    );
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
    ledger.check().unwrap();

    // The journal alone says the same.
    drop(ledger);
    fs::remove_file(place.join("index")).unwrap();
    let again = check(&LocalLedger::open(&place).unwrap(), &claims);
    assert!(kept == again);
}

/// Starts all workers, kills some and starts them again, and kills all.
fn kill_a_few(folder: &Path, done: usize, longest: Duration) {
    let mut random = Random::new(done as u64);
    let mut workers: Vec<Worker> = (0..WORKERS)
        .map(|worker| start(folder, worker, done))
        .collect();
    for kill in 1..=A_FEW {
        // Some are killed when they have just begun, and some while they write the index.
        thread::sleep(longest.mul_f64(random.below(1000) as f64 / 1000.0));
        let worker = random.below(WORKERS as u64) as usize;
        workers[worker].kill();
        workers[worker] = start(folder, worker, done + kill);
    }
    workers.iter_mut().for_each(Worker::kill);
}

fn did_enough(folder: &Path, kills: usize) -> bool {
    let claims = Claims::read(folder);
    claims.issued.len() > kills && claims.revoked.len() > kills / 4
}

const A_FEW: usize = 10;

/// After a kill, files are damaged, too: that is noticed and said, nothing is changed, and with the files as they were,
/// nothing is lost.
#[test]
fn damage_after_a_kill_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("ledger");
    let (journal, head) = (place.join("journal"), place.join("head"));
    LocalLedger::create(&place).unwrap();
    let mut random = Random::new(4);
    for round in 0..3 {
        let old = fs::read(&journal).unwrap();
        let issued = || Claims::read(folder.path()).issued.len();
        let before = issued();
        let mut worker = start(folder.path(), 0, round);
        while issued() < before + 5 {
            thread::sleep(Duration::from_millis(10));
        }
        worker.kill();
        let whole = fs::read(&journal).unwrap();
        let end = acknowledged(&fs::read(&head).unwrap());
        let mut damaged = vec![old, whole[..end - 1].to_vec(), whole[..end / 2].to_vec()];
        for _ in 0..5 {
            let mut flipped = whole.clone();
            flipped[random.below(end as u64) as usize] ^= 1 << random.below(8);
            damaged.push(flipped);
        }
        for bytes in damaged {
            fs::write(&journal, &bytes).unwrap();
            let found = LocalLedger::open(&place).and_then(|ledger| ledger.check());
            match found {
                Err(LedgerError::Damaged { .. }) => {}
                other => panic!("{other:?}"),
            }
            assert!(fs::read(&journal).unwrap() == bytes);
        }
        fs::write(&journal, &whole).unwrap();
        let ledger = LocalLedger::open(&place).unwrap();
        check(&ledger, &Claims::read(folder.path()));
        ledger.check().unwrap();
    }
}

/// The end of the journal according to the newer entry of its head.
fn acknowledged(head: &[u8]) -> usize {
    let number = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap());
    let entries = [0, 4096].map(|entry| (number(entry + 48), number(entry + 56)));
    let (_, end) = entries.into_iter().max().unwrap();
    end as usize
}

fn start(folder: &Path, worker: usize, round: usize) -> Worker {
    let process = Command::new(env::current_exe().unwrap())
        .args(["ledger_survives_kill::worker", "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .env(WORKER, format!("{worker}-{round}"))
        .stdout(Stdio::null())
        .spawn();
    Worker(process.unwrap())
}

/// A process that does not outlive the test.
struct Worker(Child);

impl Worker {
    fn kill(&mut self) {
        self.0.kill().unwrap();
        let status = self.0.wait().unwrap();
        assert_eq!(status.code(), None, "the worker ended by itself: {status}");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Issues, revokes and makes lists until it is killed.
fn work(folder: &Path, name: &str) {
    let ledger = LocalLedger::open(folder.join("ledger")).unwrap();
    let mut log = fs::File::options()
        .append(true)
        .create(true)
        .open(folder.join(format!("log-{name}")))
        .unwrap();
    let mut claim = |line: String| log.write_all(format!("{line}\n").as_bytes()).unwrap();
    let mut random = Random::new(u64::from(process::id()));
    let mut own: Vec<SerialNumber> = Vec::new();
    for step in 0_u64.. {
        match random.below(20) {
            0 => {
                let number = ledger
                    .next_list("issuing", at(step), &mut |_, _| {})
                    .unwrap();
                claim(format!("list {number}"));
            }
            1..6 if !own.is_empty() => {
                let number = own[random.below(own.len() as u64) as usize];
                let revocation = Revocation {
                    at: at(step),
                    reason: CrlReason::KeyCompromise,
                    by: name.into(),
                };
                let known = ledger.revoke(&number, &revocation).unwrap();
                let first = known.entry.revocation().unwrap();
                claim(format!(
                    "revoked {number} {} {}",
                    first.at.as_secs(),
                    first.by
                ));
            }
            choice => {
                // This many entries cause the index to be written.
                let (many, range) = match choice {
                    19 => (1200, u64::MAX),
                    18 => (1, CONTENDED),
                    _ => (1, u64::MAX),
                };
                let numbers = (0..many).map(|_| 1 + random.below(range));
                let entries: Vec<_> = numbers
                    .map(|number| new_entry(number, name, step))
                    .collect();
                match ledger.record(&entries) {
                    Ok(()) => {
                        let mut lines = String::new();
                        for entry in &entries {
                            let number = entry.issued.serial_number;
                            writeln!(lines, "issued {number} {step} {name}").unwrap();
                            own.push(number);
                        }
                        claim(lines.trim_end().into());
                    }
                    Err(LedgerError::SerialNumberTaken(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
}

fn new_entry(number: u64, by: &str, step: u64) -> NewEntry<'static> {
    let number = SerialNumber::from_bytes(&number.to_be_bytes()).unwrap();
    NewEntry {
        certificate: certificate(&number, by, step).into(),
        issued: Issued {
            serial_number: number,
            issuer: "issuing".into(),
            subject: format!("CN={number}"),
            names: vec![format!("{number}.example.org")],
            not_before: at(0),
            not_after: at(1 << 40),
            profile: "server".into(),
            key_algorithm: "ML-DSA-65".into(),
            key: key_of(&number),
            halves: Vec::new(),
            by: by.into(),
            at: at(step),
            request: None,
            policy: None,
            evidence: None,
        },
    }
}

/// Bytes that only this worker records, at this step.
fn certificate(number: &SerialNumber, by: &str, step: u64) -> Vec<u8> {
    format!("{number} {by} {step} ").repeat(100).into_bytes()
}

/// Each certificate has a key of its own, since those of revoked ones are not certified again.
fn key_of(number: &SerialNumber) -> KeyHash {
    let mut bytes = [0; 32];
    bytes[..number.as_bytes().len()].copy_from_slice(number.as_bytes());
    KeyHash::from_bytes(bytes)
}

fn at(seconds: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(seconds))
}

/// The results that the workers got.
#[derive(Default)]
struct Claims {
    /// When, and by whom each was issued.
    issued: HashMap<SerialNumber, (u64, String)>,
    /// When, and by whom each was revoked.
    revoked: HashMap<SerialNumber, (u64, String)>,
    lists: HashSet<u64>,
}

impl Claims {
    fn read(folder: &Path) -> Self {
        let mut claims = Self::default();
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.is_dir() {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            // A line without its end is not complete.
            for line in text
                .split_inclusive('\n')
                .filter_map(|line| line.strip_suffix('\n'))
            {
                let words: Vec<&str> = line.split(' ').collect();
                match words[..] {
                    ["list", number] => {
                        let is_first = claims.lists.insert(number.parse().unwrap());
                        assert!(is_first, "list {number} was made twice");
                    }
                    ["issued", number, step, by] => {
                        let issued = (step.parse().unwrap(), by.into());
                        let twice = claims.issued.insert(number.parse().unwrap(), issued);
                        assert_eq!(twice, None, "{number} was issued twice");
                    }
                    ["revoked", number, step, by] => {
                        let number: SerialNumber = number.parse().unwrap();
                        let first = (step.parse().unwrap(), by.into());
                        let known = claims
                            .revoked
                            .entry(number)
                            .or_insert_with(|| first.clone());
                        assert_eq!(*known, first, "{number} was revoked anew");
                    }
                    _ => panic!("{line:?}"),
                }
            }
        }
        claims
    }
}

/// Checks that the ledger has everything that was claimed, and returns all its entries.
fn check(ledger: &LocalLedger, claims: &Claims) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut show = |entry: Entry| {
        entries.push(entry);
        ControlFlow::Continue(())
    };
    ledger.find(&Filter::all(), &mut show).unwrap();
    let by_number: HashMap<SerialNumber, &Entry> = entries
        .iter()
        .map(|entry| (entry.issued.serial_number, entry))
        .collect();
    assert_eq!(by_number.len(), entries.len(), "an entry was shown twice");

    for (number, (step, by)) in &claims.issued {
        let entry = by_number
            .get(number)
            .unwrap_or_else(|| panic!("{number} is lost"));
        assert_eq!((entry.issued.at, &entry.issued.by), (at(*step), by));
    }
    for (number, (step, by)) in &claims.revoked {
        let first = by_number[number].revocation();
        let first = first.unwrap_or_else(|| panic!("the revocation of {number} is lost"));
        assert_eq!((first.at, &first.by), (at(*step), by));
    }
    for entry in &entries {
        let issued = &entry.issued;
        let expected = certificate(&issued.serial_number, &issued.by, issued.at.as_secs());
        let kept = ledger.certificate(&issued.serial_number).unwrap().unwrap();
        assert_eq!(kept.as_ref(), expected);
    }
    let mut listed = 0;
    let number = ledger.next_list("issuing", at(0), &mut |number, revocation| {
        assert_eq!(by_number[number].revocation(), Some(revocation));
        listed += 1;
    });
    let revoked = entries
        .iter()
        .filter(|entry| entry.revocation().is_some())
        .count();
    assert_eq!(listed, revoked);
    let last = claims.lists.iter().copied().max().unwrap_or(0);
    assert!(number.unwrap() > last, "a number of a list is lost");
    entries
}

/// Numbers that are different enough (SplitMix64).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % end
    }
}
