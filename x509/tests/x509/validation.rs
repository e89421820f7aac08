//! Valid chains, and all ways in which chains are not valid.

use core::net::IpAddr;
use core::slice;
use core::time::Duration;

use const_oid::db::rfc5280::{
    ANY_EXTENDED_KEY_USAGE, ID_KP_CLIENT_AUTH, ID_KP_CODE_SIGNING, ID_KP_EMAIL_PROTECTION,
    ID_KP_SERVER_AUTH,
};
use const_oid::{AssociatedOid, ObjectIdentifier};
use der::asn1::{Any, BitString, Ia5String, OctetString};
use der::{Decode, Encode};
use pq_x509::certificate::{Certificate, KeyUsageError, KeyUsages, Sizes, Validity};
use pq_x509::issuing::{Ca, CertificateBuilder, Issuer, TbsCertificate};
use pq_x509::keys::{
    DecapsulationKey, KemAlgorithm, KeyError, SignatureAlgorithm, SigningKey, SubjectKey,
};
use pq_x509::pki_types::{ServerName, UnixTime};
use pq_x509::request::CertificateRequest;
use pq_x509::revocation::{
    CertificateRevocationList, CertificateRevocationListBuilder, RevocationPolicy,
};
use pq_x509::validation::{ChainValidator, Purpose, ValidationError};
use pq_x509::verification;
use pq_x509::x509_cert::crl::CertificateList;
use pq_x509::x509_cert::ext::pkix::name::GeneralName;
use pq_x509::x509_cert::ext::pkix::{BasicConstraints, ExtendedKeyUsage, KeyUsage, SubjectAltName};
use pq_x509::x509_cert::name::Name;
use signers::P256Key;
use spki::SubjectPublicKeyInfoOwned;

use crate::pki::{
    Pki, bad_signature, days_from_now, key, not_a_ca, path_length_exceeded, server, set_usage,
    unix_days_from_now, validate_with,
};
use crate::quick::{quick_algorithms, slow_algorithms};

#[test]
fn good_chains_of_every_algorithm() {
    for algorithm in quick_algorithms() {
        let key = || SigningKey::generate(algorithm).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("Root").path_len(1), key()).unwrap();
        let ca = root
            .issue_ca(CertificateBuilder::ca("CA").path_len(0), key())
            .unwrap();
        let leaf = ca.issue(server(), &key()).unwrap();
        let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
        let name = ServerName::try_from("example.org").unwrap();
        let expected = [&leaf, ca.certificate(), root.certificate()];
        // In order, with the root, and with others in between.
        for chain in [
            vec![&leaf, ca.certificate()],
            vec![&leaf, ca.certificate(), root.certificate()],
            vec![&leaf, root.certificate(), &leaf, ca.certificate()],
        ] {
            let path = validator
                .validate_server(&chain, &name, UnixTime::now())
                .unwrap();
            assert!(path.certificates().iter().eq(expected));
        }
        // DER from rustls works, too.
        let chain = [leaf.der().clone(), ca.certificate().der().clone()];
        assert!(
            validator
                .validate_server(&chain, &name, UnixTime::now())
                .is_ok()
        );
        // Without its intermediate, no path leads from the leaf.
        assert_eq!(
            validate_with(&validator, "example.org", &[leaf]),
            Err(ValidationError::UnknownIssuer)
        );
    }
}

/// Peers choose the contents of the certificates that are refused, and refusals are logged.
#[test]
fn names_in_messages() {
    let pki = Pki::new();
    let expired = |alter: &dyn Fn(&mut TbsCertificate)| {
        let leaf = pki.altered_leaf(|tbs| {
            let validity = Validity::new(days_from_now(-2), days_from_now(-1));
            let issued = pki.issue(server().validity(validity));
            tbs.validity = *issued.parsed().tbs_certificate().validity();
            alter(tbs);
        });
        pki.validate(&pki.chain(leaf)).unwrap_err().to_string()
    };

    let text = "a.example\n2030-01-01 INFO all is well\x1b[2K";
    let message = expired(&|tbs| {
        let name = GeneralName::DnsName(Ia5String::new(text).unwrap());
        tbs.set_extension(true, &SubjectAltName(vec![name]))
            .unwrap();
    });
    assert!(
        message.starts_with(
            "the certificate of a.example\\n2030-01-01 INFO all is well\\u{1b}[2K expired at "
        ),
        "{message}"
    );
    let message = expired(&|tbs| tbs.subject = "CN=\u{9b}2K\u{202e}x".parse().unwrap());
    assert!(
        message.starts_with("the certificate of CN=\\u{9b}2K\\u{202e}x expired at "),
        "{message}"
    );
    let long = format!("CN=é{}", "x".repeat(50_000));
    let message = expired(&|tbs| tbs.subject = long.parse().unwrap());
    assert!(message.len() < 512, "{} bytes", message.len());
    assert!(message.contains("xxx... expired at"), "{message}");
}

/// The same for names in [`Debug`](core::fmt::Debug) output, and in lists that can't be used.
#[test]
fn names_in_debug_output() {
    let name: Name = "CN=\u{9b}2K\u{202e}x".parse().unwrap();
    let shown = "CN=\\u{9b}2K\\u{202e}x";
    let key = key();
    // No builder makes these.
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), &key).unwrap();
    let mut tbs = root.prepare(CertificateBuilder::ca("Root"), &key).unwrap();
    (tbs.issuer, tbs.subject) = (name.clone(), name.clone());
    let root = Issuer::new(tbs.sign(&key).unwrap(), &key).unwrap();
    let request = CertificateRequest::builder().common_name("a").sign(&key);
    let mut request = request.unwrap().parsed().clone();
    request.info.subject = name;
    let request = CertificateRequest::from_der(&request.to_der().unwrap());
    let list = CertificateRevocationListBuilder::new(&[1]);
    let list = root.issue_revocation_list(list).unwrap();
    let certificate = format!("{:?}", root.certificate());
    assert_eq!(certificate.matches(shown).count(), 2, "{certificate}");
    for debug in [format!("{:?}", request.unwrap()), format!("{list:?}")] {
        assert!(debug.contains(shown), "{debug}");
    }
    let mut list: CertificateList = CertificateList::from_der(list.der()).unwrap();
    list.tbs_cert_list.next_update = None;
    let list = CertificateRevocationList::from_der(&list.to_der().unwrap()).unwrap();
    let message = RevocationPolicy::new([list]).unwrap_err().to_string();
    assert!(message.contains(shown), "{message}");
}

