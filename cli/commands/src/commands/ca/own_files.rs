//! Keeps the results of all commands of a CA away from the files of its folder: its ledger, certificates, keys, requests and
//! policy.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use pq_ca::folder::{Folder, FolderError, Role};
use pq_ca::ledger::SerialNumber;
use pq_keys::files::folder_of;

use super::Command;
use crate::failure::Failure;
use crate::files::{Destination, OutputError};

/// Refuses a result that would be written over a file of the CA's folder, or that would be taken for one.
pub(super) fn check(command: &Command) -> Result<(), Failure> {
    let (place, _) = command.place();
    let folder = match place.path().canonicalize() {
        Ok(folder) => folder,
        // Without a folder, there is nothing to lose.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(cause) => {
            return Err(Failure::Folder(FolderError::Io {
                doing: "read",
                path: place.path(),
                cause,
            }));
        }
    };
    for destination in command.results()? {
        let Destination::File(path) = &destination else {
            continue;
        };
        let file = where_it_leads(path).map_err(|error| OutputError::at(path, error))?;
        let is_of_ca = is_own(&folder, &file)
            || as_named(path).is_some_and(|named| is_own(&folder, &named))
            || is_elsewhere(&folder, &file);
        if is_of_ca && !is_repair(command, &file) {
            return Err(Failure::OverFileOfCa(destination.to_string()));
        }
    }
    Ok(())
}

/// The file that would be written, without links. Links are followed also where nothing is, as something may be there later.
fn where_it_leads(path: &Path) -> io::Result<PathBuf> {
    /// As many as Linux follows.
    const LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match path.canonicalize() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            led => return led,
        }
        let folder = folder_of(&path);
        match path.read_link() {
            Ok(to) => path = folder.join(to),
            // no link, and nothing else
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let name = path.file_name().ok_or(ErrorKind::NotFound)?;
                return Ok(folder.canonicalize()?.join(name));
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("it is a link to a link, and so on"))
}

/// The file by its own name, which may be that of a link to another.
fn as_named(path: &Path) -> Option<PathBuf> {
    Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?))
}

/// Whether a file is one of the CA's, or in its ledger, that is elsewhere, and to which a link in the folder leads.
fn is_elsewhere(folder: &Path, file: &Path) -> bool {
    let Ok(entries) = folder.read_dir() else {
        return false;
    };
    let named = entries.flatten().map(|entry| entry.path());
    let mut own = named.filter(|path| is_own(folder, path));
    own.any(|path| where_it_leads(&path).is_ok_and(|led| file.starts_with(led)))
}

/// Whether "pqtls ca show" writes the issuing certificate again, whose file is gone, damaged, or has another: the one that
/// belongs there, by its number in the ledger.
fn is_repair(command: &Command, file: &Path) -> bool {
    let Command::Show(show) = command else {
        return false;
    };
    if file.file_name() != Some(OsStr::new("issuing.pem")) {
        return false;
    }
    let (place, _) = command.place();
    Folder::open(place.path()).is_ok_and(|folder| {
        show.number()
            .is_some_and(|number| belongs(&folder, &number))
    })
}

/// Whether the certificate with this number belongs in the file of the first issuing key, which has not got it.
fn belongs(folder: &Folder, asked: &SerialNumber) -> bool {
    match folder.ledger().map(|_| folder.issuing_role()) {
        Err(FolderError::OtherIssuing { number, .. }) => number == *asked,
        Err(FolderError::SeveralFirst { numbers, .. })
        | Ok(Err(FolderError::NoIssuingCertificate { numbers, .. })) => numbers.contains(asked),
        // The ledger has it, and people want the file.
        Ok(Ok(_)) => {
            let is_there = folder.path().join("issuing.pem").exists();
            let own = folder.certificate(Role::Issuing);
            !is_there && own.is_ok_and(|own| own.serial_number() == asked.as_bytes())
        }
        _ => false,
    }
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
