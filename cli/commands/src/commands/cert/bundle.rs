//! The command `pqtls cert bundle`: it orders certificates from several files into one chain, without its root unless
//! asked, and refuses those that are not one chain.

use core::fmt;

use pq_x509::certificate::Certificate;
use serde::Serialize;

use crate::chains::{self, is_self_signed};
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output, Source};
use crate::report::Report;

/// Write certificates in the order in which servers send them
///
/// The end entity's certificate comes first, then the issuer of each. The root is left out, since peers have
/// it, unless --root is given. Certificates that are not one chain are refused.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Files with certificates, in any order; "-" is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<Source>,

    /// Keep the root
    #[arg(long)]
    root: bool,

    #[command(flatten)]
    output: OutputOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cert bundle ca-root.pem ca.pem www.pem --out chain.pem
  $ pqtls cert show chain.pem";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    let mut certificates = Vec::new();
    for file in &arguments.files {
        certificates.extend(documents::certificates_also_in_messages(file)?);
    }
    let mut chain = chains::in_order(&certificates)?;
    if chain.len() > 1 && !arguments.root {
        chain.pop_if(|last| is_self_signed(last));
    }
    let pem: String = chain
        .iter()
        .map(|certificate| certificate.to_pem())
        .collect();
    let output = Output {
        to: out,
        content: pem.as_bytes(),
        access: Access::Public,
        is_binary: false,
    };
    let report = Bundle {
        file: out.to_string(),
        subjects: chain
            .into_iter()
            .map(Certificate::describe_subject)
            .collect(),
    };
    delivery.deliver(&[output], &report)
}

#[derive(Debug, Serialize)]
struct Bundle {
    file: String,
    /// The subjects of the certificates, in order.
    subjects: Vec<String>,
}

impl Report for Bundle {
    const SCHEMA: &'static str = "cert-bundle/1";
}

impl fmt::Display for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:", self.file)?;
        self.subjects
            .iter()
            .try_for_each(|subject| writeln!(f, "  {subject}"))
    }
}
