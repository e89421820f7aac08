//! A disk that forgets what was not synced when the machine stops, and what happens to a ledger on it.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use pq_x509::revocation::CrlReason;
use tempfile::TempDir;

use super::super::files::{Access, Disk, Medium, create_numbered};
use super::super::{HEAD, JOURNAL, LocalLedger};
use crate::ledger::suite::{at, issued, new_entry, number, record, revocation};
use crate::ledger::{Ledger, LedgerError, NewEntry};

/// A disk in memory. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Forgetful(Arc<Mutex<Contents>>);

#[derive(Debug, Default)]
struct Contents {
    files: Vec<File>,
    names: BTreeMap<PathBuf, usize>,
    /// The names as they are on the disk.
    synced_names: BTreeMap<PathBuf, usize>,
    /// After this many more writes, renames and syncs, the machine stops.
    left: Option<usize>,
    /// No file gets longer than this.
    space: Option<usize>,
}

#[derive(Debug, Default)]
struct File {
    bytes: Vec<u8>,
    synced: Vec<u8>,
}

#[derive(Debug)]
struct Opened {
    disk: Forgetful,
    file: usize,
    access: Access,
}

impl Forgetful {
    fn with<T>(&self, act: impl FnOnce(&mut Contents) -> T) -> T {
        act(&mut self.0.lock().unwrap())
    }

    pub(super) fn read(&self, path: &Path) -> Vec<u8> {
        self.with(|disk| disk.files[disk.names[path]].bytes.clone())
    }

    pub(super) fn replace(&self, path: &Path, bytes: &[u8]) {
        self.with(|disk| {
            let file = disk.names[path];
            disk.files[file].bytes = bytes.into();
            disk.files[file].synced = bytes.into();
        });
    }

    /// The machine stops after this many more writes, renames and syncs.
    fn stop_after(&self, steps: usize) {
        self.with(|disk| disk.left = Some(steps));
    }

    /// What the disk has after the machine stopped and started: of what was not synced, those sectors that are to stay.
    fn start(&self, stays: impl Fn(usize) -> bool) {
        self.with(|disk| {
            disk.left = None;
            disk.names = disk.synced_names.clone();
            for file in &mut disk.files {
                let mut bytes = file.synced.clone();
                if stays(usize::MAX) {
                    bytes.resize(file.bytes.len(), 0);
                }
                let changed = bytes.chunks_mut(SECTOR).zip(file.bytes.chunks(SECTOR));
                for (sector, (old, new)) in changed.enumerate() {
                    if stays(sector) {
                        let both = old.len().min(new.len());
                        old[..both].copy_from_slice(&new[..both]);
                    }
                }
                file.bytes = bytes.clone();
                file.synced = bytes;
            }
        });
    }

