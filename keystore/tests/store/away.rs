//! A storage that is away for a while, and takes its time to say so.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::thread;
use std::time::Instant;

use pq_keystore::policy::{Input, WhenAway};
use pq_keystore::storage::{MemoryStorage, Storage, StorageError};
use pq_keystore::{Store, StoreOptions};

use crate::around::{Around, Behaviour};
use crate::kit::{admin, code, kek, name, named, user, user_policy};

/// How long it takes until a call fails.
const TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Default)]
struct Leaving {
    storage: Arc<MemoryStorage>,
    is_away: AtomicBool,
}

impl Behaviour for Leaving {
    fn within(&self) -> Arc<dyn Storage> {
        self.storage.clone()
    }

    fn reach(&self) -> Result<(), StorageError> {
        if self.is_away.load(Ordering::Acquire) {
            thread::sleep(TIMEOUT);
            return Err(StorageError::Away {
                storage: self.storage.description(),
                reason: "nobody answers".into(),
            });
        }
        Ok(())
    }
}

#[test]
fn uses_that_are_refused_while_it_is_away_are_refused_at_once() {
    let storage = Arc::new(Around::<Leaving>::default());
    let options = StoreOptions::default();
    let store = Store::create(storage.clone(), &kek(b"secret"), &admin(), options).unwrap();
    let hour = WhenAway::UseFor(Duration::from_secs(3600));
    for (key, when_away) in [("refuse", WhenAway::Refuse), ("hour", hour)] {
        let mut policy = user_policy();
        policy.when_away = when_away;
        let kem = name(&format!("{key}-kem"));
        for (key, algorithm) in [(&name(key), "Ed25519"), (&kem, "ML-KEM-768")] {
            let made = store.create_key(&admin(), key, named(algorithm), &policy);
            made.unwrap();
        }
    }
    let sign = |key| {
        let started = Instant::now();
        let signed = store.sign(&user(), &name(key), Input::message(b"message"));
        (code(signed), started.elapsed())
    };
    assert_eq!((sign("refuse").0, sign("hour").0), ("done", "done"));
    let used = ["refuse", "hour"].map(|key| {
        let kem = name(&format!("{key}-kem"));
        let signed = store.sign(&user(), &name(key), Input::message(b"message"));
        (signed.unwrap(), store.encapsulate(&user(), &kem).unwrap())
    });
    let uses = || {
        used.each_ref().map(|(signed, made)| {
            let (input, version) = (Input::message(b"message"), Some(signed.id.version()));
            let (key, signature) = (signed.id.name(), &signed.signature);
            [
                code(store.sign_by(&user(), &signed.id, input)),
                code(store.verify(&user(), key, version, input, signature)),
                code(store.decapsulate(&user(), &made.id, &made.ciphertext)),
                code(store.encapsulate(&user(), made.id.name())),
            ]
        })
    };
    assert_eq!(uses(), [["done"; 4]; 2]);
    storage.is_away.store(true, Ordering::Release);
    thread::sleep(Duration::from_secs(4));
    thread::scope(|scope| {
        let refused: Vec<_> = (0..16).map(|_| scope.spawn(|| sign("refuse"))).collect();
        let mut waited = 0;
        for refused in refused {
            let (code, time) = refused.join().unwrap();
            assert_eq!(code, "away");
            assert!(time < 2 * TIMEOUT, "{time:?}");
            waited += u32::from(time >= TIMEOUT / 2);
        }
        assert!(waited <= 1, "{waited} waited");
    });
    // The same for whatever names a version.
    let codes = uses();
    assert_eq!((codes[0], codes[1]), (["away"; 4], ["done"; 4]));
    assert_eq!(sign("hour").0, "done");
    storage.is_away.store(false, Ordering::Release);
    let started = Instant::now();
    while sign("refuse").0 != "done" {
        assert!(started.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_millis(50));
    }
}
