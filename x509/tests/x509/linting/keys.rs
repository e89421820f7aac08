//! Keys, their usages, and signatures.

use const_oid::db::rfc5280::{ID_CE_BASIC_CONSTRAINTS, ID_CE_EXT_KEY_USAGE, ID_CE_KEY_USAGE};
use const_oid::db::rfc5280::{ID_KP_CLIENT_AUTH, ID_KP_SERVER_AUTH};
use const_oid::db::rfc5912::RSA_ENCRYPTION;
use pq_x509::keys::identifiers::CompositeIdentifier;
use pq_x509::keys::{Algorithm, KemAlgorithm, SignatureAlgorithm};

use super::tree::{Node, oid, sequence, tlv};
use super::{ALGORITHM, Case, Document, KEY, SAMPLES, ca, case, kem, leaf, request_case};
use pq_x509::linting::Kind;

pub(super) fn cases() -> Vec<Case> {
    [parameters(), lengths(), forbidden(), usages(), tls()]
        .into_iter()
        .flatten()
        .collect()
}

/// An AlgorithmIdentifier.
fn identifier(algorithm: impl Into<Algorithm>) -> Node {
    Node::read(&sequence(&[oid(algorithm.into().oid())]))
}

/// Makes the certificate claim a key of this algorithm, with this many octets.
fn key(one: &mut Document, algorithm: impl Into<Algorithm>, len: usize) {
    one.key()[0] = identifier(algorithm);
    *one.key()[1].value() = vec![0; 1 + len];
}

/// The same for its signature.
fn signature(one: &mut Document, algorithm: impl Into<Algorithm>, len: usize) {
    let identifier = identifier(algorithm);
    *one.field(ALGORITHM) = identifier.clone();
    one.0.nodes()[1] = identifier;
    *one.signature() = vec![0; 1 + len];
}

fn slh_dsa(rules: &'static [&'static str], change: impl FnOnce(&mut Document)) -> Case {
    leaf(rules, |one| {
        key(one, SignatureAlgorithm::SlhDsaSha2_128f, 32);
        change(one);
    })
}

/// A key of Composite ML-DSA, whose bits are not checked.
fn composite(rules: &'static [&'static str], change: impl FnOnce(&mut Document)) -> Case {
    leaf(rules, |one| {
        let composite = CompositeIdentifier::from_arc(45).unwrap();
        one.key()[0] = Node::read(&sequence(&[oid(composite.oid())]));
        change(one);
    })
}

fn parameters() -> Vec<Case> {
    let null = || Node::Leaf(5, Vec::new());
    vec![
        leaf(&["rfc9881-parameters"], |one| {
            one.key()[0].nodes().push(null())
        }),
        leaf(
            &["rfc5280-signature-algorithms-agree", "rfc9881-parameters"],
            |one| {
                one.outer_algorithm().push(null());
            },
        ),
        leaf(&["rfc9881-parameters"], |one| {
            one.outer_algorithm().push(null());
            one.field(ALGORITHM).nodes().push(null());
        }),
        slh_dsa(&["rfc9909-parameters"], |one| {
            one.key()[0].nodes().push(null())
        }),
        kem(&["rfc9935-parameters"], |one| {
            one.key()[0].nodes().push(null())
        }),
        composite(&[], |_| {}),
        composite(&["draft-composite-parameters"], |one| {
            one.key()[0].nodes().push(null())
        }),
    ]
}

fn lengths() -> Vec<Case> {
    vec![
        leaf(&["rfc9881-key-length"], |one| {
            one.key()[1].value().pop();
        }),
        leaf(&["rfc9881-key-length"], |one| {
            key(one, SignatureAlgorithm::MlDsa65, 1312)
        }),
        slh_dsa(&["rfc9909-key-length"], |one| {
            one.key()[1].value().push(7);
        }),
        kem(&["rfc9935-key-length"], |one| {
            one.key()[1].value().pop();
        }),
        // A coefficient that is not reduced.
        kem(&["rfc9935-encapsulation-key"], |one| {
            one.key()[1].value()[1..4].fill(0xff);
        }),
        leaf(&["rfc9881-signature-length"], |one| {
            one.signature().pop();
        }),
        leaf(&["rfc9909-signature-length"], |one| {
            signature(one, SignatureAlgorithm::SlhDsaShake128f, 17_087);
        }),
        leaf(&[], |one| {
            signature(one, SignatureAlgorithm::SlhDsaShake128f, 17_088)
        }),
        leaf(&["rfc5280-whole-octets"], |one| {
            // The last bits are zero, so that they can count as unused.
            one.key()[1].value()[0] = 4;
            *one.key()[1].value().last_mut().unwrap() = 0;
        }),
    ]
}

