//! Many threads at once, several stores over one storage, and a storage that goes away.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use pq_keystore::policy::{Input, Principal, UseAudit, Verb, WhenAway};
use pq_keystore::storage::{Change, CommitError, Committed, Storage, StorageError};
use pq_keystore::{KeyId, KeyName, Scope, SignRequest, Signed, Store, Version};

use crate::amounts::signatures;
use crate::around::{Around, Behaviour};
use crate::kit::{Fixture, admin, code, counted, kek, user};
use crate::places::Place;

/// Two stores rotate what is due at the same time: the second one has found the key due before the first one rotated it.
pub(crate) fn a_due_key_is_rotated_once(place: &impl Place) {
    let fixture = Fixture::new(place);
    let day = Duration::from_secs(24 * 60 * 60);
    let due = |policy: &mut pq_keystore::policy::Policy| policy.rotate_after = Some(7 * day);
    let key = fixture.key_with("k", "ML-DSA-44", due);
    fixture.clock.advance(7 * day);
    // A server rotates by itself under this name, without a grant.
    let auto = Principal::new("auto-rotate").unwrap();
    for (round, who) in [(1, &admin()), (2, &auto)] {
        let (first, clock) = (fixture.store.clone(), fixture.clock.clone());
        let left = Arc::new(AtomicUsize::new(0));
        let trap = (left.clone(), who.clone());
        let options = fixture.clock.options().clock(move || {
            // The second one asks for the time to note it, and again when it has read the key.
            let (left, who) = &trap;
            let before = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            });
            if before == Ok(1) {
                assert_eq!(first.rotate_due(who).unwrap().len(), 1);
            }
            clock.now()
        });
        let second = Store::open(fixture.storage.clone(), &kek(b"secret"), options).unwrap();
        second.show(&admin(), &key).unwrap();
        left.store(2, Ordering::SeqCst);
        assert_eq!(second.rotate_due(who).unwrap().len(), 0);
        assert_eq!(left.load(Ordering::SeqCst), 0);
        let versions = second.show(&admin(), &key).unwrap().versions;
        assert_eq!(versions.len(), 1 + round);
        fixture.clock.advance(7 * day);
    }
    let log = fixture.store.audit_log(&admin(), 1, 1_000).unwrap();
    let own: Vec<_> = log
        .iter()
        .filter(|entry| entry.principal.as_ref() == Some(&auto))
        .collect();
    assert!(own.len() == 1 && own[0].verb == Verb::Rotate, "{own:?}");
}

/// Rotates a key every 10 ms, and removes old versions before there are too many.
pub(crate) struct Rotation<'a> {
    store: &'a Store,
    key: &'a KeyName,
}

impl<'a> Rotation<'a> {
    /// How often old versions are removed, and how many are kept then.
    const TRIMMED_EVERY: u32 = 1_000;
    const KEPT: u32 = 500;

    pub(crate) fn of(store: &'a Store, key: &'a KeyName) -> Self {
        Self { store, key }
    }

    /// Makes a version, and waits.
    pub(crate) fn rotate(&self) -> Version {
        let version = self.store.rotate(&admin(), self.key).unwrap().version();
        if version.get().is_multiple_of(Self::TRIMMED_EVERY) {
            let first = Version::new(version.get() - Self::KEPT).unwrap();
            let mut policy = self.store.show(&admin(), self.key).unwrap().policy;
            policy.min_version = first;
            self.store.set_policy(&admin(), self.key, &policy).unwrap();
            self.store.trim(&admin(), self.key, first).unwrap();
        }
        thread::sleep(Duration::from_millis(10));
        version
    }
}

