//! Base64 (RFC 4648), written in lines of 64 characters, and read in lines of any length.
//!
//! On CPUs that have the instructions, the crate base64-simd is as fast as copying. base64ct is constant time,
//! and takes forty times as long: it is for private keys.

use base64_simd::STANDARD;
use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

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

/// Decodes public base64 with blanks anywhere in it. Returns `None` if it is none.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let lines = text.strip_prefix(b"\n").unwrap_or(text);
    decode_full_lines(lines).or_else(|| {
        let characters: Vec<u8> = characters(text).collect();
        STANDARD.decode_to_vec(characters).ok()
    })
}

/// Decodes lines that are all full, except perhaps the last, as most programs write them: copying whole lines takes a
/// fraction of the time. Returns `None` for anything else.
fn decode_full_lines(text: &[u8]) -> Option<Vec<u8>> {
    let mut characters = Vec::with_capacity(text.len());
    for line in text.chunks(LINE + 1) {
        let is_after_whole_lines = characters.len().is_multiple_of(LINE);
        let line = line.strip_suffix(b"\n").filter(|line| !line.is_empty());
        characters.extend_from_slice(line.filter(|_| is_after_whole_lines)?);
    }
    STANDARD.decode_to_vec(characters).ok()
}

/// Decodes the base64 of a private key in constant time, but for where blanks stand in it. Returns `None` if it is none.
pub(super) fn decode_secret(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    // Buffers of the final length leave no copies of a secret behind.
    let mut secret = Zeroizing::new(Vec::with_capacity(text.len()));
    secret.extend(characters(text));
    let mut bytes = Zeroizing::new(vec![0; secret.len() / 4 * 3]);
    let len = Base64::decode(&*secret, &mut bytes).ok()?.len();
    bytes.truncate(len);
    Some(bytes)
}

fn characters(text: &[u8]) -> impl Iterator<Item = u8> {
    text.iter().copied().filter(|byte| !is_blank(byte))
}

/// The characters W of RFC 7468 section 3.
pub(super) fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
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
            assert_eq!(decode_full_lines(&lines(&bytes)).as_ref(), Some(&bytes));
            assert_eq!(decode(&lines(&bytes)), Some(bytes));
        }
        assert_eq!((lines(b""), decode(b"")), (Vec::new(), Some(Vec::new())));
    }

    /// So no two texts decode to the same bytes, but for blanks.
    #[test]
    fn what_is_read_would_be_written_so() {
        let check = |text: &[u8]| {
            let read = decode(text);
            let blank = |byte: &u8| !is_blank(byte);
            let characters = |text: &[u8]| text.iter().copied().filter(blank).collect::<Vec<_>>();
            let is_read = |bytes: &Vec<u8>| characters(&lines(bytes)) == characters(text);
            assert!(read.as_ref().is_none_or(is_read), "{text:?}");
            assert_eq!(
                read.as_deref(),
                decode_secret(text).as_deref().map(Vec::as_slice)
            );
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
            "====\n", "A===\n", "AA=A\n", "AB==\n", "AAB=\n", "AA\n", "AA==AAAA", "AA==\n=",
        ] {
            assert_eq!(decode(text.as_bytes()), None, "{text:?}");
            assert_eq!(decode_secret(text.as_bytes()), None, "{text:?}");
        }
    }
}
