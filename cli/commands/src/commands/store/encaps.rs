//! The command `pqtls store encaps`.

use core::fmt;

use pq_keystore::KeyName;
use serde::Serialize;

use crate::commands::custody::Place;
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::commands::raw::format::Format;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Destination, OutputError};
use crate::report::Report;

/// Make a shared secret and the ciphertext that carries it to a key of a store
///
/// --out is for the ciphertext. Note the version that the report names: "pqtls store decaps" asks for it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The key, of ML-KEM or X-Wing: tenant/purpose/name
    #[arg(long, value_name = "KEY")]
    key: KeyName,

    /// Where to write the shared secret; "-" is standard output
    #[arg(long, value_name = "FILE")]
    secret: Destination,

    /// How to write both
    #[arg(long, value_enum, default_value = "raw", value_name = "FORMAT")]
    format: Format,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store encaps --key shop/mail/box --out box.ct --secret box.secret --kek-file kek";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let (secret_to, format) = (&arguments.secret, arguments.format);
    let delivery = Delivery::to(&[out, secret_to], *force, json)?;
    for to in [out, secret_to] {
        format.check(to)?;
    }
    if out == secret_to {
        return Err(OutputError::Twice(secret_to.to_string()).into());
    }
    let opened = arguments.place.open()?;
    let made = opened
        .store
        .encapsulate(&opened.principal, &arguments.key)?;
    let (ciphertext, secret) = (
        format.encode(&made.ciphertext),
        format.encode(&*made.secret),
    );
    let outputs = [
        format.output(out, &ciphertext, Access::Public),
        format.output(secret_to, &secret, Access::Private),
    ];
    let report = Encapsulated {
        key: made.id.name().to_string(),
        version: made.id.version().get(),
        format,
        ciphertext: out.to_string(),
        secret_file: secret_to.to_string(),
    };
    delivery.deliver(&outputs, &report)
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
