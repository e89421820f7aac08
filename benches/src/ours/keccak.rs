//! Keccak-f\[1600\] on the lanes of each backend: the unit of the other operations' floor.

use pq_core::arch::Backend;
use pq_core::{permute_few_lanes, permute_lanes};

use crate::timing::{Passes, Row};

/// How many lanes take part in a step.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// All lanes of the backend.
    All,
    /// The lanes that it uses if there is not enough work for all.
    Few,
}

impl Step {
    /// Both steps.
    pub const ALL: [Self; 2] = [Self::All, Self::Few];

    /// The name of the table.
    pub fn table(self) -> String {
        let lanes = match self {
            Self::All => "all",
            Self::Few => "few",
        };
        format!("Keccak-f[1600]/{lanes}-lanes")
    }

    /// The rows of the table. One operation is one permutation of the lanes.
    pub fn rows(self) -> Vec<Row<'static>> {
        let mut rows = Vec::new();
        pq_core::on_each_backend!(backend => rows.push(self.row(backend)));
        rows
    }

    fn row<B: Backend>(self, backend: B) -> Row<'static> {
        const PERMUTATIONS: usize = 100;
        let permute = match self {
            Self::All => permute_lanes,
            Self::Few => permute_few_lanes,
        };
        Row {
            group: self.table(),
            name: format!("pq-core/{}", B::NAME),
            passes: Passes::new(PERMUTATIONS, move || {
                permute(backend, PERMUTATIONS);
            }),
        }
    }
}
