//! JSON Web Keys.

use pq_jose::jwk::{Jwk, JwkError, JwkSet, PrivateJwk};
use pq_jose::{AkpError, Algorithm, JsonError};
use pq_keys::{SignatureAlgorithm, SigningKey};

use crate::keys::{private, public, sha256, signing_key};

/// RFC 9964, appendix A: the thumbprints of the keys whose seed is zero.
#[test]
fn thumbprints_are_those_of_the_rfc() {
    for (algorithm, thumbprint) in [
        (
            Algorithm::MlDsa44,
            "T4xl70S7MT6Zeq6r9V9fPJGVn76wfnXJ21-gyo0Gu6o",
        ),
        (
            Algorithm::MlDsa65,
            "Suiu29qbfuaBaR4Ats-c6XQBePB_OpAxAwcTR_0KXVM",
        ),
        (
            Algorithm::MlDsa87,
            "tRn1JNIkgMsABVQBlXeDHxAIcclh-2IX0UdDEzPt5XU",
        ),
    ] {
        let key = PrivateJwk::new(signing_key(algorithm, 0)).unwrap();
        assert_eq!(key.public().thumbprint().to_string(), thumbprint);
        let key = key.with_thumbprint_as_kid();
        assert_eq!(key.public().kid(), Some(thumbprint));
    }
}