/// The chain that the documentation recommends: long-lived roots of SLH-DSA, all else ML-DSA.
#[test]
fn roots_of_the_slow_sets() {
    for algorithm in slow_algorithms() {
        let root_key = SigningKey::generate(algorithm).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root_key).unwrap();
        let leaf_key = key();
        let leaf = root.issue(server(), &leaf_key).unwrap();
        let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
        assert_eq!(
            validate_with(&validator, "example.org", slice::from_ref(&leaf)),
            Ok(2)
        );
        assert_eq!(
            root.certificate()
                .verify_signature(root.certificate(), verification::ALL),
            Ok(())
        );

        let sizes = Sizes::of([&leaf]);
        assert_eq!(sizes.total().der, leaf.der().len());
        assert_eq!(
            sizes.total().public_key,
            leaf_key.algorithm().public_key_len()
        );
        assert_eq!(sizes.total().signature, algorithm.signature_len());
        assert_eq!(sizes.tls13_certificate_message(), leaf.der().len() + 9);
    }
}

#[test]
fn ml_kem_leaves_are_valid_but_not_for_tls() {
    let pki = Pki::new();
    for algorithm in KemAlgorithm::ALL {
        let key = DecapsulationKey::generate(*algorithm).unwrap();
        let leaf = pki.ca.issue(server().client_auth(), &key).unwrap();
        let chain = pki.chain(leaf);
        let name = ServerName::try_from("example.org").unwrap();
        let validator = pki.validator();
        let now = UnixTime::now();
        for (purpose, name) in [
            (Purpose::ServerAuth, Some(&name)),
            (Purpose::ClientAuth, None),
        ] {
            assert!(validator.validate(&chain, purpose, name, now).is_ok());
        }
        let expected = ValidationError::CannotSign(*algorithm);
        assert_eq!(pki.validate(&chain), Err(expected.clone()));
        let client = validator.validate_client(&chain, now);
        assert_eq!(client.unwrap_err(), expected);
    }
}

/// RFC 9881 section 2, RFC 9935 section 3: no parameters, and a key of the right length; the coefficients of
/// ML-KEM's key are reduced.
#[test]
fn malformed_keys_of_leaves_are_refused() {
    let pki = Pki::new();
    let refused = |alter: &dyn Fn(&mut SubjectPublicKeyInfoOwned)| {
        let leaf = pki.altered_leaf(|tbs| alter(&mut tbs.subject_public_key_info));
        let expected = leaf.public_key().unwrap_err();
        let now = UnixTime::now();
        let validated = pki
            .validator()
            .validate(&pki.chain(leaf), Purpose::ServerAuth, None, now);
        let Err(ValidationError::Key { subject, error }) = validated else {
            panic!("{validated:?}");
        };
        assert_eq!(
            (subject.as_str(), &error),
            ("example.org, 192.0.2.1", &expected)
        );
        error
    };

    let with_parameters = refused(&|spki| spki.algorithm.parameters = Some(Any::null()));
    assert!(matches!(with_parameters, KeyError::ParametersPresent(_)));
    let short = refused(&|spki| {
        let key = spki.subject_public_key.raw_bytes();
        spki.subject_public_key = BitString::from_bytes(&key[1..]).unwrap();
    });
    assert!(matches!(short, KeyError::Malformed { .. }));
    let unreduced = refused(&|spki| {
        let ml_kem_512 = DecapsulationKey::generate(KemAlgorithm::MlKem512).unwrap();
        *spki = SubjectPublicKeyInfoOwned::from_der(&ml_kem_512.spki()).unwrap();
        let mut key = spki.subject_public_key.raw_bytes().to_vec();
        key[..3].fill(0xff);
        spki.subject_public_key = BitString::from_bytes(&key).unwrap();
    });
    assert!(matches!(unreduced, KeyError::Malformed { .. }));
    // RFC 9881 section 8.3 keeps HashML-DSA out of certificates.
    for arc in 32..=34 {
        let oid = ObjectIdentifier::new_unwrap(&format!("2.16.840.1.101.3.4.3.{arc}"));
        let hash_ml_dsa = refused(&|spki| spki.algorithm.oid = oid);
        assert_eq!(hash_ml_dsa, KeyError::HashMlDsa(oid));
    }
}

#[test]
fn names() {
    let pki = Pki::new();
    let chain = pki.chain(pki.issue(server().dns_name("*.example.com")));
    for good in ["example.org", "EXAMPLE.org", "a.example.com", "192.0.2.1"] {
        assert_eq!(pki.validate_for(good, &chain), Ok(3), "{good}");
    }
    for bad in [
        "example.com",
        "a.example.org",
        "a.b.example.com",
        "192.0.2.2",
        "::1",
    ] {
        let error = pki.validate_for(bad, &chain).unwrap_err();
        assert!(
            matches!(&error, ValidationError::NameMismatch { expected, .. } if expected == bad),
            "{error:?}"
        );
        let text = error.to_string();
        assert!(text.contains(bad), "{text}");
        // The names as people write them.
        assert!(text.contains("but for example.org, "), "{text}");
    }
    let no_names = pki.chain(pki.issue(CertificateBuilder::server().common_name("example.org")));
    assert!(matches!(
        pki.validate(&no_names),
        Err(ValidationError::NameMismatch { presented, .. }) if presented.is_empty()
    ));

    // Names can't forge log lines, whatever their contents and number.
    let uri = |text: &str| GeneralName::UniformResourceIdentifier(Ia5String::new(text).unwrap());
    let names = [vec![uri("a\nforged")], vec![uri("long"); 1000]].concat();
    let hostile = pki.altered_leaf(|tbs| tbs.set_extension(false, &SubjectAltName(names)).unwrap());
    let error = pki.validate(&pki.chain(hostile)).unwrap_err();
    assert!(matches!(error, ValidationError::NameMismatch { .. }));
    let message = error.to_string();
    assert!(
        !message.contains('\n') && message.contains("forged"),
        "{message}"
    );
    assert!(message.len() < 1000, "{message}");
}

