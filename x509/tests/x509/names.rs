//! E-mail addresses and URIs: in certificates and requests, in name constraints, and in the names for which
//! chains are validated.

use core::time::Duration;
use std::time::SystemTime;

use der::asn1::{Any, BitString, Ia5String, OctetString, SetOfVec};
use der::{Decode, Encode, Tag};
use pq_x509::certificate::{
    AlternativeName, Certificate, KeyUsages, Name, NameError, SpiffeId, Validity,
};
use pq_x509::issuing::{Ca, CertificateBuilder, EndEntity, IssueError, Issuer, TbsCertificate};
use pq_x509::keys::{DecapsulationKey, KemAlgorithm};
use pq_x509::pki_types::{ServerName, UnixTime};
use pq_x509::request::CertificateRequest;
use pq_x509::validation::{ChainValidator, Purpose, SvidError, ValidationError};
use pq_x509::x509_cert::attr::AttributeTypeAndValue;
use pq_x509::x509_cert::ext::pkix::constraints::name::GeneralSubtree;
use pq_x509::x509_cert::ext::pkix::name::{GeneralName, OtherName};
use pq_x509::x509_cert::ext::pkix::{KeyUsage, NameConstraints, SubjectAltName};
use pq_x509::x509_cert::name::{RdnSequence, RelativeDistinguishedName};

use crate::pki::{Pki, bad_signature, days_from_now, key, set_usage, sign};

const MAILBOX: &str = "someone@example.org";
const URI: &str = "https://www.example.org/a";
const ID: &str = "spiffe://example.org/billing";

fn client() -> CertificateBuilder<EndEntity> {
    CertificateBuilder::client()
}

/// The certificate of a workload as a client.
fn svid() -> CertificateBuilder<EndEntity> {
    client().server_auth().uri(ID)
}

