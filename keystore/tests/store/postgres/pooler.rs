//! Changes through PgBouncer in transaction mode, which delivers no notifications.

use core::time::Duration;

use pq_keystore::storage::Storage;

use super::counting::Counter;
use super::server::{PATIENCE, Pooler, new_schema, open, patient, shared_folder};

#[test]
fn a_change_is_noticed_by_asking_or_on_a_direct_connection() {
    let Some(folder) = shared_folder() else {
        return;
    };
    let Some(pooler) = Pooler::new(folder) else {
        return;
    };
    let _process = pooler.start();
    let options = patient(&pooler.address()).schema(&new_schema()).unwrap();
    let direct = format!("host={} user=postgres dbname=postgres", folder.display());
    let asking = open(&options.clone().poll(Duration::from_millis(20)));
    let never = Duration::from_secs(3600);
    let listening = open(&options.clone().listen(&direct).unwrap().poll(never));
    let other = open(&options);
    let mut counter = Counter::new("a");
    for revision in 1..4 {
        counter.count(&other).unwrap();
        for storage in [&asking, &listening] {
            assert_eq!(
                storage.wait_for_change(revision - 1, PATIENCE),
                Ok(revision)
            );
        }
    }
}
