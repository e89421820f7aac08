//! The circuit breaker: whether a signer that fails is asked at all. It has no clock: it is told the time.

use core::time::Duration;
use std::time::Instant;

use super::Circuit;

/// Opens after failures in a row, and lets one attempt through after a while.
#[derive(Debug)]
pub(super) struct Breaker {
    failures: u32,
    pause: Duration,
    state: State,
    /// How often the state has changed. What was admitted before a change says nothing after it.
    changes: u64,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// With the number of failures since the last success.
    Closed(u32),
    /// Until then; `None` if that is beyond what the clock has.
    Open(Option<Instant>),
    HalfOpen,
}

/// An attempt that was let through. Its result has to be told.
#[derive(Clone, Copy, Debug)]
#[must_use = "the result has to be told"]
pub(super) struct Attempt(u64);

impl Breaker {
    pub(super) fn new(failures: u32, pause: Duration) -> Self {
        Self {
            failures: failures.max(1),
            pause,
            state: State::Closed(0),
            changes: 0,
        }
    }

    pub(super) fn circuit(&self) -> Circuit {
        match self.state {
            State::Closed(_) => Circuit::Closed,
            State::Open(_) => Circuit::Open,
            State::HalfOpen => Circuit::HalfOpen,
        }
    }

    /// Whether to ask the signer; if not, in how long one attempt will be let through.
    pub(super) fn admit(&mut self, now: Instant) -> Result<Attempt, Duration> {
        match self.state {
            State::Closed(_) => {}
            State::Open(None) => return Err(Duration::MAX),
            State::Open(Some(end)) if now < end => return Err(end - now),
            State::Open(Some(_)) => self.change_to(State::HalfOpen),
            State::HalfOpen => return Err(Duration::ZERO),
        }
        Ok(Attempt(self.changes))
    }

    /// Notes that an attempt has succeeded, and says whether that closes the circuit.
    pub(super) fn succeeded(&mut self, attempt: Attempt) -> bool {
        if attempt.0 != self.changes {
            return false;
        }
        let closes = matches!(self.state, State::HalfOpen);
        match closes {
            true => self.change_to(State::Closed(0)),
            false => self.state = State::Closed(0),
        }
        closes
    }

    /// Notes that an attempt has failed, and says whether that opens the circuit.
    pub(super) fn failed(&mut self, attempt: Attempt, now: Instant) -> bool {
        if attempt.0 != self.changes {
            return false;
        }
        match self.state {
            State::Closed(failures) if failures.saturating_add(1) < self.failures => {
                self.state = State::Closed(failures + 1);
                false
            }
            _ if self.failures == u32::MAX => false,
            _ => {
                self.change_to(State::Open(now.checked_add(self.pause)));
                true
            }
        }
    }

    fn change_to(&mut self, state: State) {
        self.state = state;
        self.changes += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(10);
    const MOMENT: Duration = Duration::from_nanos(1);

    fn opened(now: Instant) -> Breaker {
        let mut breaker = Breaker::new(3, PAUSE);
        for opens in [false, false, true] {
            let attempt = breaker.admit(now).unwrap();
            assert_eq!(breaker.circuit(), Circuit::Closed);
            assert_eq!(breaker.failed(attempt, now), opens);
        }
        assert_eq!(breaker.circuit(), Circuit::Open);
        breaker
    }

    #[test]
    fn a_success_between_failures_keeps_it_closed() {
        let now = Instant::now();
        let mut breaker = Breaker::new(3, PAUSE);
        for _ in 0..10 {
            for _ in 0..2 {
                let attempt = breaker.admit(now).unwrap();
                assert!(!breaker.failed(attempt, now));
            }
            let attempt = breaker.admit(now).unwrap();
            assert!(!breaker.succeeded(attempt));
        }
        assert_eq!(breaker.circuit(), Circuit::Closed);
    }

    #[test]
    fn one_attempt_after_the_pause_closes_it() {
        let now = Instant::now();
        let mut breaker = opened(now);
        assert_eq!(breaker.admit(now).unwrap_err(), PAUSE);
        assert_eq!(breaker.admit(now + PAUSE - MOMENT).unwrap_err(), MOMENT);
        let probe = breaker.admit(now + PAUSE).unwrap();
        assert_eq!(breaker.circuit(), Circuit::HalfOpen);
        // Also much later: the attempt isn't over.
        assert_eq!(breaker.admit(now + 9 * PAUSE).unwrap_err(), Duration::ZERO);
        assert!(breaker.succeeded(probe));
        assert_eq!(breaker.circuit(), Circuit::Closed);
        // The failures before it count no more.
        let attempt = breaker.admit(now + PAUSE).unwrap();
        assert!(!breaker.failed(attempt, now + PAUSE));
    }

    #[test]
    fn one_failure_after_the_pause_opens_it_again() {
        let now = Instant::now();
        let mut breaker = opened(now);
        let probe = breaker.admit(now + PAUSE).unwrap();
        assert!(breaker.failed(probe, now + PAUSE));
        assert_eq!(breaker.admit(now + PAUSE).unwrap_err(), PAUSE);
        let probe = breaker.admit(now + 2 * PAUSE).unwrap();
        assert!(breaker.succeeded(probe));
    }

    #[test]
    fn what_was_admitted_before_a_change_says_nothing() {
        let now = Instant::now();
        let mut breaker = Breaker::new(1, PAUSE);
        let [first, late, later] = [(); 3].map(|()| breaker.admit(now).unwrap());
        assert!(breaker.failed(first, now));
        assert!(!breaker.succeeded(late));
        assert_eq!(breaker.circuit(), Circuit::Open);
        let probe = breaker.admit(now + PAUSE).unwrap();
        assert!(!breaker.failed(later, now + PAUSE));
        assert!(breaker.succeeded(probe));
    }

    #[test]
    fn extremes() {
        let now = Instant::now();
        let mut never = Breaker::new(u32::MAX, PAUSE);
        never.state = State::Closed(u32::MAX - 1);
        for _ in 0..3 {
            let attempt = never.admit(now).unwrap();
            assert!(!never.failed(attempt, now));
        }
        let mut at_once = Breaker::new(0, Duration::MAX);
        let attempt = at_once.admit(now).unwrap();
        assert!(at_once.failed(attempt, now));
        assert_eq!(at_once.admit(now + PAUSE).unwrap_err(), Duration::MAX);
    }
}
