//! The section about the floor: the least time that permutations need.

use core::error::Error;
use core::fmt::Write;

use benches::ours::keccak::Step;

use crate::chart::time;
use crate::figures::floor::floors;
use crate::figures::operations::Column;
use crate::figures::tables::Tables;

/// Appends the section, if permutations were measured in the column.
pub(crate) fn section(
    page: &mut String,
    tables: &Tables,
    column: Column,
) -> Result<(), Box<dyn Error>> {
    let (Some(all), Some(few)) = (
        tables.step(Step::All, column),
        tables.step(Step::Few, column),
    ) else {
        return Ok(());
    };
    let lanes = column.lanes();
    writeln!(
        page,
        "
## The floor

With {} a step of {} Keccak permutations takes {all:.0} ns, and a step of up to {} takes {few:.0} ns.
Permutations that each need the one before form a chain. An operation takes at least the shorter of these
times for each permutation of its longest chain. It also takes at least as long as all its permutations
with full lanes: that is the floor for one of many operations. Arithmetic comes on top. Signing counts the
expected number of attempts.

| operation | permutations: chain | all | floor | floor of one of many | ours | ours / floor |
|---|---|---|---|---|---|---|",
        column.heading(),
        lanes.all,
        lanes.few,
    )?;
    for floor in floors(tables, column) {
        writeln!(
            page,
            "| {} {} | {} | {} | {} | {} | {} | {:.2} |",
            floor.set,
            floor.operation.replace('-', " "),
            floor.chain(),
            floor.all(),
            time(floor.floor / 1e3),
            time(floor.of_many / 1e3),
            time(floor.ours / 1e3),
            floor.ratio(),
        )?;
    }
    Ok(())
}
