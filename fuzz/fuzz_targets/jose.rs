//! Every reader of pq-jose: what is accepted is written again as the same value, and nothing is verified
//! that was not signed.
#![no_main]

use core::time::Duration;
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use fuzz::Bytes;
use fuzz::pki::FixedKey;
use libfuzzer_sys::fuzz_target;
use pq_jose::cose::{CoseKey, CosePrivateKey, Sign1};
use pq_jose::jwk::{Jwk, JwkSet, PrivateJwk};
use pq_jose::jws::{Header, Jws, Message};
use pq_jose::jwt::{Claims, Policy};
use pq_x509::SignatureAlgorithm;
use pq_x509::pki_types::UnixTime;

fuzz_target!(|input: Input<'_>| {
    let document = &DOCUMENTS[usize::from(input.document) % DOCUMENTS.len()];
    let bytes = input.bytes.of(document);
    read_cbor(&bytes);
    if let Ok(text) = str::from_utf8(&bytes) {
        read_keys(text);
        read_signatures(text);
        read_token(text);
    }
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    document: u8,
    bytes: Bytes<'a>,
}

const CONTENT: &[u8] = b"content";

static KEY: LazyLock<FixedKey> = LazyLock::new(|| FixedKey::new(SignatureAlgorithm::MlDsa44, 1));

static PUBLIC: LazyLock<Jwk> = LazyLock::new(|| {
    let key = KEY.0.verifying_key().clone();
    Jwk::new(key).expect("a key of ML-DSA").with_kid("1")
});

static COSE_PUBLIC: LazyLock<CoseKey> = LazyLock::new(|| {
    let key = KEY.0.verifying_key().clone();
    CoseKey::new(key).expect("a key of ML-DSA").with_kid(b"1")
});

static TOKEN: LazyLock<String> = LazyLock::new(|| {
    let now = UnixTime::since_unix_epoch(NOW);
    let claims = Claims::new()
        .with_issuer("i")
        .with_audience("a")
        .with_lifetime(now, NOW);
    claims.sign(&Header::new(), &*KEY).expect("a token")
});

const NOW: Duration = Duration::from_secs(1_800_000_000);

/// Valid documents of every kind.
static DOCUMENTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let private = PrivateJwk::new(KEY.0.clone()).expect("a key with a seed");
    let cose = CosePrivateKey::new(KEY.0.clone()).expect("a key with a seed");
    let set: JwkSet = [PUBLIC.clone()].into_iter().collect();
    let header = Header::new().with_kid("1");
    let (attached, detached) = (Message::new(CONTENT), Message::detached(CONTENT));
    let signers = [(header.clone(), &*KEY as _)];
    let texts = [
        private.to_json().expect("a key with a seed").to_string(),
        PUBLIC.to_json(),
        set.to_json(),
        TOKEN.clone(),
        attached.to_compact(&header, &*KEY).expect("a signature"),
        detached.to_compact(&header, &*KEY).expect("a signature"),
        attached.to_flattened(&header, &*KEY).expect("a signature"),
        detached.to_flattened(&header, &*KEY).expect("a signature"),
        attached.to_general(&signers).expect("a signature"),
    ];
    let mut documents: Vec<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
    let sign1 = Sign1::new();
    documents.push(cose.to_cbor().expect("a key with a seed").to_vec());
    documents.push(COSE_PUBLIC.to_cbor());
    documents.push(sign1.sign(CONTENT, Some(b"1"), &*KEY).expect("a signature"));
    documents.push(
        sign1
            .sign_detached(CONTENT, None, &*KEY)
            .expect("a signature"),
    );
    documents
});

fn read_keys(text: &str) {
    if let Ok(key) = PrivateJwk::from_json(text) {
        let written = key.to_json().expect("a key with a seed");
        let again = PrivateJwk::from_json(&written).expect("what was written");
        assert_eq!(again.public().to_json(), key.public().to_json());
        assert!(Jwk::from_json(text).is_err());
    }
    if let Ok(key) = Jwk::from_json(text) {
        let again = Jwk::from_json(&key.to_json()).expect("what was written");
        assert_eq!(again.to_json(), key.to_json());
        assert_eq!(again.thumbprint(), key.thumbprint());
    }
    if let Ok(set) = JwkSet::from_json(text) {
        let again = JwkSet::from_json(&set.to_json()).expect("what was written");
        assert_eq!(again.to_json(), set.to_json());
    }
}

fn read_signatures(text: &str) {
    for jws in [Jws::from_compact(text), Jws::from_json(text)] {
        match jws {
            Ok(jws) => {
                for verified in [jws.verify(&*PUBLIC), jws.verify_any(&*PUBLIC)] {
                    match verified {
                        // That of the token is another.
                        Ok(verified) => assert!(verified.payload() == CONTENT || text == *TOKEN),
                        Err(error) => drop(error.to_string()),
                    }
                }
                assert!(jws.verify_detached(b"other", &*PUBLIC).is_err());
                let _ = jws.verify_detached(CONTENT, &*PUBLIC);
            }
            Err(error) => drop(error.to_string()),
        }
    }
}

fn read_token(text: &str) {
    let policy = Policy::new().any_issuer().any_audience().leeway(NOW);
    let now = UnixTime::since_unix_epoch(NOW);
    match policy.verify(text, &*PUBLIC, now) {
        Ok(_) => assert_eq!(text, *TOKEN),
        Err(error) => drop(error.to_string()),
    }
}

fn read_cbor(bytes: &[u8]) {
    if let Ok(key) = CosePrivateKey::from_cbor(bytes) {
        let written = key.to_cbor().expect("a key with a seed");
        let again = CosePrivateKey::from_cbor(&written).expect("what was written");
        assert_eq!(again.public().to_cbor(), key.public().to_cbor());
    }
    match CoseKey::from_cbor(bytes) {
        Ok(key) => {
            let again = CoseKey::from_cbor(&key.to_cbor()).expect("what was written");
            assert_eq!(again.to_cbor(), key.to_cbor());
        }
        Err(error) => drop(error.to_string()),
    }
    for sign1 in [Sign1::new(), Sign1::new().untagged()] {
        match sign1.verify(bytes, &*COSE_PUBLIC) {
            Ok(verified) => assert_eq!(verified.payload(), CONTENT),
            Err(error) => drop(error.to_string()),
        }
        assert!(
            sign1
                .verify_detached(bytes, b"other", &*COSE_PUBLIC)
                .is_err()
        );
    }
}
