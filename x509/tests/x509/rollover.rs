//! Paths as RFC 5280 has them where webpki alone is stricter: CAs that are self-issued, and names that differ in case or
//! in the types of their strings. And what remains refused there.

use core::time::Duration;

use const_oid::AssociatedOid;
use der::asn1::{Any, Ia5String, OctetString, SetOfVec};
use der::{Decode, Encode, Tag};
use pq_x509::certificate::{AlternativeName, Certificate};
use pq_x509::issuing::{Ca, CertificateBuilder, Issuer};
use pq_x509::keys::SigningKey;
use pq_x509::pki_types::UnixTime;
use pq_x509::validation::{ChainValidator, Purpose, ValidationError};
use pq_x509::x509_cert::attr::AttributeTypeAndValue;
use pq_x509::x509_cert::ext::pkix::constraints::name::GeneralSubtree;
use pq_x509::x509_cert::ext::pkix::name::GeneralName;
use pq_x509::x509_cert::ext::pkix::{BasicConstraints, KeyUsage, NameConstraints};
use pq_x509::x509_cert::name::{Name, RdnSequence, RelativeDistinguishedName};

use crate::pki::{Pki, bad_signature, key, path_length_exceeded, server, validate_with};

/// A name with one common name, as this type of string.
fn name(tag: Tag, text: &[u8]) -> Name {
    let attribute = AttributeTypeAndValue {
        oid: const_oid::db::rfc4519::COMMON_NAME,
        value: Any::new(tag, text).unwrap(),
    };
    let part = RelativeDistinguishedName::from(SetOfVec::try_from(vec![attribute]).unwrap());
    Name::from_der(&RdnSequence::from(vec![part]).to_der().unwrap()).unwrap()
}

/// A CA of the same name and key, which may issue everything.
fn unbound(ca: &Issuer<SigningKey>) -> Issuer<&SigningKey> {
    let subject = ca.certificate().subject().clone();
    let builder = CertificateBuilder::ca("").subject(subject);
    let certificate = Issuer::self_signed(builder, ca.signer()).unwrap();
    Issuer::new(certificate.certificate().clone(), ca.signer()).unwrap()
}

/// The next key of a CA, in a certificate that the CA issued to itself.
fn next_key(ca: &Issuer<SigningKey>, builder: CertificateBuilder<Ca>) -> Issuer<SigningKey> {
    let subject = ca.certificate().subject().clone();
    unbound(ca)
        .issue_ca(builder.subject(subject), key())
        .unwrap()
}

fn chain(leaf: Certificate, cas: &[&Issuer<SigningKey>]) -> Vec<Certificate> {
    let cas = cas.iter().map(|ca| ca.certificate().clone());
    [leaf].into_iter().chain(cas).collect()
}

