//! The command `pqtls key public`: it writes the public key of a private key, a public key or a certificate, in any
//! encoding.

use core::fmt;

use serde::Serialize;

use super::encode::{self, Encoding};
use super::facts::KeyFacts;
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output, Source};
use crate::passphrases::PassphraseOptions;
use crate::report::Report;

/// Write the public key of a private key or of a certificate
///
/// FILE can also be a public key, to write it in another encoding.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A key or a certificate, in PEM or DER; "-" is standard input
    file: Source,

    /// The encoding
    #[arg(long, value_enum, default_value = "pem", value_name = "FORMAT")]
    format: Encoding,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls key public server.key --out server.pub
  $ pqtls key public root.pub --format base64
  $ pqtls key public server.pub --format jwk --out server.jwk";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    let key = documents::any_public_key(&arguments.file, &arguments.passphrase)?;
    let output = Output {
        to: out,
        content: &encode::public_key(&key, arguments.format)?,
        access: Access::Public,
        is_binary: arguments.format.is_binary(),
    };
    let report = PublicKeyWritten {
        key: KeyFacts::of(&key),
        encoding: arguments.format,
        file: out.to_string(),
    };
    delivery.deliver(&[output], &report)
}

#[derive(Debug, Serialize)]
struct PublicKeyWritten {
    #[serde(flatten)]
    key: KeyFacts,
    encoding: Encoding,
    file: String,
}

impl Report for PublicKeyWritten {
    const SCHEMA: &'static str = "key-public/1";
}

impl fmt::Display for PublicKeyWritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: public key of {}", self.file, self.key.algorithm)?;
        writeln!(f, "fingerprint {}", self.key.fingerprint)
    }
}
