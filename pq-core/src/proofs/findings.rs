//! What is found while a proof runs.

extern crate alloc;

use alloc::string::String;
use alloc::vec::Vec;

/// The constants that the kernel used, and the first thing that failed.
pub(super) struct Findings<C> {
    /// In the order of their first use.
    constants: Vec<C>,
    /// The number of the constant to increase by one.
    tampered: Option<usize>,
    failure: Option<String>,
}

impl<C: Copy + PartialEq> Findings<C> {
    pub(super) fn new(tampered: Option<usize>) -> Self {
        Self {
            constants: Vec::new(),
            tampered,
            failure: None,
        }
    }

    /// Records a constant that the kernel uses. Returns whether to increase it by one.
    pub(super) fn is_tampered(&mut self, c: C) -> bool {
        let known = self.constants.iter().position(|known| *known == c);
        let number = known.unwrap_or_else(|| {
            self.constants.push(c);
            self.constants.len() - 1
        });
        self.tampered == Some(number)
    }

    pub(super) fn check(&mut self, holds: bool, failure: impl FnOnce() -> String) {
        if !holds && self.failure.is_none() {
            self.failure = Some(failure());
        }
    }

    pub(super) fn result(self) -> Result<Vec<C>, String> {
        self.failure.map_or(Ok(self.constants), Err)
    }
}