/// Signs a message, and verifies the signature under the version that it names, and under no other: not under the one
/// before, and not under the one after, which may have been made since.
pub(crate) fn sign_and_verify(store: &Store, key: &KeyName, message: &[u8]) -> Signed {
    let input = Input::message(message);
    let made = store.sign(&user(), key, input).unwrap();
    let by = |version| store.verify(&user(), key, version, input, &made.signature);
    let version = made.id.version();
    assert_eq!(by(Some(version)).unwrap(), made.id);
    if let Some(before) = Version::new(version.get() - 1) {
        // It may have been removed, if this thread was stopped for long.
        let code = code(by(Some(before)));
        assert!(
            [
                "invalid-signature",
                "below-min-version",
                "version-not-found"
            ]
            .contains(&code),
            "{code}"
        );
    }
    let code = code(by(version.next()));
    assert!(
        ["invalid-signature", "version-not-found"].contains(&code),
        "{code}"
    );
    made
}

pub(crate) fn signatures_under_rotation(place: &impl Place) {
    const THREADS: u64 = 8;
    // So many of each thread are kept, and verified again at the end.
    const KEPT: u64 = 100;
    let each = signatures() / THREADS;
    let fixture = Fixture::new(place);
    let key = fixture.key("k", "ML-DSA-44");
    let done = AtomicBool::new(false);
    let signed = Mutex::new(Vec::new());
    let started = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            let rotation = Rotation::of(&fixture.store, &key);
            while !done.load(Ordering::Acquire) {
                rotation.rotate();
            }
        });
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                let (fixture, key, signed) = (&fixture, &key, &signed);
                scope.spawn(move || {
                    let mut own = Vec::new();
                    let mut last = Version::FIRST;
                    for index in 0..each {
                        let message = format!("{number} {index}").into_bytes();
                        let made = sign_and_verify(&fixture.store, key, &message);
                        // A thread never goes back to an older version.
                        assert!(made.id.version() >= last);
                        last = made.id.version();
                        if index + KEPT >= each {
                            own.push((message, made));
                        }
                    }
                    signed.lock().unwrap().extend(own);
                })
            })
            .collect();
        // The rotation ends also after a failure.
        let mut joined = Vec::new();
        for thread in threads {
            joined.push(thread.join());
        }
        done.store(true, Ordering::Release);
        for thread in joined {
            thread.unwrap();
        }
    });
    let signed = signed.into_inner().unwrap();
    let newest = fixture.store.show(&admin(), &key).unwrap().versions;
    println!(
        "{} signatures in {:?}, {} rotations",
        THREADS * each,
        started.elapsed(),
        newest[newest.len() - 1].version
    );
    assert_eq!(signed.len() as u64, THREADS * each.min(KEPT));
    let fixture = fixture.reopened();
    let public = fixture.store.show(&admin(), &key).unwrap().versions;
    let first = public[0].version.get();
    for (message, made) in &signed {
        let Some(position) = made.id.version().get().checked_sub(first) else {
            continue;
        };
        let own = position as usize;
        let beside = public.iter().enumerate().skip(own.saturating_sub(1));
        for (other, version) in beside.take(3) {
            let verified = version.public_key.verify(message, &made.signature);
            assert_eq!(verified.is_ok(), other == own);
        }
    }
    let entries = fixture.store.check(&admin(), &[]).unwrap();
    assert!(entries.damaged.is_empty());
    assert_eq!(entries.versions, public.len());
    // Each use was counted.
    assert_eq!(counted(&fixture.store, Verb::Sign), THREADS * each);
}

/// Waits until something is so.
fn wait_until(holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "it has taken a minute"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn stores_see_each_other(place: &impl Place) {
    let fixture = Fixture::new(place);
    let key = fixture.key("k", "ML-DSA-44");
    let other = Store::open(
        fixture.storage.clone(),
        &kek(b"secret"),
        fixture.clock.options(),
    )
    .unwrap();
    let input = Input::message(b"message");
    let signing_version = || other.sign(&user(), &key, input).map(|signed| signed.id);
    let first = signing_version().unwrap();
    let second = fixture.store.rotate(&admin(), &key).unwrap();
    wait_until(|| signing_version().unwrap() == second);
    fixture.store.disable(&admin(), &second).unwrap();
    wait_until(|| signing_version().unwrap() == first);
    fixture.store.disable(&admin(), &first).unwrap();
    wait_until(|| code(signing_version()) == "no-enabled-version");
    // Both rotate one key at once: each gets a version of its own.
    let made: Mutex<Vec<KeyId>> = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for store in [&fixture.store, &other] {
            scope.spawn(|| {
                for _ in 0..10 {
                    let id = store.rotate(&admin(), &key).unwrap();
                    made.lock().unwrap().push(id);
                }
            });
        }
    });
    let mut made = made.into_inner().unwrap();
    made.sort();
    let numbers: Vec<_> = made.iter().map(|id| id.version().get()).collect();
    assert_eq!(numbers, (3..=22).collect::<Vec<_>>());
    assert!(other.check(&admin(), &[]).unwrap().damaged.is_empty());
}

