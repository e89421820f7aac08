//! Tests that every [`Store`] has to pass: the feature `suite`. [`check`] panics where a store does something else than the
//! documentation of the trait says.
//!
//! ```
//! use pq_acme::store::{MemoryStore, suite};
//!
//! suite::check(MemoryStore::new);
//! ```

use alloc::sync::Arc;
use core::time::Duration;
use std::sync::Barrier;
use std::thread;

use pq_jose::any::AnyJwk;
use pq_keys::classical::{ClassicalAlgorithm, ClassicalKey};

use super::{
    AccountRecord, AuthorizationRecord, AuthorizationState, CertificateRecord, ChallengeRecord,
    ChallengeState, Counted, LastChange, Limit, Limits, Most, OrderRecord, OrderState, Processing,
    Store, StoreError,
};
use crate::identifier::Identifier;
use crate::nonce::NonceDigest;
use crate::objects::{AccountStatus, ChallengeKind, Time};
use crate::problem::Problem;

/// Checks stores that this function makes, each empty.
pub fn check<S: Store>(empty: impl Fn() -> S) {
    accounts_have_one_key_each(&empty());
    changes_are_conditional(&empty());
    a_request_makes_one_object(&empty());
    a_certificate_is_replaced_once(&empty());
    orders_depend_on_their_authorizations(&empty());
    accounts_are_listed_in_pages(&empty());
    orders_are_listed_in_pages(&empty());
    valid_authorizations_are_found(&empty());
    work_is_found_again(&empty());
    certificates_are_found(&empty());
    nobody_has_a_name_with_a_zero(&empty());
    one_of_many_wins(&empty());
    there_is_one_key_for_nonces(&empty());
    what_is_undecided_is_found(&empty());
}

fn what_is_undecided_is_found(store: &impl Store) {
    let owner = insert(store, account("account", 1));
    let other = insert(store, account("account 2", 2));
    let undecided = |now, orders, authorizations| {
        let most = Most {
            orders,
            authorizations,
        };
        let found = store.undecided("account", Time::from_secs(now), most);
        let found = found.expect("the store should answer");
        let orders: Vec<String> = found.orders.iter().map(|one| one.id.clone()).collect();
        (orders, found.authorizations.len())
    };
    assert_eq!(undecided(0, 10, 10), (vec![], 0));
    for (number, expires) in [(1, 1300), (2, 1200), (3, 1100)] {
        let id = format!("order {number}");
        let order = OrderRecord {
            expires: Time::from_secs(expires),
            ..order(&id, "account", 10 + number)
        };
        insert_order(store, order, &owner);
    }
    insert_order(store, order("of another", "account 2", 20), &other);
    let in_order = |numbers: &[u8]| -> Vec<String> {
        let ids = numbers.iter().map(|number| format!("order {number}"));
        ids.collect()
    };
    assert_eq!(undecided(0, 10, 10), (in_order(&[3, 2, 1]), 3));
    assert_eq!(undecided(0, 2, 1), (in_order(&[3, 2]), 1));
    assert_eq!(undecided(999, 10, 10), (in_order(&[3, 2, 1]), 3));
    assert_eq!(undecided(1100, 10, 10), (in_order(&[2, 1]), 0));
    let invalid = |one: &str| {
        let read = found(store.order(one));
        let state = OrderState::Invalid(Problem::malformed("no"));
        let order = OrderRecord {
            state,
            ..(*read).clone()
        };
        let updated = store.update_order(order, &[]);
        updated.expect("the order should be updated");
    };
    invalid("order 2");
    let authorization = found(store.authorization("authorization of order 1"));
    let updated = store.update_authorization(AuthorizationRecord {
        state: AuthorizationState::Invalid,
        ..(*authorization).clone()
    });
    updated.expect("the authorization should be updated");
    assert_eq!(undecided(0, 10, 10), (in_order(&[3, 1]), 2));
}

