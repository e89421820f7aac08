//! Whatever becomes of the files, nothing that was acknowledged is silently lost: it is there, or the ledger says that
//! it is damaged, and changes nothing.

use core::ops::ControlFlow;
use std::fs;
use std::path::{Path, PathBuf};

use pq_x509::revocation::CrlReason;
use tempfile::TempDir;

use super::super::files::{Access, Disk, OfMachine};
use super::super::journal::Journal;
use super::super::{HEAD, INDEX, JOURNAL, LOCK, LocalLedger};
use super::disk::{Forgetful, on_forgetful, open};
use super::{always_indexed, in_a_folder};
use crate::ledger::suite::{at, find, issued, new_entry, next_list, number, record, revocation};
use crate::ledger::{Filter, Ledger, LedgerError, State};

/// A ledger of ten records, of every kind. It is closed.
fn of_ten_records() -> (Forgetful, TempDir, PathBuf) {
    let (ledger, disk, folder) = on_forgetful();
    for n in 1..=4 {
        record(&ledger, [issued(n)]);
    }
    record(&ledger, (5..=6).map(issued));
    let hold = revocation(30, CrlReason::CertificateHold);
    ledger.revoke(&number(1), &hold).unwrap();
    ledger.reinstate(&number(1), at(40), "somebody").unwrap();
    ledger.confirm_time(at(40), "somebody").unwrap();
    next_list(&ledger, "issuing", 100);
    ledger
        .revoke(&number(2), &revocation(110, CrlReason::KeyCompromise))
        .unwrap();
    drop(ledger);
    let journal = folder.path().join("ledger").join(JOURNAL);
    (disk, folder, journal)
}

/// Where the last record ends.
fn end_of(disk: &impl Disk, folder: &TempDir) -> usize {
    let place = folder.path().join("ledger");
    let (journal, head) = (place.join(JOURNAL), place.join(HEAD));
    let mut journal = Journal::open(disk, &journal, &head, Access::Change).unwrap();
    while journal.next().unwrap().is_some() {}
    journal.end().offset as usize
}

/// Puts something in the journal's place: reading and changing fail, and nothing is changed.
#[track_caller]
fn is_noticed(disk: &Forgetful, folder: &TempDir, journal: &Path, bytes: &[u8], how: &str) {
    for access in [Access::Read, Access::Change] {
        is_noticed_by(access, disk, folder, journal, bytes, how);
    }
}

#[track_caller]
fn is_noticed_by(
    access: Access,
    disk: &Forgetful,
    folder: &TempDir,
    journal: &Path,
    bytes: &[u8],
    how: &str,
) {
    disk.replace(journal, bytes);
    let head = folder.path().join("ledger").join(HEAD);
    let before = disk.read(&head);
    match open(disk, folder, access).and_then(|ledger| ledger.entry(&number(1))) {
        Err(LedgerError::Damaged { .. }) => {}
        other => panic!("{how}, {access:?}: {other:?}"),
    }
    assert!(
        disk.read(journal) == bytes && disk.read(&head) == before,
        "{how}"
    );
}

#[test]
fn every_bit_of_a_journal_counts() {
    let (disk, folder, journal) = of_ten_records();
    let end = end_of(&disk, &folder);
    let whole = disk.read(&journal);
    let mut bytes = whole[..end].to_vec();
    for place in 0..end {
        for bit in 0..8 {
            bytes[place] ^= 1 << bit;
            let how = format!("{place}.{bit}");
            is_noticed_by(Access::Read, &disk, &folder, &journal, &bytes, &how);
            // Opening for a change takes longer, and reads the same.
            if bit == place % 8 && place % 8 == 0 {
                is_noticed_by(Access::Change, &disk, &folder, &journal, &bytes, &how);
            }
            bytes[place] ^= 1 << bit;
        }
    }
    disk.replace(&journal, &whole);
    let ledger = open(&disk, &folder, Access::Change).unwrap();
    assert_eq!(find(&ledger, &Filter::all()).len(), 6);
}

#[test]
fn every_truncation_of_a_journal_is_noticed() {
    let (disk, folder, journal) = of_ten_records();
    let end = end_of(&disk, &folder);
    let whole = disk.read(&journal);
    for length in 0..end {
        let how = format!("{length} bytes");
        is_noticed_by(
            Access::Read,
            &disk,
            &folder,
            &journal,
            &whole[..length],
            &how,
        );
        if length % 16 == 0 {
            is_noticed_by(
                Access::Change,
                &disk,
                &folder,
                &journal,
                &whole[..length],
                &how,
            );
        }
        let mut zeros = whole[..end].to_vec();
        zeros[length..].fill(0);
        if zeros != whole[..end] {
            is_noticed(
                &disk,
                &folder,
                &journal,
                &zeros,
                &format!("zeros from {length}"),
            );
        }
    }
    // The zeros behind the last record are nothing that anybody wrote.
    disk.replace(&journal, &whole[..end]);
    let ledger = open(&disk, &folder, Access::Change).unwrap();
    record(&ledger, [issued(7)]);
    assert_eq!(find(&ledger, &Filter::all()).len(), 7);
}

