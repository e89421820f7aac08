//! Limits of how often something may be done, counted where all replicas see it.

use core::time::Duration;

use super::StoreError;
use crate::objects::Time;

/// How often something may be done in a window of time. The window begins with what is counted first, and the next one
/// with what is counted first after its end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Limit {
    /// What is counted, such as `orders of account 17` or `registrations from 192.0.2.0/24`. It has no zeros.
    pub of: String,
    /// How often it may be done in a window.
    pub most: u32,
    /// How long a window is.
    pub window: Duration,
}

/// What came of counting.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Counted {
    /// It was counted for each limit.
    All,
    /// It was counted for none, as one is used up.
    UsedUp {
        /// What that limit counts.
        of: String,
        /// When its next window can begin.
        until: Time,
    },
}

/// Where it is counted how often something was done. Every [store](super::Store) of this crate does so.
///
/// A [server](crate::server::Server) counts here by the limits that its policy names.
pub trait Limits: Send + Sync {
    /// Counts something for each of these limits, which are about different things, or for none if one of them is used up.
    /// However many do so at once, no more are counted in a window than its limit says. Who is told of an error may have
    /// been counted.
    ///
    /// What is counted may be forgotten when the store's machine crashes. Windows that are over are removed by whoever
    /// comes by, so there are no more rows than different things were counted in a window.
    ///
    /// # Errors
    ///
    /// Those of the store.
    fn count(&self, limits: &[Limit], now: Time) -> Result<Counted, StoreError>;

    /// What [`count`](Self::count) would say now. It counts nothing.
    ///
    /// # Errors
    ///
    /// Those of the store.
    fn look(&self, limits: &[Limit], now: Time) -> Result<Counted, StoreError>;
}

/// What is said of limits whose windows end at these times, after these counts.
pub(super) fn said<'l, E>(
    limits: impl IntoIterator<Item = &'l Limit>,
    counted: impl Fn(&Limit) -> Result<Option<(Time, u32)>, E>,
    now: Time,
) -> Result<Counted, E> {
    for limit in limits {
        let counted = counted(limit)?;
        if next(limit, counted, now).is_none() {
            return Ok(used_up(limit, counted, now));
        }
    }
    Ok(Counted::All)
}

/// That a limit is used up.
pub(super) fn used_up(limit: &Limit, counted: Option<(Time, u32)>, now: Time) -> Counted {
    Counted::UsedUp {
        of: limit.of.clone(),
        until: counted.map_or_else(|| now.after(limit.window), |(until, _)| until),
    }
}

/// The count of a window that ends at a time, after one more; `None` if it is used up.
pub(super) fn next(limit: &Limit, counted: Option<(Time, u32)>, now: Time) -> Option<(Time, u32)> {
    match counted {
        Some((until, count)) if until > now => {
            (count < limit.most).then(|| (until, count.saturating_add(1)))
        }
        _ => (limit.most > 0).then(|| (now.after(limit.window), 1)),
    }
}
