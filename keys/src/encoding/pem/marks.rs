//! The marks at which blocks begin and end.

use alloc::string::String;

use super::error::Damage;

/// A mark: `-----BEGIN X-----` or `-----END X-----`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Mark<'t> {
    /// Whether a block begins here; otherwise one ends.
    pub is_begin: bool,
    /// The label between the dashes.
    pub label: &'t [u8],
    /// Where it begins in the text.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Whether the five dashes after the label are there.
    pub is_whole: bool,
}

const DASHES: &[u8] = b"-----";

/// Both kinds, and how a mark of each begins.
const KINDS: [(bool, &[u8]); 2] = [(true, b"-----BEGIN "), (false, b"-----END ")];

/// More bytes than a label has, with the dashes after it. So whoever reads a text in pieces knows how long a mark is.
const MAX_LABEL: usize = 128;

impl<'t> Mark<'t> {
    /// The most bytes that a mark has.
    pub const MAX_LEN: usize = KINDS[0].1.len() + MAX_LABEL;

    /// The first one in a text, whatever stands in front of it and after it: files are put together without a line end
    /// between them, and blocks are indented.
    pub fn first_in(text: &'t [u8]) -> Option<Self> {
        let mut from = 0;
        loop {
            from += text[from..].iter().position(|byte| *byte == b'-')?;
            match Self::at(text, from) {
                Some(mark) => return Some(mark),
                None => from += 1,
            }
        }
    }

    /// Whether the label is this one, or one that means the same.
    pub fn is_of(&self, label: &str) -> bool {
        standard(self.label) == standard(label.as_bytes())
    }

    /// Whether this mark ends a block that begins with a label.
    ///
    /// # Errors
    ///
    /// What is wrong with the block otherwise.
    pub fn check_as_end_of(&self, label: &[u8]) -> Result<(), Damage> {
        if self.is_begin {
            return Err(Damage::NoEnd);
        }
        if !self.is_whole {
            return Err(Damage::Dashes);
        }
        match self.label == label {
            true => Ok(()),
            false => Err(Damage::OtherEnd(self.label_text())),
        }
    }

    /// The label, for messages.
    pub fn label_text(&self) -> String {
        String::from_utf8_lossy(self.label).into_owned()
    }

    fn at(text: &'t [u8], start: usize) -> Option<Self> {
        let of_kind = |(is_begin, begin): (bool, &[u8])| {
            let label = text[start..].strip_prefix(begin)?;
            Some((is_begin, start + begin.len(), label))
        };
        let (is_begin, label_at, rest) = KINDS.into_iter().find_map(of_kind)?;
        let line = rest[..rest.len().min(MAX_LABEL)]
            .split(|byte| matches!(byte, b'\n' | b'\r'))
            .next()?;
        let len = line.windows(DASHES.len()).position(|five| five == DASHES);
        let (label, past) = match len {
            Some(len) => (&line[..len], len + DASHES.len()),
            None => (without_dashes(line), line.len()),
        };
        Some(Self {
            is_begin,
            label: label.trim_ascii(),
            start,
            end: label_at + past,
            is_whole: len.is_some(),
        })
    }
}

/// Whether something else than blanks stands in the line in which a text ends. If that began earlier, `before` says it of
/// the text in front. A BOM is blank.
///
/// A block that begins behind such text, and goes on in the same line, is refused: in the name of a
/// certificate, say, which programs print in front of the certificate itself, anybody may have written one.
pub fn is_after_text(before: bool, text: &[u8]) -> bool {
    let is_blank =
        |byte: &u8| matches!(byte, b' ' | b'\t' | b'\x0b' | b'\x0c' | 0xef | 0xbb | 0xbf);
    let last = text.iter().rev().find(|byte| !is_blank(byte));
    last.map_or(before, |byte| !matches!(byte, b'\n' | b'\r'))
}

/// Whether something else than blanks stands in the line in which a text begins.
pub(super) fn is_before_text(text: &[u8]) -> bool {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\x0b' | b'\x0c');
    let first = text.iter().find(|byte| !is_blank(byte));
    first.is_some_and(|byte| !matches!(byte, b'\n' | b'\r'))
}

/// A line without the dashes and blanks at its end.
fn without_dashes(line: &[u8]) -> &[u8] {
    let mut line = line;
    while let [rest @ .., b'-' | b' ' | b'\t'] = line {
        line = rest;
    }
    line
}

/// A certificate, followed by what OpenSSL is to trust it for.
pub(super) const TRUSTED: &[u8] = b"TRUSTED CERTIFICATE";

/// The label that RFC 7468 has for what blocks with this label have in them.
fn standard(label: &[u8]) -> &[u8] {
    match label {
        b"X509 CERTIFICATE" | TRUSTED => b"CERTIFICATE",
        b"NEW CERTIFICATE REQUEST" => b"CERTIFICATE REQUEST",
        b"PKCS7" | b"PKCS #7 SIGNED DATA" => b"CMS",
        other => other,
    }
}
