//! What the log says of uses and changes, and what becomes of both if it can't be written.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Mutex;
use std::thread;

use pq_keys::any::AnyPrivateKey;
use pq_keystore::audit::{AuditEntry, Deed, Outcome};
use pq_keystore::policy::{Grants, Input, Policy, Principal, Role, UseAudit, Verb};
use pq_keystore::storage::{Change, CommitError, Committed, MemoryStorage, Storage, StorageError};
use pq_keystore::{Scope, SignRequest, Store, StoreError, StoreOptions, VerifyRequest};

use crate::around::{Around, Behaviour};
use crate::kit::{
    Fixture, admin, code, counted, kek, name, named, stranger, user, user_policy, version,
};
use crate::places::Place;

const MESSAGE: &[u8] = b"message";

/// Who did what with which version of which key, and how it went.
type Said = (String, &'static str, String, Option<u32>, String);

fn said(entry: &AuditEntry) -> Said {
    let outcome = match &entry.outcome {
        Outcome::Refused(code) => code,
        _ => "done",
    };
    let who = entry.principal.as_ref().map(ToString::to_string);
    let key = entry.key.as_ref().map(ToString::to_string);
    (
        who.unwrap_or_default(),
        entry.verb.name(),
        key.unwrap_or_default(),
        entry.version.map(|version| version.get()),
        outcome.into(),
    )
}

/// Each use is in the log with who did it, by which version, and how it went: also of two principals who do the same, and of
/// two keys.
fn uses_are_logged(place: &impl Place, audit: UseAudit) {
    let people = [user(), Principal::new("other").unwrap()];
    let fixture = Fixture::new(place);
    let store = &fixture.store;
    let policy = |policy: &mut Policy| {
        policy.audit = audit;
        let grant = |grants: Grants, one| grants.grant(one, Role::User.verbs());
        policy.grants = people.iter().fold(Grants::new(), grant);
    };
    let [first, second] = ["a", "b"].map(|text| fixture.key_with(text, "ML-DSA-44", policy));
    let kem = fixture.key_with("kem", "ML-KEM-768", policy);
    for key in [&first, &second, &kem] {
        store.rotate(&admin(), key).unwrap();
    }
    let begin = fixture.storage.get(&[]).unwrap().head.sequence;
    let mut expected: BTreeMap<Said, u64> = BTreeMap::new();
    let mut uses = 0;
    let mut did = |who: &Principal, verb: Verb, key: String, number: Option<u32>, code: &str| {
        let said = (who.to_string(), verb.name(), key, number, code.to_owned());
        *expected.entry(said).or_default() += 1;
        uses += 1;
        if audit == UseAudit::Each {
            let head = fixture.storage.get(&[]).unwrap().head.sequence;
            assert_eq!(head, begin + uses, "{verb} of {who}");
        }
    };
    let input = Input::message(MESSAGE);
    for (who, times) in people.iter().zip(1..) {
        for _ in 0..times {
            for key in [&first, &second] {
                let signed = store.sign(who, key, input).unwrap();
                did(who, Verb::Sign, key.to_string(), Some(2), "done");
                let old = store.sign_by(who, &key.at(version(1)), input).unwrap();
                did(who, Verb::Sign, key.to_string(), Some(1), "done");
                let verify = |version, signature: &[u8]| {
                    code(store.verify(who, key, version, input, signature))
                };
                assert_eq!(verify(Some(version(2)), &signed.signature), "done");
                did(who, Verb::Verify, key.to_string(), Some(2), "done");
                assert_eq!(verify(None, &old.signature), "done");
                did(who, Verb::Verify, key.to_string(), Some(1), "done");
                let wrong = "invalid-signature";
                assert_eq!(verify(Some(version(2)), &old.signature), wrong);
                did(who, Verb::Verify, key.to_string(), Some(2), wrong);
                assert_eq!(verify(None, b"none"), wrong);
                did(who, Verb::Verify, key.to_string(), None, wrong);
            }
            let made = store.encapsulate(who, &kem).unwrap();
            did(who, Verb::Encapsulate, kem.to_string(), Some(2), "done");
            store.decapsulate(who, &made.id, &made.ciphertext).unwrap();
            did(who, Verb::Decapsulate, kem.to_string(), Some(2), "done");
        }
    }
    if audit == UseAudit::Counted {
        // And what somebody may not do, with a key or with the store.
        let none = stranger();
        let id = second.at(version(1));
        assert_eq!(code(store.sign(&none, &first, input)), "denied");
        did(&none, Verb::Sign, first.to_string(), None, "denied");
        assert_eq!(code(store.disable(&none, &id)), "denied");
        did(&none, Verb::Disable, second.to_string(), None, "denied");
        assert_eq!(code(store.check(&none, &[])), "denied");
        did(&none, Verb::Audit, String::new(), None, "denied");
        assert_eq!(code(store.store_grants(&people[1])), "denied");
        did(&people[1], Verb::Administer, String::new(), None, "denied");
    }
    let entries = store.audit_log(&admin(), begin + 1, 1000).unwrap();
    let mut found: BTreeMap<Said, u64> = BTreeMap::new();
    for entry in &entries {
        *found.entry(said(entry)).or_default() += entry.count;
    }
    assert_eq!(found, expected);
    assert!(audit == UseAudit::Counted || entries.iter().all(|entry| entry.count == 1));
}

pub(crate) fn counts_say_who_did_what(place: &impl Place) {
    uses_are_logged(place, UseAudit::Counted);
}

pub(crate) fn each_use_says_who_did_it(place: &impl Place) {
    uses_are_logged(place, UseAudit::Each);
}

/// Whatever is changed is in the log once, with the key and the version.
pub(crate) fn the_log_says_what_was_changed(place: &impl Place) {
    let fixture = Fixture::new(place);
    let store = &fixture.store;
    let first = store.audit_log(&admin(), 1, 1).unwrap();
    assert_eq!(first[0].deed, Some(Deed::Init));
    let grants = store.store_grants(&admin()).unwrap();
    let grants = grants.grant(&Scope::all(), &admin(), Verb::Export);
    let day = Duration::from_secs(24 * 60 * 60);
    let (key, imported) = (name("k"), name("i"));
    let mut policy = Policy::default();
    policy.exportable = true;
    policy.rotate_after = Some(10 * day);
    let algorithm = named("Ed25519");
    let made = AnyPrivateKey::generate(algorithm).unwrap();
    let [first, second] = [1, 2].map(|number| key.at(version(number)));
    let log_of = |verb: Verb, key: &str, number: Option<u32>, act: &dyn Fn() -> &'static str| {
        let before = fixture.storage.get(&[]).unwrap().head.sequence;
        assert_eq!(act(), "done", "{verb}");
        let entries = store.audit_log(&admin(), before + 1, 1000).unwrap();
        let found: Vec<_> = entries.iter().map(said).collect();
        let expected = (
            admin().to_string(),
            verb.name(),
            key.to_owned(),
            number,
            "done".to_owned(),
        );
        assert_eq!(found, [expected]);
        let is_change = !matches!(verb, Verb::Attest);
        assert_eq!(entries[0].row.is_some(), is_change, "{verb}");
        assert_eq!(store.last_audit_entries(&admin(), 1).unwrap(), entries);
        entries[0].deed
    };
    let logged = |verb: Verb, key: &str, number: Option<u32>, act: &dyn Fn() -> &'static str| {
        assert_eq!(log_of(verb, key, number, act), None);
    };
    // Where a verb stands for several things, the log says which.
    let did = |deed: Deed, key: &str, number: Option<u32>, act: &dyn Fn() -> &'static str| {
        assert_eq!(log_of(deed.verb(), key, number, act), Some(deed));
    };
    let (k, i) = (key.to_string(), imported.to_string());
    let (k, i) = (k.as_str(), i.as_str());
    did(Deed::SetGrants, "", None, &|| {
        code(store.set_store_grants(&admin(), &grants))
    });
    logged(Verb::Create, k, Some(1), &|| {
        code(store.create_key(&admin(), &key, algorithm, &policy))
    });
    logged(Verb::Rotate, k, Some(2), &|| {
        code(store.rotate(&admin(), &key))
    });
    logged(Verb::Import, i, Some(1), &|| {
        code(store.import_key(&admin(), &imported, &made, &policy))
    });
    logged(Verb::Import, i, Some(2), &|| {
        code(store.import_version(&admin(), &imported, &made))
    });
    logged(Verb::Export, k, Some(1), &|| {
        code(store.export(&admin(), &first))
    });
    logged(Verb::SetPolicy, k, None, &|| {
        code(store.set_policy(&admin(), &key, &policy))
    });
    logged(Verb::Attest, k, None, &|| {
        code(store.attest(&admin(), &key))
    });
    did(Deed::ScheduleDestruction, k, Some(1), &|| {
        code(store.schedule_destruction(&admin(), &first, day))
    });
    did(Deed::CancelDestruction, k, Some(1), &|| {
        code(store.cancel_destruction(&admin(), &first))
    });
    logged(Verb::Enable, k, Some(1), &|| {
        code(store.enable(&admin(), &first))
    });
    logged(Verb::Disable, k, Some(1), &|| {
        code(store.disable(&admin(), &first))
    });
    did(Deed::ScheduleDestruction, k, Some(1), &|| {
        code(store.schedule_destruction(&admin(), &first, day))
    });
    fixture.clock.advance(day);
    did(Deed::Destroy, k, Some(1), &|| {
        code(store.destroy(&admin(), &first))
    });
    did(Deed::Trim, k, Some(2), &|| {
        code(store.trim(&admin(), &key, second.version()))
    });
    did(Deed::Rewrap, "", None, &|| {
        code(store.rewrap(&admin(), &kek(b"secret")))
    });
}

