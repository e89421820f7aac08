//! What the command says it did.

use core::fmt;
use std::path::Path;

use pq_acme::client::renewal::{By, Moment};
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use super::Arguments;
use crate::files::Destination;
use crate::report::{CertificateFacts, Report};

/// What was done.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Outcome {
    /// There was no certificate before, or it was not asked for its renewal.
    Obtained,
    Renewed,
    /// Nothing was done.
    NotDue,
    /// What an interrupted run had left was put into its place.
    Finished,
}

#[derive(Debug, Serialize)]
pub(super) struct Obtained {
    outcome: Outcome,
    file: String,
    key_file: Option<String>,
    /// The account's URL.
    account: Option<String>,
    account_file: Option<String>,
    certificate: CertificateFacts,
    renew_after: Option<String>,
    /// Whether the CA says when to renew.
    by_ca: Option<bool>,
    explanation: Option<String>,
}

impl Obtained {
    pub(super) fn of(arguments: &Arguments, outcome: Outcome, certificate: &Certificate) -> Self {
        Self {
            outcome,
            file: arguments.out.to_string(),
            key_file: arguments.key.new_key.as_ref().map(Destination::to_string),
            account: None,
            account_file: None,
            certificate: CertificateFacts::of(certificate, UnixTime::now()),
            renew_after: None,
            by_ca: None,
            explanation: None,
        }
    }

    /// The same, ordered by this account, whose key is in this file.
    pub(super) fn by(self, account: &str, file: &Path) -> Self {
        Self {
            account: Some(account.into()),
            account_file: Some(file.display().to_string()),
            ..self
        }
    }

    /// The same, which is to be renewed then.
    pub(super) fn at(self, moment: &Moment) -> Self {
        Self {
            renew_after: Some(moment.at.to_string()),
            by_ca: Some(matches!(moment.by, By::Ca(_))),
            explanation: match &moment.by {
                By::Ca(page) => page.clone(),
                By::Lifetime => None,
            },
            ..self
        }
    }
}

impl Report for Obtained {
    const SCHEMA: &'static str = "cert-obtain/1";
}

impl fmt::Display for Obtained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Outcome::NotDue, Some(after)) = (self.outcome, &self.renew_after) {
            let by = match self.by_ca {
                Some(true) => "the CA says",
                _ => "two thirds of its time",
            };
            return writeln!(
                f,
                "{}: nothing was done; it is to be renewed at {after} ({by})",
                self.file
            );
        }
        if let Some(file) = &self.key_file {
            writeln!(f, "{file}: its private key")?;
        }
        write!(f, "{}: {}", self.file, self.certificate)?;
        if let (Some(account), Some(file)) = (&self.account, &self.account_file) {
            writeln!(f, "by the account {account}, whose key is in {file}")?;
        }
        Ok(())
    }
}
