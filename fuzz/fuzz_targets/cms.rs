//! Messages: one that was changed is refused, or says what its maker said.
#![no_main]

use std::sync::LazyLock;

use arbitrary::Arbitrary;
use fuzz::der::DerEdits;
use libfuzzer_sys::fuzz_target;
use pq_cms::{
    DocumentSigner, EnvelopeBuilder, Opener, Recipient, RecipientKey, SignedDataBuilder, Verifier,
    decode_if_pem, inspect,
};
use pq_x509::{
    Certificate, CertificateBuilder, DecapsulationKey, Issuer, KemAlgorithm, SignatureAlgorithm,
    SigningKey,
};
use rustls_pq::classical::ClassicalAgreementKey;

fuzz_target!(|input: Input<'_>| match input {
    Input::Signed(edits) => check_signed(&edits.of(&MESSAGES.signed)),
    Input::Detached(edits) => check_detached(&edits.of(&MESSAGES.detached)),
    Input::Encrypted(edits) => check_encrypted(&edits.of(&MESSAGES.encrypted)),
    Input::Agreed(edits) => check_encrypted(&edits.of(&MESSAGES.agreed)),
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
    MadeUp(&'a [u8]),
}

const CONTENT: &[u8] = b"content";

/// A message of each kind, and the keys that they are for.
struct Messages {
    certificate: Certificate,
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
    let certificate = issuer.certificate().clone();
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
    let agreement = ClassicalAgreementKey::from_der(X25519).unwrap();
    let recipient = agreement.public_key().clone();
    let mut agreed = Vec::new();
    EnvelopeBuilder::new()
        .recipient(Recipient::agreement_key(recipient, b"key"))
        .encrypt(CONTENT, &mut agreed)
        .unwrap();
    Messages {
        certificate,
        key,
        agreement,
        signed,
        detached,
        encrypted,
        agreed,
    }
});

/// A private key of X25519 in PKCS#8.
const X25519: &[u8] = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x6e\x04\x22\x04\x20\
    a key that is of use to no one!!";

fn verifier() -> Verifier<'static> {
    Verifier::with_signers([MESSAGES.certificate.clone()]).unwrap()
}

fn check_signed(message: &[u8]) {
    let _ = inspect(message);
    if let Ok((content, _)) = verifier().verify_to_vec(message, 1 << 20) {
        assert_eq!(content, CONTENT);
    }
}

fn check_detached(message: &[u8]) {
    assert!(verifier().verify_detached(message, &b"other"[..]).is_err());
    let _ = verifier().verify_detached(message, CONTENT);
}

fn check_encrypted(message: &[u8]) {
    let _ = inspect(message);
    for key in [
        RecipientKey::new(&MESSAGES.key),
        RecipientKey::agreement(&MESSAGES.agreement),
    ] {
        if let Ok((content, _)) = Opener::new(key).open_to_vec(message, 1 << 20) {
            // Whoever knows the public key can encrypt, but no fuzzer finds out how.
            assert_eq!(content.as_slice(), CONTENT);
        }
    }
}
