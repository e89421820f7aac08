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

    #[cold]
    fn keep(&self, ask: impl FnOnce() -> u8) -> u8 {
        let answer = ask();
        self.0.store(answer, Ordering::Relaxed);
        answer
    }
}
