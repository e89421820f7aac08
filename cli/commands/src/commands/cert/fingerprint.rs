//! The command `pqtls cert fingerprint`: a line with the SHA-256 of the DER for each certificate of a file.

use core::fmt;

use serde::Serialize;

use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::report::{self, Report, fingerprint};

/// Print the SHA-256 of each certificate of a file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Certificates in PEM, or one in DER; "-" is standard input
    file: Source,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cert fingerprint root.pem";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let certificates = documents::certificates_also_in_messages(&arguments.file)?;
    let fingerprints = certificates.iter().map(|certificate| Fingerprint {
        subject: certificate.describe_subject(),
        fingerprint: fingerprint(certificate.der()),
    });
    let report = Fingerprints {
        certificates: fingerprints.collect(),
    };
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct Fingerprints {
    certificates: Vec<Fingerprint>,
}

#[derive(Debug, Serialize)]
struct Fingerprint {
    subject: String,
    fingerprint: String,
}

impl Report for Fingerprints {
    const SCHEMA: &'static str = "cert-fingerprint/1";
}

impl fmt::Display for Fingerprints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut each = self.certificates.iter();
        each.try_for_each(|certificate| writeln!(f, "{}", certificate.fingerprint))
    }
}
