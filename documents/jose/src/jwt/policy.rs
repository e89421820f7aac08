//! Verifies tokens: the signature, then the type, the parties and the times that a policy accepts.

use core::time::Duration;

use pq_keys::pki_types::UnixTime;
use serde::de::DeserializeOwned;

use super::claims::{Claims, NoMore, members};
use super::error::{JwtError, MAX_LEN};
use crate::encoding::shown;
use crate::jwk::Jwk;
use crate::jws::{Header, Jws, JwsError};

/// Which tokens are accepted.
///
/// A new policy accepts a token only if it has an expiry, which has not passed; if its `nbf` and `iat`, where present,
/// have passed; if it names neither issuer nor audience; and if its type is `JWT` or missing. Each method changes
/// one of these conditions, or adds one.
#[derive(Clone, Debug)]
pub struct Policy {
    issuer: Expected,
    audience: Expected,
    subject: Option<String>,
    type_: Option<String>,
    leeway: Duration,
    max_age: Option<Duration>,
    is_expiry_optional: bool,
    required: Vec<String>,
}

/// Which values of a claim are accepted.
#[derive(Clone, Debug)]
enum Expected {
    /// None: the claim has to be missing.
    Absent,
    /// One of these values.
    OneOf(Vec<String>),
    /// Any value, or none.
    Whatever,
}

impl Expected {
    fn add(&mut self, value: String) {
        match self {
            Self::OneOf(values) => values.push(value),
            _ => *self = Self::OneOf(vec![value]),
        }
    }

    fn takes(&self, found: &[String]) -> bool {
        match self {
            Self::Absent => found.is_empty(),
            Self::OneOf(values) => found.iter().any(|one| values.contains(one)),
            Self::Whatever => true,
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Absent => "none, since it names none".into(),
            Self::OneOf(values) => quoted(values),
            Self::Whatever => "any".into(),
        }
    }
}

fn quoted(values: &[String]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    match quoted.is_empty() {
        true => "missing".into(),
        false => shown(&quoted.join(", ")),
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::new()
    }
}

impl Policy {
    /// The strictest policy, as described for the type.
    pub fn new() -> Self {
        Self {
            issuer: Expected::Absent,
            audience: Expected::Absent,
            subject: None,
            type_: None,
            leeway: Duration::ZERO,
            max_age: None,
            is_expiry_optional: false,
            required: Vec::new(),
        }
    }

