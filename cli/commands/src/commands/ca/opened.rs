//! A CA's folder with its ledger, wherever that is: in the folder, or in the database that the folder remembers.

use alloc::sync::Arc;
use std::path::PathBuf;

use pq_ca::folder::{Folder, FolderError, LedgerPlace};
use pq_ca::ledger::{DatabaseError, Ledger, LedgerError, PostgresLedger};

use crate::commands::servers::DatabaseAddress;
use crate::failure::{Failure, StoreFailure};

/// A ledger of whatever kind, which this process has open once.
pub(super) type AnyLedger = Arc<dyn Ledger>;

/// A CA's folder with a ledger of whatever kind.
pub(super) type CaFolder = Folder<AnyLedger>;

/// A ledger in a database, and where that is.
pub(super) struct InDatabase {
    pub(super) address: DatabaseAddress,
    pub(super) ledger: PostgresLedger,
}

/// Opens the CA in a folder.
pub(super) fn open(path: impl Into<PathBuf>) -> Result<CaFolder, Failure> {
    with_its_ledger(Folder::open(path)?)
}

/// The CA with its ledger, of which a database is connected to.
pub(super) fn with_its_ledger(folder: Folder) -> Result<CaFolder, Failure> {
    Ok(match remembered(&folder)? {
        Some(found) => folder.with_ledger(found.place()),
        None => folder.with_any_ledger(),
    })
}

/// The ledger in a database, if the folder remembers that it is in one.
pub(super) fn remembered(folder: &Folder) -> Result<Option<InDatabase>, Failure> {
    let Some(text) = folder.ledger_address()? else {
        return Ok(None);
    };
    let file = folder.ledger_file();
    let Some(address) = DatabaseAddress::in_text(&text) else {
        return Err(FolderError::LedgerFile {
            path: file,
            why: "it names no database of PostgreSQL".into(),
        }
        .into());
    };
    let opened = InDatabase::open(address).map_err(|failure| Failure::LedgerElsewhere {
        file: file.display().to_string(),
        failure: failure.into(),
    });
    opened.map(Some)
}

impl InDatabase {
    fn open(address: DatabaseAddress) -> Result<Self, Failure> {
        let options = address.options().map_err(StoreFailure::from)?;
        let ledger = PostgresLedger::open(options)?;
        Ok(Self { address, ledger })
    }

    /// The ledger at an address. If there is none, it is made. Files that the address names get paths that stay.
    pub(super) fn open_or_make(address: &DatabaseAddress) -> Result<Self, Failure> {
        let address = address.clone().with_absolute_files();
        let address = address.map_err(|cause| FolderError::Io {
            doing: "find",
            path: ".".into(),
            cause,
        })?;
        let options = address.options().map_err(StoreFailure::from)?;
        let ledger = match PostgresLedger::open(options.clone()) {
            Err(LedgerError::Database(DatabaseError::NoLedger(_))) => {
                PostgresLedger::create(options)?
            }
            opened => opened?,
        };
        Ok(Self { address, ledger })
    }

    /// The ledger for a CA's folder, which remembers it.
    pub(super) fn place(self) -> LedgerPlace<AnyLedger> {
        let ledger: AnyLedger = Arc::new(self.ledger);
        let address = self.address.to_string();
        LedgerPlace::new(&address, move || Ok(Arc::clone(&ledger))).remembered_as(&address)
    }
}
