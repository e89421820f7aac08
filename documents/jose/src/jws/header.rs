//! The headers of signatures, protected and unprotected: what callers set, what is read, and what is refused in them.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::error::JwsError;
use crate::akp::Algorithm;
use crate::encoding::{base64url, json, shown};

/// The header of a signature, which is signed with the content (RFC 7515, section 4). The key decides the
/// algorithm; callers can't set it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    members: Map<String, Value>,
}

impl Header {
    /// An empty header. Signing adds the algorithm.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the identifier of the key (`kid`). Verifiers find the key by it.
    #[must_use]
    pub fn with_kid(self, kid: impl Into<String>) -> Self {
        self.with("kid", kid.into())
    }

    /// Sets the media type of the whole signed document (`typ`), such as `at+jwt`.
    #[must_use]
    pub fn with_type(self, type_: impl Into<String>) -> Self {
        self.with("typ", type_.into())
    }

    /// Sets the media type of the content (`cty`).
    #[must_use]
    pub fn with_content_type(self, type_: impl Into<String>) -> Self {
        self.with("cty", type_.into())
    }

    fn with(mut self, name: &str, value: String) -> Self {
        self.members.insert(name.into(), value.into());
        self
    }

    /// The identifier of the key, if there is one.
    pub fn kid(&self) -> Option<&str> {
        self.text("kid")
    }

    /// The media type of the whole signed document (`typ`), if there is one.
    pub fn media_type(&self) -> Option<&str> {
        self.text("typ")
    }

    /// The media type of the content (`cty`), if there is one.
    pub fn content_type(&self) -> Option<&str> {
        self.text("cty")
    }

    /// Any member of a header that was read, including `alg`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.members.get(name)
    }

    /// The name of the algorithm in a header that was read. It means nothing until it is compared with the key.
    pub(super) fn algorithm(&self) -> Option<&str> {
        self.text("alg")
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.members.get(name)?.as_str()
    }

    /// Reads the protected header of a signature.
    pub(super) fn read(encoded: &str) -> Result<Self, JwsError> {
        let part = HEADER;
        let json_error = |error| JwsError::Json { part, error };
        if encoded.len() > base64url::encoded_len(LIMIT) {
            let (len, limit) = (encoded.len() / 4 * 3, LIMIT);
            return Err(json_error(json::JsonError::TooLong { len, limit }));
        }
        let text = base64url::decode(encoded).map_err(|error| JwsError::Base64 { part, error })?;
        let header = Self {
            members: json::read(&text, LIMIT).map_err(json_error)?,
        };
        if let Some(critical) = header.members.get("crit") {
            return Err(JwsError::Critical(shown(&critical.to_string())));
        }
        if header.members.contains_key("b64") {
            let problem = "is for unencoded payloads (RFC 7797), which are not supported";
            return Err(JwsError::Member {
                member: "b64",
                problem,
            });
        }
        if header.algorithm().is_none() {
            let problem = "is missing, or is not a string";
            return Err(JwsError::Member {
                member: "alg",
                problem,
            });
        }
        header.check_texts()?;
        Ok(header)
    }

    /// Checks an unprotected header. Nobody signed it, so it may only help to find the key.
    pub(super) fn check_unprotected(&self, unprotected: &Self) -> Result<(), JwsError> {
        for member in ["alg", "crit", "b64"] {
            if unprotected.members.contains_key(member) {
                let problem = "is in the unprotected header, where nobody signed it";
                return Err(JwsError::Member { member, problem });
            }
        }
        let mut names = unprotected.members.keys();
        match names.find(|name| self.members.contains_key(*name)) {
            Some(name) => Err(JwsError::InBothHeaders(shown(name))),
            None => unprotected.check_texts(),
        }
    }

    /// Reads an unprotected header, in a text that was checked.
    pub(super) fn read_unprotected(text: &RawValue) -> Result<Self, JwsError> {
        let part = HEADER;
        let (len, limit) = (text.get().len(), LIMIT);
        let members = match len > limit {
            true => Err(json::JsonError::TooLong { len, limit }),
            false => json::read_checked(text.get().as_bytes()),
        };
        Ok(Self {
            members: members.map_err(|error| JwsError::Json { part, error })?,
        })
    }

    fn check_texts(&self) -> Result<(), JwsError> {
        for member in ["kid", "typ", "cty"] {
            if self
                .members
                .get(member)
                .is_some_and(|value| !value.is_string())
            {
                let problem = "is not a string";
                return Err(JwsError::Member { member, problem });
            }
        }
        Ok(())
    }

    /// The encoded header as it is signed, with this algorithm.
    pub(super) fn encode(&self, algorithm: Algorithm) -> String {
        let mut members = Map::new();
        members.insert("alg".into(), algorithm.name().into());
        // A header that was read may name the algorithm of another key.
        let others = self.members.iter().filter(|(name, _)| *name != "alg");
        members.extend(others.map(|(name, value)| (name.clone(), value.clone())));
        base64url::encode(Value::Object(members).to_string().as_bytes())
    }
}

pub(super) const HEADER: &str = "header";

/// A header with a chain of post-quantum certificates in it has some tens of kilobytes.
const LIMIT: usize = 64 * 1024;
