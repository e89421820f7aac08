//! The command `pqtls store encaps`.

use core::fmt;

use serde::Serialize;

use crate::commands::custody::{KeyLabel, Place};
use crate::commands::raw::format::Format;
use crate::commands::raw::secret::EncapsulationOptions;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::report::Report;

/// Make a shared secret and the ciphertext that carries it to a key of a store
///
/// --out is for the ciphertext. Note the version that the report names: "pqtls store decaps" asks for it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The key, of ML-KEM or X-Wing: tenant/purpose/name
    #[arg(long, value_name = "KEY")]
    key: KeyLabel,

    #[command(flatten)]
    output: EncapsulationOptions,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store encaps --key shop/mail/box --out box.ct --secret box.secret --kek-file kek";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    arguments.place.location.place_here()?;
    let delivery = arguments.output.check(json)?;
    let (opened, name) = arguments.place.open_for(&arguments.key)?;
    let made = opened.store.encapsulate(&opened.principal, name)?;
    let output = &arguments.output;
    let report = Encapsulated {
        key: made.id.name().to_string(),
        version: made.id.version().get(),
        format: output.format,
        ciphertext: output.output.out.to_string(),
        secret_file: output.secret.to_string(),
    };
    output.deliver(&delivery, (&made.ciphertext, &*made.secret), &report)
}

/// The facts about a secret that was made, without the secret.
#[derive(Debug, Serialize)]
struct Encapsulated {
    key: String,
    version: u32,
    format: Format,
    ciphertext: String,
    secret_file: String,
}

impl Report for Encapsulated {
    const SCHEMA: &'static str = "store-encaps/1";
}

impl fmt::Display for Encapsulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, version, .. } = self;
        writeln!(f, "{}: ciphertext for {key}#{version}", self.ciphertext)?;
        writeln!(f, "{}: its shared secret", self.secret_file)
    }
}
