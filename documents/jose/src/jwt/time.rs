//! Reads the times in tokens, which may have fractions of a second, and rounds them down or up.

use pq_keys::pki_types::UnixTime;
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Number;

/// A NumericDate (RFC 7519, section 2): seconds since 1970, which may have a fraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NumericDate {
    seconds: u64,
    has_fraction: bool,
}

impl NumericDate {
    /// The time, rounded down to a whole second.
    pub(super) fn earliest(self) -> UnixTime {
        at(self.seconds)
    }

    /// The time, rounded up to a whole second.
    pub(super) fn latest(self) -> UnixTime {
        at(self.seconds.saturating_add(self.has_fraction.into()))
    }
}

pub(super) fn at(seconds: u64) -> UnixTime {
    UnixTime::since_unix_epoch(core::time::Duration::from_secs(seconds))
}

/// From here on (the year 285 million), numbers with a fraction or an exponent are no longer exact.
const LIMIT: f64 = (1_u64 << 53) as f64;

impl<'de> Deserialize<'de> for NumericDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = Number::deserialize(deserializer)?;
        if let Some(seconds) = number.as_u64() {
            return Ok(Self {
                seconds,
                has_fraction: false,
            });
        }
        match number.as_f64() {
            Some(seconds) if (0.0..LIMIT).contains(&seconds) => Ok(Self {
                seconds: seconds as u64,
                has_fraction: seconds.fract() > 0.0,
            }),
            _ => Err(D::Error::custom(
                "a time has to be a number of seconds since 1970, and not negative",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_and_edges() {
        let read = |text: &str| serde_json::from_str::<NumericDate>(text);
        for (text, earliest, latest) in [
            ("0", 0, 0),
            ("1.5", 1, 2),
            ("2.0", 2, 2),
            ("-0.0", 0, 0),
            ("1e9", 1_000_000_000, 1_000_000_000),
            ("18446744073709551615", u64::MAX, u64::MAX),
        ] {
            let date = read(text).unwrap();
            assert_eq!((date.earliest(), date.latest()), (at(earliest), at(latest)));
        }
        for bad in [
            "-1",
            "-0.5",
            "1e300",
            "9007199254740992.0",
            "18446744073709551616",
            "\"1\"",
            "null",
            "true",
            "NaN",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