#[test]
fn times() {
    let pki = Pki::new();
    let lasting = |from, to| {
        let validity = Validity::new(days_from_now(from), days_from_now(to));
        pki.chain(pki.issue(server().validity(validity)))
    };
    let expired = pki.validate(&lasting(-2, -1)).unwrap_err();
    let leaf = "example.org, 192.0.2.1";
    assert!(matches!(
        &expired,
        ValidationError::Expired { subject: Some(subject), .. } if subject == leaf
    ));
    assert!(expired.to_string().contains("renewed"), "{expired}");
    let early = pki.validate(&lasting(1, 2)).unwrap_err();
    assert!(matches!(
        &early,
        ValidationError::NotYetValid { subject: Some(subject), .. } if subject == leaf
    ));
    assert!(early.to_string().contains("clock"), "{early}");
    assert_eq!(pki.validate(&lasting(-1, 1)), Ok(3));

    // The validity of the intermediate and the root counts as well. The leaf's lasts longer than both.
    let name = ServerName::try_from("example.org").unwrap();
    let chain = lasting(-1, 5000);
    for days in [3649, 3651] {
        let result = pki
            .validator()
            .validate_server(&chain, &name, unix_days_from_now(days));
        assert_eq!(result.is_ok(), days == 3649, "{days}");
    }
    let short_root = |from, to| {
        let validity = Validity::new(days_from_now(from), days_from_now(to));
        let builder = CertificateBuilder::ca("Root").validity(validity);
        let root = Issuer::self_signed(builder, pki.root.signer()).unwrap();
        let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
        validate_with(&validator, "example.org", &chain)
    };
    assert_eq!(short_root(-1, 1), Ok(3));
    assert!(matches!(
        short_root(-2, -1),
        Err(ValidationError::Expired { subject: Some(subject), .. }) if subject == "CN=Root"
    ));
    assert!(matches!(
        short_root(1, 2),
        Err(ValidationError::NotYetValid { subject: Some(subject), .. }) if subject == "CN=Root"
    ));
}

/// RFC 5280, section 4.1.2.5: a certificate is valid from notBefore through notAfter. OpenSSL leaves out the last
/// second.
#[test]
fn the_first_and_the_last_second_count() {
    let pki = Pki::new();
    let validity = Validity::new(days_from_now(1), days_from_now(2));
    let leaf = pki.issue(server().validity(validity));
    let tbs = leaf.parsed().tbs_certificate();
    let first = tbs.validity().not_before.to_unix_duration().as_secs();
    let last = tbs.validity().not_after.to_unix_duration().as_secs();
    let chain = pki.chain(leaf.clone());
    let name = ServerName::try_from("example.org").unwrap();
    let validate = |seconds| {
        let time = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        pki.validator().validate_server(&chain, &name, time)
    };
    assert!(matches!(
        validate(first - 1),
        Err(ValidationError::NotYetValid { .. })
    ));
    assert!(validate(first).is_ok());
    assert!(validate(last).is_ok());
    assert!(matches!(
        validate(last + 1),
        Err(ValidationError::Expired { .. })
    ));
}

#[test]
fn an_expired_root_gives_way_to_its_successor() {
    let pki = Pki::new();
    let validity = Validity::new(days_from_now(-2), days_from_now(-1));
    let builder = CertificateBuilder::ca("Root").validity(validity);
    let old = Issuer::self_signed(builder, pki.root.signer()).unwrap();
    let roots = [old.certificate().clone(), pki.root.certificate().clone()];
    let chain = pki.chain(pki.leaf());
    for roots in [roots.clone(), [roots[1].clone(), roots[0].clone()]] {
        let validator = ChainValidator::new(roots).unwrap();
        assert_eq!(validate_with(&validator, "example.org", &chain), Ok(3));
    }
}

#[test]
fn unknown_issuers_and_bad_signatures() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let stranger = Issuer::self_signed(CertificateBuilder::ca("Stranger"), key()).unwrap();
    let validator = ChainValidator::new([stranger.certificate().clone()]).unwrap();
    assert_eq!(
        validate_with(&validator, "example.org", &pki.chain(leaf.clone())),
        Err(ValidationError::UnknownIssuer)
    );
    // A root of the same name with another key.
    let namesake = Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap();
    let validator = ChainValidator::new([namesake.certificate().clone()]).unwrap();
    assert_eq!(
        validate_with(&validator, "example.org", &pki.chain(leaf.clone())),
        Err(bad_signature("CN=CA"))
    );
    // A bit of the signature, and a letter of the name that was signed.
    let mut signature = leaf.der().to_vec();
    *signature.last_mut().unwrap() ^= 1;
    let mut body = leaf.der().to_vec();
    let at = body.windows(11).position(|window| window == b"example.org");
    body[at.unwrap()] = b'f';
    for (der, name) in [(signature, "example.org"), (body, "fxample.org")] {
        let tampered = Certificate::from_der(&der).unwrap();
        assert_eq!(
            pki.validate_for(name, &pki.chain(tampered)),
            Err(bad_signature(&format!("{name}, 192.0.2.1")))
        );
    }
    // The same in the intermediate.
    let mut der = pki.ca.certificate().der().to_vec();
    *der.last_mut().unwrap() ^= 1;
    let tampered = Certificate::from_der(&der).unwrap();
    assert_eq!(pki.validate(&[leaf, tampered]), Err(bad_signature("CN=CA")));
}

#[test]
fn signature_algorithms_are_bound_to_keys() {
    let root_key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root_key).unwrap();
    // An ML-DSA-44 key signs in the name of a root whose key is ML-DSA-65.
    let leaf = root
        .prepare(server(), &key())
        .unwrap()
        .sign(&key())
        .unwrap();
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    assert_eq!(
        validate_with(&validator, "example.org", &[leaf]),
        Err(ValidationError::AlgorithmMismatch {
            signature: Some(SignatureAlgorithm::MlDsa44.oid()),
            key: Some(SignatureAlgorithm::MlDsa65.oid()),
        })
    );
}

