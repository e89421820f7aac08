//! The section about batches.

use core::error::Error;
use core::fmt::Write;

use benches::ours::batches::{self, Batch};

use crate::chart::time;
use crate::figures::floor::floors;
use crate::figures::operations::Column;
use crate::figures::tables::Tables;
use crate::goals::batches::{PART, allowed, gain, goal};
use crate::goals::class::Class;
use crate::goals::verdict;

/// Appends the section.
pub(crate) fn section(
    page: &mut String,
    tables: &Tables,
    class: Class,
) -> Result<(), Box<dyn Error>> {
    writeln!(
        page,
        "
## Batches

{} operations with different keys in one call, which share the lanes, compared with the same operations
one by one: the time of one operation (from bytes to bytes if keys are not in memory), and the ratio of
a batch's throughput to that of single operations.

The allowed ratio assumes that only the permutations get faster: in a batch an operation takes as long
above the floor of one of many as a single one takes above its own floor. The goal is {PART} of that. A
batch can gain more if single operations leave lanes empty that the floor counts as full.

| operation | allowed | goal | AVX-512: single | batch | ratio | AVX2: single | batch | ratio | portable: ratio |
|---|---|---|---|---|---|---|---|---|---|",
        batches::SIZE
    )?;
    let asked_in = class.column();
    let floors = asked_in.map(|column| floors(tables, column));
    let floors = floors.unwrap_or_default();
    for batch in Batch::ALL {
        let allowed = asked_in.and_then(|column| allowed(tables, batch, column, &floors));
        let goal = allowed.and_then(|_| goal(tables, batch, class, &floors));
        let allowed = allowed.map_or_else(|| "–".to_owned(), |allowed| format!("{allowed:.2}"));
        let asked = goal.as_ref().map(|goal| format!("≥ {:.2}", goal.asked));
        let asked = asked.unwrap_or_else(|| "–".to_owned());
        let operation = batch.operation.replace('-', " ");
        write!(page, "| {} {operation} | {allowed} | {asked} ", batch.set)?;
        for column in Column::ALL {
            if column != Column::Portable {
                for row in [batches::one_by_one, batches::together] {
                    match tables.median(&batch.table(), &row(column.heading())) {
                        Some(median) => write!(page, "| {} ", time(median / 1e3))?,
                        None => write!(page, "| – ")?,
                    }
                }
            }
            match (gain(tables, batch, column), &goal) {
                (gain, Some(goal)) if asked_in == Some(column) => {
                    write!(page, "| {} ", verdict(gain, goal.is_met()))?;
                }
                (Some(gain), _) => write!(page, "| {gain:.2} ")?,
                (None, _) => write!(page, "| – ")?,
            }
        }
        writeln!(page, "|")?;
    }
    Ok(())
}
