//! The contents of issued certificates, and what is refused.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use core::net::IpAddr;
use core::time::Duration;
use std::time::SystemTime;

use const_oid::db::rfc5280::{ID_KP_CLIENT_AUTH, ID_KP_SERVER_AUTH};
use const_oid::{AssociatedOid, ObjectIdentifier};
use der::asn1::OctetString;
use der::{Decode, Encode};
use pq_x509::certificate::{
    Certificate, CertificateError, KeyUsageError, KeyUsages, Name, NameError, Validity,
    ValidityError,
};
use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
use pq_x509::keys::{
    Algorithm, DecapsulationKey, KemAlgorithm, KeyError, PublicKey, SignatureAlgorithm, Signer,
    SigningKey, SubjectKey,
};
use pq_x509::pki_types::{SubjectPublicKeyInfoDer, UnixTime};
use pq_x509::validation::{ChainValidator, ValidationError};
use pq_x509::verification;
use pq_x509::x509_cert::certificate::Version;
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::name::{DistributionPointName, GeneralName};
use pq_x509::x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, CrlDistributionPoints, ExtendedKeyUsage, KeyUsage,
    NameConstraints, SubjectAltName, SubjectKeyIdentifier,
};

use crate::quick::quick_algorithms;
use sha2::{Digest, Sha256};

fn signing_key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
}

fn root() -> Issuer<SigningKey> {
    Issuer::self_signed(CertificateBuilder::ca("Root"), signing_key()).unwrap()
}

/// Criticality and DER of an extension.
fn extension<E: AssociatedOid>(certificate: &Certificate) -> Option<(bool, Vec<u8>)> {
    let extensions = certificate.parsed().tbs_certificate().extensions().unwrap();
    let mut found = extensions.iter().filter(|e| e.extn_id == E::OID);
    let extension = found.next()?;
    assert!(found.next().is_none());
    Some((extension.critical, extension.extn_value.as_bytes().to_vec()))
}

fn key_id(key: &SigningKey) -> Vec<u8> {
    Sha256::digest(key.verifying_key().as_bytes())[..20].to_vec()
}

#[test]
fn a_root_says_what_a_root_says() {
    for algorithm in quick_algorithms() {
        let key = SigningKey::generate(algorithm).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key.clone()).unwrap();
        let certificate = root.certificate();
        let tbs = certificate.parsed().tbs_certificate();
        assert_eq!(tbs.version(), Version::V3);
        assert_eq!(tbs.subject(), tbs.issuer());
        assert_eq!(tbs.subject().to_string(), "CN=Root");
        assert_eq!(certificate.spki(), key.spki());
        for identifier in [
            tbs.signature(),
            certificate.parsed().signature_algorithm(),
            &tbs.subject_public_key_info().algorithm,
        ] {
            assert_eq!(identifier.oid, algorithm.oid());
            assert_eq!(identifier.parameters, None);
        }
        let expected = [
            (
                extension::<BasicConstraints>(certificate),
                (true, "30030101ff"),
            ),
            // keyCertSign and cRLSign, with the one unused bit cut off.
            (extension::<KeyUsage>(certificate), (true, "03020106")),
        ];
        for (found, (critical, der)) in expected {
            assert_eq!(found, Some((critical, hex::decode(der).unwrap())));
        }
        let (critical, id) = extension::<SubjectKeyIdentifier>(certificate).unwrap();
        assert!(!critical);
        assert_eq!(id, [&[0x04, 20], key_id(&key).as_slice()].concat());
        assert_eq!(certificate.subject_key_id(), Some(&key_id(&key)[..]));
        for absent in [
            extension::<SubjectAltName>(certificate),
            extension::<NameConstraints>(certificate),
            extension::<ExtendedKeyUsage>(certificate),
            extension::<AuthorityKeyIdentifier>(certificate),
        ] {
            assert_eq!(absent, None);
        }
        assert_eq!(
            certificate.verify_signature(certificate, verification::ALL),
            Ok(())
        );
    }
}

