//! The command `pqtls key decrypt`: it writes an encrypted private key in the clear.

use core::fmt;

use serde::Serialize;

use super::encode::{self, Encoding, Form};
use super::facts::KeyFacts;
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output, Source};
use crate::passphrases::PassphraseOptions;
use crate::report::Report;

/// Write an encrypted private key without encryption
///
/// The key is written as "pqtls key new" does it; for other encodings and forms, see "pqtls key convert".
/// Whoever can read the file then has the key.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// An encrypted private key in PEM or DER; "-" is standard input
    file: Source,

    /// Write DER instead of PEM
    #[arg(long)]
    der: bool,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls key decrypt server.enc.key --passphrase-file passphrase.txt --out server.plain.key";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to(&[out], *force, json)?;
    let key = documents::private_key(&arguments.file, &arguments.passphrase)?.key;
    let encoding = match arguments.der {
        true => Encoding::Der,
        false => Encoding::Pem,
    };
    let (content, form) = encode::private_key(&key, None, encoding)?;
    let output = Output {
        to: out,
        content: &content,
        access: Access::Private,
        is_binary: arguments.der,
    };
    let report = KeyDecrypted {
        key: KeyFacts::of(&key.public_half()),
        form,
        file: out.to_string(),
    };
    delivery.deliver(&[output], &report)
}

#[derive(Debug, Serialize)]
struct KeyDecrypted {
    #[serde(flatten)]
    key: KeyFacts,
    /// Only for post-quantum keys.
    form: Option<Form>,
    file: String,
}

impl Report for KeyDecrypted {
    const SCHEMA: &'static str = "key-decrypt/1";
}

impl fmt::Display for KeyDecrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.file, self.key.in_form(self.form))?;
        writeln!(f, "fingerprint {}", self.key.fingerprint)
    }
}
