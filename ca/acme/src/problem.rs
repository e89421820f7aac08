//! Errors as ACME has them: problem documents (RFC 9457) of the types of RFC 8555, section 6.7, of RFC 9773 and of the
//! draft on profiles.
//!
//! It uses [`identifier`](crate::identifier).

use alloc::borrow::Cow;
use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::identifier::Identifier;

/// The media type of a problem document.
pub const CONTENT_TYPE: &str = "application/problem+json";

/// What went wrong, for programs and for people.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Problem {
    /// What kind of a problem it is.
    #[serde(rename = "type", default = "about_blank")]
    pub kind: ProblemType,
    /// What happened and what to do, in a sentence.
    #[serde(default)]
    pub detail: String,
    /// The status of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// For [`UserActionRequired`](ProblemType::UserActionRequired): a page for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<Box<Page>>,
    /// For [`BadSignatureAlgorithm`](ProblemType::BadSignatureAlgorithm): the algorithms that are accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub algorithms: Vec<Cow<'static, str>>,
    /// Each problem, where there are several.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub subproblems: Box<[Subproblem]>,
    /// When to try again, which stands in a header of the answer.
    #[serde(skip)]
    pub retry_after: Option<Duration>,
}

/// The URL of a page. Few problems have one, and all are small.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Page(pub String);

fn about_blank() -> ProblemType {
    ProblemType::Other("about:blank".into())
}

impl Problem {
    /// A problem of this kind, with the status that belongs to it.
    pub fn new(kind: ProblemType, detail: impl Into<String>) -> Self {
        Self {
            status: Some(kind.status()),
            kind,
            detail: detail.into(),
            instance: None,
            algorithms: Vec::new(),
            subproblems: Box::default(),
            retry_after: None,
        }
    }

    /// [`Malformed`](ProblemType::Malformed).
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::new(ProblemType::Malformed, detail)
    }

    /// [`Unauthorized`](ProblemType::Unauthorized).
    pub fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(ProblemType::Unauthorized, detail)
    }

    /// The same problem with another status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// The same problem, to be tried again after this time.
    #[must_use]
    pub fn with_retry_after(mut self, retry_after: Duration) -> Self {
        self.retry_after = Some(retry_after);
        self
    }

    /// The same problem with a page for the user.
    #[must_use]
    pub fn with_instance(mut self, url: impl Into<String>) -> Self {
        self.instance = Some(Box::new(Page(url.into())));
        self
    }

    /// One problem of several, each about an identifier. If it is one alone, its type and text are also those of the whole.
    pub fn of_identifiers(problems: Vec<Subproblem>) -> Self {
        let mut whole = match problems.as_slice() {
            [one] => Self::new(one.kind.clone(), one.detail.clone()),
            [first, rest @ ..] if rest.iter().all(|other| other.kind == first.kind) => Self::new(
                first.kind.clone(),
                format!(
                    "{} identifiers are refused: see each of them",
                    problems.len()
                ),
            ),
            _ => Self::new(
                ProblemType::Compound,
                format!(
                    "{} identifiers are refused: see each of them",
                    problems.len()
                ),
            ),
        };
        whole.subproblems = problems.into();
        whole
    }

    /// The status of the answer.
    pub fn status(&self) -> u16 {
        self.status.unwrap_or_else(|| self.kind.status())
    }

    /// The document.
    pub fn to_json(&self) -> Vec<u8> {
        // It has nothing that has no JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads a document that a server sent, with what its answer's status was.
    ///
    /// # Errors
    ///
    /// If it is no JSON, or its members have other types.
    pub fn from_json(status: u16, text: &[u8]) -> Result<Self, serde_json::Error> {
        let read: Self = serde_json::from_slice(text)?;
        Ok(Self {
            status: read.status.or(Some(status)),
            ..read
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.detail)?;
        for one in &self.subproblems {
            write!(f, "; ")?;
            if let Some(identifier) = &one.identifier {
                write!(f, "{identifier}: ")?;
            }
            write!(f, "{}: {}", one.kind, one.detail)?;
        }
        Ok(())
    }
}

impl core::error::Error for Problem {}

/// One problem of several (RFC 8555, section 6.7.1).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Subproblem {
    /// What kind of a problem it is.
    #[serde(rename = "type", default = "about_blank")]
    pub kind: ProblemType,
    /// What happened and what to do, in a sentence.
    #[serde(default)]
    pub detail: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identifier: Option<Identifier>,
}