#[test]
fn a_ca_can_be_for_servers_alone() {
    let builder = CertificateBuilder::ca("Root").server_auth().server_auth();
    let root = Issuer::self_signed(builder, signing_key()).unwrap();
    let purposes = ExtendedKeyUsage(vec![ID_KP_SERVER_AUTH]);
    assert_eq!(
        extension::<ExtendedKeyUsage>(root.certificate()),
        Some((false, purposes.to_der().unwrap()))
    );
    let both = CertificateBuilder::server().client_auth();
    let leaf = root.issue(both.dns_name("example.org"), &signing_key());
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let chain = [leaf.unwrap()];
    let name = "example.org".try_into().unwrap();
    let now = UnixTime::now();
    assert!(validator.validate_server(&chain, &name, now).is_ok());
    assert_eq!(
        validator.validate_client(&chain, now).unwrap_err(),
        ValidationError::WrongPurpose
    );
}

#[test]
fn a_leaf_says_what_a_leaf_says() {
    let root = root();
    let key = signing_key();
    let address: IpAddr = "192.0.2.1".parse().unwrap();
    let builder = CertificateBuilder::server()
        .client_auth()
        .server_auth()
        .dns_name("example.org")
        .dns_name("*.example.org")
        .ip_address(address)
        .ip_address("2001:db8::1".parse().unwrap());
    let leaf = root.issue(builder.clone(), &key).unwrap();
    assert!(leaf.subject().is_empty());
    assert_eq!(leaf.issuer(), root.certificate().subject());
    assert!(!leaf.is_ca());
    assert_eq!(leaf.dns_names(), ["example.org", "*.example.org"]);
    assert_eq!(
        leaf.ip_addresses(),
        [address, "2001:db8::1".parse().unwrap()]
    );

    let purposes = ExtendedKeyUsage(vec![ID_KP_SERVER_AUTH, ID_KP_CLIENT_AUTH]);
    assert_eq!(
        extension::<ExtendedKeyUsage>(&leaf),
        Some((false, purposes.to_der().unwrap()))
    );
    // digitalSignature.
    assert_eq!(
        extension::<KeyUsage>(&leaf),
        Some((true, vec![0x03, 0x02, 0x07, 0x80]))
    );
    let (critical, id) = extension::<AuthorityKeyIdentifier>(&leaf).unwrap();
    assert!(!critical);
    let id = AuthorityKeyIdentifier::from_der(&id)
        .unwrap()
        .key_identifier;
    assert_eq!(id.unwrap().as_bytes(), key_id(root.signer()));
    assert_eq!(extension::<BasicConstraints>(&leaf), None);
    // Critical as long as nothing else names the subject.
    assert!(extension::<SubjectAltName>(&leaf).unwrap().0);
    let leaf = root.issue(builder.common_name("example"), &key).unwrap();
    assert!(!extension::<SubjectAltName>(&leaf).unwrap().0);
    assert_eq!(leaf.subject().to_string(), "CN=example");
}

/// Certificates of each role name the URL of their issuer's list.
#[test]
fn revocation_list_urls() {
    let root = root();
    let key = signing_key();
    let urls = ["http://a.example/root.crl", "http://192.0.2.1/root.crl"];
    let leaf = CertificateBuilder::server().dns_name("example.org");
    let leaf = urls
        .into_iter()
        .fold(leaf, |leaf, url| leaf.revocation_list_url(url));
    let ca = CertificateBuilder::ca("CA").revocation_list_url(urls[0]);
    let ca = root.issue_ca(ca, signing_key()).unwrap();
    for (certificate, expected) in [
        (&root.issue(leaf, &key).unwrap(), &urls[..]),
        (ca.certificate(), &urls[..1]),
    ] {
        let (critical, points) = extension::<CrlDistributionPoints>(certificate).unwrap();
        assert!(!critical);
        let points = CrlDistributionPoints::from_der(&points).unwrap().0;
        // All URLs in one point: if there were two points, each would need a list of its own.
        let [point] = &*points else {
            panic!("{points:?}");
        };
        assert_eq!((&point.reasons, &point.crl_issuer), (&None, &None));
        let Some(DistributionPointName::FullName(names)) = &point.distribution_point else {
            panic!("{point:?}");
        };
        let names = names.iter().map(|name| match name {
            GeneralName::UniformResourceIdentifier(url) => url.as_str(),
            other => panic!("{other:?}"),
        });
        assert_eq!(names.collect::<Vec<_>>(), expected);
    }
    assert_eq!(extension::<CrlDistributionPoints>(root.certificate()), None);
}

