//! Keys in tokens: in one that is a stand-in of these tests, which can fail and lie, and behind PKCS#11 in kryoptic and SoftHSM.

mod answers;
#[cfg(all(feature = "pkcs11", unix))]
mod changed;
mod failing;
#[cfg(all(feature = "pkcs11", unix))]
mod keks;
#[cfg(all(feature = "pkcs11", target_os = "linux"))]
mod memory;
#[cfg(feature = "pkcs11")]
mod modules;
mod passing;
#[cfg(all(feature = "pkcs11", unix))]
mod serving;
mod stand_in;

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::thread;

use pq_keys::PublicKey;
use pq_keys::any::{AnyPrivateKey, AnyPublicKey};
use pq_keys::signing::PreHash;
use pq_keystore::custody::{ObjectId, TokenInput, TokenName};
use pq_keystore::policy::{Input, InputKind, Policy, Verb};
use pq_keystore::storage::{RowKey, Write};
use pq_keystore::{KeyId, Origin, Store, StoreError};

#[cfg(feature = "pkcs11")]
pub(crate) use self::modules::{Kryoptic, SoftHsm};
pub(crate) use self::stand_in::StandIn;
use crate::kit::{Fixture, admin, code, name, named, user, user_policy, version};
use crate::places::{Memory, Place};

const MESSAGE: &[u8] = b"message";

/// The name of the token in all stores here.
fn token() -> TokenName {
    "hsm".parse().unwrap()
}

/// An object of a store that no version refers to, as a process leaves that is killed after making it.
fn forsaken(store: &Store, number: u8) -> ObjectId {
    let mut bytes = [number; ObjectId::LEN];
    bytes[..16].copy_from_slice(&store.id());
    ObjectId::from_bytes(bytes)
}

pub(crate) fn keys_stay_in_their_token(place: &impl Place) {
    let fixture = Fixture::new(place);
    let store = &fixture.store;
    let key = fixture.key("k", "ML-DSA-44");
    let algorithm = named(fixture.stand_in("ML-DSA-44").unwrap());
    let second = store.rotate(&admin(), &key).unwrap();
    let details = store.show(&admin(), &key).unwrap();
    assert_eq!(details.token, fixture.token);
    let serial = place.in_token().serial().unwrap();
    assert!(serial.is_some());
    for found in &details.versions {
        assert_eq!(found.token, fixture.token);
        assert_eq!(found.token_serial, serial);
    }
    // Nobody gets it out, whatever the policy says.
    let mut policy = user_policy();
    policy.grants = policy.grants.grant(&user(), Verb::Export);
    store.set_policy(&admin(), &key, &policy).unwrap();
    assert_eq!(code(store.export(&user(), &second)), "not-exportable");
    policy.exportable = true;
    assert_eq!(
        code(store.set_policy(&admin(), &key, &policy)),
        "exportable-changed"
    );
    let other = name("exportable");
    let refused = store.create_key_in(&admin(), &other, algorithm, &policy, &token());
    assert_eq!(code(refused), "policy");
    store
        .create_key(&admin(), &other, algorithm, &policy)
        .unwrap();
    let refused = store.rotate_to(&admin(), &other, Some(&token()));
    assert_eq!(code(refused), "policy");
    // Nobody gets one in.
    let made = AnyPrivateKey::generate(algorithm).unwrap();
    assert_eq!(code(store.import_version(&admin(), &key, &made)), "policy");
    let refused = store.create_key_in(&admin(), &key, algorithm, &user_policy(), &token());
    assert_eq!(code(refused), "exists");
    let unknown = "another".parse().unwrap();
    let refused = store.create_key_in(&admin(), &name("n"), algorithm, &user_policy(), &unknown);
    assert_eq!(code(refused), "token-not-given");
    let refused = store.create_key_in(&user(), &name("n"), algorithm, &user_policy(), &token());
    assert_eq!(code(refused), "denied");
    let composite = named("MLDSA65-Ed25519-SHA512");
    let refused = store.create_key_in(&admin(), &name("n"), composite, &user_policy(), &token());
    assert_eq!(code(refused), "token-unsupported");
    let report = store.check(&admin(), &[]).unwrap();
    assert!(report.damaged.is_empty(), "{:?}", report.damaged);
    assert_eq!(report.orphans, []);
}

