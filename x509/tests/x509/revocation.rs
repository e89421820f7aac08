//! Revocation lists: their contents, and how they make chains invalid.

use core::time::Duration;
use std::time::SystemTime;

use const_oid::{AssociatedOid, ObjectIdentifier};
use der::asn1::{BitString, OctetString};
use der::{Decode, Encode};
use pq_x509::certificate::{
    Certificate, KeyUsageError, KeyUsages, SignatureError, Validity, ValidityError,
};
use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
use pq_x509::keys::encoding::pem::PemError;
use pq_x509::keys::encoding::syntax::SyntaxError;
use pq_x509::keys::{SignatureAlgorithm, Signer, SigningKey};
use pq_x509::pki_types::{CertificateDer, ServerName, UnixTime};
use pq_x509::revocation::{
    CertificateRevocationList, CertificateRevocationListBuilder, CrlReason, RevocationListError,
    RevocationPolicy,
};
use pq_x509::validation::{ChainValidator, ValidationError};
use pq_x509::verification;
use pq_x509::x509_cert::certificate::Version;
use pq_x509::x509_cert::crl::{CertificateList, TbsCertList};
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::crl::BaseCrlNumber;
use pq_x509::x509_cert::ext::pkix::{AuthorityKeyIdentifier, CrlNumber, KeyUsage};
use webpki::{
    BorrowedCertRevocationList, CertRevocationList, EndEntityCert, RevocationOptionsBuilder,
};

use crate::pki::{Pki, days_from_now, key, server, set_usage, validate_with};
use crate::quick::{quick_algorithms, slow_algorithms};

type Builder = CertificateRevocationListBuilder;

#[test]
fn a_list_says_what_a_list_says() {
    let validity = Validity::new(at(1_500_000_000), at(4_000_000_000));
    for algorithm in quick_algorithms() {
        let key = SigningKey::generate(algorithm).unwrap();
        let ca = Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap();
        let builder = Builder::new(&7_u64.to_be_bytes())
            .validity(validity)
            .revoke(&[0, 1], at(1_000_000_000), CrlReason::Unspecified)
            .revoke(&[0x80, 2], at(2_600_000_000), CrlReason::KeyCompromise);
        let list = ca.issue_revocation_list(builder).unwrap();

        assert_eq!(list.issuer(), ca.certificate().subject());
        assert_eq!(list.number(), Some(&[7][..]));
        assert_eq!(list.authority_key_id(), ca.certificate().subject_key_id());
        assert_eq!(list.this_update().as_secs(), 1_500_000_000);
        let next_update = list.next_update().map(|time| time.as_secs());
        assert_eq!(next_update, Some(4_000_000_000));
        let entries: Vec<_> = (list.entries().iter())
            .map(|entry| {
                (
                    entry.serial_number(),
                    entry.date().as_secs(),
                    entry.reason(),
                )
            })
            .collect();
        let expected: [(&[u8], _, _); 2] = [
            (&[1], 1_000_000_000, CrlReason::Unspecified),
            (&[0, 0x80, 2], 2_600_000_000, CrlReason::KeyCompromise),
        ];
        assert_eq!(entries, expected);

        let parsed: CertificateList = CertificateList::from_der(list.der()).unwrap();
        let tbs = &parsed.tbs_cert_list;
        assert_eq!(tbs.version, Version::V2);
        for identifier in [&tbs.signature, &parsed.signature_algorithm] {
            assert_eq!(identifier.oid, algorithm.oid());
            assert_eq!(identifier.parameters, None);
        }
        let extensions = tbs.crl_extensions.as_deref().unwrap();
        let kinds: Vec<_> = extensions.iter().map(|e| (e.extn_id, e.critical)).collect();
        assert_eq!(
            kinds,
            [
                (AuthorityKeyIdentifier::OID, false),
                (CrlNumber::OID, false)
            ]
        );
        let [unspecified, compromised] = tbs.revoked_certificates.as_deref().unwrap() else {
            panic!("two entries");
        };
        assert_eq!(unspecified.crl_entry_extensions, None);
        // UTCTime through 2049, GeneralizedTime from 2050.
        assert_eq!(unspecified.revocation_date.to_der().unwrap()[0], 0x17);
        assert_eq!(compromised.revocation_date.to_der().unwrap()[0], 0x18);
        let reason = &compromised.crl_entry_extensions.as_deref().unwrap()[0];
        assert_eq!(reason.extn_value.as_bytes(), [0x0a, 1, 1]);

        verify(&list, &ca).unwrap();
    }
}

#[test]
fn lists_of_the_slow_sets() {
    let algorithm = slow_algorithms().next().unwrap();
    let key = SigningKey::generate(algorithm).unwrap();
    let ca = Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap();
    verify(&ca.issue_revocation_list(Builder::new(&[1])).unwrap(), &ca).unwrap();
}

#[test]
fn a_list_of_nothing() {
    let ca = Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap();
    let list = ca.issue_revocation_list(Builder::new(&[0])).unwrap();
    assert!(list.entries().is_empty());
    assert_eq!(list.number(), Some(&[0][..]));
    let parsed: CertificateList = CertificateList::from_der(list.der()).unwrap();
    assert_eq!(parsed.tbs_cert_list.revoked_certificates, None);
    let week = Duration::from_secs(7 * 24 * 60 * 60 + 60 * 60);
    let ends = list.next_update().unwrap().as_secs() - list.this_update().as_secs();
    assert_eq!(ends, week.as_secs());
}

