//! Whether a CA can issue: looked at now and then, so that nobody who asks waits for a ledger that hangs.

// This room uses `clock` and `keys`.

use core::time::Duration;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use pq_x509::certificate::Certificate;

use crate::clock::Clock;
use crate::keys::CaKey;

/// How often it is looked.
pub(crate) const EVERY: Duration = Duration::from_secs(10);
/// After how long without a look nobody knows.
const STALE: Duration = Duration::from_secs(60);
/// How often the key has to sign, while it does. A key in a store has an entry in a log for each signature.
const SIGNS_EVERY: Duration = Duration::from_secs(300);

/// What the last look found.
pub(crate) struct Health(Mutex<Found>);

struct Found {
    looked: Option<Instant>,
    problem: Option<String>,
    /// When the key signed.
    signed: Option<Instant>,
}

impl Health {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Found {
            looked: None,
            problem: None,
            signed: None,
        }))
    }

    /// What keeps the CA from issuing, as far as is known.
    pub(crate) fn problem(&self) -> Option<String> {
        let found = self.found();
        match found.looked {
            None => Some("starting".into()),
            Some(looked) if looked.elapsed() > STALE => {
                Some("the ledger, the key or the ACME server's store does not answer".into())
            }
            Some(_) => found.problem.clone(),
        }
    }

    /// Looks. It may block. Lists and what is mounted may have a problem, too. Returns the problem if it is another one than
    /// before.
    pub(crate) fn look(
        &self,
        root: &Certificate,
        key: Option<&dyn CaKey>,
        of_others: Option<String>,
        clock: &Clock,
    ) -> Option<Option<String>> {
        let signed = self.found().signed;
        let has_signed = signed.is_some_and(|signed| signed.elapsed() < SIGNS_EVERY);
        let now = clock.now();
        let of_root =
            || (root.not_after() < now).then(|| "the root's certificate has expired".to_owned());
        let of_key = || match key {
            None => Some("the key that issues is not on this machine".to_owned()),
            Some(key) => key.problem(now),
        };
        let problem = of_root().or_else(of_key);
        let of_signing = match (&problem, key) {
            (None, Some(key)) if !has_signed => key.problem_of_signing(),
            _ => None,
        };
        let mut found = self.found();
        if problem.is_none() && !has_signed {
            found.signed = of_signing.is_none().then(Instant::now);
        }
        let problem = problem.or(of_signing).or(of_others);
        found.looked = Some(Instant::now());
        let is_new = found.problem != problem;
        found.problem.clone_from(&problem);
        is_new.then_some(problem)
    }

    fn found(&self) -> std::sync::MutexGuard<'_, Found> {
        // Nothing panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
