//! Writing of files.

use std::path::Path;

use pq_keys::files::{Access, write_new, write_over};
use pyo3::PyResult;

use crate::errors::of_file;

/// Writes a new file, or replaces one if `overwrite` is set. The old file stays unchanged until the new one is
/// complete, and if writing fails. The file and its name are on the disk when this returns.
pub(super) fn write_file(
    path: &Path,
    contents: &[u8],
    access: Access,
    overwrite: bool,
) -> PyResult<()> {
    let written = match overwrite {
        // Not into the old file, as others may be allowed to read it.
        true => write_over(path, contents, access),
        false => write_new(path, contents, access),
    };
    written.map_err(|error| of_file(&error.into(), path))
}