/// The same with "pub", which has 1,750 characters in the RFC.
#[test]
fn a_key_is_written_as_the_rfc_has_it() {
    let key = PrivateJwk::new(signing_key(Algorithm::MlDsa44, 0)).unwrap();
    let text = key.with_thumbprint_as_kid().to_json().unwrap();
    let (start, rest) = text.split_at(text.find("unH59k4RuutY").unwrap());
    let kid = r#""kid":"T4xl70S7MT6Zeq6r9V9fPJGVn76wfnXJ21-gyo0Gu6o""#;
    assert_eq!(
        start,
        format!(r#"{{{kid},"kty":"AKP","alg":"ML-DSA-44","pub":""#)
    );
    let (public, private) = rest.split_once('"').unwrap();
    assert_eq!(public.len(), 1750);
    assert_eq!(sha256(public), PUB_44);
    let zeros = "A".repeat(43);
    assert_eq!(private, format!(r#","priv":"{zeros}"}}"#));
}

/// The SHA-256 of "pub" in appendix A.1.
const PUB_44: &str = "a312d90f93899debad5ce433890c330aad9b4f854758d0b07eb264a75899347e";

#[test]
fn what_is_written_is_read() {
    for algorithm in Algorithm::ALL {
        for kid in [None, Some("a"), Some("\"\\\u{1b}ä\n")] {
            let mut key = PrivateJwk::new(signing_key(*algorithm, 1)).unwrap();
            if let Some(kid) = kid {
                key = key.with_kid(kid);
            }
            let text = key.to_json().unwrap();
            assert_eq!(
                text.capacity(),
                text.len(),
                "what grows leaves copies behind"
            );
            let read = PrivateJwk::from_json(&text).unwrap();
            assert_eq!(read.to_json().unwrap(), text);
            assert_eq!(read.public().kid(), kid);
            assert_eq!(read.public().algorithm(), *algorithm);
            let text = key.public().to_json();
            let read = Jwk::from_json(&text).unwrap();
            assert_eq!(read.to_json(), text);
            assert_eq!(read.verifying_key(), key.public().verifying_key());
            assert!(!text.contains("priv"));
        }
    }
}

#[test]
fn other_members_and_spaces_are_no_matter() {
    let text = public(1).to_json();
    let more = text.replacen(
        '{',
        " {\r\n\t\"x5c\": [{}, null], \"a\\u0062\": 1e5, \"use\": \"sig\",",
        1,
    );
    let read = Jwk::from_json(&(more + "\n")).unwrap();
    assert_eq!(read.to_json(), text);
}

/// Each case replaces a member, and gives a part of the error's text.
#[test]
fn each_rule_is_held() {
    let text = private(1).to_json().unwrap();
    let public_text = public(1).to_json();
    let pub_ = public_text.split('"').nth(11).unwrap();
    let priv_ = text.split('"').nth(15).unwrap();
    let end = format!(r#""{priv_}"}}"#);
    let cases = [
        (r#""AKP""#, r#""EC""#, "type \"EC\""),
        (r#""AKP""#, r#""akp""#, "type \"akp\""),
        (r#""AKP""#, "7", "invalid type"),
        (r#""kty":"AKP","#, "", "kty"),
        (
            r#""ML-DSA-44""#,
            r#""ML-DSA-65""#,
            "malformed ML-DSA-65 key",
        ),
        (
            r#""ML-DSA-44""#,
            r#""SLH-DSA-SHA2-128s""#,
            "not for SLH-DSA-SHA2-128s",
        ),
        (r#""ML-DSA-44""#, r#""none""#, "not for none"),
        (r#""ML-DSA-44""#, "null", "invalid type"),
        (r#""alg":"ML-DSA-44","#, "", "no member \"alg\""),
        (r#""pub":"#, r#""pup":"#, "no member \"pub\""),
        (
            pub_,
            &pub_[1..],
            "\"pub\" of the JSON Web Key is not base64url",
        ),
        (pub_, &pub_[4..], "malformed ML-DSA-44 key"),
        (&end, r#"""}"#, "has 0 bytes"),
        (&end, r#""AAAA"}"#, "has 3 bytes"),
        (&end, "7}", "invalid type"),
        (&end, "null}", "invalid type"),
        (&end, &format!(r#""{priv_}AAAA"}}"#), "has 35 bytes"),
        (
            &end,
            &format!(r#""{priv_}="}}"#),
            "\"priv\" of the JSON Web Key is not base64url",
        ),
        (&end, &format!(r#""\u0041{}"}}"#, &priv_[1..]), "no escapes"),
        (
            &end,
            &format!(r#""B{}"}}"#, &priv_[1..]),
            "belongs to another key",
        ),
        ("{", r#"{"use":"enc","#, "\"use\" that it is not for this"),
        (
            "{",
            r#"{"key_ops":["verify"],"#,
            "\"key_ops\" that it is not for this",
        ),
        (
            "{",
            r#"{"key_ops":[],"#,
            "\"key_ops\" that it is not for this",
        ),
        ("{", r#"{"key_ops":"sign","#, "invalid type"),
        ("{", r#"{"kid":7,"#, "invalid type"),
        ("{", r#"{"kid":null,"#, "invalid type"),
        ("{", r#"{"alg":"ML-DSA-44","#, "\"alg\" twice"),
        ("{", r#"{"x":{"y":1,"y":1},"#, "\"y\" twice"),
        ("{", "[", "malformed JSON"),
        ("}", "", "malformed JSON"),
        ("}", "}}", "malformed JSON"),
    ];
    for (from, to, words) in cases {
        let changed = text.replacen(from, to, 1);
        assert_ne!(*text, changed, "{from}");
        let error = PrivateJwk::from_json(&changed).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
        assert!(
            !error.contains(&priv_[..8]),
            "a private key is in the message: {error}"
        );
    }
    // Members that a private key may have.
    let both = text.replacen('{', r#"{"use":"sig","key_ops":["sign","verify"],"#, 1);
    assert!(PrivateJwk::from_json(&both).is_ok());
}

#[test]
fn private_keys_are_not_taken_for_public_ones() {
    let text = private(1).to_json().unwrap();
    assert_eq!(Jwk::from_json(&text).unwrap_err(), JwkError::Private);
    let text = public(1).to_json();
    assert_eq!(
        PrivateJwk::from_json(&text).unwrap_err(),
        JwkError::NotPrivate
    );
}

#[test]
fn keys_that_have_no_name_or_no_seed_are_refused() {
    let slh_dsa = SigningKey::generate(SignatureAlgorithm::SlhDsaShake128f).unwrap();
    let refused = PrivateJwk::new(slh_dsa.clone()).unwrap_err();
    assert!(matches!(refused, JwkError::Key(AkpError::Algorithm(_))));
    assert!(Jwk::new(slh_dsa.verifying_key().clone()).is_err());
    let key = signing_key(Algorithm::MlDsa44, 1);
    let expanded = key
        .to_pkcs8_der_as(pq_keys::PrivateKeyForm::Expanded)
        .unwrap();
    let expanded = SigningKey::from_pkcs8_der(&expanded).unwrap();
    let refused = PrivateJwk::new(expanded).unwrap_err();
    assert!(
        matches!(refused, JwkError::Key(AkpError::Key(_))),
        "{refused}"
    );
}

#[test]
fn every_byte_counts() {
    let text = private(1).with_kid("k").to_json().unwrap();
    let read = PrivateJwk::from_json(&text).unwrap().to_json().unwrap();
    for at in 0..text.len() {
        for other in [text.as_bytes()[at] ^ 1, b'A', b'"', b' '] {
            let mut changed = text.as_bytes().to_vec();
            changed[at] = other;
            let Ok(changed) = String::from_utf8(changed) else {
                continue;
            };
            // The identifier can have any value.
            let is_kid = text[..at].ends_with("\"kid\":\"");
            if changed == *text || is_kid {
                continue;
            }
            if let Ok(key) = PrivateJwk::from_json(&changed) {
                // "kid" with another name is another member.
                assert_eq!(key.public().kid(), None, "{at}");
                assert_eq!(key.with_kid("k").to_json().unwrap(), read);
            }
        }
        assert!(PrivateJwk::from_json(&text[..at]).is_err());
    }
}

#[test]
fn sets_have_the_keys_that_are_for_this() {
    let set: JwkSet = [public(1).with_kid("1"), public(2)].into_iter().collect();
    let text = set.to_json();
    let read = JwkSet::from_json(&text).unwrap();
    assert_eq!(read.to_json(), text);
    assert_eq!(read.keys().len(), 2);

    let others =
        r#"{"kty":"EC","crv":"P-256","x":"","pub":{}},{"kty":"AKP","alg":"new","pub":""},"#;
    let enc = public(3).to_json().replacen('{', r#"{"use":"enc","#, 1);
    let more = text.replacen('[', &format!("[{others}{enc},"), 1);
    assert_eq!(JwkSet::from_json(&more).unwrap().to_json(), text);
    assert!(
        JwkSet::from_json(r#"{"keys":[],"more":0}"#)
            .unwrap()
            .keys()
            .is_empty()
    );

    let more = text.replacen('[', &format!("[{others}"), 1);
    assert!(JwkSet::from_json(&more).unwrap().left_out().is_empty());
    for bad in [
        "{}",
        "[]",
        "7",
        r#"{"keys":{}}"#,
        r#"{"keys":null}"#,
        r#"{"keys":[],"keys":[]}"#,
    ] {
        assert!(JwkSet::from_json(bad).is_err(), "{bad}");
    }
}

/// RFC 7517, section 5: one key of no use doesn't disable the others, and is no key.
#[test]
fn a_set_is_read_without_its_keys_of_no_use() {
    let text = JwkSet::from_iter([public(1).with_kid("1"), public(2)]).to_json();
    let private = private(3).to_json().unwrap();
    let damaged = public(3).to_json().replace("\"pub\":\"", "\"pub\":\"!");
    let with = |member: &str| {
        public(3)
            .to_json()
            .replacen('{', &format!("{{{member},"), 1)
    };
    let for_encryption = with(r#""use":"enc""#);
    let for_signing = with(r#""key_ops":["sign","encrypt"]"#);
    let cases = [
        (&*for_encryption, "by \"use\" that it is not for this"),
        (&*for_signing, "by \"key_ops\" that it is not for this"),
        (&**private, "private part"),
        ("7", "not a JSON Web Key"),
        ("{}", "not a JSON Web Key"),
        (r#"{"kty":7}"#, "not a JSON Web Key"),
        (r#"{"kty":"AKP","pub":"AAAA"}"#, "no member \"alg\""),
        (r#"{"kty":"AKP","alg":"ML-DSA-44"}"#, "no member \"pub\""),
        (
            r#"{"kty":"AKP","alg":"ML-DSA-44","pub":"AAAA"}"#,
            "ML-DSA-44",
        ),
        (&*damaged, "\"pub\""),
    ];
    for (unusable, why) in cases {
        let first = text.replacen('[', &format!("[{unusable},"), 1);
        let last = text.replace("]}", &format!(",{unusable}]}}"));
        for (text_with, number) in [(first, 1), (last, 3)] {
            let set = JwkSet::from_json(&text_with).unwrap();
            assert_eq!(set.to_json(), text, "{unusable}");
            let [left_out] = set.left_out() else {
                panic!("{unusable}: {:?}", set.left_out());
            };
            assert_eq!(left_out.number, number);
            assert!(left_out.to_string().contains(why), "{left_out}");
        }
    }
    let all = cases.map(|(unusable, _)| unusable).join(",");
    let set = JwkSet::from_json(&format!(r#"{{"keys":[{all}]}}"#)).unwrap();
    assert_eq!((set.keys().len(), set.left_out().len()), (0, cases.len()));
}

#[test]
fn hostile_texts_take_no_time() {
    for nest in ["[", "{\"a\":", "{\"keys\":["] {
        let text = nest.repeat(10_000);
        let refused = Jwk::from_json(&text).unwrap_err();
        assert!(matches!(
            refused,
            JwkError::Json(JsonError::TooDeep | JsonError::TooLong { .. })
        ));
        assert!(JwkSet::from_json(&text).is_err());
    }
    let long = " ".repeat(2 << 20);
    assert!(matches!(
        JwkSet::from_json(&long).unwrap_err(),
        JwkError::Json(JsonError::TooLong { .. })
    ));
    let many = format!(r#"{{"keys":[{}{{}}]}}"#, r#"{"kty":"X"},"#.repeat(50_000));
    assert!(JwkSet::from_json(&many).is_err());
}

/// A key that is JSON by its grammar, and can't be read as more than that, leaves the others as they are.
#[test]
fn keys_of_a_set_that_are_malformed_are_left_out() {
    let own = public(1).to_json();
    let nested = [r#"{"x":"#, &"[".repeat(200), &"]".repeat(200), "}"].concat();
    let odd = [
        r#"{"kty":"RSA","n":"AA","n":"AQ"}"#,
        r#"{"kty":"RSA","n":"\ud800"}"#,
        r#"{"kty":"RSA","n":1e999}"#,
        r#"{"kty":"RSA","$serde_json::private::RawValue":"1"}"#,
        &nested,
        "null",
        "7",
        "[]",
    ];
    let set = |keys: &str| format!(r#"{{"keys":[{keys}],"x":[1]}}"#);
    let read = JwkSet::from_json(&set(&format!("{},{own}", odd.join(",")))).unwrap();
    assert_eq!(read.keys().len(), 1);
    assert_eq!(read.keys()[0].to_json(), own);
    let left_out: Vec<_> = read.left_out().iter().map(|one| one.number).collect();
    assert_eq!(left_out, (1..=odd.len()).collect::<Vec<_>>());
    let reason = read.left_out()[0].to_string();
    assert!(reason.contains("\"n\" twice"), "{reason}");
    // Beside the keys, everything counts; and what isn't JSON is no set.
    for text in [
        format!(r#"{{"keys":[{own}],"keys":[]}}"#),
        format!(r#"{{"keys":[{own}],"x":1,"x":1}}"#),
        format!(r#"{{"keys":[{own}],"x":{{"y":1,"y":1}}}}"#),
        format!(r#"{{"keys":[{own}],"x":"\ud800"}}"#),
        format!(r#"{{"keys":{own}}}"#),
        format!("[{own}]"),
        r#"{"x":1}"#.to_owned(),
        set(&format!(r#"{{"kty":"RSA","n":01}},{own}"#)),
        set(&format!(r#"{{"kty":"RSA","n":"\x"}},{own}"#)),
    ] {
        JwkSet::from_json(&text).unwrap_err();
    }
}
