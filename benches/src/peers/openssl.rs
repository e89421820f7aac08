//! OpenSSL, whose program measures itself.
//!
//! It is not a crate that could take turns with the others, so its figures are from the same run but
//! not from the same seconds.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::schemes::set::Operation as _;
use crate::schemes::slh_dsa::Operation;
use crate::timing::results::Timing;

/// An OpenSSL program that is new enough for the comparison.
pub struct Openssl {
    /// Its path.
    pub program: PathBuf,
    /// Such as `3.5.5`.
    pub version: String,
}

/// The program that the environment variable `OPENSSL` names, or else the one on the path. `None` if it
/// is missing or older than 3.5.
pub fn find() -> Option<Openssl> {
    let program = PathBuf::from(env::var_os("OPENSSL").unwrap_or_else(|| "openssl".into()));
    let output = Command::new(&program).arg("version").output().ok()?;
    let version = new_enough(core::str::from_utf8(&output.stdout).ok()?)?.to_owned();
    Some(Openssl { program, version })
}

/// The version in the line that the program prints, if it is at least 3.5.
fn new_enough(line: &str) -> Option<&str> {
    let version = line.strip_prefix("OpenSSL ")?.split_whitespace().next()?;
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    let number: (u32, u32) = (numbers.next()??, numbers.next()??);
    (number >= (3, 5)).then_some(version)
}

/// The results of `openssl speed` for a parameter set of SLH-DSA, by operation. Empty if no program has
/// it.
pub fn slh_dsa(set: &str) -> Vec<(Operation, Timing)> {
    speed(&[set])
        .map(|output| parse(&output))
        .unwrap_or_default()
}

/// The time of SHA-512 for a content of so many bytes, by `openssl speed` with pieces of 64 KiB. `None` if no program
/// has it.
pub fn sha512(len: usize) -> Option<Timing> {
    let rate = rate_of_sha512(&speed(&["-bytes", "65536", "-evp", "sha512"])?)?;
    Some(Timing::reported("OpenSSL", len as f64 * 1e9 / rate))
}

/// What `openssl speed` prints.
fn speed(what: &[&str]) -> Option<String> {
    let mut command = Command::new(find()?.program);
    command.args(["speed", "-mr", "-seconds", "1"]).args(what);
    let output = command.output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Reads the line with the result, whose last field is bytes a second.
fn rate_of_sha512(output: &str) -> Option<f64> {
    let mut lines = output.lines();
    let line = lines.find(|line| line.starts_with("+F:") && line.contains(":sha512:"))?;
    let rate = line.rsplit(':').next()?.parse().ok()?;
    (rate > 0.0).then_some(rate)
}

/// Reads the line with the results, whose last fields are operations a second: key
/// generations, signatures and verifications.
fn parse(output: &str) -> Vec<(Operation, Timing)> {
    let Some(line) = output.lines().find_map(|line| line.strip_prefix("+F10:")) else {
        return Vec::new();
    };
    line.split(':')
        .skip(1)
        .filter_map(|rate| rate.parse::<f64>().ok())
        .filter(|rate| *rate > 0.0)
        .zip(Operation::ALL)
        .map(|(rate, operation)| (*operation, Timing::reported("OpenSSL", 1e9 / rate)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        for (line, expected) in [
            ("OpenSSL 3.5.5 27 Jan 2026 (Library: …)", Some("3.5.5")),
            ("OpenSSL 4.0.0-dev  (Library: …)", Some("4.0.0-dev")),
            ("OpenSSL 3.0.19 27 Jan 2026", None),
            ("LibreSSL 4.0.0", None),
            ("", None),
        ] {
            assert_eq!(new_enough(line), expected, "{line}");
        }
    }

    #[test]
    fn the_summary_is_read() {
        let output = "+DTP:SLH-DSA-SHAKE-128f:keygen:1\n+F10:19:800.000000:33.333333:500.000000\n";
        let read: Vec<_> = parse(output)
            .into_iter()
            .map(|(operation, timing)| (operation, timing.time.median.round()))
            .collect();
        assert_eq!(
            read,
            [
                (Operation::KeyGeneration, 1_250_000.0),
                (Operation::Signing, 30_000_000.0),
                (Operation::Verification, 2_000_000.0)
            ]
        );
    }

    #[test]
    fn the_rate_of_a_hash_is_read() {
        let output =
            "+DT:sha512:1:65536\n+R:13423:sha512:0.74\n+H:65536\n+F:25:sha512:1188769902.70\n";
        assert_eq!(rate_of_sha512(output), Some(1_188_769_902.7));
    }

    #[test]
    fn other_output_is_nothing() {
        for output in [
            "",
            "+F:25:sha512:0.00\n",
            "+F:25:sha384:1.00\n",
            "+F:25:sha512:\n",
        ] {
            assert_eq!(rate_of_sha512(output), None, "{output}");
        }
        assert!(parse("").is_empty());
        assert!(parse("speed: Unknown algorithm SLH-DSA-SHAKE-128f\n").is_empty());
    }
}
