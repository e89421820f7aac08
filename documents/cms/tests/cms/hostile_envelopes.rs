//! Encrypted messages that were altered, or made to do harm.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::io;

use pq_cms::{
    ContentCipher, EncodingError, EnvelopeBuilder, Opener, OpeningError, Recipient, RecipientKey,
    key_identifier,
};
use pq_x509::keys::agreement::{AgreementError, AgreementKey};
use pq_x509::keys::{DecapsulationKey, KemAlgorithm, SubjectKey};
use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use testing::spent::Spent;
use zeroize::Zeroizing;

use crate::bytes::{Repeated, changed, indefinite, parts, tlv, value};
use crate::enveloped::{CIPHERS, SECRET, encrypt, key, sealed_for};
use crate::people::{EcdhKey, certificate};

#[test]
fn every_byte_of_an_authenticated_message_counts() {
    let key = key(KemAlgorithm::MlKem512);
    let shared = [9; 32];
    let for_shared =
        EnvelopeBuilder::new().recipient(Recipient::shared_key(b"group", &shared).unwrap());
    let agreement = EcdhKey::new(5);
    let recipient = Recipient::agreement_key(agreement.clone(), b"name");
    let for_agreement = EnvelopeBuilder::new().recipient(recipient);
    for (builder, own) in [
        (sealed_for(&key), RecipientKey::new(&key)),
        (for_shared, RecipientKey::shared_key(b"group", &shared)),
        (for_agreement, RecipientKey::agreement(&agreement)),
    ] {
        let message = encrypt(&builder, SECRET);
        let opener = Opener::new(own).take_unauthenticated();
        let open = |message: &[u8]| opener.write_unauthenticated(message, io::sink());
        open(&message).unwrap();
        // The recipient's name is only for finding the recipient, and without a certificate it is not checked.
        let name = message.windows(4).position(|window| window == b"name");
        for (at, changed) in changed(&message) {
            if !name.is_some_and(|name| (name..name + 4).contains(&at)) {
                assert!(open(&changed).is_err(), "{at}");
            }
        }
        for cut in 0..message.len() {
            assert!(open(&message[..cut]).is_err(), "{cut}");
        }
        assert!(matches!(
            open(&[&message, &[0][..]].concat()),
            Err(OpeningError::Encoding(EncodingError::TrailingData(_)))
        ));
    }
}

/// Without authentication: reading must not panic, and must not write more than the message contains.
#[test]
fn bytes_of_an_unauthenticated_message() {
    let key = key(KemAlgorithm::MlKem512);
    let message = encrypt(&sealed_for(&key).cipher(ContentCipher::Aes128Cbc), SECRET);
    let opener = Opener::new(RecipientKey::new(&key)).take_unauthenticated();
    for (_, changed) in changed(&message) {
        let mut written = Vec::new();
        if opener
            .write_unauthenticated(&changed[..], &mut written)
            .is_ok()
        {
            assert!(written.len() < 16);
        }
    }
    for cut in 0..message.len() {
        assert!(
            opener
                .write_unauthenticated(&message[..cut], io::sink())
                .is_err()
        );
    }
}

/// A message up to its recipients, its recipients, each of which is for this key, and the rest.
fn around_recipients(message: &[u8]) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let info = parts(message);
    let enveloped = parts(parts(info[1])[0]);
    let start = [
        &[0x30, 0x80][..],
        info[0],
        &[0xa0, 0x80, 0x30, 0x80],
        enveloped[0],
        &[0x31, 0x80],
    ];
    let tag = enveloped.get(3).copied().unwrap_or_default();
    let end = [&[0, 0][..], enveloped[2], tag, &[0, 0, 0, 0, 0, 0]];
    let recipient = parts(enveloped[1])[0].to_vec();
    (start.concat(), recipient, end.concat())
}

