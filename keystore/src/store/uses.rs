//! Counts of uses and of refused attempts, which are written to the audit log from time to time.

use alloc::sync::Arc;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::audit::{Event, Outcome};
use crate::name::{KeyName, Version};
use crate::policy::{Principal, Verb};

/// The most different uses of one key that are counted between two writes.
const MAX_COUNTS: usize = 256;

/// How many refused attempts may have entries at once.
const BURST: f64 = 64.0;

/// How many refused attempts may have entries in a second, over time.
const RATE: f64 = 0.1;

/// The uses of one key since they were written.
#[derive(Default)]
pub(super) struct Counts(Mutex<Vec<Count>>);

struct Count {
    principal: Principal,
    verb: Verb,
    version: Option<Version>,
    code: Option<&'static str>,
    count: u64,
}

impl Count {
    fn is_of(
        &self,
        principal: &Principal,
        verb: Verb,
        version: Option<Version>,
        code: Option<&'static str>,
    ) -> bool {
        self.version == version
            && self.verb == verb
            && self.code == code
            && self.principal == *principal
    }
}

/// There are too many different uses.
pub(super) struct TooMany;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What may panic comes before the first change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Counts {
    /// Counts a use that succeeded, or that failed with this code.
    pub(super) fn add(
        &self,
        principal: &Principal,
        verb: Verb,
        version: Option<Version>,
        code: Option<&'static str>,
    ) -> Result<(), TooMany> {
        let mut counts = locked(&self.0);
        let is_same = |count: &&mut Count| count.is_of(principal, verb, version, code);
        if let Some(count) = counts.iter_mut().find(is_same) {
            count.count += 1;
            return Ok(());
        }
        if counts.len() == MAX_COUNTS {
            return Err(TooMany);
        }
        counts.push(Count {
            principal: principal.clone(),
            verb,
            version,
            code,
            count: 1,
        });
        Ok(())
    }

    /// Whether such a use can be counted now.
    pub(super) fn has_room(
        &self,
        principal: &Principal,
        verb: Verb,
        version: Option<Version>,
        code: Option<&'static str>,
    ) -> bool {
        let counts = locked(&self.0);
        counts.len() < MAX_COUNTS
            || counts
                .iter()
                .any(|count| count.is_of(principal, verb, version, code))
    }

    /// Takes the counts, as events.
    fn take(&self, name: &KeyName) -> Vec<Event> {
        let counts = core::mem::take(&mut *locked(&self.0));
        let event = |count: Count| Event {
            principal: Some(count.principal),
            verb: count.verb,
            deed: None,
            key: Some(name.clone()),
            version: count.version,
            outcome: outcome(count.code),
            count: count.count,
            row: None,
            row_before: None,
        };
        counts.into_iter().map(event).collect()
    }
}

pub(super) fn outcome(code: Option<&'static str>) -> Outcome {
    match code {
        None => Outcome::Done,
        Some(code) => Outcome::Refused(code.into()),
    }
}

/// All counts of a store.
#[derive(Default)]
pub(super) struct Uses {
    keys: Mutex<HashMap<KeyName, Arc<Counts>>>,
    refusals: Mutex<Refusals>,
    /// Events that were taken but not yet written.
    unwritten: Mutex<Vec<Event>>,
}

/// Refused attempts.
struct Refusals {
    /// How many more may have an entry of their own.
    left: f64,
    since: Instant,
    events: Vec<Event>,
    /// Those without an entry of their own.
    others: u64,
}

impl Default for Refusals {
    fn default() -> Self {
        Self {
            left: BURST,
            since: Instant::now(),
            events: Vec::new(),
            others: 0,
        }
    }
}

impl Uses {
    /// The counts of a key.
    pub(super) fn of(&self, name: &KeyName) -> Arc<Counts> {
        locked(&self.keys).entry(name.clone()).or_default().clone()
    }

    /// Notes a refused attempt. Only some have an entry of their own, and the others are counted together, so that nobody
    /// fills the log by asking.
    pub(super) fn refuse(&self, principal: &Principal, verb: Verb, key: Option<&KeyName>) {
        let mut refusals = locked(&self.refusals);
        let now = Instant::now();
        let passed = now.duration_since(refusals.since).as_secs_f64();
        refusals.since = now;
        refusals.left = (refusals.left + passed * RATE).min(BURST);
        if refusals.left < 1.0 {
            refusals.others += 1;
            return;
        }
        refusals.left -= 1.0;
        refusals.events.push(Event {
            key: key.cloned(),
            outcome: outcome(Some("denied")),
            ..Event::done(principal, verb)
        });
    }

    /// Everything that is to be written: what [`put_back`](Self::put_back) returned first.
    pub(super) fn take(&self, last: bool) -> Vec<Event> {
        let mut events = core::mem::take(&mut *locked(&self.unwritten));
        let mut refusals = locked(&self.refusals);
        events.append(&mut refusals.events);
        // At most one entry for all others each time that one could have an entry of its own.
        if refusals.others > 0 && (last || refusals.left >= 1.0) {
            refusals.left = (refusals.left - 1.0).max(0.0);
            let count = core::mem::take(&mut refusals.others);
            events.push(Event {
                principal: None,
                verb: Verb::Show,
                deed: None,
                key: None,
                version: None,
                outcome: outcome(Some("denied")),
                count,
                row: None,
                row_before: None,
            });
        }
        drop(refusals);
        let mut keys = locked(&self.keys);
        keys.retain(|name, counts| {
            events.extend(counts.take(name));
            // Whoever counts has another pointer, made while this lock was held.
            Arc::strong_count(counts) > 1
        });
        events
    }

    /// Keeps events that could not be written, for the next time.
    pub(super) fn put_back(&self, events: Vec<Event>) {
        let mut unwritten = locked(&self.unwritten);
        let newer = core::mem::replace(&mut *unwritten, events);
        unwritten.extend(newer);
    }
}
