//! Connections that end before each of the messages of a change: it is made once, and who made it is told so.

use databases::{Cut, Proxy};
use pq_postgres::Mark;
use pq_postgres::tokio_postgres::Client;

use super::*;
use crate::store::postgres::session::Change;
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

/// A change is known to be made, or not, as long as its row has its mark; and then not known.
#[test]
fn a_mark_is_looked_for_as_long_as_it_is_kept() {
    let Some(options) = options() else {
        return;
    };
    let store = PostgresStore::open(options).unwrap();
    let mut account = suite::insert(&store, suite::account("account", 1));
    let marks = store.call(async |worker| {
        let rows = worker.rows("SELECT marks FROM @.accounts", &[]).await?;
        Ok(worker.column::<&[u8]>(&rows[0], 0)?.to_vec())
    });
    let first: Mark = marks.unwrap().try_into().unwrap();
    let is_marked = |mark: Mark| {
        store.call(async move |worker| {
            let change = Change {
                statement: "",
                values: &[],
                table: "accounts",
                id: "account",
                version: 0,
                mark,
            };
            let error = |failure| worker.error(failure);
            let ask = async |client: &Client| {
                let found = worker.is_marked(client, &change).await;
                // Otherwise it would be asked again.
                Ok(found.map_err(error))
            };
            worker.database.retrying(ask).await.map_err(error)?
        })
    };
    for version in 0..12 {
        let found = [first, Mark::default()].map(is_marked);
        match version {
            0..8 => assert!(
                matches!(found, [Ok(true), Ok(false)]),
                "{version}: {found:?}"
            ),
            _ => {
                let lost = |found: Result<bool, StoreError>| {
                    let error = found.unwrap_err().to_string();
                    error.contains("is not known any more")
                };
                assert!(found.into_iter().all(lost), "{version}");
            }
        }
        account = store
            .update_account(AccountRecord::clone(&account))
            .unwrap();
    }
}

/// As in a database that was put back to what it was: the number of changes says nothing there.
#[test]
fn another_account_of_the_same_version_is_not_the_one_in_memory() {
    let Some(options) = options() else {
        return;
    };
    let store = PostgresStore::open(options.clone()).unwrap();
    suite::insert(&store, suite::account("account", 1));
    assert!(suite::found(store.account("account")).agreed);
    let schema = Database::new(options, PURPOSE).schema().to_owned();
    let statement = format!(
        "UPDATE {schema}.accounts SET marks = sha256(marks), \
         body = replace(body, '\"agreed\":true', '\"agreed\":false')"
    );
    databases::shared().unwrap().run(5432, &statement);
    for _ in 0..2 {
        assert!(!suite::found(store.account("account")).agreed);
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
