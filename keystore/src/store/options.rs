//! How a store runs.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::custody::{Token, TokenName};

/// How a store runs. The [default](Self::default) keeps 256 keys in memory, and takes the time from the system.
#[derive(Clone)]
pub struct StoreOptions {
    pub(super) cached_keys: usize,
    pub(super) clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    pub(super) tokens: BTreeMap<TokenName, Arc<dyn Token>>,
}

impl StoreOptions {
    /// How many keys are kept in memory, ready to be used. Of each, at most eight versions are. A key of ML-DSA-65 takes
    /// some 150 KiB for each version.
    pub fn cached_keys(self, cached_keys: usize) -> Self {
        Self {
            cached_keys,
            ..self
        }
    }

    /// Gives the store a token, in which keys can be made, under the name by which its records know it. Keys in a token that
    /// isn't given can't be used, and the rest of the store goes on.
    pub fn token(mut self, name: TokenName, token: Arc<dyn Token>) -> Self {
        self.tokens.insert(name, token);
        self
    }

    /// Where the time comes from.
    pub fn clock(self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self {
            clock: Arc::new(clock),
            ..self
        }
    }

    /// Milliseconds since 1970; a clock before that counts as that.
    pub(super) fn now(&self) -> u64 {
        let since = (self.clock)()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            cached_keys: 256,
            clock: Arc::new(SystemTime::now),
            tokens: BTreeMap::new(),
        }
    }
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreOptions")
            .field("cached_keys", &self.cached_keys)
            .field("tokens", &self.tokens.keys())
            .finish_non_exhaustive()
    }
}
