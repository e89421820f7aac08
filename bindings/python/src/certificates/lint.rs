//! The findings of `pq_x509::linting` as Python objects. The method `lint` of every document returns them.

use pq_x509::linting::{self, Kind};
use pyo3::prelude::*;

/// Something in a document that does not follow a standard, or that relying parties refuse.
#[pyclass(frozen, module = "pqtls", get_all)]
pub(crate) struct Finding {
    /// The rule's name.
    rule: &'static str,
    /// `"error"` where a standard says MUST, `"warning"` where it says SHOULD, `"notice"` elsewhere.
    severity: String,
    /// The section that has the rule.
    section: &'static str,
    /// What in the document breaks the rule.
    what: String,
}

#[pymethods]
impl Finding {
    fn __repr__(&self) -> String {
        format!("<pqtls.Finding {}: {}>", self.severity, self.what)
    }
}

pub(crate) fn findings(kind: Kind, der: &[u8]) -> Vec<Finding> {
    let findings = linting::lint(kind, der).into_iter();
    let findings = findings.map(|finding| Finding {
        rule: finding.rule.name(),
        severity: finding.rule.severity().to_string(),
        section: finding.rule.section(),
        what: finding.what,
    });
    findings.collect()
}
