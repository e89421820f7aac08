//! What each verb does, with keys of each algorithm and in each state.

use core::time::Duration;

use pq_keys::any::{AnyPrivateKey, AnyPublicKey, Readable};
use pq_keys::signing::{PreHash, SignatureOptions};
use pq_keys::{PublicKey, Signer, SubjectKey};
use pq_keystore::policy::{Grants, Input, InputKind, Policy, Role, Verb, WhenAway};
use pq_keystore::{Origin, StoreError, StoredSigner, VersionState};

use crate::kit::{Fixture, admin, code, name, named, stranger, user, user_policy, version};
use crate::places::Place;

const MESSAGE: &[u8] = b"message";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Classical algorithms need graviola, which is for these architectures.
fn signing_algorithms() -> Vec<&'static str> {
    let mut algorithms = vec!["ML-DSA-44", "ML-DSA-65", "ML-DSA-87", "SLH-DSA-SHA2-128f"];
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        algorithms.extend(["MLDSA65-Ed25519-SHA512", "ECDSA-P256", "Ed25519"]);
    }
    algorithms
}

pub(crate) fn keys_of_each_algorithm_sign(place: &impl Place) {
    let mut fixture = Fixture::new(place);
    for algorithm in signing_algorithms() {
        let Some(stand_in) = fixture.stand_in(algorithm) else {
            continue;
        };
        let name = fixture.key(&algorithm.to_ascii_lowercase(), algorithm);
        let signed = fixture.sign(&name, MESSAGE);
        assert_eq!(signed.id, name.at(version(1)));
        // Reopened, it is read from its row.
        fixture = fixture.reopened();
        assert_eq!(
            fixture
                .verify(&signed.id, MESSAGE, &signed.signature)
                .unwrap(),
            signed.id
        );
        let refused = fixture.verify(&signed.id, b"other", &signed.signature);
        assert_eq!(code(refused), "invalid-signature");
        let again = fixture.sign(&name, MESSAGE);
        let details = fixture.store.show(&admin(), &name).unwrap();
        assert_eq!(
            (details.algorithm, details.versions.len()),
            (named(stand_in), 1)
        );
        assert_eq!(details.versions[0].token, fixture.token);
        details.versions[0]
            .public_key
            .verify(MESSAGE, &again.signature)
            .unwrap();
        let decapsulated = fixture.store.encapsulate(&user(), &name);
        assert_eq!(code(decapsulated.map(|_| ())), "algorithm");
    }
}

pub(crate) fn keys_that_encapsulate(place: &impl Place) {
    let mut fixture = Fixture::new(place);
    for algorithm in ["ML-KEM-768", "X-Wing"] {
        if fixture.stand_in(algorithm).is_none() {
            continue;
        }
        let key = fixture.key(&algorithm.to_ascii_lowercase(), algorithm);
        let first = fixture.store.encapsulate(&user(), &key).unwrap();
        fixture.store.rotate(&admin(), &key).unwrap();
        let second = fixture.store.encapsulate(&user(), &key).unwrap();
        assert_eq!(
            (first.id.version(), second.id.version()),
            (version(1), version(2))
        );
        fixture = fixture.reopened();
        for made in [&first, &second] {
            let secret = fixture
                .store
                .decapsulate(&user(), &made.id, &made.ciphertext)
                .unwrap();
            assert_eq!(secret, made.secret);
        }
        let short = fixture
            .store
            .decapsulate(&user(), &first.id, &first.ciphertext[1..]);
        // A token isn't asked.
        let refusal = if fixture.token.is_some() {
            "algorithm"
        } else {
            "key"
        };
        assert_eq!(code(short), refusal);
        let other = fixture
            .store
            .decapsulate(&user(), &second.id, &first.ciphertext)
            .unwrap();
        assert_ne!(other, first.secret);
        let signed = fixture.store.sign(&user(), &key, Input::message(MESSAGE));
        assert_eq!(code(signed), "algorithm");
        let refused = fixture
            .store
            .verify(&user(), &key, None, Input::message(MESSAGE), b"");
        assert_eq!(code(refused), "algorithm");
        let decapsulate = || {
            let store = &fixture.store;
            code(store.decapsulate(&user(), &first.id, &first.ciphertext))
        };
        let mut policy = fixture.store.show(&admin(), &key).unwrap().policy;
        for (minimum, expected) in [(2, "below-min-version"), (1, "done")] {
            policy.min_version = version(minimum);
            fixture.store.set_policy(&admin(), &key, &policy).unwrap();
            assert_eq!(decapsulate(), expected);
        }
        fixture.store.disable(&admin(), &first.id).unwrap();
        assert_eq!(decapsulate(), "state");
    }
}