/// Whoever brings one gets the first one.
fn there_is_one_key_for_nonces(store: &impl Store) {
    let brought = |number: u8| {
        store
            .nonce_key([number; 32])
            .expect("the store should answer")
    };
    let kept = thread::scope(|scope| {
        let threads = [1, 2, 3, 4].map(|number| scope.spawn(move || brought(number)));
        threads.map(|one| one.join().expect("no thread should panic"))
    });
    assert!((1..=4).contains(&kept[0][0]), "it is one that was brought");
    assert_eq!(kept, [kept[0]; 4], "all get the same");
    assert_eq!(brought(5), kept[0], "it stays");
}

/// Checks that stores that this function makes, each empty, count for limits as [`Limits`] says.
pub fn check_limits<L: Limits>(empty: impl Fn() -> L) {
    counts_are_exact(&empty());
    windows_end(&empty());
}

fn counts_are_exact(limits: &impl Limits) {
    let limit = |of: &str, most| Limit {
        of: of.into(),
        most,
        window: Duration::from_secs(100),
    };
    let now = Time::from_secs(1000);
    let counted = thread::scope(|scope| {
        let count = |thread: u32| {
            move || {
                let own = format!("thread {thread}");
                let all = [limit("all", 30), limit(&own, 6)];
                let count = || limits.count(&all, now).expect("the store should answer");
                (0..10).filter(|_| count() == Counted::All).count()
            }
        };
        let mut threads = Vec::new();
        for thread in 0..8 {
            threads.push(scope.spawn(count(thread)));
        }
        let counts = threads.into_iter().map(|thread| thread.join());
        counts
            .map(|count| count.expect("no thread should panic"))
            .collect::<Vec<_>>()
    });
    assert!(counted.iter().all(|count| *count <= 6), "{counted:?}");
    assert_eq!(counted.iter().sum::<usize>(), 30);
}

fn windows_end(limits: &impl Limits) {
    let limit = |of: &str, most| Limit {
        of: of.into(),
        most,
        window: Duration::from_secs(100),
    };
    let at = Time::from_secs;
    let count = |all: &[Limit], now| limits.count(all, at(now)).expect("the store should answer");
    let look = |all: &[Limit], now| limits.look(all, at(now)).expect("the store should answer");
    let used_up = |of: &str, until| Counted::UsedUp {
        of: of.into(),
        until: at(until),
    };
    assert_eq!(count(&[], 1000), Counted::All);
    assert_eq!(count(&[limit("a", 2)], 1000), Counted::All);
    assert_eq!(count(&[limit("a", 2), limit("b", 2)], 1050), Counted::All);
    // Nothing is counted for the other one.
    for _ in 0..3 {
        let both = [limit("b", 2), limit("a", 2)];
        assert_eq!(count(&both, 1099), used_up("a", 1100));
        assert_eq!(look(&both, 1099), used_up("a", 1100));
        assert_eq!(look(&both[..1], 1099), Counted::All);
        assert_eq!(look(&both, 1100), Counted::All);
    }
    assert_eq!(count(&[limit("b", 2), limit("a", 2)], 1100), Counted::All);
    assert_eq!(count(&[limit("b", 2)], 1149), used_up("b", 1150));
    assert_eq!(count(&[limit("a", 2)], 1199), Counted::All);
    assert_eq!(count(&[limit("a", 2)], 1199), used_up("a", 1200));
    assert_eq!(count(&[limit("none", 0)], 1000), used_up("none", 1100));
    for number in 0..100 {
        let of = format!("many {number}");
        assert_eq!(count(&[limit(&of, 1)], 2000 + 100 * number), Counted::All);
    }
}

pub(super) fn key() -> AnyJwk {
    let key = ClassicalKey::generate(ClassicalAlgorithm::Ed25519);
    let key = key.expect("the system should have randomness");
    AnyJwk::of(&key).expect("Ed25519 is known")
}

/// Different for each number.
pub(super) fn nonce(number: u64) -> NonceDigest {
    let mut digest = [0; 16];
    digest[..8].copy_from_slice(&number.to_be_bytes());
    NonceDigest(digest)
}

