//! Keys that were made elsewhere come in, wrapped under a key of the store.

use core::time::Duration;
use std::thread;

use aes_kw::{KeyInit, KwpAes256};
use base64ct::{Base64, Encoding};
use pq_keys::SubjectKey;
use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnyPublicKey, Readable};
use pq_keystore::policy::Verb;
use pq_keystore::storage::{Change, Expected, MemoryStorage, RowChange, RowKey, Storage, Write};
use rsa::PublicKey as RsaKey;
use rsa::pkcs8::DecodePublicKey;
use serde_json::json;
use sha2::Sha256;

use crate::kit::{House, ROOT, STRANGER, grants};

const AES_KEY: [u8; 32] = *b"an AES key of 256 bits, at rando";

pub(super) fn wrapping_key(house: &House) -> RsaKey {
    let answer = house.get("wrapping_key").expect(200);
    let pem = answer["data"]["public_key"].as_str().unwrap();
    RsaKey::from_public_key_pem(pem).unwrap()
}

/// Wraps as Vault's guide says, in Go and with HSMs.
pub(super) fn wrap(key: &RsaKey, text: &[u8]) -> Vec<u8> {
    let mut wrapped = key.oaep_encrypt::<Sha256>(&AES_KEY).unwrap();
    let mut sealed = vec![0; text.len().next_multiple_of(8) + 8];
    let cipher = KwpAes256::new(&AES_KEY.into());
    wrapped.extend(cipher.wrap_key(text, &mut sealed).unwrap());
    wrapped
}

fn generated(algorithm: &str) -> AnyPrivateKey {
    AnyPrivateKey::generate(AnyAlgorithm::named(algorithm).unwrap()).unwrap()
}

/// A new private key, as it is imported.
pub(crate) fn wrapped(house: &House, algorithm: &str) -> String {
    let made = generated(algorithm).to_pkcs8_der().unwrap();
    Base64::encode_string(&wrap(&wrapping_key(house), &made))
}

fn public_of(house: &House, name: &str, version: u32) -> AnyPublicKey {
    let path = format!("export/public-key/{name}/{version}?format=der");
    let answer = house.get(&path).expect(200);
    let der = answer["data"]["keys"][version.to_string()]
        .as_str()
        .unwrap();
    AnyPublicKey::from_spki_der(&Base64::decode_vec(der).unwrap()).unwrap()
}

#[test]
fn keys_of_each_kind_come_in() {
    let house = House::new();
    let key = wrapping_key(&house);
    for (name, algorithm, key_type) in [
        (
            "ml-dsa",
            "ML-DSA-44",
            json!({"type": "ml-dsa", "parameter_set": "44"}),
        ),
        ("mldsa", "ML-DSA-65", json!({"type": "mldsa-65"})),
        (
            "ml-kem",
            "ML-KEM-768",
            json!({"type": "ml-kem", "parameter_set": "768"}),
        ),
        (
            "ed25519",
            "Ed25519",
            json!({"type": "ed25519", "hash_function": "sha256"}),
        ),
        (
            "ecdsa",
            "ECDSA-P256",
            json!({"type": "ecdsa-p256", "allow_rotation": true}),
        ),
        ("rsa", "RSA-2048", json!({"type": "rsa-2048"})),
    ] {
        let [first, second] = [(); 2].map(|()| generated(algorithm));
        let wrapped = |made: &AnyPrivateKey| {
            Base64::encode_string(&wrap(&key, &made.to_pkcs8_der().unwrap()))
        };
        let mut body = key_type.clone();
        body["ciphertext"] = wrapped(&first).into();
        body["exportable"] = true.into();
        let path = format!("keys/{name}/import");
        house.post(&path, &body.to_string()).expect(204);
        let said = house.post(&path, &body.to_string()).error(400);
        assert!(said.contains("already"), "{said}");
        let version = json!({"ciphertext": wrapped(&second)}).to_string();
        house
            .post(&format!("keys/{name}/import_version"), &version)
            .expect(204);
        assert_eq!(public_of(&house, name, 1).to_spki_der(), &*first.spki());
        assert_eq!(public_of(&house, name, 2).to_spki_der(), &*second.spki());
        let shown = house.get(&format!("keys/{name}")).expect(200);
        assert_eq!(shown["data"]["imported_key"], true);
        if algorithm != "ML-KEM-768" {
            // Keys of RSA sign only in a way that is named.
            if algorithm != "RSA-2048" {
                let signature = house.signature(name);
                assert!(signature.starts_with("vault:v2:") && house.verifies(name, &signature));
            }
            let exported = house.get(&format!("export/signing-key/{name}/1?format=der"));
            let der = exported.expect(200)["data"]["keys"]["1"]
                .as_str()
                .unwrap()
                .to_owned();
            let exported = AnyPrivateKey::from_der(&Base64::decode_vec(&der).unwrap()).unwrap();
            assert_eq!(exported.spki(), first.spki());
        }
        // A version is of the key's algorithm.
        let other = json!({"ciphertext": wrapped(&generated("ML-DSA-87"))}).to_string();
        let said = house
            .post(&format!("keys/{name}/import_version"), &other)
            .error(400);
        assert!(said.contains("another algorithm"), "{said}");
        // The name of what was deleted stays that of its versions.
        let again = body.to_string();
        let import = || {
            house
                .post(&format!("keys/{name}/import"), &again)
                .error(400)
        };
        assert!(import().contains("exists already"));
        house
            .post(
                &format!("keys/{name}/config"),
                r#"{"deletion_allowed": true}"#,
            )
            .expect(204);
        *house.clock.lock().unwrap() += Duration::from_secs(1);
        house
            .ask(ROOT, "DELETE", &format!("keys/{name}"), "")
            .expect(204);
        assert!(import().contains("its name is not used again"));
    }
}

