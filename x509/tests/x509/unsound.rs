//! What the linter calls an error is never issued, by any path.

use der::asn1::{Any, SetOfVec};
use der::{Decode, Encode, Tag};
use pq_x509::certificate::{AlternativeName, Name, NameError};
use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
use pq_x509::keys::KeyError;
use pq_x509::linting::{Kind, Severity, lint};
use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use pq_x509::request::{CertificateRequest, RequestError};
use pq_x509::x509_cert::attr::AttributeTypeAndValue;
use pq_x509::x509_cert::name::{RdnSequence, RelativeDistinguishedName};
use pq_x509::x509_cert::request::CertReq;
use pq_x509::x509_cert::spki::ObjectIdentifier;

use crate::pki::{Pki, key, server};

/// A name of one attribute.
fn name(kind: &str, tag: Tag, value: &[u8]) -> Name {
    let attribute = AttributeTypeAndValue {
        oid: ObjectIdentifier::new_unwrap(kind),
        value: Any::new(tag, value).unwrap(),
    };
    let part = RelativeDistinguishedName::from(SetOfVec::try_from(vec![attribute]).unwrap());
    Name::from_der(&RdnSequence::from(vec![part]).to_der().unwrap()).unwrap()
}

/// Subjects that break rules of each kind, with the rule.
fn unsound() -> Vec<(&'static str, Name)> {
    const LENGTH: &str = "rfc5280-attribute-length";
    const TYPE: &str = "rfc5280-attribute-type";
    const COUNTRY: &str = "rfc5280-country";
    let utf8 = |kind, text: &str| name(kind, Tag::Utf8String, text.as_bytes());
    let printable = |kind, text: &str| name(kind, Tag::PrintableString, text.as_bytes());
    let mut all = vec![
        (COUNTRY, printable("2.5.4.6", "DEU")),
        (COUNTRY, printable("2.5.4.6", "D")),
        (COUNTRY, printable("2.5.4.6", "D1")),
        (TYPE, utf8("2.5.4.6", "DE")),
        (TYPE, utf8("2.5.4.5", "17")),
        (TYPE, utf8("2.5.4.46", "a")),
        (TYPE, utf8("0.9.2342.19200300.100.1.25", "example")),
        (TYPE, utf8("1.2.840.113549.1.9.1", "a@example.org")),
        (TYPE, name("2.5.4.3", Tag::Ia5String, b"a")),
        (
            "x680-string",
            name("2.5.4.3", Tag::Utf8String, &[b'a', 0xff]),
        ),
        ("x680-string", name("2.5.4.3", Tag::BmpString, b"abc")),
    ];
    // The upper bounds of RFC 5280 appendix A.1: CN, serialNumber, L, ST, O, OU, title, pseudonym
    for (kind, bound) in [
        ("2.5.4.3", 64),
        ("2.5.4.7", 128),
        ("2.5.4.8", 128),
        ("2.5.4.10", 64),
        ("2.5.4.11", 64),
        ("2.5.4.12", 64),
        ("2.5.4.65", 128),
    ] {
        all.push((LENGTH, utf8(kind, &"x".repeat(bound + 1))));
        all.push((LENGTH, utf8(kind, &"ä".repeat(bound + 1))));
        all.push((LENGTH, utf8(kind, "")));
    }
    all.push((LENGTH, printable("2.5.4.5", &"1".repeat(65))));
    all
}

/// The first error that the linter finds in a certificate with this subject, which no builder makes.
fn first_error(pki: &Pki, subject: &Name) -> Option<&'static str> {
    let mut tbs = pki.ca.prepare(server(), &pki.leaf_key).unwrap();
    tbs.subject = subject.clone();
    let der = tbs.sign_to_der(pki.ca.signer());
    // Some of them can't even be read back.
    let der = der.ok()?;
    let findings = lint(Kind::Certificate, &der);
    let worst = findings.first()?;
    (worst.rule.severity() == Severity::Error).then(|| worst.rule.name())
}

#[test]
fn what_the_linter_calls_an_error_is_never_issued() {
    let pki = Pki::new();
    let key = key();
    for (rule, subject) in unsound() {
        if let Some(found) = first_error(&pki, &subject) {
            assert_eq!(found, rule, "{subject}");
        } else {
            assert_eq!(rule, "x680-string", "{subject}");
        }
        let with = || CertificateBuilder::ca("").subject(subject.clone());
        let leaf = || server().subject(subject.clone());
        let request = CertificateRequest::builder().subject(subject.clone());
        let by_request = request.dns_name("example.org").sign(&key);
        let results = [
            pki.ca.issue(leaf(), &key).map(drop),
            pki.ca.prepare(leaf(), &key).map(drop),
            pki.root.issue_ca(with(), &key).map(drop),
            pki.root.prepare(with(), &key).map(drop),
            Issuer::self_signed(with(), &key).map(drop),
        ];
        for (path, result) in results.iter().enumerate() {
            match result {
                Err(IssueError::BreaksRule { rule: found, .. }) => assert_eq!(*found, rule),
                // What isn't text isn't seen either.
                Err(IssueError::Name(NameError::UnseenCharacter(_))) => {
                    assert_eq!(rule, "x680-string");
                }
                other => panic!("{subject} by path {path}: {other:?}"),
            }
        }
        assert!(
            matches!(
                by_request,
                Err(RequestError::BreaksRule { rule: found, .. }) if found == rule
            ) || rule == "x680-string",
            "{subject}: {by_request:?}"
        );
        assert!(by_request.is_err(), "{subject}");
    }
}

