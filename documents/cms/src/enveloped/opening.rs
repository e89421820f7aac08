//! Decrypts messages in three ways: into memory, from a file that is read twice, and while reading, before the content
//! is authenticated.

use std::io::{BufRead, Seek, SeekFrom, Write};

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5911::{ID_CONTENT_TYPE, ID_DATA};
use der::Decode;
use der::asn1::OctetStringRef;
use pq_core::wiping_stack;
use pq_keys::gcm::{Key, Message, TooLong};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::cbc::{BLOCK, CbcDecryption, unpadded_len};
use super::cipher::{ContentCipher, Parameters};
use super::error::OpeningError;
use super::message::{Head, Tail};
use super::recipient::RecipientKey;
use crate::encoding::{BerReader, EncodingError, Fields, PIECE, tag};

/// Decrypts messages with a recipient's key.
#[derive(Clone, Debug)]
pub struct Opener<'k> {
    key: RecipientKey<'k>,
    takes_unauthenticated: bool,
}

/// A message that was decrypted.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Opened {
    /// What the content is: 1.2.840.113549.1.7.1 for plain data.
    pub content_type: ObjectIdentifier,
    /// The cipher that encrypted it.
    pub cipher: ContentCipher,
    /// The number of recipients, as the message says. Nothing protects it.
    pub recipients: u64,
    /// Length of the content, in bytes.
    pub len: u64,
}

impl<'k> Opener<'k> {
    /// Decrypts authenticated messages with this key, and no others.
    pub fn new(key: RecipientKey<'k>) -> Self {
        Self {
            key,
            takes_unauthenticated: false,
        }
    }

    /// Accepts AES-CBC messages as well, for which **nothing shows whether the content was changed on the
    /// way**. A program that reacts differently to different content, even by an error, reveals the content
    /// to whoever asks often enough. This holds for AES-GCM messages as well: anybody can make AES-CBC
    /// messages with the same key from them (RFC 9709, section 1). So have a separate key for AES-CBC.
    #[must_use]
    pub fn take_unauthenticated(mut self) -> Self {
        self.takes_unauthenticated = true;
        self
    }

    /// Decrypts a message and returns its content after the whole message was authenticated, which AES-CBC messages
    /// can't be. The content is wiped when dropped.
    ///
    /// # Errors
    ///
    /// [`OpeningError::ContentTooLarge`] if the content has more than `limit` bytes; otherwise an
    /// [`OpeningError`] that says what is wrong.
    pub fn open(
        &self,
        message: impl BufRead,
        limit: usize,
    ) -> Result<(Zeroizing<Vec<u8>>, Opened), OpeningError> {
        let mut content = Zeroizing::new(Vec::new());
        let opened = self.run(message, Pass::Decrypt, |piece| {
            let len = content.len() + piece.len();
            if len > limit {
                return Err(OpeningError::ContentTooLarge(limit));
            }
            if content.capacity() < len {
                // A vector that grows by itself leaves a copy behind.
                let mut larger = Zeroizing::new(Vec::with_capacity(2 * len));
                larger.extend_from_slice(&content);
                content = larger;
            }
            content.extend_from_slice(piece);
            Ok(())
        })?;
        Ok((content, opened))
    }

    /// Decrypts a message of any size, and writes its content while it is read, once and in constant memory.
    ///
    /// **What is written is authentic only after this has returned `Ok`**: the tag comes last. Write it to
    /// a file that gets its name afterwards, or use [`open_seekable`](Self::open_seekable) or
    /// [`open`](Self::open). After an error, discard it.
    ///
    /// # Errors
    ///
    /// An [`OpeningError`] that says what is wrong.
    pub fn write_unauthenticated(
        &self,
        message: impl BufRead,
        mut content_to: impl Write,
    ) -> Result<Opened, OpeningError> {
        let opened = self.run(message, Pass::Decrypt, |piece| {
            content_to
                .write_all(piece)
                .map_err(|error| EncodingError::Write(error).into())
        })?;
        content_to.flush().map_err(EncodingError::Write)?;
        Ok(opened)
    }

    /// Reads a message twice: first to authenticate it, and only then to decrypt it. What is written is
    /// authentic, unless somebody changes the message in between; then an error says so.
    ///
    /// # Errors
    ///
    /// [`OpeningError::NotAuthenticated`] for AES-CBC, and the errors of [`open`](Self::open).
    pub fn open_seekable(
        &self,
        mut message: impl BufRead + Seek,
        content_to: impl Write,
    ) -> Result<Opened, OpeningError> {
        let start = message.stream_position().map_err(EncodingError::Read)?;
        self.run(&mut message, Pass::Authenticate, |_| Ok(()))?;
        message
            .seek(SeekFrom::Start(start))
            .map_err(EncodingError::Read)?;
        self.write_unauthenticated(message, content_to)
    }

    fn run(
        &self,
        message: impl BufRead,
        pass: Pass,
        take: impl FnMut(&[u8]) -> Result<(), OpeningError>,
    ) -> Result<Opened, OpeningError> {
        wiping_stack(|| self.read(message, pass, take))
    }