pub(crate) fn versions_sign_and_verify_in_turn(place: &impl Place) {
    let fixture = Fixture::new(place);
    let key = fixture.key("k", "ML-DSA-44");
    let mut signatures = vec![fixture.sign(&key, MESSAGE)];
    for number in 2..=20 {
        let id = fixture.store.rotate(&admin(), &key).unwrap();
        assert_eq!(id, key.at(version(number)));
        signatures.push(fixture.sign(&key, MESSAGE));
    }
    let fixture = fixture.reopened();
    for (index, signed) in signatures.iter().enumerate() {
        assert_eq!(signed.id, key.at(version(index as u32 + 1)));
        fixture
            .verify(&signed.id, MESSAGE, &signed.signature)
            .unwrap();
        let other = signatures[(index + 1) % signatures.len()].id.clone();
        assert_eq!(
            code(fixture.verify(&other, MESSAGE, &signed.signature)),
            "invalid-signature"
        );
        // Without its version, it is found among the newest 16.
        let input = Input::message(MESSAGE);
        let found = fixture
            .store
            .verify(&user(), &key, None, input, &signed.signature);
        match index {
            0..4 => assert_eq!(code(found), "version-needed"),
            _ => assert_eq!(found.unwrap(), signed.id),
        }
    }
    let missing = key.at(version(21));
    let refused = fixture.verify(&missing, MESSAGE, &signatures[0].signature);
    assert_eq!(code(refused), "version-not-found");
    // The minimum of the policy.
    let mut policy = user_policy();
    policy.min_version = version(11);
    fixture.store.set_policy(&admin(), &key, &policy).unwrap();
    for (index, signed) in signatures.iter().enumerate() {
        let verified = code(fixture.verify(&signed.id, MESSAGE, &signed.signature));
        assert_eq!(
            verified,
            if index < 10 {
                "below-min-version"
            } else {
                "done"
            }
        );
    }
    let input = Input::message(MESSAGE);
    let old = fixture
        .store
        .verify(&user(), &key, None, input, &signatures[5].signature);
    assert_eq!(code(old), "invalid-signature");
    // What is of no use any more can be removed, and nothing else.
    let refused = fixture.store.trim(&admin(), &key, version(12));
    assert_eq!(code(refused), "state");
    fixture.store.trim(&admin(), &key, version(11)).unwrap();
    fixture.store.trim(&admin(), &key, version(11)).unwrap();
    assert_eq!(
        code(fixture.store.trim(&admin(), &key, version(99))),
        "version-not-found"
    );
    let details = fixture.store.show(&admin(), &key).unwrap();
    let numbers: Vec<_> = details
        .versions
        .iter()
        .map(|found| found.version.get())
        .collect();
    assert_eq!(numbers, (11..=20).collect::<Vec<_>>());
    // No older version signs in the place of the newest one that may.
    policy.min_signing_version = version(20);
    fixture.store.set_policy(&admin(), &key, &policy).unwrap();
    assert_eq!(fixture.sign(&key, MESSAGE).id, key.at(version(20)));
    let newest = key.at(version(20));
    fixture.store.disable(&admin(), &newest).unwrap();
    let refused = fixture.store.sign(&user(), &key, Input::message(MESSAGE));
    assert_eq!(code(refused), "below-min-version");
    fixture.store.enable(&admin(), &newest).unwrap();
    let gone = fixture.verify(&signatures[2].id, MESSAGE, &signatures[2].signature);
    assert_eq!(code(gone), "version-not-found");
    fixture
        .verify(&signatures[12].id, MESSAGE, &signatures[12].signature)
        .unwrap();
    assert_eq!(
        fixture.store.rotate(&admin(), &key).unwrap(),
        key.at(version(21))
    );
}

