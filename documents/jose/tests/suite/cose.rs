//! COSE_Key and COSE_Sign1.

use pq_jose::cose::{CoseError, CoseKey, CosePrivateKey, Sign1};
use pq_jose::{AkpError, Algorithm, CborError};
use pq_keys::{SignatureAlgorithm, Signer, SigningKey};

use crate::keys::{Deterministic, changes, sha256, signing_key};

fn private(seed: u8) -> CosePrivateKey {
    CosePrivateKey::new(signing_key(Algorithm::MlDsa44, seed)).unwrap()
}

/// The examples of RFC 9964, appendix A.2, whose seeds are zero: the thumbprint of each key, which is its
/// identifier, and the SHA-256 of its COSE_Sign1, signed without randomness.
#[test]
fn the_examples_of_the_rfc() {
    for (algorithm, key_start, start, kid, hash) in EXAMPLES {
        let signing_key = signing_key(algorithm, 0);
        let key = CosePrivateKey::new(signing_key.clone()).unwrap();
        let key = key.with_thumbprint_as_kid();
        let thumbprint = key.public().thumbprint();
        assert_eq!(hex::encode(thumbprint.as_bytes()), kid);

        // Its members are not in the order in which they would be written.
        let mut bytes = hex::decode(format!("a5025820{kid}0107{key_start}")).unwrap();
        bytes.extend_from_slice(signing_key.verifying_key().as_bytes());
        bytes.extend_from_slice(&[0x21, 0x58, 0x20]);
        bytes.extend_from_slice(&[0; 32]);
        let read = CosePrivateKey::from_cbor(&bytes).unwrap();
        let written = key.to_cbor().unwrap();
        assert_eq!(read.to_cbor().unwrap(), written);
        let sorted = format!("a50107025820{kid}{key_start}");
        assert!(hex::encode(&*written).starts_with(&sorted));

        let signer = Deterministic(signing_key);
        let content = b"hello post quantum signatures";
        let kid_bytes = thumbprint.as_bytes();
        let message = Sign1::new()
            .sign(content, Some(kid_bytes), &signer)
            .unwrap();
        let start = format!("d2845827a201{start}045820{kid}a0581d");
        assert!(hex::encode(&message).starts_with(&start));
        assert_eq!(sha256(&message), hash, "{}", hex::encode(&message));
        let verified = Sign1::new().verify(&message, key.public()).unwrap();
        assert_eq!(verified.payload(), content);
    }
}

/// The beginnings of the algorithm and the public key, the algorithm in the header, the thumbprint, the hash.
const EXAMPLES: [(Algorithm, &str, &str, &str, &str); 3] = [
    (
        Algorithm::MlDsa44,
        "03382f20590520",
        "382f",
        "b8969ab4b37da9f0684e42647eb8a0be8b5b661ebf5d76f0583bf5b8d3a8059a",
        "662dd8373250badecbbf5f637791cdc81773277cea5b6d237d6a8c1c9a09505c",
    ),
    (
        Algorithm::MlDsa65,
        "033830205907a0",
        "3830",
        "b788acf242f1f1d6532926d816e76e1636874267f2a48c84c4e65789ab80cc02",
        "9668576da54152cc578b740106d17e4ada88fb3a28471fd3296c22e606c86812",
    ),
    (
        Algorithm::MlDsa87,
        "03383120590a20",
        "3831",
        "d9bc439f97bd6d4093e68f0f3fcf09c9a97adf888ed7308dd565247a166cb4fa",
        "206ce0b57b39dfc1e688ed5a89bd19ca4b8cebb52acc82c3dfd6c86c0de760fa",
    ),
];

