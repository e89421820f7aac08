//! What reading costs, whoever wrote the text: bytes in, bytes of memory out. And one beyond each limit.

use allocation_counter::measure;
use pq_jose::cose::{CoseKey, Sign1};
use pq_jose::jwk::{Jwk, JwkSet};
use pq_jose::jws::{Header, Jws, JwsError, Message};
use pq_jose::jwt::{Claims, JwtError, Policy};
use pq_keys::Signer;
use pq_keys::pki_types::UnixTime;

use crate::jws::base64url;
use crate::keys::private;

const MIB: usize = 1 << 20;

/// The result, and how many bytes were there at once.
fn measured<T>(read: impl FnOnce() -> T) -> (T, u64) {
    let mut result = None;
    let memory = measure(|| result = Some(read()));
    (result.unwrap(), memory.bytes_max)
}

/// Texts of this length which consist of as many parts as fit, each as small as it can be.
fn inflating(len: usize) -> Vec<(&'static str, String)> {
    let key = private(1);
    let one = Message::new(b"x")
        .to_flattened(&Header::new(), &key)
        .unwrap();
    let start = one.trim_end_matches('}');
    let fill = |unit: &str, room: usize| unit.repeat((len - room) / unit.len());
    let room = start.len() + 64;
    let mut names = String::with_capacity(len);
    let mut number = 0_u64;
    while names.len() < len - room {
        names.push_str(&format!("\"{number:x}\":0,"));
        number += 1;
    }
    vec![
        (
            "numbers",
            format!("{start},\"header\":{{\"x\":[{}0]}}}}", fill("0,", room)),
        ),
        (
            "arrays",
            format!("{start},\"header\":{{\"x\":[{}0]}}}}", fill("[],", room)),
        ),
        (
            "names in the header",
            format!("{start},\"header\":{{{names}\"z\":0}}}}"),
        ),
        ("names", format!("{start},{names}\"z\":0}}")),
        (
            "signatures",
            format!(
                "{{\"payload\":\"eA\",\"signatures\":[{}{{}}]}}",
                fill("{},", 64)
            ),
        ),
        (
            "a string",
            format!("{start},\"header\":{{\"x\":\"{}\"}}}}", fill("x", room)),
        ),
        (
            "escapes",
            format!("{start},\"x\":\"{}\"}}", fill("\\n", room)),
        ),
        (
            "a name with escapes",
            format!("{start},\"{}\":0}}", fill("\\n", room)),
        ),
        ("a name", format!("{start},\"{}\":0}}", fill("x", room))),
    ]
}

#[test]
fn json_takes_memory_within_a_limit() {
    for len in [500_000, 64 * MIB] {
        for (name, text) in inflating(len) {
            assert!(text.len() <= len && text.len() > len * 9 / 10, "{name}");
            let (result, peak) = measured(|| Jws::from_json(&text).map(|_| ()));
            assert!(peak < 16 << 20, "{name}: {peak} bytes, {result:?}");
        }
    }
    // A long content is only borrowed, and what verifying adds is the text and the content once.
    let key = private(1);
    let content = vec![7; 40 * MIB];
    let text = Message::new(&content)
        .to_flattened(&Header::new(), &key)
        .unwrap();
    let (jws, peak) = measured(|| Jws::from_json(&text).unwrap());
    assert!(peak < 1 << 20, "{peak}");
    let (verified, peak) = measured(|| jws.verify(key.public()).unwrap());
    assert_eq!(verified.payload().len(), content.len());
    assert!(peak < 2 * text.len() as u64, "{peak}");
}

/// Sets of keys, tokens and COSE: what is read is small, and takes no more than some MiB.
#[test]
fn other_documents_take_little_memory() {
    const LITTLE: u64 = 16 << 20;
    for unit in ["{},", "0,", "[],", "\"\","] {
        let text = format!("{{\"keys\":[{}0]}}", unit.repeat((MIB - 20) / unit.len()));
        let (set, peak) = measured(|| JwkSet::from_json(&text).map(|_| ()));
        assert!(set.is_err() && peak < LITTLE, "{unit}: {peak}");
    }
    let key = private(1).public().to_json();
    let text = format!(
        "{{\"keys\":[{}]}}",
        vec![&*key; MIB / (key.len() + 1) - 1].join(",")
    );
    let (set, peak) = measured(|| JwkSet::from_json(&text).unwrap());
    assert!(set.keys().len() > 500 && peak < LITTLE, "{peak}");
    let key = private(1);
    for unit in ["0,", "[],", "{},"] {
        let claims = format!("{{\"x\":[{}0]}}", unit.repeat(190_000 / unit.len()));
        let token = Message::new(claims.as_bytes())
            .to_compact(&Header::new(), &key)
            .unwrap();
        let policy = Policy::new();
        let (result, peak) = measured(|| policy.verify(&token, key.public(), UnixTime::now()));
        assert!(result.is_err() && peak < LITTLE, "{unit}: {peak}");
    }
    let cose = CoseKey::new(private(1).signing_key().verifying_key().clone()).unwrap();
    let cose = core::slice::from_ref(&cose);
    let check = |bytes: &[u8]| {
        let (result, peak) = measured(|| Sign1::new().verify(bytes, cose).map(|_| ()));
        assert!(result.is_err() && peak < LITTLE, "{peak}");
        let (result, peak) = measured(|| CoseKey::from_cbor(bytes).map(|_| ()));
        assert!(result.is_err() && peak < LITTLE, "{peak}");
    };
    // A protected header with the algorithm, and then a map or an array in which each value takes a byte or five.
    let starts: [&[u8]; 3] = [
        &[0x84],
        &[0xd2, 0x84],
        &[
            0xd2, 0x84, 0x44, 0xa1, 0x01, 0x38, 0x2f, 0x9a, 0, 0x40, 0, 0,
        ],
    ];
    for start in starts {
        for unit in [&[0x80][..], &[0xa0], &[0x60], &[0xa1, 0, 0]] {
            check(&[start, &unit.repeat(4 * MIB / unit.len())].concat());
        }
    }
    let name = |number: u32| [&[0x1a][..], &(number + (1 << 24)).to_be_bytes(), &[0]].concat();
    let start = [0xba].into_iter().chain(800_000_u32.to_be_bytes());
    let map: Vec<u8> = start.chain((0..800_000).flat_map(name)).collect();
    check(&map);
    let header = [0xd2, 0x84, 0x44, 0xa1, 0x01, 0x38, 0x2f];
    check(&[&header[..], &map, &[0x41, 0, 0x41, 0]].concat());
    check(&[&header[..], &[0xa1, 0], &map, &[0x41, 0, 0x41, 0]].concat());
}