pub(super) fn account(id: &str, number: u64) -> AccountRecord {
    AccountRecord {
        id: id.into(),
        version: 0,
        key: key(),
        status: AccountStatus::Valid,
        contact: Vec::new(),
        agreed: true,
        external: None,
        created: Time::from_secs(number),
        nonce: nonce(number),
        last_change: LastChange::default(),
    }
}

pub(super) fn name() -> Identifier {
    Identifier::Dns("www.example.org".into())
}

pub(super) fn order(id: &str, account: &str, number: u64) -> OrderRecord {
    OrderRecord {
        id: id.into(),
        version: 0,
        account: account.into(),
        state: OrderState::Open,
        expires: Time::from_secs(1000),
        identifiers: [name()].into(),
        authorizations: vec![format!("authorization of {id}")],
        not_before: None,
        not_after: None,
        replaces: None,
        profile: None,
        created: Time::from_secs(number),
        nonce: nonce(number),
    }
}

pub(super) fn authorization(order: &OrderRecord) -> AuthorizationRecord {
    AuthorizationRecord {
        id: format!("authorization of {}", order.id),
        version: 0,
        account: order.account.clone(),
        identifier: name(),
        is_wildcard: false,
        state: AuthorizationState::Pending,
        expires: Time::from_secs(1000),
        challenges: vec![ChallengeRecord {
            kind: ChallengeKind::Http01,
            token: "token".into(),
            state: ChallengeState::Pending,
        }],
    }
}

pub(super) fn certificate(order: &OrderRecord) -> CertificateRecord {
    CertificateRecord {
        id: format!("certificate of {}", order.id),
        name: Some(format!("name of {}", order.id)),
        account: order.account.clone(),
        order: order.id.clone(),
        identifiers: Arc::clone(&order.identifiers),
        not_before: Time::from_secs(0),
        not_after: Time::from_secs(1),
        der: vec![1],
        chains: Vec::new(),
    }
}

pub(super) fn insert(store: &impl Store, one: AccountRecord) -> Arc<AccountRecord> {
    let inserted = store.insert_account(one);
    inserted.expect("an account with a new key should be inserted")
}

pub(super) fn insert_order(
    store: &impl Store,
    one: OrderRecord,
    account: &AccountRecord,
) -> Arc<OrderRecord> {
    let authorizations = vec![authorization(&one)];
    let inserted = store.insert_order(one, authorizations, account, None);
    inserted.expect("an order should be inserted")
}

pub(super) fn found<T>(result: Result<Option<T>, StoreError>) -> T {
    let found = result.expect("the store should answer");
    found.expect("what was inserted should be found")
}

fn none<T>(result: Result<Option<T>, StoreError>) {
    let found = result.expect("the store should answer");
    assert!(found.is_none(), "what was not inserted should not be found");
}

fn accounts_have_one_key_each(store: &impl Store) {
    let first = insert(store, account("first", 1));
    let second = insert(store, account("second", 2));
    let thumbprint = first.key.thumbprint();
    assert_eq!(found(store.account("first")).version, 0);
    assert_eq!(found(store.account_of_key(&thumbprint)).id, "first");
    none(store.account("third"));
    let taken = |result: Result<Arc<AccountRecord>, StoreError>| {
        assert!(matches!(result, Err(StoreError::KeyTaken(id)) if id == "first"));
    };
    taken(store.insert_account(AccountRecord {
        key: first.key.clone(),
        ..account("third", 3)
    }));
    taken(store.update_account(AccountRecord {
        key: first.key.clone(),
        ..(*second).clone()
    }));
    assert_eq!(found(store.account("second")).key, second.key);

    let new_key = key();
    let changed = store.update_account(AccountRecord {
        key: new_key.clone(),
        ..(*first).clone()
    });
    assert_eq!(changed.expect("the key is free").version, 1);
    none(store.account_of_key(&thumbprint));
    assert_eq!(
        found(store.account_of_key(&new_key.thumbprint())).id,
        "first"
    );
    // The old key is free for others.
    insert(
        store,
        AccountRecord {
            key: first.key.clone(),
            ..account("third", 3)
        },
    );
    // A new one takes the place of none.
    let same = store.insert_account(account("first", 4));
    assert!(matches!(same, Err(StoreError::Changed)));
    assert_eq!(found(store.account("first")).key, new_key);
}