#[test]
fn pem_and_der() {
    let pki = Pki::new();
    let lists = [&pki.root, &pki.ca].map(|ca| revoking(ca, &[]));
    let text = pki.ca.certificate().to_pem() + &lists[0].to_pem() + &lists[1].to_pem();
    assert_eq!(
        CertificateRevocationList::all_from_pem(&text),
        Ok(lists.to_vec())
    );
    let first = CertificateRevocationList::from_pem(&text).unwrap();
    assert_eq!(first, lists[0]);
    assert_eq!(first.clone().into_der(), *first.der());
    assert_eq!(first.as_ref(), &first.der()[..]);

    let certificate = pki.ca.certificate();
    assert_eq!(
        CertificateRevocationList::from_pem(&certificate.to_pem()),
        Err(RevocationListError::Pem(PemError::Missing {
            label: "X509 CRL",
            found: vec!["CERTIFICATE".into()],
        }))
    );
    let file = [b"Schl\xfcssel\n", text.as_bytes()].concat();
    assert_eq!(CertificateRevocationList::all_in(&file), Ok(lists.to_vec()));
    let one = CertificateRevocationList::all_in(first.der());
    assert_eq!(one, Ok(vec![first.clone()]));
    assert_eq!(
        Certificate::chain_in(&file).unwrap(),
        Certificate::chain_in(certificate.der()).unwrap()
    );
    let longer = [&first.der()[..], &[0]].concat();
    for bad in [&certificate.der()[..], &longer, &first.der()[1..], &[]] {
        assert!(matches!(
            CertificateRevocationList::from_der(bad),
            Err(RevocationListError::Der(_) | RevocationListError::Syntax(SyntaxError::Form { .. }))
        ));
    }
}

#[test]
fn lists_that_are_not_read() {
    let ca = Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap();
    let read = |alter: &dyn Fn(&mut TbsCertList)| altered(&ca, alter);

    assert!(read(&|_| {}).is_ok());
    let repeated = |tbs: &mut TbsCertList| {
        let extensions = tbs.crl_extensions.as_mut().unwrap();
        extensions.push(extensions[1].clone());
    };
    // A negative number, and an empty value instead of the key identifier.
    let number = |tbs: &mut TbsCertList| set_contents(tbs, CrlNumber::OID, &[2, 1, 0xff]);
    let key_id = |tbs: &mut TbsCertList| set_contents(tbs, AuthorityKeyIdentifier::OID, &[]);
    // An extension that nothing here reads.
    let unknown = |tbs: &mut TbsCertList| {
        let extension = Extension {
            extn_id: ObjectIdentifier::new_unwrap("1.2.3.4"),
            critical: false,
            extn_value: OctetString::new([5, 0]).unwrap(),
        };
        let extensions = tbs.crl_extensions.as_mut().unwrap();
        extensions.extend([extension.clone(), extension]);
    };
    for (alter, kind) in [
        (&repeated as &dyn Fn(&mut TbsCertList), CrlNumber::OID),
        (&unknown, ObjectIdentifier::new_unwrap("1.2.3.4")),
    ] {
        assert_eq!(
            read(alter),
            Err(RevocationListError::RepeatedExtension(kind))
        );
    }
    for alter in [&number as &dyn Fn(&mut TbsCertList), &key_id] {
        let error = read(alter).unwrap_err();
        let is_form =
            |error: &_| matches!(error, RevocationListError::Syntax(SyntaxError::Form { .. }));
        assert!(
            matches!(error, RevocationListError::Der(_)) || is_form(&error),
            "{error}"
        );
    }
    let list = revoking(&ca, &[]);
    let mut parsed: CertificateList = CertificateList::from_der(list.der()).unwrap();
    parsed.signature_algorithm.oid = SignatureAlgorithm::MlDsa87.oid();
    assert_eq!(
        CertificateRevocationList::from_der(&parsed.to_der().unwrap()),
        Err(RevocationListError::AlgorithmsDiffer {
            inner: SignatureAlgorithm::MlDsa44.oid(),
            outer: SignatureAlgorithm::MlDsa87.oid(),
        })
    );
}

#[test]
fn signatures_of_lists() {
    let pki = Pki::new();
    let list = revoking(&pki.ca, &[]);
    assert_eq!(verify(&list, &pki.ca), Ok(()));
    assert_eq!(verify(&list, &pki.root), Err(SignatureError::Invalid));
    // The algorithms of this crate are always included.
    for others in [&[][..], &[verification::ML_DSA_65]] {
        let verified = list.verify_signature(pki.ca.certificate(), others);
        assert_eq!(verified, Ok(()));
    }
    let other = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let other = Issuer::self_signed(CertificateBuilder::ca("CA"), other).unwrap();
    assert_eq!(
        verify(&list, &other),
        Err(SignatureError::AlgorithmMismatch {
            signature: SignatureAlgorithm::MlDsa44.oid(),
            key: SignatureAlgorithm::MlDsa65.oid(),
        })
    );
    let mut der = list.der().to_vec();
    // A change in the name of the issuer.
    let name = der.windows(2).position(|bytes| bytes == b"CA").unwrap();
    der[name] ^= 1;
    let altered = CertificateRevocationList::from_der(&der).unwrap();
    assert_eq!(verify(&altered, &pki.ca), Err(SignatureError::Invalid));
}

