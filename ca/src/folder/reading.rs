//! Reads the files of a CA's folder, if nobody else can have written them.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

#[cfg(unix)]
use pq_keys::files::folder_of;
use zeroize::Zeroizing;

use super::error::{FolderError, io_error};
use crate::ledger::{self, Fault, Reader, check_writable};

/// More than the longest policy has.
const LIMIT: u64 = 1024 * 1024;

/// Who owns a CA's folder: what is in it has to belong to the same user, or to the system's administrator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner(ledger::Owner);

impl Owner {
    /// The owner of a folder that other users can't change.
    pub(super) fn of(folder: &Path) -> Result<Self, FolderError> {
        let metadata = fs::metadata(folder).map_err(io_error("read", folder))?;
        check_writable(&metadata).map_err(refusal(folder))?;
        #[cfg(unix)]
        refuse_administrator(
            folder,
            ledger::user(),
            std::os::unix::fs::MetadataExt::uid(&metadata),
        )?;
        Ok(Self(ledger::Owner::of(&metadata)))
    }

    /// Whether the folder and all that leads to it and to a key is this user's, and so are then the files that are used
    /// with the key.
    #[cfg(unix)]
    pub(super) fn check_for_keys(self, folder: &Path, key: &Path) -> Result<(), FolderError> {
        if !self.0.is_of_this_user() {
            return Err(FolderError::OtherOwner(folder.into()));
        }
        check_way(folder)?;
        check_way(key)
    }

    /// On other systems, the permissions of the folders say who may write there.
    #[cfg(not(unix))]
    pub(super) fn check_for_keys(self, _: &Path, _: &Path) -> Result<(), FolderError> {
        Ok(())
    }

    /// Checks a folder in the CA's folder.
    pub(super) fn check_folder(self, folder: &Path) -> Result<(), FolderError> {
        match fs::metadata(folder) {
            Ok(metadata) => self.check(folder, &metadata, Reader::Anybody),
            // Whoever opens it says that it is missing.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(io_error("read", folder)(error)),
        }
    }

    /// What is in a file. It may be a private key, so it is wiped.
    pub(super) fn read(
        self,
        path: &Path,
        reader: Reader,
    ) -> Result<Zeroizing<Vec<u8>>, FolderError> {
        let file = open(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => FolderError::Missing(path.into()),
            _ => io_error("read", path)(error),
        })?;
        // What was opened is what is checked and read, even if the name is another file's by now.
        let metadata = file.metadata().map_err(io_error("read", path))?;
        if !metadata.is_file() {
            return Err(FolderError::NoFile(path.into()));
        }
        self.check(path, &metadata, reader)?;
        if metadata.len() > LIMIT {
            return Err(FolderError::TooLarge(path.into()));
        }
        // With enough room, it does not grow, and so leaves no copies.
        let mut bytes = Zeroizing::new(Vec::with_capacity(metadata.len() as usize + 1));
        let mut file = file.take(metadata.len());
        file.read_to_end(&mut bytes)
            .map_err(io_error("read", path))?;
        match bytes.trim_ascii().is_empty() {
            true => Err(FolderError::Empty(path.into())),
            false => Ok(bytes),
        }
    }

    fn check(self, path: &Path, metadata: &Metadata, reader: Reader) -> Result<(), FolderError> {
        self.0.check(metadata, reader).map_err(refusal(path))
    }
}

#[cfg(unix)]
const ADMINISTRATOR: u32 = 0;

/// The administrator may read everything, and so could be led to use anybody's keys by a folder of somebody else. And
/// what the administrator writes there, its owner can't change.
#[cfg(unix)]
fn refuse_administrator(folder: &Path, user: u32, owner: u32) -> Result<(), FolderError> {
    match user == ADMINISTRATOR && owner != ADMINISTRATOR {
        true => Err(FolderError::OfAnother {
            path: folder.into(),
            owner,
        }),
        false => Ok(()),
    }
}

/// Checks the links that lead to a file or folder, and the folders above it and them: nobody else may have made the
/// links, and not everybody may put something else in their place.
#[cfg(unix)]
fn check_way(path: &Path) -> Result<(), FolderError> {
    use std::os::unix::fs::MetadataExt;

    /// As many as Linux follows. Whoever opens the file says that there are more.
    const LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        check_place(&path)?;
        let metadata = fs::symlink_metadata(&path).map_err(io_error("read", &path))?;
        if !metadata.is_symlink() {
            return Ok(());
        }
        if !ledger::is_of_this_user(metadata.uid()) {
            return Err(FolderError::OtherOwner(path));
        }
        let to = fs::read_link(&path).map_err(io_error("read", &path))?;
        path = folder_of(&path).join(to);
    }
    Ok(())
}

/// Checks the folders above a path.
#[cfg(unix)]
pub(super) fn check_place(path: &Path) -> Result<(), FolderError> {
    let above = folder_of(path);
    let real = above.canonicalize().map_err(io_error("read", above))?;
    real.ancestors().try_for_each(refuse_exposed)
}

/// On other systems, the permissions of the folders say who may write there.
#[cfg(not(unix))]
pub(super) fn check_place(_: &Path) -> Result<(), FolderError> {
    Ok(())
}

/// Refuses a folder in which everybody may rename what belongs to others.
#[cfg(unix)]
fn refuse_exposed(folder: &Path) -> Result<(), FolderError> {
    use std::os::unix::fs::MetadataExt;

    const EVERYBODY_WRITES: u32 = 0o002;
    const STICKY: u32 = 0o1000;
    let mode = fs::metadata(folder)
        .map_err(io_error("read", folder))?
        .mode();
    match mode & (EVERYBODY_WRITES | STICKY) == EVERYBODY_WRITES {
        true => Err(FolderError::Exposed(folder.into())),
        false => Ok(()),
    }
}

/// Whether others than its owner may read a file, if it is there.
#[cfg(unix)]
pub(super) fn is_readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;

    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o044 != 0)
}

/// On other systems, the permissions of the folder say who may read there.
#[cfg(not(unix))]
pub(super) fn is_readable_by_others(_: &Path) -> bool {
    false
}

/// For `map_err`: which file is not used.
fn refusal(path: &Path) -> impl FnOnce(Fault) -> FolderError {
    |fault| match fault {
        Fault::Writable => FolderError::Writable(path.into()),
        Fault::OtherOwner => FolderError::OtherOwner(path.into()),
    }
}

/// Opens a file without waiting for a writer, in case it is a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_administrator_uses_no_folder_of_others() {
        let folder = Path::new("ca");
        for (user, owner, is_refused) in [
            (0, 0, false),
            (0, 1000, true),
            (1000, 1000, false),
            (1000, 0, false),
        ] {
            let checked = refuse_administrator(folder, user, owner);
            assert_eq!(checked.is_err(), is_refused, "{user} {owner}");
            if let Err(error) = checked {
                let words = "ca belongs to another user; run this as that user (sudo -u '#1000')";
                assert_eq!(error.to_string(), words);
            }
        }
    }
}
