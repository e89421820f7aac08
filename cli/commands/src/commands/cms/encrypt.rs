//! The command `pqtls cms encrypt`: AuthEnvelopedData (RFC 5083) with AES-256-GCM, for recipients with ML-KEM keys
//! (RFC 9936) or classical ones. The report warns of the latter.

use core::fmt;

use pq_cms::{ContentCipher, EnvelopeBuilder, EnvelopingError, Recipient};
use pq_keys::SubjectKey;
use serde::Serialize;

use super::input::MessageWriter;
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::commands::watched::Watched;
use crate::documents::{self, KeyOrCertificate};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{self, Access, Growing, Source};
use crate::keys::EncryptionKey;
use crate::passphrases::PassphraseOptions;
use crate::report::{Report, fingerprint};

/// Encrypt a file to ML-KEM keys, and to classical ones
///
/// AES-256-GCM encrypts and authenticates the content, of at most 64 GiB. Every recipient can decrypt it, so
/// one recipient with a classical key (ECDH on P-256 or P-384, or X25519) lets a quantum computer read the
/// message. The message doesn't say who encrypted it: to show that, sign the file first.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What to encrypt; "-" is standard input
    #[arg(default_value = "-")]
    file: Source,

    /// A recipient's certificate or public key; once for each. It is up to you to check that it is theirs
    #[arg(long = "to", value_name = "FILE", required = true)]
    recipients: Vec<Source>,

    /// Write PEM instead of DER
    #[arg(long)]
    pem: bool,

    #[command(flatten)]
    passphrase: PassphraseOptions,

    #[command(flatten)]
    output: OutputOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls key new ML-KEM-768 --out archive.key --public archive.pub
  $ pqtls cms encrypt release.txt --to archive.pub --out release.enc";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    if !arguments.pem {
        files::check_binary(out)?;
    }
    let cipher = ContentCipher::Aes256Gcm;
    let mut builder = EnvelopeBuilder::new().cipher(cipher);
    let mut recipients = Vec::new();
    for file in &arguments.recipients {
        let (recipient, facts) = recipient(file, &arguments.passphrase)?;
        builder = builder.recipient(recipient);
        recipients.push(facts);
    }
    let content = Watched::open(&arguments.file)?;
    let grown = Growing::begin(out, Access::Public, *force)?;
    let mut message = MessageWriter::new(grown, arguments.pem).map_err(EnvelopingError::from)?;
    builder.encrypt(content, &mut message)?;
    let report = Encrypted {
        message: arguments.file.to_string(),
        cipher: cipher.name(),
        recipients,
        file: out.to_string(),
    };
    let grown = message.finish().map_err(EnvelopingError::from)?;
    delivery.deliver_grown(grown, out, &report)
}

/// The message names a certificate by its issuer and number, and a key by an identifier that anybody can
/// compute from it.
fn recipient(file: &Source, passphrase: &PassphraseOptions) -> Result<(Recipient, For), Failure> {
    let (recipient, key, subject) =
        match documents::encryption_key_or_certificate(file, passphrase)? {
            KeyOrCertificate::Certificate(certificate, key) => (
                match &key {
                    EncryptionKey::PostQuantum(_) => Recipient::certificate(&certificate)?,
                    EncryptionKey::Classical(key) => {
                        Recipient::agreement_certificate(&certificate, key.clone())?
                    }
                },
                key,
                Some(certificate.describe_subject()),
            ),
            KeyOrCertificate::Key(key) => {
                let identifier = pq_cms::key_identifier(&key);
                let recipient = match &key {
                    EncryptionKey::PostQuantum(key) => Recipient::key(key.clone(), &identifier),
                    EncryptionKey::Classical(key) => {
                        Recipient::agreement_key(key.clone(), &identifier)
                    }
                };
                (recipient, key, None)
            }
        };
    let facts = For {
        file: file.to_string(),
        subject,
        algorithm: key.algorithm(),
        post_quantum: key.is_post_quantum(),
        fingerprint: fingerprint(&key.spki()),
    };
    Ok((recipient, facts))
}

/// A message that was encrypted.
#[derive(Debug, Serialize)]
struct Encrypted {
    message: String,
    cipher: &'static str,
    recipients: Vec<For>,
    file: String,
}

#[derive(Debug, Serialize)]
struct For {
    file: String,
    /// The certificate's, if there is one.
    subject: Option<String>,
    algorithm: &'static str,
    post_quantum: bool,
    /// The fingerprint of the key.
    fingerprint: String,
}

impl Report for Encrypted {
    const SCHEMA: &'static str = "cms-encrypt/1";
}

impl fmt::Display for Encrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (message, cipher) = (&self.message, self.cipher);
        writeln!(f, "{}: {message} encrypted by {cipher}", self.file)?;
        for recipient in &self.recipients {
            let name = recipient.subject.as_ref().unwrap_or(&recipient.file);
            writeln!(f, "  for {name}, {}", recipient.algorithm)?;
        }
        match self
            .recipients
            .iter()
            .all(|recipient| recipient.post_quantum)
        {
            true => Ok(()),
            false => writeln!(
                f,
                "  not safe against quantum computers, because of a classical key"
            ),
        }
    }
}
