//! The command `pqtls store export`.

use core::fmt;

use pq_keys::any::Readable;
use pq_keys::protection::Protection;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::commands::custody::{KeyVersion, Place};
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::commands::key::KeyFacts;
use crate::commands::key::encode::{self, Encoding};
use crate::commands::key::protect::encrypted;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output};
use crate::keys::{KeyError, PrivateKey};
use crate::passphrases::NewPassphraseOptions;
use crate::report::Report;
use crate::words::protection_name;

/// Take the private key of a version out of a store
///
/// Only keys that were made exportable can be taken out, by whom their policy grants it, and no version that is older than
/// its min-version; the audit log says so. The store keeps the key.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The version: tenant/purpose/name#version
    version: KeyVersion,

    /// Encrypt the private key under a passphrase, as an option that names one does by itself
    #[arg(long)]
    encrypt: bool,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    passphrase: NewPassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store export shop/tests/spare#1 --out spare.key --kek-file kek
  $ pqtls key check spare.key";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    arguments.place.location.place_here()?;
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to(&[out], *force, json)?;
    let passphrase = arguments.passphrase.of_new_if(arguments.encrypt)?;
    let (opened, id) = arguments.place.open_for_version(&arguments.version)?;
    let exported = opened.store.export(&opened.principal, &id)?;
    let key = PrivateKey::from_der(&exported).map_err(KeyError::from)?;
    let protection = Protection::default();
    let content = match &passphrase {
        None => encode::private_key(&key, None, Encoding::Pem)?.0,
        Some(passphrase) => {
            Zeroizing::new(encrypted(&key, None, passphrase, &protection, false)?.0)
        }
    };
    let output = Output {
        to: out,
        content: &content,
        access: Access::Private,
        is_binary: false,
    };
    let report = Exported {
        key: id.name().to_string(),
        version: id.version().get(),
        facts: KeyFacts::of(&key.public_half()),
        protection: passphrase.map(|_| protection_name(&protection)),
        file: out.to_string(),
    };
    delivery.deliver(&[output], &report)
}

#[derive(Debug, Serialize)]
struct Exported {
    key: String,
    version: u32,
    #[serde(flatten)]
    facts: KeyFacts,
    /// If the private key is encrypted.
    protection: Option<String>,
    file: String,
}

impl Report for Exported {
    const SCHEMA: &'static str = "store-export/1";
}

impl fmt::Display for Exported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, key) = (&self.file, &self.key);
        let algorithm = &self.facts.algorithm;
        writeln!(
            f,
            "{file}: private key of {key}#{}, {algorithm}",
            self.version
        )?;
        if let Some(protection) = &self.protection {
            writeln!(f, "encrypted by {protection}")?;
        }
        writeln!(f, "fingerprint {}", self.facts.fingerprint)
    }
}
