//! Tests of a ledger in a folder: the suite for every ledger, with and without an index, and the files.

use alloc::sync::Arc;
use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use pq_x509::revocation::CrlReason;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::head::Position;
use super::*;
use crate::ledger::KEPT;
use crate::ledger::entry::Issued;
use crate::ledger::suite::{
    Place, Reopened, at, entry, find, issued, new_entry, next_list, number, record, request,
    requested, revocation,
};

mod damage;
mod disk;

mod in_journal {
    crate::ledger::suite::hold_to_suite!(super::journal);
}

/// The same, where everything is in the index at once.
mod in_index {
    crate::ledger::suite::hold_to_suite!(super::index);
}

/// The same, where each call finds the index gone, and makes it from the journal.
mod in_index_made_again {
    crate::ledger::suite::hold_to_suite!(super::index_gone);
}

/// A place of the suite: the folder above the ledger's, and how the ledger is opened.
struct InFolder(TempDir, fn(&Path) -> LocalLedger);

impl Place for InFolder {
    type Ledger = LocalLedger;

    fn open(&self) -> LocalLedger {
        let Self(folder, open) = self;
        let place = folder.path().join("ledger");
        match LocalLedger::create(&place) {
            Ok(ledger) => drop(ledger),
            Err(LedgerError::AlreadyThere { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        open(&place)
    }
}

fn opened(open: fn(&Path) -> LocalLedger) -> InFolder {
    InFolder(tempfile::tempdir().unwrap(), open)
}

fn journal() -> InFolder {
    opened(|place| LocalLedger::open(place).unwrap())
}

fn index() -> InFolder {
    opened(indexed)
}

fn index_gone() -> Reopened<InFolder> {
    Reopened::new(opened(|place| {
        let ledger = indexed(place);
        let turn = ledger.lock.take(|| {}).unwrap();
        let _ = fs::remove_file(place.join(INDEX));
        drop(turn);
        ledger
    }))
}

fn indexed(place: &Path) -> LocalLedger {
    let mut ledger = LocalLedger::open(place).unwrap();
    index_always(&mut ledger);
    ledger
}

/// From here on, the index is written after each change.
fn index_always(ledger: &mut LocalLedger) {
    *ledger.books.lock().unwrap() = None;
    (ledger.enough, ledger.many) = (1, 1);
}

fn in_a_folder() -> (LocalLedger, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let ledger = LocalLedger::create(folder.path().join("ledger")).unwrap();
    (ledger, folder)
}

fn always_indexed() -> (LocalLedger, TempDir) {
    let (mut ledger, folder) = in_a_folder();
    index_always(&mut ledger);
    (ledger, folder)
}

/// Opens a ledger, and makes it read everything.
fn open_and_read(place: &Path) -> Result<LocalLedger, LedgerError> {
    let ledger = LocalLedger::open(place)?;
    ledger.entry(&number(1))?;
    Ok(ledger)
}

/// While an index is made again, it is written before the journal was read to its end, if there are very many changes.
/// That says nothing about where the journal ends.
#[test]
fn an_index_of_very_many_changes_is_made_again() {
    let (ledger, folder) = in_a_folder();
    let place = folder.path().join("ledger");
    let batch = MANY as u64 / 2;
    for first in [1, batch + 1, 2 * batch + 1] {
        record(&ledger, (first..first + batch).map(issued));
    }
    record(&ledger, [issued(3 * batch + 1)]);
    drop(ledger);
    let head = fs::read(place.join(HEAD)).unwrap();
    for _ in 0..2 {
        fs::remove_file(place.join(INDEX)).unwrap();
        let ledger = LocalLedger::open(&place).unwrap();
        for n in [1, 3 * batch + 1] {
            assert!(ledger.entry(&number(n)).unwrap().is_some());
        }
        ledger.check().unwrap();
        drop(ledger);
        assert!(fs::read(place.join(HEAD)).unwrap() == head);
    }
}

/// More than a page, and enough for the index to be written several times.
#[test]
fn many_entries_are_found_in_order_in_index_and_journal() {
    let (ledger, _keep) = in_a_folder();
    let expiring = |n: u64| Issued {
        // in an order that has nothing to do with that of the numbers
        not_after: at(1000 + n * 7919 % 2477),
        ..issued(n)
    };
    record(&ledger, (1..=1500).map(expiring));
    // Before a single one is recorded, those before it are written to the index.
    record(&ledger, [expiring(1501)]);
    for chunk in 0..9 {
        let first = 1502 + chunk * 111;
        record(&ledger, (first..first + 111).map(expiring));
    }
    let mut expected: Vec<Entry> = (1..=2500).map(|n| entry(expiring(n))).collect();
    expected.sort_by_key(|entry| (entry.issued.not_after, entry.issued.serial_number));
    for filter in [
        Filter::all(),
        Filter::all().issuer("issuing"),
        Filter::all().domain("example.org"),
    ] {
        assert!(find(&ledger, &filter) == expected, "{filter:?}");
    }
    let window = Filter::all()
        .expires_from(at(1100))
        .expires_before(at(1200));
    expected.retain(|entry| window.matches(entry));
    assert_eq!(find(&ledger, &window), expected);
}

#[test]
fn a_ledger_is_created_once_and_opened_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("a/b");
    let error = open_and_read(&place).unwrap_err();
    assert!(matches!(error, LedgerError::NoLedger { path } if path == place));
    assert!(!place.exists());
    record(&LocalLedger::create(&place).unwrap(), [issued(1)]);
    let error = LocalLedger::create(&place).unwrap_err();
    assert!(matches!(error, LedgerError::AlreadyThere { path } if path == place));
    let ledger = LocalLedger::open(&place).unwrap();
    assert_eq!(find(&ledger, &Filter::all()), [entry(issued(1))]);
}

#[test]
fn threads_and_handles_see_what_the_others_did() {
    let (ledger, folder) = in_a_folder();
    let place = folder.path().join("ledger");
    thread::scope(|scope| {
        for start in [1, 1001, 2001, 3001] {
            let (ledger, place) = (&ledger, &place);
            scope.spawn(move || {
                let own = LocalLedger::open(place).unwrap();
                for n in start..start + 50 {
                    let handle = if n % 2 == 0 { ledger } else { &own };
                    record(handle, [issued(n)]);
                    let other = if n % 2 == 0 { &own } else { ledger };
                    assert_eq!(other.entry(&number(n)).unwrap(), Some(entry(issued(n))));
                }
            });
        }
    });
    assert_eq!(find(&ledger, &Filter::all()).len(), 200);
}

#[test]
fn who_has_to_wait_is_told() {
    let (ledger, folder) = in_a_folder();
    let told = Arc::new(AtomicUsize::new(0));
    let (send, receive) = mpsc::channel();
    let waiting = {
        let told = Arc::clone(&told);
        LocalLedger::open(folder.path().join("ledger"))
            .unwrap()
            .on_wait(move || {
                told.fetch_add(1, Ordering::SeqCst);
                send.send(()).unwrap();
            })
    };
    record(&waiting, [issued(1)]);
    assert_eq!(told.load(Ordering::SeqCst), 0);
    thread::scope(|scope| {
        let turn = ledger.lock.take(|| {}).unwrap();
        scope.spawn(|| record(&waiting, [issued(2)]));
        receive.recv().unwrap();
        drop(turn);
    });
    assert_eq!(told.load(Ordering::SeqCst), 1);
    assert_eq!(find(&ledger, &Filter::all()).len(), 2);
}

#[test]
fn a_journal_that_is_none_or_is_newer_is_refused() {
    let (ledger, folder) = in_a_folder();
    let place = folder.path().join("ledger");
    record(&ledger, [issued(1)]);
    drop(ledger);
    let whole = fs::read(place.join(JOURNAL)).unwrap();
    // Changed, whatever they are: some bytes of the header are random.
    let changed = |place: usize| {
        let mut contents = whole.clone();
        contents[place] ^= 7;
        contents
    };
    let open = |contents: &[u8]| {
        fs::write(place.join(JOURNAL), contents).unwrap();
        open_and_read(&place).unwrap_err()
    };
    for (version, is_newer) in [(6, true), (2, false)] {
        let mut header = whole[..32].to_vec();
        header[12] = version;
        header.extend_from_slice(&Sha256::digest(&header));
        let error = open(&header);
        match is_newer {
            true => assert!(
                matches!(error, LedgerError::Newer { format: 6, .. }),
                "{error}"
            ),
            false => assert!(
                matches!(error, LedgerError::Older { format: 2, .. }),
                "{error}"
            ),
        }
    }
    for contents in [
        vec![],
        whole[..63].to_vec(),
        changed(0),
        changed(12),
        changed(20),
        changed(63),
    ] {
        let error = open(&contents);
        assert!(matches!(error, LedgerError::Damaged { .. }), "{error}");
    }
}

/// As if a process had been killed while it wrote the index: the database is never closed.
#[test]
fn an_index_that_was_being_written_opens() {
    let (ledger, folder) = always_indexed();
    let place = folder.path().join("ledger");
    record(&ledger, (1..=100).map(issued));
    drop(ledger);
    mem::forget(index::writable(&place.join(INDEX)).unwrap());
    let ledger = LocalLedger::open(&place).unwrap();
    assert_eq!(find(&ledger, &Filter::all()).len(), 100);
    record(&ledger, [issued(101)]);
}

/// As if a process had been killed while it made the files.
#[test]
fn files_that_were_being_made_are_not_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    for draft in ["journal.new", "head.new", "index.new"] {
        fs::write(place.join(draft), b"something").unwrap();
    }
    let ledger = LocalLedger::create(place).unwrap();
    record(&ledger, [issued(1)]);
    let mut files: Vec<_> = fs::read_dir(place)
        .unwrap()
        .map(|file| file.unwrap().file_name())
        .collect();
    files.sort();
    assert_eq!(files, [HEAD, INDEX, JOURNAL, LOCK]);
}

#[test]
fn an_index_that_is_none_is_said_to_be_deleted() {
    let (ledger, folder) = in_a_folder();
    let place = folder.path().join("ledger");
    record(&ledger, [issued(1)]);
    drop(ledger);
    fs::write(place.join(INDEX), b"something").unwrap();
    let error = open_and_read(&place).unwrap_err();
    assert!(matches!(error, LedgerError::Index { .. }));
    assert!(error.to_string().contains("delete that file"), "{error}");
}

/// Otherwise the new index would have only the later changes, and lack the earlier ones.
#[test]
fn an_index_deleted_while_it_is_used_is_made_whole() {
    let (ledger, folder) = always_indexed();
    let index = folder.path().join("ledger").join(INDEX);
    record(&ledger, [issued(1)]);
    fs::remove_file(&index).unwrap();
    record(&ledger, [issued(2)]);
    record(&ledger, [issued(3)]);
    assert_eq!(find(&ledger, &Filter::all()).len(), 3);
}

/// Recording several at a time delays the index, but it is written before the ledger is closed or searched.
#[test]
fn after_several_at_a_time_the_index_is_written_in_the_end() {
    let (mut ledger, folder) = in_a_folder();
    (ledger.enough, ledger.many) = (2, 4);
    let place = folder.path().join("ledger");
    let waiting = |ledger: &LocalLedger| {
        let books = ledger.books.lock().unwrap();
        books.as_ref().map(Books::waiting)
    };
    record(&ledger, (1..=3).map(issued));
    assert_eq!(waiting(&ledger), Some(3));
    // Very many are too many.
    record(&ledger, (4..=6).map(issued));
    assert_eq!(waiting(&ledger), Some(0));
    record(&ledger, (7..=9).map(issued));
    assert_eq!(waiting(&ledger), Some(3));
    // A single one finds that many are missing in the index.
    record(&ledger, [issued(10)]);
    assert_eq!(waiting(&ledger), Some(1));
    record(&ledger, (11..=12).map(issued));
    assert_eq!(waiting(&ledger), Some(3));
    drop(ledger);

    let mut ledger = open_and_read(&place).unwrap();
    assert_eq!(waiting(&ledger), Some(0));
    (ledger.enough, ledger.many) = (2, 4);
    record(&ledger, (13..=14).map(issued));
    assert_eq!(waiting(&ledger), Some(2));
    assert_eq!(find(&ledger, &Filter::all()).len(), 14);
    assert_eq!(waiting(&ledger), Some(0));
}

#[test]
fn lists_go_on_after_the_index_was_written() {
    let (ledger, folder) = always_indexed();
    record(&ledger, (1..=3).map(issued));
    let revoked = revocation(30, CrlReason::KeyCompromise);
    for n in 1..=3 {
        ledger.revoke(&number(n), &revoked).unwrap();
    }
    let last = 1001 + KEPT.as_secs();
    assert_eq!(next_list(&ledger, "issuing", last + 1).1.len(), 3);
    assert_eq!(next_list(&ledger, "issuing", last + 1).1.len(), 2);
    // The index keeps what left the lists: if the clock was wrong, they need it again.
    let turn = ledger.lock.take(|| {}).unwrap();
    let mut kept = Vec::new();
    let books = ledger.books.lock().unwrap();
    let index = index::Index::open(
        &folder.path().join("ledger").join(INDEX),
        Position::default(),
        Access::Change,
    )
    .unwrap();
    index
        .listings("issuing", |number, _| kept.push(number))
        .unwrap();
    assert_eq!(kept, [1, 2, 3].map(number));
    drop((books, turn));
}

/// All files are opened for reading alone, so the operating system refuses whatever is written.
#[test]
fn who_may_only_read_sees_everything_and_changes_nothing() {
    for (ledger, folder) in [in_a_folder(), always_indexed()] {
        let place = folder.path().join("ledger");
        record(&ledger, (1..=3).map(issued));
        let revoked = revocation(30, CrlReason::KeyCompromise);
        let reader = LocalLedger::open_read_only(&place).unwrap();
        assert_eq!(find(&reader, &Filter::all()).len(), 3);
        // The reader sees what is changed while it is open.
        ledger.revoke(&number(2), &revoked).unwrap();
        let entry = reader.entry(&number(2)).unwrap().unwrap();
        assert_eq!(entry.revocation(), Some(&revoked));
        assert!(reader.certificate(&number(1)).unwrap().is_some());
        reader.check().unwrap();
        let files = |place: &Path| {
            let files = fs::read_dir(place).unwrap().map(|file| {
                let path = file.unwrap().path();
                let bytes = fs::read(&path).unwrap();
                (path, bytes)
            });
            files.collect::<alloc::collections::BTreeMap<_, _>>()
        };
        let before = files(&place);
        let mut show = |_: &SerialNumber, _: &Revocation| {};
        for error in [
            reader.record(&[]).unwrap_err(),
            reader.revoke(&number(1), &revoked).unwrap_err(),
            reader
                .reinstate(&number(1), at(40), "somebody")
                .unwrap_err(),
            reader.next_list("issuing", at(40), &mut show).unwrap_err(),
            reader.confirm_time(at(40), "somebody").unwrap_err(),
        ] {
            assert!(matches!(error, LedgerError::ReadOnly { .. }), "{error}");
        }
        drop(reader);
        assert!(files(&place) == before);
    }
}

/// A reader can't repair an index that was being written, and does without it.
#[test]
fn a_reader_does_without_an_index_that_it_can_not_use() {
    let (ledger, folder) = always_indexed();
    let place = folder.path().join("ledger");
    record(&ledger, (1..=100).map(issued));
    drop(ledger);
    mem::forget(index::writable(&place.join(INDEX)).unwrap());
    let reader = LocalLedger::open_read_only(&place).unwrap();
    assert_eq!(find(&reader, &Filter::all()).len(), 100);
    fs::remove_file(place.join(INDEX)).unwrap();
    let reader = LocalLedger::open_read_only(&place).unwrap();
    assert_eq!(find(&reader, &Filter::all()).len(), 100);
    assert!(!place.join(INDEX).exists());
}

/// Readers take their turns together, and writers wait for no longer than a reader's call.
#[test]
fn readers_and_writers_take_turns() {
    let (ledger, folder) = in_a_folder();
    let place = folder.path().join("ledger");
    record(&ledger, [issued(1)]);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let reader = LocalLedger::open_read_only(&place).unwrap();
                for _ in 0..50 {
                    assert!(reader.entry(&number(1)).unwrap().is_some());
                }
            });
        }
        scope.spawn(|| (2..=30).for_each(|n| record(&ledger, [issued(n)])));
    });
    let reader = LocalLedger::open_read_only(&place).unwrap();
    assert_eq!(find(&reader, &Filter::all()).len(), 30);
}

