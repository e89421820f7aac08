//! Nothing that this crate issues breaks a rule.

use core::net::Ipv4Addr;

use pq_x509::certificate::{Certificate, KeyUsages};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{DecapsulationKey, EncapsulationKey, KemAlgorithm, Signer, SigningKey};
use pq_x509::linting::{Kind, lint};
use pq_x509::revocation::{CertificateRevocationList, CertificateRevocationListBuilder, CrlReason};
use signers::P256Key;

use super::{SAMPLES, at, long, names, request, short};
use crate::pki::key;
use crate::quick::quick_algorithms;

#[track_caller]
fn is_sound(certificate: &Certificate) {
    let findings = lint(Kind::Certificate, certificate.der());
    assert!(findings.is_empty(), "{certificate:?} {findings:#?}");
}

#[track_caller]
fn is_sound_list(list: &CertificateRevocationList) {
    let findings = lint(Kind::RevocationList, list.der());
    assert!(findings.is_empty(), "{list:?} {findings:#?}");
}

#[test]
fn documents_from_which_others_are_made() {
    let samples = &*SAMPLES;
    for (kind, der) in [
        (Kind::Certificate, &samples.root),
        (Kind::Certificate, &samples.ca),
        (Kind::Certificate, &samples.leaf),
        (Kind::Certificate, &samples.kem),
        (Kind::RevocationList, &samples.list),
        (Kind::Request, &samples.request),
    ] {
        assert_eq!(names(&lint(kind, der)), [""; 0]);
    }
}

/// Lints a root with this key, a CA below it, and all that they issue.
fn pki(key: impl Signer) {
    let builder = CertificateBuilder::ca("Root").validity(long());
    let root = Issuer::self_signed(builder.path_len(3), key).unwrap();
    is_sound(root.certificate());
    let builder = CertificateBuilder::ca("CA")
        .subject("CN=CA,O=Example,C=SE".parse().unwrap())
        .validity(long())
        .permit_dns("example.org")
        .exclude_dns("secret.example.org")
        .permit_ip(Ipv4Addr::new(192, 0, 2, 0).into(), 24)
        .exclude_ip("2001:db8::".parse().unwrap(), 33);
    let ca = root.issue(builder, &self::key()).unwrap();
    is_sound(&ca);
    let server = CertificateBuilder::server()
        .dns_name("*.example.org")
        .ip_address("2001:db8::1".parse().unwrap())
        .validity(short())
        .revocation_list_url("http://ca.example.org/ca.crl");
    is_sound(&root.issue(server, root.signer()).unwrap());
    let client = CertificateBuilder::client().common_name("someone é");
    let client = client.key_usage(KeyUsages::DigitalSignature | KeyUsages::NonRepudiation);
    is_sound(&root.issue(client.validity(short()), &self::key()).unwrap());

    let list = || CertificateRevocationListBuilder::new(&7_u64.to_be_bytes()).validity(short());
    is_sound_list(&root.issue_revocation_list(list()).unwrap());
    let list = list()
        .revoke(&[0x80; 19], at(0), CrlReason::Unspecified)
        .revoke(&[7; 20], at(0), CrlReason::CertificateHold)
        .revoke(&[9], at(1), CrlReason::KeyCompromise);
    is_sound_list(&root.issue_revocation_list(list).unwrap());
}

#[test]
fn what_issuers_issue() {
    for algorithm in quick_algorithms() {
        pki(SigningKey::generate(algorithm).unwrap());
    }
    pki(P256Key::new(7));
}

#[test]
fn certificates_for_encapsulation() {
    let root = CertificateBuilder::ca("Root").validity(long());
    let root = Issuer::self_signed(root, key()).unwrap();
    for algorithm in KemAlgorithm::ALL {
        let key = DecapsulationKey::generate(*algorithm).unwrap();
        let key: &EncapsulationKey = key.encapsulation_key();
        let builder = CertificateBuilder::end_entity().common_name("Reader");
        is_sound(&root.issue(builder.validity(short()), key).unwrap());
    }
}

#[test]
fn requests() {
    for algorithm in quick_algorithms() {
        let key = SigningKey::generate(algorithm).unwrap();
        assert_eq!(names(&lint(Kind::Request, &request(&key))), [""; 0]);
    }
}

/// Even a very long list is linted about as quickly as it is read.
#[test]
fn long_lists() {
    let root = CertificateBuilder::ca("Root").validity(long());
    let root = Issuer::self_signed(root, key()).unwrap();
    let mut list = CertificateRevocationListBuilder::new(&[7]).validity(short());
    for number in 0..20_000_u32 {
        let number = [&[1][..], &number.to_be_bytes()].concat();
        list = list.revoke(&number, at(0), CrlReason::Superseded);
    }
    is_sound_list(&root.issue_revocation_list(list).unwrap());
}
