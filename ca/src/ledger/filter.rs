//! Filters that select entries.

use alloc::collections::BTreeSet;

use pq_x509::pki_types::UnixTime;

use super::KeyHash;
use super::entry::{Entry, State};
use super::name;

/// A filter for [`Ledger::find`](super::Ledger::find), which shows the entries that meet all conditions.
///
/// ```
/// use pq_ca::ledger::Filter;
///
/// let filter = Filter::all().domain("example.org").revoked().limit(100);
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Filter {
    /// Whether the entry has to be revoked. By default both kinds are shown.
    pub revoked: Option<bool>,
    /// Only certificates that expire at this time or later.
    pub expires_from: Option<UnixTime>,
    /// Only certificates that expire before this time.
    pub expires_before: Option<UnixTime>,
    /// Only certificates for these names.
    pub name: Option<NameFilter>,
    /// Only certificates that the key with this name signed.
    pub issuer: Option<String>,
    /// Only certificates whose subject contains this text. Case makes no difference.
    pub subject: Option<String>,
    /// Only certificates with one of these profiles.
    pub profiles: Option<BTreeSet<String>>,
    /// Only certificates for one of these keys, or with one of them as a half.
    pub keys: Option<BTreeSet<KeyHash>>,
    /// The maximum number of entries. By default there is no limit.
    pub limit: Option<usize>,
}

/// A condition for the names of a certificate.
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

    /// Only certificates that are not revoked. This includes expired ones; to leave them out, use
    /// [`expires_from`](Self::expires_from).
    pub fn valid(mut self) -> Self {
        self.revoked = Some(false);
        self
    }

    /// Only certificates that were revoked, or are on hold.
    pub fn revoked(mut self) -> Self {
        self.revoked = Some(true);
        self
    }

    /// Only certificates that expire at this time or later.
    pub fn expires_from(mut self, time: UnixTime) -> Self {
        self.expires_from = Some(time);
        self
    }

    /// Only certificates that expire before this time.
    pub fn expires_before(mut self, time: UnixTime) -> Self {
        self.expires_before = Some(time);
        self
    }

    /// Only certificates for this DNS name or address. This replaces another name or domain.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(NameFilter::Exactly(name.into()));
        self
    }

    /// Only certificates for this domain or a name below it. This replaces another name or domain.
    pub fn domain(mut self, domain: impl Into<String>) -> Self {
        self.name = Some(NameFilter::Domain(domain.into()));
        self
    }

    /// Only certificates that this key of the CA signed.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Only certificates whose subject contains this text. Case makes no difference. For this, a ledger
    /// has to read every entry that meets the other conditions.
    pub fn subject_contains(mut self, text: impl Into<String>) -> Self {
        self.subject = Some(text.into());
        self
    }

    /// Only certificates with one of these profiles, such as `server`. For this, a ledger has to read every entry that
    /// meets the other conditions.
    pub fn profiles<P: Into<String>>(mut self, profiles: impl IntoIterator<Item = P>) -> Self {
        self.profiles = Some(profiles.into_iter().map(Into::into).collect());
        self
    }

    /// Only certificates for one of these keys, or with one of them as a half. For this, a ledger has to read every
    /// entry that meets the other conditions.
    pub fn keys(mut self, keys: impl IntoIterator<Item = KeyHash>) -> Self {
        self.keys = Some(keys.into_iter().collect());
        self
    }

    /// At most this many entries.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Whether an entry meets all conditions, without regard to the limit.
    pub fn matches(&self, entry: &Entry) -> bool {
        let issued = &entry.issued;
        let is_revoked = matches!(entry.state, State::Revoked(_));
        self.revoked.is_none_or(|revoked| revoked == is_revoked)
            && self.allows_expiry(issued.not_after)
            && self
                .profiles
                .as_ref()
                .is_none_or(|profiles| profiles.contains(&issued.profile))
            && self
                .keys
                .as_ref()
                .is_none_or(|keys| issued.keys().any(|key| keys.contains(&key)))
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

    /// Whether a certificate that expires at this time may meet the conditions.
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
