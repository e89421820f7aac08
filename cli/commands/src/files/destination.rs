use core::fmt;
use std::ffi::OsString;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, IsTerminal, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use tempfile::NamedTempFile;

/// A file to write, or standard output, which is written `-`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Destination {
    StandardOutput,
    File(PathBuf),
}

impl From<OsString> for Destination {
    fn from(argument: OsString) -> Self {
        match argument == "-" {
            true => Self::StandardOutput,
            false => Self::File(argument.into()),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StandardOutput => f.write_str("standard output"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// Who may read a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Access {
    /// Nobody but its owner, from its first byte on.
    Private,
    /// Everybody whom the umask allows.
    Public,
}

/// Something to write, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output<'a> {
    pub(crate) to: &'a Destination,
    pub(crate) content: &'a [u8],
    pub(crate) access: Access,
    /// Not for terminals.
    pub(crate) is_binary: bool,
}

/// Refuses early what [`write()`] would refuse later: the content may take long to make. Returns the file that
/// will be there, if there will be one.
pub(crate) fn check(
    destination: &Destination,
    force: bool,
) -> Result<Option<PathBuf>, OutputError> {
    check_in(destination, force, &mut Folders::default())
}

/// The same for many.
pub(crate) fn check_all<'a>(
    destinations: impl IntoIterator<Item = &'a Destination>,
    force: bool,
) -> Result<(), OutputError> {
    let mut folders = Folders::default();
    let mut destinations = destinations.into_iter();
    destinations.try_for_each(|to| check_in(to, force, &mut folders).map(drop))
}

fn check_in(
    destination: &Destination,
    force: bool,
    folders: &mut Folders,
) -> Result<Option<PathBuf>, OutputError> {
    match destination {
        Destination::StandardOutput => Ok(None),
        Destination::File(path) => Ok(match Place::of(path, force, folders)? {
            Place::Free(path) | Place::Taken(path) => Some(path),
            Place::Special(_) => None,
        }),
    }
}

/// Refuses bytes on a terminal, which would take them for commands.
pub(crate) fn check_binary(destination: &Destination) -> Result<(), OutputError> {
    match destination {
        Destination::StandardOutput if io::stdout().is_terminal() => {
            Err(OutputError::BinaryOnTerminal)
        }
        _ => Ok(()),
    }
}

/// Writes all of these or none, and returns the files that were not there before. A file appears under
/// its name when its content is complete; one that exists is replaced only if forced to. Devices and
/// pipes are written to as they are.
pub(crate) fn write(outputs: &[Output<'_>], force: bool) -> Result<Vec<PathBuf>, OutputError> {
    write_and(sync, outputs, force)
}

/// Does the same with copies of what is safe elsewhere. It does not wait until the disk has new files: after a
/// loss of power they may be empty, and can be made again. It does wait for files that replace others.
pub(crate) fn write_copies(
    outputs: &[Output<'_>],
    force: bool,
) -> Result<Vec<PathBuf>, OutputError> {
    let sync_replacing = |staged: &[Staged<'_>]| {
        let mut replacing = staged.iter().filter(|one| !one.is_new());
        replacing.try_for_each(Staged::sync)
    };
    write_and(sync_replacing, outputs, force)
}

/// Writes all of these or none, and calls `sync` before they get their names.
fn write_and(
    sync: impl FnOnce(&[Staged<'_>]) -> Result<(), OutputError>,
    outputs: &[Output<'_>],
    force: bool,
) -> Result<Vec<PathBuf>, OutputError> {
    let mut folders = Folders::default();
    let staged = outputs.iter();
    let staged = staged.map(|output| Staged::new(output, force, &mut folders));
    let staged = staged.collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<&Path> = staged.iter().filter_map(Staged::path).collect();
    paths.sort_unstable_by_key(|path| path.as_os_str());
    if let Some(twice) = paths.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(OutputError::Twice(twice[0].display().to_string()));
    }
    sync(&staged)?;
    let mut made: Vec<PathBuf> = Vec::new();
    for file in staged {
        match file.commit(force) {
            Ok(new) => made.extend(new),
            Err(error) => {
                remove(made);
                return Err(error);
            }
        }
    }
    Ok(made)
}

/// Removes files that [`write()`] made, after a later step failed. Users are told the error of that step, even if
/// removing fails.
pub(crate) fn remove(made: Vec<PathBuf>) {
    for path in made {
        let _ = fs::remove_file(path);
    }
}

/// What is at a path before something is written there.
enum Place {
    /// Nothing.
    Free(PathBuf),
    /// A file that may be replaced; if the path was a link, the file that it leads to.
    Taken(PathBuf),
    /// A device or a pipe.
    Special(PathBuf),
}

impl Place {
    fn of(path: &Path, force: bool, folders: &mut Folders) -> Result<Self, OutputError> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Self::free(path, folders);
            }
            Err(error) => return Err(OutputError::at(path, error)),
        };
        let name = || path.display().to_string();
        if metadata.is_dir() {
            Err(OutputError::Directory(name()))
        } else if !metadata.is_file() {
            Ok(Self::Special(path.into()))
        } else if !force {
            Err(OutputError::Exists(name()))
        } else {
            let path = fs::canonicalize(path).map_err(|error| OutputError::at(path, error))?;
            Ok(Self::Taken(path))
        }
    }

    fn free(path: &Path, folders: &mut Folders) -> Result<Self, OutputError> {
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let folder = folders.real(folder);
        let folder = folder.map_err(|error| OutputError::at(path, error))?;
        match path.file_name() {
            Some(name) => Ok(Self::Free(folder.join(name))),
            None => Err(OutputError::Directory(path.display().to_string())),
        }
    }
}

/// Paths of folders with links resolved. Files that are written together are mostly in one folder, for which
/// the file system is asked once.
#[derive(Default)]
pub(super) struct Folders {
    last: Option<(PathBuf, PathBuf)>,
}

impl Folders {
    fn real(&mut self, folder: &Path) -> io::Result<&Path> {
        let is_last = |(last, _): &(PathBuf, PathBuf)| last.as_os_str() == folder.as_os_str();
        let last = match self.last.take().filter(is_last) {
            Some(last) => last,
            None => (folder.into(), fs::canonicalize(folder)?),
        };
        Ok(&self.last.insert(last).1)
    }
}

/// An output that is written except for its last step.
pub(super) enum Staged<'a> {
    StandardOutput(&'a [u8]),
    Special(PathBuf, &'a [u8]),
    File {
        file: NamedTempFile,
        path: PathBuf,
        is_new: bool,
    },
}

impl<'a> Staged<'a> {
    pub(super) fn new(
        output: &Output<'a>,
        force: bool,
        folders: &mut Folders,
    ) -> Result<Self, OutputError> {
        if output.is_binary {
            check_binary(output.to)?;
        }
        let path = match output.to {
            Destination::StandardOutput => return Ok(Self::StandardOutput(output.content)),
            Destination::File(path) => path,
        };
        let (path, is_new) = match Place::of(path, force, folders)? {
            Place::Special(path) => return Ok(Self::Special(path, output.content)),
            Place::Free(path) => (path, true),
            Place::Taken(path) => (path, false),
        };
        match temporary(&path, output) {
            Ok(file) => Ok(Self::File { file, path, is_new }),
            Err(error) => Err(OutputError::at(&path, error)),
        }
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } => Some(path),
            Self::StandardOutput(_) | Self::Special(..) => None,
        }
    }

    pub(super) fn is_new(&self) -> bool {
        matches!(self, Self::File { is_new: true, .. })
    }

    pub(super) fn sync(&self) -> Result<(), OutputError> {
        match self {
            Self::File { file, path, .. } => {
                let synced = file.as_file().sync_all();
                synced.map_err(|error| OutputError::at(path, error))
            }
            Self::StandardOutput(_) | Self::Special(..) => Ok(()),
        }
    }

    /// The path of the file, if there was none before.
    pub(super) fn commit(self, force: bool) -> Result<Option<PathBuf>, OutputError> {
        match self {
            Self::StandardOutput(content) => {
                let mut out = io::stdout().lock();
                let written = out.write_all(content).and_then(|()| out.flush());
                written
                    .map(|()| None)
                    .map_err(|error| OutputError::StandardOutput { error })
            }
            Self::Special(path, content) => {
                let opened = OpenOptions::new().write(true).open(&path);
                let written = opened.and_then(|mut file| file.write_all(content));
                written
                    .map(|()| None)
                    .map_err(|error| OutputError::at(&path, error))
            }
            Self::File { file, path, is_new } => {
                let persisted = match force {
                    true => file.persist(&path),
                    false => file.persist_noclobber(&path),
                };
                match persisted {
                    Ok(_) => Ok(is_new.then_some(path)),
                    Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                        Err(OutputError::Exists(path.display().to_string()))
                    }
                    Err(error) => Err(OutputError::at(&path, error.error)),
                }
            }
        }
    }
}

