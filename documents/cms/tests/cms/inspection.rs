//! What messages say about themselves.

use pq_cms::{
    ContentCipher, DocumentSigner, EncodingError, EnvelopeBuilder, Identifier, InspectionError,
    ObjectIdentifier, OpeningError, Outline, Recipient, RecipientKind, SignedDataBuilder,
    VerificationError, inspect,
};
use pq_x509::certificate::KeyUsages;
use pq_x509::keys::{KemAlgorithm, SignatureAlgorithm};

use crate::bytes::{OneByOne, Repeated, changed, parts, tlv};
use crate::enveloped::{SECRET, encrypt, key, sealed_for};
use crate::people::{EcdhKey, Person};
use crate::signed::{CONTENT, attached, by};

const DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.1");

#[test]
fn signed() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let by_key = DocumentSigner::new(&person.certificate, &person.key)
        .by_key_identifier()
        .without_attributes();
    let message = attached(by(&person).signer(by_key), CONTENT);
    let Ok(Outline::Signed(outline)) = inspect(OneByOne(&message)) else {
        panic!("it is signed");
    };
    assert_eq!((outline.version, outline.content_type), (3, DATA));
    assert_eq!(outline.content_len, Some(CONTENT.len() as u64));
    assert_eq!(
        outline.certificates.as_slice(),
        core::slice::from_ref(&person.certificate)
    );
    assert_eq!((outline.digests.len(), outline.revocation_lists), (1, 0));
    assert_eq!(outline.signers.len(), 2);
    for signer in &outline.signers {
        assert_eq!(signer.algorithm, SignatureAlgorithm::MlDsa44.oid());
        assert_eq!(
            (signer.signature_len, signer.digest),
            (2420, outline.digests[0])
        );
        assert!(signer.fault.is_none());
        match &signer.signer {
            Identifier::Certificate {
                issuer,
                serial_number,
            } => {
                assert_eq!(issuer, "CN=Root");
                assert_eq!(serial_number, person.certificate.serial_number());
                assert_eq!(signer.attributes.as_ref().unwrap().len(), 4);
                assert!(signer.signing_time.is_some());
            }
            Identifier::Key(id) => {
                assert_eq!(Some(&id[..]), person.certificate.subject_key_id());
                assert!(signer.attributes.is_none() && signer.signing_time.is_none());
            }
            other => panic!("{other}"),
        }
    }
    let detached = by(&person).sign_detached(CONTENT).unwrap();
    match inspect(&detached[..]) {
        Ok(Outline::Signed(outline)) => assert_eq!(outline.content_len, None),
        other => panic!("{other:?}"),
    }
}

#[test]
fn encrypted() {
    let kem = key(KemAlgorithm::MlKem768);
    let agreement = EcdhKey::new(5);
    let certificate = agreement.certificate(KeyUsages::KeyAgreement);
    let builder = EnvelopeBuilder::new()
        .recipient(Recipient::key(kem.encapsulation_key().clone(), b"name"))
        .recipient(Recipient::shared_key(b"group", &[9; 16]).unwrap())
        .recipient(Recipient::agreement_certificate(&certificate, agreement).unwrap());
    for cipher in [ContentCipher::Aes256Gcm, ContentCipher::Aes128Cbc] {
        let builder = builder.clone().cipher(cipher);
        let message = encrypt(&builder, &[1; 100_001]);
        let Ok(Outline::Enveloped(outline)) = inspect(&message[..]) else {
            panic!("it is encrypted");
        };
        let authenticated = cipher.is_authenticated();
        assert_eq!(outline.is_authenticated, authenticated);
        assert_eq!(outline.version, if authenticated { 0 } else { 3 });
        assert_eq!(outline.tag_len, authenticated.then_some(16));
        let len = if authenticated { 100_001 } else { 100_016 };
        assert_eq!(outline.encrypted_len, Some(len));
        assert_eq!(outline.content_type, DATA);
        assert_eq!(outline.recipients_len, 3);
        for recipient in &outline.recipients {
            let [identifier] = &*recipient.identifiers else {
                panic!("{recipient:?}");
            };
            let (name, algorithms) = match recipient.kind {
                RecipientKind::Kem => ("key identifier 6e616d65", (true, true)),
                RecipientKind::SharedKey => ("key identifier 67726f7570", (false, false)),
                RecipientKind::KeyAgreement => ("number ", (true, false)),
                other => panic!("{other:?}"),
            };
            assert!(identifier.to_string().starts_with(name), "{identifier}");
            let found = (recipient.algorithm.is_some(), recipient.kdf.is_some());
            assert_eq!((found, recipient.wrap.is_some()), (algorithms, true));
        }
    }
}

