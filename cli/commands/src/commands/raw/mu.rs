//! The command `pqtls mu`: the message representative of ML-DSA (FIPS 204 section 6.2), for a private key that is
//! elsewhere.

use core::fmt;

use pq_cms::AttributesGuard;
use pq_keys::signing::SignatureOptions;
use pq_keys::{KeyError, SignatureAlgorithm};
use serde::Serialize;

use super::format::Format;
use super::message::{self, ContextOptions};
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::commands::key::KeyFacts;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Source};
use crate::passphrases::PassphraseOptions;
use crate::report::{Report, hex};

/// Compute the message representative that ML-DSA signs (external µ)
///
/// µ has 64 bytes and is not secret. It is for keys in hardware modules and services: compute µ with the public
/// key where the file is, and sign it where the private key is, with "pqtls sign --mu" or anything else that
/// takes an external µ (FIPS 204, section 6.2). The result is a signature of the file. Files that "pqtls sign" refuses
/// have no µ.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The signer's key or certificate, in PEM or DER; "-" is standard input
    #[arg(long, value_name = "FILE")]
    key: Source,

    /// What to sign; "-" is standard input
    #[arg(default_value = "-")]
    file: Source,

    #[command(flatten)]
    context: ContextOptions,

    /// How to write µ
    #[arg(long, value_enum, default_value = "hex", value_name = "FORMAT")]
    format: Format,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls mu --key server.pub release.txt
  $ pqtls mu --key server.pub release.txt --format raw --out release.mu
  $ pqtls sign --key server.key release.mu --mu --out release.mu.sig
  $ pqtls verify --key server.pub --signature release.mu.sig release.txt";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let format = arguments.format;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    format.check(out)?;
    let key = documents::verifying_key(&arguments.key, &arguments.passphrase)?;
    let no_mu = || KeyError::NoMu(key.algorithm());
    if !SignatureAlgorithm::ML_DSA.contains(&key.algorithm()) {
        return Err(no_mu().into());
    }
    let context = arguments.context.as_bytes();
    let hasher = key.hasher(&SignatureOptions::new().context(context))?;
    let mut guard = AttributesGuard::new();
    let (message, bytes) = message::hash(&arguments.file, hasher, &mut guard)?;
    // Whoever signs µ does not see what it is of.
    let file = arguments.file.to_string();
    message::check_to_sign(guard.may_be_attributes(), &hex(context), &file)?;
    let mu = message.mu().ok_or_else(no_mu)?;
    let content = format.encode(mu);
    let report = Mu {
        mu: hex(mu),
        message: file,
        bytes,
        context: hex(context),
        format,
        file: out.to_string(),
        key: KeyFacts::of(&key.into()),
    };
    delivery.deliver(&[format.output(out, &content, Access::Public)], &report)
}

#[derive(Debug, Serialize)]
struct Mu {
    #[serde(flatten)]
    key: KeyFacts,
    message: String,
    bytes: u64,
    /// In hexadecimal, like µ.
    context: String,
    mu: String,
    format: Format,
    file: String,
}

impl Report for Mu {
    const SCHEMA: &'static str = "mu/1";
}

impl fmt::Display for Mu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (message, algorithm) = (&self.message, &self.key.algorithm);
        writeln!(f, "{}: µ of {message} for {algorithm}", self.file)?;
        writeln!(f, "  fingerprint  {}", self.key.fingerprint)
    }
}
