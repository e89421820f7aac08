//! The goals for long contents: our time divided by others', or by that of another format of ours.

use super::class::ByClass;
use super::handshakes::{Asked, Row};

const HASHING: &str = "documents/SHA-512";
const ENCRYPTION: &str = "documents/AES-256-GCM";

/// OpenSSL measures itself in other seconds, so that equal times differ by some hundredths.
const NO_MORE: f64 = 1.05;

/// All of them.
pub(crate) const ASKED: [Asked; 2] = [
    Asked {
        ours: Row {
            table: HASHING,
            name: "pq-core",
        },
        other: Row {
            table: HASHING,
            name: "OpenSSL",
        },
        what: "SHA-512, divided by OpenSSL's",
        parts: ByClass {
            full_avx512: NO_MORE,
            halved_avx512: NO_MORE,
            avx2: NO_MORE,
        },
    },
    Asked {
        ours: Row {
            table: ENCRYPTION,
            name: "pq-hpke",
        },
        other: Row {
            table: ENCRYPTION,
            name: "pq-cms",
        },
        what: "encryption as HPKE's files, divided by that as CMS",
        parts: ByClass {
            full_avx512: 1.5,
            halved_avx512: 1.5,
            avx2: 1.5,
        },
    },
];

#[cfg(test)]
mod tests {
    use benches::ours::documents::Work;

    use super::*;

    #[test]
    fn tables_and_rows_are_measured() {
        let rows: Vec<_> = Work::ALL.into_iter().flat_map(Work::rows).collect();
        for row in ASKED.iter().flat_map(|asked| [&asked.ours, &asked.other]) {
            let is_it = |measured: &&benches::timing::Row<'_>| {
                measured.group == row.table && measured.name == row.name
            };
            let is_reported = (row.table, row.name) == (HASHING, "OpenSSL");
            assert!(
                is_reported || rows.iter().any(|measured| is_it(&measured)),
                "{row}"
            );
        }
    }
}
