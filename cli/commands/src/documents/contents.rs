//! Takes a file apart: it finds out whether it is PEM, DER, a JSON Web Key or a COSE_Key, and gives commands the
//! blocks of the kinds that they ask for, or advice on what to do if there are none.

use core::{mem, slice};

use pq_keys::encoding::pem::{self, PemError};
use pq_x509::x509_cert::der::{Decode, Header, Reader, SliceReader, Tag};
use serde::Serialize;
use zeroize::Zeroizing;

use super::error::DocumentError;
use super::jose::{self, KeyDer};
use super::ssh;
use crate::files::Source;
use crate::kind::{Kind, OfStore};

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

/// What a file has.
enum Found {
    Block(Block),
    /// A block that can't be read. That is an error only for who needs it. It has several kinds if the lines around it
    /// contradict each other.
    Damaged(Vec<Kind>, PemError),
    /// A block that nobody needs.
    Other(Kind),
}

pub(crate) struct Block {
    pub(crate) kind: Kind,
    pub(crate) der: Zeroizing<Vec<u8>>,
}

impl From<KeyDer> for Found {
    fn from((kind, der): KeyDer) -> Self {
        Self::Block(Block { kind, der })
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
        let (encoding, found) = match jose::text(bytes) {
            _ if pem::is_in(bytes) => (Encoding::Pem, in_pem(bytes)),
            Some(text) if jose::is_set(text) => {
                return Err(DocumentError::KeySet { file: file.into() });
            }
            Some(text) if jose::is_object(text) => {
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
            .filter_map(|found| match found {
                Found::Block(block) => Some(Ok(block)),
                Found::Damaged(_, error) => Some(Err(self.unreadable(&error))),
                Found::Other(_) => None,
            })
            .collect()
    }

    fn of_kinds(&self, kinds: &[Kind]) -> impl Iterator<Item = Result<&Block, DocumentError>> {
        let found = self.found.iter().filter(|found| found.is_of(kinds));
        found.filter_map(|found| match found {
            Found::Block(block) => Some(Ok(block)),
            Found::Damaged(_, error) => Some(Err(self.unreadable(error))),
            Found::Other(_) => None,
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

    /// Whether there is such a block, also one that nobody needs.
    fn names(&self, kind: &Kind) -> bool {
        self.found.iter().any(|found| found.kinds().contains(kind))
    }

    fn missing(&self, kinds: &[Kind]) -> DocumentError {
        let mut found: Vec<String> = Vec::new();
        for kind in self.found.iter().flat_map(|found| found.kinds().first()) {
            let name = kind.with_article();
            if !found.contains(&name) {
                found.push(name);
            }
        }
        if found.len() > MAX_OTHERS {
            found.truncate(MAX_OTHERS);
            found.push("others".into());
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
        let wants_keys = kinds.contains(&Kind::PrivateKey) || kinds.contains(&Kind::PublicKey);
        if is_there(Kind::Pkcs12) && kinds.contains(&Kind::Certificate) && !wants_keys {
            "take out its certificates with \"pqtls cert import\""
        } else if is_there(Kind::Pkcs12) {
            "take out what you need with \"pqtls key import\""
        } else if kinds.contains(&Kind::Certificate) && is_there(Kind::Request) {
            "have a CA sign it, and name the file that the CA sends back; \"pqtls show\" shows what it asks for"
        } else if self.names(&Kind::Other(ssh::PRIVATE_KEY.into())) {
            "OpenSSH's keys sign with \"pqtls ssh sign\""
        } else if kinds.contains(&Kind::OcspRequest) && is_there(Kind::Certificate) {
            "to answer about the certificate without a request, give it to \"pqtls ca ocsp\" with --for; \"pqtls cert \
             ocsp-request\" makes a request about it"
        } else if kinds.contains(&Kind::Certificate) && is_there(Kind::Message) {
            "take out its certificates with \"pqtls cert bundle\"; \"pqtls cms show\" shows what else a message has"
        } else if is_there(Kind::Message) {
            "\"pqtls cms show\" shows what a message has"
        } else if kinds.contains(&Kind::PublicKey) && is_there(Kind::Certificate) {
            "see \"pqtls cert show\", and \"pqtls key public\" for its key"
        } else {
            "name another file"
        }
    }
}

fn described(kinds: &[Kind]) -> String {
    // Where a private key is wanted, an encrypted one is accepted, too, and where certificates are, a message with some.
    let others = [Kind::EncryptedPrivateKey, Kind::Message];
    let kinds = kinds.iter().filter(|kind| !others.contains(kind));
    let names: Vec<String> = kinds.map(Kind::to_string).collect();
    names.join(" or ")
}

impl Found {
    fn is_of(&self, kinds: &[Kind]) -> bool {
        self.kinds().iter().any(|kind| kinds.contains(kind))
    }

    fn kinds(&self) -> &[Kind] {
        match self {
            Self::Block(Block { kind, .. }) | Self::Other(kind) => slice::from_ref(kind),
            Self::Damaged(kinds, _) => kinds,
        }
    }
}

/// As many blocks of further kinds are named in messages.
const MAX_OTHERS: usize = 16;

/// What a PEM text has. A block may be as short as its label, so what nobody needs is left out, lest it take many times
/// the memory of the text.
fn in_pem(text: &[u8]) -> Vec<Found> {
    let mut found = Vec::new();
    // Kinds of damaged blocks: who needs one gets no further than the first.
    let mut damaged: Vec<Kind> = Vec::new();
    let mut others: Vec<Kind> = Vec::new();
    for block in pem::blocks(text) {
        let kinds = Kind::of_block(&block);
        if let [other @ Kind::Other(_)] = &*kinds {
            // One more than are named, so that it is known that there are more.
            if others.len() <= MAX_OTHERS && !others.contains(other) {
                others.push(other.clone());
                found.push(Found::Other(other.clone()));
            }
            continue;
        }
        match block.decode() {
            // Its two lines have the same label, so it has one kind.
            Ok(der) => found.extend(kinds.into_iter().next().map(|kind| (kind, der).into())),
            Err(_) if kinds.iter().all(|kind| damaged.contains(kind)) => {}
            Err(error) => {
                damaged.extend_from_slice(&kinds);
                found.push(Found::Damaged(kinds, error));
            }
        }
    }
    found
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
        // It is in BER, or the reader knows what is wrong with it.
        _ if Kind::is_begun_pkcs12(der) => return Ok(Kind::Pkcs12),
        _ if Kind::is_begun_message(der) => return Ok(Kind::Message),
        _ if ssh::lines(der).next().is_some() => DocumentError::OfSsh { file: file.into() },
        _ => match of_other_commands(der) {
            Some(what) => DocumentError::OfOthers {
                file: file.into(),
                what,
            },
            None => DocumentError::Unknown { file: file.into() },
        },
    })
}

/// What bytes are that only other commands read, and which ones.
fn of_other_commands(bytes: &[u8]) -> Option<&'static str> {
    if jose::is_token(bytes) {
        Some("a JSON Web Token; \"pqtls jwt verify\" verifies it, and prints its claims")
    } else if let Some(kind) = OfStore::of(bytes) {
        Some(match kind {
            OfStore::Store => {
                "a key store; \"pqtls store list\" shows its keys, with --store and the file's name"
            }
            OfStore::Reference => {
                "the text that stands for a CA's key in a key store, and says which one it is; \"pqtls store show\" shows that \
                 key, and \"pqtls store public\" writes its public key"
            }
            OfStore::Head => {
                "the head of a key store's audit log; \"pqtls store check --head\" checks that the log still has it"
            }
            OfStore::Attestation => {
                "a key store's attestation of a key; \"pqtls store verify-attestation\" verifies it, and shows what it says"
            }
            OfStore::Signature => {
                "a signature by a key in a key store; \"pqtls store verify\" verifies it"
            }
        })
    } else if bytes.starts_with(b"pq-hpke") {
        Some("a file that \"pqtls encrypt\" encrypted; \"pqtls decrypt\" opens it")
    } else if is_mime(bytes) {
        Some(
            "an S/MIME message, with MIME around the CMS message; \"pqtls cms show\" says how to take this out",
        )
    } else {
        None
    }
}

/// Whether a text begins with the headers of S/MIME (RFC 8551 section 3).
fn is_mime(bytes: &[u8]) -> bool {
    let headers = &bytes[..bytes.len().min(1024)];
    let mut lines = headers.split(|byte| *byte == b'\n');
    lines.any(|line| {
        let line = String::from_utf8_lossy(line).to_ascii_lowercase();
        let types = ["multipart/signed", "pkcs7-mime"];
        line.starts_with("content-type:") && types.iter().any(|one| line.contains(one))
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
