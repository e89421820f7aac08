//! The command `pqtls sign`: a pure or pre-hash signature of a file by ML-DSA or SLH-DSA, in a file of its own.

use core::fmt;

use pq_keys::VerifyingKey;
use pq_keys::signing::SigningVariant;
use pq_keystore::policy::Input;
use serde::Serialize;

use super::format::Format;
use super::message::{AgreedOptions, Message, MessageFacts};
use crate::commands::custody::{KeySource, SignerStore};
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::commands::key::KeyFacts;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, StoreFailure};
use crate::files::{Access, Source};
use crate::passphrases::PassphraseOptions;
use crate::report::Report;

/// Sign a file, and write the signature to its own file
///
/// Files may be of any size: they are read once, in little memory. Only SLH-DSA needs the whole file in
/// memory, up to 64 MiB, unless it signs a hash: see --pre-hash.
///
/// Signatures follow FIPS 204 and FIPS 205, and are different each time unless --deterministic is given. A
/// hash function that is weaker than the key is refused.
///
/// Without --context and --pre-hash the signature is also one of a CMS message with the same content (RFC 9882). So
/// what may be the signed attributes of a CMS message is refused: its signature would be one of other content.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A private key in PEM or DER, or store:NAME for one in a key store; "-" is standard input
    #[arg(long, value_name = "FILE")]
    key: KeySource,

    /// What to sign; "-" is standard input
    #[arg(default_value = "-")]
    file: Source,

    #[command(flatten)]
    agreed: AgreedOptions,

    /// Make the same signature each time, by a key in a file; without randomness, side channels and faults reveal more about
    /// the key
    #[arg(long)]
    deterministic: bool,

    /// How to write the signature
    #[arg(long, value_enum, default_value = "raw", value_name = "FORMAT")]
    format: Format,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    passphrase: PassphraseOptions,

    #[command(flatten, next_help_heading = "Key store, for --key store:NAME")]
    key_store: SignerStore,
}

const EXAMPLES: &str = "\
Examples:
  $ echo 'Version 1.0' > release.txt
  $ pqtls sign --key server.key release.txt --out release.sig
  $ pqtls sign --key root.key release.txt --pre-hash SHA-256 --context v1 --out root.sig
  $ cat release.txt | pqtls sign --key server.key --format base64 > release.b64";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let format = arguments.format;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    format.check(out)?;
    let variant = match arguments.deterministic {
        true => SigningVariant::Deterministic,
        false => SigningVariant::Hedged,
    };
    let agreed = &arguments.agreed;
    let (public, facts, signature) = match &arguments.key {
        KeySource::File(file) => {
            let key = documents::post_quantum_signing_key(file, &arguments.passphrase)?;
            let public = key.verifying_key();
            let read = agreed.read(&arguments.file, public, |options| key.hasher(options))?;
            let (message, facts) = read;
            facts.check_to_sign()?;
            let signature = match &message {
                Message::Whole(message) => key.sign_with(message, &agreed.options(), variant),
                Message::Hashed(message) => key.sign_hashed(message, variant),
            }?;
            (public.clone(), facts, signature)
        }
        KeySource::Store(name) => arguments.sign_in_store(name)?,
    };
    let report = Signed {
        key: KeyFacts::of(&public.into()),
        message: facts,
        deterministic: arguments.deterministic,
        format,
        file: out.to_string(),
    };
    let content = format.encode(&signature);
    delivery.deliver(&[format.output(out, &content, Access::Public)], &report)
}

impl Arguments {
    /// Signs by a key in a store, which gets µ where there is one, and otherwise the message.
    fn sign_in_store(&self, name: &str) -> Result<(VerifyingKey, MessageFacts, Vec<u8>), Failure> {
        if self.deterministic {
            return Err(StoreFailure::NotDeterministic.into());
        }
        let key = self.key_store.key(name)?;
        let (public, agreed) = (key.verifying_key()?, &self.agreed);
        let (message, facts) =
            agreed.read(&self.file, &public, |options| public.hasher(options))?;
        facts.check_to_sign()?;
        let input = match &message {
            Message::Whole(message) => Input::Message {
                message,
                context: agreed.context(),
            },
            Message::Hashed(message) => Input::Mu(message.mu().ok_or(StoreFailure::NoPreHash)?),
        };
        let signature = key.sign_input(input)?;
        Ok((public, facts, signature))
    }
}

/// A signature that was made.
#[derive(Debug, Serialize)]
struct Signed {
    #[serde(flatten)]
    key: KeyFacts,
    #[serde(flatten)]
    message: MessageFacts,
    deterministic: bool,
    format: Format,
    file: String,
}

impl Report for Signed {
    const SCHEMA: &'static str = "sign/1";
}

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (message, algorithm) = (self.message.name(), &self.key.algorithm);
        writeln!(f, "{}: signature of {message} by {algorithm}", self.file)?;
        write!(f, "{}", self.message)?;
        writeln!(f, "  fingerprint  {}", self.key.fingerprint)
    }
}
