//! A ledger's entry in the reports of this group's commands: as a line of a table, as a history, and in JSON.

use core::fmt;

use pq_ca::authority::reason_name;
use pq_ca::ledger::{Entry, PolicyId, Revocation};
use pq_keys::encoding::rfc3339;
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use crate::report::{hex, printable};

/// What the ledger knows about a certificate. It displays as one line.
#[derive(Debug, Serialize)]
pub(super) struct EntryFacts {
    pub(super) serial_number: String,
    /// The CA's key that signed it.
    pub(super) issuer: String,
    pub(super) subject: String,
    names: Vec<String>,
    not_before: String,
    pub(super) not_after: String,
    pub(super) state: State,
    pub(super) revocation: Option<RevocationFacts>,
    pub(super) profile: String,
    key_algorithm: String,
    issued_at: String,
    issued_by: String,
    request: Option<String>,
    policy: Option<PolicyFacts>,
    evidence: Option<String>,
}

/// Which policy decided.
#[derive(Debug, Serialize)]
pub(super) struct PolicyFacts {
    digest: String,
    reader: String,
}

impl PolicyFacts {
    pub(super) fn of(policy: &PolicyId) -> Self {
        Self {
            digest: hex(&policy.digest),
            reader: printable(&policy.reader),
        }
    }
}

impl fmt::Display for PolicyFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.digest, self.reader)
    }
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    Valid,
    Expired,
    Revoked,
    OnHold,
}

impl State {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
            Self::OnHold => "on hold",
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct RevocationFacts {
    pub(super) at: String,
    pub(super) reason: &'static str,
    by: String,
}

impl EntryFacts {
    pub(super) fn of(entry: &Entry, now: UnixTime) -> Self {
        let issued = &entry.issued;
        Self {
            serial_number: issued.serial_number.to_string(),
            issuer: issued.issuer.clone(),
            subject: printable(&issued.subject),
            names: issued.names.iter().map(|name| printable(name)).collect(),
            not_before: rfc3339(issued.not_before),
            not_after: rfc3339(issued.not_after),
            state: match entry.revocation() {
                Some(revocation) if revocation.is_hold() => State::OnHold,
                Some(_) => State::Revoked,
                None if entry.is_expired(now) => State::Expired,
                None => State::Valid,
            },
            revocation: entry.revocation().map(RevocationFacts::of),
            profile: issued.profile.clone(),
            key_algorithm: issued.key_algorithm.clone(),
            issued_at: rfc3339(issued.at),
            issued_by: printable(&issued.by),
            request: issued.request.as_ref().map(ToString::to_string),
            policy: issued.policy.as_ref().map(PolicyFacts::of),
            evidence: issued.evidence.as_ref().map(|one| printable(one.as_str())),
        }
    }

    /// Its profile, serial number, issuance and revocation, one line each.
    pub(super) fn history(&self) -> impl fmt::Display {
        History(self)
    }

    /// A row of a table in a terminal of this width.
    pub(super) fn within(&self, width: usize) -> impl fmt::Display {
        Within(self, width)
    }

    /// A name to tell it from others: its alternative names, or else its subject.
    pub(super) fn title(&self) -> String {
        match self.names.is_empty() {
            true => self.subject.clone(),
            false => self.names.join(", "),
        }
    }
}

impl RevocationFacts {
    pub(super) fn of(revocation: &Revocation) -> Self {
        Self {
            at: rfc3339(revocation.at),
            reason: reason_name(revocation.reason),
            by: printable(&revocation.by),
        }
    }
}

impl fmt::Display for RevocationFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, reason, by } = self;
        write!(f, "{at} by {by}: {reason}")
    }
}

/// The head of a table of entries.
pub(super) fn heading() -> String {
    format!(
        "{:<40}  {:<20}  {:<7}  names",
        "serial number", "expires", "state"
    )
}

impl fmt::Display for EntryFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.name();
        let (number, until) = (&self.serial_number, &self.not_after);
        write!(f, "{number:<40}  {until:<20}  {state:<7}  {}", self.title())
    }
}

/// A row that breaks no name, with its line end: the names stand below it if they don't fit beside it.
struct Within<'a>(&'a EntryFacts, usize);

impl fmt::Display for Within<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const INDENT: usize = 2;
        let Self(entry, width) = self;
        let row = entry.to_string();
        if row.chars().count() <= *width {
            return writeln!(f, "{row}");
        }
        let beginning = row.strip_suffix(&entry.title()).unwrap_or(&row);
        write!(f, "{}", beginning.trim_end())?;
        let mut column = *width;
        let all = match entry.names.is_empty() {
            true => core::slice::from_ref(&entry.subject),
            false => &entry.names[..],
        };
        for (index, name) in all.iter().enumerate() {
            let comma = usize::from(index + 1 < all.len());
            let len = name.chars().count() + comma;
            if column + 1 + len > *width {
                write!(f, "\n{:INDENT$}", "")?;
                column = INDENT;
            } else {
                f.write_str(" ")?;
                column += 1;
            }
            write!(f, "{name}{}", &","[..comma])?;
            column += len;
        }
        writeln!(f)
    }
}

struct History<'a>(&'a EntryFacts);

impl fmt::Display for History<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(entry) = self;
        writeln!(f, "  profile       {}", entry.profile)?;
        writeln!(f, "  serial number {}", entry.serial_number)?;
        writeln!(
            f,
            "  issued        {} by {}",
            entry.issued_at, entry.issued_by
        )?;
        if let Some(evidence) = &entry.evidence {
            writeln!(f, "  evidence      {evidence}")?;
        }
        if let Some(request) = &entry.request {
            writeln!(f, "  request       {request}")?;
        }
        if let Some(policy) = &entry.policy {
            writeln!(f, "  policy        {policy}")?;
        }
        match &entry.revocation {
            None => writeln!(f, "  revoked       no"),
            Some(revocation) => writeln!(f, "  revoked       {revocation}"),
        }
    }
}