    /// Accepts only tokens of this issuer (`iss`). Further calls add further issuers.
    #[must_use]
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer.add(issuer.into());
        self
    }

    /// Accepts tokens of any issuer or without one: everybody with the signing key can issue them.
    #[must_use]
    pub fn any_issuer(mut self) -> Self {
        self.issuer = Expected::Whatever;
        self
    }

    /// Accepts only tokens for this audience (`aud`). Further calls add further audiences.
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audience.add(audience.into());
        self
    }

    /// Accepts tokens for any audience or without one. RFC 7519 section 4.1.3 asks to check the audience.
    #[must_use]
    pub fn any_audience(mut self) -> Self {
        self.audience = Expected::Whatever;
        self
    }

    /// Accepts only tokens about this subject (`sub`).
    #[must_use]
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// Accepts only tokens that name this type (`typ`), such as `at+jwt` (RFC 8725, section 3.11). Case and a prefix
    /// `application/` make no difference.
    #[must_use]
    pub fn token_type(mut self, type_: impl Into<String>) -> Self {
        self.type_ = Some(type_.into());
        self
    }

    /// Sets how much clocks may differ. By default they may not differ.
    #[must_use]
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.leeway = leeway;
        self
    }

    /// Accepts only tokens that were issued (`iat`) at most this long ago. Tokens without `iat` are refused.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age = Some(age);
        self
    }

    /// Also accepts tokens without an expiry, which are valid for ever.
    #[must_use]
    pub fn without_expiry(mut self) -> Self {
        self.is_expiry_optional = true;
        self
    }

    /// Accepts only tokens that have a claim with this name and any value except null.
    #[must_use]
    pub fn require(mut self, claim: impl Into<String>) -> Self {
        self.required.push(claim.into());
        self
    }

    /// Verifies a token of at most 256 KiB: its signature with one of these keys, as
    /// [`Jws::verify`] does, and its claims at this time.
    ///
    /// # Errors
    ///
    /// A [`JwtError`] that says why the token is refused.
    pub fn verify<'k>(
        &self,
        token: &str,
        keys: &'k (impl AsRef<[Jwk]> + ?Sized),
        now: UnixTime,
    ) -> Result<VerifiedToken<'k>, JwtError> {
        self.verify_with::<NoMore>(token, keys, now)
    }

    /// Verifies a token, and also reads the application's claims. `T` is read from all members of the token.
    ///
    /// # Errors
    ///
    /// The errors of [`verify`](Self::verify); [`JwtError::Json`], if the claims are missing or have other types.
    pub fn verify_with<'k, T: DeserializeOwned>(
        &self,
        token: &str,
        keys: &'k (impl AsRef<[Jwk]> + ?Sized),
        now: UnixTime,
    ) -> Result<VerifiedToken<'k, T>, JwtError> {
        if token.len() > MAX_LEN {
            return Err(JwtError::TooLong(token.len()));
        }
        let verified = Jws::from_compact(token)?.verify(keys)?;
        let [signature] = verified.signatures() else {
            return Err(JwsError::NoKeys.into());
        };
        let (header, key) = (signature.header().clone(), signature.key());
        self.check_type(&header)?;
        let text = verified.payload();
        let members = members(text)?;
        let claims = Claims::read(text)?;
        self.check_parties(&claims)?;
        self.check_times(&claims, now)?;
        let is_missing = |name: &&String| members.get(*name).is_none_or(|value| value.is_null());
        if let Some(name) = self.required.iter().find(is_missing) {
            return Err(JwtError::Missing(name.clone()));
        }
        Ok(VerifiedToken {
            claims,
            header,
            key,
        })
    }

    fn check_type(&self, header: &Header) -> Result<(), JwtError> {
        if header
            .content_type()
            .is_some_and(|found| is_type(found, "JWT"))
        {
            return Err(JwtError::Nested);
        }
        let found = header.media_type();
        let is_taken = match (&self.type_, found) {
            (Some(expected), Some(found)) => is_type(found, expected),
            (None, Some(found)) => is_type(found, "JWT"),
            (expected, None) => expected.is_none(),
        };
        if is_taken {
            return Ok(());
        }
        Err(JwtError::Type {
            found: found.map_or_else(|| "not there".into(), |found| shown(&format!("{found:?}"))),
            expected: format!("{:?}", self.type_.as_deref().unwrap_or("JWT")),
        })
    }

    fn check_parties<T>(&self, claims: &Claims<T>) -> Result<(), JwtError> {
        let issuer: Vec<String> = claims.issuer().map(Into::into).into_iter().collect();
        if !self.issuer.takes(&issuer) {
            return Err(JwtError::Issuer {
                found: quoted(&issuer),
                expected: self.issuer.describe(),
            });
        }
        if !self.audience.takes(claims.audience()) {
            return Err(JwtError::Audience {
                found: quoted(claims.audience()),
                expected: self.audience.describe(),
            });
        }
        match &self.subject {
            Some(subject) if claims.subject() != Some(subject) => {
                let found: Vec<String> = claims.subject().map(Into::into).into_iter().collect();
                Err(JwtError::Subject {
                    found: quoted(&found),
                    expected: format!("{subject:?}"),
                })
            }
            _ => Ok(()),
        }
    }

    fn check_times<T>(&self, claims: &Claims<T>, now: UnixTime) -> Result<(), JwtError> {
        let now = now.as_secs();
        let leeway = self.leeway.as_secs();
        // `early` decides what has passed, and `late` what is still to come: both in favor of the token.
        let (early, late) = (now.saturating_sub(leeway), now.saturating_add(leeway));
        match claims.expiry().map(|time| time.as_secs()) {
            None if !self.is_expiry_optional => return Err(JwtError::Missing("exp".into())),
            Some(end) if end <= early => return Err(JwtError::Expired(now - end)),
            _ => {}
        }
        let until = |time: Option<UnixTime>| {
            let time = time?.as_secs();
            (time > late).then(|| time - now)
        };
        if let Some(seconds) = until(claims.not_before()) {
            return Err(JwtError::NotYet(seconds));
        }
        if let Some(seconds) = until(claims.issued_at()) {
            return Err(JwtError::FromTheFuture(seconds));
        }
        let Some(max_age) = self.max_age else {
            return Ok(());
        };
        let Some(issued) = claims.issued_at() else {
            return Err(JwtError::Missing("iat".into()));
        };
        let end = issued.as_secs().saturating_add(max_age.as_secs());
        match end < early {
            true => Err(JwtError::TooOld(now - end)),
            false => Ok(()),
        }
    }
}

/// Whether two media types are the same (RFC 7515, section 4.1.9).
fn is_type(found: &str, expected: &str) -> bool {
    let short = |type_: &str| {
        let lower = type_.to_ascii_lowercase();
        match lower.strip_prefix("application/") {
            Some(rest) if !rest.contains('/') => rest.into(),
            _ => lower,
        }
    };
    short(found) == short(expected)
}

/// A token with a valid signature and with claims that a [`Policy`] accepted.
#[derive(Clone, Debug)]
pub struct VerifiedToken<'k, T = NoMore> {
    claims: Claims<T>,
    header: Header,
    key: &'k Jwk,
}

impl<'k, T> VerifiedToken<'k, T> {
    /// The claims of the token.
    pub fn claims(&self) -> &Claims<T> {
        &self.claims
    }

    /// Takes the claims out.
    pub fn into_claims(self) -> Claims<T> {
        self.claims
    }

    /// The header of the token.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The key that verified the token.
    pub fn key(&self) -> &'k Jwk {
        self.key
    }
}
