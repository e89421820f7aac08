//! What reading a message costs in memory, whoever made it. SECURITY.md has these limits.

use std::io;

use allocation_counter::measure;
use pq_cms::{
    DocumentSigner, EncodingError, EnvelopeBuilder, InspectionError, Opener, Outline, Recipient,
    RecipientKey, SignedDataBuilder, VerificationError, Verifier, inspect,
};
use pq_x509::keys::{KemAlgorithm, SignatureAlgorithm};

use crate::bytes::{Repeated, indefinite, parts, tlv, value};
use crate::enveloped::{SECRET, encrypt, key};
use crate::people::Person;
use crate::signed::{CONTENT, attached, by};

/// What a message may take besides its content, whatever is in it.
const LIMIT: u64 = 128 << 20;

/// What content, recipients and the rest may take.
const LITTLE: u64 = 2 << 20;

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

/// A message with these signers, and with this version of the syntax.
fn with_signers(template: &[u8], version: u8, signers: &[u8]) -> Vec<u8> {
    let info = parts(template);
    let signed = parts(parts(info[1])[0]);
    let version = tlv(2, &[&[version]]);
    let signers = tlv(0x31, &[signers]);
    let signed = tlv(0x30, &[&version, signed[1], signed[2], &signers]);
    tlv(0x30, &[info[0], &tlv(0xa0, &[&signed])])
}

/// The parts of the only signer of a message without certificates.
fn parts_of_signer(message: &[u8]) -> Vec<&[u8]> {
    let signed = parts(parts(parts(message)[1])[0]);
    parts(parts(signed[3])[0])
}

/// A name that is as many of these relative names as fit, without its header.
fn name(rdn: &[u8], len: usize) -> Vec<u8> {
    tlv(0x30, &[&rdn.repeat(len / rdn.len())])
}

/// A relative name with a common name, NULL, in 11 bytes.
const RDN: &[u8] = &[0x31, 9, 0x30, 7, 6, 3, 0x55, 4, 3, 5, 0];

/// What signers may take.
const SIGNERS: u64 = 64 << 20;

/// Signers are kept about as they are, and there is a limit for all of them.
#[test]
fn signers_take_memory_within_a_limit() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let template = attached(by(&person).without_certificates(), CONTENT);
    let signer = parts_of_signer(&template);
    let verifier = Verifier::with_signers([person.certificate]).unwrap();
    let with_signature = |len: usize, times: usize| {
        let signer = tlv(
            0x30,
            &[&signer[..5].concat()[..], &tlv(4, &[&vec![0; len]])],
        );
        with_signers(&template, 1, &signer.repeat(times))
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
        assert!(peak < SIGNERS, "{len}: {peak}");
    }
}

/// The same, whatever is long in a signer, of small parts or in one piece.
#[test]
fn every_field_of_a_signer_takes_memory_within_a_limit() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let template = attached(by(&person).without_certificates(), CONTENT);
    let signer = parts_of_signer(&template);
    let verifier = Verifier::with_signers([person.certificate]).unwrap();
    let long = 16_700_000;
    let string = || tlv(4, &[&vec![0; long]]);
    let fill = |unit: &[u8]| unit.repeat(long / unit.len());
    let algorithm = |at: usize, parameters: &[u8]| tlv(0x30, &[parts(signer[at])[0], parameters]);
    let attribute = |oid: &[u8], value: &[u8]| tlv(0x30, &[oid, &tlv(0x31, &[value])]);
    let set = |attributes: &[u8]| tlv(0xa0, &[attributes]);
    let of_type = |last: u8, value: &[u8]| {
        set(&attribute(
            &[6, 9, 42, 134, 72, 134, 247, 13, 1, 9, last],
            value,
        ))
    };
    let protection: &[u8] = &[6, 9, 42, 134, 72, 134, 247, 13, 1, 9, 52];
    let protected = tlv(0x30, &[&tlv(0x30, &[&string()]), &[0xa1, 0]]);
    // The field, its number in a signer, and whether the signer is read as far as its signature.
    let fields = [
        (
            "an issuer",
            1,
            tlv(0x30, &[&name(RDN, long), &[2, 1, 1]]),
            false,
        ),
        (
            "a serial number",
            1,
            tlv(0x30, &[&[0x30, 0], &tlv(2, &[&vec![1; long]])]),
            false,
        ),
        ("a key identifier", 1, tlv(0x80, &[&vec![0; long]]), false),
        ("parameters of a digest", 2, algorithm(2, &string()), true),
        (
            "small parameters of a digest",
            2,
            algorithm(2, &tlv(0x30, &[&fill(&[5, 0])])),
            true,
        ),
        (
            "attributes",
            3,
            set(&fill(&attribute(&[6, 1, 42], &[5, 0]))),
            true,
        ),
        (
            "values of an attribute",
            3,
            set(&attribute(&[6, 1, 42], &fill(&tlv(4, &[&[0; 62]])))),
            true,
        ),
        ("a hash", 3, of_type(4, &string()), true),
        ("a time", 3, of_type(5, &string()), true),
        (
            "protected algorithms",
            3,
            set(&attribute(protection, &protected)),
            true,
        ),
        (
            "parameters of an algorithm",
            4,
            algorithm(4, &string()),
            true,
        ),
        ("a signature", 5, string(), true),
        ("unsigned attributes", 6, tlv(0xa1, &[&fill(&[5, 0])]), true),
    ];
    for (field, at, long, fits) in fields {
        let with = |long: &[u8], encode: fn(u8, &[&[u8]]) -> Vec<u8>| {
            let mut parts = signer.clone();
            parts.truncate(6);
            match at {
                6 => parts.push(long),
                _ => parts[at] = long,
            }
            encode(0x30, &parts)
        };
        // With indefinite lengths, it is encoded again, value by value.
        let again = match long[0] & 0x20 {
            0 => long.clone(),
            _ => indefinite(long[0], &[value(&long)]),
        };
        for signer in [with(&long, tlv), with(&again, indefinite)] {
            let message = with_signers(&template, 1, &signer);
            let (result, peak) = measured(|| verifier.write_unverified(&message[..], io::sink()));
            match (fits, result) {
                (true, Ok(_) | Err(VerificationError::Signature { .. })) => {}
                (false, Err(VerificationError::LongIdentifier(MAX_IDENTIFIER))) => {}
                (_, other) => panic!("{field}: {other:?}"),
            }
            assert!(peak < SIGNERS, "{field}: {peak}");
            let (outline, peak) = measured(|| inspect(&message[..]));
            assert_eq!(outline.is_ok(), fits, "{field}");
            assert!(peak < SIGNERS, "{field}: {peak}");
        }
    }
}

