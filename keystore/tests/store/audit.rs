//! The audit log, its heads, and attestations.

use core::time::Duration;

use pq_keystore::audit::{Chain, Outcome, SignedHead};
use pq_keystore::policy::{Input, UseAudit, Verb};
use pq_keystore::storage::{Change, LogHead, RowKey, Storage, Write};
use pq_keystore::{Attestation, Origin, Store, VersionState};

use crate::kit::{Fixture, admin, code, kek, stranger, user, version};
use crate::places::{Memory, Place};

const MESSAGE: &[u8] = b"message";

pub(crate) fn each_change_has_an_entry(place: &impl Place) {
    let fixture = Fixture::new(place);
    let store = &fixture.store;
    let key = fixture.key("k", "ML-DSA-44");
    let id = store.rotate(&admin(), &key).unwrap();
    store.disable(&admin(), &id).unwrap();
    store.enable(&admin(), &id).unwrap();
    store
        .schedule_destruction(&admin(), &id, Duration::from_secs(86_400))
        .unwrap();
    store.cancel_destruction(&admin(), &id).unwrap();
    store.rewrap(&admin(), &kek(b"secret")).unwrap();
    store.attest(&admin(), &key).unwrap();
    let entries = store.audit_log(&admin(), 1, 100).unwrap();
    let verbs: Vec<_> = entries.iter().map(|entry| entry.verb).collect();
    assert_eq!(
        verbs,
        [
            Verb::Administer,
            Verb::Create,
            Verb::Rotate,
            Verb::Disable,
            Verb::Enable,
            Verb::Schedule,
            Verb::Schedule,
            Verb::Administer,
            Verb::Attest,
        ]
    );
    for (number, entry) in entries.iter().enumerate() {
        assert_eq!(entry.sequence, number as u64 + 1);
        assert_eq!(entry.principal, Some(admin()));
        assert_eq!((entry.outcome.clone(), entry.count), (Outcome::Done, 1));
        assert_eq!(entry.store, store.id());
    }
    assert_eq!(
        (&entries[3].key, entries[3].version),
        (&Some(key), Some(version(2)))
    );
    let later = store.audit_log(&admin(), 8, 1).unwrap();
    assert_eq!(later, entries[7..8]);
    // Anybody can check the chain who has the log.
    let mut chain = Chain::new(store.id());
    for (entry, read) in fixture
        .storage
        .entries(1, 100)
        .unwrap()
        .iter()
        .zip(&entries)
    {
        assert_eq!(chain.follow(entry).unwrap(), *read);
    }
    assert_eq!(chain.head(), fixture.storage.get(&[]).unwrap().head);
    let report = store.check(&admin(), &[]).unwrap();
    assert_eq!(
        (report.head, report.keys, report.versions),
        (chain.head(), 1, 2)
    );
    assert!(report.damaged.is_empty());
}

pub(crate) fn uses_are_counted(place: &impl Place) {
    let fixture = Fixture::new(place);
    let key = fixture.key("k", "ML-DSA-44");
    for _ in 0..10 {
        fixture.sign(&key, MESSAGE);
    }
    fixture.store.rotate(&admin(), &key).unwrap();
    let signed = fixture.sign(&key, MESSAGE);
    fixture
        .verify(&signed.id, MESSAGE, &signed.signature)
        .unwrap();
    fixture
        .verify(&signed.id, b"other", &signed.signature)
        .unwrap_err();
    // They are written every five seconds, when somebody reads the log, and when the store is dropped.
    let fixture = fixture.reopened();
    let entries = fixture.store.audit_log(&admin(), 1, 100).unwrap();
    let count = |verb, number, outcome: &Outcome| -> u64 {
        let of = entries.iter().filter(|entry| {
            entry.principal == Some(user())
                && entry.verb == verb
                && entry.version == Some(version(number))
                && entry.outcome == *outcome
        });
        of.map(|entry| entry.count).sum()
    };
    let refused = Outcome::Refused("invalid-signature".into());
    assert_eq!(count(Verb::Sign, 1, &Outcome::Done), 10);
    assert_eq!(count(Verb::Sign, 2, &Outcome::Done), 1);
    assert_eq!(count(Verb::Verify, 2, &Outcome::Done), 1);
    assert_eq!(count(Verb::Verify, 2, &refused), 1);
}