/// Writes the content to a file beside the path, which is removed unless it gets its name.
fn temporary(path: &Path, output: &Output<'_>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".pqtls-");
    if let Some(permissions) = permissions(output.access) {
        builder.permissions(permissions);
    }
    let mut file = builder.tempfile_in(path.parent().unwrap_or_else(|| Path::new(".")))?;
    file.write_all(output.content)?;
    Ok(file)
}

/// Waits until the disk has all files. Otherwise a file could replace another one and be empty after a loss of
/// power.
///
/// Files that wait one after the other would each wait for the disk. For files that wait at the same time, a
/// file system does this once.
fn sync(staged: &[Staged<'_>]) -> Result<(), OutputError> {
    const AT_ONCE: usize = 16;
    if let [one] = staged {
        return one.sync();
    }
    let sync_each = |some: &[Staged<'_>]| some.iter().try_for_each(Staged::sync);
    thread::scope(|scope| {
        let share = staged.len().div_ceil(AT_ONCE).max(1);
        let mut threads = Vec::new();
        for some in staged.chunks(share) {
            let thread = thread::Builder::new().spawn_scoped(scope, move || sync_each(some));
            match thread {
                Ok(thread) => threads.push(thread),
                // Without a thread, it takes longer.
                Err(_) => sync_each(some)?,
            }
        }
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

#[cfg(unix)]
fn permissions(access: Access) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(match access {
        Access::Private => 0o600,
        Access::Public => 0o666,
    }))
}

/// On other systems, the folder says who may read what is in it.
#[cfg(not(unix))]
fn permissions(_: Access) -> Option<Permissions> {
    None
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutputError {
    #[error("{0} exists; choose another name, or replace it with --force")]
    Exists(String),
    #[error("{0} is a folder; name a file in it")]
    Directory(String),
    #[error("{0} can't be two files at once; give them different names")]
    Twice(String),
    #[error("can't write {file}: {error}; {}", advice(.error))]
    Write { file: String, error: io::Error },
    #[error("can't write to standard output: {error}; {}", advice(.error))]
    StandardOutput { error: io::Error },
    #[error("bytes are not for a terminal; write them to a file or a pipe, or ask for text")]
    BinaryOnTerminal,
}

impl OutputError {
    pub(super) fn at(path: &Path, error: io::Error) -> Self {
        Self::Write {
            file: path.display().to_string(),
            error,
        }
    }
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "make its folder first",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a folder that you may write to"
        }
        io::ErrorKind::StorageFull => "make room, or write it elsewhere",
        _ => "write it elsewhere",
    }
}
