//! A file that is being written, beside its destination.

use core::mem;
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::access::{self, Access};
use super::disk::{self, folder_of, rename, steps};
use super::error::FileError;
use crate::keys::random;

/// A file that is being written, under a random name beside its destination. It is removed when it is dropped before it
/// has its own name.
///
/// Its name begins with `.pqtls-`. It is for programs that do something of their own between writing and naming; others
/// use [`write_new()`](super::write_new) and [`write_over()`](super::write_over).
#[derive(Debug)]
pub struct Draft {
    file: File,
    path: PathBuf,
    /// What errors name.
    destination: PathBuf,
    access: Access,
}

impl Draft {
    /// Begins a file for this path.
    ///
    /// # Errors
    ///
    /// [`FileError::Write`], such as for a folder that isn't there or may not be written to.
    pub fn beside(path: &Path, access: Access) -> Result<Self, FileError> {
        let mut attempts = 0;
        loop {
            let draft = folder_of(path).join(random_name().map_err(FileError::write(path))?);
            attempts += 1;
            match Self::create(draft, path, access) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists && attempts < ATTEMPTS => {}
                made => return made.map_err(FileError::write(path)),
            }
        }
    }

    /// Makes a file of this very name, for a destination.
    pub(super) fn create(path: PathBuf, destination: &Path, access: Access) -> io::Result<Self> {
        Ok(Self {
            file: access::new_file(access).open(&path)?,
            path,
            destination: destination.into(),
            access,
        })
    }

    /// Where it is until it has its name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    #[cfg(unix)]
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Gives it the owner, the group and the permissions of the file that it is to replace, where this user may. A private
    /// file stays one for its group if it was for owner and group alone; otherwise it is for its owner.
    ///
    /// # Errors
    ///
    /// [`FileError::Write`].
    pub fn take_over(&self, replaced: &Metadata) -> Result<(), FileError> {
        let kept = access::keep(&self.file, replaced, self.access);
        kept.map_err(FileError::write(&self.destination))
    }

    /// What was written is on the disk when this returns. Otherwise it could replace another file and be empty after a
    /// loss of power.
    ///
    /// # Errors
    ///
    /// [`FileError::Write`].
    pub fn sync(&self) -> Result<(), FileError> {
        steps::note("sync file", &self.path);
        let synced = self.file.sync_all();
        synced.map_err(FileError::write(&self.destination))
    }

    /// Gives it its name, in place of a file or a link that has it. The name is on the disk when the
    /// [folder is synced](super::sync_folder).
    ///
    /// # Errors
    ///
    /// [`FileError::Write`], such as for a folder of this name. The draft is removed then.
    pub fn replace(mut self, path: &Path) -> Result<(), FileError> {
        self.check(path)?;
        rename(&self.path, path).map_err(FileError::write(path))?;
        self.has_its_name();
        Ok(())
    }

    /// The same, if nothing has the name.
    ///
    /// On Linux, Android and Apple's systems this is one step, unless the file system lacks it. Otherwise whoever ends the
    /// process at the wrong moment leaves the complete file under both names; and where files have no second names, as
    /// on FAT, an empty file under its name.
    ///
    /// # Errors
    ///
    /// [`FileError::Exists`] if something has it, and otherwise [`FileError::Write`]. The draft is removed.
    pub fn name(mut self, path: &Path) -> Result<(), FileError> {
        self.check(path)?;
        let ways = [disk::rename_new, disk::link_new, disk::keep_place];
        let mut named = Ok(());
        for way in ways {
            named = way(&self.path, path);
            // Systems have many errors for what they lack; these two say that no other way helps.
            let is_final = |error: &io::Error| {
                matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound)
            };
            if named.as_ref().map_or_else(is_final, |()| true) {
                break;
            }
        }
        named.map_err(FileError::name(path))?;
        self.has_its_name();
        Ok(())
    }

    /// Whether the name that it has until it is complete is still its own.
    #[cfg(unix)]
    pub(super) fn is_there(&self) -> bool {
        disk::is_at(&self.file, &self.path)
    }

    /// On other systems no draft is taken for a leftover.
    #[cfg(not(unix))]
    pub(super) fn is_there(&self) -> bool {
        true
    }

    fn check(&self, path: &Path) -> Result<(), FileError> {
        let taken = "another process has removed what was written";
        match self.is_there() {
            true => Ok(()),
            false => Err(FileError::write(path)(io::Error::new(
                ErrorKind::NotFound,
                taken,
            ))),
        }
    }

    /// Nothing is to be removed any more.
    pub(super) fn has_its_name(&mut self) {
        drop(mem::take(&mut self.path));
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.path != Path::new("") && self.is_there() {
            // Users are told why it was not completed, even if this fails.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// How the names of drafts begin. Programs that make drafts of folders use it, too.
pub const PREFIX: &str = ".pqtls-";

/// Random characters of a draft's name. If one name is taken, another one is tried, so they need not be many.
const RANDOM: usize = 6;

const ATTEMPTS: usize = 64;

fn random_name() -> io::Result<OsString> {
    const CHARACTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut bytes = [0; RANDOM];
    random::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    let random = bytes.map(|byte| char::from(CHARACTERS[usize::from(byte % 32)]));
    Ok((PREFIX.to_owned() + &String::from_iter(random)).into())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::files::steps;

    /// The steps that give a new file its name on a file system that lacks so many ways.
    fn steps_without(ways: u8) -> Vec<&'static str> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.key");
        let mut draft = Draft::beside(&path, Access::Private).unwrap();
        draft.write_all(b"whole").unwrap();
        steps::take();
        steps::lack_ways(ways);
        draft.name(&path).unwrap();
        let again = Draft::beside(&path, Access::Private).unwrap().name(&path);
        assert!(matches!(again, Err(FileError::Exists { .. })));
        steps::lack_ways(0);
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::metadata(&path).unwrap().nlink(), 1);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        steps::take().into_iter().map(|(what, _)| what).collect()
    }

    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    #[test]
    fn a_new_file_gets_its_name_in_one_step() {
        assert_eq!(steps_without(0), ["rename"]);
    }

    #[test]
    fn file_systems_that_lack_the_one_step_have_others() {
        assert_eq!(steps_without(1), ["link"]);
        assert_eq!(steps_without(2), ["place", "rename"]);
    }

    #[test]
    fn what_gets_no_name_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.key");
        for ways in 0..3 {
            let draft = Draft::beside(&path, Access::Private).unwrap();
            fs::remove_file(draft.path()).unwrap();
            steps::lack_ways(ways);
            draft.name(&path).unwrap_err();
            steps::lack_ways(0);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn what_another_process_has_put_there_is_neither_named_nor_removed() {
        type Named = fn(Draft, &Path) -> Result<(), FileError>;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.key");
        let dropped: Named = |draft, path| Err(FileError::exists(draft.path().max(path)));
        for name in [Draft::name as Named, Draft::replace, dropped] {
            let draft = Draft::beside(&path, Access::Private).unwrap();
            let other = draft.path().to_owned();
            fs::remove_file(&other).unwrap();
            fs::write(&other, "of another host").unwrap();
            name(draft, &path).unwrap_err();
            assert_eq!(fs::read(&other).unwrap(), b"of another host");
            assert!(!path.exists());
            fs::remove_file(other).unwrap();
        }
    }
}
