//! Certification requests.

use const_oid::AssociatedOid;
use der::asn1::{Any, BitString, OctetString, SetOfVec};
use der::{Decode, Encode};
use pq_x509::certificate::{NameError, SignatureError};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{
    DecapsulationKey, KemAlgorithm, KeyError, SignatureAlgorithm, Signer, SigningKey, SubjectKey,
};
use pq_x509::request::{CertificateRequest, RequestError};
use pq_x509::x509_cert::attr::{Attribute, AttributeValue};
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::SubjectAltName;
use pq_x509::x509_cert::ext::pkix::name::GeneralName;
use pq_x509::x509_cert::request::{CertReq, CertReqInfo, ExtensionReq, Version};

use crate::quick::quick_algorithms;
use spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};

fn key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
}

fn request(key: &SigningKey) -> CertificateRequest {
    CertificateRequest::builder()
        .common_name("Example")
        .dns_name("example.org")
        .dns_name("*.example.org")
        .ip_address("192.0.2.1".parse().unwrap())
        .sign(key)
        .unwrap()
}

/// A request with these attributes, properly signed.
fn with_attributes(key: &SigningKey, attributes: Vec<Attribute>) -> CertificateRequest {
    let info = CertReqInfo {
        version: Version::V1,
        subject: "CN=x".parse().unwrap(),
        public_key: SubjectPublicKeyInfoOwned::from_der(&key.spki()).unwrap(),
        attributes: SetOfVec::try_from(attributes).unwrap(),
    };
    sign(key, info)
}

fn sign(key: &SigningKey, info: CertReqInfo) -> CertificateRequest {
    let signature = key.sign(&info.to_der().unwrap()).unwrap();
    let request = CertReq {
        info,
        algorithm: key.signature_algorithm(),
        signature: BitString::from_bytes(&signature).unwrap(),
    };
    CertificateRequest::from_der(&request.to_der().unwrap()).unwrap()
}

fn extension_request(values: Vec<Vec<Extension>>) -> Attribute {
    let values: Vec<AttributeValue> = values
        .iter()
        .map(|extensions| Any::encode_from(extensions).unwrap())
        .collect();
    Attribute {
        oid: ExtensionReq::OID,
        values: SetOfVec::try_from(values).unwrap(),
    }
}

fn names(names: Vec<GeneralName>) -> Extension {
    Extension {
        extn_id: SubjectAltName::OID,
        critical: false,
        extn_value: OctetString::new(SubjectAltName(names).to_der().unwrap()).unwrap(),
    }
}

#[test]
fn made_read_verified_and_issued_from() {
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap();
    for algorithm in quick_algorithms() {
        let key = SigningKey::generate(algorithm).unwrap();
        let request = request(&key);
        let pem = request.to_pem();
        assert!(pem.starts_with("-----BEGIN CERTIFICATE REQUEST-----\n"));
        let read = CertificateRequest::from_pem(&pem).unwrap();
        assert_eq!(read.to_der(), request.to_der());
        assert_eq!(read.parsed().algorithm.oid, algorithm.oid());
        assert_eq!(read.parsed().algorithm.parameters, None);

        let verified = read.verify().unwrap();
        assert_eq!(verified.subject().to_string(), "CN=Example");
        assert_eq!(verified.dns_names(), ["example.org", "*.example.org"]);
        assert_eq!(
            verified.ip_addresses(),
            ["192.0.2.1".parse::<core::net::IpAddr>().unwrap()]
        );
        assert_eq!(verified.spki(), key.spki());

        let leaf = root
            .issue(verified.certificate().server_auth(), &verified)
            .unwrap();
        assert_eq!(leaf.spki(), key.spki());
        assert_eq!(leaf.subject(), verified.subject());
        assert_eq!(leaf.dns_names(), verified.dns_names());
        assert_eq!(leaf.ip_addresses(), verified.ip_addresses());
    }
}

#[test]
fn names_may_be_missing() {
    let request = CertificateRequest::builder().sign(&key()).unwrap();
    assert!(request.parsed().info.attributes.is_empty());
    let verified = request.verify().unwrap();
    assert!(verified.subject().is_empty());
    assert!(verified.dns_names().is_empty());
}

#[test]
fn possession_must_be_proven() {
    let key = key();
    let request = request(&key);
    let invalid = |der: &[u8]| {
        assert!(matches!(
            CertificateRequest::from_der(der).unwrap().verify(),
            Err(RequestError::Signature(SignatureError::Invalid))
        ));
    };
    // The last byte of the signature, and a letter of the name.
    let der = request.to_der();
    let mut tampered = der.to_vec();
    *tampered.last_mut().unwrap() ^= 1;
    invalid(&tampered);
    let mut tampered = der.to_vec();
    let at = der
        .windows(7)
        .position(|window| window == b"Example")
        .unwrap();
    tampered[at] ^= 0x20;
    invalid(&tampered);

    // One key's signature in the request of another key.
    let mut stolen = request.parsed().clone();
    let signature = self::key().sign(&stolen.info.to_der().unwrap()).unwrap();
    stolen.signature = BitString::from_bytes(&signature).unwrap();
    invalid(&stolen.to_der().unwrap());
}