#[test]
fn many_recipients() {
    let key = key(KemAlgorithm::MlKem512);
    let (start, recipient, end) = around_recipients(&encrypt(&sealed_for(&key), SECRET));
    let opener = Opener::new(RecipientKey::new(&key));
    let begin = Spent::now();
    // kinds that are skipped: ktri, kari, pwri, and an ori of another kind
    let unknown = tlv(0xa4, &[&tlv(6, &[&[42, 3, 4]]), &tlv(0x30, &[])]);
    let unknown = [
        tlv(0x30, &[&[2, 1, 0]]),
        tlv(0xa1, &[&[2, 1, 3]]),
        tlv(0xa3, &[]),
        unknown,
    ];
    let last = [&recipient[..], &end].concat();
    let message = Repeated::new(start.clone(), unknown.concat(), 250_000, last);
    let opened = opener.write_unauthenticated(message, io::sink()).unwrap();
    assert_eq!(opened.recipients, 1_000_001);

    // Recipients that may all be meant, but are somebody else's: a few are tried.
    let stranger = crate::enveloped::key(KemAlgorithm::MlKem512);
    let not_ours = Opener::new(RecipientKey::new(&stranger));
    let message = Repeated::new(start, recipient, 20_000, end);
    assert!(matches!(
        not_ours.write_unauthenticated(message, io::sink()),
        Err(OpeningError::TooManyTried(1024))
    ));
    assert!(begin.elapsed().as_secs() < 10);
}

/// A recipient before ours that can't be read may be somebody else's; we still find ours.
#[test]
fn unreadable_recipients() {
    let key = key(KemAlgorithm::MlKem512);
    let agreement = EcdhKey::new(5);
    let shared = [9; 32];
    let recipients = [
        (
            Recipient::key(key.encapsulation_key().clone(), b"name"),
            RecipientKey::new(&key),
        ),
        (
            Recipient::shared_key(b"group", &shared).unwrap(),
            RecipientKey::shared_key(b"group", &shared),
        ),
        (
            Recipient::agreement_key(agreement.clone(), b"name"),
            RecipientKey::agreement(&agreement),
        ),
    ];
    for (recipient, own) in recipients {
        let message = encrypt(&EnvelopeBuilder::new().recipient(recipient), SECRET);
        let (start, recipient, end) = around_recipients(&message);
        let kind = recipient[0];
        let version = recipient.windows(2).position(|window| window == [2, 1]);
        let mut newer = recipient.clone();
        newer[version.unwrap() + 2] = 9;
        let opener = Opener::new(own);
        let open = |before: &[u8], recipient: &[u8]| {
            let message = [&start, before, recipient, &end].concat();
            opener.open(&message[..], 100)
        };
        for bad in [
            newer,
            tlv(kind, &[]),
            tlv(kind, &[value(&recipient), &[5, 0]]),
            tlv(kind, &[&value(&recipient)[..20]]),
            tlv(kind, &[&[4, 5]]),
        ] {
            let (content, opened) = open(&bad, &recipient).unwrap();
            assert_eq!((content.as_slice(), opened.recipients), (SECRET, 2));
            let error = open(&bad, &[]).unwrap_err();
            assert!(matches!(
                error,
                OpeningError::UnreadableRecipient { recipients: 1, .. }
            ));
            assert!(!error.to_string().contains("  "), "{error}");
        }
        // A `kari` may be for many, and is read if it is longer.
        let len = match kind {
            0xa1 => 270_000,
            _ => 70_000,
        };
        let zeros = tlv(4, &[&vec![0; len]]);
        for large in [
            tlv(kind, &[&zeros]),
            indefinite(kind, &[&tlv(5, &[]).repeat(len / 2)]),
            indefinite(kind, &[&indefinite(0x24, &[&zeros, &tlv(4, &[])])]),
        ] {
            let (content, opened) = open(&large, &recipient).unwrap();
            assert_eq!((content.as_slice(), opened.recipients), (SECRET, 2));
            let error = open(&large, &[]).unwrap_err().to_string();
            assert!(error.contains("bytes and was not read"), "{error}");
        }
    }
}

/// A message that is also for an RSA key, which is not supported here.
#[test]
fn a_recipient_of_rsa_is_passed_over() {
    let key = key(KemAlgorithm::MlKem768);
    let message = encrypt(&sealed_for(&key), SECRET);
    let (start, recipient, end) = around_recipients(&message);
    let oaep = tlv(6, &[&[42, 134, 72, 134, 247, 13, 1, 1, 7]]);
    let rsa = tlv(
        0x30,
        &[
            &[2, 1, 2],
            &tlv(0x80, &[b"name"]),
            &tlv(0x30, &[&oaep]),
            &tlv(4, &[&[1; 256]]),
        ],
    );
    for recipients in [[&rsa[..], &recipient], [&recipient, &rsa]] {
        let message = [&start, &recipients.concat()[..], &end].concat();
        let opened = Opener::new(RecipientKey::new(&key)).open(&message[..], 100);
        let (content, opened) = opened.unwrap();
        assert_eq!((content.as_slice(), opened.recipients), (SECRET, 2));
    }
}

