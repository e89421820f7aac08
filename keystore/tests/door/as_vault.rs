//! What Vault does where a client could notice it: forms of values that it takes, and what it says of keys.

use pq_keystore::policy::Verb;
use serde_json::{Value, json};

use crate::importing::wrapped;
use crate::kit::{House, ROOT, grants};

/// Go's base64 skips line breaks, which `base64 FILE` makes.
#[test]
fn base64_may_have_line_breaks() {
    let house = House::new();
    house.create("a", "mldsa-44");
    house.create("kem", "mlkem-768");
    let valid = |body: Value| {
        let verified = house.post("verify/a", &body.to_string()).expect(200);
        assert_eq!(verified["data"]["valid"], true, "{body}");
    };
    let context = "Yy4=";
    let sign = json!({"input": "\r\naGVs\r\nbG8=\r\n", "signature_context": "Yy\n4=\n"});
    let signed = house.post("sign/a", &sign.to_string()).expect(200);
    let signature = signed["data"]["signature"].as_str().unwrap();
    valid(json!({"input": "aGVsbG8=", "signature_context": context, "signature": signature}));
    let (prefix, base64) = signature.split_at("vault:v1:".len());
    let lines: Vec<_> = base64.as_bytes().chunks(76).collect();
    let broken = format!(
        "{prefix}{}\n",
        String::from_utf8(lines.join(&b'\n')).unwrap()
    );
    valid(json!({"input": "aGVsbG8=\n", "signature_context": context, "signature": broken}));

    let body = json!({"plaintext": "aGVsbG8\n=", "associated_data": "YWQ=\n"});
    let made = house.post("encrypt/kem", &body.to_string()).expect(200);
    let ciphertext = made["data"]["ciphertext"].as_str().unwrap();
    let (begin, end) = ciphertext.split_at(100);
    let body = json!({"ciphertext": format!("{begin}\r\n{end}\n"), "associated_data": "YWQ="});
    let opened = house.post("decrypt/kem", &body.to_string()).expect(200);
    assert_eq!(opened["data"]["plaintext"], "aGVsbG8=");

    // Nothing else is skipped, and nothing outside of base64.
    for input in ["aGVs bG8=", "aGVs\tbG8=", "aGVsbG8\n", " aGVsbG8="] {
        let body = json!({"input": input}).to_string();
        house.post("sign/a", &body).error(400);
    }
    for signature in [
        format!("\n{signature}"),
        signature.replacen(':', ":\n", 1),
        signature.replacen("v1", "v1\n", 1),
    ] {
        let body = json!({"input": "aGVsbG8=", "signature": signature}).to_string();
        house.post("verify/a", &body).error(400);
    }
}

/// What may not be used to verify any more is neither shown nor given.
#[test]
fn versions_below_the_minimum_are_not_there() {
    let house = House::new();
    house.create("a", "ed25519");
    for _ in 0..2 {
        house.post("keys/a/rotate", "").expect(200);
    }
    let numbers = |path: &str| -> Vec<String> {
        let answer = house.get(path).expect(200);
        let keys = answer["data"]["keys"].as_object().unwrap();
        keys.keys().cloned().collect()
    };
    let minimum = |version: u32| {
        let body = json!({"min_decryption_version": version}).to_string();
        house.post("keys/a/config", &body).expect(204);
    };
    let lists = ["keys/a", "export/public-key/a", "export/signing-key/a"];
    minimum(2);
    for path in lists {
        assert_eq!(numbers(path), ["2", "3"], "{path}");
    }
    for kind in ["public-key", "signing-key"] {
        for version in ["1", "v1"] {
            let path = format!("export/{kind}/a/{version}");
            assert_eq!(
                house.get(&path).error(400),
                "version for export is below minimum decryption version"
            );
        }
        for version in ["2", "v2"] {
            assert_eq!(numbers(&format!("export/{kind}/a/{version}")), ["2"]);
        }
        for version in ["vv2", "v", "v02", "4"] {
            house.get(&format!("export/{kind}/a/{version}")).error(400);
        }
    }
    minimum(1);
    for path in lists {
        assert_eq!(numbers(path), ["1", "2", "3"], "{path}");
    }
}

