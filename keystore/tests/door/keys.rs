//! Keys through the door, from creation to deletion.

use alloc::sync::Arc;
use core::time::Duration;

use base64ct::{Base64, Encoding};
use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnyPublicKey, AnySigningKey, Readable};
use pq_keystore::door::{AccessList, Door, MAX_BATCH, Request};
use pq_keystore::policy::{Role, Verbs};
use pq_keystore::storage::MemoryStorage;
use serde_json::{Value, json};

use super::importing::{wrap, wrapping_key};
use crate::kit::{House, ROOT, STRANGER, damage};

#[test]
fn types_have_two_spellings() {
    let house = House::new();
    for (name, body, key_type, set) in [
        (
            "a",
            r#"{"type":"ml-dsa","parameter_set":"65"}"#,
            "ml-dsa",
            "65",
        ),
        (
            "b",
            r#"{"type":"ml-dsa","parameter_set":44}"#,
            "ml-dsa",
            "44",
        ),
        ("c", r#"{"type":"mldsa-87"}"#, "ml-dsa", "87"),
        (
            "d",
            r#"{"type":"ml-kem","parameter_set":"768"}"#,
            "ml-kem",
            "768",
        ),
        ("e", r#"{"type":"mlkem-1024"}"#, "ml-kem", "1024"),
        (
            "f",
            r#"{"type":"slh-dsa","parameter_set":"slh-dsa-sha2-128f"}"#,
            "slh-dsa",
            "slh-dsa-sha2-128f",
        ),
    ] {
        house.post(&format!("keys/{name}"), body).expect(200);
        let key = house.get(&format!("keys/{name}")).expect(200);
        assert_eq!(key["data"]["type"], key_type);
        assert_eq!(key["data"]["parameter_set"], set);
        assert_eq!(key["data"]["supports_signing"], key_type != "ml-kem");
    }
    for key_type in [
        "ed25519",
        "ecdsa-p256",
        "ecdsa-p384",
        "rsa-2048",
        "x-wing",
        "mldsa44-ed25519-sha512",
        "mldsa65-ecdsa-p256-sha512",
    ] {
        house.create(key_type, key_type);
        let key = house.get(&format!("keys/{key_type}")).expect(200);
        assert_eq!(key["data"]["type"], key_type);
        assert_eq!(key["data"]["parameter_set"], Value::Null);
    }
    for body in [
        r#"{"type":"aes256-gcm96"}"#,
        r#"{"type":"ML-DSA-65"}"#,
        r#"{"type":"x25519"}"#,
        r#"{"type":"ml-dsa"}"#,
        r#"{"type":"ml-dsa","parameter_set":"66"}"#,
        r#"{"type":"mldsa-65","parameter_set":"65"}"#,
        r#"{"type":"ed25519","parameter_set":"65"}"#,
        r#"{"type":"ml-dsa","parameter_set":"65","derived":true}"#,
        "{}",
        "",
    ] {
        house.post("keys/none", body).error(400);
        assert_eq!(house.get("keys/none").status, 404);
    }
}

/// Types of Vault that are not here, and families without a set, are told apart from those that are nowhere.
#[test]
fn types_that_are_not_here() {
    let house = House::new();
    for (key_type, why) in [
        (
            "ml-dsa",
            "parameter_set is needed for a key of type ml-dsa: 44, 65 or 87",
        ),
        (
            "ml-kem",
            "parameter_set is needed for a key of type ml-kem: 512, 768 or 1024",
        ),
        (
            "slh-dsa",
            "parameter_set is needed for a key of type slh-dsa: such as slh-dsa-sha2-128s",
        ),
        (
            "aes256-gcm96",
            "keys of type aes256-gcm96 are not supported here: there are no symmetric keys",
        ),
        ("hmac", "keys of type hmac are not supported here"),
        (
            "ecdsa-p521",
            "keys of type ecdsa-p521 are not supported here",
        ),
        (
            "managed_key",
            "keys of type managed_key are not supported here",
        ),
        ("hybrid", "mldsa65-ecdsa-p256-sha512"),
        ("none", "unknown key type \"none\""),
        ("Ed25519", "unknown key type \"Ed25519\""),
    ] {
        let body = json!({"type": key_type}).to_string();
        for path in ["keys/a", "keys/a/import"] {
            let said = house.post(path, &body).error(400);
            assert!(said.contains(why), "{said}");
        }
        // An empty set is none.
        let body = json!({"type": key_type, "parameter_set": ""}).to_string();
        assert!(house.post("keys/a", &body).error(400).contains(why));
    }
}

/// Creating what is there does nothing, and creating something else of the same name is refused.
#[test]
fn creating_twice() {
    let house = House::new();
    let body = r#"{"type":"mldsa-44"}"#;
    let made = house.post("keys/a", body).expect(200);
    assert_eq!(made["data"], json!({"name": "a", "key_version": 1}));
    let signature = house.signature("a");
    house.post("keys/a", body).expect(200);
    assert!(house.verifies("a", &signature));
    house.post("keys/a", r#"{"type":"mldsa-65"}"#).error(400);
    house
        .post("keys/a", r#"{"type":"mldsa-44","exportable":true}"#)
        .error(400);
}

#[test]
fn rotated_configured_and_trimmed() {
    let house = House::new();
    house.create("a", "mldsa-44");
    let first = house.signature("a");
    for version in 2..5 {
        let made = house.ask(ROOT, "PUT", "keys/a/rotate", "").expect(200);
        assert_eq!(made["data"], json!({"name": "a", "key_version": version}));
    }
    let fourth = house.signature("a");
    assert!(first.starts_with("vault:v1:") && fourth.starts_with("vault:v4:"));
    assert!(house.verifies("a", &first) && house.verifies("a", &fourth));
    // Each verifies under the version that it names, and under no other.
    let moved = fourth.replace("vault:v4:", "vault:v3:");
    assert!(!house.verifies("a", &moved));

    house
        .post("keys/a/trim", r#"{"min_available_version": 2}"#)
        .error(400);
    for body in [
        r#"{"min_decryption_version": 5}"#,
        r#"{"min_encryption_version": 5}"#,
        r#"{"min_decryption_version": 3, "min_encryption_version": 2}"#,
        r#"{"auto_rotate_period": "59m"}"#,
        r#"{"exportable": false}"#,
        r#"{"unknown": 1}"#,
    ] {
        house.post("keys/a/config", body).error(400);
    }
    house
        .post(
            "keys/a/config",
            r#"{"min_decryption_version": "2", "min_encryption_version": 3, "auto_rotate_period": "1h30m"}"#,
        )
        .expect(204);
    let key = house.get("keys/a").expect(200);
    assert_eq!(key["data"]["min_decryption_version"], 2);
    assert_eq!(key["data"]["min_encryption_version"], 3);
    assert_eq!(key["data"]["auto_rotate_period"], 5400);
    assert_eq!(key["data"]["latest_version"], 4);

    // Version 1 verifies no more, 2 signs no more.
    let body = format!(r#"{{"input": "aGVsbG8=", "signature": {first:?}}}"#);
    house.post("verify/a", &body).error(400);
    for (version, status) in [(1, 400), (2, 400), (3, 200), (4, 200), (0, 200), (5, 400)] {
        let body = format!(r#"{{"input": "aGVsbG8=", "key_version": {version}}}"#);
        assert_eq!(house.post("sign/a", &body).status, status, "{version}");
    }

    house
        .post("keys/a/trim", r#"{"min_available_version": 3}"#)
        .error(400);
    house
        .post("keys/a/trim", r#"{"min_available_version": 2}"#)
        .expect(204);
    let key = house.get("keys/a").expect(200);
    assert_eq!(key["data"]["min_available_version"], 2);
    assert_eq!(key["data"]["keys"].as_object().unwrap().len(), 3);
    house.post("keys/a/trim", "{}").error(400);
}

/// Vault's path_trim.go and path_keys_config.go, sentence by sentence.
#[test]
fn trimmed_as_vault_does() {
    let house = House::new();
    house.create("a", "ed25519");
    for _ in 0..4 {
        house.post("keys/a/rotate", "").expect(200);
    }
    let trim = |version: u32| {
        let body = json!({"min_available_version": version}).to_string();
        house.post("keys/a/trim", &body)
    };
    let configure = |body: Value| house.post("keys/a/config", &body.to_string());
    let shown = || {
        let key = house.get("keys/a").expect(200);
        ["available", "decryption", "encryption"]
            .map(|what| key["data"][format!("min_{what}_version")].as_u64().unwrap())
    };
    assert_eq!(shown(), [0, 1, 0]);
    // Without a minimum to sign, nothing is trimmed.
    configure(json!({"min_decryption_version": 3})).expect(204);
    for version in [1, 2, 3] {
        let said = trim(version).error(400);
        assert!(
            said.contains("when minimum encryption version is not set"),
            "{said}"
        );
    }
    assert_eq!(shown(), [0, 3, 0]);
    configure(json!({"min_encryption_version": 4})).expect(204);
    for (version, why) in [
        (5, "greater than minimum encryption version"),
        (4, "greater than minimum decryption version"),
        (0, "should be positive"),
    ] {
        let said = trim(version).error(400);
        assert!(said.contains(why), "{said}");
    }
    assert_eq!(
        house.post("keys/a/trim", "{}").error(400),
        "missing min_available_version"
    );
    trim(3).expect(204);
    assert_eq!(shown(), [3, 3, 4]);
    trim(3).expect(204);
    for version in [0, 1, 2] {
        let said = trim(version).error(400);
        assert!(said.contains("cannot be decremented"), "{said}");
    }
    // Afterwards, no minimum is below what there is.
    for field in ["min_decryption_version", "min_encryption_version"] {
        for version in [0, 1, 2] {
            let said = configure(json!({field: version})).error(400);
            assert!(said.contains("less than min available version"), "{said}");
        }
    }
    configure(json!({"auto_rotate_period": "2h"})).expect(204);
    configure(json!({"min_encryption_version": 3})).expect(204);
    assert_eq!(shown(), [3, 3, 3]);

    // Whoever trims and lowers the minimum by the store's own means is shown what counts.
    house.create("b", "ed25519");
    house.post("keys/b/rotate", "").expect(200);
    house
        .post("keys/b/config", r#"{"min_decryption_version": 2}"#)
        .expect(204);
    let (root, name) = (
        crate::kit::principal("root"),
        "shop/tokens/b".parse().unwrap(),
    );
    house
        .store
        .trim(&root, &name, "2".parse().unwrap())
        .unwrap();
    let mut policy = house.store.show(&root, &name).unwrap().policy;
    policy.min_version = "1".parse().unwrap();
    house.store.set_policy(&root, &name, &policy).unwrap();
    let key = house.get("keys/b").expect(200);
    assert_eq!(key["data"]["min_decryption_version"], 2);
    assert_eq!(key["data"]["min_available_version"], 2);
}

#[test]
fn exported() {
    let house = House::new();
    for key_type in ["mldsa-65", "ed25519", "ecdsa-p384", "rsa-2048"] {
        house.create(key_type, key_type);
        house
            .post(&format!("keys/{key_type}/rotate"), "{}")
            .expect(200);
        let all = house
            .get(&format!("export/signing-key/{key_type}"))
            .expect(200);
        let keys = all["data"]["keys"].as_object().unwrap();
        assert_eq!(keys.len(), 2);
        for (version, pem) in keys {
            let key = AnySigningKey::from_pem(pem.as_str().unwrap()).unwrap();
            let path = format!("export/public-key/{key_type}/{version}?format=pem");
            let public = house.get(&path).expect(200);
            let public = public["data"]["keys"][version].as_str().unwrap();
            assert_eq!(key.public_half().to_spki_pem(), public);
            let path = format!("export/public-key/{key_type}/{version}?format=der");
            let der = house.get(&path).expect(200);
            let der = base64(der["data"]["keys"][version].as_str().unwrap());
            assert_eq!(
                AnyPublicKey::from_spki_der(&der).unwrap().to_spki_pem(),
                public
            );
        }
        let latest = house
            .get(&format!("export/signing-key/{key_type}/latest?format=der"))
            .expect(200);
        let latest = latest["data"]["keys"].as_object().unwrap();
        assert_eq!(latest.keys().collect::<Vec<_>>(), ["2"]);
        assert!(AnyPrivateKey::from_der(&base64(latest["2"].as_str().unwrap())).is_ok());
    }
    house.get("export/encryption-key/ed25519").error(400);
    house.get("export/hmac-key/ed25519").error(400);
    house.get("export/signing-key/ed25519/3").error(400);
    house.get("export/signing-key/ed25519/0").error(400);
    house.get("export/signing-key/ed25519/+1").error(400);
    // What is too old to verify is not given out, whether it is named or not.
    let body = r#"{"min_decryption_version": 2, "min_encryption_version": 2}"#;
    house.post("keys/ed25519/config", body).expect(204);
    let given = house.get("export/signing-key/ed25519").expect(200);
    let given = given["data"]["keys"].as_object().unwrap();
    assert_eq!(given.keys().collect::<Vec<_>>(), ["2"]);
    house.get("export/signing-key/ed25519/1").error(400);
    house
        .get("export/signing-key/ed25519?format=jwk")
        .error(400);
    assert_eq!(
        house.get("export/signing-key/none").expect(404),
        json!({"errors": []})
    );

    house.post("keys/kept", r#"{"type":"ed25519"}"#).expect(200);
    house.get("export/signing-key/kept").error(400);
    house.get("export/public-key/kept").expect(200);
}

fn base64(text: &str) -> Vec<u8> {
    Base64::decode_vec(text).unwrap()
}

#[test]
fn deleted_only_if_allowed() {
    let house = House::new();
    house.create("a", "mldsa-44");
    house.create("b", "mldsa-44");
    house.post("keys/a/rotate", "").expect(200);
    let signature = house.signature("a");
    house.ask(ROOT, "DELETE", "keys/a", "").error(400);
    assert!(house.verifies("a", &signature));
    house
        .post("keys/a/config", r#"{"deletion_allowed": true}"#)
        .expect(204);
    assert_eq!(
        house.get("keys/a").expect(200)["data"]["deletion_allowed"],
        true
    );
    house
        .post("keys/a/config", r#"{"deletion_allowed": "false"}"#)
        .expect(204);
    house.ask(ROOT, "DELETE", "keys/a", "").error(400);
    house
        .post("keys/a/config", r#"{"deletion_allowed": "true"}"#)
        .expect(204);
    *house.clock.lock().unwrap() += Duration::from_secs(1);
    house.ask(ROOT, "DELETE", "keys/a", "").expect(204);

    assert_eq!(house.get("keys/a").expect(404), json!({"errors": []}));
    let listed = house.ask(ROOT, "LIST", "keys", "").expect(200);
    assert_eq!(listed["data"]["keys"], json!(["b"]));
    house.post("sign/a", r#"{"input": "aGVsbG8="}"#).error(400);
    let body = format!(r#"{{"input": "aGVsbG8=", "signature": {signature:?}}}"#);
    house.post("verify/a", &body).error(400);
    for kind in ["signing-key", "public-key"] {
        let exported = house.get(&format!("export/{kind}/a"));
        assert_eq!(exported.expect(404), json!({"errors": []}));
    }
    for (path, body) in [
        ("keys/a", r#"{"type":"mldsa-44","exportable":true}"#),
        ("keys/a", r#"{"type":"ed25519"}"#),
    ] {
        let said = house.post(path, body).error(400);
        assert!(
            said.contains("was deleted, and its name is not used again"),
            "{said}"
        );
    }
    // Asked again, it is done.
    house.ask(ROOT, "DELETE", "keys/a", "").expect(204);
    assert!(house.verifies("b", &house.signature("b")));
}

/// What was deleted is gone for good, whoever asks for another version of it: also the server itself, when its period is over.
#[test]
fn what_was_deleted_does_not_come_back() {
    let house = House::new();
    let hourly = r#"{"type": "ed25519", "exportable": true, "auto_rotate_period": "1h"}"#;
    house.post("keys/a", hourly).expect(200);
    house
        .post("keys/a/config", r#"{"deletion_allowed": true}"#)
        .expect(204);
    house.ask(ROOT, "DELETE", "keys/a", "").expect(204);
    let key = AnyPrivateKey::generate(AnyAlgorithm::named("Ed25519").unwrap()).unwrap();
    let wrapped = wrap(&wrapping_key(&house), &key.to_pkcs8_der().unwrap());
    let ciphertext = Base64::encode_string(&wrapped);
    let body = json!({"ciphertext": ciphertext}).to_string();
    for (path, body) in [
        ("keys/a/rotate", ""),
        ("keys/a/config", r#"{"deletion_allowed": false}"#),
        ("keys/a/trim", r#"{"min_available_version": 1}"#),
        ("keys/a/import_version", &*body),
    ] {
        let said = house.post(path, body).error(400);
        assert_eq!(said, "no existing key named a could be found", "{path}");
    }
    for (path, body) in [
        ("keys/a", hourly),
        (
            "keys/a/import",
            &*json!({"type": "ed25519", "ciphertext": ciphertext}).to_string(),
        ),
    ] {
        let said = house.post(path, body).error(400);
        assert!(said.contains("its name is not used again"), "{said}");
    }
    let said = house.post("sign/a", r#"{"input": "aGVsbG8="}"#).error(400);
    assert_eq!(said, "there is no key shop/tokens/a");
    *house.clock.lock().unwrap() += Duration::from_secs(2 * 60 * 60);
    assert!(house.door.rotate_due(&|| false).unwrap().is_empty());
    let root = crate::kit::principal("root");
    assert!(house.store.rotate_due(&root).unwrap().is_empty());
    assert_eq!(house.get("keys/a").expect(404), json!({"errors": []}));
    house.ask(ROOT, "DELETE", "keys/a", "").expect(204);
}

/// A version that is made while a key is deleted goes, too.
#[test]
fn a_deletion_has_what_is_made_meanwhile() {
    let house = House::new();
    for round in 0..20 {
        let path = format!("keys/k{round}");
        house.create(&path["keys/".len()..], "ed25519");
        house
            .post(&format!("{path}/config"), r#"{"deletion_allowed": true}"#)
            .expect(204);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..5 {
                    house.post(&format!("{path}/rotate"), "");
                }
            });
            house.ask(ROOT, "DELETE", &path, "").expect(204);
        });
        house.get(&path).expect(404);
    }
}

/// What refuses a deletion does so before anything was changed.
#[test]
fn a_deletion_is_whole_or_nothing() {
    let house = House::new();
    let root = crate::kit::principal("root");
    house.create("a", "ed25519");
    let old = house.signature("a");
    for _ in 0..2 {
        house.post("keys/a/rotate", "").expect(200);
    }
    let allow = |allowed: bool| {
        let body = json!({"deletion_allowed": allowed}).to_string();
        house.post("keys/a/config", &body).expect(204);
    };
    let is_untouched = || {
        assert!(house.verifies("a", &old));
        assert!(house.verifies("a", &house.signature("a")));
        assert_eq!(house.get("keys/a").status, 200);
    };
    let (day, second) = (Duration::from_secs(24 * 60 * 60), "shop/tokens/a#2");
    let id = second.parse().unwrap();
    // A version is to be destroyed later.
    allow(true);
    house.store.schedule_destruction(&root, &id, day).unwrap();
    let said = house.ask(ROOT, "DELETE", "keys/a", "").error(400);
    assert!(said.contains("a#2"), "{said}");
    is_untouched();
    house.store.cancel_destruction(&root, &id).unwrap();
    // By a clock that is behind, nothing is destroyed.
    *house.clock.lock().unwrap() -= Duration::from_secs(60 * 60);
    house.ask(ROOT, "DELETE", "keys/a", "").error(500);
    is_untouched();
    *house.clock.lock().unwrap() += Duration::from_secs(60 * 60);
    allow(false);
    let said = house.ask(ROOT, "DELETE", "keys/a", "").error(400);
    assert_eq!(said, "deletion is not allowed for this key");
    is_untouched();
    allow(true);
    house.ask(ROOT, "DELETE", "keys/a", "").expect(204);
    let log = house.store.audit_log(&root, 1, 1000).unwrap();
    let deletions = log
        .iter()
        .filter(|entry| entry.deed == Some(pq_keystore::audit::Deed::Delete));
    assert_eq!(deletions.count(), 1);
}

/// Of two that delete a key at once, none is refused; a key of many versions goes in several changes.
#[test]
fn a_key_is_deleted_by_two_at_once() {
    let house = House::new();
    for (name, versions) in [("a", 3), ("b", 230)] {
        house.create(name, "ed25519");
        for _ in 1..versions {
            house.post(&format!("keys/{name}/rotate"), "").expect(200);
        }
        house
            .post(
                &format!("keys/{name}/config"),
                r#"{"deletion_allowed": true}"#,
            )
            .expect(204);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    house
                        .ask(ROOT, "DELETE", &format!("keys/{name}"), "")
                        .expect(204);
                });
            }
        });
        house.get(&format!("keys/{name}")).expect(404);
    }
    let checked = house.store.check(&crate::kit::principal("root"), &[]);
    assert!(checked.unwrap().damaged.is_empty());
}

#[test]
fn listed_in_pages() {
    let house = House::new();
    assert_eq!(
        house.ask(ROOT, "LIST", "keys", "").expect(404),
        json!({"errors": []})
    );
    let algorithm = AnyAlgorithm::named("Ed25519").unwrap();
    let root = crate::kit::principal("root");
    for purpose in ["signing", "tokens", "zebras"] {
        for number in 0..12 {
            let name = format!("shop/{purpose}/k{number:02}").parse().unwrap();
            let policy = pq_keystore::policy::Policy::default();
            house
                .store
                .create_key(&root, &name, algorithm, &policy)
                .unwrap();
        }
    }
    let names = |answer: Value| -> Vec<String> {
        serde_json::from_value(answer["data"]["keys"].clone()).unwrap()
    };
    let all: Vec<_> = (0..12).map(|number| format!("k{number:02}")).collect();
    assert_eq!(names(house.ask(ROOT, "LIST", "keys", "").expect(200)), all);
    assert_eq!(names(house.get("keys?list=true").expect(200)), all);
    assert_eq!(names(house.get("keys/?list=true").expect(200)), all);
    let page = house.get("keys?list=true&limit=5&after=k03").expect(200);
    assert_eq!(names(page), all[4..9]);
    house.get("keys?list=true&limit=10001").error(400);
    house.get("keys?list=true&after=K").error(400);
    house.get("keys").error(405);
}

#[test]
fn damaged_keys_are_said_beside_the_list() {
    let storage = Arc::new(MemoryStorage::new());
    let house = House::in_storage(&storage, &[]);
    for name in ["a", "b", "deleted"] {
        house.create(name, "ed25519");
    }
    let root = crate::kit::principal("root");
    let other = "shop/others/c".parse().unwrap();
    let algorithm = AnyAlgorithm::named("Ed25519").unwrap();
    let policy = pq_keystore::policy::Policy::default();
    let made = house.store.create_key(&root, &other, algorithm, &policy);
    made.unwrap();
    house
        .post("keys/deleted/config", r#"{"deletion_allowed": true}"#)
        .expect(204);
    house.ask(ROOT, "DELETE", "keys/deleted", "").expect(204);
    let list = || house.ask(ROOT, "LIST", "keys", "");
    let listed = list().expect(200);
    assert_eq!(listed["data"]["keys"], json!(["a", "b"]));
    assert_eq!(listed["warnings"], Value::Null);

    let version = "version/shop/tokens/deleted#0000000001";
    damage(&storage, &[version, "key/shop/others/c"]);
    let listed = list().expect(200);
    assert_eq!(listed["data"]["keys"], json!(["a", "b"]));
    assert_eq!(listed["warnings"], Value::Null);

    damage(&storage, &["key/shop/tokens/a"]);
    let listed = list().expect(200);
    assert_eq!(listed["data"]["keys"], json!(["b"]));
    let warning = "key a is damaged, and not listed";
    assert_eq!(listed["warnings"], json!([warning]));
    let answer = house.door.answer(&Request {
        method: "LIST",
        path: "/v1/transit/keys",
        vault_token: Some(ROOT),
        ..Default::default()
    });
    let problem = answer.problem.unwrap();
    assert!(
        problem.contains("key/shop/tokens/a is damaged"),
        "{problem}"
    );

    damage(&storage, &["key/shop/tokens/b", "key/shop/tokens/deleted"]);
    let refused = list().expect(500);
    assert_eq!(refused["errors"].as_array().unwrap().len(), 3, "{refused}");
}

/// Whoever has no right doesn't learn that there is a damaged key; whoever has one does.
#[test]
fn what_is_wrong_with_a_key_is_told_to_those_who_may_use_it() {
    let storage = Arc::new(MemoryStorage::new());
    let none = Verbs::NONE;
    let house = House::in_storage(
        &storage,
        &[("granted", none), ("auditor", Role::Auditor.verbs())],
    );
    house.create("a", "ed25519");
    let (root, name) = (
        crate::kit::principal("root"),
        "shop/tokens/a".parse().unwrap(),
    );
    let mut policy = house.store.show(&root, &name).unwrap().policy;
    policy.grants = policy
        .grants
        .grant(&crate::kit::principal("granted"), Role::Public.verbs());
    house.store.set_policy(&root, &name, &policy).unwrap();
    damage(&storage, &["key/shop/tokens/a"]);
    let body = r#"{"input": "aGVsbG8="}"#;
    for (token, status) in [
        (ROOT, 500),
        (STRANGER, 403),
        ("granted-token", 500),
        ("auditor-token", 500),
    ] {
        let said = house.ask(token, "POST", "sign/a", body).error(status);
        // Where it stands is for the operator.
        assert!(!said.contains("shop/"), "{said}");
        house.ask(token, "GET", "keys/a", "").error(status);
        house.ask(token, "POST", "keys/a/rotate", "").error(status);
    }
    // As with a key that there never was.
    house.ask(STRANGER, "POST", "sign/b", body).error(403);
}

/// More than one page of the store has.
#[test]
fn many_keys_are_listed() {
    let house = House::new();
    let root = crate::kit::principal("root");
    let algorithm = AnyAlgorithm::named("Ed25519").unwrap();
    let names: Vec<_> = (0..130).map(|number| format!("k{number:03}")).collect();
    for name in &names {
        let name = format!("shop/tokens/{name}").parse().unwrap();
        let policy = pq_keystore::policy::Policy::default();
        let made = house.store.create_key(&root, &name, algorithm, &policy);
        made.unwrap();
    }
    let listed = house.ask(ROOT, "LIST", "keys", "").expect(200);
    assert_eq!(listed["data"]["keys"], json!(names));
    let page = house.get("keys?list=true&limit=110&after=k010").expect(200);
    assert_eq!(page["data"]["keys"], json!(names[11..121]));
}

/// A key is deleted if none of its versions is of use, and not before.
#[test]
fn a_key_with_one_version_left_is_there() {
    let house = House::new();
    let root = crate::kit::principal("root");
    let day = Duration::from_secs(24 * 60 * 60);
    for gone in [[1, 2], [3, 2]] {
        let name = format!("without-{}", gone[0]);
        house.create(&name, "ed25519");
        for _ in 0..2 {
            house.post(&format!("keys/{name}/rotate"), "").expect(200);
        }
        for number in gone {
            let id = format!("shop/tokens/{name}#{number}").parse().unwrap();
            house.store.disable(&root, &id).unwrap();
            house.store.schedule_destruction(&root, &id, day).unwrap();
            *house.clock.lock().unwrap() += day;
            house.store.destroy(&root, &id).unwrap();
        }
        let listed = house.ask(ROOT, "LIST", "keys", "").expect(200);
        let listed = listed["data"]["keys"].as_array().unwrap().clone();
        assert!(listed.contains(&json!(name)), "{listed:?}");
        let shown = house.get(&format!("keys/{name}")).expect(200);
        assert_eq!(shown["data"]["keys"].as_object().unwrap().len(), 3);
        assert!(house.verifies(&name, &house.signature(&name)));
        let again = r#"{"type": "ed25519", "exportable": true}"#;
        house.post(&format!("keys/{name}"), again).expect(200);
    }
}

/// What a request says of a period counts for new keys, and no period is taken for another.
#[test]
fn periods() {
    let house = House::new();
    for (number, (period, seconds)) in [
        (json!("1h30m"), 5_400),
        (json!("2d1s"), 172_801),
        (json!(3_600), 3_600),
        (json!("3600"), 3_600),
        (json!("1.5h"), 5_400),
        (json!("1.25h30.5m30s"), 6_360),
        (json!("1.h.5h"), 5_400),
        (json!(0), 0),
    ]
    .into_iter()
    .enumerate()
    {
        let body = json!({"type": "ed25519", "auto_rotate_period": period}).to_string();
        house.post(&format!("keys/k{number}"), &body).expect(200);
        let shown = house.get(&format!("keys/k{number}")).expect(200);
        assert_eq!(shown["data"]["auto_rotate_period"], seconds, "{period}");
    }
    for period in [
        json!("59m"),
        json!(3_599),
        json!(-3_600),
        json!(""),
        json!("h"),
        json!("0.5h"),
        json!("1.5"),
        json!(".h"),
        json!("1..5h"),
        json!("-2h"),
        json!("+2h"),
        json!("2h "),
        json!("2h30"),
        // 2⁶⁴ seconds, and 7,184 more
        json!("5124095576030433h"),
        json!("18446744073709551615s7200s"),
        json!("18446744073709551616"),
    ] {
        let body = json!({"type": "ed25519", "auto_rotate_period": period}).to_string();
        house.post("keys/none", &body).error(400);
        let body = json!({"auto_rotate_period": period}).to_string();
        house.post("keys/k0/config", &body).error(400);
    }
    assert_eq!(house.get("keys/none").status, 404);
}

/// More versions than one answer has are exported one by one.
#[test]
fn exports_are_bounded() {
    let house = House::new();
    house.create("a", "ed25519");
    let rotate = |times: usize| {
        let root = crate::kit::principal("root");
        let name = "shop/tokens/a".parse().unwrap();
        for _ in 0..times {
            house.store.rotate(&root, &name).unwrap();
        }
    };
    rotate(MAX_BATCH - 1);
    for kind in ["signing-key", "public-key"] {
        let all = house
            .get(&format!("export/{kind}/a?format=der"))
            .expect(200);
        assert_eq!(all["data"]["keys"].as_object().unwrap().len(), MAX_BATCH);
    }
    rotate(1);
    for kind in ["signing-key", "public-key"] {
        house.get(&format!("export/{kind}/a?format=der")).error(400);
        house
            .get(&format!("export/{kind}/a/1?format=der"))
            .expect(200);
    }
}

/// New keys have the policy that the door was given, but for what requests say.
#[test]
fn new_keys_have_the_policy_of_the_door() {
    let house = House::new();
    let mut template = pq_keystore::policy::Policy::default();
    template.max_message = 5;
    template.destroy_after = Duration::from_secs(7);
    let access = format!(
        "[[tokens]]\nsha256 = {:?}\nprincipal = \"root\"\n",
        AccessList::digest(ROOT.as_bytes())
    );
    let door = Door::new(house.store.clone(), AccessList::from_toml(&access).unwrap())
        .mount("transit", "shop", "tokens")
        .unwrap()
        .new_keys(template.clone());
    for exportable in [false, true] {
        let name = format!("a-{exportable}");
        let body = json!({"type": "ed25519", "exportable": exportable}).to_string();
        let answer = door.answer(&Request {
            method: "POST",
            path: &format!("/v1/transit/keys/{name}"),
            vault_token: Some(ROOT),
            body: body.as_bytes(),
            ..Request::default()
        });
        assert_eq!(answer.status, 200);
        let root = crate::kit::principal("root");
        let name = format!("shop/tokens/{name}").parse().unwrap();
        template.exportable = exportable;
        assert_eq!(house.store.show(&root, &name).unwrap().policy, template);
    }
}