#[test]
fn what_is_written_is_read() {
    for algorithm in Algorithm::ALL {
        for kid in [None, Some(&b""[..]), Some(&[0xff; 300])] {
            let mut key = CosePrivateKey::new(signing_key(*algorithm, 1)).unwrap();
            if let Some(kid) = kid {
                key = key.with_kid(kid);
            }
            let bytes = key.to_cbor().unwrap();
            let read = CosePrivateKey::from_cbor(&bytes).unwrap();
            assert_eq!(read.to_cbor().unwrap(), bytes);
            assert_eq!(read.public().kid(), kid);
            assert_eq!(read.public().algorithm(), *algorithm);
            assert!(matches!(
                CoseKey::from_cbor(&bytes),
                Err(CoseError::Private)
            ));
            let bytes = key.public().to_cbor();
            let read = CoseKey::from_cbor(&bytes).unwrap();
            assert_eq!(read.to_cbor(), bytes);
            assert_eq!(read.thumbprint(), key.public().thumbprint());
            let refused = CosePrivateKey::from_cbor(&bytes).unwrap_err();
            assert!(matches!(refused, CoseError::NotPrivate));

            for sign1 in [Sign1::new(), Sign1::new().untagged().external_aad(b"aad")] {
                let message = sign1.sign(b"content", kid, &key).unwrap();
                let verified = sign1.verify(&message, key.public()).unwrap();
                assert_eq!(verified.payload(), b"content");
                assert_eq!(verified.key().kid(), kid);
                let detached = sign1.sign_detached(b"content", kid, &key).unwrap();
                assert!(
                    sign1
                        .verify_detached(&detached, b"content", key.public())
                        .is_ok()
                );
                let refused = sign1.verify_detached(&detached, b"Content", key.public());
                assert!(matches!(refused, Err(CoseError::Invalid)));
                let refused = sign1.verify(&detached, key.public());
                assert!(matches!(refused, Err(CoseError::Detached)));
                let refused = sign1.verify_detached(&message, b"content", key.public());
                assert!(matches!(refused, Err(CoseError::NotDetached)));
            }
        }
    }
}

#[test]
fn external_data_and_tags_are_what_was_agreed_on() {
    let key = private(1);
    let sign1 = Sign1::new().external_aad(b"a");
    let message = sign1.sign(b"x", None, &key).unwrap();
    for other in [Sign1::new(), Sign1::new().external_aad(b"b")] {
        assert!(matches!(
            other.verify(&message, key.public()),
            Err(CoseError::Invalid)
        ));
    }
    assert!(matches!(
        sign1.untagged().verify(&message, key.public()),
        Err(CoseError::Tag { .. })
    ));
    assert!(matches!(
        sign1.verify(&message[1..], key.public()),
        Err(CoseError::Tag { .. })
    ));
    assert!(sign1.untagged().verify(&message[1..], key.public()).is_ok());
    for tag in [&[0xd1][..], &[0xd8, 98], &[0xd2, 0xd2]] {
        let tagged = [tag, &message[1..]].concat();
        assert!(sign1.verify(&tagged, key.public()).is_err());
    }
}

/// A message with these headers in hexadecimal, signed as they are.
fn message(protected: &str, unprotected: &str, key: &impl Signer) -> Vec<u8> {
    let protected = hex::decode(protected).unwrap();
    let head = |major: u8, len: usize| match len {
        0..24 => vec![major | len as u8],
        24..256 => vec![major | 24, len as u8],
        _ => vec![major | 25, (len >> 8) as u8, len as u8],
    };
    let bytes = |bytes: &[u8]| [head(0x40, bytes.len()), bytes.to_vec()].concat();
    let structure = [
        b"\x84\x6aSignature1".to_vec(),
        bytes(&protected),
        bytes(b""),
        bytes(b"x"),
    ];
    let signature = key.sign(&structure.concat()).unwrap();
    let unprotected = hex::decode(unprotected).unwrap();
    let parts = [
        vec![0xd2, 0x84],
        bytes(&protected),
        unprotected,
        bytes(b"x"),
        bytes(&signature),
    ];
    parts.concat()
}

