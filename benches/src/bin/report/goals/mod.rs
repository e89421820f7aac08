//! The project's goals: ratios, by class of CPU.
//!
//! Uses [`figures`](crate::figures).

pub(crate) mod batches;
pub(crate) mod class;
pub(crate) mod documents;
pub(crate) mod handshakes;
pub(crate) mod operations;

use core::fmt;

use benches::ours::batches::Batch;

use self::class::Class;
use crate::figures::floor::floors;
use crate::figures::tables::Tables;

/// A ratio of a peer's median to ours, or of our operations one by one to batches of them.
pub(crate) struct Goal {
    pub(crate) what: String,
    pub(crate) asked: f64,
    pub(crate) measured: Option<f64>,
    /// The fastest peer, if the ratio is to a peer.
    pub(crate) peer: Option<String>,
}

impl Goal {
    pub(crate) fn is_met(&self) -> bool {
        self.measured.is_some_and(|measured| measured >= self.asked)
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: goal {:.2}, ", self.what, self.asked)?;
        match self.measured {
            Some(measured) => write!(f, "measured {measured:.2}"),
            None => f.write_str("not measured"),
        }
    }
}

/// A ratio on a page, marked as met or missed.
pub(crate) fn verdict(measured: Option<f64>, is_met: bool) -> String {
    match measured {
        Some(ratio) if is_met => format!("**{ratio:.2}**"),
        Some(ratio) => format!("{ratio:.2} (missed)"),
        None => "–".to_owned(),
    }
}

/// Every goal of the machine's class that is missed, as a line.
pub(crate) fn missed(tables: &Tables) -> Vec<String> {
    let class = match Class::of(tables) {
        Ok(class) => class,
        Err(unknown) => return vec![format!("the class of CPU: {unknown}")],
    };
    let floors = class.column().map(|column| floors(tables, column));
    let floors = floors.unwrap_or_default();
    let ratios = operations::asked()
        .filter_map(|asked| asked.goal(tables, class))
        .chain(operations::portable(tables))
        .chain(
            Batch::ALL
                .iter()
                .filter_map(|batch| batches::goal(tables, batch, class, &floors)),
        )
        .filter(|goal| !goal.is_met())
        .map(|goal| goal.to_string());
    let parts = handshakes::ASKED
        .iter()
        .chain(&documents::ASKED)
        .filter_map(|asked| asked.goal(tables, class))
        .filter(|goal| !goal.is_met())
        .map(|goal| goal.to_string());
    ratios.chain(parts).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::SystemTime;

    use benches::ours::keccak::Step;
    use benches::timing::results::{Group, Measured, Quartiles, Timing};

    use super::*;

    const TABLE: &str = "ML-DSA-65/verification";

    /// Tables of rows with medians.
    pub(crate) fn tables(tables: &[(&str, &[(&str, f64)])]) -> Tables {
        let tables = tables.iter().map(|(name, rows)| {
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
            Measured {
                sources: "0123456789abcdef".into(),
                table: Group {
                    name: (*name).into(),
                    measured: SystemTime::UNIX_EPOCH,
                    rows: rows.collect(),
                },
            }
        });
        Tables::of_one_run(tables.collect(), Vec::new())
    }

    /// Tables of a machine with full-width AVX-512.
    fn on_full_avx512(name: &str, rows: &[(&str, f64)]) -> Tables {
        let ours = "pq-core/AVX-512";
        tables(&[
            (&Step::All.table(), &[(ours, 200.0)]),
            (&Step::Few.table(), &[(ours, 200.0)]),
            (name, rows),
        ])
    }

    fn fails(tables: &Tables, what: &str) -> bool {
        missed(tables).iter().any(|line| line.starts_with(what))
    }

    #[test]
    fn a_ratio_is_held_against_the_fastest_peer() {
        for (ours, met) in [(10.0, true), (10.1, false)] {
            let rows = [
                ("pq-core/AVX-512", ours),
                ("PQClean", 26.0),
                ("libcrux", 100.0),
            ];
            let tables = on_full_avx512(TABLE, &rows);
            assert_eq!(!fails(&tables, &format!("{TABLE}, AVX-512")), met);
        }
    }

    #[test]
    fn classes_are_asked_different_ratios() {
        for (eight, met) in [(200.0, false), (400.0, true)] {
            let tables = tables(&[
                (&Step::All.table(), &[("pq-core/AVX-512", eight)]),
                (&Step::Few.table(), &[("pq-core/AVX-512", 200.0)]),
                (TABLE, &[("pq-core/AVX-512", 10.0), ("PQClean", 21.0)]),
            ]);
            assert_eq!(!fails(&tables, &format!("{TABLE}, AVX-512")), met);
        }
        let tables = tables(&[
            (&Step::All.table(), &[("pq-core/AVX2", 400.0)]),
            (TABLE, &[("pq-core/AVX2", 10.0), ("PQClean", 13.9)]),
        ]);
        assert!(fails(&tables, &format!("{TABLE}, AVX2: goal 1.40")));
        assert!(!fails(&tables, &format!("{TABLE}, AVX-512")));
    }

    #[test]
    fn portable_code_is_no_slower() {
        for (ours, met) in [(10.0, true), (10.1, false)] {
            let rows = [
                ("pq-core/portable", ours),
                ("RustCrypto", 10.0),
                ("PQClean", 1.0),
            ];
            let tables = on_full_avx512(TABLE, &rows);
            assert_eq!(!fails(&tables, &format!("{TABLE}, portable")), met);
        }
    }

    #[test]
    fn a_part_is_held_against_another_time() {
        for (ours, met) in [(15.0, true), (15.1, false)] {
            let rows = [("pq-hpke", ours), ("pq-cms", 10.0)];
            let tables = on_full_avx512("documents/AES-256-GCM", &rows);
            assert_eq!(!fails(&tables, "pq-hpke, documents/AES-256-GCM"), met);
        }
    }

    #[test]
    fn what_is_not_measured_fails() {
        let rows = [("pq-core/AVX-512", 1.0)];
        let tables = on_full_avx512(TABLE, &rows);
        for what in [
            "ML-DSA-65/verification, AVX-512",
            "ML-DSA-44/verification, AVX-512",
            "batch/ML-KEM-768/encapsulation, AVX-512",
            "rustls-pq/graviola, X25519MLKEM768/ML-DSA-65",
            "pq-core, documents/SHA-512",
            "pq-hpke, documents/AES-256-GCM",
        ] {
            assert!(fails(&tables, what), "{what}");
        }
        let tables = self::tables(&[(TABLE, &rows)]);
        assert!(fails(&tables, "the class of CPU"));
    }
}
