//! What ended long ago goes, and nothing else.

use super::*;
use crate::store::old_tests;

#[test]
fn what_ended_long_ago_is_removed() {
    let Some(options) = options() else {
        return;
    };
    let store = PostgresStore::open(options).unwrap();
    let store = store.keeping(old_tests::KEEP);
    old_tests::check(&store);
}
