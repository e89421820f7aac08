//! Revocation lists of version 1, with dates before 1970, that cover some certificates only, or of kinds
//! that can't be used; and how often one list is verified.

use core::time::Duration;
use std::time::SystemTime;

use const_oid::ObjectIdentifier;
use der::asn1::{Any, BitString, Ia5String, OctetString};
use der::flagset::FlagSet;
use der::{Decode, Encode, Sequence};
use pq_x509::certificate::{Certificate, SignatureError, Validity};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::revocation::{
    CertificateRevocationList, CertificateRevocationListBuilder, CrlReason, RevocationListError,
    RevocationPolicy, UnusableList,
};
use pq_x509::validation::{ChainValidator, ValidationError};
use pq_x509::x509_cert::certificate::Version;
use pq_x509::x509_cert::crl::{CertificateList, RevokedCert, TbsCertList};
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::CrlDistributionPoints;
use pq_x509::x509_cert::ext::pkix::crl::dp::{
    DistributionPoint, IssuingDistributionPoint, Reasons,
};
use pq_x509::x509_cert::ext::pkix::name::{DistributionPointName, GeneralName};
use pq_x509::x509_cert::name::{Name, RelativeDistinguishedName};
use pq_x509::x509_cert::time::Time;
use signers::P256Key;
use spki::AlgorithmIdentifierOwned;

use crate::classical::{Counting, ECDSA_P256_SHA256};
use crate::pki::{Pki, days_from_now, server, sign, validate_with};

type Builder = CertificateRevocationListBuilder;

/// The part of a list of these certificates that is to be signed.
fn body(ca: &Issuer<SigningKey>, revoked: &[&Certificate]) -> TbsCertList {
    let list = revoked
        .iter()
        .fold(Builder::new(&[1]), |list, certificate| {
            let reason = CrlReason::Unspecified;
            list.revoke(certificate.serial_number(), days_from_now(-1), reason)
        });
    let list = ca.issue_revocation_list(list).unwrap();
    let list: CertificateList = CertificateList::from_der(list.der()).unwrap();
    list.tbs_cert_list
}

fn read(
    ca: &Issuer<SigningKey>,
    body: &impl Encode,
) -> Result<CertificateRevocationList, RevocationListError> {
    CertificateRevocationList::from_der(&sign(&body.to_der().unwrap(), ca.signer()))
}

/// A TBSCertList without a version, which is version 1.
#[derive(Sequence)]
struct Version1 {
    signature: AlgorithmIdentifierOwned,
    issuer: Name,
    this_update: Time,
    next_update: Option<Time>,
    revoked_certificates: Option<Vec<RevokedCert>>,
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT", optional = "true")]
    extensions: Option<Vec<Extension>>,
}

impl From<TbsCertList> for Version1 {
    fn from(body: TbsCertList) -> Self {
        Self {
            signature: body.signature,
            issuer: body.issuer,
            this_update: body.this_update,
            next_update: body.next_update,
            revoked_certificates: body.revoked_certificates,
            extensions: None,
        }
    }
}

/// RFC 5280 section 5: whoever checks lists must accept those of version 1.
#[test]
fn lists_of_version_1() {
    let pki = Pki::new();
    let [good, bad] = [pki.leaf(), pki.leaf()];
    let of_root = read(&pki.root, &Version1::from(body(&pki.root, &[]))).unwrap();
    let of_ca = read(&pki.ca, &Version1::from(body(&pki.ca, &[&bad]))).unwrap();
    assert_eq!((of_ca.number(), of_ca.authority_key_id()), (None, None));
    assert_eq!(of_ca.issuer(), pki.ca.certificate().subject());
    assert!(of_ca.next_update().is_some());
    assert_eq!(of_ca.entries().len(), 1);
    assert_eq!(of_ca.verify_signature(pki.ca.certificate(), &[]), Ok(()));
    let algorithm = SignatureAlgorithm::MlDsa44.identifier();
    assert_eq!(*of_ca.signature_algorithm(), algorithm.into());
    // As the documentation says.
    assert!(webpki::BorrowedCertRevocationList::from_der(of_ca.der()).is_err());

    let policy = RevocationPolicy::new([of_root, of_ca.clone()]).unwrap();
    let validator = pki.validator().with_revocation(policy);
    let validate = |leaf| validate_with(&validator, "example.org", &pki.chain(leaf));
    assert_eq!(validate(good), Ok(3));
    let entry = of_ca.entry_for(&bad).cloned();
    assert!(entry.is_some());
    assert!(matches!(
        validate(bad.clone()),
        Err(ValidationError::Revoked { entry: of, .. }) if of == entry
    ));

    // Extensions need version 2, which is the only version that a list may state.
    let extension = || Some(vec![extension("2.5.29.21", false, &[0x0a, 1, 1])]);
    let mut with_extensions = Version1::from(body(&pki.ca, &[]));
    with_extensions.extensions = extension();
    let mut with_reason = Version1::from(body(&pki.ca, &[&bad]));
    with_reason.revoked_certificates.as_mut().unwrap()[0].crl_entry_extensions = extension();
    for odd in [with_extensions, with_reason] {
        let error = read(&pki.ca, &odd).unwrap_err();
        assert_eq!(error, RevocationListError::ExtensionsInVersion1);
    }
    for (version, number) in [(Version::V1, 1), (Version::V3, 3)] {
        let mut odd = body(&pki.ca, &[]);
        odd.version = version;
        assert_eq!(
            read(&pki.ca, &odd),
            Err(RevocationListError::Version(number))
        );
    }
    let mut endless = Version1::from(body(&pki.ca, &[]));
    endless.next_update = None;
    assert_eq!(
        unusable(read(&pki.ca, &endless).unwrap()),
        Some(UnusableList::NoNextUpdate)
    );
}

