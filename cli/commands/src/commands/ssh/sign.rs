//! The command `pqtls ssh sign`: a signature in the format of `ssh-keygen -Y sign`, for a namespace.

use core::fmt;

use pq_keystore::policy::Input;
use pq_ssh::{HashAlgorithm, PublicKey, Signature, SignatureError};
use serde::Serialize;

use super::input;
use crate::commands::custody::{KeySource, SignerStore};
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output, Source};
use crate::passphrases::PassphraseOptions;
use crate::report::Report;

/// Sign a file with an SSH key
///
/// The file may be of any size. "ssh-keygen -Y verify" and "pqtls ssh verify" verify the signature.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What to sign; "-" is standard input
    #[arg(default_value = "-")]
    file: Source,

    /// The private key: a file, or store:NAME for a key in a key store, of MLDSA44-Ed25519-SHA512
    #[arg(long, value_name = "FILE")]
    key: KeySource,

    /// What the signature is for; it is valid for nothing else
    #[arg(long, value_name = "NAME", default_value = "file")]
    namespace: String,

    #[command(flatten)]
    passphrase: PassphraseOptions,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten, next_help_heading = "Key store, for --key store:NAME")]
    key_store: SignerStore,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ssh sign release.txt --key id_alice --out alice.sig
  $ pqtls ssh sign release.txt --key id_bob --passphrase-file ssh.txt > release.bob.sig";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    let (namespace, hash) = (&arguments.namespace, HashAlgorithm::Sha512);
    let signature = match &arguments.key {
        KeySource::File(file) => {
            let key = input::private_key(file, &arguments.passphrase)?;
            let message = input::hashed(&arguments.file, hash)?;
            key.sign(namespace, &message)?
        }
        KeySource::Store(name) => {
            let key = arguments.key_store.key(name)?;
            let public = PublicKey::new(key.composite_key()?).map_err(SignatureError::Key)?;
            let message = input::hashed(&arguments.file, hash)?;
            Signature::by(&public, namespace, &message, |signed| {
                key.sign_input(Input::message(signed))
            })?
        }
    };
    let armored = signature.to_armored();
    let output = Output {
        to: out,
        content: armored.as_bytes(),
        access: Access::Public,
        is_binary: false,
    };
    let report = SshSigned {
        message: arguments.file.to_string(),
        namespace: arguments.namespace.clone(),
        fingerprint: signature.public_key().fingerprint(),
        file: out.to_string(),
    };
    delivery.deliver(&[output], &report)
}

/// A file that was signed.
#[derive(Debug, Serialize)]
struct SshSigned {
    message: String,
    namespace: String,
    /// The fingerprint of the key.
    fingerprint: String,
    file: String,
}

impl Report for SshSigned {
    const SCHEMA: &'static str = "ssh-sign/1";
}

impl fmt::Display for SshSigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            message,
            namespace,
            fingerprint,
            file,
        } = self;
        writeln!(f, "{file}: signature of {message}, for \"{namespace}\"")?;
        writeln!(f, "fingerprint {fingerprint}")
    }
}
