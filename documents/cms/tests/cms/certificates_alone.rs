//! Messages of certificates alone, without signers.

use pq_cms::{
    EncodingError, Outline, VerificationError, decode_certificates, encode_certificates, inspect,
};
use pq_x509::certificate::Certificate;
use pq_x509::keys::SignatureAlgorithm;

use crate::bytes::{changed, indefinite, parts, tlv};
use crate::people::{Person, certificate};
use crate::signed::{CONTENT, attached, by};

/// 1.2.840.113549.1.7.2 and 1.2.840.113549.1.7.1.
const SIGNED_DATA: [u8; 11] = *b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02";
const DATA: [u8; 11] = *b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01";

fn two() -> [Certificate; 2] {
    let key = signers::P256Key::new(3);
    ["a", "b"].map(|name| certificate(name, &key))
}

/// A message of these parts of a SignedData.
fn message(parts: &[&[u8]]) -> Vec<u8> {
    let content = tlv(0xa0, &[&tlv(0x30, parts)]);
    tlv(0x30, &[&SIGNED_DATA, &content])
}

fn ders(certificates: &[Certificate]) -> Vec<&[u8]> {
    certificates.iter().map(|one| &**one.der()).collect()
}

#[test]
fn certificates_are_there_once_and_sorted() {
    let [a, b] = two();
    let written = encode_certificates([&b, &a, &b]).unwrap();
    assert_eq!(written, encode_certificates([&a, &b]).unwrap());
    let mut expected = [&**a.der(), &**b.der()];
    expected.sort_unstable();
    let by_hand = message(&[
        &[2, 1, 1],
        &[0x31, 0],
        &tlv(0x30, &[&DATA]),
        &tlv(0xa0, &expected),
        &[0x31, 0],
    ]);
    assert_eq!(written, by_hand);
    assert_eq!(ders(&decode_certificates(&written).unwrap()), expected);
    let Outline::Signed(outline) = inspect(&written[..]).unwrap() else {
        panic!("it is a SignedData");
    };
    assert_eq!(ders(&outline.certificates), expected);
    assert!(outline.signers.is_empty() && outline.content_len.is_none());
    // No certificate is no fault of the message.
    let none = encode_certificates([]).unwrap();
    assert!(decode_certificates(&none).unwrap().is_empty());
}

#[test]
fn the_order_of_others_is_kept_and_their_lists_are_left_aside() {
    let [a, b] = two();
    let mut backward = [&**a.der(), &**b.der()];
    backward.sort_unstable_by(|a, b| b.cmp(a));
    let list = tlv(0xa1, &[&tlv(0x30, &[])]);
    for lists in [&[][..], &list] {
        let message = message(&[
            &[2, 1, 1],
            &[0x31, 0],
            &tlv(0x30, &[&DATA]),
            &tlv(0xa0, &backward),
            lists,
            &[0x31, 0],
        ]);
        assert_eq!(ders(&decode_certificates(&message).unwrap()), backward);
    }
}

#[test]
fn no_other_message_is_read() {
    let [a, _] = two();
    let certificates = tlv(0xa0, &[a.der()]);
    let (none, data) = (&[0x31, 0][..], &tlv(0x30, &[&DATA])[..]);
    let refused = |message: &[u8]| decode_certificates(message).unwrap_err();
    let with = |version: u8, content: &[u8], signers: &[u8]| {
        refused(&message(&[
            &[2, 1, version],
            none,
            content,
            &certificates,
            signers,
        ]))
    };
    let signer = tlv(0x31, &[&tlv(0x30, &[])]);
    let content = tlv(0xa0, &[&tlv(4, &[b"text"])]);
    let with_content = tlv(0x30, &[&DATA, &content]);
    let other_type = tlv(0x30, &[&SIGNED_DATA]);
    for (error, what) in [
        (with(1, data, &signer), "signers"),
        (with(1, &with_content, none), "content"),
        (with(1, &other_type, none), "content"),
    ] {
        assert!(
            matches!(error, VerificationError::NotCertificatesAlone(found) if found == what),
            "{error}"
        );
    }
    assert!(matches!(
        with(3, data, none),
        VerificationError::Version {
            found: 3,
            expected: 1
        }
    ));
    assert!(matches!(
        refused(&tlv(0x30, &[&DATA, &tlv(0xa0, &[])])),
        VerificationError::NotSigned(_)
    ));
    let signed = attached(by(&Person::new(SignatureAlgorithm::MlDsa44)), CONTENT);
    assert!(decode_certificates(&signed).is_err());
    // In BER, with other lengths.
    let written = encode_certificates([&a]).unwrap();
    let in_ber = indefinite(0x30, &parts(&written));
    assert!(matches!(
        refused(&in_ber),
        VerificationError::Encoding(EncodingError::Der(_))
    ));
    let many = vec![&**a.der(); 1025];
    let many = message(&[&[2, 1, 1], none, data, &tlv(0xa0, &many), none]);
    assert!(matches!(
        refused(&many),
        VerificationError::TooMany { limit: 1024, .. }
    ));
}

#[test]
fn what_was_damaged_is_refused_or_another_certificate() {
    let [a, _] = two();
    let written = encode_certificates([&a]).unwrap();
    for cut in 0..written.len() {
        assert!(decode_certificates(&written[..cut]).is_err(), "{cut}");
    }
    assert!(decode_certificates(&[&written[..], &[0]].concat()).is_err());
    for (at, changed) in changed(&written) {
        if let Ok(read) = decode_certificates(&changed) {
            assert_ne!(ders(&read), [&**a.der()], "{at}");
        }
    }
}
