//! Takes a file apart: it finds out whether it is PEM, DER, a JSON Web Key or a COSE_Key, and gives commands the
//! blocks of the kinds that they ask for, or advice on what to do if there are none.

use core::mem;

use pq_keys::encoding::pem::{self, PemError};
use pq_x509::x509_cert::der::{Decode, Header, Reader, SliceReader, Tag};
use serde::Serialize;
use zeroize::Zeroizing;

use super::error::DocumentError;
use super::jose::{self, KeyDer};
use crate::files::Source;
use crate::kind::Kind;

/// How a file is encoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Encoding {
    Pem,
    Der,
    Raw,
    Jwk,
    Cose,
}

/// A file taken apart: its PEM blocks in order, or its DER as the only one.
pub(crate) struct Contents {
    /// For messages.
    file: String,
    pub(crate) encoding: Encoding,
    found: Vec<Found>,
    /// How many lines of the file are in front of this.
    lines_before: usize,
}

/// A block, or why it can't be read. That is an error only for who needs the block.
struct Found {
    /// Several, if the lines around a damaged block contradict each other.
    kinds: Vec<Kind>,
    block: Result<Block, PemError>,
}

pub(crate) struct Block {
    pub(crate) kind: Kind,
    pub(crate) der: Zeroizing<Vec<u8>>,
}

impl From<KeyDer> for Found {
    fn from((kind, der): KeyDer) -> Self {
        Self {
            kinds: vec![kind.clone()],
            block: Ok(Block { kind, der }),
        }
    }
}

impl Contents {
    /// The text in which each PEM block ends: what stands before the label and after it.
    pub(super) const END: [&[u8]; 2] = [b"-----END ", b"-----"];

    /// Reads a file of at most this many bytes.
    pub(crate) fn read(source: &Source, limit: usize) -> Result<Self, DocumentError> {
        Self::of(&source.read(limit)?, &source.to_string())
    }

    /// Takes apart the contents of a file with this name.
    pub(super) fn of(bytes: &[u8], file: &str) -> Result<Self, DocumentError> {
        Self::of_part(bytes, file, 0)
    }

    /// Takes apart a part of a file, in front of which there are some lines.
    pub(super) fn of_part(
        bytes: &[u8],
        file: &str,
        lines_before: usize,
    ) -> Result<Self, DocumentError> {
        let (encoding, found) = match core::str::from_utf8(bytes) {
            _ if pem::is_in(bytes) => (Encoding::Pem, pem::blocks(bytes).map(found).collect()),
            Ok(text) if jose::is_object(text) => {
                (Encoding::Jwk, vec![jose::of_jwk(text, file)?.into()])
            }
            _ if jose::is_map(bytes) => (Encoding::Cose, vec![jose::of_cose(bytes, file)?.into()]),
            _ => {
                let der = Zeroizing::new(bytes.to_vec());
                (Encoding::Der, vec![(kind_of(bytes, file)?, der).into()])
            }
        };
        Ok(Self {
            file: file.into(),
            encoding,
            found,
            lines_before,
        })
    }

    /// The one block that is of one of these kinds; others may stand around it.
    pub(crate) fn only(&self, kinds: &[Kind]) -> Result<&Block, DocumentError> {
        let found = self.all(kinds)?;
        match *found {
            [block] => Ok(block),
            _ => Err(DocumentError::Several {
                file: self.file.clone(),
                kinds: described(kinds),
                count: found.len(),
            }),
        }
    }

    /// The first block that is of one of these kinds.
    pub(crate) fn first(&self, kinds: &[Kind]) -> Result<&Block, DocumentError> {
        let first = self.of_kinds(kinds).next();
        first.unwrap_or_else(|| Err(self.missing(kinds)))
    }

    /// Whether there is a block of one of these kinds, readable or not.
    pub(crate) fn has(&self, kinds: &[Kind]) -> bool {
        self.of_kinds(kinds).next().is_some()
    }

