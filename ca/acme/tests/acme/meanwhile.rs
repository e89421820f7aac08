//! What others do between two steps of a request: a store in which something happens just before it is asked.

use alloc::sync::Arc;
use core::fmt;
use std::sync::Mutex;

use pq_acme::identifier::Identifier;
use pq_acme::objects::{AccountStatus, Time};
use pq_acme::problem::ProblemType;
use pq_acme::store::{
    AccountRecord, AuthorizationRecord, AuthorizationState, CertificateRecord, Counted, Limit,
    Limits, MemoryStore, Most, OrderRecord, Overdue, Store, StoreError, Undecided,
};
use pq_jose::Thumbprint;
use pq_jose::any::AnyJwk;

use crate::kit::{Client, World, at, csr, ed25519, json, order_of, problem, text};

/// What is asked of a store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Call {
    Account,
    InsertOrder,
    UpdateOrder,
}

type Act = Box<dyn FnOnce(&MemoryStore) + Send>;

/// A store in memory, with what happens before certain calls.
#[derive(Default)]
pub(crate) struct Meanwhile {
    store: MemoryStore,
    next: Mutex<Option<(Call, usize, Act)>>,
    /// An order that was removed, as it ended long ago.
    removed: Mutex<Option<String>>,
}

impl Meanwhile {
    /// The same around a store.
    pub(crate) fn around(store: MemoryStore) -> Self {
        Self {
            store,
            ..Self::default()
        }
    }

    /// Does something before this call, when it comes after so many others of its kind.
    pub(crate) fn before(
        &self,
        call: Call,
        after: usize,
        act: impl FnOnce(&MemoryStore) + Send + 'static,
    ) {
        *self.next.lock().unwrap() = Some((call, after, Box::new(act)));
    }

    /// From now on, there is no such order, as in stores that remove old ones.
    pub(crate) fn remove_order(&self, id: &str) {
        *self.removed.lock().unwrap() = Some(id.into());
    }

    /// Whether what was to happen has happened.
    fn has_happened(&self) -> bool {
        self.next.lock().unwrap().is_none()
    }

    fn called(&self, call: Call) {
        let mut next = self.next.lock().unwrap();
        match &mut *next {
            Some((of, 0, _)) if *of == call => {}
            Some((of, left, _)) if *of == call => {
                *left -= 1;
                return;
            }
            _ => return,
        }
        if let Some((_, _, act)) = next.take() {
            act(&self.store);
        }
    }
}

impl fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Limits for Meanwhile {
    fn count(&self, limits: &[Limit], now: Time) -> Result<Counted, StoreError> {
        self.store.count(limits, now)
    }

    fn look(&self, limits: &[Limit], now: Time) -> Result<Counted, StoreError> {
        self.store.look(limits, now)
    }
}

impl Store for Meanwhile {
    fn account(&self, id: &str) -> Result<Option<Arc<AccountRecord>>, StoreError> {
        self.called(Call::Account);
        self.store.account(id)
    }

    fn account_of_key(&self, key: &Thumbprint) -> Result<Option<Arc<AccountRecord>>, StoreError> {
        self.store.account_of_key(key)
    }

    fn insert_account(&self, account: AccountRecord) -> Result<Arc<AccountRecord>, StoreError> {
        self.store.insert_account(account)
    }

    fn update_account(&self, account: AccountRecord) -> Result<Arc<AccountRecord>, StoreError> {
        self.store.update_account(account)
    }

    fn order(&self, id: &str) -> Result<Option<Arc<OrderRecord>>, StoreError> {
        match self.removed.lock().unwrap().as_deref() == Some(id) {
            true => Ok(None),
            false => self.store.order(id),
        }
    }