#[test]
fn lists_with_dates_before_1970() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    // 1980, 1990 and 2048.
    let validity = |to| Validity::new(at(315_532_800), at(to));
    let list = |validity, replaced: &[(&str, &str)]| {
        let reason = CrlReason::KeyCompromise;
        let list = Builder::new(&[1]).validity(validity).revoke(
            leaf.serial_number(),
            at(631_152_000),
            reason,
        );
        let list = pki.ca.issue_revocation_list(list).unwrap();
        let list: CertificateList = CertificateList::from_der(list.der()).unwrap();
        let mut body = list.tbs_cert_list.to_der().unwrap();
        for (from, to) in replaced {
            let at = body
                .windows(13)
                .position(|bytes| bytes == from.as_bytes())
                .unwrap();
            body[at..at + 13].copy_from_slice(to.as_bytes());
        }
        CertificateRevocationList::from_der(&sign(&body, pki.ca.signer())).unwrap()
    };
    let old = [
        ("800101000000Z", "500101000000Z"),
        ("900101000000Z", "691231235959Z"),
    ];
    let read = list(validity(2_461_449_600), &old);
    assert_eq!(read.this_update().as_secs(), 0);
    assert_eq!(read.entries()[0].date().as_secs(), 0);
    assert_eq!(read.verify_signature(pki.ca.certificate(), &[]), Ok(()));
    assert!(webpki::BorrowedCertRevocationList::from_der(read.der()).is_err());

    let verdict = |list, leaf| {
        let policy = RevocationPolicy::new([list]).unwrap().end_entity_only();
        let validator = pki.validator().with_revocation(policy);
        validate_with(&validator, "example.org", &pki.chain(leaf)).unwrap_err()
    };
    assert!(matches!(
        verdict(read, leaf.clone()),
        ValidationError::Revoked { .. }
    ));
    let ended = list(
        validity(946_684_800),
        &[old[0], ("000101000000Z", "690101000000Z")],
    );
    assert!(matches!(
        verdict(ended, pki.leaf()),
        ValidationError::RevocationListExpired { .. }
    ));
}

const IDP: &str = "2.5.29.28";

fn extension(oid: &str, critical: bool, contents: &[u8]) -> Extension {
    Extension {
        extn_id: ObjectIdentifier::new_unwrap(oid),
        critical,
        extn_value: OctetString::new(contents).unwrap(),
    }
}

fn point() -> IssuingDistributionPoint {
    IssuingDistributionPoint {
        distribution_point: None,
        only_contains_user_certs: false,
        only_contains_ca_certs: false,
        only_some_reasons: None,
        indirect_crl: false,
        only_contains_attribute_certs: false,
    }
}

fn at_url(url: &str) -> IssuingDistributionPoint {
    let url = GeneralName::UniformResourceIdentifier(Ia5String::new(url).unwrap());
    IssuingDistributionPoint {
        distribution_point: Some(DistributionPointName::FullName(vec![url])),
        ..point()
    }
}

fn with(body: &TbsCertList, extension: Extension) -> TbsCertList {
    let mut body = body.clone();
    body.crl_extensions.as_mut().unwrap().push(extension);
    body
}

