//! `pqtls show`: what a file has, of whatever kind.

use pq_x509::x509_cert::der::oid::ObjectIdentifier;
use pq_x509::x509_cert::der::{Decode, Encode};
use pq_x509::x509_cert::request::CertReq;
use serde_json::Value;

use crate::folder::Folder;

/// Everything that the program's other commands make, or take, can be looked at.
#[test]
fn whatever_a_file_has_is_shown() {
    let folder = Folder::with_ca();
    folder.write("pw", "passphrase\n");
    folder
        .pqtls("key new ML-DSA-44 --out a.key --public a.pub")
        .ok();
    for command in [
        "cert request --key a.key --name a.example --subject CN=A,O=B --out a.csr",
        "cert bundle www.pem ca.pem --out chain.pem",
        "cert ocsp-request chain.pem --out ocsp.req",
        "key encrypt a.key --passphrase-file pw --out secret.key",
        "key export www.key --certs www.pem --passphrase-file pw --out www.p12",
        "key public a.key --format jwk --out a.jwk",
        "key public a.key --format cose --out a.cose",
        "ca init --name CA --algorithm ML-DSA-44",
        "ca issue a.example --key a.pub --out signed.pem",
        "ca ocsp --for signed.pem --out ocsp.response",
        "ssh new --out id --comment me",
        "ssh new --out id2 --encrypt --passphrase-file pw",
        "ssh sign a.pub --key id --out sig",
    ] {
        folder.pqtls(command).ok();
    }
    folder.write("set", format!("{{\"keys\": [{}]}}", folder.read("a.jwk")));
    let both = folder.read("a.csr") + &folder.read("www.crl");
    folder.write("both", both);
    for (file, words) in [
        (
            "a.csr",
            &[
                "certificate request\n  subject       CN=A,O=B\n  names         a.example\n",
                "  key           ML-DSA-44\n  fingerprint   sha256:",
                "  proof         yes: its key signed it\n",
            ][..],
        ),
        (
            "www.crl",
            &[
                "revocation list\n  issued by     CN=Example Root CA\n",
                "  revoked       1 certificate\n  entry ",
                " (keyCompromise)\n",
            ],
        ),
        ("both", &["certificate request\n", "\n\nrevocation list\n"]),
        (
            "chain.pem",
            &["www.example.org\n  issued by     CN=Example CA\n"],
        ),
        ("ocsp.req", &["OCSP request\n  certificate   "]),
        (
            "ocsp.response",
            &["OCSP response\n  responder     ", " is good at "],
        ),
        ("a.key", &["private key\n  algorithm     ML-DSA-44\n"]),
        (
            "secret.key --passphrase-file pw",
            &["private key\n", "  encrypted     AES-256-CBC"],
        ),
        (
            "a.pub",
            &["public key\n  algorithm     ML-DSA-44\n  use           sign\n"],
        ),
        ("a.jwk", &["public key\n  algorithm     ML-DSA-44\n"]),
        ("a.cose", &["public key\n  algorithm     ML-DSA-44\n"]),
        (
            "set",
            &["set of JSON Web Keys\n  key           ML-DSA-44, thumbprint "],
        ),
        (
            "www.p12 --passphrase-file pw",
            &[
                "PKCS#12 file\n  key           private key of ML-DSA-44",
                "www.example.org, until ",
            ],
        ),
        (
            "id",
            &[
                "SSH private key\n  algorithm     ssh-mldsa44-ed25519",
                "  comment       me\n",
            ],
        ),
        ("id2 --passphrase-file pw", &["SSH private key\n"]),
        (
            "id.pub",
            &["SSH public key\n  algorithm     ssh-mldsa44-ed25519"],
        ),
        (
            "sig",
            &["SSH signature\n  namespace     file\n  hash          sha512\n"],
        ),
    ] {
        let shown = folder.pqtls(&format!("show {file}"));
        for words in words {
            assert!(shown.ok().contains(words), "{file}: {}", shown.ok());
        }
        let report = folder.pqtls(&format!("show {file} --json"));
        let report: Value = serde_json::from_str(report.ok()).unwrap();
        assert!(!report["items"].as_array().unwrap().is_empty(), "{file}");
    }
    folder
        .pqtls("cert show a.csr")
        .fails(3, "\"pqtls show\" shows what it asks for");
    folder.pqtls("show pw").fails(3, "pw is neither PEM nor");
    // A request whose signature is another's is shown as such.
    let mut changed = folder.pqtls("cert request --key a.key --name a.example --der");
    let mut der = changed.stdout_bytes().to_vec();
    *der.last_mut().unwrap() ^= 1;
    folder.write("changed.csr", der);
    changed = folder.pqtls("show changed.csr");
    assert!(
        changed.ok().contains("  proof         no: "),
        "{}",
        changed.ok()
    );
}

/// Names that Microsoft's programs ask for in an attribute of their own, which `pqtls ca sign` certifies, are shown.
#[test]
fn names_in_microsofts_attribute_are_shown() {
    let folder = Folder::with_ca();
    let der = folder.pqtls("cert request --key www.key --name a.example --der");
    let mut request = CertReq::from_der(der.stdout_bytes()).unwrap();
    let mut attribute = request.info.attributes.get(0).unwrap().clone();
    attribute.oid = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.311.2.1.14");
    request.info.attributes = vec![attribute].try_into().unwrap();
    folder.write("microsoft.csr", request.to_der().unwrap());
    let shown = folder.pqtls("show microsoft.csr");
    assert!(
        shown.ok().contains("  names         a.example\n"),
        "{}",
        shown.ok()
    );
}

/// A certificate of 1960 says so.
#[test]
fn times_before_1970_are_shown() {
    let folder = Folder::with_ca();
    let der = folder.pqtls("cert self-sign --key www.key --name a.example --der");
    let mut der = der.stdout_bytes().to_vec();
    // The first UTCTime is notBefore.
    let time = der.windows(2).position(|tag| tag == [0x17, 13]).unwrap();
    der[time + 2..time + 4].copy_from_slice(b"60");
    folder.write("old.der", der);
    let shown = folder.pqtls("cert show old.der");
    assert!(shown.ok().contains("(from 1960-"), "{}", shown.ok());
    let end = folder.read("www.pem");
    let end = pq_x509::certificate::Certificate::from_pem(&end).unwrap();
    let at = pq_x509::x509_cert::der::DateTime::from_unix_duration(
        core::time::Duration::from_secs(end.not_after().as_secs() + 1),
    );
    let shown = folder.pqtls(&format!("cert show www.pem --at {}", at.unwrap()));
    assert!(
        shown.ok().contains("expired less than a day ago"),
        "{}",
        shown.ok()
    );
}
