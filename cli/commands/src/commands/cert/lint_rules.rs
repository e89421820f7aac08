//! The list of rules that `pqtls cert lint --list` prints, and the names and colours of severities, which `lint` uses,
//! too.

use core::fmt;

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use pq_x509::linting::{self, Kind, Rule, all_rules};
use serde::Serialize;

use crate::report::Report;

/// How severe a finding is. A more severe one is greater.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Severity {
    Notice,
    Warning,
    Error,
}

impl From<linting::Severity> for Severity {
    fn from(severity: linting::Severity) -> Self {
        match severity {
            linting::Severity::Notice => Self::Notice,
            linting::Severity::Warning => Self::Warning,
            linting::Severity::Error => Self::Error,
        }
    }
}

/// All rules of the linter, in its order.
#[derive(Debug, Serialize)]
pub(super) struct Rules {
    rules: Vec<RuleFacts>,
}

#[derive(Debug, Serialize)]
struct RuleFacts {
    rule: &'static str,
    severity: Severity,
    description: &'static str,
    section: &'static str,
    /// Which documents it is about.
    kinds: Vec<&'static str>,
}

impl Rules {
    pub(super) fn all() -> Self {
        Self {
            rules: all_rules().map(RuleFacts::of).collect(),
        }
    }
}

impl RuleFacts {
    fn of(rule: &Rule) -> Self {
        Self {
            rule: rule.name(),
            severity: rule.severity().into(),
            description: rule.description(),
            section: rule.section(),
            kinds: rule.kinds().iter().map(|kind| name_of(*kind)).collect(),
        }
    }
}

/// What people call a document of this kind.
pub(super) fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Certificate => "certificate",
        Kind::RevocationList => "revocation list",
        Kind::Request => "request",
        _ => "document",
    }
}

impl Report for Rules {
    const SCHEMA: &'static str = "cert-lint-rules/1";
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rules = self.rules.iter();
        rules.try_for_each(|rule| writeln!(f, "{rule}"))
    }
}

impl fmt::Display for RuleFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rule,
            severity,
            description,
            section,
            ..
        } = self;
        write!(f, "{severity} {rule}: {description} ({section})")
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (style, name) = match self {
            Self::Error => (RED, "error"),
            Self::Warning => (YELLOW, "warning"),
            Self::Notice => (Style::new(), "notice"),
        };
        write!(f, "{style}{name:<8}{style:#}")
    }
}

const RED: Style = AnsiColor::Red.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
