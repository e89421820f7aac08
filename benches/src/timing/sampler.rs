//! The sampler: rows in turn, round after round, by the thread's CPU time.

use core::time::Duration;
use std::time::SystemTime;

use pq_core::arch::lift_limit;

use crate::timing::results::{Group, Quartiles, Sides, Timing};

/// What is timed: passes over all inputs of an operation.
///
/// Timing whole passes gives every sample the same work. In signing this matters:
/// the number of attempts differs from message to message by an order of magnitude, and
/// samples that cut a pass short would measure their choice of messages.
pub struct Passes<'a> {
    /// How many operations one pass is. Results are per operation.
    operations: u32,
    /// Performs this number of passes and returns the time that they took.
    run: Box<dyn FnMut(u32) -> Spent + 'a>,
}

impl<'a> Passes<'a> {
    /// Passes of this number of operations, whose whole time counts.
    pub fn new(operations: usize, mut pass: impl FnMut() + 'a) -> Self {
        Self {
            operations: u32::try_from(operations).expect("a pass is short"),
            run: Box::new(move |passes| {
                let start = clock::now();
                for _ in 0..passes {
                    pass();
                }
                Spent {
                    total: clock::now() - start,
                    client: None,
                }
            }),
        }
    }

    /// Passes of one operation that reports its own time, perhaps from another thread.
    pub fn reporting(mut operation: impl FnMut() -> Duration + 'a) -> Self {
        Self {
            operations: 1,
            run: Box::new(move |passes| Spent {
                total: (0..passes).map(|_| operation()).sum(),
                client: None,
            }),
        }
    }

    /// Passes of this number of operations in another process, which reports the time of some passes.
    pub(crate) fn elsewhere(operations: usize, mut run: impl FnMut(u32) -> Duration + 'a) -> Self {
        Self {
            operations: u32::try_from(operations).expect("a pass is short"),
            run: Box::new(move |passes| Spent {
                total: run(passes),
                client: None,
            }),
        }
    }

    /// Performs this number of passes, on the best backend unless the row names another one. Rows that
    /// name one hide the better backends from the whole process, so this first unhides them.
    fn run(&mut self, passes: u32) -> Spent {
        lift_limit();
        (self.run)(passes)
    }

    /// Passes of one operation between a client and a server, which reports the time of each.
    pub fn of_two_sides(mut operation: impl FnMut() -> (Duration, Duration) + 'a) -> Self {
        Self {
            operations: 1,
            run: Box::new(move |passes| {
                let mut clients = Duration::ZERO;
                let mut servers = Duration::ZERO;
                for _ in 0..passes {
                    let (client, server) = operation();
                    clients += client;
                    servers += server;
                }
                Spent {
                    total: clients + servers,
                    client: Some(clients),
                }
            }),
        }
    }
}

/// A row of a group's table: an implementation, and what to time.
pub struct Row<'a> {
    /// The table's name, such as `ML-KEM-768/encapsulation`.
    pub group: String,
    /// The row's name: the implementation's.
    pub name: String,
    /// What is timed.
    pub passes: Passes<'a>,
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How many samples a row has, at most.
    pub samples: u32,
    /// How long a sample is at least; a sample is one pass if that takes longer.
    pub sample: Duration,
    /// How long a row takes in total, unless `LEAST_SAMPLES` take longer.
    pub row: Duration,
}

impl Effort {
    /// The effort of published figures.
    pub const FULL: Self = Self {
        samples: 41,
        sample: Duration::from_millis(5),
        row: Duration::from_millis(600),
    };

    /// For a first look.
    pub const QUICK: Self = Self {
        samples: 7,
        sample: Duration::from_millis(2),
        row: Duration::from_millis(50),
    };
}

/// The least number of samples, for a row that takes seconds for each.
const LEAST_SAMPLES: u32 = 3;

/// Before a sample, this fraction of its passes runs untimed: one in `WARM_UP`.
const WARM_UP: u32 = 5;

/// Runs every row once, to see that it runs.
pub fn try_out(rows: Vec<Row<'_>>) {
    for mut row in rows {
        row.passes.run(1);
    }
}

/// Measures rows, and returns the groups that they make, in order of appearance.
///
/// The rows take turns: one sample of each makes a round. So a temporary change of the machine (another
/// clock rate, a neighbour on the same host) affects all rows, and the medians of one run can be
/// compared.
pub fn measure(rows: Vec<Row<'_>>, effort: Effort) -> Vec<Group> {
    let mut rows: Vec<Sampled<'_>> = rows
        .into_iter()
        .map(|row| Sampled::new(row, effort))
        .collect();
    for round in 0..effort.samples {
        for row in &mut rows {
            row.take_part(round, effort.samples);
        }
    }

    let measured = SystemTime::now();
    let mut groups: Vec<Group> = Vec::new();
    for row in rows {
        let timing = row.timing();
        match groups.iter_mut().find(|group| group.name == row.row.group) {
            Some(group) => group.rows.push(timing),
            None => groups.push(Group {
                name: row.row.group,
                measured,
                rows: vec![timing],
            }),
        }
    }
    groups
}

/// A row while it is measured.
struct Sampled<'a> {
    row: Row<'a>,
    /// How many passes a sample is.
    passes: u32,
    /// How many samples there will be.
    planned: u32,
    /// Nanoseconds for an operation.
    totals: Vec<f64>,
    /// The client's share of them, if there is a client.
    clients: Vec<f64>,
}

