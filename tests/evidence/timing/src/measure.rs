//! Runs an operation on inputs of both classes, and measures the times.

use core::fmt;
use core::time::Duration;
use std::time::Instant;

use crate::statistics::Finding;

/// The class of an operation's input. The subject decides what each class is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Class {
    /// The class whose times are the reference.
    First,
    /// The other.
    Second,
}

/// An operation with inputs of two classes, whose times should not differ.
pub trait Subject {
    /// The operation's name.
    fn name(&self) -> &'static str;

    /// Descriptions of the inputs of the first class and of the second.
    fn classes(&self) -> [&'static str; 2];

    /// Puts an input of this class where [`run`](Self::run) finds it: always the same place, so that caches cannot make
    /// the classes differ.
    fn prepare(&mut self, class: Class);

    /// Runs the operation, or several if one is too short to measure.
    fn run(&mut self);
}

impl fmt::Debug for dyn Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Measures for the duration `time`, after a short first run, and compares the classes.
///
/// # Panics
///
/// If the operating system gives no randomness.
pub fn compare(subject: &mut dyn Subject, time: Duration) -> Finding {
    // The first run touches the pages and raises the CPU's frequency.
    measure(subject, time / 20);
    Finding::of(&measure(subject, time))
}

/// Compares up to five times, each for twice as long as before, until a difference shows. Other work of the machine can
/// hide one that is there.
///
/// # Panics
///
/// If the operating system gives no randomness.
pub fn compare_until_difference(subject: &mut dyn Subject, time: Duration) -> Finding {
    let mut finding = compare(subject, time);
    for factor in [2, 4, 8, 16] {
        if finding.is_difference() {
            break;
        }
        finding = compare(subject, factor * time);
    }
    finding
}

/// Measures the times of both classes in nanoseconds, for the duration `time`. The order of the classes is random.
fn measure(subject: &mut dyn Subject, time: Duration) -> [Vec<u32>; 2] {
    let mut times = [Vec::new(), Vec::new()];
    let begun = Instant::now();
    while begun.elapsed() < time {
        for class in random_classes() {
            subject.prepare(class);
            let start = Instant::now();
            subject.run();
            let elapsed = start.elapsed().as_nanos();
            times[class as usize].push(u32::try_from(elapsed).unwrap_or(u32::MAX));
        }
    }
    times
}

/// Random classes, one for each bit of some random bytes.
fn random_classes() -> impl Iterator<Item = Class> {
    let bytes: [u8; 32] = random();
    let bits = bytes
        .into_iter()
        .flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1));
    bits.map(|bit| match bit {
        0 => Class::First,
        _ => Class::Second,
    })
}

/// Random bytes.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives randomness");
    bytes
}
