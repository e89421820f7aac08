//! Limits of how much clients may do, which the policy names and the store counts.

use core::time::Duration;

use super::Server;
use super::answer::Refusal;
use super::policy::Policy;
use crate::identifier::Identifier;
use crate::objects::Time;
use crate::problem::{Problem, ProblemType};
use crate::store::{
    AccountRecord, AuthorizationRecord, Counted, Limit, OrderRecord, Store, StoreError,
};

/// How much is removed of each kind at a time, and how often at most while it is tidied.
const AT_ONCE: u32 = 256;
const TIMES: usize = 16;

impl<S: Store, P: Policy> Server<S, P> {
    /// Removes what ended long ago from the store: a bounded part of it. Returns how much. Call it now and then, on any
    /// replica or on all.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn tidy(&self, now: Time) -> Result<u64, StoreError> {
        let mut removed = 0;
        for _ in 0..TIMES {
            let piece = self.store.remove_old(now, AT_ONCE)?;
            removed += piece;
            if piece < AT_ONCE.into() {
                break;
            }
        }
        Ok(removed)
    }

    /// Writes a little to the store, and reads it: whether it does what it is for.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn check_store(&self, now: Time) -> Result<(), StoreError> {
        let look = Limit {
            of: "looks at the store".into(),
            most: u32::MAX,
            window: Duration::from_secs(24 * 3600),
        };
        self.store.count(&[look], now).map(drop)
    }

    /// Counts something, or refuses it.
    pub(super) fn count(&self, limits: &[Limit], now: Time) -> Result<(), Refusal> {
        match limits {
            [] => Ok(()),
            _ => passed(limits, self.store.count(limits, now)?, now),
        }
    }

    /// Refuses what would not be counted.
    pub(super) fn look(&self, limits: &[Limit], now: Time) -> Result<(), Refusal> {
        match limits {
            [] => Ok(()),
            _ => passed(limits, self.store.look(limits, now)?, now),
        }
    }

    /// Counts a validation that failed, which was carried out and is stored already.
    pub(super) fn count_failure(&self, account: &str, identifier: &Identifier, now: Time) {
        let limits = self.policy.failure_limits(account, identifier);
        if !limits.is_empty() {
            // What came of the challenge is true whether this is counted or not.
            let _ = self.store.count(&limits, now);
        }
    }

    /// Refuses a new order with these new authorizations, if names of it failed too often, or if the account has too much
    /// that is not decided. Requests at the same time may bring a little more than the limit.
    pub(super) fn check_undecided(
        &self,
        account: &AccountRecord,
        new: &[AuthorizationRecord],
        now: Time,
    ) -> Result<(), Refusal> {
        let failures = new
            .iter()
            .flat_map(|one| self.policy.failure_limits(&account.id, &one.identifier));
        let mut failures: Vec<Limit> = failures.collect();
        // A name and its wildcard are one.
        failures.sort_by(|one, other| one.of.cmp(&other.of));
        failures.dedup_by(|one, other| one.of == other.of);
        self.look(&failures, now)?;
        let Some(most) = self.policy.most_undecided() else {
            return Ok(());
        };
        let found = self.store.undecided(&account.id, now, most)?;
        let (pending, needed) = (found.authorizations.len(), new.len());
        if needed > most.authorizations {
            let most = most.authorizations;
            let detail = format!(
                "the order needs {needed} new authorizations, and an account may have {most} that are pending: order fewer \
                 names at once"
            );
            return Err(Problem::new(ProblemType::RateLimited, detail).into());
        }
        if pending + needed > most.authorizations {
            let most = most.authorizations;
            let what = format!(
                "pending authorizations of the account: there are {pending}, the order needs {needed}, and {most} are the \
                 most; meet or deactivate some"
            );
            return Err(limited(&what, found.authorizations.first(), now).into());
        }
        if found.orders.len() < most.orders {
            return Ok(());
        }
        let mut pending = Vec::new();
        for order in found.orders {
            let expires = order.expires;
            let seen = self.see(order, now)?;
            match seen.came_to_nothing() {
                None => pending.push(expires),
                Some(order) => self.give_up(order, &seen.authorizations)?,
            }
        }
        if pending.len() < most.orders {
            return Ok(());
        }
        let (pending_len, most) = (pending.len(), most.orders);
        let what = format!(
            "pending orders of the account: there are {pending_len}, and {most} are the most; finish some"
        );
        Err(limited(&what, pending.first(), now).into())
    }

    /// Writes down that an order came to nothing, which followed from its authorizations before.
    fn give_up(
        &self,
        order: OrderRecord,
        authorizations: &[alloc::sync::Arc<AuthorizationRecord>],
    ) -> Result<(), StoreError> {
        match self.store.update_order(order, authorizations) {
            Ok(_) | Err(StoreError::Changed) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn passed(limits: &[Limit], counted: Counted, now: Time) -> Result<(), Refusal> {
    let Counted::UsedUp { of, until } = counted else {
        return Ok(());
    };
    let limit = limits.iter().find(|limit| limit.of == of);
    let most = limit.map_or_else(String::new, |limit| {
        format!("{} in {} are the most", limit.most, time(limit.window))
    });
    Err(limited(&format!("{of}: {most}"), Some(&until), now).into())
}

/// A duration for people.
fn time(window: Duration) -> String {
    let seconds = window.as_secs();
    let units = [(24 * 3600, "days"), (3600, "hours"), (60, "minutes")];
    let mut fit = units
        .into_iter()
        .filter(|(unit, _)| seconds >= 2 * unit && seconds.is_multiple_of(*unit));
    match fit.next() {
        Some((unit, name)) => format!("{} {name}", seconds / unit),
        None => format!("{seconds} seconds"),
    }
}

/// A limit is used up, until a time if that is known.
fn limited(what: &str, until: Option<&Time>, now: Time) -> Problem {
    let problem = |detail| Problem::new(ProblemType::RateLimited, detail);
    match until {
        None => problem(format!("there are too many {what}")),
        Some(until) => problem(format!(
            "there are too many {what}; try again after {until}"
        ))
        .with_retry_after(now.until(*until)),
    }
}
