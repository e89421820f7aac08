//! The ratios that this project holds itself to.

use core::fmt;

use benches::ours::batches::{self, Batch};

use crate::figures::operations::Column;
use crate::figures::tables::Tables;

/// A ratio of a peer's median to ours, or of our operations one by one to batches of them.
pub(crate) struct Goal {
    pub(crate) what: String,
    pub(crate) asked: f64,
    pub(crate) measured: Option<f64>,
    /// Who is the fastest peer, where the ratio is to one.
    pub(crate) peer: Option<String>,
}

impl Goal {
    pub(crate) fn is_met(&self) -> bool {
        self.measured.is_some_and(|measured| measured >= self.asked)
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: asked {:.2}, ", self.what, self.asked)?;
        match self.measured {
            Some(measured) => write!(f, "measured {measured:.2}"),
            None => f.write_str("not measured"),
        }
    }
}

/// What is asked of an operation of a set, with AVX-512 and with AVX2.
pub(crate) struct Asked {
    pub(crate) set: &'static str,
    pub(crate) operation: &'static str,
    avx512: f64,
    avx2: f64,
}

/// What the sets that no ratio is named for may fall short by.
const TOLERANCE: f64 = 0.85;

/// Ratios for an operation of some sets.
struct Ratios {
    operation: &'static str,
    /// The sets that the ratios are for.
    sets: &'static [&'static str],
    /// Their siblings, which may be [`TOLERANCE`] worse.
    siblings: &'static [&'static str],
    avx512: f64,
    avx2: f64,
}

macro_rules! ratios {
    ($($operation:literal, $sets:expr, $siblings:expr, $avx512:literal, $avx2:literal;)+) => {
        &[$(Ratios {
            operation: $operation,
            sets: &$sets,
            siblings: &$siblings,
            avx512: $avx512,
            avx2: $avx2,
        }),+]
    };
}

const RATIOS: &[Ratios] = ratios! {
    "key-generation", ["ML-KEM-768"], ML_KEM, 1.7, 1.1;
    "encapsulation", ["ML-KEM-768"], ML_KEM, 2.4, 1.2;
    "decapsulation", ["ML-KEM-768"], ML_KEM, 2.2, 1.1;
    "key-generation", ["ML-DSA-65"], ML_DSA, 2.2, 1.1;
    "signing", ["ML-DSA-65"], ML_DSA, 2.2, 1.1;
    "verification", ["ML-DSA-65"], ML_DSA, 2.6, 1.1;
    "verification-expanded", ["ML-DSA-65"], ML_DSA, 5.0, 2.0;
    "key-generation", SHAKE_F, SHAKE_S, 3.2, 1.0;
    "signing", SHAKE_F, [], 3.2, 1.0;
    "signing", ["SLH-DSA-SHAKE-128s"], ["SLH-DSA-SHAKE-192s", "SLH-DSA-SHAKE-256s"], 3.2, 1.0;
    "verification", ["SLH-DSA-SHAKE-128f"], ["SLH-DSA-SHAKE-192f", "SLH-DSA-SHAKE-256f"], 3.0, 1.0;
    "verification", [], SHAKE_S, 3.0, 1.0;
    "key-generation", SHA2_128, SHA2_REST, 2.0, 1.0;
    "signing", SHA2_128, SHA2_REST, 2.0, 1.0;
    "verification", ["SLH-DSA-SHA2-128f"], ["SLH-DSA-SHA2-128s"], 1.5, 1.0;
    "verification", [], SHA2_REST, 1.5, 1.0;
};

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

/// What is asked of every operation.
pub(crate) fn asked() -> impl Iterator<Item = Asked> {
    RATIOS.iter().flat_map(|ratios| {
        let sets = ratios.sets.iter().map(|set| (*set, 1.0));
        let siblings = ratios.siblings.iter().map(|set| (*set, TOLERANCE));
        sets.chain(siblings).map(|(set, tolerance)| Asked {
            set,
            operation: ratios.operation,
            avx512: ratios.avx512 * tolerance,
            avx2: ratios.avx2 * tolerance,
        })
    })
}

