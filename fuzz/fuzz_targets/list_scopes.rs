//! Revocation lists that cover some certificates only, or that have extensions that are not understood: a certificate
//! is revoked only by a list that covers it, and no list is used for what it does not cover.
#![no_main]

use std::time::Duration;

use arbitrary::Arbitrary;
use fuzz::pki::{CA_LIST, FixedKey, PKI, ROOT_LIST, VALID, sign, validity};
use libfuzzer_sys::fuzz_target;
use pq_x509::certificate::Certificate;
use pq_x509::issuing::CertificateBuilder;
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::{CertificateRevocationList, RevocationPolicy};
use pq_x509::validation::{ChainValidator, Purpose, ValidationError};
use pq_x509::x509_cert::crl::CertificateList;
use pq_x509::x509_cert::der::asn1::{Ia5String, Null, OctetString};
use pq_x509::x509_cert::der::{Decode, Encode};
use pq_x509::x509_cert::ext::Extension;
use pq_x509::x509_cert::ext::pkix::crl::dp::{
    DistributionPoint, IssuingDistributionPoint, ReasonFlags,
};
use pq_x509::x509_cert::ext::pkix::name::{DistributionPointName, GeneralName};
use pq_x509::x509_cert::ext::pkix::{CrlDistributionPoints, CrlReason};

fuzz_target!(|input: Input| input.check());

#[derive(Arbitrary, Debug)]
struct Input {
    /// The scopes of the CA's lists.
    lists: Vec<Scope>,
    /// The scope of the root's list, which does not revoke the CA's certificate.
    of_root: Option<Scope>,
    /// Whether the leaf's number is on the lists.
    is_listed: bool,
    leaf: Vec<LeafPoint>,
    allow_unknown_status: bool,
}

/// What a list says about itself.
#[derive(Arbitrary, Debug)]
struct Scope {
    only_end_entities: bool,
    only_cas: bool,
    indirect: bool,
    some_reasons: bool,
    attribute_certificates: bool,
    point: Option<Point>,
    more: Option<More>,
}

/// The place of a list.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum Point {
    One,
    Other,
    Both,
    Relative,
}

/// An extension of the list, or of each of its entries.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum More {
    Delta,
    Unknown { is_critical: bool },
    OfEntries { is_critical: bool },
    CertificateIssuer,
}

/// A place of lists that the leaf names: with or without reasons, and with or without another issuer.
#[derive(Arbitrary, Debug)]
struct LeafPoint {
    point: Point,
    has_reasons: bool,
    has_issuer: bool,
}

impl Point {
    const URLS: [&str; 2] = ["http://a.example/list", "http://b.example/list"];

    /// The URLs of the place; `None` if its name is not a full name.
    fn urls(self) -> Option<&'static [&'static str]> {
        match self {
            Self::One => Some(&Self::URLS[..1]),
            Self::Other => Some(&Self::URLS[1..]),
            Self::Both => Some(&Self::URLS),
            Self::Relative => None,
        }
    }

    fn name(self) -> DistributionPointName {
        match self.urls() {
            Some(urls) => {
                DistributionPointName::FullName(urls.iter().map(|url| uri(url)).collect())
            }
            None => {
                let name = PKI.ca.certificate().subject();
                let relative = name.iter_rdn().next().expect("a common name");
                DistributionPointName::NameRelativeToCRLIssuer(relative.clone())
            }
        }
    }
}

fn uri(url: &str) -> GeneralName {
    GeneralName::UniformResourceIdentifier(Ia5String::new(url).expect("ASCII"))
}

const DELTA: &str = "2.5.29.27";
const ISSUING_DISTRIBUTION_POINT: &str = "2.5.29.28";
const CERTIFICATE_ISSUER: &str = "2.5.29.29";
const UNKNOWN: &str = "1.2.3";

fn extension(oid: &str, critical: bool, value: &impl Encode) -> Extension {
    Extension {
        extn_id: oid.parse().expect("an identifier"),
        critical,
        extn_value: OctetString::new(value.to_der().expect("a value")).expect("a short value"),
    }
}

impl Scope {
    /// Issues a list that has the entries of another.
    fn issue(
        &self,
        list: &CertificateRevocationList,
        signer: &FixedKey,
    ) -> CertificateRevocationList {
        let list: CertificateList = Decode::from_der(list.der()).expect("a list");
        let mut tbs = list.tbs_cert_list;
        let point = IssuingDistributionPoint {
            distribution_point: self.point.map(Point::name),
            only_contains_user_certs: self.only_end_entities,
            only_contains_ca_certs: self.only_cas,
            only_some_reasons: self.some_reasons.then(ReasonFlags::default),
            indirect_crl: self.indirect,
            only_contains_attribute_certs: self.attribute_certificates,
        };
        let extensions = tbs.crl_extensions.get_or_insert_default();
        extensions.push(extension(ISSUING_DISTRIBUTION_POINT, true, &point));
        let of_entries = match self.more {
            None => None,
            Some(More::Delta) => {
                extensions.push(extension(DELTA, true, &1_u8));
                None
            }
            Some(More::Unknown { is_critical }) => {
                extensions.push(extension(UNKNOWN, is_critical, &Null));
                None
            }
            Some(More::OfEntries { is_critical }) => Some(extension(UNKNOWN, is_critical, &Null)),
            Some(More::CertificateIssuer) => Some(extension(
                CERTIFICATE_ISSUER,
                true,
                &vec![uri(Point::URLS[0])],
            )),
        };
        if let Some(of_entries) = of_entries {
            for entry in tbs.revoked_certificates.iter_mut().flatten() {
                let extensions = entry.crl_entry_extensions.get_or_insert_default();
                extensions.push(of_entries.clone());
            }
        }
        let list = sign(tbs.to_der().expect("a list"), signer);
        CertificateRevocationList::from_der(&list).expect("a list")
    }

