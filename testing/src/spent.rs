//! The time that a test has computed.
//!
//! A claim that something takes less than some seconds is one about work. The clock on the wall also counts what other
//! processes do, so a busy machine would break the claim by chance.

use core::time::Duration;
use std::fs;
use std::time::Instant;

/// A moment in the life of this thread.
#[derive(Debug)]
pub struct Spent {
    wall: Instant,
    thread: Option<Duration>,
}

impl Spent {
    /// This moment.
    pub fn now() -> Self {
        Self {
            wall: Instant::now(),
            thread: thread_time(),
        }
    }

    /// How long this thread has computed since; where the system does not say that, how long ago it was.
    pub fn elapsed(&self) -> Duration {
        match (self.thread, thread_time()) {
            (Some(begun), Some(now)) => now.saturating_sub(begun),
            _ => self.wall.elapsed(),
        }
    }
}

/// Linux has it in nanoseconds, before two other numbers.
fn thread_time() -> Option<Duration> {
    let said = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = said.split_whitespace().next()?.parse().ok()?;
    // 0 where the kernel does not count
    (nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds))
}
