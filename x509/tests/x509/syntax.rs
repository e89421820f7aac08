//! Documents whose lengths are right but whose values are wrong: strings, object identifiers and
//! extensions.

use std::time::SystemTime;

use const_oid::{AssociatedOid, ObjectIdentifier};
use der::asn1::{Any, OctetString, SetOfVec};
use der::{Decode, Encode, Tag};
use pkcs8::PrivateKeyInfoRef;
use pq_x509::certificate::{Certificate, CertificateError, Validity};
use pq_x509::issuing::{IssueError, TbsCertificate};
use pq_x509::keys::encoding::syntax::SyntaxError;
use pq_x509::keys::{KeyError, PublicKey, SignatureAlgorithm, SigningKey, SubjectKey};
use pq_x509::ocsp::{CertStatus, OcspRequest, OcspResponder, OcspResponse, OcspVerifier};
use pq_x509::pki_types::UnixTime;
use pq_x509::request::{CertificateRequest, RequestError};
use pq_x509::revocation::{
    CertificateRevocationList, CertificateRevocationListBuilder, RevocationListError,
};
use pq_x509::validation::Purpose;
use pq_x509::x509_cert::attr::AttributeTypeAndValue;
use pq_x509::x509_cert::crl::CertificateList;
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::name::GeneralName;
use pq_x509::x509_cert::ext::pkix::{AuthorityKeyIdentifier, ExtendedKeyUsage, SubjectAltName};
use pq_x509::x509_cert::name::{Name, RdnSequence, RelativeDistinguishedName};
use pq_x509::x509_cert::request::{CertReq, ExtensionReq};
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

use crate::pki::{Pki, key, server, sign};

/// A name with one attribute, the common name, as this type of string.
fn name(tag: Tag, contents: &[u8]) -> Name {
    attribute(ObjectIdentifier::new_unwrap("2.5.4.3"), tag, contents)
}

fn attribute(oid: ObjectIdentifier, tag: Tag, contents: &[u8]) -> Name {
    let attribute = AttributeTypeAndValue {
        oid,
        value: Any::new(tag, contents).unwrap(),
    };
    let rdn = RelativeDistinguishedName::from(SetOfVec::try_from(vec![attribute]).unwrap());
    Name::from_der(&RdnSequence::from(vec![rdn]).to_der().unwrap()).unwrap()
}

/// 1.2.840, with a leading zero in the last number.
fn long_winded() -> ObjectIdentifier {
    ObjectIdentifier::from_bytes(&[0x2a, 0x80, 0x86, 0x48]).unwrap()
}

