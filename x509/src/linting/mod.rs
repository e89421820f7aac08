//! Finds what is wrong with a certificate, a revocation list or a request, by the rules of RFC 5280,
//! RFC 9881, RFC 9909 and RFC 9935, and what else relying parties refuse.
//!
//! Nothing is verified: no signature, no chain, no time. A malformed document is linted as
//! far as it can be read.
//!
//! ```
//! use pq_x509::linting::{Kind, Severity, lint};
//! use pq_x509::issuing::{CertificateBuilder, Issuer};
//! use pq_x509::keys::{SignatureAlgorithm, SigningKey};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! let root = Issuer::self_signed(CertificateBuilder::ca("Example Root"), key)?;
//! assert!(lint(Kind::Certificate, root.certificate().der()).is_empty());
//!
//! let mut der = root.certificate().der().to_vec();
//! // The serial number, of which this is the first octet, becomes negative.
//! der[15] = 0x80;
//! let findings = lint(Kind::Certificate, &der);
//! assert_eq!(findings[0].rule.name(), "rfc5280-serial-number-positive");
//! assert_eq!(findings[0].rule.severity(), Severity::Error);
//! # Ok(())
//! # }
//! ```

// This module uses `certificate`, `keys`, `encoding` and `errors`, but neither `issuing` nor
// `validation`. In it, `rules` use `rule` and `document`, which takes documents apart.

mod document;
mod listed;
mod rule;
mod rules;

use core::cmp::Reverse;

use self::document::Document;

pub use document::Kind;
pub use rule::{Finding, Rule, Severity};
pub use rules::all as all_rules;

/// The first rule with the severity of an error that a document breaks: such a document is never issued. Its signature
/// doesn't count, since it may still be missing.
pub(crate) fn first_error(kind: Kind, der: &[u8]) -> Option<Finding> {
    let mut document = Document::read(kind, der);
    document.signature = None;
    all_rules()
        .filter(|rule| rule.severity() == Severity::Error && rule.kinds().contains(&kind))
        .find_map(|rule| rule.broken_by(&document))
}

/// Finds what is wrong with a document in DER, the worst first: at most one finding for each rule.
///
/// A certificate's DER is [`Certificate::der`](crate::certificate::Certificate::der), but
/// [`Certificate::from_der`](crate::certificate::Certificate::from_der) need not be able to read the document.
pub fn lint(kind: Kind, der: &[u8]) -> Vec<Finding> {
    let document = Document::read(kind, der);
    let mut findings: Vec<Finding> = all_rules()
        .filter(|rule| rule.kinds().contains(&kind))
        .filter_map(|rule| rule.broken_by(&document))
        .collect();
    findings.sort_by_key(|finding| Reverse(finding.rule.severity()));
    findings
}
