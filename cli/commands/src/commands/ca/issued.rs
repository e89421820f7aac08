//! How a new certificate leaves the CA: its file with the CAs of its chain, and the report. The commands that issue,
//! renew or show a certificate share it.

use core::fmt;

use pq_ca::issuing::IssuedCertificate;
use pq_keys::encoding::rfc3339;
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use crate::commands::delivery::{Delivery, OutputOptions};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Destination, Output};
use crate::report::{self, CertificateFacts, Report};

/// Where a certificate of the CA is written, and with which CAs.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct CertificateOptions {
    #[command(flatten)]
    pub(super) output: OutputOptions,

    /// Write the certificate alone, without the CAs between it and the root
    #[arg(long)]
    pub(super) leaf_only: bool,
}

impl CertificateOptions {
    /// Writes a certificate that the ledger has.
    pub(super) fn deliver(
        &self,
        delivery: Delivery,
        issued: &IssuedCertificate,
        chain: &[Certificate],
        new_key: Option<&Destination>,
    ) -> Result<ExitStatus, Failure> {
        let chain = if self.leaf_only { &[] } else { chain };
        let report = Issued {
            key_file: new_key.map(Destination::to_string),
            ..self.report(issued)
        };
        self.write(delivery, issued, chain, &report)
    }

    /// The same for the certificate of another CA, alone, saying for which names that CA is and what to do next.
    pub(super) fn deliver_ca(
        &self,
        delivery: Delivery,
        issued: &IssuedCertificate,
        next: String,
    ) -> Result<ExitStatus, Failure> {
        let report = self.report(issued);
        let constraints = report.certificate.extension("nameConstraints");
        let names = constraints.unwrap_or("any name").to_owned();
        let report = Issued {
            names: Some(names.clone()),
            next: Some(next),
            ..report
        };
        let status = self.write(delivery, issued, &[], &report)?;
        if self.output.out == Destination::StandardOutput {
            report::warn(format_args!("the certified CA is for {names}"));
        }
        Ok(status)
    }

    fn report(&self, issued: &IssuedCertificate) -> Issued {
        Issued {
            file: self.output.out.to_string(),
            key_file: None,
            certificate: CertificateFacts::of(&issued.certificate, UnixTime::now()),
            names: None,
            next: None,
        }
    }

    fn write(
        &self,
        delivery: Delivery,
        issued: &IssuedCertificate,
        chain: &[Certificate],
        report: &Issued,
    ) -> Result<ExitStatus, Failure> {
        let IssuedCertificate { entry, certificate } = issued;
        let now = UnixTime::now();
        if now < certificate.not_before() {
            report::warn(format_args!(
                "the certificate is not valid before {}, since the CA's own is not, and the clock says {}: nobody accepts it \
                 until then; if the clock is wrong, set it, and if it was ahead when the CA's key was made, have another key \
                 follow",
                rfc3339(certificate.not_before()),
                rfc3339(now)
            ));
        }
        let pem = with_chain(certificate, chain);
        let output = public_pem(&self.output.out, &pem);
        delivery
            .deliver(&[output], report)
            .map_err(|failure| match failure {
                Failure::Output(error) => Failure::NotWritten {
                    issued: vec![entry.serial_number],
                    error,
                },
                other => other,
            })
    }
}

/// A certificate and its chain, as servers and clients send them.
pub(super) fn with_chain(certificate: &Certificate, chain: &[Certificate]) -> String {
    let all = [certificate].into_iter().chain(chain);
    all.map(Certificate::to_pem).collect()
}

pub(super) fn public_pem<'a>(to: &'a Destination, pem: &'a str) -> Output<'a> {
    Output {
        to,
        content: pem.as_bytes(),
        access: Access::Public,
        is_binary: false,
    }
}

#[derive(Debug, Serialize)]
struct Issued {
    file: String,
    key_file: Option<String>,
    certificate: CertificateFacts,
    /// Of a CA, the names that it is for; the certificate's extensions have them, too.
    #[serde(skip)]
    names: Option<String>,
    #[serde(skip)]
    next: Option<String>,
}

impl Report for Issued {
    const SCHEMA: &'static str = "ca-issue/1";
}

impl fmt::Display for Issued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.key_file {
            writeln!(f, "{file}: its private key")?;
        }
        write!(f, "{}: {}", self.file, self.certificate)?;
        writeln!(f, "serial number {}", self.certificate.serial_number)?;
        if let Some(names) = &self.names {
            writeln!(f, "  for names     {names}")?;
        }
        match &self.next {
            Some(next) => writeln!(f, "What to do next:\n  {next}"),
            None => Ok(()),
        }
    }
}