#[test]
fn lists_that_are_not_issued() {
    let ca = Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap();
    let refused = |builder| ca.issue_revocation_list(builder).unwrap_err();
    let now = SystemTime::now();

    for number in [&[][..], &[0x80; 20], &[1; 21]] {
        let error = refused(Builder::new(number));
        assert!(
            matches!(error, IssueError::ListNumber),
            "{number:?} {error:?}"
        );
    }
    assert!(ca.issue_revocation_list(Builder::new(&[0x7f; 20])).is_ok());

    let list = Builder::new(&[1]);
    let reason = CrlReason::Superseded;
    for serial in [&[][..], &[0], &[0x80; 20]] {
        let error = refused(list.clone().revoke(serial, now, reason));
        assert!(matches!(error, IssueError::SerialNumber), "{error:?}");
    }
    let twice = list.clone().revoke(&[5], now, reason);
    assert!(matches!(
        refused(twice.revoke(&[0, 5], now, CrlReason::KeyCompromise)),
        IssueError::RevokedTwice(serial) if serial == "05"
    ));
    assert!(matches!(
        refused(list.clone().revoke(&[5], now, CrlReason::RemoveFromCRL)),
        IssueError::RemoveFromCompleteList
    ));
    let before_1970 = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
    assert!(matches!(
        refused(list.clone().revoke(&[5], before_1970, reason)),
        IssueError::Validity(ValidityError::OutOfRange)
    ));
    assert!(matches!(
        refused(list.clone().validity(Validity::new(now, at(0)))),
        IssueError::Validity(ValidityError::EndsBeforeItStarts)
    ));

    let certificates_only = CertificateBuilder::ca("Root").key_usage(KeyUsages::KeyCertSign);
    let ca = Issuer::self_signed(certificates_only, key()).unwrap();
    assert!(matches!(
        ca.issue_revocation_list(list).unwrap_err(),
        IssueError::KeyUsage(KeyUsageError::CaWithoutCrlSign)
    ));
}

#[test]
fn revoked_certificates_are_refused() {
    let pki = Pki::new();
    let [good, bad] = [pki.leaf(), pki.leaf()];
    let [good_chain, bad_chain] = [&good, &bad].map(|leaf| pki.chain(leaf.clone()));
    let of_root = revoking(&pki.root, &[]);
    let of_ca = revoking(&pki.ca, &[&bad]);
    let validator = with_lists(&pki, [of_root.clone(), of_ca.clone()]);

    assert_eq!(validate_with(&validator, "example.org", &good_chain), Ok(3));
    let error = validate_with(&validator, "example.org", &bad_chain).unwrap_err();
    let entry = of_ca.entry_for(&bad).unwrap();
    assert_eq!(entry.reason(), CrlReason::KeyCompromise);
    assert_eq!(of_ca.entry_for(&good), None);
    assert_eq!(of_root.entry_for(&bad), None);
    assert_eq!(error, revoked(&bad, &of_ca));
    let text = error.to_string();
    assert!(
        text.contains("example.org") && text.contains("(keyCompromise)"),
        "{text}"
    );

    // The intermediate is revoked, and so all that it issued.
    let of_root = revoking(&pki.root, &[pki.ca.certificate()]);
    let policy = RevocationPolicy::new([of_root.clone(), of_ca]).unwrap();
    let validator = pki.validator().with_revocation(policy.clone());
    assert_eq!(
        validate_with(&validator, "example.org", &good_chain),
        Err(revoked(pki.ca.certificate(), &of_root))
    );
    let validator = pki.validator().with_revocation(policy.end_entity_only());
    assert_eq!(validate_with(&validator, "example.org", &good_chain), Ok(3));
    assert!(validate_with(&validator, "example.org", &bad_chain).is_err());

    // The same holds for clients.
    let client = pki.issue(CertificateBuilder::client().common_name("someone"));
    let validator = with_lists(
        &pki,
        [revoking(&pki.root, &[]), revoking(&pki.ca, &[&client])],
    );
    assert!(matches!(
        validator.validate_client(&pki.chain(client), UnixTime::now()),
        Err(ValidationError::Revoked { subject, .. }) if subject.as_deref() == Some("CN=someone")
    ));
}

/// A list also covers certificates that name the list's URL.
#[test]
fn certificates_with_the_url_of_their_list() {
    let pki = Pki::new();
    let with_url = || pki.issue(server().revocation_list_url("http://ca.example/ca.crl"));
    let [good, bad] = [with_url(), with_url()];
    let of_ca = revoking(&pki.ca, &[&bad]);
    let validator = with_lists(&pki, [revoking(&pki.root, &[]), of_ca.clone()]);
    let validate = |leaf: &Certificate| {
        let chain = pki.chain(leaf.clone());
        validate_with(&validator, "example.org", &chain)
    };
    assert_eq!(validate(&good), Ok(3));
    assert_eq!(validate(&bad), Err(revoked(&bad, &of_ca)));
}

/// With webpki alone, and a borrowed list.
#[test]
fn revoked_certificates_are_refused_by_webpki() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let anchors = [webpki::anchor_from_trusted_cert(pki.root.certificate().der()).unwrap()];
    let end_entity = EndEntityCert::try_from(leaf.der()).unwrap();
    let verify = |list: &CertificateRevocationList| {
        let list: CertRevocationList<'_> = BorrowedCertRevocationList::from_der(list.der())
            .unwrap()
            .into();
        let lists = [&list];
        let options = RevocationOptionsBuilder::new(&lists)
            .unwrap()
            .with_depth(webpki::RevocationCheckDepth::EndEntity)
            .build();
        let intermediates: [CertificateDer<'_>; 1] = [pki.ca.certificate().der().clone()];
        end_entity
            .verify_for_usage(
                verification::ALL,
                &anchors,
                &intermediates,
                UnixTime::now(),
                webpki::KeyUsage::server_auth(),
                Some(options),
                None,
            )
            .map(|_| ())
    };
    assert_eq!(verify(&revoking(&pki.ca, &[])), Ok(()));
    assert_eq!(
        verify(&revoking(&pki.ca, &[&leaf])),
        Err(webpki::Error::CertRevoked)
    );
}