/// A private key that was made elsewhere does in a token what it did before, and nobody gets it out.
pub(crate) fn imported_keys_stay_in_their_token(place: &impl Place) {
    let fixture = Fixture::new(place);
    let store = &fixture.store;
    for asked in ["ML-DSA-44", "ML-DSA-65", "ML-KEM-768", "ECDSA-P384"] {
        let Some(algorithm) = fixture.stand_in(asked).map(named) else {
            continue;
        };
        let key = name(&asked.to_ascii_lowercase());
        let made = || AnyPrivateKey::generate(algorithm).unwrap();
        let check = |id: &KeyId, made: &AnyPrivateKey| match made.public_half() {
            AnyPublicKey::PostQuantum(PublicKey::Encapsulation(public)) => {
                let mut secret = [0; 32];
                let ciphertext = public.encapsulate_into(&mut secret).unwrap();
                let found = store.decapsulate(&user(), id, &ciphertext).unwrap();
                assert_eq!(*found, secret);
            }
            public => {
                let signed = store.sign_by(&user(), id, Input::message(MESSAGE)).unwrap();
                public.verify(MESSAGE, &signed.signature).unwrap();
            }
        };
        let [first, third] = [(); 2].map(|()| made());
        let id = store.import_key_in(&admin(), &key, &first, &user_policy(), &token());
        check(&id.unwrap(), &first);
        store.rotate(&admin(), &key).unwrap();
        let id = store.import_version_in(&admin(), &key, &third, &token());
        check(&id.unwrap(), &third);
        check(&key.at(version(1)), &first);
        let details = store.show(&admin(), &key).unwrap();
        let origins = details.versions.iter().map(|found| found.origin);
        assert_eq!(
            origins.collect::<Vec<_>>(),
            [Origin::Imported, Origin::Generated, Origin::Imported]
        );
        for found in &details.versions {
            assert_eq!(found.token, Some(token()));
        }
        let again = store.import_key_in(&admin(), &key, &first, &user_policy(), &token());
        assert_eq!(code(again), "exists");
        let refused = store.import_version_in(&user(), &key, &first, &token());
        assert_eq!(code(refused), "denied");
    }
    // A key that is here moves with its next version.
    let algorithm = named(fixture.stand_in("ML-DSA-44").unwrap());
    let moved = name("moved");
    store
        .create_key(&admin(), &moved, algorithm, &user_policy())
        .unwrap();
    let made = AnyPrivateKey::generate(algorithm).unwrap();
    store
        .import_version_in(&admin(), &moved, &made, &token())
        .unwrap();
    let details = store.show(&admin(), &moved).unwrap();
    assert_eq!(details.token, Some(token()));
    let tokens = details.versions.iter().map(|found| found.token.clone());
    assert_eq!(tokens.collect::<Vec<_>>(), [None, Some(token())]);
    // What the token, the policy or the key stands against leaves nothing there.
    let composite = AnyPrivateKey::generate(named("MLDSA65-Ed25519-SHA512")).unwrap();
    let refused = store.import_key_in(&admin(), &name("c"), &composite, &user_policy(), &token());
    assert_eq!(code(refused), "token-unsupported");
    let refused = store.import_version_in(&admin(), &moved, &composite, &token());
    assert_eq!(code(refused), "algorithm");
    let mut policy = user_policy();
    policy.exportable = true;
    let refused = store.import_key_in(&admin(), &name("e"), &made, &policy, &token());
    assert_eq!(code(refused), "policy");
    store
        .create_key(&admin(), &name("e"), algorithm, &policy)
        .unwrap();
    let refused = store.import_version_in(&admin(), &name("e"), &made, &token());
    assert_eq!(code(refused), "policy");
    let report = store.check(&admin(), &[]).unwrap();
    assert!(report.damaged.is_empty(), "{:?}", report.damaged);
    assert_eq!(report.orphans, []);
}

