//! The tables of one run.

use alloc::collections::BTreeMap;
use core::time::Duration;
use std::time::SystemTime;

use benches::ours::batches::Batch;
use benches::ours::documents::Work;
use benches::ours::growth::Growth;
use benches::ours::keccak::Step;
use benches::timing::results::{Group, Measured, Timing};
use benches::tls::handshake::Combination;
use benches::tls::loopback::{self, Idle};

use crate::figures::operations::{self, Column};

/// Everything that was measured in the last run, by the names of the tables.
pub(crate) struct Tables {
    groups: BTreeMap<String, Group>,
    loopback: BTreeMap<String, loopback::Table>,
    last: Option<Last>,
}

/// The last measurement, which determines the run.
struct Last {
    measured: SystemTime,
    sources: String,
}

/// Tables that were measured further apart than this are not from one run: the machine may
/// have been in another state.
const ONE_RUN: Duration = Duration::from_secs(2 * 60 * 60);

impl Tables {
    /// Drops the tables of earlier runs, and of other sources.
    pub(crate) fn of_one_run(
        groups: Vec<Measured<Group>>,
        loopback: Vec<Measured<loopback::Table>>,
    ) -> Self {
        let groups_measured = groups
            .iter()
            .map(|group| (group.table.measured, &group.sources));
        let last = groups_measured
            .chain(
                loopback
                    .iter()
                    .map(|table| (table.table.measured, &table.sources)),
            )
            .max()
            .map(|(measured, sources)| Last {
                measured,
                sources: sources.clone(),
            });
        let of_last_run = |measured: SystemTime, sources: &str| {
            last.as_ref().is_some_and(|last| {
                let age = last.measured.duration_since(measured);
                sources == last.sources && age.is_ok_and(|age| age <= ONE_RUN)
            })
        };
        Self {
            groups: groups
                .into_iter()
                .filter(|group| of_last_run(group.table.measured, &group.sources))
                .map(|group| (group.table.name.clone(), group.table))
                .collect(),
            loopback: loopback
                .into_iter()
                .filter(|table| of_last_run(table.table.measured, &table.sources))
                .map(|table| (table.table.name.clone(), table.table))
                .collect(),
            last,
        }
    }

    /// When the last table was measured, if there are any.
    pub(crate) fn measured(&self) -> Option<SystemTime> {
        Some(self.last.as_ref()?.measured)
    }

    /// The hash of the sources of all tables, if there are any.
    pub(crate) fn sources(&self) -> Option<&str> {
        Some(&self.last.as_ref()?.sources)
    }

    /// The table of this name.
    pub(crate) fn table(&self, name: &str) -> Option<&Group> {
        self.groups.get(name)
    }

    /// The table of servers over TCP with this name.
    pub(crate) fn loopback(&self, name: &str) -> Option<&loopback::Table> {
        self.loopback.get(name)
    }

    /// A row of a table.
    pub(crate) fn row(&self, table: &str, row: &str) -> Option<&Timing> {
        self.table(table)?.row(row)
    }

    /// Whether any table has a row whose name fits.
    pub(crate) fn has_row(&self, fits: impl Fn(&str) -> bool) -> bool {
        let mut rows = self.groups.values().flat_map(|group| &group.rows);
        rows.any(|row| fits(&row.name))
    }

    /// The median of a row, in nanoseconds.
    pub(crate) fn median(&self, table: &str, row: &str) -> Option<f64> {
        Some(self.row(table, row)?.time.median)
    }

    /// The time of our step of permutations in a column, in nanoseconds.
    pub(crate) fn step(&self, step: Step, column: Column) -> Option<f64> {
        self.median(&step.table(), &column.ours())
    }

    /// The tables that should have been measured and were not.
    pub(crate) fn missing(&self) -> Vec<String> {
        let operations = operations::ALL
            .iter()
            .flat_map(|operation| operation.tables());
        let handshakes = Combination::all().map(|combination| combination.to_string());
        let groups = Step::ALL
            .into_iter()
            .map(Step::table)
            .chain(operations)
            .chain(Batch::ALL.iter().map(Batch::table))
            .chain(Work::ALL.into_iter().map(Work::table))
            .chain(Growth::ALL.iter().map(Growth::table))
            .chain(handshakes)
            .filter(|name| !self.groups.contains_key(name));
        let loopback = loopback::COMBINATIONS
            .map(loopback::table)
            .into_iter()
            .filter(|name| !self.loopback.contains_key(name));
        groups
            .chain(loopback)
            .map(|name| format!("{name}: the last run did not measure it"))
            .chain(self.memory_missing())
            .collect()
    }

    /// Servers whose memory for idle connections should have been measured and was not.
    fn memory_missing(&self) -> impl Iterator<Item = String> {
        self.loopback.values().flat_map(|table| {
            let rows = table
                .servers
                .iter()
                .filter(|row| !row.name.starts_with("OpenSSL"));
            rows.filter_map(|row| match &row.idle {
                Idle::Bytes(_) => None,
                Idle::Unknown(why) => Some(format!(
                    "{}, {}: no memory of idle connections, since {why}",
                    table.name, row.name
                )),
            })
        })
    }
}

/// The rows of a table, by their medians.
pub(crate) fn fastest_first(group: &Group) -> impl Iterator<Item = &Timing> {
    let mut rows: Vec<_> = group.rows.iter().collect();
    rows.sort_by(|a, b| a.time.median.total_cmp(&b.time.median));
    rows.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCES: &str = "0123456789abcdef";

    fn group(name: &str, age: Duration, sources: &str) -> Measured<Group> {
        Measured {
            sources: sources.into(),
            table: Group {
                name: name.into(),
                measured: SystemTime::UNIX_EPOCH + 2 * ONE_RUN - age,
                rows: Vec::new(),
            },
        }
    }

    #[test]
    fn earlier_runs_do_not_count() {
        let groups = vec![
            group("ML-KEM-512/encapsulation", Duration::ZERO, SOURCES),
            group("just in time", ONE_RUN, SOURCES),
            group("stale", ONE_RUN + Duration::from_secs(1), SOURCES),
        ];
        let tables = Tables::of_one_run(groups, Vec::new());
        assert!(tables.table("just in time").is_some());
        assert!(tables.table("stale").is_none());
        let missing = tables.missing();
        let is_missing = |table| missing.iter().any(|line| line.starts_with(table));
        assert!(!is_missing("ML-KEM-512/encapsulation"));
        for table in [
            "Keccak-f[1600]/few-lanes",
            "ML-KEM-768/encapsulation",
            "loopback/X25519MLKEM768/ML-DSA-65",
        ] {
            assert!(is_missing(table), "{table}");
        }
    }

    #[test]
    fn other_sources_do_not_count() {
        let groups = vec![
            group(
                "of other sources",
                Duration::from_secs(1),
                "fedcba9876543210",
            ),
            group("the last", Duration::ZERO, SOURCES),
        ];
        let tables = Tables::of_one_run(groups, Vec::new());
        assert_eq!(tables.sources(), Some(SOURCES));
        assert!(tables.table("the last").is_some());
        assert!(tables.table("of other sources").is_none());
    }
}
