//! Arbitrary and damaged input never panics, and what is accepted is canonical.

use std::time::SystemTime;

use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{
    Algorithm, DecapsulationKey, KemAlgorithm, PrivateKey, PrivateKeyForm, PublicKey,
    SignatureAlgorithm, SigningKey, SubjectKey,
};
use pq_x509::linting::{Kind, Severity, lint};
use pq_x509::pki_types::{ServerName, UnixTime};
use pq_x509::request::CertificateRequest;
use pq_x509::revocation::{
    CertificateRevocationList, CertificateRevocationListBuilder, CrlReason, RevocationPolicy,
};
use pq_x509::validation::ChainValidator;
use proptest::prelude::*;
use proptest::sample::Index;

/// Gives the bytes to every parser.
fn parse_all(bytes: &[u8]) {
    if let Ok(key) = PrivateKey::from_pkcs8_der(bytes) {
        // Whatever was read can be written in a form and read again.
        let form = match key.seed() {
            Some(_) => PrivateKeyForm::Seed,
            None => PrivateKeyForm::Expanded,
        };
        let der = key.to_pkcs8_der_as(form).unwrap();
        assert_eq!(PrivateKey::from_pkcs8_der(&der).unwrap().spki(), key.spki());
    }
    if let Ok(key) = PublicKey::from_spki_der(bytes) {
        assert_eq!(key.to_spki_der(), bytes);
    }
    if let Ok(certificate) = Certificate::from_der(bytes) {
        assert_eq!(&certificate.der()[..], bytes);
        let _ = format!("{certificate:?}");
        let _ = certificate.public_key();
        let _ = ChainValidator::new([certificate]);
    }
    if let Ok(request) = CertificateRequest::from_der(bytes) {
        let _ = format!("{request:?}");
        let _ = request.verify();
    }
    if let Ok(list) = CertificateRevocationList::from_der(bytes) {
        assert_eq!(&list.der()[..], bytes);
        let _ = format!("{list:?}");
        let _ = RevocationPolicy::new([list]);
    }
    for algorithm in Algorithm::ALL {
        let _ = PublicKey::from_bytes(*algorithm, bytes);
    }
    for (kind, is_read) in [
        (Kind::Certificate, Certificate::from_der(bytes).is_ok()),
        (
            Kind::RevocationList,
            CertificateRevocationList::from_der(bytes).is_ok(),
        ),
        (Kind::Request, CertificateRequest::from_der(bytes).is_ok()),
    ] {
        // If a document can't be read, the linter reports an error.
        let findings = lint(kind, bytes);
        let mut severities = findings.iter().map(|finding| finding.rule.severity());
        assert!(is_read || severities.any(|severity| severity == Severity::Error));
    }
    parse_all_text(&String::from_utf8_lossy(bytes));
}

fn parse_all_text(text: &str) {
    let _ = PrivateKey::from_pkcs8_pem(text);
    let _ = PublicKey::from_spki_pem(text);
    let _ = Certificate::chain_from_pem(text);
    let _ = CertificateRequest::from_pem(text);
    let _ = CertificateRevocationList::all_from_pem(text);
}

/// One document of each kind, in DER.
fn specimens() -> Vec<Vec<u8>> {
    let key = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[1; 32]).unwrap();
    let kem = DecapsulationKey::from_seed(KemAlgorithm::MlKem512, &[2; 64]).unwrap();
    let root = Issuer::self_signed(
        CertificateBuilder::ca("Root")
            .path_len(1)
            .permit_dns("example.org")
            .exclude_ip("10.0.0.0".parse().unwrap(), 8),
        &key,
    )
    .unwrap();
    let leaf = CertificateBuilder::server()
        .dns_name("example.org")
        .ip_address("192.0.2.1".parse().unwrap());
    let request = CertificateRequest::builder()
        .common_name("x")
        .dns_name("example.org")
        .sign(&key)
        .unwrap();
    let list = CertificateRevocationListBuilder::new(&[7]).revoke(
        &[1, 2, 3],
        SystemTime::now(),
        CrlReason::Superseded,
    );
    let mut specimens = vec![
        key.spki().to_vec(),
        kem.spki().to_vec(),
        root.certificate().der().to_vec(),
        root.issue(leaf, &kem).unwrap().der().to_vec(),
        request.to_der().to_vec(),
        root.issue_revocation_list(list).unwrap().der().to_vec(),
    ];
    for form in [
        PrivateKeyForm::Seed,
        PrivateKeyForm::Expanded,
        PrivateKeyForm::Both,
    ] {
        specimens.push(key.to_pkcs8_der_as(form).unwrap().to_vec());
        specimens.push(kem.to_pkcs8_der_as(form).unwrap().to_vec());
    }
    specimens
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        parse_all(&bytes);
    }

    #[test]
    fn arbitrary_text(text in "(-----BEGIN [A-Z ]{0,20}-----\n)?[A-Za-z0-9+/=\\-\r\n ]{0,300}") {
        parse_all_text(&text);
    }

    /// Headers that are nearly right get further than noise.
    #[test]
    fn nearly_der(
        header in proptest::collection::vec(0x00..0x40u8, 1..40),
        tail in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        parse_all(&[&header[..], &tail].concat());
        let contents = [&header[..], &tail].concat();
        let len = u8::try_from(contents.len()).unwrap();
        parse_all(&[&[0x30, 0x81, len][..], &contents].concat());
    }

    #[test]
    fn damaged_specimens(
        which in any::<Index>(),
        damage in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..4),
        // Most damage is near the front, where the structure is.
        near in any::<bool>(),
    ) {
        thread_local! {
            static SPECIMENS: Vec<Vec<u8>> = specimens();
        }
        SPECIMENS.with(|specimens| {
            let mut der = which.get(specimens).clone();
            let reach = if near { der.len().min(120) } else { der.len() };
            for (at, value) in damage {
                der[at.index(reach)] = value;
            }
            parse_all(&der);
            let name = ServerName::try_from("example.org").unwrap();
            let root = Certificate::from_der(&specimens[2]).unwrap();
            let validator = ChainValidator::new([root]).unwrap();
            let _ = validator.validate_server(&[&der, &specimens[2]], &name, UnixTime::now());
        });
    }
}

/// Every value of every byte of the structure around a seed: what is accepted is written
/// again byte for byte, so that there is only one encoding.
#[test]
fn seed_keys_have_one_encoding() {
    for algorithm in [SignatureAlgorithm::MlDsa44, SignatureAlgorithm::MlDsa65] {
        let key = SigningKey::from_seed(algorithm, &[3; 32]).unwrap();
        let der = key.to_pkcs8_der().unwrap();
        let structure = der.len() - 32;
        let mut accepted = 0;
        for at in 0..structure {
            for value in 0..=255 {
                let mut damaged = der.to_vec();
                damaged[at] = value;
                if let Ok(read) = PrivateKey::from_pkcs8_der(&damaged) {
                    assert_eq!(*read.to_pkcs8_der().unwrap(), damaged, "{at} {value}");
                    accepted += 1;
                }
            }
        }
        // The key itself, once for each byte, and the two other sets with seeds of this
        // length.
        assert_eq!(accepted, structure + 2);
    }
}
