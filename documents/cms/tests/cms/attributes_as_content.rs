//! Signed attributes that pose as content, and content that poses as signed attributes (RFC 9882, section 6): by
//! their shape, whatever the types of the attributes are, and in every encoding that some reader takes.

use pq_cms::{
    AttributesGuard, DocumentSigner, SignatureRefusal, SignedDataBuilder, SigningError, Verifier,
};
use pq_x509::keys::SignatureAlgorithm;

use crate::bytes::{indefinite, parts, tlv};
use crate::people::Person;
use crate::signed::{CONTENT, by, refusal};

/// Contents of an object identifier: an arc that never ends, one that is large, one with padding, small ones.
fn identifiers() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for len in 1..=60 {
        for fill in [0x00, 0x01, 0x7f, 0x80, 0x81, 0xff] {
            let mut one = vec![fill; len];
            all.push(one.clone());
            one[len - 1] &= 0x7f;
            all.push(one.clone());
            one[0] = 0x2a;
            all.push(one);
        }
    }
    // All first arcs and second arcs, also those above 2.39, and none that is valid at all.
    all.extend((0..=255).map(|first| vec![first, 3]));
    all.extend((0..=255).map(|first| vec![0x88, first, 1]));
    all.push(vec![]);
    all
}

/// The length of a value in a form that DER does not have.
fn long(tag: u8, count: usize, contents: &[u8]) -> Vec<u8> {
    let mut len = vec![0; count];
    for (byte, from) in len.iter_mut().rev().zip(contents.len().to_le_bytes()) {
        *byte = from;
    }
    [&[tag, 0x80 | count as u8][..], &len, contents].concat()
}

/// A value: its tag and what is in it, in some encoding.
type Encode = fn(u8, &[u8]) -> Vec<u8>;

const ENCODINGS: [Encode; 6] = [
    |tag, contents| tlv(tag, &[contents]),
    |tag, contents| indefinite(tag, &[contents]),
    |tag, contents| long(tag, 2, contents),
    |tag, contents| long(tag, 4, contents),
    |tag, contents| long(tag, 8, contents),
    |tag, contents| long(tag, 126, contents),
];

/// Attributes with this type in them, in all encodings of the set and of its attributes.
fn sets(identifier: &[u8]) -> Vec<Vec<u8>> {
    let oid = tlv(6, &[identifier]);
    let values: [&[u8]; 6] = [
        &[0x31, 0],
        &[0x31, 2, 5, 0],
        &[0x31, 0x80, 5, 0, 0, 0],
        &[0x31, 0x81, 2, 5, 0],
        &[5, 0],
        &[],
    ];
    let set_of = |set: Encode, attribute: Encode, values: &[u8]| {
        let attribute = attribute(0x30, &[&oid, values].concat());
        set(0x31, &attribute)
    };
    let [der, ..] = ENCODINGS;
    let mut sets: Vec<_> = values.map(|values| set_of(der, der, values)).into();
    for set in ENCODINGS {
        sets.extend(ENCODINGS.map(|attribute| set_of(set, attribute, values[1])));
    }
    let attribute = tlv(0x30, &[&oid, &[0x31, 0]]);
    for before in [
        &[][..],
        &[5, 0],
        &[0x30, 0],
        &[0x31, 0x80, 0x30, 0x80, 0, 0, 0, 0],
    ] {
        for after in [&[][..], &[5, 0], &[0x30, 0], &[0xff, 0xff]] {
            let set = tlv(0x31, &[before, &attribute, after]);
            sets.push([&set, &b"something follows"[..]].concat());
            sets.push([&indefinite(0x31, &[before, &attribute, after]), &[0][..]].concat());
            sets.push(set);
        }
    }
    // Its object identifier has its length in another form, or is longer than what there is.
    for bad in [&long(6, 3, identifier)[..], &[6, 0x80, 0, 0], &[6, 60, 1]] {
        sets.push(tlv(0x31, &[&tlv(0x30, &[bad, &[0x31, 0]])]));
    }
    sets
}

fn may_be_attributes(content: &[u8], piece: usize) -> bool {
    let mut guard = AttributesGuard::new();
    for piece in content.chunks(piece) {
        guard.update(piece);
    }
    guard.may_be_attributes()
}

/// The battery: types of 1 to 60 bytes and of all arcs, in each shape.
#[test]
fn every_set_of_attributes_counts_whatever_their_types() {
    let mut number = 0;
    for identifier in identifiers() {
        for set in sets(&identifier) {
            // All at once, and in pieces down to single bytes.
            let piece = [usize::MAX, 64, 7, 1][number % 4];
            number += 1;
            assert!(may_be_attributes(&set, piece), "{}", hex::encode(&set));
        }
    }
    assert!(number > 100_000);
    for empty in [
        &[0x31, 0][..],
        &[0x31, 0x80, 0, 0],
        &[0x31, 0x81, 0],
        &[0x31, 2, 0x30, 0],
    ] {
        assert!(may_be_attributes(empty, 1), "{empty:?}");
    }
}

