//! Whether what is in the file is what this process wrote. The lock keeps nobody from writing over it, as `cp` does.

use std::fs::File;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::redb::backends::FileBackend;
use ::redb::{DatabaseError, StorageBackend};
use pq_keys::random;

/// The size of the first page. redb's header is in its beginning; the rest is not used.
const PAGE: usize = 4096;

/// Where a mark is that no other process makes, as long as this one has the file.
const MARK: usize = PAGE - MARK_LEN;
const MARK_LEN: usize = 16;

/// A locked file, and what it has as long as nobody else writes to it: its length and its first page. Whoever writes
/// another one over it cuts it off, or begins with that page.
#[derive(Debug)]
pub(super) struct Watched<B = FileBackend> {
    file: B,
    written: Mutex<Written>,
}

#[derive(Debug)]
struct Written {
    first: [u8; PAGE],
    len: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Known,
    /// A write failed, after which redb does nothing more.
    Unknown,
    /// Somebody else wrote to it. It stays like this, as what redb has of it in memory is of no use.
    Replaced,
}

impl Watched {
    /// Locks the file.
    pub(super) fn lock(file: File) -> Result<Self, DatabaseError> {
        let watched = Self::new(FileBackend::new(file)?);
        watched.map_err(|error| DatabaseError::Storage(error.into()))
    }
}

impl<B: StorageBackend> Watched<B> {
    /// Takes what the file has for written by this process.
    fn new(file: B) -> io::Result<Self> {
        let len = file.len()?;
        let written = Written {
            first: first(&file, len)?,
            len,
            state: State::Known,
        };
        Ok(Self {
            file,
            written: Mutex::new(written),
        })
    }

    /// Marks the file, which has a first page, as this process's. Otherwise a file that is put there just between a check and
    /// a write of the header would go unnoticed.
    pub(super) fn mark(&self) -> io::Result<()> {
        let mut mark = [0; MARK_LEN];
        random::fill(&mut mark).map_err(io::Error::other)?;
        self.write(MARK as u64, &mark)
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        // Nothing panics between two changes that belong together.
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody else wrote over it.
    pub(super) fn is_replaced(&self) -> io::Result<bool> {
        let mut written = self.written();
        let is_in = written.is_in(&self.file);
        written.is_replaced(is_in)
    }

    /// What is known of the file, in which nobody else wrote until now.
    fn begun(&self) -> io::Result<MutexGuard<'_, Written>> {
        let mut written = self.written();
        let is_begun = written.is_begun(&self.file);
        written.check(is_begun)?;
        Ok(written)
    }

    pub(super) fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    /// Reads what this process wrote.
    pub(super) fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)?;
        self.begun().map(drop)
    }

    pub(super) fn set_len(&self, len: u64) -> io::Result<()> {
        let mut written = self.begun()?;
        let set = self.file.set_len(len);
        written.note(set, |written| {
            written.len = len;
            let left = usize::try_from(len).unwrap_or(PAGE).min(PAGE);
            written.first[left..].fill(0);
        })
    }

    /// Returns if it is on the disk, and nobody else wrote to it before.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()?;
        let mut written = self.written();
        let is_in = written.is_in(&self.file);
        written.check(is_in)
    }

    pub(super) fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut written = self.begun()?;
        let done = self.file.write(offset, data);
        written.note(done, |written| {
            written.len = written.len.max(offset + data.len() as u64);
            let first = usize::try_from(offset).ok();
            if let Some(first) = first.and_then(|offset| written.first.get_mut(offset..)) {
                let len = first.len().min(data.len());
                first[..len].copy_from_slice(&data[..len]);
            }
        })
    }

    pub(super) fn close(&self) -> io::Result<()> {
        self.file.close()
    }
}

impl Written {
    /// Whether the file begins as it should. Where it was cut off to be written anew, it doesn't.
    fn is_begun(&self, file: &impl StorageBackend) -> io::Result<bool> {
        Ok(first(file, self.len)? == self.first)
    }

    fn is_in(&self, file: &impl StorageBackend) -> io::Result<bool> {
        Ok(file.len()? == self.len && self.is_begun(file)?)
    }

    /// Whether somebody else wrote to the file, by what was seen of it now.
    fn is_replaced(&mut self, is_in: io::Result<bool>) -> io::Result<bool> {
        let is_replaced = match self.state {
            State::Known => match is_in {
                Ok(is_in) => !is_in,
                // It was cut off.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => true,
                Err(error) => return Err(error),
            },
            state => state == State::Replaced,
        };
        if is_replaced {
            self.state = State::Replaced;
        }
        Ok(is_replaced)
    }