/// Of many keys in one `kari` that may all be meant, a few are tried.
#[test]
fn many_recipients_of_one_agreement() {
    let key = EcdhKey::new(5);
    let recipient = Recipient::agreement_key(key.clone(), b"name");
    let message = encrypt(&EnvelopeBuilder::new().recipient(recipient), SECRET);
    let (start, recipient, end) = around_recipients(&message);
    let info = parts(&recipient);
    let own = parts(info[3])[0];
    let wrong = tlv(0x30, &[parts(own)[0], &tlv(4, &[&[1; 40]])]);
    let with = |before: usize| {
        let keys = tlv(0x30, &[&wrong.repeat(before), own]);
        tlv(0xa1, &[info[0], info[1], info[2], &keys])
    };
    let open = |recipient: &[u8]| {
        let message = [&start, recipient, &end].concat();
        Opener::new(RecipientKey::agreement(&key)).open(&message[..], 100)
    };
    assert!(open(&with(1023)).is_ok());
    assert!(matches!(
        open(&with(1024)),
        Err(OpeningError::TooManyTried(1024))
    ));
    assert!(matches!(open(&with(0).repeat(3)), Ok((_, opened)) if opened.recipients == 3));

    // As many as a mailing list has are read.
    let named = tlv(0xa0, &[&tlv(4, &[&key_identifier(&key)])]);
    let named = tlv(0x30, &[&named, parts(own)[1]]);
    let keys = tlv(0x30, &[&wrong.repeat(4000), &named]);
    let many = tlv(0xa1, &[info[0], info[1], info[2], &keys]);
    assert!(many.len() > 200_000);
    assert_eq!(open(&many).unwrap().0.as_slice(), SECRET);

    // The sender's key may have a certificate instead, and then nobody knows whether we could read the message.
    let issuer = tlv(0x30, &[&tlv(0x30, &[]), &[2, 1, 1]]);
    let certified = tlv(0xa0, &[&issuer]);
    let certified = tlv(0xa1, &[info[0], &certified, info[2], info[3]]);
    let error = open(&certified).unwrap_err().to_string();
    assert!(error.contains("used a key with a certificate"), "{error}");
    assert!(open(&[&certified[..], &with(0)].concat()).is_ok());

    // A key's identifiers are not computed again for each recipient.
    let counted = Counted(key, AtomicUsize::new(0));
    let message = [&start, &with(1000)[..], &end].concat();
    let opened = Opener::new(RecipientKey::agreement(&counted)).open(&message[..], 100);
    assert!(opened.is_ok());
    assert!(counted.1.into_inner() < 10);
}

/// Each of them has a certificate, and opens the message by the key alone.
#[test]
fn recipients_without_their_certificates() {
    let keys: Vec<_> = (0..24).map(|_| key(KemAlgorithm::MlKem768)).collect();
    let mut builder = EnvelopeBuilder::new();
    for (number, key) in keys.iter().enumerate() {
        let certificate = certificate(&format!("recipient {number}"), key.encapsulation_key());
        builder = builder.recipient(Recipient::certificate(&certificate).unwrap());
    }
    let message = encrypt(&builder, SECRET);
    for key in &keys {
        let opened = Opener::new(RecipientKey::new(key)).open(&message[..], 100);
        assert_eq!(opened.unwrap().0.as_slice(), SECRET);
    }
}