fn id() -> SpiffeId {
    ID.parse().unwrap()
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// Whether the chain is valid; otherwise a name in it violates a constraint.
fn is_permitted(pki: &Pki, leaf: CertificateBuilder<EndEntity>) -> bool {
    let chain = pki.chain(pki.issue(leaf));
    outcome(&pki.validator(), &chain)
}

fn outcome(validator: &ChainValidator, chain: &[Certificate]) -> bool {
    match validator.validate_client(chain, UnixTime::now()) {
        Ok(valid) => {
            // The result has the certificates that were sent, not those that webpki was shown.
            assert_eq!(valid.certificates()[..chain.len()], *chain);
            true
        }
        Err(error) => {
            assert_eq!(error, ValidationError::NameConstraintViolation);
            false
        }
    }
}

#[test]
fn certificates_have_the_names_that_they_are_to_have() {
    let pki = Pki::new();
    let leaf = pki.issue(
        client()
            .email_address(MAILBOX)
            .uri(URI)
            .dns_name("example.org")
            .alternative_name("::1".parse().unwrap())
            .alternative_name("a@example.org".parse().unwrap())
            .alternative_name("urn:a:b".parse().unwrap())
            .alternative_name("a.example.org".parse().unwrap()),
    );
    assert_eq!(leaf.email_addresses(), [MAILBOX, "a@example.org"]);
    assert_eq!(leaf.uris(), [URI, "urn:a:b"]);
    assert_eq!(leaf.dns_names(), ["example.org", "a.example.org"]);
    let names: Vec<String> = leaf
        .alternative_names()
        .map(|name| name.to_string())
        .collect();
    let described = names.join(", ");
    assert_eq!(
        described,
        "example.org, a.example.org, ::1, someone@example.org, a@example.org, \
         https://www.example.org/a, urn:a:b"
    );
    assert_eq!(leaf.describe_subject(), described);
    // RFC 5280 section 4.2.1.6: critical, if there is no subject.
    let extension = leaf
        .parsed()
        .tbs_certificate()
        .get_extension::<SubjectAltName>();
    let (critical, names) = extension.unwrap().unwrap();
    assert!(critical);
    assert!(
        names
            .0
            .contains(&GeneralName::Rfc822Name(Ia5String::new(MAILBOX).unwrap()))
    );
    assert_eq!(
        pki.validator()
            .validate_client(&pki.chain(leaf), UnixTime::now())
            .map(|_| ()),
        Ok(())
    );
}

#[test]
fn names_that_cannot_be_are_refused() {
    let pki = Pki::new();
    let refused = |leaf: CertificateBuilder<EndEntity>| match pki
        .ca
        .issue(leaf, &pki.leaf_key)
        .unwrap_err()
    {
        IssueError::Name(error) => error,
        other => panic!("{other:?}"),
    };
    for address in [
        "",
        "someone",
        "Someone <someone@example.org>",
        "sömeone@example.org",
    ] {
        let error = refused(client().email_address(address));
        assert!(matches!(error, NameError::EmailAddress(_)), "{error:?}");
        let request = CertificateRequest::builder().email_address(address);
        assert!(request.sign(&pki.leaf_key).is_err());
    }
    for uri in [
        "",
        "www.example.org",
        "https://exämple.org/",
        "https:///a",
        "https://a b/",
    ] {
        let error = refused(client().uri(uri));
        assert!(matches!(error, NameError::Uri(_)), "{error:?}");
        assert!(
            CertificateRequest::builder()
                .uri(uri)
                .sign(&pki.leaf_key)
                .is_err()
        );
    }
    for uri in [
        "spiffe://example.org/a/",
        "SPIFFE://example.org/a",
        "spiffe:a",
        "spiffe://a/%61",
    ] {
        let error = refused(client().uri(uri));
        assert!(matches!(error, NameError::SpiffeId(_)), "{error:?}");
        assert!(
            CertificateRequest::builder()
                .uri(uri)
                .sign(&pki.leaf_key)
                .is_err()
        );
    }
    let error = refused(client().uri("spiffe://example.org"));
    assert!(
        matches!(error, NameError::SpiffeIdWithoutPath(_)),
        "{error:?}"
    );
    for other in [URI, "spiffe://example.org/other"] {
        for both in [[ID, other], [other, ID]] {
            let error = refused(client().uri(both[0]).uri(both[1]));
            assert!(
                matches!(error, NameError::UriBesideSpiffeId(_)),
                "{error:?}"
            );
        }
    }
    for (constraint, is_email) in [
        ("", true),
        ("", false),
        ("a b", true),
        ("@example.org", true),
        ("a@example.org", false),
        ("https://example.org", false),
        ("192.0.2.1", false),
        ("*.example.org", false),
        ("..example.org", true),
    ] {
        let ca = CertificateBuilder::ca("CA");
        let ca = match is_email {
            true => ca.permit_email(constraint),
            false => ca.exclude_uri(constraint),
        };
        let refused = Issuer::self_signed(ca, key()).unwrap_err();
        let is_named = matches!(
            refused,
            IssueError::Name(NameError::InvalidConstraint(_) | NameError::EmailAddress(_))
        );
        assert!(is_named, "{constraint:?} {refused:?}");
    }
}

/// X.509-SVID sections 4.3 and 4.4.
#[test]
fn spiffe_ids_have_key_usages_of_their_own() {
    let pki = Pki::new();
    for leaf in [client(), CertificateBuilder::server()] {
        let refused = pki.ca.issue(leaf.uri(ID), &pki.leaf_key).unwrap_err();
        assert!(
            matches!(refused, IssueError::SpiffePurposes(_)),
            "{refused:?}"
        );
    }
    let kem = DecapsulationKey::generate(KemAlgorithm::MlKem768).unwrap();
    let refused = pki.ca.issue(svid(), &kem.encapsulation_key()).unwrap_err();
    assert!(
        matches!(refused, IssueError::SpiffeKeyUsage(_)),
        "{refused:?}"
    );
    let leaf = svid().key_usage(KeyUsages::DigitalSignature | KeyUsages::CRLSign);
    let refused = pki.ca.issue(leaf, &pki.leaf_key).unwrap_err();
    assert!(
        matches!(refused, IssueError::SpiffeKeyUsage(_)),
        "{refused:?}"
    );
    let leaf = pki.issue(CertificateBuilder::end_entity().uri(id()));
    assert_eq!(leaf.uris(), [ID]);
}

#[test]
fn requests_ask_for_names() {
    let key = key();
    let request = CertificateRequest::builder()
        .email_address(MAILBOX)
        .uri(ID)
        .alternative_name(AlternativeName::Dns("example.org".into()))
        .sign(&key)
        .unwrap();
    let request = CertificateRequest::from_der(request.to_der()).unwrap();
    let request = request.verify().unwrap();
    assert_eq!(request.email_addresses(), [MAILBOX]);
    assert_eq!(request.uris(), [ID]);
    let asked: Vec<AlternativeName> = request.alternative_names().collect();
    let pki = Pki::new();
    let leaf = pki.ca.issue(request.certificate(), &request).unwrap();
    assert_eq!(leaf.alternative_names().collect::<Vec<_>>(), asked);
}

/// The tables of each kind are in the unit tests; this test is about the division of work between webpki and us.
#[test]
fn constraints_bind_what_is_below() {
    type Constrain = fn(CertificateBuilder<Ca>) -> CertificateBuilder<Ca>;
    type Table<'a> = &'a [(CertificateBuilder<EndEntity>, bool)];
    let tables: [(Constrain, Table<'_>); 6] = [
        (
            |ca| {
                ca.permit_email("example.org")
                    .permit_email("root@example.com")
                    .permit_email(".example.net")
            },
            &[
                (client().email_address("a@example.org"), true),
                (client().email_address("a@EXAMPLE.org"), true),
                (client().email_address("root@example.com"), true),
                (client().email_address("Root@example.com"), false),
                (client().email_address("a@www.example.org"), false),
                (client().email_address("a@b.example.net"), true),
                (client().email_address("a@example.net"), false),
                (
                    client()
                        .email_address("a@example.org")
                        .email_address("a@example.com"),
                    false,
                ),
                // in the subject, with alternative names or without
                (client().subject(name("emailAddress=a@example.org")), true),
                (client().subject(name("emailAddress=a@example.com")), false),
                (
                    client()
                        .subject(name("emailAddress=a@example.com"))
                        .email_address("a@example.org"),
                    false,
                ),
                // other kinds
                (client().dns_name("example.com").uri("urn:a"), true),
                (client().common_name("a"), true),
            ],
        ),
        (
            |ca| {
                ca.exclude_email("example.org")
                    .exclude_email("root@example.com")
            },
            &[
                (client().email_address("a@example.com"), true),
                (client().email_address("a@www.example.org"), true),
                (client().email_address("a@example.org"), false),
                (client().email_address("root@EXAMPLE.com"), false),
                (client().uri(URI), true),
            ],
        ),
        (
            |ca| {
                ca.permit_uri("www.example.org")
                    .permit_uri(".example.com")
                    .exclude_uri("bad.example.com")
            },
            &[
                (client().uri(URI), true),
                (client().uri("https://a.example.com:80/"), true),
                (client().uri("https://example.com/"), false),
                (client().uri("https://bad.example.com/"), false),
                (client().uri("https://www.example.org@example.net/"), false),
                (client().uri("https://192.0.2.1/"), false),
                (client().uri("urn:a:b"), false),
                (client().email_address(MAILBOX), true),
            ],
        ),
        (
            |ca| ca.permit_uri("example.org").permit_dns("example.org"),
            &[
                (svid(), true),
                (svid().dns_name("a.example.org"), true),
                (svid().dns_name("a.example.com"), false),
                (
                    client()
                        .server_auth()
                        .uri("spiffe://example.com/a")
                        .dns_name("example.org"),
                    false,
                ),
            ],
        ),
        (
            |ca| ca.permit_directory(name("O=Example,C=SE")),
            &[
                (client().subject(name("CN=a,O=Example,C=SE")), true),
                (client().subject(name("CN=a,O=EXAMPLE,C=SE")), true),
                (client().subject(name("CN=a,O=Other,C=SE")), false),
                (client().common_name("a"), false),
                (client().dns_name("a"), true),
            ],
        ),
        (
            |ca| ca.exclude_directory(name("O=Example,C=SE")),
            &[
                (client().subject(name("CN=a,O=example,C=SE")), false),
                (client().subject(name("CN=a,O=Other,C=SE")), true),
            ],
        ),
    ];
    for (index, (constrain, table)) in tables.into_iter().enumerate() {
        let constrained = Pki::with_ca(constrain(CertificateBuilder::ca("CA")));
        // The same constraints in the root alone; the intermediate itself has a name in SE.
        let ca = CertificateBuilder::ca("CA").subject(name("CN=CA,O=Example,C=SE"));
        let below = Pki::with_ca(ca);
        let root = constrain(CertificateBuilder::ca("Root"));
        let root = Issuer::self_signed(root, below.root.signer()).unwrap();
        let by_root = ChainValidator::new([root.certificate().clone()]).unwrap();
        for (leaf, expected) in table {
            let shown = format!("{index} {leaf:?}");
            assert_eq!(
                is_permitted(&constrained, leaf.clone()),
                *expected,
                "{shown}"
            );
            let chain = below.chain(below.issue(leaf.clone()));
            // The last table excludes the intermediate.
            let expected = *expected && index != 5;
            assert_eq!(outcome(&by_root, &chain), expected, "by the root: {shown}");
        }
    }
}

/// The constraints of each CA count, and a lower CA can't lift those of a higher one.
#[test]
fn constraints_of_several_cas_add_up() {
    let builder = CertificateBuilder::ca("Root").permit_email(".example.org");
    let root = Issuer::self_signed(builder, key()).unwrap();
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let builder = CertificateBuilder::ca("CA")
        .permit_email("a.example.org")
        .permit_email("example.com");
    let ca = root.issue_ca(builder, key()).unwrap();
    let last = ca.issue_ca(CertificateBuilder::ca("Last"), key()).unwrap();
    let key = key();
    for (address, expected) in [
        ("x@a.example.org", true),
        ("x@b.example.org", false),
        ("x@example.com", false),
    ] {
        let leaf = last.issue(client().email_address(address), &key).unwrap();
        let chain = [leaf, last.certificate().clone(), ca.certificate().clone()];
        assert_eq!(outcome(&validator, &chain), expected, "{address}");
    }
}

fn tree(base: GeneralName) -> GeneralSubtree {
    GeneralSubtree {
        base,
        minimum: 0,
        maximum: None,
    }
}

fn email(text: &str) -> GeneralName {
    GeneralName::Rfc822Name(Ia5String::new(text).unwrap())
}

fn permit(tbs: &mut TbsCertificate, trees: Vec<GeneralSubtree>) {
    let constraints = NameConstraints {
        permitted_subtrees: Some(trees),
        excluded_subtrees: None,
    };
    tbs.set_extension(true, &constraints).unwrap();
}

/// Constraints that only others would put into certificates.
#[test]
fn what_is_not_understood_is_refused() {
    let pki = Pki::new();
    let utf8_mailbox = GeneralName::OtherName(OtherName {
        type_id: "1.3.6.1.5.5.7.8.9".parse().unwrap(),
        value: Any::new(Tag::Utf8String, "sömeone@example.org".as_bytes()).unwrap(),
    });
    let upn = GeneralName::OtherName(OtherName {
        type_id: "1.3.6.1.4.1.311.20.2.3".parse().unwrap(),
        value: Any::new(Tag::Utf8String, "someone".as_bytes()).unwrap(),
    });
    let uri = |text: &str| GeneralName::UniformResourceIdentifier(Ia5String::new(text).unwrap());
    let mut distant = tree(email("example.org"));
    distant.minimum = 1;
    for (names, constraints, expected) in [
        (
            vec![email("\"a\"@example.org")],
            vec![tree(email("example.org"))],
            false,
        ),
        (
            vec![email("a@b@example.org")],
            vec![tree(email("example.org"))],
            false,
        ),
        (vec![email("")], vec![tree(email("example.org"))], false),
        (vec![email("a@example.org")], vec![tree(email(""))], false),
        (vec![email("a@example.org")], vec![distant.clone()], false),
        (vec![uri("https://example.org/")], vec![distant], false),
        (
            vec![utf8_mailbox.clone()],
            vec![tree(email("example.org"))],
            false,
        ),
        (vec![utf8_mailbox], vec![tree(uri("example.org"))], true),
        (vec![upn.clone()], vec![tree(email("example.org"))], true),
        (vec![upn.clone()], vec![tree(upn)], false),
        (
            vec![uri("https://example.org\\@a.example/")],
            vec![tree(uri("example.org"))],
            false,
        ),
        (
            vec![uri("https://EX%41MPLE.org/")],
            vec![tree(uri("example.org"))],
            false,
        ),
        (
            vec![uri("https://example.org/")],
            vec![tree(uri(""))],
            false,
        ),
        (vec![email("a@example.org")], vec![tree(uri(""))], true),
    ] {
        let ca = pki.altered_ca(|tbs| permit(tbs, constraints.clone()));
        let leaf = pki.altered_leaf(|tbs| {
            tbs.set_extension(false, &SubjectAltName(names.clone()))
                .unwrap();
        });
        let name = [leaf, ca];
        let result = pki
            .validator()
            .validate(&name, Purpose::ServerAuth, None, UnixTime::now());
        let is_valid = result.is_ok();
        assert_eq!(is_valid, expected, "{names:?} {constraints:?} {result:?}");
    }
    // Empty and malformed extensions are left unchanged: webpki refuses what it can't read.
    for (contents, expected) in [
        (&[0x30, 0][..], true),
        (&[0x30, 2, 0xa0, 0], true),
        (&[0x30, 2, 5, 0], false),
        (&[0x30, 4, 0xa0, 2, 0x30, 0], false),
    ] {
        let ca = pki.altered_ca(|tbs| {
            permit(tbs, vec![tree(email("a"))]);
            let constraints = tbs.extensions.last_mut().unwrap();
            constraints.extn_value = OctetString::new(contents).unwrap();
        });
        let chain = [pki.leaf(), ca];
        assert_eq!(pki.validate(&chain).is_ok(), expected, "{contents:x?}");
    }
}

/// The signature covers what was sent: removed or changed constraints are noticed,
/// though webpki doesn't see them.
#[test]
fn stand_ins_hide_no_change() {
    let pki = Pki::with_ca(CertificateBuilder::ca("CA").permit_email("example.org"));
    let good = pki.issue(client().email_address(MAILBOX));
    let bad = pki.issue(client().email_address("someone@example.com"));
    let ca = pki.ca.certificate();
    let validator = pki.validator();
    assert!(outcome(&validator, &[good.clone(), ca.clone()]));
    let der = ca.der().to_vec();
    let at = der
        .windows(11)
        .position(|window| window == b"example.org")
        .unwrap();
    let mut forged = der.clone();
    forged[at + 8..at + 11].copy_from_slice(b"com");
    let forged = Certificate::from_der(&forged).unwrap();
    for leaf in [&good, &bad] {
        let refused = validator.validate_client(&[leaf.clone(), forged.clone()], UnixTime::now());
        assert!(
            matches!(refused, Err(ValidationError::BadSignature { .. })),
            "{refused:?}"
        );
    }
    // Beside the true certificate, in either order, the forged one has no effect.
    for cas in [[ca, &forged], [&forged, ca]] {
        let chain = |leaf: &Certificate| [leaf.clone(), cas[0].clone(), cas[1].clone()];
        let valid = validator.validate_client(&chain(&bad), UnixTime::now());
        assert!(valid.is_err(), "{valid:?}");
        if let Ok(valid) = validator.validate_client(&chain(&good), UnixTime::now()) {
            assert_eq!(valid.certificates()[1], *ca);
        }
    }
    // Each byte of the constraints and around them.
    for index in at - 30..at + 12 {
        let mut changed = der.clone();
        changed[index] ^= 1;
        let chain = [good.der().to_vec(), changed];
        assert!(
            validator.validate_client(&chain, UnixTime::now()).is_err(),
            "{index}"
        );
    }
}

/// An attacker sends the stand-in that webpki would be shown for a CA as a CA of its own, and beside it the true CA
/// with other unused bits around the signature, so that webpki is shown a different stand-in for the true CA.
#[test]
fn what_was_sent_passes_for_no_stand_in() {
    let pki = Pki::with_ca(CertificateBuilder::ca("CA").permit_email("example.org"));
    let bad = pki.issue(client().email_address("someone@example.com"));
    let ca = pki.ca.certificate();
    let whole = ca.parsed().to_der().unwrap();
    let signature = ca.parsed().signature().raw_bytes();
    let body = ca.parsed().tbs_certificate().to_der().unwrap();
    let algorithm = ca.parsed().signature_algorithm().to_der().unwrap();
    let mut bare = TbsCertificate::from_der(&body).unwrap();
    let none = NameConstraints {
        permitted_subtrees: None,
        excluded_subtrees: None,
    };
    bare.set_extension(true, &none).unwrap();
    let envelope = |body: &[u8], unused_bits| {
        let signature = BitString::new(unused_bits, signature).unwrap();
        let parts = [body, &algorithm, &signature.to_der().unwrap()].concat();
        Any::new(Tag::Sequence, parts).unwrap().to_der().unwrap()
    };
    assert_eq!(envelope(&body, 0), whole);
    let bare = envelope(&bare.to_der().unwrap(), 0);
    for unused_bits in 0..8 {
        let chain = [
            bad.der().to_vec(),
            bare.clone(),
            envelope(&body, unused_bits),
        ];
        let valid = pki.validator().validate_client(&chain, UnixTime::now());
        assert!(valid.is_err(), "{unused_bits}");
    }
}

/// The peer chooses how many names and constraints there are.
#[test]
fn many_names_and_constraints_take_bounded_time() {
    let pki = Pki::new();
    let many: Vec<_> = (0..3000)
        .map(|n| email(&format!("{n}@example.org")))
        .collect();
    let trees = many.iter().cloned().map(tree).collect();
    let ca = pki.altered_ca(|tbs| permit(tbs, trees));
    let leaf = pki.altered_leaf(|tbs| tbs.set_extension(false, &SubjectAltName(many)).unwrap());
    let refused = pki
        .validator()
        .validate(&[leaf, ca], Purpose::ServerAuth, None, UnixTime::now());
    assert!(
        matches!(&refused, Err(ValidationError::Other(error)) if error.to_string().contains("NameConstraintComparisons")),
        "{refused:?}"
    );
}

/// A name may have thousands of attributes in one part, each to be looked for among those of the other.
#[test]
fn many_attributes_in_a_name_and_in_a_constraint_take_bounded_time() {
    let pki = Pki::new();
    let name = |count: u32, value: &str| {
        let attribute = |number: u32| AttributeTypeAndValue {
            oid: format!("1.3.6.1.4.1.{number}").parse().unwrap(),
            value: Any::new(Tag::Utf8String, value.as_bytes()).unwrap(),
        };
        let part: SetOfVec<_> = (0..count)
            .map(attribute)
            .collect::<Vec<_>>()
            .try_into()
            .unwrap();
        let name = RdnSequence::from(vec![RelativeDistinguishedName::from(part)]);
        GeneralName::DirectoryName(Name::from_der(&name.to_der().unwrap()).unwrap())
    };
    // The square of the first is within the bound, that of the second is not.
    for (count, is_within) in [(450, true), (550, false)] {
        let ca = pki.altered_ca(|tbs| permit(tbs, vec![tree(name(count, "a"))]));
        let names = SubjectAltName(vec![name(count, "b")]);
        let leaf = pki.altered_leaf(|tbs| tbs.set_extension(false, &names).unwrap());
        let validator = pki.validator();
        let refused = validator.validate(&[leaf, ca], Purpose::ServerAuth, None, UnixTime::now());
        match refused {
            Err(ValidationError::NameConstraintViolation) => assert!(is_within),
            Err(ValidationError::Other(error)) => {
                assert!(
                    error.to_string().contains("NameConstraintComparisons"),
                    "{error}"
                );
                assert!(!is_within);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn chains_are_valid_for_an_email_address() {
    let pki = Pki::new();
    let chain = pki.chain(
        pki.issue(
            client()
                .email_address(MAILBOX)
                .email_address("x@example.net")
                .common_name("other@example.org"),
        ),
    );
    let validate = |address: &str| {
        let valid =
            pki.validator()
                .validate_email(&chain, address, Purpose::ClientAuth, UnixTime::now());
        valid.map(|valid| valid.certificates().len())
    };
    for address in [MAILBOX, "someone@EXAMPLE.org", "x@example.net"] {
        assert_eq!(validate(address), Ok(3), "{address}");
    }
    for address in [
        "Someone@example.org",
        "someone@www.example.org",
        "other@example.org",
        "s@example.org",
    ] {
        let refused = validate(address).unwrap_err();
        assert_eq!(
            refused,
            ValidationError::NameMismatch {
                expected: address.into(),
                presented: vec![MAILBOX.into(), "x@example.net".into()],
            }
        );
    }
    for address in ["", "someone", "@example.org", "\"someone\"@example.org"] {
        let refused = validate(address).unwrap_err();
        assert!(
            matches!(refused, ValidationError::ExpectedName(_)),
            "{refused:?}"
        );
    }
    // The purpose is checked, and everything else, too.
    let server =
        pki.validator()
            .validate_email(&chain, MAILBOX, Purpose::ServerAuth, UnixTime::now());
    assert_eq!(server.unwrap_err(), ValidationError::WrongPurpose);
    let other = Pki::new().validator().validate_email(
        &chain,
        MAILBOX,
        Purpose::ClientAuth,
        UnixTime::now(),
    );
    assert_eq!(other.unwrap_err(), bad_signature("CN=CA"));
    // Names of another kind with the same text don't count.
    let chain = pki.chain(
        pki.issue(
            client()
                .dns_name("example.org")
                .uri("mailto:someone@example.org"),
        ),
    );
    let refused =
        pki.validator()
            .validate_email(&chain, MAILBOX, Purpose::ClientAuth, UnixTime::now());
    assert!(
        matches!(
            &refused,
            Err(ValidationError::NameMismatch { presented, .. })
                if *presented == ["example.org", "mailto:someone@example.org"]
        ),
        "{refused:?}"
    );
}

#[test]
fn chains_are_valid_for_a_uri() {
    let pki = Pki::new();
    let chain = pki.chain(pki.issue(client().uri(URI).uri("urn:a:b")));
    let validate = |uri: &str| {
        let valid = pki
            .validator()
            .validate_uri(&chain, uri, Purpose::ClientAuth, UnixTime::now());
        valid.map(|valid| valid.certificates().len())
    };
    for uri in [URI, "urn:a:b"] {
        assert_eq!(validate(uri), Ok(3), "{uri}");
    }
    for uri in [
        "https://WWW.example.org/a",
        "https://www.example.org/%61",
        "https://www.example.org/a/",
        "https://www.example.org:443/a",
        "urn:a",
    ] {
        let refused = validate(uri).unwrap_err();
        assert!(
            matches!(refused, ValidationError::NameMismatch { .. }),
            "{refused:?}"
        );
    }
    for uri in ["", "www.example.org", "https://"] {
        let refused = validate(uri).unwrap_err();
        assert!(
            matches!(refused, ValidationError::ExpectedName(_)),
            "{refused:?}"
        );
    }
}

#[test]
fn chains_are_valid_for_a_spiffe_id() {
    let pki = Pki::new();
    let validate = |leaf: Certificate, id: &SpiffeId, purpose| {
        let valid =
            pki.validator()
                .validate_spiffe(&pki.chain(leaf), id, purpose, UnixTime::now())?;
        Ok(valid.spiffe_id()?.to_string())
    };
    for leaf in [
        svid(),
        svid().dns_name("example.org"),
        svid().email_address(MAILBOX),
        CertificateBuilder::end_entity().uri(ID),
    ] {
        let leaf = pki.issue(leaf);
        for purpose in [Purpose::ServerAuth, Purpose::ClientAuth] {
            assert_eq!(validate(leaf.clone(), &id(), purpose), Ok(ID.to_owned()));
        }
        for other in [
            "spiffe://example.org/billing/api",
            "spiffe://example.com/billing",
            "spiffe://example.org/Billing",
            "spiffe://example.org",
        ] {
            let refused =
                validate(leaf.clone(), &other.parse().unwrap(), Purpose::ClientAuth).unwrap_err();
            assert!(
                matches!(refused, ValidationError::NameMismatch { .. }),
                "{refused:?}"
            );
        }
    }
    let with_uris = |uris: &[&str]| {
        let mut tbs = pki.ca.prepare(svid(), &pki.leaf_key).unwrap();
        let names = uris
            .iter()
            .map(|uri| GeneralName::UniformResourceIdentifier(Ia5String::new(*uri).unwrap()));
        tbs.set_extension(true, &SubjectAltName(names.collect()))
            .unwrap();
        tbs.sign(pki.ca.signer()).unwrap()
    };
    let with_usage = |usages, critical| {
        let mut tbs = pki.ca.prepare(svid(), &pki.leaf_key).unwrap();
        tbs.set_extension(critical, &KeyUsage(usages)).unwrap();
        tbs.sign(pki.ca.signer()).unwrap()
    };
    let mut for_clients = pki
        .ca
        .prepare(client().dns_name("a"), &pki.leaf_key)
        .unwrap();
    let names = vec![GeneralName::UniformResourceIdentifier(
        Ia5String::new(ID).unwrap(),
    )];
    for_clients
        .set_extension(true, &SubjectAltName(names))
        .unwrap();
    let signing = KeyUsages::DigitalSignature;
    for (leaf, expected) in [
        (
            pki.issue(client().dns_name("example.org")),
            SvidError::NumberOfUris(0),
        ),
        (with_uris(&[ID, ID]), SvidError::NumberOfUris(2)),
        (with_uris(&[ID, URI]), SvidError::NumberOfUris(2)),
        (
            with_uris(&["spiffe://example.org"]),
            SvidError::WithoutPath("spiffe://example.org".parse().unwrap()),
        ),
        (
            with_uris(&[URI]),
            SvidError::Id(URI.parse::<SpiffeId>().unwrap_err()),
        ),
        (
            with_uris(&["spiffe://example.org/billing/"]),
            SvidError::Id(
                "spiffe://example.org/billing/"
                    .parse::<SpiffeId>()
                    .unwrap_err(),
            ),
        ),
        (with_usage(signing.into(), false), SvidError::KeyUsage),
        (
            with_usage(signing | KeyUsages::CRLSign, true),
            SvidError::KeyUsage,
        ),
        (
            for_clients.sign(pki.ca.signer()).unwrap(),
            SvidError::Purposes,
        ),
    ] {
        let subject = leaf.describe_subject();
        let error = ValidationError::Svid {
            subject,
            error: expected,
        };
        assert_eq!(
            validate(leaf, &id(), Purpose::ClientAuth),
            Err(error.clone())
        );
        assert!(error.to_string().len() < 500, "{error}");
    }
    // Without a key usage, and with one that a validator may be told to ignore.
    let mut tbs = pki.ca.prepare(svid(), &pki.leaf_key).unwrap();
    set_usage(
        &mut tbs,
        KeyUsage(KeyUsages::DigitalSignature | KeyUsages::KeyCertSign),
    );
    let leaf = tbs.sign(pki.ca.signer()).unwrap();
    let relaxed = pki.validator().relax_key_usage();
    let refused = relaxed.validate_spiffe(
        &pki.chain(leaf),
        &id(),
        Purpose::ClientAuth,
        UnixTime::now(),
    );
    assert!(refused.is_err(), "{refused:?}");
}

#[test]
fn a_ca_tells_what_it_permits() {
    let builder = CertificateBuilder::ca("CA")
        .permit_dns("example.org")
        .permit_ip("192.0.2.0".parse().unwrap(), 24)
        .exclude_email("example.org")
        .permit_uri(".example.org");
    let ca = Issuer::self_signed(builder, key()).unwrap();
    let free = Pki::new();
    for (name, expected) in [
        ("www.example.org", true),
        ("www.example.com", false),
        ("192.0.2.1", true),
        ("::1", false),
        ("a@example.com", true),
        ("a@example.org", false),
        ("\"a\"@example.com", false),
        ("https://www.example.org/", true),
        ("https://example.org/", false),
        ("urn:a:b", false),
    ] {
        let name: AlternativeName = name.parse().unwrap();
        assert_eq!(ca.certificate().permits_name(&name), expected, "{name}");
        assert!(free.ca.certificate().permits_name(&name));
    }
}

/// Dates far in the past and constraints in one certificate.
#[test]
fn both_kinds_of_stand_in_at_once() {
    let constrained = || {
        let ca = CertificateBuilder::ca("CA");
        ca.permit_email("example.org").permit_dns("example.org")
    };
    let pki = Pki::with_ca(constrained());
    let from_1980 = SystemTime::UNIX_EPOCH + Duration::from_secs(315_532_800);
    let validity = Validity::new(from_1980, days_from_now(10));
    let tbs = pki
        .root
        .prepare(constrained().validity(validity), pki.ca.signer());
    let mut body = tbs.unwrap().to_der().unwrap();
    let at = body.windows(13).position(|time| time == b"800101000000Z");
    body[at.unwrap()..][..2].copy_from_slice(b"50");
    let ca = Certificate::from_der(&sign(&body, pki.root.signer())).unwrap();
    assert_eq!(ca.not_before().as_secs(), 0);
    let name = ServerName::try_from("example.org").unwrap();
    let server = CertificateBuilder::server().dns_name("example.org");
    for (address, expected) in [("a@example.org", true), ("a@example.com", false)] {
        let leaf = pki.issue(server.clone().email_address(address));
        let chain = [leaf, ca.clone()];
        let result = pki
            .validator()
            .validate_server(&chain, &name, UnixTime::now());
        assert_eq!(result.is_ok(), expected, "{result:?}");
    }
}