/// Recipients of kinds that nothing else here reads, and one that nobody can read.
#[test]
fn other_recipients() {
    let message = encrypt(&sealed_for(&key(KemAlgorithm::MlKem512)), SECRET);
    let info = parts(&message);
    let enveloped = parts(parts(info[1])[0]);
    let rsa = tlv(6, &[&[42, 134, 72, 134, 247, 13, 1, 1, 7]]);
    let rsa = tlv(
        0x30,
        &[
            &[2, 1, 2],
            &tlv(0x80, &[b"id"]),
            &tlv(0x30, &[&rsa]),
            &tlv(4, &[]),
        ],
    );
    let other = tlv(0xa4, &[&tlv(6, &[&[42, 3, 4]]), &tlv(0x30, &[])]);
    let all = [
        rsa,
        tlv(0xa3, &[&[2, 1, 0]]),
        other,
        tlv(0xa5, &[]),
        tlv(0xa4, &[&[0; 70_000]]),
    ];
    let start = |recipients: &[u8]| {
        let recipients = tlv(0x31, &[recipients]);
        let parts = [enveloped[0], &recipients, enveloped[2], enveloped[3]];
        tlv(0x30, &[info[0], &tlv(0xa0, &[&tlv(0x30, &parts)])])
    };
    let Ok(Outline::Enveloped(outline)) = inspect(&start(&all.concat())[..]) else {
        panic!("it is encrypted");
    };
    let kinds: Vec<RecipientKind> = outline.recipients.iter().map(|one| one.kind).collect();
    assert_eq!(
        kinds,
        [
            RecipientKind::KeyTransport,
            RecipientKind::Password,
            RecipientKind::Other(ObjectIdentifier::new_unwrap("1.2.3.4")),
            RecipientKind::Unreadable,
            RecipientKind::Unreadable,
        ]
    );
    // However many there are, only some are listed.
    let begin = [
        &[0x30, 0x80][..],
        info[0],
        &[0xa0, 0x80, 0x30, 0x80],
        enveloped[0],
        &[0x31, 0x80],
    ];
    let end = [&[0, 0][..], enveloped[2], enveloped[3], &[0; 6]];
    let many = Repeated::new(
        begin.concat(),
        tlv(0xa3, &[&[2, 1, 0]]),
        1_000_000,
        end.concat(),
    );
    match inspect(many) {
        Ok(Outline::Enveloped(outline)) => {
            assert_eq!(
                (outline.recipients_len, outline.recipients.len()),
                (1_000_000, 1024)
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_no_message() {
    let data = tlv(0x30, &[&tlv(6, &[&[42, 134, 72, 134, 247, 13, 1, 7, 1]])]);
    assert!(matches!(inspect(&data[..]), Ok(Outline::Other(DATA))));
    assert!(matches!(
        inspect(&b"no message"[..]),
        Err(InspectionError::Encoding(EncodingError::Unexpected { .. }))
    ));
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let signer = DocumentSigner::new(&person.certificate, &person.key);
    let builder = SignedDataBuilder::new()
        .signer(signer)
        .without_certificates();
    let signed = attached(builder, CONTENT);
    let encrypted = encrypt(&sealed_for(&key(KemAlgorithm::MlKem512)), SECRET);
    for message in [&signed, &encrypted] {
        for cut in 0..message.len() {
            assert!(inspect(&message[..cut]).is_err(), "{cut}");
        }
        assert!(inspect(&[message, &[0][..]].concat()[..]).is_err());
        for (_, changed) in changed(message) {
            // Nothing is verified: anybody can claim anything.
            let _ = inspect(&changed[..]);
        }
    }
    let version = |message: &[u8]| {
        let at = message.windows(2).position(|window| window == [2, 1]);
        let mut message = message.to_vec();
        message[at.unwrap() + 2] = 7;
        inspect(&message[..]).map(drop).unwrap_err()
    };
    match version(&signed) {
        InspectionError::Signed(error) => {
            assert!(matches!(
                *error,
                VerificationError::Version { found: 7, .. }
            ));
        }
        other => panic!("{other}"),
    }
    match version(&encrypted) {
        InspectionError::Enveloped(error) => assert!(matches!(*error, OpeningError::Version(7))),
        other => panic!("{other}"),
    }
}
