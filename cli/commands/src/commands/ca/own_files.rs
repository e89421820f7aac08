//! What commands of a CA say of its files, which no result takes the place of: where its folder is, and which of its files a
//! command repairs.

use std::ffi::OsStr;
use std::path::Path;

use pq_ca::folder::{FolderError, Role};
use pq_ca::ledger::SerialNumber;
use pq_keys::files::folder_of;

use super::Command;
use super::opened::{self, CaFolder};
use crate::failure::Failure;
use crate::files::{self, Destination};

/// Refuses a result that would be written over a file of the CA's folder, or that would be taken for one.
pub(super) fn check(command: &Command) -> Result<(), Failure> {
    let (place, _) = command.place();
    files::keep_ca(&place.path()).map_err(|cause| FolderError::Io {
        doing: "read",
        path: place.path(),
        cause,
    })?;
    for destination in command.results()? {
        if let Destination::File(path) = &destination
            && is_repair(command, path)
        {
            files::release(path);
        }
        files::check_place(&destination)?;
    }
    Ok(())
}

/// Whether "pqtls ca show" writes the issuing certificate again, whose file is gone, damaged, or has another: the one that
/// belongs there, by its number in the ledger.
fn is_repair(command: &Command, file: &Path) -> bool {
    let Command::Show(show) = command else {
        return false;
    };
    let (place, _) = command.place();
    let is_in_folder = || {
        let (folder, own) = (folder_of(file).canonicalize(), place.path().canonicalize());
        folder.is_ok_and(|folder| own.is_ok_and(|own| folder == own))
    };
    if file.file_name() != Some(OsStr::new("issuing.pem")) || !is_in_folder() {
        return false;
    }
    opened::open(place.path()).is_ok_and(|folder| {
        show.number()
            .is_some_and(|number| belongs(&folder, &number))
    })
}

/// Whether the certificate with this number belongs in the file of the first issuing key, which has not got it.
fn belongs(folder: &CaFolder, asked: &SerialNumber) -> bool {
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