pub(crate) fn uses_are_audited_one_by_one(place: &impl Place) {
    let fixture = Fixture::new(place);
    let key = fixture.key_with("k", "ML-DSA-44", |policy| policy.audit = UseAudit::Each);
    let before = fixture.storage.get(&[]).unwrap().head.sequence;
    let signed = fixture.sign(&key, MESSAGE);
    fixture
        .verify(&signed.id, MESSAGE, &signed.signature)
        .unwrap();
    fixture
        .verify(&signed.id, b"other", &signed.signature)
        .unwrap_err();
    assert_eq!(fixture.storage.get(&[]).unwrap().head.sequence, before + 3);
    let entries = fixture.store.audit_log(&admin(), before + 1, 100).unwrap();
    let verbs: Vec<_> = entries
        .iter()
        .map(|entry| (entry.verb, entry.outcome == Outcome::Done))
        .collect();
    assert_eq!(
        verbs,
        [
            (Verb::Sign, true),
            (Verb::Verify, true),
            (Verb::Verify, false)
        ]
    );
}

pub(crate) fn refusals_are_bounded(place: &impl Place) {
    let fixture = Fixture::new(place);
    let key = fixture.key("k", "ML-DSA-44");
    for _ in 0..5_000 {
        let refused = fixture
            .store
            .sign(&stranger(), &key, Input::message(MESSAGE));
        assert_eq!(code(refused), "denied");
    }
    let fixture = fixture.reopened();
    let entries = fixture.store.audit_log(&admin(), 1, 1000).unwrap();
    let refused = Outcome::Refused("denied".into());
    let of = entries.iter().filter(|entry| entry.outcome == refused);
    // Some have entries of their own, and all are counted. More are possible only if this takes more than ten seconds each.
    assert_eq!(of.clone().map(|entry| entry.count).sum::<u64>(), 5_000);
    let own = of
        .filter(|entry| entry.principal == Some(stranger()))
        .count();
    assert!((64..200).contains(&own), "{own}");
}

/// Copies a storage up to some entry of the log, as whoever puts back a backup of the log alone.
fn cut(from: &dyn Storage, rows: &[(RowKey, pq_keystore::storage::Row)], last: u64) -> Memory {
    let place = Memory::new();
    let storage = place.open();
    let mut head = LogHead::EMPTY;
    for entry in from.entries(1, usize::MAX).unwrap() {
        if entry.sequence > last {
            break;
        }
        let append = pq_keystore::storage::Append {
            after: head,
            entries: vec![entry],
        };
        head = append.head();
        storage
            .commit(&Change {
                rows: Vec::new(),
                append: Some(append),
            })
            .unwrap();
    }
    let mut all = rows.to_vec();
    for bucket in 0..128 {
        let key = RowKey::index(bucket);
        let found = from.get(core::slice::from_ref(&key)).unwrap().rows;
        all.extend(found.into_iter().flatten().map(|row| (key.clone(), row)));
    }
    for (key, row) in all {
        let change = pq_keystore::storage::RowChange {
            key,
            expected: pq_keystore::storage::Expected::Absent,
            write: Write::Put(row.value),
        };
        storage
            .commit(&Change {
                rows: vec![change],
                append: None,
            })
            .unwrap();
    }
    place
}