/// RFC 5280 section 5.2.5: a list states which of its issuer's certificates it covers.
#[test]
fn lists_about_some_certificates() {
    let pki = Pki::new();
    let url = "http://ca.example/1.crl";
    let plain = pki.leaf();
    let with_url = pki.issue(server().revocation_list_url(url));
    let with_other = pki.issue(server().revocation_list_url("http://ca.example/2.crl"));
    let body = body(&pki.ca, &[]);
    let scoped = |point: IssuingDistributionPoint| {
        let extension = extension(IDP, true, &point.to_der().unwrap());
        read(&pki.ca, &with(&body, extension)).unwrap()
    };
    let end_entities = IssuingDistributionPoint {
        only_contains_user_certs: true,
        ..point()
    };
    let cas = IssuingDistributionPoint {
        only_contains_ca_certs: true,
        ..point()
    };
    for (point, covered) in [
        (point(), [true; 3]),
        (end_entities, [true; 3]),
        (cas, [false; 3]),
        // A certificate without a URL is not covered by a list for some URL.
        (at_url(url), [false, true, false]),
    ] {
        let policy = RevocationPolicy::new([scoped(point)]).unwrap();
        let validator = pki.validator().with_revocation(policy.end_entity_only());
        for (leaf, covered) in [&plain, &with_url, &with_other].into_iter().zip(covered) {
            let result = validate_with(&validator, "example.org", &pki.chain(leaf.clone()));
            match covered {
                true => assert_eq!(result, Ok(3)),
                false => assert!(matches!(
                    result,
                    Err(ValidationError::UnknownRevocationStatus { .. })
                )),
            }
        }
    }
    // A list of CAs says nothing about leaves, whatever else is in its distribution point.
    let cas_at_url = IssuingDistributionPoint {
        only_contains_ca_certs: true,
        ..at_url(url)
    };
    let users_at_url = IssuingDistributionPoint {
        only_contains_user_certs: true,
        ..at_url(url)
    };
    for (point, is_covered) in [(cas_at_url, false), (users_at_url, true)] {
        let policy = RevocationPolicy::new([scoped(point)]).unwrap();
        let validator = pki.validator().with_revocation(policy.end_entity_only());
        let result = validate_with(&validator, "example.org", &pki.chain(with_url.clone()));
        assert_eq!(result.is_ok(), is_covered);
    }
    // Each of the two lists covers what the other doesn't.
    let other = scoped(at_url("http://ca.example/2.crl"));
    let policy = RevocationPolicy::new([scoped(at_url(url)), other]).unwrap();
    let validator = pki.validator().with_revocation(policy.end_entity_only());
    for leaf in [&with_url, &with_other] {
        assert_eq!(
            validate_with(&validator, "example.org", &pki.chain(leaf.clone())),
            Ok(3)
        );
    }
    // A newer list for some URL doesn't hide that the list for all certificates revokes one.
    let mut of_all = self::body(&pki.ca, &[&plain]);
    of_all.this_update = Time::try_from(days_from_now(-1)).unwrap();
    let lists = [read(&pki.ca, &of_all).unwrap(), scoped(at_url(url))];
    let policy = RevocationPolicy::new(lists).unwrap();
    let validator = pki.validator().with_revocation(policy.end_entity_only());
    assert!(matches!(
        validate_with(&validator, "example.org", &pki.chain(plain)),
        Err(ValidationError::Revoked { .. })
    ));
    let malformed = with(&body, extension(IDP, true, &[0x30, 2, 0x81, 1]));
    assert!(matches!(
        read(&pki.ca, &malformed),
        Err(RevocationListError::Der(_) | RevocationListError::Syntax(_))
    ));
}

/// RFC 5280 section 6.3.3 ends at the first list that revokes: one of another scope takes nothing back until the first has
/// expired.
#[test]
fn lists_of_two_scopes() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let dated = |mut body: TbsCertList, from: i32, to: i32| {
        body.this_update = Time::try_from(days_from_now(from)).unwrap();
        body.next_update = Some(Time::try_from(days_from_now(to)).unwrap());
        body
    };
    let users = IssuingDistributionPoint {
        only_contains_user_certs: true,
        ..point()
    };
    let users = extension(IDP, true, &users.to_der().unwrap());
    for (from, to, is_good) in [(-3, 9, false), (-3, -2, true), (-1, 9, false)] {
        let of_all = dated(body(&pki.ca, &[&leaf]), from, to);
        let of_users = dated(with(&body(&pki.ca, &[]), users.clone()), -2, 9);
        let lists = [of_all, of_users].map(|body| read(&pki.ca, &body).unwrap());
        let policy = RevocationPolicy::new(lists).unwrap().end_entity_only();
        let validator = pki.validator().with_revocation(policy);
        let result = validate_with(&validator, "example.org", &pki.chain(leaf.clone()));
        assert_eq!(result.is_ok(), is_good, "{from} {to}");
    }
}

