//! A ledger that is opened for each call.

use alloc::sync::Arc;

use super::Place;
use crate::ledger::Ledger;
use crate::ledger::forward::forward;

/// A ledger that each call opens anew, so that nothing counts which is in memory alone.
#[derive(Debug)]
pub struct Reopened<P>(Arc<P>);

impl<P: Place> Reopened<P> {
    /// The ledger in this place.
    pub fn new(place: P) -> Self {
        Self(Arc::new(place))
    }
}

impl<P: Place + Send + Sync> Place for Reopened<P> {
    type Ledger = Self;

    fn open(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<P: Place + Send + Sync> Ledger for Reopened<P> {
    forward!(self => self.0.open());
}