#[test]
fn every_page_of_zeros_is_noticed() {
    let (ledger, disk, folder) = on_forgetful();
    let journal = folder.path().join("ledger").join(JOURNAL);
    for n in 1..=10 {
        let names = (0..100)
            .map(|m| format!("host{n}-{m}.example.org"))
            .collect();
        record(&ledger, [crate::ledger::Issued { names, ..issued(n) }]);
    }
    drop(ledger);
    let end = end_of(&disk, &folder);
    let whole = disk.read(&journal);
    for page_size in [512, 4096] {
        for start in (0..end).step_by(page_size) {
            let mut bytes = whole.clone();
            let rest = (start + page_size).min(bytes.len());
            bytes[start..rest].fill(0);
            is_noticed(
                &disk,
                &folder,
                &journal,
                &bytes,
                &format!("page at {start}"),
            );
        }
    }
}

/// An old copy of the journal beside the rest, of any age.
#[test]
fn an_old_copy_of_a_journal_is_noticed() {
    let (ledger, disk, folder) = on_forgetful();
    let journal = folder.path().join("ledger").join(JOURNAL);
    let mut copies = vec![disk.read(&journal)];
    record(&ledger, [issued(1)]);
    for n in 2..=5 {
        copies.push(disk.read(&journal));
        record(&ledger, [issued(n)]);
        assert_eq!(next_list(&ledger, "issuing", 100).0, n - 1);
    }
    // While it is open, and when it is opened
    let newest = disk.read(&journal);
    disk.replace(&journal, copies.last().unwrap());
    let mut show = |_: &_, _: &_| {};
    let error = ledger.next_list("issuing", at(100), &mut show).unwrap_err();
    assert!(matches!(error, LedgerError::Damaged { .. }), "{error}");
    drop(ledger);
    for copy in copies {
        is_noticed(&disk, &folder, &journal, &copy, "an old copy");
    }
    disk.replace(&journal, &newest);
    let ledger = open(&disk, &folder, Access::Change).unwrap();
    assert_eq!(next_list(&ledger, "issuing", 100).0, 5);
}

/// An old copy of the journal and its head, beside an index that has more.
#[test]
fn an_old_copy_beside_a_newer_index_is_noticed() {
    let (ledger, folder) = always_indexed();
    let place = folder.path().join("ledger");
    let old = [JOURNAL, HEAD].map(|file| (file, fs::read(place.join(file)).unwrap()));
    record(&ledger, [issued(1)]);
    drop(ledger);
    for (file, bytes) in old {
        fs::write(place.join(file), bytes).unwrap();
    }
    let error = super::open_and_read(&place).unwrap_err();
    assert!(matches!(error, LedgerError::Damaged { .. }), "{error}");
}

