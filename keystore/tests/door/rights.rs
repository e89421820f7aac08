//! Who has no right gets no byte: each verb by each right on keys in each state, and on keys that don't exist.

use core::time::Duration;

use pq_keystore::policy::{Verb, Verbs};
use serde_json::json;

use crate::kit::{House, STRANGER, grants, principal};

/// A request, and the verbs that it needs.
struct Asked {
    method: &'static str,
    path: &'static str,
    body: String,
    verbs: &'static [Verb],
}

/// All requests on a key that signs and one that encapsulates, whose names are put in for `S` and `E`.
fn requests(signature: &str, ciphertext: &str) -> Vec<Asked> {
    let asked = |method, path, body: &str, verbs| Asked {
        method,
        path,
        body: body.into(),
        verbs,
    };
    let verify = json!({"input": "aGVsbG8=", "signature": signature}).to_string();
    let verify_batch =
        json!({"batch_input": [{"input": "aGVsbG8=", "signature": signature}]}).to_string();
    let decrypt = json!({"ciphertext": ciphertext}).to_string();
    vec![
        asked("GET", "keys/S", "", &[Verb::Show]),
        asked("GET", "export/public-key/S", "", &[Verb::Show]),
        asked("GET", "export/signing-key/S", "", &[Verb::Export]),
        asked("GET", "export/encryption-key/E/1", "", &[Verb::Export]),
        asked("POST", "sign/S", r#"{"input": "aGVsbG8="}"#, &[Verb::Sign]),
        asked(
            "POST",
            "sign/S",
            r#"{"input": "aGVsbG8=", "key_version": 1}"#,
            &[Verb::Sign],
        ),
        asked(
            "POST",
            "sign/S",
            r#"{"batch_input": [{"input": ""}]}"#,
            &[Verb::Sign],
        ),
        asked("POST", "sign/S/sha2-256", "{not JSON", &[Verb::Sign]),
        asked("POST", "verify/S", &verify, &[Verb::Verify]),
        asked("POST", "verify/S", &verify_batch, &[Verb::Verify]),
        asked(
            "POST",
            "encrypt/E",
            r#"{"plaintext": "aGVsbG8="}"#,
            &[Verb::Encapsulate],
        ),
        asked("POST", "datakey/plaintext/E", "", &[Verb::Encapsulate]),
        asked("POST", "datakey/wrapped/E", "", &[Verb::Encapsulate]),
        asked("POST", "decrypt/E", &decrypt, &[Verb::Decapsulate]),
        asked(
            "POST",
            "rewrap/E",
            &decrypt,
            &[Verb::Decapsulate, Verb::Encapsulate],
        ),
        asked(
            "POST",
            "keys/S",
            r#"{"type": "ed25519", "exportable": true}"#,
            &[Verb::Create],
        ),
        asked(
            "POST",
            "keys/S/config",
            r#"{"min_encryption_version": 0}"#,
            &[Verb::SetPolicy],
        ),
        asked("POST", "keys/S/config", "{not JSON", &[Verb::SetPolicy]),
        asked(
            "POST",
            "keys/S/trim",
            r#"{"min_available_version": 1}"#,
            &[Verb::Destroy],
        ),
        asked("POST", "keys/S/import", "{not JSON", &[Verb::Import]),
        asked(
            "POST",
            "keys/S/import_version",
            r#"{"ciphertext": ""}"#,
            &[Verb::Import],
        ),
        asked("GET", "wrapping_key", "", &[Verb::Import]),
        asked("POST", "keys/S/rotate", "", &[Verb::Rotate]),
        asked(
            "DELETE",
            "keys/S",
            "",
            &[Verb::Destroy, Verb::Schedule, Verb::Disable],
        ),
    ]
}

/// The states that a version can be in.
#[derive(Clone, Copy, Debug)]
enum State {
    Missing,
    Enabled,
    Disabled,
    Scheduled,
    Destroyed,
}

fn set(house: &House, name: &str, state: State) {
    let id = format!("shop/tokens/{name}#1").parse().unwrap();
    let root = principal("root");
    let store = &house.store;
    match state {
        State::Missing | State::Enabled => {}
        State::Disabled => store.disable(&root, &id).unwrap(),
        State::Scheduled | State::Destroyed => {
            let day = Duration::from_secs(24 * 60 * 60);
            store.schedule_destruction(&root, &id, day).unwrap();
            if let State::Destroyed = state {
                *house.clock.lock().unwrap() += day;
                store.destroy(&root, &id).unwrap();
            }
        }
    }
}

#[test]
fn the_whole_matrix() {
    let mut principals = vec![
        ("all".to_owned(), Verbs::all()),
        ("none".into(), Verbs::NONE),
    ];
    for verb in Verb::ALL {
        principals.push((format!("only-{verb}"), Verbs::from(*verb)));
        let others = Verb::ALL.iter().copied().filter(|other| other != verb);
        principals.push((format!("not-{verb}"), others.collect()));
    }
    let named: Vec<_> = principals
        .iter()
        .map(|(name, verbs)| (name.as_str(), *verbs))
        .collect();
    let house = House::with(&named);
    house.create("probe-s", "ed25519");
    house.create("probe-e", "mlkem-512");
    let mut asked_for = 0;
    for state in [
        State::Missing,
        State::Enabled,
        State::Disabled,
        State::Scheduled,
        State::Destroyed,
    ] {
        let (signing, sealing) = (format!("s-{state:?}"), format!("e-{state:?}"));
        let (signing, sealing) = (signing.to_lowercase(), sealing.to_lowercase());
        let (mut signature, mut ciphertext) =
            ("vault:v1:AAAA".to_owned(), "vault:v1:AAAA".to_owned());
        if !matches!(state, State::Missing) {
            house.create(&signing, "ed25519");
            house.create(&sealing, "mlkem-512");
            signature = house.signature(&signing);
            let path = format!("encrypt/{sealing}");
            let made = house
                .post(&path, r#"{"plaintext": "aGVsbG8="}"#)
                .expect(200);
            ciphertext = made["data"]["ciphertext"].as_str().unwrap().into();
        }
        set(&house, &signing, state);
        set(&house, &sealing, state);
        for (name, verbs) in &named {
            for asked in requests(&signature, &ciphertext) {
                let may = asked.verbs.iter().all(|verb| verbs.contains(*verb));
                // What changes the key is left to those who may not.
                if may && (asked.method == "DELETE" || asked.path.ends_with("rotate")) {
                    continue;
                }
                if may && matches!(state, State::Missing) && asked.path == "keys/S" {
                    continue;
                }
                let path = asked.path.replace("/S", &format!("/{signing}"));
                let path = path.replace("/E", &format!("/{sealing}"));
                let token = format!("{name}-token");
                let answer = house.ask(&token, asked.method, &path, &asked.body);
                asked_for += 1;
                match may {
                    true => assert_ne!(answer.status, 403, "{name} {state:?} {path}"),
                    false => {
                        assert_eq!(
                            answer.status, 403,
                            "{name} {state:?} {} {path}",
                            asked.method
                        );
                        assert_eq!(answer.body, json!({"errors": ["permission denied"]}));
                    }
                }
                let works = matches!(state, State::Enabled) && !asked.body.starts_with("{not");
                if may && works && !asked.path.starts_with("keys/S") {
                    assert_eq!(answer.status, 200, "{name} {path}: {}", answer.body);
                }
            }
        }
    }
    assert!(asked_for > 3_000, "{asked_for}");
}

/// A stranger can't tell a key from none, nor one path from another under a mount that has keys.
#[test]
fn strangers() {
    let house = House::with(&[("lister", grants(&[Verb::List]))]);
    house.create("a", "ed25519");
    for asked in requests("vault:v1:AAAA", "vault:v1:AAAA") {
        for name in ["a", "missing"] {
            let path = asked.path.replace("/S", &format!("/{name}"));
            let path = path.replace("/E", &format!("/{name}"));
            for token in [STRANGER, "unknown"] {
                let answer = house.ask(token, asked.method, &path, &asked.body);
                assert_eq!(answer.error(403), "permission denied");
            }
        }
    }
    assert_eq!(
        house.ask(STRANGER, "LIST", "keys", "").error(403),
        "permission denied"
    );
    house.ask("lister-token", "LIST", "keys", "").expect(200);
    house.ask("lister-token", "GET", "keys/a", "").error(403);
    // Whoever isn't known learns of no path, either.
    for path in ["nothing", "keys/A", ""] {
        assert_eq!(
            house.ask("unknown", "GET", path, "").error(403),
            "permission denied"
        );
    }
}
