//! What all operations of a store share: the table, the keys in memory, rights, and the audit log.

use alloc::sync::Arc;
use core::slice;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::thread;
use std::time::Instant;

use pq_keys::any::AnySigningKey;

use super::cache::{Cache, CachedKey, Made, Moment};
use super::commit::Plan;
use super::error::StoreError;
use super::options::StoreOptions;
use super::rows::{Rows, Table};
use super::uses::Uses;
use crate::audit::Event;
use crate::name::KeyName;
use crate::policy::{Principal, Verb, WhenAway};
use crate::record::{KeyRecord, StoreGrants};
use crate::storage::{LogHead, MAX_CHANGE_ENTRIES, RowKey, StorageError};

/// How long the storage may be silent before it counts as away.
const SILENCE: Duration = Duration::from_secs(2);

/// How long after a try to reach it failed no use tries again.
const PAUSE: Duration = Duration::from_secs(1);

/// How long a use waits for another that is trying, before it is refused.
const SOON: Duration = Duration::from_millis(500);

/// How many keys are read at once; with their rows of the index, half as many as a storage gives.
const REFRESHED_AT_ONCE: usize = 100;

/// How many heads of the log what is in memory may rely on before it is seen whether the log leads on from them.
const MAX_HEADS: usize = 256;

/// The storage at a moment.
struct Seen {
    revision: u64,
    head: LogHead,
    /// How often the row of the wrapped key was written, and at which revision: a copy counts revisions anew.
    wrapped: Option<(u64, u64)>,
}

/// Why the storage can't be used until somebody does something about it.
struct Problem {
    said: String,
    /// It is a file that has another one in its place: what is in memory counts for nothing any more.
    replaced: Option<StorageError>,
}

impl Problem {
    fn of(error: &StoreError) -> Option<Self> {
        (!error.retry()).then(|| Self {
            said: error.to_string(),
            replaced: match error {
                StoreError::Storage(error @ StorageError::Replaced { .. }) => Some(error.clone()),
                _ => None,
            },
        })
    }
}

/// A store without its thread.
pub(super) struct Inner {
    pub(super) table: Table,
    pub(super) options: StoreOptions,
    /// Signs attestations and heads of the log.
    pub(super) own_key: AnySigningKey,
    pub(super) cache: Cache,
    pub(super) uses: Uses,
    grants: RwLock<(Moment, Arc<StoreGrants>)>,
    /// One thread of this process changes the storage at a time, as changes append to one log.
    writing: Mutex<()>,
    /// One thread writes counts at a time.
    flushing: Mutex<()>,
    /// What of the storage the keys in memory have, at least.
    seen: Mutex<Seen>,
    /// Where the log ended when something was put in memory since; `None` if there were too many.
    heads: Mutex<Option<Vec<LogHead>>>,
    /// The latest time that the storage's row of it had, as far as this process saw.
    pub(super) latest: AtomicU64,
    started: Instant,
    /// When the storage was last reached, in milliseconds since the start.
    reached: AtomicU64,
    /// When the last try to see it ended, in milliseconds since the start, if that failed; else [`Self::NEVER`].
    failed: AtomicU64,
    /// What came of that try.
    problem: RwLock<Option<Problem>>,
}

impl Inner {
    /// A moment that does not come.
    const NEVER: u64 = u64::MAX;

    pub(super) fn new(
        table: Table,
        options: StoreOptions,
        own_key: AnySigningKey,
        (written, grants): (Moment, StoreGrants),
    ) -> Self {
        Self {
            own_key,
            cache: Cache::new(options.cached_keys, table.epoch.clone()),
            table,
            options,
            uses: Uses::default(),
            grants: RwLock::new((written, Arc::new(grants))),
            writing: Mutex::new(()),
            flushing: Mutex::new(()),
            seen: Mutex::new(Seen {
                revision: 0,
                head: LogHead::EMPTY,
                wrapped: None,
            }),
            heads: Mutex::new(Some(Vec::new())),
            latest: AtomicU64::new(0),
            started: Instant::now(),
            reached: AtomicU64::new(0),
            failed: AtomicU64::new(Self::NEVER),
            problem: RwLock::new(None),
        }
    }

    /// The grants of the store, as last read.
    pub(super) fn grants(&self) -> Arc<StoreGrants> {
        let known = self.grants.read().unwrap_or_else(PoisonError::into_inner);
        known.1.clone()
    }

    /// Keeps the grants as they were written at this moment, unless newer ones are known.
    pub(super) fn set_grants(&self, written: Moment, grants: StoreGrants) {
        let mut known = self.grants.write().unwrap_or_else(PoisonError::into_inner);
        if written > known.0 {
            *known = (written, Arc::new(grants));
        }
    }

