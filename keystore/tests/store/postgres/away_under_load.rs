//! A database that is away for some seconds while keys are used.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::thread;
use std::time::Instant;

use pq_keystore::policy::{Input, Verb, WhenAway};
use pq_keystore::storage::PostgresOptions;
use pq_keystore::{Store, StoreError, StoreOptions, Version};

use super::server::{Cluster, PATIENCE, Process, open};
use crate::amounts::amount;
use crate::kit::{admin, counted, kek, name, named, user, user_policy};

const MESSAGE: Input<'static> = Input::Message {
    message: b"message",
    context: b"",
};

/// The database is away for as many seconds as `PQ_KEYSTORE_AWAY_SECONDS` says, 3 by default: keys in memory sign where
/// their policy says so, all else is refused as what trying again helps for, and nothing is lost.
#[test]
fn keys_are_used_while_the_database_is_away() {
    let away_for = Duration::from_secs(amount("PQ_KEYSTORE_AWAY_SECONDS", 3));
    let Some(cluster) = Cluster::new(&["fsync=on"]) else {
        return;
    };
    let mut server = Some(cluster.start());
    let options = PostgresOptions::new(&cluster.address())
        .unwrap()
        .connect_timeout(PATIENCE)
        .timeout(Duration::from_secs(1));
    let kek = kek(b"secret");
    let patient = Arc::new(open(&options.clone().timeout(PATIENCE)));
    let created = Store::create(patient, &kek, &admin(), StoreOptions::default()).unwrap();
    let [goes_on, refuses] = [
        ("goes-on", WhenAway::UseFor(Duration::from_secs(3600))),
        ("refuses", WhenAway::Refuse),
    ]
    .map(|(text, when_away)| {
        let (key, mut policy) = (name(text), user_policy());
        policy.when_away = when_away;
        created
            .create_key(&admin(), &key, named("ML-DSA-44"), &policy)
            .unwrap();
        key
    });
    drop(created);
    let store = Store::open(Arc::new(open(&options)), &kek, StoreOptions::default()).unwrap();
    let (stop, is_away) = (AtomicBool::new(false), AtomicBool::new(false));
    let [
        signed,
        signed_otherwise,
        signed_while_away,
        refused,
        rotated,
    ] = [const { AtomicU64::new(0) }; 5];
    let newest = AtomicU64::new(1);
    // Whatever fails has to be what trying again helps for.
    let again = |error: &StoreError| {
        assert!(
            error.retry() || matches!(error, StoreError::OutcomeUnknown(_)),
            "{error}"
        );
    };
    thread::scope(|scope| {
        // What both threads sign by this key is given out without an exception.
        for _ in 0..2 {
            scope.spawn(|| {
                let mut before = Version::FIRST;
                while !stop.load(Ordering::Acquire) {
                    let away = is_away.load(Ordering::Acquire);
                    match store.sign(&user(), &goes_on, MESSAGE) {
                        Ok(made) => {
                            assert!(made.id.version() >= before);
                            before = made.id.version();
                            signed.fetch_add(1, Ordering::Relaxed);
                            if away && is_away.load(Ordering::Acquire) {
                                signed_while_away.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                        Err(error) => panic!("a key in use doesn't sign: {error}"),
                    }
                    thread::sleep(Duration::from_micros(200));
                }
            });
        }
        scope.spawn(|| {
            while !stop.load(Ordering::Acquire) {
                match store.sign(&user(), &refuses, MESSAGE) {
                    Ok(_) => signed_otherwise.fetch_add(1, Ordering::Relaxed),
                    Err(error) => {
                        again(&error);
                        refused.fetch_add(1, Ordering::Relaxed)
                    }
                };
                thread::sleep(Duration::from_millis(5));
            }
        });
        scope.spawn(|| {
            while !stop.load(Ordering::Acquire) {
                match store.rotate(&admin(), &goes_on) {
                    Ok(id) => {
                        rotated.fetch_add(1, Ordering::Relaxed);
                        newest.fetch_max(id.version().get().into(), Ordering::AcqRel);
                    }
                    Err(error) => again(&error),
                }
                thread::sleep(Duration::from_millis(20));
            }
        });
        let wait_until = |what: &str, holds: &dyn Fn() -> bool| {
            let started = Instant::now();
            while !holds() {
                if started.elapsed() > PATIENCE {
                    stop.store(true, Ordering::Release);
                    panic!("{what}");
                }
                thread::sleep(Duration::from_millis(5));
            }
        };
        wait_until("nothing was rotated", &|| {
            rotated.load(Ordering::Acquire) > 3
        });
        server.take().unwrap().kill();
        is_away.store(true, Ordering::Release);
        thread::sleep(away_for);
        wait_until("nothing was refused", &|| {
            refused.load(Ordering::Acquire) > 0
        });
        wait_until("nothing was signed", &|| {
            signed_while_away.load(Ordering::Acquire) > 100
        });
        is_away.store(false, Ordering::Release);
        let while_away = rotated.load(Ordering::Acquire);
        server = Some(cluster.start());
        let back = Instant::now();
        wait_until("it doesn't come back", &|| {
            rotated.load(Ordering::Acquire) > while_away + 2
        });
        let others = signed_otherwise.load(Ordering::Acquire);
        wait_until("a key is still refused", &|| {
            signed_otherwise.load(Ordering::Acquire) > others
        });
        println!(
            "away for {away_for:?}: {} signatures meanwhile, {} refusals, rotated {:?} after it was back",
            signed_while_away.load(Ordering::Acquire),
            refused.load(Ordering::Acquire),
            back.elapsed()
        );
        stop.store(true, Ordering::Release);
    });
    assert!(server.as_mut().is_some_and(Process::is_running));
    // What was counted while the database was away stands in the log.
    let all = signed.into_inner() + signed_otherwise.into_inner();
    assert_eq!(counted(&store, Verb::Sign), all);
    let report = store.check(&admin(), &[]).unwrap();
    assert!(report.damaged.is_empty(), "{:?}", report.damaged);
    let versions = store.show(&admin(), &goes_on).unwrap().versions;
    assert!(versions.len() as u64 >= newest.into_inner());
}
