//! Places that clients share, of which none may hold all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// So many places, and so many of them at most for each client.
#[derive(Debug)]
pub(super) struct Shares {
    all: Arc<Semaphore>,
    share: usize,
    /// Only of clients that hold or wait for places, and of some that did.
    of: Mutex<HashMap<Box<str>, Arc<Semaphore>>>,
}

/// Places that are taken. Dropping it gives them back.
#[derive(Debug)]
pub(super) struct Taken {
    _of_all: OwnedSemaphorePermit,
    _of_client: Option<OwnedSemaphorePermit>,
}

/// From how many clients on it is looked for those that hold nothing.
const MANY: usize = 64;

impl Shares {
    /// Half of the places are each client's share. There are at least so many that two clients can take `least` at once.
    pub(super) fn new(places: usize, least: usize) -> Self {
        let places = places
            .max(least.saturating_mul(2))
            .clamp(1, Semaphore::MAX_PERMITS);
        Self {
            all: Semaphore::new(places).into(),
            share: places.div_ceil(2),
            of: Mutex::default(),
        }
    }

    /// Waits for places for a client. Whoever isn't known has no share of its own.
    pub(super) async fn take(&self, client: Option<&str>, places: usize) -> Option<Taken> {
        let places = u32::try_from(places).ok()?;
        let take =
            async |semaphore: Arc<Semaphore>| semaphore.acquire_many_owned(places).await.ok();
        // First its own, so that it keeps nobody else waiting.
        let of_client = match client {
            Some(client) => Some(take(self.of(client)).await?),
            None => None,
        };
        Some(Taken {
            _of_all: take(self.all.clone()).await?,
            _of_client: of_client,
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
