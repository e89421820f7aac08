//! Keccak-f\[1600\] on all lanes of each backend: the unit in which the floor of other
//! operations is counted.

use core::hint::black_box;

use pq_core::arch::Backend;
use pq_core::permute_lanes;

use crate::{Passes, Row};

/// The name of the table.
pub const TABLE: &str = "Keccak-f[1600]/all-lanes";

/// The rows of the table. One operation is one permutation of all lanes.
pub fn rows() -> Vec<Row<'static>> {
    let mut rows = Vec::new();
    pq_core::on_each_backend!(backend => rows.push(row(backend)));
    rows
}

fn row<B: Backend>(backend: B) -> Row<'static> {
    const PERMUTATIONS: usize = 100;
    Row {
        group: TABLE.into(),
        name: format!("pq-core/{}", B::NAME),
        passes: Passes::new(PERMUTATIONS, move || {
            black_box(permute_lanes(backend, PERMUTATIONS));
        }),
    }
}