#[test]
fn a_head_that_is_missing_or_of_another_ledger_is_noticed() {
    let (ledger, folder) = in_a_folder();
    let (_other, elsewhere) = in_a_folder();
    record(&ledger, [issued(1)]);
    drop(ledger);
    let place = folder.path().join("ledger");
    fs::copy(elsewhere.path().join("ledger").join(HEAD), place.join(HEAD)).unwrap();
    let error = LocalLedger::open(&place).unwrap_err();
    assert!(matches!(error, LedgerError::Damaged { .. }), "{error}");
    fs::remove_file(place.join(HEAD)).unwrap();
    let error = LocalLedger::open(&place).unwrap_err();
    assert!(matches!(error, LedgerError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("restore"), "{error}");
}

/// The head is written twice in turn. Any of its bits may be lost without a loss for the ledger, for those who change
/// it and for those who only read: a responder must not call good what was revoked.
#[test]
fn every_bit_of_a_head_may_be_lost() {
    let (disk, folder, journal) = of_ten_records();
    let head = folder.path().join("ledger").join(HEAD);
    let (whole, records) = (disk.read(&head), disk.read(&journal));
    let end = end_of(&disk, &folder);
    let start = start_of_last(&disk, &folder);
    let mut without_last = records.clone();
    without_last[start..end].fill(0);
    let written = (0..whole.len()).filter(|place| place % 4096 < 136);
    for place in written {
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (place % 8);
        for access in [Access::Read, Access::Change] {
            disk.replace(&journal, &records);
            disk.replace(&head, &bytes);
            let ledger = open(&disk, &folder, access).unwrap();
            let entry = ledger.entry(&number(2)).unwrap().unwrap();
            assert!(
                matches!(entry.state, State::Revoked(_)),
                "{place}, {access:?}"
            );
            ledger.check().unwrap();
            drop(ledger);
            assert!(disk.read(&journal) == records);
            assert!(access == Access::Change || disk.read(&head) == bytes);
            // A last record that was acknowledged and is gone is missed, whichever half of the head can be read.
            if access == Access::Read || place % 16 == 0 {
                disk.replace(&head, &bytes);
                let how = format!("without the last record, {place}");
                is_noticed_by(access, &disk, &folder, &journal, &without_last, &how);
            }
        }
    }
    // With half of its head, the ledger doesn't take damage for an unfinished record.
    let mut bytes = whole.clone();
    bytes[20] ^= 1;
    bytes[4096 + 20] ^= 1;
    disk.replace(&head, &bytes);
    let error = open(&disk, &folder, Access::Read).unwrap_err();
    assert!(matches!(error, LedgerError::Damaged { .. }), "{error}");
    for half in [0, 4096] {
        let mut bytes = whole.clone();
        bytes[half + 20] ^= 1;
        disk.replace(&head, &bytes);
        let mut damaged = records.clone();
        damaged[end - 1] ^= 1;
        is_noticed(&disk, &folder, &journal, &damaged, "half a head");
    }
}

/// Nothing was acknowledged yet that could be lost.
#[test]
fn every_bit_of_a_new_head_may_be_lost() {
    let (ledger, disk, folder) = on_forgetful();
    drop(ledger);
    let head = folder.path().join("ledger").join(HEAD);
    let whole = disk.read(&head);
    for place in (0..whole.len()).filter(|place| place % 4096 < 128) {
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (place % 8);
        disk.replace(&head, &bytes);
        for access in [Access::Read, Access::Change] {
            let ledger = open(&disk, &folder, access).unwrap();
            assert_eq!(ledger.entry(&number(1)).unwrap(), None, "{place}");
        }
    }
}

/// In a backup that was made in use, the head may be of just before the last change. Those who only read count the
/// change, and go on with the ledger when others do.
#[test]
fn a_revocation_behind_the_head_counts_for_readers() {
    let (ledger, disk, folder) = on_forgetful();
    let place = folder.path().join("ledger");
    let (journal, head) = (place.join(JOURNAL), place.join(HEAD));
    record(&ledger, [issued(1)]);
    let old = disk.read(&head);
    let revoked = revocation(30, CrlReason::KeyCompromise);
    ledger.revoke(&number(1), &revoked).unwrap();
    drop(ledger);
    disk.replace(&head, &old);
    let whole = disk.read(&journal);
    let reader = open(&disk, &folder, Access::Read).unwrap();
    for _ in 0..2 {
        let entry = reader.entry(&number(1)).unwrap().unwrap();
        assert_eq!(entry.revocation(), Some(&revoked));
        reader.check().unwrap();
    }
    assert!(disk.read(&journal) == whole && disk.read(&head) == old);
    let ledger = open(&disk, &folder, Access::Change).unwrap();
    record(&ledger, [issued(2)]);
    record(&ledger, [issued(3)]);
    assert_eq!(find(&reader, &Filter::all()).len(), 3);
}

/// Where the last record begins.
fn start_of_last(disk: &impl Disk, folder: &TempDir) -> usize {
    let place = folder.path().join("ledger");
    let (journal, head) = (place.join(JOURNAL), place.join(HEAD));
    let mut journal = Journal::open(disk, &journal, &head, Access::Change).unwrap();
    let mut ends = vec![journal.end()];
    while journal.next().unwrap().is_some() {
        ends.push(journal.end());
    }
    ends[ends.len() - 2].offset as usize
}

/// As if a process had been killed while it appended, at every byte: behind the head, nobody was told.
#[test]
fn an_unfinished_record_is_as_if_it_had_not_been_begun() {
    let (ledger, disk, folder) = on_forgetful();
    let place = folder.path().join("ledger");
    let (journal, head) = (place.join(JOURNAL), place.join(HEAD));
    record(&ledger, [issued(1)]);
    let before = (end_of(&disk, &folder), disk.read(&head));
    record(&ledger, [issued(2)]);
    let after = end_of(&disk, &folder);
    // without most of the zeros behind it
    let whole = disk.read(&journal)[..after + 100].to_vec();
    drop(ledger);
    for length in before.0..=after {
        for fill in [0, 0xff] {
            let mut bytes = whole.clone();
            bytes[length..after].fill(fill);
            disk.replace(&journal, &bytes);
            disk.replace(&head, &before.1);
            // A reader leaves it as it is, and counts what others will count: it may have been acknowledged.
            let found = 1 + usize::from(bytes[..after] == whole[..after]);
            let reader = open(&disk, &folder, Access::Read).unwrap();
            assert_eq!(find(&reader, &Filter::all()).len(), found);
            assert!(disk.read(&journal) == bytes && disk.read(&head) == before.1);
            let ledger = open(&disk, &folder, Access::Change).unwrap();
            assert_eq!(find(&ledger, &Filter::all()).len(), found);
            record(&ledger, [issued(3)]);
            assert_eq!(find(&ledger, &Filter::all()).len(), found + 1);
            drop(ledger);
            let ledger = open(&disk, &folder, Access::Change).unwrap();
            assert_eq!(find(&ledger, &Filter::all()).len(), found + 1);
        }
    }
}

/// Only people who want to see what it was need it.
#[test]
fn an_unfinished_record_is_kept_beside_the_journal() {
    let (ledger, folder) = in_a_folder();
    let place = folder.path().join("ledger");
    record(&ledger, [issued(1)]);
    let end = end_of(&OfMachine, &folder);
    drop(ledger);
    let mut bytes = fs::read(place.join(JOURNAL)).unwrap();
    bytes[end..end + 20].fill(7);
    fs::write(place.join(JOURNAL), &bytes).unwrap();
    let ledger = LocalLedger::open(&place).unwrap();
    assert_eq!(find(&ledger, &Filter::all()).len(), 1);
    assert!(fs::read(place.join(JOURNAL)).unwrap() == bytes);
    record(&ledger, [issued(2)]);
    let kept = fs::read(place.join("journal.unfinished-1")).unwrap();
    assert!(kept == bytes[end..]);
    assert_eq!(find(&ledger, &Filter::all()).len(), 2);
    drop(ledger);
    // Once more: the first one stays.
    let end = end_of(&OfMachine, &folder);
    let mut bytes = fs::read(place.join(JOURNAL)).unwrap();
    bytes[end..end + 20].fill(8);
    fs::write(place.join(JOURNAL), &bytes).unwrap();
    record(&LocalLedger::open(&place).unwrap(), [issued(3)]);
    assert!(fs::read(place.join("journal.unfinished-1")).unwrap() == kept);
    let second = fs::read(place.join("journal.unfinished-2")).unwrap();
    assert!(second == bytes[end..]);
}

/// What one process saw, another may have removed: then there is nothing to be kept once more.
#[test]
fn an_unfinished_record_is_kept_once() {
    let (ledger, folder) = in_a_folder();
    let place = folder.path().join("ledger");
    record(&ledger, [issued(1)]);
    let end = end_of(&OfMachine, &folder);
    let mut bytes = fs::read(place.join(JOURNAL)).unwrap();
    bytes[end..end + 20].fill(7);
    fs::write(place.join(JOURNAL), &bytes).unwrap();
    // It sees it, and leaves it there.
    assert_eq!(find(&ledger, &Filter::all()).len(), 1);
    record(&LocalLedger::open(&place).unwrap(), [issued(2)]);
    record(&ledger, [issued(3)]);
    assert!(place.join("journal.unfinished-1").exists());
    assert!(!place.join("journal.unfinished-2").exists());
    assert_eq!(find(&ledger, &Filter::all()).len(), 3);
}

/// Only on a full disk nobody is kept from revoking. Runs itself again, since the limit on files is one for all
/// threads.
#[cfg(unix)]
#[test]
fn an_unfinished_record_that_can_not_be_kept_is_not_removed() {
    use std::process::Command;

    const AGAIN: &str = "PQ_CA_TEST_WITH_SHORT_FILES";
    if let Some(place) = std::env::var_os(AGAIN) {
        let ledger = LocalLedger::open(place).unwrap();
        let error = ledger.record(&[new_entry(issued(2))]).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("journal.unfinished"), "{text}");
        return;
    }
    let (ledger, folder) = in_a_folder();
    let place = folder.path().join("ledger");
    record(&ledger, [issued(1)]);
    let end = end_of(&OfMachine, &folder);
    drop(ledger);
    let mut bytes = fs::read(place.join(JOURNAL)).unwrap();
    bytes.truncate(end);
    bytes.resize(end + (4 << 20), 7);
    fs::write(place.join(JOURNAL), &bytes).unwrap();
    let name =
        "ledger::local::tests::damage::an_unfinished_record_that_can_not_be_kept_is_not_removed";
    // in blocks of 512 bytes or of 1024
    let run = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 3000 && exec \"$0\" --exact \"$1\"",
        ])
        .arg(std::env::current_exe().unwrap())
        .arg(name)
        .env(AGAIN, &place)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}");
    assert!(fs::read(place.join(JOURNAL)).unwrap() == bytes);
    assert!(!place.join("journal.unfinished-1").exists());
    record(&LocalLedger::open(&place).unwrap(), [issued(2)]);
    let kept = fs::read(place.join("journal.unfinished-1")).unwrap();
    assert!(kept == bytes[end..]);
}