#[test]
fn headers_are_as_the_standard_has_them() {
    let key = private(1);
    for (protected, unprotected, words) in [
        ("a101382f", "a0", ""),
        // kid beside it, and labels that nobody knows
        ("a101382f", "a104416b", ""),
        ("a201382f6178a16179f6", "a11863818140", ""),
        (
            "a101382f",
            "a1016101",
            "algorithm in the unprotected header, where nobody signed it",
        ),
        (
            "a101382f",
            "a1028101",
            "\"crit\" in the unprotected header, where nobody signed it",
        ),
        ("a201382f028103", "a0", "by \"crit\""),
        (
            "a101383f",
            "a0",
            "names the algorithm -64, but the key is one of -48 (ML-DSA-44)",
        ),
        ("a1013830", "a0", "names the algorithm -49"),
        ("a10105", "a0", "names the algorithm 5"),
        ("a101646e6f6e65", "a0", "names the algorithm \"none\""),
        ("a0", "a0", "no algorithm"),
        ("", "a101382f", "where nobody signed it"),
        ("", "a0", "no algorithm"),
        ("a201382f01382f", "a0", "a key twice"),
        ("a101382f", "a204416b04416b", "a key twice"),
        ("a201382f04416b", "a104416b", "in both of its headers"),
        ("a101382f00", "a0", "after the end"),
        ("a1180138 2f", "a0", "longer than it has to be"),
        ("bf01382fff", "a0", "indefinite"),
        ("a101382f", "bfff", "indefinite"),
        ("a101382f", "a118635f40ff", "indefinite"),
        ("a101382f", "a11863fb3ff0000000000000", "floating-point"),
        ("a101382f", "a11863a2010001f6", "a key twice"),
        ("a101382f", "80", "the unprotected header"),
        ("a101382f", "a1046178", "a key's identifier"),
        ("a10140", "a0", "an algorithm"),
        ("a14001", "a0", "a label"),
    ] {
        let message = message(&protected.replace(' ', ""), unprotected, &key);
        let refused = Sign1::new().verify(&message, key.public()).err();
        let refused = refused.map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(
            refused.is_empty(),
            words.is_empty(),
            "{protected} {unprotected}: {refused}"
        );
        assert!(
            refused.contains(words),
            "{protected} {unprotected}: {refused}"
        );
    }
}

#[test]
fn the_right_key_is_found() {
    let keys: Vec<CoseKey> = [(1, Some(b"1")), (2, Some(b"2")), (3, None)]
        .into_iter()
        .map(|(seed, kid)| {
            let key = private(seed).public().clone();
            kid.map_or_else(|| key.clone(), |kid| key.clone().with_kid(kid))
        })
        .collect();
    let verify = |seed, kid: Option<&[u8]>| {
        let message = Sign1::new().sign(b"x", kid, &private(seed)).unwrap();
        Sign1::new().verify(&message, &keys).map(|_| ())
    };
    assert!(
        verify(1, Some(b"1")).is_ok() && verify(2, None).is_ok() && verify(3, Some(b"9")).is_ok()
    );
    assert!(matches!(verify(1, Some(b"2")), Err(CoseError::Invalid)));
    let message = Sign1::new().sign(b"x", Some(b"9"), &private(1)).unwrap();
    assert!(matches!(
        Sign1::new().verify(&message, &keys[..2]),
        Err(CoseError::NoSuchKey)
    ));
    assert!(matches!(
        Sign1::new().verify(&message, &keys[..0]),
        Err(CoseError::NoKeys)
    ));
    let slh_dsa = SigningKey::generate(SignatureAlgorithm::SlhDsaShake128f).unwrap();
    assert!(matches!(
        Sign1::new().sign(b"x", None, &slh_dsa),
        Err(CoseError::Key(_))
    ));
}

#[test]
fn every_byte_counts() {
    let key = private(1);
    let message = Sign1::new().sign(b"content", Some(b"k"), &key).unwrap();
    let verify = |message: &[u8]| Sign1::new().verify(message, key.public()).map(|_| ());
    verify(&message).unwrap();
    for at in 0..message.len() {
        // every value in the part with structure
        let others: Vec<u8> = match at {
            0..32 => (0..=255).filter(|other| *other != message[at]).collect(),
            _ => changes(message[at]).collect(),
        };
        for other in others {
            let mut changed = message.clone();
            changed[at] = other;
            assert!(verify(&changed).is_err(), "{at}: {other}");
        }
        assert!(verify(&message[..at]).is_err());
    }
    let refused = verify(&[&message[..], &[0]].concat());
    assert!(matches!(
        refused,
        Err(CoseError::Cbor(CborError::TrailingBytes(1)))
    ));

    let key = private(1).to_cbor().unwrap();
    for at in 0..key.len() {
        for other in [key[at] ^ 1, key[at] ^ 0x20, 0, 0xff] {
            let mut changed = key.clone();
            changed[at] = other;
            assert!(
                changed == key || CosePrivateKey::from_cbor(&changed).is_err(),
                "{at}: {other}"
            );
        }
        assert!(CosePrivateKey::from_cbor(&key[..at]).is_err());
    }
}

