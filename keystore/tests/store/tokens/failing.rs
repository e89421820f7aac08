//! A token that goes away, fails and lies: keys that are half made or half removed, and answers that are not given out.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Mutex;

use pq_keys::any::AnyPrivateKey;
use pq_keystore::custody::{Token, TokenError, TokenSerial};
use pq_keystore::policy::Input;
use pq_keystore::storage::RowKey;
use pq_keystore::{KeyName, Store, StoreError, VersionState};

use super::passing::{Call, Passage, Passing};
use super::stand_in::{Mood, SERIAL, StandIn, TokenInMemory};
use super::{MESSAGE, token};
use crate::kit::{Clock, Fixture, admin, code, kek, name, named, user, user_policy, version};
use crate::places::Place;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[test]
fn a_token_that_is_away_helps_when_it_is_back() {
    let place = StandIn::new();
    let fixture = Fixture::new(&place);
    let store = &fixture.store;
    let key = fixture.key("k", "ML-DSA-44");
    let kem = fixture.key("kem", "ML-KEM-768");
    let signed = fixture.sign(&key, MESSAGE);
    let made = store.encapsulate(&user(), &kem).unwrap();
    place.token.is(Mood::Away);
    let errors = [
        store.sign(&user(), &key, Input::message(MESSAGE)).map(drop),
        store
            .decapsulate(&user(), &made.id, &made.ciphertext)
            .map(drop),
        store.rotate(&admin(), &key).map(drop),
        store
            .create_key_in(
                &admin(),
                &name("n"),
                named("ML-DSA-44"),
                &user_policy(),
                &token(),
            )
            .map(drop),
        store.remove_orphans(&admin()).map(drop),
    ];
    for error in errors.map(Result::unwrap_err) {
        assert_eq!((error.code(), error.retry()), ("token-away", true));
    }
    // What is here goes on.
    fixture
        .verify(&signed.id, MESSAGE, &signed.signature)
        .unwrap();
    store.encapsulate(&user(), &kem).unwrap();
    let here = name("here");
    store
        .create_key(&admin(), &here, named("ML-DSA-44"), &user_policy())
        .unwrap();
    fixture.sign(&here, MESSAGE);
    let report = store.check(&admin(), &[]).unwrap();
    let codes: Vec<_> = report.damaged.iter().map(StoreError::code).collect();
    assert_eq!(codes, ["token-away"]);
    place.token.is(Mood::Well);
    fixture.sign(&key, MESSAGE);
    let secret = store
        .decapsulate(&user(), &made.id, &made.ciphertext)
        .unwrap();
    assert_eq!(secret, made.secret);
    store.rotate(&admin(), &key).unwrap();
    assert!(store.check(&admin(), &[]).unwrap().damaged.is_empty());
}

/// A token is not asked for a version for which its key has no place.
#[test]
fn a_full_key_asks_no_token() {
    let place = StandIn::new();
    let fixture = Fixture::new(&place);
    let (store, key) = (&fixture.store, name("k"));
    let mut policy = user_policy();
    policy.rotate_after = Some(DAY);
    let algorithm = named("Ed25519");
    store
        .create_key(&admin(), &key, algorithm, &policy)
        .unwrap();
    for _ in 1..4_095 {
        store.rotate(&admin(), &key).unwrap();
    }
    let last = store.rotate_to(&admin(), &key, Some(&token())).unwrap();
    assert_eq!(last, key.at(version(4_096)));
    fixture.clock.advance(DAY);
    let private = AnyPrivateKey::generate(algorithm).unwrap();
    let full = || {
        let due = store.rotate_due(&admin()).unwrap().remove(0);
        [
            code(due.result),
            code(store.rotate(&admin(), &key)),
            code(store.import_version_in(&admin(), &key, &private, &token())),
        ]
    };
    place.token.is(Mood::Away);
    assert_eq!(full(), ["limit"; 3]);
    place.token.is(Mood::Well);
    assert_eq!(full(), ["limit"; 3]);
    // A version goes, and there is a place.
    policy.min_version = version(2);
    store.set_policy(&admin(), &key, &policy).unwrap();
    store.trim(&admin(), &key, version(2)).unwrap();
    store.rotate(&admin(), &key).unwrap();
}

