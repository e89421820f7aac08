//! Revocation lists: their contents, and how they make chains invalid.

use core::time::Duration;
use std::time::SystemTime;

use const_oid::{AssociatedOid, ObjectIdentifier};
use der::asn1::{BitString, OctetString};
use der::{Decode, Encode};
use pq_x509::pki_types::{CertificateDer, ServerName, UnixTime};
use pq_x509::x509_cert::certificate::Version;
use pq_x509::x509_cert::crl::{CertificateList, TbsCertList};
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::crl::BaseCrlNumber;
use pq_x509::x509_cert::ext::pkix::{AuthorityKeyIdentifier, CrlNumber, KeyUsage};
use pq_x509::{
    Certificate, CertificateBuilder, CertificateRevocationList, CertificateRevocationListBuilder,
    ChainValidator, CrlReason, IssueError, Issuer, KeyUsageError, KeyUsages, PemError,
    RevocationListError, RevocationPolicy, SignatureAlgorithm, SignatureError, Signer, SigningKey,
    ValidationError, Validity, ValidityError, verification,
};
use webpki::{
    BorrowedCertRevocationList, CertRevocationList, EndEntityCert, RevocationOptionsBuilder,
};

use crate::pki::{
    Pki, days_from_now, key, quick_algorithms, server, set_usage, slow_algorithms, validate_with,
};

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
    let longer = [&first.der()[..], &[0]].concat();
    for bad in [&certificate.der()[..], &longer, &first.der()[1..], &[]] {
        assert!(matches!(
            CertificateRevocationList::from_der(bad),
            Err(RevocationListError::Der(_))
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
        assert!(matches!(error, RevocationListError::Der(_)), "{error}");
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
        text.contains("example.org") && text.contains("KeyCompromise"),
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

/// In whatever order the lists are given.
#[test]
fn the_newest_list_counts() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let chain = pki.chain(leaf.clone());
    let since = |days, revoked: &[&Certificate]| {
        let validity = Validity::new(days_from_now(days), days_from_now(9));
        let list = list_of(revoked).validity(validity);
        pki.ca.issue_revocation_list(list).unwrap()
    };
    let of_root = revoking(&pki.root, &[]);
    for (older, newer, expected) in [
        (since(-2, &[]), since(-1, &[&leaf]), Err(())),
        // A certificate that was on hold.
        (since(-2, &[&leaf]), since(-1, &[]), Ok(3)),
    ] {
        for lists in [[older.clone(), newer.clone()], [newer, older]] {
            let [one, two] = lists;
            let validator = with_lists(&pki, [one, two, of_root.clone()]);
            let result = validate_with(&validator, "example.org", &chain);
            assert_eq!(result.map_err(|_| ()), expected);
        }
    }
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
    let bare = |tbs: &mut TbsCertList| tbs.crl_extensions = None;
    for alter in [&delta as &dyn Fn(&mut TbsCertList), &endless, &bare] {
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