#[test]
fn only_keys_that_were_imported_get_further_versions_so() {
    let house = House::with(&[("importer", grants(&[Verb::Import]))]);
    let ciphertext = wrapped(&house, "Ed25519");
    let import_version = |name: &str| {
        let body = json!({"ciphertext": ciphertext}).to_string();
        let path = format!("keys/{name}/import_version");
        house.ask("importer-token", "POST", &path, &body)
    };
    house.create("made", "ed25519");
    assert_eq!(
        import_version("made").error(400),
        "the import_version endpoint can only be used with an imported key"
    );
    assert_eq!(
        house.get("keys/made").expect(200)["data"]["latest_version"],
        1
    );
    let body = json!({"type": "ed25519", "ciphertext": ciphertext}).to_string();
    house.post("keys/brought/import", &body).expect(204);
    house.post("keys/brought/rotate", "").expect(200);
    import_version("brought").expect(204);
    let shown = house.get("keys/brought").expect(200);
    assert_eq!(shown["data"]["latest_version"], 3);
    assert_eq!(shown["data"]["imported_key_allow_rotation"], true);
    let made = house.get("keys/made").expect(200);
    assert_eq!(made["data"].get("imported_key_allow_rotation"), None);
}

#[test]
fn who_makes_a_key_that_is_there_is_told_of_it() {
    let house = House::with(&[("maker", grants(&[Verb::Create]))]);
    let body = r#"{"type": "ed25519"}"#;
    house.post("keys/a", body).expect(200);
    let again = house.post("keys/a", body).expect(200);
    assert_eq!(again["warnings"], json!(["key a already existed"]));
    assert_eq!(again["data"], house.get("keys/a").expect(200)["data"]);
    house.post("keys/a", r#"{"type": "mldsa-44"}"#).error(400);
    let refused = house.ask("maker-token", "POST", "keys/a", body);
    assert_eq!(refused.error(400), "key a exists already");
}

/// As Go's `strconv.ParseBool` reads them, and the empty text.
#[test]
fn flags_are_read_as_vault_reads_them() {
    let house = House::new();
    let mut number = 0;
    let mut exportable = |flag: &Value| {
        number += 1;
        let path = format!("keys/k{number}");
        let body = json!({"type": "ed25519", "exportable": flag}).to_string();
        house.post(&path, &body).expect(200);
        house.get(&path).expect(200)["data"]["exportable"]
            .as_bool()
            .unwrap()
    };
    for flag in ["1", "t", "T", "true", "True", "TRUE"] {
        assert!(exportable(&json!(flag)), "{flag}");
    }
    for flag in ["0", "f", "F", "false", "False", "FALSE", ""] {
        assert!(!exportable(&json!(flag)), "{flag}");
    }
    assert!(exportable(&json!(1)) && exportable(&json!(true)));
    assert!(!exportable(&json!(0)) && !exportable(&json!(false)));
    for flag in [json!("yes"), json!("tRUE"), json!(2), json!(-1), json!([])] {
        let body = json!({"type": "ed25519", "exportable": flag}).to_string();
        house.post("keys/none", &body).error(400);
    }
    for (list, status) in [("1", 200), ("True", 200), ("0", 405), ("", 405)] {
        let answer = house.get(&format!("keys?list={list}"));
        assert_eq!(answer.status, status, "{list}");
    }
}

#[test]
fn answers_are_named_as_vault_names_them() {
    let house = House::new();
    for (key_type, name) in [
        ("ecdsa-p256", "P-256"),
        ("ecdsa-p384", "P-384"),
        ("ed25519", "ed25519"),
        ("rsa-2048", "rsa-2048"),
        ("mldsa-44", "ML-DSA-44"),
    ] {
        house.create(key_type, key_type);
        let shown = house.get(&format!("keys/{key_type}")).expect(200);
        assert_eq!(shown["data"]["keys"]["1"]["name"], name);
    }
    let all = house.ask(ROOT, "LIST", "keys", "").expect(200);
    for limit in [0, -1] {
        let answer = house.get(&format!("keys?list=true&limit={limit}"));
        assert_eq!(answer.expect(200)["data"], all["data"]);
    }
    house.get("keys?list=true&limit=x").error(400);
    house.get("keys/ed25519?context=YQ==").error(400);
    let told = house.send(&pq_keystore::door::Request {
        method: "GET",
        path: "/v1/auth/token/lookup-self",
        vault_token: Some(ROOT),
        ..pq_keystore::door::Request::default()
    });
    assert_eq!(told.expect(200)["mount_type"], "token");
    assert_eq!(all["mount_type"], "transit");
}
