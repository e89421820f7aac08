//! The command `pqtls cms decrypt`: it opens AuthEnvelopedData (RFC 5083) with a key of ML-KEM, ECDH or X25519, and
//! refuses AES-CBC. Its file appears only after all content was authenticated.

use core::fmt;

use pq_cms::{Opened, Opener, RecipientKey, decode_if_pem};
use serde::Serialize;

use super::write_unusual_type;
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::commands::watched::Watched;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Growing, Source};
use crate::keys::DecryptionKey;
use crate::passphrases::PassphraseOptions;
use crate::report::{Report, with_unit};
use crate::words::oid_name;

/// Decrypt a message
///
/// The content is written only after all of it was authenticated. Messages whose cipher doesn't authenticate
/// are refused.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The message, in PEM or DER; "-" is standard input
    #[arg(default_value = "-")]
    message: Source,

    /// A recipient's private key: of ML-KEM, on P-256 or P-384, or of X25519
    #[arg(long, value_name = "FILE")]
    key: Source,

    /// The key's certificate, to find the key among many recipients
    #[arg(long = "cert", value_name = "FILE")]
    certificate: Option<Source>,

    #[command(flatten)]
    passphrase: PassphraseOptions,

    #[command(flatten)]
    output: OutputOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cms decrypt release.enc --key archive.key --out release.decrypted.txt";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to(&[out], *force, json)?;
    let refused = |error| Failure::EncryptedMessage {
        file: arguments.message.to_string(),
        error,
    };
    let key = documents::decryption_key(&arguments.key, &arguments.passphrase);
    let key = key.map_err(|error| match error.is_of_rsa_for_signatures() {
        true => Failure::RsaToDecrypt(arguments.key.to_string()),
        false => error.into(),
    })?;
    let own = match &arguments.certificate {
        None => match &key {
            DecryptionKey::PostQuantum(key) => RecipientKey::new(key),
            DecryptionKey::Classical(key) => RecipientKey::agreement(key),
        },
        Some(file) => {
            let certificate = documents::first_certificate(file)?;
            match &key {
                DecryptionKey::PostQuantum(key) => {
                    RecipientKey::with_certificate(key, &certificate)
                }
                DecryptionKey::Classical(key) => {
                    RecipientKey::agreement_with_certificate(key, &certificate)
                }
            }
            .map_err(refused)?
        }
    };
    let message = decode_if_pem(Watched::open(&arguments.message)?);
    let message = message.map_err(|error| refused(error.into()))?;
    let mut grown = Growing::begin(out, Access::Private, *force)?;
    let opened = Opener::new(own)
        .write_unauthenticated(message, &mut grown)
        .map_err(refused)?;
    let report = Decrypted::of(arguments, &opened);
    delivery.deliver_grown(grown, out, &report)
}

/// A message that was decrypted.
#[derive(Debug, Serialize)]
struct Decrypted {
    message: String,
    cipher: &'static str,
    recipients: u64,
    bytes: u64,
    /// What the content is, as the sender says: `data` for a file.
    content_type: String,
    file: String,
}

impl Decrypted {
    fn of(arguments: &Arguments, opened: &Opened) -> Self {
        Self {
            message: arguments.message.to_string(),
            cipher: opened.cipher.name(),
            recipients: opened.recipients,
            bytes: opened.len,
            content_type: oid_name(opened.content_type),
            file: arguments.output.out.to_string(),
        }
    }
}

impl Report for Decrypted {
    const SCHEMA: &'static str = "cms-decrypt/1";
}

impl fmt::Display for Decrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (message, cipher) = (&self.message, self.cipher);
        let len = with_unit(self.bytes, "byte");
        writeln!(
            f,
            "{}: {len} of {message}, authenticated by {cipher}",
            self.file
        )?;
        write_unusual_type(f, Some(&self.content_type))
    }
}