type Before = Box<dyn FnOnce() + Send>;

/// A storage that makes so many commits yet, and where something happens before a commit, once.
struct Limited {
    storage: Arc<MemoryStorage>,
    left: AtomicUsize,
    before: Mutex<Option<Before>>,
}

impl Limited {
    fn new() -> Arc<Around<Self>> {
        Arc::new(Around(Self {
            storage: Arc::new(MemoryStorage::new()),
            left: AtomicUsize::new(usize::MAX),
            before: Mutex::default(),
        }))
    }

    fn makes(&self, commits: usize) {
        self.left.store(commits, Ordering::SeqCst);
    }
}

impl Behaviour for Limited {
    fn within(&self) -> Arc<dyn Storage> {
        self.storage.clone()
    }

    fn commit(&self, change: &Change) -> Result<Committed, CommitError> {
        let before = self.before.lock().unwrap().take();
        if let Some(before) = before {
            before();
        }
        let count = |left: usize| match left {
            usize::MAX => Some(left),
            left => left.checked_sub(1),
        };
        let left = &self.left;
        match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count) {
            Ok(_) => self.storage.commit(change),
            Err(_) => Err(CommitError::Storage(StorageError::Full {
                storage: self.storage.description(),
                reason: "no space".into(),
            })),
        }
    }
}

