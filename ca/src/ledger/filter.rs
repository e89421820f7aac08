//! Which entries are asked for.

use pq_x509::pki_types::UnixTime;

use super::entry::{Entry, State};
use super::name;

/// Which entries [`Ledger::find`](super::Ledger::find) shows: those that meet every condition.
///
/// ```
/// use pq_ca::Filter;
///
/// let filter = Filter::all().domain("example.org").revoked().limit(100);
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Filter {
    /// Whether the entry is to be revoked. By default it doesn't matter.
    pub revoked: Option<bool>,
    /// The first time of expiry that is asked for.
    pub expires_from: Option<UnixTime>,
    /// The first time of expiry that is no longer asked for.
    pub expires_before: Option<UnixTime>,
    /// What name the certificate is for.
    pub name: Option<NameFilter>,
    /// The CA's name for the key that signed.
    pub issuer: Option<String>,
    /// What the subject has somewhere in it, in either case.
    pub subject: Option<String>,
    /// How many entries are asked for at most. By default all are.
    pub limit: Option<usize>,
}

/// Which names a certificate is for.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum NameFilter {
    /// This DNS name or address. A wildcard such as `*.example.org` is a name like any other.
    Exactly(String),
    /// This domain, or any name below it.
    Domain(String),
}

impl Filter {
    /// Every entry.
    pub fn all() -> Self {
        Self::default()
    }

    /// Only what was not revoked. What has expired is valid in this sense; to leave it out, use
    /// [`expires_from`](Self::expires_from).
    pub fn valid(mut self) -> Self {
        self.revoked = Some(false);
        self
    }

    /// Only what was revoked, or is on hold.
    pub fn revoked(mut self) -> Self {
        self.revoked = Some(true);
        self
    }

    /// Only what expires at this time or later.
    pub fn expires_from(mut self, time: UnixTime) -> Self {
        self.expires_from = Some(time);
        self
    }

    /// Only what expires before this time.
    pub fn expires_before(mut self, time: UnixTime) -> Self {
        self.expires_before = Some(time);
        self
    }

    /// Only what is for this DNS name or address, in place of another name or domain.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(NameFilter::Exactly(name.into()));
        self
    }

    /// Only what is for this domain or a name below it, in place of another name or domain.
    pub fn domain(mut self, domain: impl Into<String>) -> Self {
        self.name = Some(NameFilter::Domain(domain.into()));
        self
    }

    /// Only what this key of the CA signed.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Only what has this in its subject, in either case. A ledger has to read every entry for this
    /// that the other conditions leave.
    pub fn subject_contains(mut self, text: impl Into<String>) -> Self {
        self.subject = Some(text.into());
        self
    }

    /// No more than this many entries.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Whether an entry meets the conditions, save the limit.
    pub fn matches(&self, entry: &Entry) -> bool {
        let issued = &entry.issued;
        let is_revoked = matches!(entry.state, State::Revoked(_));
        self.revoked.is_none_or(|revoked| revoked == is_revoked)
            && self.allows_expiry(issued.not_after)
            && self
                .issuer
                .as_ref()
                .is_none_or(|issuer| *issuer == issued.issuer)
            && self
                .name
                .as_ref()
                .is_none_or(|name| name.matches(&issued.names))
            && self.subject.as_ref().is_none_or(|text| {
                let subject = issued.subject.to_lowercase();
                subject.contains(&text.to_lowercase())
            })
    }

    /// Whether what expires at this time may meet the conditions.
    pub(crate) fn allows_expiry(&self, time: UnixTime) -> bool {
        self.expires_from.is_none_or(|from| time >= from)
            && self.expires_before.is_none_or(|before| time < before)
    }
}

impl NameFilter {
    fn matches(&self, names: &[String]) -> bool {
        let mut names = names.iter().filter_map(|name| name::reversed(name));
        match self {
            Self::Exactly(name) => {
                let wanted = name::reversed(name);
                names.any(|name| Some(name) == wanted)
            }
            Self::Domain(domain) => {
                let wanted = name::reversed(domain).unwrap_or_default();
                names.any(|name| name.starts_with(&wanted))
            }
        }
    }
}