/// The policy's minimum holds for what is made, as for what is verified and decapsulated.
pub(crate) fn versions_below_the_minimum_are_not_used(place: &impl Place) {
    let fixture = Fixture::new(place);
    let store = &fixture.store;
    let keys = ["ML-DSA-44", "ML-KEM-768"]
        .map(|algorithm| fixture.key(&algorithm.to_ascii_lowercase(), algorithm));
    let mut policy = user_policy();
    policy.min_version = version(2);
    for key in &keys {
        store.rotate(&admin(), key).unwrap();
        store.set_policy(&admin(), key, &policy).unwrap();
    }
    let [signs, encapsulates] = &keys;
    let input = Input::message(MESSAGE);
    let used = || {
        [
            code(store.sign(&user(), signs, input)),
            code(store.encapsulate(&user(), encapsulates)),
        ]
    };
    assert_eq!(used(), ["done"; 2]);
    let old = store.sign_by(&user(), &signs.at(version(1)), input);
    assert_eq!(code(old), "below-min-version");
    for key in &keys {
        store.disable(&admin(), &key.at(version(2))).unwrap();
    }
    assert_eq!(used(), ["below-min-version"; 2]);
    // The first version that may make something, which the door calls min_encryption_version.
    (policy.min_version, policy.min_signing_version) = (version(1), version(2));
    for key in &keys {
        store.set_policy(&admin(), key, &policy).unwrap();
    }
    assert_eq!(used(), ["below-min-version"; 2]);
    for key in &keys {
        store.rotate(&admin(), key).unwrap();
    }
    assert_eq!(used(), ["done"; 2]);
}