/// As an operator does who puts a backup in place while a service has the ledger open: what the service would write,
/// nobody would read, and its turn would keep nobody from writing.
#[cfg(unix)]
#[test]
fn files_that_were_replaced_are_not_used() {
    for file in [LOCK, JOURNAL, HEAD] {
        for is_deleted in [false, true] {
            let (ledger, folder) = in_a_folder();
            let place = folder.path().join("ledger");
            let path = place.join(file);
            record(&ledger, [issued(1)]);
            let reader = LocalLedger::open_read_only(&place).unwrap();
            reader.entry(&number(1)).unwrap();
            let old = fs::read(place.join(JOURNAL)).unwrap();
            let aside = folder.path().join("aside");
            fs::copy(&path, &aside).unwrap();
            match is_deleted {
                true => fs::remove_file(&path).unwrap(),
                false => fs::rename(&aside, &path).unwrap(),
            }
            // More often than once
            for _ in 0..2 {
                let revoked = revocation(30, CrlReason::KeyCompromise);
                let revoked = ledger.revoke(&number(1), &revoked).map(drop);
                for result in [
                    ledger.record(&[new_entry(issued(2))]),
                    revoked,
                    ledger.entry(&number(1)).map(drop),
                    reader.entry(&number(1)).map(drop),
                ] {
                    match result {
                        Err(LedgerError::Replaced(_)) => {}
                        other => panic!("{file}, {is_deleted}: {other:?}"),
                    }
                }
            }
            if is_deleted && file != LOCK {
                fs::rename(&aside, &path).unwrap();
            }
            assert!(fs::read(place.join(JOURNAL)).unwrap() == old, "{file}");
            record(&LocalLedger::open(&place).unwrap(), [issued(2)]);
            let reader = LocalLedger::open_read_only(&place).unwrap();
            assert_eq!(find(&reader, &Filter::all()).len(), 2);
        }
    }
}