#[test]
fn a_store_without_its_token_goes_on() {
    let place = StandIn::new();
    let fixture = Fixture::new(&place);
    let key = fixture.key("k", "ML-DSA-44");
    let signed = fixture.sign(&key, MESSAGE);
    let clock = Clock::new(Default::default());
    let store = Store::open(fixture.storage.clone(), &kek(b"secret"), clock.options()).unwrap();
    let version = Some(signed.id.version());
    let input = Input::message(MESSAGE);
    store
        .verify(&user(), &key, version, input, &signed.signature)
        .unwrap();
    let refused = store.sign(&user(), &key, input).unwrap_err();
    assert_eq!(
        (refused.code(), refused.retry()),
        ("token-not-given", false)
    );
    assert_eq!(code(store.rotate(&admin(), &key)), "token-not-given");
    let report = store.check(&admin(), &[]).unwrap();
    let codes: Vec<_> = report.damaged.iter().map(StoreError::code).collect();
    assert_eq!(codes, ["token-not-given"]);
    // Without it, the key moves back.
    let moved = store.rotate_to(&admin(), &key, None).unwrap();
    assert_eq!(store.sign(&user(), &key, input).unwrap().id, moved);
}

#[test]
fn a_key_that_was_half_made_is_found() {
    let place = StandIn::new();
    let fixture = Fixture::new(&place);
    let store = &fixture.store;
    let key = fixture.key("k", "ML-DSA-44");
    place.token.is(Mood::AwayAfterMaking);
    assert_eq!(code(store.rotate(&admin(), &key)), "token-away");
    let new = store.create_key_in(
        &admin(),
        &name("n"),
        named("ML-DSA-44"),
        &user_policy(),
        &token(),
    );
    assert_eq!(code(new), "token-away");
    place.token.is(Mood::Well);
    assert_eq!(store.show(&admin(), &key).unwrap().versions.len(), 1);
    let orphans = store.check(&admin(), &[]).unwrap().orphans;
    assert_eq!(orphans.len(), 2);
    assert_eq!(store.remove_orphans(&admin()).unwrap(), orphans);
    assert_eq!(place.in_token().objects(store.id()).unwrap().len(), 1);
    fixture.sign(&key, MESSAGE);
}

#[test]
fn a_key_that_was_half_removed_is_removed_later() {
    let place = StandIn::new();
    let fixture = Fixture::new(&place);
    let store = &fixture.store;
    let key = fixture.key("k", "ML-DSA-44");
    let first = key.at(version(1));
    let signed = fixture.sign(&key, MESSAGE);
    for _ in 0..3 {
        store.rotate(&admin(), &key).unwrap();
    }
    store.schedule_destruction(&admin(), &first, DAY).unwrap();
    fixture.clock.advance(DAY);
    place.token.is(Mood::Away);
    let left = store.destroy(&admin(), &first).unwrap_err();
    assert_eq!((left.code(), left.retry()), ("left-in-token", true));
    let state = store.show(&admin(), &key).unwrap().versions[0].state;
    assert_eq!(state, VersionState::Destroyed { verifies: true });
    assert_eq!(code(store.destroy(&admin(), &first)), "token-away");
    place.token.is(Mood::Well);
    assert_eq!(store.check(&admin(), &[]).unwrap().orphans.len(), 1);
    assert_eq!(code(store.destroy(&user(), &first)), "denied");
    store.destroy(&admin(), &first).unwrap();
    assert_eq!(code(store.destroy(&admin(), &first)), "state");
    assert_eq!(store.check(&admin(), &[]).unwrap().orphans, []);
    fixture.verify(&first, MESSAGE, &signed.signature).unwrap();
    // Versions that are of no use any more are removed, and later their keys.
    let mut policy = user_policy();
    policy.min_version = version(4);
    store.set_policy(&admin(), &key, &policy).unwrap();
    place.token.is(Mood::Away);
    assert_eq!(
        code(store.trim(&admin(), &key, version(4))),
        "left-in-token"
    );
    place.token.is(Mood::Well);
    assert_eq!(store.remove_orphans(&admin()).unwrap().len(), 2);
    assert_eq!(place.in_token().objects(store.id()).unwrap().len(), 1);
    fixture.sign(&key, MESSAGE);
}

