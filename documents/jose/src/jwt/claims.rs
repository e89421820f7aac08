//! The claims of a token, for issuing it and after it was verified, and how they are read from JSON and written.

use core::time::Duration;

use pq_keys::Signer;
use pq_keys::pki_types::UnixTime;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::{JwtError, MAX_LEN};
use super::time::NumericDate;
use crate::encoding::JsonError;
use crate::encoding::json::{self, present};
use crate::encoding::shown;
use crate::jws::{Header, Message};

/// The claims of a token: those of RFC 7519 section 4.1, all optional, and those of the application, which have
/// the type `T`.
#[derive(Clone, Debug, Default)]
pub struct Claims<T = NoMore> {
    issuer: Option<String>,
    subject: Option<String>,
    audience: Vec<String>,
    expires: Option<UnixTime>,
    not_before: Option<UnixTime>,
    issued_at: Option<UnixTime>,
    id: Option<String>,
    more: T,
}

/// No further claims: claims that RFC 7519 does not define are ignored.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct NoMore {}

impl Claims {
    /// Empty claims.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<T> Claims<T> {
    /// Sets who issues the token (`iss`).
    #[must_use]
    pub fn with_issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Sets whom the token is about (`sub`).
    #[must_use]
    pub fn with_subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// Adds a recipient of the token (`aud`).
    #[must_use]
    pub fn with_audience(mut self, audience: impl Into<String>) -> Self {
        self.audience.push(audience.into());
        self
    }

    /// Sets the time of issue to `now` (`iat`), and the expiry to `lifetime` later (`exp`). Times are whole seconds.
    #[must_use]
    pub fn with_lifetime(self, now: UnixTime, lifetime: Duration) -> Self {
        let end = now.as_secs().saturating_add(lifetime.as_secs());
        self.with_issued_at(now).with_expiry(super::time::at(end))
    }

    /// Sets when the token is issued (`iat`).
    #[must_use]
    pub fn with_issued_at(mut self, time: UnixTime) -> Self {
        self.issued_at = Some(time);
        self
    }

    /// Sets the first second in which the token is no longer valid (`exp`).
    #[must_use]
    pub fn with_expiry(mut self, time: UnixTime) -> Self {
        self.expires = Some(time);
        self
    }

    /// Sets the first second in which the token is valid (`nbf`).
    #[must_use]
    pub fn with_not_before(mut self, time: UnixTime) -> Self {
        self.not_before = Some(time);
        self
    }

    /// Sets the identifier of the token (`jti`).
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the application's claims. Their type has to serialize as a JSON object, whose members are the claims.
    #[must_use]
    pub fn with_more<U>(self, more: U) -> Claims<U> {
        Claims {
            issuer: self.issuer,
            subject: self.subject,
            audience: self.audience,
            expires: self.expires,
            not_before: self.not_before,
            issued_at: self.issued_at,
            id: self.id,
            more,
        }
    }

    /// Who issued the token (`iss`).
    pub fn issuer(&self) -> Option<&str> {
        self.issuer.as_deref()
    }

    /// Whom the token is about (`sub`).
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// The recipients of the token (`aud`).
    pub fn audience(&self) -> &[String] {
        &self.audience
    }

    /// The first second in which the token is no longer valid (`exp`); a fraction is cut off.
    pub fn expiry(&self) -> Option<UnixTime> {
        self.expires
    }

    /// The first second in which the token is valid (`nbf`); a fraction is rounded up.
    pub fn not_before(&self) -> Option<UnixTime> {
        self.not_before
    }

    /// When the token was issued (`iat`); a fraction is rounded up.
    pub fn issued_at(&self) -> Option<UnixTime> {
        self.issued_at
    }

    /// The identifier of the token (`jti`).
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The claims of the application.
    pub fn more(&self) -> &T {
        &self.more
    }
}

impl<T: Serialize> Claims<T> {
    /// Signs a token with these claims. Its type is `JWT` unless the header names another.
    ///
    /// # Errors
    ///
    /// [`JwtError::NotMembers`], if the application's claims are not an object; [`JwtError::Reserved`], if they
    /// include a claim of RFC 7519; and [`JwtError::Jws`], if the key did not sign.
    pub fn sign<S: Signer + ?Sized>(&self, header: &Header, key: &S) -> Result<String, JwtError> {
        let claims = self.to_json()?;
        let header = match header.media_type() {
            Some(_) => header.clone(),
            None => header.clone().with_type("JWT"),
        };
        Ok(Message::new(claims.as_bytes()).to_compact(&header, key)?)
    }

