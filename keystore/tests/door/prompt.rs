//! Answers that wait for nothing, and those that are left to a thread.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use metrics::{Counter, Gauge, Histogram, Key, Label, Metadata, Recorder, SharedString, Unit};
use pq_keys::any::AnyAlgorithm;
use pq_keystore::OPERATIONS;
use pq_keystore::door::{Request, Response};
use pq_keystore::policy::{Policy, UseAudit, Verb, WhenAway};
use pq_keystore::storage::{Change, CommitError, Committed, MemoryStorage, Storage, StorageError};
use serde_json::Value;

use crate::around::{Around, Behaviour};
use crate::kit::{House, ROOT, STRANGER, grants, principal};

const MESSAGE: &str = r#"{"input": "aGVsbG8="}"#;

/// A storage whose commits wait while this is locked, and which can be away.
#[derive(Default)]
struct Slow {
    storage: Arc<MemoryStorage>,
    gate: Mutex<()>,
    is_waiting: AtomicBool,
    is_away: AtomicBool,
}

impl Behaviour for Slow {
    fn within(&self) -> Arc<dyn Storage> {
        self.storage.clone()
    }

    fn reach(&self) -> Result<(), StorageError> {
        match self.is_away.load(Ordering::SeqCst) {
            true => Err(StorageError::Away {
                storage: "the storage".into(),
                reason: "it is away".into(),
            }),
            false => Ok(()),
        }
    }

    fn commit(&self, change: &Change) -> Result<Committed, CommitError> {
        self.is_waiting.store(true, Ordering::SeqCst);
        drop(self.gate.lock().unwrap_or_else(PoisonError::into_inner));
        self.storage.commit(change)
    }
}

fn request<'a>(token: &'a str, path: &'a str, body: &'a str) -> Request<'a> {
    Request {
        method: "POST",
        path,
        vault_token: Some(token),
        body: body.as_bytes(),
        ..Request::default()
    }
}

fn body(response: &Response) -> Value {
    serde_json::from_slice(&response.body).unwrap()
}

/// Signs at once, if that can be.
fn promptly(house: &House, name: &str) -> Option<String> {
    promptly_by(house, ROOT, name)
}

fn promptly_by(house: &House, token: &str, name: &str) -> Option<String> {
    let path = format!("/v1/transit/sign/{name}");
    let response = house
        .door
        .answer_promptly(&request(token, &path, MESSAGE))?;
    assert_eq!(response.status, 200, "{name}: {}", body(&response));
    let signature = body(&response)["data"]["signature"].take();
    Some(signature.as_str().unwrap().into())
}

#[test]
fn quick_keys_in_memory_sign_at_once() {
    let house = House::new();
    for (name, is_quick) in [
        ("mldsa-44", true),
        ("mldsa-65", true),
        ("mldsa-87", true),
        ("ed25519", true),
        ("ecdsa-p256", true),
        ("ecdsa-p384", false),
        ("rsa-2048", false),
        ("slh-dsa-sha2-128f", false),
        ("mldsa65-ecdsa-p256-sha512", false),
    ] {
        house.create(name, name);
        let hash = if name == "ecdsa-p384" { 384 } else { 256 };
        let body = format!(
            r#"{{"input": "aGVsbG8=", "signature_algorithm": "pkcs1v15", "hash_algorithm": "sha2-{hash}"}}"#
        );
        house.post(&format!("sign/{name}"), &body).expect(200);
        let signed = promptly(&house, name);
        assert_eq!(signed.is_some(), is_quick, "{name}");
        if let Some(signature) = signed {
            assert!(house.verifies(name, &signature), "{name}");
        }
    }
}

