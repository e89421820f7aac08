//! The command `pqtls store decaps`.

use core::fmt;

use serde::Serialize;

use crate::commands::custody::{KeyVersion, Place};
use crate::commands::raw::format::Format;
use crate::commands::raw::secret::SecretOptions;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::report::Report;

/// Recover the shared secret from a ciphertext by a key of a store
///
/// A ciphertext that was made for another key or version, or was changed, gives a secret that nobody else has: this is how
/// ML-KEM rejects it (FIPS 203, algorithm 18).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The version that it was made for: tenant/purpose/name#version
    #[arg(long, value_name = "KEY")]
    key: KeyVersion,

    /// The ciphertext, as bytes, in hexadecimal or in base64; "-" is standard input
    #[arg(default_value = "-")]
    ciphertext: Source,

    #[command(flatten)]
    output: SecretOptions,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store decaps --key shop/mail/box#1 box.ct --out box.secret2 --kek-file kek
  $ cmp box.secret box.secret2";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let output = &arguments.output;
    arguments.place.location.place_here()?;
    let delivery = output.check(json)?;
    let ciphertext = documents::raw_ciphertext(&arguments.ciphertext)?;
    let (opened, id) = arguments.place.open_for_version(&arguments.key)?;
    let secret = opened
        .store
        .decapsulate(&opened.principal, &id, &ciphertext)?;
    let report = Decapsulated {
        key: id.name().to_string(),
        version: id.version().get(),
        format: output.format,
        ciphertext: arguments.ciphertext.to_string(),
        file: output.output.out.to_string(),
    };
    output.deliver(&delivery, &*secret, &report)
}

/// The facts about a secret that was recovered, without the secret.
#[derive(Debug, Serialize)]
struct Decapsulated {
    key: String,
    version: u32,
    format: Format,
    ciphertext: String,
    file: String,
}

impl Report for Decapsulated {
    const SCHEMA: &'static str = "store-decaps/1";
}

impl fmt::Display for Decapsulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, ciphertext, key) = (&self.file, &self.ciphertext, &self.key);
        writeln!(
            f,
            "{file}: shared secret of {ciphertext} by {key}#{}",
            self.version
        )
    }
}