/// Whatever is wrong with a wrapped key, the answer is the same.
#[test]
fn changed_keys_are_refused() {
    let house = House::new();
    let key = wrapping_key(&house);
    let text = generated("Ed25519").to_pkcs8_der().unwrap();
    let wrapped = wrap(&key, &text);
    let import = |name: &str, wrapped: &[u8]| {
        let ciphertext = Base64::encode_string(wrapped);
        let body = json!({"type": "ed25519", "ciphertext": ciphertext}).to_string();
        house.post(&format!("keys/{name}/import"), &body)
    };
    let refused = import("a", b"").error(400);
    assert!(refused.contains("RSA-OAEP"), "{refused}");
    let bits = (0..8 * wrapped.len()).filter(|bit| bit % 401 == 0 || *bit >= 8 * wrapped.len() - 4);
    for bit in bits {
        let mut changed = wrapped.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(import("a", &changed).error(400), refused, "{bit}");
    }
    let longer = [&wrapped[..], &[0; 8]].concat();
    let much_longer = [&wrapped[..512], &[0; 16 * 1024 + 8]].concat();
    for changed in [
        &wrapped[..511],
        &wrapped[..512],
        &wrapped[..519],
        &wrapped[..520],
        &longer,
        &much_longer,
    ] {
        assert_eq!(import("a", changed).error(400), refused);
    }
    // Under another key, and an AES key of another length.
    let other = wrapping_key(&House::new());
    assert_eq!(import("a", &wrap(&other, &text)).error(400), refused);
    let mut short = key.oaep_encrypt::<Sha256>(&AES_KEY[..16]).unwrap();
    short.extend_from_slice(&wrapped[512..]);
    assert_eq!(import("a", &short).error(400), refused);
    // What is wrapped is no private key, or one of another type.
    let said = import("a", &wrap(&key, b"no key")).error(400);
    assert_ne!(said, refused);
    let said = import(
        "a",
        &wrap(&key, &generated("ML-DSA-44").to_pkcs8_der().unwrap()),
    )
    .error(400);
    assert_eq!(said, "the key is of type ml-dsa, parameter_set 44");
    assert_eq!(house.get("keys/a").status, 404);
    import("a", &wrapped).expect(204);
}

#[test]
fn bodies_that_are_not_understood() {
    let house = House::new();
    // Nobody has asked for the key, so nothing is wrapped under it.
    let body = json!({"type": "ed25519", "ciphertext": "AAAA"}).to_string();
    assert!(
        house
            .post("keys/a/import", &body)
            .error(400)
            .contains("RSA-OAEP")
    );
    for (body, says) in [
        (json!({"ciphertext": ""}), "type"),
        (json!({"type": "ed25519"}), "ciphertext is needed"),
        (json!({"type": "ed25519", "ciphertext": "a"}), "base64"),
        (
            json!({"type": "none", "ciphertext": ""}),
            "unknown key type",
        ),
        (
            json!({"type": "ed25519", "ciphertext": "", "hash_function": "SHA1"}),
            "SHA256",
        ),
        (json!({"type": "ed25519", "public_key": "x"}), "public_key"),
        (json!({"type": "ed25519", "derived": true}), "derived"),
        (json!({"type": "ed25519", "context": "AA=="}), "context"),
        (
            json!({"type": "ed25519", "allow_rotation": false}),
            "allow_rotation",
        ),
        (
            json!({"type": "ed25519", "allow_plaintext_backup": true}),
            "allow_plaintext_backup",
        ),
        (
            json!({"type": "ed25519", "ciphertext": "", "auto_rotate_period": "1m"}),
            "hour",
        ),
        (json!({"type": "ed25519", "more": 1}), "unknown field"),
        (json!([]), "object"),
    ] {
        let said = house.post("keys/a/import", &body.to_string()).error(400);
        assert!(said.contains(says), "{body}: {said}");
    }
    house.create("a", "ed25519");
    for (body, says) in [
        (json!({}), "ciphertext is needed"),
        (json!({"ciphertext": "", "version": 1}), "version"),
        (
            json!({"ciphertext": "", "type": "ed25519"}),
            "unknown field",
        ),
    ] {
        let said = house
            .post("keys/a/import_version", &body.to_string())
            .error(400);
        assert!(said.contains(says), "{body}: {said}");
    }
    for (method, path) in [
        ("POST", "wrapping_key"),
        ("GET", "keys/a/import"),
        ("DELETE", "wrapping_key"),
        ("LIST", "keys/a/import"),
    ] {
        assert_eq!(
            house.ask(ROOT, method, path, "").status,
            405,
            "{method} {path}"
        );
    }
    assert_eq!(house.get("wrapping_key/a").status, 404);
}

