//! Sets of JSON Web Keys, as issuers of tokens publish them. What can't be used is left out, and said.

use serde_json::value::RawValue;

use super::error::JwkError;
use super::key::Jwk;
use super::members::Kind;
use crate::akp::AkpError;
use crate::encoding::JsonError;
use crate::encoding::json::{self, List, Object};

/// A set of public keys (RFC 7517, section 5), for example of a token issuer.
#[derive(Clone, Debug, Default)]
pub struct JwkSet {
    keys: Vec<Jwk>,
    left_out: Vec<LeftOut>,
}

/// A key of a set that is of no use, although it is of a supported algorithm or of none.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("key {number} of the set is left out: {error}")]
pub struct LeftOut {
    /// Its place among the keys of the set; the first is 1.
    pub number: usize,
    /// Why it is of no use.
    pub error: JwkError,
}

impl JwkSet {
    /// Reads a set of at most 1 MiB.
    ///
    /// A key that can't be used is left out, and the others count, as RFC 7517 section 5 asks: one of another type or
    /// algorithm, and also one that is not for verification, damaged or private, which [`left_out`](Self::left_out)
    /// tells.
    ///
    /// # Errors
    ///
    /// [`JwkError::Json`], if the text is no set.
    pub fn from_json(text: &str) -> Result<Self, JwkError> {
        let mut set = Self::default();
        let keys = json::read_list(text.as_bytes(), "keys", LIMIT)?;
        for (index, member) in keys.values.iter().enumerate() {
            match read(&keys, member) {
                Ok(key) => set.keys.push(key),
                Err(error @ JwkError::Json(JsonError::TooManyValues)) => return Err(error),
                Err(JwkError::KeyType(_) | JwkError::Key(AkpError::Algorithm(_))) => {}
                Err(error) if set.left_out.len() < MOST_LEFT_OUT => {
                    let number = index + 1;
                    set.left_out.push(LeftOut { number, error });
                }
                Err(_) => {}
            }
        }
        Ok(set)
    }

    /// The keys that were left out since they are not for verification, damaged or private; the first 32 of them.
    /// Whoever publishes the set should know.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
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
            left_out: Vec::new(),
        }
    }
}

const MOST_LEFT_OUT: usize = 32;

/// Room for some hundreds of keys.
const LIMIT: usize = 1024 * 1024;

fn read(keys: &List<'_>, member: &RawValue) -> Result<Jwk, JwkError> {
    let text = member.get().as_bytes();
    let Object(kind) = keys.read::<Object<Kind>>(text)?;
    let algorithm = kind.algorithm()?;
    Jwk::from_members(algorithm, json::read_checked(text)?)
}
