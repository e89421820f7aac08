//! How a time is measured: turns that alternate with those of other rows, samples that are long enough for the clock,
//! percentiles and medians. CPU time of the process is measured here, too.

use core::time::Duration;
use std::io;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use crate::failure::Failure;
use crate::files::OutputError;

/// What is measured: one call does it once.
pub(super) type Call = Box<dyn FnMut() -> Result<(), Failure>>;

/// How many turns a measurement takes. Other measurements have their turns in between, so that a temporary
/// disturbance of the machine affects all of them.
pub(super) const TURNS: u32 = 5;

/// The least number of samples of a row that takes longer than its time.
const LEAST_SAMPLES: usize = 3;

/// The most samples that are kept of a row; they are enough for every percentile.
const MOST_SAMPLES: usize = 1_000_000;

/// The least number of the clock's steps that a sample takes.
const STEPS: u32 = 32;

/// What the clock can tell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    least_sample: Duration,
}

impl Clock {
    /// Measures how far apart two readings of the clock are.
    pub(super) fn new() -> Self {
        let step = || {
            let start = Instant::now();
            loop {
                let passed = start.elapsed();
                if !passed.is_zero() {
                    break passed;
                }
            }
        };
        let step = (0..1000).map(|_| step()).min().unwrap_or_default();
        Self {
            least_sample: step * STEPS,
        }
    }

    /// How many calls make a sample, if one call takes this long: more than one only if a call is too short
    /// for the clock.
    fn calls_in_a_sample(self, call: Duration) -> u32 {
        let calls = self
            .least_sample
            .as_nanos()
            .div_ceil(call.as_nanos().max(1));
        u32::try_from(calls).unwrap_or(u32::MAX).max(1)
    }
}

/// The samples of a row.
#[derive(Debug, Default)]
pub(super) struct Series {
    /// Nanoseconds for a call.
    samples: Vec<f64>,
    /// How long all that was sampled took.
    spent: Duration,
    /// How many calls make a sample, once that is known.
    calls: Option<u32>,
}

impl Series {
    /// Takes a turn: warms up, and samples for this long, or until there are samples enough.
    pub(super) fn take_turn(
        &mut self,
        call: &mut Call,
        turn: Duration,
        clock: Clock,
    ) -> Result<(), Failure> {
        if self.samples.len() >= LEAST_SAMPLES && self.spent >= turn * TURNS {
            return Ok(());
        }
        let calls = match self.calls {
            Some(calls) => {
                // The turn before has left its own data in caches and branch predictors.
                let last = self.samples.last().copied().unwrap_or_default();
                if last * f64::from(calls) < turn.as_nanos() as f64 / 10.0 {
                    sample(call, calls)?;
                }
                calls
            }
            None => clock.calls_in_a_sample(warm_up(call, turn)?),
        };
        self.calls = Some(calls);
        let start = Instant::now();
        let before = self.samples.len();
        loop {
            let time = sample(call, calls)?;
            self.samples.push(time.as_nanos() as f64 / f64::from(calls));
            let is_enough = self.samples.len() - before >= MOST_SAMPLES / TURNS as usize;
            if is_enough || start.elapsed() >= turn {
                break;
            }
        }
        self.spent += start.elapsed();
        Ok(())
    }

    /// What was found, once there were turns.
    pub(super) fn timing(mut self) -> Timing {
        self.samples.sort_unstable_by(f64::total_cmp);
        let samples = &self.samples;
        let sum: f64 = samples.iter().sum();
        Timing {
            mean: sum / samples.len() as f64,
            p50: percentile(samples, 50).unwrap_or_default(),
            p95: percentile(samples, 95),
            p99: percentile(samples, 99),
            samples: samples.len(),
            calls_in_a_sample: self.calls.unwrap_or(1),
        }
    }
}

/// Calls for a tenth of a turn, and returns the least time that a call took.
fn warm_up(call: &mut Call, turn: Duration) -> Result<Duration, Failure> {
    let start = Instant::now();
    let mut least = Duration::MAX;
    while least == Duration::MAX || start.elapsed() < turn / 10 {
        least = least.min(sample(call, 1)?);
    }
    Ok(least)
}

fn sample(call: &mut Call, calls: u32) -> Result<Duration, Failure> {
    let start = Instant::now();
    for _ in 0..calls {
        call()?;
    }
    Ok(start.elapsed())
}

