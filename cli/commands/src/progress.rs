//! The progress of long operations, on standard error if that is a terminal.
//!
//! This room uses nothing.

use core::time::Duration;
use std::io::{self, IsTerminal};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

/// Shorter operations show nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many bytes of a file are done. It vanishes when it is dropped.
pub(crate) struct Progress {
    begun: Instant,
    done: u64,
    total: Option<u64>,
    is_for_someone: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// With the number of bytes that there will be, if it is known.
    pub(crate) fn of(total: Option<u64>) -> Self {
        Self {
            begun: Instant::now(),
            done: 0,
            total,
            is_for_someone: io::stderr().is_terminal(),
            bar: None,
        }
    }

    /// Counts bytes that are done.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.done += bytes as u64;
        if self.bar.is_none() && self.is_for_someone && self.begun.elapsed() >= PATIENCE {
            self.bar = Some(bar(self.total));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (
            ProgressBar::new(total),
            "{wide_bar} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left",
        ),
        None => (
            ProgressBar::no_length(),
            "{binary_bytes}, {binary_bytes_per_sec}",
        ),
    };
    styled(bar, template)
}

/// A bar for a number of things that are done one after the other, each with a message. It is hidden if
/// standard error is no terminal, and vanishes when it is dropped.
pub(crate) fn of_things(count: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr());
    styled(
        bar.with_finish(ProgressFinish::AndClear),
        "{bar:24} {pos} of {len}: {msg}",
    )
}

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
