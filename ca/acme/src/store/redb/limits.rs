//! How often something was done.

use ::redb::ReadableTable;

use super::changes::{Changes, Entry};
use super::rows::{LIMITS, LIMITS_BY_END, Stop};
use crate::objects::Time;
use crate::store::limits::{Counted, Limit, next, used_up};

/// How many windows that are over are removed for each that begins.
const AT_ONCE: usize = 4;

impl Changes<'_> {
    pub(super) fn count(&self, limits: &[Limit], now: Time) -> Result<Counted, Stop> {
        let mut table = self.0.open_table(LIMITS)?;
        let mut after = Vec::new();
        for limit in limits {
            let found = table.get(limit.of.as_str())?.map(|found| found.value());
            let counted = found.map(|(until, count)| (Time::from_secs(until), count));
            match next(limit, counted, now) {
                Some(counted_next) => after.push((limit, counted, counted_next)),
                None => return Ok(used_up(limit, counted, now)),
            }
        }
        for (limit, before, (until, count)) in after {
            let (name, until) = (limit.of.as_str(), until.as_secs());
            table.insert(name, (until, count))?;
            let before = before.map(|(until, _)| until.as_secs());
            if before != Some(until) {
                if let Some(before) = before {
                    self.index(LIMITS_BY_END, before, name, Entry::Take)?;
                }
                self.index(LIMITS_BY_END, until, name, Entry::Put)?;
            }
        }
        for name in self.ended(LIMITS_BY_END, now.as_secs().saturating_add(1), AT_ONCE)? {
            let until = table.remove(name.as_str())?.map(|found| found.value().0);
            if let Some(until) = until {
                self.index(LIMITS_BY_END, until, &name, Entry::Take)?;
            }
        }
        Ok(Counted::All)
    }
}