/// A ledger as a program of format 4 or 3 left it, whose header is the only thing that differs while nothing is in it.
fn of_format(format: u32) -> (PathBuf, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("ledger");
    drop(LocalLedger::create(&place).unwrap());
    let journal = place.join(JOURNAL);
    let mut header = fs::read(&journal).unwrap();
    header[12..16].copy_from_slice(&format.to_le_bytes());
    let digest = Sha256::digest(&header[..32]);
    header[32..64].copy_from_slice(&digest);
    fs::write(&journal, &header).unwrap();
    let start = Position {
        offset: 64,
        digest: digest.into(),
    };
    fs::remove_file(place.join(HEAD)).unwrap();
    Head::create(&OfMachine, &place.join(HEAD), start).unwrap();
    (place, folder)
}

fn format_of(place: &Path) -> u8 {
    fs::read(place.join(JOURNAL)).unwrap()[12]
}

/// A ledger of an earlier program is read and goes on, with its index or without, and becomes one of this version with the
/// first certificate of which is known how it came about: before the programs of then would find a record that they don't
/// know.
#[test]
fn ledgers_of_earlier_programs_go_on() {
    for format in [3, 4] {
        for has_index in [false, true] {
            let (place, _keep) = of_format(format);
            let open = || match has_index {
                true => indexed(&place),
                false => LocalLedger::open(&place).unwrap(),
            };
            let ledger = open();
            record(&ledger, [issued(1), issued(2)]);
            let revoked = revocation(30, CrlReason::KeyCompromise);
            ledger.revoke(&number(1), &revoked).unwrap();
            drop(ledger);
            let before = fs::read(place.join(JOURNAL)).unwrap();
            assert_eq!(u32::from(before[12]), format, "nothing new is in it");
            // One that has it open meanwhile goes on, too.
            let (ledger, other) = (open(), open());
            assert_eq!(other.entry(&number(2)).unwrap(), Some(entry(issued(2))));
            assert_eq!(ledger.of_request(&request(3)).unwrap(), None);
            record(&ledger, [requested(3, request(3))]);
            record(&other, [requested(4, request(4))]);
            let again = other.record(&[new_entry(requested(5, request(3)))]);
            assert!(matches!(again, Err(LedgerError::RequestTaken { .. })));
            drop((ledger, other));
            let after = fs::read(place.join(JOURNAL)).unwrap();
            assert_eq!(after[12], 5);
            let end = before.len() - before.iter().rev().take_while(|byte| **byte == 0).count();
            assert_eq!(after[64..end], before[64..end], "records stay as they are");
            for ledger in [open(), LocalLedger::open_read_only(&place).unwrap()] {
                ledger.check().unwrap();
                let all = find(&ledger, &Filter::all());
                let [first, second, third, fourth] = &all[..] else {
                    panic!("{all:?}");
                };
                assert_eq!(first.revocation(), Some(&revoked));
                assert_eq!(*second, entry(issued(2)));
                assert_eq!(*third, entry(requested(3, request(3))));
                assert_eq!(*fourth, entry(requested(4, request(4))));
                let known = ledger.of_request(&request(4)).unwrap();
                assert_eq!(known.as_ref(), Some(fourth));
            }
        }
    }
}

