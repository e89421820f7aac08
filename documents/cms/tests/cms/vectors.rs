//! The examples of RFC 9882.

use std::io::{self, Read};

use pq_cms::{Verifier, decode_if_pem};
use pq_x509::certificate::Certificate;

use crate::bytes::changed;

/// Appendix B of RFC 9882, whose signers' keys are those of RFC 9881, appendix C.
#[test]
fn rfc_9882() {
    let Some(files) = vectors::rfc() else {
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
