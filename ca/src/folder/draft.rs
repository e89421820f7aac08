//! A folder that is being made: it appears complete, or not at all, and nothing secret is left of it.

use alloc::sync::Arc;
#[cfg(unix)]
use core::ops::ControlFlow;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pq_keys::files::{Access, folder_of, put_in_place, sync_folder, write_in_draft};

use super::error::{FolderError, io_error};
use super::turn::{Turn, try_lock};
use super::{ISSUING_CERTIFICATE, LEDGER, LEDGER_FILE, POLICY, ROOT_CERTIFICATE};
#[cfg(unix)]
use crate::ledger::{Filter, Ledger, LedgerError, LocalLedger};

/// Stops the making of a CA from another thread, such as one that waits for signals.
///
/// Private keys are written last. Before that, [`stop`](Self::stop) removes what there is; from then on it waits the
/// moment that it takes until the CA is complete.
///
/// ```
/// use std::thread;
///
/// use pq_ca::folder::Interruption;
///
/// let interruption = Interruption::default();
/// let of_signals = interruption.clone();
/// thread::spawn(move || {
///     // wait for a signal, and then:
///     of_signals.stop();
/// });
/// // and meanwhile: Folder::create_unless_stopped(path, &plan, "alice", now, &interruption)
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interruption(Arc<Mutex<Stage>>);

#[derive(Debug, Default)]
enum Stage {
    /// No folder is being made.
    #[default]
    Idle,
    /// This folder has no keys yet.
    Drafting(PathBuf),
    Stopped,
}

impl Interruption {
    /// When this returns, the CA is complete, or there is nothing of it, and there will be nothing.
    pub fn stop(&self) {
        let mut stage = self.stage();
        if let Stage::Drafting(draft) = &*stage {
            // The other thread goes on to make files, none of them with a key, but only where it knows the folder. One
            // that it is just making may still get into it.
            let moved = move_away(draft);
            let draft = moved.as_deref().unwrap_or(draft);
            let _ = (0..ATTEMPTS).find(|_| remove(draft).is_ok());
        }
        *stage = Stage::Stopped;
    }

    /// Whether [`stop`](Self::stop) was called. If it is at work, this waits for its end.
    pub fn is_stopped(&self) -> bool {
        matches!(*self.stage(), Stage::Stopped)
    }

    /// Has `make` make the draft. Stopping waits for that.
    fn begin(
        &self,
        make: impl FnOnce() -> Result<Draft, FolderError>,
    ) -> Result<Draft, FolderError> {
        let mut stage = self.stage();
        if matches!(*stage, Stage::Stopped) {
            return Err(FolderError::Stopped);
        }
        let draft = make()?;
        *stage = Stage::Drafting(draft.path.clone());
        Ok(draft)
    }

