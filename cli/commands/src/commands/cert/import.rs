//! The command `pqtls cert import`: it takes all certificates out of a PKCS#12 file, which may be a trust store without
//! any key.

use core::fmt;

use pq_x509::certificate::Certificate;
use pq_x509::pkcs12::Pkcs12Certificate;
use serde::Serialize;

use crate::commands::delivery::{Delivery, OutputOptions};
use crate::commands::pkcs12;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output, Source};
use crate::passphrases::PassphraseOptions;
use crate::report::Report;

/// Write the certificates in a PKCS#12 file as PEM
///
/// All of them are written, in the order of the file, also those of a trust store without private keys, such as
/// Java's. "pqtls key import" takes out a private key with its certificates.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A PKCS#12 file; "-" is standard input
    file: Source,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cert import me.p12 --passphrase-file pw.txt --out me.certificates.pem";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    let store = pkcs12::opened(&arguments.file, &arguments.passphrase)?;
    if store.certificates().is_empty() {
        return Err(Failure::NoCertificates(arguments.file.to_string()));
    }
    let entries = store.certificates().iter();
    let pem: String = entries
        .clone()
        .map(|entry| entry.certificate().to_pem())
        .collect();
    let output = Output {
        to: out,
        content: pem.as_bytes(),
        access: Access::Public,
        is_binary: false,
    };
    let report = CertificatesImported {
        file: out.to_string(),
        certificates: entries.map(Entry::of).collect(),
    };
    delivery.deliver(&[output], &report)
}

#[derive(Debug, Serialize)]
struct CertificatesImported {
    file: String,
    /// In order.
    certificates: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct Entry {
    subject: String,
    /// Its name in the PKCS#12 file.
    name: Option<String>,
}

impl Entry {
    fn of(entry: &Pkcs12Certificate) -> Self {
        Self {
            subject: Certificate::describe_subject(entry.certificate()),
            name: entry.name().map(str::to_owned),
        }
    }
}

impl Report for CertificatesImported {
    const SCHEMA: &'static str = "cert-import/1";
}

impl fmt::Display for CertificatesImported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:", self.file)?;
        self.certificates
            .iter()
            .try_for_each(|entry| writeln!(f, "  {}", entry.subject))
    }
}
