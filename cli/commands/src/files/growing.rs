use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::Path;

use super::destination::{Access, Destination, Folders, Output, OutputError, Staged};

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

    pub(crate) fn append(&mut self, piece: &[u8]) -> Result<(), OutputError> {
        self.write_all(piece).map_err(|error| match &self.staged {
            Staged::File { path, .. } => OutputError::at(path, error),
            _ => at_temporary_file(error),
        })
    }

    /// Gives it its name, or passes it on.
    pub(crate) fn commit(self) -> Result<(), OutputError> {
        self.pass_on(Staged::sync)
    }

    /// The same for a copy of what is safe elsewhere: as [`write_copies`](super::write_copies) does, it waits
    /// for the disk only where it replaces something.
    pub(crate) fn commit_copy(self) -> Result<(), OutputError> {
        self.pass_on(|staged| match staged.is_new() {
            true => Ok(()),
            false => staged.sync(),
        })
    }

    /// Commits it, and calls `sync` before a file gets its name.
    fn pass_on(
        self,
        sync: impl FnOnce(&Staged<'d>) -> Result<(), OutputError>,
    ) -> Result<(), OutputError> {
        let Some(mut waiting) = self.waiting else {
            sync(&self.staged)?;
            return self.staged.commit(self.force).map(drop);
        };
        waiting.rewind().map_err(at_temporary_file)?;
        match self.staged {
            Staged::Special(path, _) => {
                let opened = OpenOptions::new().write(true).open(&path);
                let copied = opened.and_then(|mut to| io::copy(&mut waiting, &mut to));
                copied.map_err(|error| OutputError::at(&path, error))?;
            }
            _ => {
                let mut out = io::stdout().lock();
                let copied = io::copy(&mut waiting, &mut out).and_then(|_| out.flush());
                copied.map_err(|error| OutputError::StandardOutput { error })?;
            }
        }
        Ok(())
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