#[test]
fn ml_kem_leaves() {
    let root = root();
    for algorithm in KemAlgorithm::ALL {
        let key = DecapsulationKey::generate(*algorithm).unwrap();
        let builder = CertificateBuilder::end_entity().dns_name("example.org");
        let leaf = root.issue(builder.clone(), &key).unwrap();
        assert_eq!(leaf.key_usage(), Some(KeyUsages::KeyEncipherment.into()));
        assert_eq!(
            extension::<KeyUsage>(&leaf),
            Some((true, vec![0x03, 0x02, 0x05, 0x20]))
        );
        let public = PublicKey::Encapsulation(key.encapsulation_key().clone());
        assert_eq!(leaf.public_key(), Ok(public));

        for usages in [
            KeyUsages::DigitalSignature.into(),
            KeyUsages::KeyEncipherment | KeyUsages::DigitalSignature,
            KeyUsages::KeyEncipherment | KeyUsages::KeyAgreement,
        ] {
            let refused = root.issue(builder.clone().key_usage(usages), &key);
            assert!(matches!(
                refused,
                Err(IssueError::KeyUsage(
                    KeyUsageError::NotKeyEnciphermentOnly { .. }
                ))
            ));
        }
        assert!(matches!(
            root.issue(CertificateBuilder::ca("KEM"), &key),
            Err(IssueError::KeyUsage(KeyUsageError::KemKeyAsCa(a))) if a == *algorithm
        ));
    }
}

#[test]
fn key_usage_rules_are_enforced() {
    let root = root();
    let key = signing_key();
    let leaf = || CertificateBuilder::server().dns_name("example.org");
    for forbidden in [
        KeyUsages::KeyEncipherment,
        KeyUsages::DataEncipherment,
        KeyUsages::KeyAgreement,
        KeyUsages::EncipherOnly,
        KeyUsages::DecipherOnly,
    ] {
        for usages in [forbidden.into(), forbidden | KeyUsages::DigitalSignature] {
            assert!(matches!(
                root.issue(leaf().key_usage(usages), &key),
                Err(IssueError::KeyUsage(
                    KeyUsageError::ForbiddenForSignatureKey { .. }
                ))
            ));
        }
    }
    assert!(matches!(
        root.issue(leaf().key_usage(None), &key),
        Err(IssueError::KeyUsage(KeyUsageError::NothingToSign(_)))
    ));
    assert!(matches!(
        root.issue(leaf().key_usage(KeyUsages::KeyCertSign), &key),
        Err(IssueError::KeyUsage(KeyUsageError::KeyCertSignWithoutCa))
    ));
    let ca = CertificateBuilder::ca("CA").key_usage(KeyUsages::DigitalSignature);
    assert!(matches!(
        root.issue(ca.clone(), &key),
        Err(IssueError::KeyUsage(KeyUsageError::CaWithoutKeyCertSign))
    ));
    assert!(matches!(
        Issuer::self_signed(ca, &key),
        Err(IssueError::KeyUsage(KeyUsageError::CaWithoutKeyCertSign))
    ));
    let both = KeyUsages::DigitalSignature | KeyUsages::NonRepudiation;
    let issued = root.issue(leaf().key_usage(both), &key).unwrap();
    assert_eq!(issued.key_usage(), Some(both));
}