/// The last recipient that a key is tried for, and one beyond it, which is told apart from a wrong key.
#[test]
fn recipients_that_a_key_is_tried_for() {
    let (ours, stranger) = (key(KemAlgorithm::MlKem512), key(KemAlgorithm::MlKem512));
    let own_name = key_identifier(ours.encapsulation_key());
    for (name, limit) in [(&b"name"[..], 1024), (&own_name, 16)] {
        let sealed = |key: &DecapsulationKey| {
            let recipient = Recipient::key(key.encapsulation_key().clone(), name);
            encrypt(&EnvelopeBuilder::new().recipient(recipient), SECRET)
        };
        let (_, before, _) = around_recipients(&sealed(&stranger));
        let (start, own, end) = around_recipients(&sealed(&ours));
        let end = [own, end].concat();
        let open = |before_us: u64| {
            let message = Repeated::new(start.clone(), before.clone(), before_us, end.clone());
            Opener::new(RecipientKey::new(&ours)).open(message, 100)
        };
        assert!(open(limit - 1).is_ok());
        let error = open(limit).unwrap_err();
        assert!(matches!(error, OpeningError::TooManyTried(tried) if u64::from(tried) == limit));
        assert!(error.to_string().contains("certificate"), "{error}");
    }
    let (shared, other) = ([9; 32], [8; 32]);
    let sealed = |key: &[u8]| {
        let recipient = Recipient::shared_key(b"group", key).unwrap();
        around_recipients(&encrypt(
            &EnvelopeBuilder::new().recipient(recipient),
            SECRET,
        ))
    };
    let ((_, before, _), (start, own, end)) = (sealed(&other), sealed(&shared));
    for (before_us, is_found) in [(15, true), (16, false)] {
        let message = [&start[..], &before.repeat(before_us), &own, &end].concat();
        let opened =
            Opener::new(RecipientKey::shared_key(b"group", &shared)).open(&message[..], 100);
        match is_found {
            true => assert!(opened.is_ok()),
            false => assert!(matches!(opened, Err(OpeningError::TooManyTried(16)))),
        }
    }
}

/// A key that counts how often it is used.
struct Counted(EcdhKey, AtomicUsize);

impl SubjectKey for Counted {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.spki()
    }
}

impl AgreementKey for Counted {
    fn agree(&self, public_key: &[u8]) -> Result<Zeroizing<Vec<u8>>, AgreementError> {
        self.0.agree(public_key)
    }
}

#[test]
fn depth_and_lengths() {
    let key = key(KemAlgorithm::MlKem512);
    let (start, _, _) = around_recipients(&encrypt(&sealed_for(&key), SECRET));
    let opener = Opener::new(RecipientKey::new(&key));
    let open = |rest: &[u8]| opener.write_unauthenticated(&[&start, rest].concat()[..], io::sink());
    for kind in [0x30, 0xa4] {
        assert!(matches!(
            open(&[kind, 0x80].repeat(10_000)),
            Err(OpeningError::Encoding(EncodingError::TooDeep(_)))
        ));
        assert!(open(&[kind, 0x87, 1, 0, 0, 0, 0, 0, 0]).is_err());
    }
    // A skipped part may be larger than the memory: it is not kept in memory.
    let endless = Repeated::new(
        [&start[..], &[0x30, 0x84, 0x10, 0, 0, 0]].concat(),
        vec![0; 1 << 16],
        1 << 12,
        vec![],
    );
    assert!(matches!(
        opener.write_unauthenticated(endless, io::sink()),
        Err(OpeningError::Encoding(EncodingError::Truncated(_)))
    ));
}

/// Lengths of tags and nonces that the standards don't allow.
#[test]
fn parameters() {
    let key = key(KemAlgorithm::MlKem512);
    let opener = Opener::new(RecipientKey::new(&key)).take_unauthenticated();
    for cipher in CIPHERS {
        let message = encrypt(&sealed_for(&key).cipher(cipher), SECRET);
        let (start, recipient, end) = around_recipients(&message);
        let info = parts(&message);
        let enveloped = parts(parts(info[1])[0]);
        let content = parts(enveloped[2]);
        let oid = parts(content[1])[0];
        let parameters = [
            tlv(5, &[]),
            tlv(4, &[]),
            tlv(4, &[&[0; 15]]),
            tlv(0x30, &[&tlv(4, &[&[0; 11]])]),
            tlv(0x30, &[&tlv(4, &[&[0; 12]]), &[2, 1, 8]]),
            tlv(0x30, &[&tlv(4, &[&[0; 12]]), &[2, 1, 17]]),
            vec![],
        ];
        for parameters in &parameters {
            let identifier = tlv(0x30, &[oid, parameters]);
            let content = tlv(0x30, &[content[0], &identifier, content[2]]);
            let tag = enveloped.get(3).copied().unwrap_or_default();
            let message = [&start, &recipient, &[0, 0][..], &content, tag, &[0; 6]].concat();
            assert!(
                opener
                    .write_unauthenticated(&message[..], io::sink())
                    .is_err()
            );
        }
        let message = [start, recipient, end].concat();
        assert!(
            opener
                .write_unauthenticated(&message[..], io::sink())
                .is_ok()
        );
    }
}