impl Asked {
    /// In a column, held against the fastest peer there; `None` in the portable one, where
    /// only [`missed`] asks something.
    pub(crate) fn goal(&self, tables: &Tables, column: Column) -> Option<Goal> {
        let asked = match column {
            Column::Avx512 => self.avx512,
            Column::Avx2 => self.avx2,
            Column::Portable => return None,
        };
        Some(goal(tables, self.set, self.operation, column, asked))
    }
}

/// The portable code of ML-KEM and ML-DSA is no slower than RustCrypto's.
fn portable(tables: &Tables) -> impl Iterator<Item = Goal> {
    asked()
        .filter(|asked| asked.set.starts_with("ML-"))
        .map(|asked| goal(tables, asked.set, asked.operation, Column::Portable, 1.0))
}

fn goal(tables: &Tables, set: &str, operation: &str, column: Column, asked: f64) -> Goal {
    let table = format!("{set}/{operation}");
    let ours = tables.median(&table, &column.ours());
    let peer = fastest_peer(tables, &table, column);
    Goal {
        what: format!("{table}, {}", column.heading()),
        asked,
        measured: ours.zip(peer.as_ref()).map(|(ours, (_, peer))| peer / ours),
        peer: peer.map(|(name, _)| name),
    }
}

/// The fastest peer that counts in the column.
///
/// Those that can't keep a verifying key expanded take part with the verification that
/// they have.
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

/// How many times the throughput of single calls a batch has with AVX-512, at least.
const BATCHES: [(&str, f64); 3] = [
    ("encapsulation", 1.4),
    ("verification", 1.25),
    ("verification-expanded", 1.25),
];

/// What batches gain in a column.
pub(crate) fn gain(tables: &Tables, batch: &Batch, column: Column) -> Option<f64> {
    let median = |row: fn(&str) -> String| tables.median(&batch.table(), &row(column.heading()));
    Some(median(batches::one_by_one)? / median(batches::together)?)
}

/// What is asked of a batch with AVX-512, if anything is.
pub(crate) fn of_batch(tables: &Tables, batch: &Batch) -> Option<Goal> {
    let (_, asked) = BATCHES
        .into_iter()
        .find(|(operation, _)| *operation == batch.operation)?;
    Some(Goal {
        what: format!("{}, {}", batch.table(), Column::Avx512.heading()),
        asked,
        measured: gain(tables, batch, Column::Avx512),
        peer: None,
    })
}

/// Rows of two tables of handshakes, and how much of the other's time ours may take.
const HANDSHAKES: [(&str, &str, &str, &str, f64); 3] = [
    (
        "handshake/X25519MLKEM768/ML-DSA-65",
        "rustls-pq/graviola",
        "handshake/X25519MLKEM768/ML-DSA-65",
        "rustls/aws-lc-rs",
        0.45,
    ),
    (
        "handshake/X25519MLKEM768/ML-DSA-65",
        "rustls-pq/graviola",
        "handshake/x25519/ECDSA-P-256",
        "rustls/aws-lc-rs",
        0.85,
    ),
    (
        "handshake/X25519MLKEM768/ECDSA-P-256",
        "rustls-pq/graviola",
        "handshake/X25519MLKEM768/ECDSA-P-256",
        "rustls/graviola",
        0.9,
    ),
];

/// A handshake's time as a part of another's.
pub(crate) struct HandshakeGoal {
    pub(crate) ours: String,
    pub(crate) other: String,
    pub(crate) asked: f64,
    pub(crate) measured: Option<f64>,
}

impl HandshakeGoal {
    pub(crate) fn is_met(&self) -> bool {
        self.measured.is_some_and(|measured| measured <= self.asked)
    }
}

impl fmt::Display for HandshakeGoal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} over {}: asked at most {:.2}, ",
            self.ours, self.other, self.asked
        )?;
        match self.measured {
            Some(measured) => write!(f, "measured {measured:.2}"),
            None => f.write_str("not measured"),
        }
    }
}

/// What is asked of handshakes, client and server together.
pub(crate) fn handshakes(tables: &Tables) -> Vec<HandshakeGoal> {
    let name = |table: &str, row: &str| {
        let what = table.strip_prefix("handshake/").unwrap_or(table);
        format!("{row}, {what}")
    };
    HANDSHAKES
        .iter()
        .map(|&(table, ours, other_table, other, asked)| {
            let measured = tables
                .median(table, ours)
                .zip(tables.median(other_table, other))
                .map(|(ours, other)| ours / other);
            HandshakeGoal {
                ours: name(table, ours),
                other: name(other_table, other),
                asked,
                measured,
            }
        })
        .collect()
}

