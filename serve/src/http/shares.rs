//! Places that clients share, of which none may hold all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// So many places, and so many of them at most for each client.
#[derive(Debug)]
pub(super) struct Shares {
    all: Arc<Semaphore>,
    share: usize,
    /// How many places a permit stands for.
    unit: usize,
    /// Only of clients that hold or wait for places, and of some that did.
    of: Mutex<HashMap<Box<str>, Arc<Semaphore>>>,
}

/// Places that are taken. Dropping it gives them back.
#[derive(Debug)]
pub(super) struct Taken {
    of_all: OwnedSemaphorePermit,
    of_client: Option<OwnedSemaphorePermit>,
    unit: usize,
}

impl Taken {
    /// Gives back all but so many.
    pub(super) fn keep(&mut self, places: usize) {
        for permit in self.of_client.iter_mut().chain([&mut self.of_all]) {
            let surplus = permit
                .num_permits()
                .saturating_sub(places.div_ceil(self.unit));
            drop(permit.split(surplus));
        }
    }
}

/// From how many clients on it is looked for those that hold nothing.
const MANY: usize = 64;

impl Shares {
    /// Half of the places are each client's share. There are at least so many that two clients can take `least` at once.
    pub(super) fn new(places: usize, least: usize) -> Self {
        Self::in_units(1, places, least)
    }

    /// The same for bytes, which may be more than a semaphore gives at once.
    pub(super) fn of_bytes(bytes: usize, least: usize) -> Self {
        Self::in_units(1024, bytes, least)
    }

    fn in_units(unit: usize, places: usize, least: usize) -> Self {
        let permits = places
            .div_ceil(unit)
            .max(least.div_ceil(unit).saturating_mul(2))
            .clamp(1, Semaphore::MAX_PERMITS);
        Self {
            all: Semaphore::new(permits).into(),
            share: permits.div_ceil(2),
            unit,
            of: Mutex::default(),
        }
    }

    /// How many places one client may have.
    pub(super) fn share(&self) -> usize {
        self.share.saturating_mul(self.unit)
    }

    /// Waits for places for a client. Whoever isn't known has no share of its own.
    pub(super) async fn take(&self, client: Option<&str>, places: usize) -> Option<Taken> {
        let permits = u32::try_from(places.div_ceil(self.unit)).ok()?;
        let take =
            async |semaphore: Arc<Semaphore>| semaphore.acquire_many_owned(permits).await.ok();
        // First its own, so that it keeps nobody else waiting.
        let of_client = match client {
            Some(client) => Some(take(self.of(client)).await?),
            None => None,
        };
        Some(Taken {
            of_all: take(self.all.clone()).await?,
            of_client,
            unit: self.unit,
        })
    }

    /// Takes a place for a client if one is free, and it has some of its share left.
    pub(super) fn take_free(&self, client: Option<&str>) -> Option<Taken> {
        let of_client = match client {
            Some(client) => Some(self.of(client).try_acquire_owned().ok()?),
            None => None,
        };
        Some(Taken {
            of_all: self.all.clone().try_acquire_owned().ok()?,
            of_client,
            unit: self.unit,
        })
    }

    fn of(&self, client: &str) -> Arc<Semaphore> {
        // Nothing panics between two changes that belong together.
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = of.get(client) {
            return own.clone();
        }
        if of.len() >= MANY {
            // A place that is held has another pointer.
            of.retain(|_, own| Arc::strong_count(own) > 1);
        }
        let own = Arc::new(Semaphore::new(self.share));
        of.insert(client.into(), own.clone());
        own
    }
}
