//! Base64 (RFC 4648) of public documents, in lines of 64 characters.
//!
//! On CPUs that have the instructions, the crate base64-simd is as fast as copying. base64ct is constant time,
//! and takes forty times as long: it is for private keys, and for documents in lines of another form.

use base64_simd::STANDARD;

/// As many characters as a line has (RFC 7468 section 2).
const LINE: usize = 64;

/// Appends the lines of some bytes.
pub(super) fn append(text: &mut String, bytes: &[u8]) {
    // All at once: encoding each line by itself takes three times as long.
    let characters = STANDARD.encode_to_string(bytes);
    text.reserve(characters.len() + characters.len().div_ceil(LINE));
    let mut rest = characters.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(LINE.min(rest.len()));
        text.push_str(line);
        text.push('\n');
        rest = after;
    }
}

/// Decodes lines that are all full, except perhaps the last. Returns `None` for anything else, such as an
/// empty text or other line ends: another decoder may read that, or say what is wrong with it.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut characters = Vec::with_capacity(text.len());
    for line in text.chunks(LINE + 1) {
        let is_after_whole_lines = characters.len().is_multiple_of(LINE);
        let line = line.strip_suffix(b"\n").filter(|line| !line.is_empty());
        characters.extend_from_slice(line.filter(|_| is_after_whole_lines)?);
    }
    let bytes = STANDARD.decode_to_vec(characters).ok()?;
    (!bytes.is_empty()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<u8> {
        let mut text = String::new();
        append(&mut text, bytes);
        text.into_bytes()
    }

    /// Tests of PEM blocks compare the lines with another implementation.
    #[test]
    fn what_is_written_is_read() {
        for len in 1..200_u8 {
            let bytes: Vec<u8> = (0..len).map(|i| i.wrapping_mul(151)).collect();
            assert_eq!(decode(&lines(&bytes)), Some(bytes));
        }
        assert_eq!((lines(b""), decode(b"")), (Vec::new(), None));
    }

    /// So no two texts decode to the same bytes.
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
