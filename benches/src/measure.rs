use core::time::Duration;

use criterion::{Criterion, SamplingMode};

/// What is timed: passes over all inputs of an operation.
///
/// Timing whole passes gives every sample the same work. In signing this matters:
/// the number of attempts differs from message to message by an order of magnitude, and
/// samples that cut a pass short would measure their choice of messages.
pub struct Passes<'a> {
    /// How many operations one pass is. Results are per operation.
    operations: u32,
    /// Performs so many passes and returns the time that they took.
    run: Box<dyn FnMut(u64) -> Duration + 'a>,
}

impl<'a> Passes<'a> {
    /// Passes of so many operations, all of whose time counts.
    pub fn new(operations: usize, mut pass: impl FnMut() + 'a) -> Self {
        Self {
            operations: u32::try_from(operations).expect("a pass is short"),
            run: Box::new(move |passes| {
                let start = clock::now();
                for _ in 0..passes {
                    pass();
                }
                clock::now() - start
            }),
        }
    }

    /// Passes of one operation that knows how much of its time counts.
    pub fn that_report(mut operation: impl FnMut() -> Duration + 'a) -> Self {
        Self {
            operations: 1,
            run: Box::new(move |passes| (0..passes).map(|_| operation()).sum()),
        }
    }
}

/// Does `work` and adds the time that it took to `total`.
pub(crate) fn add_time<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = clock::now();
    let result = work();
    *total += clock::now() - start;
    result
}

/// Measures rows, each an implementation's name and its passes, as one criterion group.
pub fn measure<'a>(
    criterion: &mut Criterion,
    group: &str,
    rows: impl IntoIterator<Item = (String, Passes<'a>)>,
) {
    let mut group = criterion.benchmark_group(group);
    // Samples of one size: criterion's other mode begins with single passes, whose
    // average would weigh as much as that of fifty.
    group.sampling_mode(SamplingMode::Flat);
    for (name, mut row) in rows {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|passes| (row.run)(passes) / row.operations);
        });
    }
    group.finish();
}

/// The settings that all benchmarks share; the command line overrides them.
pub fn config() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(40)
}

/// Whether this process was started to measure (`cargo bench`) rather than to see that
/// everything runs (`cargo test`): the same test that criterion makes.
pub fn measuring() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// The thread's CPU time. Everything here computes in one thread and waits for nothing,
/// so on an idle machine this is the time on the wall; on a busy one it leaves out the
/// time in which others had the core.
#[cfg(unix)]
mod clock {
    use core::time::Duration;

    use rustix::time::{ClockId, clock_gettime};

    pub(super) fn now() -> Duration {
        clock_gettime(ClockId::ThreadCPUTime)
            .try_into()
            .expect("CPU time counts from zero")
    }
}

/// The time on the wall, where there is no interface to the thread's CPU time.
#[cfg(not(unix))]
mod clock {
    use core::time::Duration;
    use std::sync::LazyLock;
    use std::time::Instant;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);

    pub(super) fn now() -> Duration {
        START.elapsed()
    }
}
