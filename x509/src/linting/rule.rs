//! What a rule is, how severe it is, and the finding that says what breaks it. The rules themselves are in `rules`.

use core::fmt;

use super::document::{Document, Kind};

/// A rule that documents may break.
#[derive(Clone, Copy)]
pub struct Rule {
    name: &'static str,
    severity: Severity,
    section: &'static str,
    description: &'static str,
    kinds: &'static [Kind],
    check: Check,
}

/// Says in words what in a document breaks a rule, if anything does.
pub(crate) type Check = fn(&Document<'_>) -> Option<String>;

/// How severe a finding is. More severe is greater.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// No standard is broken, but relying parties refuse the document, or it is often a mistake.
    Notice,
    /// A standard says SHOULD, and the document does otherwise.
    Warning,
    /// A standard says MUST, and the document does otherwise.
    Error,
}

/// A rule that a document breaks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The broken rule.
    pub rule: &'static Rule,
    /// What in the document breaks the rule, in words for people, with the values found. Nothing in this
    /// text starts a line or moves a cursor, whatever the document contains.
    pub what: String,
}

impl Rule {
    /// The rule's name, which stays the same. It begins with the standard that the rule is from, such as
    /// `rfc5280-serial-number-length`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How severe breaking the rule is.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// The section that demands this, such as `RFC 5280 section 4.1.2.2`.
    pub fn section(&self) -> &'static str {
        self.section
    }

    /// What must be true, as a sentence without capital and full stop.
    pub fn description(&self) -> &'static str {
        self.description
    }

    /// The kinds of documents that the rule is about.
    pub fn kinds(&self) -> &'static [Kind] {
        self.kinds
    }

    pub(crate) fn broken_by(&'static self, document: &Document<'_>) -> Option<Finding> {
        let what = (self.check)(document)?;
        Some(Finding { rule: self, what })
    }

    pub(crate) const fn error(
        name: &'static str,
        section: &'static str,
        description: &'static str,
        kinds: &'static [Kind],
        check: Check,
    ) -> Self {
        Self {
            name,
            severity: Severity::Error,
            section,
            description,
            kinds,
            check,
        }
    }

    pub(crate) const fn warning(
        name: &'static str,
        section: &'static str,
        description: &'static str,
        kinds: &'static [Kind],
        check: Check,
    ) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(name, section, description, kinds, check)
        }
    }

    pub(crate) const fn notice(
        name: &'static str,
        section: &'static str,
        description: &'static str,
        kinds: &'static [Kind],
        check: Check,
    ) -> Self {
        Self {
            severity: Severity::Notice,
            ..Self::error(name, section, description, kinds, check)
        }
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Rule {}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rule").field(&self.name).finish()
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, what } = self;
        let (severity, name, section) = (rule.severity, rule.name, rule.section);
        write!(f, "{severity}: {what} ({section}; {name})")
    }
}
