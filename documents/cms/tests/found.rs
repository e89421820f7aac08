//! Messages that reviewers made, in `../shared/found/attributes`: the attributes of a signed message pose as the content
//! of one without, and the other way round. Where the files are not there, the tests say so and end.

use std::fs;
use std::path::{Path, PathBuf};

use pq_cms::{AttributesGuard, SignatureRefusal, VerificationError, Verifier};
use pq_x509::certificate::Certificate;

fn folder() -> Option<PathBuf> {
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/found/attributes");
    if !found.is_dir() {
        println!("skipped: there is no folder {}", found.display());
        return None;
    }
    Some(found)
}

#[test]
fn stripped_attributes_are_no_content() {
    let Some(folder) = folder() else {
        return;
    };
    let alice = fs::read_to_string(folder.join("alice.pem")).unwrap();
    let verifier = Verifier::with_signers([Certificate::from_pem(&alice).unwrap()]).unwrap();
    for name in ["stripped-plain.der", "stripped-uuid.der"] {
        let message = fs::read(folder.join(name)).unwrap();
        match verifier.verify(&message[..], 1 << 20) {
            Err(VerificationError::Signature { refusal, .. }) => {
                assert!(
                    matches!(*refusal, SignatureRefusal::ContentIsAttributes),
                    "{name}"
                );
            }
            other => panic!("{name}: {other:?}"),
        }
        // What was signed as attributes is what must not be signed as content.
        let mut content = Vec::new();
        verifier
            .write_unverified(&message[..], &mut content)
            .unwrap_err();
        let mut guard = AttributesGuard::new();
        guard.update(&content);
        assert!(guard.may_be_attributes(), "{name}");
    }
    let honest = fs::read(folder.join("honest-plain.der")).unwrap();
    let (content, _) = verifier.verify(&honest[..], 1 << 20).unwrap();
    assert_eq!(content, b"pay 1000000 to mallory\n");
}
