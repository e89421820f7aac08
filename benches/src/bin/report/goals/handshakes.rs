//! The goals for handshakes: our time divided by others', client and server together. Also what such goals are.

use core::fmt;

use super::class::{ByClass, Class};
use crate::figures::tables::Tables;

/// A row of a table.
pub(super) struct Row {
    pub(super) table: &'static str,
    pub(super) name: &'static str,
}

/// How much of the other's time ours may take.
pub(crate) struct Asked {
    pub(super) ours: Row,
    pub(super) other: Row,
    /// The comparison in words, for readers who don't know the rows' names.
    pub(crate) what: &'static str,
    pub(super) parts: ByClass,
}

/// All goals for handshakes.
pub(crate) const ASKED: [Asked; 3] = [
    Asked {
        ours: Row {
            table: "handshake/X25519MLKEM768/ML-DSA-65",
            name: "rustls-pq/graviola",
        },
        other: Row {
            table: "handshake/X25519MLKEM768/ML-DSA-65",
            name: "rustls/aws-lc-rs",
        },
        what: "X25519MLKEM768 and ML-DSA-65, divided by the same with AWS-LC",
        parts: ByClass {
            full_avx512: 0.42,
            halved_avx512: 0.45,
            avx2: 0.42,
        },
    },
    Asked {
        ours: Row {
            table: "handshake/X25519MLKEM768/ML-DSA-65",
            name: "rustls-pq/graviola",
        },
        other: Row {
            table: "handshake/x25519/ECDSA-P-256",
            name: "rustls/aws-lc-rs",
        },
        what: "X25519MLKEM768 and ML-DSA-65, divided by X25519 and P-256 with AWS-LC",
        parts: ByClass {
            full_avx512: 0.78,
            halved_avx512: 0.76,
            avx2: 0.73,
        },
    },
    Asked {
        ours: Row {
            table: "handshake/X25519MLKEM768/ECDSA-P-256",
            name: "rustls-pq/graviola",
        },
        other: Row {
            table: "handshake/X25519MLKEM768/ECDSA-P-256",
            name: "rustls/graviola",
        },
        what: "X25519MLKEM768 and P-256, divided by the same with graviola alone",
        parts: ByClass {
            full_avx512: 0.88,
            halved_avx512: 0.90,
            avx2: 0.87,
        },
    },
];

impl Asked {
    /// The goal of a class, if there is one.
    pub(crate) fn part(&self, class: Class) -> Option<f64> {
        self.parts.of(class)
    }

    pub(crate) fn ours(&self) -> String {
        self.ours.to_string()
    }

    pub(crate) fn other(&self) -> String {
        self.other.to_string()
    }

    /// The goal of a class, and the measurement.
    pub(crate) fn goal(&self, tables: &Tables, class: Class) -> Option<Goal> {
        let median = |row: &Row| tables.median(row.table, row.name);
        Some(Goal {
            ours: self.ours(),
            other: self.other(),
            asked: self.part(class)?,
            measured: median(&self.ours)
                .zip(median(&self.other))
                .map(|(ours, other)| ours / other),
        })
    }
}

/// Writes the name as on a page.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.table.strip_prefix("handshake/");
        write!(f, "{}, {}", self.name, table.unwrap_or(self.table))
    }
}

/// A time as a part of another's.
pub(crate) struct Goal {
    pub(crate) ours: String,
    pub(crate) other: String,
    pub(crate) asked: f64,
    pub(crate) measured: Option<f64>,
}

impl Goal {
    pub(crate) fn is_met(&self) -> bool {
        self.measured.is_some_and(|measured| measured <= self.asked)
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} divided by {}: goal at most {:.2}, ",
            self.ours, self.other, self.asked
        )?;
        match self.measured {
            Some(measured) => write!(f, "measured {measured:.2}"),
            None => f.write_str("not measured"),
        }
    }
}