    /// The claims as JSON.
    fn to_json(&self) -> Result<String, JwtError> {
        let mut claims = match serde_json::to_value(&self.more) {
            Ok(Value::Object(claims)) => claims,
            Ok(_) => return Err(JwtError::NotMembers("they are not an object".into())),
            Err(error) => return Err(JwtError::NotMembers(shown(&error.to_string()))),
        };
        if let Some(name) = NAMES.iter().find(|name| claims.contains_key(**name)) {
            return Err(JwtError::Reserved(name));
        }
        let text = |text: &Option<String>| text.clone().map(Value::from);
        let time = |time: Option<UnixTime>| time.map(|time| time.as_secs().into());
        let audience = match &*self.audience {
            [] => None,
            [one] => Some(one.clone().into()),
            several => Some(several.into()),
        };
        let values = [
            text(&self.issuer),
            text(&self.subject),
            audience,
            time(self.expires),
            time(self.not_before),
            time(self.issued_at),
            text(&self.id),
        ];
        for (name, value) in NAMES.into_iter().zip(values) {
            if let Some(value) = value {
                claims.insert(name.into(), value);
            }
        }
        Ok(Value::Object(claims).to_string())
    }
}

/// The claims of RFC 7519, section 4.1.
const NAMES: [&str; 7] = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti"];

impl<T: DeserializeOwned> Claims<T> {
    /// Reads claims that were checked already: each member is there once.
    pub(super) fn read(text: &[u8]) -> Result<Self, JwtError> {
        let read: Members = json::read_checked(text)?;
        Ok(Self {
            issuer: read.iss,
            subject: read.sub,
            audience: match read.aud {
                None => Vec::new(),
                Some(Audience::One(one)) => vec![one],
                Some(Audience::Several(several)) => several,
            },
            expires: read.exp.map(NumericDate::earliest),
            not_before: read.nbf.map(NumericDate::latest),
            issued_at: read.iat.map(NumericDate::latest),
            id: read.jti,
            more: json::read_checked(text)?,
        })
    }
}

/// Reads the application's claims for a token from JSON, for example into a map or a struct.
///
/// ```
/// use std::collections::BTreeMap;
///
/// let more: BTreeMap<String, u32> = pq_jose::jwt::further_claims(br#"{"level": 7}"#)?;
/// assert_eq!(more["level"], 7);
/// let twice = br#"{"level": 7, "level": 8}"#;
/// assert!(pq_jose::jwt::further_claims::<BTreeMap<String, u32>>(twice).is_err());
/// # Ok::<_, pq_jose::JsonError>(())
/// ```
///
/// # Errors
///
/// A [`JsonError`] if a member is there twice (`serde_json` alone would take the last one); if the text is too
/// long, or nested too deeply, for [`Policy`](super::Policy) to read the token; or if the text is not JSON of a `T`.
pub fn further_claims<T: DeserializeOwned>(text: &[u8]) -> Result<T, JsonError> {
    json::read(text, MAX_LEN)
}

/// All members. A member that is there twice is an error.
pub(super) fn members(text: &[u8]) -> Result<Map<String, Value>, JwtError> {
    Ok(json::read(text, MAX_LEN)?)
}

#[derive(Deserialize)]
struct Members {
    #[serde(default, deserialize_with = "present")]
    iss: Option<String>,
    #[serde(default, deserialize_with = "present")]
    sub: Option<String>,
    #[serde(default, deserialize_with = "present")]
    aud: Option<Audience>,
    #[serde(default, deserialize_with = "present")]
    exp: Option<NumericDate>,
    #[serde(default, deserialize_with = "present")]
    nbf: Option<NumericDate>,
    #[serde(default, deserialize_with = "present")]
    iat: Option<NumericDate>,
    #[serde(default, deserialize_with = "present")]
    jti: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "an audience is a string or an array of strings")]
enum Audience {
    One(String),
    Several(Vec<String>),
}
