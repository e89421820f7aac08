//! The clock of the machine isn't believed for good: what depends on the time is refused if the clock is behind what the store
//! knows, or far ahead of it.
//!
//! A row has the latest time of a change. Changes write it, at most once a minute, so that one change by a wrong clock doesn't
//! make that clock right: one that is behind never takes it back, and one that is far ahead never takes it along.

use core::slice;
use core::sync::atomic::Ordering;

use super::Store;
use super::commit::Plan;
use super::error::StoreError;
use super::inner::Inner;
use super::rows::{Draft, Rows};
use crate::audit::{Deed, Event};
use crate::policy::{Principal, Verb};
use crate::record::ClockRecord;
use crate::storage::RowKey;

/// How far a clock may be behind the latest time that the store knows, in milliseconds.
const BEHIND: u64 = 60_000;

/// How far a clock may be ahead of it: 400 days, as in CAs' ledgers, so that a key that is used once a year is no trouble.
const AHEAD: u64 = 400 * DAY;
const DAY: u64 = 24 * 60 * 60 * 1_000;

/// How much later a change has to be for the row to be written.
const STEP: u64 = 60_000;

impl Store {
    /// Takes a person's word that the clock is right: from here on, times are compared with it. Call this after
    /// [`StoreError::ClockBehind`] or [`StoreError::ClockAhead`], if it is. The log says whose word it was.
    ///
    /// # Errors
    ///
    /// If the principal may not [administer](Verb::Administer) the store, and those of the storage.
    pub fn confirm_time(&self, principal: &Principal) -> Result<(), StoreError> {
        let inner = self.inner();
        let (confirmed, _) = inner.commit(&[RowKey::store(), RowKey::clock()], |rows, now| {
            inner.check_store_right(&rows.store()?.grants, principal, Verb::Administer)?;
            let mut draft = rows.change();
            draft.rely_on(&RowKey::store());
            put(rows, &mut draft, now)?;
            Ok(Plan {
                rows: draft.finish(),
                events: vec![Event::done(principal, Deed::ConfirmTime)],
                value: now,
            })
        })?;
        inner.latest.store(confirmed, Ordering::Relaxed);
        Ok(())
    }

    /// Whether the clock may be right, by the latest time that the store knows. By one that can't be, no key is due, and nothing is
    /// rotated by age, scheduled or destroyed.
    ///
    /// # Errors
    ///
    /// [`StoreError::ClockBehind`] and [`StoreError::ClockAhead`], and those of the storage.
    pub fn check_time(&self) -> Result<(), StoreError> {
        let inner = self.inner();
        inner.check_clock(inner.options.now())
    }
}

impl Inner {
    /// The time, unless the clock is wrong, or nothing is known to compare it with.
    pub(super) fn time(&self) -> Option<u64> {
        let now = self.options.now();
        self.check_clock(now).is_ok().then_some(now)
    }

    /// Notes the time of a change, at most once a minute. What can't be noted now, the next change notes.
    pub(super) fn note_time(&self) {
        let now = self.options.now();
        if now >= self.latest.load(Ordering::Relaxed).saturating_add(STEP)
            && let Ok(latest) = self.write_time(now)
        {
            self.latest.store(latest, Ordering::Relaxed);
        }
    }

    /// Writes this time unless the storage has it already, or it is too far ahead. Returns what the storage has.
    fn write_time(&self, now: u64) -> Result<u64, StoreError> {
        let row = RowKey::clock();
        // A change that changes nothing would be written, too.
        let known = self.table.read(slice::from_ref(&row))?.clock()?;
        if let Some(known) = known.filter(|known| !follows(known.latest, now)) {
            return Ok(known.latest);
        }
        let (latest, _) = self.table.commit(
            slice::from_ref(&row),
            || now,
            |rows, now| {
                let known = rows.clock()?.map(|known| known.latest);
                let mut draft = rows.change();
                let value = match known.filter(|known| !follows(*known, now)) {
                    Some(known) => known,
                    None => {
                        put(rows, &mut draft, now)?;
                        now
                    }
                };
                Ok(Plan {
                    rows: draft.finish(),
                    events: Vec::new(),
                    value,
                })
            },
        )?;
        Ok(latest)
    }

    /// Checks that the clock is neither behind the latest time that the store knows, but for what clocks of several machines are
    /// apart, nor far ahead of it.
    pub(super) fn check_clock(&self, now: u64) -> Result<(), StoreError> {
        let rows = self.table.read(slice::from_ref(&RowKey::clock()))?;
        let latest = match rows.clock()? {
            Some(known) => {
                // Somebody may have confirmed an earlier one.
                self.latest.store(known.latest, Ordering::Relaxed);
                known.latest
            }
            None => {
                let last = self.table.entries(rows.head.sequence, 1)?;
                // Another entry follows already, and the change will be decided on anew.
                last.first().ok_or(StoreError::Contended)?.time
            }
        };
        if latest.saturating_sub(now) > BEHIND {
            return Err(StoreError::ClockBehind {
                seconds: (latest - now).div_ceil(1000),
            });
        }
        if now.saturating_sub(latest) > AHEAD {
            return Err(StoreError::ClockAhead {
                days: (now - latest) / DAY,
            });
        }
        Ok(())
    }
}

/// Whether a time is written after the one that is known.
fn follows(known: u64, now: u64) -> bool {
    (known.saturating_add(STEP)..=known.saturating_add(AHEAD)).contains(&now)
}

/// Writes the row with this time.
fn put(rows: &Rows<'_>, draft: &mut Draft<'_>, latest: u64) -> Result<(), StoreError> {
    let before = rows.clock()?;
    let serial = before.map_or(0, |before| before.serial).saturating_add(1);
    let row = RowKey::clock();
    draft.set_serial(&row, serial)?;
    draft.put(&row, ClockRecord { serial, latest }.encode());
    Ok(())
}
