//! The command `pqtls key convert`: private keys from and to PKCS#8, raw bytes, JSON Web Keys and COSE_Keys, and the
//! default for the form (seed, expanded or both) that each of them gets.

use core::fmt;

use pq_keys::PrivateKeyForm;
use pq_keys::any::AnyKeyError;
use pq_keys::classical::ClassicalKeyError;
use serde::Serialize;

use super::encode::{self, Encoding, Form};
use super::facts::KeyFacts;
use crate::arguments::AlgorithmParser;
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output, Source};
use crate::keys::{Algorithm, KeyError};
use crate::passphrases::PassphraseOptions;
use crate::report::Report;

/// Write a private key in another encoding or form
///
/// A raw key doesn't say its algorithm: name it with --algorithm. FILE is then a seed, an expanded key or an
/// ECDSA scalar, as bytes, in hexadecimal or in base64. To convert public keys, see "pqtls key public".
///
/// The result is not encrypted, even if FILE is: see "pqtls key encrypt".
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A private key in PEM or DER, or raw with --algorithm; "-" is standard input
    file: Source,

    /// FILE is a raw key of this algorithm
    #[arg(
        long,
        value_parser = AlgorithmParser,
        hide_possible_values = true,
        conflicts_with_all = ["passphrase_file", "passphrase_fd", "passphrase_env"],
    )]
    algorithm: Option<Algorithm>,

    /// The encoding
    #[arg(long, value_enum, default_value = "pem", value_name = "FORMAT")]
    format: Encoding,

    /// The form of the key to write [default: as in FILE; as raw bytes, the seed if FILE has both]
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "seed|expanded|both"
    )]
    form: Option<Form>,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls key convert kem.key --form seed --out kem.seed.key
  $ pqtls key convert server.key --format hex --out server.seed
  $ pqtls key convert server.seed --algorithm ML-DSA-65 --format der --out server.der
  $ pqtls key convert server.key --format jwk --out server.private.jwk";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to(&[out], *force, json)?;
    let file = match arguments.algorithm {
        Some(Algorithm::Classical(algorithm)) if algorithm.raw_private_key_len().is_none() => {
            return Err(ClassicalKeyError::NoRawBytes(algorithm).into());
        }
        Some(Algorithm::Composite(algorithm)) => {
            return Err(KeyError::NoRawBytes(algorithm).into());
        }
        Some(algorithm) => documents::raw_private_key(&arguments.file, algorithm)?,
        None => documents::private_key(&arguments.file, &arguments.passphrase)?,
    };
    let encoding = arguments.format;
    let by_default = match (file.key.algorithm(), file.form) {
        (Algorithm::PostQuantum(algorithm), Some(found)) => {
            Some(default_form(found, algorithm.preferred_form(), encoding))
        }
        _ => None,
    };
    let form = arguments.form.or(by_default);
    let written = encode::private_key(&file.key, form, encoding);
    let (content, form) = written.map_err(|failure| match failure {
        Failure::Key(KeyError::Any(AnyKeyError::PostQuantum(pq_keys::KeyError::NoSeed(_))))
            if encoding.is_of_seeds() =>
        {
            Failure::NoSeedToWrite(arguments.file.to_string())
        }
        failure => failure,
    })?;
    let output = Output {
        to: out,
        content: &content,
        access: Access::Private,
        is_binary: encoding.is_binary(),
    };
    let report = KeyConverted {
        key: KeyFacts::of(&file.key.public_half()),
        form,
        encoding,
        file: out.to_string(),
    };
    delivery.deliver(&[output], &report)
}

/// What the file has, where that can be written.
fn default_form(found: PrivateKeyForm, preferred: PrivateKeyForm, encoding: Encoding) -> Form {
    let is_raw = matches!(encoding, Encoding::Hex | Encoding::Base64);
    match (found, preferred) {
        (PrivateKeyForm::Both, _) if is_raw => Form::Seed,
        // If there is no seed, writing the key says so.
        _ if encoding.is_of_seeds() => Form::Seed,
        // A raw seed of SLH-DSA: there is no PKCS#8 for it.
        (PrivateKeyForm::Seed, PrivateKeyForm::Expanded) if !is_raw => Form::Expanded,
        (found, _) => found.into(),
    }
}

#[derive(Debug, Serialize)]
struct KeyConverted {
    #[serde(flatten)]
    key: KeyFacts,
    /// Only for post-quantum keys.
    form: Option<Form>,
    encoding: Encoding,
    file: String,
}

impl Report for KeyConverted {
    const SCHEMA: &'static str = "key-convert/1";
}

impl fmt::Display for KeyConverted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.file, self.key.in_form(self.form))?;
        writeln!(f, "fingerprint {}", self.key.fingerprint)
    }
}
