//! What is recorded of operations.

use core::time::Duration;
use std::time::Instant;

use crate::name::KeyName;
use crate::policy::Verb;
use crate::store::inner::Inner;

/// Counts operations, with the labels `operation`, `algorithm` and `outcome`: the name of a [`Verb`], that of an algorithm or
/// `unknown`, and `done` or a [code](crate::StoreError::code).
pub const OPERATIONS: &str = "pq_keystore_operations_total";

/// The seconds that operations take, with the labels `operation` and `algorithm`. Of operations in a batch, each takes its
/// share of what they take together.
pub const OPERATION_DURATION: &str = "pq_keystore_operation_duration_seconds";

/// Buckets for [`OPERATION_DURATION`], in seconds: a recorder takes them, since the facade has none. Signing takes tens of
/// microseconds, and those of recorders begin with milliseconds.
pub const DURATION_BUCKETS: [f64; 15] = [
    10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.25,
    1.0, 5.0,
];

/// An operation that goes on.
pub(in crate::store) struct Measured {
    verb: Verb,
    began: Instant,
}

impl Measured {
    pub(in crate::store) fn begin(verb: Verb) -> Self {
        Self {
            verb,
            began: Instant::now(),
        }
    }

    /// It has ended with the code of an error, or is done.
    pub(in crate::store) fn end(self, inner: &Inner, name: &KeyName, code: Option<&'static str>) {
        record(inner, self.verb, name, code, self.began.elapsed());
    }

    /// They have ended, each with the code of an error, or done.
    pub(in crate::store) fn end_together<'a>(
        self,
        inner: &Inner,
        ended: impl Iterator<Item = (&'a KeyName, Option<&'static str>)>,
    ) {
        let taken = self.began.elapsed();
        let ended: Vec<_> = ended.collect();
        let share = taken.div_f64(ended.len().max(1) as f64);
        for (name, code) in ended {
            record(inner, self.verb, name, code, share);
        }
    }
}

fn record(inner: &Inner, verb: Verb, name: &KeyName, code: Option<&'static str>, taken: Duration) {
    // Of a key that isn't in memory, nobody is asked for the algorithm.
    let key = inner.cache.get(name);
    let algorithm = key.map_or("unknown", |key| key.record.algorithm.name());
    let operation = verb.name();
    metrics::counter!(
        OPERATIONS,
        "operation" => operation,
        "algorithm" => algorithm,
        "outcome" => code.unwrap_or("done"),
    )
    .increment(1);
    metrics::histogram!(
        OPERATION_DURATION,
        "operation" => operation,
        "algorithm" => algorithm,
    )
    .record(taken);
}
