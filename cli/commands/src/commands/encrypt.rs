//! The command `pqtls encrypt`: it encrypts a file to one ML-KEM or X-Wing key by HPKE, in this project's own format.
//! A certificate that limits key usages has to allow key encipherment.

use core::fmt;

use clap::ValueEnum;
use pq_hpke::{Aead, Encryptor, RecipientPublicKey, Suite};
use pq_x509::certificate::KeyUsages;
use serde::Serialize;

use super::delivery::{Delivery, OutputOptions};
use super::watched::Watched;
use crate::documents::{self, KeyOrCertificate};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{self, Access, Growing, Source};
use crate::passphrases::PassphraseOptions;
use crate::report::{Report, fingerprint, with_unit};

/// Encrypt a file to an ML-KEM or X-Wing key
///
/// HPKE (RFC 9180, draft-ietf-hpke-pq) encrypts it in chunks, each of which is authenticated. Files may be of
/// any size. The result doesn't say who encrypted it: to show that, sign the file first. For several
/// recipients, and for OpenSSL, see "pqtls cms encrypt".
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What to encrypt; "-" is standard input
    #[arg(default_value = "-")]
    file: Source,

    /// The recipient's public key or certificate. It is up to you to check that it is theirs
    #[arg(long = "to", value_name = "FILE")]
    recipient: Source,

    /// The cipher
    #[arg(long, value_enum, default_value = "aes-256-gcm", value_name = "CIPHER")]
    aead: AeadName,

    #[command(flatten)]
    passphrase: PassphraseOptions,

    #[command(flatten)]
    output: OutputOptions,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum AeadName {
    #[value(name = "aes-128-gcm", help = "AES-128-GCM")]
    Aes128Gcm,
    #[value(name = "aes-256-gcm", help = "AES-256-GCM")]
    Aes256Gcm,
    #[value(
        name = "chacha20-poly1305",
        help = "ChaCha20-Poly1305, for CPUs without instructions for AES"
    )]
    ChaCha20Poly1305,
}

impl From<AeadName> for Aead {
    fn from(name: AeadName) -> Self {
        match name {
            AeadName::Aes128Gcm => Self::Aes128Gcm,
            AeadName::Aes256Gcm => Self::Aes256Gcm,
            AeadName::ChaCha20Poly1305 => Self::ChaCha20Poly1305,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls key new X-Wing --out box.key --public box.pub
  $ pqtls encrypt release.txt --to box.pub --out release.hpke";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    files::check_binary(out)?;
    let recipient = recipient(&arguments.recipient, &arguments.passphrase)?;
    let suite = Suite {
        aead: arguments.aead.into(),
        ..Suite::default()
    };
    let content = Watched::open(&arguments.file)?;
    let mut grown = Growing::begin(out, Access::Public, *force)?;
    let algorithm = recipient.key.kem().name();
    let encrypted = Encryptor::new(recipient.key)
        .suite(suite)
        .encrypt(content, &mut grown);
    let bytes = encrypted.map_err(|error| Failure::Encryption {
        file: arguments.file.to_string(),
        error,
    })?;
    let report = Encrypted {
        content: arguments.file.to_string(),
        bytes,
        cipher: suite.aead.name(),
        kdf: suite.kdf.name(),
        recipient: arguments.recipient.to_string(),
        subject: recipient.subject,
        algorithm,
        fingerprint: recipient.fingerprint,
        file: out.to_string(),
    };
    delivery.deliver_grown(grown, out, &report)
}

struct Recipient {
    key: RecipientPublicKey,
    subject: Option<String>,
    fingerprint: String,
}

fn recipient(source: &Source, passphrase: &PassphraseOptions) -> Result<Recipient, Failure> {
    let (key, subject) = match documents::key_or_certificate(source, passphrase)? {
        KeyOrCertificate::Key(key) => (key, None),
        KeyOrCertificate::Certificate(certificate, key) => {
            let subject = certificate.describe_subject();
            match certificate.key_usage() {
                Some(usages) if !usages.contains(KeyUsages::KeyEncipherment) => {
                    return Err(Failure::NotForEncryption(subject));
                }
                _ => (key, Some(subject)),
            }
        }
    };
    let fingerprint = fingerprint(key.to_spki_der());
    Ok(Recipient {
        key: documents::narrow(source, key)?,
        subject,
        fingerprint,
    })
}

/// A file that was encrypted.
#[derive(Debug, Serialize)]
struct Encrypted {
    content: String,
    bytes: u64,
    cipher: &'static str,
    kdf: &'static str,
    recipient: String,
    /// The certificate's, if there is one.
    subject: Option<String>,
    /// The algorithm of the key.
    algorithm: &'static str,
    /// The fingerprint of the key.
    fingerprint: String,
    file: String,
}

impl Report for Encrypted {
    const SCHEMA: &'static str = "encrypt/1";
}

impl fmt::Display for Encrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = with_unit(self.bytes, "byte");
        let (content, cipher) = (&self.content, self.cipher);
        writeln!(
            f,
            "{}: {len} of {content}, encrypted by {cipher}",
            self.file
        )?;
        let name = self.subject.as_ref().unwrap_or(&self.recipient);
        writeln!(f, "  for {name}, {}", self.algorithm)
    }
}
