//! The command `pqtls ca reinstate`: it ends the hold (certificateHold) of one certificate.

use core::fmt;

use pq_ca::ledger::Ledger;
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use super::entry::EntryFacts;
use super::place::{Actor, Place};
use super::which::Which;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::report::{self, Report};

/// Release a certificate that is on hold
///
/// A certificate that was revoked for any other reason stays revoked, and one stays on hold if another certificate for
/// its key was revoked for a compromise. Of a file with several certificates, name one by its serial number.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Its serial number, or a file with it; "-" is standard input
    #[arg(value_name = "CERTIFICATE")]
    which: Which,

    #[command(flatten)]
    pub(super) place: Place,

    #[command(flatten)]
    actor: Actor,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca reinstate bot.pem";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let folder = arguments.place.open()?;
    let ledger = folder.ledger()?;
    let number = arguments.which.serial_number(&folder, &ledger)?;
    let now = UnixTime::now();
    let entry = ledger.reinstate(&number, now, &arguments.actor.name())?;
    let report = Reinstated {
        certificate: EntryFacts::of(&entry, now),
    };
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct Reinstated {
    certificate: EntryFacts,
}

impl Report for Reinstated {
    const SCHEMA: &'static str = "ca-reinstate/1";
}

impl fmt::Display for Reinstated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (title, number) = (self.certificate.title(), &self.certificate.serial_number);
        writeln!(f, "{title}: no longer on hold, serial number {number}")?;
        writeln!(f, "Clients learn of it from the next revocation list.")
    }
}
