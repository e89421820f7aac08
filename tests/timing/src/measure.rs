//! Runs an operation on inputs of both classes, and takes the time.

use core::fmt;
use core::time::Duration;
use std::time::Instant;

/// Which inputs an operation gets. What they are is the subject's.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Class {
    /// Times of the other are compared with those of this one.
    First,
    /// The other.
    Second,
}

/// An operation, with inputs of two classes that time should not tell apart.
pub trait Subject {
    /// The operation.
    fn name(&self) -> &'static str;

    /// What the inputs of the first class are, and of the second.
    fn classes(&self) -> [&'static str; 2];

    /// Puts an input to where [`run`](Self::run) finds it: always the same place, so that caches don't tell
    /// the classes apart.
    fn prepare(&mut self, class: Class);

    /// The operation, or several to have enough to measure.
    fn run(&mut self);
}

impl fmt::Debug for dyn Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The times of both classes, in nanoseconds, measured for so long. Which class comes next is random.
///
/// # Panics
///
/// If the operating system gives no randomness.
pub fn measure(subject: &mut dyn Subject, time: Duration) -> [Vec<u32>; 2] {
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

/// Some of both, by a bit of randomness for each.
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
