//! The cost of a validation with many roots, revocation lists and revoked certificates.

use core::hint::black_box;
use core::time::Duration;
use std::time::Instant;

use const_oid::ObjectIdentifier;
use der::asn1::{Ia5String, OctetString};
use der::{Decode, Encode};
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::revocation::{
    CertificateRevocationList, CertificateRevocationListBuilder, CrlReason, RevocationPolicy,
};
use pq_x509::validation::ChainValidator;
use pq_x509::x509_cert::crl::{CertificateList, TbsCertList};
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::crl::dp::IssuingDistributionPoint;
use pq_x509::x509_cert::ext::pkix::name::{DistributionPointName, GeneralName};

use crate::pki::{Pki, days_from_now, key, server, sign, validate_with};

type Builder = CertificateRevocationListBuilder;

const FEW: usize = 1;
const MANY: usize = 5_000;

/// Checks that one validation among many takes about as long as one among few.
///
/// To look at each of many takes many times as long as a validation, so that the limit works on any
/// machine; the benchmarks show how long a validation takes.
#[track_caller]
fn assert_alike(validators: [ChainValidator; 2], chain: &[Certificate]) {
    let [few, many] = validators.map(|validator| {
        let turn = |_| {
            let start = Instant::now();
            let validated = validate_with(&validator, "example.org", black_box(chain));
            let took = start.elapsed();
            assert_eq!(validated, Ok(3));
            took
        };
        // The first one verifies lists.
        turn(0);
        (0..20).map(turn).min().unwrap()
    });
    println!("{few:?} among {FEW}, {many:?} among {MANY}");
    assert!(many < 2 * few + Duration::from_micros(200));
}

#[test]
fn roots() {
    let pki = Pki::new();
    let other = Issuer::self_signed(CertificateBuilder::ca("Root 0000"), key()).unwrap();
    let validator = |count: usize| {
        // Nobody verifies the signatures of roots.
        let others = (0..count).map(|number| {
            let name = format!("Root {number:04}");
            replaced(other.certificate().der(), b"Root 0000", name.as_bytes())
        });
        let others = others.map(|der| Certificate::from_der(&der).unwrap());
        ChainValidator::new(others.chain([pki.root.certificate().clone()])).unwrap()
    };
    assert_alike([FEW, MANY].map(validator), &pki.chain(pki.leaf()));
}

#[test]
fn lists_of_one_ca() {
    let pki = Pki::new();
    let url = |number: usize| format!("http://ca.example/{number:04}.crl");
    let list = pki.ca.issue_revocation_list(Builder::new(&[1])).unwrap();
    let list: CertificateList = CertificateList::from_der(list.der()).unwrap();
    let list = sign(&at_url(list.tbs_cert_list, &url(0)), pki.ca.signer());
    let policy = |count| {
        // Only the first one is used; the signatures of the others are not verified.
        let lists = (0..count)
            .map(|number| replaced(&list, url(0).as_bytes(), url(number).as_bytes()))
            .map(|der| CertificateRevocationList::from_der(&der).unwrap());
        RevocationPolicy::new(lists.rev()).unwrap()
    };
    let validator = |count| {
        let policy = policy(count).end_entity_only();
        pki.validator().with_revocation(policy)
    };
    let leaf = pki.issue(server().revocation_list_url(url(0)));
    assert_alike([FEW, MANY].map(validator), &pki.chain(leaf));
}

#[test]
fn lists_of_many_cas() {
    let pki = Pki::new();
    let list = |ca: &Issuer<_>| ca.issue_revocation_list(Builder::new(&[1])).unwrap();
    let other = Issuer::self_signed(CertificateBuilder::ca("CA 0000"), key()).unwrap();
    let other = list(&other);
    let validator = |count: usize| {
        let others = (0..count)
            .map(|number| format!("CA {number:04}"))
            .map(|name| replaced(other.der(), b"CA 0000", name.as_bytes()))
            .map(|der| CertificateRevocationList::from_der(&der).unwrap());
        let lists = others.chain([list(&pki.root), list(&pki.ca)]);
        pki.validator()
            .with_revocation(RevocationPolicy::new(lists).unwrap())
    };
    assert_alike([FEW, MANY].map(validator), &pki.chain(pki.leaf()));
}

#[test]
fn revoked_certificates() {
    let pki = Pki::new();
    let leaf = pki.issue(server().serial_number(&[1; 8]));
    let validator = |count: usize| {
        // As many before the leaf's number as after it.
        let numbers = (0..count as u64).map(|n| (1 << 40) * n + 1);
        let list = numbers.fold(Builder::new(&[1]), |list, number| {
            let reason = CrlReason::Unspecified;
            list.revoke(&number.to_be_bytes(), days_from_now(-1), reason)
        });
        let list = pki.ca.issue_revocation_list(list).unwrap();
        let policy = RevocationPolicy::new([list]).unwrap().end_entity_only();
        pki.validator().with_revocation(policy)
    };
    // To look at an entry takes only some nanoseconds.
    assert_alike([FEW, 20 * MANY].map(validator), &pki.chain(leaf));
}

/// The part of a list that is to be signed, with the URL from which the list is available.
fn at_url(mut body: TbsCertList, url: &str) -> Vec<u8> {
    let url = GeneralName::UniformResourceIdentifier(Ia5String::new(url).unwrap());
    let point = IssuingDistributionPoint {
        distribution_point: Some(DistributionPointName::FullName(vec![url])),
        only_contains_user_certs: false,
        only_contains_ca_certs: false,
        only_some_reasons: None,
        indirect_crl: false,
        only_contains_attribute_certs: false,
    };
    body.crl_extensions.as_mut().unwrap().push(Extension {
        extn_id: ObjectIdentifier::new_unwrap("2.5.29.28"),
        critical: true,
        extn_value: OctetString::new(point.to_der().unwrap()).unwrap(),
    });
    body.to_der().unwrap()
}

/// The document with all occurrences of some bytes replaced.
fn replaced(der: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut replaced = der.to_vec();
    let places = 0..=der.len() - from.len();
    for at in places.filter(|at| der[*at..].starts_with(from)) {
        replaced[at..][..to.len()].copy_from_slice(to);
    }
    replaced
}
