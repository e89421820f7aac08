//! The tables of one run.

use alloc::collections::BTreeMap;
use core::time::Duration;

use benches::batches::Batch;
use benches::handshake::Combination;
use benches::keccak;
use benches::results::{Group, Timing};

use crate::operations;

/// Everything that was measured in the last run, by the names of the tables.
pub(crate) struct Tables(BTreeMap<String, Group>);

/// Tables that were measured further apart than this are not from one run: the code may
/// have been other code.
const ONE_RUN: Duration = Duration::from_secs(2 * 60 * 60);

impl Tables {
    /// Drops the tables of earlier runs.
    pub(crate) fn of_one_run(groups: Vec<Group>) -> Self {
        let last = groups.iter().map(|group| group.measured).max();
        let of_last_run = |group: &Group| {
            last.and_then(|last| last.duration_since(group.measured).ok())
                .is_some_and(|age| age <= ONE_RUN)
        };
        Self(
            groups
                .into_iter()
                .filter(of_last_run)
                .map(|group| (group.name.clone(), group))
                .collect(),
        )
    }

    /// The table of this name.
    pub(crate) fn table(&self, name: &str) -> Option<&Group> {
        self.0.get(name)
    }

    /// A row of a table.
    pub(crate) fn row(&self, table: &str, row: &str) -> Option<&Timing> {
        self.table(table)?.row(row)
    }

    /// The median of a row, in nanoseconds.
    pub(crate) fn median(&self, table: &str, row: &str) -> Option<f64> {
        Some(self.row(table, row)?.time.median)
    }

    /// What should have been measured and wasn't.
    pub(crate) fn missing(&self) -> Vec<String> {
        let operations = operations::ALL
            .iter()
            .flat_map(|operation| operation.tables());
        let handshakes = Combination::all().map(|combination| combination.to_string());
        [keccak::TABLE.to_owned()]
            .into_iter()
            .chain(operations)
            .chain(Batch::ALL.iter().map(Batch::table))
            .chain(handshakes)
            .filter(|name| !self.0.contains_key(name))
            .map(|name| format!("{name}: the last run did not measure it"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn group(name: &str, age: Duration) -> Group {
        Group {
            name: name.into(),
            measured: SystemTime::UNIX_EPOCH + 2 * ONE_RUN - age,
            rows: Vec::new(),
        }
    }

    #[test]
    fn earlier_runs_do_not_count() {
        let tables = Tables::of_one_run(vec![
            group(keccak::TABLE, Duration::ZERO),
            group("just in time", ONE_RUN),
            group("stale", ONE_RUN + Duration::from_secs(1)),
        ]);
        assert!(tables.table("just in time").is_some());
        assert!(tables.table("stale").is_none());
        let missing = tables.missing();
        assert!(!missing.iter().any(|line| line.starts_with(keccak::TABLE)));
        assert!(
            missing
                .iter()
                .any(|line| line.starts_with("ML-KEM-768/encapsulation"))
        );
    }
}
