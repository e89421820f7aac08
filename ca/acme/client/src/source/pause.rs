//! How long to wait after failures.

use core::hash::{BuildHasher, Hasher};
use core::time::Duration;
use std::hash::RandomState;

/// The longest pause that a CA may ask for.
const MOST_ASKED_FOR: Duration = Duration::from_secs(24 * 3600);

/// The pause after the first failure, and the longest one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pauses {
    pub(super) first: Duration,
    pub(super) longest: Duration,
}

impl Default for Pauses {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(60),
            longest: Duration::from_secs(6 * 3600),
        }
    }
}

impl Pauses {
    /// The pause after so many failures in a row, which is no shorter than what the CA asks for, up to a day: it may ask for more
    /// than a certificate lasts.
    pub(super) fn after(self, failures: u32, asked_for: Duration) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        let pause = self.first.saturating_mul(1 << doublings);
        let pause = pause.min(self.longest);
        // Many servers that failed at once are not to come back at once.
        let pause = pause.mul_f64(0.75 + by_chance() / 2.0);
        pause.max(asked_for.min(MOST_ASKED_FOR))
    }
}

/// A number between 0 and 1. Nobody is harmed who guesses it.
fn by_chance() -> f64 {
    let drawn = RandomState::new().build_hasher().finish();
    f64::from((drawn >> 32) as u32) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let pauses = Pauses::default();
        for (failures, seconds) in [
            (1, 60),
            (2, 120),
            (5, 960),
            (10, 21_600),
            (u32::MAX, 21_600),
        ] {
            let pause = pauses.after(failures, Duration::ZERO).as_secs_f64();
            let seconds = f64::from(seconds);
            assert!((0.74..1.26).contains(&(pause / seconds)), "{pause}");
        }
        let day = Duration::from_secs(86_400);
        assert_eq!(pauses.after(1, day), day);
        assert_eq!(pauses.after(1, Duration::MAX), day);
    }
}