fn forbidden() -> Vec<Case> {
    let hash_ml_dsa = const_oid::ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.32");
    let hashing = Node::read(&sequence(&[oid(hash_ml_dsa)]));
    let rsa = |len: usize| {
        let modulus = [vec![0, 0x80], vec![7; len - 1]].concat();
        let key = sequence(&[tlv(2, &modulus), tlv(2, &[1, 0, 1])]);
        Node::read(&sequence(&[
            sequence(&[oid(RSA_ENCRYPTION), tlv(5, &[])]),
            tlv(3, &[&[0][..], &key].concat()),
        ]))
    };
    vec![
        leaf(&["rfc9881-hash-ml-dsa"], |one| {
            one.key()[0] = hashing.clone()
        }),
        leaf(&["rfc9881-hash-ml-dsa"], |one| {
            *one.field(ALGORITHM) = hashing.clone();
            one.0.nodes()[1] = hashing.clone();
        }),
        leaf(&["rfc9935-cannot-sign"], |one| {
            signature(one, KemAlgorithm::MlKem512, 2420);
        }),
        kem(&["rfc9935-cannot-sign", "rfc9935-key-usage"], |one| {
            let constraints = sequence(&[tlv(1, &[0xff])]);
            one.set(ID_CE_BASIC_CONSTRAINTS, true, &constraints);
            one.remove(ID_CE_KEY_USAGE);
            let usage = [3, 2, 2, 0x04];
            one.set(ID_CE_KEY_USAGE, true, &usage);
        }),
        case(
            Kind::Request,
            &SAMPLES.request,
            &["rfc9935-cannot-sign"],
            |one| {
                let mut reader = Document(Node::read(&SAMPLES.kem));
                *one.field(2) = reader.field(KEY).clone();
            },
        ),
        leaf(&["sp800-131a-rsa-key"], |one| *one.field(KEY) = rsa(128)),
        leaf(&[], |one| *one.field(KEY) = rsa(256)),
    ]
}

/// Sets these key usages: the number of unused bits, and the octets.
fn usage(bits: &'static [u8]) -> impl FnOnce(&mut Document) {
    move |one| one.set(ID_CE_KEY_USAGE, true, &tlv(3, bits))
}

fn usages() -> Vec<Case> {
    vec![
        leaf(
            &[
                "rfc5280-key-usage-empty",
                "rfc9881-key-usage",
                "rfc8446-digital-signature",
            ],
            usage(&[0]),
        ),
        leaf(&["x690-named-bits"], usage(&[0, 0x80])),
        leaf(&["x690-named-bits"], usage(&[0, 0x80, 0])),
        leaf(&["rfc5280-key-cert-sign-without-ca"], usage(&[2, 0x84])),
        ca(&["rfc5280-ca-without-key-usage"], |one| {
            one.remove(ID_CE_KEY_USAGE)
        }),
        ca(&["rfc5280-ca-without-key-cert-sign"], |one| {
            one.set(ID_CE_BASIC_CONSTRAINTS, true, &sequence(&[tlv(1, &[0xff])]));
            usage(&[1, 0x02])(one);
        }),
        leaf(
            &["rfc9881-key-usage", "rfc5280-encipher-only"],
            usage(&[0, 0x81]),
        ),
        leaf(&["rfc9881-key-usage"], usage(&[5, 0xa0])),
        leaf(
            &["rfc9881-key-usage", "rfc8446-digital-signature"],
            usage(&[5, 0x20]),
        ),
        slh_dsa(&["rfc9909-key-usage"], usage(&[3, 0x88])),
        kem(&["rfc9935-key-usage"], usage(&[5, 0xa0])),
        composite(&["draft-composite-key-usage"], usage(&[3, 0x88])),
        request_case(&["rfc9881-key-usage"], |one| {
            let usage = super::extension(ID_CE_KEY_USAGE, true, &[3, 2, 5, 0xa0]);
            let asked = one.field(3).nodes()[0].nodes()[1].nodes()[0].nodes();
            asked.push(usage);
        }),
    ]
}

fn tls() -> Vec<Case> {
    vec![
        leaf(&["rfc8446-digital-signature"], usage(&[6, 0x40])),
        kem(&["rfc9935-tls"], |one| {
            one.set(
                ID_CE_EXT_KEY_USAGE,
                false,
                &sequence(&[oid(ID_KP_CLIENT_AUTH)]),
            );
        }),
        kem(&["rfc9525-server-without-name", "rfc9935-tls"], |one| {
            one.set(
                ID_CE_EXT_KEY_USAGE,
                false,
                &sequence(&[oid(ID_KP_SERVER_AUTH)]),
            );
        }),
    ]
}
