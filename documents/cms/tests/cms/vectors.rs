//! The examples of RFC 9882, read from the folder beside the checkout.

use alloc::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use pq_cms::{Verifier, decode_if_pem};
use pq_x509::Certificate;
use testing::skipped::skip;

use crate::bytes::changed;

/// File name (without folders) to text; `None`, with a message, if the vectors are absent. In CI they
/// must be there.
fn files() -> Option<BTreeMap<String, String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors/rfc.tar.gz");
    let Ok(file) = File::open(path) else {
        skip("no vectors, ../shared/vectors/rfc.tar.gz");
        return None;
    };
    let mut files = BTreeMap::new();
    for entry in tar::Archive::new(GzDecoder::new(file)).entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().file_name().map(ToOwned::to_owned);
        let mut text = String::new();
        if let (Some(name), Ok(_)) = (name, entry.read_to_string(&mut text)) {
            files.insert(name.to_string_lossy().into_owned(), text);
        }
    }
    Some(files)
}

/// Appendix B of RFC 9882, whose signers' keys are those of RFC 9881, appendix C.
#[test]
fn rfc_9882() {
    let Some(files) = files() else {
        return;
    };
    for set in ["44", "65", "87"] {
        let signer = Certificate::from_pem(&files[&format!("ML-DSA-{set}.crt")]).unwrap();
        let text = &files[&format!("mldsa{set}-signed-attrs.pem")];
        let mut message = Vec::new();
        let mut from = decode_if_pem(text.as_bytes()).unwrap();
        from.read_to_end(&mut message).unwrap();
        let verifier = Verifier::with_signers([signer]).unwrap();
        let (content, verified) = verifier.verify(&message[..], 1000).unwrap();
        assert!(!content.is_empty());
        assert_eq!(verified.signers.len(), 1);
        for (at, message) in changed(&message) {
            let verified = verifier.write_unverified(&message[..], io::sink());
            assert!(verified.is_err(), "{set} {at}");
        }
    }
}
