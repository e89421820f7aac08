//! The command `pqtls ca move`: a CA's ledger goes from its folder to a database, and back.

use core::fmt;
use core::str::FromStr;

use pq_ca::folder::{Folder, FolderError};
use pq_ca::ledger::{Moved, undo_move};
use serde::Serialize;

use super::opened::{self, InDatabase};
use super::place::Place;
use crate::commands::servers::DatabaseAddress;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::report::{Report, with_unit};

/// Move the CA's ledger to a database, or into its folder
///
/// Everything is moved: certificates with their revocations, the numbers of the lists, the CA's keys as they follow one another,
/// the time that was confirmed, and who said what when. All records are read from both places in the end: the digest over them
/// has to be the same before the new ledger is put in force. The new place has to be empty.
///
/// Meanwhile the CA answers, and what would change its ledger is refused: do that again when this is done. From then on the
/// old ledger is of no use: it says where it was moved, also to programs that had it open. In the folder, ledger.toml says where the
/// ledger is. Copies of the folder on other machines need that file, too.
///
/// If this is interrupted, do the same again, which goes on and completes it; or take it back with --undo, which is possible until
/// the old ledger was left.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Where to: the address of a PostgreSQL database, which begins with postgres://, as "pqtls ca init --ledger" takes it, or
    /// "local", which is the CA's folder
    #[arg(long, value_name = "PLACE", required_unless_present = "undo")]
    to: Option<Target>,

    /// Take back a move that was begun and not completed: the old ledger is in force again
    #[arg(long, conflicts_with = "to")]
    undo: bool,

    #[command(flatten)]
    pub(super) place: Place,
}

const EXAMPLES: &str = "\
Examples:
  pqtls ca move --to \"postgres://ca@db.example.org/ca?sslrootcert=db-root.pem\"
  pqtls ca move --to local";

/// Where a ledger is to be.
#[derive(Clone, Debug)]
enum Target {
    Local,
    Database(DatabaseAddress),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "local" => Ok(Self::Local),
            address => (address.parse().map(Self::Database))
                .map_err(|wrong| format!("{wrong}, and not \"local\"")),
        }
    }
}

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let folder = Folder::open(arguments.place.path())?;
    arguments.place.warn_if_in_use();
    let (to, moved) = match &arguments.to {
        None => {
            let at = undo(&folder)?;
            arguments.place.print(Undone { at }, json)?;
            return Ok(ExitStatus::Done);
        }
        Some(Target::Local) => {
            let from = opened::remembered(&folder)?;
            let from = from.ok_or_else(|| FolderError::LedgerInFolder(folder.own_ledger_path()))?;
            let moved = folder.move_ledger_here(&from.ledger, &from.address.to_string())?;
            (folder.own_ledger_path().display().to_string(), moved)
        }
        Some(Target::Database(address)) => {
            let to = InDatabase::open_or_make(address)?;
            let address = to.address.to_string();
            let moved = folder.move_ledger_to(&to.ledger, &address)?;
            (address, moved)
        }
    };
    arguments.place.print(LedgerMoved::of(to, &moved), json)?;
    Ok(ExitStatus::Done)
}

/// Takes a move back, and says where the ledger is that is in force.
fn undo(folder: &Folder) -> Result<String, Failure> {
    match opened::remembered(folder)? {
        Some(from) => {
            undo_move(&from.ledger)?;
            Ok(from.address.to_string())
        }
        None => {
            folder.undo_move_of_ledger()?;
            Ok(folder.own_ledger_path().display().to_string())
        }
    }
}

#[derive(Debug, Serialize)]
struct LedgerMoved {
    /// Where the ledger is now.
    ledger: String,
    certificates: u64,
    /// How many events its history has.
    events: u64,
    /// The digest over all records, which both ledgers have.
    sha256: String,
}

impl LedgerMoved {
    fn of(ledger: String, moved: &Moved) -> Self {
        Self {
            ledger,
            certificates: moved.entries,
            events: moved.events,
            sha256: base16ct::lower::encode_string(&moved.digest),
        }
    }
}

impl Report for LedgerMoved {
    const SCHEMA: &'static str = "ca-move/1";
}

impl fmt::Display for LedgerMoved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the ledger is in {} now", self.ledger)?;
        let (certificates, events) = (
            with_unit(self.certificates, "certificate"),
            with_unit(self.events, "event"),
        );
        writeln!(f, "  records   {certificates}, {events}")?;
        writeln!(f, "  sha256    {}, read from both places", self.sha256)
    }
}

#[derive(Debug, Serialize)]
struct Undone {
    /// Where the ledger is.
    #[serde(rename = "ledger")]
    at: String,
}

impl Report for Undone {
    const SCHEMA: &'static str = "ca-move-undo/1";
}

impl fmt::Display for Undone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the ledger stays in {}", self.at)
    }
}
