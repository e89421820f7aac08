//! The header of a signed request: what has to be in it, and what may not.

use alloc::borrow::Cow;

use pq_jose::any::{AnyJwk, AnyJwsAlgorithm, AnyJwsError};
use pq_jose::encoding::json::{self, Object, present};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::problem::{Problem, ProblemType};

/// Who signed a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum KeyId {
    /// A key that the request brings.
    Key(Box<AnyJwk>),
    /// The account with this URL.
    Account(String),
}

/// A header whose members fit each other.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) algorithm: AnyJwsAlgorithm,
    pub(super) key: KeyId,
    pub(super) nonce: Option<String>,
    pub(super) url: String,
}

#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    alg: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    jwk: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "present")]
    kid: Option<String>,
    #[serde(default, deserialize_with = "present")]
    nonce: Option<String>,
    #[serde(default, deserialize_with = "present")]
    url: Option<String>,
    #[serde(default, deserialize_with = "present")]
    crit: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "present")]
    b64: Option<IgnoredAny>,
}

impl Header {
    pub(super) fn read(text: &[u8]) -> Result<Self, Problem> {
        let Object(members): Object<Members<'_>> = json::read(text, MAX_LEN)
            .map_err(|error| Problem::malformed(format!("the protected header: {error}")))?;
        let missing = |member: &str| {
            Problem::malformed(format!(
                "the protected header has no member \"{member}\" (RFC 8555 section 6.2)"
            ))
        };
        if members.crit.is_some() || members.b64.is_some() {
            return Err(Problem::malformed(
                "the protected header has \"crit\" or \"b64\": no extensions are supported, and contents are encoded",
            ));
        }
        let algorithm = algorithm(&members.alg.ok_or_else(|| missing("alg"))?)?;
        let key = match (members.jwk, members.kid) {
            (Some(jwk), None) => KeyId::Key(Box::new(key(jwk)?)),
            (None, Some(kid)) => KeyId::Account(kid),
            (None, None) => {
                return Err(missing("kid\" or \"jwk"));
            }
            (Some(_), Some(_)) => {
                return Err(Problem::malformed(
                    "the protected header has both \"jwk\" and \"kid\", and may have one of them (RFC 8555 section 6.2)",
                ));
            }
        };
        if matches!(&key, KeyId::Key(key) if key.algorithm() != algorithm) {
            return Err(Problem::malformed(format!(
                "the protected header says \"alg\":\"{algorithm}\", which is not the algorithm of the key in \"jwk\""
            )));
        }
        Ok(Self {
            algorithm,
            key,
            nonce: members.nonce,
            url: members.url.ok_or_else(|| missing("url"))?,
        })
    }
}

/// A key of ML-DSA-87 has 3.5 KB.
const MAX_LEN: usize = 16 * 1024;

fn algorithm(name: &str) -> Result<AnyJwsAlgorithm, Problem> {
    AnyJwsAlgorithm::of_name(name).ok_or_else(|| bad_algorithm("no such algorithm"))
}

/// The problem that lists the algorithms which are accepted.
fn bad_algorithm(why: &str) -> Problem {
    let names = || AnyJwsAlgorithm::ALL.iter().map(|one| one.name());
    let all: Vec<&str> = names().collect();
    let detail = format!("{why}: requests may be signed by {}", all.join(", "));
    let mut problem = Problem::new(ProblemType::BadSignatureAlgorithm, detail);
    problem.algorithms = names().map(Cow::Borrowed).collect();
    problem
}

fn key(jwk: &RawValue) -> Result<AnyJwk, Problem> {
    AnyJwk::from_json(jwk.get().as_bytes()).map_err(|error| match error {
        AnyJwsError::Json { .. } => Problem::malformed(format!("the member \"jwk\": {error}")),
        other => Problem::new(
            ProblemType::BadPublicKey,
            format!("the member \"jwk\": {other}"),
        ),
    })
}
