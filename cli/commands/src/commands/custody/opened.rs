//! A store that this process has open.

use pq_keystore::Store;
use pq_keystore::policy::Principal;

/// A store, and who asks.
#[derive(Clone)]
pub(in crate::commands) struct Opened {
    pub(in crate::commands) store: Store,
    pub(in crate::commands) principal: Principal,
}
