//! That what ended long ago goes, and nothing else.

use core::time::Duration;

use super::{
    AccountRecord, AuthorizationRecord, CertificateRecord, LastChange, OrderRecord, OrderState,
    Processing, Store, StoreError, suite,
};
use crate::objects::{AccountStatus, Time};

pub(super) const KEEP: Duration = Duration::from_secs(100);

pub(super) fn check(store: &impl Store) {
    let remove = |now, limit| store.remove_old(now, limit).unwrap();
    let at = Time::from_secs;
    let owner = suite::insert(store, suite::account("account", 1));
    // Orders that end at 1000: two that replace certificates, one that somebody works on, and others.
    let make = |id: &str, number, replaces: Option<&str>| {
        let order = OrderRecord {
            replaces: replaces.map(Into::into),
            ..suite::order(id, "account", number)
        };
        suite::insert_order(store, order, &owner)
    };
    make("given up", 2, Some("old name"));
    let valid = make("valid", 3, Some("name of before"));
    let in_work = make("in work", 4, None);
    for number in 0..10 {
        make(&format!("one of many {number}"), 10 + number, None);
    }
    let later = OrderRecord {
        expires: at(2000),
        ..suite::order("later", "account", 5)
    };
    let authorization = AuthorizationRecord {
        expires: at(2000),
        ..suite::authorization(&later)
    };
    let inserted = store.insert_order(later, vec![authorization], &owner, None);
    inserted.unwrap();
    let issue = |order: &OrderRecord, name: &str, not_after| {
        let certificate = CertificateRecord {
            name: Some(name.into()),
            not_after: at(not_after),
            ..suite::certificate(order)
        };
        let valid = OrderRecord {
            state: OrderState::Valid {
                csr: [1; 32],
                certificate: certificate.id.clone(),
            },
            ..order.clone()
        };
        store.complete_order(valid, certificate).unwrap()
    };
    let before = make("of before", 6, None);
    issue(&before, "name of before", 3000);
    issue(&valid, "new name", 5000);
    let working = OrderRecord {
        state: OrderState::Processing(Processing {
            csr: [1].into(),
            since: at(999),
        }),
        ..(*in_work).clone()
    };
    store.update_order(working, &[]).unwrap();

    let there = |id: &str| store.order(id).unwrap().is_some();
    assert_eq!(remove(at(1100), 100), 0);
    // In pieces: 13 orders and 14 authorizations.
    let mut removed = 0;
    loop {
        let piece = remove(at(1101), 4);
        assert!(piece <= 3 * 4);
        removed += piece;
        if piece == 0 {
            break;
        }
    }
    assert_eq!(removed, 13 + 14);
    for gone in ["given up", "valid", "one of many 3", "of before"] {
        assert!(!there(gone), "{gone}");
        let authorization = format!("authorization of {gone}");
        assert!(store.authorization(&authorization).unwrap().is_none());
    }
    assert!(there("in work") && there("later"));
    assert_eq!(store.orders_of("account", None, 100).unwrap().len(), 2);
    assert_eq!(store.overdue(at(999), 10).unwrap().orders.len(), 1);
    suite::found(store.authorization("authorization of later"));
    suite::found(store.certificate("certificate of of before"));
    suite::found(store.certificate_named("new name"));

    // The claim of what came to nothing is free; that on a certificate that was replaced is kept as long as it.
    make("replacing", 7, Some("old name"));
    let again = || OrderRecord {
        replaces: Some("name of before".into()),
        ..suite::order("again", "account", 8)
    };
    let taken = store.insert_order(again(), Vec::new(), &owner, None);
    assert!(matches!(taken, Err(StoreError::Replaced(id)) if id == "valid"));
    // "replacing" and its authorization went, too.
    assert_eq!(remove(at(3101), 100), 1 + 3 + 1);
    assert!(store.certificate_named("name of before").unwrap().is_none());
    suite::found(store.certificate_named("new name"));
    store
        .insert_order(again(), Vec::new(), &owner, None)
        .unwrap();
    // Accounts that their holders ended go when their orders are gone; those that the operator ended stay.
    let ended = |id: &str, number, status| {
        let account = suite::insert(store, suite::account(id, number));
        let last_change = LastChange {
            made: 3000,
            nonces: Vec::new(),
        };
        let ended = store.update_account(AccountRecord {
            status,
            last_change,
            ..(*account).clone()
        });
        ended.unwrap()
    };
    ended("given up", 41, AccountStatus::Deactivated);
    ended("taken", 42, AccountStatus::Revoked);
    let with_order = ended("with an order", 43, AccountStatus::Deactivated);
    let lasting = OrderRecord {
        expires: at(3500),
        ..suite::order("lasting", "with an order", 44)
    };
    suite::insert_order(store, lasting, &with_order);
    let is_there = |id: &str| store.account(id).unwrap().is_some();
    remove(at(3100), 100);
    assert!(is_there("given up"));
    remove(at(3101), 100);
    assert!(!is_there("given up") && is_there("taken") && is_there("with an order"));
    assert!(is_there("account"));
    remove(at(3601), 100);
    remove(at(3601), 100);
    assert!(!is_there("with an order"));
    // The nonces of what is gone are as new ones.
    suite::insert(store, suite::account("given up", 41));
    make("with an old nonce", 3, None);
}