#[test]
fn what_a_token_answers_is_verified() {
    let place = StandIn::new();
    let fixture = Fixture::new(&place);
    let store = &fixture.store;
    let keys = ["ML-DSA-44", "SLH-DSA-SHA2-128f", "ECDSA-P256"]
        .map(|algorithm| fixture.key(&algorithm.to_ascii_lowercase(), algorithm));
    let moods = [
        Mood::SignsByAnother,
        Mood::SignsBytes(0),
        Mood::SignsBytes(64),
        Mood::SignsBytes(2420),
        Mood::SignsBytes(17_088),
        Mood::SignsBytes(100_000),
    ];
    for key in &keys {
        for mood in moods {
            place.token.is(mood);
            let refused = store
                .sign(&user(), key, Input::message(MESSAGE))
                .unwrap_err();
            assert_eq!(
                (refused.code(), refused.retry()),
                ("token-answer", false),
                "{mood:?}"
            );
        }
    }
    place.token.is(Mood::SignsAnother);
    let refused = store.sign(&user(), &keys[0], Input::message(MESSAGE));
    assert_eq!(code(refused), "token-answer");
    place.token.is(Mood::MakesAnother);
    assert_eq!(code(store.rotate(&admin(), &keys[0])), "token-answer");
    place.token.is(Mood::Well);
    for key in &keys {
        fixture.sign(key, MESSAGE);
    }
    // The key of another algorithm isn't left there.
    assert_eq!(store.check(&admin(), &[]).unwrap().orphans, []);
}

#[test]
fn an_imported_key_is_tried_out() {
    let place = StandIn::new();
    let fixture = Fixture::new(&place);
    let store = &fixture.store;
    for algorithm in ["ML-DSA-44", "ML-KEM-512", "ECDSA-P256"] {
        let key = name(&algorithm.to_ascii_lowercase());
        let made = AnyPrivateKey::generate(named(algorithm)).unwrap();
        let import = || store.import_key_in(&admin(), &key, &made, &user_policy(), &token());
        place.token.is(Mood::ImportsAnother);
        assert_eq!(code(import()), "token-answer", "{algorithm}");
        place.token.is(Mood::Away);
        assert_eq!(code(import()), "token-away", "{algorithm}");
        place.token.is(Mood::Well);
        assert_eq!(store.check(&admin(), &[]).unwrap().orphans, []);
        // What a token may have kept is found.
        place.token.is(Mood::AwayAfterMaking);
        assert_eq!(code(import()), "token-away", "{algorithm}");
        place.token.is(Mood::Well);
        assert_eq!(store.remove_orphans(&admin()).unwrap().len(), 1);
        import().unwrap();
    }
}

/// What the token did not remove when its version was destroyed is removed as what no version refers to.
#[test]
fn what_a_destroyed_version_left_is_removed() {
    let place = StandIn::new();
    let fixture = Fixture::new(&place);
    let store = &fixture.store;
    let key = fixture.key("k", "ML-DSA-44");
    let first = key.at(version(1));
    store.rotate(&admin(), &key).unwrap();
    store.schedule_destruction(&admin(), &first, DAY).unwrap();
    fixture.clock.advance(DAY);
    place.token.is(Mood::Away);
    assert_eq!(code(store.destroy(&admin(), &first)), "left-in-token");
    place.token.is(Mood::Well);
    let orphans = store.check(&admin(), &[]).unwrap().orphans;
    assert_eq!(orphans.len(), 1);
    assert_eq!(store.remove_orphans(&admin()).unwrap(), orphans);
    assert_eq!(place.in_token().objects(store.id()).unwrap().len(), 1);
    fixture.sign(&key, MESSAGE);
}

type Between = Box<dyn FnOnce() + Send>;

/// Something that happens after a token made a key, once.
struct Interrupted(Mutex<Option<Between>>);

impl Passage for Interrupted {
    fn pass<T>(
        &self,
        call: Call,
        act: impl FnOnce() -> Result<T, TokenError>,
    ) -> Result<T, TokenError> {
        let done = act();
        let between = match call {
            Call::Make => self.0.lock().unwrap().take(),
            Call::Use | Call::Remove => None,
        };
        if let Some(between) = between {
            between();
        }
        done
    }
}

