//! Documents that are not DER.

use const_oid::db::rfc4519::{COMMON_NAME, ORGANIZATION_NAME};
use const_oid::db::rfc5280::{
    ID_CE_BASIC_CONSTRAINTS, ID_CE_NAME_CONSTRAINTS, ID_CE_SUBJECT_ALT_NAME,
};
use pq_x509::linting::Kind;

use super::tree::{Node, name, sequence, tlv};
use super::{Case, SAMPLES, SERIAL_NUMBER, SUBJECT, ca, leaf, list, request_case};

pub(super) fn cases() -> Vec<Case> {
    [unreadable(), values(), strings()]
        .into_iter()
        .flatten()
        .collect()
}

/// Bytes that are no document, or an incomplete one.
fn unreadable() -> Vec<Case> {
    let of = |rules, kind, der: &[u8]| Case {
        rules,
        kind,
        der: der.to_vec(),
    };
    let trailing = [&SAMPLES.leaf[..], &[0]].concat();
    let mut cases = vec![
        of(&["asn1-syntax"], Kind::Certificate, b""),
        of(&["asn1-syntax"], Kind::Certificate, b"something else"),
        of(&["asn1-syntax"], Kind::Certificate, &[0x30, 0x80, 0, 0]),
        of(&["asn1-syntax"], Kind::Certificate, &trailing),
        of(&["asn1-syntax"], Kind::Certificate, &SAMPLES.leaf[..2000]),
        of(
            &["asn1-syntax"],
            Kind::RevocationList,
            &SAMPLES.list[..2000],
        ),
        of(&["asn1-syntax"], Kind::Request, &SAMPLES.request[..2000]),
    ];
    // The fields after the serial number are missing, and the fields before are checked.
    cases.push(leaf(
        &["asn1-syntax", "rfc5280-serial-number-positive"],
        |one| {
            one.field(SERIAL_NUMBER).value()[0] = 0x80;
            one.body().truncate(2);
        },
    ));
    cases
}

fn values() -> Vec<Case> {
    let mut long = leaf(&["asn1-syntax", "x690-length"], |_| {});
    // 30 82 l l becomes 30 83 00 l l.
    long.der[1] = 0x83;
    long.der.insert(2, 0);
    let subtree = sequence(&[tlv(0x82, b"example.org"), tlv(0x80, &[0])]);
    vec![
        long,
        leaf(
            &["asn1-syntax", "x690-length", "rfc5280-extension-syntax"],
            |one| {
                one.set(
                    ID_CE_SUBJECT_ALT_NAME,
                    false,
                    &[0x30, 0x81, 3, 0x82, 1, b'a'],
                );
            },
        ),
        leaf(&["asn1-syntax", "x690-integer"], |one| {
            one.field(SERIAL_NUMBER).value().splice(..2, [0, 1]);
        }),
        leaf(
            &[
                "asn1-syntax",
                "x690-boolean",
                "rfc5280-alternative-names-critical",
            ],
            |one| {
                let names = tlv(0x30, &tlv(0x82, b"example.org"));
                one.set(ID_CE_SUBJECT_ALT_NAME, false, &names);
                let extension = one.extensions().last_mut().unwrap().nodes();
                extension.insert(1, Node::Leaf(1, vec![1]));
            },
        ),
        leaf(&["x690-bit-string", "rfc5280-whole-octets"], |one| {
            one.signature()[0] = 1;
            *one.signature().last_mut().unwrap() |= 1;
        }),
        leaf(&["x690-set-order"], |one| {
            let mut parts = [COMMON_NAME, ORGANIZATION_NAME].map(|kind| {
                let mut name = name(kind, 0x0c, b"A");
                name.nodes()[0].nodes().remove(0)
            });
            parts.reverse();
            *one.field(SUBJECT) = Node::Inner(0x30, vec![Node::Inner(0x31, parts.into())]);
        }),
        leaf(&["x690-object-identifier"], |one| {
            let mut attribute = name(COMMON_NAME, 0x0c, b"A");
            let kind = &mut attribute.nodes()[0].nodes()[0].nodes()[0];
            *kind.value() = vec![0x2a, 0x80, 0x86, 0x48];
            *one.field(SUBJECT) = attribute;
        }),
        leaf(&["x690-object-identifier"], |one| {
            let names = sequence(&[tlv(0x82, b"example.org"), tlv(0x88, &[0x2a, 0x80, 1])]);
            one.set(ID_CE_SUBJECT_ALT_NAME, false, &names);
        }),
        leaf(&["x690-default"], |one| {
            let names = tlv(0x30, &tlv(0x82, b"example.org"));
            one.set(ID_CE_SUBJECT_ALT_NAME, false, &names);
            let extension = one.extensions().last_mut().unwrap().nodes();
            extension.insert(1, Node::Leaf(1, vec![0]));
        }),
        leaf(&["x690-default"], |one| {
            let constraints = sequence(&[tlv(1, &[0])]);
            one.set(ID_CE_BASIC_CONSTRAINTS, true, &constraints);
        }),
        ca(&["x690-default"], |one| {
            let constraints = sequence(&[tlv(0xa0, &subtree)]);
            one.set(ID_CE_NAME_CONSTRAINTS, true, &constraints);
        }),
        leaf(&["x690-default", "rfc5280-version"], |one| {
            *one.field(0) = Node::Inner(0xa0, vec![Node::Leaf(2, vec![0])]);
        }),
    ]
}

fn strings() -> Vec<Case> {
    let texts: [(&'static [&'static str], u8, &[u8]); 5] = [
        (&["x680-string"], 0x0c, b"\xff"),
        (&["x680-string"], 0x13, b"\n"),
        (&["x680-string", "rfc5280-string-type"], 0x1e, b"\0A\0"),
        (&["x680-printable-string"], 0x13, b"A&B"),
        (&["x680-printable-string"], 0x13, b"*.example.org"),
    ];
    let of_subjects = texts.map(|(rules, tag, text)| {
        leaf(rules, |one| {
            *one.field(SUBJECT) = name(COMMON_NAME, tag, text)
        })
    });
    of_subjects
        .into_iter()
        .chain([
            list(&["x680-string"], |one| {
                *one.field(2) = name(COMMON_NAME, 0x0c, b"\xff");
            }),
            request_case(&["x680-string"], |one| {
                *one.field(1) = name(COMMON_NAME, 0x0c, b"\xff");
            }),
        ])
        .collect()
}
