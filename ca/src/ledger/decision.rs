//! By what it was decided that a certificate is issued.

use core::fmt;

use super::digits::Digits;

/// Which policy decided.
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct PolicyId {
    /// The SHA-256 digest of the policy's text.
    pub digest: [u8; 32],
    /// The program that read it, with its version, such as `pq-ca 0.1.0`: a later one may read the same text in
    /// another way.
    pub reader: String,
}

impl fmt::Display for PolicyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", Digits(&self.digest), self.reader)
    }
}

impl fmt::Debug for PolicyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PolicyId({self})")
    }
}

/// On what evidence: what was seen, and from where, in a short text for people.
///
/// ```
/// use pq_ca::ledger::Evidence;
///
/// let evidence = Evidence::new("http-01 www.example.org from 192.0.2.7")?;
/// assert_eq!(evidence.as_str(), "http-01 www.example.org from 192.0.2.7");
/// assert!(Evidence::new("two\nlines").is_err());
/// # Ok::<(), pq_ca::ledger::InvalidEvidence>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Evidence(String);

impl Evidence {
    /// The most bytes that it may have. One that is about many names says the first of them, and how many there are.
    pub const MAX_LEN: usize = 1024;

    /// Evidence of this text.
    ///
    /// # Errors
    ///
    /// If the text is empty, too long, or has characters that are not seen, or that break a line.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidEvidence> {
        let text = text.into();
        match text.len() {
            0 => return Err(InvalidEvidence::Empty),
            1..=Self::MAX_LEN => {}
            length => return Err(InvalidEvidence::TooLong(length)),
        }
        match text.chars().find(|one| is_unseen(*one)) {
            Some(character) => Err(InvalidEvidence::Character(character)),
            None => Ok(Self(text)),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Control characters, and those that end a line or change the direction in which it is read.
fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// Why a text is no evidence.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidEvidence {
    /// It says nothing.
    #[error("the evidence is empty; say what was seen, or give none")]
    Empty,
    /// It is too long.
    #[error("the evidence has {0} bytes, and at most {max} are kept; say it in fewer", max = Evidence::MAX_LEN)]
    TooLong(usize),
    /// It has a character that people don't see.
    #[error("the evidence has the character {0:?}, which would not be seen; leave it out")]
    Character(char),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_a_short_line() {
        let longest = "x".repeat(Evidence::MAX_LEN);
        for text in ["x", "dns-01 bücher.example from 2001:db8::1", &longest] {
            assert_eq!(Evidence::new(text).unwrap().as_str(), text);
        }
        assert_eq!(Evidence::new(""), Err(InvalidEvidence::Empty));
        let error = Evidence::new(longest + "x").unwrap_err();
        assert_eq!(error, InvalidEvidence::TooLong(1025));
        assert!(error.to_string().contains("1025 bytes, and at most 1024"));
        for character in [
            '\0', '\n', '\r', '\t', '\u{7f}', '\u{9b}', '\u{2028}', '\u{202e}',
        ] {
            let error = Evidence::new(format!("a{character}b")).unwrap_err();
            assert_eq!(error, InvalidEvidence::Character(character));
        }
    }
}
