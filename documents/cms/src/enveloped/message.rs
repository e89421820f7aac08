//! Reads what comes before and after the encrypted content (RFC 5652, section 6.1; RFC 5083), and searches the
//! recipients for the one with our key.

use std::io::BufRead;

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5911::{ID_CT_AUTH_ENVELOPED_DATA, ID_ENVELOPED_DATA};
use der::Decode;
use zeroize::Zeroizing;

use super::cipher::{ContentCipher, Parameters, decode};
use super::error::OpeningError;
use super::recipient::{Outcome, RecipientKey, Tries, Unread};
use super::recipient_info::AGREEMENT;
use crate::encoding::{BerReader, MAX_IDENTIFIER, contents, tag, tlv};

/// The largest RecipientInfo that is read, if it is for one recipient. The supported kinds have some 1 700 bytes, and a
/// name. Larger ones are skipped.
const MAX_RECIPIENT: usize = 64 * 1024;

/// The largest `kari`, which may be for many recipients. Each has some 80 bytes, and a name.
const MAX_AGREEMENT: usize = 256 * 1024;

/// How many bytes of a RecipientInfo with this tag are read.
pub(super) fn recipient_limit(kind: u8) -> usize {
    match kind {
        AGREEMENT => MAX_AGREEMENT,
        _ => MAX_RECIPIENT,
    }
}

/// The part of an EnvelopedData or AuthEnvelopedData before the content.
pub(super) struct Head {
    pub(super) content_key: Zeroizing<Vec<u8>>,
    pub(super) cipher: ContentCipher,
    pub(super) parameters: Parameters,
    pub(super) content_type: ObjectIdentifier,
    pub(super) recipients: u64,
}

impl Head {
    /// Reads all up to the content, an OCTET STRING with the tag [0].
    pub(super) fn read(
        reader: &mut BerReader<impl BufRead>,
        key: &RecipientKey<'_>,
    ) -> Result<Self, OpeningError> {
        reader.enter(tag::SEQUENCE, "a ContentInfo")?;
        let content_type = reader.object_identifier("a content type")?;
        let start = Start::read(reader, content_type)?;
        let (content_key, recipients) = recipients(reader, key)?;
        let content = ContentHead::read(reader)?;
        let (cipher, parameters) = decode(&content.cipher, start.is_authenticated)?;
        if !content.is_there {
            return Err(OpeningError::NoContent);
        }
        match content_key.len() == cipher.key_len() {
            true => Ok(Self {
                content_key,
                cipher,
                parameters,
                content_type: content.content_type,
                recipients,
            }),
            false => Err(OpeningError::WrongKey),
        }
    }
}

/// The part before the recipients.
pub(super) struct Start {
    pub(super) is_authenticated: bool,
    pub(super) version: u8,
}

impl Start {
    /// Reads it after the ContentInfo's type.
    pub(super) fn read(
        reader: &mut BerReader<impl BufRead>,
        content_type: ObjectIdentifier,
    ) -> Result<Self, OpeningError> {
        let is_authenticated = match content_type {
            ID_CT_AUTH_ENVELOPED_DATA => true,
            ID_ENVELOPED_DATA => false,
            other => return Err(OpeningError::NotEncrypted(other)),
        };
        reader.enter(tag::context_constructed(0), "the content")?;
        reader.enter(tag::SEQUENCE, "an EnvelopedData")?;
        let version = reader.element(tag::INTEGER, MAX_IDENTIFIER, "a version")?;
        let version = u8::from_der(&version)?;
        match (is_authenticated, version) {
            (true, 0) | (false, 0 | 2..=4) => {}
            (_, other) => return Err(OpeningError::Version(other)),
        }
        if reader.peek()? == Some(tag::context_constructed(0)) {
            // Certificates of the originator are of no use here.
            reader.skip()?;
        }
        Ok(Self {
            is_authenticated,
            version,
        })
    }
}

/// The part of an EncryptedContentInfo before the content.
pub(super) struct ContentHead {
    pub(super) content_type: ObjectIdentifier,
    /// The AlgorithmIdentifier.
    pub(super) cipher: Vec<u8>,
    /// An OCTET STRING is next.
    pub(super) is_there: bool,
}

