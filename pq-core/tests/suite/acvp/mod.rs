//! NIST's ACVP vectors, read from the folder beside the checkout; without it, those that packages ship.

mod ml_dsa;
mod ml_kem;
mod packaged;
mod slh_dsa;

use core::ops::Deref;
use std::env;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use testing::skipped::{cannot_run, skip};

use self::packaged::Missing;

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
    /// `None` if the whole folder of vectors is absent, and no package has these: then it says so, and in CI it
    /// panics. A file that is missing from the folder is an error.
    ///
    /// The environment variable PQ_CORE_VECTORS, if it is `packages`, leaves the folder out.
    fn load(path: &str, algorithm: &str, mode: &str) -> Option<Self> {
        let leave_out = env::var_os("PQ_CORE_VECTORS").is_some_and(|value| value == "packages");
        let text = if Path::new(FOLDER).exists() && !leave_out {
            decompressed(&Path::new(FOLDER).join(format!("{path}.json.gz")))
        } else {
            match packaged::text(path) {
                Ok(text) => text,
                Err(Missing::InPackages) if leave_out => {
                    cannot_run(&format!("ACVP {path}: no package ships these vectors"));
                    return None;
                }
                Err(missing) => {
                    skip(&format!("ACVP {path}: {missing}"));
                    return None;
                }
            }
        };
        let mut vectors: Self =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        vectors.cases = text.matches("\"tcId\"").count();
        assert_eq!((&*vectors.algorithm, &*vectors.mode), (algorithm, mode));
        Some(vectors)
    }
}

/// The text of a file that is compressed by gzip.
fn decompressed(file: &Path) -> String {
    let path = file.display();
    let compressed = File::open(file).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = String::new();
    GzDecoder::new(compressed)
        .read_to_string(&mut text)
        .unwrap_or_else(|error| panic!("{path}: {error}"));
    text
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
