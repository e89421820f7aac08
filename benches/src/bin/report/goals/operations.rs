//! The goals for operations: ratios of the fastest peer's median to ours.

use super::Goal;
use super::class::{ByClass, Class};
use crate::figures::operations::Column;
use crate::figures::tables::Tables;

/// The goals for an operation with a parameter set.
pub(crate) struct Asked {
    pub(crate) set: &'static str,
    pub(crate) operation: &'static str,
    ratios: ByClass,
    tolerance: f64,
}

/// The goal of a sibling, divided by that of the named sets.
const TOLERANCE: f64 = 0.85;

/// Ratios for an operation of some sets.
struct Ratios {
    operation: &'static str,
    /// The sets that the ratios are for.
    sets: &'static [&'static str],
    /// Their siblings, whose goal is [`TOLERANCE`] times the ratios.
    siblings: &'static [&'static str],
    ratios: ByClass,
}

macro_rules! ratios {
    ($($operation:literal, $sets:expr, $siblings:expr, $full_avx512:literal / $halved_avx512:literal / $avx2:literal;)+) => {
        &[$(Ratios {
            operation: $operation,
            sets: &$sets,
            siblings: &$siblings,
            ratios: ByClass {
                full_avx512: $full_avx512,
                halved_avx512: $halved_avx512,
                avx2: $avx2,
            },
        }),+]
    };
}

/// Ratios with full-width AVX-512, with halved AVX-512, and with AVX2.
const RATIOS: &[Ratios] = ratios! {
    "key-generation", ["ML-KEM-768"], ML_KEM, 1.7 / 1.45 / 1.3;
    "encapsulation", ["ML-KEM-768"], ML_KEM, 2.4 / 1.8 / 1.45;
    "decapsulation", ["ML-KEM-768"], ML_KEM, 2.2 / 1.9 / 1.8;
    "key-generation", ["ML-DSA-65"], ML_DSA, 2.2 / 1.85 / 1.25;
    "signing", ["ML-DSA-65"], ML_DSA, 2.5 / 2.7 / 2.0;
    "verification", ["ML-DSA-65"], ML_DSA, 2.6 / 2.1 / 1.4;
    "verification-expanded", ["ML-DSA-65"], ML_DSA, 5.5 / 6.0 / 5.5;
    "key-generation", SHAKE_F, SHAKE_S, 3.2 / 2.4 / 1.5;
    "signing", SHAKE_F, [], 3.2 / 2.4 / 1.5;
    "signing", ["SLH-DSA-SHAKE-128s"], ["SLH-DSA-SHAKE-192s", "SLH-DSA-SHAKE-256s"], 3.2 / 2.4 / 1.5;
    "verification", ["SLH-DSA-SHAKE-128f"], ["SLH-DSA-SHAKE-192f", "SLH-DSA-SHAKE-256f"], 3.0 / 2.4 / 1.5;
    "verification", [], SHAKE_S, 3.0 / 2.4 / 1.5;
    "key-generation", SHA2_128, SHA2_REST, 4.0 / 3.0 / 2.2;
    "signing", SHA2_128, SHA2_REST, 4.0 / 3.0 / 2.2;
    "verification", ["SLH-DSA-SHA2-128f"], ["SLH-DSA-SHA2-128s"], 3.0 / 3.0 / 2.2;
    "verification", [], SHA2_REST, 3.0 / 3.0 / 2.2;
};

/// The operations in the overview, which stand for the others. Each has a ratio of its own.
pub(crate) const NAMED: [(&str, &str); 9] = [
    ("ML-KEM-768", "key-generation"),
    ("ML-KEM-768", "encapsulation"),
    ("ML-KEM-768", "decapsulation"),
    ("ML-DSA-65", "key-generation"),
    ("ML-DSA-65", "signing"),
    ("ML-DSA-65", "verification"),
    ("ML-DSA-65", "verification-expanded"),
    ("SLH-DSA-SHAKE-128f", "signing"),
    ("SLH-DSA-SHA2-128f", "signing"),
];

const ML_KEM: [&str; 2] = ["ML-KEM-512", "ML-KEM-1024"];
const ML_DSA: [&str; 2] = ["ML-DSA-44", "ML-DSA-87"];
const SHAKE_F: [&str; 3] = [
    "SLH-DSA-SHAKE-128f",
    "SLH-DSA-SHAKE-192f",
    "SLH-DSA-SHAKE-256f",
];
const SHAKE_S: [&str; 3] = [
    "SLH-DSA-SHAKE-128s",
    "SLH-DSA-SHAKE-192s",
    "SLH-DSA-SHAKE-256s",
];
const SHA2_128: [&str; 2] = ["SLH-DSA-SHA2-128f", "SLH-DSA-SHA2-128s"];
const SHA2_REST: [&str; 4] = [
    "SLH-DSA-SHA2-192f",
    "SLH-DSA-SHA2-256f",
    "SLH-DSA-SHA2-192s",
    "SLH-DSA-SHA2-256s",
];