    /// The blocks that are of one of these kinds; there is at least one.
    pub(crate) fn all(&self, kinds: &[Kind]) -> Result<Vec<&Block>, DocumentError> {
        self.first(kinds)?;
        self.of_kinds(kinds).collect()
    }

    /// The same, without the file's other blocks.
    pub(super) fn into_all(mut self, kinds: &[Kind]) -> Result<Vec<Block>, DocumentError> {
        self.first(kinds)?;
        let found = mem::take(&mut self.found).into_iter();
        found
            .filter(|found| found.is_of(kinds))
            .map(|found| found.block.map_err(|error| self.unreadable(&error)))
            .collect()
    }

    fn of_kinds(&self, kinds: &[Kind]) -> impl Iterator<Item = Result<&Block, DocumentError>> {
        let found = self.found.iter().filter(|found| found.is_of(kinds));
        found.map(|found| {
            let block = found.block.as_ref();
            block.map_err(|error| self.unreadable(error))
        })
    }

    fn unreadable(&self, error: &PemError) -> DocumentError {
        let mut error = error.clone();
        if let PemError::Unreadable { line, .. } = &mut error {
            *line += self.lines_before;
        }
        DocumentError::Pem {
            file: self.file.clone(),
            error,
        }
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    fn missing(&self, kinds: &[Kind]) -> DocumentError {
        let mut found: Vec<String> = Vec::new();
        for kind in self.found.iter().flat_map(|found| found.kinds.first()) {
            let name = kind.with_article();
            if !found.contains(&name) {
                found.push(name);
            }
        }
        DocumentError::Missing {
            file: self.file.clone(),
            wanted: described(kinds),
            found: found.join(" and "),
            advice: self.advice(kinds),
        }
    }

    /// Advice for somebody who looks for these kinds in this file.
    fn advice(&self, kinds: &[Kind]) -> &'static str {
        let is_there = |kind: Kind| self.has(&[kind]);
        if is_there(Kind::Pkcs12) {
            "take out what you need with \"pqtls key import\""
        } else if kinds.contains(&Kind::Certificate) && is_there(Kind::Request) {
            "have a CA sign it, and name the file that the CA sends back"
        } else if kinds.contains(&Kind::PublicKey) && is_there(Kind::Certificate) {
            "see \"pqtls cert show\", and \"pqtls key public\" for its key"
        } else {
            "name another file"
        }
    }
}

fn described(kinds: &[Kind]) -> String {
    // Where a private key is wanted, an encrypted one is accepted, too.
    let kinds = kinds
        .iter()
        .filter(|kind| **kind != Kind::EncryptedPrivateKey);
    let names: Vec<String> = kinds.map(Kind::to_string).collect();
    names.join(" or ")
}

impl Found {
    fn is_of(&self, kinds: &[Kind]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(kind))
    }
}

fn found(block: pem::Block<'_>) -> Found {
    let kinds = Kind::of_block(&block);
    let kind = kinds[0].clone();
    Found {
        kinds,
        block: block.decode().map(|der| Block { kind, der }),
    }
}

fn kind_of(der: &[u8], file: &str) -> Result<Kind, DocumentError> {
    if let Some(kind) = Kind::of_der(der) {
        return Ok(kind);
    }
    Err(match declared_len(der) {
        Some(declared) if declared > der.len() => DocumentError::CutShort {
            file: file.into(),
            declared,
            found: der.len(),
        },
        _ => DocumentError::Unknown { file: file.into() },
    })
}

/// How long the DER of a SEQUENCE says that it is, its tag and length included.
fn declared_len(der: &[u8]) -> Option<usize> {
    let mut reader = SliceReader::new(der).ok()?;
    let header = Header::decode(&mut reader).ok()?;
    let start = usize::try_from(reader.position()).ok()?;
    let len = usize::try_from(header.length()).ok()?;
    (header.tag() == Tag::Sequence).then_some(start + len)
}
