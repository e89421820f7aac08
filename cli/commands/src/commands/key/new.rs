//! The command `pqtls key new`.

use core::fmt;

use pq_keys::protection::Protection;
use serde::Serialize;
use zeroize::Zeroizing;

use super::encode::{self, Encoding, Form};
use super::facts::KeyFacts;
use super::protect::encrypted;
use crate::arguments::{AlgorithmParser, list_of_algorithms};
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Destination, Output};
use crate::keys::{Algorithm, PrivateKey};
use crate::passphrases::NewPassphraseOptions;
use crate::report::Report;
use crate::words::protection_name;

/// Make a private key
///
/// Only the file's owner can read it. Without --out, the key goes to standard output. "pqtls key encrypt --help"
/// says which programs read which form.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[arg(
        default_value = "ML-DSA-65",
        value_parser = AlgorithmParser,
        hide_possible_values = true,
        help = format!("One of {}", list_of_algorithms()),
    )]
    algorithm: Algorithm,

    #[command(flatten)]
    output: OutputOptions,

    /// Write the public key, too
    #[arg(long, value_name = "FILE")]
    public: Option<Destination>,

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

    /// Encrypt the private key under a passphrase, as an option that names one does by itself; "pqtls key encrypt" says
    /// more
    #[arg(long)]
    encrypt: bool,

    #[command(flatten)]
    passphrase: NewPassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls key new --out server.key
  $ pqtls key new SLH-DSA-SHA2-128f --out root.key --public root.pub
  $ pqtls key new ML-KEM-768 --form both --out kem.key
  $ pqtls key new X-Wing --out backup.key --public backup.pub
  $ pqtls key new ECDSA-P256 --out classical.key
  $ pqtls key new MLDSA65-ECDSA-P256-SHA512 --out composite.key
  $ echo 'correct horse battery staple' > secret.txt
  $ pqtls key new ML-DSA-87 --encrypt --passphrase-file secret.txt --out secret.key
  $ pqtls key new | pqtls key show -";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let destinations: Vec<&Destination> = [out].into_iter().chain(&arguments.public).collect();
    let delivery = Delivery::to(&destinations, *force, json)?;
    let passphrase = arguments.passphrase.of_new_if(arguments.encrypt)?;
    let key = PrivateKey::generate(arguments.algorithm)?;
    let encoding = match arguments.der {
        true => Encoding::Der,
        false => Encoding::Pem,
    };
    let protection = Protection::default();
    let (private, form) = match &passphrase {
        None => encode::private_key(&key, arguments.form, encoding)?,
        Some(passphrase) => {
            let (private, form) =
                encrypted(&key, arguments.form, passphrase, &protection, arguments.der)?;
            (Zeroizing::new(private), form)
        }
    };
    let public_key = key.public_half();
    let public = encode::public_key(&public_key, encoding)?;
    let mut outputs = vec![Output {
        to: out,
        content: &private,
        access: Access::Private,
        is_binary: arguments.der,
    }];
    outputs.extend(arguments.public.iter().map(|to| Output {
        to,
        content: &public,
        access: Access::Public,
        is_binary: arguments.der,
    }));
    let report = NewKey {
        key: KeyFacts::of(&public_key),
        form,
        protection: passphrase.map(|_| protection_name(&protection)),
        file: out.to_string(),
        public_file: arguments.public.as_ref().map(Destination::to_string),
    };
    delivery.deliver(&outputs, &report)
}

/// A key that was made.
#[derive(Debug, Serialize)]
struct NewKey {
    #[serde(flatten)]
    key: KeyFacts,
    /// Only for post-quantum keys.
    form: Option<Form>,
    /// If the private key is encrypted.
    protection: Option<String>,
    file: String,
    public_file: Option<String>,
}

impl Report for NewKey {
    const SCHEMA: &'static str = "key-new/1";
}

impl fmt::Display for NewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.file, self.key.in_form(self.form))?;
        if let Some(protection) = &self.protection {
            writeln!(f, "encrypted by {protection}")?;
        }
        if let Some(file) = &self.public_file {
            writeln!(f, "{file}: its public key")?;
        }
        writeln!(f, "fingerprint {}", self.key.fingerprint)
    }
}