#[test]
fn self_issued_cas_count_for_no_path_length() {
    let pki = Pki::with_ca(CertificateBuilder::ca("CA").path_len(0));
    let next = next_key(&pki.ca, CertificateBuilder::ca("").path_len(0));
    let later = next_key(&next, CertificateBuilder::ca("").path_len(0));
    let leaf = |ca: &Issuer<SigningKey>| ca.issue(server(), &pki.leaf_key).unwrap();
    assert_eq!(pki.validate(&chain(leaf(&next), &[&next, &pki.ca])), Ok(4));
    assert_eq!(
        pki.validate(&chain(leaf(&later), &[&next, &pki.ca, &later])),
        Ok(5)
    );
    // The root's own limit, too.
    let roots = [
        CertificateBuilder::ca("Root").path_len(1),
        CertificateBuilder::ca("Root").path_len(0),
    ];
    let [one, none] = roots.map(|builder| {
        let root = Issuer::self_signed(builder, pki.root.signer()).unwrap();
        let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
        validate_with(
            &validator,
            "example.org",
            &chain(leaf(&next), &[&next, &pki.ca]),
        )
    });
    assert_eq!(one, Ok(4));
    assert_eq!(none, Err(path_length_exceeded("CN=Root")));
    // Another CA below a limit counts, wherever the self-issued ones are.
    let below = unbound(&next)
        .issue_ca(CertificateBuilder::ca("Lower"), key())
        .unwrap();
    let sent = chain(leaf(&below), &[&below, &next, &pki.ca]);
    assert_eq!(pki.validate(&sent), Err(path_length_exceeded("CN=CA")));
    // What a self-issued CA must not do, it must not do here either.
    let not_ca = pki.altered_ca(|tbs| tbs.remove_extension(BasicConstraints::OID));
    let sent = [leaf(&next), next.certificate().clone(), not_ca];
    assert!(pki.validate(&sent).is_err());
    let builder = CertificateBuilder::ca("CA");
    let mut tbs = unbound(&pki.ca).prepare(builder, next.signer()).unwrap();
    tbs.remove_extension(KeyUsage::OID);
    tbs.remove_extension(BasicConstraints::OID);
    let without = tbs.sign(pki.ca.signer()).unwrap();
    assert!(
        pki.validate(&[leaf(&next), without, pki.ca.certificate().clone()])
            .is_err()
    );
    // Nor may somebody else have signed its certificate, nor the leaf.
    let mut other = next.certificate().der().to_vec();
    *other.last_mut().unwrap() ^= 1;
    let other = Certificate::from_der(&other).unwrap();
    let sent = [leaf(&next), other, pki.ca.certificate().clone()];
    assert_eq!(pki.validate(&sent), Err(bad_signature("CN=CA")));
    assert!(validate_with(&Pki::new().validator(), "example.org", &sent).is_err());
}

#[test]
fn self_issued_cas_are_exempt_from_name_constraints() {
    let constrained = || {
        CertificateBuilder::ca("CA")
            .permit_dns("example.org")
            .permit_directory("CN=Server".parse().unwrap())
            .exclude_email("example.com")
    };
    let pki = Pki::with_ca(constrained());
    let next = next_key(&pki.ca, CertificateBuilder::ca(""));
    let leaf = |name: &str, subject: &str| {
        let builder = CertificateBuilder::server()
            .dns_name(name)
            .common_name(subject);
        unbound(&next).issue(builder, &pki.leaf_key).unwrap()
    };
    let judge =
        |leaf: Certificate, name: &str| pki.validate_for(name, &chain(leaf, &[&next, &pki.ca]));
    let violated = Err(ValidationError::NameConstraintViolation);
    assert_eq!(
        judge(leaf("www.example.org", "Server"), "www.example.org"),
        Ok(4)
    );
    // The constraints still bind the end entity, in every kind.
    assert_eq!(
        judge(leaf("www.example.net", "Server"), "www.example.net"),
        violated
    );
    assert_eq!(
        judge(leaf("www.example.org", "Another"), "www.example.org"),
        violated
    );
    // And what else the self-issued one is not allowed: to be the end entity.
    let lone = [next.certificate().clone(), pki.ca.certificate().clone()];
    assert!(pki.validate(&lone).is_err());
}

/// A CA below a self-issued one that is itself not exempt.
#[test]
fn constraints_bind_other_cas_below() {
    let pki =
        Pki::with_ca(CertificateBuilder::ca("CA").permit_directory("O=Example".parse().unwrap()));
    let next = next_key(&pki.ca, CertificateBuilder::ca(""));
    let free = unbound(&next);
    for (subject, expected) in [
        ("CN=Lower,O=Example", Ok(5)),
        (
            "CN=Lower,O=Other",
            Err(ValidationError::NameConstraintViolation),
        ),
    ] {
        let builder = CertificateBuilder::ca("").subject(subject.parse().unwrap());
        let lower = free.issue_ca(builder, key()).unwrap();
        let leaf = lower.issue(server(), &pki.leaf_key).unwrap();
        let sent = chain(leaf, &[&lower, &next, &pki.ca]);
        assert_eq!(pki.validate(&sent), expected, "{subject}");
    }
}

