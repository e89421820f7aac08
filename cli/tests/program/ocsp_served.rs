//! `pqtls ocsp serve`: a responder that answers from a list.

use std::fs;

use pq_x509::ocsp::{CertStatus, OcspFailure, OcspResponse};

use crate::ca_served::{Serving, ask, until};
use crate::folder::Folder;
use crate::served::port_of;

/// A CA with certificates for a responder and for two servers, of which the list has one.
fn with_responder() -> Folder {
    let folder = Folder::new();
    folder
        .pqtls("ca init --name Example --algorithm ML-DSA-44")
        .ok();
    let policy = folder.read("ca/policy.toml");
    let policy = policy.replace(
        "\"server+client\"]",
        "\"server+client\", \"ocsp-responder\"]",
    );
    folder.write("ca/policy.toml", policy);
    folder
        .pqtls(
            "ca issue ocsp.example.org --profile ocsp-responder --new-key ocsp.key --out ocsp.pem",
        )
        .ok();
    for name in ["a", "b"] {
        folder
            .pqtls(&format!(
                "ca issue {name}.example.org --new-key {name}.key --out {name}.pem"
            ))
            .ok();
        folder
            .pqtls(&format!(
                "cert ocsp-request {name}.pem --issuer ca/issuing.pem --out {name}.request"
            ))
            .ok();
    }
    folder.pqtls("ca revoke a.pem --reason superseded").ok();
    folder.pqtls("ca crl --out list.crl").ok();
    folder
}

/// What is said of a certificate, or why nothing is.
fn status(folder: &Folder, port: u16, name: &str) -> Result<CertStatus, ()> {
    let request = folder.bytes(&format!("{name}.request"));
    let fields = "Content-Type: application/ocsp-request\r\n";
    let (code, body) = ask(port, "POST /", fields, &request);
    assert_eq!(code, 200);
    if body == OcspFailure::TryLater.to_der() {
        return Err(());
    }
    let response = OcspResponse::from_der(&body).unwrap();
    Ok(response.answers()[0].status())
}

const SERVE: &str = "ocsp serve --issuer ca/issuing.pem --cert ocsp.pem --key ocsp.key --listen 127.0.0.1:0 --metrics 127.0.0.1:0";

#[test]
fn answers_are_from_the_list_while_it_can_be_read() {
    let folder = with_responder();
    let mut serving = Serving::start(&folder, &format!("{SERVE} --crl list.crl"));
    assert!(
        serving.first.starts_with("Serving OCSP on 127.0.0.1:"),
        "{}",
        serving.first
    );
    let port = port_of(&serving.first);
    let watched = port_of(&serving.line());
    until("the list is read", || {
        status(&folder, port, "b") == Ok(CertStatus::Good)
    });
    assert!(matches!(
        status(&folder, port, "a"),
        Ok(CertStatus::Revoked { .. })
    ));
    assert_eq!(ask(watched, "GET /health", "", b"").0, 200);
    folder.pqtls("ca revoke b.pem --reason superseded").ok();
    folder.pqtls("ca crl --out list.crl --force").ok();
    until("the new list is read", || {
        matches!(status(&folder, port, "b"), Ok(CertStatus::Revoked { .. }))
    });
    fs::remove_file(folder.path().join("list.crl")).unwrap();
    until("the loss of the list is noticed", || {
        status(&folder, port, "a").is_err()
    });
    assert_eq!(ask(watched, "GET /health", "", b"").0, 503);
    #[cfg(unix)]
    serving.end_in_order();
}

#[test]
fn a_responder_that_can_not_be_is_refused() {
    let folder = with_responder();
    for (line, words) in [
        (
            "ocsp serve --issuer ca/issuing.pem --cert a.pem --key a.key --crl list.crl",
            "OCSP",
        ),
        (
            "ocsp serve --issuer ca/root.pem --cert ocsp.pem --key ocsp.key --crl list.crl",
            "issue",
        ),
        (
            "ocsp serve --issuer ca/issuing.pem --cert ocsp.pem --key a.key --crl list.crl",
            "key",
        ),
        (
            &format!("{SERVE} --crl https://ca.example.org/ca.crl"),
            "no https",
        ),
    ] {
        let refused = folder.pqtls(line);
        assert_ne!(refused.status(), 0, "{line}");
        assert!(
            refused.stderr().contains(words),
            "{line}: {}",
            refused.stderr()
        );
    }
}
