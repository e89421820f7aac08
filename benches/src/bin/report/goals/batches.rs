//! The goals for batches: nearly all that their permutations allow.

use benches::ours::batches::{self, Batch};

use super::Goal;
use super::class::Class;
use crate::figures::floor::Floor;
use crate::figures::operations::Column;
use crate::figures::tables::Tables;

/// The part of the allowed gain that is the goal.
pub(crate) const PART: f64 = 0.92;

/// The throughput of batches divided by that of single calls, in a column.
pub(crate) fn gain(tables: &Tables, batch: &Batch, column: Column) -> Option<f64> {
    let median = |row: fn(&str) -> String| tables.median(&batch.table(), &row(column.heading()));
    Some(median(batches::one_by_one)? / median(batches::together)?)
}

/// The gain of a batch whose operations take as long above the floor of one of many as a single one
/// takes above its own floor.
pub(crate) fn allowed(
    tables: &Tables,
    batch: &Batch,
    column: Column,
    floors: &[Floor],
) -> Option<f64> {
    let single = tables.median(&batch.table(), &batches::one_by_one(column.heading()))?;
    let floor = floors
        .iter()
        .find(|floor| (floor.set, floor.operation) == (batch.set, batch.operation))?;
    Some(single / (single - floor.floor + floor.of_many))
}

/// The goal for a batch.
pub(crate) fn goal(tables: &Tables, batch: &Batch, class: Class, floors: &[Floor]) -> Option<Goal> {
    let column = class.column()?;
    let allowed = allowed(tables, batch, column, floors);
    Some(Goal {
        what: format!("{}, {}", batch.table(), column.heading()),
        // Without the times of permutations the measurement counts as missing, too.
        asked: allowed.map_or(1.0, |allowed| PART * allowed),
        measured: gain(tables, batch, column).filter(|_| allowed.is_some()),
        peer: None,
    })
}

#[cfg(test)]
mod tests {
    use benches::ours::keccak::Step;

    use super::*;
    use crate::figures::floor::floors;
    use crate::goals::missed;
    use crate::goals::tests::tables;

    const TABLE: &str = "batch/ML-KEM-768/decapsulation";

    /// A step of up to eight permutations takes 0.2 µs. Nine of the 17 permutations are a chain, 1.8 µs;
    /// all of them with full lanes take 0.425 µs. A single operation takes 3 µs, 1.2 µs above its floor.
    fn measured(together: f64) -> Tables {
        let ours = "pq-core/AVX-512";
        let batch = "pq-core/AVX-512/batch";
        tables(&[
            (&Step::All.table(), &[(ours, 200.0)]),
            (&Step::Few.table(), &[(ours, 200.0)]),
            ("ML-KEM-768/decapsulation", &[(ours, 3100.0)]),
            (TABLE, &[(ours, 3000.0), (batch, together)]),
        ])
    }

    #[test]
    fn permutations_allow_so_much() {
        let tables = measured(1.0);
        let batch = Batch::ALL.iter().find(|batch| batch.table() == TABLE);
        let floors = floors(&tables, Column::Avx512);
        let allowed = allowed(&tables, batch.unwrap(), Column::Avx512, &floors);
        assert!((allowed.unwrap() - 3.0 / (1.2 + 0.425)).abs() < 1e-9);
    }

    #[test]
    fn a_batch_is_held_against_what_they_allow() {
        for (together, met) in [(1766.0, true), (1767.0, false)] {
            let lines = missed(&measured(together));
            let is_missed = lines
                .iter()
                .any(|line| line.starts_with(&format!("{TABLE}, AVX-512")));
            assert_eq!(!is_missed, met, "{together}");
        }
    }
}
