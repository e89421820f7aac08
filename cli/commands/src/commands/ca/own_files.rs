//! Keeps the results of all commands of a CA away from the files of its folder: its ledger, certificates, keys, requests and
//! policy.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use pq_ca::folder::{Folder, FolderError, Role};

use super::Command;
use crate::failure::Failure;
use crate::files::Destination;

/// Refuses a result that would be written over a file of the CA's folder, or that would be taken for one.
pub(super) fn check(command: &Command) -> Result<(), Failure> {
    let (place, _) = command.place();
    // Without a folder, there is nothing to lose.
    let Ok(folder) = place.path().canonicalize() else {
        return Ok(());
    };
    for destination in command.results()? {
        if let Destination::File(path) = &destination
            && let Some(file) = where_it_leads(path)
            && is_own(&folder, &file)
            && !is_repair(command, &file)
        {
            return Err(Failure::OverFileOfCa(destination.to_string()));
        }
    }
    Ok(())
}

/// The file that would be written, without links; `None` if its folder isn't there, so that nothing can be written.
fn where_it_leads(path: &Path) -> Option<PathBuf> {
    if let Ok(file) = path.canonicalize() {
        return Some(file);
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

/// Whether "pqtls ca show" writes an issuing certificate whose file is gone, damaged, or another's, again.
fn is_repair(command: &Command, file: &Path) -> bool {
    if !matches!(command, Command::Show(_)) || file.file_name() != Some(OsStr::new("issuing.pem")) {
        return false;
    }
    let (place, _) = command.place();
    let issuing = Folder::open(place.path()).and_then(|folder| {
        folder.ledger()?;
        folder.issuing_role()
    });
    matches!(
        issuing,
        Err(FolderError::OtherIssuing { .. } | FolderError::NoIssuingCertificate(_))
    )
}

fn is_own(folder: &Path, file: &Path) -> bool {
    let Ok(inside) = file.strip_prefix(folder) else {
        return false;
    };
    let name = inside.iter().next().unwrap_or_default();
    let is_of_key = |name: &OsStr| {
        let name = Path::new(name);
        let kind = name.extension().and_then(OsStr::to_str);
        let role = name.file_stem().and_then(OsStr::to_str);
        matches!(kind, Some("pem" | "key" | "csr")) && role.and_then(Role::from_name).is_some()
    };
    name == "ledger" || name == "policy.toml" || is_of_key(name)
}
