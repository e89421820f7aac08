//! What reading a message costs in memory, whoever made it. SECURITY.md has these limits.

use std::io;

use allocation_counter::measure;
use pq_cms::{
    DocumentSigner, EncodingError, EnvelopeBuilder, Opener, Outline, Recipient, RecipientKey,
    SignedDataBuilder, VerificationError, Verifier, inspect,
};
use pq_x509::{KemAlgorithm, SignatureAlgorithm};

use crate::bytes::{Repeated, parts, tlv};
use crate::enveloped::{SECRET, encrypt, key};
use crate::people::Person;
use crate::signed::{CONTENT, attached, by};

/// What a message may take besides its content, whatever is in it.
const LIMIT: u64 = 128 << 20;

/// A certificate with this extension in place of its own ones, and with this issuer.
fn certificate(template: &[u8], issuer: Option<&[u8]>, extensions: &[u8]) -> Vec<u8> {
    let outer = parts(template);
    let mut tbs = parts(outer[0]);
    let extensions = tlv(0xa3, &[&tlv(0x30, &[extensions])]);
    *tbs.last_mut().unwrap() = &extensions;
    if let Some(issuer) = issuer {
        tbs[3] = issuer;
    }
    tlv(0x30, &[&tlv(0x30, &tbs), outer[1], outer[2]])
}

fn extension(oid: &[u8], value: &[u8]) -> Vec<u8> {
    tlv(0x30, &[&tlv(6, &[oid]), &tlv(4, &[value])])
}

/// Certificates of about this length whose parts are as small as parts can be, so that what they are read into is many
/// times larger.
fn inflating(template: &[u8], len: usize) -> Vec<(&'static str, Vec<u8>)> {
    let fill = |unit: &[u8]| unit.repeat(len / unit.len());
    let sequence = |unit: &[u8]| tlv(0x30, &[&fill(unit)]);
    let names = |unit: &[u8]| {
        certificate(
            template,
            None,
            &extension(&[0x55, 0x1d, 17], &sequence(unit)),
        )
    };
    // Each of another type: none may be there twice.
    let extensions: Vec<u8> = (0..len / 11)
        .flat_map(|i| {
            extension(
                &[
                    0x2a,
                    0x81 | (i >> 13) as u8,
                    0x80 | (i >> 7) as u8,
                    i as u8 & 0x7f,
                ],
                &[],
            )
        })
        .collect();
    let rdn = tlv(0x31, &[&tlv(0x30, &[&[6, 1, 0x2a], &[5, 0]])]);
    vec![
        ("names", names(&[0x82, 0])),
        ("longer names", names(&[0x82, 1, b'a'])),
        ("addresses", names(&[0x87, 4, 1, 2, 3, 4])),
        ("identifiers as names", names(&[0x88, 1, 0x2a])),
        ("directories as names", names(&[0xa4, 2, 0x30, 0])),
        (
            "purposes",
            certificate(
                template,
                None,
                &extension(&[0x55, 0x1d, 37], &sequence(&[6, 1, 0x2a])),
            ),
        ),
        ("extensions", certificate(template, None, &extensions)),
        (
            "an issuer",
            certificate(template, Some(&sequence(&rdn)), &extension(&[0x2a], &[])),
        ),
        (
            "an authority",
            certificate(
                template,
                None,
                &extension(
                    &[0x55, 0x1d, 35],
                    &tlv(0x30, &[&tlv(0xa1, &[&fill(&[0x82, 0])])]),
                ),
            ),
        ),
    ]
}

/// A message with these certificates and no signers.
fn with_certificates(template: &[u8], certificates: &[u8]) -> Vec<u8> {
    let info = parts(template);
    let signed = parts(parts(info[1])[0]);
    let certificates = tlv(0xa0, &[certificates]);
    let signed = tlv(
        0x30,
        &[
            signed[0],
            signed[1],
            signed[2],
            &certificates,
            &tlv(0x31, &[]),
        ],
    );
    tlv(0x30, &[info[0], &tlv(0xa0, &[&signed])])
}

fn too_large(result: Result<(), VerificationError>, wanted: usize) {
    match result.unwrap_err() {
        VerificationError::Encoding(EncodingError::TooLarge { limit, .. }) => {
            assert_eq!(limit, wanted);
        }
        other => panic!("{other}"),
    }
}

/// The result, and how many bytes were there at once.
fn measured<T>(read: impl FnOnce() -> T) -> (T, u64) {
    let mut result = None;
    let memory = measure(|| result = Some(read()));
    (result.unwrap(), memory.bytes_max)
}

#[test]
fn certificates_take_memory_within_a_limit() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let template = attached(by(&person), CONTENT);
    let verifier = Verifier::with_signers([]).unwrap();
    let read = |message: &[u8]| verifier.write_unverified(message, io::sink()).map(|_| ());
    // As many as are read, with as many values as one may have.
    for (name, certificate) in inflating(person.certificate.der(), 18_000) {
        let count = MAX_CERTIFICATES / certificate.len();
        let message = with_certificates(&template, &certificate.repeat(count));
        let (result, peak) = measured(|| read(&message));
        // All of it was read.
        assert!(matches!(result, Err(VerificationError::NoSigner)), "{name}");
        assert!(peak < LIMIT, "{name}: {peak}");
    }
    // The input that took 852 MB.
    let certificate = inflating(person.certificate.der(), 16_000_000)
        .swap_remove(0)
        .1;
    let message = with_certificates(&template, &certificate);
    let (result, peak) = measured(|| read(&message));
    too_large(result, MAX_CERTIFICATE);
    assert!(peak < 10_000, "{peak}");
}

const MAX_CERTIFICATE: usize = 128 << 10;
const MAX_CERTIFICATES: usize = 3 << 20;