pub(crate) fn states_follow_each_other(place: &impl Place) {
    let fixture = Fixture::new(place);
    let key = fixture.key("k", "ML-DSA-44");
    let (first, second) = (key.at(version(1)), key.at(version(2)));
    let old = fixture.sign(&key, MESSAGE);
    let store = &fixture.store;
    store.rotate(&admin(), &key).unwrap();
    let state = |index: usize| store.show(&admin(), &key).unwrap().versions[index].state;

    // The newest enabled version signs.
    store.disable(&admin(), &second).unwrap();
    assert_eq!(fixture.sign(&key, MESSAGE).id, first);
    assert_eq!(code(store.disable(&admin(), &second)), "state");
    store.disable(&admin(), &first).unwrap();
    assert_eq!(
        code(store.sign(&user(), &key, Input::message(MESSAGE))),
        "no-enabled-version"
    );
    assert_eq!(
        code(fixture.verify(&first, MESSAGE, &old.signature)),
        "state"
    );
    store.enable(&admin(), &first).unwrap();
    assert_eq!(code(store.enable(&admin(), &first)), "state");
    fixture.verify(&first, MESSAGE, &old.signature).unwrap();

    // Destruction takes the time that the policy wants, and is cancelled to disabled.
    assert_eq!(
        code(store.schedule_destruction(&admin(), &first, DAY / 2)),
        "policy"
    );
    store.schedule_destruction(&admin(), &first, DAY).unwrap();
    assert!(matches!(
        state(0),
        VersionState::DestroyScheduled { verifies: true, .. }
    ));
    assert_eq!(
        code(store.schedule_destruction(&admin(), &first, DAY)),
        "state"
    );
    assert_eq!(code(store.enable(&admin(), &first)), "state");
    fixture.verify(&first, MESSAGE, &old.signature).unwrap();
    store.cancel_destruction(&admin(), &first).unwrap();
    assert_eq!(state(0), VersionState::Disabled);
    assert_eq!(code(store.cancel_destruction(&admin(), &first)), "state");
    assert_eq!(code(store.destroy(&admin(), &first)), "state");
    store.enable(&admin(), &first).unwrap();

    // A clock that is behind would schedule it for a time that has come when it is right.
    fixture.clock.set_back(2 * DAY);
    let behind = store.schedule_destruction(&admin(), &first, DAY);
    assert_eq!(code(behind), "clock-behind");
    fixture.clock.advance(2 * DAY);
    store.schedule_destruction(&admin(), &first, DAY).unwrap();
    assert_eq!(code(store.destroy(&admin(), &first)), "not-yet");
    fixture.clock.advance(DAY - Duration::from_millis(1));
    assert_eq!(code(store.destroy(&admin(), &first)), "not-yet");
    // A clock that is behind isn't believed, though the time has come by it, and isn't after it was used for changes, either.
    fixture.clock.advance(DAY);
    store.enable(&admin(), &second).unwrap();
    fixture.clock.set_back(DAY / 2);
    for number in 0..2 {
        assert_eq!(code(store.destroy(&admin(), &first)), "clock-behind");
        let rescheduled = store.schedule_destruction(&admin(), &second, DAY);
        assert_eq!(code(rescheduled), "clock-behind");
        fixture.key(&format!("behind{number}"), "ML-DSA-44");
    }
    fixture.clock.advance(DAY / 2);
    // Nor is one that is far ahead, though by it the time has come, too.
    fixture.clock.advance(401 * DAY);
    for number in 0..2 {
        assert_eq!(code(store.destroy(&admin(), &first)), "clock-ahead");
        let scheduled = store.schedule_destruction(&admin(), &second, DAY);
        assert_eq!(code(scheduled), "clock-ahead");
        fixture.key(&format!("ahead{number}"), "ML-DSA-44");
    }
    // What was changed by it doesn't make the right one wrong.
    fixture.clock.set_back(401 * DAY);
    store.destroy(&admin(), &first).unwrap();
    assert_eq!(state(0), VersionState::Destroyed { verifies: true });
    assert_eq!(code(store.destroy(&admin(), &first)), "state");
    assert_eq!(code(store.enable(&admin(), &first)), "state");
    let refused = store.sign_by(&user(), &first, Input::message(MESSAGE));
    assert_eq!(code(refused), "state");

    // Its public key is kept, and verifies until it is disabled.
    let fixture = fixture.reopened();
    fixture.verify(&first, MESSAGE, &old.signature).unwrap();
    fixture.store.disable(&admin(), &first).unwrap();
    assert_eq!(
        code(fixture.verify(&first, MESSAGE, &old.signature)),
        "state"
    );
    assert_eq!(fixture.sign(&key, MESSAGE).id, second);
    fixture.store.trim(&admin(), &key, version(2)).unwrap();
    assert_eq!(fixture.sign(&key, MESSAGE).id, second);
}