/// Who may import gets the wrapping key, which is one for all servers of a store, and stays; it is sealed.
#[test]
fn there_is_one_wrapping_key() {
    let [first, second] = House::two();
    let [one, other] = thread::scope(|scope| {
        [&first, &second]
            .map(|house| scope.spawn(|| wrapping_key(house)))
            .map(|thread| thread.join().unwrap())
    });
    assert!(one == other && one == wrapping_key(&first));

    let all_but = |verb| {
        Verb::ALL
            .iter()
            .copied()
            .filter(move |other| *other != verb)
            .collect()
    };
    let house = House::with(&[
        ("importer", grants(&[Verb::Import])),
        ("others", all_but(Verb::Import)),
    ]);
    for token in [STRANGER, "others-token", "unknown"] {
        for (method, path) in [
            ("GET", "wrapping_key"),
            ("POST", "keys/a/import"),
            ("POST", "keys/a/import_version"),
        ] {
            let answer = house.ask(token, method, path, "{not JSON");
            assert_eq!(answer.error(403), "permission denied", "{token} {path}");
        }
    }
    house
        .ask("importer-token", "GET", "wrapping_key", "")
        .expect(200);
    let key = wrapping_key(&house);
    let made = generated("Ed25519").to_pkcs8_der().unwrap();
    let ciphertext = Base64::encode_string(&wrap(&key, &made));
    let body = json!({"type": "ed25519", "ciphertext": ciphertext}).to_string();
    house
        .ask("importer-token", "POST", "keys/a/import", &body)
        .expect(204);
    let body = json!({"ciphertext": ciphertext}).to_string();
    house
        .ask("importer-token", "POST", "keys/a/import_version", &body)
        .expect(204);
    let said = house
        .ask("importer-token", "POST", "keys/b/import_version", &body)
        .error(400);
    assert!(said.contains("no existing key named b"), "{said}");
    *house.clock.lock().unwrap() += Duration::from_secs(1);
    assert!(wrapping_key(&house) == key);
}

/// What a request says of a period counts for imported keys, too; and a wrapping key that was changed is told of.
#[test]
fn periods_and_damage() {
    let storage = alloc::sync::Arc::new(MemoryStorage::new());
    let house = House::in_storage(&storage, &[]);
    let made = generated("Ed25519").to_pkcs8_der().unwrap();
    let ciphertext = Base64::encode_string(&wrap(&wrapping_key(&house), &made));
    let body = json!({"type": "ed25519", "ciphertext": ciphertext, "auto_rotate_period": "2h"});
    house.post("keys/a/import", &body.to_string()).expect(204);
    let shown = house.get("keys/a").expect(200);
    assert_eq!(shown["data"]["auto_rotate_period"], 7_200);

    let root = crate::kit::principal("root");
    let damaged = || house.store.check(&root, &[]).unwrap().damaged;
    assert!(damaged().is_empty());
    let row = RowKey::wrapping();
    let found = storage
        .get(core::slice::from_ref(&row))
        .unwrap()
        .rows
        .remove(0)
        .unwrap();
    let mut value = found.value.clone();
    value[20] ^= 1;
    let change = Change {
        rows: vec![RowChange {
            key: row,
            expected: Expected::unchanged(Some(&found)),
            write: Write::Put(value),
        }],
        append: None,
    };
    storage.commit(&change).unwrap();
    let damaged = damaged();
    assert_eq!(damaged.len(), 1, "{damaged:?}");
    assert!(damaged[0].to_string().contains("wrapping"), "{damaged:?}");
    house.get("wrapping_key").error(500);
}
