//! The files of a ledger, and how they get onto the disk. Tests use a disk of their own, which forgets what was not
//! synced.

use core::fmt::Debug;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::owner::{Fault, Owner, Reader};
use crate::ledger::error::LedgerError;

/// What a process may do with a ledger.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Access {
    Read,
    Change,
}

/// An open file. What was written is on the disk only after `sync`.
pub(super) trait Medium: Debug + Send + Sync {
    fn length(&self) -> io::Result<u64>;
    fn set_length(&self, length: u64) -> io::Result<()>;
    fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;
    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    fn sync(&self) -> io::Result<()>;
    /// Whether it is the file with this name, and not one that had the name when it was opened.
    fn is_at(&self, path: &Path) -> io::Result<bool>;
}

/// Where the files are. A name is on the disk only after its folder was synced.
pub(super) trait Disk: Debug + Send + Sync {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn Medium>>;
    /// An empty file, in place of any that has this name.
    fn create(&self, path: &Path) -> io::Result<Box<dyn Medium>>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// The disk of this machine.
#[derive(Debug)]
pub(super) struct OfMachine;

impl Disk for OfMachine {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn Medium>> {
        let mut options = fs::File::options();
        let options = options.read(true).write(access == Access::Change);
        let file = open_own(options, path, access)?;
        Ok(Box::new(Opened(Mutex::new(file))))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn Medium>> {
        Ok(Box::new(Opened(Mutex::new(create_anew(path)?))))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    #[cfg(unix)]
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        fs::File::open(path)?.sync_all()
    }

    /// On other systems a folder can't be opened as a file, and the file system takes care of the names.
    #[cfg(not(unix))]
    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
struct Opened(Mutex<fs::File>);

impl Opened {
    fn file(&self) -> MutexGuard<'_, fs::File> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Medium for Opened {
    fn length(&self) -> io::Result<u64> {
        Ok(self.file().metadata()?.len())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.file().set_len(length)
    }

    fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut file = self.file();
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(bytes)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.file();
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.file().sync_data()
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        is_at(&self.file(), path)
    }
}

/// Whether an open file is the one with this name.
#[cfg(unix)]
pub(crate) fn is_at(file: &fs::File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let named = match fs::metadata(path) {
        Ok(named) => named,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(cause) => return Err(cause),
    };
    let opened = file.metadata()?;
    Ok((opened.dev(), opened.ino()) == (named.dev(), named.ino()))
}

/// On other systems files have no numbers, and Windows keeps a file that is open from being replaced.
#[cfg(not(unix))]
pub(crate) fn is_at(_: &fs::File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Reads some bytes of a file from front to back.
pub(super) struct Part<'a> {
    medium: &'a dyn Medium,
    offset: u64,
    left: u64,
}

impl<'a> Part<'a> {
    pub(super) fn new(medium: &'a dyn Medium, offset: u64, length: u64) -> Self {
        Self {
            medium,
            offset,
            left: length,
        }
    }
}

impl Read for Part<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let length = usize::try_from(self.left).map_or(bytes.len(), |left| left.min(bytes.len()));
        self.medium.read(self.offset, &mut bytes[..length])?;
        self.offset += length as u64;
        self.left -= length as u64;
        Ok(length)
    }
}

/// For `map_err`: an error that says what failed, and with which file.
pub(super) fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LedgerError {
    move |cause| {
        let otherwise = |cause| LedgerError::Io {
            doing,
            path: path.into(),
            cause,
        };
        // What `open_own` says says more.
        cause.downcast().unwrap_or_else(otherwise)
    }
}

/// Opens a file of a ledger, if nobody else can have written it. Otherwise the cause of the error is a
/// [`LedgerError`]. What was opened is what is checked, even if the name is another file's by now.
pub(super) fn open_own(
    options: &fs::OpenOptions,
    path: &Path,
    access: Access,
) -> io::Result<fs::File> {
    let file = options.open(path)?;
    let folder = fs::metadata(folder_of(path))?;
    let reader = match access {
        Access::Read => Reader::Anybody,
        Access::Change => Reader::Owner,
    };
    match Owner::of(&folder).check(&file.metadata()?, reader) {
        Ok(()) => Ok(file),
        Err(Fault::Writable) => Err(io::Error::other(LedgerError::Writable(path.into()))),
        Err(Fault::OtherOwner) => Err(io::Error::other(LedgerError::OtherOwner(path.into()))),
    }
}

/// For files that are made: nobody else may write to them, whatever the umask. Others may read them, if the umask lets
/// them: they answer for the CA.
pub(super) fn new_file() -> fs::OpenOptions {
    let mut options = fs::File::options();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
    options
}

/// An empty file in place of any that has this name. What had the name is not written to: it may be another user's.
pub(super) fn create_anew(path: &Path) -> io::Result<fs::File> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => new_file().create_new(true).open(path),
    }
}

/// Writes a new file. It is on the disk when this returns. Before that, there is no file at `path`.
pub(super) fn create_whole(
    disk: &dyn Disk,
    path: &Path,
    contents: &[u8],
) -> Result<(), LedgerError> {
    let draft = path.with_extension("new");
    disk.create(&draft)
        .and_then(|file| {
            file.write(0, contents)?;
            file.sync()
        })
        .map_err(io_error("write", &draft))?;
    put_in_place(disk, &draft, path)
}

/// A new file with these contents, which has this name and the first number that is free. It is on the disk when this
/// returns. If the contents can't be written, there is no file.
pub(super) fn create_numbered(path: &Path, mut contents: impl Read) -> io::Result<()> {
    let mut number = 1_u64;
    loop {
        let mut name = path.as_os_str().to_os_string();
        name.push(format!("-{number}"));
        let mut file = match new_file().create_new(true).open(&name) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                number += 1;
                continue;
            }
            created => created?,
        };
        let written = io::copy(&mut contents, &mut file)
            .and_then(|_| file.sync_data())
            .and_then(|()| OfMachine.sync_folder(folder_of(path)));
        return written.or_else(|cause| fs::remove_file(&name).and(Err(cause)));
    }
}

/// Renames a draft that is on the disk to its final name.
pub(super) fn put_in_place(disk: &dyn Disk, draft: &Path, path: &Path) -> Result<(), LedgerError> {
    disk.rename(draft, path).map_err(io_error("create", path))?;
    let folder = folder_of(path);
    disk.sync_folder(folder).map_err(io_error("sync", folder))
}

/// Makes a folder and those above it. Their names are on the disk when this returns.
pub(super) fn create_folder(disk: &dyn Disk, path: &Path) -> Result<(), LedgerError> {
    let missing = path.ancestors().take_while(|folder| !folder.exists());
    let missing: Vec<&Path> = missing.filter(|folder| *folder != Path::new("")).collect();
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o755);
    let created = builder.recursive(true).create(path);
    created.map_err(io_error("create", path))?;
    for folder in missing {
        let above = folder_of(folder);
        disk.sync_folder(above).map_err(io_error("sync", above))?;
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."))
}