#[test]
fn path_length_and_name_constraints() {
    let root = root();
    let builder = CertificateBuilder::ca("CA")
        .path_len(0)
        .permit_dns("example.org")
        .permit_ip("192.0.2.0".parse().unwrap(), 24)
        .exclude_dns("secret.example.org")
        .exclude_ip("2001:db8::".parse().unwrap(), 32);
    let ca = root.issue_ca(builder, signing_key()).unwrap();
    assert_eq!(ca.certificate().path_len(), Some(0));
    assert_eq!(
        extension::<BasicConstraints>(ca.certificate()),
        Some((true, hex::decode("30060101ff020100").unwrap()))
    );
    // [0] permitted: example.org, 192.0.2.0/24. [1] excluded: the other two.
    let expected = concat!(
        "3059",
        "a01b300d820b6578616d706c652e6f7267",
        "300a8708c0000200ffffff00",
        "a13a301482127365637265742e6578616d706c652e6f7267",
        "3022872020010db8000000000000000000000000ffffffff000000000000000000000000",
    );
    assert_eq!(
        extension::<NameConstraints>(ca.certificate()),
        Some((true, hex::decode(expected).unwrap()))
    );

    // The root has no limit and may issue another CA; the CA below may not.
    assert!(
        root.issue_ca(CertificateBuilder::ca("B"), signing_key())
            .is_ok()
    );
    let error = ca
        .issue(CertificateBuilder::ca("C"), &signing_key())
        .unwrap_err();
    assert!(matches!(&error, IssueError::PathLength(name) if name == "CN=CA"));
    assert!(error.to_string().contains("larger path length"));
    // What it issues to its own name doesn't count (RFC 5280 section 4.2.1.9).
    let next = CertificateBuilder::ca("").subject(ca.certificate().subject().clone());
    assert!(ca.issue(next.path_len(0), &signing_key()).is_ok());
}

#[test]
fn serial_numbers_are_random_positive_and_twenty_bytes() {
    let root = root();
    let key = signing_key();
    let serials: BTreeSet<Vec<u8>> = (0..32)
        .map(|_| {
            let leaf = root
                .issue(CertificateBuilder::client().common_name("c"), &key)
                .unwrap();
            let serial = leaf.parsed().tbs_certificate().serial_number();
            assert_eq!(serial.as_bytes().len(), 20);
            assert!((0x40..0x80).contains(&serial.as_bytes()[0]));
            serial.as_bytes().to_vec()
        })
        .collect();
    assert_eq!(serials.len(), 32);
}

#[test]
fn chosen_serial_numbers_are_checked() {
    let root = root();
    let issue = |serial: &[u8]| {
        root.issue(
            CertificateBuilder::client()
                .common_name("c")
                .serial_number(serial),
            &signing_key(),
        )
    };
    let longest = [[0x7f].as_slice(), &[0xff; 19]].concat();
    for good in [&[1][..], &[0x7f, 0xff], &longest] {
        let serial = issue(good).unwrap();
        let serial = serial.parsed().tbs_certificate().serial_number();
        assert_eq!(serial.as_bytes(), good);
    }
    // A number whose first bit is set takes one more byte, and stays positive.
    let issued = issue(&[0x80]).unwrap();
    let serial = issued.parsed().tbs_certificate().serial_number();
    assert_eq!(serial.to_der().unwrap(), [0x02, 2, 0, 0x80]);
    for bad in [&[][..], &[0], &[0; 20], &[0xff; 20], &[1; 21]] {
        assert!(
            matches!(issue(bad), Err(IssueError::SerialNumber)),
            "{bad:?}"
        );
    }
}

#[test]
fn names_are_checked() {
    let root = root();
    let key = signing_key();
    let server = CertificateBuilder::server;
    let refused = |builder: CertificateBuilder<pq_x509::issuing::EndEntity>| {
        root.issue(builder, &key).map(|_| ()).unwrap_err()
    };
    assert!(matches!(
        refused(server().dns_name("example.org.")),
        IssueError::Name(NameError::InvalidDnsName(_))
    ));
    assert!(matches!(
        refused(server().dns_name("192.0.2.1")),
        IssueError::Name(NameError::InvalidDnsName(_))
    ));
    assert!(matches!(
        refused(server().common_name("x".repeat(65))),
        IssueError::Name(NameError::CommonNameLength(65))
    ));
    assert!(matches!(
        refused(server().dns_name("a").revocation_list_url("https://a/b")),
        IssueError::Name(NameError::InvalidListUrl(_))
    ));
    assert!(matches!(refused(server()), IssueError::Nameless));
    assert!(matches!(
        Issuer::self_signed(CertificateBuilder::ca("").subject(Name::default()), &key),
        Err(IssueError::CaWithoutName)
    ));
    assert!(matches!(
        Issuer::self_signed(
            CertificateBuilder::ca("CA").permit_ip("10.0.0.1".parse().unwrap(), 8),
            &key
        ),
        Err(IssueError::Name(NameError::InvalidSubnet { .. }))
    ));

    let full: Name = "CN=Example CA,O=Example,C=SE".parse().unwrap();
    let ca = Issuer::self_signed(
        CertificateBuilder::ca("ignored").subject(full.clone()),
        &key,
    )
    .unwrap();
    assert_eq!(ca.certificate().subject(), &full);
    assert_eq!(
        ca.certificate().subject().to_string(),
        "CN=Example CA,O=Example,C=SE"
    );
}

