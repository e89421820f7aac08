//! The store in a file: held to the suite.

use super::*;
use crate::store::suite;

#[test]
fn it_is_held_to_the_suite() {
    let folder = tempfile::tempdir().unwrap();
    let count = core::cell::Cell::new(0);
    suite::check(|| {
        count.set(count.get() + 1);
        RedbStore::open(&folder.path().join(format!("{}.redb", count.get()))).unwrap()
    });
}
