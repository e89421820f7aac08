//! The client over a transport that is a function call, and signatures by many threads under rotation.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;

use pq_keys::any::AnyPublicKey;
use pq_keys::{SignatureAlgorithm, Signer, SigningKey, SubjectKey, VerifyingKey};
use pq_keystore::KeyName;
use pq_keystore::door::{Door, Request};
use pq_keystore::policy::Input;
use pq_keystore::remote::{
    RemoteError, RemoteSigner, RemoteStore, Transport, TransportError, TransportRequest,
    TransportResponse,
};

use serde_json::{Value, json};

use crate::kit::{House, ROOT, STRANGER, principal};

/// Carries requests by calling the door, and counts their bytes.
pub(crate) struct Direct {
    door: Arc<Door>,
    sent: Arc<AtomicUsize>,
}

impl Transport for Direct {
    fn send(&self, request: &TransportRequest<'_>) -> Result<TransportResponse, TransportError> {
        self.sent.fetch_max(request.body.len(), Ordering::SeqCst);
        let (path, query) = match request.target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (request.target, None),
        };
        let response = self.door.answer(&Request {
            method: request.method,
            path,
            query,
            vault_token: request.token,
            body: request.body,
            ..Request::default()
        });
        Ok(TransportResponse {
            status: response.status,
            body: response.body,
        })
    }
}

fn direct(house: &House) -> Direct {
    Direct {
        door: house.door.clone(),
        sent: Arc::default(),
    }
}

fn remote(house: &House, token: &str) -> (RemoteStore, Arc<AtomicUsize>) {
    let transport = direct(house);
    let sent = transport.sent.clone();
    (RemoteStore::new(transport, "transit", Some(token)), sent)
}

#[test]
fn signers_of_every_kind() {
    let house = House::new();
    let (remote, _) = remote(&house, ROOT);
    for key_type in [
        "mldsa-44",
        "mldsa-87",
        "slhdsa-sha2-128f",
        "ed25519",
        "ecdsa-p256",
        "ecdsa-p384",
        "rsa-2048",
    ] {
        remote.create(key_type, key_type, false).unwrap();
        let signer = RemoteSigner::newest(&remote, key_type).unwrap();
        remote.rotate(key_type).unwrap();
        // It stays with its version.
        assert_eq!(signer.version().get(), 1);
        let signature = signer.sign(b"hello").unwrap();
        let key = AnyPublicKey::from_spki_der(&signer.spki()).unwrap();
        key.verify(b"hello", &signature).unwrap();
        let input = Input::message(b"hello");
        // Vault's default is another hash, which is not meant.
        let remote = match key_type {
            "ecdsa-p384" => {
                let unnamed = remote.sign(key_type, None, input);
                assert!(matches!(
                    unnamed,
                    Err(RemoteError::Refused { status: 400, .. })
                ));
                remote.for_key(signer.public_key())
            }
            _ => remote.clone(),
        };
        assert!(
            remote
                .verify(key_type, signer.version(), input, &signature)
                .unwrap()
        );
        let other = Input::message(b"other");
        assert!(
            !remote
                .verify(key_type, signer.version(), other, &signature)
                .unwrap()
        );
        let newest = remote.sign(key_type, None, input).unwrap();
        assert_eq!(newest.version.get(), 2);
        assert!(key.verify(b"hello", &newest.signature).is_err());
    }
    // What its signatures are called is what a key in memory calls them.
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let signer = RemoteSigner::newest(&remote, "mldsa-44").unwrap();
    assert_eq!(signer.signature_algorithm(), key.signature_algorithm());
    remote.create("kem", "mlkem-768", false).unwrap();
    assert!(matches!(
        RemoteSigner::newest(&remote, "kem"),
        Err(RemoteError::Key(_))
    ));
}

