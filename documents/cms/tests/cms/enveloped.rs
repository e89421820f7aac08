//! EnvelopedData and AuthEnvelopedData, made and decrypted here.

use std::io::Cursor;

use pq_cms::{
    ContentCipher, EnvelopeBuilder, EnvelopingError, Kdf, ObjectIdentifier, Opener, OpeningError,
    Recipient, RecipientKey, key_identifier,
};
use pq_x509::certificate::KeyUsages;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{DecapsulationKey, KemAlgorithm, SignatureAlgorithm, SigningKey};

use crate::bytes::{OneByOne, indefinite, parts, tlv, value};
use crate::people::{EcdhKey, Person, certificate};

pub(crate) const SECRET: &[u8] = b"a secret";

pub(crate) const CIPHERS: [ContentCipher; 4] = [
    ContentCipher::Aes128Gcm,
    ContentCipher::Aes256Gcm,
    ContentCipher::Aes128Cbc,
    ContentCipher::Aes256Cbc,
];

pub(crate) fn encrypt(builder: &EnvelopeBuilder, content: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    builder.encrypt(content, &mut message).unwrap();
    message
}

pub(crate) fn key(algorithm: KemAlgorithm) -> DecapsulationKey {
    DecapsulationKey::generate(algorithm).unwrap()
}

/// For the owner of this key, under a name that nobody looks for.
pub(crate) fn sealed_for(key: &DecapsulationKey) -> EnvelopeBuilder {
    let recipient = Recipient::key(key.encapsulation_key().clone(), b"name");
    EnvelopeBuilder::new().recipient(recipient)
}

#[test]
fn every_cipher_and_key_and_length() {
    for algorithm in KemAlgorithm::ALL {
        let key = key(*algorithm);
        let certificate = certificate(algorithm.name(), &key);
        let own = RecipientKey::with_certificate(&key, &certificate).unwrap();
        let opener = Opener::new(own).take_unauthenticated();
        for cipher in CIPHERS {
            let recipient = Recipient::certificate(&certificate).unwrap();
            let builder = EnvelopeBuilder::new().recipient(recipient).cipher(cipher);
            for len in [0, 1, 15, 16, 17, 65535, 65536, 65537, 131_072, 200_000] {
                let content: Vec<u8> = (0..len).map(|i: u32| (i / 3) as u8).collect();
                let message = encrypt(&builder, &content);
                let mut written = Vec::new();
                let opened = opener
                    .write_unauthenticated(&message[..], &mut written)
                    .unwrap();
                assert!(written == content, "{algorithm} {} {len}", cipher.name());
                assert_eq!((opened.len, opened.recipients), (u64::from(len), 1));
                assert_eq!(opened.cipher, cipher);
                let seekable = opener.open_seekable(Cursor::new(&message), Vec::new());
                match cipher.is_authenticated() {
                    true => assert_eq!(seekable.unwrap(), opened),
                    false => assert!(matches!(seekable, Err(OpeningError::NotAuthenticated(_)))),
                }
            }
        }
    }
}

#[test]
fn several_recipients_and_kdfs() {
    let keys = [
        KemAlgorithm::MlKem512,
        KemAlgorithm::MlKem768,
        KemAlgorithm::MlKem1024,
    ]
    .map(key);
    let kdfs = [Kdf::HkdfSha512, Kdf::HkdfSha256, Kdf::HkdfSha384];
    let shared = [9; 16];
    let mut builder = EnvelopeBuilder::new()
        .cipher(ContentCipher::Aes128Gcm)
        .recipient(Recipient::shared_key(b"group", &shared).unwrap());
    for (key, kdf) in keys.iter().zip(kdfs) {
        let recipient = Recipient::key(key.encapsulation_key().clone(), b"name").kdf(kdf);
        builder = builder.recipient(recipient);
    }
    let message = encrypt(&builder, SECRET);
    let openers = keys.iter().map(RecipientKey::new);
    for own in openers.chain([RecipientKey::shared_key(b"group", &shared)]) {
        let (content, opened) = Opener::new(own).open(&message[..], 100).unwrap();
        assert_eq!(content.as_slice(), SECRET);
        assert_eq!(opened.recipients, 4);
    }
    let stranger = key(KemAlgorithm::MlKem768);
    for (own, is_named) in [
        (RecipientKey::new(&stranger), true),
        (RecipientKey::shared_key(b"group", &[8; 16]), true),
        (RecipientKey::shared_key(b"others", &shared), false),
    ] {
        match Opener::new(own).open(&message[..], 100) {
            Err(OpeningError::WrongKey) => assert!(is_named),
            Err(OpeningError::NotARecipient(4)) => assert!(!is_named),
            other => panic!("{other:?}"),
        }
    }
}

