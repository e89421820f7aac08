//! The rules that other people's certificates break.

use std::io::Read;

use pq_x509::certificate::Certificate;
use pq_x509::linting::{Kind, lint};

use super::names;

/// The examples of RFC 9881, RFC 9909 and RFC 9935.
#[test]
fn examples_of_the_rfcs_break_nothing() {
    let Some(files) = vectors::rfc() else { return };
    let mut count = 0;
    for (name, text) in files {
        if text.contains("-----BEGIN CERTIFICATE-----") {
            let certificate = Certificate::from_pem(&text).unwrap();
            let findings = lint(Kind::Certificate, certificate.der());
            assert!(findings.is_empty(), "{name} {findings:?}");
            count += 1;
        }
    }
    assert_eq!(count, 7);
}

/// The draft for composite signatures has end-entity certificates without key identifiers.
#[test]
fn examples_of_composite_signatures_lack_key_identifiers() {
    let Some(mut file) = vectors::compressed("composite-testvectors.json.gz") else {
        return;
    };
    let mut json = String::new();
    file.read_to_string(&mut json).unwrap();
    let certificates = json.split("\"x5c\": \"").skip(1);
    let certificates = certificates.map(|rest| rest.split('"').next().unwrap());
    let mut count = 0;
    for base64 in certificates {
        let text = format!("-----BEGIN CERTIFICATE-----\n{base64}\n-----END CERTIFICATE-----\n");
        let certificate = Certificate::from_pem(&text).unwrap();
        let findings = lint(Kind::Certificate, certificate.der());
        assert_eq!(names(&findings), ["rfc5280-end-entity-without-key-id"]);
        count += 1;
    }
    assert_eq!(count, 21);
}
