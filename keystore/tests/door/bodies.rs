//! Paths, methods and bodies that are not answered, and those at their limits.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;

use pq_keystore::door::{AccessList, Door, InvalidAccessList, MAX_BATCH, Request};
use pq_keystore::policy::Verb;
use serde_json::{Value, json};

use crate::kit::{CERTIFICATE, House, NOW, ROOT, principal};

#[test]
fn unknown_paths_and_methods() {
    let house = House::new();
    house.create("a", "ed25519");
    for path in [
        "",
        "key/a",
        "keys/a/b",
        "keys/a/config/x",
        "sign",
        "sign/a/b/c",
        "export/a",
        "random",
        "hmac/a",
        "keys/a/import/b",
        "wrapping_key/a",
        "backup/a",
    ] {
        for method in ["GET", "POST", "LIST", "DELETE"] {
            house.ask(ROOT, method, path, "{}").error(404);
        }
    }
    for path in [
        "/",
        "/v1",
        "/v1/",
        "/v1/other/keys/a",
        "/v2/transit/keys/a",
        "/v1/sys/seal",
        "/v1/transit",
    ] {
        let answer = house.send(&Request {
            method: "GET",
            path,
            vault_token: Some(ROOT),
            ..Request::default()
        });
        answer.error(404);
    }
    for (method, path) in [
        ("GET", "sign/a"),
        ("DELETE", "keys/a/rotate"),
        ("LIST", "keys/a"),
        ("POST", "keys"),
        ("POST", "export/signing-key/a"),
        ("PATCH", "keys/a"),
        ("get", "keys/a"),
    ] {
        house.ask(ROOT, method, path, "{}").error(405);
    }
    for name in ["A", "a%20b", "-a", "a b", "..", &"a".repeat(65)] {
        house.get(&format!("keys/{name}")).error(400);
    }
}

/// Vault's client for Go sends `null` where there is nothing to say.
#[test]
fn no_body() {
    let house = House::new();
    house.create("a", "ed25519");
    for (number, body) in ["", "{}", "null", " null\n"].into_iter().enumerate() {
        house.post("keys/a/rotate", body).expect(200);
        let key = house.get("keys/a").expect(200);
        assert_eq!(key["data"]["latest_version"], number + 2);
    }
}

