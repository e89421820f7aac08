//! The command `pqtls cert lint`: it runs pq-x509's linter on documents, also on those that can't be parsed as a
//! whole, and reports findings by severity.

use core::fmt;

use anstyle::Style;
use pq_x509::certificate::Certificate;
use pq_x509::linting::{Finding, Kind, lint};
use pq_x509::revocation::CertificateRevocationList;
use pq_x509::x509_cert::der::Decode;
use pq_x509::x509_cert::request::CertReq;
use serde::Serialize;

use super::lint_rules::{Rules, Severity, name_of};
use crate::documents::{self, SignedDocument};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::report::{self, Report, printable, with_unit};

/// Check whether certificates, revocation lists and requests follow the standards
///
/// An error breaks a MUST of RFC 5280, RFC 9881, RFC 9909, RFC 9935 or DER; a warning breaks a SHOULD. A
/// notice is about something that relying parties refuse, or that is often a mistake. A document that can't be
/// read is checked as far as possible. Neither signatures nor chains are verified: see "pqtls cert verify".
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Certificates, revocation lists and requests in PEM, or one in DER; "-" is standard input
    #[arg(required_unless_present = "list", value_name = "FILE")]
    files: Vec<Source>,

    /// The exit status is 1 if there is a finding of this severity or a higher one: error, warning or
    /// notice
    #[arg(
        long,
        value_enum,
        default_value = "error",
        hide_possible_values = true,
        value_name = "SEVERITY"
    )]
    severity: Severity,

    /// List the rules, and check nothing
    #[arg(long, conflicts_with_all = ["files", "severity"])]
    list: bool,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cert lint www.pem ca.pem www.crl
  $ pqtls cert lint chain.pem --severity notice --json
  $ pqtls cert lint --list";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    if arguments.list {
        report::print(&Rules::all(), json)?;
        return Ok(ExitStatus::Done);
    }
    let mut documents = Vec::new();
    for file in &arguments.files {
        let found = documents::signed_documents(file)?;
        let numbered = (1..).zip(&found);
        documents.extend(numbered.map(|(number, one)| Linted::of(file, number, one)));
    }
    let report = Findings::in_documents(documents);
    report::print(&report, json)?;
    let worst = report.worst();
    Ok(
        match worst.is_some_and(|worst| worst >= arguments.severity) {
            true => ExitStatus::Refused,
            false => ExitStatus::Done,
        },
    )
}

#[derive(Debug, Serialize)]
struct Findings {
    /// In the order of the files, and in each file's order.
    documents: Vec<Linted>,
    errors: usize,
    warnings: usize,
    notices: usize,
}

/// A document, and what is wrong with it.
#[derive(Debug, Serialize)]
struct Linted {
    file: String,
    kind: &'static str,
    /// Which of the file's documents it is, from 1 on.
    number: usize,
    /// The subject, or a revocation list's issuer, if it can be read.
    name: Option<String>,
    /// The worst first.
    findings: Vec<FindingFacts>,
}

#[derive(Debug, Serialize)]
struct FindingFacts {
    rule: &'static str,
    severity: Severity,
    what: String,
    section: &'static str,
}

impl Findings {
    fn in_documents(documents: Vec<Linted>) -> Self {
        let count = |severity| {
            let findings = documents.iter().flat_map(|one| &one.findings);
            findings.filter(|one| one.severity == severity).count()
        };
        Self {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            notices: count(Severity::Notice),
            documents,
        }
    }

    fn worst(&self) -> Option<Severity> {
        let findings = self.documents.iter().flat_map(|one| &one.findings);
        findings.map(|one| one.severity).max()
    }
}

impl Linted {
    fn of(file: &Source, number: usize, document: &SignedDocument) -> Self {
        let (kind, der) = (document.kind, &document.der);
        let findings = lint(kind, der);
        Self {
            file: file.to_string(),
            kind: name_of(kind),
            number,
            name: name_in(kind, der),
            findings: findings.into_iter().map(FindingFacts::of).collect(),
        }
    }
}

impl FindingFacts {
    fn of(finding: Finding) -> Self {
        Self {
            rule: finding.rule.name(),
            severity: finding.rule.severity().into(),
            what: finding.what,
            section: finding.rule.section(),
        }
    }
}

/// The name in a document, for people.
fn name_in(kind: Kind, der: &[u8]) -> Option<String> {
    match kind {
        Kind::Certificate => Some(Certificate::from_der(der).ok()?.describe_subject()),
        Kind::RevocationList => {
            let list = CertificateRevocationList::from_der(der).ok()?;
            Some(printable(&list.issuer().to_string()))
        }
        Kind::Request => {
            let request = CertReq::from_der(der).ok()?;
            Some(printable(&request.info.subject.to_string()))
        }
        _ => None,
    }
}

impl Report for Findings {
    const SCHEMA: &'static str = "cert-lint/1";
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for document in &self.documents {
            write!(f, "{document}")?;
        }
        let documents = with_unit(self.documents.len() as u64, "document");
        let counts = [
            (self.errors, "error"),
            (self.warnings, "warning"),
            (self.notices, "notice"),
        ];
        let counts: Vec<String> = counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, unit)| with_unit(count as u64, unit))
            .collect();
        match counts.is_empty() {
            true => writeln!(f, "{documents}: nothing found"),
            false => writeln!(f, "{documents}: {}", counts.join(", ")),
        }
    }
}

impl fmt::Display for Linted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file, kind, number, ..
        } = self;
        let name = match self.name.as_deref() {
            Some("") => String::new(),
            Some(name) => format!(" \"{name}\""),
            None => " that can't be read".into(),
        };
        let end = if self.findings.is_empty() {
            ": nothing found"
        } else {
            ""
        };
        writeln!(f, "{BOLD}{file}: {kind} {number}{name}{BOLD:#}{end}")?;
        let mut findings = self.findings.iter();
        findings.try_for_each(|finding| writeln!(f, "  {finding}"))
    }
}

impl fmt::Display for FindingFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rule,
            what,
            section,
            ..
        } = self;
        let severity = self.severity;
        write!(f, "{severity} {what} ({rule}, {section})")
    }
}

const BOLD: Style = Style::new().bold();
