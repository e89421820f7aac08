//! The clock by which tickets age. It counts the time during which the machine sleeps, and does not go back when the
//! time of day is set back.

use core::fmt;
use core::time::Duration;
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime};

/// A clock that runs while the machine sleeps, and never goes back.
///
/// [`Instant`] stands still during sleep on some systems, Linux among them, and the time of day can be
/// set. So the larger of both elapsed times counts. Setting the time of day back makes nothing younger
/// than it is by `Instant`. Setting it forward looks like sleep: it makes everything older, once.
pub(crate) struct Clock {
    read: Box<dyn Fn() -> Reading + Send + Sync>,
    start: Reading,
    sleep: Mutex<Sleep>,
}

/// The readings of both clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) instant: Instant,
    pub(crate) time_of_day: SystemTime,
}

impl Reading {
    fn now() -> Self {
        Self {
            instant: Instant::now(),
            time_of_day: SystemTime::now(),
        }
    }
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self::reading(Reading::now)
    }

    pub(crate) fn reading(read: impl Fn() -> Reading + Send + Sync + 'static) -> Self {
        let start = read();
        Self {
            read: Box::new(read),
            start,
            sleep: Mutex::new(Sleep::default()),
        }
    }

    /// How much time has passed since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        // A panic can't leave `Sleep` half-changed, so poison doesn't matter.
        let mut sleep = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        // Read the clocks only under the lock. If another thread had noticed a sleep in between, an
        // older reading would look like a clock set back, and the sleep would count twice.
        let now = (self.read)();
        let awake = now.instant.saturating_duration_since(self.start.instant);
        let by_time_of_day = seconds_between(self.start.time_of_day, now.time_of_day);
        let ahead = by_time_of_day - awake.as_secs_f64();
        awake.saturating_add(sleep.noticed(ahead))
    }
}

/// How long the machine has slept, as far as the time of day tells.
#[derive(Default)]
struct Sleep {
    sum: Duration,
    /// How many seconds the time of day was ahead of `Instant` at the last change.
    ahead: f64,
}

impl Sleep {
    /// The sum of sleep, now that the time of day is `ahead` seconds ahead of `Instant`.
    fn noticed(&mut self, ahead: f64) -> Duration {
        let more = ahead - self.ahead;
        if more >= NOTICED {
            self.sum = Duration::try_from_secs_f64(more)
                .map_or(Duration::MAX, |more| self.sum.saturating_add(more));
            self.ahead = ahead;
        } else if more < 0.0 {
            self.ahead = ahead;
        }
        self.sum
    }
}

/// The least difference that counts as sleep, in seconds. Smaller ones count once they have added up to
/// it: the two clocks are never read at the same moment, and each reading would add to the sum.
const NOTICED: f64 = 1.0;

