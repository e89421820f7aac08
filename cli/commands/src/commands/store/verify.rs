//! The command `pqtls store verify`.

use core::fmt;

use pq_keystore::StoreError;
use serde::Serialize;

use super::input::{AgreedOptions, InputFacts};
use super::signature::{self, SignatureFile};
use crate::commands::custody::{KeyOrVersion, Place};
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, StoreFailure};
use crate::files::Source;
use crate::report::{self, Report};

/// Verify a signature by a key of a store
///
/// A signature's text names the version that has to have made it. For the bytes alone, --key may name the version; without
/// one, the newest 16 are tried. Versions verify until they are disabled, and from the policy's minimum on.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The key, or one version of it: tenant/purpose/name or tenant/purpose/name#version; at https://, name or name#version
    #[arg(long, value_name = "KEY")]
    key: KeyOrVersion,

    /// The signature, as text or as bytes; "-" is standard input
    #[arg(long, value_name = "FILE")]
    signature: Source,

    /// What was signed; "-" is standard input
    #[arg(default_value = "-")]
    file: Source,

    #[command(flatten)]
    agreed: AgreedOptions,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store verify --key shop/files/app --signature app.sig app.txt --kek-file kek
  $ pqtls store verify --key shop/files/app#1 --signature mu.sig app.txt --kek-file kek";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let (agreed, asked) = (&arguments.agreed, &arguments.key);
    let SignatureFile { id, signature } = signature::read(&arguments.signature)?;
    let version = match &id {
        None => asked.version,
        Some(id) => {
            let is_asked =
                id.key == asked.name && asked.version.is_none_or(|version| version == id.version);
            if !is_asked {
                return Err(StoreFailure::OtherKey {
                    file: arguments.signature.to_string(),
                    found: id.to_string(),
                    asked: asked.to_string(),
                }
                .into());
            }
            Some(id.version)
        }
    };
    let (content, facts) = agreed.read(&arguments.file)?;
    let store = arguments.place.custodian()?;
    let by = KeyOrVersion {
        name: asked.name.clone(),
        version,
    };
    let verified = store.verify(&by, agreed.input(&content), &signature)?;
    let (version, failure) = match verified {
        Some(version) => (Some(version), None),
        None => (version, Some(StoreError::InvalidSignature.into())),
    };
    let report = Verdict {
        valid: failure.is_none(),
        key: asked.name.to_string(),
        version: version.map(|version| version.get()),
        input: facts,
        signature: arguments.signature.to_string(),
        reason: failure.as_ref().map(Failure::to_string),
    };
    report::print_verdict(&report, failure, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct Verdict {
    valid: bool,
    key: String,
    /// Which version made it, or should have made it, if one was named.
    version: Option<u32>,
    #[serde(flatten)]
    input: InputFacts,
    signature: String,
    /// Why it is not valid.
    reason: Option<String>,
}

impl Report for Verdict {
    const SCHEMA: &'static str = "store-verify/1";
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (signature, input, key) = (&self.signature, self.input.name(), &self.key);
        write!(f, "{signature}: valid signature of {input} by {key}")?;
        match self.version {
            Some(version) => writeln!(f, "#{version}"),
            None => writeln!(f),
        }
    }
}
