//! Reads the contents of requests.

use pq_jose::encoding::base64url;
use pq_jose::encoding::json::{self, Object};
use pq_keys::random;
use serde::Deserialize;

use super::answer::Refusal;
use crate::jws::MAX_BODY_LEN;
use crate::problem::{Problem, ProblemType};

/// Reads an object.
pub(super) fn read<'a, T: Deserialize<'a>>(content: &'a [u8]) -> Result<T, Refusal> {
    let read = json::read(content, MAX_BODY_LEN);
    let Object(content) =
        read.map_err(|error| Problem::malformed(format!("the content of the request: {error}")))?;
    Ok(content)
}

/// Refuses a content where only a request for what is there is possible (POST-as-GET).
pub(super) fn nothing(content: &[u8]) -> Result<(), Refusal> {
    match content.is_empty() {
        true => Ok(()),
        false => Err(Problem::malformed(
            "the request has a content, and may have none here: it only asks for what is there (RFC 8555 section 6.3)",
        )
        .into()),
    }
}

/// A new name of an object, which nobody can guess, or a token.
pub(super) fn fresh_id() -> Result<String, Refusal> {
    let mut bytes = [0; 16];
    random::fill(&mut bytes).map_err(no_randomness)?;
    Ok(base64url::encode(&bytes))
}

pub(super) fn no_randomness(_: random::RandomnessError) -> Refusal {
    Problem::new(
        ProblemType::ServerInternal,
        "the server has no randomness: try again later",
    )
    .into()
}
