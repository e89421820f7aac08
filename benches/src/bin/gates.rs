//! Fails if a measured ratio is worse than the one in `benches/gates.toml` by more than its margin.
//!
//! A gate holds one row of a table against another of the same table, which was measured in the same run: times differ from
//! machine to machine and from day to day, ratios less.
#![forbid(unsafe_code)]

use core::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use benches::sources;
use benches::timing::results::{self, Group, Measured};
use clap::Parser;
use serde::{Deserialize, Serialize};

/// Compares what `cargo bench -p benches -- keystore` measured with the ratios in a file.
#[derive(Parser)]
struct Options {
    /// The file with the gates
    #[arg(long, value_name = "FILE", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/gates.toml"))]
    file: PathBuf,

    /// Write the measured ratios into the file; the margins stay
    #[arg(long)]
    write: bool,
}

/// The file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Gates {
    gates: Vec<Gate>,
}

/// One line of it.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Gate {
    table: String,
    row: String,
    /// The row that it is divided by.
    over: String,
    /// What was measured when the file was written.
    ratio: f64,
    /// How much more of that may be measured: 0.1 for a tenth.
    margin: f64,
}

impl Gate {
    fn most(&self) -> f64 {
        self.ratio * (1.0 + self.margin)
    }

    /// The ratio in the tables of a run with these sources.
    fn measured(&self, tables: &[Measured<Group>], sources: &str) -> Result<f64, String> {
        let Self {
            table, row, over, ..
        } = self;
        let found = tables.iter().find(|found| found.table.name == *table);
        let found = found.ok_or_else(|| format!("{table} was not measured"))?;
        if found.sources != sources {
            return Err(format!("{table} was measured with other sources"));
        }
        let time = |name: &str| {
            let row = found.table.row(name);
            let row = row.ok_or_else(|| format!("{table} has no row {name}"))?;
            Ok::<_, String>(row.time.median)
        };
        Ok(time(row)? / time(over)?)
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let options = Options::parse();
    let sources = sources::hash(sources::repository())?;
    let tables = results::load(&results::folder()?).map_err(|error| {
        format!("{error}: measure with `cargo bench -p benches -- keystore` first")
    })?;
    let mut gates: Gates = toml::from_str(&fs::read_to_string(&options.file)?)?;
    let (mut failed, mut missing) = (false, false);
    for gate in &mut gates.gates {
        let measured = gate.measured(&tables, &sources);
        let (verdict, figure) = match &measured {
            Ok(ratio) if *ratio <= gate.most() => ("holds", format!("{ratio:.3}")),
            Ok(ratio) => ("FAILS", format!("{ratio:.3}")),
            Err(error) => ("FAILS", error.clone()),
        };
        failed |= verdict == "FAILS";
        missing |= measured.is_err();
        println!(
            "{verdict}: {}, {} over {}: {figure}, at most {:.3}",
            gate.table,
            gate.row,
            gate.over,
            gate.most()
        );
        if let Ok(ratio) = measured {
            gate.ratio = (ratio * 1e3).round() / 1e3;
        }
    }
    if options.write && missing {
        return Err("not all of them were measured, so the file stays as it is".into());
    }
    if options.write {
        let text = fs::read_to_string(&options.file)?;
        fs::write(&options.file, with_ratios(&text, &gates)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::from(u8::from(failed)))
}

/// The file's text with the ratios of these gates: its comments stay.
fn with_ratios(text: &str, gates: &Gates) -> Result<String, Box<dyn Error>> {
    let mut ratios = gates.gates.iter().map(|gate| gate.ratio);
    let lines = text.lines().map(|line| match line.starts_with("ratio = ") {
        true => ratios.next().map(|ratio| format!("ratio = {ratio}\n")),
        false => Some(format!("{line}\n")),
    });
    lines
        .collect::<Option<String>>()
        .ok_or_else(|| "a line of the file begins with `ratio` and is no gate's".into())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use benches::custody::Custody;
    use benches::timing::results::{Quartiles, Timing};

    use super::*;

    const FILE: &str = include_str!("../../gates.toml");

    fn table(rows: [(&str, f64); 2]) -> [Measured<Group>; 1] {
        let row = |(name, median): (&str, f64)| Timing {
            name: name.into(),
            samples: 1,
            time: Quartiles {
                lower: median,
                median,
                upper: median,
            },
            sides: None,
        };
        [Measured {
            sources: "0123".into(),
            table: Group {
                name: "table".into(),
                measured: SystemTime::UNIX_EPOCH,
                rows: rows.map(row).into(),
            },
        }]
    }

    fn gate() -> Gate {
        Gate {
            table: "table".into(),
            row: "row".into(),
            over: "over".into(),
            ratio: 1.5,
            margin: 0.1,
        }
    }

    #[test]
    fn ratios_are_of_rows_of_one_table() {
        let tables = table([("over", 2.0), ("row", 3.3)]);
        let measured = gate().measured(&tables, "0123").unwrap();
        assert!((measured - 1.65).abs() < 1e-9);
        assert!((gate().most() - 1.65).abs() < 1e-9);
    }

    #[test]
    fn what_is_missing_or_old_fails() {
        let tables = table([("over", 2.0), ("other", 3.0)]);
        for (tables, sources, complaint) in [
            (&tables[..], "0123", "table has no row row"),
            (&tables[..], "4567", "table was measured with other sources"),
            (&[], "0123", "table was not measured"),
        ] {
            assert_eq!(gate().measured(tables, sources).unwrap_err(), complaint);
        }
    }

    /// Rows that need no process or network are made, and the file names tables that there are.
    #[test]
    fn the_file_names_rows_that_there_are() {
        let gates: Gates = toml::from_str(FILE).unwrap();
        assert!(!gates.gates.is_empty());
        for gate in gates.gates {
            let custody = Custody::ALL
                .iter()
                .find(|custody| custody.table() == gate.table)
                .unwrap_or_else(|| panic!("{}", gate.table));
            if gate.table == "keystore/door" {
                continue;
            }
            let rows = custody.rows().unwrap();
            for name in [&gate.row, &gate.over] {
                assert!(rows.iter().any(|row| row.name == *name), "{name}");
            }
        }
    }

    #[test]
    fn only_ratios_are_written() {
        let mut gates: Gates = toml::from_str(FILE).unwrap();
        assert_eq!(with_ratios(FILE, &gates).unwrap(), FILE);
        gates.gates[0].ratio = 7.25;
        let written = with_ratios(FILE, &gates).unwrap();
        let differ = FILE.lines().zip(written.lines()).filter(|(a, b)| a != b);
        assert_eq!(differ.map(|(_, b)| b).collect::<Vec<_>>(), ["ratio = 7.25"]);
    }
}
