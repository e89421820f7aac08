//! What to do where a ledger or a file of a CA can't be read or written, which several errors say.

use std::io::{self, ErrorKind};
use std::path::Path;

/// What else is to be done after an older copy of the ledger is put back.
pub(crate) const AFTER_A_BACKUP: &str = "record again what was issued since (\"pqtls ca adopt\"), revoke again what was \
     revoked since (from the lists that were published: \"pqtls ca adopt --crl\"), and give the next list a number above all \
     before it (\"pqtls ca crl --number\")";

/// What to do so that a CA's file can be read or written, if this is known.
pub(crate) fn remedy(cause: &io::Error, path: &Path) -> Option<String> {
    match cause.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            Some("free some space there, and try again".into())
        }
        ErrorKind::PermissionDenied => Some(for_its_owner(path)),
        ErrorKind::ReadOnlyFilesystem => Some(WRITABLE.into()),
        _ => None,
    }
}

const WRITABLE: &str = "make the file system writable, or move the CA's folder";

/// Who may use a file. The owner of a CA may be kept from it by somebody else's file in its folder, as from a backup
/// that the administrator restored.
#[cfg(unix)]
fn for_its_owner(path: &Path) -> String {
    use std::os::unix::fs::MetadataExt;

    let owner = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.uid());
    let user = rustix::process::geteuid().as_raw();
    match (owner(path), path.parent().map(owner)) {
        (Ok(file), Some(Ok(folder))) if file != user && folder == user => format!(
            "it belongs to another user than its folder (user number {file}); have that user give it to you \
             (chown {user} {})",
            path.display()
        ),
        (Ok(file), _) if file != user => format!(
            "run this as the user who owns it (sudo -u '#{file}'), or get permission from that user"
        ),
        (Ok(_), _) => "permit it to yourself (chmod u+rw), and try again".into(),
        (Err(_), _) => OTHERWISE.into(),
    }
}

#[cfg(not(unix))]
fn for_its_owner(_: &Path) -> String {
    OTHERWISE.into()
}

const OTHERWISE: &str = "run this as the user who owns the CA, or get permission from that user";

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, chown};

    use super::*;

    /// Who owns the CA is not to be told to become its owner. Only the administrator can give files away.
    #[test]
    fn who_owns_a_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        fs::write(&path, "").unwrap();
        let says = |kind: ErrorKind| remedy(&kind.into(), &path).unwrap();
        assert_eq!(
            says(ErrorKind::ReadOnlyFilesystem),
            "make the file system writable, or move the CA's folder"
        );
        let own = "permit it to yourself (chmod u+rw), and try again";
        assert_eq!(says(ErrorKind::PermissionDenied), own);
        let user = fs::metadata(&path).unwrap().uid();
        if chown(&path, Some(65533), None).is_err() {
            return;
        }
        let shown = path.display();
        assert_eq!(
            says(ErrorKind::PermissionDenied),
            format!(
                "it belongs to another user than its folder (user number 65533); have that user give it to you (chown \
                 {user} {shown})"
            )
        );
        chown(folder.path(), Some(65533), None).unwrap();
        let words =
            "run this as the user who owns it (sudo -u '#65533'), or get permission from that user";
        assert_eq!(says(ErrorKind::PermissionDenied), words);
    }
}
