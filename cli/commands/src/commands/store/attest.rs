//! The command `pqtls store attest`.

use core::fmt;

use serde::Serialize;

use super::attestation::AttestationFacts;
use crate::commands::custody::{KeyLabel, Place};
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{self, Access, Output};
use crate::report::Report;

/// Have the store sign what it says of a key: its versions, their states and public keys
///
/// "pqtls store verify-attestation" verifies it with the store's own public key, which "pqtls store public" writes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The key: tenant/purpose/name
    key: KeyLabel,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store attest shop/files/app --out app.attestation --kek-file kek";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    files::check_binary(out)?;
    let (opened, name) = arguments.place.open_for(&arguments.key)?;
    let attestation = opened.store.attest(&opened.principal, name)?;
    let output = Output {
        to: out,
        content: &attestation.encode(),
        access: Access::Public,
        is_binary: true,
    };
    let report = Attested {
        facts: AttestationFacts::of(&attestation)?,
        file: out.to_string(),
    };
    delivery.deliver(&[output], &report)
}

#[derive(Debug, Serialize)]
struct Attested {
    #[serde(flatten)]
    facts: AttestationFacts,
    file: String,
}

impl Report for Attested {
    const SCHEMA: &'static str = "store-attest/1";
}

impl fmt::Display for Attested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: attestation", self.file)?;
        self.facts.fmt(f)
    }
}
