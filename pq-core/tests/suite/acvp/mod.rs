//! NIST's ACVP vectors.

mod ml_dsa;
mod ml_kem;
mod slh_dsa;

use core::ops::Deref;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A file of vectors as published: `G` is the shape of its groups.
#[derive(Deserialize)]
struct Vectors<G> {
    algorithm: String,
    mode: String,
    #[serde(rename = "testGroups")]
    groups: Vec<G>,
    /// The number of cases: the count of their identifiers in the file's text, which does
    /// not depend on any loop over groups.
    #[serde(skip)]
    cases: usize,
}

impl<G: DeserializeOwned> Vectors<G> {
    /// The vectors of `path` (`folder/file`, without `.json.gz`); `None` if they are absent, and it has said so then.
    fn load(path: &str, algorithm: &str, mode: &str) -> Option<Self> {
        let text = vectors::acvp::text(path)?;
        let mut vectors: Self =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        vectors.cases = text.matches("\"tcId\"").count();
        assert_eq!((&*vectors.algorithm, &*vectors.mode), (algorithm, mode));
        Some(vectors)
    }
}

/// Bytes, in hexadecimal in the file.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Hex(#[serde(with = "hex::serde")] Vec<u8>);

impl Hex {
    fn array<const N: usize>(&self) -> &[u8; N] {
        self.0
            .as_slice()
            .try_into()
            .unwrap_or_else(|_| panic!("{} bytes where the standard has {N}", self.len()))
    }
}

impl Deref for Hex {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
