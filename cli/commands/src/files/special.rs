//! Devices, pipes and links to write through: only where nobody else can have put them.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;

use super::error::OutputError;
use super::source::Source;

/// Refuses a device, a pipe or a link that another user may have put in place of the file that is to be written: a
/// private key would go to that user. Files are no danger, since they are replaced and never written into.
pub(super) fn refuse_others(path: &Path) -> Result<(), OutputError> {
    match may_be_of_others(path) {
        Ok(false) => Ok(()),
        Ok(true) => Err(OutputError::OfOthers(path.display().to_string())),
        Err(error) => Err(OutputError::at(path, error)),
    }
}

/// Opens a device or a pipe for writing, if it is still the one that was there before, and nobody else's.
pub(super) fn open(path: &Path) -> Result<File, OutputError> {
    let at = |error| OutputError::at(path, error);
    refuse_others(path)?;
    let before = fs::metadata(path).map_err(at)?;
    // Opening a pipe waits for its reader, but gives that reader nothing.
    let file = OpenOptions::new().write(true).open(path).map_err(at)?;
    let opened = file.metadata().map_err(at)?;
    match is_same(&before, &opened) && !opened.is_file() {
        true => Ok(file),
        false => Err(OutputError::OfOthers(path.display().to_string())),
    }
}

/// Which file something is, no device, whatever its names.
#[cfg(unix)]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Identity {
    device: u64,
    number: u64,
}

#[cfg(unix)]
impl Identity {
    /// Of the file that a path leads to.
    pub(super) fn of(path: &Path) -> Option<Self> {
        Self::of_file(&fs::metadata(path).ok()?)
    }

    pub(super) fn of_source(source: &Source) -> Option<Self> {
        match source {
            Source::File(path) => Self::of(path),
            Source::StandardInput => Self::of_stream(&std::io::stdin()),
        }
    }

    /// Unless what is written is appended, which takes no place.
    pub(super) fn of_standard_output() -> Option<Self> {
        let out = std::io::stdout();
        let appends = rustix::fs::fcntl_getfl(&out)
            .is_ok_and(|flags| flags.contains(rustix::fs::OFlags::APPEND));
        if appends { None } else { Self::of_stream(&out) }
    }

    fn of_stream(stream: &impl std::os::fd::AsFd) -> Option<Self> {
        let stream = stream.as_fd().try_clone_to_owned().ok()?;
        Self::of_file(&File::from(stream).metadata().ok()?)
    }

    fn of_file(metadata: &fs::Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;

        metadata.is_file().then(|| Self {
            device: metadata.dev(),
            number: metadata.ino(),
        })
    }
}

/// On other systems by its name.
#[cfg(not(unix))]
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Identity(std::path::PathBuf);

#[cfg(not(unix))]
impl Identity {
    pub(super) fn of(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok().filter(|path| path.is_file());
        path.map(Self)
    }

    pub(super) fn of_source(source: &Source) -> Option<Self> {
        match source {
            Source::File(path) => Self::of(path),
            Source::StandardInput => None,
        }
    }

    pub(super) fn of_standard_output() -> Option<Self> {
        None
    }
}

/// Refuses a folder that this user can't make files in, if the system says so: some can't be asked, such as those that permit
/// few calls.
#[cfg(unix)]
pub(super) fn check_writable(folder: &Path) -> std::io::Result<()> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    use rustix::io::Errno;

    let access = Access::WRITE_OK | Access::EXEC_OK;
    match accessat(CWD, folder, access, AtFlags::EACCESS) {
        Err(error @ (Errno::ACCESS | Errno::ROFS)) => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
pub(super) fn check_writable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
}

/// Follows links as the operating system does, and looks at each step who can have made it.
#[cfg(unix)]
fn may_be_of_others(path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let user = rustix::process::geteuid().as_raw();
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            // Nothing is there; or it is a link of the kernel, to an open file without a name.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        if metadata.is_file() || metadata.is_dir() {
            return Ok(false);
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => ".".into(),
        };
        let around = fs::metadata(&folder)?;
        if is_open(around.mode(), around.uid(), user) && !is_own(&metadata, user) {
            return Ok(true);
        }
        if !metadata.is_symlink() {
            return Ok(false);
        }
        path = folder.join(fs::read_link(&path)?);
    }
    Ok(true)
}

/// On other systems the folder says who may make something in it.
#[cfg(not(unix))]
fn may_be_of_others(_: &Path) -> std::io::Result<bool> {
    Ok(false)
}

/// As many links as Linux follows.
#[cfg(unix)]
const LINKS: usize = 40;

/// Whether others than this user and the system's administrator can make something in a folder, sticky or not.
#[cfg(unix)]
fn is_open(mode: u32, owner: u32, user: u32) -> bool {
    mode & 0o022 != 0 || ![0, user].contains(&owner)
}

/// Whether something in an open folder was made there by this user or the administrator. A second name can be anybody's
/// work.
#[cfg(unix)]
fn is_own(metadata: &fs::Metadata, user: u32) -> bool {
    use std::os::unix::fs::MetadataExt;

    [0, user].contains(&metadata.uid()) && metadata.nlink() == 1
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_open_to_its_owner_its_group_and_whom_its_mode_lets_in() {
        const ALICE: u32 = 1000;
        for (mode, owner, open) in [
            (0o755, ALICE, false),
            (0o700, ALICE, false),
            (0o755, 0, false),
            (0o1777, 0, true),
            (0o1777, ALICE, true),
            (0o775, ALICE, true),
            (0o755, 1001, true),
        ] {
            assert_eq!(is_open(mode, owner, ALICE), open, "{mode:o} {owner}");
        }
        assert!(is_open(0o700, ALICE, 0), "even for the administrator");
    }
}