#[test]
fn the_algorithm_is_bound_to_the_key() {
    let key = key();
    let mut request = request(&key).parsed().clone();
    request.algorithm.oid = SignatureAlgorithm::MlDsa65.oid();
    let error = CertificateRequest::from_der(&request.to_der().unwrap())
        .unwrap()
        .verify()
        .unwrap_err();
    assert!(matches!(
        error,
        RequestError::Signature(SignatureError::AlgorithmMismatch { .. })
    ));

    request.algorithm = AlgorithmIdentifierOwned {
        parameters: Some(Any::null()),
        ..key.signature_algorithm()
    };
    let error = CertificateRequest::from_der(&request.to_der().unwrap())
        .unwrap()
        .verify()
        .unwrap_err();
    assert!(matches!(
        error,
        RequestError::Signature(SignatureError::UnsupportedParameters { .. })
    ));
}

#[test]
fn kem_keys_cannot_request() {
    let key = key();
    let kem = DecapsulationKey::generate(KemAlgorithm::MlKem768).unwrap();
    let info = CertReqInfo {
        public_key: SubjectPublicKeyInfoOwned::from_der(&kem.spki()).unwrap(),
        ..request(&key).parsed().info.clone()
    };
    assert!(matches!(
        sign(&key, info).verify(),
        Err(RequestError::Key(KeyError::NotASignatureKey(
            KemAlgorithm::MlKem768
        )))
    ));
}

#[test]
fn requested_names_are_unambiguous_and_understood() {
    let key = key();
    let dns = |name: &str| GeneralName::DnsName(der::asn1::Ia5String::new(name).unwrap());
    let verify = |attributes| with_attributes(&key, attributes).verify();

    let one = verify(vec![extension_request(vec![vec![names(vec![dns("a.b")])]])]);
    assert_eq!(one.unwrap().dns_names(), ["a.b"]);
    let twice = vec![names(vec![dns("a.b")]), names(vec![dns("c.d")])];
    assert!(matches!(
        verify(vec![extension_request(vec![twice.clone()])]),
        Err(RequestError::Repeated)
    ));
    let values = twice.into_iter().map(|extension| vec![extension]).collect();
    assert!(matches!(
        verify(vec![extension_request(values)]),
        Err(RequestError::Repeated)
    ));
    let directory = GeneralName::DirectoryName("CN=a".parse().unwrap());
    assert!(matches!(
        verify(vec![extension_request(vec![vec![names(vec![
            dns("a.b"),
            directory
        ])]])]),
        Err(RequestError::Name(NameError::UnsupportedKind))
    ));
    let odd_address = GeneralName::IpAddress(OctetString::new([1, 2, 3]).unwrap());
    assert!(matches!(
        verify(vec![extension_request(vec![vec![names(vec![
            odd_address
        ])]])]),
        Err(RequestError::Name(NameError::UnsupportedKind))
    ));
    // Names are checked again when a certificate is issued from them.
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), &key).unwrap();
    let odd = verify(vec![extension_request(vec![vec![names(vec![dns("a b")])]])]).unwrap();
    assert!(root.issue(odd.certificate(), &odd).is_err());
}

#[test]
fn malformed_requests_are_refused() {
    let der = request(&key()).to_der().to_vec();
    for len in 0..der.len() {
        assert!(CertificateRequest::from_der(&der[..len]).is_err(), "{len}");
    }
    assert!(CertificateRequest::from_der(&[&der[..], &[0]].concat()).is_err());
    assert!(matches!(
        CertificateRequest::from_pem("nothing"),
        Err(RequestError::Pem(_))
    ));
    assert!(matches!(
        CertificateRequest::builder().dns_name("a b").sign(&key()),
        Err(RequestError::Name(NameError::InvalidDnsName(_)))
    ));
}

#[test]
fn who_asks_for_the_certificate_of_a_ca_is_told_from_others() {
    use pq_x509::x509_cert::ext::pkix::BasicConstraints;

    let key = key();
    for (ca, path_len_constraint) in [(true, None), (true, Some(0)), (false, None)] {
        let constraints = BasicConstraints {
            ca,
            path_len_constraint,
        };
        let asked = Extension {
            extn_id: BasicConstraints::OID,
            critical: true,
            extn_value: OctetString::new(constraints.to_der().unwrap()).unwrap(),
        };
        let request = with_attributes(&key, vec![extension_request(vec![vec![asked]])]);
        assert_eq!(request.verify().unwrap().asks_for_ca(), ca);
    }
    assert!(!request(&key).verify().unwrap().asks_for_ca());
}

#[test]
fn a_request_asks_for_the_constraints_of_a_ca() {
    let key = key();
    let like = CertificateBuilder::ca("Below").permit_dns("example.org");
    let constraints = like.name_constraints().unwrap();
    assert!(constraints.is_some());
    let request = CertificateRequest::builder().common_name("Below");
    let request = request.ca(Some(0), constraints.clone()).sign(&key).unwrap();
    let request = request.verify().unwrap();
    assert!(request.asks_for_ca());
    assert_eq!(request.path_len(), Some(0));
    assert_eq!(request.name_constraints().unwrap(), constraints);
    let plain = self::request(&key).verify().unwrap();
    assert_eq!(plain.path_len(), None);
    assert_eq!(plain.name_constraints().unwrap(), None);
}
