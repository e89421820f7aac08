//! The machine, the compiler and the versions with which the figures were measured.

use core::error::Error;
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs};

use benches::peers::{openssl, program};
use cargo_metadata::{CargoOpt, MetadataCommand};
use spki::der::DateTime;

use crate::figures::tables::Tables;
use crate::goals::class::Class;

/// The peers, by the names of their packages.
const PEERS: [&str; 13] = [
    "aws-lc-rs",
    "aws-lc-sys",
    "fips205",
    "graviola",
    "libcrux-ml-dsa",
    "libcrux-ml-kem",
    "ml-dsa",
    "ml-kem",
    "pqcrypto-mldsa",
    "pqcrypto-mlkem",
    "pqcrypto-sphincsplus",
    "rustls-graviola",
    "slh-dsa",
];

/// The row of [`describe()`] with the CPU.
pub(crate) const CPU: &str = "CPU";

/// The row with the CPU's class.
pub(crate) const CLASS: &str = "class";

/// The row with the hash of the measured sources.
pub(crate) const SOURCES: &str = "sources";

/// The row with the date of the measurement.
pub(crate) const DATE: &str = "date";

/// The rows of a table, each a name and a value, for figures that were measured at this time.
pub(crate) fn describe(
    tables: &Tables,
    class: Class,
    measured: SystemTime,
    sources: &str,
) -> Result<Vec<(&'static str, String)>, Box<dyn Error>> {
    Ok(vec![
        (CPU, cpu()),
        (CLASS, class.to_string()),
        ("operating system", env::consts::OS.to_owned()),
        ("compiler", compiler()?),
        ("peers", versions(&PEERS)?),
        ("libraries in C", libraries(tables, &program::versions())),
        ("OpenSSL", openssl()),
        ("TLS", versions(&["rustls", "rustls-webpki"])?),
        (SOURCES, sources.to_owned()),
        (DATE, date(measured)?),
    ])
}

/// A row of the table, as written on a page.
pub(crate) fn row(what: &str, which: &str) -> String {
    format!("| {what} | {which} |")
}

/// The value of a row, if the page has it.
pub(crate) fn read<'a>(page: &'a str, what: &str) -> Option<&'a str> {
    let begin = format!("| {what} | ");
    page.lines()
        .find_map(|line| line.strip_prefix(&begin)?.strip_suffix(" |"))
}

/// The operating system's name for the CPU.
fn cpu() -> String {
    let description = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |name: &str| {
        let line = description.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim())
    };
    match (value("model name"), value("cpu family"), value("model\t")) {
        (Some(name), Some(family), Some(model)) => {
            format!("{name}, family {family}, model {model}; one core")
        }
        _ => env::consts::ARCH.to_owned(),
    }
}

/// The compiler in `RUSTC`, which cargo sets, or else `rustc`.
fn compiler() -> Result<String, Box<dyn Error>> {
    let program = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(program).arg("--version").output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn openssl() -> String {
    openssl::find().map_or_else(|| "none of 3.5 or later".to_owned(), |found| found.version)
}

/// The libraries with a row, and those without, which could be the strongest.
fn libraries(tables: &Tables, versions: &[(&str, Option<String>)]) -> String {
    let stated = versions.iter().map(|(name, version)| {
        let is_row = |row: &str| {
            row.strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest == "/AVX2")
        };
        match (tables.has_row(is_row), version) {
            (true, Some(version)) => format!("{name}: {version}"),
            (true, None) => format!("{name}: of a version that is no longer there"),
            (false, _) => format!("{name}: not measured"),
        }
    });
    stated.collect::<Vec<_>>().join(", ")
}

fn versions(packages: &[&str]) -> Result<String, Box<dyn Error>> {
    let metadata = MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        // includes peers that are compiled only on request
        .features(CargoOpt::AllFeatures)
        .exec()?;
    let versions: Vec<_> = metadata
        .packages
        .iter()
        .filter(|package| packages.contains(&package.name.as_str()))
        .map(|package| format!("{} {}", package.name, package.version))
        .collect();
    Ok(versions.join(", "))
}

fn date(time: SystemTime) -> Result<String, Box<dyn Error>> {
    let date = DateTime::from_system_time(time)?;
    Ok(format!(
        "{}-{:02}-{:02}",
        date.year(),
        date.month(),
        date.day()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goals::tests::tables;

    #[test]
    fn a_library_that_was_not_measured_is_on_the_page() {
        let rows = [
            ("pq-core/AVX2", 1.0),
            ("OpenSSL", 1.0),
            ("wolfSSL/AVX2", 1.0),
        ];
        let tables = tables(&[("ML-KEM-768/encapsulation", &rows)]);
        let versions = [("wolfSSL", Some("5.9.4".to_owned())), ("OpenSSL 4", None)];
        assert_eq!(
            libraries(&tables, &versions),
            "wolfSSL: 5.9.4, OpenSSL 4: not measured"
        );
    }

    #[test]
    fn every_peer_has_a_version() {
        let versions = versions(&PEERS).unwrap();
        for peer in PEERS {
            assert!(versions.contains(&format!("{peer} ")), "{peer}");
        }
    }

    #[test]
    fn rows_are_read() {
        let page = format!("# Page\n\n{}\n{}\n", row(CPU, "a CPU"), row(DATE, "today"));
        assert_eq!(read(&page, CPU), Some("a CPU"));
        assert_eq!(read(&page, DATE), Some("today"));
        assert_eq!(read(&page, "compiler"), None);
    }
}