pub(crate) fn inputs_are_those_of_the_policy(place: &impl Place) {
    let fixture = Fixture::new(place);
    let all = |policy: &mut Policy| policy.inputs = InputKind::ALL.into_iter().collect();
    let key = fixture.key_with("all", "ML-DSA-44", all);
    let store = &fixture.store;
    let details = store.show(&user(), &key).unwrap();
    let AnyPublicKey::PostQuantum(PublicKey::Verifying(public)) = &details.versions[0].public_key
    else {
        panic!("not a key of ML-DSA");
    };
    let context = SignatureOptions::new().context(b"context");
    let mut hasher = public.hasher(&context).unwrap();
    hasher.update(MESSAGE);
    let hashed = hasher.finish();
    let mu = *hashed.mu().unwrap();
    let digest = [7; 64];
    let inputs = [
        Input::Message {
            message: MESSAGE,
            context: b"context",
        },
        Input::message(MESSAGE),
        Input::Mu(&mu),
        Input::Digest {
            hash: PreHash::Sha512,
            digest: &digest,
            context: b"",
        },
        Input::Digest {
            hash: PreHash::Sha512,
            digest: &digest,
            context: b"context",
        },
    ];
    let signatures = inputs.map(|input| store.sign(&user(), &key, input).unwrap().signature);
    for (i, input) in inputs.into_iter().enumerate() {
        for (j, signature) in signatures.iter().enumerate() {
            let verified = code(store.verify(&user(), &key, None, input, signature));
            // µ is that of the first.
            let is_same = i == j || (i + j == 2 && i != 1);
            assert_eq!(
                verified,
                if is_same { "done" } else { "invalid-signature" },
                "{i} {j}"
            );
        }
    }
    public
        .verify_with(MESSAGE, &signatures[2], &context)
        .unwrap();
    let short = Input::Digest {
        hash: PreHash::Sha512,
        digest: &digest[1..],
        context: b"",
    };
    assert_eq!(code(store.sign(&user(), &key, short)), "algorithm");

    for kind in InputKind::ALL {
        let only = |policy: &mut Policy| policy.inputs = [kind].into_iter().collect();
        let key = fixture.key_with(kind.name(), "ML-DSA-44", only);
        for (input, signature) in inputs.into_iter().zip(&signatures) {
            let permitted = input.kind() == kind;
            let signed = code(store.sign(&user(), &key, input));
            assert_eq!(
                signed,
                if permitted {
                    "done"
                } else {
                    "input-not-permitted"
                }
            );
            let by_version = code(store.sign_by(&user(), &key.at(version(1)), input));
            assert_eq!(by_version, signed);
            let verified = code(store.verify(&user(), &key, None, input, signature));
            assert_eq!(
                verified,
                if permitted {
                    "invalid-signature"
                } else {
                    "input-not-permitted"
                }
            );
        }
    }
    let short = |policy: &mut Policy| policy.max_message = 7;
    let key = fixture.key_with("short", "ML-DSA-44", short);
    fixture.sign(&key, MESSAGE);
    assert_eq!(
        code(store.sign(&user(), &key, Input::message(b"messages"))),
        "message-too-long"
    );
    let by_version = store.sign_by(&user(), &key.at(version(1)), Input::message(b"messages"));
    assert_eq!(code(by_version), "message-too-long");
    let slh_dsa = fixture.key_with("slh", "SLH-DSA-SHA2-128f", all);
    assert_eq!(code(store.sign(&user(), &slh_dsa, Input::Mu(&mu))), "key");
    assert_eq!(
        code(store.verify(&user(), &slh_dsa, None, Input::Mu(&mu), b"")),
        "algorithm"
    );
}

pub(crate) fn keys_are_imported_and_exported(place: &impl Place) {
    let fixture = Fixture::new(place);
    let store = &fixture.store;
    let mut policy = user_policy();
    policy.exportable = true;
    policy.grants = policy.grants.grant(&user(), Verb::Export);
    let made = AnyPrivateKey::generate(named("ML-DSA-65")).unwrap();
    let key = name("imported");
    let first = store.import_key(&admin(), &key, &made, &policy).unwrap();
    assert_eq!(
        code(store.import_key(&admin(), &key, &made, &policy)),
        "exists"
    );
    let signed = fixture.sign(&key, MESSAGE);
    made.public_half()
        .verify(MESSAGE, &signed.signature)
        .unwrap();
    let other = AnyPrivateKey::generate(named("ML-DSA-65")).unwrap();
    let second = store.import_version(&admin(), &key, &other).unwrap();
    let wrong = AnyPrivateKey::generate(named("ML-DSA-44")).unwrap();
    assert_eq!(
        code(store.import_version(&admin(), &key, &wrong)),
        "algorithm"
    );
    let third = store.rotate(&admin(), &key).unwrap();
    for (id, key) in [(&first, &made), (&second, &other)] {
        let exported = AnyPrivateKey::from_der(&store.export(&user(), id).unwrap()).unwrap();
        assert_eq!(exported.spki(), key.spki());
    }
    let origins: Vec<_> = store
        .show(&admin(), &key)
        .unwrap()
        .versions
        .iter()
        .map(|found| found.origin)
        .collect();
    assert_eq!(
        origins,
        [Origin::Imported, Origin::Imported, Origin::Generated]
    );
    // What the policy calls too old is of no use, and nobody takes it out for others to use.
    policy.min_version = version(2);
    store.set_policy(&admin(), &key, &policy).unwrap();
    assert_eq!(code(store.export(&user(), &first)), "below-min-version");
    store.export(&user(), &second).unwrap();
    policy.min_version = version(1);
    store.set_policy(&admin(), &key, &policy).unwrap();
    store.export(&user(), &first).unwrap();
    // A version that only signs no more is exported, as in Vault.
    policy.min_signing_version = version(3);
    store.set_policy(&admin(), &key, &policy).unwrap();
    store.export(&user(), &first).unwrap();
    policy.min_signing_version = version(1);
    store.set_policy(&admin(), &key, &policy).unwrap();
    store.disable(&admin(), &third).unwrap();
    assert_eq!(code(store.export(&user(), &third)), "state");
    assert_eq!(code(store.export(&admin(), &first)), "denied");

    // Decided at creation, for good.
    policy.exportable = false;
    assert_eq!(
        code(store.set_policy(&admin(), &key, &policy)),
        "exportable-changed"
    );
    let fixed = name("fixed");
    store
        .create_key(&admin(), &fixed, named("ML-DSA-44"), &policy)
        .unwrap();
    assert_eq!(
        code(store.export(&user(), &fixed.at(version(1)))),
        "not-exportable"
    );
    policy.exportable = true;
    assert_eq!(
        code(store.set_policy(&admin(), &fixed, &policy)),
        "exportable-changed"
    );

    let x25519 = AnyPrivateKey::generate(named("X25519"));
    if let Ok(x25519) = x25519 {
        let refused = store.import_key(&admin(), &name("x25519"), &x25519, &policy);
        assert_eq!(code(refused), "algorithm");
    }
}

