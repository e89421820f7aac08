//! The command `pqtls ssh verify`: it verifies an SSH signature against an `allowed_signers` file, for an identity, a
//! namespace and a time.

use core::fmt;

use pq_ssh::AllowedSigners;
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use super::input;
use crate::arguments::time;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::report::{self, Report};

/// Verify a signature of a file by an SSH key
///
/// A file says who may sign, in the format of "ssh-keygen -Y verify": each line has a name, perhaps options,
/// and a public key.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What was signed; "-" is standard input
    #[arg(default_value = "-")]
    file: Source,

    /// The signature
    #[arg(long, value_name = "FILE")]
    signature: Source,

    /// The file that says who may sign, one line each
    #[arg(long, value_name = "FILE")]
    signers: Source,

    /// Who has to have signed, by the name in that file
    #[arg(long, value_name = "NAME")]
    identity: String,

    /// What the signature has to be for
    #[arg(long, value_name = "NAME", default_value = "file")]
    namespace: String,

    /// When it was signed, for keys that may sign at some times only [default: now]
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<UnixTime>,
}

const EXAMPLES: &str = "\
Examples:
  $ echo \"alice $(cat id_alice.pub)\" > signers
  $ pqtls ssh verify release.txt --signature alice.sig --signers signers --identity alice";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let signers = AllowedSigners::parse(&*input::bytes(&arguments.signers)?);
    let signers = signers.map_err(|error| Failure::SshSigners {
        file: arguments.signers.to_string(),
        error,
    })?;
    for left_out in signers.left_out() {
        report::warn(format_args!("{}: {left_out}", arguments.signers));
    }
    let text = input::text(&arguments.signature)?;
    let signature = documents::ssh_signature(&text, &arguments.signature.to_string())?;
    let message = input::hashed(&arguments.file, signature.hash_algorithm())?;
    let at = arguments.at.unwrap_or_else(UnixTime::now);
    let verified = signers.verify(
        &arguments.identity,
        &arguments.namespace,
        at,
        &signature,
        &message,
    );
    let failure = verified.err().map(|error| Failure::SshNotAllowed {
        file: arguments.signature.to_string(),
        error: Box::new(error),
    });
    let verdict = SshVerdict {
        valid: failure.is_none(),
        message: arguments.file.to_string(),
        signature: arguments.signature.to_string(),
        identity: arguments.identity.clone(),
        namespace: arguments.namespace.clone(),
        fingerprint: signature.public_key().fingerprint(),
        reason: failure.as_ref().map(Failure::to_string),
    };
    report::print_verdict(&verdict, failure, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct SshVerdict {
    valid: bool,
    message: String,
    signature: String,
    identity: String,
    namespace: String,
    /// The fingerprint of the key that the signature names.
    fingerprint: String,
    /// Why it was refused.
    reason: Option<String>,
}

impl Report for SshVerdict {
    const SCHEMA: &'static str = "ssh-verify/1";
}

impl fmt::Display for SshVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            message,
            identity,
            namespace,
            fingerprint,
            ..
        } = self;
        writeln!(f, "{message}: signed by {identity}, for \"{namespace}\"")?;
        writeln!(f, "fingerprint {fingerprint}")
    }
}
