//! Blocks from mark to mark, and what is in them.

use alloc::string::String;
use alloc::vec::Vec;

use zeroize::Zeroizing;

use super::error::{Damage, PemError};
use super::marks::{Mark, TRUSTED, is_after_text, is_before_text};
use crate::encoding::base64;

/// A block of a text, readable or not.
#[derive(Clone, Copy, Debug)]
pub struct Block<'t> {
    /// The mark at its beginning; one that ends a block, if that has no beginning.
    begin: Mark<'t>,
    /// The mark at its end, if there is one before the next block begins.
    end: Option<Mark<'t>>,
    /// The text from the last mark in front of the block.
    before: &'t [u8],
    /// The text after `begin`.
    after: &'t [u8],
    line: usize,
}

/// All blocks of a text, in order. RFC 7468 section 2 lets other text stand between them, in any encoding, and files with a
/// key and its certificates are common.
pub fn blocks(text: &[u8]) -> impl Iterator<Item = Block<'_>> {
    let mut marks = marks(text).peekable();
    let (mut counted, mut line) = (0, 1);
    core::iter::from_fn(move || {
        let (from, begin) = marks.next()?;
        let end = marks.next_if(|(_, next)| begin.is_begin && !next.is_begin);
        line += line_ends(&text[counted..begin.start]);
        counted = begin.start;
        Some(Block {
            begin,
            end: end.map(|(_, end)| end),
            before: &text[from..begin.start],
            after: &text[begin.end..],
            line,
        })
    })
}

/// All marks of a text, each with the end of the one in front of it.
fn marks(text: &[u8]) -> impl Iterator<Item = (usize, Mark<'_>)> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let mark = Mark::first_in(&text[at..])?;
        let from = at;
        at += mark.end;
        Some((
            from,
            Mark {
                start: from + mark.start,
                end: at,
                ..mark
            },
        ))
    })
}

fn line_ends(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}

impl<'t> Block<'t> {
    /// The label, as the text has it.
    pub fn label(&self) -> String {
        self.begin.label_text()
    }

    /// Whether the block has this label, or one that means the same. A damaged block that may have had it counts.
    pub fn is_of(&self, label: &str) -> bool {
        self.begin.is_of(label) || self.end.is_some_and(|end| end.is_of(label))
    }

    /// What is in the block. The buffer is wiped when dropped: the same function reads private keys.
    ///
    /// # Errors
    ///
    /// [`PemError::Unreadable`], which says where the block is, and what is wrong with it.
    pub fn decode(&self) -> Result<Zeroizing<Vec<u8>>, PemError> {
        self.contents().map_err(|damage| PemError::Unreadable {
            label: self.label(),
            line: self.line,
            damage,
        })
    }

    fn contents(&self) -> Result<Zeroizing<Vec<u8>>, Damage> {
        let body = self.body()?;
        let contents = match PUBLIC.iter().any(|label| self.begin.is_of(label)) {
            true => base64::decode(body).map(Zeroizing::new),
            false => base64::decode_secret(body),
        };
        match contents {
            Some(contents) if contents.is_empty() => Err(Damage::Empty),
            Some(contents) => Ok(contents),
            None => Err(Damage::in_text(body)),
        }
    }

    /// The text between the marks.
    fn body(&self) -> Result<&'t [u8], Damage> {
        if !self.begin.is_begin {
            return Err(Damage::NoBegin);
        }
        let end = self.end.ok_or(Damage::NoEnd)?;
        end.check_as_end_of(self.begin.label)?;
        match self.begin.label {
            _ if !self.begin.is_whole => Err(Damage::Dashes),
            _ if is_after_text(false, self.before) && is_before_text(self.after) => {
                Err(Damage::WithinLine)
            }
            TRUSTED => Err(Damage::Trust),
            _ => Ok(&self.after[..end.start - self.begin.end]),
        }
    }
}

/// The labels of blocks that are public, so that reading and writing them need not be constant time.
pub(super) const PUBLIC: [&str; 5] = [
    "CERTIFICATE",
    "CERTIFICATE REQUEST",
    "CMS",
    "PUBLIC KEY",
    "X509 CRL",
];

impl Damage {
    /// Why text between the marks can't be read.
    pub fn in_text(text: &[u8]) -> Self {
        let has = |what: &[u8]| text.windows(what.len()).any(|window| window == what);
        let is_base64 = |byte: &u8| {
            base64::is_blank(byte) || byte.is_ascii_alphanumeric() || b"+/=".contains(byte)
        };
        if has(b"Proc-Type:") && has(b"ENCRYPTED") {
            Self::LegacyEncryption
        } else if has(b":") {
            Self::Headers
        } else if !text.iter().all(is_base64) {
            Self::Characters
        } else if text.iter().all(base64::is_blank) {
            Self::Empty
        } else {
            Self::Base64
        }
    }
}