#[test]
fn a_leaf_is_no_ca() {
    let pki = Pki::new();
    let issuing_leaf = pki.issue(server().common_name("Leaf"));
    let victim_key = key();
    let mut tbs = pki.ca.prepare(server(), &victim_key).unwrap();
    tbs.issuer = issuing_leaf.subject().clone();
    let below = tbs.sign(&pki.leaf_key).unwrap();
    let chain = [below, issuing_leaf, pki.ca.certificate().clone()];
    assert_eq!(pki.validate(&chain), Err(not_a_ca("CN=Leaf")));

    // And a CA is no server, even with a name.
    assert_eq!(
        pki.validate(&[pki.ca.certificate().clone()]),
        Err(ValidationError::CaAsEndEntity)
    );
    // An explicit FALSE means the same as no extension.
    let not_ca = pki.altered_ca(|tbs| {
        let constraints = BasicConstraints {
            ca: false,
            path_len_constraint: None,
        };
        tbs.set_extension(true, &constraints).unwrap();
    });
    assert_eq!(pki.validate(&[pki.leaf(), not_ca]), Err(not_a_ca("CN=CA")));
    let unconstrained = pki.altered_ca(|tbs| tbs.remove_extension(BasicConstraints::OID));
    assert_eq!(
        pki.validate(&[pki.leaf(), unconstrained]),
        Err(not_a_ca("CN=CA"))
    );
}

#[test]
fn path_length() {
    let pki = Pki::new();
    let lower = pki
        .ca
        .issue_ca(CertificateBuilder::ca("Lower"), key())
        .unwrap();
    let leaf = lower.issue(server(), &pki.leaf_key).unwrap();
    let chain = [
        leaf,
        lower.certificate().clone(),
        pki.ca.certificate().clone(),
    ];
    assert_eq!(pki.validate(&chain), Ok(4));

    let limited = |path_len| {
        pki.altered_ca(|tbs| {
            let constraints = BasicConstraints {
                ca: true,
                path_len_constraint: Some(path_len),
            };
            tbs.set_extension(true, &constraints).unwrap();
        })
    };
    let with_ca = |ca| pki.validate(&[chain[0].clone(), chain[1].clone(), ca]);
    assert_eq!(with_ca(limited(1)), Ok(4));
    assert_eq!(with_ca(limited(0)), Err(path_length_exceeded("CN=CA")));
    // The root's own limit, which webpki does not see.
    for (path_len, expected) in [
        (0, Err(path_length_exceeded("CN=Root"))),
        (1, Err(path_length_exceeded("CN=Root"))),
        (2, Ok(4)),
    ] {
        let builder = CertificateBuilder::ca("Root").path_len(path_len);
        let root = Issuer::self_signed(builder, pki.root.signer()).unwrap();
        let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
        assert_eq!(validate_with(&validator, "example.org", &chain), expected);
    }
}

#[test]
fn name_constraints() {
    let permitted = CertificateBuilder::ca("CA")
        .permit_dns("example.org")
        .permit_ip("192.0.2.0".parse().unwrap(), 24);
    let excluded = CertificateBuilder::ca("CA")
        .exclude_dns("bad.example.org")
        .exclude_ip("2001:db8::".parse().unwrap(), 32);
    let cases: [(&CertificateBuilder<Ca>, &str, bool); 13] = [
        (&permitted, "example.org", true),
        (&permitted, "a.b.example.org", true),
        (&permitted, "example.com", false),
        (&permitted, "badexample.org", false),
        (&permitted, "192.0.2.77", true),
        (&permitted, "192.0.3.1", false),
        (&permitted, "::1", false),
        (&excluded, "example.org", true),
        (&excluded, "good.example.org", true),
        (&excluded, "bad.example.org", false),
        (&excluded, "very.bad.example.org", false),
        (&excluded, "2001:db9::1", true),
        (&excluded, "2001:db8::1", false),
    ];
    let permitting = Pki::with_ca(permitted.clone());
    let excluding = Pki::with_ca(excluded.clone());
    for (builder, name, allowed) in cases {
        let pki = match core::ptr::eq(builder, &permitted) {
            true => &permitting,
            false => &excluding,
        };
        let leaf = match name.parse::<IpAddr>() {
            Ok(address) => CertificateBuilder::server().ip_address(address),
            Err(_) => CertificateBuilder::server().dns_name(name),
        };
        let result = pki.validate_for(name, &pki.chain(pki.issue(leaf)));
        let expected = match allowed {
            true => Ok(3),
            false => Err(ValidationError::NameConstraintViolation),
        };
        assert_eq!(result, expected, "{name}");
    }
    // One forbidden name among permitted ones makes the certificate invalid.
    let mixed = server().dns_name("example.com");
    assert_eq!(
        permitting.validate(&permitting.chain(permitting.issue(mixed))),
        Err(ValidationError::NameConstraintViolation)
    );
    // The root's constraints count too.
    let root = CertificateBuilder::ca("Root").permit_dns("example.com");
    let root = Issuer::self_signed(root, permitting.root.signer()).unwrap();
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let chain = permitting.chain(permitting.leaf());
    assert_eq!(
        validate_with(&validator, "example.org", &chain),
        Err(ValidationError::NameConstraintViolation)
    );
}

/// A wildcard for a whole top-level domain is compared with no constraint of DNS names, and the error says so.
#[test]
fn names_that_constraints_are_not_compared_with() {
    let pki = Pki::new();
    let constrained = CertificateBuilder::ca("CA")
        .permit_dns("localhost")
        .permit_dns("test");
    let ca = pki.root.issue_ca(constrained, pki.ca.signer()).unwrap();
    // No builder makes this.
    let leaf = pki.altered_leaf(|tbs| {
        let names = ["localhost", "*.test"].map(|name| Ia5String::new(name).unwrap());
        let names = SubjectAltName(names.map(GeneralName::DnsName).to_vec());
        tbs.set_extension(false, &names).unwrap();
    });
    let chain = [leaf, ca.certificate().clone()];
    let error = pki.validate_for("localhost", &chain);
    assert_eq!(error, Err(ValidationError::IncomparableName));
}

