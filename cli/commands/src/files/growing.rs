//! Output that is written before it is known to be valid, such as a decrypted file: it stays a draft until it is
//! committed.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;

use pq_keys::files::{Access, sync_folder};

use super::destination::{Destination, Folders, Output, Staged};
use super::error::OutputError;
use super::special;
use super::unfinished::{Undo, Unfinished};

/// An output that comes piece by piece, and whose end decides whether it is valid. It appears when it is
/// committed, and leaves nothing behind otherwise.
///
/// Output for standard output or a device waits in a file without a name.
pub(crate) struct Growing<'d> {
    staged: Staged<'d>,
    waiting: Option<File>,
    force: bool,
}

impl<'d> Growing<'d> {
    pub(crate) fn begin(
        to: &'d Destination,
        access: Access,
        force: bool,
    ) -> Result<Self, OutputError> {
        let output = Output {
            to,
            content: &[],
            access,
            is_binary: false,
        };
        let staged = Staged::new(&output, force, &mut Folders::default())?;
        let waiting = match &staged {
            Staged::File { .. } => None,
            Staged::StandardOutput(_) | Staged::Special(..) => {
                Some(tempfile::tempfile().map_err(at_temporary_file)?)
            }
        };
        Ok(Self {
            staged,
            waiting,
            force,
        })
    }

    /// The same for the copy of what is safe elsewhere, such as certificates that were issued: a signal that ends
    /// this process gives what was appended its name, or leaves it beside the file that has that.
    pub(crate) fn begin_copy(
        to: &'d Destination,
        access: Access,
        force: bool,
    ) -> Result<Self, OutputError> {
        let growing = Self::begin(to, access, force)?;
        if let Staged::File {
            file,
            path,
            unfinished,
            ..
        } = &growing.staged
        {
            unfinished.proceed(|| {
                Ok::<_, OutputError>(Undo::RemoveUnlessSignal {
                    draft: file.path().into(),
                    path: path.clone(),
                })
            })?;
        }
        Ok(growing)
    }

    /// Appends a piece. No signal comes into it.
    pub(crate) fn append(&mut self, piece: &[u8]) -> Result<(), OutputError> {
        match &mut self.staged {
            Staged::File {
                file,
                path,
                unfinished,
                ..
            } => unfinished
                .undisturbed(|| file.write_all(piece))
                .map_err(|error| OutputError::at(path, error)),
            _ => self.write_all(piece).map_err(at_temporary_file),
        }
    }

    /// Gives it its name, or passes it on.
    pub(crate) fn commit(self) -> Result<(), OutputError> {
        let folder = self.staged.path().and_then(Path::parent);
        let folder = folder.map(Path::to_owned);
        let committed = self.pass_on(Staged::sync)?;
        if let Some(folder) = folder {
            sync_folder(&folder).map_err(|error| OutputError::at(&folder, error))?;
        }
        Unfinished::finish(committed);
        Ok(())
    }

    /// The same for a copy of what is safe elsewhere: as [`write_copies`](super::write_copies) does, it waits
    /// for the disk only where it replaces something.
    pub(crate) fn commit_copy(self) -> Result<(), OutputError> {
        let committed = self.pass_on(|staged| match staged.is_new() {
            true => Ok(()),
            false => staged.sync(),
        })?;
        Unfinished::finish(committed);
        Ok(())
    }

    /// Commits it, and calls `sync` before a file gets its name. What this returns takes a file back.
    fn pass_on(
        self,
        sync: impl FnOnce(&Staged<'d>) -> Result<(), OutputError>,
    ) -> Result<Option<Unfinished>, OutputError> {
        let Some(mut waiting) = self.waiting else {
            sync(&self.staged)?;
            return Ok(self.staged.commit(self.force)?.unfinished);
        };
        waiting.rewind().map_err(at_temporary_file)?;
        match self.staged {
            Staged::Special(path, _) => {
                let copied = io::copy(&mut waiting, &mut special::open(&path)?);
                copied.map_err(|error| OutputError::at(&path, error))?;
            }
            _ => {
                let mut out = io::stdout().lock();
                let copied = io::copy(&mut waiting, &mut out).and_then(|_| out.flush());
                copied.map_err(|error| OutputError::StandardOutput { error })?;
            }
        }
        Ok(None)
    }
}

impl Write for Growing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match (&mut self.waiting, &mut self.staged) {
            (Some(file), _) => file.write(bytes),
            (None, Staged::File { file, .. }) => file.write(bytes),
            // Others have a file that waits.
            (None, _) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn at_temporary_file(error: io::Error) -> OutputError {
    OutputError::at(Path::new("a temporary file"), error)
}

#[cfg(test)]
mod tests {
    use pq_keys::files::steps;

    use super::*;

    #[test]
    fn the_name_is_on_the_disk_when_it_is_committed() {
        let above = tempfile::tempdir().unwrap();
        let above = above.path().canonicalize().unwrap();
        let file = above.join("a");
        let to = Destination::File(file.clone());
        let mut growing = Growing::begin(&to, Access::Private, false).unwrap();
        growing.append(b"content").unwrap();
        steps::take();
        growing.commit().unwrap();
        let steps = steps::take();
        // An empty file could have the name otherwise.
        assert_eq!(
            (steps[0].0, steps[0].1.parent()),
            ("sync file", Some(&*above))
        );
        assert_eq!(steps[1..], [("rename", file), ("sync", above)]);
    }
}