fn changes_are_conditional(store: &impl Store) {
    let owner = insert(store, account("account", 1));
    let changed = store.update_account((*owner).clone());
    let changed = changed.expect("nobody else changed it");
    let is_refused = store.update_account((*owner).clone());
    assert!(matches!(is_refused, Err(StoreError::Changed)));
    let is_refused = store.update_account(account("other", 2));
    assert!(matches!(is_refused, Err(StoreError::Changed)));
    assert_eq!(found(store.account("account")).version, changed.version);

    // Whoever makes an order had an account as it is.
    let stale = store.insert_order(order("order", "account", 3), Vec::new(), &owner, None);
    assert!(matches!(stale, Err(StoreError::Changed)));
    none(store.order("order"));
    let one = insert_order(store, order("order", "account", 3), &changed);
    let twice = store.insert_order(order("order", "account", 4), Vec::new(), &changed, None);
    assert!(matches!(twice, Err(StoreError::Changed)));
    store
        .update_order((*one).clone(), &[])
        .expect("nobody else changed it");
    let is_refused = store.update_order((*one).clone(), &[]);
    assert!(matches!(is_refused, Err(StoreError::Changed)));
    let is_refused = store.complete_order((*one).clone(), certificate(&one));
    assert!(matches!(is_refused, Err(StoreError::Changed)));
    none(store.certificate("certificate of order"));

    let id = "authorization of order";
    let read = found(store.authorization(id));
    store
        .update_authorization((*read).clone())
        .expect("nobody else changed it");
    let is_refused = store.update_authorization((*read).clone());
    assert!(matches!(is_refused, Err(StoreError::Changed)));
}

fn a_request_makes_one_object(store: &impl Store) {
    let owner = insert(store, account("account", 1));
    let again = store.insert_account(account("other", 1));
    assert!(matches!(again, Err(StoreError::NonceTaken)));
    none(store.account("other"));
    insert_order(store, order("order", "account", 2), &owner);
    let one = order("again", "account", 2);
    let again = store.insert_order(one.clone(), vec![authorization(&one)], &owner, None);
    assert!(matches!(again, Err(StoreError::NonceTaken)));
    none(store.order("again"));
    none(store.authorization("authorization of again"));
}

fn a_certificate_is_replaced_once(store: &impl Store) {
    let owner = insert(store, account("account", 1));
    let replacing = |id: &str, number| OrderRecord {
        replaces: Some("name".into()),
        ..order(id, "account", number)
    };
    insert_order(store, replacing("first", 2), &owner);
    let refused = store.insert_order(replacing("second", 3), Vec::new(), &owner, None);
    assert!(matches!(refused, Err(StoreError::Replaced(id)) if id == "first"));
    let other = store.insert_order(replacing("second", 3), Vec::new(), &owner, Some("other"));
    assert!(matches!(other, Err(StoreError::Replaced(id)) if id == "first"));
    none(store.order("second"));
    let instead = store.insert_order(replacing("second", 3), Vec::new(), &owner, Some("first"));
    instead.expect("the claim should pass on");
    let late = store.insert_order(replacing("third", 4), Vec::new(), &owner, Some("first"));
    assert!(matches!(late, Err(StoreError::Replaced(id)) if id == "second"));
    // Who has the account as it was is told that.
    let changed = store.update_account((*owner).clone());
    changed.expect("nobody else changed it");
    let stale = store.insert_order(replacing("third", 4), Vec::new(), &owner, None);
    assert!(matches!(stale, Err(StoreError::Changed)));
}