/// Whatever else is wrong with a SET: if it names messageDigest, some reader may find it there.
#[test]
fn a_set_with_a_message_digest_counts_however_damaged() {
    let digest = tlv(6, &[&[42, 134, 72, 134, 247, 13, 1, 9, 4]]);
    let set = tlv(
        0x31,
        &[&tlv(0x30, &[&digest, &tlv(0x31, &[&tlv(4, &[&[7; 64]])])])],
    );
    let at = set
        .windows(digest.len())
        .position(|window| window == digest)
        .unwrap();
    for changed in 1..at + 2 {
        for byte in 0..=255 {
            let mut damaged = set.clone();
            damaged[changed] = byte;
            assert!(may_be_attributes(&damaged, usize::MAX), "{changed} {byte}");
        }
    }
    // Far behind what is looked at, in pieces of any length.
    let far = [
        &[0x31, 0x82, 0x10, 0, 0x78, 0x7f][..],
        &[b' '; 100_000],
        &digest,
    ]
    .concat();
    for piece in [1, 3, 8, 9, 10, 64 * 1024, usize::MAX] {
        assert!(may_be_attributes(&far, piece), "{piece}");
        assert!(!may_be_attributes(&far[1..], piece));
    }
    assert!(!may_be_attributes(&far[..far.len() - 1], 64));
    // A SET that is longer than what is looked at.
    let long = tlv(
        0x31,
        &[&tlv(4, &[&vec![0; 70_000]]), &tlv(0x30, &[&[6, 1, 1]])],
    );
    assert!(may_be_attributes(&long, 1000));
    assert!(may_be_attributes(
        &indefinite(0x31, &[&tlv(4, &[&vec![0; 70_000]])]),
        1000
    ));
}

/// Texts that begin like a SET, whose tag is "1", can be signed.
#[test]
fn other_content_does_not_count() {
    for text in [
        &b""[..],
        b"1",
        b"10",
        b"1\n",
        b"1.0 release notes, which are longer than forty-six bytes, as such notes are",
        b"1. Introduction",
        b"100000000000000000000000000000000000000000000000000000000000000000000000000000",
        b"120 apples and pears, 30 of which were eaten before anybody had counted them",
        b"2024-01-31",
        b"1\x03abc",
        b"1\x84\0\0\0\x01x",
        b"1\xc2\xb0 warmer",
        b"0\x80\x06\x03",
        b"%PDF-1.7",
        b"PK\x03\x04",
        b"{\"a\":1}",
    ] {
        assert!(!may_be_attributes(text, usize::MAX), "{text:?}");
    }
    // Every start of a text of ASCII.
    let ascii: Vec<u8> = (b' '..0x7f).chain(*b"\t\r\n").collect();
    let mut text = [b'x'; 200];
    text[0] = b'1';
    for len in &ascii {
        for tag in &ascii {
            for inner in ascii.iter().step_by(5) {
                text[1..4].copy_from_slice(&[*len, *tag, *inner]);
                assert!(!may_be_attributes(&text, usize::MAX), "{:?}", &text[..4]);
            }
        }
    }
    let rest = vec![b'x'; 70_000];
    assert!(!may_be_attributes(&[b"1. ", &rest[..]].concat(), 1000));
}

/// With signatures: an honest message whose attributes become the content of one without, and content that
/// becomes the attributes of a message which nobody signed.
#[test]
fn neither_signer_nor_verifier_takes_them() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let verifier = Verifier::with_signers([person.certificate.clone()]).unwrap();
    let plain = |content: &[u8]| {
        let signer = DocumentSigner::new(&person.certificate, &person.key).without_attributes();
        SignedDataBuilder::new()
            .signer(signer)
            .sign_detached(content)
    };
    let template = plain(CONTENT).unwrap();
    let info = parts(&template);
    let signed = parts(parts(info[1])[0]);
    let signer = parts(parts(signed[4])[0]);
    for len in 1..=60 {
        for fill in [0x2a, 0x88, 0xff] {
            let mut identifier = vec![fill; len];
            identifier[len - 1] &= 0x7f;
            for set in sets(&identifier).into_iter().step_by(41) {
                assert!(matches!(
                    plain(&set),
                    Err(SigningError::ContentIsAttributes)
                ));
                let signature = person.key.sign(&set).unwrap();
                let signer = tlv(0x30, &[&signer[..4].concat()[..], &tlv(4, &[&signature])]);
                let signers = tlv(0x31, &[&signer]);
                let signed = tlv(0x30, &[&signed[..4].concat()[..], &signers]);
                let message = tlv(0x30, &[info[0], &tlv(0xa0, &[&signed])]);
                assert!(matches!(
                    refusal(verifier.verify_detached(&message[..], &set[..])),
                    SignatureRefusal::ContentIsAttributes
                ));
            }
        }
    }
}

#[test]
fn attributes_can_be_required() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let verifier = Verifier::with_signers([person.certificate.clone()]).unwrap();
    let strict = verifier.clone().require_attributes();
    let with = by(&person).sign_detached(CONTENT).unwrap();
    assert!(strict.verify_detached(&with[..], CONTENT).is_ok());
    let signer = DocumentSigner::new(&person.certificate, &person.key).without_attributes();
    let without = SignedDataBuilder::new()
        .signer(signer)
        .sign_detached(CONTENT);
    let without = without.unwrap();
    assert!(verifier.verify_detached(&without[..], CONTENT).is_ok());
    assert!(matches!(
        refusal(strict.verify_detached(&without[..], CONTENT)),
        SignatureRefusal::NoAttributes
    ));
}
