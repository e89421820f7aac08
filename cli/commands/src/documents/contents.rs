//! Takes a file apart: it finds out whether it is PEM, DER, a JSON Web Key or a COSE_Key, and gives commands the
//! blocks of the kinds that they ask for, or advice on what to do if there are none.

use memchr::memmem;
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
    blocks: Vec<Block>,
}

pub(crate) struct Block {
    pub(crate) kind: Kind,
    pub(crate) der: Zeroizing<Vec<u8>>,
}

impl Contents {
    /// What stands before the label at the end of each block.
    pub(super) const END: &[u8] = b"-----END ";

    /// Reads a file of at most this many bytes.
    pub(crate) fn read(source: &Source, limit: usize) -> Result<Self, DocumentError> {
        Self::of(&source.read(limit)?, &source.to_string())
    }

    /// Takes apart the contents of a file with this name.
    pub(super) fn of(bytes: &[u8], file: &str) -> Result<Self, DocumentError> {
        let of_key = |(kind, der): KeyDer| vec![Block { kind, der }];
        let (encoding, blocks) = match core::str::from_utf8(bytes) {
            Ok(text) if text.contains(BEGIN) => (Encoding::Pem, pem_blocks(text, file)?),
            Ok(text) if jose::is_object(text) => (Encoding::Jwk, of_key(jose::of_jwk(text, file)?)),
            _ if jose::is_map(bytes) => (Encoding::Cose, of_key(jose::of_cose(bytes, file)?)),
            _ => {
                let kind = kind_of(bytes, file)?;
                let der = Zeroizing::new(bytes.to_vec());
                (Encoding::Der, vec![Block { kind, der }])
            }
        };
        Ok(Self {
            file: file.into(),
            encoding,
            blocks,
        })
    }

    /// Whether there is a PEM block.
    pub(super) fn has_block(bytes: &[u8]) -> bool {
        memmem::find(bytes, BEGIN.as_bytes()).is_some()
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
        let mut blocks = self.blocks.iter();
        let found = blocks.find(|block| kinds.contains(&block.kind));
        found.ok_or_else(|| self.missing(kinds))
    }

    /// The blocks that are of one of these kinds; there is at least one.
    pub(crate) fn all(&self, kinds: &[Kind]) -> Result<Vec<&Block>, DocumentError> {
        self.first(kinds)?;
        let blocks = self.blocks.iter();
        Ok(blocks.filter(|block| kinds.contains(&block.kind)).collect())
    }

    /// The same, without the file's other blocks.
    pub(super) fn into_all(mut self, kinds: &[Kind]) -> Result<Vec<Block>, DocumentError> {
        self.first(kinds)?;
        self.blocks.retain(|block| kinds.contains(&block.kind));
        Ok(self.blocks)
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    fn missing(&self, kinds: &[Kind]) -> DocumentError {
        let mut found: Vec<String> = Vec::new();
        for block in &self.blocks {
            let name = block.kind.with_article();
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
        let is_there = |kind: Kind| self.blocks.iter().any(|block| block.kind == kind);
        if kinds.contains(&Kind::PrivateKey) && is_there(Kind::LegacyEncryptedPrivateKey) {
            "encrypt it again in a stronger way, with \"openssl pkcs8 -topk8\""
        } else if is_there(Kind::Pkcs12) {
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

const BEGIN: &str = "-----BEGIN ";

/// The header (RFC 1421) that marks encrypted keys in OpenSSL's older format.
const LEGACY_ENCRYPTION: &str = "Proc-Type: 4,ENCRYPTED";

/// The blocks of RFC 7468; any other text may stand between them.
fn pem_blocks(text: &str, file: &str) -> Result<Vec<Block>, DocumentError> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(BEGIN) {
        let block = &rest[at..];
        let label = block[BEGIN.len()..].split("-----").next().unwrap_or("");
        let end = format!("-----END {label}-----");
        let Some(end_at) = memmem::find(block.as_bytes(), end.as_bytes()) else {
            return Err(DocumentError::NoEnd {
                file: file.into(),
                label: label.chars().take(64).collect(),
            });
        };
        let (block, after) = block.split_at(end_at + end.len());
        let kind = Kind::of_label(label);
        rest = after;
        if kind == Kind::PrivateKey && block.contains(LEGACY_ENCRYPTION) {
            blocks.push(Block {
                kind: Kind::LegacyEncryptedPrivateKey,
                der: Zeroizing::default(),
            });
            continue;
        }
        let der = pem::decode(block).map_err(|error| DocumentError::Pem {
            file: file.into(),
            kind: kind.to_string(),
            error: match error {
                PemError::Malformed(cause) => cause.to_string(),
                other => other.to_string(),
            },
        })?;
        blocks.push(Block { kind, der });
    }
    Ok(blocks)
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