#[test]
fn each_rule_of_keys_is_held() {
    let key = private(1);
    let public = hex::encode(key.public().verifying_key().as_bytes());
    let seed = "01".repeat(32);
    let of_private = |text: &str| {
        let text = text
            .replace(' ', "")
            .replace("PUB", &format!("590520{public}"));
        let text = text.replace("SEED", &format!("5820{seed}"));
        CosePrivateKey::from_cbor(&hex::decode(text).unwrap()).map(|_| ())
    };
    assert!(of_private("a4 0107 03382f 20PUB 21SEED").is_ok());
    // in any order, with operations, and with unknown members
    assert!(of_private("a6 21SEED 20PUB 03382f 0107 048101 616181f6").is_ok());
    assert!(of_private("a5 0107 03382f 048201647369676e 20PUB 21SEED").is_ok());
    for (text, words) in [
        ("a4 0102 03382f 20PUB 21SEED", "not of the type 7"),
        ("a4 0163414b50 03382f 20PUB 21SEED", "not of the type 7"),
        ("a3 03382f 20PUB 21SEED", "no type (1)"),
        ("a3 0107 20PUB 21SEED", "no algorithm (3)"),
        ("a3 0107 03382f 21SEED", "no public key (-1)"),
        ("a3 0107 03382f 20PUB", "no private part"),
        ("a4 0107 033830 20PUB 21SEED", "malformed ML-DSA-65 key"),
        ("a4 0107 033832 20PUB 21SEED", "not for the algorithm -51"),
        (
            "a4 0107 0365455332 3536 20PUB 21SEED",
            "not for the algorithm \"ES256\"",
        ),
        ("a4 0107 03382f 20PUB 2140", "has 0 bytes"),
        ("a4 0107 03382f 20PUB 2141aa", "has 1 bytes"),
        ("a4 0107 03382f 20PUB 21f6", "the private key"),
        ("a4 0107 03382f 2040 21SEED", "malformed ML-DSA-44 key"),
        ("a5 0107 03382f 048102 20PUB 21SEED", "key_ops"),
        ("a5 0107 03382f 0480 20PUB 21SEED", "key_ops"),
        (
            "a5 0107 03382f 0401 20PUB 21SEED",
            "the operations of a key",
        ),
        ("a5 0107 0107 03382f 20PUB 21SEED", "a key twice"),
        (
            "a5 0107 03382f 049bffffffffffffffff 20PUB 21SEED",
            "an operation",
        ),
        ("bf 0107 03382f 20PUB 21SEED ff", "indefinite"),
        ("b804 0107 03382f 20PUB 21SEED", "longer than it has to be"),
        ("a4 0107 03382f 20PUB 21SEED 00", "1 bytes after the end"),
        ("84 01", "a COSE_Key"),
        ("a1", "cut short"),
        ("", "cut short"),
    ] {
        let refused = of_private(text).unwrap_err().to_string();
        assert!(refused.contains(words), "{text}: {refused}");
    }
    let other = hex::encode(private(2).public().verifying_key().as_bytes());
    let mismatch = format!("a4010703382f20590520{other}215820{seed}");
    let refused = CosePrivateKey::from_cbor(&hex::decode(mismatch).unwrap()).unwrap_err();
    assert!(matches!(
        refused,
        CoseError::Key(AkpError::PublicKeyMismatch(_))
    ));
    for nest in [&[0x81][..], &[0xa1, 0x01], &[0xd2]] {
        assert!(CosePrivateKey::from_cbor(&nest.repeat(10_000)).is_err());
        let unknown = [&[0xa1, 0x18, 0x63][..], &nest.repeat(10_000)].concat();
        let refused = CosePrivateKey::from_cbor(&unknown).unwrap_err();
        assert!(matches!(refused, CoseError::Cbor(CborError::TooDeep)));
    }
}
