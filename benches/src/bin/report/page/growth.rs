//! The section about operations on a growing number of items.

use core::error::Error;
use core::fmt::Write;

use benches::ours::growth::{self, Growth};

use crate::chart::time;
use crate::figures::tables::Tables;

/// Appends the section.
pub(crate) fn section(page: &mut String, tables: &Tables) -> Result<(), Box<dyn Error>> {
    let sizes = growth::SIZES.map(growth::row).join(" | ");
    writeln!(
        page,
        "
## What grows

The time of operations that look something up. Each column is a number of items (\"so many\").

| operation | {sizes} |
|---|---|---|---|"
    )?;
    for growth in Growth::ALL {
        write!(page, "| {} ", growth.what)?;
        for size in growth::SIZES {
            match tables.median(&growth.table(), &growth::row(size)) {
                Some(median) => write!(page, "| {} ", time(median / 1e3))?,
                None => write!(page, "| – ")?,
            }
        }
        writeln!(page, "|")?;
    }
    Ok(())
}
