//! OCSP responses that must not be stapled, and files that must not be written.

use pq_x509::certificate::Certificate;

use super::found;

/// What nobody can verify is not good: here, a response whose signature has an algorithm that nobody has.
#[test]
fn a_forged_response() {
    let Some(found) = found() else { return };
    // The issuer stands in for its root, which is not there.
    let chain = String::from_utf8(found.read("lists/s.pem")).expect("PEM is text");
    let chain = Certificate::chain_from_pem(&chain).expect("it was read once");
    let folder = tempfile::tempdir().expect("a folder");
    let roots = folder.path().join("roots.pem");
    std::fs::write(&roots, chain[1].to_pem()).expect("a file in it");
    let verify = |response: &str| {
        let line = format!(
            "cert verify lists/s.pem --roots {} --ocsp {response} --at 2026-11-28T00:30:00Z",
            roots.display()
        );
        found.pqtls(&line)
    };
    let good = verify("lists/good.der");
    assert!(good.success(), "{good}");
    let forged = verify("lists/forged.der");
    assert_eq!(forged.code(), Some(1), "{forged}");
    let algorithm = "2.16.840.1.101.3.4.3.99";
    assert!(forged.stderr().contains(algorithm), "{forged}");
}