fn orders_depend_on_their_authorizations(store: &impl Store) {
    let owner = insert(store, account("account", 1));
    let one = insert_order(store, order("order", "account", 2), &owner);
    let read = found(store.authorization("authorization of order"));
    let changed = store
        .update_authorization((*read).clone())
        .expect("nobody else changed it");
    let is_refused = store.update_order((*one).clone(), &[read]);
    assert!(matches!(is_refused, Err(StoreError::Changed)));
    assert_eq!(found(store.order("order")).version, 0);
    let updated = store.update_order((*one).clone(), &[changed]);
    assert_eq!(updated.expect("both are as they were read").version, 1);
}

fn accounts_are_listed_in_pages(store: &impl Store) {
    for number in 0..10 {
        insert(store, account(&format!("a{number}"), 10 + number));
    }
    let mut seen = Vec::new();
    loop {
        let after = seen.last().map(String::as_str);
        let page = store.accounts(after, 3).expect("the store should answer");
        assert!(page.len() <= 3);
        if page.is_empty() {
            break;
        }
        seen.extend(page.iter().map(|one| one.id.clone()));
    }
    seen.sort();
    let expected: Vec<_> = (0..10).map(|number| format!("a{number}")).collect();
    assert_eq!(seen, expected, "each is listed once");
}

fn orders_are_listed_in_pages(store: &impl Store) {
    let owner = insert(store, account("account", 1));
    let other = insert(store, account("account 2", 2));
    for number in 0..10 {
        insert_order(
            store,
            order(&format!("o{number}"), "account", 10 + number),
            &owner,
        );
        let of_other = order(&format!("p{number}"), "account 2", 20 + number);
        insert_order(store, of_other, &other);
    }
    let mut seen = Vec::new();
    loop {
        let last = seen.last().cloned();
        let page = store.orders_of("account", last.as_deref(), 3);
        let page = page.expect("the store should answer");
        assert!(page.len() <= 3);
        if page.is_empty() {
            break;
        }
        assert!(page.iter().all(|one| one.account == "account"));
        seen.extend(page.iter().map(|one| one.id.clone()));
    }
    seen.sort();
    let expected: Vec<_> = (0..10).map(|number| format!("o{number}")).collect();
    assert_eq!(seen, expected);
}

fn valid_authorizations_are_found(store: &impl Store) {
    let owner = insert(store, account("account", 1));
    let all = |is_wildcard| {
        let found = store.valid_authorizations("account", &name(), is_wildcard, 10);
        let found = found.expect("the store should answer").into_iter();
        found.map(|one| one.id.clone()).collect::<Vec<_>>()
    };
    for (id, number, expires) in [("a", 2, 5), ("b", 3, 9), ("c", 4, 7)] {
        insert_order(store, order(id, "account", number), &owner);
        let read = found(store.authorization(&format!("authorization of {id}")));
        let valid = AuthorizationRecord {
            state: AuthorizationState::Valid,
            expires: Time::from_secs(expires),
            ..(*read).clone()
        };
        store
            .update_authorization(valid)
            .expect("nobody else changed it");
    }
    let ids = ["b", "c", "a"].map(|id| format!("authorization of {id}"));
    assert_eq!(all(false), ids);
    assert!(all(true).is_empty());
    let first = found(store.authorization(&ids[0]));
    let gone = AuthorizationRecord {
        state: AuthorizationState::Deactivated,
        ..(*first).clone()
    };
    store
        .update_authorization(gone)
        .expect("nobody else changed it");
    assert_eq!(all(false), ids[1..]);
    let limited = store.valid_authorizations("account", &name(), false, 1);
    assert_eq!(limited.expect("the store should answer").len(), 1);
}

