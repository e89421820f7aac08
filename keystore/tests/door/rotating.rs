//! Keys are rotated when their time has come, without a request.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::thread;

use pq_keystore::door::AccessList;
use pq_keystore::policy::Verb;
use pq_keystore::storage::MemoryStorage;
use pq_keystore::{Rotated, StoreError};
use serde_json::json;

use crate::kit::{House, ROOT, damage, principal};

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl House {
    fn create_hourly(&self, name: &str) {
        let body = json!({"type": "ed25519", "auto_rotate_period": "1h"}).to_string();
        self.post(&format!("keys/{name}"), &body).expect(200);
    }

    fn latest(&self, name: &str) -> u64 {
        let key = self.get(&format!("keys/{name}")).expect(200);
        key["data"]["latest_version"].as_u64().unwrap()
    }

    fn advance(&self, time: Duration) {
        *self.clock.lock().unwrap() += time;
    }

    fn rotated(&self) -> Vec<String> {
        let rotated = self.door.rotate_due(&|| false).unwrap();
        let id = |rotated: Rotated| rotated.result.unwrap().to_string();
        rotated.into_iter().map(id).collect()
    }
}

#[test]
fn keys_are_rotated_when_their_period_is_over() {
    let house = House::new();
    house.create_hourly("a");
    house.create("never", "ed25519");
    assert!(house.rotated().is_empty());
    house.advance(HOUR);
    assert_eq!(house.rotated(), ["shop/tokens/a#2"]);
    assert!(house.rotated().is_empty());
    assert!(house.signature("a").starts_with("vault:v2:"));
    assert_eq!(house.latest("never"), 1);
    // A rotation by somebody begins the period anew.
    house.advance(HOUR / 2);
    house.post("keys/a/rotate", "").expect(200);
    house.advance(HOUR / 2);
    assert!(house.rotated().is_empty());
    // Without a period, nothing is due.
    house
        .post("keys/a/config", r#"{"auto_rotate_period": 0}"#)
        .expect(204);
    house.advance(DAY);
    assert!(house.rotated().is_empty());

    // The log says that nobody asked for it, and that it was not refused before.
    let log = house.store.audit_log(&principal("root"), 1, 1000).unwrap();
    let own: Vec<_> = log
        .iter()
        .filter(|entry| entry.principal == Some(principal("auto-rotate")))
        .map(|entry| (entry.verb, entry.count))
        .collect();
    assert_eq!(own, [(Verb::Rotate, 1)]);
}

/// Without a grant it may rotate what is due, and nothing else; and nobody comes in by its name.
#[test]
fn the_server_itself_may_do_nothing_else() {
    let house = House::new();
    house.create_hourly("a");
    house.create("never", "ed25519");
    let (own, name) = (principal("auto-rotate"), |name: &str| {
        format!("shop/tokens/{name}").parse().unwrap()
    });
    let denied = |result: Result<(), StoreError>| {
        assert!(
            matches!(result, Err(StoreError::Denied { .. })),
            "{result:?}"
        );
    };
    denied(house.store.rotate(&own, &name("never")).map(drop));
    let early = house.store.rotate(&own, &name("a")).unwrap_err();
    assert_eq!(early.code(), "not-due");
    denied(house.store.show(&own, &name("a")).map(drop));
    let id = "shop/tokens/a#1".parse().unwrap();
    denied(house.store.disable(&own, &id));
    denied(house.store.export(&own, &id).map(drop));

    let digest = AccessList::digest(b"x");
    for table in ["tokens", "certificates"] {
        let text = format!("[[{table}]]\nsha256 = {digest:?}\nprincipal = \"auto-rotate\"\n");
        let refused = AccessList::from_toml(&text).unwrap_err();
        assert!(
            refused.to_string().contains("the server itself"),
            "{refused}"
        );
    }
}

/// Who loses the race finds that it is done, which is no failure.
#[test]
fn two_servers_rotate_once() {
    let houses = House::two();
    let names: Vec<_> = (0..20).map(|number| format!("k{number}")).collect();
    for name in &names {
        houses[0].create_hourly(name);
    }
    for round in 2..5 {
        houses[0].advance(HOUR);
        let rotated: usize = thread::scope(|scope| {
            let both = houses
                .each_ref()
                .map(|house| scope.spawn(|| house.rotated().len()));
            both.map(|one| one.join().unwrap()).into_iter().sum()
        });
        assert_eq!(rotated, names.len());
        for name in &names {
            assert_eq!(houses[1].latest(name), round);
        }
    }
}

/// What a wrong clock makes due is rotated once at most, until somebody says what time it is.
#[test]
fn a_wrong_clock_rotates_nothing_again_and_again() {
    let house = House::new();
    for name in ["a", "b"] {
        house.create_hourly(name);
    }
    // More than 400 days ahead it isn't believed at all.
    house.advance(401 * DAY);
    for _ in 0..3 {
        let refused = house.door.rotate_due(&|| false).unwrap_err();
        assert_eq!(refused.error.code(), "clock-ahead");
    }
    assert_eq!((house.latest("a"), house.latest("b")), (1, 1));
    *house.clock.lock().unwrap() -= 401 * DAY;
    assert!(house.rotated().is_empty());

    house.advance(30 * DAY);
    assert_eq!(house.rotated().len(), 2);
    for _ in 0..3 {
        *house.clock.lock().unwrap() -= 30 * DAY;
        let refused = house.door.rotate_due(&|| false).unwrap_err();
        assert_eq!(refused.error.code(), "clock-behind");
        house.advance(30 * DAY);
        assert!(house.rotated().is_empty());
    }
    assert_eq!((house.latest("a"), house.latest("b")), (2, 2));
}

/// One key that can't be rotated doesn't keep others from it, and is told of each time.
#[test]
fn failures_are_told_and_others_are_rotated() {
    let storage = Arc::new(MemoryStorage::new());
    let house = House::in_storage(&storage, &[]);
    for name in ["a", "b", "c"] {
        house.create_hourly(name);
    }
    damage(&storage, &["key/shop/tokens/b"]);
    house.advance(HOUR);
    let rotated = house.door.rotate_due(&|| false).unwrap();
    let done: Vec<_> = rotated.iter().map(|key| key.result.is_ok()).collect();
    assert_eq!(done, [true, false, true]);
    let rotated = house.door.rotate_due(&|| false).unwrap();
    assert_eq!(rotated.len(), 1);
    assert!(matches!(rotated[0].result, Err(StoreError::Damaged { .. })));

    // It ends between two keys when it is to end.
    house.advance(HOUR);
    assert!(house.door.rotate_due(&|| true).unwrap().is_empty());
    house.ask(ROOT, "POST", "keys/a/rotate", "").expect(200);
}

/// A clock that is set back meanwhile ends it, and what was rotated until then is told.
#[test]
fn what_was_rotated_is_told_though_the_look_ends() {
    let house = House::new();
    for name in ["a", "b", "c", "d"] {
        house.create_hourly(name);
    }
    house.advance(2 * HOUR);
    let looked_at = AtomicUsize::new(0);
    let ended = house.door.rotate_due(&|| {
        if looked_at.fetch_add(1, Ordering::Relaxed) == 2 {
            *house.clock.lock().unwrap() -= HOUR / 2;
        }
        false
    });
    let ended = ended.unwrap_err();
    assert_eq!(ended.error.code(), "clock-behind");
    let done = ended.rotated.into_iter();
    let done: Vec<_> = done.map(|key| key.result.unwrap().to_string()).collect();
    assert_eq!(done, ["shop/tokens/a#2", "shop/tokens/b#2"]);
}

/// A key that is damaged hides no wrong clock from those after it.
#[test]
fn a_damaged_key_hides_no_wrong_clock() {
    let storage = Arc::new(MemoryStorage::new());
    let house = House::in_storage(&storage, &[]);
    for name in ["a", "b", "c"] {
        house.create_hourly(name);
    }
    damage(&storage, &["key/shop/tokens/a"]);
    house.advance(500 * DAY);
    let ended = house.store.rotate_due(&principal("root")).unwrap_err();
    assert_eq!(
        (ended.error.code(), ended.rotated.len()),
        ("clock-ahead", 1)
    );
    assert_eq!((house.latest("b"), house.latest("c")), (1, 1));
}
