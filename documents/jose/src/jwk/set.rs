//! Sets of JSON Web Keys, as issuers of tokens publish them. Keys of other kinds are left out, but for a damaged or
//! private key of a supported algorithm the whole set is refused.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::JwkError;
use super::key::Jwk;
use super::members::Kind;
use crate::akp::AkpError;
use crate::encoding::json::{self, Object};

/// A set of public keys (RFC 7517, section 5), for example of a token issuer.
#[derive(Clone, Debug, Default)]
pub struct JwkSet {
    keys: Vec<Jwk>,
}

impl JwkSet {
    /// Reads a set of at most 1 MiB.
    ///
    /// Keys of other types and algorithms, and keys that are not for verification, are left out, as RFC 7517
    /// section 5 asks. A set is refused if one of its keys of a supported algorithm is damaged or private.
    ///
    /// # Errors
    ///
    /// A [`JwkError`] that says what is wrong with it.
    pub fn from_json(text: &str) -> Result<Self, JwkError> {
        let Object(members) = json::read::<Object<Members<'_>>>(text.as_bytes(), LIMIT)?;
        let mut keys = Vec::new();
        for member in members.keys {
            match read(member) {
                Ok(key) => keys.push(key),
                Err(
                    JwkError::KeyType(_)
                    | JwkError::Key(AkpError::Algorithm(_))
                    | JwkError::NotForThis(_),
                ) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { keys })
    }

    /// The set as one line of JSON without a line feed.
    pub fn to_json(&self) -> String {
        let keys: Vec<String> = self.keys.iter().map(Jwk::to_json).collect();
        format!(r#"{{"keys":[{}]}}"#, keys.join(","))
    }

    /// The keys, in their order.
    pub fn keys(&self) -> &[Jwk] {
        &self.keys
    }
}

impl AsRef<[Jwk]> for JwkSet {
    fn as_ref(&self) -> &[Jwk] {
        &self.keys
    }
}

impl FromIterator<Jwk> for JwkSet {
    fn from_iter<I: IntoIterator<Item = Jwk>>(keys: I) -> Self {
        Self {
            keys: keys.into_iter().collect(),
        }
    }
}

/// Room for some hundreds of keys.
const LIMIT: usize = 1024 * 1024;

#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

fn read(member: &RawValue) -> Result<Jwk, JwkError> {
    let text = member.get().as_bytes();
    let Object(kind) = json::read_checked::<Object<Kind>>(text)?;
    let algorithm = kind.algorithm()?;
    Jwk::from_members(algorithm, json::read_checked(text)?)
}
