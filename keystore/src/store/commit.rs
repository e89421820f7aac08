//! Changes with their entries in the audit log: read, decided, and made together or tried again.

use core::time::Duration;
use std::thread;

use super::cache::{Made, Moment};
use super::error::StoreError;
use super::rows::{Rows, Table};
use crate::audit::{AuditEntry, Chain, Event};
use crate::storage::{
    Append, Change, CommitError, LogHead, MAX_CHANGE_ENTRIES, RowChange, RowKey, StorageError,
};

/// How often a change is tried while others change the same rows.
const TRIES: u32 = 200;

/// How often it is asked what became of a change whose outcome is unknown.
const SETTLING_TRIES: u32 = 20;

/// What is to be changed, and what the log says of it.
pub(super) struct Plan<T> {
    pub(super) rows: Vec<RowChange>,
    pub(super) events: Vec<Event>,
    pub(super) value: T,
}

/// What became of one try.
enum Tried {
    /// It was made, at this revision, unless that is no longer known.
    Made(Option<u64>),
    Conflict,
}

impl Table {
    /// Reads rows, decides on them what to do, and does it. If others change the rows or the log meanwhile, it decides
    /// anew. Returns what was decided, and when it was written, unless the storage lost that.
    pub(super) fn commit<T>(
        &self,
        keys: &[RowKey],
        now: impl Fn() -> u64,
        mut decide: impl FnMut(&Rows<'_>, u64) -> Result<Plan<T>, StoreError>,
    ) -> Result<(T, Option<Made>), StoreError> {
        for attempt in 0..TRIES {
            let rows = self.read(keys)?;
            let time = now();
            let plan = decide(&rows, time)?;
            if plan.events.len() > MAX_CHANGE_ENTRIES {
                return Err(StoreError::Limit("there are too many changes at once"));
            }
            let append = self.append(rows.head, &plan.events, time)?;
            let head = append.head();
            let change = Change {
                rows: plan.rows,
                append: Some(append),
            };
            match self.try_once(&change)? {
                Tried::Made(revision) => {
                    let epoch = rows.epoch;
                    let made = revision.map(|revision| Made {
                        written: Moment { epoch, revision },
                        head,
                    });
                    return Ok((plan.value, made));
                }
                // Those who try again wait a little longer each time, and not all for the same time.
                Tried::Conflict => thread::sleep(Duration::from_micros(
                    u64::from(attempt) * u64::from(rows.head.hash[0]),
                )),
            }
        }
        Err(StoreError::Contended)
    }

    /// The entries for these events, after the head of the log.
    fn append(&self, after: LogHead, events: &[Event], time: u64) -> Result<Append, StoreError> {
        let mut append = Append {
            after,
            entries: Vec::with_capacity(events.len()),
        };
        for event in events {
            let entry = event.entry_after(&self.sealer, &append.head(), self.store, time)?;
            append.entries.push(entry);
        }
        Ok(append)
    }

    /// Entries of the log from this number on, each of which the store wrote after the one before it.
    pub(super) fn entries(&self, from: u64, limit: usize) -> Result<Vec<AuditEntry>, StoreError> {
        let from = from.max(1);
        let before = match from {
            1 => None,
            _ => self.storage.entries(from - 1, 1)?.pop(),
        };
        let head = before.map_or(LogHead::EMPTY, |before| LogHead {
            sequence: before.sequence,
            hash: before.hash,
        });
        let mut chain = Chain::after(self.store, head);
        let entries = self.storage.entries(from, limit)?;
        let read = entries
            .iter()
            .map(|entry| chain.follow_written(&self.sealer, entry));
        Ok(read.collect::<Result<_, _>>()?)
    }

    /// Makes a change, and finds out what became of it if the storage doesn't know.
    fn try_once(&self, change: &Change) -> Result<Tried, StoreError> {
        let mut reason = match self.storage.commit(change) {
            Ok(made) => return Ok(Tried::Made(Some(made.revision))),
            Err(CommitError::Conflict) => return Ok(Tried::Conflict),
            Err(CommitError::Storage(error)) => return Err(error.into()),
            Err(error @ CommitError::OutcomeUnknown { .. }) => error.to_string(),
        };
        // The change can be made at most once, as it says where the log ends before. So it is tried again: if it can't be
        // made any more, the log shows whether that is because it was.
        for attempt in 0..SETTLING_TRIES {
            thread::sleep(Duration::from_millis(20 * u64::from(attempt)));
            match self.storage.commit(change) {
                Ok(made) => return Ok(Tried::Made(Some(made.revision))),
                Err(CommitError::Conflict) => match self.was_made(change) {
                    Ok(true) => return Ok(Tried::Made(None)),
                    Ok(false) => return Ok(Tried::Conflict),
                    Err(error) => reason = error.to_string(),
                },
                // It takes no more changes, and doesn't say whether it took this one.
                Err(CommitError::Storage(error @ StorageError::Replaced { .. })) => {
                    return Err(StoreError::OutcomeUnknown(error.to_string()));
                }
                Err(error) => reason = error.to_string(),
            }
        }
        Err(StoreError::OutcomeUnknown(reason))
    }

    /// Whether the log has the entries of a change, which no other change has.
    fn was_made(&self, change: &Change) -> Result<bool, StoreError> {
        let last = change
            .append
            .as_ref()
            .and_then(|append| append.entries.last());
        let Some(last) = last else {
            return Ok(false);
        };
        let found = self.storage.entries(last.sequence, 1)?;
        Ok(found.first().is_some_and(|entry| entry.hash == last.hash))
    }
}
