//! The command `pqtls cert show`: the certificates of a file in its order, and whether they are one chain. It verifies
//! no signature.

use core::fmt;

use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use crate::arguments::time;
use crate::chains;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::report::{self, CertificateFacts, Report, with_unit};

/// Show the certificates of a file, and whether they make a chain
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Certificates in PEM, or one in DER; "-" is standard input
    file: Source,

    /// Show everything, extensions included; JSON always has it
    #[arg(long)]
    all: bool,

    /// Count the days from this time, such as 2027-01-31 or 2027-01-31T12:00:00Z [default: now]
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<UnixTime>,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cert show server.pem
  $ pqtls cert show root.pem --all";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let certificates = documents::certificates_also_in_messages(&arguments.file)?;
    let at = arguments.at.unwrap_or_else(UnixTime::now);
    let report = CertificatesInFile {
        certificates: certificates
            .iter()
            .map(|one| CertificateFacts::of(one, at))
            .collect(),
        chain: Chain::of(&certificates),
        show_all: arguments.all,
    };
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct CertificatesInFile {
    /// In the file's order.
    certificates: Vec<CertificateFacts>,
    chain: Chain,
    #[serde(skip)]
    show_all: bool,
}

/// Whether the certificates of a file are one chain.
#[derive(Debug, Serialize)]
struct Chain {
    is_chain: bool,
    /// Whether each is followed by its issuer.
    in_order: bool,
    /// Why they are not a chain.
    reason: Option<String>,
}

impl Chain {
    fn of(certificates: &[Certificate]) -> Self {
        match chains::in_order(certificates) {
            Ok(chain) => Self {
                is_chain: true,
                in_order: chain.into_iter().eq(certificates),
                reason: None,
            },
            Err(error) => Self {
                is_chain: false,
                in_order: false,
                reason: Some(error.to_string()),
            },
        }
    }
}

impl Report for CertificatesInFile {
    const SCHEMA: &'static str = "cert-show/1";
}

impl fmt::Display for CertificatesInFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, certificate) in self.certificates.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{certificate}")?;
            if self.show_all {
                write!(f, "{}", certificate.everything())?;
            }
        }
        if self.certificates.len() == 1 {
            return Ok(());
        }
        let certificates = with_unit(self.certificates.len() as u64, "certificate");
        writeln!(f)?;
        match &self.chain {
            Chain { in_order: true, .. } => writeln!(f, "{certificates}, a chain in order"),
            Chain { reason: None, .. } => writeln!(
                f,
                "{certificates}, a chain, but out of order or with copies; see \"pqtls cert bundle\""
            ),
            Chain {
                reason: Some(reason),
                ..
            } => writeln!(f, "{certificates}, not one chain: {reason}"),
        }
    }
}
