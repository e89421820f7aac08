//! Processes of a store, and the database under them, that are killed at any moment.

use alloc::sync::Arc;

use pq_keystore::policy::Input;

use super::server::{Cluster, open, patient};
use crate::kill::{DATABASE, History, Victim, create, kills, pause};
use crate::kit::{name, user};

#[test]
fn nothing_acknowledged_is_lost() {
    // fsync is on by default; it is said here, since it matters.
    let Some(cluster) = Cluster::new(&["fsync=on", "synchronous_commit=on"]) else {
        return;
    };
    let options = patient(&cluster.address());
    let storage = || Arc::new(open(&options));
    let mut server = Some(cluster.start());
    drop(create(storage()));
    let mut history = History::default();
    for number in 0..kills() {
        let mut victim = Victim::start(DATABASE, cluster.address());
        pause(number);
        // The database in every second round, and then the child goes on once it is there again.
        if number % 2 == 0 {
            server.take().unwrap().kill();
            server = Some(cluster.start());
            let store = crate::kill::open(storage());
            let signed = store
                .sign(&user(), &name("k"), Input::message(b"message"))
                .unwrap();
            let version = signed.id.version().get();
            drop(store);
            // The one that the child makes meanwhile may be disabled, and the one after that was begun by now.
            victim.wait_for(|said| {
                let rotated = said.strip_prefix("rotated ");
                let rotated = rotated.and_then(|number| number.parse().ok());
                rotated.is_some_and(|number: u32| number > version + 2)
            });
        }
        let acknowledged = victim.kill();
        history.check(&crate::kill::open(storage()), &acknowledged);
    }
    history.report(kills());
}