#[test]
fn names_that_differ_in_case_or_type() {
    let pki = Pki::with_ca(CertificateBuilder::ca("Example CA"));
    for (tag, text, expected) in [
        (Tag::Utf8String, &b"example  CA"[..], true),
        (Tag::PrintableString, b"Example CA", true),
        (Tag::TeletexString, b"EXAMPLE CA", true),
        (Tag::BmpString, b"\0E\0x\0a\0m\0p\0l\0e\0 \0C\0A", true),
        (Tag::Utf8String, b"ExampleCA", false),
        (Tag::OctetString, b"Example CA", false),
    ] {
        let leaf = pki.altered_leaf(|tbs| tbs.issuer = name(tag, text));
        let result = pki.validate(&pki.chain(leaf));
        match expected {
            true => assert_eq!(result, Ok(3), "{tag}"),
            false => assert_eq!(result, Err(ValidationError::UnknownIssuer), "{tag}"),
        }
    }
    // The root's name, too.
    let other = Pki::new();
    let ca = other.altered_ca(|tbs| tbs.issuer = name(Tag::PrintableString, b"ROOT"));
    assert_eq!(other.validate(&[other.leaf(), ca]), Ok(3));
    // The signature decides, whatever the name.
    let mut leaf = pki.altered_leaf(|tbs| tbs.issuer = name(Tag::PrintableString, b"EXAMPLE CA"));
    assert_eq!(pki.validate(&pki.chain(leaf.clone())), Ok(3));
    let mut der = leaf.der().to_vec();
    *der.last_mut().unwrap() ^= 1;
    leaf = Certificate::from_der(&der).unwrap();
    assert!(matches!(
        pki.validate(&pki.chain(leaf)),
        Err(ValidationError::BadSignature { .. })
    ));
}

/// webpki refuses constraints of hosts that are no domains, and the second search is no way around that.
#[test]
fn excluded_domains_that_are_none_exclude_all() {
    let pki = Pki::new();
    let sign = |issuer| {
        let mut tbs = pki.ca.prepare(server(), &pki.leaf_key).unwrap();
        tbs.issuer = issuer;
        tbs.sign(pki.ca.signer()).unwrap()
    };
    for domain in ["*.example.org", "example.org.", "https://example.org"] {
        let ca = pki.altered_ca(|tbs| {
            let tree = GeneralSubtree {
                base: GeneralName::DnsName(Ia5String::new(domain).unwrap()),
                minimum: 0,
                maximum: None,
            };
            let constraints = NameConstraints {
                permitted_subtrees: None,
                excluded_subtrees: Some(vec![tree]),
            };
            tbs.set_extension(true, &constraints).unwrap();
        });
        let validate = |issuer| pki.validate(&[sign(issuer), ca.clone()]);
        let as_it_is = validate(name(Tag::Utf8String, b"CA"));
        assert!(as_it_is.is_err(), "{domain}");
        let in_another_case = validate(name(Tag::Utf8String, b"ca"));
        let violated = Err(ValidationError::NameConstraintViolation);
        assert_eq!(in_another_case, violated, "{domain}");
    }
}