/// What can't be answered at once is left alone, and what is refused at once is refused in the same words.
#[test]
fn what_waits_is_left_to_a_thread() {
    let house = House::with(&[("reader", grants(&[Verb::Show]))]);
    house.create("a", "mldsa-44");
    house.signature("a");
    let sign = "/v1/transit/sign/a";
    let long = format!(r#"{{"input": "{}"}}"#, "A".repeat(16 * 1024));
    for (token, path, body) in [
        (ROOT, "/v1/transit/sign/b", MESSAGE),
        (ROOT, "/v1/transit/rewrap/a", MESSAGE),
        (ROOT, "/v1/transit/keys/a/rotate", ""),
        (ROOT, sign, r#"{"batch_input": [{"input": "aGVsbG8="}]}"#),
        (ROOT, sign, r#"{"input": "aGVsbG8=", "key_version": 1}"#),
        (ROOT, sign, &long),
        (STRANGER, sign, MESSAGE),
        ("reader-token", sign, MESSAGE),
    ] {
        let left = house.door.answer_promptly(&request(token, path, body));
        assert!(left.is_none(), "{token} {path} {body:.80} {left:?}");
    }
    let no_room = house.door.answer_promptly(&Request {
        room: Some(&|_| false),
        ..request(ROOT, sign, MESSAGE)
    });
    assert!(no_room.is_none());
    for (token, path, text) in [
        ("nobody", sign, MESSAGE),
        (ROOT, "/v2/transit/sign/a", MESSAGE),
        (ROOT, "/v1/other/sign/a", MESSAGE),
        (ROOT, "/v1/transit/sign/a/sha3-999", MESSAGE),
        (ROOT, sign, "{"),
        (ROOT, sign, "{}"),
        (ROOT, sign, r#"{"input": "?"}"#),
        (ROOT, sign, r#"{"input": "aGVsbG8=", "prehashed": true}"#),
        (ROOT, sign, r#"{"input": "aGVsbG8=", "name": "b"}"#),
    ] {
        let request = request(token, path, text);
        let [prompt, other] = [
            house.door.answer_promptly(&request).unwrap(),
            house.door.answer(&request),
        ];
        assert!((400..500).contains(&prompt.status), "{path} {text}");
        assert_eq!(prompt.status, other.status, "{path} {text}");
        assert_eq!(body(&prompt), body(&other), "{path} {text}");
    }
}

#[test]
fn keys_that_are_not_in_memory_or_whose_uses_are_logged_wait() {
    let [first, second] = House::two();
    first.create("a", "mldsa-44");
    assert_eq!(promptly(&second, "a"), None);
    second.signature("a");
    assert!(promptly(&second, "a").is_some());
    create_with(&first, "each", |policy| policy.audit = UseAudit::Each);
    first.signature("each");
    assert_eq!(promptly(&first, "each"), None);
}

fn create_with(house: &House, name: &str, change: impl FnOnce(&mut Policy)) {
    let mut policy = Policy::default();
    change(&mut policy);
    let algorithm = AnyAlgorithm::named("ML-DSA-44").unwrap();
    let name = format!("shop/tokens/{name}").parse().unwrap();
    let made = house
        .store
        .create_key(&principal("root"), &name, algorithm, &policy);
    made.unwrap();
}

/// Signatures are made at once while a commit takes its time, and they are counted as all others are.
#[test]
fn nothing_waits_for_a_commit() {
    let storage = Arc::new(Around(Slow::default()));
    let house = House::in_storage(&storage, &[]);
    house.create("a", "mldsa-44");
    let signature = house.signature("a");
    thread::scope(|scope| {
        let closed = storage.gate.lock().unwrap();
        storage.is_waiting.store(false, Ordering::SeqCst);
        let rotated = scope.spawn(|| house.post("keys/a/rotate", "").expect(200));
        let begun = Instant::now();
        while !storage.is_waiting.load(Ordering::SeqCst) {
            assert!(begun.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(1));
        }
        let signed = promptly(&house, "a").unwrap();
        assert!(signed.starts_with("vault:v1:"));
        assert!(!rotated.is_finished());
        drop(closed);
        rotated.join().unwrap();
    });
    assert!(house.verifies("a", &signature));
    let signed = promptly(&house, "a").unwrap();
    assert!(signed.starts_with("vault:v2:"));
}

/// No key is at hand for longer without its storage than its policy permits.
#[test]
fn a_storage_that_is_away_is_not_asked() {
    let storage = Arc::new(Around(Slow::default()));
    let house = House::in_storage(&storage, &[]);
    create_with(&house, "a", |policy| policy.when_away = WhenAway::Refuse);
    house.signature("a");
    assert!(promptly(&house, "a").is_some());
    storage.is_away.store(true, Ordering::SeqCst);
    let begun = Instant::now();
    while promptly(&house, "a").is_some() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(house.post("sign/a", MESSAGE).status, 503);
    storage.is_away.store(false, Ordering::SeqCst);
    while house.post("sign/a", MESSAGE).status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(50));
    }
    assert!(promptly(&house, "a").is_some());
}

/// The log has as many uses as there were, whichever way they went.
#[test]
fn signatures_are_counted_in_both_ways() {
    let house = House::new();
    house.create("a", "mldsa-44");
    for _ in 0..3 {
        house.signature("a");
        promptly(&house, "a").unwrap();
    }
    house.door.flush().unwrap();
    let entries = house.store.audit_log(&principal("admin"), 1, 1000).unwrap();
    let signed = entries.iter().filter(|entry| entry.verb == Verb::Sign);
    assert_eq!(signed.map(|entry| entry.count).sum::<u64>(), 6);
}

/// Counts the signatures that are measured on this thread.
#[derive(Default)]
struct Signatures(Arc<AtomicU64>);

impl Recorder for Signatures {
    fn describe_counter(&self, _: metrics::KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: metrics::KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: metrics::KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let is_sign = |label: &Label| label.key() == "operation" && label.value() == "sign";
        match key.name() == OPERATIONS && key.labels().any(is_sign) {
            true => Counter::from_arc(self.0.clone()),
            false => Counter::noop(),
        }
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

/// Where too many have used a key by too many versions, the next signature comes from a thread, and is measured there alone.
#[test]
fn what_cannot_be_counted_is_not_measured() {
    let names: Vec<_> = (0..100).map(|number| format!("user-{number}")).collect();
    let users: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), Verb::Sign.into()))
        .collect();
    let house = House::with(&users);
    house.create("a", "mldsa-44");
    house.signature("a");
    let measured = Signatures::default();
    let mut made = 0;
    let begun = Instant::now();
    metrics::with_local_recorder(&measured, || {
        loop {
            let token = |name| format!("{name}-token");
            let signed = |name| promptly_by(&house, &token(name), "a").is_some();
            let all: Vec<_> = names.iter().map(signed).collect();
            made += all.iter().filter(|is_signed| **is_signed).count() as u64;
            // The counts of this key have no room.
            if all.contains(&false) {
                // Those that are among them have.
                assert_eq!(all.first(), Some(&true));
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(60));
            house.post("keys/a/rotate", "").expect(200);
            house.signature("a");
            made += 1;
        }
    });
    assert_eq!(measured.0.load(Ordering::SeqCst), made);
    house.door.flush().unwrap();
    let entries = house.store.audit_log(&principal("admin"), 1, 1000).unwrap();
    let signed = entries.iter().filter(|entry| entry.verb == Verb::Sign);
    assert_eq!(signed.map(|entry| entry.count).sum::<u64>(), made + 1);
}