#[test]
fn validity_is_what_was_asked_for() {
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let validity = |certificate: &Certificate| {
        let validity = certificate.parsed().tbs_certificate().validity();
        (
            validity.not_before.to_system_time(),
            validity.not_after.to_system_time(),
        )
    };
    let root = root();
    let issue = |validity| {
        root.issue(
            CertificateBuilder::client()
                .common_name("c")
                .validity(validity),
            &signing_key(),
        )
    };
    // From the last second of UTCTime to one past it.
    let issued = issue(Validity::new(at(2_524_607_999), at(2_524_608_001))).unwrap();
    assert_eq!(validity(&issued), (at(2_524_607_999), at(2_524_608_001)));
    assert_eq!(issued.not_before().as_secs(), 2_524_607_999);
    assert_eq!(issued.not_after().as_secs(), 2_524_608_001);
    assert!(matches!(
        issue(Validity::new(at(2), at(1))),
        Err(IssueError::Validity(ValidityError::EndsBeforeItStarts))
    ));

    let day = Duration::from_secs(24 * 60 * 60);
    let lasts = |certificate: &Certificate| {
        let (start, end) = validity(certificate);
        let now = SystemTime::now();
        assert!(start <= now && now < end);
        end.duration_since(start).unwrap().as_secs() / day.as_secs()
    };
    assert_eq!(lasts(root.certificate()), 3650);
    let leaf = CertificateBuilder::client().common_name("c");
    assert_eq!(lasts(&root.issue(leaf, &signing_key()).unwrap()), 90);
    assert_eq!(lasts(&issue(Validity::days(7)).unwrap()), 7);
}

/// RFC 5280 section 4.1.1.2.
#[test]
fn both_signature_algorithms_must_agree() {
    let root = root();
    let mut der = root.certificate().der().to_vec();
    let oid = SignatureAlgorithm::MlDsa44.oid().to_der().unwrap();
    let places: Vec<usize> = (0..der.len())
        .filter(|at| der[*at..].starts_with(&oid))
        .collect();
    // In the signed part, in the key, and beside the signature.
    let [inner, _, outer] = places[..] else {
        panic!("{places:?}");
    };
    for (at, expected) in [
        (inner, ("ML-DSA-65", "ML-DSA-44")),
        (outer, ("ML-DSA-44", "ML-DSA-65")),
    ] {
        // The last byte of ML-DSA-65's identifier is one higher.
        let last = at + oid.len() - 1;
        der[last] += 1;
        let Err(CertificateError::AlgorithmsDiffer { inner, outer }) = Certificate::from_der(&der)
        else {
            panic!("{at}");
        };
        let name = |oid| Algorithm::from_oid(oid).unwrap().name();
        assert_eq!((name(inner), name(outer)), expected);
        der[last] -= 1;
    }
    assert!(Certificate::from_der(&der).is_ok());
}

/// RFC 5280 section 4.2, for extensions that are read here and for others.
#[test]
fn no_extension_is_there_twice() {
    let root = root();
    let builder = CertificateBuilder::client().common_name("c");
    let tbs = root.prepare(builder, &signing_key()).unwrap();
    let unknown = Extension {
        extn_id: ObjectIdentifier::new_unwrap("1.2.3.4"),
        critical: false,
        extn_value: OctetString::new([5, 0]).unwrap(),
    };
    for extension in [tbs.extensions[0].clone(), unknown] {
        let mut tbs = tbs.clone();
        let kind = extension.extn_id;
        tbs.extensions.retain(|other| other.extn_id != kind);
        tbs.extensions.push(extension.clone());
        assert!(tbs.clone().sign(root.signer()).is_ok());
        tbs.extensions.push(extension);
        assert!(matches!(
            tbs.clone().sign_to_der(root.signer()),
            Err(IssueError::Certificate(CertificateError::RepeatedExtension(oid))) if oid == kind
        ));
        assert!(matches!(
            tbs.sign(root.signer()),
            Err(IssueError::Certificate(CertificateError::RepeatedExtension(oid))) if oid == kind
        ));
    }
}