/// A list of end entities says nothing about CAs.
#[test]
fn lists_about_cas() {
    let pki = Pki::new();
    let chain = pki.chain(pki.leaf());
    let of_ca = read(&pki.ca, &body(&pki.ca, &[])).unwrap();
    for (of_cas, of_users, is_covered) in [
        (false, false, true),
        (true, false, true),
        (false, true, false),
    ] {
        let point = IssuingDistributionPoint {
            only_contains_ca_certs: of_cas,
            only_contains_user_certs: of_users,
            ..point()
        };
        let extension = extension(IDP, true, &point.to_der().unwrap());
        let of_root = read(&pki.root, &with(&body(&pki.root, &[]), extension)).unwrap();
        let policy = RevocationPolicy::new([of_root, of_ca.clone()]).unwrap();
        let validator = pki.validator().with_revocation(policy);
        let result = validate_with(&validator, "example.org", &chain);
        assert_eq!(result.is_ok(), is_covered, "{of_cas} {of_users}");
    }
}

/// A certificate's URL counts only if all of its issuer's lists for all reasons are there.
#[test]
fn urls_of_other_issuers_and_of_some_reasons() {
    let pki = Pki::new();
    let url = "http://ca.example/1.crl";
    let names = || {
        let url = GeneralName::UniformResourceIdentifier(Ia5String::new(url).unwrap());
        Some(DistributionPointName::FullName(vec![url]))
    };
    let other = vec![GeneralName::DirectoryName(
        pki.root.certificate().subject().clone(),
    )];
    let reasons = || Some(FlagSet::from(Reasons::KeyCompromise));
    let extension = extension(IDP, true, &at_url(url).to_der().unwrap());
    let list = read(&pki.ca, &with(&body(&pki.ca, &[]), extension.clone())).unwrap();
    let policy = RevocationPolicy::new([list]).unwrap().end_entity_only();
    let validator = pki.validator().with_revocation(policy);
    let itself = vec![GeneralName::DirectoryName(
        pki.ca.certificate().subject().clone(),
    )];
    let of_all = older(&pki, &[]);
    for (crl_issuer, reasons, is_covered) in [
        (None, None, true),
        (Some(itself.clone()), None, true),
        (Some(other.clone()), None, false),
        (None, reasons(), false),
        (Some(itself), reasons(), false),
        (Some(other), reasons(), false),
    ] {
        let points = CrlDistributionPoints(vec![DistributionPoint {
            distribution_point: names(),
            reasons,
            crl_issuer,
        }]);
        let leaf = pki.altered_leaf(|tbs| tbs.set_extension(false, &points).unwrap());
        let result = validate_with(&validator, "example.org", &pki.chain(leaf.clone()));
        assert_eq!(result.is_ok(), is_covered, "{points:?}");
        // What is on the list is revoked, whatever another list says.
        let revoking = with(&body(&pki.ca, &[&leaf]), extension.clone());
        let revoking = read(&pki.ca, &revoking).unwrap();
        assert!(
            is_revoked(&pki, &leaf, [of_all.clone(), revoking]),
            "{points:?}"
        );
    }
}

/// A list for all certificates, from two days ago.
fn older(pki: &Pki, revoked: &[&Certificate]) -> CertificateRevocationList {
    let mut of_all = body(&pki.ca, revoked);
    of_all.this_update = Time::try_from(days_from_now(-2)).unwrap();
    read(&pki.ca, &of_all).unwrap()
}

fn is_revoked<const N: usize>(
    pki: &Pki,
    leaf: &Certificate,
    lists: [CertificateRevocationList; N],
) -> bool {
    let policy = RevocationPolicy::new(lists).unwrap().end_entity_only();
    let validator = pki.validator().with_revocation(policy);
    match validate_with(&validator, "example.org", &pki.chain(leaf.clone())) {
        Ok(_) => false,
        Err(ValidationError::Revoked { .. }) => true,
        Err(error) => panic!("{error}"),
    }
}