/// The longest certificate and the most of them, and one byte beyond each.
#[test]
fn limits_of_certificates() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let template = attached(by(&person), CONTENT);
    let verifier = Verifier::with_signers([]).unwrap();
    let read = |certificates: &[u8]| {
        let message = with_certificates(&template, certificates);
        verifier
            .write_unverified(&message[..], io::sink())
            .map(|_| ())
    };
    let of_len = |len: usize| {
        let short = |value: usize| {
            let extension = extension(&[0x2a, 1], &vec![0; value]);
            certificate(person.certificate.der(), None, &extension)
        };
        let more = len - short(len - 5000).len();
        short(len - 5000 + more)
    };
    let longest = of_len(MAX_CERTIFICATE);
    assert_eq!(longest.len(), MAX_CERTIFICATE);
    assert!(matches!(read(&longest), Err(VerificationError::NoSigner)));
    // Of its header two bytes are counted.
    let result = read(&of_len(MAX_CERTIFICATE + 3));
    assert!(matches!(result, Err(VerificationError::NoSigner)));
    too_large(read(&of_len(MAX_CERTIFICATE + 4)), MAX_CERTIFICATE);
    let all = longest.repeat(MAX_CERTIFICATES / MAX_CERTIFICATE);
    assert!(matches!(read(&all), Err(VerificationError::NoSigner)));
    let one_more = [&all[..], person.certificate.der()].concat();
    too_large(read(&one_more), 0);
}

/// Signers are kept about as they are, and there is a limit for all of them.
#[test]
fn signers_take_memory_within_a_limit() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let template = attached(by(&person).without_certificates(), CONTENT);
    let info = parts(&template);
    let signed = parts(parts(info[1])[0]);
    let signer = parts(parts(signed[3])[0]);
    let verifier = Verifier::with_signers([person.certificate]).unwrap();
    let with_signature = |len: usize, times: usize| {
        let signer = tlv(
            0x30,
            &[&signer[..5].concat()[..], &tlv(4, &[&vec![0; len]])],
        );
        let signers = tlv(0x31, &[&signer.repeat(times)]);
        let signed = tlv(0x30, &[&signed[..3].concat()[..], &signers]);
        tlv(0x30, &[info[0], &tlv(0xa0, &[&signed])])
    };
    for (len, times, fits) in [
        (16_000_000, 1, true),
        (160_000, 100, true),
        (170_000, 100, false),
        (17_000_000, 1, false),
    ] {
        let message = with_signature(len, times);
        let (result, peak) = measured(|| verifier.write_unverified(&message[..], io::sink()));
        let is_read = matches!(result, Err(VerificationError::Signature { .. }));
        assert_eq!(is_read, fits, "{len}");
        assert!(peak < 64 << 20, "{len}: {peak}");
    }
}

/// Content of any length, and any number of recipients: nothing of it is kept.
#[test]
fn content_and_recipients_take_no_memory() {
    const LITTLE: u64 = 2 << 20;
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let verifier = Verifier::with_signers([person.certificate.clone()]).unwrap();
    let key = key(KemAlgorithm::MlKem512);
    let content = vec![b'1'; 20 << 20];
    let mut signed = Vec::new();
    let signer = DocumentSigner::new(&person.certificate, &person.key);
    let builder = SignedDataBuilder::new().signer(signer);
    builder.sign(&content[..], &mut signed).unwrap();
    let (result, peak) = measured(|| verifier.write_unverified(&signed[..], io::sink()));
    assert!(result.is_ok() && peak < LITTLE, "{peak}");
    let recipient = Recipient::key(key.encapsulation_key().clone(), b"name");
    let builder = EnvelopeBuilder::new().recipient(recipient);
    let encrypted = encrypt(&builder, &content);
    let opener = Opener::new(RecipientKey::new(&key));
    let (result, peak) = measured(|| opener.write_unauthenticated(&encrypted[..], io::sink()));
    assert!(result.is_ok() && peak < LITTLE, "{peak}");

    // Recipients with as many keys as are read, and as small ones.
    let info = encrypt(&builder, SECRET);
    let enveloped = parts(parts(parts(&info)[1])[0]);
    let key_of_recipient = tlv(0x30, &[&tlv(0xa0, &[&[4, 0]]), &[4, 0]]);
    let originator = tlv(
        0xa0,
        &[&tlv(0xa1, &[&tlv(0x30, &[&[6, 1, 42]]), &[3, 1, 0]])],
    );
    let algorithm = tlv(0x30, &[&[6, 1, 42], &tlv(0x30, &[&[6, 1, 42]])]);
    let keys = tlv(
        0x30,
        &[&key_of_recipient.repeat(65_000 / key_of_recipient.len())],
    );
    let agreement = tlv(0xa1, &[&[2, 1, 3], &originator, &algorithm, &keys]);
    let start = [
        &[0x30, 0x80][..],
        parts(&info)[0],
        &[0xa0, 0x80, 0x30, 0x80],
        enveloped[0],
        &[0x31, 0x80],
    ];
    let end = [&[0, 0][..], enveloped[2], enveloped[3], &[0; 6]];
    let many = || Repeated::new(start.concat(), agreement.clone(), 100, end.concat());
    let (outline, peak) = measured(|| inspect(many()));
    let Ok(Outline::Enveloped(outline)) = outline else {
        panic!("{outline:?}");
    };
    assert_eq!(outline.recipients_len, 100);
    assert!(peak < LITTLE, "{peak}");
    let ecdh = crate::people::EcdhKey::new(5);
    let opener = Opener::new(RecipientKey::agreement(&ecdh));
    let (opened, peak) = measured(|| opener.write_unauthenticated(many(), io::sink()));
    assert!(opened.is_err() && peak < LITTLE, "{peak}");
}
