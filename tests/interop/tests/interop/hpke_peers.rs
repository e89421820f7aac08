//! Our HPKE behind rustls's trait: RFC 9180's vectors, and messages to and from rustls's own over AWS-LC.

use core::convert::Infallible;
use std::fs;

use hpke::aead::{Aead, AesGcm128, AesGcm256, ChaCha20Poly1305};
use hpke::kdf::HkdfSha256;
use hpke::kem::{DhP256HkdfSha256, Kem, X25519HkdfSha256};
use hpke::{Deserializable, OpModeS, Serializable, setup_sender_with_rng};
use interop::go;
use rand_core::{TryCryptoRng, TryRng};
use rustls::Error;
use rustls::crypto::aws_lc_rs;
use rustls::crypto::hpke::{EncapsulatedSecret, Hpke};
use rustls_pq::hpke::ALL_SUPPORTED_SUITES;
use serde_json::Value;
use shake::{ExtendableOutput, Shake128, Update, XofReader};

#[test]
fn both_ways_with_aws_lc() {
    let theirs = aws_lc_rs::hpke::ALL_SUPPORTED_SUITES;
    let mut shared = 0;
    for ours in ALL_SUPPORTED_SUITES {
        let same = |theirs: &&&dyn Hpke| theirs.suite() == ours.suite();
        let Some(theirs) = theirs.iter().find(same) else {
            continue;
        };
        shared += 1;
        for (sender, recipient) in [(ours, theirs), (theirs, ours)] {
            let (public, private) = recipient.generate_key_pair().unwrap();
            let (enc, mut sealer) = sender.setup_sealer(b"info", &public).unwrap();
            let mut opener = recipient.setup_opener(&enc, b"info", &private).unwrap();
            for message in [&b"first"[..], b"", &[7; 1000]] {
                let sealed = sealer.seal(b"aad", message).unwrap();
                assert_eq!(opener.open(b"aad", &sealed).unwrap(), message, "{ours:?}");
            }
            let mut opener = recipient.setup_opener(&enc, b"other", &private).unwrap();
            let sealed = sealer.seal(b"aad", b"message").unwrap();
            assert!(opener.open(b"aad", &sealed).is_err(), "{ours:?}");
        }
    }
    // X25519 and P-256, with three ciphers each
    assert_eq!(shared, 6);
}

/// RFC 9180's vectors are in Go's sources, with a hash over what is encrypted in place of the texts. What the recipient
/// gets is made by another implementation from the vectors' randomness, and compared with that hash.
#[test]
fn rfc_9180() {
    let Some(sources) = go::sources(26) else {
        return;
    };
    let file = sources.join("crypto/hpke/testdata/rfc9180.json");
    let vectors: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let mut read = 0;
    for vector in vectors.as_array().unwrap() {
        let number = |name: &str| vector[name].as_u64().unwrap();
        let numbers = ["mode", "kem_id", "kdf_id", "aead_id"].map(number);
        let replay: fn(&Value) = match numbers {
            [0, 0x10, 1, 1] => replay::<DhP256HkdfSha256, AesGcm128>,
            [0, 0x10, 1, 2] => replay::<DhP256HkdfSha256, AesGcm256>,
            [0, 0x10, 1, 3] => replay::<DhP256HkdfSha256, ChaCha20Poly1305>,
            [0, 0x20, 1, 1] => replay::<X25519HkdfSha256, AesGcm128>,
            [0, 0x20, 1, 2] => replay::<X25519HkdfSha256, AesGcm256>,
            [0, 0x20, 1, 3] => replay::<X25519HkdfSha256, ChaCha20Poly1305>,
            _ => continue,
        };
        replay(vector);
        read += 1;
    }
    assert_eq!(read, 6);
}

fn replay<K: Kem, A: Aead>(vector: &Value) {
    let bytes = |name: &str| hex::decode(vector[name].as_str().unwrap()).unwrap();
    let ours = ALL_SUPPORTED_SUITES.iter().find(|ours| {
        let suite = ours.suite();
        let is = |name: &str, number: u16| vector[name] == number;
        is("kem_id", suite.kem.into())
            && is("kdf_id", suite.sym.kdf_id.into())
            && is("aead_id", suite.sym.aead_id.into())
    });
    let ours = ours.expect("it is among ours");
    let info = bytes("info");
    let recipient = K::PublicKey::from_bytes(&bytes("pkRm")).unwrap();
    let mut randomness = Fixed(bytes("ikmE"));
    let (enc, mut sender) = setup_sender_with_rng::<A, HkdfSha256, K>(
        &OpModeS::Base,
        &recipient,
        &info,
        &mut randomness,
    )
    .unwrap();
    let enc = enc.to_bytes().to_vec();
    assert_eq!(enc, bytes("enc"));

    let private = bytes("skRm").into();
    let mut opener = ours
        .setup_opener(&EncapsulatedSecret(enc), &info, &private)
        .unwrap();
    let mut source = Shake128::default().finalize_xof();
    let mut accumulated = Shake128::default();
    for _ in 0..1000 {
        let (aad, message) = (drawn(&mut source), drawn(&mut source));
        let sealed = sender.seal(&message, &aad).unwrap();
        accumulated.update(&sealed);
        let other = [&aad[..], b"x"].concat();
        assert_eq!(opener.open(&other, &sealed), Err(Error::DecryptError));
        assert_eq!(opener.open(&aad, &sealed).unwrap(), message);
    }
    let mut hash = [0; 16];
    accumulated.finalize_xof().read(&mut hash);
    assert_eq!(hash[..], bytes("encryptions_accumulated"));
}

/// A length in one byte, and as many bytes.
fn drawn(source: &mut impl XofReader) -> Vec<u8> {
    let mut len = [0];
    source.read(&mut len);
    let mut bytes = vec![0; len[0].into()];
    source.read(&mut bytes);
    bytes
}

/// Randomness that was published.
struct Fixed(Vec<u8>);

impl TryRng for Fixed {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("keys are made from bytes")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unreachable!("keys are made from bytes")
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.copy_from_slice(&self.0);
        Ok(())
    }
}

impl TryCryptoRng for Fixed {}
