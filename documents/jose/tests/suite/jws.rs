//! JSON Web Signatures.

use pq_jose::Algorithm;
use pq_jose::jwk::{Jwk, JwkError, JwkSet, PrivateJwk};
use pq_jose::jws::{Header, Jws, JwsError, Message};
use pq_keys::{SignatureAlgorithm, Signer, SigningKey};

use crate::keys::{Deterministic, changes, private, public, sha256, signing_key};

/// The examples of RFC 9964's working group, signed without randomness: the SHA-256 of each whole text.
#[test]
fn signatures_are_those_of_the_working_group() {
    for (algorithm, expected) in [
        (
            Algorithm::MlDsa44,
            "2ae7b395a71470a610a0d8b6443fd4784d93ba2b7d0a752da58264eb0fd338e8",
        ),
        (
            Algorithm::MlDsa65,
            "bb1a49c32f37f5f750e73fcc6fd7cbd8cf683e8b0270b1420c02e2e63e66bc01",
        ),
        (
            Algorithm::MlDsa87,
            "7102258ffe720c7430bf087b3283867b559d7479d1142162369fec672e1804aa",
        ),
    ] {
        let key = Deterministic(signing_key(algorithm, 0));
        let public = Jwk::new(key.0.verifying_key().clone()).unwrap();
        let header = Header::new().with_kid(public.thumbprint().to_string());
        let content = "It\u{2019}s a dangerous business, Frodo, going out your door.";
        let text = Message::new(content.as_bytes())
            .to_compact(&header, &key)
            .unwrap();
        assert_eq!(sha256(&text), expected, "{text}");
        let verified = Jws::from_compact(&text).unwrap().verify(&public).unwrap();
        assert_eq!(verified.payload(), content.as_bytes());
    }
}

/// The header {"alg": …} in base64url, and a content, signed by the key whatever the header says.
fn signed(header: &str, content: &str, key: &impl Signer) -> String {
    let signed = format!(
        "{}.{}",
        base64url(header.as_bytes()),
        base64url(content.as_bytes())
    );
    let signature = key.sign(signed.as_bytes()).unwrap();
    format!("{signed}.{}", base64url(&signature))
}

pub(crate) fn base64url(bytes: &[u8]) -> String {
    // The alphabet of base64url (RFC 4648, section 5).
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let number = chunk
            .iter()
            .fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
        let number = number << (8 * (3 - chunk.len()));
        for digit in 0..=chunk.len() {
            text.push(DIGITS[(number >> (18 - 6 * digit)) as usize & 63].into());
        }
    }
    text
}

