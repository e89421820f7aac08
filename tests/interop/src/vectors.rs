//! The published examples in the folder beside the checkout.

use alloc::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use tar::Archive;

use crate::skip;

/// The example keys and certificates of the RFCs by file name, from
/// `../shared/vectors/rfc.tar.gz`.
///
/// `None` where there is no such archive; a notice has been printed then, and the
/// caller returns, which skips its test. In CI that is a failure instead.
///
/// # Panics
/// If the archive is damaged, and in CI if it is not there.
pub fn rfc_examples() -> Option<BTreeMap<String, Vec<u8>>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors/rfc.tar.gz");
    let Ok(file) = File::open(&path) else {
        skip(
            "the examples of the RFCs are not beside the checkout, in ../shared/vectors/rfc.tar.gz",
        );
        return None;
    };

    let mut archive = Archive::new(GzDecoder::new(file));
    let mut examples = BTreeMap::new();
    for entry in archive.entries().expect("the archive can be read") {
        let mut entry = entry.expect("the archive is whole");
        let path = entry
            .path()
            .expect("the archive names its files")
            .into_owned();
        let (true, Some(name)) = (entry.header().entry_type().is_file(), path.file_name()) else {
            continue;
        };
        let name = name.to_string_lossy().into_owned();
        let mut contents = Vec::new();
        entry
            .read_to_end(&mut contents)
            .expect("the archive is whole");
        examples.insert(name, contents);
    }
    Some(examples)
}
