//! Times in a document, read only in the form that RFC 5280 demands, and the days between two of them.

use der::DateTime;

use super::element::{Element, tag};

/// A time in a document.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Moment {
    pub(crate) year: u16,
    /// Since 1970, negative before that.
    pub(crate) seconds: i64,
}

/// The time of a UTCTime or GeneralizedTime in the form that RFC 5280 sections 4.1.2.5.1 and 4.1.2.5.2
/// demand: in GMT, to the second, and on a day that exists.
pub(crate) fn moment(time: &Element<'_>) -> Option<Moment> {
    let digits = time.value().strip_suffix(b"Z")?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let (year, rest) = match (time.tag, digits.len()) {
        (tag::UTC_TIME, 12) => match digits.split_at(2) {
            // Two digits from 50 on mean 19xx.
            (year @ [b'5'..=b'9', _], rest) => (1900 + decimal(year), rest),
            (year, rest) => (2000 + decimal(year), rest),
        },
        (tag::GENERALIZED_TIME, 14) => (decimal(&digits[..4]), &digits[4..]),
        _ => return None,
    };
    // The calendar repeats every 400 years, and `der` knows no year before 1970.
    let alike = 2000 + year % 400;
    let mut parts = rest.chunks(2).map(|two| decimal(two) as u8);
    let mut next = || parts.next();
    let alike_time = DateTime::new(alike, next()?, next()?, next()?, next()?, next()?).ok()?;
    let cycles = (i64::from(year) - i64::from(alike)) / 400;
    let seconds = i64::try_from(alike_time.unix_duration().as_secs()).ok()?;
    Some(Moment {
        year,
        seconds: seconds + cycles * DAYS_IN_400_YEARS * SECONDS_IN_A_DAY,
    })
}

impl Moment {
    /// How many days there are from this time to the end, both seconds included. A started day counts.
    pub(crate) fn days_to(self, end: Self) -> i64 {
        let seconds = end.seconds - self.seconds + 1;
        seconds.div_euclid(SECONDS_IN_A_DAY) + i64::from(seconds % SECONDS_IN_A_DAY != 0)
    }
}

const DAYS_IN_400_YEARS: i64 = 146_097;
const SECONDS_IN_A_DAY: i64 = 24 * 60 * 60;

/// At most four digits.
fn decimal(digits: &[u8]) -> u16 {
    (digits.iter()).fold(0, |value, digit| 10 * value + u16::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tag: u8, text: &str) -> Option<Moment> {
        let bytes = [&[tag, text.len() as u8], text.as_bytes()].concat();
        moment(&Element::read(&bytes, 0).unwrap())
    }

    #[test]
    fn times_have_one_form() {
        let at = |year, seconds| Some(Moment { year, seconds });
        for (tag, text, expected) in [
            (tag::UTC_TIME, "700101000000Z", at(1970, 0)),
            (tag::UTC_TIME, "691231235959Z", at(1969, -1)),
            (tag::UTC_TIME, "500101000000Z", at(1950, -631_152_000)),
            (tag::UTC_TIME, "491231235959Z", at(2049, 2_524_607_999)),
            (
                tag::GENERALIZED_TIME,
                "20500101000000Z",
                at(2050, 2_524_608_000),
            ),
            (
                tag::GENERALIZED_TIME,
                "99991231235959Z",
                at(9999, 253_402_300_799),
            ),
            (
                tag::GENERALIZED_TIME,
                "00000101000000Z",
                at(0, -62_167_219_200),
            ),
            (
                tag::GENERALIZED_TIME,
                "20000229120000Z",
                at(2000, 951_825_600),
            ),
        ] {
            assert_eq!(read(tag, text), expected, "{text}");
        }
        for (tag, text) in [
            (tag::UTC_TIME, "7001010000Z"),
            (tag::UTC_TIME, "700101000000"),
            (tag::UTC_TIME, "700101000000+0000"),
            (tag::UTC_TIME, "20500101000000Z"),
            (tag::UTC_TIME, "700230000000Z"),
            (tag::UTC_TIME, "700101240000Z"),
            (tag::GENERALIZED_TIME, "700101000000Z"),
            (tag::GENERALIZED_TIME, "20500101000000.5Z"),
            (tag::GENERALIZED_TIME, "20500101000000-0100"),
            (tag::GENERALIZED_TIME, "21000229000000Z"),
            (tag::GENERALIZED_TIME, "2050010100000 Z"),
            (tag::BMP_STRING, "20500101000000Z"),
        ] {
            assert_eq!(read(tag, text), None, "{text}");
        }
    }

    /// Both ends are included (RFC 5280 section 4.1.2.5).
    #[test]
    fn days_that_begin_are_counted() {
        let at = |seconds| Moment {
            year: 1970,
            seconds,
        };
        assert_eq!(at(0).days_to(at(0)), 1);
        assert_eq!(at(0).days_to(at(86_399)), 1);
        assert_eq!(at(0).days_to(at(86_400)), 2);
        assert_eq!(at(-1).days_to(at(86_398)), 1);
    }
}
