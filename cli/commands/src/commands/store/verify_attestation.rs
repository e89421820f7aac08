//! The command `pqtls store verify-attestation`.

use core::fmt;

use pq_keystore::{Attestation, InvalidAttestation, KeyName};
use serde::Serialize;

use super::attestation::AttestationFacts;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, StoreFailure};
use crate::files::Source;
use crate::passphrases::PassphraseOptions;
use crate::report::{self, Report};

/// Verify what a store says of a key, by the store's public key
///
/// It needs no store. Get the store's public key from its operator, not from where the attestation came from.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The store's public key, in PEM or DER; "-" is standard input
    #[arg(long, value_name = "FILE")]
    key: Source,

    /// The attestation; "-" is standard input
    #[arg(default_value = "-")]
    file: Source,

    /// The key that it has to be of: tenant/purpose/name
    #[arg(long, value_name = "KEY")]
    of: Option<KeyName>,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store verify-attestation --key store.pub app.attestation --of shop/files/app";

/// More than 4,096 versions of the longest public key have.
const LIMIT: usize = 16 * 1024 * 1024;

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let file = arguments.file.to_string();
    let key = documents::any_public_key(&arguments.key, &arguments.passphrase)?;
    let bytes = arguments.file.read(LIMIT)?;
    let failed = |error: InvalidAttestation| StoreFailure::Attestation {
        file: file.clone(),
        error,
    };
    let attestation = Attestation::decode(&bytes).map_err(failed)?;
    attestation.verify(&key).map_err(failed)?;
    if let Some(asked) = &arguments.of
        && *asked != attestation.key
    {
        return Err(StoreFailure::AttestsAnother {
            file,
            found: attestation.key,
            asked: asked.clone(),
        }
        .into());
    }
    let report = Verified {
        facts: AttestationFacts::of(&attestation)?,
        file,
    };
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct Verified {
    #[serde(flatten)]
    facts: AttestationFacts,
    file: String,
}

impl Report for Verified {
    const SCHEMA: &'static str = "store-verify-attestation/1";
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: the store says so", self.file)?;
        self.facts.fmt(f)
    }
}
