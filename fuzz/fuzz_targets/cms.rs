//! Messages: one that was changed is refused, or has the content that its maker signed or encrypted.
#![no_main]

use std::io::{Read, Write};
use std::sync::LazyLock;
use std::time::SystemTime;

use arbitrary::Arbitrary;
use fuzz::Bytes;
use fuzz::der::DerEdits;
use libfuzzer_sys::fuzz_target;
use pq_cms::{
    ContentCipher, DocumentSigner, EnvelopeBuilder, Opener, PemWriter, Recipient, RecipientKey,
    SignedDataBuilder, VerificationTime, Verifier, decode_if_pem, digests, inspect,
};
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{DecapsulationKey, KemAlgorithm, SignatureAlgorithm, SigningKey};
use pq_x509::validation::ChainValidator;
use rustls_pq::classical::ClassicalAgreementKey;

fuzz_target!(|input: Input<'_>| match input {
    Input::Signed(edits) => check_signed(&edits.of(&MESSAGES.signed)),
    Input::Detached(edits) => check_detached(&edits.of(&MESSAGES.detached)),
    Input::Encrypted(edits) => check_encrypted(&edits.of(&MESSAGES.encrypted)),
    Input::Agreed(edits) => check_encrypted(&edits.of(&MESSAGES.agreed)),
    Input::Other { which, pem, edits } => {
        let message = &OTHERS[usize::from(which) % OTHERS.len()];
        let message = edits.of(message);
        check_signed(&message);
        check_detached(&message);
        check_encrypted(&message);
        check_pem(&message, &pem);
    }
    Input::MadeUp(bytes) => {
        check_signed(bytes);
        check_detached(bytes);
        check_encrypted(bytes);
        if let Ok(mut message) = decode_if_pem(bytes) {
            let _ = std::io::copy(&mut message, &mut std::io::sink());
        }
    }
});

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Signed(DerEdits<'a>),
    Detached(DerEdits<'a>),
    Encrypted(DerEdits<'a>),
    Agreed(DerEdits<'a>),
    /// One of [`OTHERS`], and the changes to its PEM.
    Other {
        which: u8,
        pem: Bytes<'a>,
        edits: DerEdits<'a>,
    },
    MadeUp(&'a [u8]),
}

const CONTENT: &[u8] = b"content";

/// A message of each kind, and the keys for reading them.
struct Messages {
    root: Certificate,
    certificate: Certificate,
    kem_certificate: Certificate,
    key: DecapsulationKey,
    agreement: ClassicalAgreementKey,
    signed: Vec<u8>,
    detached: Vec<u8>,
    encrypted: Vec<u8>,
    agreed: Vec<u8>,
}

static MESSAGES: LazyLock<Messages> = LazyLock::new(|| {
    let key = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[1; 32]).unwrap();
    let issuer = Issuer::self_signed(CertificateBuilder::ca("Root"), key.clone()).unwrap();
    let leaf = CertificateBuilder::end_entity().dns_name("a");
    let certificate = issuer.issue(leaf, &key).unwrap();
    let builder = SignedDataBuilder::new().signer(DocumentSigner::new(&certificate, &key));
    let mut signed = Vec::new();
    builder.sign(CONTENT, &mut signed).unwrap();
    let detached = builder
        .without_certificates()
        .sign_detached(CONTENT)
        .unwrap();
    let key = DecapsulationKey::from_seed(KemAlgorithm::MlKem512, &[2; 64]).unwrap();
    let mut encrypted = Vec::new();
    EnvelopeBuilder::new()
        .recipient(Recipient::key(key.encapsulation_key().clone(), b"key"))
        .encrypt(CONTENT, &mut encrypted)
        .unwrap();
    let kem_certificate = issuer
        .issue(
            CertificateBuilder::end_entity().dns_name("a"),
            key.encapsulation_key(),
        )
        .unwrap();
    let agreement = ClassicalAgreementKey::from_der(X25519).unwrap();
    let recipient = agreement.public_key().clone();
    let mut agreed = Vec::new();
    EnvelopeBuilder::new()
        .recipient(Recipient::agreement_key(recipient, b"key"))
        .encrypt(CONTENT, &mut agreed)
        .unwrap();
    Messages {
        root: issuer.certificate().clone(),
        certificate,
        kem_certificate,
        key,
        agreement,
        signed,
        detached,
        encrypted,
        agreed,
    }
});

/// Further messages, made with other options.
static OTHERS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut others = Vec::new();
    let encrypt = |builder: EnvelopeBuilder| {
        let mut message = Vec::new();
        builder.encrypt(CONTENT, &mut message).unwrap();
        message
    };
    let kem = || Recipient::key(MESSAGES.key.encapsulation_key().clone(), b"key");
    for cipher in [
        ContentCipher::Aes128Gcm,
        ContentCipher::Aes128Cbc,
        ContentCipher::Aes256Cbc,
    ] {
        others.push(encrypt(
            EnvelopeBuilder::new().recipient(kem()).cipher(cipher),
        ));
    }
    let agreement = || MESSAGES.agreement.public_key().clone();
    let shared = Recipient::shared_key(ID, &SHARED).unwrap();
    let all = EnvelopeBuilder::new()
        .recipient(shared.clone())
        .recipient(Recipient::agreement_key(agreement(), b"key"))
        .recipient(Recipient::certificate(&MESSAGES.kem_certificate).unwrap());
    others.push(encrypt(EnvelopeBuilder::new().recipient(shared)));
    others.push(encrypt(all));

    let key = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[1; 32]).unwrap();
    let signer = || DocumentSigner::new(&MESSAGES.certificate, &key);
    let mut builders = vec![
        SignedDataBuilder::new().signer(signer().without_attributes()),
        SignedDataBuilder::new().signer(signer().by_key_identifier()),
        (SignedDataBuilder::new().signer(signer())).signing_time(SystemTime::UNIX_EPOCH),
    ];
    builders.extend(digests().map(|it| SignedDataBuilder::new().signer(signer().digest(it))));
    for builder in builders {
        let mut message = Vec::new();
        builder.sign(CONTENT, &mut message).unwrap();
        others.push(message);
    }
    others
});