    fn step(disk: &mut Contents) -> io::Result<()> {
        match &mut disk.left {
            Some(0) => Err(io::Error::other("the machine has stopped")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

const SECTOR: usize = 64;

impl Disk for Forgetful {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn Medium>> {
        let file = self.with(|disk| disk.names.get(path).copied());
        let file = file.ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Opened {
            disk: self.clone(),
            file,
            access,
        }))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn Medium>> {
        self.with(|disk| {
            disk.names.insert(path.into(), disk.files.len());
            disk.files.push(File::default());
        });
        self.open(path, Access::Change)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.with(|disk| {
            Self::step(disk)?;
            let file = disk.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
            disk.names.insert(to.into(), file);
            Ok(())
        })
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.with(|disk| {
            Self::step(disk)?;
            let within = |(name, _): &(&PathBuf, &usize)| name.parent() == Some(path);
            let others = disk.synced_names.iter().filter(|name| !within(name));
            let names = others.chain(disk.names.iter().filter(within));
            disk.synced_names = names.map(|(name, file)| (name.clone(), *file)).collect();
            Ok(())
        })
    }
}

impl Opened {
    fn change(&self, act: impl FnOnce(&mut File)) -> io::Result<()> {
        assert_eq!(self.access, Access::Change, "a reader writes");
        self.disk.with(|disk| {
            Forgetful::step(disk)?;
            act(&mut disk.files[self.file]);
            Ok(())
        })
    }

    fn space(&self) -> usize {
        self.disk.with(|disk| disk.space.unwrap_or(usize::MAX))
    }
}

impl Medium for Opened {
    fn length(&self) -> io::Result<u64> {
        Ok(self
            .disk
            .with(|disk| disk.files[self.file].bytes.len() as u64))
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.change(|file| file.bytes.resize(length as usize, 0))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.disk.with(|disk| {
            let bytes = &disk.files[self.file].bytes;
            let start = offset as usize;
            let part = bytes.get(start..start + out.len());
            out.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        })
    }

    fn write(&self, offset: u64, new: &[u8]) -> io::Result<()> {
        // As disks do, it writes what there is space for.
        let end = (offset as usize + new.len()).min(self.space());
        let fitting = end.saturating_sub(offset as usize);
        self.change(|file| {
            let length = file.bytes.len().max(end);
            file.bytes.resize(length, 0);
            file.bytes[offset as usize..][..fitting].copy_from_slice(&new[..fitting]);
        })?;
        match fitting == new.len() {
            true => Ok(()),
            false => Err(io::ErrorKind::StorageFull.into()),
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.change(|file| file.synced.clone_from(&file.bytes))
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        Ok(self
            .disk
            .with(|disk| disk.names.get(path) == Some(&self.file)))
    }
}

/// A ledger on a disk in memory. Its index is on the disk of this machine, as if everything were synced there.
pub(super) fn on_forgetful() -> (LocalLedger, Forgetful, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let disk = Forgetful::default();
    let place = folder.path().join("ledger");
    let ledger = LocalLedger::create_on(Arc::new(disk.clone()), &place).unwrap();
    (ledger, disk, folder)
}

pub(super) fn open(
    disk: &Forgetful,
    folder: &TempDir,
    access: Access,
) -> Result<LocalLedger, LedgerError> {
    let place = folder.path().join("ledger");
    LocalLedger::open_on(Arc::new(disk.clone()), &place, access)
}

/// The machine stops at each step of three changes, and different parts of what was not synced are on the disk.
/// Everything that was acknowledged is there, and nothing is said to be damaged.
fn stop_everywhere(enough: usize) {
    let patterns: [fn(usize) -> bool; 4] = [
        |_| false,
        |_| true,
        |sector| sector % 2 == 0,
        |sector| sector % 2 == 1,
    ];
    for stays in patterns {
        for steps in 0.. {
            let (ledger, disk, folder) = on_forgetful();
            // What is in the ledger before
            record(&ledger, [issued(1)]);
            drop(ledger);
            let mut ledger = open(&disk, &folder, Access::Change).unwrap();
            ledger.enough = enough;
            ledger.entry(&number(1)).unwrap();
            disk.stop_after(steps);
            let revoked = revocation(30, CrlReason::KeyCompromise);
            let results = [
                ledger.record(&[new_entry(issued(2))]),
                ledger.revoke(&number(1), &revoked).map(|_| ()),
                ledger
                    .next_list("issuing", at(40), &mut |_, _| {})
                    .map(|_| ()),
            ];
            let acknowledged = results.map(|result| result.is_ok());
            drop(ledger);
            disk.start(stays);

            let ledger = open(&disk, &folder, Access::Change).unwrap();
            let entry = |n| ledger.entry(&number(n)).unwrap();
            let first = entry(1).expect("the first one is lost");
            assert!(entry(2).is_some() || !acknowledged[0], "{steps}");
            assert!(first.revocation().is_some() || !acknowledged[1], "{steps}");
            let list = ledger.next_list("issuing", at(50), &mut |_, _| {}).unwrap();
            assert!(list == 2 || !acknowledged[2], "{steps}");
            ledger.check().unwrap();
            if acknowledged == [true; 3] {
                break;
            }
        }
    }
}

#[test]
fn what_was_acknowledged_stays_when_the_machine_stops() {
    stop_everywhere(1000);
}

/// The index must have nothing that the journal may lose.
#[test]
fn what_is_in_the_index_stays_in_the_journal() {
    stop_everywhere(1);
}

/// On a full disk, a record needs no more space than it has bytes, and what can't be written leaves nothing behind.
#[test]
fn a_full_disk_is_filled_to_its_end_and_not_littered() {
    let (ledger, disk, folder) = on_forgetful();
    record(&ledger, [issued(1)]);
    let journal = folder.path().join("ledger").join(JOURNAL);
    let space = disk.read(&journal).len() + 100_000;
    disk.with(|disk| disk.space = Some(space));
    let big = |n| NewEntry {
        issued: issued(n),
        certificate: vec![0x30; 30_000].into(),
    };
    let mut last = 1;
    let error = loop {
        match ledger.record(&[big(last + 1)]) {
            Ok(()) => last += 1,
            Err(error) => break error,
        }
    };
    let is_full = |error: &LedgerError| {
        let text = error.to_string();
        assert!(
            text.contains("journal") && text.contains("free some space"),
            "{text}"
        );
    };
    is_full(&error);
    for _ in 0..3 {
        is_full(&ledger.record(&[big(last + 1)]).unwrap_err());
    }
    let used = disk.read(&journal).len();
    assert!(used <= space && space - used < 31_000, "{used} of {space}");
    let files = std::fs::read_dir(folder.path().join("ledger")).unwrap();
    for file in files {
        let name = file.unwrap().file_name();
        assert!(!name.to_string_lossy().contains("unfinished"), "{name:?}");
    }
    disk.with(|disk| disk.space = None);
    ledger.record(&[big(last + 1)]).unwrap();
    drop(ledger);
    let ledger = open(&disk, &folder, Access::Change).unwrap();
    assert!(ledger.entry(&number(last + 1)).unwrap().is_some());
    assert_eq!(ledger.entry(&number(last + 2)).unwrap(), None);
    ledger.check().unwrap();
}

/// What can't be kept leaves no file.
#[test]
fn of_what_can_not_be_kept_there_is_no_file() {
    struct Failing(usize);
    impl io::Read for Failing {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            bytes.fill(7);
            Ok(bytes.len())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    for reads in [0, 1] {
        create_numbered(&folder.path().join("a"), Failing(reads)).unwrap_err();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_new_ledger_stays_when_the_machine_stops() {
    let (ledger, disk, folder) = on_forgetful();
    drop(ledger);
    disk.start(|_| false);
    let ledger = open(&disk, &folder, Access::Change).unwrap();
    assert_eq!(ledger.entry(&number(1)).unwrap(), None);
    for file in [JOURNAL, HEAD] {
        assert!(
            !disk
                .read(&folder.path().join("ledger").join(file))
                .is_empty()
        );
    }
}
