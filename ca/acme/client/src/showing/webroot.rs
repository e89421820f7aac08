//! `http-01`, by files in the folder of a web server.

use std::fs;
use std::path::{Path, PathBuf};

use pq_acme::challenge::HTTP_FOLDER;
use pq_acme::client::Shown;
use pq_keys::files::{Access, write_over};

use super::error::ShowingError;

/// Files that go again when this is dropped.
pub(super) struct Written(Vec<PathBuf>);

/// Writes a file for each.
pub(super) fn show(folder: &Path, shown: &[Shown]) -> Result<Written, ShowingError> {
    let folder = folder.join(HTTP_FOLDER.trim_matches('/'));
    if let Err(error) = fs::create_dir_all(&folder) {
        return Err(ShowingError::Folder { folder, error });
    }
    let mut written = Written(Vec::new());
    for one in shown {
        // The client takes no token that is more than the name of a file.
        let file = folder.join(one.authorization.token());
        let text = one.authorization.as_str().as_bytes();
        write_over(&file, text, Access::Public).map_err(ShowingError::File)?;
        written.0.push(file);
    }
    Ok(written)
}

impl Drop for Written {
    fn drop(&mut self) {
        for file in &self.0 {
            if let Err(error) = fs::remove_file(file) {
                tracing::warn!(file = %file.display(), %error, "a challenge's file stays; remove it");
            }
        }
    }
}
