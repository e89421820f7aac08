//! Base64 (RFC 4648) of documents that are for everybody, in lines of 64 characters.
//!
//! The crate base64 looks characters up in tables. base64ct computes them, so that nothing is learnt from how
//! long that takes, and needs ten times as long: it is for private keys, and for documents that are written
//! otherwise.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// As many characters as a line has (RFC 7468 section 2).
const LINE: usize = 64;

/// As many bytes as are in a line.
const IN_A_LINE: usize = 48;

/// Appends the lines of some bytes.
pub(super) fn encode(bytes: &[u8], to: &mut Vec<u8>) {
    to.reserve(bytes.len().div_ceil(IN_A_LINE) * (LINE + 1));
    for bytes in bytes.chunks(IN_A_LINE) {
        let mut line = [0; LINE];
        let len = STANDARD.encode_slice(bytes, &mut line);
        to.extend_from_slice(&line[..len.expect("a line has room for its bytes")]);
        to.push(b'\n');
    }
}

/// The bytes of lines that are all full, but the last perhaps. `None` for all else, such as nothing or
/// lines that end otherwise: others may read that, or say what is wrong with it.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for line in text.chunks(LINE + 1) {
        // a full one before the last
        let is_whole = bytes.len().is_multiple_of(IN_A_LINE);
        let line = line.strip_suffix(b"\n").filter(|line| !line.is_empty());
        let mut place = [0; IN_A_LINE];
        let len = STANDARD.decode_slice(line.filter(|_| is_whole)?, &mut place);
        bytes.extend_from_slice(&place[..len.ok()?]);
    }
    (!bytes.is_empty()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        encode(bytes, &mut text);
        text
    }

    /// What lines are is held against another implementation where they are in blocks.
    #[test]
    fn what_is_written_is_read() {
        for len in 1..200_u8 {
            let bytes: Vec<u8> = (0..len).map(|i| i.wrapping_mul(151)).collect();
            assert_eq!(decode(&lines(&bytes)), Some(bytes));
        }
        assert_eq!((lines(b""), decode(b"")), (Vec::new(), None));
    }

    /// So no two texts are the same bytes.
    #[test]
    fn what_is_read_would_be_written_so() {
        let check = |text: &[u8]| {
            let read = decode(text);
            assert!(read.is_none_or(|bytes| lines(&bytes) == text), "{text:?}");
        };
        for len in [1, 2, 3, 47, 48, 49, 50, 96] {
            let text = lines(&vec![0xa5; len]);
            for at in 0..text.len() {
                check(&text[..at]);
                for other in 0..=255 {
                    let mut changed = text.clone();
                    changed[at] = other;
                    check(&changed);
                }
            }
        }
        for text in [
            "====\n", "A===\n", "\n", "AA=A\n", "AB==\n", "AAB=\n", "AAAA", "AAAA\n\n",
        ] {
            assert_eq!(decode(text.as_bytes()), None, "{text:?}");
        }
    }
}
