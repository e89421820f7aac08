//! The section about where the time of handshakes goes.

use core::error::Error;
use core::fmt::Write;

use benches::timing::results::Group;
use benches::tls::account;
use benches::tls::handshake::Combination;

use crate::chart::figure;
use crate::figures::tables::Tables;

/// Appends the section, if any of its tables was measured.
pub(crate) fn section(page: &mut String, tables: &Tables) -> Result<(), Box<dyn Error>> {
    let accounts: Vec<_> = account::COMBINATIONS
        .into_iter()
        .filter_map(|combination| {
            let table = tables.table(&account::table(combination))?;
            Some((combination, table))
        })
        .collect();
    if accounts.is_empty() {
        return Ok(());
    }
    writeln!(
        page,
        "
## Where a handshake's time goes

Handshakes of `rustls-pq/graviola` as above, with a clock around every call from rustls to its provider
and to webpki. The rest is rustls's own time. The time of the clock itself is subtracted. Figures are in
microseconds: medians of means over some hundred handshakes. Time for the system's randomness within
another part counts as that part."
    )?;
    for (combination, table) in accounts {
        write(page, combination, table)?;
    }
    Ok(())
}

fn write(page: &mut String, combination: Combination, table: &Group) -> Result<(), Box<dyn Error>> {
    let Combination {
        group,
        authentication,
    } = combination;
    let total: f64 = table.rows.iter().map(|row| row.time.median).sum();
    writeln!(
        page,
        "
{group} with certificates of {authentication}, {} µs in all:

| | client | server | both | share |
|---|---|---|---|---|",
        figure(total / 1e3)
    )?;
    for row in &table.rows {
        let Some(sides) = &row.sides else { continue };
        writeln!(
            page,
            "| {} | {} | {} | {} | {:.0} % |",
            row.name,
            figure(sides.client.median / 1e3),
            figure(sides.server.median / 1e3),
            figure(row.time.median / 1e3),
            100.0 * row.time.median / total,
        )?;
    }
    Ok(())
}