    /// Does what may not be stopped in its middle.
    pub(super) fn finish(
        &self,
        last: impl FnOnce() -> Result<(), FolderError>,
    ) -> Result<(), FolderError> {
        let mut stage = self.stage();
        if matches!(*stage, Stage::Stopped) {
            return Err(FolderError::Stopped);
        }
        let done = last();
        *stage = Stage::Idle;
        done
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const ATTEMPTS: usize = 3;

/// A folder that is removed unless it gets its name.
pub(super) struct Draft {
    path: PathBuf,
    /// Locked while it is being made, so that no other process takes it for one that was left behind.
    _lock: Option<File>,
}

impl Draft {
    /// Makes the folder beside `path`, so that it can be renamed to it. Removes what processes left there that were
    /// killed, or that lost power.
    pub(super) fn new(path: &Path, interruption: &Interruption) -> Result<Self, FolderError> {
        let above = folder_of(path);
        remove_abandoned(above);
        interruption.begin(|| {
            let made = (0..ATTEMPTS).find_map(|_| Self::make_in(above).transpose());
            made.unwrap_or_else(|| Err(io_error("create", path)(ErrorKind::ResourceBusy.into())))
        })
    }

    /// Makes a draft with a name of its own, unless another process took it for abandoned while it was still empty.
    fn make_in(above: &Path) -> Result<Option<Self>, FolderError> {
        let path = above.join(new_name(above)?);
        make_private_folder(&path).map_err(|error| match error {
            // Nobody knows the draft's name.
            FolderError::Io { cause, .. } => io_error("make a folder in", above)(cause),
            error => error,
        })?;
        let draft = Self {
            _lock: match try_lock(&path) {
                Ok(lock) => lock,
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotFound) =>
                {
                    return Ok(None);
                }
                Err(error) => {
                    let _ = fs::remove_dir(&path);
                    return Err(io_error("lock", &path)(error));
                }
            },
            path,
        };
        // Without a lock, nobody could tell that the draft is in the making, so nobody may remove it.
        if draft._lock.is_none() {
            return Ok(Some(draft));
        }
        let written = write_in_draft(&draft.path.join(MARKER), MARK, Access::Private);
        match written.map_err(io::Error::from) {
            Ok(()) => Ok(Some(draft)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io_error("write", &draft.path)(error)),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds what is secret, and gives the folder its name. All is on the disk then.
    pub(super) fn complete(
        self,
        path: &Path,
        interruption: &Interruption,
        add_keys: impl FnOnce() -> Result<(), FolderError>,
    ) -> Result<(), FolderError> {
        interruption.finish(|| self.place(path, add_keys).map(drop))
    }

    /// The same in what [may not be stopped](Interruption::finish). This process has the turn at the folder then.
    pub(super) fn place(
        mut self,
        path: &Path,
        add_keys: impl FnOnce() -> Result<(), FolderError>,
    ) -> Result<Turn, FolderError> {
        add_keys()?;
        sync_folder(&self.path).map_err(io_error("write", &self.path))?;
        // From here on it is a CA like any other, and stays. So nothing comes between this and its name.
        remove_file(&self.path.join(MARKER)).map_err(io_error("write", &self.path))?;
        let placed = put_in_place(&self.path, path).map_err(io::Error::from);
        placed.map_err(|error| match error.kind() {
            // Another process made one meanwhile.
            ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists => {
                FolderError::Exists(path.into())
            }
            _ => io_error("create", path)(error),
        })?;
        Ok(Turn::of(self._lock.take()))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After the rename there is nothing to remove. A failure to remove the draft is ignored: the error that led
        // here matters more.
        let _ = remove(&self.path);
    }
}

/// The first file in a draft, and the last one to be removed: a folder without it is no draft, whatever its name.
const MARKER: &str = ".draft-of-a-ca";

pub(super) const MARK: &[u8] =
    b"This folder is the draft of a CA. If no process is making it, the next `pqtls ca init` beside it removes it.\n";

/// The beginning of a draft's name. Random digits follow, so that nobody has a folder of that name already.
const PREFIX: &str = ".pqtls-draft-of-a-ca-";

const RANDOM_BYTES: usize = 16;

fn new_name(path: &Path) -> Result<String, FolderError> {
    let mut random = [0; RANDOM_BYTES];
    pq_keys::random::fill(&mut random)
        .map_err(|error| io_error("create", path)(io::Error::other(error.to_string())))?;
    let digits = random.iter().map(|byte| format!("{byte:02x}"));
    Ok(PREFIX.to_owned() + &digits.collect::<String>())
}

/// Gives a draft another name, if it can be done. It still is one to whoever finds it.
fn move_away(draft: &Path) -> Option<PathBuf> {
    let above = folder_of(draft);
    let path = above.join(new_name(above).ok()?);
    fs::rename(draft, &path).ok()?;
    Some(path)
}

/// Whether a file name is one of a draft.
fn is_name(name: &OsStr) -> bool {
    let digits = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    digits.is_some_and(|digits| {
        digits.len() == 2 * RANDOM_BYTES && digits.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

/// Whether a folder is a draft that a process left behind, or is still making.
pub(super) fn is_draft(path: &Path) -> bool {
    path.file_name().is_some_and(is_name) && path.join(MARKER).exists()
}

/// Makes a folder that is only for its owner.
pub(super) fn make_private_folder(path: &Path) -> Result<(), FolderError> {
    let mut builder = DirBuilder::new();
    only_for_its_owner(&mut builder);
    builder.create(path).map_err(io_error("create", path))
}

#[cfg(unix)]
fn only_for_its_owner(builder: &mut DirBuilder) {
    use std::os::unix::fs::DirBuilderExt;

    builder.mode(0o700);
}

#[cfg(not(unix))]
fn only_for_its_owner(_: &mut DirBuilder) {}

/// The files of a draft with secrets, which are removed first.
const KEYS: [&str; 2] = ["root.key", "issuing.key"];

/// Its other files. The marker is last, so that what was removed in part is a draft still.
const OTHERS: [&str; 6] = [
    ISSUING_CERTIFICATE,
    ISSUING_REQUEST,
    ROOT_CERTIFICATE,
    POLICY,
    LEDGER_FILE,
    MARKER,
];

const ISSUING_REQUEST: &str = "issuing.csr";

/// The files of its ledger.
const LEDGER_FILES: [&str; 7] = [
    "index.new",
    "index",
    "head.new",
    "head",
    "journal.new",
    "journal",
    "lock",
];

/// Its files of bytes that could not be recorded, which have numbers.
fn is_unfinished_record(name: &str) -> bool {
    let number = name.strip_prefix("journal.unfinished-");
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Removes a draft. A folder with anything that no draft has stays as it is.
pub(super) fn remove(draft: &Path) -> io::Result<()> {
    let ledger = draft.join(LEDGER);
    let has_ledger = fs::symlink_metadata(&ledger).is_ok_and(|metadata| metadata.is_dir());
    refuse_others(draft, &|name| {
        KEYS.contains(&name) || OTHERS.contains(&name) || (has_ledger && name == LEDGER)
    })?;
    if has_ledger {
        refuse_others(&ledger, &|name| {
            LEDGER_FILES.contains(&name) || is_unfinished_record(name)
        })?;
    }
    remove_files(draft, &KEYS)?;
    if has_ledger {
        for entry in fs::read_dir(&ledger)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(is_unfinished_record) {
                remove_file(&entry.path())?;
            }
        }
        remove_files(&ledger, &LEDGER_FILES)?;
        fs::remove_dir(&ledger)?;
    }
    remove_files(draft, &OTHERS)?;
    fs::remove_dir(draft)
}

/// An error if there is anything in the folder that is not known.
fn refuse_others(folder: &Path, is_known: &dyn Fn(&str) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        if !entry?.file_name().to_str().is_some_and(is_known) {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
    }
    Ok(())
}

/// Removes files, and no folders, of these names.
fn remove_files(folder: &Path, names: &[&str]) -> io::Result<()> {
    names
        .iter()
        .try_for_each(|name| remove_file(&folder.join(name)))
}

/// Removes a file, if it is there.
fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes drafts of this user that no process is making. What can't be removed stays; it keeps nobody from making a
/// CA.
#[cfg(unix)]
fn remove_abandoned(above: &Path) {
    for path in own_drafts_in(above) {
        if is_unfinished(&path)
            && let Ok(Some(_lock)) = try_lock(&path)
            // It may have got its name, and lost its marker, before this process had the lock.
            && is_unfinished(&path)
        {
            let _ = remove(&path);
        }
    }
}

#[cfg(not(unix))]
fn remove_abandoned(_: &Path) {}

/// Folders of this user that have a draft's name, and that no process is making.
#[cfg(unix)]
pub(super) fn left_in(above: &Path) -> Vec<PathBuf> {
    own_drafts_in(above)
        .filter(|path| matches!(try_lock(path), Ok(Some(_))))
        .collect()
}

/// On other systems, it can't be told which of them are being made.
#[cfg(not(unix))]
pub(super) fn left_in(_: &Path) -> Vec<PathBuf> {
    Vec::new()
}

/// Folders of this user that have a draft's name.
#[cfg(unix)]
fn own_drafts_in(above: &Path) -> impl Iterator<Item = PathBuf> {
    use std::os::unix::fs::MetadataExt;

    let user = rustix::process::geteuid().as_raw();
    // of the link, if it is one
    let is_own = move |metadata: io::Result<fs::Metadata>| {
        metadata.is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == user)
    };
    let entries = fs::read_dir(above).into_iter().flatten().flatten();
    entries
        .filter(move |entry| is_name(&entry.file_name()) && is_own(entry.metadata()))
        .map(|entry| entry.path())
}

/// Whether a folder is marked as a draft and was never used as a CA, or whether nothing is in it.
#[cfg(unix)]
fn is_unfinished(path: &Path) -> bool {
    match fs::read(path.join(MARKER)) {
        Ok(mark) if mark == MARK => is_unused(path),
        // A process that is killed may leave the beginning of the marker, and nothing else.
        Ok(mark) => MARK.starts_with(&mark) && refuse_others(path, &|name| name == MARKER).is_ok(),
        Err(_) => refuse_others(path, &|_| false).is_ok(),
    }
}

/// Whether its ledger has no more than the one certificate that each new CA has. If that can't be told, because the
/// making of the ledger was interrupted or for another reason, it is unused if there is no key.
#[cfg(unix)]
fn is_unused(draft: &Path) -> bool {
    let mut entries = 0;
    let mut count = |_| {
        entries += 1;
        match entries {
            1 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    };
    let read = LocalLedger::open_read_only(draft.join(LEDGER))
        .and_then(|ledger| ledger.find(&Filter::default(), &mut count));
    let has_key = || {
        KEYS.iter()
            .any(|key| fs::symlink_metadata(draft.join(key)).is_ok())
    };
    match read {
        Ok(()) | Err(LedgerError::NoLedger { .. }) => entries <= 1,
        Err(_) => !has_key(),
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use super::*;
    #[cfg(not(unix))]
    use crate::ledger::LocalLedger;

    #[test]
    fn who_stops_before_the_keys_removes_all_and_no_keys_follow() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("ca");
        let interruption = Interruption::default();
        let draft = Draft::new(&path, &interruption).unwrap();
        fs::write(draft.path().join("root.pem"), "certificate").unwrap();
        assert!(!interruption.is_stopped());
        interruption.stop();
        assert!(interruption.is_stopped());
        assert!(!draft.path().exists());
        // The other thread may be about to make the ledger.
        LocalLedger::fill(&draft.path().join(LEDGER)).unwrap_err();
        assert!(!draft.path().exists());
        let completed = draft.complete(&path, &interruption, || panic!("keys are written"));
        assert!(matches!(completed, Err(FolderError::Stopped)));
        let again = Draft::new(&path, &interruption).map(drop);
        assert!(matches!(again, Err(FolderError::Stopped)));
        assert_eq!(fs::read_dir(above.path()).unwrap().count(), 0);
    }

    #[test]
    fn who_stops_removes_what_is_made_meanwhile_as_well() {
        for _ in 0..60 {
            let above = tempfile::tempdir().unwrap();
            let interruption = Interruption::default();
            let draft = Draft::new(&above.path().join("ca"), &interruption).unwrap();
            let files =
                [ROOT_CERTIFICATE, ISSUING_CERTIFICATE, POLICY].map(|name| draft.path().join(name));
            let (begun, beginning) = std::sync::mpsc::channel();
            let is_over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                for file in &files {
                    let (begun, is_over) = (begun.clone(), &is_over);
                    scope.spawn(move || {
                        while !is_over.load(Relaxed) && fs::write(file, "public").is_ok() {
                            let _ = begun.send(());
                        }
                    });
                }
                beginning.recv().unwrap();
                interruption.stop();
                is_over.store(true, Relaxed);
            });
            assert_eq!(fs::read_dir(above.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn who_stops_while_keys_are_written_waits_until_the_folder_is_complete() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("ca");
        let interruption = Interruption::default();
        let draft = Draft::new(&path, &interruption).unwrap();
        let stopping = interruption.clone();
        let mut stopper = None;
        let key = draft.path().join("root.key");
        let completed = draft.complete(&path, &interruption, || {
            fs::write(&key, "key").unwrap();
            assert!(interruption.0.try_lock().is_err(), "stopping has to wait");
            stopper = Some(std::thread::spawn(move || stopping.stop()));
            Ok(())
        });
        completed.unwrap();
        stopper.unwrap().join().unwrap();
        assert_eq!(fs::read(path.join("root.key")).unwrap(), b"key");
    }

    /// A folder with files, of which one may be in its ledger.
    #[cfg(unix)]
    fn make(folder: &Path, files: &[(&str, &[u8])]) {
        fs::create_dir(folder).unwrap();
        for (name, content) in files {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, content).unwrap();
        }
    }

    #[cfg(unix)]
    fn make_a_draft(above: &Path) {
        drop(Draft::new(&above.join("ca"), &Interruption::default()).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let above = tempfile::tempdir().unwrap();
        let draft = |digit: &str| above.path().join(PREFIX.to_owned() + &digit.repeat(32));
        let (key, mark) = (("root.key", &b"key"[..]), (MARKER, MARK));
        make(
            &draft("1"),
            &[
                mark,
                key,
                ("root.pem", b"certificate"),
                ("ledger/lock", b""),
            ],
        );
        make(&draft("2"), &[]);
        make(&draft("3"), &[(MARKER, &MARK[..9])]);
        make(&draft("c"), &[mark, ("ledger/journal", b"begun")]);
        // of a disk that was full
        make(
            &draft("d"),
            &[
                mark,
                ("ledger/journal", b"begun"),
                ("ledger/journal.unfinished-1", b"bytes"),
            ],
        );
        let stay = [
            ("4", &[mark, key][..]),
            ("5", &[key]),
            ("6", &[(MARKER, b"mine".as_slice()), key]),
            ("7", &[(MARKER, &MARK[..9]), key]),
            ("8", &[mark, key, ("thesis.txt", b"years of work")]),
            ("9", &[mark, key, ("ledger/notes.txt", b"more work")]),
            ("a", &[mark, key, ("ledger/journal", b"of a newer version")]),
        ];
        for (digit, files) in stay {
            make(&draft(digit), files);
        }
        let mut others = vec![
            above.path().join("ca.new-1"),
            above.path().join("ca.new-2026"),
        ];
        others.push(above.path().join(PREFIX.to_owned() + "1"));
        others.push(above.path().join(PREFIX.to_owned() + &"x".repeat(32)));
        for other in &others {
            make(other, &[mark, key]);
        }
        let elsewhere = tempfile::tempdir().unwrap();
        make(&elsewhere.path().join("of others"), &[mark, key]);
        std::os::unix::fs::symlink(elsewhere.path().join("of others"), draft("b")).unwrap();
        let in_the_making = try_lock(&draft("4")).unwrap();

        make_a_draft(above.path());
        for digit in ["1", "2", "3", "c", "d"] {
            assert!(!draft(digit).exists(), "{digit}");
        }
        for (digit, files) in stay {
            for (name, content) in files {
                assert_eq!(
                    fs::read(draft(digit).join(name)).unwrap(),
                    *content,
                    "{digit}"
                );
            }
        }
        for other in others.into_iter().chain([draft("b")]) {
            assert!(other.join("root.key").exists(), "{other:?}");
        }
        drop(in_the_making);
        make_a_draft(above.path());
        assert!(!draft("4").exists());
    }

    /// Other people's folders, as far as the administrator can make some.
    #[cfg(unix)]
    #[test]
    fn drafts_of_others_stay() {
        let above = tempfile::tempdir().unwrap();
        let draft = above.path().join(PREFIX.to_owned() + &"1".repeat(32));
        make(&draft, &[(MARKER, MARK)]);
        let is_given_away = std::os::unix::fs::chown(&draft, Some(65533), None).is_ok();
        make_a_draft(above.path());
        assert_eq!(draft.exists(), is_given_away);
    }

    #[test]
    fn what_is_not_of_a_draft_survives_its_end() {
        let above = tempfile::tempdir().unwrap();
        let draft = Draft::new(&above.path().join("ca"), &Interruption::default()).unwrap();
        let path = draft.path().to_owned();
        fs::write(path.join("mine"), "text").unwrap();
        drop(draft);
        assert!(path.join("mine").exists());
    }
}
