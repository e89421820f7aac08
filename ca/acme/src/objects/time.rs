//! Times as RFC 3339 writes them.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use pq_keys::der::DateTime;
use pq_keys::encoding::rfc3339;
use pq_keys::pki_types::UnixTime;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A time, to the second. It is written in UTC, and read with any offset; fractions of a second are left out.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Time(u64);

impl Time {
    /// This many seconds after the beginning of 1970.
    pub fn from_secs(seconds: u64) -> Self {
        Self(seconds)
    }

    /// The seconds since the beginning of 1970.
    pub fn as_secs(self) -> u64 {
        self.0
    }

    /// This much later.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.as_secs()))
    }

    /// How long it is until a later time, or nothing.
    pub fn until(self, later: Self) -> Duration {
        Duration::from_secs(later.0.saturating_sub(self.0))
    }
}

impl From<UnixTime> for Time {
    fn from(time: UnixTime) -> Self {
        Self(time.as_secs())
    }
}

impl From<Time> for UnixTime {
    fn from(time: Time) -> Self {
        Self::since_unix_epoch(Duration::from_secs(time.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&rfc3339((*self).into()))
    }
}

/// The text is no time of RFC 3339 after 1970.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a time as RFC 3339 writes it, such as 2026-11-30T12:00:00Z")]
pub struct NoTime;

impl FromStr for Time {
    type Err = NoTime;

    fn from_str(text: &str) -> Result<Self, NoTime> {
        read(text).map(Self).ok_or(NoTime)
    }
}

/// `YYYY-MM-DDTHH:MM:SS`, a fraction or none, `Z` or an offset.
fn read(text: &str) -> Option<u64> {
    let (date_time, rest) = text.split_at_checked(19)?;
    let bytes = date_time.as_bytes();
    let separators = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    let are_there = separators.iter().all(|(at, byte)| bytes[*at] == *byte);
    if !are_there || !matches!(bytes[10], b'T' | b't') {
        return None;
    }
    let number = |from: usize, to: usize| digits(&date_time[from..to]);
    let [month, day, hour, minute, second] =
        [(5, 7), (8, 10), (11, 13), (14, 16), (17, 19)].map(|(from, to)| number(from, to));
    // A leap second is the one before it.
    let second = second.map(|second| second.min(59) + u16::from(second > 60) * 60)?;
    let narrow = |number: Option<u16>| number.and_then(|number| u8::try_from(number).ok());
    let time = DateTime::new(
        number(0, 4)?,
        narrow(month)?,
        narrow(day)?,
        narrow(hour)?,
        narrow(minute)?,
        u8::try_from(second).ok()?,
    );
    let seconds = time.ok()?.unix_duration().as_secs();
    let offset = match rest.strip_prefix('.') {
        None => rest,
        Some(fraction) => {
            let end = fraction.find(|c: char| !c.is_ascii_digit())?;
            (end > 0).then(|| &fraction[end..])?
        }
    };
    if matches!(offset, "Z" | "z") {
        return Some(seconds);
    }
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    if offset.len() != 6 || hours > 23 || minutes > 59 {
        return None;
    }
    let offset_seconds = u64::from(hours) * 3600 + u64::from(minutes) * 60;
    match offset.as_bytes()[0] {
        b'+' => seconds.checked_sub(offset_seconds),
        b'-' => seconds.checked_add(offset_seconds),
        _ => None,
    }
}

fn digits(text: &str) -> Option<u16> {
    let are_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    are_digits.then(|| text.parse().ok())?
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written_and_with_offsets() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-11-30T12:00:00Z", 1_796_040_000),
            ("2026-11-30T12:00:00.25Z", 1_796_040_000),
            ("2026-11-30T13:30:00+01:30", 1_796_040_000),
            ("2026-11-30t11:00:00.123456789-01:00", 1_796_040_000),
            ("2026-11-30T11:59:60Z", 1_796_039_999),
        ] {
            let time: Time = text.parse().unwrap();
            assert_eq!(time.as_secs(), seconds, "{text}");
            assert_eq!(time.to_string().parse(), Ok(time));
        }
        for bad in [
            "",
            "2026-11-30",
            "2026-11-30T12:00:00",
            "2026-11-30 12:00:00Z",
            "2026-13-30T12:00:00Z",
            "2026-02-30T12:00:00Z",
            "2026-11-30T12:00:61Z",
            "2026-11-30T12:00:00.Z",
            "2026-11-30T12:00:00+1:00",
            "2026-11-30T12:00:00+24:00",
            "2026-11-30T12:00:00ZZ",
            "+026-11-30T12:00:00Z",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+01:00",
            "2026-11-30T12:00:0äZ",
        ] {
            assert_eq!(bad.parse::<Time>(), Err(NoTime), "{bad}");
        }
    }
}
