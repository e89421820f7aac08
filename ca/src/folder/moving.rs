//! The ledger of a folder that moves to a database, and back. The folder's file that names the ledger changes last, and until it
//! does, the ledger that was left says where it went.

use std::fs;
use std::path::{Path, PathBuf};

use pq_keys::files::{Access, folder_of, sync_folder, write_over};

use super::draft::make_private_folder;
use super::error::{FolderError, io_error};
use super::turn::Turn;
use super::{Folder, JOURNAL, LEDGER, is_taken, is_there, ledger_file};
use crate::ledger::{LedgerError, LocalLedger, Movable, Moved, Standing, move_ledger, undo_move};

impl Folder {
    /// Moves the ledger from the folder to another one, such as one in a database, which has to be empty and has this address, by
    /// which the folder remembers it. Then the ledger in the folder says that it was moved, and is of no use any more.
    ///
    /// If this is interrupted, the same call goes on, with the same ledger.
    ///
    /// # Errors
    ///
    /// Those of [`move_ledger`], [`FolderError::LedgerElsewhere`] if the ledger is elsewhere already, and others if files
    /// can't be read or written.
    pub fn move_ledger_to(&self, to: &dyn Movable, address: &str) -> Result<Moved, FolderError> {
        let _turn = Turn::wait(self.path())?;
        let file = self.ledger_file();
        match self.ledger_address()? {
            // It was moved, and this may be asked again.
            Some(named) if named == address && self.has_own_ledger()? => {}
            Some(_) => return Err(FolderError::LedgerElsewhere(file)),
            None => {}
        }
        let from = self.own_ledger()?;
        let moved = move_ledger(&from, to, &self.own_name(), address)?;
        let text = ledger_file::text(address);
        let written = write_over(&file, text.as_bytes(), Access::OwnerWrites);
        written.map_err(|error| io_error("write", &file)(error.into()))?;
        Ok(moved)
    }

    /// Moves the ledger from a database, whose address the folder remembers, to a new one in the folder. What is left there of a
    /// ledger that was moved away gets another name.
    ///
    /// If this is interrupted, the same call goes on, with the same ledger.
    ///
    /// # Errors
    ///
    /// Those of [`move_ledger`], [`FolderError::LedgerInFolder`] if the ledger is in the folder already, and others if files
    /// can't be read or written.
    pub fn move_ledger_here(
        &self,
        from: &dyn Movable,
        address: &str,
    ) -> Result<Moved, FolderError> {
        let _turn = Turn::wait(self.path())?;
        if self.ledger_address()?.is_none() {
            return Err(FolderError::LedgerInFolder(self.own_ledger_path()));
        }
        let to = self.new_own_ledger(from)?;
        let moved = move_ledger(from, &to, address, &self.own_name())?;
        let file = self.ledger_file();
        fs::remove_file(&file).map_err(io_error("remove", &file))?;
        sync_folder(self.path()).map_err(io_error("write", self.path()))?;
        Ok(moved)
    }

    /// Takes back a move from the folder that was begun, see [`undo_move`].
    ///
    /// # Errors
    ///
    /// Those of [`undo_move`].
    pub fn undo_move_of_ledger(&self) -> Result<(), FolderError> {
        let _turn = Turn::wait(self.path())?;
        Ok(undo_move(&self.own_ledger()?)?)
    }

    /// The path of the ledger in the folder, which need not be there.
    pub fn own_ledger_path(&self) -> PathBuf {
        self.path().join(LEDGER)
    }

    fn own_name(&self) -> String {
        let ledger = self.own_ledger_path();
        let absolute = ledger.canonicalize().unwrap_or(ledger);
        absolute.display().to_string()
    }

    fn has_own_ledger(&self) -> Result<bool, FolderError> {
        is_there(&self.own_ledger_path().join(JOURNAL))
    }

    /// The ledger in the folder, whatever the folder remembers.
    fn own_ledger(&self) -> Result<LocalLedger, FolderError> {
        let ledger = self.own_ledger_path();
        self.owner.check_folder(&ledger)?;
        match self.has_own_ledger()? {
            true => Ok(LocalLedger::open(&ledger)?),
            false => Err(FolderError::Missing(ledger)),
        }
    }

    /// The ledger in the folder that a move has begun or completed, or a new one.
    fn new_own_ledger(&self, from: &dyn Movable) -> Result<LocalLedger, FolderError> {
        let ledger = self.own_ledger_path();
        if self.has_own_ledger()? {
            let own = self.own_ledger()?;
            match (own.standing()?, from.standing()?) {
                // It was completed before that other one was left.
                (Standing::Arriving(_) | Standing::InForce { .. }, Standing::Left(_)) => {
                    return Ok(own);
                }
                (Standing::InForce { .. }, _) if own.is_empty()? => return Ok(own),
                // Only a part of a copy
                (Standing::Arriving(_), _) => {
                    drop(own);
                    fs::remove_dir_all(&ledger).map_err(io_error("remove", &ledger))?;
                }
                (Standing::Left(_), _) => {
                    drop(own);
                    set_aside(&ledger)?;
                }
                (Standing::InForce { .. } | Standing::Leaving(_), _) => {
                    return Err(LedgerError::NotEmpty(own.description()).into());
                }
            }
        } else if is_taken(&ledger)? {
            set_aside(&ledger)?;
        }
        make_private_folder(&ledger)?;
        Ok(LocalLedger::fill(&ledger)?)
    }
}

/// Gives a folder another name, the first one that is free.
fn set_aside(ledger: &Path) -> Result<PathBuf, FolderError> {
    let mut number = 1_u32;
    loop {
        let aside = ledger.with_file_name(format!("{LEDGER}.moved-{number}"));
        if !is_taken(&aside)? {
            fs::rename(ledger, &aside).map_err(io_error("rename", ledger))?;
            let above = folder_of(ledger);
            sync_folder(above).map_err(io_error("write", above))?;
            return Ok(aside);
        }
        number += 1;
    }
}
