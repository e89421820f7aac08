use core::fmt;

use pq_ca::{Ledger, Revocation, Role, SerialNumber, UnknownReason, reason_from_name};
use pq_x509::CrlReason;
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use super::entry::{EntryFacts, RevocationFacts};
use super::place::{Actor, Place};
use super::which::Which;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::report::{self, Report};

/// Revoke certificates, all of them or none
///
/// This is permanent, unless the reason is certificateHold. It doesn't need the CA's keys. Clients learn of
/// it from the next revocation list.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Serial numbers, or files with the certificates; "-" is standard input
    #[arg(required = true, value_name = "CERTIFICATE")]
    which: Vec<Which>,

    /// Why, as RFC 5280 section 5.3.1 names it, such as keyCompromise or certificateHold
    #[arg(long, default_value = "unspecified", value_parser = reason)]
    reason: CrlReason,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    actor: Actor,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca revoke web.pem --reason keyCompromise
  $ pqtls ca revoke bot.pem --reason certificateHold";

fn reason(name: &str) -> Result<CrlReason, UnknownReason> {
    reason_from_name(name)
}

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let ledger = arguments.place.open()?.ledger()?;
    let numbers = arguments
        .which
        .iter()
        .map(|which| which.serial_number(&ledger))
        .collect::<Result<Vec<SerialNumber>, _>>()?;
    let now = UnixTime::now();
    let revocation = Revocation {
        at: now,
        reason: arguments.reason,
        by: arguments.actor.name(),
    };
    ledger.revoke_all(&numbers, &revocation)?;
    let mut report = Revoked {
        certificates: Vec::with_capacity(numbers.len()),
    };
    for number in &numbers {
        let entry = ledger.entry(number)?;
        report
            .certificates
            .extend(entry.map(|entry| EntryFacts::of(&entry, now)));
    }
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct Revoked {
    /// In the order of the command line.
    certificates: Vec<EntryFacts>,
}

impl Report for Revoked {
    const SCHEMA: &'static str = "ca-revoke/1";
}

impl fmt::Display for Revoked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for certificate in &self.certificates {
            // An earlier revocation is kept as it was.
            if let Some(RevocationFacts { at, reason, .. }) = &certificate.revocation {
                let (title, number) = (certificate.title(), &certificate.serial_number);
                let what = certificate.state.name();
                writeln!(
                    f,
                    "{title}: {what} since {at} ({reason}), serial number {number}"
                )?;
            }
        }
        writeln!(
            f,
            "Clients learn of it from the next revocation list; make it now:"
        )?;
        let roots = Role::Root.name();
        let is_of_root = |certificate: &EntryFacts| certificate.issuer == roots;
        if !self.certificates.iter().all(is_of_root) {
            writeln!(f, "  pqtls ca crl --out FILE")?;
        }
        if self.certificates.iter().any(is_of_root) {
            writeln!(f, "  pqtls ca crl --root --out FILE")?;
        }
        Ok(())
    }
}
