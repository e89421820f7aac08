//! The command `pqtls cert request`: a PKCS#10 request for a key and names.

use core::fmt;

use pq_keys::SubjectKey;
use pq_x509::certificate::AlternativeName;
use pq_x509::request::CertificateRequest;
use serde::Serialize;

use super::names::{Names, TakesNames};
use crate::commands::custody::{KeySource, SignerStore};
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output};
use crate::passphrases::PassphraseOptions;
use crate::report::{Report, fingerprint, printable};

/// Make a request for a certificate, for a CA to sign
///
/// The request (PKCS#10) has the names and the public key, and is signed by the private key, which
/// stays where it is.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The private key, of a signature algorithm; "-" is standard input
    #[arg(long, value_name = "FILE")]
    key: KeySource,

    #[command(flatten)]
    names: Names,

    #[command(flatten)]
    output: OutputOptions,

    /// Write DER instead of PEM
    #[arg(long)]
    der: bool,

    #[command(flatten)]
    passphrase: PassphraseOptions,

    #[command(flatten, next_help_heading = "Key store, for --key store:NAME")]
    key_store: SignerStore,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cert request --key server.key --name www.example.org --name 192.0.2.1 --out server.csr
  $ pqtls cert request --key server.key --subject \"CN=Example,O=Organisation\"
  $ pqtls cert request --key server.key --name spiffe://example.org/billing --out billing.req";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    if arguments.names.is_empty() {
        return Err(Failure::Nameless);
    }
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    let key = arguments
        .key_store
        .signer(&arguments.key, &arguments.passphrase)?;
    let request = CertificateRequest::builder()
        .with_names(&arguments.names)
        .sign(&key)?;
    let pem = request.to_pem();
    let output = Output {
        to: out,
        content: match arguments.der {
            true => request.to_der(),
            false => pem.as_bytes(),
        },
        access: Access::Public,
        is_binary: arguments.der,
    };
    let report = RequestMade {
        file: out.to_string(),
        subject: printable(&request.parsed().info.subject.to_string()),
        names: arguments
            .names
            .names
            .iter()
            .map(AlternativeName::to_string)
            .collect(),
        algorithm: key.algorithm().name(),
        key_fingerprint: fingerprint(&key.spki()),
    };
    delivery.deliver(&[output], &report)
}

#[derive(Debug, Serialize)]
struct RequestMade {
    file: String,
    /// Empty if there are only alternative names.
    subject: String,
    names: Vec<String>,
    algorithm: &'static str,
    key_fingerprint: String,
}

impl Report for RequestMade {
    const SCHEMA: &'static str = "cert-request/1";
}

impl fmt::Display for RequestMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = (!self.subject.is_empty()).then_some(&self.subject);
        let all: Vec<&str> = subject
            .into_iter()
            .chain(&self.names)
            .map(String::as_str)
            .collect();
        writeln!(f, "{}: request for {}", self.file, all.join(", "))
    }
}
