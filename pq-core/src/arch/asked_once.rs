//! Answers of a CPU that never change. In a virtual machine CPUID can take as long as a key
//! generation.

use core::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = u8::MAX;

/// An answer that is kept after it was asked for once. It is less than 255.
pub(super) struct AskedOnce(AtomicU8);

impl AskedOnce {
    pub(super) const fn new() -> Self {
        Self(AtomicU8::new(UNKNOWN))
    }

    #[inline]
    pub(super) fn get(&self, ask: impl FnOnce() -> u8) -> u8 {
        match self.0.load(Ordering::Relaxed) {
            UNKNOWN => self.keep(ask),
            answer => answer,
        }
    }

    /// If several threads ask at once, all get the first answer.
    #[cold]
    fn keep(&self, ask: impl FnOnce() -> u8) -> u8 {
        let answer = ask();
        let kept = self
            .0
            .compare_exchange(UNKNOWN, answer, Ordering::Relaxed, Ordering::Relaxed);
        match kept {
            Ok(_) => answer,
            Err(earlier) => earlier,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::AskedOnce;

    /// Also if another thread answers while this one asks.
    #[test]
    fn first_answer_is_kept() {
        let once = AskedOnce::new();
        let asked_during_the_first = |once: &AskedOnce| {
            once.get(|| 1);
            2
        };
        assert_eq!(once.get(|| asked_during_the_first(&once)), 1);
        assert_eq!(once.get(|| 3), 1);
    }
}