/// RFC 5280 section 7.1: the type of a string and the case of its letters make no difference.
#[test]
fn lists_whose_issuer_is_written_otherwise() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let of_all = older(&pki, &[]);
    let name = pki.ca.certificate().subject().to_der().unwrap();
    for text in [
        tlv_text(0x13, "CA"),
        tlv_text(0x0c, "ca"),
        tlv_text(0x0c, " Ca  "),
        tlv_text(0x1e, "\0C\0A"),
    ] {
        let [head @ .., 0x0c, 2, b'C', b'A'] = &name[..] else {
            panic!("{name:x?}");
        };
        let mut other = [head, &text].concat();
        // the lengths of the name, of its part and of the attribute
        for at in [1, 3, 5] {
            other[at] += u8::try_from(text.len() - 4).unwrap();
        }
        let other = Name::from_der(&other).unwrap();
        assert_ne!(&other, pki.ca.certificate().subject());
        let by_other_name = |revoked: &[&Certificate]| {
            let mut body = body(&pki.ca, revoked);
            body.issuer = other.clone();
            read(&pki.ca, &body).unwrap()
        };
        assert!(!is_revoked(&pki, &leaf, [by_other_name(&[])]), "{text:x?}");
        let revoking = by_other_name(&[&leaf]);
        assert!(revoking.entry_for(&leaf).is_some(), "{text:x?}");
        assert!(
            is_revoked(&pki, &leaf, [of_all.clone(), revoking]),
            "{text:x?}"
        );
    }
}

fn tlv_text(tag: u8, text: &str) -> Vec<u8> {
    [&[tag, u8::try_from(text.len()).unwrap()], text.as_bytes()].concat()
}

/// RFC 5280 section 6.3.3: one of the names of the distribution points has to be the same, whatever kind it is.
#[test]
fn distribution_points_without_urls() {
    let pki = Pki::new();
    let ca = pki.ca.certificate().subject();
    let part: Name = "CN=1".parse().unwrap();
    let part = part.iter_rdn().next().unwrap().clone();
    let below = {
        let parts: Vec<_> = ca.iter_rdn().chain([&part]).cloned().collect();
        Name::from_der(&parts.to_der().unwrap()).unwrap()
    };
    let mail = |address: &str| GeneralName::Rfc822Name(Ia5String::new(address).unwrap());
    let directory = |name: &str| GeneralName::DirectoryName(name.parse().unwrap());
    let full = |name| DistributionPointName::FullName(vec![name]);
    let of_all = older(&pki, &[]);
    for (of_list, of_leaf, is_same) in [
        (directory("CN=1"), full(directory("CN=1")), true),
        (directory("CN=one"), full(directory("CN=ONE")), true),
        (directory("CN=1"), full(directory("CN=2")), false),
        (mail("a@ca.example"), full(mail("a@ca.example")), true),
        (mail("a@ca.example"), full(mail("b@ca.example")), false),
        (
            GeneralName::DirectoryName(below),
            DistributionPointName::NameRelativeToCRLIssuer(part),
            true,
        ),
    ] {
        let points = CrlDistributionPoints(vec![DistributionPoint {
            distribution_point: Some(of_leaf),
            reasons: None,
            crl_issuer: None,
        }]);
        let leaf = pki.altered_leaf(|tbs| tbs.set_extension(false, &points).unwrap());
        let of_point = IssuingDistributionPoint {
            distribution_point: Some(full(of_list)),
            ..point()
        };
        let of_point = extension(IDP, true, &of_point.to_der().unwrap());
        let list = |revoked: &[&Certificate]| {
            let body = with(&body(&pki.ca, revoked), of_point.clone());
            read(&pki.ca, &body).unwrap()
        };
        let policy = RevocationPolicy::new([list(&[])])
            .unwrap()
            .end_entity_only();
        let validator = pki.validator().with_revocation(policy);
        let result = validate_with(&validator, "example.org", &pki.chain(leaf.clone()));
        assert_eq!(result.is_ok(), is_same, "{points:?}");
        let lists = [of_all.clone(), list(&[&leaf])];
        assert_eq!(is_revoked(&pki, &leaf, lists), is_same, "{points:?}");
    }
    // There is at least one.
    let none = extension(IDP, true, &[0x30, 4, 0xa0, 2, 0xa0, 0]);
    let error = read(&pki.ca, &with(&body(&pki.ca, &[]), none)).unwrap_err();
    assert!(
        matches!(
            error,
            RevocationListError::Der(_) | RevocationListError::Syntax(_)
        ),
        "{error}"
    );
}

