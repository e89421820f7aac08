//! Durations as people write them.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use crate::policy::file::read_from_strings;

/// Reads a duration such as `90d`: a whole number of seconds (`s`), minutes (`min`), hours (`h`),
/// days (`d`), weeks (`w`) or years of 365 days (`y`).
///
/// # Errors
///
/// A [`DurationError`] that says how durations are written.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let split = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let refused = || DurationError(text.into());
    let (_, seconds) = UNITS
        .into_iter()
        .find(|(name, _)| *name == unit)
        .ok_or_else(refused)?;
    match number.parse::<u32>() {
        Ok(number) if number > 0 => Ok(Duration::from_secs(u64::from(number) * seconds)),
        _ => Err(refused()),
    }
}

/// The text is not a duration.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{0:?} is not a duration: write a whole number above zero and \"s\", \"min\", \"h\", \"d\", \
     \"w\" or \"y\" (365 days), such as \"90d\""
)]
pub struct DurationError(String);

/// The units and their lengths in seconds, the longest last.
const UNITS: [(&str, u64); 6] = [
    ("s", 1),
    ("min", MINUTE),
    ("h", HOUR),
    ("d", DAY),
    ("w", 7 * DAY),
    ("y", 365 * DAY),
];

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// A duration in the file, and in messages.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Period(pub(crate) Duration);

impl Period {
    pub(crate) const fn days(days: u64) -> Self {
        Self(Duration::from_secs(days * DAY))
    }

    /// Rounds a duration down for messages: to whole days from two days on, to whole hours from two
    /// hours on, and so forth.
    pub(crate) fn rounded_down(duration: Duration) -> Self {
        let total = duration.as_secs();
        let units = [DAY, HOUR, MINUTE];
        let unit = units
            .into_iter()
            .find(|unit| total >= 2 * unit)
            .unwrap_or(1);
        Self(Duration::from_secs(total / unit * unit))
    }
}

impl FromStr for Period {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_duration(text).map(Self)
    }
}

read_from_strings!(Period);

impl fmt::Display for Period {
    /// Writes the duration in the longest unit that divides it, but never in weeks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.0.as_secs();
        let mut units = UNITS.into_iter().rev().filter(|(name, _)| *name != "w");
        let unit = units.find(|(_, seconds)| total > 0 && total.is_multiple_of(*seconds));
        let (name, seconds) = unit.unwrap_or(("s", 1));
        write!(f, "{}{name}", total / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_a_number_and_a_unit() {
        for (text, seconds, written) in [
            ("95s", 95, "95s"),
            ("15min", 900, "15min"),
            ("60min", 3600, "1h"),
            ("12h", 43_200, "12h"),
            ("90d", 7_776_000, "90d"),
            ("007d", 604_800, "7d"),
            ("2w", 1_209_600, "14d"),
            ("1y", 31_536_000, "1y"),
            ("366d", 31_622_400, "366d"),
            (
                "4294967295y",
                31_536_000 * u64::from(u32::MAX),
                "4294967295y",
            ),
        ] {
            let read = parse_duration(text).unwrap();
            assert_eq!(read, Duration::from_secs(seconds), "{text}");
            assert_eq!(Period(read).to_string(), written);
        }
    }

    #[test]
    fn nothing_else_is_a_duration() {
        for text in [
            "",
            "d",
            "90",
            "0d",
            "-1d",
            "+1d",
            "1.5h",
            "90 d",
            " 90d",
            "90d ",
            "90D",
            "90days",
            "1m",
            "1h30min",
            "4294967296d",
            "99999999999999999999y",
            "٣d",
        ] {
            assert_eq!(parse_duration(text), Err(DurationError(text.into())));
        }
        assert_eq!(
            parse_duration("90x").unwrap_err().to_string(),
            "\"90x\" is not a duration: write a whole number above zero and \"s\", \"min\", \"h\", \
             \"d\", \"w\" or \"y\" (365 days), such as \"90d\""
        );
    }

    #[test]
    fn durations_are_rounded_down_for_reading() {
        for (seconds, written) in [
            (0, "0s"),
            (119, "119s"),
            (150, "2min"),
            (7199, "119min"),
            (7200, "2h"),
            (172_799, "47h"),
            (172_801, "2d"),
            (31_535_999, "364d"),
        ] {
            let rounded = Period::rounded_down(Duration::from_secs(seconds));
            assert_eq!(rounded.to_string(), written);
        }
    }
}
