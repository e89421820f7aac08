//! `http-01`, by files in the folder of a web server.

use std::fs;
use std::path::Path;

use pq_acme::challenge::HTTP_FOLDER;
use pq_acme::client::Shown;
use pq_acme_client::ShowingError;

use crate::failure::Failure;
use crate::files::{self, Access, Destination, Output, Written};

/// Writes a file for each. They go again when this is dropped.
pub(super) fn show(folder: &Path, shown: &[Shown]) -> Result<Written, Failure> {
    let folder = folder.join(HTTP_FOLDER.trim_matches('/'));
    if let Err(error) = fs::create_dir_all(&folder) {
        return Err(ShowingError::Folder { folder, error }.into());
    }
    // The client takes no token that is more than the name of a file.
    let to = shown
        .iter()
        .map(|one| folder.join(one.authorization.token()));
    let to: Vec<Destination> = to.map(Destination::File).collect();
    let outputs: Vec<Output<'_>> = to
        .iter()
        .zip(shown)
        .map(|(to, one)| Output {
            to,
            content: one.authorization.as_str().as_bytes(),
            access: Access::Public,
            is_binary: false,
        })
        .collect();
    Ok(files::write_for_now(&outputs, true)?)
}
