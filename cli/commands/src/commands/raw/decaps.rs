//! The command `pqtls decaps`: the shared secret of an ML-KEM ciphertext (FIPS 203).

use core::fmt;

use serde::Serialize;
use zeroize::Zeroizing;

use super::format::Format;
use super::secret::SecretOptions;
use crate::commands::key::KeyFacts;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::passphrases::PassphraseOptions;
use crate::report::Report;

/// Recover the shared secret from a ciphertext
///
/// A ciphertext that was made for another key, or was changed, gives a secret that nobody else has: this
/// is how ML-KEM rejects it (FIPS 203, algorithm 18). Only the owner of the secret's file can read it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A private ML-KEM key, in PEM or DER; "-" is standard input
    #[arg(long, value_name = "FILE")]
    key: Source,

    /// The ciphertext, as bytes, in hexadecimal or in base64; "-" is standard input
    #[arg(default_value = "-")]
    ciphertext: Source,

    #[command(flatten)]
    output: SecretOptions,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls decaps --key kem.key kem.ct --out kem.secret2
  $ cmp kem.secret kem.secret2";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let output = &arguments.output;
    let delivery = output.check(json)?;
    let key = documents::decapsulation_key(&arguments.key, &arguments.passphrase)?;
    let algorithm = key.algorithm();
    let what = format!("ciphertext of {algorithm}");
    let ciphertext =
        documents::raw_bytes(&arguments.ciphertext, &what, algorithm.ciphertext_len())?;
    let mut secret = Zeroizing::new([0; 32]);
    key.decapsulate_into(&ciphertext, &mut secret)?;
    let report = Decapsulated {
        key: KeyFacts::of(&key.encapsulation_key().clone().into()),
        format: output.format,
        ciphertext: arguments.ciphertext.to_string(),
        file: output.output.out.to_string(),
    };
    output.deliver(&delivery, &*secret, &report)
}

/// The facts about a secret that was recovered, without the secret.
#[derive(Debug, Serialize)]
struct Decapsulated {
    #[serde(flatten)]
    key: KeyFacts,
    format: Format,
    ciphertext: String,
    file: String,
}

impl Report for Decapsulated {
    const SCHEMA: &'static str = "decaps/1";
}

impl fmt::Display for Decapsulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ciphertext, algorithm) = (&self.ciphertext, &self.key.algorithm);
        writeln!(
            f,
            "{}: shared secret of {ciphertext} by {algorithm}",
            self.file
        )?;
        writeln!(f, "fingerprint {}", self.key.fingerprint)
    }
}
