//! Encrypts content for recipients: an AuthEnvelopedData with AES-GCM, or an EnvelopedData with AES-CBC, in one pass
//! and in constant memory.

use std::io::{Read, Write};

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5911::{
    ID_CONTENT_TYPE, ID_CT_AUTH_ENVELOPED_DATA, ID_DATA, ID_ENVELOPED_DATA,
};
use der::Encode;
use pq_core::wiping_stack;
use pq_keys::gcm::{Key, Message, NONCE_LEN, TAG_LEN, TooLong};
use pq_keys::random;
use zeroize::Zeroizing;

use super::cbc::{BLOCK, CbcEncryption, pad};
use super::cipher::{ContentCipher, Parameters, encode};
use super::error::EnvelopingError;
use super::recipient::Recipient;
use crate::encoding::{BerWriter, PIECE, for_each_piece, read_start, tag, tlv};

/// A message to encrypt: its recipients and its cipher.
///
/// ```
/// use pq_cms::{EnvelopeBuilder, Opener, Recipient, RecipientKey};
/// use pq_x509::keys::{DecapsulationKey, KemAlgorithm};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let key = DecapsulationKey::generate(KemAlgorithm::MlKem768)?;
///
/// // A recipient with a certificate is given by `Recipient::certificate`.
/// let recipient = Recipient::key(key.encapsulation_key().clone(), b"archive");
/// let mut message = Vec::new();
/// EnvelopeBuilder::new()
///     .recipient(recipient)
///     .encrypt(&b"a secret"[..], &mut message)?;
///
/// let opener = Opener::new(RecipientKey::new(&key));
/// let (content, _) = opener.open(&message[..], 1024)?;
/// assert_eq!(content.as_slice(), b"a secret");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct EnvelopeBuilder {
    recipients: Vec<Recipient>,
    cipher: ContentCipher,
    content_type: ObjectIdentifier,
}

impl EnvelopeBuilder {
    /// A message of plain data, encrypted by AES-256-GCM for nobody yet.
    pub fn new() -> Self {
        Self {
            recipients: Vec::new(),
            cipher: ContentCipher::default(),
            content_type: ID_DATA,
        }
    }

    /// Adds a recipient, who can decrypt the message.
    pub fn recipient(mut self, recipient: Recipient) -> Self {
        self.recipients.push(recipient);
        self
    }

    /// Encrypts the content with another cipher.
    pub fn cipher(mut self, cipher: ContentCipher) -> Self {
        self.cipher = cipher;
        self
    }

    /// Says what the content is, if it is not plain data, such as 1.2.840.113549.1.7.2 for a signed
    /// message.
    pub fn content_type(mut self, content_type: ObjectIdentifier) -> Self {
        self.content_type = content_type;
        self
    }

    /// Encrypts content and writes the message, as a ContentInfo. The content is read once, in constant
    /// memory.
    ///
    /// The message is DER if the content has less than 64 KiB, and otherwise BER with indefinite lengths.
    ///
    /// # Errors
    ///
    /// An [`EnvelopingError`] that says what is wrong. What was written by then is not a whole message.
    pub fn encrypt(&self, content: impl Read, to: impl Write) -> Result<(), EnvelopingError> {
        wiping_stack(|| self.write(content, to))
    }

    fn write(&self, mut content: impl Read, to: impl Write) -> Result<(), EnvelopingError> {
        let content_type = match self.cipher.is_authenticated() {
            true => ID_CT_AUTH_ENVELOPED_DATA,
            false => ID_ENVELOPED_DATA,
        };
        let (mut encryption, identifier) = Encryption::begin(self.cipher)?;
        let head = self.head(&encryption.content_key)?;
        let start = read_start(&mut content)?;
        let mut writer = BerWriter::new(to);
        if start.is_whole {
            let ciphertext = encryption.last(&start.bytes)?;
            let content = tlv(
                tag::SEQUENCE,
                &[
                    &self.content_type.to_der()?,
                    &identifier,
                    &tlv(tag::context(0), &[&ciphertext]),
                ],
            );
            let parts = [&*head, &*content, &*self.tail(encryption)?];
            let enveloped = tlv(tag::SEQUENCE, &parts);
            let enveloped = tlv(tag::context_constructed(0), &[&enveloped]);
            writer.raw(&tlv(tag::SEQUENCE, &[&content_type.to_der()?, &enveloped]))?;
            return Ok(writer.finish()?);
        }
        writer.begin(tag::SEQUENCE)?;
        writer.raw(&content_type.to_der()?)?;
        writer.begin(tag::context_constructed(0))?;
        writer.begin(tag::SEQUENCE)?;
        writer.raw(&head)?;
        writer.begin(tag::SEQUENCE)?;
        writer.raw(&self.content_type.to_der()?)?;
        writer.raw(&identifier)?;
        writer.begin(tag::context(0))?;
        let mut start = start.bytes;
        encryption.piece(&mut start)?;
        writer.piece(&start)?;
        for_each_piece(&mut content, |piece| {
            if piece.len() == PIECE {
                encryption.piece(piece)?;
                writer.piece(piece)?;
                return Ok::<_, EnvelopingError>(());
            }
            let last = encryption.last(piece)?;
            match last.is_empty() {
                true => Ok(()),
                false => Ok(writer.piece(&last)?),
            }
        })?;
        writer.end()?;
        writer.end()?;
        writer.raw(&self.tail(encryption)?)?;
        Ok(writer.finish()?)
    }

