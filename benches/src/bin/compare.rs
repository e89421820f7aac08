//! Prints what `cargo bench -p benches` measured, and fails where pq-core's portable
//! code is slower than RustCrypto's, or where there is nothing to compare.
//!
//! Usage: `cargo run --profile bench -p benches --bin compare [criterion's folder]`.
//! Without an argument that is `criterion` in the target folder. (The profile only saves
//! compiling the peers once more.)
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::collections::BTreeMap;
use core::error;
use core::time::Duration;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;
use std::{env, fs, io};

use benches::{ml_dsa, ml_kem};
use serde::Deserialize;

fn main() -> ExitCode {
    match compare() {
        Ok(failures) if failures.is_empty() => {
            println!("{OURS} is no slower than {RIVAL} in any operation.");
            ExitCode::SUCCESS
        }
        Ok(failures) => {
            for failure in failures {
                eprintln!("FAILED {failure}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

const OURS: &str = "pq-core/portable";
const RIVAL: &str = "RustCrypto";

/// Rows of a group that were measured further apart than this are not from one run: the
/// machine was busy with other things, and the code may have been other code.
const ONE_RUN: Duration = Duration::from_secs(30 * 60);

/// Prints a table for each group, and returns what is wrong.
fn compare() -> Result<Vec<String>, Box<dyn error::Error>> {
    let folder = match env::args_os().nth(1) {
        Some(argument) => PathBuf::from(argument),
        None => criterion_folder()?,
    };
    let mut groups = BTreeMap::new();
    read(&folder, &mut groups).map_err(|error| {
        format!(
            "{}: {error}; run `cargo bench -p benches` first",
            folder.display()
        )
    })?;

    let mut failures = Vec::new();
    for group in expected_groups() {
        let rows = keep_last_run(groups.remove(&group).unwrap_or_default());
        print(&group, &rows);
        failures.extend(verdict(&group, &rows));
    }
    for (group, rows) in groups {
        print(&group, &keep_last_run(rows));
    }
    Ok(failures)
}

/// Every group that must have been measured for the comparison with RustCrypto.
fn expected_groups() -> impl Iterator<Item = String> {
    let kem = ["ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"]
        .into_iter()
        .flat_map(|set| ml_kem::Operation::ALL.map(|operation| format!("{set}/{operation}")));
    let dsa = ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"]
        .into_iter()
        .flat_map(|set| ml_dsa::Operation::ALL.map(|operation| format!("{set}/{operation}")));
    kem.chain(dsa)
}

/// What is wrong with a group, if anything is.
fn verdict(group: &str, rows: &[Row]) -> Option<String> {
    let row = |name: &str| rows.iter().find(|row| row.name == name);
    let (Some(ours), Some(rival)) = (row(OURS), row(RIVAL)) else {
        return Some(format!(
            "{group}: the last run did not measure both {OURS} and {RIVAL}"
        ));
    };
    (ours.median > rival.median).then(|| {
        format!(
            "{group}: {OURS} takes {:.2} µs and {RIVAL} {:.2} µs",
            ours.median / 1e3,
            rival.median / 1e3
        )
    })
}

/// One implementation in one group.
struct Row {
    name: String,
    /// Nanoseconds for an operation.
    median: f64,
    measured: SystemTime,
}

/// Drops rows of earlier runs, and sorts the rest, fastest first.
fn keep_last_run(mut rows: Vec<Row>) -> Vec<Row> {
    let last = rows.iter().map(|row| row.measured).max();
    rows.retain(|row| {
        last.is_some_and(|last| {
            last.duration_since(row.measured)
                .is_ok_and(|age| age <= ONE_RUN)
        })
    });
    rows.sort_by(|a, b| a.median.total_cmp(&b.median));
    rows
}

/// The table of a group: medians, and each as a multiple of our fastest.
fn print(group: &str, rows: &[Row]) {
    let ours = rows
        .iter()
        .find(|row| row.name.starts_with("pq-core/") || row.name.starts_with("rustls-pq/"));
    println!("{group}");
    for row in rows {
        print!("  {:<24}{:>10.2} µs", row.name, row.median / 1e3);
        match ours {
            Some(ours) => println!("{:>8.2}", row.median / ours.median),
            None => println!(),
        }
    }
    println!();
}

/// Collects the latest result of each benchmark below `folder`.
fn read(folder: &Path, groups: &mut BTreeMap<String, Vec<Row>>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if !path.is_dir() {
            continue;
        }
        let estimates = path.join("estimates.json");
        if path.ends_with("new") && estimates.exists() {
            let id: Id = serde_json::from_slice(&fs::read(path.join("benchmark.json"))?)?;
            let measured = fs::metadata(&estimates)?.modified()?;
            let estimates: Estimates = serde_json::from_slice(&fs::read(estimates)?)?;
            groups.entry(id.group_id).or_default().push(Row {
                name: id.function_id,
                median: estimates.median.point_estimate,
                measured,
            });
        } else {
            read(&path, groups)?;
        }
    }
    Ok(())
}

/// `criterion` beside the profile's folder that this program is in, unless criterion was
/// told otherwise.
fn criterion_folder() -> Result<PathBuf, Box<dyn error::Error>> {
    if let Some(folder) = env::var_os("CRITERION_HOME") {
        return Ok(folder.into());
    }
    let program = env::current_exe()?;
    let target = program
        .ancestors()
        .nth(2)
        .ok_or("this program is in no target folder; give criterion's folder as an argument")?;
    Ok(target.join("criterion"))
}

/// Of criterion's `benchmark.json`, what names the row.
#[derive(Deserialize)]
struct Id {
    group_id: String,
    function_id: String,
}

/// Of criterion's `estimates.json`, the median.
#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    /// Nanoseconds.
    point_estimate: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: &str = "ML-KEM-768/encapsulation";

    fn row(name: &str, median: f64, age: Duration) -> Row {
        Row {
            name: name.into(),
            median,
            measured: SystemTime::UNIX_EPOCH + 2 * ONE_RUN - age,
        }
    }

    #[test]
    fn as_fast_is_fine_and_slower_is_not() {
        for (ours, passes) in [(1000.0, true), (2000.0, true), (2001.0, false)] {
            let rows = [
                row(OURS, ours, Duration::ZERO),
                row(RIVAL, 2000.0, Duration::ZERO),
            ];
            assert_eq!(verdict(GROUP, &rows).is_none(), passes, "{ours}");
        }
    }

    #[test]
    fn both_must_be_of_the_last_run() {
        let fresh = Duration::ZERO;
        let stale = ONE_RUN + Duration::from_secs(1);
        for (ours, rival, passes) in [
            (fresh, fresh, true),
            (fresh, ONE_RUN, true),
            (stale, fresh, false),
            (fresh, stale, false),
        ] {
            let rows = keep_last_run(vec![row(RIVAL, 2.0, rival), row(OURS, 1.0, ours)]);
            assert_eq!(verdict(GROUP, &rows).is_none(), passes);
        }
        assert!(verdict(GROUP, &keep_last_run(Vec::new())).is_some());
    }

    #[test]
    fn reads_what_criterion_writes() {
        let folder = env::temp_dir().join(format!("compare-{}", std::process::id()));
        let row = folder.join("group").join("row").join("new");
        fs::create_dir_all(&row).unwrap();
        fs::write(
            row.join("benchmark.json"),
            r#"{"group_id":"group/a","function_id":"row/b","value_str":null}"#,
        )
        .unwrap();
        fs::write(
            row.join("estimates.json"),
            r#"{"mean":{"point_estimate":9.0},"median":{"point_estimate":7.5}}"#,
        )
        .unwrap();

        let mut groups = BTreeMap::new();
        read(&folder, &mut groups).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let [row] = &groups["group/a"][..] else {
            panic!("not one row");
        };
        assert_eq!((row.name.as_str(), row.median), ("row/b", 7.5));
    }
}