/// No body that isn't as it should be does anything.
#[test]
fn bad_bodies() {
    let house = House::new();
    house.create("a", "ed25519");
    for body in [
        "{",
        "[]",
        "null",
        "1",
        "{}x",
        "\u{feff}{}",
        r#"{"input": "aGVsbG8=", "input": "aGVsbG8="}"#,
        r#"{"input": "aGVsbG8=", "unknown": 1}"#,
        r#"{"input": "aGVsbG8"}"#,
        r#"{"input": "aGVsbG8= "}"#,
        r#"{"input": "aGVs-G8="}"#,
        r#"{"input": 5}"#,
        r#"{"input": ["aGVsbG8="]}"#,
        r#"{"input": "aGVsbG8=", "key_version": -1}"#,
        r#"{"input": "aGVsbG8=", "key_version": 1.5}"#,
        r#"{"input": "aGVsbG8=", "key_version": "1 "}"#,
        r#"{"input": "aGVsbG8=", "key_version": "+1"}"#,
        r#"{"input": "aGVsbG8=", "key_version": ""}"#,
        r#"{"input": "aGVsbG8=", "key_version": 4294967296}"#,
        r#"{"input": "aGVsbG8=", "prehashed": "yes"}"#,
        r#"{"batch_input": {}}"#,
        r#"{"batch_input": [[]]}"#,
        r#"{"batch_input": [{"input": "aGVsbG8=", "key_version": 1}]}"#,
        "",
        "{}",
    ] {
        let error = house.post("sign/a", body).error(400);
        assert!(error.len() < 400, "{error}");
    }
    let deep = "[".repeat(100_000);
    for body in [
        &deep,
        &format!(r#"{{"input": {deep}"#),
        &format!(r#"{{"x": {deep}"#),
    ] {
        house.post("sign/a", body).error(400);
    }
    house
        .post(
            "sign/a",
            r#"{"input": "aGVsbG8=", "key_version": "1", "prehashed": "false"}"#,
        )
        .expect(200);
    house
        .post("sign/a", r#"{"input": "aGVs\u0062G8="}"#)
        .expect(200);
}

/// However long a value is, an error repeats little of it, so that it costs no more than the value.
#[test]
fn errors_are_short() {
    let house = House::new();
    house.create("a", "mldsa-44");
    house.create("kem", "mlkem-768");
    // It is written as eight characters where an error quotes it.
    let long = "\u{7f}".repeat(100_000);
    let post = |path: &str, body: &str| {
        let body = body.replace("LONG", &long);
        let error = house.post(path, &body).error(400);
        assert!(error.len() < 1_200, "{path}: {} bytes", error.len());
    };
    for field in ["algorithm", "hash_algorithm"] {
        let rest = r#""input": "aGk=", "signature": "vault:v1:aGk=", "prehashed": true"#;
        for path in ["sign/a", "verify/a"] {
            post(path, &format!(r#"{{{rest}, "{field}": "LONG"}}"#));
        }
    }
    for path in [
        "sign/a",
        "verify/a",
        "encrypt/kem",
        "keys/b",
        "keys/a/config",
        "keys/a/trim",
    ] {
        post(path, r#"{"LONG": 1}"#);
        post(path, r#"{"input": "aGk=", "type": {"LONG": 1}}"#);
    }
    for fields in [
        r#""type": "LONG""#,
        r#""type": "LONG", "parameter_set": "65""#,
        r#""type": "ml-dsa", "parameter_set": "LONG""#,
        r#""type": "ed25519", "parameter_set": "LONG""#,
        r#""type": "ed25519", "auto_rotate_period": "LONG""#,
        r#""type": "ed25519", "exportable": "LONG""#,
    ] {
        post("keys/b", &format!("{{{fields}}}"));
        post(
            "keys/b/import",
            &format!(r#"{{{fields}, "ciphertext": "LONG"}}"#),
        );
    }
    for path in [
        "export/LONG/a",
        "export/public-key/a/LONG",
        "export/public-key/a?format=LONG",
        "export/public-key/LONG",
        "keys/LONG",
    ] {
        let error = house.get(&path.replace("LONG", &long)).error(400);
        assert!(error.len() < 1_200, "{path}: {} bytes", error.len());
    }
    for query in ["limit=LONG", "after=LONG"] {
        let path = format!("keys?list=true&{query}").replace("LONG", &long);
        let error = house.get(&path).error(400);
        assert!(error.len() < 1_200, "{query}: {} bytes", error.len());
    }
}

#[test]
fn limits() {
    let house = House::new();
    house.create("a", "ed25519");
    let batch = |count: usize| {
        let items = vec![r#"{"input":""}"#; count].join(",");
        house.post("sign/a", &format!(r#"{{"batch_input": [{items}]}}"#))
    };
    let results = batch(MAX_BATCH).expect(200);
    assert_eq!(
        results["data"]["batch_results"].as_array().unwrap().len(),
        MAX_BATCH
    );
    batch(MAX_BATCH + 1).error(400);

    let limit = house.door.max_body_len();
    let body = |len: usize| {
        let frame = r#"{"input": ""}"#;
        let text = "A".repeat(len - frame.len());
        format!(r#"{{"input": "{text}"}}"#)
    };
    // The base64 has a multiple of four characters.
    let longest = (limit - 13) / 4 * 4 + 13;
    house.post("sign/a", &body(longest)).expect(200);
    house.post("sign/a", &body(longest + 4)).error(413);
    assert_eq!(Door::too_long().status, 413);
}

#[test]
fn who_is_known() {
    let house = House::new();
    house.create("a", "ed25519");
    let request = Request {
        method: "GET",
        path: "/v1/transit/keys/a",
        ..Request::default()
    };
    let bearer = format!("bearer {ROOT}");
    let (basic, double) = (format!("Basic {ROOT}"), format!("Bearer  {ROOT}"));
    let status = |request: Request<'_>| house.send(&request).status;
    assert_eq!(
        status(Request {
            vault_token: Some(ROOT),
            ..request
        }),
        200
    );
    assert_eq!(
        status(Request {
            authorization: Some(&bearer),
            ..request
        }),
        200
    );
    assert_eq!(
        status(Request {
            certificate: Some(CERTIFICATE),
            ..request
        }),
        200
    );
    for refused in [
        request,
        Request {
            vault_token: Some(""),
            ..request
        },
        Request {
            vault_token: Some(&ROOT[1..]),
            ..request
        },
        Request {
            vault_token: Some(&AccessList::digest(ROOT.as_bytes())),
            ..request
        },
        Request {
            authorization: Some(ROOT),
            ..request
        },
        Request {
            authorization: Some(&basic),
            ..request
        },
        Request {
            authorization: Some(&double),
            ..request
        },
        Request {
            certificate: Some(b"another"),
            ..request
        },
        // A wrong token is not made good by anything.
        Request {
            vault_token: Some("wrong"),
            certificate: Some(CERTIFICATE),
            ..request
        },
        Request {
            vault_token: Some("wrong"),
            authorization: Some(&bearer),
            ..request
        },
    ] {
        assert_eq!(house.send(&refused).error(403), "permission denied");
    }

    let own = Request {
        path: "/v1/auth/token/lookup-self",
        certificate: Some(CERTIFICATE),
        ..request
    };
    let known = house.send(&own).expect(200);
    assert_eq!(known["data"]["display_name"], "root");
    assert_eq!(known["data"]["ttl"], 60);
    *house.clock.lock().unwrap() = Duration::from_secs(NOW + 59);
    house.send(&own).expect(200);
    *house.clock.lock().unwrap() = Duration::from_secs(NOW + 60);
    house.send(&own).error(403);

    house.door.replace_access(AccessList::default());
    assert_eq!(
        status(Request {
            vault_token: Some(ROOT),
            ..request
        }),
        403
    );
    let health = Request {
        path: "/v1/sys/health",
        ..request
    };
    assert_eq!(house.send(&health).expect(200)["sealed"], false);
    house
        .send(&Request {
            method: "POST",
            ..health
        })
        .error(405);
}

#[test]
fn access_lists_are_read_strictly() {
    let digest = AccessList::digest(b"x");
    let entry = |rest: &str| format!("[[tokens]]\nsha256 = {digest:?}\nprincipal = \"a\"\n{rest}");
    AccessList::from_toml("").unwrap();
    AccessList::from_toml(&entry("")).unwrap();
    AccessList::from_toml(&entry("expires = \"2027-01-01T00:00:00Z\"")).unwrap();
    for text in [
        entry("expires = \"2027-01-01\""),
        entry("expires = \"2027-02-30T00:00:00Z\""),
        entry("token = \"x\""),
        entry(&entry("")),
        entry("").replace(&digest, &digest[2..]),
        entry("").replace(&digest, &format!("{digest}00")),
        entry("").replace("\"a\"", "\"*\""),
        entry("").replace("tokens", "token"),
    ] {
        let refused = AccessList::from_toml(&text).unwrap_err();
        assert!(!refused.to_string().contains(&digest), "{refused}");
    }
}

#[test]
fn mounts() {
    let house = House::new();
    let door = || Door::new(house.store.clone(), AccessList::default());
    for path in ["", "sys", "auth", "a/b", "A", &"a".repeat(65)] {
        assert!(door().mount(path, "shop", "tokens").is_err());
    }
    assert!(door().mount("a", "Shop", "tokens").is_err());
    let door = door().mount("a", "shop", "tokens").unwrap();
    assert!(door.mount("a", "shop", "others").is_err());
}

/// What one server changes, the other one sees.
#[test]
fn two_servers_of_one_storage() {
    let [one, other] = House::two();
    one.create("a", "mldsa-44");
    let first = other.signature("a");
    assert!(one.verifies("a", &first));
    other.post("keys/a/rotate", "").expect(200);
    let second = other.signature("a");
    assert!(second.starts_with("vault:v2:"));
    assert!(one.verifies("a", &second) && other.verifies("a", &first));
    one.post("keys/a/config", r#"{"min_decryption_version": 2}"#)
        .expect(204);
    assert_eq!(
        other.get("keys/a").expect(200)["data"]["min_decryption_version"],
        2
    );
    assert!(Arc::strong_count(&one.door) == 1);
}

/// A batch whose client is gone ends with the item that is worked on.
#[test]
fn batches_of_a_client_that_is_gone_end() {
    let house = House::new();
    house.create("a", "ed25519");
    house.create("kem", "ml-kem-768");
    let signature = house.signature("a");
    let encrypted = house.post("encrypt/kem", r#"{"plaintext": "aGVsbG8="}"#);
    let encrypted = encrypted.expect(200)["data"]["ciphertext"].to_string();
    let verify = format!(r#"{{"input": "aGVsbG8=", "signature": {signature:?}}}"#);
    let decrypt = format!(r#"{{"ciphertext": {encrypted}}}"#);
    for (path, begin, item, verb) in [
        ("sign/a", "", r#"{"input": "aGVsbG8="}"#, Verb::Sign),
        (
            "sign/a",
            r#""key_version": 1,"#,
            r#"{"input": "aGVsbG8="}"#,
            Verb::Sign,
        ),
        ("verify/a", "", &verify, Verb::Verify),
        (
            "encrypt/kem",
            "",
            r#"{"plaintext": "aGVsbG8="}"#,
            Verb::Encapsulate,
        ),
        ("decrypt/kem", "", &decrypt, Verb::Decapsulate),
    ] {
        let items = vec![item; MAX_BATCH].join(",");
        let body = format!(r#"{{{begin} "batch_input": [{items}]}}"#);
        let path = format!("/v1/transit/{path}");
        let answer = |is_gone| {
            house.send(&Request {
                method: "POST",
                path: &path,
                vault_token: Some(ROOT),
                body: body.as_bytes(),
                is_gone,
                ..Request::default()
            })
        };
        let before = counted(&house, verb);
        let asked = AtomicUsize::new(0);
        // It goes away when the fifth item, or piece of a few, has begun.
        let is_gone = || asked.fetch_add(1, Ordering::SeqCst) >= 5;
        answer(Some(&is_gone)).error(499);
        let done = counted(&house, verb) - before;
        assert!((1..=80).contains(&done), "{path}: {done}");
        let stays = || false;
        answer(Some(&stays)).expect(200);
        assert_eq!(counted(&house, verb) - before, done + MAX_BATCH as u64);
    }
}

/// How often a verb was used, by the log.
fn counted(house: &House, verb: Verb) -> u64 {
    let log = house.store.audit_log(&principal("root"), 1, 1000).unwrap();
    let of_verb = log.iter().filter(|entry| entry.verb == verb);
    of_verb.map(|entry| entry.count).sum()
}

/// Who asks is known without a body, and so is what everybody gets.
#[test]
fn a_head_says_who_is_there() {
    let house = House::new();
    let admit = |path, token| {
        let admitted = house.door.admit(&Request {
            method: "POST",
            path,
            vault_token: token,
            ..Request::default()
        });
        admitted.map_err(|answer| answer.status)
    };
    let path = "/v1/transit/sign/a";
    assert_eq!(admit(path, Some(ROOT)), Ok(principal("root")));
    assert_eq!(admit(path, Some("unknown")), Err(403));
    assert_eq!(admit(path, None), Err(403));
    assert_eq!(admit("/other", Some(ROOT)), Err(404));
    assert_eq!(admit("/v1/sys/health", None), Err(405));
}

/// Long answers ask for room for all that they have, before anything is done, and are not made without it.
#[test]
fn long_answers_ask_for_room() {
    let house = House::new();
    house.create("a", "slhdsa-sha2-128f");
    house.create("kem", "ml-kem-1024");
    for _ in 0..8 {
        house.post("keys/kem/rotate", "{}").expect(200);
    }
    let batch = |item: &str| format!(r#"{{"batch_input": [{}]}}"#, [item; 8].join(","));
    let text = "aGVs".repeat(2_000);
    let sign = r#"{"input": "aGVsbG8=", "reference": "\"\u0001"}"#;
    let encrypt = format!(r#"{{"plaintext": "{text}"}}"#);
    let encrypted =
        house.post("encrypt/kem", &encrypt).expect(200)["data"]["ciphertext"].to_string();
    let decrypt = format!(r#"{{"ciphertext": {encrypted}}}"#);
    let verify = r#"{"input": "aGVsbG8=", "signature": "vault:v1:aGVsbG8=", "reference": "x"}"#;
    for (method, path, body) in [
        ("POST", "sign/a", r#"{"input": "aGVsbG8="}"#),
        ("POST", "sign/a", &batch(sign)),
        ("POST", "verify/a", &batch(verify)),
        ("POST", "encrypt/kem", &encrypt),
        ("POST", "encrypt/kem", &batch(&encrypt)),
        ("POST", "decrypt/kem", &batch(&decrypt)),
        ("POST", "rewrap/kem", &batch(&decrypt)),
        ("GET", "keys/kem", ""),
        ("GET", "export/public-key/kem", ""),
        ("GET", "export/encryption-key/kem", ""),
        ("LIST", "keys", ""),
    ] {
        let path = format!("/v1/transit/{path}");
        let asked = AtomicUsize::new(0);
        let answer = |is_room| {
            let room = |len| {
                asked.store(len, Ordering::SeqCst);
                is_room
            };
            house.door.answer(&Request {
                method,
                path: &path,
                vault_token: Some(ROOT),
                body: body.as_bytes(),
                room: Some(&room),
                ..Request::default()
            })
        };
        let used =
            || [Verb::Sign, Verb::Encapsulate, Verb::Export].map(|verb| counted(&house, verb));
        let before = used();
        assert_eq!(answer(false).status, 503, "{path}");
        assert_eq!(used(), before, "{path}");
        let made = answer(true);
        assert_eq!(made.status, 200, "{path}");
        let (asked, len) = (asked.load(Ordering::SeqCst), made.body.len());
        assert!(asked >= len, "{path}: {asked} for {len}");
    }
}

/// Each answer has a name of its own: a random UUID (RFC 9562, section 5.4).
#[test]
fn answers_have_names() {
    let house = House::new();
    let mut names = Vec::new();
    for _ in 0..32 {
        let own = house.send(&Request {
            method: "GET",
            path: "/v1/auth/token/lookup-self",
            vault_token: Some(ROOT),
            ..Request::default()
        });
        let own = own.expect(200);
        let name = own["request_id"].as_str().unwrap().to_owned();
        let lens: Vec<_> = name.split('-').map(str::len).collect();
        assert_eq!(lens, [8, 4, 4, 4, 12]);
        assert!(name.as_bytes()[14] == b'4' && b"89ab".contains(&name.as_bytes()[19]));
        names.push(name);
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 32);
}

#[test]
fn access_lists_and_tokens_are_bounded() {
    let list = |table: &str, count: usize| {
        let entry = |number: usize| {
            let digest = AccessList::digest(&number.to_be_bytes());
            format!("[[{table}]]\nsha256 = {digest:?}\nprincipal = \"a\"\n")
        };
        AccessList::from_toml(&(0..count).map(entry).collect::<String>())
    };
    for table in ["tokens", "certificates"] {
        list(table, 1_024).unwrap();
        let refused = list(table, 1_025).unwrap_err();
        assert!(matches!(refused, InvalidAccessList::TooMany), "{refused}");
    }
    let known = |len: usize| {
        let token = "x".repeat(len);
        let digest = AccessList::digest(token.as_bytes());
        let text = format!("[[tokens]]\nsha256 = {digest:?}\nprincipal = \"a\"\n");
        let list = AccessList::from_toml(&text).unwrap();
        let now = std::time::SystemTime::now();
        list.by_token(&token, now).is_some()
    };
    assert_eq!(
        [0, 1, 1_024, 1_025, 100_000].map(known),
        [false, true, true, false, false]
    );
}

/// In Vault these are another key, and an answer without the private key.
#[test]
fn namespaces_and_wrapped_responses_are_refused() {
    let house = House::new();
    house.create("a", "ed25519");
    let ask = |namespace, wrap_ttl| {
        house.send(&Request {
            method: "GET",
            path: "/v1/transit/keys/a",
            vault_token: Some(ROOT),
            namespace,
            wrap_ttl,
            ..Request::default()
        })
    };
    for (namespace, wrap_ttl) in [
        (None, None),
        (Some(""), Some("")),
        (Some("/"), Some("0")),
        (None, Some("0s")),
    ] {
        ask(namespace, wrap_ttl).expect(200);
    }
    let said = ask(Some("team-b/"), None).error(400);
    assert!(said.contains("X-Vault-Namespace"), "{said}");
    for time in ["60s", "1", "?"] {
        let said = ask(None, Some(time)).error(400);
        assert!(said.contains("X-Vault-Wrap-TTL"), "{said}");
    }
    // Who is not known learns nothing of that, either.
    let unknown = house.send(&Request {
        method: "GET",
        path: "/v1/transit/keys/a",
        vault_token: Some("unknown"),
        namespace: Some("team-b"),
        ..Request::default()
    });
    assert_eq!(unknown.error(403), "permission denied");
}

/// What Vault documents is no error while it asks for nothing, or for what is done here; and what is not done is refused in
/// words that say so.
#[test]
fn parameters_of_vault_are_known() {
    let house = House::new();
    for (name, key_type) in [("a", "ed25519"), ("kem", "mlkem-768")] {
        house.create(name, key_type);
    }
    let signature = house.signature("a");
    let encrypted = house.post("encrypt/kem", r#"{"plaintext": "aGVsbG8="}"#);
    let ciphertext = encrypted.expect(200)["data"]["ciphertext"].clone();
    let sign = json!({"input": "aGVsbG8="});
    let verify = json!({"input": "aGVsbG8=", "signature": signature});
    let encrypt = json!({"plaintext": "aGVsbG8="});
    let decrypt = json!({"ciphertext": ciphertext});
    let key = json!({"type": "ed25519", "exportable": true});
    let nothing = json!({});
    let many = |item: &Value| json!({"batch_input": [item]});
    let with = |body: &Value, field: &str, value: &Value| {
        let mut body = body.clone();
        body[field] = value.clone();
        body.to_string()
    };

    // A name is that of the path, or none.
    for (path, body) in [
        ("sign/a", &sign),
        ("verify/a", &verify),
        ("encrypt/kem", &encrypt),
        ("decrypt/kem", &decrypt),
        ("datakey/wrapped/kem", &nothing),
        ("keys/a", &key),
        ("keys/a/config", &nothing),
        ("keys/a/rotate", &nothing),
    ] {
        let name = path
            .split('/')
            .find(|part| ["a", "kem"].contains(part))
            .unwrap();
        for good in [json!(name), json!(""), Value::Null] {
            let answer = house.post(path, &with(body, "name", &good));
            assert!(
                [200, 204].contains(&answer.status),
                "{path}: {}",
                answer.body
            );
        }
        let said = house
            .post(path, &with(body, "name", &json!("b")))
            .error(400);
        assert!(said.contains("name is another one"), "{path}: {said}");
    }
    for path in ["keys/a/trim", "keys/c/import", "keys/a/import_version"] {
        let said = house.post(path, r#"{"name": "b"}"#).error(400);
        assert!(said.contains("name is another one"), "{path}: {said}");
    }

    // Beside a batch, what is empty says nothing; and a reference is for its items.
    for (path, field, body) in [
        ("sign/a", "input", &sign),
        ("verify/a", "input", &verify),
        ("encrypt/kem", "plaintext", &encrypt),
        ("decrypt/kem", "ciphertext", &decrypt),
    ] {
        house
            .post(path, &with(&many(body), field, &json!("")))
            .expect(200);
        house
            .post(path, &with(&many(body), field, &json!("aGVsbG8=")))
            .error(400);
        house
            .post(path, &with(body, "reference", &json!("x")))
            .expect(200);
        house
            .post(path, &with(body, "batch_input", &Value::Null))
            .expect(200);
        let item = with(body, "reference", &json!("x")).parse().unwrap();
        let answer = house.post(path, &many(&item).to_string()).expect(200);
        assert_eq!(answer["data"]["batch_results"][0]["reference"], "x");
    }

    // What there is not.
    let managed = "managed keys";
    for (path, body, field, why) in [
        ("verify/a", &verify, "hmac", "HMAC"),
        ("verify/a", &verify, "cmac", "CMAC"),
        ("verify/a", &verify, "mac_length", "CMAC"),
        ("encrypt/kem", &encrypt, "padding_scheme", "RSA"),
        ("decrypt/kem", &decrypt, "padding_scheme", "RSA"),
        ("datakey/plaintext/kem", &nothing, "padding_scheme", "RSA"),
        ("keys/a", &key, "managed_key_name", managed),
        ("keys/a", &key, "managed_key_id", managed),
        ("keys/a", &key, "hybrid_key_type_pqc", "composite keys"),
        ("keys/a", &key, "hybrid_key_type_ec", "composite keys"),
        ("keys/a", &key, "context", "derived keys"),
        ("keys/a/rotate", &nothing, "managed_key_name", managed),
        ("keys/a/rotate", &nothing, "managed_key_id", managed),
    ] {
        for empty in [
            json!(""),
            json!(false),
            json!(0),
            Value::Null,
            json!([]),
            json!({}),
        ] {
            let answer = house.post(path, &with(body, field, &empty));
            assert!(
                [200, 204].contains(&answer.status),
                "{path} {field} {empty}: {}",
                answer.body
            );
        }
        for asked in [
            json!("x"),
            json!(true),
            json!(5),
            json!(-5),
            json!(0.5),
            json!([0]),
            json!({"x": 0}),
        ] {
            let said = house.post(path, &with(body, field, &asked)).error(400);
            assert!(
                said.starts_with(field) && said.contains(why),
                "{path}: {said}"
            );
        }
        if body.as_object().unwrap().is_empty() || path == "keys/a" || field == "mac_length" {
            continue;
        }
        let item = with(body, field, &json!("x")).parse().unwrap();
        let refused = house.post(path, &many(&item).to_string());
        assert!(
            refused.body.to_string().contains(why),
            "{path}: {}",
            refused.body
        );
        let item = with(body, field, &json!("")).parse().unwrap();
        house.post(path, &many(&item).to_string()).expect(200);
    }
}

/// Clients ask whether there is a server, and whether it is sealed, before they do anything.
#[test]
fn everybody_may_ask_whether_the_server_is_there() {
    let house = House::new();
    let ask = |method, path: &str| {
        house.send(&Request {
            method,
            path: &format!("/v1/sys/{path}"),
            ..Request::default()
        })
    };
    for (path, field, value) in [
        ("health", "initialized", true),
        ("health", "sealed", false),
        ("seal-status", "initialized", true),
        ("seal-status", "sealed", false),
        ("init", "initialized", true),
        ("leader", "ha_enabled", false),
    ] {
        assert_eq!(ask("GET", path).expect(200)[field], value);
        for method in ["POST", "PUT", "DELETE", "LIST"] {
            ask(method, path).error(405);
        }
    }
    for path in ["seal", "unseal", "mounts", "leader/x", "step-down"] {
        ask("GET", path).error(403);
    }
}

/// A data key is encrypted to the newest version, whether it is named or not.
#[test]
fn data_keys_of_a_version() {
    let house = House::new();
    house.create("kem", "mlkem-768");
    house.post("keys/kem/rotate", "").expect(200);
    for (version, status) in [(0, 200), (2, 200), (1, 400), (3, 400)] {
        let body = json!({"key_version": version}).to_string();
        let answer = house.post("datakey/wrapped/kem", &body);
        assert_eq!(answer.status, status, "{}", answer.body);
    }
}