/// RFC 5280 section 5.1.1.2: the two places that name the algorithm have the same parameters, too.
#[test]
fn parameters_of_the_algorithm_differ() {
    let pki = Pki::new();
    let sound = body(&pki.ca, &[]);
    let oid = SignatureAlgorithm::MlDsa44.oid();
    let mut inner = sound.clone();
    inner.signature.parameters = Some(Any::null());
    let outer = |parameters| {
        let signature = BitString::from_bytes(&[0; 2420]).unwrap();
        let list: CertificateList = CertificateList {
            tbs_cert_list: sound.clone(),
            signature_algorithm: AlgorithmIdentifierOwned { oid, parameters },
            signature,
        };
        CertificateRevocationList::from_der(&list.to_der().unwrap()).map(drop)
    };
    let differ = Err(RevocationListError::AlgorithmsDiffer {
        inner: oid,
        outer: oid,
    });
    assert_eq!(outer(None), Ok(()));
    assert_eq!(outer(Some(Any::null())), differ);
    assert_eq!(read(&pki.ca, &inner).map(drop), differ);
}

fn unusable(list: CertificateRevocationList) -> Option<UnusableList> {
    match RevocationPolicy::new([list]) {
        Ok(_) => None,
        Err(ValidationError::UnusableRevocationList { issuer, error }) => {
            assert_eq!(issuer, "CN=CA");
            Some(error)
        }
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn lists_that_cannot_be_used() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    let body = body(&pki.ca, &[&leaf]);
    let usable = |body: &TbsCertList| unusable(read(&pki.ca, body).unwrap());
    assert_eq!(usable(&body), None);

    let unknown = ObjectIdentifier::new_unwrap("1.2.3.4");
    let critical = Some(UnusableList::CriticalExtension(unknown));
    let delta = extension("2.5.29.27", false, &[2, 1, 1]);
    assert_eq!(usable(&with(&body, delta)), Some(UnusableList::Delta));
    assert_eq!(
        usable(&with(&body, extension("1.2.3.4", false, &[5, 0]))),
        None
    );
    assert_eq!(
        usable(&with(&body, extension("1.2.3.4", true, &[5, 0]))),
        critical
    );

    let reasons = FlagSet::from(Reasons::KeyCompromise);
    let relative =
        DistributionPointName::NameRelativeToCRLIssuer(RelativeDistinguishedName::default());
    for (point, expected) in [
        (
            IssuingDistributionPoint {
                indirect_crl: true,
                ..point()
            },
            UnusableList::Indirect,
        ),
        (
            IssuingDistributionPoint {
                only_some_reasons: Some(reasons),
                ..point()
            },
            UnusableList::SomeReasons,
        ),
        (
            IssuingDistributionPoint {
                only_contains_attribute_certs: true,
                ..point()
            },
            UnusableList::AttributeCertificates,
        ),
        (
            IssuingDistributionPoint {
                distribution_point: Some(relative),
                ..point()
            },
            UnusableList::RelativeName,
        ),
    ] {
        let extension = extension(IDP, true, &point.to_der().unwrap());
        assert_eq!(usable(&with(&body, extension)), Some(expected));
    }

    let entry = |oid: &str, critical| {
        let mut body = body.clone();
        let entry = &mut body.revoked_certificates.as_mut().unwrap()[0];
        entry.crl_entry_extensions = Some(vec![extension(oid, critical, &[5, 0])]);
        body
    };
    assert_eq!(usable(&entry("1.2.3.4", true)), critical);
    assert_eq!(usable(&entry("1.2.3.4", false)), None);
    assert_eq!(usable(&entry("2.5.29.24", true)), None);
    assert_eq!(
        usable(&entry("2.5.29.29", true)),
        Some(UnusableList::Indirect)
    );

    let mut endless = body;
    endless.next_update = None;
    assert_eq!(usable(&endless), Some(UnusableList::NoNextUpdate));
}

/// NSS and, unless it is told otherwise, `openssl ca` make such lists of version 2.
#[test]
fn lists_without_extensions() {
    let pki = Pki::new();
    let [good, bad] = [pki.leaf(), pki.leaf()];
    let mut bare = body(&pki.ca, &[&bad]);
    bare.crl_extensions = None;
    let list = read(&pki.ca, &bare).unwrap();
    assert_eq!((list.number(), list.authority_key_id()), (None, None));
    let policy = RevocationPolicy::new([list]).unwrap().end_entity_only();
    let validator = pki.validator().with_revocation(policy);
    let validate = |leaf| validate_with(&validator, "example.org", &pki.chain(leaf));
    assert_eq!(validate(good), Ok(3));
    assert!(matches!(
        validate(bad),
        Err(ValidationError::Revoked { .. })
    ));
}

/// RFC 5280 section 5.3.1 has no reason 7, and none above 10: such an entry revokes nevertheless.
#[test]
fn entries_with_unknown_reasons() {
    let pki = Pki::new();
    let [good, bad] = [pki.leaf(), pki.leaf()];
    let list = |contents: &[u8]| {
        let mut body = body(&pki.ca, &[&bad]);
        let entry = &mut body.revoked_certificates.as_mut().unwrap()[0];
        entry.crl_entry_extensions = Some(vec![extension("2.5.29.21", false, contents)]);
        read(&pki.ca, &body)
    };
    for (contents, reason) in [
        (&[0x0a, 1, 6][..], CrlReason::CertificateHold),
        (&[0x0a, 1, 7], CrlReason::Unspecified),
        (&[0x0a, 1, 8], CrlReason::RemoveFromCRL),
        (&[0x0a, 1, 10], CrlReason::AaCompromise),
        (&[0x0a, 1, 11], CrlReason::Unspecified),
        (&[0x0a, 1, 0x7f], CrlReason::Unspecified),
        (&[0x0a, 1, 0xff], CrlReason::Unspecified),
        (&[0x0a, 2, 1, 1], CrlReason::Unspecified),
    ] {
        let list = list(contents).unwrap();
        assert_eq!(list.entries()[0].reason(), reason, "{contents:?}");
        let policy = RevocationPolicy::new([list]).unwrap().end_entity_only();
        let validator = pki.validator().with_revocation(policy);
        let validate =
            |leaf: &Certificate| validate_with(&validator, "example.org", &pki.chain(leaf.clone()));
        assert_eq!(validate(&good), Ok(3));
        assert!(matches!(
            validate(&bad),
            Err(ValidationError::Revoked { .. })
        ));
    }
    // These are no ENUMERATED, or not in DER.
    for contents in [
        &[2, 1, 1][..],
        &[0x0a, 0],
        &[0x0a, 2, 0, 7],
        &[0x0a, 2, 0xff, 0x80],
        &[0x0a, 1, 1, 0],
    ] {
        assert!(list(contents).is_err(), "{contents:?}");
    }
}

/// Serial numbers that are prefixes of each other or of other lengths, and one twice.
#[test]
fn entries_are_found_whatever_their_order() {
    let pki = Pki::new();
    let numbers: [&[u8]; 6] = [&[9], &[1], &[1, 2, 3], &[0x7f; 20], &[1, 2], &[2]];
    let list = numbers.iter().fold(Builder::new(&[1]), |list, number| {
        list.revoke(number, days_from_now(-1), CrlReason::Superseded)
    });
    let list = pki.ca.issue_revocation_list(list).unwrap();
    let mut body: CertificateList = CertificateList::from_der(list.der()).unwrap();
    let entries = body.tbs_cert_list.revoked_certificates.as_mut().unwrap();
    // The first entry counts.
    let mut again = entries[1].clone();
    again.crl_entry_extensions = None;
    entries.push(again);
    let list = read(&pki.ca, &body.tbs_cert_list).unwrap();
    let find = |number: &[u8]| {
        let certificate = pki.issue(server().serial_number(number));
        list.entry_for(&certificate).cloned()
    };
    for number in numbers {
        let entry = find(number).unwrap();
        assert_eq!(entry.serial_number(), number);
        assert_eq!(entry.reason(), CrlReason::Superseded);
    }
    for number in [&[3][..], &[1, 1], &[1, 2, 4], &[0x7f; 19], &[10]] {
        assert_eq!(find(number), None);
    }
}

/// Longer than a certificate with keys of ECDSA.
const LONG: usize = 2000;

/// A list of unused serial numbers, whose encoding counts as long.
fn long_list() -> Builder {
    (1..200_u64).fold(Builder::new(&[1]), |list, number| {
        let reason = CrlReason::Unspecified;
        list.revoke(&number.to_be_bytes(), days_from_now(-1), reason)
    })
}

/// A list's signature is over all of it, so it is verified once.
#[test]
fn a_list_is_verified_once() {
    static COUNTING: Counting = Counting::of_longer_than(LONG);
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), P256Key::new(1)).unwrap();
    let chain = [root.issue(server(), &P256Key::new(2)).unwrap()];
    let list = long_list();
    let other = Issuer::self_signed(CertificateBuilder::ca("Root"), P256Key::new(3)).unwrap();
    for (issuer, expected) in [
        (&root, Ok(2)),
        (
            &other,
            Err(ValidationError::RevocationListSignature(
                SignatureError::Invalid,
            )),
        ),
    ] {
        let list = issuer.issue_revocation_list(list.clone()).unwrap();
        assert!(list.der().len() > LONG);
        let policy = RevocationPolicy::new([list]).unwrap();
        let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
        // Without the algorithm, no verdict may be stored, since there has to be one later.
        let without = validator.clone().with_revocation(policy.clone());
        assert!(validate_with(&without, "example.org", &chain).is_err());
        COUNTING.take();
        for validator in [
            without.with_algorithms(&[&COUNTING]),
            validator
                .with_algorithms(&[&COUNTING])
                .with_revocation(policy),
        ] {
            COUNTING.take();
            for _ in 0..3 {
                let validated = validate_with(&validator.clone(), "example.org", &chain);
                assert_eq!(validated, expected);
            }
            assert_eq!(COUNTING.take(), 1);
            // Another algorithm may give another verdict.
            let other = validator.with_algorithms(&[ECDSA_P256_SHA256]);
            let validated = validate_with(&other, "example.org", &chain);
            assert_eq!(validated, expected);
            assert_eq!(COUNTING.take(), 1);
        }
    }
}

