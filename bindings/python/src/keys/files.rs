//! Files that are written.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use pyo3::PyResult;

use crate::errors::of_file;

/// Who can read a file.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Access {
    Owner,
    All,
}

/// Writes a file that is new, or replaces one if that is asked for.
pub(super) fn write_file(
    path: &Path,
    contents: &[u8],
    access: Access,
    overwrite: bool,
) -> PyResult<()> {
    let write = || -> io::Result<()> {
        if overwrite {
            // A new file, as the old one may be for others to read.
            match fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if access == Access::Owner {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        options.open(path)?.write_all(contents)
    };
    write().map_err(|error| of_file(&error, path))
}
