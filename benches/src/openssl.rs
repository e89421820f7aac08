//! OpenSSL, whose program measures itself.
//!
//! It is no crate that could take its turn with the others, so its figures are of the same
//! run but not of the same seconds.

use std::env;
use std::process::Command;

use crate::results::Timing;
use crate::slh_dsa::Operation;

/// What `openssl speed` says of a parameter set of SLH-DSA, by operation.
///
/// The program is the one that the environment variable `OPENSSL` names, or that on the
/// path. Nothing, if that is missing or older than 3.5.
pub fn slh_dsa(set: &str) -> Vec<(Operation, Timing)> {
    let program = env::var_os("OPENSSL").unwrap_or_else(|| "openssl".into());
    let output = Command::new(program)
        .args(["speed", "-mr", "-seconds", "1", set])
        .output();
    let Ok(output) = output else {
        return Vec::new();
    };
    parse(&String::from_utf8_lossy(&output.stdout))
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
        .map(|(rate, operation)| (operation, Timing::reported("OpenSSL", 1e9 / rate)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn other_output_is_nothing() {
        assert!(parse("").is_empty());
        assert!(parse("speed: Unknown algorithm SLH-DSA-SHAKE-128f\n").is_empty());
    }
}
