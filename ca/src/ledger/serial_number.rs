//! Serial numbers of certificates (RFC 5280 section 4.1.2.2).

use core::fmt;
use core::str::FromStr;

use pq_keys::random::{self, RandomnessError};
use pq_x509::certificate::Certificate;

/// The serial number of a certificate: positive, and at most 20 bytes of DER, as RFC 5280
/// section 4.1.2.2 asks.
///
/// It is written as lower-case hexadecimal digits, two for each byte. It is read in upper or lower case,
/// with or without colons between the bytes.
///
/// ```
/// use pq_ca::ledger::SerialNumber;
///
/// let number: SerialNumber = "0A:ff:00".parse()?;
/// assert_eq!(number.to_string(), "0aff00");
/// assert_eq!(number.as_bytes(), [0x0a, 0xff, 0x00]);
/// # Ok::<(), pq_ca::ledger::InvalidSerialNumber>(())
/// ```
// Comparing the fields in this order compares the numbers: a number with more bytes is larger, and with
// equal lengths the bytes decide.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SerialNumber {
    length: u8,
    /// The number, followed by zeros.
    bytes: [u8; MAX_BYTES],
}

impl SerialNumber {
    /// A new random number: 20 bytes, with 158 bits from the operating system's randomness. The
    /// CA/Browser Forum asks for 64 bits (Baseline Requirements, section 7.1).
    ///
    /// # Errors
    ///
    /// If the operating system gives no randomness.
    pub fn random() -> Result<Self, NoRandomness> {
        let mut bytes = [0; MAX_BYTES];
        random::fill(&mut bytes)?;
        // The first byte is 0x40 to 0x7f: so the number is positive in DER and always has 20 bytes.
        bytes[0] = bytes[0] & 0x3f | 0x40;
        Ok(Self {
            length: MAX_BYTES as u8,
            bytes,
        })
    }

    /// The serial number of a certificate.
    ///
    /// # Errors
    ///
    /// As [`from_integer`](Self::from_integer): others issue certificates with numbers that no CA may give.
    pub fn of(certificate: &Certificate) -> Result<Self, InvalidSerialNumber> {
        Self::from_integer(certificate.serial_number())
    }

    /// The number with these contents of a DER INTEGER, which has a sign.
    ///
    /// # Errors
    ///
    /// If the number is not positive, or takes more than 20 bytes.
    pub fn from_integer(contents: &[u8]) -> Result<Self, InvalidSerialNumber> {
        match contents.first() {
            Some(0x80..) => Err(InvalidSerialNumber::Negative),
            _ => Self::from_bytes(contents),
        }
    }

    /// The number with these big-endian bytes, without a sign. Leading zeros are ignored. A certificate's comes by
    /// [`of`](Self::of).
    ///
    /// # Errors
    ///
    /// If the number is zero, or takes more than 20 bytes in DER.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidSerialNumber> {
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let significant = &bytes[zeros..];
        match significant {
            [] => Err(InvalidSerialNumber::Zero),
            // DER puts a zero before a first byte of 0x80 or more. This would be the 21st byte.
            [0x80..=0xff, ..] if significant.len() == MAX_BYTES => {
                Err(InvalidSerialNumber::TooLong)
            }
            _ if significant.len() > MAX_BYTES => Err(InvalidSerialNumber::TooLong),
            _ => {
                let mut number = Self {
                    length: significant.len() as u8,
                    bytes: [0; MAX_BYTES],
                };
                number.bytes[..significant.len()].copy_from_slice(significant);
                Ok(number)
            }
        }
    }

    /// The number, big-endian, without leading zeros: 1 to 20 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl fmt::Display for SerialNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for SerialNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SerialNumber({self})")
    }
}

impl FromStr for SerialNumber {
    type Err = InvalidSerialNumber;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut digits: Vec<u8> = Vec::with_capacity(text.len());
        let groups = text.split(':');
        let grouped = text.contains(':');
        for group in groups {
            if grouped && group.len() != 2 {
                return Err(InvalidSerialNumber::NotHexadecimal(text.into()));
            }
            for character in group.chars() {
                let digit = character
                    .to_digit(16)
                    .ok_or_else(|| InvalidSerialNumber::NotHexadecimal(text.into()))?;
                digits.push(digit as u8);
            }
        }
        if digits.is_empty() {
            return Err(InvalidSerialNumber::NotHexadecimal(text.into()));
        }
        // Split from the right, since the first byte may have only one digit.
        let bytes: Vec<u8> = digits
            .rchunks(2)
            .rev()
            .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
            .collect();
        Self::from_bytes(&bytes)
    }
}