    fn check(&mut self, is_in: io::Result<bool>) -> io::Result<()> {
        match self.is_replaced(is_in)? {
            false => Ok(()),
            true => Err(io::Error::other("another program wrote over it")),
        }
    }

    fn note(&mut self, done: io::Result<()>, change: impl FnOnce(&mut Self)) -> io::Result<()> {
        match done {
            Ok(()) => change(self),
            Err(_) => self.state = State::Unknown,
        }
        done
    }
}

/// The first page of a file of this length, with zeros after its end.
fn first(file: &impl StorageBackend, len: u64) -> io::Result<[u8; PAGE]> {
    let mut page = [0; PAGE];
    let there = usize::try_from(len).unwrap_or(PAGE).min(PAGE);
    file.read(0, &mut page[..there])?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;
    use std::fs;
    use std::path::{Path, PathBuf};

    use tempfile::TempDir;

    use super::*;

    const LEN: usize = 3 * PAGE;
    /// What an error says if another program wrote to the file.
    const REPLACED: &str = "another program wrote over it";

    /// A disk on which something goes wrong, or happens meanwhile.
    #[derive(Debug)]
    struct Disk {
        file: FileBackend,
        path: PathBuf,
        next: Arc<Mutex<Next>>,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Next {
        Works,
        /// It writes half of what it is given, and then refuses.
        IsFull,
        /// It can't be read.
        IsBroken,
        /// Another file is written over this one, when something after the first page is read, or when it is synchronised.
        IsWrittenOver,
    }

    impl Disk {
        fn act(&self, is_first_page: bool) -> io::Result<()> {
            match *self.next.lock().unwrap() {
                Next::IsBroken => Err(io::Error::other("no such sector")),
                Next::IsWrittenOver if !is_first_page => fs::write(&self.path, vec![b'o'; LEN]),
                Next::IsWrittenOver | Next::Works | Next::IsFull => Ok(()),
            }
        }
    }

    impl StorageBackend for Disk {
        fn len(&self) -> io::Result<u64> {
            self.file.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.act(offset == 0)?;
            self.file.read(offset, out)
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            match *self.next.lock().unwrap() {
                Next::IsFull => Err(io::ErrorKind::StorageFull.into()),
                _ => self.file.set_len(len),
            }
        }

        fn sync_data(&self) -> io::Result<()> {
            self.act(false)?;
            self.file.sync_data()
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            match *self.next.lock().unwrap() {
                Next::IsFull => {
                    self.file.write(offset, &data[..data.len() / 2])?;
                    Err(io::ErrorKind::StorageFull.into())
                }
                _ => self.file.write(offset, data),
            }
        }
    }

    /// What is done with a watched file.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Step {
        Read,
        Write,
        Lengthen,
        Shorten,
        Sync,
    }

    const STEPS: [Step; 5] = [
        Step::Read,
        Step::Write,
        Step::Lengthen,
        Step::Shorten,
        Step::Sync,
    ];

    fn take<B: StorageBackend>(watched: &Watched<B>, step: Step) -> io::Result<()> {
        match step {
            Step::Read => watched.read(PAGE as u64, &mut [0; 64]),
            Step::Write => watched.write(PAGE as u64, &[b'w'; PAGE]),
            Step::Lengthen => watched.set_len(2 * LEN as u64),
            Step::Shorten => watched.set_len(2 * PAGE as u64),
            Step::Sync => watched.sync(),
        }
    }

    fn check_refused<B: StorageBackend>(watched: &Watched<B>, step: Step, why: &str) {
        let refused = take(watched, step).unwrap_err();
        assert_eq!(refused.to_string(), REPLACED, "{step:?}: {why}");
    }

    fn folder_with_file() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, vec![b'f'; LEN]).unwrap();
        (folder, path)
    }

    fn open(path: &Path) -> File {
        let mut options = File::options();
        options.read(true).write(true).open(path).unwrap()
    }

    fn watched() -> (TempDir, PathBuf, Watched) {
        let (folder, path) = folder_with_file();
        let watched = Watched::lock(open(&path)).unwrap();
        watched.mark().unwrap();
        (folder, path, watched)
    }

    fn on_disk() -> (TempDir, PathBuf, Watched<Disk>, Arc<Mutex<Next>>) {
        let (folder, path) = folder_with_file();
        let next = Arc::new(Mutex::new(Next::Works));
        let disk = Disk {
            file: FileBackend::new(open(&path)).unwrap(),
            path: path.clone(),
            next: Arc::clone(&next),
        };
        let watched = Watched::new(disk).unwrap();
        watched.mark().unwrap();
        (folder, path, watched, next)
    }

    fn changed(own: &[u8], at: usize) -> Vec<u8> {
        let mut bytes = own.to_vec();
        bytes[at] ^= 1;
        bytes
    }

    /// What another program makes of the file's bytes, and what that is called. Its first page is another one then.
    type Other = (&'static str, fn(&[u8]) -> Vec<u8>);

    const OTHERS: [Other; 9] = [
        ("cut to nothing", |_| Vec::new()),
        ("cut to a byte", |own| own[..1].to_vec()),
        ("cut within its first page", |own| own[..PAGE - 1].to_vec()),
        ("another one, as long", |_| vec![b'o'; LEN]),
        ("another one, shorter", |_| vec![b'o'; PAGE + 1]),
        ("another one, longer", |_| vec![b'o'; LEN + PAGE]),
        ("another first byte", |own| changed(own, 0)),
        ("another last byte of the first page", |own| {
            changed(own, PAGE - 1)
        }),
        ("another mark", |own| changed(own, MARK)),
    ];

    #[test]
    fn nothing_is_done_with_a_file_that_was_written_over() {
        for step in STEPS {
            for (why, other) in OTHERS {
                let (_folder, path, watched) = watched();
                let own = fs::read(&path).unwrap();
                let other = other(&own);
                fs::write(&path, &other).unwrap();
                // Some of what is to be read may not be there any more.
                assert!(take(&watched, step).is_err(), "{step:?}: {why}");
                check_refused(&watched, Step::Write, why);
                assert!(fs::read(&path).unwrap() == other, "{step:?}: {why}");
                // What redb has in memory is of no use, also if the file looks as before again.
                fs::write(&path, &own).unwrap();
                assert!(watched.is_replaced().unwrap(), "{step:?}: {why}");
                for step in STEPS {
                    check_refused(&watched, step, why);
                }
                assert!(fs::read(&path).unwrap() == own, "{step:?}: {why}");
            }
        }
    }

    /// It is the first step that says so, but for a read of what is not there.
    #[test]
    fn a_step_says_that_the_file_was_written_over() {
        for step in STEPS {
            for (why, other) in OTHERS {
                let (_folder, path, watched) = watched();
                let other = other(&fs::read(&path).unwrap());
                fs::write(&path, &other).unwrap();
                match step == Step::Read && other.len() < PAGE + 64 {
                    true => {
                        let cut = take(&watched, step).unwrap_err();
                        assert_eq!(cut.kind(), io::ErrorKind::UnexpectedEof, "{why}");
                    }
                    false => check_refused(&watched, step, why),
                }
            }
        }
    }

    #[test]
    fn that_a_file_was_written_over_is_seen_without_using_it() {
        let cut: Other = ("cut after its first page", |own| own[..PAGE].to_vec());
        for (why, other) in OTHERS.into_iter().chain([cut]) {
            let (_folder, path, watched) = watched();
            let own = fs::read(&path).unwrap();
            assert!(!watched.is_replaced().unwrap());
            fs::write(&path, other(&own)).unwrap();
            assert!(watched.is_replaced().unwrap(), "{why}");
            fs::write(&path, &own).unwrap();
            assert!(watched.is_replaced().unwrap(), "{why}");
            check_refused(&watched, Step::Write, why);
        }
    }

    /// The first page is as it was, and the length isn't.
    #[test]
    fn a_change_is_not_acknowledged_in_a_file_of_another_length() {
        for len in [PAGE, PAGE + 1, LEN - 1, LEN + 1, 2 * LEN] {
            for is_asked in [false, true] {
                let (_folder, path, watched) = watched();
                watched.write(PAGE as u64, b"ours").unwrap();
                open(&path).set_len(len as u64).unwrap();
                if is_asked {
                    assert!(watched.is_replaced().unwrap(), "{len}");
                }
                check_refused(&watched, Step::Sync, "another length");
                open(&path).set_len(LEN as u64).unwrap();
                check_refused(&watched, Step::Sync, "the same length again");
                check_refused(&watched, Step::Write, "the same length again");
            }
        }
    }

    #[test]
    fn what_this_process_writes_is_its_own() {
        let (_folder, path, watched) = watched();
        let mut expected = fs::read(&path).unwrap();
        let check = |expected: &[u8]| {
            assert!(fs::read(&path).unwrap() == expected);
            assert!(!watched.is_replaced().unwrap(), "{}", expected.len());
            watched.sync().unwrap();
            assert_eq!(watched.len().unwrap(), expected.len() as u64);
            let mut all = vec![0; expected.len()];
            watched.read(0, &mut all).unwrap();
            assert!(all == expected);
        };
        check(&expected);
        for (offset, len) in [
            (0, 1),
            (0, PAGE),
            (PAGE - 1, 1),
            (PAGE - 1, 2),
            (PAGE, 1),
            (10, LEN - 10),
            (7, 0),
            // It gets longer.
            (LEN - 1, 2),
            (LEN + 1, PAGE),
            (0, LEN + 2 * PAGE),
            (PAGE, 3),
        ] {
            watched.write(offset as u64, &vec![b'x'; len]).unwrap();
            expected.resize(expected.len().max(offset + len), 0);
            expected[offset..offset + len].fill(b'x');
            check(&expected);
        }
        for len in [LEN, LEN + 1, PAGE, PAGE - 1, PAGE, 5, LEN, 0, 1, LEN] {
            watched.set_len(len as u64).unwrap();
            expected.resize(len, 0);
            check(&expected);
            let last = len.saturating_sub(1);
            watched.write(last as u64, b"y").unwrap();
            expected.resize(len.max(1), 0);
            expected[last] = b'y';
            check(&expected);
        }
    }

    #[test]
    fn two_marks_differ() {
        let mark = |path: &Path| fs::read(path).unwrap()[MARK..PAGE].to_vec();
        let (_folder, path, watched) = watched();
        let before = mark(&path);
        watched.mark().unwrap();
        assert_ne!(mark(&path), before);
        assert!(!watched.is_replaced().unwrap());
    }

    #[test]
    fn what_is_written_over_meanwhile_is_not_read_and_not_acknowledged() {
        for step in [Step::Read, Step::Sync] {
            let (_folder, _, watched, next) = on_disk();
            take(&watched, step).unwrap();
            *next.lock().unwrap() = Next::IsWrittenOver;
            check_refused(&watched, step, "meanwhile");
            *next.lock().unwrap() = Next::Works;
            check_refused(&watched, step, "before");
        }
    }

    /// What the file has then is not what redb asked for, and nobody else's.
    #[test]
    fn a_full_disk_is_no_other_program() {
        for (offset, len) in [(0, PAGE), (PAGE, PAGE), (LEN, 100)] {
            let (_folder, _, watched, next) = on_disk();
            *next.lock().unwrap() = Next::IsFull;
            let refused = watched.write(offset as u64, &vec![b'x'; len]).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
            *next.lock().unwrap() = Next::Works;
            assert!(!watched.is_replaced().unwrap(), "{offset}");
            for step in STEPS {
                take(&watched, step).unwrap();
            }
        }
        let (_folder, path, watched, next) = on_disk();
        *next.lock().unwrap() = Next::IsFull;
        let refused = take(&watched, Step::Lengthen).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
        // as if the disk had got some of it
        open(&path).set_len(LEN as u64 + 1).unwrap();
        assert!(!watched.is_replaced().unwrap());
    }

    /// That it was written over before stays known.
    #[test]
    fn a_full_disk_makes_no_other_file_the_own() {
        let (_folder, path, watched, next) = on_disk();
        fs::write(&path, vec![b'o'; LEN]).unwrap();
        check_refused(&watched, Step::Write, "before");
        *next.lock().unwrap() = Next::IsFull;
        for step in STEPS {
            check_refused(&watched, step, "full");
        }
        assert!(watched.is_replaced().unwrap());
        assert!(fs::read(&path).unwrap() == vec![b'o'; LEN]);
    }

    #[test]
    fn a_disk_that_cannot_be_read_is_no_other_program() {
        let (_folder, path, watched, next) = on_disk();
        *next.lock().unwrap() = Next::IsBroken;
        let sector = |error: io::Error| assert_eq!(error.to_string(), "no such sector");
        sector(watched.is_replaced().unwrap_err());
        for step in STEPS {
            sector(take(&watched, step).unwrap_err());
        }
        *next.lock().unwrap() = Next::Works;
        assert!(!watched.is_replaced().unwrap());
        for step in STEPS {
            take(&watched, step).unwrap();
        }
        drop(watched);
        *next.lock().unwrap() = Next::IsBroken;
        let disk = Disk {
            file: FileBackend::new(File::open(&path).unwrap()).unwrap(),
            path,
            next,
        };
        sector(Watched::new(disk).unwrap_err());
    }
}
