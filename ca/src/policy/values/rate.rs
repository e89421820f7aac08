//! How often something may be done.

use core::str::FromStr;
use core::time::Duration;

use super::duration::parse_duration;
use crate::policy::file::read_from_strings;

/// How often something may be done in a time, such as `300 per 3h`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Rate {
    /// How often.
    pub most: u32,
    /// In which time.
    pub window: Duration,
}

impl Rate {
    pub(crate) const fn per_hours(most: u32, hours: u64) -> Self {
        Self {
            most,
            window: Duration::from_secs(hours * 3600),
        }
    }
}

/// A rate in the file, or `unlimited`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct RateLimit(pub(crate) Option<Rate>);

impl FromStr for RateLimit {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        if text == "unlimited" {
            return Ok(Self(None));
        }
        let refused = || RateError(text.into());
        let (number, time) = text.split_once(" per ").ok_or_else(refused)?;
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        let most = number.parse().ok().filter(|most| is_number && *most > 0);
        let window = parse_duration(time).map_err(|_| refused())?;
        let most = most.ok_or_else(refused)?;
        Ok(Self(Some(Rate { most, window })))
    }
}

read_from_strings!(RateLimit);

/// The text is not a rate.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{0:?} is not a rate: write a whole number above zero, \"per\" and a duration, such as \"300 per 3h\", or \"unlimited\""
)]
pub(crate) struct RateError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_a_number_and_a_duration() {
        let read = |text: &str| text.parse::<RateLimit>().map(|RateLimit(rate)| rate);
        assert_eq!(read("300 per 3h"), Ok(Some(Rate::per_hours(300, 3))));
        assert_eq!(read("1 per 7d"), Ok(Some(Rate::per_hours(1, 168))));
        assert_eq!(read("unlimited"), Ok(None));
        for text in [
            "",
            "300",
            "0 per 1h",
            "+1 per 1h",
            "-1 per 1h",
            "1 per 0h",
            "1 per h",
            "1/h",
            " 1 per 1h",
            "4294967296 per 1h",
            "Unlimited",
        ] {
            assert_eq!(read(text), Err(RateError(text.into())));
        }
    }
}