/// The head and the index say what was acknowledged: whoever makes a new ledger over them hides that something is lost.
#[test]
fn a_ledger_that_lost_its_journal_is_not_made_anew() {
    for lost in [&[JOURNAL][..], &[JOURNAL, INDEX], &[JOURNAL, HEAD]] {
        let (ledger, folder) = always_indexed();
        let place = folder.path().join("ledger");
        record(&ledger, [issued(1)]);
        drop(ledger);
        for file in lost {
            fs::remove_file(place.join(file)).unwrap();
        }
        let left: Vec<_> = [HEAD, INDEX]
            .map(|file| fs::read(place.join(file)).ok())
            .into();
        for make in [
            LocalLedger::create,
            LocalLedger::open,
            LocalLedger::open_read_only,
        ] {
            let error = make(place.clone()).unwrap_err();
            match &error {
                LedgerError::Damaged { path, .. } => assert_eq!(*path, place.join(JOURNAL)),
                other => panic!("{lost:?}: {other}"),
            }
            assert!(error.to_string().contains("backup"), "{error}");
        }
        let now: Vec<_> = [HEAD, INDEX]
            .map(|file| fs::read(place.join(file)).ok())
            .into();
        assert!(now == left, "{lost:?}");
        assert!(!place.join(JOURNAL).exists());
    }
    // A process that was killed while it made a ledger leaves a head for which nothing was acknowledged.
    let (ledger, folder) = in_a_folder();
    let place = folder.path().join("ledger");
    drop(ledger);
    fs::remove_file(place.join(JOURNAL)).unwrap();
    let error = LocalLedger::open(&place).unwrap_err();
    assert!(matches!(error, LedgerError::NoLedger { .. }), "{error}");
    record(&LocalLedger::create(&place).unwrap(), [issued(1)]);
}

/// Only one record can be unacknowledged. An old head says that several are, which are not to be cut off.
#[test]
fn records_behind_an_old_head_are_not_cut_off() {
    let (ledger, disk, folder) = on_forgetful();
    let place = folder.path().join("ledger");
    let (journal, head) = (place.join(JOURNAL), place.join(HEAD));
    record(&ledger, [issued(1)]);
    let old = disk.read(&head);
    let start = end_of(&disk, &folder);
    record(&ledger, [issued(2)]);
    let one = end_of(&disk, &folder);
    record(&ledger, [issued(3)]);
    record(&ledger, [issued(4)]);
    drop(ledger);
    let whole = disk.read(&journal);
    disk.replace(&head, &old);
    is_noticed(&disk, &folder, &journal, &whole, "all whole");
    // each byte of the first record, and so its length, too
    for place in start..one {
        for change in [0x01, 0x80] {
            let mut bytes = whole.clone();
            bytes[place] ^= change;
            let how = format!("{place} by {change}");
            is_noticed(&disk, &folder, &journal, &bytes, &how);
        }
    }
    let mut bytes = whole;
    bytes[start..one].fill(0);
    is_noticed(&disk, &folder, &journal, &bytes, "zeros");
    bytes[start..start + 8].copy_from_slice(&(one as u64 * 4).to_le_bytes());
    is_noticed(&disk, &folder, &journal, &bytes, "longer");
}

