//! A server that is killed under load: what was acknowledged is there.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use databases::Cluster;

use super::*;
use crate::store::OrderState;

const KILLS: usize = 4;

#[test]
fn a_server_that_is_killed_loses_nothing() {
    let Some(cluster) = Cluster::new(&["fsync=on"]) else {
        return;
    };
    let mut server = Some(cluster.start());
    let options = patient(&cluster.address());
    // Two machines.
    let stores = [(); 2].map(|()| PostgresStore::open(options.clone()).unwrap());
    suite::insert(&stores[0], suite::account("account", u64::MAX));
    let (done, stop, count) = (
        Mutex::new(Vec::new()),
        AtomicBool::new(false),
        AtomicU64::new(0),
    );
    thread::scope(|scope| {
        for store in stores.iter().chain(&stores) {
            let (done, stop, count) = (&done, &stop, &count);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let number = count.fetch_add(1, Ordering::Relaxed);
                    // Each call goes on by itself when the server is there again, and no change is taken for another's.
                    let id = rates::order(store, "account", number).unwrap();
                    done.lock().unwrap().push(id);
                }
            });
        }
        for kill in 1..=KILLS + 1 {
            let begun = Instant::now();
            while done.lock().unwrap().len() < 15 * kill && begun.elapsed() < PATIENCE {
                thread::sleep(Duration::from_millis(1));
            }
            if kill <= KILLS {
                server.take().unwrap().kill();
                server = Some(cluster.start());
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    let done = done.into_inner().unwrap();
    assert!(done.len() >= KILLS * 15);
    for id in done {
        let order = suite::found(stores[1].order(&id));
        let OrderState::Valid { certificate, .. } = &order.state else {
            panic!("{order:?}");
        };
        assert_eq!(suite::found(stores[0].certificate(certificate)).order, id);
    }
}
