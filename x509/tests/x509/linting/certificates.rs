//! Fields, names and validity of certificates.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc3280::EMAIL_ADDRESS;
use const_oid::db::rfc4519::{
    COMMON_NAME, COUNTRY_NAME, DOMAIN_COMPONENT, ORGANIZATION_NAME, SERIAL_NUMBER as NUMBER_IN_NAME,
};
use const_oid::db::rfc5280::{ID_CE_SUBJECT_ALT_NAME, ID_CE_SUBJECT_KEY_IDENTIFIER};
use const_oid::db::rfc5912::{
    ECDSA_WITH_SHA_256, MD_5_WITH_RSA_ENCRYPTION, SHA_1_WITH_RSA_ENCRYPTION,
};

use super::tree::{Node, name, oid, sequence};
use super::{ALGORITHM, Case, Document, ISSUER, SERIAL_NUMBER, SUBJECT, VALIDITY, ca, leaf};

pub(super) fn cases() -> Vec<Case> {
    [fields(), signatures(), names(), validity()]
        .into_iter()
        .flatten()
        .collect()
}

fn number(value: &'static [u8]) -> impl FnOnce(&mut Document) {
    move |one| *one.field(SERIAL_NUMBER).value() = value.to_vec()
}

fn fields() -> Vec<Case> {
    vec![
        leaf(&["rfc5280-version"], |one| {
            *one.field(0) = Node::Inner(0xa0, vec![Node::Leaf(2, vec![1])]);
        }),
        leaf(&["rfc5280-version"], |one| {
            one.body().remove(0);
        }),
        leaf(&["asn1-syntax", "rfc5280-version"], |one| {
            *one.field(0) = Node::Inner(0xa0, vec![Node::Leaf(2, vec![3])]);
        }),
        leaf(&["rfc5280-unique-identifiers"], |one| {
            one.body().insert(7, Node::Leaf(0x81, vec![0, 7]));
        }),
        leaf(
            &[
                "rfc5280-version",
                "rfc5280-unique-identifiers",
                "rfc5280-subject-empty",
                "rfc5280-authority-key-id",
                "rfc5280-end-entity-without-key-id",
            ],
            |one| {
                one.body().remove(0);
                one.body().pop();
                *one.field(SUBJECT - 1) = Node::Inner(0x30, Vec::new());
                one.body().push(Node::Leaf(0x82, vec![0, 7]));
            },
        ),
        leaf(&["rfc5280-serial-number-positive"], |one| {
            one.field(SERIAL_NUMBER).value()[0] = 0x80;
        }),
        leaf(
            &[
                "rfc5280-serial-number-positive",
                "cabf-serial-number-entropy",
            ],
            number(&[0]),
        ),
        leaf(
            &["cabf-serial-number-entropy"],
            number(&[1, 2, 3, 4, 5, 6, 7]),
        ),
        leaf(&["rfc5280-serial-number-length"], number(&[7; 21])),
        leaf(
            &["asn1-syntax", "rfc5280-serial-number-length"],
            number(&[7; 22]),
        ),
    ]
}

fn signed_by(one: &mut Document, algorithm: ObjectIdentifier) {
    let identifier = Node::read(&sequence(&[oid(algorithm)]));
    *one.field(ALGORITHM) = identifier.clone();
    one.0.nodes()[1] = identifier;
}

fn signatures() -> Vec<Case> {
    vec![
        leaf(&["rfc5280-signature-algorithms-agree"], |one| {
            *one.field(ALGORITHM) = Node::read(&sequence(&[oid(ECDSA_WITH_SHA_256)]));
        }),
        leaf(&["sp800-131a-signature-hash"], |one| {
            signed_by(one, SHA_1_WITH_RSA_ENCRYPTION);
        }),
        leaf(&["sp800-131a-signature-hash"], |one| {
            signed_by(one, MD_5_WITH_RSA_ENCRYPTION);
        }),
    ]
}

fn subject(kind: ObjectIdentifier, tag: u8, value: &'static [u8]) -> impl FnOnce(&mut Document) {
    move |one| *one.field(SUBJECT) = name(kind, tag, value)
}

