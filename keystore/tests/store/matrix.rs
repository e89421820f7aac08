//! Every verb by every role in every state: who has no right gets nothing, and who has gets what the state permits.

use core::time::Duration;

use pq_keys::any::AnyPrivateKey;
use pq_keystore::policy::{Grants, Input, Principal, Role, Verb};
use pq_keystore::{KeyId, KeyName, Scope, Store, StoreError};

use crate::kit::{Fixture, admin, code, named, user_policy, version};
use crate::places::Place;

const MESSAGE: &[u8] = b"message";

const STATES: [&str; 4] = ["enabled", "disabled", "destroy-scheduled", "destroyed"];

/// Brings the first version of a key into a state.
fn bring(fixture: &Fixture, id: &KeyId, state: &str) {
    let store = &fixture.store;
    match state {
        "enabled" => {}
        "disabled" => store.disable(&admin(), id).unwrap(),
        _ => {
            store
                .schedule_destruction(&admin(), id, Duration::ZERO)
                .unwrap();
            if state == "destroyed" {
                store.destroy(&admin(), id).unwrap();
            }
        }
    }
}

/// What is tried: the verb, and the code of what happens in each state if it is granted.
type Try = (
    Verb,
    [&'static str; 4],
    fn(&Store, &Principal, &KeyName) -> Result<(), StoreError>,
);

fn first(key: &KeyName) -> KeyId {
    key.at(version(1))
}

/// All verbs with keys that sign, and those of the store. A token gives out no keys, and takes none.
fn tries(is_in_token: bool) -> Vec<Try> {
    const ALWAYS: [&str; 4] = ["done"; 4];
    let (exported, imported) = match is_in_token {
        true => (["not-exportable"; 4], ["policy"; 4]),
        false => (["done", "state", "state", "state"], ALWAYS),
    };
    vec![
        (Verb::Create, ALWAYS, |store, who, key| {
            let new = KeyName::new("t", "new", key.name()).unwrap();
            store
                .create_key(who, &new, named("ML-DSA-44"), &user_policy())
                .map(drop)
        }),
        (Verb::Import, ALWAYS, |store, who, key| {
            let new = KeyName::new("t", "imported", key.name()).unwrap();
            let made = AnyPrivateKey::generate(named("ML-DSA-44")).unwrap();
            store.import_key(who, &new, &made, &user_policy()).map(drop)
        }),
        (
            Verb::Sign,
            [
                "done",
                "no-enabled-version",
                "no-enabled-version",
                "no-enabled-version",
            ],
            |store, who, key| store.sign(who, key, Input::message(MESSAGE)).map(drop),
        ),
        (
            Verb::Sign,
            ["done", "state", "state", "state"],
            |store, who, key| {
                store
                    .sign_by(who, &first(key), Input::message(MESSAGE))
                    .map(drop)
            },
        ),
        // A signature that is not valid, of a version that verifies unless it was disabled.
        (
            Verb::Verify,
            [
                "invalid-signature",
                "state",
                "invalid-signature",
                "invalid-signature",
            ],
            |store, who, key| {
                store
                    .verify(who, key, Some(version(1)), Input::message(MESSAGE), b"")
                    .map(drop)
            },
        ),
        (
            Verb::Encapsulate,
            [
                "algorithm",
                "no-enabled-version",
                "no-enabled-version",
                "no-enabled-version",
            ],
            |store, who, key| store.encapsulate(who, key).map(drop),
        ),
        (
            Verb::Decapsulate,
            ["algorithm", "state", "state", "state"],
            |store, who, key| store.decapsulate(who, &first(key), b"").map(drop),
        ),
        (Verb::Export, exported, |store, who, key| {
            store.export(who, &first(key)).map(drop)
        }),
        (Verb::Attest, ALWAYS, |store, who, key| {
            store.attest(who, key).map(drop)
        }),
        (Verb::Show, ALWAYS, |store, who, key| {
            store.show(who, key).map(drop)
        }),
        (Verb::List, ALWAYS, |store, who, _| {
            store.list(who, None, None, 1).map(drop)
        }),
        (Verb::SetPolicy, ALWAYS, |store, who, key| {
            let mut policy = store.show(&admin(), key).unwrap().policy;
            policy.max_message += 1;
            store.set_policy(who, key, &policy)
        }),
        (Verb::Audit, ALWAYS, |store, who, _| {
            store.signed_head(who).map(drop)
        }),
        (Verb::Audit, ALWAYS, |store, who, _| {
            store.audit_log(who, 1, 1).map(drop)
        }),
        (Verb::Audit, ALWAYS, |store, who, _| {
            store.check(who, &[]).map(drop)
        }),
        (Verb::Administer, ALWAYS, |store, who, _| {
            store.store_grants(who).map(drop)
        }),
        (Verb::Administer, ALWAYS, |store, who, _| {
            store.confirm_time(who)
        }),
        // These change the state, so they come last. A principal with one verb finds the state as it was.
        (
            Verb::Disable,
            ["done", "state", "done", "done"],
            |store, who, key| store.disable(who, &first(key)),
        ),
        (
            Verb::Enable,
            ["state", "done", "state", "state"],
            |store, who, key| store.enable(who, &first(key)),
        ),
        (
            Verb::Schedule,
            ["done", "done", "state", "state"],
            |store, who, key| store.schedule_destruction(who, &first(key), Duration::ZERO),
        ),
        (
            Verb::Schedule,
            ["done", "done", "done", "state"],
            |store, who, key| store.cancel_destruction(who, &first(key)),
        ),
        (
            Verb::Destroy,
            ["state", "state", "done", "state"],
            |store, who, key| store.destroy(who, &first(key)),
        ),
        (Verb::Rotate, ALWAYS, |store, who, key| {
            store.rotate(who, key).map(drop)
        }),
        (Verb::Import, imported, |store, who, key| {
            let made = AnyPrivateKey::generate(named("ML-DSA-44")).unwrap();
            store.import_version(who, key, &made).map(drop)
        }),
        (
            Verb::Destroy,
            ["version-not-found"; 4],
            |store, who, key| store.trim(who, key, version(2)),
        ),
    ]
}

/// Where a right comes from.
#[derive(Clone, Copy, Debug)]
enum From {
    Store,
    Key,
    Scope,
}

pub(crate) fn who_has_no_right_gets_nothing(place: &impl Place) {
    let fixture = Fixture::new(place);
    let store = &fixture.store;
    // One principal for each verb and each role, by the store; and for each verb of keys, by the key.
    let mut grants = store.store_grants(&admin()).unwrap();
    let mut own = Grants::new();
    let mut principals = vec![(
        Principal::new("nobody").unwrap(),
        Verb::ALL[..0].to_vec(),
        From::Store,
    )];
    for verb in Verb::ALL {
        let by_store = Principal::new(&format!("store-{verb}")).unwrap();
        grants = grants.grant(&Scope::all(), &by_store, *verb);
        principals.push((by_store, vec![*verb], From::Store));
        let in_scope = Principal::new(&format!("scope-{verb}")).unwrap();
        grants = grants.grant(&"t/p/*".parse().unwrap(), &in_scope, *verb);
        let elsewhere = Principal::new(&format!("elsewhere-{verb}")).unwrap();
        grants = grants.grant(&"u/*".parse().unwrap(), &elsewhere, *verb);
        principals.push((in_scope, vec![*verb], From::Scope));
        // It may list, but sees nothing of this tenant.
        let of_lists = [Verb::List].into_iter().filter(|list| list == verb);
        principals.push((elsewhere, of_lists.collect(), From::Key));
        if pq_keystore::policy::Verbs::of_keys().contains(*verb) {
            let by_key = Principal::new(&format!("key-{verb}")).unwrap();
            own = own.grant(&by_key, *verb);
            principals.push((by_key, vec![*verb], From::Key));
        }
    }
    for role in Role::ALL {
        let by_store = Principal::new(role.name()).unwrap();
        grants = grants.grant(&Scope::all(), &by_store, role.verbs());
        principals.push((by_store, role.verbs().iter().collect(), From::Store));
    }
    store.set_store_grants(&admin(), &grants).unwrap();
    let tries = tries(fixture.token.is_some());
    let mut tried = 0;
    for (column, state) in STATES.into_iter().enumerate() {
        for (principal, verbs, from) in &principals {
            let text = format!("{state}-{principal}");
            let key = fixture.key_with(&text, "ML-DSA-44", |policy| {
                policy.grants = own.clone();
                policy.destroy_after = Duration::ZERO;
                policy.exportable = fixture.token.is_none();
            });
            bring(&fixture, &first(&key), state);
            let before = fixture.store.show(&admin(), &key).unwrap();
            for (index, (verb, codes, act)) in tries.iter().enumerate() {
                // The first two make keys of other purposes, and some verbs count only with all keys.
                let in_scope = index >= 2 && !matches!(verb, Verb::Audit | Verb::Administer);
                let permitted = verbs.contains(verb) && (in_scope || !matches!(from, From::Scope));
                let found = code(act(store, principal, &key));
                match verbs.len() {
                    _ if !permitted => assert_eq!(found, "denied", "{principal} {verb} {state}"),
                    1 => assert_eq!(found, codes[column], "{principal} {verb} {state}"),
                    // A role changes states as it goes.
                    _ => assert_ne!(found, "denied", "{principal} {verb} {state}"),
                }
                tried += 1;
            }
            if verbs.is_empty() {
                let after = fixture.store.show(&admin(), &key).unwrap();
                assert_eq!(after.policy, before.policy);
                assert_eq!(after.versions.len(), before.versions.len());
                assert_eq!(after.versions[0].state, before.versions[0].state);
            }
        }
    }
    assert_eq!(tried, STATES.len() * principals.len() * tries.len());
}