/// An attacker can easily make many CAs that have a list's name but not its key.
#[test]
fn other_keys_keep_no_list_from_being_verified_once() {
    static COUNTING: Counting = Counting::of_longer_than(LONG);
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), P256Key::new(1)).unwrap();
    let chain = |secret| {
        let ca = CertificateBuilder::ca("CA");
        let ca = root.issue_ca(ca, P256Key::new(secret)).unwrap();
        let leaf = ca.issue(server(), &P256Key::new(2)).unwrap();
        let list = ca.issue_revocation_list(long_list()).unwrap();
        ([leaf, ca.certificate().clone()], list)
    };
    let (good, list) = chain(3);
    let policy = RevocationPolicy::new([list]).unwrap().end_entity_only();
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let validator = validator
        .with_algorithms(&[&COUNTING])
        .with_revocation(policy);
    for secret in 10..16 {
        assert_eq!(
            validate_with(&validator, "example.org", &chain(secret).0),
            Err(ValidationError::RevocationListSignature(
                SignatureError::Invalid
            ))
        );
    }
    COUNTING.take();
    for _ in 0..3 {
        assert_eq!(validate_with(&validator, "example.org", &good), Ok(3));
    }
    assert_eq!(COUNTING.take(), 1);
}

/// One chain can have many paths, each with another key with which a list is verified.
#[test]
fn a_validation_verifies_few_lists_in_vain() {
    static COUNTING: Counting = Counting::of_longer_than(LONG);
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), P256Key::new(1)).unwrap();
    let upper: Vec<_> = (10..16)
        .map(|secret| root.issue_ca(CertificateBuilder::ca("Upper"), P256Key::new(secret)))
        .collect::<Result<_, _>>()
        .unwrap();
    let lower: Vec<_> = upper
        .iter()
        .map(|ca| ca.issue_ca(CertificateBuilder::ca("Lower"), P256Key::new(2)))
        .collect::<Result<_, _>>()
        .unwrap();
    let mut chain = vec![lower[0].issue(server(), &P256Key::new(3)).unwrap()];
    chain.extend(
        lower
            .iter()
            .chain(&upper)
            .map(|ca| ca.certificate().clone()),
    );

    let other = Issuer::self_signed(CertificateBuilder::ca("Upper"), P256Key::new(4)).unwrap();
    let of_root = root.issue_revocation_list(Builder::new(&[1])).unwrap();
    let of_other = other.issue_revocation_list(long_list()).unwrap();
    let policy = RevocationPolicy::new([of_root, of_other]).unwrap();
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let validator = validator
        .with_algorithms(&[&COUNTING])
        .with_revocation(policy);
    assert!(validate_with(&validator, "example.org", &chain).is_err());
    assert_eq!(COUNTING.take(), 4);
}