#[test]
fn certificates_that_no_list_covers() {
    let pki = Pki::new();
    let chain = pki.chain(pki.leaf());
    for (list, subject) in [
        (revoking(&pki.root, &[]), "example.org, 192.0.2.1"),
        (revoking(&pki.ca, &[]), "CN=CA"),
    ] {
        let policy = RevocationPolicy::new([list]).unwrap();
        let validate = |policy| {
            let validator = pki.validator().with_revocation(policy);
            validate_with(&validator, "example.org", &chain)
        };
        assert_eq!(
            validate(policy.clone()),
            Err(ValidationError::UnknownRevocationStatus {
                subject: Some(subject.into())
            })
        );
        assert_eq!(validate(policy.allow_unknown_status()), Ok(3));
    }
    assert!(matches!(
        RevocationPolicy::new([]),
        Err(ValidationError::NoRevocationLists)
    ));
}

#[test]
fn lists_expire() {
    let pki = Pki::new();
    let chain = pki.chain(pki.leaf());
    let validity = Validity::new(days_from_now(-2), days_from_now(2));
    let list = |ca: &Issuer<_>| {
        ca.issue_revocation_list(Builder::new(&[1]).validity(validity))
            .unwrap()
    };
    let of_ca = list(&pki.ca);
    let next_update = of_ca.next_update().unwrap();
    let policy = RevocationPolicy::new([revoking(&pki.root, &[]), of_ca]).unwrap();
    let validate = |policy: &RevocationPolicy, time| {
        let validator = pki.validator().with_revocation(policy.clone());
        let name = ServerName::try_from("example.org").unwrap();
        let path = validator.validate_server(&chain, &name, time)?;
        Ok(path.certificates().len())
    };
    let last = UnixTime::since_unix_epoch(Duration::from_secs(next_update.as_secs() - 1));
    assert_eq!(validate(&policy, last), Ok(3));
    assert_eq!(
        validate(&policy, next_update),
        Err(ValidationError::RevocationListExpired {
            issuer: Some("CN=CA".into()),
            next_update,
            time: next_update,
        })
    );
    assert_eq!(validate(&policy.allow_expired_lists(), next_update), Ok(3));
}

/// What lists of one CA come to, each with a number, the days from now of its thisUpdate and nextUpdate, and whether it
/// revokes the leaf; in every order.
#[test]
fn what_several_lists_come_to() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let chain = pki.chain(leaf.clone());
    let now = SystemTime::now();
    let day = |days: i32| {
        let shift = Duration::from_secs(u64::from(days.unsigned_abs()) * 24 * 60 * 60);
        if days < 0 { now - shift } else { now + shift }
    };
    let list = |&(number, from, to, is_revoked): &(u8, i32, i32, bool)| {
        let builder = Builder::new(&[number]).validity(Validity::new(day(from), day(to)));
        let builder = match is_revoked {
            true => builder.revoke(leaf.serial_number(), day(-9), CrlReason::Superseded),
            false => builder,
        };
        pki.ca.issue_revocation_list(builder).unwrap()
    };
    for (lists, expected) in [
        // The newer one counts; the certificate may have been on hold.
        (vec![(1, -2, 9, false), (2, -1, 9, true)], "revoked"),
        (vec![(1, -2, 9, true), (2, -1, 9, false)], "good"),
        (vec![(9, -2, 9, true), (10, -1, 9, false)], "good"),
        // Number and time contradict each other, or one of them is the same.
        (vec![(2, -2, 9, true), (1, -1, 9, false)], "revoked"),
        (vec![(2, -2, 9, false), (1, -1, 9, true)], "revoked"),
        (vec![(1, -2, 9, true), (1, -1, 9, false)], "revoked"),
        (vec![(1, -1, 9, true), (2, -1, 9, false)], "revoked"),
        (vec![(1, -1, 9, true), (1, -1, 9, false)], "revoked"),
        // The third one takes back what the second one doesn't.
        (
            vec![(2, -3, 9, true), (1, -2, 9, false), (3, -1, 9, false)],
            "good",
        ),
        // A list that is not yet valid says nothing good, and hides nothing.
        (vec![(1, -1, 9, true), (2, 1, 9, false)], "revoked"),
        (vec![(1, -1, 9, false), (2, 1, 9, false)], "good"),
        (vec![(2, 1, 9, false)], "not yet valid"),
        // but may say that the certificate was revoked by now.
        (vec![(1, -1, 9, false), (2, 1, 9, true)], "revoked"),
        // An expired list says nothing good, either, and revokes until a newer one says good.
        (vec![(1, -3, -2, false)], "expired"),
        (vec![(1, -3, -2, true)], "revoked"),
        (vec![(1, -3, -2, true), (2, -1, 9, false)], "good"),
        (vec![(2, -3, -2, true), (1, -1, 9, false)], "revoked"),
        (vec![(2, -2, -1, true), (1, -3, 9, false)], "revoked"),
        (vec![(1, -4, -3, true), (2, -3, -2, false)], "revoked"),
        (vec![(1, -3, -2, false), (2, 1, 9, false)], "not yet valid"),
    ] {
        for turn in 0..lists.len() {
            let mut made: Vec<_> = lists.iter().map(list).collect();
            made.rotate_left(turn);
            for made in [made.clone(), made.into_iter().rev().collect()] {
                let policy = RevocationPolicy::new(made).unwrap().end_entity_only();
                let validator = pki.validator().with_revocation(policy);
                let said = match validate_with(&validator, "example.org", &chain) {
                    Ok(_) => "good",
                    Err(ValidationError::Revoked { .. }) => "revoked",
                    Err(ValidationError::RevocationListExpired { .. }) => "expired",
                    Err(ValidationError::RevocationListNotYetValid { .. }) => "not yet valid",
                    Err(error) => panic!("{error}"),
                };
                assert_eq!(said, expected, "{lists:?}");
            }
        }
    }
}