pub(crate) fn a_key_moves_to_a_token_and_back(place: &impl Place) {
    let fixture = Fixture::new(place);
    let store = &fixture.store;
    let key = name("k");
    let algorithm = named(fixture.stand_in("ML-DSA-65").unwrap());
    store
        .create_key(&admin(), &key, algorithm, &user_policy())
        .unwrap();
    let mut signatures = vec![fixture.sign(&key, MESSAGE)];
    let moved = store.rotate_to(&admin(), &key, Some(&token())).unwrap();
    signatures.push(fixture.sign(&key, MESSAGE));
    store.rotate(&admin(), &key).unwrap();
    signatures.push(fixture.sign(&key, MESSAGE));
    store.rotate_to(&admin(), &key, None).unwrap();
    signatures.push(fixture.sign(&key, MESSAGE));
    let fixture = fixture.reopened();
    let store = &fixture.store;
    let places: Vec<_> = store
        .show(&admin(), &key)
        .unwrap()
        .versions
        .into_iter()
        .map(|found| found.token)
        .collect();
    assert_eq!(places, [None, Some(token()), Some(token()), None]);
    for (number, signed) in (1..).zip(&signatures) {
        assert_eq!(signed.id, key.at(version(number)));
        fixture
            .verify(&signed.id, MESSAGE, &signed.signature)
            .unwrap();
        store
            .sign_by(&user(), &signed.id, Input::message(MESSAGE))
            .unwrap();
    }
    assert_eq!(code(store.rotate_to(&user(), &key, None)), "denied");
    // Destroyed and removed, the token has no key of it.
    let day = Duration::from_secs(24 * 60 * 60);
    store.schedule_destruction(&admin(), &moved, day).unwrap();
    fixture.clock.advance(day);
    store.destroy(&admin(), &moved).unwrap();
    assert_eq!(code(store.destroy(&admin(), &moved)), "state");
    fixture
        .verify(&moved, MESSAGE, &signatures[1].signature)
        .unwrap();
    let mut policy: Policy = user_policy();
    policy.min_version = version(4);
    store.set_policy(&admin(), &key, &policy).unwrap();
    store.trim(&admin(), &key, version(4)).unwrap();
    let report = store.check(&admin(), &[]).unwrap();
    assert!(report.damaged.is_empty(), "{:?}", report.damaged);
    assert_eq!((report.versions, report.orphans.len()), (1, 0));
}

pub(crate) fn what_no_version_refers_to_is_removed(place: &impl Place) {
    let fixture = Fixture::new(place);
    let other = Fixture::new(&Memory::new());
    let store = &fixture.store;
    let key = fixture.key("k", "ML-DSA-44");
    store.rotate(&admin(), &key).unwrap();
    let algorithm = named(fixture.stand_in("ML-DSA-44").unwrap());
    let lost = [forsaken(store, 1), forsaken(store, 2)];
    let kept = forsaken(&other.store, 3);
    for object in lost.iter().chain([&kept]) {
        place
            .in_token()
            .generate(algorithm, object, "lost")
            .unwrap();
    }
    let report = store.check(&admin(), &[]).unwrap();
    assert!(report.damaged.is_empty(), "{:?}", report.damaged);
    let found: Vec<_> = report.orphans.iter().map(|orphan| orphan.object).collect();
    assert_eq!(found, lost);
    assert_eq!(code(store.remove_orphans(&user())), "denied");
    assert_eq!(store.remove_orphans(&admin()).unwrap(), report.orphans);
    assert_eq!(store.remove_orphans(&admin()).unwrap(), []);
    assert_eq!(store.check(&admin(), &[]).unwrap().orphans, []);
    fixture.sign(&key, MESSAGE);
    // Those of other stores are left alone.
    let objects = |store: &Store| {
        let mut objects = place.in_token().objects(store.id()).unwrap();
        // The stand-in tells of all, which a store has to notice.
        objects.retain(|object| object.is_of(store.id()));
        objects
    };
    assert_eq!(objects(&other.store), [kept]);
    place.in_token().destroy(&kept).unwrap();
    // One that a version refers to, and somebody removed from the token, is missed.
    let objects = objects(store);
    assert_eq!(objects.len(), 2);
    for object in &objects {
        place.in_token().destroy(object).unwrap();
    }
    let report = store.check(&admin(), &[]).unwrap();
    let codes: Vec<_> = report.damaged.iter().map(|error| error.code()).collect();
    assert_eq!(codes, ["damaged"; 2]);
    let signed = store.sign(&user(), &key, Input::message(MESSAGE));
    assert_eq!(code(signed), "token-no-object");
    // Rotated, it signs again.
    store.rotate(&admin(), &key).unwrap();
    fixture.sign(&key, MESSAGE);
}

