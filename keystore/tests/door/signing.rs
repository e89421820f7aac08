//! Signatures through the door.

use base64ct::{Base64, Encoding};
use pq_keys::PublicKey;
use pq_keys::any::AnyPublicKey;
use pq_keys::signing::{PreHash, SignatureOptions};
use serde_json::json;

use crate::kit::House;

#[test]
fn every_algorithm_signs_and_verifies() {
    let house = House::new();
    for key_type in [
        "mldsa-44",
        "mldsa-65",
        "mldsa-87",
        "ed25519",
        "ecdsa-p256",
        "slhdsa-shake-128f",
    ] {
        house.create(key_type, key_type);
        let signature = house.signature(key_type);
        assert!(house.verifies(key_type, &signature), "{key_type}");
        // Valid base64 of another signature.
        let (head, bytes) = signature.rsplit_once(':').unwrap();
        let mut bytes = Base64::decode_vec(bytes).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        let other = format!("{head}:{}", Base64::encode_string(&bytes));
        assert!(!house.verifies(key_type, &other), "{key_type}");
    }
    house.create("rsa", "rsa-2048");
    house
        .post("sign/rsa", r#"{"input": "aGVsbG8="}"#)
        .error(400);
    let manner = r#""signature_algorithm": "pkcs1v15", "hash_algorithm": "sha2-256""#;
    let signed = house
        .post("sign/rsa", &format!(r#"{{"input": "aGVsbG8=", {manner}}}"#))
        .expect(200);
    let signature = &signed["data"]["signature"];
    let body = format!(r#"{{"input": "aGVsbG8=", "signature": {signature}, {manner}}}"#);
    assert_eq!(
        house.post("verify/rsa", &body).expect(200)["data"]["valid"],
        true
    );
}

/// Vault signs by SHA-256 unless another hash is named, also with P-384: what is not said is not taken for SHA-384.
#[test]
fn a_hash_that_is_no_default_is_named() {
    let house = House::new();
    house.create("k", "ecdsa-p384");
    let sha384 = r#""hash_algorithm": "sha2-384""#;
    house.post("sign/k", r#"{"input": "aGVsbG8="}"#).error(400);
    let signed = house
        .post("sign/k", &format!(r#"{{"input": "aGVsbG8=", {sha384}}}"#))
        .expect(200);
    let signature = &signed["data"]["signature"];
    assert_eq!(
        house
            .post("sign/k/sha2-384", r#"{"input": "aGVsbG8="}"#)
            .expect(200)["data"]["key_version"],
        1
    );
    let verify = |more: &str| {
        let body = format!(r#"{{"input": "aGVsbG8=", "signature": {signature}{more}}}"#);
        house.post("verify/k", &body)
    };
    assert_eq!(
        verify(&format!(", {sha384}")).expect(200)["data"]["valid"],
        true
    );
    verify("").error(400);
    verify(r#", "hash_algorithm": "sha2-256""#).error(400);
}

/// What is asked for in a way that a key does not sign is refused, and not signed in another.
#[test]
fn no_other_way_of_signing() {
    let house = House::new();
    for key_type in [
        "mldsa-44",
        "ecdsa-p256",
        "ecdsa-p384",
        "ed25519",
        "mlkem-768",
    ] {
        house.create(key_type, key_type);
    }
    let digest = Base64::encode_string(&[7; 32]);
    for (name, body) in [
        ("ecdsa-p256", r#""hash_algorithm": "sha2-512""#),
        ("ecdsa-p384", r#""hash_algorithm": "sha2-256""#),
        ("ecdsa-p256", r#""marshaling_algorithm": "jws""#),
        ("ecdsa-p256", r#""prehashed": true"#),
        ("ed25519", r#""prehashed": true"#),
        ("mldsa-44", r#""prehashed": true"#),
        ("mldsa-44", r#""prehashed": true, "hash_algorithm": "md5""#),
        (
            "mldsa-44",
            r#""prehashed": true, "hash_algorithm": "sha2-384""#,
        ),
        ("mldsa-44", r#""context": "aGVsbG8=""#),
        ("mldsa-44", r#""salt_length": "20""#),
        ("mldsa-44", r#""batch_input": [{"input": "aGVsbG8="}]"#),
        ("mlkem-768", r#""prehashed": false"#),
    ] {
        let body = format!(r#"{{"input": "{digest}", {body}}}"#);
        house.post(&format!("sign/{name}"), &body).error(400);
    }
    house
        .post("sign/ecdsa-p256/sha2-512", r#"{"input": "aGVsbG8="}"#)
        .error(400);
    house
        .post("sign/ecdsa-p256/sha2-256", r#"{"input": "aGVsbG8="}"#)
        .expect(200);
}

#[test]
fn mu_digests_and_contexts() {
    let house = House::new();
    house.create("a", "mldsa-65");
    let public = house.get("export/public-key/a?format=der").expect(200);
    let public = Base64::decode_vec(public["data"]["keys"]["1"].as_str().unwrap()).unwrap();
    let AnyPublicKey::PostQuantum(PublicKey::Verifying(key)) =
        AnyPublicKey::from_spki_der(&public).unwrap()
    else {
        panic!("it is a key of ML-DSA");
    };
    let sign = |body: &str| {
        let signed = house.post("sign/a", body).expect(200);
        let signature = signed["data"]["signature"].as_str().unwrap().to_owned();
        Base64::decode_vec(signature.strip_prefix("vault:v1:").unwrap()).unwrap()
    };

    let mut hasher = key.hasher(&SignatureOptions::new()).unwrap();
    hasher.update(b"hello");
    let hashed = hasher.finish();
    let mu = Base64::encode_string(hashed.mu().unwrap());
    for hash in ["", r#", "hash_algorithm": "none""#] {
        let signature = sign(&format!(r#"{{"input": "{mu}", "prehashed": true{hash}}}"#));
        key.verify(b"hello", &signature).unwrap();
    }

    let signature = sign(r#"{"input": "aGVsbG8=", "signature_context": "Y3R4"}"#);
    key.verify_with(
        b"hello",
        &signature,
        &SignatureOptions::new().context(b"ctx"),
    )
    .unwrap();

    // The template of new keys has no digests.
    let mut hasher = PreHash::Sha512.hasher();
    hasher.update(b"hello");
    let digest = Base64::encode_string(hasher.finish().as_bytes());
    let body =
        format!(r#"{{"input": "{digest}", "prehashed": true, "hash_algorithm": "sha2-512"}}"#);
    assert!(house.post("sign/a", &body).error(400).contains("digest"));
}

/// What an item of a batch is refused for concerns no other item.
#[test]
fn batches() {
    let house = House::new();
    house.create("a", "mldsa-44");
    house.post("keys/a/rotate", "").expect(200);
    let signed = house
        .post(
            "sign/a",
            r#"{"batch_input": [{"input": "aGVsbG8=", "reference": "x"}, {"input": "?"}, {}, {"input": "", "reference": "y"}]}"#,
        )
        .expect(200);
    let results = signed["data"]["batch_results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    assert_eq!(results[0]["reference"], "x");
    assert_eq!(results[0]["key_version"], 2);
    assert_eq!(results[3]["reference"], "y");
    for bad in &results[1..3] {
        assert!(
            bad["error"].is_string() && bad["signature"].is_null() && bad["key_version"] == 0,
            "{bad}"
        );
    }
    let first = results[0]["signature"].clone();
    assert!(house.verifies("a", first.as_str().unwrap()));
    let last = results[3]["signature"].clone();

    let body = json!({"batch_input": [
        {"input": "aGVsbG8=", "signature": first, "reference": "x"},
        {"input": "aGVsbG8=", "signature": last},
        {"input": "aGVsbG8=", "signature": "vault:v3:AAAA"},
        {"signature": first},
        {"input": "", "signature": last},
    ]});
    let verified = house.post("verify/a", &body.to_string()).expect(200);
    let results = verified["data"]["batch_results"].as_array().unwrap();
    assert_eq!(results[0], json!({"valid": true, "reference": "x"}));
    assert_eq!(results[1], json!({"valid": false, "reference": ""}));
    for failed in &results[2..4] {
        assert!(
            failed["error"].is_string() && failed["valid"] == false,
            "{failed}"
        );
    }
    assert_eq!(results[4], json!({"valid": true, "reference": ""}));
    let good = json!({"input": "", "signature": last});
    for (items, why) in [
        (
            json!([{"input": ""}, good]),
            "some elements of batch_input are missing 'signature'",
        ),
        (
            json!([{"input": ""}]),
            "no batch_input elements have 'signature'",
        ),
    ] {
        let body = json!({"batch_input": items}).to_string();
        assert_eq!(house.post("verify/a", &body).error(400), why);
    }

    let by_version = house
        .post(
            "sign/a",
            r#"{"key_version": 1, "batch_input": [{"input": ""}]}"#,
        )
        .expect(200);
    assert_eq!(by_version["data"]["batch_results"][0]["key_version"], 1);
    house.post("sign/a", r#"{"batch_input": []}"#).error(400);
}

/// But for line breaks.
#[test]
fn signatures_have_one_spelling() {
    let house = House::new();
    house.create("a", "ed25519");
    let signature = house.signature("a");
    let bytes = signature.strip_prefix("vault:v1:").unwrap();
    for spelling in [
        bytes.to_owned(),
        format!("vault:v01:{bytes}"),
        format!("vault:v+1:{bytes}"),
        format!("vault:v0:{bytes}"),
        format!("vault:v4294967296:{bytes}"),
        format!("Vault:v1:{bytes}"),
        format!("vault:v1:{bytes} "),
        format!("vault:v1:{}", bytes.trim_end_matches('=')),
        format!("vault:v1:{bytes}===="),
        format!("vault:v1:{}", bytes.replace('=', " =")),
    ] {
        let body = json!({"input": "aGVsbG8=", "signature": spelling}).to_string();
        house.post("verify/a", &body).error(400);
    }
}

/// What each item of a batch says is of that item, as in a request of its own.
#[test]
fn items_of_a_batch_have_their_contexts() {
    let house = House::new();
    house.create("a", "mldsa-44");
    let contexts = [None, Some("Y29udGV4dA=="), Some("b3RoZXI="), None];
    let item = |context: Option<&str>| {
        let mut item = json!({"input": "aGVsbG8="});
        if let Some(context) = context {
            item["signature_context"] = json!(context);
        }
        item
    };
    for version in [None, Some(1)] {
        let mut body = json!({"batch_input": contexts.map(item)});
        if let Some(version) = version {
            body["key_version"] = json!(version);
        }
        let signed = house.post("sign/a", &body.to_string()).expect(200);
        for (place, own) in contexts.into_iter().enumerate() {
            let signature = &signed["data"]["batch_results"][place]["signature"];
            let expected = contexts.map(|context| context == own);
            let with = |context| {
                let mut body = item(context);
                body["signature"] = signature.clone();
                body
            };
            let single = contexts.map(|context| {
                let verified = house.post("verify/a", &with(context).to_string());
                verified.expect(200)["data"]["valid"] == true
            });
            assert_eq!(single, expected);
            let body = json!({"batch_input": contexts.map(with)}).to_string();
            let verified = house.post("verify/a", &body).expect(200);
            let batched =
                [0, 1, 2, 3].map(|place| verified["data"]["batch_results"][place]["valid"] == true);
            assert_eq!(batched, expected);
        }
    }
}

/// The path says which key and which hash function, whatever a body says.
#[test]
fn the_path_comes_before_the_body() {
    let house = House::new();
    let root = crate::kit::principal("root");
    let mut policy = pq_keystore::policy::Policy::default();
    policy.inputs = pq_keystore::policy::InputKind::ALL.into_iter().collect();
    let algorithm = pq_keys::any::AnyAlgorithm::named("ML-DSA-44").unwrap();
    let name = "shop/tokens/a".parse().unwrap();
    let made = house.store.create_key(&root, &name, algorithm, &policy);
    made.unwrap();
    let digest = Base64::encode_string(&[7; 64]);
    for field in ["hash_algorithm", "algorithm"] {
        let mut body = json!({"input": digest, "prehashed": true});
        body[field] = json!("sha2-256");
        let signed = house.post("sign/a/sha2-512", &body.to_string()).expect(200);
        body["signature"] = signed["data"]["signature"].clone();
        let verified = house
            .post("verify/a/sha2-512", &body.to_string())
            .expect(200);
        assert_eq!(verified["data"]["valid"], true);
        house
            .post(
                "sign/a",
                &json!({"input": digest, "prehashed": true, field: "sha2-256"}).to_string(),
            )
            .error(400);
        body["name"] = json!("b");
        house
            .post("verify/a/sha2-512", &body.to_string())
            .error(400);
        body["name"] = json!("a");
        house
            .post("verify/a/sha2-512", &body.to_string())
            .expect(200);
    }
}

/// A hash function that nobody has is a mistake, also where none is chosen.
#[test]
fn manners_that_nobody_has_are_refused() {
    let house = House::new();
    for key_type in ["ed25519", "mldsa-44", "mldsa44-ed25519-sha512"] {
        house.create(key_type, key_type);
        let sign = |field: &str, value: &str| {
            let body = json!({"input": "aGVsbG8=", field: value}).to_string();
            house.post(&format!("sign/{key_type}"), &body)
        };
        for hash in ["none", "sha1", "sha2-224", "sha2-256", "sha3-512"] {
            sign("hash_algorithm", hash).expect(200);
            sign("algorithm", hash).expect(200);
        }
        for hash in ["bogus", "SHA2-256", "sha256", "md5"] {
            for field in ["hash_algorithm", "algorithm"] {
                let said = sign(field, hash).error(400);
                assert_eq!(said, format!("invalid hash algorithm {hash:?}"));
            }
            let path = format!("verify/{key_type}/{hash}");
            let body = json!({"input": "aGVsbG8=", "signature": house.signature(key_type)});
            let said = house.post(&path, &body.to_string()).error(400);
            assert_eq!(said, format!("invalid hash algorithm {hash:?}"));
        }
        sign("marshaling_algorithm", "asn1").expect(200);
        let said = sign("marshaling_algorithm", "jws").error(400);
        assert!(said.contains("jws is not supported"), "{said}");
        let said = sign("marshaling_algorithm", "bogus").error(400);
        assert_eq!(said, "invalid marshaling type \"bogus\"");
    }
}
