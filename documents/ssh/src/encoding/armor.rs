//! The armor of private keys and signatures: base64 between two lines, not quite as in RFC 7468.

use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

/// Why a text is not valid armor.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArmorError {
    /// The first line is not the expected one.
    #[error("the first line is not \"-----BEGIN {0}-----\": this is another kind of file")]
    NoBegin(&'static str),
    /// The last line is not the expected one.
    #[error("the last line is not \"-----END {0}-----\": the file is cut off, or more follows")]
    NoEnd(&'static str),
    /// The text between the two lines is not canonical base64.
    #[error("the text between the BEGIN and END lines is not base64: the file is damaged")]
    Base64,
    /// The text is far longer than any private key or signature.
    #[error("the text has more than {MAX_ARMOR} bytes: this is another kind of file")]
    TooLong,
}

/// Decodes a text that is one armor and nothing else. Lines may end in CR LF and have any length. One line break
/// may follow the last line.
///
/// Copies are wiped, because this function also reads private keys.
pub(crate) fn decode(text: &str, label: &'static str) -> Result<Zeroizing<Vec<u8>>, ArmorError> {
    if text.len() > MAX_ARMOR {
        return Err(ArmorError::TooLong);
    }
    let text = text.strip_suffix('\n').unwrap_or(text);
    let mut lines = text
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line));
    if lines.next() != Some(&*format!("-----BEGIN {label}-----")) {
        return Err(ArmorError::NoBegin(label));
    }
    if lines.next_back() != Some(&*format!("-----END {label}-----")) {
        return Err(ArmorError::NoEnd(label));
    }
    let mut characters = Zeroizing::new(String::with_capacity(text.len()));
    for line in lines {
        if line.is_empty() {
            return Err(ArmorError::Base64);
        }
        characters.push_str(line);
    }
    let mut bytes = Zeroizing::new(vec![0; characters.len()]);
    let len = Base64::decode(characters.as_bytes(), &mut bytes)
        .map_err(|_| ArmorError::Base64)?
        .len();
    bytes.truncate(len);
    Ok(bytes)
}

/// Encodes an armor, in lines as long as OpenSSH's.
pub(crate) fn encode(label: &str, bytes: &[u8]) -> Zeroizing<String> {
    let characters = Zeroizing::new(Base64::encode_string(bytes));
    let room = characters.len() + characters.len() / LINE + 2 * (label.len() + 20);
    let mut text = Zeroizing::new(String::with_capacity(room));
    text.push_str("-----BEGIN ");
    text.push_str(label);
    text.push_str("-----\n");
    let mut rest = &**characters;
    while !rest.is_empty() {
        let (line, further) = rest.split_at(rest.len().min(LINE));
        text.push_str(line);
        text.push('\n');
        rest = further;
    }
    text.push_str("-----END ");
    text.push_str(label);
    text.push_str("-----\n");
    text
}

const LINE: usize = 70;

/// Several times the length of a file with the longest comment.
const MAX_ARMOR: usize = 32 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_lines_of_others() {
        for len in 0..200_u8 {
            let bytes: Vec<u8> = (0..len).collect();
            let text = encode("X", &bytes);
            assert_eq!(decode(&text, "X").as_deref(), Ok(&bytes));
            assert_eq!(
                decode(&text.replace('\n', "\r\n"), "X").as_deref(),
                Ok(&bytes)
            );
        }
        let other = "-----BEGIN X-----\nAA\nECA\nw==\n-----END X-----";
        assert_eq!(decode(other, "X").as_deref(), Ok(&vec![0, 1, 2, 3]));
    }

    #[test]
    fn refuses_everything_else() {
        let check = |text: &str, error| assert_eq!(decode(text, "X"), Err(error), "{text:?}");
        check("", ArmorError::NoBegin("X"));
        check("-----BEGIN X-----", ArmorError::NoEnd("X"));
        check(
            " -----BEGIN X-----\n-----END X-----\n",
            ArmorError::NoBegin("X"),
        );
        for trailing in ["\n", " ", "x", "-----END X-----\n"] {
            let text = format!("-----BEGIN X-----\nAAAA\n-----END X-----\n{trailing}");
            if trailing == "-----END X-----\n" {
                check(&text, ArmorError::Base64);
            } else {
                check(&text, ArmorError::NoEnd("X"));
            }
        }
        for body in [
            "AAA",
            "AAAB=",
            "AB==",
            "AA==\nAAAA",
            "AAAA\n",
            "AA AA",
            "AAA\u{e9}",
        ] {
            let text = format!("-----BEGIN X-----\n{body}\n-----END X-----\n");
            check(&text, ArmorError::Base64);
        }
        check(&"A".repeat(MAX_ARMOR + 1), ArmorError::TooLong);
    }
}