/// A CA's chain is judged as if the CA issued something.
#[test]
fn a_ca_is_judged_as_an_issuer() {
    let now = UnixTime::now();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root").path_len(1), key()).unwrap();
    let ca = |above: &Issuer<SigningKey>, name: &str| {
        let builder = CertificateBuilder::ca(name);
        unbound(above).issue_ca(builder, key()).unwrap()
    };
    let (upper, next) = (
        ca(&root, "Upper"),
        next_key(&root, CertificateBuilder::ca("")),
    );
    let (lower, below_next) = (ca(&upper, "Lower"), ca(&next, "Below"));
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let judge = |chain: &[&Certificate]| {
        let valid = validator.validate_ca(chain, Purpose::ServerAuth, now)?;
        Ok(valid.certificates().to_vec())
    };
    let [root_own, upper_own, next_own] = [&root, &upper, &next].map(Issuer::certificate);
    assert_eq!(
        judge(&[upper_own, next_own]),
        Ok(vec![upper_own.clone(), root_own.clone()])
    );
    assert_eq!(judge(&[root_own]), Ok(vec![root_own.clone()]));
    // It counts for the path lengths above, and what is self-issued doesn't.
    assert_eq!(
        judge(&[lower.certificate(), upper_own]),
        Err(path_length_exceeded("CN=Root"))
    );
    let found = judge(&[below_next.certificate(), next_own]).unwrap();
    assert_eq!(found.len(), 3);
    assert_eq!(
        judge(&[lower.certificate()]),
        Err(ValidationError::UnknownIssuer)
    );
    // Another certificate for the same key counts for nothing.
    let twin = Issuer::self_signed(CertificateBuilder::ca("Upper"), upper.signer()).unwrap();
    assert_eq!(
        judge(&[twin.certificate(), upper_own]),
        Err(ValidationError::UnknownIssuer)
    );
    // An end entity is no CA, neither here nor above.
    let leaf_key = key();
    let leaf = root.issue(server(), &leaf_key).unwrap();
    let is_not_a_ca = |judged| matches!(judged, Err(ValidationError::NotACa { .. }));
    assert!(is_not_a_ca(judge(&[&leaf])));
    let mut end_entity = root
        .prepare(CertificateBuilder::ca("CA"), &leaf_key)
        .unwrap();
    let no_ca = BasicConstraints {
        ca: false,
        path_len_constraint: None,
    };
    end_entity.set_extension(true, &no_ca).unwrap();
    let end_entity = end_entity.sign(root.signer()).unwrap();
    let issuer = Issuer::self_signed(CertificateBuilder::ca("CA"), leaf_key).unwrap();
    let below = ca(&issuer, "Below");
    assert!(is_not_a_ca(judge(&[below.certificate(), &end_entity])));
    // Signatures are verified, that of the CA itself, too.
    let spoilt = bad_signature_of(upper_own);
    assert_eq!(judge(&[&spoilt]), Err(bad_signature("CN=Upper")));
    // At other times it is not valid.
    let late = UnixTime::since_unix_epoch(Duration::from_secs(upper_own.not_after().as_secs() + 1));
    let judged = validator.validate_ca(&[upper_own], Purpose::ServerAuth, late);
    assert!(matches!(judged, Err(ValidationError::Expired { .. })));
    let never = UnixTime::since_unix_epoch(Duration::from_secs(u64::MAX));
    let judged = validator.validate_ca(&[upper_own], Purpose::ServerAuth, never);
    assert!(matches!(judged, Err(ValidationError::Expired { .. })));
}

/// The same certificate with another signature.
fn bad_signature_of(certificate: &Certificate) -> Certificate {
    let mut der = certificate.der().to_vec();
    *der.last_mut().unwrap() ^= 1;
    Certificate::from_der(&der).unwrap()
}