/// A signer is of the version that the server signs with, which is not always the newest there is.
#[test]
fn the_newest_that_signs() {
    let house = House::new();
    let (remote, _) = remote(&house, ROOT);
    remote.create("a", "ed25519", false).unwrap();
    remote.rotate("a").unwrap();
    let name = KeyName::new("shop", "tokens", "a").unwrap();
    let version = |number| pq_keystore::Version::new(number).unwrap();
    let signs = || {
        let signer = RemoteSigner::newest(&remote, "a").unwrap();
        let signed = remote.sign("a", None, Input::message(b"hello")).unwrap();
        assert_eq!(signer.version(), signed.version);
        signer.sign(b"hello").unwrap();
        signed.version.get()
    };
    assert_eq!(signs(), 2);
    house
        .store
        .disable(&principal("root"), &name.at(version(2)))
        .unwrap();
    assert_eq!(signs(), 1);
    remote.rotate("a").unwrap();
    assert_eq!(signs(), 3);
    // If none signs, the server says so when one is to.
    for number in [1, 3] {
        house
            .store
            .disable(&principal("root"), &name.at(version(number)))
            .unwrap();
    }
    let signer = RemoteSigner::newest(&remote, "a").unwrap();
    assert_eq!(signer.version(), version(3));
    assert!(signer.sign(b"hello").is_err());
}

/// Each version is of one request, which alone is told its number.
#[test]
fn who_makes_a_version_knows_which() {
    let house = House::new();
    let (remote, _) = remote(&house, ROOT);
    let version = |number| pq_keystore::Version::new(number);
    assert_eq!(remote.create("a", "mldsa-44", false).unwrap(), version(1));
    assert_eq!(remote.create("a", "mldsa-44", false).unwrap(), None);
    let made = thread::scope(|scope| {
        let rotations = [(); 8].map(|()| scope.spawn(|| remote.rotate("a").unwrap()));
        rotations.map(|rotation| rotation.join().unwrap())
    });
    for number in 2..10 {
        let makers = made.iter().filter(|made| **made == version(number));
        assert_eq!(makers.count(), 1, "{number}: {made:?}");
    }
    let shown = remote.show("a").unwrap().versions;
    assert_eq!(shown.len(), 9);
    assert!(
        shown
            .iter()
            .all(|one| one.state.as_deref() == Some("enabled"))
    );
    let second = RemoteSigner::at(&remote, "a", version(2).unwrap()).unwrap();
    assert_eq!(second.version(), version(2).unwrap());
    second.sign(b"hello").unwrap();
    let none = remote.show("none").unwrap_err();
    assert!(none.is_no_key(), "{none}");
    let no_mount = RemoteStore::new(direct(&house), "another", Some(ROOT));
    let refused = no_mount.show("a").unwrap_err();
    assert!(!refused.is_no_key(), "{refused}");
}

/// Answers requests for signatures with that of another message.
struct Forging(Direct);

impl Transport for Forging {
    fn send(&self, request: &TransportRequest<'_>) -> Result<TransportResponse, TransportError> {
        let is_sign = request.target.contains("/sign/");
        let body = match is_sign {
            true => br#"{"input": "YW5vdGhlcg=="}"#,
            false => request.body,
        };
        self.0.send(&TransportRequest { body, ..*request })
    }
}