fn granted(audit: UseAudit) -> Policy {
    let mut policy = Policy::default();
    policy.audit = audit;
    policy.exportable = true;
    policy.grants = Grants::new()
        .grant(&user(), Role::User.verbs())
        .grant(&user(), Verb::Export)
        .grant(&user(), Verb::Attest);
    policy
}

/// Where each use is in the log before its result is given out, nothing is given out that could not be written there.
#[test]
fn what_is_not_in_the_log_is_not_given_out() {
    let storage = Limited::new();
    let options = StoreOptions::default();
    let store = Store::create(storage.clone(), &kek(b"secret"), &admin(), options).unwrap();
    let [each, free, kem] = ["each", "free", "kem"].map(name);
    for (key, algorithm, audit) in [
        (&each, "Ed25519", UseAudit::Each),
        (&free, "Ed25519", UseAudit::Counted),
        (&kem, "ML-KEM-768", UseAudit::Each),
    ] {
        let made = store.create_key(&admin(), key, named(algorithm), &granted(audit));
        made.unwrap();
    }
    let input = Input::message(MESSAGE);
    let [signed, free_signed] =
        [&each, &free].map(|key| store.sign(&user(), key, input).unwrap().signature);
    let made = store.encapsulate(&user(), &kem).unwrap();
    let id = each.at(version(1));
    let first = Some(version(1));
    let uses = || {
        let requests = [&each, &free].map(|key| SignRequest { key, input });
        let batch = store.sign_batch(&user(), &requests);
        let verified =
            [(&each, &signed), (&free, &free_signed)].map(|(key, signature)| VerifyRequest {
                key,
                version: first,
                input,
                signature,
            });
        let verified = store.verify_batch(&user(), &verified);
        let mut codes = vec![
            code(store.sign(&user(), &free, input)),
            code(store.sign(&user(), &each, input)),
            code(store.sign_by(&user(), &id, input)),
            code(store.verify(&user(), &each, first, input, &signed)),
            code(store.verify(&user(), &each, None, input, &signed)),
            code(store.encapsulate(&user(), &kem)),
            code(store.decapsulate(&user(), &made.id, &made.ciphertext)),
            code(store.export(&user(), &id)),
            code(store.attest(&user(), &each)),
        ];
        codes.extend(batch.into_iter().rev().map(code));
        codes.extend(verified.into_iter().rev().map(code));
        codes
    };
    assert_eq!(uses(), ["done"; 13]);
    storage.makes(0);
    let full = "storage-full";
    let mut expected = [full; 13];
    // Those that are counted go on.
    for counted in [0, 9, 11] {
        expected[counted] = "done";
    }
    assert_eq!(uses(), expected);
    storage.makes(usize::MAX);
    assert_eq!(uses(), ["done"; 13]);
}

