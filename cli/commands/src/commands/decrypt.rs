//! The command `pqtls decrypt`: files encrypted by HPKE in this project's own format, not CMS. Its file appears only
//! after all content was authenticated.

use core::fmt;

use std::io::BufRead;

use pq_hpke::{DecryptionError, Decryptor};
use serde::Serialize;

use super::delivery::{Delivery, OutputOptions};
use super::watched::Watched;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Growing, Source};
use crate::kind::Kind;
use crate::passphrases::PassphraseOptions;
use crate::report::{Report, with_unit};

/// Decrypt a file that was encrypted to a key
///
/// The content is written only after all of it was authenticated. For messages (CMS), see "pqtls cms decrypt".
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The file, as "pqtls encrypt" writes it; "-" is standard input
    #[arg(default_value = "-")]
    file: Source,

    /// The recipient's private ML-KEM or X-Wing key
    #[arg(long, value_name = "FILE")]
    key: Source,

    #[command(flatten)]
    passphrase: PassphraseOptions,

    #[command(flatten)]
    output: OutputOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls key new X-Wing --out mine.key --public mine.pub
  $ echo 'Version 1.0' | pqtls encrypt --to mine.pub --out release.mine
  $ pqtls decrypt release.mine --key mine.key --out release.1.0.txt";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to(&[out], *force, json)?;
    let key = documents::recipient_key(&arguments.key, &arguments.passphrase)?;
    let mut file = Watched::open(&arguments.file)?;
    // An error of reading comes again.
    let is_message = file.fill_buf().is_ok_and(Kind::is_begun_message);
    let mut grown = Growing::begin(out, Access::Private, *force)?;
    let decrypted = Decryptor::new(key).decrypt(file, &mut grown);
    let decrypted = decrypted.map_err(|error| {
        let file = arguments.file.to_string();
        match error {
            DecryptionError::NotEncrypted if is_message => Failure::MessageToDecrypt(file),
            error => Failure::Decryption { file, error },
        }
    })?;
    let report = Decrypted {
        encrypted: arguments.file.to_string(),
        algorithm: decrypted.kem.name(),
        cipher: decrypted.suite.aead.name(),
        kdf: decrypted.suite.kdf.name(),
        bytes: decrypted.len,
        file: out.to_string(),
    };
    delivery.deliver_grown(grown, out, &report)
}

/// A file that was decrypted.
#[derive(Debug, Serialize)]
struct Decrypted {
    encrypted: String,
    algorithm: &'static str,
    cipher: &'static str,
    kdf: &'static str,
    bytes: u64,
    file: String,
}

impl Report for Decrypted {
    const SCHEMA: &'static str = "decrypt/1";
}

impl fmt::Display for Decrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (encrypted, cipher) = (&self.encrypted, self.cipher);
        let len = with_unit(self.bytes, "byte");
        writeln!(
            f,
            "{}: {len} of {encrypted}, authenticated by {cipher}",
            self.file
        )
    }
}
