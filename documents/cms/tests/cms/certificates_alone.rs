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

/// What OpenSSL 3.0.19 wrote by `crl2pkcs7 -nocrl -certfile b.pem -certfile a.pem`, in this order.
const BY_OPENSSL: &str = "\
    3082030f06092a864886f70d010702a0820300308202fc0201013100300b06092a864886f70d010701a08202e43082016e308201\
    15a0030201020214425089ca662fda5b5589f6ec2ccbf4b4419898e7300a06082a8648ce3d040302300c310a300806035504030c\
    01623020170d3236313230313031353432355a180f32313236313130373031353432355a300c310a300806035504030c01623059\
    301306072a8648ce3d020106082a8648ce3d030107034200041140fb26b6f3214dd5915c1e4381f1e7bf39cdacbcf35c26516b1d\
    0cce595b39efe208aedc64c868d81d70bdc5045c1ffc0e8cc5eaca71ab1f2cb8ce30c07fdda3533051301d0603551d0e04160414\
    5d193488b6512150dceb5f032ba6e6ffe2d1f2dd301f0603551d230418301680145d193488b6512150dceb5f032ba6e6ffe2d1f2\
    dd300f0603551d130101ff040530030101ff300a06082a8648ce3d040302034700304402202df0c3f980aac4da77d5b713c12103\
    2ee4ae739fcb9d4fad579a697ed4073d1602202bb0dd0f6c493c8373674f6cec2eb6cc3f61b2ca3de64143b892e5a2483d7e3030\
    82016e30820115a0030201020214078654ad6e82fb1b61b814e4848dd2e7076d576b300a06082a8648ce3d040302300c310a3008\
    06035504030c01613020170d3236313230313031353432355a180f32313236313130373031353432355a300c310a300806035504\
    030c01613059301306072a8648ce3d020106082a8648ce3d03010703420004258c82fa07d40664f2082cd319ecc3eed759ddcd22\
    1071f4573bf9bfda6fd842de3f5b4f285305ec0278fd24c6bd5879a26f75de152f2d68dca00894b1d6ba60a3533051301d060355\
    1d0e04160414aac853423df58f4439ca85e6e9c64787b3d8c9f7301f0603551d23041830168014aac853423df58f4439ca85e6e9\
    c64787b3d8c9f7300f0603551d130101ff040530030101ff300a06082a8648ce3d0403020347003044022079f69cc8642917ebe6\
    e96e6c5b414bdfc565df69d6c717fa21be61c5b0a9cd7e022029f0d886a914cc2e1ca9d364f530e987be3f19f49fa5f6d905e143\
    c49a95edd13100";

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

#[test]
fn certificates_by_openssl_are_read() {
    let message = hex::decode(BY_OPENSSL).unwrap();
    let certificates = decode_certificates(&message).unwrap();
    let subjects: Vec<_> = certificates
        .iter()
        .map(|one| one.subject().to_string())
        .collect();
    assert_eq!(subjects, ["CN=b", "CN=a"]);
    // Ours differs at most in the order, which DER decides.
    let ours = encode_certificates(&certificates).unwrap();
    assert_eq!(ours.len(), message.len());
    let mut sorted = ders(&certificates);
    sorted.sort_unstable();
    assert_eq!(ders(&decode_certificates(&ours).unwrap()), sorted);
}
