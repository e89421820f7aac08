//! How many lines of a kind the log gets.

use std::mem;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Allows so many lines in each second, and counts those that were left out.
#[derive(Debug, Default)]
pub(crate) struct LineLimit(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    second: Option<Instant>,
    written: u32,
    left_out: u64,
}

const LINES: u32 = 100;

impl LineLimit {
    /// If a line may be written now, how many were left out since the last one.
    pub(crate) fn next_line(&self) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.next_line(Instant::now())
    }

    /// How many were left out since the last one.
    pub(crate) fn left_out(&mut self) -> u64 {
        self.0
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .left_out
    }
}

impl State {
    fn next_line(&mut self, now: Instant) -> Option<u64> {
        let is_over = |second| now.duration_since(second) >= Duration::from_secs(1);
        if self.second.is_none_or(is_over) {
            self.second = Some(now);
            self.written = 0;
        }
        if self.written >= LINES {
            self.left_out += 1;
            return None;
        }
        self.written += 1;
        Some(mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_so_many_lines_in_a_second() {
        let mut limit = State::default();
        let begin = Instant::now();
        for _ in 0..LINES {
            assert_eq!(limit.next_line(begin), Some(0));
        }
        for _ in 0..5 {
            assert_eq!(limit.next_line(begin + Duration::from_millis(999)), None);
        }
        let next = begin + Duration::from_secs(1);
        assert_eq!(limit.next_line(next), Some(5));
        assert_eq!(limit.next_line(next), Some(0));
    }
}