/// A certificate that was not read back is valid, and the prepared fields say the same as the certificate.
#[test]
fn what_is_prepared_says_what_the_certificate_does() {
    let root = root();
    let named = CertificateBuilder::server()
        .dns_name("www.example.org")
        .ip_address([192, 0, 2, 1].into())
        .email_address("admin@example.org")
        .dns_name("example.org");
    for builder in [
        named.clone(),
        named.common_name("www.example.org"),
        CertificateBuilder::client().common_name("c"),
    ] {
        let tbs = root.prepare(builder, &signing_key()).unwrap();
        let der = tbs.clone().sign_to_der(root.signer()).unwrap();
        let certificate = Certificate::from_der(&der).unwrap();
        let verified = certificate.verify_signature(root.certificate(), verification::ALL);
        assert_eq!(verified, Ok(()));
        assert!(
            tbs.alternative_names()
                .into_iter()
                .eq(certificate.alternative_names())
        );
        assert_eq!(tbs.describe_subject(), certificate.describe_subject());
        assert_eq!(tbs.not_before(), certificate.not_before());
        assert_eq!(tbs.not_after(), certificate.not_after());
    }
}

/// RFC 5280 section 4.1: if there is a sequence of extensions, it is not empty.
#[test]
fn no_extensions_are_left_out() {
    let root = root();
    let mut tbs = root
        .prepare(CertificateBuilder::ca("Bare"), &signing_key())
        .unwrap();
    tbs.extensions.clear();
    let bare = tbs.sign(root.signer()).unwrap();
    assert_eq!(bare.parsed().tbs_certificate().extensions(), None);
    let verified = bare.verify_signature(root.certificate(), verification::ALL);
    assert_eq!(verified, Ok(()));
}

#[test]
fn an_issuer_is_a_ca_with_its_own_key() {
    let root = root();
    let key = signing_key();
    let leaf = root
        .issue(CertificateBuilder::server().common_name("leaf"), &key)
        .unwrap();
    assert!(matches!(
        Issuer::new(leaf, &key),
        Err(IssueError::NotACa(name)) if name == "CN=leaf"
    ));
    assert!(matches!(
        Issuer::new(root.certificate().clone(), &key),
        Err(IssueError::WrongKey(name)) if name == "CN=Root"
    ));
    // Read from files, the issuer works again.
    let pem = root.certificate().to_pem();
    let key_pem = root.signer().to_pkcs8_pem().unwrap();
    let again = Issuer::new(
        Certificate::from_pem(&pem).unwrap(),
        SigningKey::from_pkcs8_pem(&key_pem).unwrap(),
    )
    .unwrap();
    let leaf = again
        .issue(CertificateBuilder::client().common_name("c"), &key)
        .unwrap();
    let verified = leaf.verify_signature(root.certificate(), verification::ALL);
    assert_eq!(verified, Ok(()));

    let mut tbs = root.prepare(CertificateBuilder::ca("No"), &key).unwrap();
    tbs.subject = Name::default();
    let nameless = tbs.sign(root.signer()).unwrap();
    assert!(matches!(
        Issuer::new(nameless, &key),
        Err(IssueError::CaWithoutName)
    ));

    let mut tbs = root.prepare(CertificateBuilder::ca("No"), &key).unwrap();
    tbs.set_extension(true, &KeyUsage(KeyUsages::CRLSign.into()))
        .unwrap();
    let without_cert_sign = tbs.sign(root.signer()).unwrap();
    assert!(matches!(
        Issuer::new(without_cert_sign, &key),
        Err(IssueError::KeyUsage(KeyUsageError::CaWithoutKeyCertSign))
    ));
}