/// Recipients who agree on secrets, by certificate and by key, beside one with ML-KEM and one with a shared key.
#[test]
fn classical_recipients() {
    let (post_quantum, ours, others) = (
        key(KemAlgorithm::MlKem768),
        EcdhKey::new(5),
        EcdhKey::new(6),
    );
    let certificate = ours.certificate(KeyUsages::KeyAgreement);
    let identifier = key_identifier(&others);
    let recipients = [
        Recipient::key(post_quantum.encapsulation_key().clone(), b"name"),
        Recipient::agreement_certificate(&certificate, ours.clone()).unwrap(),
        Recipient::agreement_key(others.clone(), &identifier),
        Recipient::shared_key(b"group", &[9; 16]).unwrap(),
    ];
    for cipher in CIPHERS {
        let builder = recipients
            .iter()
            .fold(EnvelopeBuilder::new(), |builder, recipient| {
                builder.recipient(recipient.clone())
            });
        let message = encrypt(&builder.cipher(cipher), SECRET);
        for own in [
            RecipientKey::new(&post_quantum),
            RecipientKey::agreement(&ours),
            RecipientKey::agreement_with_certificate(&ours, &certificate).unwrap(),
            RecipientKey::agreement(&others),
            RecipientKey::shared_key(b"group", &[9; 16]),
        ] {
            let opener = Opener::new(own.clone()).take_unauthenticated();
            let opened = opener.open(&message[..], 100);
            let (content, opened) =
                opened.unwrap_or_else(|error| panic!("{own:?}, {cipher:?}: {error}"));
            assert_eq!((content.as_slice(), opened.recipients), (SECRET, 4));
        }
        let stranger = EcdhKey::new(7);
        assert!(matches!(
            Opener::new(RecipientKey::agreement(&stranger)).open(&message[..], 100),
            Err(OpeningError::WrongKey)
        ));
        let certificate = stranger.certificate(KeyUsages::KeyAgreement);
        let own = RecipientKey::agreement_with_certificate(&stranger, &certificate).unwrap();
        assert!(matches!(
            Opener::new(own).open(&message[..], 100),
            Err(OpeningError::WrongKey)
        ));
    }
}

/// An opener with a certificate finds the recipient by name, and by the key if the certificate was renewed since.
#[test]
fn a_recipient_is_found_by_name() {
    let key = key(KemAlgorithm::MlKem768);
    let certificate = certificate("recipient", &key);
    let own = RecipientKey::with_certificate(&key, &certificate).unwrap();
    let opener = Opener::new(own);
    let by_name = EnvelopeBuilder::new().recipient(Recipient::certificate(&certificate).unwrap());
    assert!(
        opener
            .write_unauthenticated(&encrypt(&by_name, SECRET)[..], Vec::new())
            .is_ok()
    );
    let id = certificate.subject_key_id().unwrap();
    let by_id = Recipient::key(key.encapsulation_key().clone(), id);
    let by_id = EnvelopeBuilder::new().recipient(by_id);
    assert!(
        opener
            .write_unauthenticated(&encrypt(&by_id, SECRET)[..], Vec::new())
            .is_ok()
    );
    let renewed = self::certificate("recipient", &key);
    assert_ne!(renewed, certificate);
    let by_renewed = EnvelopeBuilder::new().recipient(Recipient::certificate(&renewed).unwrap());
    let opened = opener.open(&encrypt(&by_renewed, SECRET)[..], 100);
    assert_eq!(opened.unwrap().0.as_slice(), SECRET);
    let ours = EcdhKey::new(5);
    let [old, new] = [(); 2].map(|()| ours.certificate(KeyUsages::KeyAgreement));
    let by_old = Recipient::agreement_certificate(&old, ours.clone()).unwrap();
    let own = RecipientKey::agreement_with_certificate(&ours, &new).unwrap();
    let message = encrypt(&EnvelopeBuilder::new().recipient(by_old), SECRET);
    assert_eq!(
        Opener::new(own)
            .open(&message[..], 100)
            .unwrap()
            .0
            .as_slice(),
        SECRET
    );
    let others_key = self::key(KemAlgorithm::MlKem768);
    assert!(matches!(
        RecipientKey::with_certificate(&others_key, &certificate),
        Err(OpeningError::OtherKey(_))
    ));
}