pub(crate) fn due_keys_are_rotated(place: &impl Place) {
    let fixture = Fixture::new(place);
    let store = &fixture.store;
    let days = |days: u32| move |policy: &mut Policy| policy.rotate_after = Some(days * DAY);
    let weekly = fixture.key_with("weekly", "ML-DSA-44", days(7));
    fixture.key_with("monthly", "ML-DSA-44", days(30));
    fixture.key("never", "ML-DSA-44");
    assert!(store.rotate_due(&admin()).unwrap().is_empty());
    fixture.clock.advance(7 * DAY);
    assert!(store.rotate_due(&user()).unwrap().is_empty());
    let page = store.list(&admin(), Some("t"), None, 10).unwrap();
    let due: Vec<_> = page
        .keys
        .iter()
        .filter(|key| key.is_due)
        .map(|key| &key.name)
        .collect();
    assert_eq!(due, [&weekly]);
    let rotated = store.rotate_due(&admin()).unwrap();
    assert_eq!(rotated.len(), 1);
    assert_eq!(rotated[0].result.as_ref().unwrap(), &weekly.at(version(2)));
    assert!(store.rotate_due(&admin()).unwrap().is_empty());
    // Clocks that are a little apart make nothing due.
    fixture.clock.set_back(Duration::from_secs(3_600));
    assert!(store.rotate_due(&admin()).unwrap().is_empty());
    // A clock that is behind rotates nothing, also after it was used for a change.
    fixture.clock.set_back(30 * DAY);
    for number in 0..2 {
        let ended = store.rotate_due(&admin()).unwrap_err();
        assert_eq!(ended.error.code(), "clock-behind");
        assert_eq!(code(store.check_time()), "clock-behind");
        // Nor is one called due.
        let page = store.list(&admin(), None, None, 10).unwrap();
        assert!(page.keys.iter().all(|key| !key.is_due));
        assert!(!store.show(&admin(), &weekly).unwrap().is_due);
        fixture.key(&format!("then{number}"), "ML-DSA-44");
    }
    // If somebody says that it is this time, a clock was ahead, and what was made by it would not be due for as long:
    // so it is now, once, and versions stay in order.
    assert_eq!(code(store.confirm_time(&user())), "denied");
    store.confirm_time(&admin()).unwrap();
    store.check_time().unwrap();
    assert!(store.show(&admin(), &weekly).unwrap().is_due);
    assert_eq!(store.rotate_due(&admin()).unwrap().len(), 2);
    assert!(store.rotate_due(&admin()).unwrap().is_empty());
    assert_eq!(fixture.sign(&weekly, MESSAGE).id, weekly.at(version(3)));
    fixture.clock.advance(7 * DAY);
    assert_eq!(store.rotate_due(&admin()).unwrap().len(), 1);
    assert_eq!(fixture.sign(&weekly, MESSAGE).id, weekly.at(version(4)));
}

