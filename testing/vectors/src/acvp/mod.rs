//! NIST's ACVP vectors, read from the folder beside the checkout; without it, those that packages ship.

mod packaged;

use std::env;
use std::path::Path;

use testing::skipped::{cannot_run, skip};

use self::packaged::Missing;
use crate::{FOLDER, decompressed};

/// The text of a file as published, by its path: `folder/file`, without `.json.gz`.
///
/// `None` if the whole folder of vectors is absent, and no package has these. A file that is missing from the folder is
/// an error.
///
/// The environment variable PQ_CORE_VECTORS, if it is `packages`, leaves the folder out.
///
/// # Panics
/// If the file can't be read, and in CI if it is absent.
pub fn text(path: &str) -> Option<String> {
    let leave_out = env::var_os("PQ_CORE_VECTORS").is_some_and(|value| value == "packages");
    let folder = Path::new(FOLDER).join("acvp");
    if folder.exists() && !leave_out {
        return Some(decompressed(&folder.join(format!("{path}.json.gz"))));
    }
    match packaged::text(path) {
        Ok(text) => Some(text),
        Err(Missing::InPackages) if leave_out => {
            cannot_run(&format!("ACVP {path}: no package ships these vectors"));
            None
        }
        Err(missing) => {
            skip(&format!("ACVP {path}: {missing}"));
            None
        }
    }
}