/// Why a text or bytes are not a serial number.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSerialNumber {
    /// The text does not consist of hexadecimal digits.
    #[error(
        "{0:?} is not a serial number; write it as hexadecimal digits, two for each byte, with or without \
         colons between the bytes, such as 0aff00 or 0A:FF:00"
    )]
    NotHexadecimal(String),
    /// The number is zero.
    #[error("a serial number is positive, not zero (RFC 5280 section 4.1.2.2)")]
    Zero,
    /// The number is negative.
    #[error("a serial number is positive, not negative (RFC 5280 section 4.1.2.2)")]
    Negative,
    /// The number takes more than 20 bytes.
    #[error(
        "a serial number takes at most 20 bytes, and the first of 20 bytes is below 0x80 (RFC 5280 section 4.1.2.2)"
    )]
    TooLong,
}

/// The operating system gave no randomness for a serial number.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the operating system gave no randomness for a serial number: {0}")]
pub struct NoRandomness(RandomnessError);

impl From<RandomnessError> for NoRandomness {
    fn from(cause: RandomnessError) -> Self {
        Self(cause)
    }
}

const MAX_BYTES: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_and_without_colons_are_read_and_one_form_is_written() {
        for (text, written) in [
            ("0aff00", "0aff00"),
            ("0A:FF:00", "0aff00"),
            ("0a:Ff:00", "0aff00"),
            ("AFF00", "0aff00"),
            ("000aff00", "0aff00"),
            ("00:0a:ff:00", "0aff00"),
            ("1", "01"),
            ("ff", "ff"),
            (
                "7fffffffffffffffffffffffffffffffffffffff",
                "7fffffffffffffffffffffffffffffffffffffff",
            ),
        ] {
            let number: SerialNumber = text.parse().unwrap();
            assert_eq!(number.to_string(), written);
            assert_eq!(written.parse(), Ok(number));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "", ":", "a:b", "0a:", ":0a", "0a::ff", "0aff:00", "0x0a", "-1", "+1", "0a ff", "0g",
            "é",
        ] {
            assert_eq!(
                text.parse::<SerialNumber>(),
                Err(InvalidSerialNumber::NotHexadecimal(text.into()))
            );
        }
        for text in ["0", "00", "00:00"] {
            assert_eq!(text.parse::<SerialNumber>(), Err(InvalidSerialNumber::Zero));
        }
    }

    #[test]
    fn a_number_is_at_most_20_bytes_of_der() {
        let too_long = Err(InvalidSerialNumber::TooLong);
        assert!(SerialNumber::from_bytes(&[0x7f; 20]).is_ok());
        assert_eq!(SerialNumber::from_bytes(&[0x80; 20]), too_long);
        assert_eq!(SerialNumber::from_bytes(&[0x01; 21]), too_long);
        assert!(SerialNumber::from_bytes(&[0xff; 19]).is_ok());
        assert_eq!(
            SerialNumber::from_bytes(&[0; 30]),
            Err(InvalidSerialNumber::Zero)
        );
        assert_eq!(
            SerialNumber::from_bytes(&[]),
            Err(InvalidSerialNumber::Zero)
        );
        let with_zeros = [[0; 5].as_slice(), &[0x7f; 20]].concat();
        assert_eq!(
            SerialNumber::from_bytes(&with_zeros).unwrap().as_bytes(),
            [0x7f; 20]
        );
    }

    #[test]
    fn the_contents_of_an_integer_have_a_sign() {
        let read = SerialNumber::from_integer(&[0, 0xfb]);
        assert_eq!(read, SerialNumber::from_bytes(&[0xfb]));
        for negative in [&[0xfb][..], &[0x80], &[0xff, 0x7f]] {
            let read = SerialNumber::from_integer(negative);
            assert_eq!(read, Err(InvalidSerialNumber::Negative));
        }
        assert_eq!(
            SerialNumber::from_integer(&[0]),
            Err(InvalidSerialNumber::Zero)
        );
    }

    #[test]
    fn numbers_are_ordered_as_numbers() {
        let in_order = ["1", "ff", "0100", "01ff", "0200", "ffff", "010000"];
        let numbers: Vec<SerialNumber> = in_order.iter().map(|n| n.parse().unwrap()).collect();
        assert!(numbers.is_sorted());
    }

    #[test]
    fn random_numbers_are_positive_always_as_long_and_never_the_same() {
        let numbers: Vec<_> = (0..100).map(|_| SerialNumber::random().unwrap()).collect();
        for (index, number) in numbers.iter().enumerate() {
            assert_eq!(number.as_bytes().len(), 20);
            assert_eq!(SerialNumber::from_bytes(number.as_bytes()), Ok(*number));
            assert!(!numbers[..index].contains(number));
        }
    }
}
