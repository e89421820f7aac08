//! What a store has to hold, run on each storage.

extern crate alloc;

mod names;
mod places;
mod storage;

use places::Memory;
#[cfg(feature = "redb")]
use places::Redb;

/// Runs all suites on a storage.
macro_rules! on {
    ($($storage:ident: $place:ty),+ $(,)?) => {$(
        mod $storage {
            use super::*;

            storage::suite!($place);
        }
    )+};
}

on!(memory: Memory);
#[cfg(feature = "redb")]
on!(redb: Redb);
