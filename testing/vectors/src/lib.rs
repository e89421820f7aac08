//! Published vectors, which are no part of this repository: they are in the folder `../shared/vectors` beside the
//! checkout, and some in packages of the registry.
//!
//! Where vectors are absent, these functions return `None` and have said so. The caller returns then, which skips its
//! test; in CI that is a failure. Vectors that can't be read are always one.
#![forbid(unsafe_code)]

extern crate alloc;

pub mod acvp;

use alloc::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use tar::Archive;
use testing::skipped::skip;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors");

/// What is in a compressed file.
///
/// # Panics
/// In CI if it is absent.
pub fn compressed(name: &str) -> Option<GzDecoder<File>> {
    match File::open(Path::new(FOLDER).join(name)) {
        Ok(file) => Some(GzDecoder::new(file)),
        Err(error) => {
            skip(&format!("no vectors, ../shared/vectors/{name}: {error}"));
            None
        }
    }
}

/// The text of each example in RFC 9881, RFC 9882, RFC 9909 and RFC 9935, by the file's name without folders.
///
/// # Panics
/// If the archive is damaged, and in CI if it is absent.
pub fn rfc() -> Option<BTreeMap<String, String>> {
    let mut archive = Archive::new(compressed("rfc.tar.gz")?);
    let mut files = BTreeMap::new();
    for entry in archive.entries().expect("the archive can be read") {
        let mut entry = entry.expect("the archive is whole");
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = entry.path().expect("files have names").into_owned();
        let name = path.file_name().and_then(|name| name.to_str());
        let mut text = String::new();
        entry
            .read_to_string(&mut text)
            .expect("all files are texts");
        files.insert(name.expect("names are texts").to_owned(), text);
    }
    assert!(files.len() > 40, "the archive is not whole");
    Some(files)
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
