//! The command `pqtls store public`.

use core::fmt;

use serde::Serialize;

use crate::commands::custody::{KeyOrVersion, Place};
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::commands::key::KeyFacts;
use crate::commands::key::encode::{self, Encoding};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output};
use crate::report::Report;

/// Write the public key of a version, or of the store itself
///
/// Without a version, it is the key that signs or encapsulates now. Without KEY, it is the store's own, which verifies its
/// attestations and the heads of its audit log.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The key, or one version of it: tenant/purpose/name or tenant/purpose/name#version; at https://, name or name#version
    key: Option<KeyOrVersion>,

    /// The encoding
    #[arg(long, value_enum, default_value = "pem", value_name = "FORMAT")]
    format: Encoding,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store public shop/files/app --kek-file kek
  $ pqtls store public --out store.pub --kek-file kek";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    let (id, key) = match &arguments.key {
        None => (None, arguments.place.open()?.store.public_key()),
        Some(asked) => {
            let (version, key) = arguments.place.custodian()?.public_key(asked)?;
            (Some((asked.name.to_string(), version.get())), key)
        }
    };
    let output = Output {
        to: out,
        content: &encode::public_key(&key, arguments.format)?,
        access: Access::Public,
        is_binary: arguments.format.is_binary(),
    };
    let report = Written {
        key: id.as_ref().map(|(name, _)| name.clone()),
        version: id.map(|(_, version)| version),
        facts: KeyFacts::of(&key),
        encoding: arguments.format,
        file: out.to_string(),
    };
    delivery.deliver(&[output], &report)
}

#[derive(Debug, Serialize)]
struct Written {
    /// Unless it is the store's own.
    key: Option<String>,
    version: Option<u32>,
    #[serde(flatten)]
    facts: KeyFacts,
    encoding: Encoding,
    file: String,
}

impl Report for Written {
    const SCHEMA: &'static str = "store-public/1";
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, algorithm) = (&self.file, &self.facts.algorithm);
        match self.key.as_ref().zip(self.version) {
            Some((key, version)) => {
                writeln!(f, "{file}: public key of {key}#{version}, {algorithm}")?;
            }
            None => writeln!(f, "{file}: public key of the store, {algorithm}")?,
        }
        writeln!(f, "fingerprint {}", self.facts.fingerprint)
    }
}
