//! The command `pqtls key export`: it writes a key and its certificates as PKCS#12 (RFC 7292), with PBMAC1 (RFC 9879)
//! unless the older MAC is wanted.

use core::fmt;

use clap::ValueEnum;
use pq_keys::SubjectKey;
use pq_keys::pkcs12::Pkcs12Mac;
use pq_keys::protection::Protection;
use pq_x509::certificate::Certificate;
use pq_x509::pkcs12::Pkcs12;
use serde::Serialize;

use super::encode::{self, Encoding, Form};
use super::facts::KeyFacts;
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output, Source};
use crate::keys::PrivateKey;
use crate::passphrases::{NewPassphraseOptions, OldPassphraseOptions, text};
use crate::report::Report;

/// Write a private key and its certificates as PKCS#12, under a passphrase
///
/// Browsers, Windows, macOS and Java import such files, which end in .p12 or .pfx. "pqtls key import" reads
/// them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A private key in PEM or DER, encrypted or not; "-" is standard input
    file: Source,

    /// The certificates to put beside the key, its own first
    #[arg(long = "certs", value_name = "FILE")]
    certificates: Option<Source>,

    /// The key's name where it is imported
    #[arg(long)]
    name: Option<String>,

    /// The form of the key in the file [default: the seed; SLH-DSA keys have only one form]
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "seed|expanded|both"
    )]
    form: Option<Form>,

    /// The MAC, which detects changes
    #[arg(long, value_enum, default_value = "pbmac1", value_name = "MAC")]
    mac: Mac,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    passphrase: NewPassphraseOptions,

    #[command(flatten)]
    old_passphrase: OldPassphraseOptions,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Mac {
    /// PBMAC1 (RFC 9879), which OpenSSL reads from version 3.4 on
    Pbmac1,
    /// The older MAC (RFC 7292), which all programs read
    Classic,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cert self-sign --key server.key --name localhost --out me.pem
  $ echo 'correct horse battery staple' > pw.txt
  $ pqtls key export server.key --certs me.pem --passphrase-file pw.txt --out me.p12";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to(&[out], *force, json)?;
    let key = documents::private_key_to_encrypt(&arguments.file, &arguments.old_passphrase)?.key;
    let chain = match &arguments.certificates {
        None => Vec::new(),
        Some(file) => chain_of(&key, &arguments.file, file)?,
    };
    let passphrase = arguments.passphrase.of_new()?;
    // The MAC detects changes, so the seed needs nothing beside it.
    let (pkcs8, form) = encode::private_key(&key, arguments.form, Encoding::Der)?;
    let store = Pkcs12::new().with_key(&pkcs8, arguments.name.as_deref(), &chain)?;
    let mac = match arguments.mac {
        Mac::Pbmac1 => Pkcs12Mac::default(),
        Mac::Classic => Pkcs12Mac::CLASSIC,
    };
    let output = Output {
        to: out,
        content: &store.to_der(text(&passphrase)?, &Protection::default(), mac)?,
        access: Access::Private,
        is_binary: true,
    };
    let report = KeyExported {
        key: KeyFacts::of(&key.public_half()),
        form,
        name: arguments.name.clone(),
        certificates: store.certificates().len(),
        file: out.to_string(),
    };
    delivery.deliver(&[output], &report)
}

/// The certificates of a file; the first one has to be the key's.
fn chain_of(
    key: &PrivateKey,
    key_file: &Source,
    file: &Source,
) -> Result<Vec<Certificate>, Failure> {
    let chain = documents::certificates(file)?;
    match chain.first() {
        Some(leaf) if leaf.spki() != key.spki() => Err(Failure::OtherKey {
            key: key_file.to_string(),
            certificate: file.to_string(),
            subject: leaf.describe_subject(),
        }),
        _ => Ok(chain),
    }
}

#[derive(Debug, Serialize)]
struct KeyExported {
    #[serde(flatten)]
    key: KeyFacts,
    /// Only for post-quantum keys.
    form: Option<Form>,
    name: Option<String>,
    certificates: usize,
    file: String,
}

impl Report for KeyExported {
    const SCHEMA: &'static str = "key-export/1";
}

impl fmt::Display for KeyExported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.file, self.key.in_form(self.form))?;
        writeln!(f, "with {}", certificates(self.certificates))?;
        writeln!(f, "fingerprint {}", self.key.fingerprint)
    }
}

/// A number of certificates, for sentences.
pub(super) fn certificates(count: usize) -> String {
    match count {
        0 => "no certificate".into(),
        1 => "one certificate".into(),
        more => format!("{more} certificates"),
    }
}
