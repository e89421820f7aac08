//! Trust anchor IDs (draft-ietf-tls-trust-anchor-ids-06), in the binary form of TLS and as text.

use core::fmt;
use core::str::FromStr;

/// The ID of a CA, or of a group of CAs, with which clients name the CAs that they trust.
///
/// Clients send it in the extension `trust_anchors` (draft-ietf-tls-trust-anchor-ids-06, section 4). It
/// is an object identifier below 1.3.6.1.4.1, where every organisation has its own number, and is
/// written without this prefix:
///
/// ```
/// use rustls_pq::TrustAnchorId;
///
/// let id: TrustAnchorId = "32473.1".parse()?;
/// assert_eq!(id.as_bytes(), [0x81, 0xfd, 0x59, 0x01]);
/// assert_eq!(TrustAnchorId::from_bytes(&[0x81, 0xfd, 0x59, 0x01])?, id);
/// assert_eq!(id.to_string(), "32473.1");
/// # Ok::<_, rustls_pq::InvalidTrustAnchorId>(())
/// ```
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TrustAnchorId {
    /// Zero from `len` on.
    bytes: [u8; MAX_LEN],
    len: u8,
}

impl TrustAnchorId {
    /// Reads the binary form that TLS uses: the contents octets of a relative object identifier in DER
    /// (X.690, section 8.20), at most 32 bytes.
    ///
    /// # Errors
    ///
    /// [`InvalidTrustAnchorId`] says what is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidTrustAnchorId> {
        let mut id = Self {
            bytes: [0; MAX_LEN],
            len: bytes.len() as u8,
        };
        let Some(room) = id.bytes.get_mut(..bytes.len()) else {
            return Err(InvalidTrustAnchorId::TooLong);
        };
        room.copy_from_slice(bytes);
        if bytes.is_empty() {
            return Err(InvalidTrustAnchorId::Empty);
        }
        let mut is_first = true;
        for &byte in bytes {
            if is_first && byte == 0x80 {
                return Err(InvalidTrustAnchorId::NotShortest);
            }
            is_first = is_last_of_component(byte);
        }
        match is_first {
            true => Ok(id),
            false => Err(InvalidTrustAnchorId::Truncated),
        }
    }

    /// The binary form: 1 to 32 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len.into()]
    }
}

/// Section 4 of the draft.
const MAX_LEN: usize = 32;

/// Of the bytes of a component, the last one lacks the highest bit.
fn is_last_of_component(byte: u8) -> bool {
    byte & 0x80 == 0
}

/// Reads numbers with dots between them, each at most 2<sup>64</sup> - 1. The binary form has no such
/// limit.
impl FromStr for TrustAnchorId {
    type Err = InvalidTrustAnchorId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = Vec::new();
        for component in text.split('.') {
            let is_number = component.bytes().all(|byte| byte.is_ascii_digit());
            let is_shortest = component == "0" || !component.starts_with('0');
            let component = component
                .parse::<u64>()
                .ok()
                .filter(|_| is_number && is_shortest)
                .ok_or(InvalidTrustAnchorId::NotNumbers)?;
            let digits = (64 - component.leading_zeros()).div_ceil(7).max(1);
            for digit in (0..digits).rev() {
                let more = if digit == 0 { 0 } else { 0x80 };
                bytes.push((component >> (7 * digit)) as u8 & 0x7f | more);
            }
        }
        Self::from_bytes(&bytes)
    }
}

/// Writes numbers with dots between them. If one is above 2<sup>64</sup> - 1, writes all bytes in
/// hexadecimal after `0x`.
impl fmt::Display for TrustAnchorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let components = self
            .as_bytes()
            .split_inclusive(|&b| is_last_of_component(b));
        let number = |component: &[u8]| {
            component.iter().try_fold(0_u64, |number, byte| {
                let shifted = number.checked_mul(1 << 7)?;
                Some(shifted | u64::from(byte & 0x7f))
            })
        };
        let Some(numbers) = components.map(number).collect::<Option<Vec<_>>>() else {
            f.write_str("0x")?;
            return self
                .as_bytes()
                .iter()
                .try_for_each(|b| write!(f, "{b:02x}"));
        };
        for (index, number) in numbers.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            write!(f, "{dot}{number}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for TrustAnchorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TrustAnchorId({self})")
    }
}