    /// Makes a change, alone in this process.
    pub(super) fn commit<T>(
        &self,
        keys: &[RowKey],
        decide: impl FnMut(&Rows<'_>, u64) -> Result<Plan<T>, StoreError>,
    ) -> Result<(T, Option<Made>), StoreError> {
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let made = self.table.commit(keys, || self.options.now(), decide)?;
        self.note_time();
        Ok(made)
    }

    /// Notes the time, alone in this process.
    pub(super) fn note_time_alone(&self) {
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.note_time();
    }

    /// Writes entries to the log, all before it returns. It relies on the row of the store, so that they don't get into the
    /// log of another one.
    pub(super) fn log(&self, events: &[Event]) -> Result<(), StoreError> {
        let store = RowKey::store();
        for events in events.chunks(MAX_CHANGE_ENTRIES) {
            self.commit(slice::from_ref(&store), |rows, _| {
                rows.store()?;
                let mut draft = rows.change();
                draft.rely_on(&store);
                Ok(Plan {
                    rows: draft.finish(),
                    events: events.to_vec(),
                    value: (),
                })
            })?;
        }
        Ok(())
    }

    /// Writes what was counted. What can't be written is kept for the next time. Whoever comes while another thread writes
    /// waits until that has written what it took.
    pub(super) fn flush(&self, last: bool) -> Result<(), StoreError> {
        let _alone = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        let events = self.uses.take(last);
        let mut written = 0;
        for chunk in events.chunks(MAX_CHANGE_ENTRIES) {
            if let Err(error) = self.log(chunk) {
                self.uses.put_back(events[written..].to_vec());
                return Err(error);
            }
            written += chunk.len();
        }
        Ok(())
    }

    /// The key, from memory or from the storage; `None` if there never was one.
    pub(super) fn key(&self, name: &KeyName) -> Result<Option<Arc<CachedKey>>, StoreError> {
        match self.cache.get(name) {
            Some(key) => Ok(Some(key)),
            None => self.load(name),
        }
    }

    /// Asks the storage for a key that is in memory, and looks no further than for a key that isn't there.
    fn ask_for(&self, name: &KeyName) -> Result<(), StoreError> {
        let row = RowKey::key(name);
        let rows = self.table.read(slice::from_ref(&row))?;
        // What it says of the key doesn't matter.
        let _ = rows.check_serial(&row, 0);
        Ok(())
    }

    /// Reads a key anew.
    pub(super) fn load(&self, name: &KeyName) -> Result<Option<Arc<CachedKey>>, StoreError> {
        let row = RowKey::key(name);
        let rows = self.table.read(slice::from_ref(&row))?;
        self.keep(name, &rows)
    }

    /// Keeps a key as it was read.
    pub(super) fn keep(
        &self,
        name: &KeyName,
        rows: &Rows<'_>,
    ) -> Result<Option<Arc<CachedKey>>, StoreError> {
        let record = rows.key(name)?;
        let written = rows.written(&RowKey::key(name));
        self.relies_on(rows.head);
        Ok(record
            .zip(written)
            .map(|(record, written)| self.cache.put(name, written, record, || self.uses.of(name))))
    }

    /// Keeps a key as it was written at this moment. If that isn't known, it is read anew, and if it can't be read, its next
    /// use says so.
    pub(super) fn keep_written(&self, name: &KeyName, record: KeyRecord, made: Option<Made>) {
        match made {
            Some(Made { written, head }) => {
                self.relies_on(head);
                self.cache.put(name, written, record, || self.uses.of(name));
            }
            None if self.load(name).is_err() => self.cache.forget(name),
            None => {}
        }
    }

    /// Notes where the log ended, before something of that moment is put in memory.
    pub(super) fn relies_on(&self, head: LogHead) {
        let mut heads = self.heads();
        if let Some(known) = &mut *heads
            && known.last() != Some(&head)
        {
            known.push(head);
        }
        heads.take_if(|known| known.len() > MAX_HEADS);
    }

    fn heads(&self) -> MutexGuard<'_, Option<Vec<LogHead>>> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a key anew after it was not changed, perhaps because others had changed it. While the storage is away, what is
    /// in memory stays there: a change that failed takes no key from those who use it.
    pub(super) fn reload(&self, name: &KeyName) {
        if self.load(name).is_err_and(|error| !error.retry()) {
            self.cache.forget(name);
        }
    }

    /// Brings the keys in memory to the storage's revision.
    pub(super) fn refresh(&self) -> Result<(), StoreError> {
        self.see(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The same, unless it failed just now, or another thread is at it and not done soon: then `None`.
    fn refresh_if_free(&self) -> Option<Result<(), StoreError>> {
        let begun = Instant::now();
        let mut seen = loop {
            match self.seen.try_lock() {
                Ok(seen) => break seen,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock)
                    if self.failed().is_some() || begun.elapsed() > SOON =>
                {
                    return None;
                }
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
            }
        };
        match self.failed().is_some_and(|since| since < PAUSE) {
            true => None,
            false => Some(self.see(&mut seen)),
        }
    }

    fn see(&self, seen: &mut Seen) -> Result<(), StoreError> {
        let done = self.bring_to_now(seen);
        let failed = match &done {
            Ok(()) => Self::NEVER,
            Err(_) => self.since_start(),
        };
        self.failed.store(failed, Ordering::Relaxed);
        let mut problem = self.problem.write().unwrap_or_else(PoisonError::into_inner);
        *problem = done.as_ref().err().and_then(Problem::of);
        done
    }

    /// Why the storage can't be used, if trying again doesn't help.
    pub(super) fn problem(&self) -> Option<String> {
        let problem = self.problem.read().unwrap_or_else(PoisonError::into_inner);
        problem.as_ref().map(|problem| problem.said.clone())
    }

    /// How long ago the last try to see the storage failed, if it did.
    fn failed(&self) -> Option<Duration> {
        let failed = self.failed.load(Ordering::Relaxed);
        let since = || Duration::from_millis(self.since_start().saturating_sub(failed));
        (failed != Self::NEVER).then(since)
    }

    fn bring_to_now(&self, seen: &mut Seen) -> Result<(), StoreError> {
        // Those of before the storage is read: it has to lead on from them.
        let heads = self.heads().clone();
        let mut rows = self.table.read(slice::from_ref(&RowKey::store()))?;
        let follows = match &heads {
            Some(heads) => self.follows(&rows, seen, heads)?,
            None => false,
        };
        match &mut *self.heads() {
            Some(now) if follows => drop(now.drain(..heads.map_or(0, |heads| heads.len()))),
            // They became too many meanwhile, and nobody has compared them: the next time, all is forgotten.
            None if follows => {}
            now => *now = Some(Vec::new()),
        }
        if !follows {
            // Their revisions count for nothing any more. The rows were read alone, and are of the epoch that begins.
            rows.epoch = self.cache.forget_all();
        } else if rows.revision == seen.revision && rows.head == seen.head {
            self.note_reached();
            return Ok(());
        }
        let (written, record) = rows.store_written()?;
        self.set_grants(written, record.grants);
        let (revision, head, wrapped) = (rows.revision, rows.head, rows.wrapped());
        for keys in self.cache.revisions().chunks(REFRESHED_AT_ONCE) {
            let names: Vec<_> = keys.iter().map(|(name, _)| RowKey::key(name)).collect();
            let rows = self.table.read(&names)?;
            for ((name, cached), row) in keys.iter().zip(&names) {
                if rows.row_revision(row) == Some(*cached) {
                    continue;
                }
                let is_in_use = self.cache.get(name).is_some_and(|key| key.is_in_use());
                // What is wrong with it, its next use says.
                let Ok(Some(key)) = self.keep(name, &rows) else {
                    self.cache.forget(name);
                    continue;
                };
                // A key in use is ready with its new version before the storage may go away. If it can't be read, its
                // next use says so, too.
                if let Some(newest) = key.newest_enabled.filter(|_| is_in_use) {
                    let _ = self.private(&key, newest, Verb::Sign);
                }
            }
        }
        (seen.revision, seen.head, seen.wrapped) = (revision, head, wrapped);
        self.note_reached();
        Ok(())
    }

    /// Whether the storage came here from what was seen before. If not, an older copy of it was put in its place, or another
    /// one: one that was changed since may have a higher revision, but not the same log, and one that was copied row by row
    /// counts anew.
    fn follows(&self, rows: &Rows<'_>, seen: &Seen, heads: &[LogHead]) -> Result<bool, StoreError> {
        let is_renumbered = match (seen.wrapped, rows.wrapped()) {
            (Some((serial, revision)), Some(now)) => serial == now.0 && revision != now.1,
            _ => false,
        };
        if rows.revision < seen.revision || is_renumbered {
            return Ok(false);
        }
        for head in heads.iter().chain([&seen.head]) {
            if *head == LogHead::EMPTY || *head == rows.head {
                continue;
            }
            let found = self.table.storage.entries(head.sequence, 1)?;
            if found.first().is_none_or(|entry| entry.hash != head.hash) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn since_start(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn note_reached(&self) {
        self.reached.store(self.since_start(), Ordering::Relaxed);
    }

    /// For how long the storage has not been reached.
    fn silence(&self) -> Duration {
        let reached = self.reached.load(Ordering::Relaxed);
        Duration::from_millis(self.since_start().saturating_sub(reached))
    }

    /// Whether the storage was reached so lately that a key in memory may be used, as far as that is known without asking it.
    pub(super) fn was_reached(&self, key: &CachedKey) -> Result<bool, StoreError> {
        {
            let problem = self.problem.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(replaced) = problem.as_ref().and_then(|known| known.replaced.clone()) {
                return Err(replaced.into());
            }
        }
        let permitted = match key.record.policy.when_away {
            WhenAway::Refuse => SILENCE,
            WhenAway::UseFor(time) => time.max(SILENCE),
        };
        Ok(self.silence() <= permitted)
    }

    /// Whether a key in memory may be used now.
    pub(super) fn check_reached(&self, key: &CachedKey) -> Result<(), StoreError> {
        if self.was_reached(key)? {
            return Ok(());
        }
        // The thread may only be late: it is asked for before anything is refused. But one use asks, and the others wait for
        // it a moment, and not at all once it has failed, as they would keep those waiting that are permitted.
        match self.refresh_if_free() {
            Some(Ok(())) => return Ok(()),
            Some(Err(error)) if !error.retry() => return Err(error),
            _ if self.was_reached(key)? => return Ok(()),
            _ => {}
        }
        Err(StoreError::Away {
            key: key.name.clone(),
            seconds: self.silence().as_secs(),
        })
    }

    /// Refuses what a principal may not do, and notes it.
    pub(super) fn denied(
        &self,
        principal: &Principal,
        verb: Verb,
        key: Option<&KeyName>,
    ) -> StoreError {
        self.uses.refuse(principal, verb, key);
        StoreError::Denied {
            principal: principal.clone(),
            verb,
            key: key.map_or_else(|| "the store".into(), ToString::to_string),
        }
    }

    /// Checks a right that only the store grants, with all keys.
    pub(super) fn check_store_right(
        &self,
        grants: &StoreGrants,
        principal: &Principal,
        verb: Verb,
    ) -> Result<(), StoreError> {
        match grants.permits_all(principal, verb) {
            true => Ok(()),
            false => Err(self.denied(principal, verb, None)),
        }
    }

    /// What is wrong with a key is told to those who may do something with it, as far as it is known yet who they are. Nobody
    /// else learns whether there is such a key.
    pub(super) fn told(
        &self,
        principal: &Principal,
        verb: Verb,
        name: &KeyName,
        error: StoreError,
    ) -> StoreError {
        if !matches!(error, StoreError::Damaged { .. })
            || principal.is_auto_rotate()
            || self.grants().permits_anything(principal, name)
        {
            return error;
        }
        let rows = self.table.read(slice::from_ref(&RowKey::key(name)));
        let said = rows.ok().and_then(|rows| rows.said_of_key(name));
        match said.is_some_and(|key| key.policy.grants.permits_anything(principal)) {
            true => error,
            false => self.denied(principal, verb, Some(name)),
        }
    }

    /// Checks that the principal may do this with a name that no key has yet: the grants of the store say so.
    pub(super) fn permitted_new(
        &self,
        principal: &Principal,
        verb: Verb,
        name: &KeyName,
    ) -> Result<(), StoreError> {
        match self.grants().permits(principal, verb, name) {
            true => Ok(()),
            false => Err(self.denied(principal, verb, Some(name))),
        }
    }

    /// Whether the principal may do this with a key of this name, of which the record says it if there is one, or the store's
    /// grants.
    pub(super) fn permits(
        &self,
        own: Option<&KeyRecord>,
        principal: &Principal,
        verb: Verb,
        name: &KeyName,
    ) -> bool {
        own.is_some_and(|record| record.permits(principal, verb))
            || self.grants().permits(principal, verb, name)
    }

    /// The key, if the principal may do this with it.
    pub(super) fn permitted(
        &self,
        principal: &Principal,
        verb: Verb,
        name: &KeyName,
    ) -> Result<Arc<CachedKey>, StoreError> {
        let cached = self.cache.get(name);
        let was_cached = cached.is_some();
        let key = match cached {
            Some(key) => Ok(Some(key)),
            None => self.load(name),
        };
        let key = key.map_err(|error| self.told(principal, verb, name, error))?;
        let own = key.as_ref().map(|key| &key.record);
        let is_permitted = self.permits(own, principal, verb, name);
        match key {
            _ if !is_permitted => {
                // Of a name that no key has, the storage was asked. It is asked of all, so that neither the time of the
                // answer nor a storage that is away tells which have one.
                if was_cached {
                    let asked = self.ask_for(name);
                    asked.map_err(|error| self.told(principal, verb, name, error))?;
                }
                Err(self.denied(principal, verb, Some(name)))
            }
            Some(key) => Ok(key),
            None => Err(StoreError::NotFound(name.clone())),
        }
    }
}
