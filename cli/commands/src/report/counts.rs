//! Numbers of things as reports write them.

/// A number of things: `1 day`, `2 days`.
pub(crate) fn with_unit(count: u64, unit: &str) -> String {
    match count {
        1 => format!("1 {unit}"),
        _ => format!("{count} {unit}s"),
    }
}
