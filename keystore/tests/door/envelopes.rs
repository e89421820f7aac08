//! Data encrypted to keys of ML-KEM and X-Wing.

use alloc::sync::Arc;

use base64ct::{Base64, Encoding};
use pq_keys::any::{AnyAlgorithm, AnyPrivateKey};
use pq_keystore::door::Request;
use pq_keystore::storage::MemoryStorage;
use serde_json::{Value, json};

use crate::kit::{House, ROOT, damage};

fn encrypt(house: &House, name: &str, body: &str) -> String {
    let made = house.post(&format!("encrypt/{name}"), body).expect(200);
    made["data"]["ciphertext"].as_str().unwrap().into()
}

#[test]
fn opened_by_the_version_it_is_for() {
    let house = House::new();
    for key_type in ["mlkem-512", "mlkem-768", "mlkem-1024", "x-wing"] {
        house.create(key_type, key_type);
        let ciphertext = encrypt(&house, key_type, r#"{"plaintext": "aGVsbG8="}"#);
        let again = encrypt(&house, key_type, r#"{"plaintext": "aGVsbG8="}"#);
        assert_ne!(ciphertext, again);
        house
            .post(&format!("keys/{key_type}/rotate"), "")
            .expect(200);
        let path = format!("decrypt/{key_type}");
        let open =
            |ciphertext: &str| house.post(&path, &json!({"ciphertext": ciphertext}).to_string());
        assert_eq!(
            open(&ciphertext).expect(200)["data"]["plaintext"],
            "aGVsbG8="
        );
        let moved = ciphertext.replace("vault:v1:", "vault:v2:");
        open(&moved).error(400);
        open("vault:v1:AAAA").error(400);
        open("vault:v1:").error(400);
        let mut bytes = Base64::decode_vec(&ciphertext[9..]).unwrap();
        for position in [0, 1, 2, bytes.len() / 2, bytes.len() - 50, bytes.len() - 1] {
            bytes[position] ^= 1;
            open(&format!("vault:v1:{}", Base64::encode_string(&bytes))).error(400);
            bytes[position] ^= 1;
        }
        open(&format!("vault:v1:{}", Base64::encode_string(&bytes))).expect(200);
    }
}

#[test]
fn associated_data_and_batches() {
    let house = House::new();
    house.create("a", "mlkem-768");
    let sealed = encrypt(
        &house,
        "a",
        r#"{"plaintext": "aGVsbG8=", "associated_data": "YWQ="}"#,
    );
    let body = json!({"batch_input": [
        {"ciphertext": sealed, "associated_data": "YWQ=", "reference": "x"},
        {"ciphertext": sealed},
        {"ciphertext": sealed, "associated_data": "YWR4"},
        {},
    ]});
    let opened = house.post("decrypt/a", &body.to_string()).expect(400);
    let results = opened["data"]["batch_results"].as_array().unwrap();
    assert_eq!(
        results[0],
        json!({"plaintext": "aGVsbG8=", "reference": "x"})
    );
    assert!(results[1..].iter().all(|result| result["error"].is_string()
        && result["plaintext"] == ""
        && result["reference"] == ""));

    let sealed = house
        .post(
            "encrypt/a",
            r#"{"batch_input": [{"plaintext": ""}, {"plaintext": "?"}]}"#,
        )
        .expect(400);
    let results = &sealed["data"]["batch_results"];
    assert!(results[0]["ciphertext"].is_string() && results[1]["error"].is_string());
    for body in [
        "{}",
        r#"{"plaintext": "aGVsbG8=", "context": "YWQ="}"#,
        r#"{"plaintext": "aGVsbG8=", "nonce": "YWQ="}"#,
        r#"{"plaintext": "aGVsbG8=", "key_version": 2}"#,
        r#"{"plaintext": "aGVsbG8=", "batch_input": [{"plaintext": ""}]}"#,
        r#"{"batch_input": []}"#,
    ] {
        house.post("encrypt/a", body).error(400);
    }
    house.create("s", "ed25519");
    house.post("encrypt/s", r#"{"plaintext": ""}"#).error(400);
    house
        .post("encrypt/none", r#"{"plaintext": ""}"#)
        .error(400);
}

#[test]
fn data_keys() {
    let house = House::new();
    house.create("a", "mlkem-768");
    for (bits, len) in [(128, 16), (256, 32), (512, 64)] {
        let body = json!({"bits": bits}).to_string();
        let shown = house.post("datakey/plaintext/a", &body).expect(200);
        let key = shown["data"]["plaintext"].as_str().unwrap();
        assert_eq!(Base64::decode_vec(key).unwrap().len(), len);
        let body = json!({"ciphertext": shown["data"]["ciphertext"]}).to_string();
        assert_eq!(
            house.post("decrypt/a", &body).expect(200)["data"]["plaintext"],
            key
        );
        let wrapped = house.post("datakey/wrapped/a", &json!({"bits": bits}).to_string());
        assert!(wrapped.expect(200)["data"]["plaintext"].is_null());
    }
    house
        .post("datakey/plaintext/a", r#"{"bits": 192}"#)
        .error(400);
    house.post("datakey/other/a", "").error(400);
}

/// A ciphertext is of one key, also where another one has the same private key.
#[test]
fn a_ciphertext_is_of_one_key() {
    let house = House::new();
    let root = crate::kit::principal("root");
    let key = AnyPrivateKey::generate(AnyAlgorithm::named("ML-KEM-768").unwrap()).unwrap();
    for name in ["a", "b"] {
        let name = format!("shop/tokens/{name}").parse().unwrap();
        let policy = pq_keystore::policy::Policy::default();
        house.store.import_key(&root, &name, &key, &policy).unwrap();
        house.store.import_version(&root, &name, &key).unwrap();
    }
    let ciphertext = encrypt(&house, "a", r#"{"plaintext": "aGVsbG8="}"#);
    let body = |ciphertext: &str| json!({"ciphertext": ciphertext}).to_string();
    let opened = house.post("decrypt/a", &body(&ciphertext)).expect(200);
    assert_eq!(opened["data"]["plaintext"], "aGVsbG8=");
    house.post("decrypt/b", &body(&ciphertext)).error(400);
    let moved = ciphertext.replace("vault:v2:", "vault:v1:");
    house.post("decrypt/a", &body(&moved)).error(400);
}

/// What is refused of one is refused of each item, and nothing of it is done.
#[test]
fn items_are_as_strict_as_one() {
    let house = House::new();
    house.create("a", "mlkem-768");
    house.post("keys/a/rotate", "").expect(200);
    let ciphertext = encrypt(&house, "a", r#"{"plaintext": "aGVsbG8="}"#);
    for (path, good, result) in [
        ("encrypt/a", json!({"plaintext": "aGVsbG8="}), "ciphertext"),
        ("decrypt/a", json!({"ciphertext": ciphertext}), "plaintext"),
    ] {
        let mut bad = vec![("context", json!("YWQ=")), ("nonce", json!("YWQ="))];
        if path == "encrypt/a" {
            bad.extend([("key_version", json!(1)), ("key_version", json!(3))]);
        }
        for (field, value) in bad {
            let mut body = good.clone();
            body[field] = value;
            house.post(path, &body.to_string()).error(400);
            let batch = json!({"batch_input": [good, body, good]}).to_string();
            let answer = house.post(path, &batch).expect(400);
            let results = answer["data"]["batch_results"].as_array().unwrap();
            let done: Vec<_> = results
                .iter()
                .map(|item| !item[result].as_str().unwrap_or_default().is_empty())
                .collect();
            let refused: Vec<_> = results
                .iter()
                .map(|item| item["error"].is_string())
                .collect();
            assert_eq!(
                (done, refused),
                (vec![true, false, true], vec![false, true, false])
            );
        }
    }
    for field in ["context", "nonce"] {
        for kind in ["plaintext", "wrapped"] {
            let body = json!({field: "YWQ="}).to_string();
            house.post(&format!("datakey/{kind}/a"), &body).error(400);
        }
    }
}

/// As Vault's path_encrypt.go and path_decrypt.go have it: a batch of which an item failed is 400, or what the client wants
/// if another one didn't.
#[test]
fn batches_with_failures_have_a_status() {
    let house = House::new();
    house.create("a", "mlkem-768");
    let ciphertext = encrypt(&house, "a", r#"{"plaintext": "aGVsbG8="}"#);
    for (path, good, bad) in [
        (
            "encrypt/a",
            json!({"plaintext": "aGVsbG8="}),
            json!({"plaintext": "?"}),
        ),
        (
            "decrypt/a",
            json!({"ciphertext": ciphertext}),
            json!({"ciphertext": "?"}),
        ),
    ] {
        for (code, items, status) in [
            (None, json!([good, good]), 200),
            (None, json!([good, bad]), 400),
            (None, json!([bad]), 400),
            (Some(json!(207)), json!([good, good]), 200),
            (Some(json!(207)), json!([good, bad]), 207),
            (Some(json!("202")), json!([bad, good]), 202),
            (Some(json!(200)), json!([bad, bad]), 400),
            (Some(json!(500)), json!([good, bad]), 500),
        ] {
            let mut body = json!({"batch_input": items});
            if let Some(code) = code {
                body["partial_failure_response_code"] = code;
            }
            let answer = house.post(path, &body.to_string()).expect(status);
            assert_eq!(answer["warnings"], Value::Null);
            assert_eq!(
                answer["data"]["batch_results"].as_array().unwrap().len(),
                items.as_array().unwrap().len()
            );
        }
        // These have no body, or are none.
        for code in [0, 1, 100, 101, 199, 204, 205, 304, 600, 65_736] {
            let body = json!({"batch_input": [good, bad], "partial_failure_response_code": code});
            let answer = house.post(path, &body.to_string()).expect(400);
            let warning = answer["warnings"][0].as_str().unwrap();
            assert!(warning.contains("reverting to 400"), "{warning}");
            assert_eq!(answer["data"]["batch_results"].as_array().unwrap().len(), 2);
        }
    }
}

/// A ciphertext of an old version becomes one of the newest, and nobody sees the plaintext.
#[test]
fn rewrapped() {
    let house = House::new();
    house.create("a", "mlkem-768");
    let first = encrypt(&house, "a", r#"{"plaintext": "aGVsbG8="}"#);
    let bound = encrypt(
        &house,
        "a",
        r#"{"plaintext": "aGVsbG8=", "associated_data": "YWQ="}"#,
    );
    house.post("keys/a/rotate", "").expect(200);
    let rewrap = |body: Value| house.post("rewrap/a", &body.to_string());
    let made = rewrap(json!({"ciphertext": first, "name": "a", "nonce": ""})).expect(200);
    let made = made["data"].as_object().unwrap();
    assert_eq!(made.len(), 2);
    assert_eq!(made["key_version"], 2);
    assert!(
        made["ciphertext"]
            .as_str()
            .unwrap()
            .starts_with("vault:v2:")
    );
    let body = json!({"ciphertext": made["ciphertext"]}).to_string();
    assert_eq!(
        house.post("decrypt/a", &body).expect(200)["data"]["plaintext"],
        "aGVsbG8="
    );

    for bad in [
        json!({}),
        json!({"ciphertext": "?"}),
        // With associated data, as in Vault, only its owner decrypts it.
        json!({"ciphertext": bound}),
        json!({"ciphertext": first, "key_version": 1}),
        json!({"ciphertext": first, "context": "YWQ="}),
        json!({"ciphertext": first, "decrypt_padding_scheme": "oaep"}),
        json!({"ciphertext": first, "encrypt_padding_scheme": "oaep"}),
    ] {
        rewrap(bad.clone()).error(400);
        // Of items, the status says nothing, as with Vault.
        let batch = json!({"batch_input": [{"ciphertext": first, "reference": "x"}, bad]});
        let answer = rewrap(batch).expect(200);
        let results = answer["data"]["batch_results"].as_array().unwrap();
        assert!(results[0]["ciphertext"].is_string() && results[0]["reference"] == "x");
        assert!(results[1]["error"].is_string() && results[1]["ciphertext"].is_null());
    }
    rewrap(json!({"batch_input": []})).error(400);
    rewrap(json!({"ciphertext": first, "batch_input": [{"ciphertext": first}]})).error(400);
}

/// What clients can't help is 500, and the log says why.
#[test]
fn batches_with_failures_of_the_store_are_told_to_the_log() {
    let storage = Arc::new(MemoryStorage::new());
    let house = House::in_storage(&storage, &[]);
    house.create("a", "mlkem-768");
    let first = encrypt(&house, "a", r#"{"plaintext": "aGVsbG8="}"#);
    house.post("keys/a/rotate", "").expect(200);
    let second = encrypt(&house, "a", r#"{"plaintext": "aGVsbG8="}"#);
    damage(&storage, &["version/shop/tokens/a#0000000001"]);
    let ask = |items: Value| {
        let body = json!({"batch_input": items}).to_string();
        house.door.answer(&Request {
            method: "POST",
            path: "/v1/transit/decrypt/a",
            vault_token: Some(ROOT),
            body: body.as_bytes(),
            ..Request::default()
        })
    };
    let (broken, good) = (json!({"ciphertext": first}), json!({"ciphertext": second}));
    for (items, status) in [
        (json!([good]), 200),
        (json!([good, broken]), 500),
        (json!([broken, {"ciphertext": "?"}]), 400),
    ] {
        let answer = ask(items);
        assert_eq!(answer.status, status);
        let problem = answer.problem.unwrap_or_default();
        assert_eq!(problem.contains("is damaged"), status != 200, "{problem}");
    }
}