/// A key can be found by its bits, which anybody can name: however many recipients come before it, and whatever its
/// certificate says.
#[test]
fn a_key_is_found_by_what_it_is() {
    let key = key(KemAlgorithm::MlKem512);
    let id = key_identifier(key.encapsulation_key());
    let own = Recipient::key(key.encapsulation_key().clone(), &id);
    let mut builder = EnvelopeBuilder::new().recipient(own);
    // Recipients are sorted: those with shorter names come first.
    for id in 0..40 {
        let stranger = self::key(KemAlgorithm::MlKem512);
        let recipient = Recipient::key(stranger.encapsulation_key().clone(), &[id]);
        builder = builder.recipient(recipient);
    }
    let message = encrypt(&builder, SECRET);
    let root = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root).unwrap();
    let certificate = CertificateBuilder::end_entity().common_name("x");
    let certificate = root.issue(certificate, &key).unwrap();
    for own in [
        RecipientKey::new(&key),
        RecipientKey::with_certificate(&key, &certificate).unwrap(),
    ] {
        let opened = Opener::new(own).open(&message[..], 100);
        assert_eq!(opened.unwrap().0.as_slice(), SECRET);
    }
}

#[test]
fn who_is_no_recipient() {
    let signer = Person::new(SignatureAlgorithm::MlDsa44);
    assert!(matches!(
        Recipient::certificate(&signer.certificate),
        Err(EnvelopingError::Certificate { .. })
    ));
    let root = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root).unwrap();
    let key = key(KemAlgorithm::MlKem512);
    let with_usage = |usages: KeyUsages| {
        let builder = CertificateBuilder::end_entity()
            .common_name("x")
            .key_usage(usages);
        root.issue(builder, &key)
    };
    let certificate = with_usage(KeyUsages::KeyEncipherment).unwrap();
    assert!(Recipient::certificate(&certificate).is_ok());
    let key = EcdhKey::new(5);
    let certificate = key.certificate(KeyUsages::DigitalSignature);
    assert!(matches!(
        Recipient::agreement_certificate(&certificate, key),
        Err(EnvelopingError::KeyUsage {
            usage: "keyAgreement",
            ..
        })
    ));
    assert!(matches!(
        Recipient::agreement_certificate(&certificate, EcdhKey::new(6)),
        Err(EnvelopingError::OtherKey(_))
    ));
    assert!(matches!(
        RecipientKey::agreement_with_certificate(&EcdhKey::new(6), &certificate),
        Err(OpeningError::OtherKey(_))
    ));
    assert!(matches!(
        Recipient::shared_key(b"id", &[0; 24]),
        Err(EnvelopingError::SharedKeyLength(24))
    ));
    let nobody = EnvelopeBuilder::new().encrypt(SECRET, Vec::new());
    assert!(matches!(nobody, Err(EnvelopingError::NoRecipient)));
}