/// The goals for every operation.
pub(crate) fn asked() -> impl Iterator<Item = Asked> {
    RATIOS.iter().flat_map(|ratios| {
        let sets = ratios.sets.iter().map(|set| (*set, 1.0));
        let siblings = ratios.siblings.iter().map(|set| (*set, TOLERANCE));
        sets.chain(siblings).map(|(set, tolerance)| Asked {
            set,
            operation: ratios.operation,
            ratios: ratios.ratios,
            tolerance,
        })
    })
}

impl Asked {
    /// The operation's name on pages.
    pub(crate) fn what(&self) -> String {
        format!("{} {}", self.set, self.operation.replace('-', " "))
    }

    /// The goal of a class, if there is one.
    pub(crate) fn ratio(&self, class: Class) -> Option<f64> {
        Some(self.ratios.of(class)? * self.tolerance)
    }

    /// The goal of a class, and the ratio to the fastest peer in its column.
    pub(crate) fn goal(&self, tables: &Tables, class: Class) -> Option<Goal> {
        let asked = self.ratio(class)?;
        Some(goal(tables, self, class.column()?, asked))
    }

    /// The measured ratio in a column, which need not have goals.
    pub(crate) fn measured(&self, tables: &Tables, column: Column) -> Option<(f64, String)> {
        let table = format!("{}/{}", self.set, self.operation);
        let ours = tables.median(&table, &column.ours())?;
        let (name, peer) = fastest_peer(tables, &table, column)?;
        Some((peer / ours, name))
    }
}

/// The goals for portable code: ML-KEM and ML-DSA are no slower than RustCrypto's.
pub(crate) fn portable(tables: &Tables) -> impl Iterator<Item = Goal> {
    asked()
        .filter(|asked| asked.set.starts_with("ML-"))
        .map(|asked| goal(tables, &asked, Column::Portable, 1.0))
}

fn goal(tables: &Tables, what: &Asked, column: Column, asked: f64) -> Goal {
    let (measured, peer) = what.measured(tables, column).unzip();
    Goal {
        what: format!("{}/{}, {}", what.set, what.operation, column.heading()),
        asked,
        measured,
        peer,
    }
}

/// The fastest peer that counts in the column.
///
/// Peers that can't keep a verifying key expanded count with their verification from bytes.
pub(crate) fn fastest_peer(tables: &Tables, table: &str, column: Column) -> Option<(String, f64)> {
    let substitute = table
        .strip_suffix("-expanded")
        .and_then(|table| tables.table(table));
    [tables.table(table), substitute]
        .into_iter()
        .flatten()
        .flat_map(|group| &group.rows)
        .filter(|row| column.counts(table, &row.name))
        .map(|row| (row.name.clone(), row.time.median))
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::operations;
    use crate::goals::tests::tables;

    const TABLE: &str = "ML-DSA-65/verification";

    #[test]
    fn every_operation_has_a_ratio_once() {
        let mut asked: Vec<_> = asked()
            .map(|asked| format!("{}/{}", asked.set, asked.operation))
            .collect();
        let mut tables: Vec<_> = operations::ALL
            .iter()
            .flat_map(operations::Operation::tables)
            .collect();
        asked.sort();
        tables.sort();
        assert_eq!(asked, tables);
    }

    #[test]
    fn named_operations_have_no_tolerance() {
        for named in NAMED {
            let asked = asked().find(|asked| (asked.set, asked.operation) == named);
            assert_eq!(asked.expect("is asked").tolerance, 1.0, "{named:?}");
        }
    }

    #[test]
    fn graviola_counts_with_avx2_in_decapsulation_only() {
        for (operation, counts) in [("decapsulation", true), ("encapsulation", false)] {
            let table = format!("ML-KEM-768/{operation}");
            let tables = tables(&[(&table, &[("graviola", 1.0), ("PQClean", 2.0)])]);
            let (peer, _) = fastest_peer(&tables, &table, Column::Avx2).expect("a peer");
            assert_eq!(peer == "graviola", counts);
        }
    }

    #[test]
    fn wolfssl_counts_with_avx2_by_its_row_without_avx512() {
        let rows = [
            ("PQClean", 30.0),
            ("wolfSSL", 10.0),
            ("wolfSSL/AVX2", 20.0),
            ("OpenSSL 4", 25.0),
        ];
        let tables = tables(&[(TABLE, &rows)]);
        for (column, fastest) in [(Column::Avx512, "wolfSSL"), (Column::Avx2, "wolfSSL/AVX2")] {
            let (peer, _) = fastest_peer(&tables, TABLE, column).expect("a peer");
            assert_eq!(peer, fastest);
        }
        assert_eq!(fastest_peer(&tables, TABLE, Column::Portable), None);
    }

    #[test]
    fn expanded_keys_are_held_against_any_verification() {
        let tables = tables(&[(TABLE, &[("PQClean", 30.0)])]);
        let peer = fastest_peer(&tables, &format!("{TABLE}-expanded"), Column::Avx512);
        assert_eq!(peer, Some(("PQClean".into(), 30.0)));
    }
}