/// A key that somebody removes from its token before its version is written is made anew: no version refers to what is gone.
#[test]
fn a_key_that_is_removed_before_it_is_committed_is_made_anew() {
    let place = StandIn::new();
    let fixture = Fixture::new(&place);
    let key = fixture.key("k", "ML-DSA-44");
    let interrupted = Arc::new(Passing {
        token: place.in_token(),
        passage: Interrupted(Mutex::default()),
    });
    let options = Clock::new(Default::default()).options();
    let options = options.token(token(), interrupted.clone());
    let store = Store::open(fixture.storage.clone(), &kek(b"secret"), options).unwrap();
    let remove = |removed: &Arc<AtomicUsize>| {
        let (other, removed) = (fixture.store.clone(), removed.clone());
        let between = move || {
            let orphans = other.remove_orphans(&admin()).unwrap();
            removed.fetch_add(orphans.len(), Ordering::SeqCst);
        };
        *interrupted.passage.0.lock().unwrap() = Some(Box::new(between));
    };
    let removed = Arc::new(AtomicUsize::new(0));
    remove(&removed);
    assert_eq!(store.rotate(&admin(), &key).unwrap(), key.at(version(2)));
    remove(&removed);
    let (new, algorithm) = (name("new"), named("ML-DSA-44"));
    store
        .create_key_in(&admin(), &new, algorithm, &user_policy(), &token())
        .unwrap();
    assert_eq!(removed.load(Ordering::SeqCst), 2);
    for key in [&key, &new] {
        store.sign(&user(), key, Input::message(MESSAGE)).unwrap();
    }
    let report = fixture.store.check(&admin(), &[]).unwrap();
    assert!(report.damaged.is_empty(), "{:?}", report.damaged);
    assert_eq!(report.orphans, []);
}

/// A key that was made is committed only if the token uses it under the public key that it told.
#[test]
fn a_made_key_is_tried_out() {
    let place = StandIn::new();
    let fixture = Fixture::new(&place);
    let store = &fixture.store;
    for algorithm in ["ML-DSA-44", "ML-KEM-512", "ECDSA-P256"] {
        let key = fixture.key(&algorithm.to_ascii_lowercase(), algorithm);
        let new = name("new");
        let make =
            || store.create_key_in(&admin(), &new, named(algorithm), &user_policy(), &token());
        place.token.is(Mood::TellsAnother);
        assert_eq!(code(make()), "token-answer", "{algorithm}");
        assert_eq!(
            code(store.rotate(&admin(), &key)),
            "token-answer",
            "{algorithm}"
        );
        place.token.is(Mood::Well);
        assert_eq!(code(store.show(&admin(), &new)), "not-found");
        assert_eq!(store.show(&admin(), &key).unwrap().versions.len(), 1);
        assert_eq!(store.check(&admin(), &[]).unwrap().orphans, []);
    }
}

/// A version whose private key is gone, is there twice or is another is found, also while its public key is left.
#[test]
fn a_check_tries_out_each_key() {
    for algorithm in ["ML-DSA-44", "ML-KEM-512", "ECDSA-P256"] {
        let place = StandIn::new();
        let fixture = Fixture::new(&place);
        let store = &fixture.store;
        let key = fixture.key("k", algorithm);
        let object = place.token.objects(store.id()).unwrap()[0];
        store.rotate(&admin(), &key).unwrap();
        // Also one that isn't used now.
        store.disable(&admin(), &key.at(version(1))).unwrap();
        let of = |name| AnyPrivateKey::generate(named(name)).unwrap();
        let changes: [(Vec<AnyPrivateKey>, &str); 4] = [
            (vec![], "is not in the token"),
            (vec![of(algorithm), of(algorithm)], "2 private keys"),
            (vec![of(algorithm)], "another private key"),
            (vec![of("Ed25519")], "can't be used"),
        ];
        assert!(store.check(&admin(), &[]).unwrap().damaged.is_empty());
        for (changed, reason) in changes {
            let mut kept = changed;
            place
                .token
                .change(&object, |keys| core::mem::swap(keys, &mut kept));
            let report = store.check(&admin(), &[]).unwrap();
            assert_eq!(report.orphans, []);
            let said: Vec<_> = report.damaged.iter().map(ToString::to_string).collect();
            let [said] = &said[..] else {
                panic!("{algorithm}, {reason}: {said:?}");
            };
            let row = RowKey::version(&key.at(version(1)));
            assert!(
                said.contains(row.as_str()) && said.contains(reason),
                "{said}"
            );
            place.token.change(&object, |keys| *keys = kept);
        }
    }
}

