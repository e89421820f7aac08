//! How many validations run at a time: all of them, those of one name, and those on behalf of one account, so that
//! targets that answer slowly take no other's place.

use alloc::sync::Arc;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many places there are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Places {
    /// For all validations.
    pub all: usize,
    /// For those of one name.
    pub per_name: usize,
    /// For those on behalf of one account.
    pub per_account: usize,
    /// How many may wait for a place.
    pub waiting: usize,
    /// How many may wait for a place on behalf of one account.
    pub waiting_per_account: usize,
}

impl Default for Places {
    /// 256 at a time, of these 4 of one name and 32 of one account; 4,096 wait, of
    /// these 256 of one account.
    fn default() -> Self {
        Self {
            all: 256,
            per_name: 4,
            per_account: 32,
            waiting: 4096,
            waiting_per_account: 256,
        }
    }
}

/// Gives places to validations.
#[derive(Debug)]
pub(super) struct Admission {
    places: Places,
    all: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    groups: Arc<Mutex<HashMap<String, Group>>>,
}

/// The places of one name or one account, as long as somebody has or wants one.
#[derive(Debug)]
struct Group {
    places: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    users: usize,
}

/// There are as many that wait as may wait.
#[derive(Debug)]
pub(super) struct Full;

impl Admission {
    pub(super) fn new(places: Places) -> Self {
        Self {
            places,
            all: Arc::new(Semaphore::new(places.all)),
            waiting: Arc::new(Semaphore::new(places.waiting)),
            groups: Arc::default(),
        }
    }

    /// Waits for a place: first among those of the name and the account, then among all, so that whoever has many
    /// waiting holds no place of others.
    pub(super) async fn enter(&self, name: &str, account: &str) -> Result<Place, Full> {
        let waits = self.waiting.clone().try_acquire_owned().map_err(|_| Full)?;
        let account = self.member(format!("account {account}"), self.places.per_account);
        let waiting = account.waiting.clone();
        let _waits_of_account = waiting.try_acquire_owned().map_err(|_| Full)?;
        let of_account = acquire(&account.places).await;
        let name = self.member(format!("name {name}"), self.places.per_name);
        let of_name = acquire(&name.places).await;
        let of_all = acquire(&self.all).await;
        drop(waits);
        Ok(Place {
            _permits: [of_account, of_name, of_all],
            _members: [account, name],
        })
    }

    fn member(&self, key: String, places: usize) -> Member {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let group = groups.entry(key.clone()).or_insert_with(|| Group {
            places: Arc::new(Semaphore::new(places)),
            waiting: Arc::new(Semaphore::new(self.places.waiting_per_account)),
            users: 0,
        });
        group.users += 1;
        Member {
            places: group.places.clone(),
            waiting: group.waiting.clone(),
            key,
            groups: self.groups.clone(),
        }
    }
}

async fn acquire(places: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    let place = places.clone().acquire_owned().await;
    place.expect("nobody closes it")
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _permits: [OwnedSemaphorePermit; 3],
    _members: [Member; 2],
}

/// Somebody who has or wants a place of a group. The last one removes it.
#[derive(Debug)]
struct Member {
    places: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    key: String,
    groups: Arc<Mutex<HashMap<String, Group>>>,
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(group) = groups.get_mut(&self.key) {
            group.users -= 1;
            if group.users == 0 {
                groups.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use tokio::time::timeout;

    use super::*;

    const SOON: Duration = Duration::from_millis(20);

    fn admission() -> Admission {
        Admission::new(Places {
            all: 3,
            per_name: 1,
            per_account: 2,
            waiting: 3,
            waiting_per_account: 2,
        })
    }

    #[tokio::test]
    async fn a_name_and_an_account_have_their_share() {
        let admission = admission();
        let first = admission.enter("a", "one").await.unwrap();
        // the same name, another account
        assert!(timeout(SOON, admission.enter("a", "two")).await.is_err());
        let second = admission.enter("b", "one").await.unwrap();
        // the same account, another name
        assert!(timeout(SOON, admission.enter("c", "one")).await.is_err());
        let third = admission.enter("c", "two").await.unwrap();
        // all places are taken
        assert!(timeout(SOON, admission.enter("d", "three")).await.is_err());
        drop(second);
        let fourth = admission.enter("d", "three").await.unwrap();
        drop((first, third, fourth));
        assert!(admission.groups.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn as_many_wait_as_may() {
        let admission = admission();
        let first = admission.enter("a", "one").await.unwrap();
        let (one, other, none, third, full) = tokio::join!(
            timeout(SOON, admission.enter("a", "one")),
            timeout(SOON, admission.enter("a", "one")),
            // two of this account wait already
            admission.enter("b", "one"),
            timeout(SOON, admission.enter("a", "two")),
            // three wait already
            admission.enter("b", "three"),
        );
        assert!(one.is_err() && other.is_err() && third.is_err());
        assert!(none.is_err() && full.is_err());
        // those that gave up wait no longer
        admission.enter("b", "three").await.unwrap();
        drop(first);
        admission.enter("a", "one").await.unwrap();
        assert!(admission.groups.lock().unwrap().is_empty());
    }
}