#[test]
fn malformed_keys_are_not_certified() {
    let root = root();
    let key = signing_key();
    let builder = CertificateBuilder::client().common_name("c");
    let mut short = key.spki().to_vec();
    short.pop();
    assert!(matches!(
        root.issue(builder.clone(), &SubjectPublicKeyInfoDer::from(short)),
        Err(IssueError::SubjectKey(KeyError::Der(_)))
    ));
    let kem = DecapsulationKey::generate(KemAlgorithm::MlKem512).unwrap();
    let mut unreduced = kem.spki().to_vec();
    let len = unreduced.len();
    unreduced[len - 800] = 0xff;
    unreduced[len - 799] |= 0x0f;
    assert!(matches!(
        root.issue(builder, &SubjectPublicKeyInfoDer::from(unreduced)),
        Err(IssueError::SubjectKey(KeyError::Malformed { .. }))
    ));
}

/// RFC 9881 section 8.3 forbids HashML-DSA's identifiers, RFC 9909 allows HashSLH-DSA's.
#[test]
fn keys_of_hash_ml_dsa_are_not_certified() {
    let root = root();
    let issue = |algorithm: SignatureAlgorithm, arc: u8| {
        let key = SigningKey::generate(algorithm).unwrap();
        let mut der = key.spki().to_vec();
        // Two SEQUENCEs around the identifier, whose last byte is the arc.
        let oid = algorithm.oid().to_der().unwrap();
        let at = der.windows(oid.len()).position(|bytes| bytes == oid);
        der[at.unwrap() + oid.len() - 1] = arc;
        let builder = CertificateBuilder::client().common_name("c");
        root.issue(builder, &SubjectPublicKeyInfoDer::from(der))
    };
    for (algorithm, arc) in SignatureAlgorithm::ML_DSA.iter().zip(32..) {
        assert!(matches!(issue(*algorithm, arc), Err(IssueError::HashMlDsa)));
    }
    assert!(issue(SignatureAlgorithm::SlhDsaSha2_128f, 36).is_ok());
}

#[test]
fn signers_may_be_borrowed_boxed_or_shared() {
    let key = signing_key();
    let boxed: Box<dyn Signer> = Box::new(key.clone());
    let shared: Arc<dyn Signer> = Arc::new(key.clone());
    let builder = || CertificateBuilder::ca("Root");
    let certificates = [
        Issuer::self_signed(builder(), &key)
            .unwrap()
            .certificate()
            .clone(),
        Issuer::self_signed(builder(), boxed)
            .unwrap()
            .certificate()
            .clone(),
        Issuer::self_signed(builder(), shared)
            .unwrap()
            .certificate()
            .clone(),
    ];
    for certificate in certificates {
        assert_eq!(certificate.spki(), key.spki());
    }
}

#[test]
fn certificates_as_pem_and_der() {
    let root = root();
    let leaf = root
        .issue(
            CertificateBuilder::client().common_name("c"),
            &signing_key(),
        )
        .unwrap();
    let chain = [leaf, root.certificate().clone()];
    let pem = Certificate::chain_to_pem(&chain);
    assert_eq!(pem.matches("-----BEGIN CERTIFICATE-----\n").count(), 2);
    assert_eq!(Certificate::chain_from_pem(&pem).unwrap(), chain);
    assert_eq!(Certificate::from_pem(&pem).unwrap(), chain[0]);
    let key_between = pem.replacen(
        "-----END CERTIFICATE-----\n",
        &format!(
            "-----END CERTIFICATE-----\n{}",
            *root.signer().to_pkcs8_pem().unwrap()
        ),
        1,
    );
    assert_eq!(Certificate::chain_from_pem(&key_between).unwrap(), chain);
    assert!(matches!(
        Certificate::chain_from_pem("no certificates"),
        Err(CertificateError::Pem(_))
    ));

    let der = chain[0].der();
    assert_eq!(Certificate::from_der(der).unwrap(), chain[0]);
    for len in 0..der.len() {
        assert!(Certificate::from_der(&der[..len]).is_err(), "{len}");
    }
    assert!(Certificate::from_der(&[der, &[0][..]].concat()).is_err());
}
