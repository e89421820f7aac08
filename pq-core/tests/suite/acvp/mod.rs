//! NIST's ACVP vectors, read from the folder beside the checkout.

mod ml_dsa;
mod ml_kem;
mod slh_dsa;

use core::ops::Deref;
use std::env;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::tally::announce;

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
    /// The vectors of `path` (`folder/file`, without `.json.gz`).
    ///
    /// `None` if the whole folder of vectors is absent: then it prints this, and in CI it
    /// panics.
    fn load(path: &str, algorithm: &str, mode: &str) -> Option<Self> {
        if !Path::new(FOLDER).exists() {
            let missing = "../shared/vectors/acvp is not there beside the checkout";
            assert!(
                env::var_os("CI").is_none(),
                "ACVP {path}: {missing}, and with CI set that is a failure"
            );
            announce(&format!("SKIPPED: ACVP {path}: {missing}\n"));
            return None;
        }
        let file = Path::new(FOLDER).join(format!("{path}.json.gz"));
        let compressed = File::open(file).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut text = String::new();
        GzDecoder::new(compressed)
            .read_to_string(&mut text)
            .unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut vectors: Self =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        vectors.cases = text.matches("\"tcId\"").count();
        assert_eq!((&*vectors.algorithm, &*vectors.mode), (algorithm, mode));
        Some(vectors)
    }
}

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/vectors/acvp");

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