impl<'a> Sampled<'a> {
    /// Warms the row up, and plans its samples by the time that it takes.
    fn new(mut row: Row<'a>, effort: Effort) -> Self {
        let mut passes = 1;
        let sample = loop {
            let spent = row.passes.run(passes).total;
            if spent >= effort.sample {
                break spent;
            }
            // Grows by at most a factor of ten towards the aim, since the first passes are slow.
            let missing = effort.sample.as_secs_f64() / spent.as_secs_f64().max(1e-9);
            passes = (f64::from(passes) * missing.clamp(1.1, 10.0)).ceil() as u32;
        };
        let affordable = (effort.row.as_secs_f64() / sample.as_secs_f64()) as u32;
        Self {
            row,
            passes,
            planned: affordable.clamp(LEAST_SAMPLES, effort.samples),
            totals: Vec::new(),
            clients: Vec::new(),
        }
    }

    /// Takes a sample if the row takes part in this round. Its rounds are spread evenly over all.
    fn take_part(&mut self, round: u32, rounds: u32) {
        let due = |round: u32| u64::from(round) * u64::from(self.planned) / u64::from(rounds);
        if due(round + 1) == due(round) {
            return;
        }
        // Caches and branch predictors still have the contents of the row before.
        self.row.passes.run(self.passes / WARM_UP);
        let spent = self.row.passes.run(self.passes);
        let operations = f64::from(self.passes) * f64::from(self.row.passes.operations);
        let nanoseconds = |time: Duration| time.as_secs_f64() * 1e9 / operations;
        self.totals.push(nanoseconds(spent.total));
        self.clients.extend(spent.client.map(nanoseconds));
    }

    fn timing(&self) -> Timing {
        let sides = (!self.clients.is_empty()).then(|| {
            let servers = self.totals.iter().zip(&self.clients);
            Sides {
                client: Quartiles::of(self.clients.clone()),
                server: Quartiles::of(servers.map(|(total, client)| total - client).collect()),
            }
        });
        Timing {
            name: self.row.name.clone(),
            samples: self.planned,
            time: Quartiles::of(self.totals.clone()),
            sides,
        }
    }
}

/// The time of some passes.
struct Spent {
    total: Duration,
    /// The client's part of it, if there are a client and a server.
    client: Option<Duration>,
}

/// Does `work` and adds the time that it took to `total`.
pub(crate) fn add_time<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = clock::now();
    let result = work();
    *total += clock::now() - start;
    result
}

/// The thread's CPU time. Everything here computes in one thread and waits for nothing, so on an idle
/// machine this equals wall-clock time. On a busy machine it leaves out the time in which others had the
/// core.
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

/// Wall-clock time, where there is no interface to the thread's CPU time.
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

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use pq_core::arch::{Portable, chosen, limit};

    use super::*;

    const EFFORT: Effort = Effort {
        samples: 10,
        sample: Duration::from_millis(1),
        row: Duration::from_millis(5),
    };

    /// A row that pretends to spend this time on each pass, and counts passes.
    fn row<'a>(name: &str, spends: Duration, passes: &'a Cell<u32>) -> Row<'a> {
        Row {
            group: "group".into(),
            name: name.into(),
            passes: Passes {
                operations: 2,
                run: Box::new(move |more| {
                    passes.set(passes.get() + more);
                    Spent {
                        total: spends * more,
                        client: Some(spends * more / 4),
                    }
                }),
            },
        }
    }

    #[test]
    fn times_are_per_operation_and_per_side() {
        let passes = Cell::new(0);
        let rows = vec![row("a", Duration::from_micros(8), &passes)];
        let [group] = &measure(rows, EFFORT)[..] else {
            panic!("not one group");
        };
        let timing = &group.rows[0];
        let sides = timing.sides.as_ref().expect("two sides");
        for (time, expected) in [
            (&timing.time, 4000.0),
            (&sides.client, 1000.0),
            (&sides.server, 3000.0),
        ] {
            assert!((time.median - expected).abs() < 1.0, "{time:?}");
        }
    }

    #[test]
    fn slow_rows_have_fewer_samples_but_some() {
        for (spends, samples) in [(1, 5), (3, 3), (1000, 3)] {
            let passes = Cell::new(0);
            let rows = vec![row("a", Duration::from_millis(spends), &passes)];
            assert_eq!(measure(rows, EFFORT)[0].rows[0].samples, samples);
            assert_eq!(passes.get(), samples + 1, "with the first, which plans");
        }
    }

    #[test]
    fn samples_begin_warm() {
        let passes = Cell::new(0);
        let rows = vec![row("a", Duration::from_micros(100), &passes)];
        let [group] = &measure(rows, EFFORT)[..] else {
            panic!("not one group");
        };
        // 1 and 10 passes to plan, then samples of 10 and their warm-ups.
        assert_eq!(group.rows[0].samples, 5);
        assert_eq!(passes.get(), 11 + 5 * (10 + 2));
    }

    /// Handshakes come after the rows of all backends.
    #[test]
    fn limits_end_with_their_rows() {
        let best = chosen();
        let backends = Cell::new(Vec::new());
        let limited = Row {
            group: "group".into(),
            name: "limited".into(),
            passes: Passes::new(1, || limit(Portable)),
        };
        let free = Row {
            group: "group".into(),
            name: "free".into(),
            passes: Passes::new(1, || {
                let mut seen = backends.take();
                seen.push(chosen());
                backends.set(seen);
            }),
        };
        try_out(vec![limited, free]);
        assert_eq!(backends.take(), [best]);
    }

    #[test]
    fn rows_of_a_group_come_together() {
        let passes = Cell::new(0);
        let spends = Duration::from_millis(2);
        let rows = ["a", "b"].map(|name| row(name, spends, &passes));
        let [group] = &measure(rows.into(), EFFORT)[..] else {
            panic!("not one group");
        };
        assert_eq!(group.rows.len(), 2);
    }
}