/// RFC 5280 section 4.2.1.10: constraints of one kind of names say nothing about other kinds.
#[test]
fn name_constraints_of_one_kind_leave_the_others_free() {
    let dns_only = CertificateBuilder::ca("CA").permit_dns("example.org");
    let no_addresses = dns_only
        .clone()
        .exclude_ip("0.0.0.0".parse().unwrap(), 0)
        .exclude_ip("::".parse().unwrap(), 0);
    let ip_only = CertificateBuilder::ca("CA").permit_ip("192.0.2.0".parse().unwrap(), 24);
    let no_names = ip_only.clone().permit_dns("none.invalid");
    for (ca, dns_allowed, ip_allowed) in [
        (dns_only, false, true),
        (no_addresses, false, false),
        (ip_only, true, false),
        (no_names, false, false),
    ] {
        let pki = Pki::with_ca(ca);
        let expected = |allowed| match allowed {
            true => Ok(3),
            false => Err(ValidationError::NameConstraintViolation),
        };
        let dns = CertificateBuilder::server().dns_name("example.com");
        let chain = pki.chain(pki.issue(dns));
        assert_eq!(
            pki.validate_for("example.com", &chain),
            expected(dns_allowed)
        );
        for address in ["198.51.100.1", "2001:db8::1"] {
            let ip = CertificateBuilder::server().ip_address(address.parse().unwrap());
            let chain = pki.chain(pki.issue(ip));
            assert_eq!(pki.validate_for(address, &chain), expected(ip_allowed));
        }
    }
}

#[test]
fn purposes_of_the_root() {
    let pki = Pki::new();
    let chain = pki.chain(pki.issue(server().client_auth()));
    for (purposes, for_server, for_client) in [
        (vec![ID_KP_SERVER_AUTH], true, false),
        (vec![ID_KP_CLIENT_AUTH], false, true),
        (vec![ID_KP_CLIENT_AUTH, ID_KP_SERVER_AUTH], true, true),
        (vec![ID_KP_CODE_SIGNING], false, false),
    ] {
        let root = pki.altered_root(|tbs| {
            tbs.set_extension(false, &ExtendedKeyUsage(purposes))
                .unwrap();
        });
        let validator = ChainValidator::new([root]).unwrap();
        let expected = |allowed| match allowed {
            true => Ok(3),
            false => Err(ValidationError::WrongPurpose),
        };
        let found = validate_with(&validator, "example.org", &chain);
        assert_eq!(found, expected(for_server));
        let client = validator.validate_client(&chain, UnixTime::now());
        let client = client.map(|path| path.certificates().len());
        assert_eq!(client, expected(for_client));
    }
}

/// A leaf without the extension is valid for the purposes that its CAs permit.
#[test]
fn purposes_of_who_signs_documents() {
    let pki = Pki::new();
    let chain = pki.chain(pki.issue(CertificateBuilder::end_entity().common_name("someone")));
    let document_signing = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.36");
    for (purposes, allowed) in [
        (vec![ID_KP_EMAIL_PROTECTION], true),
        (vec![ID_KP_SERVER_AUTH, document_signing], true),
        (vec![ANY_EXTENDED_KEY_USAGE], true),
        (vec![ID_KP_SERVER_AUTH, ID_KP_CODE_SIGNING], false),
    ] {
        let root = pki.altered_root(|tbs| {
            tbs.set_extension(false, &ExtendedKeyUsage(purposes))
                .unwrap();
        });
        let validator = ChainValidator::new([root]).unwrap();
        let found = validator.validate(&chain, Purpose::Documents, None, UnixTime::now());
        let found = found.map(|path| path.certificates().len());
        match allowed {
            true => assert_eq!(found, Ok(3)),
            false => assert_eq!(found, Err(ValidationError::WrongPurpose)),
        }
    }
    // webpki checks what is below the root.
    for (builder, allowed) in [
        (CertificateBuilder::end_entity(), true),
        (CertificateBuilder::server().client_auth(), false),
    ] {
        let chain = pki.chain(pki.issue(builder.common_name("someone")));
        let found = pki
            .validator()
            .validate(&chain, Purpose::Documents, None, UnixTime::now());
        match allowed {
            true => assert_eq!(found.unwrap().certificates().len(), 3),
            false => assert_eq!(found.unwrap_err(), ValidationError::WrongPurpose),
        }
    }
}

/// Signatures that bind people are often made with certificates for nonRepudiation alone (RFC 8550 section 4.4.2).
#[test]
fn usages_of_who_signs_documents() {
    let pki = Pki::new();
    for (usages, for_documents) in [
        (KeyUsages::DigitalSignature.into(), Ok(3)),
        (KeyUsages::NonRepudiation.into(), Ok(3)),
        (
            KeyUsages::KeyAgreement.into(),
            Err(KeyUsageError::WithoutSigningDocuments),
        ),
    ] {
        let someone = CertificateBuilder::end_entity().common_name("someone");
        let mut tbs = pki.ca.prepare(someone, &P256Key::new(1)).unwrap();
        set_usage(&mut tbs, KeyUsage(usages));
        let chain = pki.chain(tbs.sign(pki.ca.signer()).unwrap());
        let validate = |purpose| {
            let found = pki
                .validator()
                .validate(&chain, purpose, None, UnixTime::now());
            found
                .map(|path| path.certificates().len())
                .map_err(|error| match error {
                    ValidationError::KeyUsage { error, .. } => error,
                    other => panic!("{other:?}"),
                })
        };
        assert_eq!(validate(Purpose::Documents), for_documents);
        let for_clients = match usages.contains(KeyUsages::DigitalSignature) {
            true => Ok(3),
            false => Err(KeyUsageError::WithoutDigitalSignature),
        };
        assert_eq!(validate(Purpose::ClientAuth), for_clients);
    }
}