/// A store whose first token has this serial number, with four versions of a key in it. The first is to be destroyed now, and the
/// three before the last may be removed.
fn with_four_versions(serial: Option<&str>) -> (StandIn, Fixture, KeyName) {
    let place = StandIn::with(TokenInMemory::new(serial));
    let fixture = Fixture::new(&place);
    let key = fixture.key("k", "ML-DSA-44");
    for _ in 0..3 {
        fixture.store.rotate(&admin(), &key).unwrap();
    }
    let mut policy = user_policy();
    policy.min_version = version(4);
    fixture.store.set_policy(&admin(), &key, &policy).unwrap();
    let first = key.at(version(1));
    let store = &fixture.store;
    store.schedule_destruction(&admin(), &first, DAY).unwrap();
    fixture.clock.advance(DAY);
    (place, fixture, key)
}

/// The same store with another token of the same name.
fn with_token(fixture: &Fixture, another: TokenInMemory) -> Store {
    let options = fixture.clock.options().token(token(), Arc::new(another));
    Store::open(fixture.storage.clone(), &kek(b"secret"), options).unwrap()
}

/// Another token with the name of the one that has a key removes nothing, and that is said, also if neither tells its number.
#[test]
fn a_key_in_another_token_is_left() {
    let (place, fixture, key) = with_four_versions(None);
    let first = key.at(version(1));
    let other = with_token(&fixture, TokenInMemory::new(None));
    let left = other.destroy(&admin(), &first).unwrap_err();
    assert_eq!((left.code(), left.retry()), ("left-in-token", false));
    assert!(left.to_string().contains("serial number"), "{left}");
    // It is destroyed in the store. Its token removes it.
    assert_eq!(code(other.destroy(&admin(), &first)), "state");
    let objects = || place.token.objects(fixture.store.id()).unwrap().len();
    assert_eq!(objects(), 4);
    fixture.store.destroy(&admin(), &first).unwrap();
    assert_eq!(objects(), 3);
    // One that was destroyed before isn't missed when its version is removed.
    assert_eq!(code(other.trim(&admin(), &key, version(2))), "done");
    assert_eq!(
        code(other.trim(&admin(), &key, version(4))),
        "left-in-token"
    );
    assert_eq!(fixture.store.remove_orphans(&admin()).unwrap().len(), 2);
    assert_eq!(objects(), 1);
}

/// What a token didn't remove when a key was deleted or trimmed, it removes when that is done again.
#[test]
fn what_was_left_is_removed_by_doing_it_again() {
    let (place, fixture, key) = with_four_versions(Some(SERIAL));
    let store = &fixture.store;
    let objects = || place.token.objects(store.id()).unwrap().len();
    let other = with_token(&fixture, TokenInMemory::new(Some("B 2")));
    let first = key.at(version(1));
    store.cancel_destruction(&admin(), &first).unwrap();
    for _ in 0..2 {
        let left = code(other.trim(&admin(), &key, version(3)));
        assert_eq!((left, objects()), ("left-in-token", 4));
    }
    // Their rows say yet where they are.
    assert_eq!(store.show(&admin(), &key).unwrap().versions.len(), 4);
    store.trim(&admin(), &key, version(3)).unwrap();
    assert_eq!(store.show(&admin(), &key).unwrap().versions.len(), 2);
    assert_eq!(objects(), 2);
    let mut policy = user_policy();
    policy.min_version = version(4);
    policy.destroy_after = Duration::ZERO;
    store.set_policy(&admin(), &key, &policy).unwrap();
    for _ in 0..2 {
        let left = code(other.delete(&admin(), &key));
        assert_eq!((left, objects()), ("left-in-token", 2));
    }
    assert_eq!(code(store.rotate(&admin(), &key)), "deleted");
    for _ in 0..2 {
        store.delete(&admin(), &key).unwrap();
        assert_eq!(objects(), 0);
    }
}