impl ContentHead {
    pub(super) fn read(reader: &mut BerReader<impl BufRead>) -> Result<Self, OpeningError> {
        reader.enter(tag::SEQUENCE, "an EncryptedContentInfo")?;
        Ok(Self {
            content_type: reader.object_identifier("a content type")?,
            cipher: reader.element(tag::SEQUENCE, MAX_IDENTIFIER, "a cipher")?,
            is_there: reader.peek()?.is_some(),
        })
    }
}

/// The part after the content.
pub(super) struct Tail {
    /// The authenticated attributes, as the SET OF that was authenticated, or nothing.
    pub(super) attributes: Vec<u8>,
    /// The OCTET STRING with the tag, if the content is authenticated.
    pub(super) mac: Vec<u8>,
}

impl Tail {
    /// Reads it up to the end of the message.
    pub(super) fn read(
        mut reader: BerReader<impl BufRead>,
        is_authenticated: bool,
    ) -> Result<Self, OpeningError> {
        const ATTRIBUTES: u8 = tag::context_constructed(1);
        const UNAUTHENTICATED: u8 = tag::context_constructed(2);

        let (mut attributes, mut mac) = (Vec::new(), Vec::new());
        reader.leave()?;
        if is_authenticated {
            if reader.peek()? == Some(ATTRIBUTES) {
                let der = reader.element(ATTRIBUTES, MAX_ATTRIBUTES, "attributes")?;
                attributes = tlv(tag::SET, &[contents(&der)?]);
            }
            mac = reader.element(tag::OCTET_STRING, MAX_ATTRIBUTES, "a tag")?;
        }
        let of_no_use = match is_authenticated {
            true => UNAUTHENTICATED,
            false => ATTRIBUTES,
        };
        if reader.peek()? == Some(of_no_use) {
            reader.skip()?;
        }
        for _ in 0..3 {
            reader.leave()?;
        }
        reader.finish()?;
        Ok(Self { attributes, mac })
    }
}

/// The most bytes of authenticated attributes, or of a tag.
const MAX_ATTRIBUTES: usize = 64 * 1024;

/// Finds the recipient who has this key. Only one recipient at a time is in memory.
///
/// A recipient that can't be read may be somebody else's, of a newer version or kind, and does not end the
/// search (RFC 5652, section 6.1).
fn recipients(
    reader: &mut BerReader<impl BufRead>,
    key: &RecipientKey<'_>,
) -> Result<(Zeroizing<Vec<u8>>, u64), OpeningError> {
    let mut outcome: Option<Outcome> = None;
    let mut unread = None;
    let (mut count, mut tries) = (0, Tries::new());
    reader.enter(tag::SET, "the recipients")?;
    while let Some(found) = reader.peek()? {
        count += 1;
        if found != key.kind() || matches!(outcome, Some(Ok(_))) {
            reader.skip()?;
            continue;
        }
        let limit = recipient_limit(found);
        let Some(element) = reader.element_within(limit)? else {
            unread = Some(Unread::TooLarge(limit));
            continue;
        };
        let was_named = tries.is_named();
        match key.open(&element, &mut tries) {
            Ok(None) => {}
            Ok(Some(this)) => {
                if !says_more(outcome.as_ref(), was_named, &this, tries.is_named()) {
                    outcome = Some(this);
                }
            }
            Err(error) => unread = Some(error),
        }
    }
    reader.leave()?;
    if let (Some(Err(OpeningError::WrongKey)) | None, Some(tried)) = (&outcome, tries.exhausted()) {
        return Err(OpeningError::TooManyTried(tried));
    }
    match (outcome, unread) {
        (Some(Ok(content_key)), _) => Ok((content_key, count)),
        // One that could not be read may be ours, unless another one named us.
        (outcome, Some(unread)) if outcome.is_none() || !tries.is_named() => Err(unread.of(count)),
        (Some(Err(error)), _) => Err(error),
        (None, _) => Err(OpeningError::NotARecipient(count)),
    }
}

/// Whether what is known of the recipients so far says more about why the message was not decrypted than the next one: if
/// one of them named the key, or has an algorithm that is not supported.
fn says_more(known: Option<&Outcome>, was_named: bool, next: &Outcome, is_named: bool) -> bool {
    match (known, next) {
        (Some(Err(_)), Err(_)) if was_named => true,
        (Some(Err(OpeningError::UnknownAlgorithm(_))), Err(OpeningError::WrongKey)) => !is_named,
        _ => false,
    }
}
