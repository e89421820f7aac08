//! That what ended long ago goes, and nothing else.

use core::time::Duration;

use super::{
    AccountRecord, AuthorizationRecord, CertificateRecord, ChallengeState, LastChange, OrderRecord,
    OrderState, Processing, Store, StoreError, suite,
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

/// What began to be used, or belongs to another by now, stays when what it came from goes.
pub(super) fn check_what_is_in_use(store: &impl Store, remove: impl Fn(Time, u32) -> u64) {
    let at = Time::from_secs;
    let owner = suite::insert(store, suite::account("account", 1));
    let make = |order: OrderRecord, instead_of: Option<&str>| {
        let needed = vec![suite::authorization(&order)];
        store.insert_order(order, needed, &owner, instead_of)
    };
    let new = |id: &str, number| suite::order(id, "account", number);

    // Somebody asks its challenge.
    make(new("asked", 2), None).unwrap();
    let asked = "authorization of asked";
    let set = |state| {
        let read = suite::found(store.authorization(asked));
        let mut one = AuthorizationRecord::clone(&read);
        one.challenges[0].state = state;
        store.update_authorization(one).unwrap();
    };
    set(ChallengeState::Processing { since: at(999) });
    // An order takes over the claim of another one.
    let replacing = |id: &str, number, expires| OrderRecord {
        replaces: Some("old name".into()),
        expires: at(expires),
        ..new(id, number)
    };
    make(replacing("first", 3, 1000), None).unwrap();
    make(replacing("second", 4, 2000), Some("first")).unwrap();
    // An order ends later than it did before.
    let prolonged = make(new("prolonged", 5), None).unwrap();
    let later = OrderRecord {
        expires: at(2000),
        ..(*prolonged).clone()
    };
    store.update_order(later, &[]).unwrap();
    // Two certificates have the same name.
    for (id, number, not_after) in [("early", 6, 1000), ("late", 7, 5000)] {
        let order = make(new(id, number), None).unwrap();
        let certificate = CertificateRecord {
            name: Some("name".into()),
            not_after: at(not_after),
            ..suite::certificate(&order)
        };
        store.complete_order((*order).clone(), certificate).unwrap();
    }

    // The orders "asked", "first", "early" and "late", all authorizations but that one, and a certificate.
    assert_eq!(remove(at(1101), 100), 4 + 5 + 1);
    let overdue = store.overdue(at(999), 10).unwrap();
    assert_eq!(overdue.authorizations.len(), 1);
    let taken = make(replacing("third", 8, 3000), None);
    assert!(matches!(taken, Err(StoreError::Replaced(id)) if id == "second"));
    suite::found(store.order("prolonged"));
    let named = suite::found(store.certificate_named("name"));
    assert_eq!(named.id, "certificate of late");

    set(ChallengeState::Pending);
    assert_eq!(remove(at(1101), 100), 1);
    assert!(store.authorization(asked).unwrap().is_none());
}

/// Nobody has to ask for it: new orders do it, now and then.
pub(super) fn check_unasked(store: &impl Store) {
    let owner = suite::insert(store, suite::account("account", 1));
    let old = suite::insert_order(store, suite::order("old", "account", 2), &owner);
    for number in 0..100 {
        let order = OrderRecord {
            expires: Time::from_secs(3000),
            created: Time::from_secs(1101),
            ..suite::order(&format!("new {number}"), "account", 10 + number)
        };
        suite::insert_order(store, order, &owner);
    }
    assert!(store.order(&old.id).unwrap().is_none());
    assert_eq!(store.orders_of("account", None, 1000).unwrap().len(), 100);
}