/// Gives one answer to everything.
struct Saying(u16, &'static str);

impl Transport for Saying {
    fn send(&self, _: &TransportRequest<'_>) -> Result<TransportResponse, TransportError> {
        Ok(TransportResponse {
            status: self.0,
            body: self.1.as_bytes().to_vec().into(),
        })
    }
}

/// What is not understood says nothing about keys.
#[test]
fn no_other_answer_says_that_there_is_no_key() {
    let store = |status, body| RemoteStore::new(Saying(status, body), "transit", None);
    for (status, body) in [
        (404, ""),
        (404, "<h1>Not found</h1>"),
        (404, "{}"),
        (404, r#"{"errors": ["no handler for this route"]}"#),
        (400, r#"{"errors": []}"#),
        (403, r#"{"errors": []}"#),
        (200, ""),
        (200, "{}"),
        (200, r#"{"data": null}"#),
        (200, r#"{"data": {"keys": {"0": {}}}}"#),
        (200, r#"{"data": {"keys": {"x": {}}}}"#),
        (200, r#"{"data": {"keys": [1]}}"#),
    ] {
        let refused = store(status, body).show("a").unwrap_err();
        assert!(!refused.is_no_key(), "{status} {body}: {refused}");
        // What has no word has an end nevertheless.
        assert!(!refused.to_string().ends_with(": "), "{refused}");
        assert!(
            store(status, body).public_key("a", None).is_err(),
            "{status} {body}"
        );
    }
    let none = store(404, r#"{"errors": []}"#).show("a").unwrap_err();
    assert!(none.is_no_key());
    for (body, made) in [
        ("", Some(None)),
        (r#"{"data": null}"#, Some(None)),
        // as Vault says it
        (r#"{"data": {"latest_version": 3}}"#, Some(None)),
        (
            r#"{"data": {"key_version": 3}}"#,
            Some(pq_keystore::Version::new(3)),
        ),
        (r#"{"data": {"key_version": 0}}"#, None),
        (r#"{"data": {"key_version": "3"}}"#, None),
        ("{}", Some(None)),
        (r#"{"data": 3}"#, None),
        ("done", None),
    ] {
        assert_eq!(store(200, body).rotate("a").ok(), made, "{body}");
        assert_eq!(
            store(200, body).create("a", "ed25519", false).ok(),
            made,
            "{body}"
        );
    }
}

#[test]
fn a_signature_that_does_not_verify_is_given_to_nobody() {
    let house = House::new();
    for key_type in ["mldsa-44", "slhdsa-sha2-128f", "ed25519"] {
        house.create(key_type, key_type);
        let forging = RemoteStore::new(Forging(direct(&house)), "transit", Some(ROOT));
        let signer = RemoteSigner::newest(&forging, key_type).unwrap();
        let refused = signer.sign_input(Input::message(b"hello")).unwrap_err();
        assert!(matches!(refused, RemoteError::WrongSignature), "{refused}");
        assert!(signer.sign(b"hello").is_err());
    }
}

#[test]
fn contexts_are_sent() {
    let house = House::new();
    let (remote, _) = remote(&house, ROOT);
    for key_type in ["mldsa-44", "slhdsa-sha2-128f"] {
        house.create(key_type, key_type);
        let signer = RemoteSigner::newest(&remote, key_type).unwrap();
        let input = |context| Input::Message {
            message: b"hello",
            context,
        };
        let signature = signer.sign_input(input(b"v1")).unwrap();
        let verify = |input| remote.verify(key_type, signer.version(), input, &signature);
        assert!(verify(input(b"v1")).unwrap());
        assert!(!verify(input(b"")).unwrap());
    }
}

/// However long the message, 64 bytes are sent.
#[test]
fn only_mu_is_sent() {
    let house = House::new();
    let (remote, sent) = remote(&house, ROOT);
    remote.create("a", "mldsa-65", false).unwrap();
    let signer = RemoteSigner::newest(&remote, "a").unwrap();
    let message = vec![7; 3 * 1024 * 1024];
    let input = Input::Message {
        message: &message,
        context: b"v1",
    };
    signer.sign_input(input).unwrap();
    let signature = signer.sign(&message).unwrap();
    assert!(sent.load(Ordering::SeqCst) < 256);
    VerifyingKey::from_spki_der(&signer.spki())
        .unwrap()
        .verify(&message, &signature)
        .unwrap();
}

#[test]
fn errors_say_whether_trying_again_helps() {
    let house = House::new();
    let (root, _) = remote(&house, ROOT);
    root.create("a", "mldsa-44", false).unwrap();
    let (stranger, _) = remote(&house, STRANGER);
    let refused = RemoteSigner::newest(&stranger, "a").unwrap_err();
    assert!(
        matches!(&refused, RemoteError::Refused { status: 403, .. }),
        "{refused}"
    );
    assert!(!refused.retry());
    for name in ["../a", "a/b", "a?b", "A", ""] {
        let refused = root.sign(name, None, Input::message(b"")).unwrap_err();
        assert!(matches!(refused, RemoteError::Name(_)), "{refused}");
    }
    assert!(RemoteError::Transport(TransportError::TimedOut).retry());
    let busy = RemoteError::Refused {
        status: 503,
        errors: vec![],
    };
    assert!(busy.retry());
}

/// Each signature verifies under the version that it names, and under none of its neighbours, whatever is rotated meanwhile.
#[test]
fn eight_threads_under_rotation() {
    const THREADS: usize = 8;
    const EACH: usize = 320;
    const BATCH: usize = 8;

    let house = House::new();
    let (remote, _) = remote(&house, ROOT);
    remote.create("a", "mldsa-44", false).unwrap();
    let done = AtomicBool::new(false);
    let verified = AtomicUsize::new(0);
    let rotations = thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|number| {
                let (remote, verified) = (&remote, &verified);
                scope.spawn(move || {
                    for round in 0..EACH / BATCH {
                        let message = format!("{number} {round}");
                        let messages = [message.as_bytes(); BATCH];
                        let signed = remote.sign_batch("a", None, &messages).unwrap();
                        let signed: Vec<_> = signed.into_iter().map(Result::unwrap).collect();
                        let pairs: Vec<_> = signed.iter().map(|one| (messages[0], one)).collect();
                        let results = remote.verify_batch("a", &pairs).unwrap();
                        assert!(results.into_iter().all(|result| result.unwrap()));
                        verified.fetch_add(signed.len(), Ordering::SeqCst);
                        let input = Input::message(messages[0]);
                        let one = &signed[0];
                        let number = one.version.get();
                        for other in [number.checked_sub(1), number.checked_add(1)] {
                            let Some(other) = other.and_then(pq_keystore::Version::new) else {
                                continue;
                            };
                            // The next version may not be there yet.
                            match remote.verify("a", other, input, &one.signature) {
                                Ok(valid) => assert!(!valid),
                                Err(RemoteError::Refused { status: 400, .. }) => {
                                    assert!(other.get() > number);
                                }
                                Err(error) => panic!("{error}"),
                            }
                        }
                    }
                })
            })
            .collect();
        let rotator = scope.spawn(|| {
            let mut rotations = 0;
            while !done.load(Ordering::SeqCst) && rotations < 4_000 {
                remote.rotate("a").unwrap();
                rotations += 1;
                thread::sleep(core::time::Duration::from_millis(10));
            }
            rotations
        });
        let ended: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        done.store(true, Ordering::SeqCst);
        assert!(ended.iter().all(Result::is_ok));
        rotator.join().unwrap()
    });
    assert_eq!(verified.load(Ordering::SeqCst), THREADS * EACH);
    let key = house.get("keys/a").expect(200);
    assert_eq!(key["data"]["latest_version"], rotations + 1);
}

/// What was asked for, and whether it may arrive twice.
type Sent = Arc<Mutex<Vec<(String, bool)>>>;

/// Carries nothing, answers always the same, and notes which requests may arrive twice.
struct Canned {
    answer: Value,
    sent: Sent,
}

impl Transport for Canned {
    fn send(&self, request: &TransportRequest<'_>) -> Result<TransportResponse, TransportError> {
        let sent = (request.target.to_owned(), request.repeatable);
        self.sent.lock().unwrap().push(sent);
        Ok(TransportResponse {
            status: 200,
            body: json!({"data": self.answer}).to_string().into_bytes().into(),
        })
    }
}

fn canned(answer: Value) -> (RemoteStore, Sent) {
    let sent = Sent::default();
    let transport = Canned {
        answer,
        sent: sent.clone(),
    };
    (RemoteStore::new(transport, "transit", Some(ROOT)), sent)
}

/// What a server answers is what was asked for, or it is refused.
#[test]
fn other_answers_are_refused() {
    fn is_refused<T>(answer: Result<T, RemoteError>) -> bool {
        matches!(answer, Err(RemoteError::Answer(_)))
    }
    let [first, second] = [1, 2].map(|number| pq_keystore::Version::new(number).unwrap());
    let input = Input::message(b"hello");
    let (remote, _) = canned(json!({"signature": "vault:v2:AAAA", "key_version": 2}));
    assert!(is_refused(remote.sign("a", Some(first), input)));
    let signed = remote.sign("a", Some(second), input).unwrap();
    assert_eq!(
        (signed.version, &signed.signature[..]),
        (second, &[0; 3][..])
    );
    assert_eq!(remote.sign("a", None, input).unwrap(), signed);
    assert!(is_refused(remote.verify("a", first, input, b"")));

    let item = json!({"signature": "vault:v2:AAAA"});
    for count in 0..4 {
        let (remote, _) = canned(json!({"batch_results": vec![item.clone(); count]}));
        let made = remote.sign_batch("a", None, &[b"1", b"2"]);
        assert_eq!(is_refused(made), count != 2, "{count}");
        let (remote, _) = canned(json!({"batch_results": vec![json!({"valid": true}); count]}));
        let pairs = [(&b"1"[..], &signed), (b"2", &signed)];
        assert_eq!(
            is_refused(remote.verify_batch("a", &pairs)),
            count != 2,
            "{count}"
        );
    }
    // What failed isn't called invalid.
    let failed = json!({"valid": false, "error": "no"});
    let (remote, _) = canned(json!({"batch_results": [failed, {"valid": false}]}));
    let told = remote.verify_batch("a", &[(b"1", &signed), (b"2", &signed)]);
    let mut told = told.unwrap().into_iter();
    assert!(matches!(
        told.next(),
        Some(Err(RemoteError::Refused { .. }))
    ));
    assert!(matches!(told.next(), Some(Ok(false))));
    let (remote, _) = canned(json!({"batch_results": [item, {"signature": "vault:v1:AAAA"}]}));
    let made = remote.sign_batch("a", Some(second), &[b"1", b"2"]).unwrap();
    let refused: Vec<_> = made.into_iter().map(is_refused).collect();
    assert_eq!(refused, [false, true]);

    let house = House::new();
    house.create("a", "ed25519");
    let der = house.get("export/public-key/a/1?format=der").expect(200);
    let der = &der["data"]["keys"]["1"];
    for (keys, is_one) in [
        (json!({"1": der}), true),
        (json!({}), false),
        (json!({"1": der, "2": der}), false),
    ] {
        let (remote, _) = canned(json!({"keys": keys}));
        assert_eq!(remote.public_key("a", None).is_ok(), is_one, "{keys}");
    }
}

/// What makes something anew each time it arrives is not sent twice.
#[test]
fn what_may_arrive_twice() {
    let (remote, sent) = canned(json!({"signature": "vault:v1:AAAA", "valid": true}));
    let input = Input::message(b"");
    let version = pq_keystore::Version::FIRST;
    remote.create("a", "ed25519", false).unwrap();
    remote.rotate("a").unwrap();
    remote.sign("a", None, input).unwrap();
    remote.verify("a", version, input, b"").unwrap();
    let _ = remote.public_key("a", None);
    let expected = [
        ("keys/a", false),
        ("keys/a/rotate", false),
        ("sign/a", true),
        ("verify/a", true),
        ("export/public-key/a/latest?format=der", true),
    ];
    let expected = expected.map(|(target, twice)| (format!("/v1/transit/{target}"), twice));
    assert_eq!(*sent.lock().unwrap(), expected);
}