/// If the content type is not plain data, it is authenticated.
#[test]
fn content_types() {
    let key = key(KemAlgorithm::MlKem768);
    let signed = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.2");
    let builder = sealed_for(&key).content_type(signed);
    let opener = Opener::new(RecipientKey::new(&key));
    for content in [SECRET, &vec![7; 100_000]] {
        let message = encrypt(&builder, content);
        let (_, opened) = opener.open(&message[..], 1_000_000).unwrap();
        assert_eq!(opened.content_type, signed);
    }
    // Plain data can't be changed into another type, nor the reverse.
    for builder in [builder, sealed_for(&key)] {
        let message = encrypt(&builder, SECRET);
        let oid = [42, 134, 72, 134, 247, 13, 1, 7];
        let at = message.windows(8).position(|window| window == oid).unwrap();
        let mut altered = message.clone();
        altered[at + 8] ^= 3;
        assert!(matches!(
            opener.write_unauthenticated(&altered[..], Vec::new()),
            Err(OpeningError::Altered)
        ));
    }
}

/// Messages without authentication are only opened on request.
#[test]
fn cbc_is_refused_unless_asked_for() {
    let key = key(KemAlgorithm::MlKem768);
    let message = encrypt(&sealed_for(&key).cipher(ContentCipher::Aes256Cbc), SECRET);
    let opener = Opener::new(RecipientKey::new(&key));
    assert!(matches!(
        opener.write_unauthenticated(&message[..], Vec::new()),
        Err(OpeningError::NotAuthenticated("AES-256-CBC"))
    ));
    let opener = opener.take_unauthenticated();
    assert!(
        opener
            .write_unauthenticated(&message[..], Vec::new())
            .is_ok()
    );
}

/// Reads in pieces a message in BER whose pieces are not whole blocks.
#[test]
fn ber() {
    let key = key(KemAlgorithm::MlKem512);
    let message = encrypt(&sealed_for(&key), &[5; 1000]);
    let info = parts(&message);
    let enveloped = parts(parts(info[1])[0]);
    let content = parts(enveloped[2]);
    let pieces: Vec<Vec<u8>> = value(content[2]).chunks(7).map(|c| tlv(4, &[c])).collect();
    let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
    let encrypted = indefinite(0x30, &[content[0], content[1], &indefinite(0xa0, &pieces)]);
    let parts = [enveloped[0], enveloped[1], &encrypted, enveloped[3]];
    let message = indefinite(
        0x30,
        &[info[0], &indefinite(0xa0, &[&indefinite(0x30, &parts)])],
    );
    let opener = Opener::new(RecipientKey::new(&key));
    let mut written = Vec::new();
    opener
        .write_unauthenticated(OneByOne(&message), &mut written)
        .unwrap();
    assert_eq!(written, [5; 1000]);
    assert!(
        opener
            .open_seekable(Cursor::new(&message), Vec::new())
            .is_ok()
    );
}

#[test]
fn content_is_handed_out_up_to_a_limit() {
    let key = key(KemAlgorithm::MlKem768);
    let opener = Opener::new(RecipientKey::new(&key));
    let message = encrypt(&sealed_for(&key), &[1; 200_000]);
    assert!(opener.open(&message[..], 200_000).is_ok());
    assert!(matches!(
        opener.open(&message[..], 199_999),
        Err(OpeningError::ContentTooLarge(_))
    ));
}

/// If the message is read twice, nothing is written before everything is known to be authentic.
#[test]
fn nothing_unauthenticated_is_written_in_two_passes() {
    let key = key(KemAlgorithm::MlKem768);
    let opener = Opener::new(RecipientKey::new(&key));
    let mut message = encrypt(&sealed_for(&key), &[1; 200_000]);
    let len = message.len();
    message[len - 1000] ^= 1;
    let mut written = Vec::new();
    let opened = opener.open_seekable(Cursor::new(&message), &mut written);
    assert!(matches!(opened, Err(OpeningError::Altered)));
    assert!(written.is_empty());
    assert!(matches!(
        opener.write_unauthenticated(&message[..], &mut written),
        Err(OpeningError::Altered)
    ));
    assert!(!written.is_empty());
}