#[test]
fn purposes() {
    let pki = Pki::new();
    let cases = [
        (CertificateBuilder::server(), true, false),
        (CertificateBuilder::client(), false, true),
        (CertificateBuilder::server().client_auth(), true, true),
        (CertificateBuilder::end_entity(), true, true),
    ];
    for (builder, for_server, for_client) in cases {
        let chain = pki.chain(pki.issue(builder.dns_name("example.org")));
        let expected = |allowed| match allowed {
            true => Ok(3),
            false => Err(ValidationError::WrongPurpose),
        };
        assert_eq!(pki.validate(&chain), expected(for_server));
        let client = pki
            .validator()
            .validate_client(&chain, UnixTime::now())
            .map(|path| path.certificates().len());
        assert_eq!(client, expected(for_client));
    }
}

#[test]
fn forbidden_key_usage_of_a_leaf() {
    let pki = Pki::new();
    let cases = [
        (
            KeyUsages::KeyEncipherment | KeyUsages::DigitalSignature,
            "forbidden",
        ),
        (KeyUsages::KeyAgreement.into(), "forbidden"),
        (None.into(), "nothing"),
        (KeyUsages::CRLSign.into(), "without"),
        (
            KeyUsages::DigitalSignature | KeyUsages::KeyCertSign,
            "not a CA",
        ),
    ];
    for (usages, expected) in cases {
        let leaf = pki.altered_leaf(|tbs| set_usage(tbs, KeyUsage(usages)));
        let chain = pki.chain(leaf);
        let error = pki.validate(&chain).unwrap_err();
        let ValidationError::KeyUsage {
            subject,
            error: rule,
        } = &error
        else {
            panic!("{error:?}");
        };
        assert_eq!(subject, "example.org, 192.0.2.1");
        let found = match rule {
            KeyUsageError::ForbiddenForSignatureKey { .. } => "forbidden",
            KeyUsageError::NothingToSign(_) => "nothing",
            KeyUsageError::WithoutDigitalSignature => "without",
            KeyUsageError::KeyCertSignWithoutCa => "not a CA",
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected);
        let relaxed = pki.validator().relax_key_usage();
        assert_eq!(validate_with(&relaxed, "example.org", &chain), Ok(3));
    }
    // A classical key can sign, too.
    let mut tbs = pki.ca.prepare(server(), &P256Key::new(1)).unwrap();
    set_usage(&mut tbs, KeyUsage(KeyUsages::KeyAgreement.into()));
    let chain = pki.chain(tbs.sign(pki.ca.signer()).unwrap());
    assert!(matches!(
        pki.validate(&chain),
        Err(ValidationError::KeyUsage {
            error: KeyUsageError::WithoutDigitalSignature,
            ..
        })
    ));

    // Without the extension, every usage is allowed.
    let leaf = pki.altered_leaf(|tbs| tbs.remove_extension(KeyUsage::OID));
    assert_eq!(pki.validate(&pki.chain(leaf)), Ok(3));

    let kem = DecapsulationKey::generate(KemAlgorithm::MlKem768).unwrap();
    let mut tbs = pki.ca.prepare(server(), &kem).unwrap();
    set_usage(&mut tbs, KeyUsage(KeyUsages::KeyAgreement.into()));
    let chain = pki.chain(tbs.sign(pki.ca.signer()).unwrap());
    assert!(matches!(
        pki.validate(&chain),
        Err(ValidationError::KeyUsage {
            error: KeyUsageError::NotKeyEnciphermentOnly { .. },
            ..
        })
    ));
}

#[test]
fn a_ca_needs_key_cert_sign() {
    let pki = Pki::new();
    let chain = [
        pki.leaf(),
        pki.altered_ca(|tbs| set_usage(tbs, KeyUsage(KeyUsages::CRLSign.into()))),
    ];
    let expected = ValidationError::KeyUsage {
        subject: "CN=CA".into(),
        error: KeyUsageError::CaWithoutKeyCertSign,
    };
    // This is required even if other usages are not checked.
    for validator in [pki.validator(), pki.validator().relax_key_usage()] {
        assert_eq!(
            validate_with(&validator, "example.org", &chain),
            Err(expected.clone())
        );
        // The correct CA certificate beside it is found.
        let both = [&chain[..], &[pki.ca.certificate().clone()]].concat();
        assert_eq!(validate_with(&validator, "example.org", &both), Ok(3));
    }

    // The same in a root.
    let usages = KeyUsage(KeyUsages::DigitalSignature.into());
    let root = pki.altered_root(|tbs| set_usage(tbs, usages));
    let validator = ChainValidator::new([root]).unwrap();
    assert!(matches!(
        validate_with(&validator, "example.org", &pki.chain(pki.leaf())),
        Err(ValidationError::KeyUsage {
            error: KeyUsageError::CaWithoutKeyCertSign,
            ..
        })
    ));

    // The caller may relax a forbidden usage beside keyCertSign.
    let chain = [
        pki.leaf(),
        pki.altered_ca(|tbs| {
            set_usage(
                tbs,
                KeyUsage(KeyUsages::KeyCertSign | KeyUsages::KeyAgreement),
            );
        }),
    ];
    assert!(matches!(
        pki.validate(&chain),
        Err(ValidationError::KeyUsage {
            error: KeyUsageError::ForbiddenForSignatureKey { .. },
            ..
        })
    ));
    let relaxed = pki.validator().relax_key_usage();
    assert_eq!(validate_with(&relaxed, "example.org", &chain), Ok(3));
}

#[test]
fn roots_and_chains_that_are_not() {
    let pki = Pki::new();
    assert_eq!(
        ChainValidator::new([]).map(|_| ()),
        Err(ValidationError::NoRoots)
    );
    assert_eq!(
        ChainValidator::new([pki.leaf()]).map(|_| ()),
        Err(ValidationError::RootNotACa("example.org, 192.0.2.1".into()))
    );
    assert_eq!(pki.validate(&[]), Err(ValidationError::EmptyChain));
    for (garbage, is_der) in [(&[][..], false), (&[0x30, 0], true), (&[0xff; 40], false)] {
        let result =
            pki.validator()
                .validate(&[garbage], Purpose::ClientAuth, None, UnixTime::now());
        match is_der {
            true => assert!(matches!(result, Err(ValidationError::Certificate(_)))),
            false => assert_eq!(result.unwrap_err(), ValidationError::Malformed),
        }
    }
}