/// A key that sender and recipient have, and its name.
const ID: &[u8] = b"shared";
const SHARED: [u8; 32] = [3; 32];

/// A private key of X25519 in PKCS#8.
const X25519: &[u8] = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x6e\x04\x22\x04\x20\
    a key that is of use to no one!!";

fn verifier() -> Verifier<'static> {
    Verifier::with_signers([MESSAGES.certificate.clone()]).unwrap()
}

fn check_signed(message: &[u8]) {
    let _ = inspect(message);
    let root = ChainValidator::new([MESSAGES.root.clone()]).unwrap();
    let chains = Verifier::with_chains(&root)
        .time(VerificationTime::Signing)
        .any_signer();
    for verifier in [verifier(), chains] {
        match verifier.verify(message, 1 << 20) {
            Ok((content, _)) => assert_eq!(content, CONTENT),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    // A verifier that expects no attributes can take signed attributes for content (RFC 5652).
    let without_attributes = verifier().expect_no_attributes();
    if let Ok((content, _)) = without_attributes.verify(message, 1 << 20) {
        assert!(content == CONTENT || content.starts_with(&[SET]));
    }
}

/// The tag of signed attributes in the form in which they are signed.
const SET: u8 = 0x31;

fn check_detached(message: &[u8]) {
    assert!(verifier().verify_detached(message, &b"other"[..]).is_err());
    let _ = verifier().verify_detached(message, CONTENT);
}

fn check_encrypted(message: &[u8]) {
    let _ = inspect(message);
    for key in [
        RecipientKey::new(&MESSAGES.key),
        RecipientKey::with_certificate(&MESSAGES.key, &MESSAGES.kem_certificate).unwrap(),
        RecipientKey::agreement(&MESSAGES.agreement),
        RecipientKey::shared_key(ID, &SHARED),
    ] {
        match Opener::new(key.clone()).open(message, 1 << 20) {
            // Whoever knows the public key can encrypt, but no fuzzer finds out how.
            Ok((content, _)) => assert_eq!(content.as_slice(), CONTENT),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        // Without authentication, changes go unnoticed.
        let _ = (Opener::new(key).take_unauthenticated()).open(message, 1 << 20);
    }
}

/// Checks that PEM is read as the same bytes, and that reading changed PEM does not panic.
fn check_pem(message: &[u8], changes: &Bytes<'_>) {
    let mut writer = PemWriter::new(Vec::new()).unwrap();
    writer.write_all(message).unwrap();
    let pem = writer.finish().unwrap();
    let mut read = Vec::new();
    let result = decode_if_pem(&*pem).unwrap().read_to_end(&mut read);
    // A block without contents is a damaged one.
    assert_eq!(result.is_ok(), !message.is_empty());
    assert_eq!(read, message);
    if let Ok(mut message) = decode_if_pem(&*changes.of(&pem)) {
        let _ = std::io::copy(&mut message, &mut std::io::sink());
    }
}