    /// The part before the content: the version and the recipients.
    fn head(&self, content_key: &[u8]) -> Result<Vec<u8>, EnvelopingError> {
        if self.recipients.is_empty() {
            return Err(EnvelopingError::NoRecipient);
        }
        let mut recipients = Vec::new();
        for recipient in &self.recipients {
            recipients.push(recipient.encrypt(content_key)?);
        }
        recipients.sort_unstable();
        // RFC 5652, section 6.1; RFC 5083, section 2.1
        let version: u8 = match self.cipher.is_authenticated() {
            true => 0,
            false if self.recipients.iter().any(Recipient::is_other) => 3,
            false => 2,
        };
        Ok([version.to_der()?, tlv(tag::SET, &[&recipients.concat()])].concat())
    }

    /// The part after the content: attributes, if the content's type requires them (RFC 5083, section 2.1),
    /// and the tag.
    fn tail(&self, encryption: Encryption) -> Result<Vec<u8>, EnvelopingError> {
        let State::Gcm(gcm) = encryption.state else {
            return Ok(Vec::new());
        };
        let mut attributes = Vec::new();
        if self.content_type != ID_DATA {
            let values = tlv(tag::SET, &[&self.content_type.to_der()?]);
            attributes = tlv(tag::SEQUENCE, &[&ID_CONTENT_TYPE.to_der()?, &values]);
        }
        if attributes.is_empty() {
            return Ok(tlv(tag::OCTET_STRING, &[&*gcm.finish(&[])]));
        }
        let tag = gcm.finish(&tlv(tag::SET, &[&attributes]));
        Ok([
            tlv(tag::context_constructed(1), &[&attributes]),
            tlv(tag::OCTET_STRING, &[&*tag]),
        ]
        .concat())
    }
}

/// Content that is being encrypted.
struct Encryption {
    content_key: Zeroizing<Vec<u8>>,
    state: State,
}

enum State {
    Gcm(Box<Message<Key>>),
    Cbc(Box<CbcEncryption>),
}

impl Encryption {
    /// Begins with a new key, and returns the cipher's AlgorithmIdentifier as well.
    fn begin(cipher: ContentCipher) -> Result<(Self, Vec<u8>), EnvelopingError> {
        let mut content_key = Zeroizing::new(vec![0; cipher.key_len()]);
        random::fill(&mut content_key)?;
        let (state, parameters) = match cipher.is_authenticated() {
            true => {
                let mut nonce = [0; NONCE_LEN];
                random::fill(&mut nonce)?;
                let gcm = Key::new(&content_key).map(|key| Message::new(key, &nonce));
                (
                    gcm.map(|gcm| State::Gcm(Box::new(gcm))),
                    Parameters::Gcm(nonce, TAG_LEN),
                )
            }
            false => {
                let mut iv = [0; BLOCK];
                random::fill(&mut iv)?;
                let cbc = CbcEncryption::new(&content_key, &iv);
                (
                    cbc.map(|cbc| State::Cbc(Box::new(cbc))),
                    Parameters::Cbc(iv),
                )
            }
        };
        let state = state.ok_or(EnvelopingError::SharedKeyLength(content_key.len()))?;
        let identifier = encode(cipher, &parameters)?;
        Ok((Self { content_key, state }, identifier))
    }

    /// Encrypts a piece of whole blocks.
    fn piece(&mut self, piece: &mut [u8]) -> Result<(), EnvelopingError> {
        match &mut self.state {
            State::Gcm(gcm) => gcm
                .encrypt(piece)
                .map_err(|TooLong| EnvelopingError::TooLong),
            State::Cbc(cbc) => {
                cbc.encrypt(piece);
                Ok(())
            }
        }
    }

    /// Encrypts what is left, with padding if the cipher has any.
    fn last(&mut self, rest: &[u8]) -> Result<Vec<u8>, EnvelopingError> {
        // room for padding: growing would leave a copy of the content behind
        let mut last = Vec::with_capacity(rest.len() + BLOCK);
        last.extend_from_slice(rest);
        if let State::Cbc(_) = self.state {
            pad(&mut last);
        }
        self.piece(&mut last)?;
        Ok(last)
    }
}
