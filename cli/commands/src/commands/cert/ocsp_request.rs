//! The command `pqtls cert ocsp-request`: it makes the request (RFC 6960) and prints where to send it. It sends
//! nothing.

use core::fmt;

use pq_x509::certificate::Certificate;
use pq_x509::ocsp::{OcspHash, OcspNonce, OcspRequest};
use serde::Serialize;

use crate::commands::delivery::{Delivery, OutputOptions};
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output, Source};
use crate::report::{Report, hex, printable};

/// Make an OCSP request, which asks whether a certificate was revoked
///
/// Send it to the printed URL, which comes from the certificate, as the body of a POST with the Content-Type
/// application/ocsp-request. "pqtls cert verify --ocsp" takes the response.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The certificate; "-" is standard input
    certificate: Source,

    /// The certificate of the CA that issued it [default: it follows the certificate in the same file]
    #[arg(long, value_name = "FILE")]
    issuer: Option<Source>,

    /// Identify the certificate by SHA-256 instead of SHA-1; all responders know SHA-1
    #[arg(long)]
    sha256: bool,

    /// Leave the nonce out, to accept a response that was not made for this request: many responders sign
    /// theirs in advance
    #[arg(long)]
    no_nonce: bool,

    #[command(flatten)]
    output: OutputOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cert ocsp-request chain.pem --out chain.ocsp-request
  $ pqtls cert ocsp-request www.pem --issuer ca.pem --no-nonce --out www.ocsp-request";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    let (certificate, issuer) = read(arguments)?;
    let mut builder = OcspRequest::builder().certificate(&certificate, &issuer);
    if arguments.sha256 {
        builder = builder.hash(OcspHash::Sha256);
    }
    if !arguments.no_nonce {
        builder = builder.nonce(OcspNonce::random().map_err(pq_keys::KeyError::from)?);
    }
    let request = builder.build()?;
    let output = Output {
        to: out,
        content: request.der(),
        access: Access::Public,
        is_binary: true,
    };
    let report = RequestMade {
        file: out.to_string(),
        subject: certificate.describe_subject(),
        issuer: certificate.describe_issuer(),
        serial_number: hex(certificate.serial_number()),
        nonce: request.nonce().map(|nonce| hex(nonce.as_bytes())),
        urls: certificate.ocsp_urls(),
    };
    delivery.deliver(&[output], &report)
}

/// The certificate with its issuer's.
fn read(arguments: &Arguments) -> Result<(Certificate, Certificate), Failure> {
    let certificates = documents::certificates(&arguments.certificate)?;
    let certificate = documents::first_of(&arguments.certificate, &certificates)?.clone();
    let mut certificates = certificates.into_iter().skip(1);
    let issuer = match &arguments.issuer {
        Some(file) => documents::first_certificate(file)?,
        None => certificates
            .find(|one| one.subject() == certificate.issuer())
            .ok_or(Failure::NoIssuer)?,
    };
    Ok((certificate, issuer))
}

#[derive(Debug, Serialize)]
struct RequestMade {
    file: String,
    subject: String,
    issuer: String,
    /// In hexadecimal.
    serial_number: String,
    /// In hexadecimal.
    nonce: Option<String>,
    urls: Vec<String>,
}

impl Report for RequestMade {
    const SCHEMA: &'static str = "cert-ocsp-request/1";
}

impl fmt::Display for RequestMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, subject, .. } = self;
        writeln!(f, "{file}: OCSP request about the certificate of {subject}")?;
        for url in &self.urls {
            writeln!(f, "to be sent to {}", printable(url))?;
        }
        Ok(())
    }
}
