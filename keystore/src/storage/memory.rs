//! A storage in memory, for tests and for keys that needn't outlive the process.

use alloc::collections::BTreeMap;
use core::ops::Bound;
use core::time::Duration;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::change::{Change, Committed, Write};
use super::error::{CommitError, StorageError};
use super::log::{LogEntry, LogHead};
use super::row::{Page, Row, RowKey, RowPrefix, Snapshot};
use super::{MAX_CHANGE_ROWS, MAX_PAGE_LEN, MAX_PAGE_ROWS, Storage};

/// A storage in memory. What it has is lost with it.
#[derive(Debug, Default)]
pub struct MemoryStorage {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    rows: BTreeMap<RowKey, Row>,
    log: Vec<LogEntry>,
    revision: u64,
}

impl State {
    fn head(&self) -> LogHead {
        match self.log.last() {
            Some(entry) => LogHead {
                sequence: entry.sequence,
                hash: entry.hash,
            },
            None => LogHead::EMPTY,
        }
    }

    /// Whether the change may be made.
    fn is_as_expected(&self, change: &Change) -> bool {
        let revision = |key| self.rows.get(key).map(|row| row.revision);
        let mut rows = change.rows.iter();
        let log = change.append.as_ref();
        rows.all(|row| row.expected.holds(revision(&row.key)))
            && log.is_none_or(|append| append.after == self.head())
    }
}

impl MemoryStorage {
    /// An empty storage.
    pub fn new() -> Self {
        Self::default()
    }

    /// The state, which no panic leaves half changed: what may panic comes before the first change.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for MemoryStorage {
    fn get(&self, keys: &[RowKey]) -> Result<Snapshot, StorageError> {
        if keys.len() > MAX_CHANGE_ROWS {
            return Err(StorageError::Limit("rows in one request"));
        }
        let state = self.state();
        Ok(Snapshot {
            rows: keys
                .iter()
                .map(|key| state.rows.get(key).cloned())
                .collect(),
            head: state.head(),
            revision: state.revision,
        })
    }

    fn list(
        &self,
        prefix: &RowPrefix,
        after: Option<&RowKey>,
        limit: usize,
    ) -> Result<Page, StorageError> {
        let state = self.state();
        let from = match after {
            Some(after) if after.as_str() >= prefix.as_str() => Bound::Excluded(after.as_str()),
            _ => Bound::Included(prefix.as_str()),
        };
        let mut found = state
            .rows
            .range::<str, _>((from, Bound::Unbounded))
            .take_while(|(key, _)| prefix.matches(key))
            .peekable();
        let mut rows = Vec::new();
        let mut len = 0;
        while rows.len() < limit.min(MAX_PAGE_ROWS) && len < MAX_PAGE_LEN {
            let Some((key, row)) = found.next() else {
                break;
            };
            len += row.value.len();
            rows.push((key.clone(), row.clone()));
        }
        let more = found.peek().is_some();
        Ok(Page { rows, more })
    }

    fn commit(&self, change: &Change) -> Result<Committed, CommitError> {
        change.check()?;
        let mut state = self.state();
        if !state.is_as_expected(change) {
            return Err(CommitError::Conflict);
        }
        let revision = state.revision + 1;
        for row in &change.rows {
            match &row.write {
                Write::Keep => {}
                Write::Put(value) => {
                    let value = value.clone();
                    state.rows.insert(row.key.clone(), Row { revision, value });
                }
                Write::Delete => {
                    state.rows.remove(&row.key);
                }
            }
        }
        if let Some(append) = &change.append {
            state.log.extend(append.entries.iter().cloned());
        }
        state.revision = revision;
        drop(state);
        self.changed.notify_all();
        Ok(Committed { revision })
    }

    fn entries(&self, from: u64, limit: usize) -> Result<Vec<LogEntry>, StorageError> {
        let state = self.state();
        let start = state.log.partition_point(|entry| entry.sequence < from);
        let mut len = 0;
        let page = state.log[start..].iter().take(limit.min(MAX_PAGE_ROWS));
        let page = page.take_while(|entry| {
            let fits = len < MAX_PAGE_LEN;
            len += entry.value.len();
            fits
        });
        Ok(page.cloned().collect())
    }

    fn wait_for_change(&self, since: u64, timeout: Duration) -> Result<u64, StorageError> {
        let mut state = self.state();
        let started = Instant::now();
        while state.revision <= since {
            let Some(left) = timeout.checked_sub(started.elapsed()) else {
                break;
            };
            let waited = self.changed.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        Ok(state.revision)
    }

    fn description(&self) -> String {
        "the store in memory".into()
    }
}
