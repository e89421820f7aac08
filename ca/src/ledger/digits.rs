//! Bytes as hexadecimal digits.

use core::fmt;

/// Displays bytes as lower-case hexadecimal digits.
pub(super) struct Digits<'a>(pub(super) &'a [u8]);

impl fmt::Display for Digits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Reads what [`Digits`] displays, and nothing else.
pub(super) fn read_digits<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let mut bytes = [0; N];
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_as_they_are_displayed() {
        let bytes = [0x00, 0x0f, 0xf0, 0x9a];
        let digits = Digits(&bytes).to_string();
        assert_eq!(digits, "000ff09a");
        assert_eq!(read_digits(&digits), Some(bytes));
        for wrong in [
            "",
            "000ff09",
            "000ff09a0",
            "000FF09a",
            "000ff09a00",
            "000ff0 a",
            "+00ff09a",
        ] {
            assert_eq!(read_digits::<4>(wrong), None, "{wrong}");
        }
    }
}