/// What was counted while the storage took nothing, or took some of it, is in the log once.
#[test]
fn counts_are_written_once() {
    let storage = Limited::new();
    let options = StoreOptions::default();
    let store = Store::create(storage.clone(), &kek(b"secret"), &admin(), options).unwrap();
    let keys = ["a", "b"].map(name);
    let mut policy = Policy::default();
    policy.grants = Grants::new().grant_anyone(Verb::Sign);
    for key in &keys {
        let made = store.create_key(&admin(), key, named("Ed25519"), &policy);
        made.unwrap();
    }
    let mut uses = 0;
    // Of both keys more than one change of the log takes.
    for commits in [0, 1, 0, usize::MAX] {
        storage.makes(0);
        for (key, number) in keys.iter().flat_map(|key| (0..200).map(move |n| (key, n))) {
            let who = Principal::new(&format!("p{number}")).unwrap();
            store.sign(&who, key, Input::message(MESSAGE)).unwrap();
            uses += 1;
        }
        storage.makes(commits);
        let read = store.audit_log(&admin(), 1, 1);
        assert_eq!(read.is_ok(), commits == usize::MAX);
    }
    assert_eq!(counted(&store, Verb::Sign), uses);
}

/// A private key leaves the store only if its version is enabled then, whatever was known when it was read.
#[test]
fn a_version_that_was_disabled_meanwhile_is_not_exported() {
    let storage = Limited::new();
    let options = StoreOptions::default();
    let store = Store::create(storage.clone(), &kek(b"secret"), &admin(), options.clone());
    let store = store.unwrap();
    let key = name("k");
    let made = store.create_key(
        &admin(),
        &key,
        named("Ed25519"),
        &granted(UseAudit::Counted),
    );
    let id = made.unwrap();
    store.export(&user(), &id).unwrap();
    let other = Store::open(storage.storage.clone(), &kek(b"secret"), options).unwrap();
    *storage.before.lock().unwrap() = Some(Box::new({
        let id = id.clone();
        move || other.disable(&admin(), &id).unwrap()
    }));
    let refused = store.export(&user(), &id);
    assert!(
        matches!(refused, Err(StoreError::State { .. })),
        "{refused:?}"
    );
}

/// A storage that makes changes and then doesn't answer, if it is told to, and tells nobody of changes.
#[derive(Default)]
struct Silent {
    storage: Arc<MemoryStorage>,
    answers_nothing: AtomicBool,
}

impl Behaviour for Silent {
    fn within(&self) -> Arc<dyn Storage> {
        self.storage.clone()
    }

    fn commit(&self, change: &Change) -> Result<Committed, CommitError> {
        let made = self.storage.commit(change)?;
        match self.answers_nothing.swap(false, Ordering::SeqCst) {
            false => Ok(made),
            true => Err(CommitError::OutcomeUnknown {
                storage: self.storage.description(),
                reason: "the line is cut".into(),
            }),
        }
    }

    fn wait_for_change(&self, _: u64, timeout: Duration) -> Result<u64, StorageError> {
        thread::sleep(timeout);
        Ok(0)
    }
}

/// What was changed counts from then on, also if nobody answered, and so does what was in the way of a change: nothing waits for
/// the storage to tell of it.
#[test]
fn changes_count_at_once() {
    let silent = Arc::new(Around::<Silent>::default());
    let options = StoreOptions::default();
    let store = Store::create(silent.clone(), &kek(b"secret"), &admin(), options.clone());
    let store = store.unwrap();
    let key = name("k");
    let algorithm = named("Ed25519");
    let mut policy = user_policy();
    store
        .create_key(&admin(), &key, algorithm, &policy)
        .unwrap();
    let [first, second] = [1, 2].map(|number| key.at(version(number)));
    let sign = || {
        let signed = store.sign(&user(), &key, Input::message(MESSAGE));
        let signed = signed.map(|signed| signed.id.version().get());
        signed.map_err(|error| error.code())
    };
    assert_eq!(sign(), Ok(1));
    silent.answers_nothing.store(true, Ordering::SeqCst);
    store.rotate(&admin(), &key).unwrap();
    assert_eq!(sign(), Ok(2));
    silent.answers_nothing.store(true, Ordering::SeqCst);
    store.disable(&admin(), &second).unwrap();
    assert_eq!(sign(), Ok(1));
    let other = Store::open(silent.storage.clone(), &kek(b"secret"), options).unwrap();
    other.disable(&admin(), &first).unwrap();
    assert_eq!(code(store.disable(&admin(), &first)), "state");
    assert_eq!(sign(), Err("no-enabled-version"));
    store.enable(&admin(), &first).unwrap();
    assert_eq!(sign(), Ok(1));
    policy.grants = Grants::new();
    silent.answers_nothing.store(true, Ordering::SeqCst);
    store.set_policy(&admin(), &key, &policy).unwrap();
    assert_eq!(sign(), Err("denied"));
}