/// Why something isn't a [`TrustAnchorId`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTrustAnchorId {
    /// The text is not numbers with dots between them.
    #[error(
        "a trust anchor ID is written as numbers with dots between them, such as 32473.1, which \
         stands for the object identifier 1.3.6.1.4.1.32473.1; ask the CA for its ID"
    )]
    NotNumbers,
    /// The ID is empty.
    #[error("a trust anchor ID has at least one byte")]
    Empty,
    /// It is longer than 32 bytes.
    #[error("a trust anchor ID has at most 32 bytes")]
    TooLong,
    /// The last number is cut off.
    #[error("the last number of a trust anchor ID is cut off")]
    Truncated,
    /// A number has a leading zero.
    #[error("a number in a trust anchor ID isn't encoded in as few bytes as possible")]
    NotShortest,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the draft's section 4, and IDs that Chromium 156 sends.
    #[test]
    fn text_and_bytes() {
        for (text, bytes) in [
            ("32473.1", &[0x81, 0xfd, 0x59, 0x01][..]),
            ("44947.2.20", &[0x82, 0xdf, 0x13, 0x02, 0x14]),
            ("11129.9.15", &[0xd6, 0x79, 0x09, 0x0f]),
            (
                "52580.200109.1.7",
                &[0x83, 0x9a, 0x64, 0x8c, 0x9b, 0x2d, 0x01, 0x07],
            ),
            ("0", &[0]),
            ("127.128", &[0x7f, 0x81, 0x00]),
            (
                "18446744073709551615",
                &[0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
            ),
        ] {
            let id: TrustAnchorId = text.parse().unwrap();
            assert_eq!(id.as_bytes(), bytes, "{text}");
            assert_eq!(TrustAnchorId::from_bytes(bytes), Ok(id));
            assert_eq!(id.to_string(), text);
        }
    }

    /// Numbers have no limit in the binary form.
    #[test]
    fn large_numbers() {
        let above = [0x82, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00];
        let id = TrustAnchorId::from_bytes(&above).unwrap();
        assert_eq!(id.to_string(), "0x82808080808080808000");
        let mut longest = [0xff; 32];
        longest[31] = 0x7f;
        assert_eq!(
            TrustAnchorId::from_bytes(&longest).unwrap().as_bytes(),
            longest
        );
    }

    #[test]
    fn refused() {
        for text in [
            "", ".", "1.", ".1", "1..2", "+1", "-1", "01", "1.00", "1 ", "x", "٣",
        ] {
            let result = text.parse::<TrustAnchorId>();
            assert_eq!(result, Err(InvalidTrustAnchorId::NotNumbers), "{text:?}");
        }
        let too_large = "18446744073709551616".parse::<TrustAnchorId>();
        assert_eq!(too_large, Err(InvalidTrustAnchorId::NotNumbers));
        let too_long = ["1"; 33].join(".").parse::<TrustAnchorId>();
        assert_eq!(too_long, Err(InvalidTrustAnchorId::TooLong));

        let from_bytes = TrustAnchorId::from_bytes;
        assert_eq!(from_bytes(&[]), Err(InvalidTrustAnchorId::Empty));
        assert_eq!(from_bytes(&[1; 33]), Err(InvalidTrustAnchorId::TooLong));
        assert_eq!(from_bytes(&[1; 256]), Err(InvalidTrustAnchorId::TooLong));
        assert_eq!(from_bytes(&[1, 0x81]), Err(InvalidTrustAnchorId::Truncated));
        assert_eq!(
            from_bytes(&[1, 0x80, 1]),
            Err(InvalidTrustAnchorId::NotShortest)
        );
    }
}
