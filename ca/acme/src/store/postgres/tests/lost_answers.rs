//! Connections that end before each of the messages of a change: it is made once, and who made it is told so.

use databases::{Cut, Proxy};

use super::*;
use crate::store::{AccountRecord, OrderRecord};

#[test]
fn a_connection_may_end_before_each_message() {
    let Some(shared) = databases::shared() else {
        return;
    };
    let proxy = Proxy::new(shared.folder());
    let options = patient(&proxy.address()).schema(&new_schema()).unwrap();
    let store = PostgresStore::open(options.connections(1)).unwrap();
    let mut number = 0;
    for to_server in [true, false] {
        for message in 0.. {
            let cut = match to_server {
                true => Cut::ToServer(message),
                false => Cut::ToClient(message),
            };
            proxy.set(cut);
            number += 1;
            let account = format!("account {number}");
            let inserted = suite::insert(&store, suite::account(&account, 1_000_000 + number));
            assert_eq!(inserted.version, 0);
            let updated = store
                .update_account(AccountRecord::clone(&inserted))
                .unwrap();
            assert_eq!(updated.version, 1);
            // Were one of its changes made a second time, or taken for another's, this would fail.
            let id = rates::order(&store, &account, number).unwrap();
            assert_eq!(suite::found(store.order(&id)).version, 2);
            let replacing = OrderRecord {
                replaces: Some(format!("name {number}")),
                ..suite::order(&format!("replacing {number}"), &account, 2_000_000 + number)
            };
            let inserted = store.insert_order(replacing, Vec::new(), &updated, None);
            assert_eq!(inserted.unwrap().version, 0);
            let reached = proxy.cut() == Cut::Never;
            proxy.set(Cut::Never);
            if !reached {
                println!("to the server {to_server}: {message} messages");
                break;
            }
        }
    }
}

/// However often a row is changed.
#[test]
fn a_row_has_a_bounded_number_of_marks() {
    let Some(options) = options() else {
        return;
    };
    let store = PostgresStore::open(options.clone()).unwrap();
    let schema = Database::new(options, PURPOSE).schema().to_owned();
    let mut account = suite::insert(&store, suite::account("account", 1));
    for _ in 0..20 {
        account = store
            .update_account(AccountRecord::clone(&account))
            .unwrap();
    }
    let statement =
        format!("DO $$ BEGIN ASSERT (SELECT length(marks) = 128 FROM {schema}.accounts); END $$");
    databases::shared().unwrap().run(5432, &statement);
}
