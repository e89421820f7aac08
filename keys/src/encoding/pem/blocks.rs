//! Blocks from mark to mark, and what is in them.

use alloc::string::String;
use alloc::vec::Vec;

use zeroize::Zeroizing;

use super::error::{Damage, PemError};
use super::marks::{Mark, TRUSTED};
use crate::encoding::base64;

/// A block of a text, readable or not.
#[derive(Clone, Copy, Debug)]
pub struct Block<'t> {
    /// The mark at its beginning; one that ends a block, if that has no beginning.
    begin: Mark<'t>,
    /// The mark at its end, if there is one before the next block begins.
    end: Option<Mark<'t>>,
    /// The text after `begin`.
    rest: &'t [u8],
    line: usize,
}

/// All blocks of a text, in order. RFC 7468 section 2 lets other text stand between them, in any encoding, and files with a
/// key and its certificates are common.
pub fn blocks(text: &[u8]) -> impl Iterator<Item = Block<'_>> {
    let (mut at, mut counted, mut line) = (0, 0, 1);
    core::iter::from_fn(move || {
        let begin = Mark::first_in(&text[at..])?;
        let start = at + begin.start;
        line += line_ends(&text[counted..start]);
        counted = start;
        at += begin.end;
        let rest = &text[at..];
        let next = begin.is_begin.then(|| Mark::first_in(rest)).flatten();
        at += match next {
            Some(next) if next.is_begin => next.start,
            Some(end) => end.end,
            None if begin.is_begin => rest.len(),
            None => 0,
        };
        Some(Block {
            begin,
            end: next.filter(|next| !next.is_begin),
            rest,
            line,
        })
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
            TRUSTED => Err(Damage::Trust),
            _ => Ok(&self.rest[..end.start]),
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
