//! Whether the file that is open is still the one that has its name, and has what was written to it.

use alloc::sync::Arc;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::watched::Watched;

/// A file that is open, and the name under which it was opened.
pub(super) struct Kept {
    /// Absolute, so that it stays the same name.
    path: PathBuf,
    identity: Identity,
    file: Arc<Watched>,
}

/// What tells a file from all others while it is open: the device and its number there.
type Identity = Option<(u64, u64)>;

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;

    Some((metadata.dev(), metadata.ino()))
}

/// On other systems, files have no such numbers here: that another one got the name is not noticed.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {
    None
}

impl Kept {
    pub(super) fn new(path: &Path, metadata: &Metadata, file: Arc<Watched>) -> io::Result<Self> {
        Ok(Self {
            path: std::path::absolute(path)?,
            identity: identity(metadata),
            file,
        })
    }

    /// Whether another file has the name now, or none, or another one was written over it.
    ///
    /// # Errors
    ///
    /// If the system doesn't say, as for a folder that this process may not look into any more.
    pub(super) fn is_replaced(&self) -> io::Result<bool> {
        match fs::metadata(&self.path) {
            Ok(metadata) if identity(&metadata) != self.identity => Ok(true),
            Ok(_) => self.file.is_replaced(),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(true),
                _ => Err(error),
            },
        }
    }
}
