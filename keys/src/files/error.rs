//! Why a file was not written.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a file was not written. Its path is that of the destination, not of a draft.
///
/// Programs with words of their own take the operating system's error, by `From`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// Something has this name, be it a link that leads nowhere. It stays as it is.
    #[error("{} exists", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        error: io::Error,
    },
    /// There is no file, or the one from before.
    #[error("can't write {}: {error}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        error: io::Error,
    },
    /// The file is there and complete, but a loss of power may take its name back.
    #[error("can't keep the name of {} on the disk: {error}", .path.display())]
    Sync {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        error: io::Error,
    },
}

impl FileError {
    /// For `map_err`: nothing was written.
    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Write {
            path: path.into(),
            error,
        }
    }

    /// Something has the name already.
    pub(super) fn exists(path: &Path) -> Self {
        // In the operating system's words, as if it had been asked for the name.
        #[cfg(unix)]
        let error = rustix::io::Errno::EXIST.into();
        #[cfg(not(unix))]
        let error = io::ErrorKind::AlreadyExists.into();
        Self::Exists {
            path: path.into(),
            error,
        }
    }

    /// For `map_err`: a new file did not get its name.
    pub(super) fn name(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| match error.kind() {
            io::ErrorKind::AlreadyExists => Self::Exists {
                path: path.into(),
                error,
            },
            _ => Self::write(path)(error),
        }
    }

    /// For `map_err`: the file has its name, but the disk may not.
    pub(super) fn sync(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Sync {
            path: path.into(),
            error,
        }
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Exists { error, .. }
            | FileError::Write { error, .. }
            | FileError::Sync { error, .. } => error,
        }
    }
}