/// A signature is whole octets: with unused bits, the same octets would be another signature of the same body, which
/// anybody could make.
#[test]
fn signatures_have_no_unused_bits() {
    let pki = Pki::new();
    let ca = pki.ca.certificate();
    let leaf = pki.leaf();
    let list = (pki.ca)
        .issue_revocation_list(CertificateRevocationListBuilder::new(&[1]))
        .unwrap();
    let asked = OcspRequest::builder().certificate(&leaf, ca).build();
    let now = SystemTime::now();
    let good = |_: &[u8]| Ok::<_, IssueError>(CertStatus::Good);
    let response = OcspResponder::ca(&pki.ca)
        .respond(&asked.unwrap(), now, Validity::days(1), good)
        .unwrap();
    let request = CertificateRequest::builder().dns_name("example.org");
    let request = request.sign(&pki.leaf_key).unwrap();
    type Accepts<'a> = &'a dyn Fn(&[u8]) -> bool;
    let accepts: [(&[u8], Accepts<'_>); 5] = [
        (leaf.der(), &|der| {
            Certificate::from_der(der).is_ok_and(|leaf| leaf.verify_signature(ca, &[]).is_ok())
        }),
        (leaf.der(), &|der| {
            let chain = [der, ca.der()];
            let validator = pki.validator();
            let valid = validator.validate(&chain, Purpose::ServerAuth, None, UnixTime::now());
            valid.is_ok()
        }),
        (list.der(), &|der| {
            let list = CertificateRevocationList::from_der(der);
            list.is_ok_and(|list| list.verify_signature(ca, &[]).is_ok())
        }),
        (response.der(), &|der| {
            let verifier = OcspVerifier::new(ca, UnixTime::now());
            let response = OcspResponse::from_der(der);
            response.is_ok_and(|response| verifier.verify(&response, &leaf).is_ok())
        }),
        (request.to_der(), &|der| {
            let request = CertificateRequest::from_der(der);
            request.is_ok_and(|request| request.verify().is_ok())
        }),
    ];
    for (place, (der, accepts)) in accepts.into_iter().enumerate() {
        // The number is before the 2,420 bytes of a signature of ML-DSA-44.
        let number = der.len() - 2420 - 1;
        for unused in 0..8 {
            let mut changed = der.to_vec();
            assert_eq!(changed[number], 0);
            changed[number] = unused;
            assert_eq!(accepts(&changed), unused == 0, "{place} {unused}");
        }
    }
}

/// The error for a leaf that was altered like this. A chain with such a leaf is refused, too.
fn refused(alter: impl Fn(&mut TbsCertificate)) -> CertificateError {
    let pki = Pki::new();
    let mut tbs = pki.ca.prepare(server(), &pki.leaf_key).unwrap();
    alter(&mut tbs);
    let leaf = sign(&tbs.to_der().unwrap(), pki.ca.signer());
    let chain = [&leaf, &pki.ca.certificate().der()[..]];
    let validated = pki.validator().validate_client(&chain, UnixTime::now());
    assert!(validated.is_err());
    let not_read_back = tbs.clone().sign_to_der(pki.ca.signer()).map(drop);
    let error = of_certificate(tbs.sign(pki.ca.signer()).map(drop));
    let is_form = matches!(error, CertificateError::Syntax(SyntaxError::Form { .. }));
    if matches!(error, CertificateError::Syntax(_)) && !is_form {
        assert_eq!(of_certificate(not_read_back), error);
    }
    error
}

fn of_certificate(signed: Result<(), IssueError>) -> CertificateError {
    match signed {
        Err(IssueError::Certificate(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn names_in_certificates() {
    for (tag, contents) in [
        (Tag::Utf8String, &b"\xff"[..]),
        (Tag::Utf8String, b"caf\xe9"),
        (Tag::BmpString, b"\0a\0"),
        (Tag::BmpString, &[0xdc, 0]),
        (Tag::PrintableString, b"bank.example\0.evil.example"),
        (Tag::PrintableString, b"caf\xe9"),
        (Tag::Ia5String, b"caf\xe9"),
        (Tag::VisibleString, b"\n"),
        (Tag::NumericString, b"0x1"),
    ] {
        let expected = CertificateError::Syntax(SyntaxError::String(tag));
        let error = refused(|tbs| tbs.subject = name(tag, contents));
        assert_eq!(error, expected);
        assert!(error.to_string().contains(&tag.to_string()), "{error}");
        assert_eq!(refused(|tbs| tbs.issuer = name(tag, contents)), expected);
        // A directoryName among the alternative names.
        let directory_name = GeneralName::DirectoryName(name(tag, contents));
        let names = SubjectAltName(vec![directory_name]);
        assert_eq!(
            refused(|tbs| tbs.set_extension(false, &names).unwrap()),
            expected
        );
    }
    // Names that CAs use, though X.680 does not allow these characters in some of the types.
    let pki = Pki::new();
    for (tag, contents) in [
        (Tag::PrintableString, &b"ca@example.org * A_B & C"[..]),
        (Tag::TeletexString, b"Caf\xe9"),
        (Tag::BmpString, b"\0C\0a\0f\0\xe9"),
        (Tag::Utf8String, "Café".as_bytes()),
    ] {
        let leaf = pki.altered_leaf(|tbs| tbs.subject = name(tag, contents));
        assert_eq!(pki.validate(&pki.chain(leaf)), Ok(3), "{tag}");
    }
}

#[test]
fn object_identifiers() {
    let in_certificate = |alter: &dyn Fn(&mut TbsCertificate)| {
        let expected = CertificateError::Syntax(long_winded_error());
        assert_eq!(refused(alter), expected);
        assert!(expected.to_string().contains("2a 80 86 48"));
    };
    in_certificate(&|tbs| tbs.subject_public_key_info.algorithm.oid = long_winded());
    in_certificate(&|tbs| tbs.subject = attribute(long_winded(), Tag::Utf8String, b"a"));
    in_certificate(&|tbs| tbs.extensions.push(extension(long_winded(), &[5, 0])));
    in_certificate(&|tbs| {
        let purposes = ExtendedKeyUsage(vec![long_winded()]);
        tbs.set_extension(false, &purposes).unwrap();
    });
    in_certificate(&|tbs| {
        let names = SubjectAltName(vec![GeneralName::RegisteredId(long_winded())]);
        tbs.set_extension(false, &names).unwrap();
    });

    // A key's algorithm identifier that has the numbers of ML-DSA-44 in another encoding.
    let oid = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x80, 0x11];
    let identifier = AlgorithmIdentifierRef {
        oid: ObjectIdentifier::from_bytes(&oid).unwrap(),
        parameters: None,
    };
    assert_eq!(
        identifier.oid.to_string(),
        SignatureAlgorithm::MlDsa44.oid().to_string()
    );
    let key = key();
    let spki = key.spki();
    let mut spki = SubjectPublicKeyInfoRef::from_der(&spki).unwrap();
    spki.algorithm = identifier;
    assert!(matches!(
        PublicKey::from_spki_der(&spki.to_der().unwrap()),
        Err(KeyError::Syntax(SyntaxError::ObjectIdentifier(_)))
    ));
    let der = key.to_pkcs8_der().unwrap();
    let mut info = PrivateKeyInfoRef::from_der(&der).unwrap();
    info.algorithm = identifier;
    assert!(matches!(
        SigningKey::from_pkcs8_der(&info.to_der().unwrap()),
        Err(KeyError::Syntax(SyntaxError::ObjectIdentifier(_)))
    ));
}

/// RFC 5280 section 4.2.1.6: GeneralNames have at least one.
#[test]
fn alternative_names_of_nobody() {
    let expected = CertificateError::Syntax(SyntaxError::NoAlternativeName);
    let empty = SubjectAltName(Vec::new());
    assert_eq!(
        refused(|tbs| tbs.set_extension(false, &empty).unwrap()),
        expected
    );
    assert_eq!(
        expected.to_string(),
        "the certificate has an empty subjectAltName (RFC 5280 section 4.2.1.6); have it issued \
         again with a name in that extension, or without the extension"
    );
}

#[test]
fn authority_key_identifiers() {
    let oid = AuthorityKeyIdentifier::OID;
    for contents in [
        // Nothing, no SEQUENCE, an unknown field, a length beyond the end, and something behind.
        &[][..],
        &[4, 1, 7],
        &[0x30, 3, 0x83, 1, 7],
        &[0x30, 3, 0x80, 2, 7],
        &[0x30, 3, 0x80, 1, 7, 0],
    ] {
        let error = refused(|tbs| {
            tbs.remove_extension(oid);
            tbs.extensions.push(extension(oid, contents));
        });
        assert!(
            matches!(
                error,
                CertificateError::Syntax(SyntaxError::Der(_) | SyntaxError::Form { .. })
            ),
            "{contents:x?} {error}"
        );
    }
    // In a list, too, and in its issuer's name.
    let list = |contents: &[u8]| {
        let pki = Pki::new();
        let list = pki
            .ca
            .issue_revocation_list(CertificateRevocationListBuilder::new(&[1]));
        let mut list: CertificateList = CertificateList::from_der(list.unwrap().der()).unwrap();
        let extensions = list.tbs_cert_list.crl_extensions.as_mut().unwrap();
        extensions.retain(|extension| extension.extn_id != oid);
        extensions.push(extension(oid, contents));
        let tbs = list.tbs_cert_list.to_der().unwrap();
        CertificateRevocationList::from_der(&sign(&tbs, pki.ca.signer()))
    };
    assert!(list(&[0x30, 3, 0x80, 1, 7]).is_ok());
    assert!(matches!(
        list(&[0x30, 3, 0x83, 1, 7]),
        Err(RevocationListError::Syntax(SyntaxError::Form { .. }))
    ));
    assert_eq!(
        list(&[0x30, 8, 0xa1, 6, 0x88, 4, 0x2a, 0x80, 0x86, 0x48]),
        Err(RevocationListError::Syntax(long_winded_error()))
    );
}

#[test]
fn revocation_lists() {
    let pki = Pki::new();
    let list = pki
        .ca
        .issue_revocation_list(CertificateRevocationListBuilder::new(&[1]));
    let mut list: CertificateList = CertificateList::from_der(list.unwrap().der()).unwrap();
    list.tbs_cert_list.issuer = name(Tag::Utf8String, b"\xff");
    let tbs = list.tbs_cert_list.to_der().unwrap();
    assert_eq!(
        CertificateRevocationList::from_der(&sign(&tbs, pki.ca.signer())),
        Err(RevocationListError::Syntax(SyntaxError::String(
            Tag::Utf8String
        )))
    );
}

#[test]
fn requests() {
    let key = key();
    let sound = CertificateRequest::builder()
        .dns_name("example.org")
        .sign(&key)
        .unwrap();
    let altered = |alter: &dyn Fn(&mut CertReq)| {
        let mut request = CertReq::from_der(sound.to_der()).unwrap();
        alter(&mut request);
        CertificateRequest::from_der(&sign(&request.info.to_der().unwrap(), &key))
    };
    assert!(altered(&|_| {}).unwrap().verify().is_ok());
    assert!(matches!(
        altered(&|request| request.info.subject = name(Tag::BmpString, b"a")),
        Err(RequestError::Syntax(SyntaxError::String(Tag::BmpString)))
    ));
    let asking_for = |names: Vec<GeneralName>| {
        altered(&|request| {
            let names = SubjectAltName(names.clone()).to_der().unwrap();
            let extensions = ExtensionReq(vec![extension(SubjectAltName::OID, &names)]);
            request.info.attributes =
                SetOfVec::try_from(vec![extensions.try_into().unwrap()]).unwrap();
        })
        .unwrap()
        .verify()
    };
    assert!(matches!(
        asking_for(Vec::new()),
        Err(RequestError::Syntax(SyntaxError::NoAlternativeName))
    ));
    assert!(matches!(
        asking_for(vec![GeneralName::RegisteredId(long_winded())]),
        Err(RequestError::Syntax(error)) if error == long_winded_error()
    ));
}

fn long_winded_error() -> SyntaxError {
    SyntaxError::ObjectIdentifier("2a 80 86 48".into())
}

fn extension(oid: ObjectIdentifier, contents: &[u8]) -> Extension {
    Extension {
        extn_id: oid,
        critical: false,
        extn_value: OctetString::new(contents).unwrap(),
    }
}