/// A key's row that somebody deleted, or put back together with the index, refers to nothing or to less: no private key is
/// removed for that.
pub(crate) fn a_missing_row_removes_nothing(place: &impl Place) {
    let fixture = Fixture::new(place);
    let store = &fixture.store;
    let key = fixture.key("k", "ML-DSA-44");
    let row = RowKey::key(&key);
    let rows = (0..128).map(RowKey::index).chain([row.clone()]);
    let older: Vec<_> = rows
        .map(|row| (row.clone(), fixture.row(&row).value))
        .collect();
    store.rotate(&admin(), &key).unwrap();
    let objects = || {
        let objects = place.in_token().objects(store.id()).unwrap();
        objects
            .iter()
            .filter(|object| object.is_of(store.id()))
            .count()
    };
    assert_eq!(objects(), 2);
    for (row, value) in older {
        fixture.write(&row, Write::Put(value));
    }
    assert_eq!(code(store.remove_orphans(&admin())), "put-back");
    assert_eq!(objects(), 2);
    fixture.write(&row, Write::Delete);
    assert_eq!(code(store.remove_orphans(&admin())), "missing");
    assert_eq!(objects(), 2);
}

/// An object is nobody's only if all rows say so: one that can't be read may refer to it.
pub(crate) fn damaged_rows_have_no_orphans(place: &impl Place) {
    let fixture = Fixture::new(place);
    let store = &fixture.store;
    let other = fixture.key("other", "ML-DSA-44");
    // Its first version is in the store, and the second in the token.
    let key = name("moved");
    let algorithm = named(fixture.stand_in("ML-DSA-44").unwrap());
    store
        .create_key(&admin(), &key, algorithm, &user_policy())
        .unwrap();
    store.rotate_to(&admin(), &key, Some(&token())).unwrap();
    let lost = forsaken(store, 1);
    place.in_token().generate(algorithm, &lost, "lost").unwrap();
    let objects = || place.in_token().objects(store.id()).unwrap().len();
    assert_eq!(objects(), 3);
    for row in [
        RowKey::version(&other.at(version(1))),
        RowKey::version(&key.at(version(1))),
        RowKey::version(&key.at(version(2))),
        RowKey::key(&key),
    ] {
        let before = fixture.row(&row).value;
        let mut damaged = before.clone();
        damaged[20] ^= 1;
        for write in [Write::Put(damaged), Write::Delete] {
            fixture.write(&row, write);
            let report = store.check(&admin(), &[]).unwrap();
            assert_eq!(report.damaged.len(), 1, "{row}: {:?}", report.damaged);
            assert_eq!(report.orphans, [], "{row}");
            let refused = store.remove_orphans(&admin()).unwrap_err();
            assert!(matches!(refused, StoreError::Damaged { .. }), "{refused}");
            assert_eq!(objects(), 3);
        }
        fixture.write(&row, Write::Put(before));
    }
    let found = store.remove_orphans(&admin()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].object, objects()), (lost, 2));
}

/// Removing what nobody refers to again and again takes no key away that is being made.
pub(crate) fn removing_disturbs_no_rotation(place: &impl Place) {
    let fixture = Fixture::new(place);
    let store = &fixture.store;
    let keys = ["a", "b"].map(|text| fixture.key(text, "ML-DSA-44"));
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let rotating = keys.each_ref().map(|key| {
            scope.spawn(move || {
                for _ in 0..12 {
                    // Others were removed each time that it was made: that is said, and nothing is done.
                    match store.rotate(&admin(), key) {
                        Err(error) => assert_eq!(error.code(), "contended"),
                        Ok(id) => drop(
                            store
                                .sign_by(&user(), &id, Input::message(MESSAGE))
                                .unwrap(),
                        ),
                    }
                }
            })
        });
        scope.spawn(|| {
            while !is_done.load(Ordering::Acquire) {
                store.remove_orphans(&admin()).unwrap();
                thread::sleep(Duration::from_millis(5));
            }
        });
        let ended = rotating.map(|thread| thread.join());
        is_done.store(true, Ordering::Release);
        for ended in ended {
            ended.unwrap();
        }
    });
    store.remove_orphans(&admin()).unwrap();
    let report = store.check(&admin(), &[]).unwrap();
    assert!(report.damaged.is_empty(), "{:?}", report.damaged);
    assert_eq!(report.orphans, []);
    for key in &keys {
        for found in store.show(&admin(), key).unwrap().versions {
            let id = key.at(found.version);
            let signed = store
                .sign_by(&user(), &id, Input::message(MESSAGE))
                .unwrap();
            fixture.verify(&id, MESSAGE, &signed.signature).unwrap();
        }
    }
}

