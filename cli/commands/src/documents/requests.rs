//! Reads a file of any number of PKCS#10 requests one by one in little memory, and verifies each one's signature,
//! which proves that its sender has the private key. Also the one request, or root, of another CA.

use alloc::collections::VecDeque;
use core::mem;

use memchr::memchr_iter;
use pq_keys::encoding::pem::Mark;
use pq_x509::certificate::Certificate;
use pq_x509::request::{CertificateRequest, VerifiedRequest};

use super::certificates::{certificate_of, first_of};
use super::contents::Contents;
use super::error::DocumentError;
use crate::files::{InputError, Pieces, Source};
use crate::keys::other_verification;
use crate::kind::Kind;

/// More than a request has, with much text in front of it.
const LIMIT: usize = 16 * 1024 * 1024;

/// The requests of a file, in order and one at a time, so that any number of them takes little memory.
pub(crate) struct Requests {
    file: String,
    pieces: Pieces,
    /// How many lines were read.
    lines: usize,
    /// Whether the file had anything yet.
    is_begun: bool,
    /// The DER of the next requests, or why they can't be read: two if there are two more, so that the first
    /// request knows whether it is alone.
    ahead: VecDeque<Result<Vec<u8>, DocumentError>>,
    taken: usize,
}

/// One of a file's requests.
pub(crate) struct Numbered {
    /// Which one it is, from 1 on, if the file has several.
    pub(crate) number: Option<usize>,
    /// Its signature proves that whoever made it has the private key.
    pub(crate) request: Result<VerifiedRequest, DocumentError>,
}

impl Requests {
    /// Opens a file, which has to have at least one request.
    pub(crate) fn open(source: &Source) -> Result<Self, DocumentError> {
        let mut requests = Self {
            file: source.to_string(),
            pieces: source.pieces(Contents::END, LIMIT)?,
            lines: 0,
            is_begun: false,
            ahead: VecDeque::new(),
            taken: 0,
        };
        let mut others = None;
        while requests.ahead.is_empty() {
            let Some(contents) = requests.read()? else {
                let empty = InputError::Empty(requests.file);
                return Err(others.unwrap_or_else(|| empty.into()));
            };
            let missing = requests.look_at(contents);
            others = others.or(missing);
        }
        Ok(requests)
    }

    /// What the file has up to the end of its next block.
    fn read(&mut self) -> Result<Option<Result<Contents, DocumentError>>, DocumentError> {
        let is_first = !mem::replace(&mut self.is_begun, true);
        let Some(piece) = self.pieces.next()? else {
            return Ok(None);
        };
        // A first piece without a block is DER, and a later one is text.
        let lines_before = self.lines;
        self.lines += memchr_iter(b'\n', piece).count();
        Ok((is_first || Mark::first_in(piece).is_some())
            .then(|| Contents::of_part(piece, &self.file, lines_before)))
    }

    /// Takes the requests, or says what is there instead.
    fn look_at(&mut self, contents: Result<Contents, DocumentError>) -> Option<DocumentError> {
        match contents.and_then(|contents| contents.into_all(&[Kind::Request])) {
            // Requests are public, so they are not wiped.
            Ok(blocks) => self.ahead.extend(
                blocks
                    .into_iter()
                    .map(|mut block| Ok(mem::take(&mut *block.der))),
            ),
            Err(error @ DocumentError::Missing { .. }) => return Some(error),
            Err(error) => self.ahead.push_back(Err(error)),
        }
        None
    }
}

/// The request of a file with this name, whose signature proves that its sender has the private key.
fn verified(file: &str, der: &[u8]) -> Result<VerifiedRequest, DocumentError> {
    CertificateRequest::from_der(der)
        .and_then(|request| request.verify_with(other_verification()))
        .map_err(|error| DocumentError::Request {
            file: file.into(),
            error,
        })
}

/// What a CA certifies of another one.
pub(crate) enum OfAnotherCa {
    Root(Box<Certificate>),
    Request(Box<VerifiedRequest>),
}

/// The one request of a file, or its certificate, with which others of its chain may be. The file is read once.
///
/// # Errors
///
/// Also if there are several, or both: then nobody knows which of them is meant.
pub(crate) fn of_another_ca(source: &Source) -> Result<OfAnotherCa, DocumentError> {
    let contents = Contents::read(source, LIMIT)?;
    let has = |kind| contents.has(&[kind]);
    match (has(Kind::Certificate), has(Kind::Request)) {
        (true, true) => contents
            .only(&[Kind::Certificate, Kind::Request])
            .map(drop)?,
        (true, false) => {
            let blocks = contents.all(&[Kind::Certificate])?.into_iter();
            let certificates = blocks.map(|block| certificate_of(&contents, block));
            let certificates = certificates.collect::<Result<Vec<_>, _>>()?;
            let first = first_of(source, &certificates)?;
            return Ok(OfAnotherCa::Root(Box::new(first.clone())));
        }
        (false, _) => {}
    }
    let request = contents.only(&[Kind::Request])?;
    let request = verified(contents.file(), &request.der)?;
    Ok(OfAnotherCa::Request(Box::new(request)))
}

impl Iterator for Requests {
    type Item = Numbered;

    fn next(&mut self) -> Option<Numbered> {
        while self.ahead.len() < 2 {
            match self.read() {
                Ok(Some(contents)) => drop(self.look_at(contents)),
                Ok(None) => break,
                Err(error) => {
                    self.pieces.stop();
                    self.ahead.push_back(Err(error));
                }
            }
        }
        let der = self.ahead.pop_front()?;
        self.taken += 1;
        let is_alone = self.taken == 1 && self.ahead.is_empty();
        Some(Numbered {
            number: (!is_alone).then_some(self.taken),
            request: der.and_then(|der| verified(&self.file, &der)),
        })
    }
}