    fn read(
        &self,
        message: impl BufRead,
        pass: Pass,
        mut take: impl FnMut(&[u8]) -> Result<(), OpeningError>,
    ) -> Result<Opened, OpeningError> {
        let mut reader = BerReader::new(message);
        let head = Head::read(&mut reader, &self.key)?;
        let is_authenticated = head.cipher.is_authenticated();
        if !is_authenticated && (pass == Pass::Authenticate || !self.takes_unauthenticated) {
            return Err(OpeningError::NotAuthenticated(head.cipher.name()));
        }
        let mut decryption = Decryption::begin(&head, pass)?;
        reader.octets(tag::context(0), |piece| decryption.push(piece, &mut take))?;
        let len = decryption.last(&mut take)?;
        let tail = Tail::read(reader, is_authenticated)?;
        if let (State::Gcm(gcm), Parameters::Gcm(_, tag_len)) = (decryption.state, head.parameters)
        {
            let mac = <&OctetStringRef>::from_der(&tail.mac)?.as_bytes();
            let expected = gcm.finish(&tail.attributes);
            if !bool::from(expected[..tag_len].ct_eq(mac)) {
                return Err(OpeningError::Altered);
            }
            check_content_type(&tail.attributes, head.content_type)?;
        }
        Ok(Opened {
            content_type: head.content_type,
            cipher: head.cipher,
            recipients: head.recipients,
            len,
        })
    }
}

/// An attribute authenticates the content's type; plain data may lack it (RFC 5083, section 2.1).
fn check_content_type(set: &[u8], content_type: ObjectIdentifier) -> Result<(), OpeningError> {
    let mut authenticated = None;
    if !set.is_empty() {
        let mut attributes = Fields::of(tag::SET, set)?;
        while !attributes.is_empty() {
            let mut attribute = Fields::of(tag::SEQUENCE, attributes.element()?)?;
            if attribute.object_identifier()? == ID_CONTENT_TYPE {
                let mut values = Fields::of(tag::SET, attribute.element()?)?;
                let value = values.object_identifier()?;
                values.end()?;
                if authenticated.replace(value).is_some() {
                    return Err(OpeningError::Altered);
                }
            }
        }
    }
    match authenticated.unwrap_or(ID_DATA) == content_type {
        true => Ok(()),
        false => Err(OpeningError::Altered),
    }
}

/// What is done with the content.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Pass {
    Authenticate,
    Decrypt,
}

/// Content that is being decrypted. It comes in pieces of any length, and ciphers need whole blocks.
struct Decryption {
    state: State,
    pass: Pass,
    pending: Zeroizing<Vec<u8>>,
    len: u64,
}

enum State {
    Gcm(Box<Message<Key>>),
    Cbc(Box<CbcDecryption>),
}

impl Decryption {
    fn begin(head: &Head, pass: Pass) -> Result<Self, OpeningError> {
        let key = &head.content_key;
        let state = match &head.parameters {
            Parameters::Gcm(nonce, _) => {
                Key::new(key).map(|key| State::Gcm(Box::new(Message::new(key, nonce))))
            }
            Parameters::Cbc(iv) => CbcDecryption::new(key, iv).map(|cbc| State::Cbc(Box::new(cbc))),
        };
        Ok(Self {
            state: state.ok_or(OpeningError::WrongKey)?,
            pass,
            pending: Zeroizing::new(Vec::with_capacity(PIECE)),
            len: 0,
        })
    }

    fn push(
        &mut self,
        mut piece: &[u8],
        take: &mut impl FnMut(&[u8]) -> Result<(), OpeningError>,
    ) -> Result<(), OpeningError> {
        while !piece.is_empty() {
            // The last piece has padding, so each piece stays until something follows.
            if self.pending.len() == PIECE {
                self.decrypt()?;
                self.hand_out(PIECE, take)?;
                self.pending.clear();
            }
            let len = piece.len().min(PIECE - self.pending.len());
            let (taken, rest) = piece.split_at(len);
            self.pending.extend_from_slice(taken);
            piece = rest;
        }
        Ok(())
    }

    /// Ends the content, and returns its length.
    fn last(
        &mut self,
        take: &mut impl FnMut(&[u8]) -> Result<(), OpeningError>,
    ) -> Result<u64, OpeningError> {
        if let State::Cbc(_) = self.state
            && !self.pending.len().is_multiple_of(BLOCK)
        {
            return Err(OpeningError::Altered);
        }
        self.decrypt()?;
        let len = match self.state {
            State::Gcm(_) => self.pending.len(),
            State::Cbc(_) => unpadded_len(&self.pending).ok_or(OpeningError::Altered)?,
        };
        self.hand_out(len, take)?;
        Ok(self.len)
    }

    fn decrypt(&mut self) -> Result<(), OpeningError> {
        match (&mut self.state, self.pass) {
            (State::Gcm(gcm), Pass::Authenticate) => gcm.authenticate(&self.pending),
            (State::Gcm(gcm), Pass::Decrypt) => gcm.decrypt(&mut self.pending),
            (State::Cbc(cbc), _) => {
                cbc.decrypt(&mut self.pending);
                Ok(())
            }
        }
        .map_err(|TooLong| OpeningError::Altered)
    }

    fn hand_out(
        &mut self,
        len: usize,
        take: &mut impl FnMut(&[u8]) -> Result<(), OpeningError>,
    ) -> Result<(), OpeningError> {
        self.len += len as u64;
        take(&self.pending[..len])
    }
}