/// As numbers, not as bytes: 256 comes after 255.
#[test]
fn numbers_of_lists_are_compared() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let list = |number: &[u8], from, revoked: &[&Certificate]| {
        let list = revoked.iter().fold(Builder::new(number), |list, one| {
            list.revoke(
                one.serial_number(),
                days_from_now(-9),
                CrlReason::Superseded,
            )
        });
        let validity = Validity::new(days_from_now(from), days_from_now(9));
        pki.ca
            .issue_revocation_list(list.validity(validity))
            .unwrap()
    };
    for (older, newer, is_good) in [
        (&[255][..], &[1, 0][..], true),
        (&[1, 0], &[255], false),
        (&[0, 0, 7], &[8], true),
    ] {
        let policy = RevocationPolicy::new([list(older, -2, &[&leaf]), list(newer, -1, &[])]);
        let validator = pki
            .validator()
            .with_revocation(policy.unwrap().end_entity_only());
        let result = validate_with(&validator, "example.org", &pki.chain(leaf.clone()));
        assert_eq!(result.is_ok(), is_good, "{older:?} {newer:?}");
    }
}

/// A revocation that is dated after the time validated for counts once it is on a list that is valid; before, it
/// is not yet true.
#[test]
fn revocations_to_come() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let list = |number, days, revoked: Option<i32>| {
        let list =
            Builder::new(&[number]).validity(Validity::new(days_from_now(days), days_from_now(9)));
        let list = match revoked {
            Some(date) => list.revoke(
                leaf.serial_number(),
                days_from_now(date),
                CrlReason::Superseded,
            ),
            None => list,
        };
        pki.ca.issue_revocation_list(list).unwrap()
    };
    for (later, is_good) in [
        (list(2, 2, Some(1)), true),
        (list(2, 2, Some(-1)), false),
        (list(2, -1, Some(1)), false),
    ] {
        let policy = RevocationPolicy::new([list(1, -2, None), later]).unwrap();
        let validator = pki.validator().with_revocation(policy.end_entity_only());
        let result = validate_with(&validator, "example.org", &pki.chain(leaf.clone()));
        assert_eq!(result.is_ok(), is_good);
    }
}

/// Every rollover: two keys under one name, each with a list.
#[test]
fn a_ca_with_two_keys() {
    let pki = Pki::new();
    let other = pki
        .root
        .issue_ca(CertificateBuilder::ca("CA"), key())
        .unwrap();
    let leaves =
        [&pki.ca, &other].map(|ca| [(); 2].map(|()| ca.issue(server(), &pki.leaf_key).unwrap()));
    let since = |ca: &Issuer<_>, days, revoked: &[&Certificate]| {
        let validity = Validity::new(days_from_now(days), days_from_now(9));
        let list = list_of(revoked).validity(validity);
        ca.issue_revocation_list(list).unwrap()
    };
    for days in [[-1, -2], [-2, -1], [-1, -1]] {
        let lists = [
            since(&pki.ca, days[0], &[&leaves[0][1]]),
            since(&other, days[1], &[&leaves[1][1]]),
            revoking(&pki.root, &[]),
        ];
        let validator = with_lists(&pki, lists);
        for (ca, [good, bad]) in [&pki.ca, &other].into_iter().zip(&leaves) {
            let chain = |leaf: &Certificate| [leaf.clone(), ca.certificate().clone()];
            for _ in 0..2 {
                let validated = validate_with(&validator, "example.org", &chain(good));
                assert_eq!(validated, Ok(3));
                assert!(matches!(
                    validate_with(&validator, "example.org", &chain(bad)),
                    Err(ValidationError::Revoked { .. })
                ));
            }
        }
    }
}