#[test]
fn unknown_critical_extensions_are_refused() {
    struct Unknown(OctetString);
    impl AssociatedOid for Unknown {
        // An arc for examples (RFC 5612).
        const OID: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.32473.1");
    }
    impl Encode for Unknown {
        fn encoded_len(&self) -> der::Result<der::Length> {
            self.0.encoded_len()
        }
        fn encode(&self, writer: &mut impl der::Writer) -> der::Result<()> {
            self.0.encode(writer)
        }
    }
    let pki = Pki::new();
    for critical in [true, false] {
        let leaf = pki.altered_leaf(|tbs| {
            let extension = Unknown(OctetString::new([1]).unwrap());
            tbs.set_extension(critical, &extension).unwrap();
        });
        let expected = |subject: &str, valid| match critical {
            true => Err(ValidationError::UnsupportedCriticalExtension {
                subject: Some(subject.into()),
                oid: Some(Unknown::OID),
            }),
            false => Ok(valid),
        };
        assert_eq!(
            pki.validate(&pki.chain(leaf)),
            expected("example.org, 192.0.2.1", 3)
        );
        // webpki itself accepts it in a root.
        let root = pki.altered_root(|tbs| {
            let extension = Unknown(OctetString::new([1]).unwrap());
            tbs.set_extension(critical, &extension).unwrap();
        });
        assert_eq!(
            ChainValidator::new([root]).map(|_| ()),
            expected("CN=Root", 3).map(|_| ())
        );
    }
}

/// All policies will do, and none is required (RFC 5280 sections 4.2.1.4 and 6.1).
#[test]
fn critical_policies_are_processed() {
    /// A value in DER.
    struct Value<const N: u32>(Vec<u8>);
    impl<const N: u32> AssociatedOid for Value<N> {
        const OID: ObjectIdentifier = match N {
            32 => ObjectIdentifier::new_unwrap("2.5.29.32"),
            33 => ObjectIdentifier::new_unwrap("2.5.29.33"),
            36 => ObjectIdentifier::new_unwrap("2.5.29.36"),
            _ => ObjectIdentifier::new_unwrap("2.5.29.54"),
        };
    }
    impl<const N: u32> Encode for Value<N> {
        fn encoded_len(&self) -> der::Result<der::Length> {
            self.0.len().try_into()
        }
        fn encode(&self, writer: &mut impl der::Writer) -> der::Result<()> {
            writer.write(&self.0)
        }
    }
    fn sequence(parts: &[&[u8]]) -> Vec<u8> {
        let contents = parts.concat();
        [&[0x30, contents.len() as u8], &*contents].concat()
    }
    let pki = Pki::new();
    let any: &[u8] = &[6, 4, 0x55, 0x1d, 0x20, 0];
    let own: &[u8] = &[6, 3, 0x2a, 3, 4];
    let qualified = |number: u8, value: &[u8]| {
        let kind = [6, 8, 0x2b, 6, 1, 5, 5, 7, 2, number];
        let qualifier = sequence(&[&kind, value]);
        sequence(&[&sequence(&[own, &sequence(&[&qualifier])])])
    };
    let notice = |fields: &[&[u8]]| qualified(2, &sequence(fields));
    let text = [22, 1, b'a'];
    let number = [2, 1, 5];
    let reference = sequence(&[&text, &sequence(&[&number, &number])]);
    let mapping = |from: &[u8], to: &[u8]| sequence(&[&sequence(&[from, to])]);
    let own_to_any = mapping(own, any);
    let any_to_own = mapping(any, own);
    let own_to_own = mapping(own, own);
    let without_qualifiers = sequence(&[&sequence(&[own, &[0x30, 0]])]);
    let (any, own) = (sequence(&[any]), sequence(&[own]));
    let both = sequence(&[&any, &own]);
    let policies = |value: &[u8]| {
        let value = Value::<32>(value.to_vec());
        move |tbs: &mut TbsCertificate| tbs.set_extension(true, &value).unwrap()
    };
    let with_policies = |value: &[u8]| pki.validate(&pki.chain(pki.altered_leaf(policies(value))));
    for accepted in [
        &sequence(&[&any]),
        &sequence(&[&own]),
        &both,
        &qualified(1, &[22, 1, b'a']),
        &qualified(2, &[0x30, 0]),
        &notice(&[&text]),
        &notice(&[&[26, 1, b'~']]),
        &notice(&[&[30, 2, 0, b'a']]),
        &notice(&[&[12, 2, 0xc3, 0xa9]]),
        &notice(&[&reference]),
        &notice(&[&reference, &text]),
    ] {
        assert_eq!(with_policies(accepted), Ok(3), "{accepted:x?}");
    }
    // rustls's own verifiers don't process them.
    for (leaf, expected) in [
        (pki.leaf(), true),
        (pki.altered_leaf(policies(&sequence(&[&any]))), false),
    ] {
        let (validator, now) = (pki.validator(), UnixTime::now());
        let valid = validator.validate(&pki.chain(leaf), Purpose::ServerAuth, None, now);
        let is_valid = validator.is_valid_for_rustls(&valid.unwrap(), Purpose::ServerAuth, now);
        assert_eq!(is_valid, expected);
    }
    let refused = |subject: &str, number: u8| {
        Err(ValidationError::UnsupportedCriticalExtension {
            subject: Some(subject.into()),
            oid: Some(ObjectIdentifier::new_unwrap(&format!("2.5.29.{number}"))),
        })
    };
    for wrong in [
        &sequence(&[&own, &own]),
        &without_qualifiers,
        &qualified(1, &[0x30, 0]),
        &qualified(1, &[22, 1, 0x80]),
        &qualified(1, &[12, 1, b'a']),
        &qualified(2, &text),
        &notice(&[&[5, 0]]),
        &notice(&[&text, &reference]),
        &notice(&[&text, &text]),
        &notice(&[&reference, &reference]),
        &notice(&[&reference, &text, &text]),
        &notice(&[&[22, 0]]),
        &notice(&[&[22, 1, 0x80]]),
        &notice(&[&[26, 1, b'\n']]),
        &notice(&[&[30, 1, b'a']]),
        &notice(&[&[12, 1, 0xff]]),
        &notice(&[&[19, 1, b'a']]),
        &notice(&[&sequence(&[&text])]),
        &notice(&[&sequence(&[&text, &sequence(&[&text])])]),
        &notice(&[&sequence(&[&text, &sequence(&[&[2, 2, 0, 5]])])]),
        &qualified(3, &[22, 1, b'a']),
    ] {
        assert_eq!(
            with_policies(wrong),
            refused("example.org, 192.0.2.1", 32),
            "{wrong:x?}"
        );
    }

    // What a CA requires is not checked, so it is not taken for fulfilled.
    let constrained = |critical, has_policies: bool| {
        pki.altered_ca(|tbs| {
            let required = Value::<36>(sequence(&[&[0x80, 1, 0]]));
            tbs.set_extension(critical, &required).unwrap();
            if has_policies {
                policies(&both)(tbs);
            }
        })
    };
    for (critical, has_policies, expected) in [
        (true, false, refused("CN=CA", 36)),
        (false, false, Ok(3)),
        (false, true, refused("CN=CA", 32)),
    ] {
        let chain = [pki.leaf(), constrained(critical, has_policies)];
        assert_eq!(pki.validate(&chain), expected, "{critical} {has_policies}");
    }
    let chain = [pki.altered_leaf(policies(&both)), constrained(false, false)];
    assert_eq!(pki.validate(&chain), refused("example.org, 192.0.2.1", 32));
    // Where all policies will do, it makes no difference which of them anyPolicy stands for, or which are mapped.
    let ca_with = |number: u8, critical, value: &[u8], is_required| {
        let chain = [
            pki.leaf(),
            pki.altered_ca(|tbs| {
                match number {
                    33 => tbs.set_extension(critical, &Value::<33>(value.to_vec())),
                    _ => tbs.set_extension(critical, &Value::<54>(value.to_vec())),
                }
                .unwrap();
                if is_required {
                    let required = Value::<36>(sequence(&[&[0x80, 1, 0]]));
                    tbs.set_extension(false, &required).unwrap();
                }
            }),
        ];
        pki.validate(&chain)
    };
    for value in [&[2, 1, 0][..], &[2, 2, 0, 200]] {
        assert_eq!(ca_with(54, true, value, false), Ok(3), "{value:x?}");
    }
    for wrong in [&[2, 1, 0xff][..], &[2, 2, 0, 1], &[2, 0], &[4, 1, 0], &[]] {
        assert_eq!(
            ca_with(54, true, wrong, false),
            refused("CN=CA", 54),
            "{wrong:x?}"
        );
    }
    assert_eq!(ca_with(54, true, &[2, 1, 0], true), refused("CN=CA", 54));
    assert_eq!(ca_with(33, true, &own_to_own, true), refused("CN=CA", 33));
    for critical in [false, true] {
        assert_eq!(ca_with(33, critical, &own_to_own, false), Ok(3));
        // RFC 5280 section 6.1.4 (a)
        for wrong in [&own_to_any, &any_to_own, &vec![0x30, 0], &sequence(&[&own])] {
            let expected = match critical {
                true => refused("CN=CA", 33),
                false => Err(ValidationError::PolicyMappings {
                    subject: "CN=CA".into(),
                }),
            };
            assert_eq!(ca_with(33, critical, wrong, false), expected, "{wrong:x?}");
        }
    }

    // In a CA, in a root, and where names differ so that webpki finds no path.
    let ca = pki.altered_ca(policies(&both));
    assert_eq!(pki.validate(&[pki.leaf(), ca]), Ok(3));
    let root = pki.altered_root(policies(&both));
    let validator = ChainValidator::new([root]).unwrap();
    let chain = pki.chain(pki.leaf());
    assert_eq!(validate_with(&validator, "example.org", &chain), Ok(3));
    // Nobody signed what is shown to webpki.
    let leaf = pki.altered_leaf(policies(&both));
    let mut shown = leaf.der().to_vec();
    let critical = [6, 3, 0x55, 0x1d, 0x20, 1, 1, 0xff];
    let at = shown
        .windows(8)
        .position(|window| *window == critical)
        .unwrap();
    shown[at + 7] = 0;
    assert!(pki.validate(&pki.chain(leaf)).is_ok());
    if let Ok(shown) = Certificate::from_der(&shown) {
        assert!(pki.validate(&pki.chain(shown)).is_err());
    }
}

