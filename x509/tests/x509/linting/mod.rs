//! Linting: for each rule a document that breaks it, and documents that break none.

mod certificates;
mod encodings;
mod extensions;
mod keys;
mod lists;
mod sound;
mod tree;
mod vectors;

use alloc::collections::BTreeSet;
use core::time::Duration;
use std::sync::LazyLock;
use std::time::SystemTime;

use const_oid::ObjectIdentifier;
use pq_x509::certificate::Validity;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{DecapsulationKey, KemAlgorithm, SigningKey};
use pq_x509::linting::{Finding, Kind, Rule, Severity, all_rules, lint};
use pq_x509::request::CertificateRequest;
use pq_x509::revocation::{CertificateRevocationListBuilder, CrlReason};

use self::tree::{Node, oid, sequence, tlv};
use crate::pki::{key, server};

/// A document that breaks rules.
struct Case {
    /// All rules that it breaks, the worst first; those of one severity in the order of the checks.
    rules: &'static [&'static str],
    kind: Kind,
    der: Vec<u8>,
}

/// A document to be changed. Nothing verifies signatures, so it keeps its old
/// signature.
struct Document(Node);

/// The fields of a TBSCertificate of version 3.
const SERIAL_NUMBER: usize = 1;
const ALGORITHM: usize = 2;
const ISSUER: usize = 3;
const VALIDITY: usize = 4;
const SUBJECT: usize = 5;
const KEY: usize = 6;

impl Document {
    /// A field of the signed part.
    fn field(&mut self, index: usize) -> &mut Node {
        &mut self.body()[index]
    }

    fn body(&mut self) -> &mut Vec<Node> {
        self.0.nodes()[0].nodes()
    }

    /// The AlgorithmIdentifier beside the signed part.
    fn outer_algorithm(&mut self) -> &mut Vec<Node> {
        self.0.nodes()[1].nodes()
    }

    fn signature(&mut self) -> &mut Vec<u8> {
        self.0.nodes()[2].value()
    }

    /// The AlgorithmIdentifier and the bits of a certificate's key.
    fn key(&mut self) -> &mut [Node] {
        self.field(KEY).nodes()
    }

    /// The extensions, which are the last field.
    fn extensions(&mut self) -> &mut Vec<Node> {
        self.body().last_mut().unwrap().nodes()[0].nodes()
    }

    fn remove(&mut self, kind: ObjectIdentifier) {
        let kind = oid(kind);
        self.extensions()
            .retain_mut(|extension| extension.nodes()[0].write() != kind);
    }

    /// Sets an extension, and replaces one of the same kind.
    fn set(&mut self, kind: ObjectIdentifier, critical: bool, contents: &[u8]) {
        self.remove(kind);
        self.extensions().push(extension(kind, critical, contents));
    }

    fn critical(&mut self, kind: ObjectIdentifier, critical: bool) {
        let kind = oid(kind);
        let mut all = self.extensions().iter_mut();
        let found = all.find_map(|one| (one.nodes()[0].write() == kind).then(|| one.nodes()));
        let fields = found.unwrap();
        fields.drain(1..fields.len() - 1);
        if critical {
            fields.insert(1, Node::Leaf(1, vec![0xff]));
        }
    }
}

fn extension(kind: ObjectIdentifier, critical: bool, contents: &[u8]) -> Node {
    let critical = match critical {
        true => tlv(1, &[0xff]),
        false => Vec::new(),
    };
    Node::read(&sequence(&[oid(kind), critical, tlv(4, contents)]))
}

/// Documents that break no rule.
struct Samples {
    root: Vec<u8>,
    ca: Vec<u8>,
    leaf: Vec<u8>,
    kem: Vec<u8>,
    list: Vec<u8>,
    request: Vec<u8>,
}

static SAMPLES: LazyLock<Samples> = LazyLock::new(|| {
    let root = CertificateBuilder::ca("Root").validity(long());
    let root = Issuer::self_signed(root, key()).unwrap();
    let ca = CertificateBuilder::ca("CA").path_len(0).validity(long());
    let ca = root.issue_ca(ca.permit_dns("example.org"), key()).unwrap();
    let leaf_key = key();
    let leaf = server().common_name("Server").validity(short());
    let leaf = leaf.revocation_list_url("http://ca.example.org/ca.crl");
    let kem = DecapsulationKey::from_seed(KemAlgorithm::MlKem512, &[1; 64]).unwrap();
    let kem_builder = CertificateBuilder::end_entity().common_name("Reader");
    let list = CertificateRevocationListBuilder::new(&[7])
        .validity(short())
        .revoke(&[1, 2, 3], at(0), CrlReason::KeyCompromise)
        .revoke(&[4, 5, 6], at(1), CrlReason::Unspecified);
    Samples {
        leaf: ca.issue(leaf, &leaf_key).unwrap().into_der().to_vec(),
        kem: ca
            .issue(kem_builder.validity(short()), &kem)
            .unwrap()
            .into_der()
            .to_vec(),
        list: ca.issue_revocation_list(list).unwrap().into_der().to_vec(),
        request: request(&leaf_key),
        root: root.certificate().der().to_vec(),
        ca: ca.certificate().der().to_vec(),
    }
});

fn request(key: &SigningKey) -> Vec<u8> {
    let request = CertificateRequest::builder().dns_name("example.org");
    request.sign(key).unwrap().to_der().to_vec()
}