pub(crate) fn keys_are_listed_in_pages(place: &impl Place) {
    let fixture = Fixture::new(place);
    let names: Vec<_> = (0..12).map(|number| format!("k{number:02}")).collect();
    for name in &names {
        fixture.key(name, "ML-DSA-44");
    }
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = fixture
            .store
            .list(&admin(), None, after.as_ref(), 5)
            .unwrap();
        assert!(page.damaged.is_empty());
        found.extend(page.keys.iter().map(|key| key.name.name().to_owned()));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(found, names);
    assert!(
        fixture
            .store
            .list(&admin(), Some("other"), None, 5)
            .unwrap()
            .keys
            .is_empty()
    );
    assert_eq!(code(fixture.store.list(&user(), None, None, 5)), "denied");
}

pub(crate) fn a_key_signs_for_others(place: &impl Place) {
    let fixture = Fixture::new(place);
    let key = fixture.key("k", "ML-DSA-65");
    let signer = StoredSigner::newest(&fixture.store, &user(), &key).unwrap();
    let public = AnyPublicKey::from_spki_der(&signer.spki()).unwrap();
    public
        .verify(MESSAGE, &signer.sign(MESSAGE).unwrap())
        .unwrap();
    // It stays with its version, which has the public key that others know.
    fixture.store.rotate(&admin(), &key).unwrap();
    public
        .verify(MESSAGE, &signer.sign(MESSAGE).unwrap())
        .unwrap();
    let newest = StoredSigner::newest(&fixture.store, &user(), &key).unwrap();
    assert_eq!(
        (signer.id().version(), newest.id().version()),
        (version(1), version(2))
    );
    fixture.store.disable(&admin(), signer.id()).unwrap();
    signer.sign(MESSAGE).unwrap_err();
    newest.sign(MESSAGE).unwrap();
    let refused = StoredSigner::newest(&fixture.store, &stranger(), &key);
    assert_eq!(code(refused), "denied");
    if fixture.stand_in("ML-KEM-768").is_some() {
        let kem = fixture.key("kem", "ML-KEM-768");
        let refused = StoredSigner::newest(&fixture.store, &user(), &kem);
        assert_eq!(code(refused), "key");
    }
}

pub(crate) fn the_store_has_grants_of_its_own(place: &impl Place) {
    let fixture = Fixture::new(place);
    let store = &fixture.store;
    let grants = store.store_grants(&admin()).unwrap();
    let scope = "t/p/*".parse().unwrap();
    let more = grants.grant(&scope, &user(), Role::Manager.verbs());
    let algorithm = named("ML-DSA-44");
    let policy = Policy::default();
    assert_eq!(
        code(store.create_key(&user(), &name("a"), algorithm, &policy)),
        "denied"
    );
    store.set_store_grants(&admin(), &more).unwrap();
    store
        .create_key(&user(), &name("a"), algorithm, &policy)
        .unwrap();
    let elsewhere = "t/other/a".parse().unwrap();
    assert_eq!(
        code(store.create_key(&user(), &elsewhere, algorithm, &policy)),
        "denied"
    );
    assert_eq!(store.list(&user(), None, None, 10).unwrap().keys.len(), 1);
    // The right comes before the content, so that the log has each try.
    assert_eq!(code(store.set_store_grants(&user(), &more)), "denied");
    let entries = store.last_audit_entries(&admin(), 1).unwrap();
    assert_eq!(entries[0].verb, Verb::Administer);
    assert_eq!(entries[0].principal, Some(user()));
    assert_eq!(code(store.store_grants(&user())), "denied");
    let none = pq_keystore::StoreGrants::new();
    assert_eq!(code(store.set_store_grants(&admin(), &none)), "policy");
    // Neither knows whether there is a key whom nothing is granted.
    for key in [name("a"), name("b")] {
        let refused = store
            .sign(&stranger(), &key, Input::message(MESSAGE))
            .unwrap_err();
        assert!(matches!(refused, StoreError::Denied { .. }));
        assert!(!refused.retry());
    }
    assert_eq!(code(store.rotate(&admin(), &name("b"))), "not-found");
    let fixture = fixture.reopened();
    assert_eq!(fixture.store.store_grants(&admin()).unwrap(), more);
}