fn seconds_between(earlier: SystemTime, later: SystemTime) -> f64 {
    match later.duration_since(earlier) {
        Ok(forward) => forward.as_secs_f64(),
        Err(back) => -back.duration().as_secs_f64(),
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock")
            .field("start", &self.start)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use alloc::sync::Arc;
    use core::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn sleep_counts() {
        let clocks = TwoClocks::new();
        let clock = clocks.clock();
        clocks.run(100.0);
        assert_eq!(clock.elapsed().as_secs(), 100);
        clocks.sleep(3600.0);
        assert_eq!(clock.elapsed().as_secs(), 3700);
        clocks.run(100.0);
        assert_eq!(clock.elapsed().as_secs(), 3800);
    }

    #[test]
    fn a_clock_that_is_set_back_makes_nothing_younger() {
        let clocks = TwoClocks::new();
        let clock = clocks.clock();
        clocks.run(100.0);
        clocks.set(-1e9);
        assert_eq!(clock.elapsed().as_secs(), 100);
        clocks.run(100.0);
        assert_eq!(clock.elapsed().as_secs(), 200);
        // Later sleep counts in full.
        clocks.sleep(50.0);
        assert_eq!(clock.elapsed().as_secs(), 250);
    }

    /// A clock is set forward by mistake, and corrected. The mistake counts once; later times are right.
    #[test]
    fn a_clock_that_is_set_forward() {
        let clocks = TwoClocks::new();
        let clock = clocks.clock();
        clocks.set(86_400.0);
        assert_eq!(clock.elapsed().as_secs(), 86_400);
        clocks.set(-86_400.0);
        clocks.run(10.0);
        assert_eq!(clock.elapsed().as_secs(), 86_410);
        clocks.run(10.0);
        assert_eq!(clock.elapsed().as_secs(), 86_420);
    }

    /// Nothing adds up in a million readings that differ by a little, and slow drift does.
    #[test]
    fn small_differences() {
        let clocks = TwoClocks::new();
        let clock = clocks.clock();
        for reading in 0..1_000_000 {
            clocks.set(if reading % 2 == 0 { 0.01 } else { -0.01 });
            clock.elapsed();
        }
        assert_eq!(clock.elapsed(), Duration::ZERO);
        for _ in 0..500 {
            clocks.sleep(0.01);
            clock.elapsed();
        }
        assert!((4..=5).contains(&clock.elapsed().as_secs()));
    }

    /// One thread reads the clocks, then the machine sleeps, and another thread notices that before the
    /// first one uses its reading.
    #[test]
    fn sleep_counts_once() {
        let clocks = TwoClocks::new();
        let (reading, is_reading) = mpsc::channel();
        let (noticed, is_noticed) = mpsc::channel();
        let is_noticed = Mutex::new(is_noticed);
        let readings = AtomicUsize::new(0);
        let read = clocks.clone();
        let clock = Clock::reading(move || {
            let now = read.now();
            // The first one is that of the start.
            if readings.fetch_add(1, Ordering::Relaxed) == 1 {
                reading.send(()).unwrap();
                // If the other thread waits for this one, no message comes.
                let _ = (is_noticed.lock().unwrap()).recv_timeout(Duration::from_millis(200));
            }
            now
        });
        thread::scope(|scope| {
            scope.spawn(|| clock.elapsed());
            is_reading.recv().unwrap();
            clocks.sleep(3600.0);
            assert_eq!(clock.elapsed().as_secs(), 3600);
            // Nobody receives this if the thread above has stopped waiting.
            let _ = noticed.send(());
        });
        assert_eq!(clock.elapsed().as_secs(), 3600);
    }

    #[test]
    fn the_real_clocks() {
        let clock = Clock::new();
        let first = clock.elapsed();
        assert!(first <= clock.elapsed() && first < Duration::from_secs(60));
    }

    /// The sum doesn't overflow.
    #[test]
    fn the_end_of_time() {
        let mut sleep = Sleep::default();
        sleep.noticed(1e9);
        assert_eq!(sleep.noticed(f64::MAX), Duration::MAX);

        let clocks = TwoClocks::new();
        let clock = Clock {
            sleep: Mutex::new(sleep),
            ..clocks.clock()
        };
        clocks.run(10.0);
        assert_eq!(clock.elapsed(), Duration::MAX);
    }

    /// Clocks that tests set.
    #[derive(Clone)]
    pub(crate) struct TwoClocks(Arc<Mutex<Reading>>);

    impl TwoClocks {
        pub(crate) fn new() -> Self {
            Self(Arc::new(Mutex::new(Reading::now())))
        }

        pub(crate) fn clock(&self) -> Clock {
            let this = self.clone();
            Clock::reading(move || this.now())
        }

        fn now(&self) -> Reading {
            *self.0.lock().unwrap()
        }

        pub(crate) fn run(&self, seconds: f64) {
            self.0.lock().unwrap().instant += Duration::from_secs_f64(seconds);
            self.set(seconds);
        }

        pub(crate) fn sleep(&self, seconds: f64) {
            self.set(seconds);
        }

        pub(crate) fn set(&self, forward: f64) {
            let time = &mut self.0.lock().unwrap().time_of_day;
            let by = Duration::from_secs_f64(forward.abs());
            *time = match forward < 0.0 {
                true => *time - by,
                false => *time + by,
            };
        }
    }
}