/// What the index has already, only those read again who need it.
#[test]
fn a_changed_certificate_is_not_handed_out_and_a_check_finds_it() {
    let (ledger, folder) = always_indexed();
    let place = folder.path().join("ledger");
    record(&ledger, (1..=2).map(issued));
    ledger.check().unwrap();
    drop(ledger);
    let mut bytes = fs::read(place.join(JOURNAL)).unwrap();
    let certificate = b"certificate 01";
    let found = bytes.windows(14).position(|part| part == certificate);
    bytes[found.unwrap() + 3] ^= 1;
    fs::write(place.join(JOURNAL), &bytes).unwrap();
    let ledger = LocalLedger::open(&place).unwrap();
    let error = ledger.certificate(&number(1)).unwrap_err();
    assert!(matches!(error, LedgerError::Damaged { .. }), "{error}");
    assert!(ledger.certificate(&number(2)).unwrap().is_some());
    let error = ledger.check().unwrap_err();
    assert!(matches!(error, LedgerError::Damaged { .. }), "{error}");
}

/// redb does not look for changed bytes when it reads.
#[test]
fn a_changed_row_of_the_index_is_noticed() {
    let (ledger, folder) = always_indexed();
    let place = folder.path().join("ledger");
    record(&ledger, (1..=3).map(issued));
    let revoked = revocation(30, CrlReason::KeyCompromise);
    ledger.revoke(&number(2), &revoked).unwrap();
    drop(ledger);
    let whole = fs::read(place.join(INDEX)).unwrap();
    let who = b"somebody else";
    let places = (0..whole.len() - who.len()).filter(|at| whole[*at..].starts_with(who));
    let mut noticed = 0;
    for start in places {
        let mut bytes = whole.clone();
        bytes[start] ^= 1;
        fs::write(place.join(INDEX), &bytes).unwrap();
        let ledger = LocalLedger::open(&place).unwrap();
        let mut show = |_: &_, shown: &_| assert_eq!(*shown, revoked);
        let results = [
            ledger.entry(&number(2)).map(|entry| {
                assert_eq!(entry.unwrap().revocation(), Some(&revoked));
            }),
            ledger.next_list("issuing", at(40), &mut show).map(|_| ()),
        ];
        for error in results.into_iter().filter_map(Result::err) {
            assert!(matches!(error, LedgerError::Index { .. }), "{error}");
            noticed += 1;
        }
        fs::write(place.join(INDEX), &whole).unwrap();
    }
    // In the row, and in the listing
    assert!(noticed >= 2, "{noticed}");
}

/// Before redb opens it, since it panics where a file is too short, and programs may abort then.
#[test]
fn a_truncated_index_is_said_to_be_deleted() {
    let (ledger, folder) = always_indexed();
    let place = folder.path().join("ledger");
    record(&ledger, (1..=100).map(issued));
    drop(ledger);
    let index = place.join(INDEX);
    let whole = fs::read(&index).unwrap();
    let refused = |how: &str| {
        for open in [LocalLedger::open, LocalLedger::open_read_only] {
            let error = open(&place)
                .and_then(|ledger| ledger.entry(&number(1)))
                .unwrap_err();
            let text = error.to_string();
            assert!(matches!(error, LedgerError::Index { .. }), "{how}: {text}");
            assert!(text.contains("delete that file"), "{how}: {text}");
            assert!(!text.contains("it is damaged"), "a panic, {how}: {text}");
        }
    };
    let lengths = (1..400).chain((400..whole.len()).step_by(4099));
    for length in lengths.chain([whole.len() - 1]) {
        fs::write(&index, &whole[..length]).unwrap();
        refused(&format!("{length} bytes"));
    }
    fs::write(&index, []).unwrap();
    refused("empty");
    // the numbers in the header
    for place in 12..32 {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[place] ^= 1 << bit;
            fs::write(&index, &bytes).unwrap();
            let opened = super::super::index::check_file(&index, Access::Read);
            let is_page_or_shorter = place < 16 || bytes[place] > whole[place] && place >= 28;
            assert!(opened.is_err() || !is_page_or_shorter, "{place}.{bit}");
        }
    }
    fs::remove_file(&index).unwrap();
    let ledger = LocalLedger::open(&place).unwrap();
    assert_eq!(find(&ledger, &Filter::all()).len(), 100);
}