const MAX_IDENTIFIER: usize = 64 << 10;

/// Names of signers and of recipients are read only if they have few parts. Others are not shown.
#[test]
fn names_take_little_memory() {
    let person = Person::new(SignatureAlgorithm::MlDsa44);
    let template = attached(by(&person).without_certificates(), CONTENT);
    let signer = parts_of_signer(&template);
    let named = |issuer: &[u8]| {
        let identifier = tlv(0x30, &[issuer, &[2, 1, 1]]);
        let mut parts = signer.clone();
        parts[1] = &identifier;
        tlv(0x30, &parts)
    };
    let shown = |issuer: &[u8]| {
        let message = with_signers(&template, 1, &named(issuer));
        match inspect(&message[..]).unwrap() {
            Outline::Signed(outline) => outline.signers[0].signer.to_string(),
            other => panic!("{other:?}"),
        }
    };
    // 128 relative names with an attribute each, one more part, and one relative name with too many attributes.
    let most = RDN.repeat(128);
    assert!(shown(&tlv(0x30, &[&most])).starts_with("number 01 of 2.5.4.3=#0500,"));
    for more in [
        [&most[..], &[0x31, 0]].concat(),
        tlv(0x31, &[&RDN[2..].repeat(256)]),
    ] {
        assert_eq!(
            shown(&tlv(0x30, &[&more])),
            "number 01 of an unreadable name"
        );
    }
    // The longest identifier, and one byte more.
    let string = |len: usize| {
        tlv(
            0x30,
            &[&tlv(
                0x31,
                &[&tlv(0x30, &[&RDN[4..9], &tlv(12, &[&vec![b'a'; len]])])],
            )],
        )
    };
    let longest = (65_400..MAX_IDENTIFIER)
        .rfind(|len| tlv(0x30, &[&string(*len), &[2, 1, 1]]).len() == MAX_IDENTIFIER)
        .unwrap();
    assert!(shown(&string(longest)).starts_with("number 01 of CN=aaa"));
    let message = with_signers(&template, 1, &named(&string(longest + 1)));
    match inspect(&message[..]) {
        Err(InspectionError::Signed(error)) => assert_eq!(
            error.to_string(),
            "the message names a signer by more than 65536 bytes, the most that is accepted; have it signed with a \
             certificate whose issuer has a shorter name, or named by its key identifier"
        ),
        other => panic!("{other:?}"),
    }

    // As many as fit; those of a set have to be sorted.
    let unsorted: Vec<u8> = (0..5_900_u16)
        .rev()
        .flat_map(|i| [&RDN[2..9], &[4, 2], &i.to_be_bytes()].concat())
        .collect();
    let names = [
        ("relative names", name(RDN, 65_000)),
        ("empty relative names", name(&[0x31, 0], 65_000)),
        ("attributes", tlv(0x30, &[&tlv(0x31, &[&unsorted])])),
        ("one value", string(longest)),
    ];
    let verifier = Verifier::with_signers([person.certificate]).unwrap();
    let any = verifier.any_signer();
    let kem = key(KemAlgorithm::MlKem512);
    let recipient = Recipient::key(kem.encapsulation_key().clone(), b"name");
    let info = encrypt(&EnvelopeBuilder::new().recipient(recipient), SECRET);
    let info = parts(&info);
    let enveloped = parts(parts(info[1])[0]);
    for (kind, issuer) in names {
        let message = with_signers(&template, 1, &named(&issuer).repeat(200));
        let (result, peak) = measured(|| any.write_unverified(&message[..], io::sink()));
        assert!(
            matches!(result, Err(VerificationError::Signature { .. })),
            "{kind}"
        );
        assert!(peak < SIGNERS, "{kind}: {peak}");

        let identifier = tlv(0x30, &[&issuer, &[2, 1, 1]]);
        let transport = tlv(
            0x30,
            &[&[2, 1, 0], &identifier, &[0x30, 3, 6, 1, 42], &[4, 0]],
        );
        let recipients = tlv(0x31, &[&transport.repeat(10)]);
        let enveloped = tlv(
            0x30,
            &[enveloped[0], &recipients, enveloped[2], enveloped[3]],
        );
        let message = tlv(0x30, &[info[0], &tlv(0xa0, &[&enveloped])]);
        let (outline, peak) = measured(|| inspect(&message[..]));
        let Ok(Outline::Enveloped(outline)) = outline else {
            panic!("{kind}: {outline:?}");
        };
        assert_eq!(outline.recipients_len, 10);
        assert!(peak < LITTLE, "{kind}: {peak}");
    }
}

/// Content of any length, and any number of recipients: nothing of it is kept.
#[test]
fn content_and_recipients_take_no_memory() {
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
        &[&key_of_recipient.repeat(260_000 / key_of_recipient.len())],
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
    assert!((260_000..256 << 10).contains(&agreement.len()));
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
