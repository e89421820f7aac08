//! Counts of the cases that ran, so that no case is skipped unnoticed.

use alloc::collections::BTreeMap;
use core::fmt::Display;
use std::io::{self, Write};

/// How many cases ran, by kind.
pub(crate) struct Tally {
    source: String,
    cases: BTreeMap<String, usize>,
}

impl Tally {
    pub(crate) fn new(source: impl Display) -> Self {
        Self {
            source: source.to_string(),
            cases: BTreeMap::new(),
        }
    }

    pub(crate) fn count(&mut self, kind: impl Display) {
        *self.cases.entry(kind.to_string()).or_default() += 1;
    }

    /// Prints the counts, and fails unless they add up to `expected`, which the
    /// caller must not take from its own loop.
    pub(crate) fn finish(self, expected: usize) {
        let total = self.cases.values().sum::<usize>();
        let mut lines = format!("{}: {total} cases, none skipped\n", self.source);
        for (kind, count) in &self.cases {
            lines += &format!("  {count:5}  {kind}\n");
        }
        announce(&lines);
        assert_ne!(total, 0, "{}: no cases", self.source);
        assert_eq!(total, expected, "{}: cases were skipped", self.source);
    }
}

/// Prints even if the test passes: the test harness captures `println!`, but
/// not what is written to the stream directly.
pub(crate) fn announce(lines: &str) {
    io::stderr()
        .lock()
        .write_all(lines.as_bytes())
        .expect("standard error is open");
}