    fn is_usable(&self, has_entries: bool) -> bool {
        let is_understood = match self.more {
            None | Some(More::Unknown { is_critical: false }) => true,
            Some(More::Delta | More::Unknown { is_critical: true }) => false,
            Some(More::OfEntries { is_critical }) => !(has_entries && is_critical),
            Some(More::CertificateIssuer) => !has_entries,
        };
        is_understood
            && !(self.indirect || self.some_reasons || self.attribute_certificates)
            && self.point != Some(Point::Relative)
    }

    /// Whether the list covers certificates of CAs, or of end entities, that name these places.
    fn is_about(&self, are_cas: bool, places: &[&str]) -> bool {
        let urls = self.point.map(|point| point.urls().unwrap_or_default());
        let is_there = urls.is_none_or(|urls| urls.iter().any(|url| places.contains(url)));
        let is_for_others = match are_cas {
            true => self.only_end_entities,
            false => self.only_cas,
        };
        is_there && !is_for_others
    }
}

impl Input {
    /// The leaf, and the places of lists that it names: those whose lists say all about it, and all of them, whose
    /// lists may revoke it.
    fn leaf(&self) -> (Certificate, Vec<&'static str>, Vec<&'static str>) {
        let number = match self.is_listed {
            true => PKI.client.serial_number(),
            false => &[0x55],
        };
        let builder = CertificateBuilder::client()
            .common_name("leaf")
            .validity(validity())
            .serial_number(number);
        let mut tbs = (PKI.ca.prepare(builder, &PKI.client_key)).expect("a leaf");
        let points = self.leaf.iter().map(|leaf| DistributionPoint {
            distribution_point: Some(leaf.point.name()),
            reasons: leaf.has_reasons.then(ReasonFlags::default),
            crl_issuer: leaf.has_issuer.then(|| vec![uri(Point::URLS[0])]),
        });
        let points = CrlDistributionPoints(points.collect());
        if !self.leaf.is_empty() {
            tbs.set_extension(false, &points)
                .expect("a short extension");
        }
        let is_full = |leaf: &&LeafPoint| !leaf.has_reasons && !leaf.has_issuer;
        let urls = |leaf: &LeafPoint| leaf.point.urls().unwrap_or_default();
        let full = self.leaf.iter().filter(is_full).flat_map(urls);
        let named = self.leaf.iter().flat_map(urls);
        let leaf = tbs.sign(PKI.ca.signer()).expect("a leaf");
        (leaf, full.copied().collect(), named.copied().collect())
    }

    fn check(&self) {
        let scopes = &self.lists[..self.lists.len().min(3)];
        let lists = scopes.iter().map(|scope| {
            let list = scope.issue(&CA_LIST, PKI.ca.signer());
            let reason = list.entry_for(&PKI.client).map(|entry| entry.reason());
            assert_eq!(reason, Some(CrlReason::KeyCompromise));
            list
        });
        let of_root = self.of_root.as_ref();
        let root_list = of_root.map_or_else(
            || ROOT_LIST.clone(),
            |scope| scope.issue(&ROOT_LIST, PKI.root.signer()),
        );
        let policy = RevocationPolicy::new(lists.chain([root_list]));
        let are_usable = scopes.iter().all(|it| it.is_usable(true))
            && of_root.is_none_or(|it| it.is_usable(false));
        let policy = match policy {
            Ok(policy) => policy,
            Err(error @ ValidationError::UnusableRevocationList { .. }) => {
                return assert!(!are_usable, "{error}");
            }
            Err(error) => panic!("{error}"),
        };
        assert!(are_usable);
        let policy = match self.allow_unknown_status {
            true => policy.allow_unknown_status(),
            false => policy,
        };

        let (leaf, full, named) = self.leaf();
        let time = UnixTime::since_unix_epoch(Duration::from_secs(*VALID.start() + 1));
        let validator = ChainValidator::new([PKI.root.certificate().clone()]).expect("a root");
        let chain = [&leaf, PKI.ca.certificate()];
        let validator = validator.with_revocation(policy);
        let result = validator.validate(&chain, Purpose::ClientAuth, None, time);
        let is_leaf_known = scopes.iter().any(|scope| scope.is_about(false, &full));
        let may_be_revoked = scopes.iter().any(|scope| scope.is_about(false, &named));
        let is_ca_known = of_root.is_none_or(|scope| scope.is_about(true, &[]));
        let is_enough = is_leaf_known && is_ca_known || self.allow_unknown_status;
        let is_revoked = may_be_revoked && self.is_listed;
        match result {
            Ok(_) => assert!(is_enough && !is_revoked),
            Err(ValidationError::Revoked { .. }) => assert!(is_revoked),
            Err(ValidationError::UnknownRevocationStatus { .. }) => assert!(!is_enough),
            Err(error) => panic!("{error}"),
        }
    }
}