/// A mask with a gap tells no network (RFC 5280 section 4.2.1.10): whether the subtree is permitted or excluded, in a CA
/// or in a root, in the first search or in the second, and whether the certificate has an address or none.
#[test]
fn masks_with_gaps() {
    let gap = [10, 0, 1, 0, 255, 0, 255, 0];
    let other = [192, 0, 2, 0, 255, 255, 255, 0];
    let pki = Pki::new();
    let sound = NameConstraints {
        permitted_subtrees: Some(vec![network(&other)]),
        excluded_subtrees: None,
    };
    for (permitted, excluded) in [
        (vec![&gap[..]], vec![]),
        (vec![&other, &gap], vec![]),
        (vec![], vec![&gap[..]]),
        (vec![], vec![&[0; 8][..4]]),
    ] {
        let list = |trees: Vec<&[u8]>| -> Option<Vec<GeneralSubtree>> {
            (!trees.is_empty()).then(|| trees.into_iter().map(network).collect())
        };
        let constraints = NameConstraints {
            permitted_subtrees: list(permitted),
            excluded_subtrees: list(excluded),
        };
        let ca = pki.altered_ca(|tbs| tbs.set_extension(true, &constraints).unwrap());
        let root = pki.altered_root(|tbs| tbs.set_extension(true, &constraints).unwrap());
        let root = ChainValidator::new([root]).unwrap();
        let name_alone = CertificateBuilder::server().dns_name("example.org");
        for builder in [server(), name_alone] {
            for issuer in ["CA", "ca"] {
                let mut tbs = pki.ca.prepare(builder.clone(), &pki.leaf_key).unwrap();
                tbs.issuer = name(Tag::Utf8String, issuer.as_bytes());
                let leaf = tbs.sign(pki.ca.signer()).unwrap();
                let by_ca = pki.validate(&[leaf.clone(), ca.clone()]).unwrap_err();
                let by_root = validate_with(&root, "example.org", &pki.chain(leaf)).unwrap_err();
                for (error, whose) in [(by_ca, "CN=CA"), (by_root, "CN=Root")] {
                    assert_eq!(error, no_network(whose), "{constraints:?} {issuer}");
                }
            }
        }
        let address = AlternativeName::Ip("192.0.2.1".parse().unwrap());
        assert!(!ca.permits_name(&address));
        let mut tbs = pki
            .root
            .prepare(CertificateBuilder::ca("CA"), pki.ca.signer())
            .unwrap();
        tbs.set_extension(true, &constraints).unwrap();
        let refused = tbs.check_rules().unwrap_err().to_string();
        assert!(
            refused.contains("rfc5280-name-constraints-address"),
            "{refused}"
        );
        tbs.set_extension(true, &sound).unwrap();
        assert!(tbs.check_rules().is_ok());
    }
}

fn network(octets: &[u8]) -> GeneralSubtree {
    GeneralSubtree {
        base: GeneralName::IpAddress(OctetString::new(octets).unwrap()),
        minimum: 0,
        maximum: None,
    }
}

fn no_network(subject: &str) -> ValidationError {
    ValidationError::NoNetwork {
        subject: Some(subject.into()),
    }
}

/// Subject and issuer have one name in a root, and in a certificate for a CA's next key, which another key signed.
#[test]
fn a_root_is_who_signed_its_own_certificate() {
    let pki = Pki::new();
    let root = pki.root.certificate();
    assert!(root.is_self_signed(&[]));
    assert!(!pki.ca.certificate().is_self_signed(&[]));
    let next = pki.root.issue_ca(
        CertificateBuilder::ca("").subject(root.subject().clone()),
        key(),
    );
    let next = next.unwrap();
    assert_eq!(next.certificate().subject(), next.certificate().issuer());
    assert!(!next.certificate().is_self_signed(&[]));
    // Where the algorithm is one that nobody here verifies, the keys' identifiers tell.
    let unknown = const_oid::ObjectIdentifier::new_unwrap("1.2.3.4");
    for (certificate, is_root) in [(root, true), (next.certificate(), false)] {
        let mut other = certificate.to_owned().parsed().to_der().unwrap();
        let known = root.parsed().signature_algorithm().oid;
        let (known, unknown) = (known.to_der().unwrap(), unknown.as_bytes());
        // as long as the one that it replaces
        let padded = [unknown, &[5; 16][..known.len() - 2 - unknown.len()]].concat();
        let places: Vec<_> = (0..other.len() - known.len())
            .filter(|at| other[*at..].starts_with(&known))
            .collect();
        // the key has the algorithm, too, between both of the signature
        for at in [places[0], places[places.len() - 1]] {
            other[at + 2..at + known.len()].copy_from_slice(&padded);
        }
        let other = Certificate::from_der(&other).unwrap();
        assert_eq!(other.is_self_signed(&[]), is_root);
    }
}
