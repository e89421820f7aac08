//! Certificates with valid values that neither `x509-cert` nor webpki can read: dates before
//! 1970, and path lengths above 255.

use core::time::Duration;
use std::time::SystemTime;

use const_oid::AssociatedOid;
use der::asn1::OctetString;
use der::{Encode, Sequence};
use pq_x509::certificate::{Certificate, CertificateError, Validity};
use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer, TbsCertificate};
use pq_x509::keys::SigningKey;
use pq_x509::keys::encoding::syntax::SyntaxError;
use pq_x509::pki_types::{ServerName, UnixTime};
use pq_x509::validation::{ChainValidator, ValidationError};
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::BasicConstraints;
use signers::P256Key;

use crate::classical::Counting;
use crate::pki::{Pki, bad_signature, key, server, sign, validate_with};

/// A leaf, an intermediate or a root, valid from the first date to the second. Each pair is the date in the
/// TBSCertificate and the date that replaces it.
struct Dates([(&'static str, &'static str); 2]);

impl Dates {
    /// Both UTCTimes or both GeneralizedTimes.
    fn of(not_before: &'static str, not_after: &'static str) -> Self {
        let place = |date: &str, [short, long]: [&'static str; 2]| match date.len() {
            13 => short,
            _ => long,
        };
        Self([
            (
                place(not_before, ["800101000000Z", "20510101000000Z"]),
                not_before,
            ),
            (
                place(not_after, ["480101000000Z", "20520101000000Z"]),
                not_after,
            ),
        ])
    }

    fn validity(&self) -> Validity {
        let seconds = |date: &str| match date {
            "800101000000Z" => 315_532_800,
            "480101000000Z" => 2_461_449_600,
            "20510101000000Z" => 2_556_144_000,
            "20520101000000Z" => 2_587_680_000,
            other => panic!("{other}"),
        };
        let at = |date| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds(date));
        Validity::new(at(self.0[0].0), at(self.0[1].0))
    }

    fn sign(&self, tbs: &TbsCertificate, signer: &SigningKey) -> Vec<u8> {
        let mut der = tbs.to_der().unwrap();
        for (from, to) in self.0 {
            replace(&mut der, from, to);
        }
        sign(&der, signer)
    }
}

fn replaced(der: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut replaced = der.to_vec();
    replace(&mut replaced, from, to);
    replaced
}

/// The document with another signature.
fn damaged(der: &[u8]) -> Vec<u8> {
    let mut damaged = der.to_vec();
    *damaged.last_mut().unwrap() ^= 1;
    damaged
}

fn replace(der: &mut [u8], from: &str, to: &str) {
    let found = der
        .windows(from.len())
        .position(|bytes| bytes == from.as_bytes());
    let at = found.unwrap_or_else(|| panic!("{from}"));
    der[at..at + to.len()].copy_from_slice(to.as_bytes());
}

/// A chain of a leaf, a CA and a root with these dates.
struct Chain {
    leaf: Vec<u8>,
    ca: Vec<u8>,
    root: Vec<u8>,
}

impl Chain {
    fn of(dates: &Dates) -> Self {
        let pki = Pki::new();
        let ca = |name, issuer: &Issuer<SigningKey>, subject: &SigningKey| {
            let builder = CertificateBuilder::ca(name).validity(dates.validity());
            let mut tbs = issuer.prepare(builder, subject).unwrap();
            tbs.signature = pq_x509::keys::Signer::signature_algorithm(issuer.signer());
            dates.sign(&tbs, issuer.signer())
        };
        let leaf = server().validity(dates.validity());
        let mut leaf = pki.ca.prepare(leaf, &pki.leaf_key).unwrap();
        leaf.signature = pq_x509::keys::Signer::signature_algorithm(pki.ca.signer());
        Self {
            leaf: dates.sign(&leaf, pki.ca.signer()),
            ca: ca("CA", &pki.root, pki.ca.signer()),
            root: ca("Root", &pki.root, pki.root.signer()),
        }
    }

    fn validate(&self, chain: &[&[u8]], time: u64) -> Result<Vec<Certificate>, ValidationError> {
        let validator = ChainValidator::new([Certificate::from_der(&self.root).unwrap()]).unwrap();
        let name = ServerName::try_from("example.org").unwrap();
        let time = UnixTime::since_unix_epoch(Duration::from_secs(time));
        let path = validator.validate_server(chain, &name, time)?;
        Ok(path.certificates().to_vec())
    }
}