/// Either may be the wrong one: the journal, if somebody made a new ledger in place of one that was lost. So neither is
/// said to be deleted, nor a backup to be put in its place.
#[test]
fn with_an_index_of_another_ledger_nothing_is_said_to_be_deleted() {
    let (ledger, folder) = always_indexed();
    let place = folder.path().join("ledger");
    record(&ledger, [issued(1)]);
    let index = place.join(INDEX);
    // a copy of the same ledger, in which something else happened afterwards
    let copied = [JOURNAL, HEAD, INDEX].map(|file| (file, fs::read(place.join(file)).unwrap()));
    record(&ledger, [issued(2)]);
    drop(ledger);
    let (other, elsewhere) = always_indexed();
    record(&other, (1..=3).map(issued));
    drop(other);
    let branch = folder.path().join("branch");
    fs::create_dir(&branch).unwrap();
    for (file, bytes) in &copied {
        fs::write(branch.join(file), bytes).unwrap();
    }
    let mut branched = LocalLedger::open(&branch).unwrap();
    branched.enough = 1;
    record(&branched, [issued(3)]);
    drop(branched);
    for foreign in [elsewhere.path().join("ledger"), branch] {
        fs::copy(foreign.join(INDEX), &index).unwrap();
        for open in [LocalLedger::open, LocalLedger::open_read_only] {
            let error = open(&place)
                .and_then(|ledger| ledger.entry(&number(1)))
                .unwrap_err();
            assert!(matches!(error, LedgerError::OtherIndex(_)), "{error}");
            let text = error.to_string();
            assert!(
                !text.contains("delete") && text.contains("either"),
                "{text}"
            );
        }
    }
    fs::remove_file(&index).unwrap();
    let ledger = LocalLedger::open(&place).unwrap();
    assert_eq!(find(&ledger, &Filter::all()).len(), 2);
}

/// Whatever bytes are changed, redb's panics don't get out, and nothing wrong is said.
#[test]
fn a_damaged_index_is_an_error_and_no_panic() {
    let (ledger, folder) = always_indexed();
    let place = folder.path().join("ledger");
    record(&ledger, (1..=30).map(issued));
    drop(ledger);
    let index = place.join(INDEX);
    let whole = fs::read(&index).unwrap();
    let pages = whole.chunks(4096).enumerate();
    let used = pages.filter(|(_, page)| page.iter().any(|byte| *byte != 0));
    let mut failed = 0;
    for (page, bytes) in used {
        for (fill, from) in [(0, 0), (0xff, 0), (0xff, 4), (0x01, 2)] {
            let mut damaged = whole.clone();
            let start = page * 4096;
            damaged[start + from..start + bytes.len()].fill(fill);
            fs::write(&index, &damaged).unwrap();
            for open in [LocalLedger::open_read_only, LocalLedger::open] {
                match open(&place).and_then(|ledger| ledger.check()) {
                    Ok(()) => {}
                    Err(LedgerError::Index { .. }) => failed += 1,
                    Err(other) => panic!("{page}, {fill} from {from}: {other}"),
                }
            }
        }
    }
    assert!(failed > 20, "{failed}");
}

#[test]
fn a_backup_without_lock_and_index_can_be_read() {
    let (ledger, folder) = always_indexed();
    let place = folder.path().join("ledger");
    record(&ledger, (1..=3).map(issued));
    drop(ledger);
    let backup = folder.path().join("backup");
    fs::create_dir(&backup).unwrap();
    for file in [JOURNAL, HEAD] {
        fs::copy(place.join(file), backup.join(file)).unwrap();
    }
    let reader = LocalLedger::open_read_only(&backup).unwrap();
    assert_eq!(find(&reader, &Filter::all()).len(), 3);
    reader.check().unwrap();
    assert_eq!(fs::read_dir(&backup).unwrap().count(), 2);
    // From when somebody changes it, the reader takes turns.
    record(&LocalLedger::open(&backup).unwrap(), [issued(4)]);
    assert_eq!(find(&reader, &Filter::all()).len(), 4);
    let turn = reader.lock.take(|| {}).unwrap();
    assert!(turn.is_locked());
}

#[cfg(unix)]
#[test]
fn files_that_others_can_write_are_refused() {
    use std::os::unix::fs::PermissionsExt;

    for file in [JOURNAL, HEAD, INDEX, LOCK] {
        let (ledger, folder) = always_indexed();
        let place = folder.path().join("ledger");
        record(&ledger, [issued(1)]);
        drop(ledger);
        let path = place.join(file);
        for (mode, is_refused) in [(0o660, true), (0o646, true), (0o644, false), (0o600, false)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            for open in [LocalLedger::open, LocalLedger::open_read_only] {
                match open(&place).and_then(|ledger| ledger.entry(&number(1))) {
                    Ok(_) => assert!(!is_refused, "{file}, {mode:o}"),
                    Err(LedgerError::Writable(named)) if is_refused => assert_eq!(named, path),
                    Err(error) => panic!("{file}, {mode:o}: {error}"),
                }
            }
        }
    }
}