/// Several at once, of which one is the first with something new.
#[test]
fn two_programs_raise_the_format_at_once() {
    let (place, _keep) = of_format(4);
    thread::scope(|scope| {
        for first in [10, 20, 30] {
            let place = &place;
            scope.spawn(move || {
                let ledger = LocalLedger::open(place).unwrap();
                for n in first..first + 5 {
                    record(&ledger, [requested(n, request(n as u8))]);
                }
            });
        }
    });
    assert_eq!(format_of(&place), 5);
    let ledger = LocalLedger::open(&place).unwrap();
    assert_eq!(find(&ledger, &Filter::all()).len(), 15);
    ledger.check().unwrap();
}

/// What the programs of before say of a ledger that has something new.
#[test]
fn a_newer_format_is_told() {
    let (ledger, folder) = in_a_folder();
    let place = folder.path().join("ledger");
    record(&ledger, [requested(1, request(1))]);
    drop(ledger);
    let journal = place.join(JOURNAL);
    let mut bytes = fs::read(&journal).unwrap();
    bytes[12] = 6;
    let digest = Sha256::digest(&bytes[..32]);
    bytes[32..64].copy_from_slice(&digest);
    fs::write(&journal, bytes).unwrap();
    let error = LocalLedger::open(&place).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "has format 6, and this program knows 5; use the newer version that wrote it"
        ),
        "{error}"
    );
}

/// An index that lost what a request was answered by does not let it be answered again.
#[test]
fn a_request_that_the_index_lost_is_noticed() {
    let (ledger, folder) = always_indexed();
    record(
        &ledger,
        [requested(1, request(1)), requested(2, request(2))],
    );
    drop(ledger);
    let place = folder.path().join("ledger");
    let lose: [fn(&redb::WriteTransaction); 2] = [
        |transaction| {
            let mut requests = transaction.open_table(index::REQUESTS).unwrap();
            requests.remove(&request(1).as_bytes()[..]).unwrap();
        },
        |transaction| {
            transaction.delete_table(index::REQUESTS).unwrap();
        },
    ];
    for lose in lose {
        let database = index::writable(&place.join(INDEX)).unwrap();
        let transaction = database.begin_write().unwrap();
        lose(&transaction);
        transaction.commit().unwrap();
        drop(database);
        let ledger = LocalLedger::open(&place).unwrap();
        ledger.check().unwrap_err();
        let again = ledger.record(&[new_entry(requested(3, request(1)))]);
        assert!(matches!(again, Err(LedgerError::Index { .. })), "{again:?}");
    }
}