fn work_is_found_again(store: &impl Store) {
    let owner = insert(store, account("account", 1));
    let one = insert_order(store, order("order", "account", 2), &owner);
    let working = |since| OrderRecord {
        state: OrderState::Processing(Processing {
            csr: [1, 2].into(),
            since: Time::from_secs(since),
        }),
        ..(*one).clone()
    };
    let one = store
        .update_order(working(100), &[])
        .expect("nobody else changed it");
    let read = found(store.authorization("authorization of order"));
    let mut looking = (*read).clone();
    looking.challenges[0].state = ChallengeState::Processing {
        since: Time::from_secs(200),
    };
    store
        .update_authorization(looking)
        .expect("nobody else changed it");
    let count = |since| {
        let overdue = store.overdue(Time::from_secs(since), 10);
        let overdue = overdue.expect("the store should answer");
        (overdue.orders.len(), overdue.authorizations.len())
    };
    assert_eq!(
        [count(99), count(100), count(200)],
        [(0, 0), (1, 0), (1, 1)]
    );
    store
        .complete_order(
            OrderRecord {
                state: OrderState::Open,
                ..(*one).clone()
            },
            certificate(&one),
        )
        .expect("nobody else changed it");
    let read = found(store.authorization("authorization of order"));
    let valid = AuthorizationRecord {
        state: AuthorizationState::Valid,
        ..(*read).clone()
    };
    store
        .update_authorization(valid)
        .expect("nobody else changed it");
    assert_eq!(count(1000), (0, 0));
}

fn certificates_are_found(store: &impl Store) {
    let owner = insert(store, account("account", 1));
    let one = insert_order(store, order("order", "account", 2), &owner);
    let issued = certificate(&one);
    let one = store
        .complete_order((*one).clone(), issued.clone())
        .expect("nobody else changed it");
    assert_eq!(*found(store.certificate(&issued.id)), issued);
    assert_eq!(*found(store.certificate_named("name of order")), issued);
    none(store.certificate_named("name of another"));
    let other = CertificateRecord {
        der: vec![2],
        ..issued.clone()
    };
    store
        .complete_order((*one).clone(), other)
        .expect("nobody else changed it");
    assert_eq!(*found(store.certificate(&issued.id)), issued);
}

/// Clients choose the names in URLs, and some databases take no zeros in texts.
fn nobody_has_a_name_with_a_zero(store: &impl Store) {
    let owner = insert(store, account("account", 1));
    insert_order(store, order("order", "account", 2), &owner);
    for name in ["\0", "account\0", "\0account", "order\0"] {
        none(store.account(name));
        none(store.order(name));
        none(store.authorization(name));
        none(store.certificate(name));
        none(store.certificate_named(name));
        let orders = store.orders_of(name, None, 10);
        assert!(orders.expect("the store should answer").is_empty());
    }
    let orders = store.orders_of("account", Some("z\0"), 10);
    assert!(orders.expect("the store should answer").is_empty());
}

/// Of sixteen that do the same at once, one does it.
fn one_of_many_wins(store: &impl Store) {
    let owner = insert(store, account("account", 1));
    let one = insert_order(store, order("order", "account", 2), &owner);
    let new_key = key();
    let barrier = Barrier::new(16);
    let winners: Vec<[bool; 4]> = thread::scope(|scope| {
        let race = |number: u64| {
            let (barrier, owner, one, new_key) = (&barrier, &owner, &one, &new_key);
            move || {
                barrier.wait();
                let account = AccountRecord {
                    key: new_key.clone(),
                    ..account(&format!("account {number}"), 100 + number)
                };
                let same_nonce = order(&format!("same nonce {number}"), "account", 3);
                let replacing = OrderRecord {
                    replaces: Some("name".into()),
                    ..order(&format!("replacing {number}"), "account", 200 + number)
                };
                [
                    store.insert_account(account).is_ok(),
                    store
                        .insert_order(same_nonce, Vec::new(), owner, None)
                        .is_ok(),
                    store
                        .insert_order(replacing, Vec::new(), owner, None)
                        .is_ok(),
                    store.update_order((**one).clone(), &[]).is_ok(),
                ]
            }
        };
        let mut threads = Vec::new();
        for number in 0..16 {
            threads.push(scope.spawn(race(number)));
        }
        let results = threads.into_iter().map(|thread| thread.join());
        results
            .map(|result| result.expect("no thread should panic"))
            .collect()
    });
    for what in 0..4 {
        let count = winners.iter().filter(|won| won[what]).count();
        assert_eq!(count, 1, "{count} of 16 did number {what}");
    }
}
