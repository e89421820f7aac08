//! The armor of private keys and signatures: base64 between two lines, not quite as in RFC 7468. So it has a reader of its
//! own, which is as strict as OpenSSH is.

use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

/// Why a text is not valid armor.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArmorError {
    /// The first line is not the expected one.
    #[error(
        "the first line is not \"-----BEGIN {0}-----\": this is another kind of file; name one that has it"
    )]
    NoBegin(&'static str),
    /// The expected last line is missing.
    #[error("there is no line \"-----END {0}-----\": the file is cut off")]
    NoEnd(&'static str),
    /// The text between the two lines is not canonical base64.
    #[error("the text between the BEGIN and END lines is not base64: the file is damaged")]
    Base64,
    /// The text is far longer than any private key or signature.
    #[error("the text has more than {MAX_ARMOR} bytes: this is another kind of file")]
    TooLong,
}

/// Decodes a text that begins with an armor. Lines may end in CR LF and have any length. What follows the last line is
/// ignored, as in OpenSSH.
///
/// Copies are wiped, because this function also reads private keys.
pub(crate) fn decode(text: &str, label: &'static str) -> Result<Zeroizing<Vec<u8>>, ArmorError> {
    let (text, is_whole) = match text.len() <= MAX_ARMOR {
        true => (text, true),
        false => {
            let mut ends = (0..=MAX_ARMOR).rev();
            let end = ends.find(|end| text.is_char_boundary(*end));
            (&text[..end.unwrap_or_default()], false)
        }
    };
    let mut lines = text
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line));
    if lines.next() != Some(&*format!("-----BEGIN {label}-----")) {
        return Err(ArmorError::NoBegin(label));
    }
    let end = format!("-----END {label}-----");
    let has_end = text.contains(&end);
    let mut characters = Zeroizing::new(String::with_capacity(text.len()));
    loop {
        match lines.next() {
            Some(line) if line == end => break,
            // Before other errors, since a file that is cut off ends anywhere.
            _ if !has_end => {
                return Err(match is_whole {
                    true => ArmorError::NoEnd(label),
                    false => ArmorError::TooLong,
                });
            }
            None | Some("") => return Err(ArmorError::Base64),
            Some(line) => characters.push_str(line),
        }
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
    use testing::spent::Spent;

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
        let end = "-----END X-----";
        check(
            &format!("-----BEGIN X-----\nAAAA\n {end}\n"),
            ArmorError::Base64,
        );
        check(
            &format!("-----BEGIN X-----\nAAAA\n{end}x\n"),
            ArmorError::Base64,
        );
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
        check(&"A".repeat(MAX_ARMOR + 1), ArmorError::NoBegin("X"));
        let long = format!(
            "-----BEGIN X-----\n{}\n{end}",
            "AAAA\n".repeat(MAX_ARMOR / 5)
        );
        check(&long, ArmorError::TooLong);
    }

    /// Characters of several bytes count as these.
    #[test]
    fn the_limit_is_in_bytes() {
        for character in ["A", "ü", "€"] {
            let begin = "-----BEGIN X-----\n";
            let most = (MAX_ARMOR - begin.len()) / character.len();
            let text = |number| format!("{begin}{}", character.repeat(number));
            assert_eq!(decode(&text(most), "X"), Err(ArmorError::NoEnd("X")));
            assert_eq!(decode(&text(most + 1), "X"), Err(ArmorError::TooLong));
        }
    }

    /// The same number of lines takes as long in one armor as in 16, and not 16 times as long.
    #[test]
    fn many_lines_take_time_in_proportion() {
        let [one, sixteen] = [1, 16].map(|armors| {
            let lines = "A\n".repeat(MAX_ARMOR / 4 / armors);
            let text = format!("-----BEGIN X-----\n{lines}-----END X-----");
            let times = (0..3).map(|_| {
                // Linux counts a thread's time in steps of some milliseconds.
                let start = Spent::now();
                for _ in 0..100 * armors {
                    assert!(decode(&text, "X").is_ok());
                }
                start.elapsed()
            });
            times.min().unwrap()
        });
        assert!(one < 5 * sixteen, "{one:?} {sixteen:?}");
    }

    #[test]
    fn what_follows_is_ignored() {
        let armor = "-----BEGIN X-----\nAAEC\n-----END X-----";
        for more in ["", "\n", "\r\n\r\n", "\n \nmore\n", "\n-----END X-----\n"] {
            let bytes = decode(&format!("{armor}{more}"), "X");
            assert_eq!(bytes.as_deref(), Ok(&vec![0, 1, 2]), "{more:?}");
        }
        let long = format!("{armor}\n{}", "ü".repeat(MAX_ARMOR));
        assert_eq!(decode(&long, "X").as_deref(), Ok(&vec![0, 1, 2]));
    }
}