pub(crate) fn a_kept_head_shows_a_cut(place: &impl Place) {
    let fixture = Fixture::new(place);
    let key = fixture.key("k", "ML-DSA-44");
    let first = fixture.store.signed_head(&admin()).unwrap();
    fixture.store.rotate(&admin(), &key).unwrap();
    let second = fixture.store.signed_head(&admin()).unwrap();
    assert_eq!(code(fixture.store.signed_head(&user())), "denied");
    // Kept as text, which has one form.
    let text = second.to_string();
    let kept: SignedHead = text.parse().unwrap();
    assert_eq!(kept, second);
    kept.verify(&fixture.store.public_key()).unwrap();
    for (index, character) in text.char_indices() {
        let other = if character == '1' { "2" } else { "1" };
        let mut changed = text.clone();
        changed.replace_range(index..index + character.len_utf8(), other);
        let is_other = changed.parse::<SignedHead>().map_or(true, |head| {
            head.verify(&fixture.store.public_key()).is_err()
        });
        assert!(is_other, "{index}");
    }
    fixture
        .store
        .check(&admin(), &[first.clone(), second.clone()])
        .unwrap();

    let rows = fixture.rows();
    let open = |last| {
        let place = cut(&*fixture.storage, &rows, last);
        Store::open(place.open(), &kek(b"secret"), fixture.clock.options()).unwrap()
    };
    let whole = open(u64::MAX);
    assert!(
        whole
            .check(&admin(), &[first.clone(), second.clone()])
            .unwrap()
            .damaged
            .is_empty()
    );
    let shorter = open(2);
    shorter
        .check(&admin(), core::slice::from_ref(&first))
        .unwrap();
    // Without the head, the rows still show it: the log doesn't say how they came to be.
    assert_eq!(shorter.check(&admin(), &[]).unwrap().damaged.len(), 1);
    assert_eq!(code(shorter.check(&admin(), &[second])), "head-not-reached");
    // A store has an entry since it was created.
    let place = cut(&*fixture.storage, &rows, 0);
    let opened = Store::open(place.open(), &kek(b"secret"), fixture.clock.options());
    assert_eq!(code(opened), "storage-damaged");
    // The head of another store.
    let other = Fixture::new(&Memory::new());
    let foreign = other.store.signed_head(&admin()).unwrap();
    assert_eq!(code(fixture.store.check(&admin(), &[foreign])), "head");
}

pub(crate) fn a_put_back_store_is_noticed(place: &impl Place) {
    let fixture = Fixture::new(place);
    let key = fixture.key("k", "ML-DSA-44");
    let backup = cut(&*fixture.storage, &fixture.rows(), u64::MAX);
    fixture
        .store
        .disable(&admin(), &key.at(version(1)))
        .unwrap();
    let kept = fixture.store.signed_head(&admin()).unwrap();
    // The whole storage from before: it is consistent, and only the head tells.
    let old = Store::open(backup.open(), &kek(b"secret"), fixture.clock.options()).unwrap();
    assert!(old.check(&admin(), &[]).unwrap().damaged.is_empty());
    assert_eq!(
        code(old.check(&admin(), core::slice::from_ref(&kept))),
        "head-not-reached"
    );
    // Also after it has gone on.
    old.rotate(&admin(), &key).unwrap();
    assert_eq!(code(old.check(&admin(), &[kept])), "head-not-reached");
}

pub(crate) fn attestations_are_signed(place: &impl Place) {
    let fixture = Fixture::new(place);
    let key = fixture.key("k", "ML-DSA-44");
    fixture.store.rotate(&admin(), &key).unwrap();
    fixture
        .store
        .disable(&admin(), &key.at(version(1)))
        .unwrap();
    let attestation = fixture.store.attest(&admin(), &key).unwrap();
    let states: Vec<_> = attestation
        .versions
        .iter()
        .map(|found| found.state)
        .collect();
    assert_eq!(states, [VersionState::Disabled, VersionState::Enabled]);
    assert_eq!(attestation.head, fixture.storage.get(&[]).unwrap().head);
    for version in &attestation.versions {
        let place = version.place.as_ref().unwrap();
        assert_eq!(
            (&place.token, place.origin),
            (&fixture.token, Origin::Generated)
        );
    }
    let bytes = attestation.encode();
    let read = Attestation::decode(&bytes).unwrap();
    assert_eq!((&read, read.encode()), (&attestation, bytes.clone()));
    let public = fixture.store.public_key();
    read.verify(&public).unwrap();
    for bit in (0..8 * bytes.len()).step_by(131) {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let is_refused =
            Attestation::decode(&changed).map_or(true, |read| read.verify(&public).is_err());
        assert!(is_refused, "{bit}");
    }
    for cut in [
        &bytes[1..],
        &bytes[..bytes.len() - 1],
        &[&bytes[..], b"\0"].concat(),
    ] {
        Attestation::decode(cut).unwrap_err();
    }
    let other = Fixture::new(&Memory::new()).store.public_key();
    read.verify(&other).unwrap_err();
    assert_eq!(code(fixture.store.attest(&user(), &key)), "denied");
}