    fn orders_of(
        &self,
        account: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Arc<OrderRecord>>, StoreError> {
        self.store.orders_of(account, after, limit)
    }

    fn insert_order(
        &self,
        order: OrderRecord,
        authorizations: Vec<AuthorizationRecord>,
        account: &AccountRecord,
        instead_of: Option<&str>,
    ) -> Result<Arc<OrderRecord>, StoreError> {
        self.called(Call::InsertOrder);
        let store = &self.store;
        store.insert_order(order, authorizations, account, instead_of)
    }

    fn update_order(
        &self,
        order: OrderRecord,
        unchanged: &[Arc<AuthorizationRecord>],
    ) -> Result<Arc<OrderRecord>, StoreError> {
        self.called(Call::UpdateOrder);
        self.store.update_order(order, unchanged)
    }

    fn complete_order(
        &self,
        order: OrderRecord,
        certificate: CertificateRecord,
    ) -> Result<Arc<OrderRecord>, StoreError> {
        self.store.complete_order(order, certificate)
    }

    fn overdue(&self, since: Time, limit: usize) -> Result<Overdue, StoreError> {
        self.store.overdue(since, limit)
    }

    fn authorization(&self, id: &str) -> Result<Option<Arc<AuthorizationRecord>>, StoreError> {
        self.store.authorization(id)
    }

    fn valid_authorizations(
        &self,
        account: &str,
        identifier: &Identifier,
        is_wildcard: bool,
        limit: usize,
    ) -> Result<Vec<Arc<AuthorizationRecord>>, StoreError> {
        let store = &self.store;
        store.valid_authorizations(account, identifier, is_wildcard, limit)
    }

    fn update_authorization(
        &self,
        authorization: AuthorizationRecord,
    ) -> Result<Arc<AuthorizationRecord>, StoreError> {
        self.store.update_authorization(authorization)
    }

    fn certificate(&self, id: &str) -> Result<Option<Arc<CertificateRecord>>, StoreError> {
        self.store.certificate(id)
    }

    fn accounts(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Arc<AccountRecord>>, StoreError> {
        self.store.accounts(after, limit)
    }

    fn undecided(&self, account: &str, now: Time, most: Most) -> Result<Undecided, StoreError> {
        self.store.undecided(account, now, most)
    }

    fn remove_old(&self, now: Time, limit: u32) -> Result<u64, StoreError> {
        self.store.remove_old(now, limit)
    }

    fn nonce_key(&self, new: [u8; 32]) -> Result<[u8; 32], StoreError> {
        self.store.nonce_key(new)
    }

    fn certificate_named(&self, name: &str) -> Result<Option<Arc<CertificateRecord>>, StoreError> {
        self.store.certificate_named(name)
    }
}

/// What is after the last slash of a URL.
pub(crate) fn id(url: &str) -> String {
    url.rsplit('/').next().unwrap().into()
}

/// Changes an account, as another request does.
fn change(id: String, with: impl FnOnce(&mut AccountRecord) + Send) -> impl FnOnce(&MemoryStore) {
    move |store| {
        let mut account = AccountRecord::clone(&store.account(&id).unwrap().unwrap());
        with(&mut account);
        store.update_account(account).unwrap();
    }
}

#[test]
fn an_order_is_not_finalized_by_what_was_given_up_meanwhile() {
    let world = World::new();
    let client = Client::registered(&world);
    let names = ["a.example", "b.example"];
    let (url, order) = client.order(&names);
    client.meet(&order);
    let authorization = id(order["authorizations"][1].as_str().unwrap());
    world
        .server
        .store()
        .before(Call::UpdateOrder, 0, move |store| {
            let read = store.authorization(&authorization).unwrap().unwrap();
            let given_up = AuthorizationRecord {
                state: AuthorizationState::Deactivated,
                ..AuthorizationRecord::clone(&read)
            };
            store.update_authorization(given_up).unwrap();
        });
    let refused = client.finalize(&order, &csr(&names, &ed25519()));
    assert!(world.server.store().has_happened());
    let expected = (403, ProblemType::OrderNotReady);
    assert_eq!(problem(&refused.answer), expected);
    assert!(refused.work.is_none());
    assert_eq!(json(&client.post(&url, ""))["status"], "invalid");
}

#[test]
fn an_account_that_ends_meanwhile_orders_nothing() {
    let world = World::new();
    let client = Client::registered(&world);
    let account = id(client.kid.as_ref().unwrap());
    for status in [AccountStatus::Valid, AccountStatus::Deactivated] {
        let changed = change(account.clone(), move |account| account.status = status);
        world.server.store().before(Call::InsertOrder, 0, changed);
        let answer = client.post(&at("new-order"), &order_of(&["a.example"]));
        assert!(world.server.store().has_happened());
        match status {
            // Whatever else changed is no reason.
            AccountStatus::Valid => assert_eq!(answer.status, 201, "{}", text(&answer)),
            _ => assert_eq!(problem(&answer), (401, ProblemType::Unauthorized)),
        }
    }
    let orders = world.server.store().orders_of(&account, None, 10).unwrap();
    assert_eq!(orders.len(), 1);
}

#[test]
fn an_account_that_ends_meanwhile_stays_so() {
    for status in [AccountStatus::Deactivated, AccountStatus::Revoked] {
        let world = World::new();
        let client = Client::registered(&world);
        let kid = client.kid.as_ref().unwrap();
        let changed = change(id(kid), move |account| account.status = status);
        world.server.store().before(Call::Account, 1, changed);
        let wish = r#"{"status":"valid","contact":["mailto:b@example.org"]}"#;
        let refused = client.post(kid, wish);
        assert!(world.server.store().has_happened());
        assert_eq!(problem(&refused), (401, ProblemType::Unauthorized));
        let account = world.server.store().account(&id(kid)).unwrap().unwrap();
        assert_eq!(account.status, status);
        assert_eq!(account.contact, ["mailto:a@example.org"]);
    }
}

#[test]
fn a_key_that_was_replaced_meanwhile_changes_nothing() {
    let world = World::new();
    let client = Client::registered(&world);
    let kid = client.kid.as_ref().unwrap();
    let new = AnyJwk::of(&ed25519()).unwrap();
    let changed = change(id(kid), |account| account.key = new);
    world.server.store().before(Call::Account, 1, changed);
    let refused = client.post(kid, r#"{"status":"deactivated"}"#);
    assert!(world.server.store().has_happened());
    assert_eq!(problem(&refused), (400, ProblemType::Malformed));
    let account = world.server.store().account(&id(kid)).unwrap().unwrap();
    assert_eq!(account.status, AccountStatus::Valid);
}

/// Each of two requests is as it should be; the later one was carried out first.
#[test]
fn a_request_that_comes_late_does_not_undo_a_later_one() {
    let world = World::new();
    let client = Client::registered(&world);
    let kid = client.kid.as_ref().unwrap();
    let wish = |name: &str| format!(r#"{{"contact":["mailto:{name}@example.org"]}}"#);
    let early = client.signed(kid, &wish("early"));
    world.wait(1);
    let changed = client.post(kid, &wish("late"));
    assert_eq!(changed.status, 200, "{}", text(&changed));
    let refused = world.send("POST", kid, early.as_bytes()).answer;
    assert_eq!(problem(&refused), (400, ProblemType::BadNonce));
    let shown = json(&client.post(kid, ""));
    assert_eq!(shown["contact"][0], "mailto:late@example.org");
}
