//! The command `pqtls verify`: it verifies a signature of `pqtls sign` with a key, or with a certificate that it
//! trusts without a check.

use core::fmt;

use pq_keys::KeyError;
use serde::Serialize;

use super::message::{AgreedOptions, Message, MessageFacts};
use crate::commands::key::KeyFacts;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::passphrases::PassphraseOptions;
use crate::report::{self, Report};

/// Verify the signature of a file
///
/// The context and the pre-hash have to be the signer's. Only the key of a certificate is used: see "pqtls
/// cert verify" for whether to trust the certificate.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The signer's key or certificate, in PEM or DER; "-" is standard input
    #[arg(long, value_name = "FILE")]
    key: Source,

    /// The signature, as bytes, in hexadecimal or in base64; "-" is standard input
    #[arg(long, value_name = "FILE")]
    signature: Source,

    /// What was signed; "-" is standard input
    #[arg(default_value = "-")]
    file: Source,

    #[command(flatten)]
    agreed: AgreedOptions,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls verify --key server.pub --signature release.sig release.txt
  $ pqtls verify --key root.pub --signature root.sig release.txt --pre-hash SHA-256 --context v1
  $ cat release.txt | pqtls verify --key server.pub --signature release.b64 --json";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let key = documents::verifying_key(&arguments.key, &arguments.passphrase)?;
    let algorithm = key.algorithm();
    let what = format!("signature of {algorithm}");
    let signature = documents::raw_bytes(&arguments.signature, &what, algorithm.signature_len())?;
    let agreed = &arguments.agreed;
    let (message, facts) = agreed.read(&arguments.file, &key, |options| key.hasher(options))?;
    let verified = match &message {
        Message::Whole(message) => key.verify_with(message, &signature, &agreed.options()),
        Message::Hashed(message) => key.verify_hashed(message, &signature),
    };
    let failure = match verified {
        Ok(()) => None,
        Err(KeyError::InvalidSignature(_)) => Some(Failure::InvalidSignature {
            signature: arguments.signature.to_string(),
            message: facts.name(),
            key: arguments.key.to_string(),
            advice: facts.advice(),
        }),
        Err(error) => return Err(error.into()),
    };
    let report = Verdict {
        valid: failure.is_none(),
        key: KeyFacts::of(&key.into()),
        message: facts,
        signature: arguments.signature.to_string(),
        reason: failure.as_ref().map(Failure::to_string),
    };
    report::print_verdict(&report, failure, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct Verdict {
    valid: bool,
    #[serde(flatten)]
    key: KeyFacts,
    #[serde(flatten)]
    message: MessageFacts,
    signature: String,
    /// Why it is not valid.
    reason: Option<String>,
}

impl Report for Verdict {
    const SCHEMA: &'static str = "verify/1";
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (message, algorithm) = (self.message.name(), &self.key.algorithm);
        let signature = &self.signature;
        writeln!(
            f,
            "{signature}: valid signature of {message} by {algorithm}"
        )?;
        write!(f, "{}", self.message)?;
        writeln!(f, "  fingerprint  {}", self.key.fingerprint)
    }
}