/// Serde accepts arrays as objects; these readers must not.
#[test]
fn arrays_are_no_objects() {
    let key = private(1);
    let text = Message::new(b"content")
        .to_compact(&Header::new(), &key)
        .unwrap();
    let parts: Vec<&str> = text.split('.').collect();
    let [protected, payload, signature] = parts[..] else {
        panic!("{text}");
    };
    let one = format!(r#"{{"protected":"{protected}","signature":"{signature}"}}"#);
    let as_array = format!(r#"["{protected}",{{}},"{signature}"]"#);
    let general = |one: &str| format!(r#"{{"payload":"{payload}","signatures":[{one}]}}"#);
    let read = |text: String| Jws::from_json(&text).map(|jws| jws.verify(key.public()).is_ok());
    assert!(matches!(read(general(&one)), Ok(true)));
    for bad in [
        general(&as_array),
        format!(r#"["{payload}",[{one}]]"#),
        format!(r#"["{payload}",[{as_array}]]"#),
    ] {
        assert!(matches!(read(bad), Err(JwsError::Json { .. })));
    }
    let jwk = key.public().to_json();
    assert!(JwkSet::from_json(&format!(r#"{{"keys":[{jwk}]}}"#)).is_ok());
    assert!(JwkSet::from_json(&format!("[[{jwk}]]")).is_err());
    assert!(matches!(
        Jwk::from_json(r#"["AKP","ML-DSA-44"]"#),
        Err(JwkError::Json(_))
    ));
}

/// A header that was read can be used to sign again, with a key of another algorithm.
#[test]
fn a_header_names_the_algorithm_of_its_key() {
    let small = PrivateJwk::new(signing_key(Algorithm::MlDsa44, 1)).unwrap();
    let text = Message::new(b"1").to_compact(&Header::new().with_kid("k"), &small);
    let text = text.unwrap();
    let jws = Jws::from_compact(&text).unwrap();
    let header = jws.unverified_headers().next().unwrap();
    let large = PrivateJwk::new(signing_key(Algorithm::MlDsa87, 1)).unwrap();
    let text = Message::new(b"1").to_compact(header, &large).unwrap();
    let verified = Jws::from_compact(&text)
        .unwrap()
        .verify(large.public())
        .unwrap();
    assert_eq!(verified.signatures()[0].header().kid(), Some("k"));
}

#[test]
fn every_algorithm_and_form() {
    for algorithm in Algorithm::ALL {
        let key = PrivateJwk::new(signing_key(*algorithm, 1)).unwrap();
        let header = Header::new().with_type("a").with_content_type("b");
        for content in [&b""[..], b"1", b"22", &[0xff; 1000]] {
            let message = Message::new(content);
            let compact = message.to_compact(&header, &key).unwrap();
            let flattened = message.to_flattened(&header, &key).unwrap();
            let signers = [(header.clone(), &key as &dyn Signer)];
            let general = message.to_general(&signers).unwrap();
            for jws in [
                Jws::from_compact(&compact),
                Jws::from_json(&flattened),
                Jws::from_json(&general),
            ] {
                let jws = jws.unwrap();
                let header = jws.unverified_headers().next().unwrap();
                assert_eq!(header.media_type(), Some("a"));
                let verified = jws.verify(key.public()).unwrap();
                assert_eq!(verified.payload(), content);
                let [signature] = verified.signatures() else {
                    panic!("one signature");
                };
                assert_eq!(signature.header().content_type(), Some("b"));
                assert_eq!(signature.header().get("alg").unwrap(), algorithm.name());
                assert_eq!(jws.verify_any(key.public()).unwrap().payload(), content);
                let other = Message::detached(b"other")
                    .to_compact(header, &key)
                    .unwrap();
                assert!(
                    Jws::from_compact(&other)
                        .unwrap()
                        .verify(key.public())
                        .is_err()
                );
            }
        }
    }
}

#[test]
fn detached_content_has_to_be_given() {
    let key = private(1);
    let header = Header::new();
    let message = Message::detached(b"content");
    let compact = message.to_compact(&header, &key).unwrap();
    assert!(compact.contains(".."));
    let flattened = message.to_flattened(&header, &key).unwrap();
    let signers = [(header.clone(), &key as &dyn Signer)];
    let general = message.to_general(&signers).unwrap();
    assert!(!flattened.contains("payload") && !general.contains("payload"));
    let jws = [
        Jws::from_compact(&compact).unwrap(),
        Jws::from_json(&flattened).unwrap(),
        Jws::from_json(&general).unwrap(),
    ];
    for jws in jws {
        let signatures = jws.verify_detached(b"content", key.public()).unwrap();
        assert_eq!(signatures.len(), 1);
        for other in [&b""[..], b"Content", b"content "] {
            let refused = jws.verify_detached(other, key.public()).unwrap_err();
            assert!(matches!(refused, JwsError::Invalid));
        }
        let refused = jws.verify(key.public()).unwrap_err();
        assert!(matches!(refused, JwsError::Invalid | JwsError::Detached));
    }
    let attached = Message::new(b"content").to_compact(&header, &key).unwrap();
    let attached = Jws::from_compact(&attached).unwrap();
    let refused = attached
        .verify_detached(b"content", key.public())
        .unwrap_err();
    assert!(matches!(refused, JwsError::NotDetached));
}

#[test]
fn the_key_says_the_algorithm() {
    let key = private(1);
    for alg in [
        "none",
        "HS256",
        "ES256",
        "ML-DSA-65",
        "ML-DSA-87",
        "ml-dsa-44",
        "ML-DSA-44 ",
        "",
    ] {
        let text = signed(&format!(r#"{{"alg":"{alg}"}}"#), "x", &key);
        let refused = Jws::from_compact(&text)
            .unwrap()
            .verify(key.public())
            .unwrap_err();
        let JwsError::OtherAlgorithm { found, keys } = &refused else {
            panic!("{refused}");
        };
        assert_eq!((&**found, &**keys), (alg, &[Algorithm::MlDsa44][..]));
        let unsigned = text.rsplit_once('.').unwrap().0.to_owned() + ".";
        assert!(
            Jws::from_compact(&unsigned)
                .unwrap()
                .verify(key.public())
                .is_err()
        );
    }
    // The same seed, so that everything has the same name except the algorithm.
    let other = PrivateJwk::new(signing_key(Algorithm::MlDsa65, 1)).unwrap();
    let text = Message::new(b"x")
        .to_compact(&Header::new(), &other)
        .unwrap();
    let jws = Jws::from_compact(&text).unwrap();
    assert!(matches!(
        jws.verify(key.public()),
        Err(JwsError::OtherAlgorithm { .. })
    ));
    let slh_dsa = SigningKey::generate(SignatureAlgorithm::SlhDsaShake128f).unwrap();
    let refused = Message::new(b"x")
        .to_compact(&Header::new(), &slh_dsa)
        .unwrap_err();
    assert!(matches!(refused, JwsError::Key(_)), "{refused}");
}

#[test]
fn headers_are_as_the_standard_has_them() {
    let key = private(1);
    let refusal = |header: &str| {
        let text = signed(header, "x", &key);
        let read = Jws::from_compact(&text).map(|jws| jws.verify(key.public()).map(|_| ()));
        read.and_then(|verified| verified)
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(refusal(r#"{"alg":"ML-DSA-44"}"#), None);
    assert_eq!(
        refusal("{ \"x\": [1, {\"y\": null}],\n\"alg\" : \"ML-DSA-44\", \"jwk\": {} }"),
        None
    );
    for (header, words) in [
        (r#"{}"#, "\"alg\""),
        (r#"{"alg":7}"#, "\"alg\""),
        (r#"{"alg":["ML-DSA-44"]}"#, "\"alg\""),
        (r#"{"alg":"ML-DSA-44","kid":7}"#, "\"kid\""),
        (r#"{"alg":"ML-DSA-44","typ":null}"#, "\"typ\""),
        (r#"{"alg":"none","alg":"ML-DSA-44"}"#, "\"alg\" twice"),
        (r#"{"alg":"ML-DSA-44","a":{"b":1,"b":2}}"#, "\"b\" twice"),
        (
            r#"{"alg":"ML-DSA-44","crit":["exp"],"exp":1}"#,
            "verifier supports [\\\"exp\\\"]",
        ),
        (
            r#"{"alg":"ML-DSA-44","crit":["b64"],"b64":false}"#,
            "verifier supports",
        ),
        (r#"{"alg":"ML-DSA-44","crit":[]}"#, "verifier supports"),
        (r#"{"alg":"ML-DSA-44","crit":null}"#, "verifier supports"),
        (r#"{"alg":"ML-DSA-44","b64":false}"#, "\"b64\""),
        (r#"{"alg":"ML-DSA-44","b64":true}"#, "\"b64\""),
        (r#"{"alg":"ML-DSA-44"} "#, ""),
        (r#"{"alg":"ML-DSA-44"}x"#, "malformed JSON"),
        (r#"["ML-DSA-44"]"#, "malformed JSON"),
        (r#"{"alg":NaN}"#, "malformed JSON"),
        ("", "malformed JSON"),
    ] {
        let refused = refusal(header);
        assert_eq!(
            refused.is_some(),
            !words.is_empty(),
            "{header}: {refused:?}"
        );
        let refused = refused.unwrap_or_default();
        let words = words.replace('\\', "");
        assert!(refused.contains(&words), "{header}: {refused}");
    }
    let deep = format!(
        r#"{{"alg":"ML-DSA-44","x":{}1{}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    assert!(refusal(&deep).unwrap().contains("deeper"));
    let long = format!(r#"{{"alg":"ML-DSA-44","x":"{}"}}"#, "x".repeat(100_000));
    assert!(refusal(&long).unwrap().contains("bytes"));
}

#[test]
fn the_right_key_is_found() {
    let keys: JwkSet = [public(1).with_kid("1"), public(2).with_kid("2"), public(3)]
        .into_iter()
        .collect();
    let verify = |seed, kid: Option<&str>| {
        let header = kid.map_or_else(Header::new, |kid| Header::new().with_kid(kid));
        let text = Message::new(b"x")
            .to_compact(&header, &private(seed))
            .unwrap();
        let verified = Jws::from_compact(&text)
            .unwrap()
            .verify(&keys)
            .map(|verified| verified.signatures()[0].key().verifying_key().clone());
        verified.map(|key| assert_eq!(key, *public(seed).verifying_key()))
    };
    for (seed, kid) in [
        (1, Some("1")),
        (2, Some("2")),
        (3, Some("9")),
        (1, None),
        (3, None),
    ] {
        assert!(verify(seed, kid).is_ok(), "{seed} {kid:?}");
    }
    // A key with another identifier is not tried.
    assert!(matches!(verify(1, Some("2")), Err(JwsError::Invalid)));
    assert!(matches!(verify(4, None), Err(JwsError::Invalid)));
    let text = Message::new(b"x")
        .to_compact(&Header::new().with_kid("9"), &private(1))
        .unwrap();
    let jws = Jws::from_compact(&text).unwrap();
    let named = [public(1).with_kid("1")];
    assert!(matches!(jws.verify(&named), Err(JwsError::NoSuchKey(kid)) if kid == "9"));
    assert!(matches!(
        jws.verify(&JwkSet::default()),
        Err(JwsError::NoKeys)
    ));
}

#[test]
fn every_byte_counts() {
    let key = private(1);
    let header = Header::new().with_kid("k");
    let text = Message::new(b"content").to_compact(&header, &key).unwrap();
    let verify = |text: &str| {
        let jws = Jws::from_compact(text)?;
        jws.verify(key.public()).map(|_| ())
    };
    verify(&text).unwrap();
    for at in 0..text.len() {
        for other in changes(text.as_bytes()[at]) {
            let mut changed = text.clone().into_bytes();
            changed[at] = other;
            if let Ok(changed) = String::from_utf8(changed) {
                assert!(verify(&changed).is_err(), "{at}: {other}");
            }
        }
        assert!(verify(&text[..at]).is_err());
    }
    for bad in [
        format!("{text}."),
        format!("{text}="),
        format!("{text}\n"),
        format!(" {text}"),
        format!("{text}A"),
        format!("{text}.{text}"),
        ".".repeat(100_000),
        String::new(),
        "..".into(),
    ] {
        assert!(verify(&bad).is_err());
    }
    // In the last character of a signature of 2,420 bytes, four bits have no meaning, and must be zero.
    let (rest, last) = text.split_at(text.len() - 1);
    for other in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".chars() {
        assert_eq!(
            verify(&format!("{rest}{other}")).is_ok(),
            last == other.to_string()
        );
    }
}

#[test]
fn several_signatures() {
    let (one, two) = (private(1).with_kid("1"), private(2).with_kid("2"));
    let large = PrivateJwk::new(signing_key(Algorithm::MlDsa87, 3)).unwrap();
    let signers: [(Header, &dyn Signer); 3] = [
        (Header::new().with_kid("1"), &one),
        (Header::new().with_kid("2"), &two),
        (Header::new(), &large),
    ];
    let text = Message::new(b"x").to_general(&signers).unwrap();
    let jws = Jws::from_json(&text).unwrap();
    let all = [
        one.public().clone(),
        two.public().clone(),
        large.public().clone(),
    ];
    assert_eq!(jws.verify(&all).unwrap().signatures().len(), 3);
    // All signatures have to be valid, unless one is enough.
    assert!(jws.verify(&all[..2]).is_err());
    let verified = jws.verify_any(&all[1..2]).unwrap();
    assert_eq!(verified.signatures().len(), 1);
    assert_eq!(verified.signatures()[0].key().kid(), Some("2"));
    assert!(matches!(
        jws.verify_any(&public(4).with_kid("4")),
        Err(JwsError::NoSuchKey(_))
    ));
    let forged = text.replacen("\"signature\":\"", "\"signature\":\"AAAA", 1);
    let forged = Jws::from_json(&forged).unwrap();
    assert!(matches!(forged.verify(&all), Err(JwsError::Invalid)));
    assert_eq!(forged.verify_any(&all).unwrap().signatures().len(), 2);

    assert!(matches!(
        Message::new(b"x").to_general(&[]),
        Err(JwsError::NoKeys)
    ));
    let many: Vec<(Header, &dyn Signer)> = (0..17).map(|_| (Header::new(), &one as _)).collect();
    assert!(matches!(
        Message::new(b"x").to_general(&many),
        Err(JwsError::TooMany(17))
    ));
    let inner = text.split_once('[').unwrap().1.split_once('}').unwrap().0;
    let many = format!(
        r#"{{"payload":"eA","signatures":[{inner}}}{}]}}"#,
        format!(",{inner}}}").repeat(999)
    );
    assert!(matches!(
        Jws::from_json(&many),
        Err(JwsError::TooMany(1000))
    ));
}

#[test]
fn json_is_as_the_standard_has_it() {
    let key = private(1);
    let header = Header::new();
    let flattened = Message::new(b"x").to_flattened(&header, &key).unwrap();
    let signers = [(header, &key as &dyn Signer)];
    let general = Message::new(b"x").to_general(&signers).unwrap();
    let refusal = |text: &str| {
        let verified = Jws::from_json(text).and_then(|jws| jws.verify(key.public()).map(|_| ()));
        verified
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    for (text, from, to, words) in [
        (&flattened, "{", "{\"more\":[{}],", ""),
        (&flattened, "{", "{\"header\":{\"kid\":\"k\",\"x\":1},", ""),
        (
            &flattened,
            "{",
            "{\"header\":{\"alg\":\"ML-DSA-44\"},",
            "nobody signed it",
        ),
        (
            &flattened,
            "{",
            "{\"header\":{\"crit\":[\"x\"]},",
            "nobody signed it",
        ),
        (
            &flattened,
            "{",
            "{\"header\":{\"b64\":false},",
            "nobody signed it",
        ),
        (
            &flattened,
            "{",
            "{\"header\":{\"kid\":7},",
            "is not a string",
        ),
        (&flattened, "{", "{\"header\":7,", "invalid type"),
        (&flattened, "{", "{\"header\":null,", "invalid type"),
        (&flattened, "{", "{\"payload\":\"eA\",", "\"payload\" twice"),
        (
            &flattened,
            "{",
            "{\"signatures\":[],",
            "beside \"signatures\"",
        ),
        (&flattened, "\"payload\":\"eA\",", "", "detached"),
        (&flattened, "\"eA\"", "\"eQ\"", "not valid"),
        (&flattened, "\"eA\"", "\"eB\"", "not valid"),
        (&flattened, "\"eA\"", "\"\\u0065A\"", "no escapes"),
        (&flattened, "\"eA\"", "null", "invalid type"),
        (
            &flattened,
            "\"protected\"",
            "\"prot\"",
            "\"protected\" of the signature's header is missing",
        ),
        (
            &flattened,
            "\"signature\"",
            "\"sig\"",
            "\"signature\" of the signature's header is missing",
        ),
        (
            &general,
            "{",
            "{\"protected\":\"\",",
            "beside \"signatures\"",
        ),
        (&general, "{", "{\"header\":{},", "beside \"signatures\""),
        (&general, "[{", "[{\"header\":{\"kid\":\"x\"},", ""),
        (&general, "[{", "[{},{", "is missing"),
        (&general, "[{", "[7,{", "invalid type"),
        (&general, "}]", "}],\"x\":1", ""),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(*text, changed, "{from}");
        let refused = refusal(&changed);
        assert_eq!(refused.is_empty(), words.is_empty(), "{to}: {refused}");
        assert!(refused.contains(words), "{to}: {refused}");
    }
    assert!(refusal(r#"{"payload":"eA","signatures":[]}"#).contains("no signature in"));
    // A member in both headers.
    let header = Header::new().with_kid("k");
    let flattened = Message::new(b"x").to_flattened(&header, &key).unwrap();
    let both = flattened.replacen('{', "{\"header\":{\"kid\":\"k\"},", 1);
    assert!(refusal(&both).contains("\"kid\" in both"));
    for nest in ["{\"header\":", "[", "{\"signatures\":["] {
        assert!(refusal(&nest.repeat(10_000)).contains("deeper"));
    }
}