fn names() -> Vec<Case> {
    vec![
        leaf(&["rfc5280-issuer-empty"], |one| {
            one.field(ISSUER).nodes().clear()
        }),
        ca(
            &["rfc5280-ca-without-subject", "rfc5280-subject-empty"],
            |one| one.field(SUBJECT).nodes().clear(),
        ),
        leaf(&["rfc5280-subject-empty"], |one| {
            one.field(SUBJECT).nodes().clear()
        }),
        leaf(
            &["rfc5280-subject-empty", "rfc9525-server-without-name"],
            |one| {
                one.field(SUBJECT).nodes().clear();
                one.remove(ID_CE_SUBJECT_ALT_NAME);
            },
        ),
        // An IA5String where none is allowed, and an attribute that must be a PrintableString or an IA5String.
        leaf(
            &["rfc5280-attribute-type"],
            subject(COMMON_NAME, 0x16, b"A"),
        ),
        leaf(
            &["rfc5280-attribute-type"],
            subject(NUMBER_IN_NAME, 0x0c, b"7"),
        ),
        leaf(
            &["rfc5280-attribute-type"],
            subject(DOMAIN_COMPONENT, 0x0c, b"org"),
        ),
        leaf(&["rfc5280-string-type"], subject(COMMON_NAME, 0x14, b"A")),
        leaf(&["rfc5280-string-type"], subject(COMMON_NAME, 0x1e, b"\0A")),
        leaf(&["rfc5280-string-type"], |one| {
            *one.field(ISSUER) = name(ORGANIZATION_NAME, 0x1c, b"\0\0\0A");
        }),
        leaf(
            &["rfc5280-attribute-length"],
            subject(COMMON_NAME, 0x0c, b""),
        ),
        leaf(
            &["rfc5280-attribute-length"],
            subject(COMMON_NAME, 0x0c, &[b'a'; 65]),
        ),
        leaf(
            &["rfc5280-attribute-length", "rfc5280-string-type"],
            subject(COMMON_NAME, 0x1e, &[0; 130]),
        ),
        leaf(&["rfc5280-country"], subject(COUNTRY_NAME, 0x13, b"Sweden")),
        leaf(&["rfc5280-country"], subject(COUNTRY_NAME, 0x13, b"S1")),
        leaf(
            &["rfc5280-email-in-subject"],
            subject(EMAIL_ADDRESS, 0x16, b"a@b.example"),
        ),
        // The maximum length, which is in characters.
        leaf(&[], |one| {
            *one.field(SUBJECT) = name(COMMON_NAME, 0x0c, "é".repeat(64).as_bytes());
        }),
        leaf(&["rfc5280-end-entity-without-key-id"], |one| {
            one.remove(ID_CE_SUBJECT_KEY_IDENTIFIER);
        }),
    ]
}

/// Sets the certificate's validity: from the first time to the second.
fn valid(start: (u8, &str), end: (u8, &str)) -> impl FnOnce(&mut Document) {
    let times = [start, end].map(|(tag, time)| Node::Leaf(tag, time.as_bytes().to_vec()));
    move |one| *one.field(VALIDITY).nodes() = times.into()
}

fn validity() -> Vec<Case> {
    const UTC: u8 = 0x17;
    const LONG: u8 = 0x18;
    let start = (UTC, "260401000000Z");
    let end = (UTC, "260601000000Z");
    vec![
        leaf(
            &["asn1-syntax", "rfc5280-time-form"],
            valid((UTC, "2604010000Z"), end),
        ),
        leaf(
            &["asn1-syntax", "rfc5280-time-form"],
            valid((UTC, "260401000000+0100"), end),
        ),
        leaf(
            &["asn1-syntax", "rfc5280-time-form"],
            valid(start, (LONG, "20600101000000.5Z")),
        ),
        leaf(
            &["asn1-syntax", "rfc5280-time-form"],
            valid((UTC, "260431000000Z"), end),
        ),
        leaf(
            &["rfc5280-time-type"],
            valid((LONG, "20260401000000Z"), end),
        ),
        leaf(&["rfc5280-validity-order"], valid(end, start)),
        leaf(
            &["rfc5280-no-expiration", "cabf-server-validity"],
            valid(start, (LONG, "99991231000000Z")),
        ),
        leaf(
            &["rfc5280-never-expires", "cabf-server-validity"],
            valid(start, (LONG, "99991231235959Z")),
        ),
        leaf(
            &["posix-date-before-1970", "cabf-server-validity"],
            valid((UTC, "690101000000Z"), end),
        ),
        // 398 days to the second, and one second more.
        leaf(&[], valid((UTC, "260314000000Z"), (UTC, "270415235959Z"))),
        leaf(
            &["cabf-server-validity"],
            valid((UTC, "260314000000Z"), (UTC, "270416000000Z")),
        ),
        // The limits of 2026, 2027 and 2029.
        leaf(&[], valid((UTC, "260315000000Z"), (UTC, "260930235959Z"))),
        leaf(
            &["cabf-server-validity"],
            valid((UTC, "260315000000Z"), (UTC, "261001000000Z")),
        ),
        leaf(
            &["cabf-server-validity"],
            valid((UTC, "270315000000Z"), (UTC, "270623000000Z")),
        ),
        leaf(
            &["cabf-server-validity"],
            valid((UTC, "290315000000Z"), (UTC, "290501000000Z")),
        ),
    ]
}