pub(crate) fn policies_are_checked(place: &impl Place) {
    let fixture = Fixture::new(place);
    let mut policy = user_policy();
    policy.grants = Grants::new().grant(&user(), Verb::Create);
    let refused = fixture
        .store
        .create_key(&admin(), &name("a"), named("ML-DSA-44"), &policy);
    assert_eq!(code(refused), "policy");
    let key = fixture.key("k", "ML-DSA-44");
    assert_eq!(
        code(fixture.store.set_policy(&admin(), &key, &policy)),
        "policy"
    );
    // What would make the key useless, or always due
    let unfit: [fn(&mut Policy); 3] = [
        |policy| policy.min_version = version(2),
        |policy| policy.min_signing_version = version(2),
        |policy| policy.rotate_after = Some(Duration::ZERO),
    ];
    for change in unfit {
        policy = user_policy();
        change(&mut policy);
        let made = fixture
            .store
            .create_key(&admin(), &name("a"), named("ML-DSA-44"), &policy);
        assert_eq!(code(made), "policy");
        let set = fixture.store.set_policy(&admin(), &key, &policy);
        assert_eq!(code(set), "policy");
    }
    policy = user_policy();
    policy.when_away = WhenAway::Refuse;
    fixture.store.set_policy(&admin(), &key, &policy).unwrap();
    fixture.sign(&key, MESSAGE);
    assert_eq!(fixture.store.show(&user(), &key).unwrap().policy, policy);
}

pub(crate) fn more_is_counted_than_fits(place: &impl Place) {
    let fixture = Fixture::new(place);
    let everybody = |policy: &mut Policy| {
        policy.grants = Grants::new().grant_anyone(Verb::Sign);
    };
    let key = fixture.key_with("k", "ML-DSA-44", everybody);
    for number in 0..300 {
        let principal = pq_keystore::policy::Principal::new(&format!("user-{number}")).unwrap();
        fixture
            .store
            .sign(&principal, &key, Input::message(MESSAGE))
            .unwrap();
    }
    let entries = fixture.store.audit_log(&admin(), 1, 1000).unwrap();
    let signed = entries.iter().filter(|entry| entry.verb == Verb::Sign);
    assert_eq!(signed.map(|entry| entry.count).sum::<u64>(), 300);
}

/// What is imported is checked as a new key and as a new version: its parts belong together, and it is of a kind that the store
/// has a use for.
pub(crate) fn imported_keys_are_checked(place: &impl Place) {
    let fixture = Fixture::new(place);
    let store = &fixture.store;
    let made = AnyPrivateKey::generate(named("SLH-DSA-SHA2-128f")).unwrap();
    let der = made.to_pkcs8_der().unwrap();
    // The last byte is one of the root of its tree, which the rest of the key says.
    let mut apart = der.to_vec();
    *apart.last_mut().unwrap() ^= 1;
    // 2.16.840.1.101.3.4.3.21, and 36 with a pre-hash
    let plain = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x15];
    let at = der.windows(plain.len()).position(|found| found == plain);
    let mut hashed = der.to_vec();
    hashed[at.unwrap() + plain.len() - 1] = 0x24;
    let there = name("there");
    store
        .import_key(&admin(), &there, &made, &user_policy())
        .unwrap();
    for (der, expected) in [(apart, "key"), (hashed, "algorithm")] {
        let key = AnyPrivateKey::from_der(&der).unwrap();
        let new = store.import_key(&admin(), &name("new"), &key, &user_policy());
        assert_eq!(code(new), expected);
        let version = store.import_version(&admin(), &there, &key);
        assert_eq!(code(version), expected);
    }
    assert_eq!(code(store.show(&admin(), &name("new"))), "not-found");
    assert_eq!(store.show(&admin(), &there).unwrap().versions.len(), 1);
    store.import_version(&admin(), &there, &made).unwrap();
}
