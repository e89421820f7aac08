//! Every reader of pq-ssh: accepted input is written again as the same bytes, or reads again as the same
//! value, and no signature is valid that nobody made.
#![no_main]

use std::sync::LazyLock;
use std::time::Duration;

use arbitrary::Arbitrary;
use fuzz::Bytes;
use libfuzzer_sys::fuzz_target;
use pq_ssh::{
    AllowedSigners, AuthorizedKey, HashAlgorithm, HashedMessage, Passphrase, PrivateKey, PublicKey,
    Signature,
};
use pq_x509::pki_types::UnixTime;
use rustls_pq::composite::{CompositeAlgorithm, CompositeKey};

fuzz_target!(|input: Input<'_>| {
    match input {
        Input::Line(bytes) => line(&text(bytes.of(VALID.line.as_bytes()))),
        Input::Blob(bytes) => {
            let blob = bytes.of(&VALID.key.public_key().to_blob());
            if let Ok(key) = PublicKey::from_blob(&blob) {
                assert_eq!(key.to_blob(), blob);
            }
        }
        Input::Plain(bytes) => private_key(&text(bytes.of(VALID.plain.as_bytes()))),
        Input::Encrypted(bytes) => private_key(&text(bytes.of(VALID.encrypted.as_bytes()))),
        Input::Armor(bytes) => {
            if let Ok(read) = Signature::from_armored(&text(bytes.of(VALID.armor.as_bytes()))) {
                assert_eq!(
                    Signature::from_armored(&read.to_armored()),
                    Ok(read.clone())
                );
                signature(&read);
            }
        }
        Input::Signature(bytes) => {
            let bytes = bytes.of(&VALID.signature.to_bytes());
            if let Ok(read) = Signature::from_bytes(&bytes) {
                assert_eq!(read.to_bytes(), bytes);
                signature(&read);
            }
        }
        Input::Signers(bytes, principal, time) => {
            let time = UnixTime::since_unix_epoch(Duration::from_secs(time));
            if let Ok(signers) = AllowedSigners::parse(bytes.of(VALID.signers.as_bytes())) {
                let verify =
                    |message| signers.verify(principal, NAMESPACE, time, &VALID.signature, message);
                let _ = verify(&VALID.message);
                assert!(verify(&VALID.other_message).is_err());
            }
        }
    }
});

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Line(Bytes<'a>),
    Blob(Bytes<'a>),
    Plain(Bytes<'a>),
    Encrypted(Bytes<'a>),
    Armor(Bytes<'a>),
    Signature(Bytes<'a>),
    Signers(Bytes<'a>, &'a str, u64),
}

const NAMESPACE: &str = "file";

struct Valid {
    key: PrivateKey,
    line: String,
    plain: String,
    encrypted: String,
    message: HashedMessage,
    other_message: HashedMessage,
    signature: Signature,
    armor: String,
    signers: String,
}

static VALID: LazyLock<Valid> = LazyLock::new(|| {
    let seeds: Vec<u8> = (0..64).collect();
    let key = CompositeKey::from_bytes(CompositeAlgorithm::MlDsa44Ed25519Sha512, &seeds);
    let key = PrivateKey::new(key.expect("seeds")).expect("the combination of SSH");
    let key = key.with_comment("me@example.org").expect("a comment");
    let line = key.public_key().to_line();
    let hashed = |message: &[u8]| {
        HashedMessage::read(HashAlgorithm::Sha512, message).expect("a slice can be read")
    };
    let message = hashed(b"message");
    let signature = key.sign(NAMESPACE, &message).expect("randomness");
    let file = |passphrase| key.to_openssh(passphrase).expect("randomness").to_string();
    Valid {
        plain: file(None),
        encrypted: file(Some(&passphrase())),
        armor: signature.to_armored(),
        signers: format!(
            "me@*,!you@* namespaces=\"f*\",valid-after=\"20260101Z\",valid-before=\"20270101Z\" {line}\n"
        ),
        line: format!("restrict,command=\"a b\" {line}"),
        other_message: hashed(b"another"),
        key,
        message,
        signature,
    }
});

/// A text from the bytes. Bytes that are not UTF-8 are refused when a file is read as a text.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

fn passphrase() -> Passphrase<'static> {
    Passphrase::new(b"passphrase").rounds(1).accept_rounds(2)
}

fn line(text: &str) {
    if let Ok(key) = AuthorizedKey::from_line(text) {
        assert_eq!(AuthorizedKey::from_line(&key.to_line()), Ok(key));
    }
    if let Ok(key) = PublicKey::from_line(text) {
        assert_eq!(PublicKey::from_line(&key.to_line()), Ok(key));
    }
}

fn private_key(text: &str) {
    if let Ok(key) = PrivateKey::from_openssh(text, Some(&passphrase())) {
        let written = key.to_openssh(None).expect("randomness");
        let read = PrivateKey::from_openssh(&written, None).expect("it was just written");
        assert_eq!(read.public_key(), key.public_key());
        assert_eq!(read.key().to_bytes(), key.key().to_bytes());
    }
}

fn signature(read: &Signature) {
    let key = VALID.key.public_key();
    let is_valid = read.verify(key, NAMESPACE, &VALID.message).is_ok();
    // Under its other name it is still the same key.
    if read.public_key().name() == key.name() {
        assert_eq!(is_valid, read.to_bytes() == VALID.signature.to_bytes());
    }
    assert!(read.verify(key, NAMESPACE, &VALID.other_message).is_err());
}
