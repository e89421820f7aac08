//! The sections about operations: ours compared with the peers.

use core::error::Error;
use core::fmt::Write;

use crate::chart::{Bar, Chart, Scale, Section, time};
use crate::figures::operations::{Column, Operation, is_ours};
use crate::figures::tables::{Tables, fastest_first};
use crate::place::Place;

/// Appends the section of an operation, and draws its chart.
pub(crate) fn section(
    page: &mut String,
    tables: &Tables,
    operation: &Operation,
    place: &Place,
) -> Result<(), Box<dyn Error>> {
    let heading = operation.heading;
    writeln!(page, "\n## {heading}\n\n{}\n", operation.what)?;
    writeln!(page, "{}\n", place.image(heading, &operation.chart()))?;
    writeln!(
        page,
        "In parentheses: the ratio to ours in the same column.\n"
    )?;
    writeln!(page, "| set | implementation | AVX-512 | AVX2 | portable |")?;
    writeln!(page, "|---|---|---|---|---|")?;

    let mut sections = Vec::new();
    for set in operation.sets {
        let Some(group) = tables.table(&operation.table(set)) else {
            continue;
        };
        write!(page, "| {set} | **pq-core** ")?;
        for column in Column::ALL {
            match group.row(&column.ours()) {
                Some(row) => write!(page, "| **{}** ", time(row.time.median / 1e3))?,
                None => write!(page, "| – ")?,
            }
        }
        writeln!(page, "|")?;
        for peer in fastest_first(group).filter(|row| !is_ours(&row.name)) {
            write!(page, "| | {} ", peer.name)?;
            for column in Column::ALL {
                let ours = group.row(&column.ours());
                match ours.filter(|_| column.counts(&group.name, &peer.name)) {
                    Some(ours) => {
                        let ratio = peer.time.median / ours.time.median;
                        write!(page, "| {} ({ratio:.2}) ", time(peer.time.median / 1e3))?;
                    }
                    None => write!(page, "| – ")?,
                }
            }
            writeln!(page, "|")?;
        }
        sections.push(Section {
            heading: (*set).to_owned(),
            bars: fastest_first(group).map(Bar::of).collect(),
        });
    }
    if sections
        .iter()
        .any(|section| section.bars.iter().any(|bar| bar.label == "graviola"))
        && !operation.name.starts_with("decapsulation")
    {
        writeln!(
            page,
            "\ngraviola's code samples with AVX-512, so its figure does not count in the column AVX2."
        )?;
    }
    Chart {
        title: heading.to_owned(),
        unit: time,
        scale: Scale::OfSection,
        parts: &[],
        sections,
    }
    .write(&place.charts().join(operation.chart()))
}