/// Declares the types of problems: the variant, the last part of its URN, the status of answers.
macro_rules! problem_types {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal $status:literal,)+) => {
        /// A kind of problem.
        #[derive(Clone, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum ProblemType {
            $($(#[doc = $doc])+ $variant,)+
            /// Any other, by its whole URI.
            Other(String),
        }

        impl ProblemType {
            /// Every type that has a name here.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name after `urn:ietf:params:acme:error:`, or the whole URI of another type.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Other(uri) => uri,
                }
            }

            /// The status of answers with it.
            pub fn status(&self) -> u16 {
                match self {
                    $(Self::$variant => $status,)+
                    Self::Other(_) => 500,
                }
            }

            fn of_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

problem_types! {
    /// The request names an account that does not exist.
    AccountDoesNotExist "accountDoesNotExist" 400,
    /// Another order replaces the same certificate (RFC 9773, section 7.4).
    AlreadyReplaced "alreadyReplaced" 409,
    /// The certificate is revoked already.
    AlreadyRevoked "alreadyRevoked" 400,
    /// The request for a certificate is not acceptable.
    BadCsr "badCSR" 400,
    /// The nonce is not acceptable: try again with the one of this answer.
    BadNonce "badNonce" 400,
    /// The key is of a known kind, and not acceptable.
    BadPublicKey "badPublicKey" 400,
    /// The reason of the revocation is not allowed.
    BadRevocationReason "badRevocationReason" 400,
    /// The algorithm of the signature is not supported.
    BadSignatureAlgorithm "badSignatureAlgorithm" 400,
    /// CAA records forbid it.
    Caa "caa" 403,
    /// Several problems.
    Compound "compound" 400,
    /// The validation could not connect.
    Connection "connection" 400,
    /// The validation could not look something up.
    Dns "dns" 400,
    /// The account has to be bound to one that exists elsewhere.
    ExternalAccountRequired "externalAccountRequired" 403,
    /// What the validation found is not what it has to be.
    IncorrectResponse "incorrectResponse" 403,
    /// A contact is malformed.
    InvalidContact "invalidContact" 400,
    /// There is no such profile, or not for this order (draft-ietf-acme-profiles).
    InvalidProfile "invalidProfile" 400,
    /// The request is malformed.
    Malformed "malformed" 400,
    /// The order can't be finalized in its state.
    OrderNotReady "orderNotReady" 403,
    /// There were too many requests.
    RateLimited "rateLimited" 429,
    /// There are no certificates for this identifier here.
    RejectedIdentifier "rejectedIdentifier" 400,
    /// The server failed.
    ServerInternal "serverInternal" 500,
    /// The validation met an error of TLS.
    Tls "tls" 400,
    /// The client may not do this.
    Unauthorized "unauthorized" 403,
    /// Contacts of this kind are not supported.
    UnsupportedContact "unsupportedContact" 400,
    /// Identifiers of this type are not supported.
    UnsupportedIdentifier "unsupportedIdentifier" 400,
    /// The user has to do something first: see the problem's `instance`.
    UserActionRequired "userActionRequired" 403,
}

const PREFIX: &str = "urn:ietf:params:acme:error:";

impl fmt::Display for ProblemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for ProblemType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Other(uri) => serializer.serialize_str(uri),
            known => serializer.collect_str(&format_args!("{PREFIX}{}", known.name())),
        }
    }
}

impl<'de> Deserialize<'de> for ProblemType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let uri = String::deserialize(deserializer)?;
        let known = uri.strip_prefix(PREFIX).and_then(Self::of_name);
        Ok(known.unwrap_or(Self::Other(uri)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_read_as_they_are_written() {
        for kind in ProblemType::ALL {
            let problem = Problem::new(kind.clone(), "because");
            let text = problem.to_json();
            let expected = format!(
                r#"{{"type":"urn:ietf:params:acme:error:{kind}","detail":"because","status":{}}}"#,
                kind.status()
            );
            assert_eq!(String::from_utf8(text.clone()).unwrap(), expected);
            assert_eq!(Problem::from_json(500, &text).unwrap(), problem);
        }
        let other = Problem::from_json(418, br#"{"type":"urn:x","title":"t"}"#).unwrap();
        assert_eq!(other.kind, ProblemType::Other("urn:x".into()));
        assert_eq!(other.status(), 418);
        assert_eq!(Problem::from_json(500, b"{}").unwrap().kind, about_blank());
    }

    #[test]
    fn several_problems_are_one() {
        let one = |kind, name| Subproblem {
            kind,
            detail: "no".into(),
            identifier: Some(Identifier::Dns(String::from(name))),
        };
        let rejected = || one(ProblemType::RejectedIdentifier, "a.example");
        let caa = one(ProblemType::Caa, "b.example");
        let whole = Problem::of_identifiers(vec![rejected()]);
        assert_eq!(whole.kind, ProblemType::RejectedIdentifier);
        let whole = Problem::of_identifiers(vec![rejected(), rejected()]);
        assert_eq!(whole.kind, ProblemType::RejectedIdentifier);
        let whole = Problem::of_identifiers(vec![rejected(), caa]);
        assert_eq!(
            (whole.kind.clone(), whole.subproblems.len()),
            (ProblemType::Compound, 2)
        );
        assert_eq!(Problem::from_json(400, &whole.to_json()).unwrap(), whole);
    }
}