/// Several threads make, use, list and remove keys of a token at once.
pub(crate) fn keys_are_made_at_once(place: &impl Place) {
    let fixture = Fixture::new(place);
    let algorithm = named(fixture.stand_in("ML-DSA-44").unwrap());
    let held = place.in_token();
    thread::scope(|scope| {
        for thread in 0..4 {
            let (held, store) = (&held, &fixture.store);
            scope.spawn(move || {
                for round in 0..10 {
                    let object = forsaken(store, 16 * thread + round);
                    let public = held.generate(algorithm, &object, "at once").unwrap();
                    let request = TokenInput {
                        object: &object,
                        algorithm,
                        input: Input::message(MESSAGE),
                    };
                    let signature = held.sign(&request).unwrap();
                    public.verify(MESSAGE, &signature).unwrap();
                    let listed = held.objects(store.id()).unwrap();
                    assert!(listed.contains(&object));
                    assert_eq!(held.private_keys(&object).unwrap(), 1);
                    held.destroy(&object).unwrap();
                }
            });
        }
    });
}

pub(crate) fn digests_are_signed_and_mu_is_not(place: &impl Place) {
    let fixture = Fixture::new(place);
    let store = &fixture.store;
    let all = |policy: &mut Policy| policy.inputs = InputKind::ALL.into_iter().collect();
    let key = fixture.key_with("k", "ML-DSA-44", all);
    let is_classical = !named(fixture.stand_in("ML-DSA-44").unwrap()).is_post_quantum();
    let digest = [7; 64];
    let context = [8; 256];
    let with_context = |context| Input::Message {
        message: MESSAGE,
        context,
    };
    let of_digest = |hash, digest, context| Input::Digest {
        hash,
        digest,
        context,
    };
    let inputs = [
        (Input::message(MESSAGE), "done", "done"),
        (Input::message(b""), "done", "done"),
        (with_context(b"context"), "done", "key"),
        (with_context(&context[..255]), "done", "key"),
        (with_context(&context), "algorithm", "key"),
        (
            of_digest(PreHash::Sha512, &digest, b""),
            "done",
            "algorithm",
        ),
        (
            of_digest(PreHash::Sha256, &digest[..32], b"context"),
            "done",
            "algorithm",
        ),
        (
            of_digest(PreHash::Sha512, &digest[1..], b""),
            "algorithm",
            "algorithm",
        ),
        (
            of_digest(PreHash::Sha224, &digest[..28], b""),
            "key",
            "algorithm",
        ),
        (
            of_digest(PreHash::Shake256, &digest, b""),
            "token-unsupported",
            "algorithm",
        ),
        (Input::Mu(&digest), "token-unsupported", "algorithm"),
    ];
    for (index, (input, post_quantum, classical)) in inputs.into_iter().enumerate() {
        let signed = store.sign(&user(), &key, input);
        if let Ok(signed) = &signed {
            let verified = store.verify(&user(), &key, None, input, &signed.signature);
            assert_eq!(verified.unwrap(), signed.id);
        }
        let expected = if is_classical {
            classical
        } else {
            post_quantum
        };
        assert_eq!(code(signed), expected, "{index}");
    }
    if let Some(algorithm) = fixture.stand_in("SLH-DSA-SHA2-128f") {
        let key = fixture.key_with("slh", "SLH-DSA-SHA2-128f", all);
        let signed = store.sign(
            &user(),
            &key,
            of_digest(PreHash::Sha256, &digest[..32], b"c"),
        );
        assert_eq!(code(signed), "done", "{algorithm}");
        assert_eq!(code(store.sign(&user(), &key, Input::Mu(&digest))), "key");
    }
}
