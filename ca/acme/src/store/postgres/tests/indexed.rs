//! Many orders: what is asked is found by an index, and never by looking at each.

use databases::Cluster;

use super::*;
use crate::store::AuthorizationRecord;

/// Fills the tables with 100,000 orders, of which some are in work, as the store writes them.
const FILL: &str = "
    INSERT INTO pq_acme.accounts (id, version, thumbprint, nonce, marks, body)
    SELECT 'a' || n, 0, sha256(n::text::bytea), substring(sha256(n::text::bytea) FROM 1 FOR 16), '', '{}'
    FROM generate_series(1, 20000) n;
    INSERT INTO pq_acme.orders (id, version, account, nonce, expires, is_valid, replaces, in_work, marks, body)
    SELECT 'o' || n, 0, 'a' || n % 20000, substring(sha256(n::text::bytea) FROM 1 FOR 16), 1000 + n, true, NULL,
        CASE WHEN n % 1000 = 0 THEN 3000000000 END, '', '{}' FROM generate_series(1, 100000) n;
    INSERT INTO pq_acme.authorizations
        (id, version, account, identifier, is_wildcard, is_valid, expires, in_work, marks, body)
    SELECT 'z' || n, 0, 'a' || n % 20000, 'dns:h' || n % 100, false, n % 2 = 0, 1000 + n,
        CASE WHEN n % 1000 = 1 THEN 3000000000 END, '', '{}' FROM generate_series(1, 100000) n;
    INSERT INTO pq_acme.certificates (id, name, not_after, body)
    SELECT 'c' || n, 'n' || n, 1000 + n, '{}' FROM generate_series(1, 100000) n;
    INSERT INTO pq_acme.claims (name, order_id) SELECT 'n' || n, 'o' || n FROM generate_series(1, 50000) n;
    INSERT INTO pq_acme.limits (name, until, count) SELECT 'l' || n, 1000 + n, 1 FROM generate_series(1, 50000) n;
    ANALYZE";

/// Forgets what was counted, once the server has counted what went before.
const FORGET: &str = "DO $$ BEGIN
    WHILE EXISTS (SELECT FROM pg_stat_activity
        WHERE application_name = 'psql' AND pid <> pg_backend_pid()) LOOP
        PERFORM pg_sleep(0.01);
        PERFORM pg_stat_clear_snapshot();
    END LOOP;
    PERFORM pg_stat_reset();
END $$";

/// Fails unless the tables were used, and by their indices alone. Servers count when a connection has ended.
const CHECK: &str = "DO $$ DECLARE used record; BEGIN
    WHILE EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'pq-acme') LOOP
        PERFORM pg_sleep(0.01);
        PERFORM pg_stat_clear_snapshot();
    END LOOP;
    FOR used IN SELECT * FROM pg_stat_user_tables WHERE relname <> 'store' LOOP
        IF used.seq_scan > 0 OR used.idx_scan = 0 THEN
            RAISE EXCEPTION '%: % scans, % by index', used.relname, used.seq_scan, used.idx_scan;
        END IF;
    END LOOP;
END $$";

#[test]
fn many_orders_are_searched_by_their_indices() {
    let Some(cluster) = Cluster::new(&["fsync=off", "autovacuum=off"]) else {
        return;
    };
    let _server = cluster.start();
    let options = patient(&cluster.address());
    drop(PostgresStore::open(options.clone()).unwrap());
    cluster.run(5432, FILL);
    cluster.run(5432, FORGET);
    let store = PostgresStore::open(options).unwrap();
    let owner = suite::insert(&store, suite::account("account", 1));
    let thumbprint = owner.key.thumbprint();
    assert_eq!(
        suite::found(store.account_of_key(&thumbprint)).id,
        "account"
    );
    for number in 2..10 {
        rates::order(&store, "account", number).unwrap();
    }
    let replacing = OrderRecord {
        replaces: Some("n7".into()),
        ..suite::order("replacing", "account", 10)
    };
    let taken = store.insert_order(replacing.clone(), Vec::new(), &owner, None);
    assert!(matches!(taken, Err(StoreError::Replaced(id)) if id == "o7"));
    let order = store.insert_order(replacing, Vec::new(), &owner, Some("o7"));
    let order = order.unwrap();
    store.update_order((*order).clone(), &[]).unwrap();
    assert_eq!(store.orders_of("account", None, 5).unwrap().len(), 5);
    assert!(store.certificate_named("none").unwrap().is_none());
    let found = store.valid_authorizations("account", &suite::name(), false, 3);
    let found = found.unwrap();
    assert_eq!(found.len(), 3);
    let again = AuthorizationRecord::clone(&found[0]);
    store.update_authorization(again).unwrap();
    let most = Most {
        orders: 10,
        authorizations: 10,
    };
    let undecided = store.undecided("account", Time::from_secs(500), most);
    assert_eq!(undecided.unwrap().orders.len(), 1);
    let overdue = store.overdue(Time::from_secs(2_000_000_000), 10).unwrap();
    assert!(overdue.orders.is_empty() && overdue.authorizations.is_empty());
    let now = Time::from_secs(2000).after(store.keep);
    // Those that somebody works on stay.
    assert_eq!(store.remove_old(now, 200).unwrap(), 600);
    let limit = Limit {
        of: "l7".into(),
        most: 1,
        window: Duration::from_secs(1),
    };
    for number in 0..40 {
        store
            .count(
                core::slice::from_ref(&limit),
                Time::from_secs(5000 + 2 * number),
            )
            .unwrap();
    }
    drop(store);
    cluster.run(5432, CHECK);
}
