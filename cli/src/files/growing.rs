use std::fs::{File, OpenOptions};
use std::io::{self, Write};

use super::destination::{Access, Destination, Folders, Output, OutputError, Staged};

/// A file that is written piece by piece, and appears under its name when it is complete. Standard output,
/// devices and pipes get each piece at once.
pub(crate) struct Growing<'a> {
    staged: Staged<'a>,
    /// A device or a pipe, once something was written to it.
    special: Option<File>,
    force: bool,
}

impl<'a> Growing<'a> {
    /// Begins a text that everybody may read.
    pub(crate) fn public_text(to: &'a Destination, force: bool) -> Result<Self, OutputError> {
        let output = Output {
            to,
            content: &[],
            access: Access::Public,
            is_binary: false,
        };
        Ok(Self {
            staged: Staged::new(&output, force, &mut Folders::default())?,
            special: None,
            force,
        })
    }

    pub(crate) fn append(&mut self, piece: &[u8]) -> Result<(), OutputError> {
        match &mut self.staged {
            Staged::StandardOutput(_) => {
                let written = io::stdout().write_all(piece);
                written.map_err(|error| OutputError::StandardOutput { error })
            }
            Staged::Special(path, _) => {
                let file = match self.special.take() {
                    Some(file) => Ok(file),
                    None => OpenOptions::new().write(true).open(&path),
                };
                let written = file.and_then(|file| self.special.insert(file).write_all(piece));
                written.map_err(|error| OutputError::at(path, error))
            }
            Staged::File { file, path, .. } => {
                let written = file.write_all(piece);
                written.map_err(|error| OutputError::at(path, error))
            }
        }
    }

    /// Gives it its name. As [`write_copies`](super::write_copies) does, it waits for the disk only where
    /// it replaces something.
    pub(crate) fn complete(self) -> Result<(), OutputError> {
        if !self.staged.is_new() {
            self.staged.sync()?;
        }
        self.staged.commit(self.force).map(drop)
    }
}