/// A stranger's request may ask for anything; what is made of it may not.
#[test]
fn a_request_of_somebody_else_brings_no_error_into_a_certificate() {
    let pki = Pki::new();
    for (rule, subject) in unsound() {
        let mut info = CertificateRequest::builder().dns_name("example.org");
        info = info.common_name("a");
        let mut request = info.sign(&pki.leaf_key).unwrap().parsed().clone();
        request.info.subject = subject.clone();
        let body = request.info.to_der().unwrap();
        let signature = pki.leaf_key.sign(&body).unwrap();
        request.signature = der::asn1::BitString::from_bytes(&signature).unwrap();
        let Ok(request) = CertificateRequest::from_der(&request.to_der().unwrap()) else {
            assert_eq!(rule, "x680-string");
            continue;
        };
        let request = request.verify().unwrap();
        let issued = pki.ca.issue(request.certificate().server_auth(), &request);
        assert!(issued.is_err(), "{subject}: {rule}");
    }
}

/// Each upper bound itself is within it.
#[test]
fn names_at_their_bounds_are_issued() {
    let pki = Pki::new();
    for (kind, bound) in [
        ("2.5.4.3", 64),
        ("2.5.4.7", 128),
        ("2.5.4.8", 128),
        ("2.5.4.10", 64),
        ("2.5.4.11", 64),
    ] {
        let subject = name(kind, Tag::Utf8String, "ä".repeat(bound).as_bytes());
        let leaf = pki.issue(server().subject(subject));
        assert!(lint(Kind::Certificate, leaf.der()).is_empty(), "{kind}");
    }
    let subject = name("2.5.4.6", Tag::PrintableString, b"SE");
    pki.issue(server().subject(subject));
}

/// Clients match them to no name, and webpki then refuses all names of the certificate.
#[test]
fn wildcards_with_a_single_label_are_refused_everywhere() {
    let pki = Pki::new();
    let key = key();
    for wide in ["*.localhost", "*.test", "*.internal", "*.org"] {
        let wide_error = NameError::WideWildcard(wide.into());
        let issued = pki.ca.issue(server().dns_name(wide), &key);
        assert!(matches!(issued, Err(IssueError::Name(error)) if error == wide_error));
        let request = CertificateRequest::builder().dns_name(wide).sign(&key);
        assert!(matches!(request, Err(RequestError::Name(error)) if error == wide_error));
        let name = AlternativeName::Dns(wide.into());
        assert_eq!(name.check(), Err(wide_error));
    }
    pki.issue(server().dns_name("*.app.localhost"));
}

/// With a key of small order everybody can sign, so a signature proves nothing, and nor does a request.
#[test]
fn keys_that_everybody_has_are_not_certified() {
    let pki = Pki::new();
    let ed25519 = |bits: &[u8; 32]| {
        let head = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];
        SubjectPublicKeyInfoDer::from([&head[..], bits].concat())
    };
    let mut neutral = [0; 32];
    neutral[0] = 1;
    for bits in [[0; 32], neutral] {
        let issued = pki.ca.issue(server(), &ed25519(&bits));
        assert!(
            matches!(
                issued,
                Err(IssueError::SubjectKey(KeyError::WeakClassical {
                    algorithm: "Ed25519",
                    ..
                }))
            ),
            "{issued:?}"
        );
    }
    let mut base = [0x66; 32];
    base[0] = 0x58;
    pki.ca.issue(server(), &ed25519(&base)).unwrap();

    // A request with such a key fails for this, before its signature is verified.
    let request = CertificateRequest::builder().dns_name("example.org");
    let mut request = request.sign(&pki.leaf_key).unwrap().parsed().clone();
    request.info.public_key = Decode::from_der(&ed25519(&neutral)).unwrap();
    let request = CertificateRequest::from_der(&request.to_der().unwrap()).unwrap();
    assert!(matches!(
        request.verify(),
        Err(RequestError::Key(KeyError::WeakClassical { .. }))
    ));
}

/// Microsoft's programs ask for extensions in an attribute of their own; both at once would be two requests.
#[test]
fn names_in_microsofts_attribute_are_read() {
    let key = key();
    let made = CertificateRequest::builder().dns_name("example.org");
    let request = made.sign(&key).unwrap();
    let sign = |mut parsed: CertReq| {
        let body = parsed.info.to_der().unwrap();
        let signature = key.sign(&body).unwrap();
        parsed.signature = der::asn1::BitString::from_bytes(&signature).unwrap();
        CertificateRequest::from_der(&parsed.to_der().unwrap()).unwrap()
    };
    let mut parsed = request.parsed().clone();
    let mut attribute = parsed.info.attributes.get(0).unwrap().clone();
    attribute.oid = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.311.2.1.14");
    let mut both = parsed.clone();
    both.info.attributes.insert(attribute.clone()).unwrap();
    parsed.info.attributes = vec![attribute].try_into().unwrap();
    let verified = sign(parsed).verify().unwrap();
    assert_eq!(verified.dns_names(), ["example.org"]);
    assert!(matches!(sign(both).verify(), Err(RequestError::Repeated)));
}