/// The same signature, or another one by the same key, counts once, under whatever name the key is known.
#[test]
fn who_signs_twice_counts_once() {
    let (one, two) = (private(1), private(2));
    let signers: [(Header, &dyn Signer); 4] = [
        (Header::new(), &one),
        (Header::new(), &two),
        (Header::new().with_kid("again"), &one),
        (Header::new(), &one),
    ];
    let keys: JwkSet = [
        one.public().clone(),
        two.public().clone(),
        one.public().clone().with_kid("again"),
    ]
    .into_iter()
    .collect();
    for (count, all) in [(1, vec![0, 2, 3]), (1, vec![0, 0]), (2, vec![0, 1, 2, 3])] {
        let signers: Vec<_> = all.iter().map(|at| signers[*at].clone()).collect();
        let text = Message::new(b"x").to_general(&signers).unwrap();
        let jws = Jws::from_json(&text).unwrap();
        assert_eq!(jws.verify(&keys).unwrap().signatures().len(), count);
        assert_eq!(jws.verify_any(&keys).unwrap().signatures().len(), count);
        let text = Message::detached(b"x").to_general(&signers).unwrap();
        let jws = Jws::from_json(&text).unwrap();
        assert_eq!(jws.verify_detached(b"x", &keys).unwrap().len(), count);
    }
}

/// The most signatures, the longest headers and the longest token, and one beyond.
#[test]
fn one_beyond_each_limit() {
    let key = private(1);
    let general = |count: usize| {
        let text = Message::new(b"x")
            .to_general(&[(Header::new(), &key)])
            .unwrap();
        let (start, one) = text.split_once('[').unwrap();
        let one = one.trim_end_matches("]}");
        format!("{start}[{}]}}", vec![one; count].join(","))
    };
    assert_eq!(
        Jws::from_json(&general(16))
            .unwrap()
            .unverified_headers()
            .count(),
        16
    );
    assert!(matches!(
        Jws::from_json(&general(17)),
        Err(JwsError::TooMany(17))
    ));
    let signers = vec![(Header::new(), &key as &dyn Signer); 17];
    assert!(Message::new(b"x").to_general(&signers[..16]).is_ok());
    assert!(matches!(
        Message::new(b"x").to_general(&signers),
        Err(JwsError::TooMany(17))
    ));

    let protected = |len: usize| {
        let empty = r#"{"alg":"ML-DSA-44","x":""}"#;
        let header = format!(
            r#"{{"alg":"ML-DSA-44","x":"{}"}}"#,
            "x".repeat(len - empty.len())
        );
        let text = format!("{}.eA.AA", base64url(header.as_bytes()));
        Jws::from_compact(&text).map(|_| ())
    };
    protected(64 << 10).unwrap();
    assert!(matches!(
        protected((64 << 10) + 1),
        Err(JwsError::Json { .. })
    ));
    let flattened = Message::new(b"x")
        .to_flattened(&Header::new(), &key)
        .unwrap();
    let unprotected = |len: usize| {
        let header = format!(r#"{{"x":"{}"}}"#, "x".repeat(len - r#"{"x":""}"#.len()));
        let text = format!("{},\"header\":{header}}}", flattened.trim_end_matches('}'));
        Jws::from_json(&text).and_then(|jws| jws.verify(key.public()).map(|_| ()))
    };
    unprotected(64 << 10).unwrap();
    assert!(matches!(
        unprotected((64 << 10) + 1),
        Err(JwsError::Json { .. })
    ));
    let padded = |len: usize| {
        let text = flattened.clone() + &" ".repeat(len - flattened.len());
        Jws::from_json(&text).map(|_| ())
    };
    padded(64 * MIB).unwrap();
    assert!(matches!(padded(64 * MIB + 1), Err(JwsError::Json { .. })));

    let now = UnixTime::now();
    let hour = core::time::Duration::from_secs(3600);
    let token = |id: usize| {
        let claims = Claims::new()
            .with_lifetime(now, hour)
            .with_id("x".repeat(id));
        claims.sign(&Header::new(), &key).unwrap()
    };
    let verify = |token: &str| Policy::new().verify(token, key.public(), now).map(|_| ());
    let mut id = 190_000;
    while token(id).len() <= 256 << 10 {
        id += 256;
    }
    assert!(matches!(verify(&token(id)), Err(JwtError::TooLong(_))));
    verify(&token(id - 256)).unwrap();
    let set = |len: usize| JwkSet::from_json(&format!("{{\"keys\":[]}}{}", " ".repeat(len - 11)));
    assert!(set(MIB).is_ok() && set(MIB + 1).is_err());
    let text = private(1).public().to_json();
    let one = |len: usize| Jwk::from_json(&format!("{text}{}", " ".repeat(len - text.len())));
    assert!(one(64 << 10).is_ok() && one((64 << 10) + 1).is_err());
}
