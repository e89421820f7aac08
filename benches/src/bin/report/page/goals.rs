//! The section with goals and measurements, from which the overview reads the measurements.

use core::error::Error;
use core::fmt::Write;

use crate::figures::operations::Column;
use crate::figures::tables::Tables;
use crate::goals::class::Class;
use crate::goals::handshakes::Asked;
use crate::goals::{documents, handshakes, operations, verdict};

/// Appends the section.
pub(crate) fn section(
    page: &mut String,
    tables: &Tables,
    class: Class,
) -> Result<(), Box<dyn Error>> {
    let asked_in = class.column();
    writeln!(
        page,
        "
## Goals and measurements

Ratios to the fastest peer, and the goals for CPUs with {class}.
If a peer can't keep a verifying key expanded, its verification from bytes counts."
    )?;
    let beside = asked_in == Some(Column::Avx512);
    if beside {
        page.push_str(
            "
The columns on the right compare our code without AVX-512 with peers whose code stops at AVX2.
graviola counts there for decapsulation only: it samples with AVX-512, and a release build of it
can't turn that off. wolfSSL counts by its row without AVX-512. These columns have no goals: CPUs
without AVX-512 are a class of their own.
",
        );
    }
    page.push_str("\n| operation | goal | measured | fastest peer |");
    page.push_str(if beside {
        " AVX2 alone | fastest peer |\n|---|---|---|---|---|---|\n"
    } else {
        "\n|---|---|---|---|\n"
    });
    for asked in operations::asked() {
        let none = || "–".to_owned();
        let (ratio, measured, peer) = match asked.goal(tables, class) {
            Some(goal) => (
                format!("≥ {:.2}", goal.asked),
                verdict(goal.measured, goal.is_met()),
                goal.peer.unwrap_or_else(none),
            ),
            None => (none(), none(), none()),
        };
        write!(page, "| {} | {ratio} | {measured} | {peer} |", asked.what())?;
        if beside {
            match asked.measured(tables, Column::Avx2) {
                Some((ratio, peer)) => write!(page, " {ratio:.2} | {peer} |")?,
                None => write!(page, " – | – |")?,
            }
        }
        page.push('\n');
    }

    page.push_str(
        "
For handshakes, the CPU time of client and server together, ours divided by the other's:
",
    );
    parts(page, &handshakes::ASKED, tables, class)?;
    page.push_str(
        "
For a content of 4 MiB, the time that it takes to hash or to encrypt it, divided by another's:
",
    );
    parts(page, &documents::ASKED, tables, class)
}

/// Appends a table of times as parts of others.
fn parts(
    page: &mut String,
    all: &[Asked],
    tables: &Tables,
    class: Class,
) -> Result<(), Box<dyn Error>> {
    page.push_str(
        "
| ours | the other | goal | measured |
|---|---|---|---|
",
    );
    for asked in all {
        let Some(goal) = asked.goal(tables, class) else {
            continue;
        };
        let measured = verdict(goal.measured, goal.is_met());
        writeln!(
            page,
            "| {} | {} | ≤ {:.2} | {measured} |",
            goal.ours, goal.other, goal.asked
        )?;
    }
    Ok(())
}

/// The measured ratio of an operation on a page.
pub(crate) fn read_operation(page: &str, what: &str) -> Option<f64> {
    read(page, &[what], 1)
}

/// The measured ratio of a handshake on a page.
pub(crate) fn read_handshake(page: &str, ours: &str, other: &str) -> Option<f64> {
    read(page, &[ours, other], 1)
}

/// The figure `behind` cells after the cells `first`, with which its line begins.
fn read(page: &str, first: &[&str], behind: usize) -> Option<f64> {
    let begin = format!("| {} | ", first.join(" | "));
    let mut found = page.lines().filter_map(|line| line.strip_prefix(&begin));
    let cell = found.find_map(|rest| {
        rest.starts_with(['≥', '≤'])
            .then(|| rest.split(" | ").nth(behind))?
    })?;
    let figure = cell.trim_end_matches(" |").trim_end_matches(" (missed)");
    figure.trim_matches('*').parse().ok()
}

#[cfg(test)]
mod tests {
    use benches::ours::keccak::Step;

    use super::*;
    use crate::goals::tests::tables;

    #[test]
    fn what_is_written_is_read() {
        let ours = "pq-core/AVX-512";
        let both = |name, time| [("rustls-pq/graviola", time), (name, 100.0)];
        let tables = tables(&[
            (&Step::All.table(), &[(ours, 200.0)]),
            (&Step::Few.table(), &[(ours, 200.0)]),
            (
                "ML-KEM-768/key-generation",
                &[(ours, 100.0), ("PQClean", 171.0)],
            ),
            (
                "ML-KEM-768/encapsulation",
                &[(ours, 100.0), ("PQClean", 171.0)],
            ),
            (
                "handshake/X25519MLKEM768/ML-DSA-65",
                &both("rustls/aws-lc-rs", 43.0),
            ),
        ]);
        let mut page = String::new();
        section(&mut page, &tables, Class::FullAvx512).unwrap();
        for (what, measured) in [
            ("ML-KEM-768 key generation", Some(1.71)),
            ("ML-KEM-768 encapsulation", Some(1.71)),
            ("ML-KEM-768 decapsulation", None),
            ("ML-KEM-768", None),
        ] {
            assert_eq!(read_operation(&page, what), measured, "{what}\n{page}");
        }
        let [first, second, _] = &handshakes::ASKED;
        assert_eq!(
            read_handshake(&page, &first.ours(), &first.other()),
            Some(0.43)
        );
        assert_eq!(read_handshake(&page, &second.ours(), &second.other()), None);
    }
}