/// A date as in NIST's test suite PKITS (4.2.3), and earlier ones.
#[test]
fn dates_before_1970() {
    let utc = ("700101000000Z", "480101000000Z", 2_461_449_600);
    let generalized = ("19700101000000Z", "20520101000000Z", 2_587_680_000);
    for (not_before, (stand_in, not_after, end)) in [
        ("500101120100Z", utc),
        ("691231235959Z", utc),
        ("19500101120100Z", generalized),
        ("18000228000000Z", generalized),
        ("00000229000000Z", generalized),
    ] {
        let chain = Chain::of(&Dates::of(not_before, not_after));
        let (leaf, ca) = (&chain.leaf[..], &chain.ca[..]);
        let read = Certificate::from_der(leaf).unwrap();
        assert_eq!(read.not_before().as_secs(), 0);
        assert_eq!(read.not_after().as_secs(), end);
        assert_eq!(&read.der()[..], leaf);
        assert_eq!(Certificate::from_pem(&read.to_pem()).unwrap(), read);

        for time in [0, 1, end] {
            let path = chain.validate(&[leaf, ca], time).unwrap();
            let path: Vec<&[u8]> = path.iter().map(|c| &c.der()[..]).collect();
            assert_eq!(path, [leaf, ca, &chain.root], "{not_before}");
        }
        assert!(matches!(
            chain.validate(&[leaf, ca], end + 1),
            Err(ValidationError::Expired { .. })
        ));

        // The signatures cover only what was sent.
        for (index, subject) in [(0, "example.org, 192.0.2.1"), (1, "CN=CA")] {
            let mut altered = [leaf, ca];
            let damaged = damaged(altered[index]);
            altered[index] = &damaged;
            assert_eq!(chain.validate(&altered, 1), Err(bad_signature(subject)));
        }
        let forged = replaced(leaf, not_before, stand_in);
        assert_eq!(
            chain.validate(&[&forged, ca], 1),
            Err(bad_signature("example.org, 192.0.2.1"))
        );
        // Nor does the original help, with its signature or with a wrong one.
        for original in [leaf, &damaged(leaf)] {
            assert!(chain.validate(&[&forged, ca, original], 1).is_err());
        }
        let another_date = match not_before.len() {
            13 => "550101000000Z",
            _ => "19550101000000Z",
        };
        for date in [stand_in, another_date] {
            let forged = replaced(ca, not_before, date);
            let damaged = damaged(ca);
            assert!(chain.validate(&[leaf, &damaged, &forged], 1).is_err());
            assert!(chain.validate(&[leaf, &forged, &damaged], 1).is_err());
        }
    }
    for (no_date, (_, not_after, _)) in [
        ("690229000000Z", utc),
        ("501301000000Z", utc),
        ("50010100000Z0", utc),
        ("00000230000000Z", generalized),
        ("19690101240000Z", generalized),
        ("196901010000 0Z", generalized),
    ] {
        let chain = Chain::of(&Dates::of(no_date, not_after));
        let read = Certificate::from_der(&chain.leaf);
        let is_form = matches!(
            read,
            Err(CertificateError::Syntax(SyntaxError::Form { .. }))
        );
        assert!(is_form, "{no_date}");
    }
}

/// Sending such a certificate with a chain that leads nowhere does not make us validate the chain twice.
#[test]
fn a_date_before_1970_makes_no_more_work() {
    static COUNTING: Counting = Counting::of_longer_than(0);
    let [root, other] = [1, 2]
        .map(|secret| Issuer::self_signed(CertificateBuilder::ca("Root"), P256Key::new(secret)))
        .map(Result::unwrap);
    let leaf = other.issue(server(), &P256Key::new(3)).unwrap();
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let validator = validator.with_algorithms(&[&COUNTING]);
    let old = Chain::of(&Dates::of("500101120100Z", "480101000000Z")).leaf;
    let old = Certificate::from_der(&old).unwrap();
    let [alone, beside_old] = [vec![leaf.clone()], vec![leaf, old]].map(|chain| {
        let refused = validate_with(&validator, "example.org", &chain);
        assert_eq!(refused, Err(bad_signature("example.org, 192.0.2.1")));
        COUNTING.take()
    });
    assert!(alone > 0);
    assert_eq!(beside_old, alone);
}

/// A chain is valid at no time if it ended before 1970: the earliest time to ask for is the start of 1970.
#[test]
fn what_ended_before_1970_has_expired() {
    for (not_before, not_after) in [
        ("500101000000Z", "691231235959Z"),
        ("00000101000000Z", "19491231235959Z"),
    ] {
        let chain = Chain::of(&Dates::of(not_before, not_after));
        for time in [0, 1, 2_000_000_000] {
            let refused = chain.validate(&[&chain.leaf, &chain.ca], time).unwrap_err();
            let message = refused.to_string();
            assert!(
                message.contains("1970-01-01T00:00:00Z or before"),
                "{message}"
            );
            let ValidationError::Expired {
                subject: Some(_),
                not_after,
                ..
            } = refused
            else {
                panic!("{refused:?}");
            };
            assert_eq!(not_after.as_secs(), 0);
        }
    }
}

/// BasicConstraints with any limit.
#[derive(Sequence)]
struct Limit {
    ca: bool,
    path_len: i64,
}

fn limited(tbs: &mut TbsCertificate, path_len: i64) {
    tbs.remove_extension(BasicConstraints::OID);
    let limit = Limit { ca: true, path_len };
    tbs.extensions.push(Extension {
        extn_id: BasicConstraints::OID,
        critical: true,
        extn_value: OctetString::new(limit.to_der().unwrap()).unwrap(),
    });
}

#[test]
fn path_lengths_above_255() {
    let pki = Pki::new();
    let leaf = pki.leaf();
    for path_len in [0, 255, 256, 300, 40_000, i64::MAX] {
        let ca = pki.altered_ca(|tbs| limited(tbs, path_len));
        let root = pki.altered_root(|tbs| limited(tbs, path_len));
        let expected = u8::try_from(path_len).unwrap_or(u8::MAX);
        assert_eq!(ca.path_len(), Some(expected));
        let validator = ChainValidator::new([root.clone()]).unwrap();
        let chain = [leaf.clone(), ca.clone()];
        let validated = validate_with(&validator, "example.org", &chain);
        assert_eq!(validated.is_ok(), path_len > 0, "{path_len}");
        // It can issue like any other CA.
        let issuer = Issuer::new(root, pki.root.signer()).unwrap();
        assert_eq!(
            issuer
                .issue_ca(CertificateBuilder::ca("Other"), key())
                .is_ok(),
            path_len > 0
        );
    }
    let mut tbs = pki
        .root
        .prepare(CertificateBuilder::ca("CA"), pki.ca.signer())
        .unwrap();
    limited(&mut tbs, -1);
    assert!(matches!(
        tbs.sign(pki.root.signer()),
        Err(IssueError::Certificate(CertificateError::Syntax(
            SyntaxError::Form { .. }
        )))
    ));
}
