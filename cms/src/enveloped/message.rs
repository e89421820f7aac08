use std::io::Read;

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5911::{ID_CT_AUTH_ENVELOPED_DATA, ID_ENVELOPED_DATA};
use der::Decode;
use zeroize::Zeroizing;

use super::cipher::{ContentCipher, Parameters, decode};
use super::error::OpeningError;
use super::recipient::{Outcome, RecipientKey, Tries};
use super::recipient_info::{KEK, OTHER};
use crate::encoding::{BerReader, tag};

/// A RecipientInfo of a kind that is read here has some 1 700 bytes, and a name.
const MAX_RECIPIENT: usize = 64 * 1024;

/// An AlgorithmIdentifier, a content type or a version.
const MAX_IDENTIFIER: usize = 256;

/// What of an EnvelopedData or AuthEnvelopedData stands before the content.
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
        reader: &mut BerReader<impl Read>,
        key: &RecipientKey<'_>,
    ) -> Result<Self, OpeningError> {
        reader.enter(tag::SEQUENCE, "a ContentInfo")?;
        let is_authenticated = match object_identifier(reader)? {
            ID_CT_AUTH_ENVELOPED_DATA => true,
            ID_ENVELOPED_DATA => false,
            other => return Err(OpeningError::NotEncrypted(other)),
        };
        reader.enter(tag::context_constructed(0), "the content")?;
        reader.enter(tag::SEQUENCE, "an EnvelopedData")?;
        let version = reader.element(tag::INTEGER, MAX_IDENTIFIER, "a version")?;
        match (is_authenticated, u8::from_der(&version)?) {
            (true, 0) | (false, 0 | 2..=4) => {}
            (_, other) => return Err(OpeningError::Version(other)),
        }
        if reader.peek()? == Some(tag::context_constructed(0)) {
            // Certificates of the originator are of no use here.
            reader.skip()?;
        }
        let (content_key, recipients) = recipients(reader, key)?;
        reader.enter(tag::SEQUENCE, "an EncryptedContentInfo")?;
        let content_type = object_identifier(reader)?;
        let identifier = reader.element(tag::SEQUENCE, MAX_IDENTIFIER, "a cipher")?;
        let (cipher, parameters) = decode(&identifier, is_authenticated)?;
        if reader.peek()?.is_none() {
            return Err(OpeningError::NoContent);
        }
        match content_key.len() == cipher.key_len() {
            true => Ok(Self {
                content_key,
                cipher,
                parameters,
                content_type,
                recipients,
            }),
            false => Err(OpeningError::WrongKey),
        }
    }
}

/// Looks for the recipient who has this key. However many there are, one of them at a time is in memory.
fn recipients(
    reader: &mut BerReader<impl Read>,
    key: &RecipientKey<'_>,
) -> Result<(Zeroizing<Vec<u8>>, u64), OpeningError> {
    let mut outcome: Option<Outcome> = None;
    let (mut count, mut tries) = (0, Tries::new());
    reader.enter(tag::SET, "the recipients")?;
    while let Some(found) = reader.peek()? {
        count += 1;
        let is_wanted = !matches!(outcome, Some(Ok(_)));
        let this = match found {
            OTHER if is_wanted => key.open_other(&element(reader, found)?, &mut tries)?,
            KEK if is_wanted => key.open_kek(&element(reader, found)?, &mut tries)?,
            _ => {
                reader.skip()?;
                None
            }
        };
        if this.is_some() {
            outcome = this;
        }
    }
    reader.leave()?;
    match outcome {
        Some(outcome) => Ok((outcome?, count)),
        None => Err(OpeningError::NotARecipient(count)),
    }
}

fn element(reader: &mut BerReader<impl Read>, tag: u8) -> Result<Vec<u8>, OpeningError> {
    Ok(reader.element(tag, MAX_RECIPIENT, "a recipient")?)
}

fn object_identifier(reader: &mut BerReader<impl Read>) -> Result<ObjectIdentifier, OpeningError> {
    let der = reader.element(tag::OBJECT_IDENTIFIER, MAX_IDENTIFIER, "a content type")?;
    Ok(ObjectIdentifier::from_der(&der)?)
}
