//! The command `pqtls key encrypt`: it encrypts a private key that may be encrypted already, so it takes an old and a
//! new passphrase.

use core::fmt;

use serde::Serialize;

use super::encode::Form;
use super::facts::KeyFacts;
use super::protect::{ProtectionOptions, encrypted};
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output, Source};
use crate::passphrases::{NewPassphraseOptions, OldPassphraseOptions};
use crate::report::Report;
use crate::words::protection_name;

/// Encrypt a private key under a passphrase, or under a new one
///
/// By default, OpenSSL and others can read the file: AES-CBC, which they all know, does not detect changes of the
/// file by itself, so a digest is encrypted with the key, which other programs pass over.
///
/// Most programs read the seed alone, which is the default: OpenSSL from 3.5 on, Go, Python's cryptography, Node
/// and BouncyCastle. Java 25 without BouncyCastle reads only --form expanded, and OpenSSL, Node and
/// BouncyCastle read each form. The project's page docs/who-reads-what.md is a table of who reads what.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A private key in PEM or DER, encrypted or not; "-" is standard input
    file: Source,

    #[command(flatten)]
    protection: ProtectionOptions,

    /// The form of the key in the file [default: the seed; SLH-DSA keys have only one form]
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "seed|expanded|both"
    )]
    form: Option<Form>,

    /// Write DER instead of PEM
    #[arg(long)]
    der: bool,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    passphrase: NewPassphraseOptions,

    #[command(flatten)]
    old_passphrase: OldPassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ echo 'correct horse battery staple' > passphrase.txt
  $ pqtls key encrypt server.key --passphrase-file passphrase.txt --out server.enc.key
  $ pqtls key show server.enc.key --passphrase-file passphrase.txt
  $ pqtls key encrypt server.key --form expanded --passphrase-file passphrase.txt --out java.key
  $ pqtls key encrypt root.key --passphrase-fd 3 --out root.enc.key 3<passphrase.txt";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to(&[out], *force, json)?;
    let file = documents::private_key_to_encrypt(&arguments.file, &arguments.old_passphrase)?;
    let passphrase = arguments.passphrase.of_new()?;
    let protection = arguments.protection.protection();
    let (content, form) = encrypted(
        &file.key,
        arguments.form,
        &passphrase,
        &protection,
        arguments.der,
    )?;
    let output = Output {
        to: out,
        content: &content,
        access: Access::Private,
        is_binary: arguments.der,
    };
    let report = KeyEncrypted {
        key: KeyFacts::of(&file.key.public_half()),
        form,
        protection: protection_name(&protection),
        file: out.to_string(),
    };
    delivery.deliver(&[output], &report)
}

#[derive(Debug, Serialize)]
struct KeyEncrypted {
    #[serde(flatten)]
    key: KeyFacts,
    /// Only for post-quantum keys.
    form: Option<Form>,
    protection: String,
    file: String,
}

impl Report for KeyEncrypted {
    const SCHEMA: &'static str = "key-encrypt/1";
}

impl fmt::Display for KeyEncrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.file, self.key.in_form(self.form))?;
        writeln!(f, "encrypted by {}", self.protection)?;
        writeln!(f, "fingerprint {}", self.key.fingerprint)
    }
}