/// Every goal that is missed, as a line.
pub(crate) fn missed(tables: &Tables) -> Vec<String> {
    let ratios = [Column::Avx512, Column::Avx2]
        .into_iter()
        .flat_map(|column| asked().filter_map(move |asked| asked.goal(tables, column)))
        .chain(portable(tables))
        .chain(
            Batch::ALL
                .iter()
                .filter_map(|batch| of_batch(tables, batch)),
        )
        .filter(|goal| !goal.is_met())
        .map(|goal| goal.to_string());
    let handshakes = handshakes(tables)
        .into_iter()
        .filter(|goal| !goal.is_met())
        .map(|goal| goal.to_string());
    ratios.chain(handshakes).collect()
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use benches::timing::results::{Group, Quartiles, Timing};

    use super::*;
    use crate::figures::operations;

    const TABLE: &str = "ML-DSA-65/verification";

    fn tables(table: &str, rows: &[(&str, f64)]) -> Tables {
        let rows = rows.iter().map(|&(name, median)| Timing {
            name: name.into(),
            samples: 1,
            time: Quartiles {
                lower: median,
                median,
                upper: median,
            },
            sides: None,
        });
        let group = Group {
            name: table.into(),
            measured: SystemTime::UNIX_EPOCH,
            rows: rows.collect(),
        };
        Tables::of_one_run(vec![group], Vec::new())
    }

    fn fails(tables: &Tables, what: &str) -> bool {
        missed(tables).iter().any(|line| line.starts_with(what))
    }

    #[test]
    fn a_ratio_is_held_against_the_fastest_peer() {
        for (ours, met) in [(10.0, true), (10.1, false)] {
            let tables = tables(
                TABLE,
                &[
                    ("pq-core/AVX-512", ours),
                    ("PQClean", 26.0),
                    ("libcrux", 100.0),
                ],
            );
            assert_eq!(!fails(&tables, &format!("{TABLE}, AVX-512")), met);
        }
    }

    #[test]
    fn portable_code_is_no_slower() {
        for (ours, met) in [(10.0, true), (10.1, false)] {
            let rows = [
                ("pq-core/portable", ours),
                ("RustCrypto", 10.0),
                ("PQClean", 1.0),
            ];
            let tables = tables(TABLE, &rows);
            assert_eq!(!fails(&tables, &format!("{TABLE}, portable")), met);
        }
    }

    #[test]
    fn a_batch_is_held_against_single_calls() {
        const TABLE: &str = "batch/ML-KEM-768/encapsulation";
        for (together, met) in [(10.0, true), (10.1, false)] {
            let rows = [
                ("pq-core/AVX-512", 14.0),
                ("pq-core/AVX-512/batch", together),
            ];
            let tables = tables(TABLE, &rows);
            assert_eq!(!fails(&tables, &format!("{TABLE}, AVX-512")), met);
        }
        assert!(fails(&tables("other", &[]), TABLE));
    }

    #[test]
    fn what_is_not_measured_fails() {
        let tables = tables(TABLE, &[("pq-core/AVX-512", 1.0)]);
        assert!(fails(&tables, &format!("{TABLE}, AVX-512")));
        assert!(fails(
            &tables,
            "rustls-pq/graviola, X25519MLKEM768/ML-DSA-65"
        ));
    }

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
    fn graviola_counts_with_avx2_in_decapsulation_only() {
        for (operation, counts) in [("decapsulation", true), ("encapsulation", false)] {
            let table = format!("ML-KEM-768/{operation}");
            let tables = tables(&table, &[("graviola", 1.0), ("PQClean", 2.0)]);
            let (peer, _) = fastest_peer(&tables, &table, Column::Avx2).expect("a peer");
            assert_eq!(peer == "graviola", counts);
        }
    }

    #[test]
    fn expanded_keys_are_held_against_any_verification() {
        let tables = tables(TABLE, &[("PQClean", 30.0)]);
        let peer = fastest_peer(&tables, &format!("{TABLE}-expanded"), Column::Avx512);
        assert_eq!(peer, Some(("PQClean".into(), 30.0)));
    }
}
