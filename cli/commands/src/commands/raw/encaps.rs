//! The command `pqtls encaps`: a shared secret and its ML-KEM ciphertext (FIPS 203), in two files that are written
//! together.

use core::fmt;

use serde::Serialize;
use zeroize::Zeroizing;

use super::format::Format;
use super::secret::EncapsulationOptions;
use crate::commands::key::KeyFacts;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::passphrases::PassphraseOptions;
use crate::report::Report;

/// Make a shared secret and the ciphertext that carries it to a key's owner
///
/// --out is for the ciphertext. The secret has 32 bytes and is different each time; only the owner of its file can read it. The key's owner
/// recovers it from the ciphertext with "pqtls decaps".
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// An ML-KEM key or a certificate with one, in PEM or DER; "-" is standard input
    #[arg(long, value_name = "FILE")]
    key: Source,

    #[command(flatten)]
    output: EncapsulationOptions,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls key public kem.key --out kem.pub
  $ pqtls encaps --key kem.pub --out kem.ct --secret kem.secret";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let delivery = arguments.output.check(json)?;
    let key = documents::encapsulation_key(&arguments.key, &arguments.passphrase)?;
    let mut secret = Zeroizing::new([0; 32]);
    let ciphertext = key.encapsulate_into(&mut secret)?;
    let output = &arguments.output;
    let report = Encapsulated {
        key: KeyFacts::of(&key.into()),
        format: output.format,
        ciphertext: output.output.out.to_string(),
        secret_file: output.secret.to_string(),
    };
    output.deliver(&delivery, (&ciphertext, &*secret), &report)
}

/// The facts about a secret that was made, without the secret.
#[derive(Debug, Serialize)]
struct Encapsulated {
    #[serde(flatten)]
    key: KeyFacts,
    format: Format,
    ciphertext: String,
    secret_file: String,
}

impl Report for Encapsulated {
    const SCHEMA: &'static str = "encaps/1";
}

impl fmt::Display for Encapsulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: ciphertext of {}",
            self.ciphertext, self.key.algorithm
        )?;
        writeln!(f, "{}: its shared secret", self.secret_file)?;
        writeln!(f, "fingerprint {}", self.key.fingerprint)
    }
}