/// CAs that all name each other could be put together in millions of ways.
#[test]
fn chains_that_can_be_put_together_in_too_many_ways() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let twin = |_| {
        let ca = CertificateBuilder::ca("CA");
        let ca = Issuer::self_signed(ca, key()).unwrap();
        ca.certificate().clone()
    };
    let twins: Vec<_> = (0..8).map(twin).collect();
    let chain = |twins: &[Certificate]| [slice::from_ref(&leaf), twins].concat();
    assert_eq!(
        pki.validate(&chain(&twins)),
        Err(ValidationError::TooManyPaths { certificates: 8 })
    );
    // Even where the right one is among them.
    let mut with_right = chain(&twins);
    with_right.insert(1, pki.ca.certificate().clone());
    assert_eq!(
        pki.validate(&with_right),
        Err(ValidationError::TooManyPaths { certificates: 9 })
    );
    // Six cost little, and are searched.
    let mut few = chain(&twins[..5]);
    few.insert(1, pki.ca.certificate().clone());
    assert_eq!(pki.validate(&few), Ok(3));
    // A CA whose key was renewed often, and strangers' certificates, lead to few paths.
    let renewed = (0..8).map(|_| {
        let ca = pki.root.issue_ca(CertificateBuilder::ca("CA"), key());
        ca.unwrap().certificate().clone()
    });
    let stranger = twins[0].clone();
    let strangers = (0..300).map(|number| {
        let mut der = stranger.der().to_vec();
        for at in 0..der.len() - 1 {
            if der[at..].starts_with(b"CA") {
                der[at..at + 2]
                    .copy_from_slice(&[b'A' + number as u8 % 26, b'a' + (number / 26) as u8]);
            }
        }
        Certificate::from_der(&der).unwrap()
    });
    let mut many = vec![leaf.clone()];
    many.extend(renewed.chain(strangers));
    many.push(pki.ca.certificate().clone());
    assert_eq!(pki.validate(&many), Ok(3));
}