/// A storage that can be taken away, and whose commits can lose their answers.
struct Fragile {
    storage: Arc<dyn Storage>,
    is_away: AtomicBool,
    loses_answers: AtomicBool,
    /// What happens in the place of the next commit, whose outcome is then unknown.
    instead: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Fragile {
    fn around(storage: Arc<dyn Storage>) -> Arc<Around<Self>> {
        Arc::new(Around(Self {
            storage,
            is_away: AtomicBool::new(false),
            loses_answers: AtomicBool::new(false),
            instead: Mutex::new(None),
        }))
    }
}

impl Behaviour for Fragile {
    fn within(&self) -> Arc<dyn Storage> {
        self.storage.clone()
    }

    fn reach(&self) -> Result<(), StorageError> {
        match self.is_away.load(Ordering::Acquire) {
            true => Err(StorageError::Away {
                storage: "it".into(),
                reason: "taken away".into(),
            }),
            false => Ok(()),
        }
    }

    fn commit(&self, change: &Change) -> Result<Committed, CommitError> {
        let lost = CommitError::OutcomeUnknown {
            storage: "it".into(),
            reason: "the answer was lost".into(),
        };
        if let Some(act) = self.instead.lock().unwrap().take() {
            act();
            return Err(lost);
        }
        let made = self.storage.commit(change)?;
        match self.loses_answers.load(Ordering::Acquire) {
            true => Err(lost),
            false => Ok(made),
        }
    }
}

pub(crate) fn the_storage_is_away(place: &impl Place) {
    let fixture = Fixture::new(place);
    let goes_on = fixture.key_with("goes-on", "ML-DSA-44", |policy| {
        policy.when_away = WhenAway::UseFor(Duration::from_secs(60 * 60));
    });
    let refuses = fixture.key_with("refuses", "ML-DSA-44", |policy| {
        policy.when_away = WhenAway::Refuse
    });
    let each = fixture.key_with("each", "ML-DSA-44", |policy| policy.audit = UseAudit::Each);
    let unknown = fixture.key("unknown", "ML-DSA-44");
    let fragile = Fragile::around(fixture.storage.clone());
    let store = Store::open(fragile.clone(), &kek(b"secret"), fixture.clock.options()).unwrap();
    let sign = |key| store.sign(&user(), key, Input::message(b"message"));
    for key in [&goes_on, &refuses, &each] {
        sign(key).unwrap();
    }
    fragile.is_away.store(true, Ordering::Release);
    // Two seconds of silence are no absence yet.
    wait_until(|| code(sign(&refuses)) == "away");
    assert!(sign(&refuses).unwrap_err().retry());
    sign(&goes_on).unwrap();
    for (refused, what) in [
        (code(sign(&each)), "each"),
        (code(sign(&unknown)), "unknown"),
    ] {
        assert_eq!(refused, "away", "{what}");
    }
    // Of a batch, those whose entry can't be written.
    let requests = [&goes_on, &each].map(|key| SignRequest {
        key,
        input: Input::message(b"message"),
    });
    let made = store.sign_batch(&user(), &requests);
    let codes: Vec<_> = made.into_iter().map(code).collect();
    assert_eq!(codes, ["done", "away"]);
    // A change that can't be made takes no key from those who use it.
    let rotated = store.rotate(&admin(), &goes_on);
    assert!(rotated.as_ref().unwrap_err().retry());
    assert_eq!(code(rotated), "away");
    sign(&goes_on).unwrap();
    fragile.is_away.store(false, Ordering::Release);
    wait_until(|| code(sign(&refuses)) == "done");
    sign(&each).unwrap();

    // A change whose answer is lost was made once, and is known to be.
    fragile.loses_answers.store(true, Ordering::Release);
    let second = store.rotate(&admin(), &goes_on).unwrap();
    assert_eq!(second.version().get(), 2);
    assert_eq!(sign(&goes_on).unwrap().id, second);
    fragile.loses_answers.store(false, Ordering::Release);
    assert_eq!(store.show(&admin(), &goes_on).unwrap().versions.len(), 2);
    // What was counted meanwhile is not lost.
    let entries = store.audit_log(&admin(), 1, 1000).unwrap();
    let of = entries
        .iter()
        .filter(|entry| entry.key.as_ref() == Some(&goes_on) && entry.principal == Some(user()));
    assert_eq!(of.map(|entry| entry.count).sum::<u64>(), 5);
    assert!(store.check(&admin(), &[]).unwrap().damaged.is_empty());
}

/// A key that is used goes on with a version that was made just before the storage went away, by this process or another.
pub(crate) fn a_new_version_signs_while_away(place: &impl Place) {
    let fixture = Fixture::new(place);
    let key = fixture.key_with("k", "ML-DSA-44", |policy| {
        policy.when_away = WhenAway::UseFor(Duration::from_secs(60 * 60));
    });
    let fragile = Fragile::around(fixture.storage.clone());
    let store = Store::open(fragile.clone(), &kek(b"secret"), fixture.clock.options()).unwrap();
    let sign = || store.sign(&user(), &key, Input::message(b"message"));
    sign().unwrap();
    for _ in 0..2 {
        let made = store.rotate(&admin(), &key).unwrap();
        fragile.is_away.store(true, Ordering::Release);
        assert_eq!(sign().unwrap().id, made);
        fragile.is_away.store(false, Ordering::Release);
    }
}

/// A commit without an answer that was not made is told from one that was, also if another change has its place in the log.
pub(crate) fn a_lost_commit_is_made_once(place: &impl Place) {
    let fixture = Fixture::new(place);
    let key = fixture.key("k", "ML-DSA-44");
    let fragile = Fragile::around(fixture.storage.clone());
    let store = Store::open(fragile.clone(), &kek(b"secret"), fixture.clock.options()).unwrap();
    let (other, name) = (fixture.store.clone(), key.clone());
    let instead = move || {
        let id = other.rotate(&admin(), &name).unwrap();
        assert_eq!(id.version().get(), 2);
    };
    // Nothing was counted that the store's thread would write now.
    *fragile.instead.lock().unwrap() = Some(Box::new(instead));
    let id = store.rotate(&admin(), &key).unwrap();
    assert_eq!(id.version().get(), 3);
    let versions = fixture.store.show(&admin(), &key).unwrap().versions;
    assert_eq!(versions.len(), 3);
    // And one that nobody took the place of is made at the next try.
    *fragile.instead.lock().unwrap() = Some(Box::new(|| ()));
    assert_eq!(store.rotate(&admin(), &key).unwrap().version().get(), 4);
    assert!(store.check(&admin(), &[]).unwrap().damaged.is_empty());
}

/// What the store grants is seen by others, and so is what it no longer grants.
pub(crate) fn grants_are_seen_by_others(place: &impl Place) {
    let fixture = Fixture::new(place);
    let key = fixture.key_with("k", "ML-DSA-44", |policy| {
        policy.grants = Default::default()
    });
    let other = Store::open(
        fixture.storage.clone(),
        &kek(b"secret"),
        fixture.clock.options(),
    )
    .unwrap();
    let sign = || code(other.sign(&user(), &key, Input::message(b"message")));
    assert_eq!(sign(), "denied");
    let none = fixture.store.store_grants(&admin()).unwrap();
    let some = none.clone().grant(&Scope::all(), &user(), Verb::Sign);
    for (grants, expected) in [(&some, "done"), (&none, "denied")] {
        fixture.store.set_store_grants(&admin(), grants).unwrap();
        wait_until(|| sign() == expected);
    }
}