/// Runs itself again, since the umask is one for all threads.
#[cfg(unix)]
#[test]
fn files_are_made_for_the_owner_alone_to_write_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    const AGAIN: &str = "PQ_CA_TEST_WITHOUT_UMASK";
    if std::env::var_os(AGAIN).is_none() {
        let name = "ledger::local::tests::damage::files_are_made_for_the_owner_alone_to_write_whatever_the_umask";
        let run = Command::new("sh")
            .args(["-c", "umask 0 && exec \"$0\" --exact \"$1\""])
            .arg(std::env::current_exe().unwrap())
            .arg(name)
            .env(AGAIN, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let (ledger, folder) = always_indexed();
    let place = folder.path().join("ledger");
    record(&ledger, [issued(1)]);
    let end = end_of(&OfMachine, &folder);
    drop(ledger);
    let mut bytes = fs::read(place.join(JOURNAL)).unwrap();
    bytes[end..end + 20].fill(7);
    fs::write(place.join(JOURNAL), &bytes).unwrap();
    record(&LocalLedger::open(&place).unwrap(), [issued(2)]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&place), 0o755);
    let files = fs::read_dir(&place)
        .unwrap()
        .map(|file| file.unwrap().path());
    let files: Vec<PathBuf> = files.collect();
    assert_eq!(files.len(), 5);
    for file in files {
        assert_eq!(mode(&file), 0o644, "{file:?}");
    }
}

/// Whatever bit of an index is changed, no key is certified that others may know, no number of a list is given twice,
/// nothing is missing in what is found, and a check finds it.
#[test]
fn no_changed_bit_of_an_index_is_believed() {
    let (ledger, folder) = always_indexed();
    let place = folder.path().join("ledger");
    record(&ledger, (1..=8).map(issued));
    let compromised = revocation(30, CrlReason::KeyCompromise);
    ledger.revoke(&number(2), &compromised).unwrap();
    for list in 1..=3 {
        assert_eq!(next_list(&ledger, "issuing", 100).0, list);
    }
    drop(ledger);
    let files = [JOURNAL, HEAD, INDEX].map(|file| {
        let path = place.join(file);
        let bytes = fs::read(&path).unwrap();
        (path, bytes)
    });
    let index = place.join(INDEX);
    let whole = &files[2].1;
    let expected = find(
        &LocalLedger::open_read_only(&place).unwrap(),
        &Filter::all(),
    );
    // Some anywhere, and some in each copy of the key that others may know, and beside it
    let written = (4096..whole.len()).filter(|place| whole[*place] != 0);
    let written: Vec<usize> = written.collect();
    let key = issued(2).key;
    let copies = (4096..whole.len() - 100).filter(|at| whole[*at..].starts_with(key.as_bytes()));
    let places = copies.flat_map(|at| [at, at + 7, at + 31, at + 33, at + 41]);
    let anywhere = written.iter().step_by(written.len() / 60).copied();
    let (mut noticed, mut tried) = (0, 0);
    for place_in_file in places.chain(anywhere) {
        tried += 1;
        for (path, bytes) in &files {
            fs::write(path, bytes).unwrap();
        }
        let mut bytes = whole.clone();
        bytes[place_in_file] ^= 1 << (tried % 8);
        fs::write(&index, &bytes).unwrap();
        let reader = LocalLedger::open_read_only(&place).unwrap();
        let mut found = Vec::new();
        let result = reader.find(&Filter::all(), &mut |entry| {
            found.push(entry);
            ControlFlow::Continue(())
        });
        let is_whole = reader.check().is_ok();
        assert!(
            result.is_err() || found == expected,
            "{place_in_file}: {found:?}"
        );
        drop(reader);
        let ledger = LocalLedger::open(&place).unwrap();
        let issued = crate::ledger::Issued {
            key: issued(2).key,
            ..issued(9)
        };
        let again = ledger.record(&[new_entry(issued)]);
        let list = ledger.next_list("issuing", at(100), &mut |_, _| {});
        for error in [
            again
                .map(|()| panic!("{place_in_file}: a key was certified again"))
                .unwrap_err(),
            list.map_or_else(
                |error| error,
                |list| {
                    assert_eq!(list, 4, "{place_in_file}");
                    LedgerError::NotAReason
                },
            ),
        ] {
            match error {
                LedgerError::Index { .. } => {}
                LedgerError::KeyCompromised(other) => assert_eq!(other, number(2)),
                LedgerError::NotAReason => {}
                other => panic!("{place_in_file}: {other}"),
            }
        }
        noticed += usize::from(!is_whole);
    }
    assert!(noticed > 5, "{noticed} of {tried}");
}
