//! Finds the programs that change trust stores, also where `PATH` lacks the folders of administrators' programs.

use std::env;
use std::path::PathBuf;

/// Where a program is: on the path, or in the folders on the administrator's path.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    let mut files = folders.map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}