/// This many days after 2026-04-01.
fn at(days: u64) -> SystemTime {
    const START: u64 = 1_775_001_600;
    SystemTime::UNIX_EPOCH + Duration::from_secs(START + days * 24 * 60 * 60)
}

fn short() -> Validity {
    Validity::new(at(0), at(90))
}

fn long() -> Validity {
    Validity::new(at(0), at(3650))
}

/// A sound document after a change.
fn case(
    kind: Kind,
    der: &[u8],
    rules: &'static [&'static str],
    change: impl FnOnce(&mut Document),
) -> Case {
    let mut document = Document(Node::read(der));
    change(&mut document);
    Case {
        rules,
        kind,
        der: document.0.write(),
    }
}

fn leaf(rules: &'static [&'static str], change: impl FnOnce(&mut Document)) -> Case {
    case(Kind::Certificate, &SAMPLES.leaf, rules, change)
}

fn ca(rules: &'static [&'static str], change: impl FnOnce(&mut Document)) -> Case {
    case(Kind::Certificate, &SAMPLES.ca, rules, change)
}

fn kem(rules: &'static [&'static str], change: impl FnOnce(&mut Document)) -> Case {
    case(Kind::Certificate, &SAMPLES.kem, rules, change)
}

fn list(rules: &'static [&'static str], change: impl FnOnce(&mut Document)) -> Case {
    case(Kind::RevocationList, &SAMPLES.list, rules, change)
}

fn request_case(rules: &'static [&'static str], change: impl FnOnce(&mut Document)) -> Case {
    case(Kind::Request, &SAMPLES.request, rules, change)
}

fn names(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.rule.name()).collect()
}

#[test]
fn every_rule_is_broken_by_a_document_and_each_document_breaks_what_it_is_to() {
    let mut broken = BTreeSet::new();
    let mut others = Vec::new();
    let cases = [
        certificates::cases(),
        encodings::cases(),
        extensions::cases(),
        keys::cases(),
        lists::cases(),
    ];
    for case in cases.into_iter().flatten() {
        let findings = lint(case.kind, &case.der);
        if names(&findings) != case.rules {
            let texts: Vec<String> = findings.iter().map(Finding::to_string).collect();
            others.push((case.rules, texts));
        }
        broken.extend(case.rules);
    }
    assert!(others.is_empty(), "{others:#?}");
    let all: BTreeSet<&str> = all_rules().map(Rule::name).collect();
    let unbroken: Vec<_> = all.difference(&broken).collect();
    assert!(unbroken.is_empty(), "{unbroken:?}");
}

#[test]
fn rules_have_names_of_their_own_and_say_what_they_are_about() {
    let names: BTreeSet<&str> = all_rules().map(Rule::name).collect();
    assert_eq!(names.len(), all_rules().count());
    for rule in all_rules() {
        let name = rule.name();
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(name.bytes().all(is_plain), "{name}");
        assert!(!rule.kinds().is_empty(), "{name}");
        assert!(rule.description().starts_with(|c: char| !c.is_whitespace()));
        assert!(!rule.description().ends_with('.'), "{name}");
        // A rule that has an RFC in its name is written in this RFC.
        if let Some(number) = name.strip_prefix("rfc").and_then(|name| name.get(..4)) {
            let section = rule.section();
            let is_ours = name == "rfc5280-whole-octets";
            assert!(section.contains(number) || is_ours, "{name}: {section}");
        }
    }
}

#[test]
fn findings_are_in_order_of_their_severity_and_say_all_there_is_to_say() {
    let case = leaf(&[], |leaf| {
        leaf.field(SERIAL_NUMBER).value().splice(.., [0x81]);
        leaf.field(SUBJECT).nodes().clear();
    });
    let findings = lint(case.kind, &case.der);
    let severities: Vec<Severity> = findings.iter().map(|one| one.rule.severity()).collect();
    assert!(severities.is_sorted_by(|one, next| one >= next));
    assert!(severities.contains(&Severity::Notice));
    assert_eq!(
        findings[0].to_string(),
        "error: the serial number 81 is negative (RFC 5280 section 4.1.2.2; \
         rfc5280-serial-number-positive)"
    );
}

/// Whatever a document contains, a finding is one line of moderate length.
#[test]
fn findings_quote_nothing_that_moves_a_cursor() {
    let nasty = [b"\n\x1b[2J\xff".repeat(1000), b"\xe2\x80\xae".to_vec()].concat();
    let names: Vec<u8> = [0x81, 0x82, 0x86, 0x87]
        .iter()
        .flat_map(|tag| tlv(*tag, &nasty))
        .collect();
    let case = leaf(&[], |leaf| {
        *leaf.field(SUBJECT) = tree::name(const_oid::db::rfc4519::COUNTRY_NAME, 0x0c, &nasty);
        let names = names.repeat(100);
        leaf.set(
            const_oid::db::rfc5280::ID_CE_SUBJECT_ALT_NAME,
            false,
            &tlv(0x30, &names),
        );
        leaf.field(VALIDITY).nodes()[0] = Node::Leaf(0x17, nasty.clone());
    });
    let findings = lint(case.kind, &case.der);
    assert!(findings.len() > 6, "{findings:?}");
    for finding in findings {
        let text = finding.to_string();
        assert!(text.len() < 4096, "{}", text.len());
        assert!(
            text.chars()
                .all(|c| c == ' ' || !c.is_control() && !c.is_whitespace())
        );
        assert!(!text.contains('\u{202e}'), "{text}");
    }
}
