//! The command `pqtls cms sign`: SignedData (RFC 5652 section 5) by one key or several, with its content or detached.

use core::fmt;
use std::io::Write;

use pq_cms::{DocumentSigner, EncodingError, SignedDataBuilder, SigningError};
use pq_keys::any::AnySigningKey;
use pq_x509::certificate::Certificate;
use serde::Serialize;

use super::input::MessageWriter;
use crate::commands::custody::{AnySigner, KeySource, SignerStore};
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::commands::watched::Watched;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{self, Access, Growing, Source};
use crate::keys::SigningKey;
use crate::passphrases::PassphraseOptions;
use crate::report::{Report, fingerprint};

/// Sign a file, with or without its content in the message
///
/// The signature says when it was made; it protects this time and the choice of algorithms (signed
/// attributes). Several keys can sign at once, also classical ones.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What to sign; "-" is standard input
    #[arg(default_value = "-")]
    file: Source,

    /// A private key that signs: a file, or store:NAME for a key in a key store; once for each signer
    #[arg(long = "key", value_name = "FILE", required = true)]
    keys: Vec<KeySource>,

    /// The certificate of each key, in the same order; CAs may follow it in its file, for those who verify
    #[arg(long = "cert", value_name = "FILE", required = true)]
    certificates: Vec<Source>,

    /// Leave the content out: the file has only the signature
    #[arg(long)]
    detached: bool,

    /// Leave certificates out, if verifiers have them
    #[arg(long)]
    no_certs: bool,

    /// Write PEM instead of DER
    #[arg(long)]
    pem: bool,

    #[command(flatten)]
    passphrase: PassphraseOptions,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten, next_help_heading = "Key store, for --key store:NAME")]
    key_store: SignerStore,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cms sign release.txt --key server.key --cert server.pem --out release.cms
  $ pqtls cms sign release.txt --key server.key --cert server.pem --detached --pem --out release.p7s";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    if !arguments.pem {
        files::check_binary(out)?;
    }
    if arguments.keys.len() != arguments.certificates.len() {
        return Err(Failure::KeysAndCertificates {
            keys: arguments.keys.len(),
            certificates: arguments.certificates.len(),
        });
    }
    let mut signers = Vec::new();
    for (key, certificates) in arguments.keys.iter().zip(&arguments.certificates) {
        signers.push((
            arguments.key_store.signer(key, &arguments.passphrase)?,
            documents::certificates(certificates)?,
        ));
    }
    let mut builder = SignedDataBuilder::new();
    for (key, certificates) in &signers {
        // `documents` gives one at least.
        let Some((certificate, cas)) = certificates.split_first() else {
            continue;
        };
        builder = builder.certificates(cas).signer(match key {
            AnySigner::File(SigningKey(AnySigningKey::PostQuantum(key))) => {
                DocumentSigner::new(certificate, key)
            }
            other => DocumentSigner::with_signer(certificate, other),
        });
    }
    if arguments.no_certs {
        builder = builder.without_certificates();
    }
    let content = Watched::open(&arguments.file)?;
    let grown = Growing::begin(out, Access::Public, *force)?;
    let mut message = MessageWriter::new(grown, arguments.pem).map_err(SigningError::from)?;
    match arguments.detached {
        true => {
            let signature = builder.sign_detached(content)?;
            let written = message.write_all(&signature).map_err(EncodingError::Write);
            written.map_err(SigningError::from)?;
        }
        false => builder.sign(content, &mut message)?,
    }
    let report = Signed {
        message: arguments.file.to_string(),
        detached: arguments.detached,
        signers: signers
            .iter()
            .filter_map(|(key, certificates)| Some(By::of(key, certificates.first()?)))
            .collect(),
        file: out.to_string(),
    };
    let grown = message.finish().map_err(SigningError::from)?;
    delivery.deliver_grown(grown, out, &report)
}

/// A message that was signed.
#[derive(Debug, Serialize)]
struct Signed {
    message: String,
    detached: bool,
    signers: Vec<By>,
    file: String,
}

#[derive(Debug, Serialize)]
struct By {
    subject: String,
    algorithm: &'static str,
    /// The fingerprint of the certificate.
    fingerprint: String,
}

impl By {
    fn of(key: &AnySigner, certificate: &Certificate) -> Self {
        Self {
            subject: certificate.describe_subject(),
            algorithm: key.algorithm().name(),
            fingerprint: fingerprint(certificate.der()),
        }
    }
}

impl Report for Signed {
    const SCHEMA: &'static str = "cms-sign/1";
}

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.detached {
            true => "detached signature of",
            false => "signed message of",
        };
        writeln!(f, "{}: {what} {}", self.file, self.message)?;
        for signer in &self.signers {
            writeln!(f, "  by {}, {}", signer.subject, signer.algorithm)?;
        }
        Ok(())
    }
}
