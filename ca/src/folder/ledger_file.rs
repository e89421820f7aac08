//! The file by which a folder remembers that its ledger is elsewhere. Whoever finds it never opens a ledger in the folder, also
//! not one that is left there.

use std::path::Path;

use pq_keys::files::Access;
use serde::Deserialize;

use super::error::FolderError;
use super::reading::Owner;
use super::{LEDGER_FILE, is_taken, write};
use crate::ledger::Reader;

const COMMENT: &str = "\
# The ledger of this CA is not in this folder, but in this database, which all copies of the folder share. Its password does not
# belong here. To have the ledger elsewhere, move it with \"pqtls ca move\": nothing is moved by changing this file.
";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    postgres: String,
}

/// The address that the file of a folder says, if there is the file.
pub(super) fn read(folder: &Path, owner: Owner) -> Result<Option<String>, FolderError> {
    let path = folder.join(LEDGER_FILE);
    if !is_taken(&path)? {
        return Ok(None);
    }
    let bytes = owner.read(&path, Reader::Anybody)?;
    let content = core::str::from_utf8(&bytes).map(toml::from_str::<Content>);
    match content {
        Ok(Ok(Content { postgres })) => Ok(Some(postgres)),
        // The text of a cause shows the line, where somebody may have written a password.
        Ok(Err(cause)) => Err(FolderError::LedgerFile {
            why: cause.message().into(),
            path,
        }),
        Err(_) => Err(FolderError::NoText(path)),
    }
}

/// The text of the file.
pub(super) fn text(address: &str) -> String {
    let escape = |character: char| match character {
        '"' | '\\' => format!("\\{character}"),
        control if control.is_control() => format!("\\u{:04X}", u32::from(control)),
        other => other.into(),
    };
    let escaped: String = address.chars().map(escape).collect();
    format!("{COMMENT}postgres = \"{escaped}\"\n")
}

/// Writes the file in a draft.
pub(super) fn write_in(draft: &Path, address: &str) -> Result<(), FolderError> {
    let text = text(address);
    write(
        &draft.join(LEDGER_FILE),
        text.as_bytes(),
        Access::OwnerWrites,
    )
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_was_written_is_read_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let owner = Owner::of(folder.path()).unwrap();
        let read = || read(folder.path(), owner);
        assert_eq!(read().unwrap(), None);
        let path = folder.path().join(LEDGER_FILE);
        for address in [
            "postgres://ca@db/ca",
            "postgres://\"'\\\n\u{7f}ü#@db/?schema=x",
            "",
        ] {
            write_in(folder.path(), address).unwrap();
            assert_eq!(read().unwrap().unwrap(), address);
            fs::remove_file(&path).unwrap();
        }
        for wrong in [
            "postgres = 1",
            "elsewhere = \"x\"",
            "postgres = \"secret",
            "postgres = \"a\"\nother = 1",
            "[postgres]",
        ] {
            fs::write(&path, wrong).unwrap();
            let error = read().unwrap_err().to_string();
            let says_it = error.contains("ledger.toml") && !error.contains("secret");
            assert!(says_it, "{error}");
        }
        // A link that leads nowhere is none that isn't there.
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("nowhere", &path).unwrap();
        assert!(matches!(read(), Err(FolderError::Missing(_))));
    }
}
