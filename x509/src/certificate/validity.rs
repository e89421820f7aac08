//! The period in which a certificate or list is valid, and the encodings of its times (RFC 5280 section 4.1.2.5).

use core::time::Duration;
use std::time::SystemTime;

use pki_types::UnixTime;
use pq_keys::encoding::rfc3339;
use x509_cert::time::Time;

/// The time in which a certificate is valid, or a revocation list may be used: from the first second
/// to the last, both included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Validity {
    not_before: SystemTime,
    /// `None` if it is beyond the range of the system's clock.
    not_after: Option<SystemTime>,
}

impl Validity {
    /// From the first time to the second.
    ///
    /// Issuing the certificate or list checks that they are in order, and within the years 1970 to
    /// 9999 that a certificate can express.
    pub fn new(not_before: SystemTime, not_after: SystemTime) -> Self {
        Self {
            not_before,
            not_after: Some(not_after),
        }
    }

    /// From the time given, for the duration given.
    pub fn starting(not_before: SystemTime, duration: Duration) -> Self {
        Self {
            not_before,
            not_after: not_before.checked_add(duration),
        }
    }

    /// For this many days from now. It starts an hour early, for peers whose clocks are
    /// slow.
    pub fn days(days: u32) -> Self {
        Self::lasting(DAY.saturating_mul(days))
    }

    /// The same for a duration.
    pub fn lasting(duration: Duration) -> Self {
        let now = SystemTime::now();
        Self {
            not_before: now.checked_sub(HOUR).unwrap_or(now),
            not_after: now.checked_add(duration),
        }
    }

    /// In the encodings of RFC 5280 section 4.1.2.5.
    pub(crate) fn to_x509(self) -> Result<x509_cert::time::Validity, ValidityError> {
        let not_after = self.not_after.ok_or(ValidityError::OutOfRange)?;
        if not_after < self.not_before {
            return Err(ValidityError::EndsBeforeItStarts);
        }
        Ok(x509_cert::time::Validity::new(
            time(self.not_before)?,
            time(not_after)?,
        ))
    }
}

pub(crate) fn unix_time(time: Time) -> UnixTime {
    UnixTime::since_unix_epoch(time.to_unix_duration())
}

/// A time in a certificate or a list, as messages show it.
pub(crate) fn date(time: &UnixTime) -> String {
    let date = rfc3339(*time);
    match time.as_secs() {
        // Earlier ones are read as this one.
        0 => format!("{date} or before"),
        _ => date,
    }
}

/// In the encoding of RFC 5280 section 4.1.2.5.
pub(crate) fn time(time: SystemTime) -> Result<Time, ValidityError> {
    Time::try_from(time).map_err(|_| ValidityError::OutOfRange)
}

/// Why times cannot be in a certificate or revocation list.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValidityError {
    /// The end is before the start.
    #[error("the validity ends before it starts; swap the two times")]
    EndsBeforeItStarts,
    /// A time is before 1970 or after 9999.
    #[error("a time is outside of the years 1970 to 9999")]
    OutOfRange,
}

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[cfg(test)]
mod tests {
    use der::Encode;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// RFC 5280 section 4.1.2.5: UTCTime through 2049, GeneralizedTime from 2050.
    #[test]
    fn encodings_change_in_2050() {
        const LAST_OF_2049: u64 = 2_524_607_999;
        let validity = Validity::new(at(LAST_OF_2049), at(LAST_OF_2049 + 1));
        let der = validity.to_x509().unwrap().to_der().unwrap();
        assert_eq!(
            der,
            [
                b"\x30\x20\x17\x0d491231235959Z".as_slice(),
                b"\x18\x0f20500101000000Z"
            ]
            .concat()
        );
    }

    #[test]
    fn refusals() {
        let to_x509 = |validity: Validity| validity.to_x509().map(|_| ());
        assert_eq!(
            to_x509(Validity::new(at(2), at(1))),
            Err(ValidityError::EndsBeforeItStarts)
        );
        assert_eq!(to_x509(Validity::new(at(1), at(1))), Ok(()));
        assert_eq!(
            to_x509(Validity::starting(at(0), Duration::MAX)),
            Err(ValidityError::OutOfRange)
        );
        const FIRST_OF_10000: u64 = 253_402_300_800;
        assert_eq!(
            to_x509(Validity::new(at(0), at(FIRST_OF_10000))),
            Err(ValidityError::OutOfRange)
        );
        assert_eq!(
            to_x509(Validity::new(at(0), at(FIRST_OF_10000 - 1))),
            Ok(())
        );
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(
            to_x509(Validity::new(before, at(0))),
            Err(ValidityError::OutOfRange)
        );
        assert_eq!(
            to_x509(Validity::days(u32::MAX)),
            Err(ValidityError::OutOfRange)
        );
    }
}