/// A row says in which token a key was made. With another one it is neither used nor taken for gone.
#[test]
fn a_key_is_told_from_those_of_another_token() {
    let (place, fixture, key) = with_four_versions(Some(SERIAL));
    let kem = fixture.key("kem", "ML-KEM-512");
    let made = fixture.store.encapsulate(&user(), &kem).unwrap();
    let serials = fixture.store.show(&admin(), &key).unwrap().versions;
    for found in serials {
        assert_eq!(found.token_serial, TokenSerial::new(SERIAL));
    }
    for another in [Some("B 2"), None] {
        let other = with_token(&fixture, TokenInMemory::new(another));
        let words = [SERIAL, another.unwrap_or("none")];
        let says_both =
            |said: String| assert!(words.iter().all(|word| said.contains(word)), "{said}");
        let errors = [
            other.sign(&user(), &key, Input::message(MESSAGE)).map(drop),
            other
                .decapsulate(&user(), &made.id, &made.ciphertext)
                .map(drop),
        ];
        for error in errors.map(Result::unwrap_err) {
            assert_eq!((error.code(), error.retry()), ("token-another", false));
            says_both(error.to_string());
        }
        let report = other.check(&admin(), &[]).unwrap();
        assert!(!report.damaged.is_empty());
        for damaged in report.damaged {
            assert_eq!(damaged.code(), "token-another");
            says_both(damaged.to_string());
        }
    }
    let other = with_token(&fixture, TokenInMemory::new(Some("B 2")));
    // What is made in it is its own, and the key goes on.
    let fifth = other.rotate(&admin(), &key).unwrap();
    other.sign(&user(), &key, Input::message(MESSAGE)).unwrap();
    assert_eq!(
        code(
            fixture
                .store
                .sign_by(&user(), &fifth, Input::message(MESSAGE))
        ),
        "token-another"
    );
    // It is never said to be gone.
    let first = key.at(version(1));
    assert_eq!(code(other.destroy(&admin(), &first)), "left-in-token");
    let again = other.destroy(&admin(), &first).unwrap_err();
    assert_eq!(again.code(), "token-another");
    let objects = || place.token.objects(fixture.store.id()).unwrap().len();
    assert_eq!(objects(), 5);
    fixture.store.destroy(&admin(), &first).unwrap();
    assert_eq!(objects(), 4);
    assert_eq!(code(fixture.store.destroy(&admin(), &first)), "state");
    assert_eq!(code(other.destroy(&admin(), &first)), "token-another");
    for first in [2, 3] {
        let trimmed = other.trim(&admin(), &key, version(first)).unwrap_err();
        assert_eq!(trimmed.code(), "left-in-token");
        says_where(&trimmed);
    }
    assert_eq!(fixture.store.remove_orphans(&admin()).unwrap().len(), 1);
    assert_eq!(objects(), 3);
}

fn says_where(error: &StoreError) {
    let said = error.to_string();
    assert!(said.contains(SERIAL) && said.contains("B 2"), "{said}");
}

/// A backup of a token that was restored in another one signs. What is removed there is in the first one yet.
#[test]
fn a_copy_of_a_token_signs_and_destroys_nothing() {
    let (place, fixture, key) = with_four_versions(Some(SERIAL));
    let other = with_token(&fixture, place.token.copy("B 2"));
    other.sign(&user(), &key, Input::message(MESSAGE)).unwrap();
    let report = other.check(&admin(), &[]).unwrap();
    assert!(report.damaged.is_empty(), "{:?}", report.damaged);
    let left = other.destroy(&admin(), &key.at(version(1))).unwrap_err();
    assert_eq!(left.code(), "left-in-token");
    says_where(&left);
    assert_eq!(other.check(&admin(), &[]).unwrap().orphans.len(), 1);
}

/// A key is committed only with the serial number of the token in which it was made: one that takes its place meanwhile is noticed.
#[test]
fn a_token_that_is_replaced_while_it_makes_a_key_is_noticed() {
    let place = StandIn::new();
    let fixture = Fixture::new(&place);
    let key = fixture.key("k", "ML-DSA-44");
    let replaced = Arc::new(Passing {
        token: place.in_token(),
        passage: Interrupted(Mutex::default()),
    });
    let options = fixture.clock.options().token(token(), replaced.clone());
    let store = Store::open(fixture.storage.clone(), &kek(b"secret"), options).unwrap();
    let held = place.token;
    *replaced.passage.0.lock().unwrap() = Some(Box::new(move || held.becomes("B 2")));
    assert_eq!(code(store.rotate(&admin(), &key)), "token-another");
    assert_eq!(store.show(&admin(), &key).unwrap().versions.len(), 1);
    store.rotate(&admin(), &key).unwrap();
    store.sign(&user(), &key, Input::message(MESSAGE)).unwrap();
}