/// A stranger's list with the CA's name neither says anything nor keeps the CA's own from being heard.
#[test]
fn lists_of_strangers() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let chain = pki.chain(leaf.clone());
    let stranger = Issuer::self_signed(CertificateBuilder::ca("CA"), key()).unwrap();
    let later = Validity::new(days_from_now(0), days_from_now(9));
    let forged = |revoked: &[&Certificate], is_named: bool| {
        let list = Builder::new(&[99]).validity(later);
        let list = revoked.iter().fold(list, |list, one| {
            list.revoke(
                one.serial_number(),
                days_from_now(-1),
                CrlReason::Superseded,
            )
        });
        let list = stranger.issue_revocation_list(list).unwrap();
        let mut list: CertificateList = CertificateList::from_der(list.der()).unwrap();
        let extensions = list.tbs_cert_list.crl_extensions.as_mut().unwrap();
        if !is_named {
            // It doesn't say that another key signed.
            extensions.retain(|e| e.extn_id != AuthorityKeyIdentifier::OID);
        }
        let body = list.tbs_cert_list.to_der().unwrap();
        let signature = Signer::sign(stranger.signer(), &body).unwrap();
        list.signature = BitString::from_bytes(&signature).unwrap();
        CertificateRevocationList::from_der(&list.to_der().unwrap()).unwrap()
    };
    let policy = |lists: Vec<_>| RevocationPolicy::new(lists).unwrap().end_entity_only();
    let validate = |policy| {
        let validator = pki.validator().with_revocation(policy);
        validate_with(&validator, "example.org", &chain)
    };
    let invalid = || {
        Err(ValidationError::RevocationListSignature(
            SignatureError::Invalid,
        ))
    };
    for is_named in [true, false] {
        let strange = forged(&[&leaf], is_named);
        // However many there are.
        let mut lists = vec![strange; 7];
        lists.push(revoking(&pki.ca, &[]));
        assert_eq!(validate(policy(lists)), Ok(3));
        let lists = vec![forged(&[], is_named), revoking(&pki.ca, &[&leaf])];
        assert!(matches!(
            validate(policy(lists)),
            Err(ValidationError::Revoked { .. })
        ));
        // On its own it says nothing.
        let alone = || policy(vec![forged(&[], is_named)]);
        assert_eq!(validate(alone()), invalid());
        // Where the status may be unknown, only a list that claims to be by this key is a reason to refuse.
        let lenient = validate(alone().allow_unknown_status());
        assert_eq!(lenient, if is_named { Ok(3) } else { invalid() });
    }
}

/// A list by this key that names another one, with the identifier of nobody's.
fn naming_another_key(
    ca: &Issuer<SigningKey>,
    list: CertificateRevocationListBuilder,
) -> CertificateRevocationList {
    let list = ca.issue_revocation_list(list).unwrap();
    let mut list: CertificateList = CertificateList::from_der(list.der()).unwrap();
    let id = [&[0x30, 22, 0x80, 20][..], &[7; 20]].concat();
    set_contents(&mut list.tbs_cert_list, AuthorityKeyIdentifier::OID, &id);
    let body = list.tbs_cert_list.to_der().unwrap();
    let signature = Signer::sign(ca.signer(), &body).unwrap();
    list.signature = BitString::from_bytes(&signature).unwrap();
    CertificateRevocationList::from_der(&list.to_der().unwrap()).unwrap()
}

/// A CA may give its key another identifier than the one in the certificate that is on the path.
#[test]
fn a_list_that_names_another_identifier_of_the_key() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    for (revoked, is_good) in [(&[][..], true), (&[&leaf], false)] {
        let list = naming_another_key(&pki.ca, list_of(revoked));
        let validator = with_lists(&pki, [list, revoking(&pki.root, &[])]);
        let result = validate_with(&validator, "example.org", &pki.chain(leaf.clone()));
        assert_eq!(result.is_ok(), is_good);
    }
}

/// Which key a list names is a hint: it never keeps a revocation from counting, and takes none back.
#[test]
fn a_list_revokes_whatever_key_it_names() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let stranger = Issuer::self_signed(CertificateBuilder::ca("CA"), key()).unwrap();
    // Whether the list names its key; its number, thisUpdate and nextUpdate; and whether it revokes.
    let list = |&(is_named, number, from, to, is_revoked): &(bool, u8, i32, i32, bool)| {
        let list = Builder::new(&[number]);
        let list = list.validity(Validity::new(days_from_now(from), days_from_now(to)));
        let list = match is_revoked {
            true => list.revoke(
                leaf.serial_number(),
                days_from_now(-9),
                CrlReason::Superseded,
            ),
            false => list,
        };
        match is_named {
            true => pki.ca.issue_revocation_list(list).unwrap(),
            false => naming_another_key(&pki.ca, list),
        }
    };
    for (lists, expected) in [
        (
            vec![(true, 1, -4, 3, false), (false, 2, -1, 6, true)],
            "revoked",
        ),
        (
            vec![(true, 1, -4, 3, false), (false, 2, -3, -1, true)],
            "revoked",
        ),
        // One that names its key takes it back, as ever.
        (
            vec![(true, 2, -1, 3, false), (false, 1, -4, 6, true)],
            "good",
        ),
        // But it takes back nothing that such a list says,
        (
            vec![(true, 1, -4, 3, true), (false, 2, -1, 6, false)],
            "revoked",
        ),
        (
            vec![(true, 1, -4, -3, true), (false, 2, -1, 6, false)],
            "revoked",
        ),
        // only what one of its kind says, with another list or without.
        (
            vec![(false, 2, -3, 3, true), (false, 3, -1, 6, false)],
            "good",
        ),
        (
            vec![
                (true, 1, -4, 3, false),
                (false, 2, -3, 3, true),
                (false, 3, -1, 6, false),
            ],
            "good",
        ),
        // Where no other says good, it counts.
        (
            vec![(true, 1, -4, -3, false), (false, 2, -1, 6, false)],
            "good",
        ),
        (vec![(true, 1, -4, -3, false)], "refused"),
    ] {
        for turn in 0..lists.len() {
            let mut made: Vec<_> = lists.iter().map(list).collect();
            made.rotate_left(turn);
            // A stranger's list changes nothing.
            made.push(revoking(&stranger, &[&leaf]));
            let policy = RevocationPolicy::new(made).unwrap().end_entity_only();
            let validator = pki.validator().with_revocation(policy);
            let said = match validate_with(&validator, "example.org", &pki.chain(leaf.clone())) {
                Ok(_) => "good",
                Err(ValidationError::Revoked { .. }) => "revoked",
                Err(ValidationError::RevocationListExpired { .. }) => "refused",
                Err(error) => panic!("{error}"),
            };
            assert_eq!(said, expected, "{lists:?}");
        }
    }
}

