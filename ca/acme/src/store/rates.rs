//! How many orders a second a store does, from the new order to the certificate, without HTTP and signatures; and that of
//! many who do the same one does it. The environment variable `PQ_ACME_RATES` says for how many seconds to measure each.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use super::records::{
    AuthorizationRecord, AuthorizationState, CertificateRecord, ChallengeState, OrderRecord,
    OrderState, Processing,
};
use super::{Store, StoreError, suite};
use crate::objects::Time;

/// As of a client and a server, with certificates of ML-DSA-65.
const CSR: usize = 7_500;
const CERTIFICATE: usize = 7_500;
const CHAIN: usize = 20_000;

fn now() -> Time {
    Time::from_secs(1_800_000_000)
}

/// One order, by the calls that a server makes for its requests.
pub(super) fn order(store: &impl Store, account: &str, number: u64) -> Result<String, StoreError> {
    let order = new_order(store, account, number)?;
    let id = order.id.clone();
    // the authorization, its challenge, and its validation
    let authorization = &order.authorizations[0];
    store.account(account)?;
    suite::found(store.authorization(authorization));
    store.account(account)?;
    let read = suite::found(store.authorization(authorization));
    let mut looking = AuthorizationRecord::clone(&read);
    looking.challenges[0].state = ChallengeState::Processing { since: now() };
    let looking = store.update_authorization(looking)?;
    let mut valid = AuthorizationRecord::clone(&looking);
    valid.state = AuthorizationState::Valid;
    valid.challenges[0].state = ChallengeState::Valid {
        validated: now(),
        evidence: "192.0.2.1 answered".into(),
    };
    store.update_authorization(valid)?;
    // finalize
    store.account(account)?;
    let read = suite::found(store.order(&id));
    let authorizations = store.authorizations(&read.authorizations)?;
    let processing = OrderRecord {
        state: OrderState::Processing(Processing {
            csr: vec![b'c'; CSR].into(),
            since: now(),
        }),
        ..OrderRecord::clone(&read)
    };
    let processing = store.update_order(processing, &authorizations)?;
    // the certificate is there
    let certificate = CertificateRecord {
        der: vec![b'd'; CERTIFICATE],
        chains: vec!["p".repeat(CHAIN)],
        not_after: now(),
        ..suite::certificate(&processing)
    };
    let valid = OrderRecord {
        state: OrderState::Valid {
            csr: [7; 32],
            certificate: certificate.id.clone(),
        },
        ..OrderRecord::clone(&processing)
    };
    let name = certificate.id.clone();
    store.complete_order(valid, certificate)?;
    // the order is looked at, and the certificate fetched
    store.account(account)?;
    suite::found(store.order(&id));
    store.account(account)?;
    suite::found(store.certificate(&name));
    Ok(id)
}

fn new_order(
    store: &impl Store,
    account: &str,
    number: u64,
) -> Result<Arc<OrderRecord>, StoreError> {
    let account = suite::found(store.account(account));
    let order = OrderRecord {
        created: now(),
        expires: now().after(Duration::from_secs(3600)),
        ..suite::order(&format!("{number:016x}"), &account.id, number)
    };
    let authorization = suite::authorization(&order);
    let of = &authorization.identifier;
    store.valid_authorizations(&account.id, of, false, 1)?;
    let authorization = AuthorizationRecord {
        expires: order.expires,
        ..authorization
    };
    store.insert_order(order, vec![authorization], &account, None)
}

/// How many orders a second so many make at once, each for an account of its own.
pub(super) fn measure(store: &impl Store, at_once: u64, first: u64, time: Duration) -> f64 {
    let count = AtomicU64::new(first);
    let begun = Instant::now();
    thread::scope(|scope| {
        for number in 0..at_once {
            let count = &count;
            scope.spawn(move || {
                let account = format!("account {first} {number}");
                let nonce = u64::MAX - first - number;
                suite::insert(store, suite::account(&account, nonce));
                while begun.elapsed() < time {
                    let number = count.fetch_add(1, Ordering::Relaxed);
                    order(store, &account, number).unwrap();
                }
            });
        }
    });
    (count.into_inner() - first) as f64 / begun.elapsed().as_secs_f64()
}

pub(super) fn print(what: &str, store: &impl Store) {
    let time = std::env::var("PQ_ACME_RATES").ok();
    let time = time.and_then(|time| time.parse().ok()).unwrap_or(0.2);
    for (at_once, first) in [(1, 0), (8, 1 << 32), (32, 2 << 32)] {
        let rate = measure(store, at_once, first, Duration::from_secs_f64(time));
        println!("{what}, {at_once} at once: {rate:.0} orders a second");
        assert!(rate > 0.0);
    }
}

/// Of many at several places who begin to issue for the same order, one does so.
pub(super) fn check_that_one_begins<S: Store>(places: &[S]) {
    let owner = suite::insert(&places[0], suite::account("account", 1));
    for number in 0..20 {
        let order = suite::order(&format!("order {number}"), "account", 2 + number);
        let order = suite::insert_order(&places[0], order, &owner);
        let unchanged = places[0].authorizations(&order.authorizations).unwrap();
        let begun = AtomicU64::new(0);
        let together = Barrier::new(2 * places.len());
        thread::scope(|scope| {
            for (place, name) in places.iter().chain(places).zip(0..) {
                let (order, unchanged, begun, together) = (&order, &unchanged, &begun, &together);
                scope.spawn(move || {
                    let processing = OrderRecord {
                        state: OrderState::Processing(Processing {
                            csr: [name].into(),
                            since: now(),
                        }),
                        ..OrderRecord::clone(order)
                    };
                    together.wait();
                    match place.update_order(processing, unchanged) {
                        Ok(_) => _ = begun.fetch_add(1, Ordering::Relaxed),
                        Err(StoreError::Changed) => {}
                        Err(error) => panic!("{error}"),
                    }
                });
            }
        });
        assert_eq!(begun.into_inner(), 1);
        for place in places {
            assert_eq!(suite::found(place.order(&order.id)).version, 1);
        }
    }
}