/// What a row's calls took, in nanoseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Timing {
    pub(super) mean: f64,
    pub(super) p50: f64,
    /// Like p99, it is there only if there were enough samples to know it.
    pub(super) p95: Option<f64>,
    pub(super) p99: Option<f64>,
    samples: usize,
    /// More than one only if a call is too short for the clock.
    calls_in_a_sample: u32,
}

/// The least of these sorted samples that `of_a_hundred` percent of them don't exceed. Above 50 percent, None if
/// there are so few samples that this is the greatest.
fn percentile(sorted: &[f64], of_a_hundred: usize) -> Option<f64> {
    let beyond = sorted.len() * (100 - of_a_hundred) / 100;
    if beyond == 0 && of_a_hundred > 50 {
        return None;
    }
    let rank = (sorted.len() * of_a_hundred).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

/// The figure in the middle.
pub(super) fn median(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_unstable_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

/// What `act` returns, how long it took by the clock, and the CPU time of this process, both in seconds.
pub(super) fn spent<T>(
    act: impl FnOnce() -> Result<T, Failure>,
) -> Result<(T, f64, Option<f64>), Failure> {
    let (start, start_of_cpu) = (Instant::now(), time_of_process());
    let returned = act()?;
    let (end, end_of_cpu) = (Instant::now(), time_of_process());
    let cpu = end_of_cpu.zip(start_of_cpu);
    let cpu = cpu.map(|(end, start)| end.saturating_sub(start).as_secs_f64());
    Ok((returned, (end - start).as_secs_f64(), cpu))
}

/// The CPU time of this process, all its threads together.
#[cfg(unix)]
fn time_of_process() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};

    clock_gettime(ClockId::ProcessCPUTime).try_into().ok()
}

#[cfg(not(unix))]
fn time_of_process() -> Option<Duration> {
    None
}

/// For `map_err`: a file for the measurement can't be made here.
pub(super) fn cant_make(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |error| {
        let file = path.display().to_string();
        OutputError::Write { file, error }.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_enough_samples() {
        let samples: Vec<f64> = (1..=100).map(f64::from).collect();
        let of = |count: usize, of_a_hundred| percentile(&samples[..count], of_a_hundred);
        assert_eq!(of(100, 50), Some(50.0));
        assert_eq!(of(100, 95), Some(95.0));
        assert_eq!(of(100, 99), Some(99.0));
        assert_eq!((of(99, 99), of(99, 95)), (None, Some(95.0)));
        assert_eq!((of(20, 95), of(19, 95)), (Some(19.0), None));
        assert_eq!(
            (of(3, 50), of(1, 50), of(0, 50)),
            (Some(2.0), Some(1.0), None)
        );
    }

    #[test]
    fn short_calls_are_sampled_together() {
        let clock = Clock {
            least_sample: Duration::from_nanos(1000),
        };
        for (call, calls) in [
            (0, 1000),
            (1, 1000),
            (300, 4),
            (999, 2),
            (1000, 1),
            (9999, 1),
        ] {
            assert_eq!(clock.calls_in_a_sample(Duration::from_nanos(call)), calls);
        }
        assert!(!Clock::new().least_sample.is_zero());
    }

    #[test]
    fn what_takes_long_is_sampled_thrice() {
        let mut count = 0;
        let mut series = Series::default();
        let clock = Clock::new();
        let mut call: Call = Box::new(move || {
            std::thread::sleep(Duration::from_millis(2));
            count += 1;
            assert!(count <= 4, "one to warm up, and three samples");
            Ok(())
        });
        for _ in 0..TURNS {
            series
                .take_turn(&mut call, Duration::from_micros(100), clock)
                .unwrap();
        }
        let timing = series.timing();
        assert_eq!((timing.samples, timing.calls_in_a_sample), (3, 1));
        assert!(timing.p50 >= 2e6 && timing.mean >= 2e6 && timing.p95.is_none());
    }

    #[test]
    fn a_failure_ends_it() {
        let mut call: Call = Box::new(|| Err(Failure::BothAsRaw));
        let turn = Series::default().take_turn(&mut call, Duration::ZERO, Clock::new());
        assert!(turn.is_err());
    }
}