/// If an algorithm is missing here, nobody knows that a list is by another key.
#[test]
fn lists_that_nobody_can_verify() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let builder = |&(number, from, to, is_revoked): &(u8, i32, i32, bool)| {
        let list = Builder::new(&[number]);
        let list = list.validity(Validity::new(days_from_now(from), days_from_now(to)));
        let number = match is_revoked {
            true => leaf.serial_number(),
            false => &[0x7f],
        };
        list.revoke(number, days_from_now(-9), CrlReason::Superseded)
    };
    let sound = |list: &(u8, i32, i32, bool)| pki.ca.issue_revocation_list(builder(list)).unwrap();
    let unnamed = |list: CertificateRevocationList| {
        let mut list: CertificateList = CertificateList::from_der(list.der()).unwrap();
        let extensions = list.tbs_cert_list.crl_extensions.as_mut().unwrap();
        extensions.retain(|e| e.extn_id != AuthorityKeyIdentifier::OID);
        CertificateRevocationList::from_der(&list.to_der().unwrap()).unwrap()
    };
    let verdict = |lists: Vec<CertificateRevocationList>, allow_unknown: bool| {
        let policy = RevocationPolicy::new(lists).unwrap().end_entity_only();
        let policy = match allow_unknown {
            true => policy.allow_unknown_status(),
            false => policy,
        };
        let validator = pki.validator().with_revocation(policy);
        match validate_with(&validator, "example.org", &pki.chain(leaf.clone())) {
            Ok(_) => "good",
            Err(ValidationError::Revoked { .. }) => "revoked",
            Err(ValidationError::RevocationListSignature(
                SignatureError::UnsupportedAlgorithm(_) | SignatureError::AlgorithmMismatch { .. },
            )) => "not verified",
            Err(error) => panic!("{error}"),
        }
    };
    // One that nobody knows, and one of other keys.
    for oid in [
        ObjectIdentifier::new_unwrap("1.2.3.4"),
        SignatureAlgorithm::MlDsa87.oid(),
    ] {
        let strange = |list: CertificateRevocationList| {
            let mut list: CertificateList = CertificateList::from_der(list.der()).unwrap();
            list.tbs_cert_list.signature.oid = oid;
            list.signature_algorithm.oid = oid;
            CertificateRevocationList::from_der(&list.to_der().unwrap()).unwrap()
        };
        // A list that can't be verified, beside one that can.
        for (one, other, expected) in [
            ((2, -1, 9, true), (1, -3, 9, false), "not verified"),
            ((2, -2, -1, true), (1, -3, 9, false), "not verified"),
            // It is not yet valid, and says that the certificate was revoked by now.
            ((2, 1, 9, true), (1, -3, 9, false), "not verified"),
            // It is taken back, or numbers and times contradict each other.
            ((1, -3, 9, true), (2, -1, 9, false), "good"),
            ((2, -3, 9, true), (1, -1, 9, false), "not verified"),
            // A revocation says more.
            ((1, -1, 9, true), (2, -3, 9, true), "revoked"),
            ((2, -1, 9, false), (1, -3, 9, false), "good"),
        ] {
            let other = sound(&other);
            let of_this_key = strange(sound(&one));
            let of_any_key = strange(unnamed(sound(&one)));
            let of_another = strange(naming_another_key(&pki.ca, builder(&one)));
            let without = match expected {
                "not verified" => "good",
                expected => expected,
            };
            for (list, expected) in [
                (of_this_key, expected),
                (of_any_key, expected),
                (of_another, without),
            ] {
                for lists in [vec![list.clone(), other.clone()], vec![other.clone(), list]] {
                    for allow_unknown in [false, true] {
                        let said = verdict(lists.clone(), allow_unknown);
                        assert_eq!(said, expected, "{one:?}");
                    }
                }
            }
        }
        let alone = strange(sound(&(1, -1, 9, true)));
        assert_eq!(verdict(vec![alone], true), "not verified");
    }
}

/// What a validator remembers about a list must not be taken for a verdict about another one in its place.
#[test]
fn another_policy_begins_anew() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let chain = pki.chain(leaf.clone());
    let policy = |list| RevocationPolicy::new([list]).unwrap().end_entity_only();
    let mut forged = revoking(&pki.ca, &[]).der().to_vec();
    *forged.last_mut().unwrap() ^= 1;
    let forged = CertificateRevocationList::from_der(&forged).unwrap();
    let validator = pki
        .validator()
        .with_revocation(policy(revoking(&pki.ca, &[&leaf])));
    let validate = |validator: &ChainValidator| validate_with(validator, "example.org", &chain);
    assert!(matches!(
        validate(&validator),
        Err(ValidationError::Revoked { .. })
    ));
    let again = validator.with_revocation(policy(forged));
    assert_eq!(
        validate(&again),
        Err(ValidationError::RevocationListSignature(
            SignatureError::Invalid
        ))
    );
    // And the other way round.
    let again = again.with_revocation(policy(revoking(&pki.ca, &[])));
    assert_eq!(validate(&again), Ok(3));
}

#[test]
fn lists_that_another_key_signed() {
    let pki = Pki::new();
    let chain = pki.chain(pki.leaf());
    let validate = |ca: &Issuer<SigningKey>| {
        let validator = with_lists(&pki, [revoking(&pki.root, &[]), revoking(ca, &[])]);
        validate_with(&validator, "example.org", &chain)
    };
    let named_alike =
        |algorithm| Issuer::self_signed(CertificateBuilder::ca("CA"), algorithm).unwrap();
    assert_eq!(
        validate(&named_alike(key())),
        Err(ValidationError::RevocationListSignature(
            SignatureError::Invalid
        ))
    );
    let other = SigningKey::generate(SignatureAlgorithm::MlDsa87).unwrap();
    assert_eq!(
        validate(&named_alike(other)),
        Err(ValidationError::RevocationListSignature(
            SignatureError::AlgorithmMismatch {
                signature: SignatureAlgorithm::MlDsa87.oid(),
                key: SignatureAlgorithm::MlDsa44.oid(),
            }
        ))
    );
}

/// A list does not count if its CA, an intermediate or a root, has a key usage that does not allow signing it.
#[test]
fn lists_by_whom_may_not_sign_them() {
    let pki = Pki::new();
    let lists = || [revoking(&pki.root, &[]), revoking(&pki.ca, &[])];
    let may_not = |subject: &str| {
        Err(ValidationError::KeyUsage {
            subject: subject.into(),
            error: KeyUsageError::CaWithoutCrlSign,
        })
    };
    let usage = KeyUsage(KeyUsages::KeyCertSign.into());

    let ca = pki.altered_ca(|tbs| set_usage(tbs, usage));
    let chain = [pki.leaf(), ca];
    let validator = with_lists(&pki, lists());
    assert_eq!(
        validate_with(&validator, "example.org", &chain),
        may_not("CN=CA")
    );

    let root = pki.altered_root(|tbs| set_usage(tbs, usage));
    let chain = pki.chain(pki.leaf());
    let policy = RevocationPolicy::new(lists()).unwrap();
    let validate = |policy| {
        let validator = ChainValidator::new([root.clone()]).unwrap();
        validate_with(&validator.with_revocation(policy), "example.org", &chain)
    };
    assert_eq!(validate(policy.clone()), may_not("CN=Root"));
    // Then the root's list isn't used.
    assert_eq!(validate(policy.end_entity_only()), Ok(3));
}

#[test]
fn lists_of_an_unsupported_kind() {
    let ca = Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap();
    let delta = |tbs: &mut TbsCertList| {
        let extension = Extension {
            extn_id: BaseCrlNumber::OID,
            critical: true,
            extn_value: OctetString::new([2, 1, 1]).unwrap(),
        };
        tbs.crl_extensions.as_mut().unwrap().push(extension);
    };
    let endless = |tbs: &mut TbsCertList| tbs.next_update = None;
    for alter in [&delta as &dyn Fn(&mut TbsCertList), &endless] {
        let list = altered(&ca, alter).unwrap();
        let error = RevocationPolicy::new([list]).unwrap_err();
        assert!(
            matches!(&error, ValidationError::UnusableRevocationList { issuer, .. } if issuer == "CN=Root"),
            "{error:?}"
        );
    }
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn list_of(revoked: &[&Certificate]) -> CertificateRevocationListBuilder {
    revoked
        .iter()
        .fold(Builder::new(&[1]), |list, certificate| {
            let reason = CrlReason::KeyCompromise;
            list.revoke(certificate.serial_number(), days_from_now(-1), reason)
        })
}

fn revoking(ca: &Issuer<SigningKey>, revoked: &[&Certificate]) -> CertificateRevocationList {
    ca.issue_revocation_list(list_of(revoked)).unwrap()
}

fn with_lists(
    pki: &Pki,
    lists: impl IntoIterator<Item = CertificateRevocationList>,
) -> ChainValidator {
    pki.validator()
        .with_revocation(RevocationPolicy::new(lists).unwrap())
}

fn verify(list: &CertificateRevocationList, ca: &Issuer<SigningKey>) -> Result<(), SignatureError> {
    list.verify_signature(ca.certificate(), verification::ALL)
}

fn revoked(certificate: &Certificate, list: &CertificateRevocationList) -> ValidationError {
    let subject = match certificate.subject().is_empty() {
        true => "example.org, 192.0.2.1".into(),
        false => certificate.subject().to_string(),
    };
    ValidationError::Revoked {
        subject: Some(subject),
        entry: list.entry_for(certificate).cloned(),
    }
}

/// An empty list, altered and signed again.
fn altered(
    ca: &Issuer<SigningKey>,
    alter: &dyn Fn(&mut TbsCertList),
) -> Result<CertificateRevocationList, RevocationListError> {
    let mut list: CertificateList = CertificateList::from_der(revoking(ca, &[]).der()).unwrap();
    alter(&mut list.tbs_cert_list);
    let signature = Signer::sign(ca.signer(), &list.tbs_cert_list.to_der().unwrap()).unwrap();
    list.signature = BitString::from_bytes(&signature).unwrap();
    CertificateRevocationList::from_der(&list.to_der().unwrap())
}

fn set_contents(tbs: &mut TbsCertList, oid: ObjectIdentifier, contents: &[u8]) {
    let extensions = tbs.crl_extensions.as_mut().unwrap();
    let extension = extensions.iter_mut().find(|e| e.extn_id == oid).unwrap();
    extension.extn_value = OctetString::new(contents).unwrap();
}
