//! Describes an encrypted message to people without a key: its recipients and its algorithms, none of them
//! authenticated.

use std::io::BufRead;

use const_oid::ObjectIdentifier;
use der::Decode;
use der::asn1::OctetStringRef;
use spki::AlgorithmIdentifierRef;

use super::error::OpeningError;
use super::message::{ContentHead, Start, Tail, recipient_limit};
use super::recipient_info::{
    AGREEMENT, KEK, KekRecipientInfo, KemRecipientInfo, KeyAgreeRecipientInfo, OTHER, PASSWORD,
    TRANSPORT, other_kind,
};
use crate::encoding::{BerReader, EncodingError, Fields, tag};
use crate::identifier::{Identifier, KeyIdentifier};

/// What an EnvelopedData or AuthEnvelopedData says about itself. **None of it was authenticated.**
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct EnvelopedOutline {
    /// Whether it is an AuthEnvelopedData, in which a change of the content is noticed.
    pub is_authenticated: bool,
    /// The version of the syntax (RFC 5652, section 6.1; RFC 5083, section 2.1).
    pub version: u8,
    /// How many recipients there are.
    pub recipients_len: u64,
    /// The first recipients, with up to 1,024 identifiers in all.
    pub recipients: Vec<RecipientOutline>,
    /// What the content is: 1.2.840.113549.1.7.1 for plain data.
    pub content_type: ObjectIdentifier,
    /// The content's cipher.
    pub cipher: ObjectIdentifier,
    /// Length of the encrypted content, in bytes; `None` if it is not in the message.
    pub encrypted_len: Option<u64>,
    /// Length of the tag, in bytes, if the content is authenticated.
    pub tag_len: Option<usize>,
    /// The types of the attributes that are authenticated with the content.
    pub attributes: Vec<ObjectIdentifier>,
}

/// What a message says about one of its recipients, or about several in one RecipientInfo.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RecipientOutline {
    /// How they get the content's key.
    pub kind: RecipientKind,
    /// Whom the message names.
    pub identifiers: Vec<Identifier>,
    /// The algorithm of the KEM, of RSA, or of the key agreement with its KDF. Other kinds have none.
    pub algorithm: Option<ObjectIdentifier>,
    /// The function that derives a key from the KEM's secret.
    pub kdf: Option<ObjectIdentifier>,
    /// The algorithm that wraps the content's key.
    pub wrap: Option<ObjectIdentifier>,
}

/// The kinds of RecipientInfo (RFC 5652, section 6.2; RFC 9629).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RecipientKind {
    /// `ktri`: the key is encrypted with RSA.
    KeyTransport,
    /// `kari`: with a secret that sender and recipient agree on.
    KeyAgreement,
    /// `kekri`: with a key that both have.
    SharedKey,
    /// `pwri`: with a password.
    Password,
    /// `ori` with a KEM, such as ML-KEM.
    Kem,
    /// `ori` of another kind, which has this identifier.
    Other(ObjectIdentifier),
    /// Too large, malformed, of another version, or of an unknown kind.
    Unreadable,
}

impl RecipientOutline {
    fn of(kind: RecipientKind) -> Self {
        Self {
            kind,
            identifiers: Vec::new(),
            algorithm: None,
            kdf: None,
            wrap: None,
        }
    }

    fn from_der(kind: u8, der: &[u8]) -> der::Result<Self> {
        Ok(match kind {
            TRANSPORT => {
                let mut fields = Fields::of(TRANSPORT, der)?;
                fields.read::<u8>()?;
                let recipient = KeyIdentifier::from_der(fields.element()?)?;
                Self {
                    identifiers: vec![recipient.readable()],
                    algorithm: Some(fields.read::<AlgorithmIdentifierRef<'_>>()?.oid),
                    ..Self::of(RecipientKind::KeyTransport)
                }
            }
            AGREEMENT => match KeyAgreeRecipientInfo::from_der(der)? {
                Some(info) => Self {
                    identifiers: info
                        .recipients
                        .take(MAX_LISTED)
                        .map(|recipient| Ok(recipient?.0.readable()))
                        .collect::<der::Result<_>>()?,
                    algorithm: Some(info.scheme),
                    wrap: Some(info.wrap.oid),
                    ..Self::of(RecipientKind::KeyAgreement)
                },
                None => Self::of(RecipientKind::KeyAgreement),
            },
            KEK => {
                let info = KekRecipientInfo::from_der(der)?;
                let id = KeyIdentifier::SubjectKeyId(info.id.to_vec());
                Self {
                    identifiers: vec![id.readable()],
                    wrap: Some(info.wrap.oid),
                    ..Self::of(RecipientKind::SharedKey)
                }
            }
            PASSWORD => Self::of(RecipientKind::Password),
            OTHER => match KemRecipientInfo::from_der(der)? {
                Some(info) => Self {
                    identifiers: vec![info.recipient.readable()],
                    algorithm: Some(info.kem.oid),
                    kdf: Some(info.kdf.oid),
                    wrap: Some(info.wrap.oid),
                    ..Self::of(RecipientKind::Kem)
                },
                None => Self::of(RecipientKind::Other(other_kind(der)?)),
            },
            _ => Self::of(RecipientKind::Unreadable),
        })
    }
}

/// How many identifiers are listed. Whoever made the message chose their lengths, of up to some hundred bytes.
const MAX_LISTED: usize = 1024;

/// Reads an EnvelopedData or AuthEnvelopedData after its content type, which is this one.
pub(crate) fn outline(
    mut reader: BerReader<impl BufRead>,
    content_type: ObjectIdentifier,
) -> Result<EnvelopedOutline, OpeningError> {
    let Start {
        is_authenticated,
        version,
    } = Start::read(&mut reader, content_type)?;
    let mut recipients = Vec::new();
    let (mut recipients_len, mut left) = (0, MAX_LISTED);
    reader.enter(tag::SET, "the recipients")?;
    while let Some(kind) = reader.peek()? {
        recipients_len += 1;
        if left == 0 {
            reader.skip()?;
            continue;
        }
        let element = reader.element_within(recipient_limit(kind))?;
        let recipient = element.and_then(|der| RecipientOutline::from_der(kind, &der).ok());
        let mut recipient =
            recipient.unwrap_or_else(|| RecipientOutline::of(RecipientKind::Unreadable));
        recipient.identifiers.truncate(left);
        left -= recipient.identifiers.len().clamp(1, left);
        recipients.push(recipient);
    }
    reader.leave()?;
    let content = ContentHead::read(&mut reader)?;
    let cipher = AlgorithmIdentifierRef::from_der(&content.cipher)?.oid;
    let encrypted_len = match content.is_there {
        true => Some(reader.octets(tag::context(0), |_| Ok::<_, EncodingError>(()))?),
        false => None,
    };
    let tail = Tail::read(reader, is_authenticated)?;
    let tag_len = match is_authenticated {
        true => Some(<&OctetStringRef>::from_der(&tail.mac)?.as_bytes().len()),
        false => None,
    };
    Ok(EnvelopedOutline {
        is_authenticated,
        version,
        recipients_len,
        recipients,
        content_type: content.content_type,
        cipher,
        encrypted_len,
        tag_len,
        attributes: types(&tail.attributes)?,
    })
}

/// The types of the attributes in a SET OF, or in nothing.
fn types(set: &[u8]) -> der::Result<Vec<ObjectIdentifier>> {
    let mut types = Vec::new();
    if !set.is_empty() {
        let mut attributes = Fields::of(tag::SET, set)?;
        while !attributes.is_empty() {
            let mut attribute = Fields::of(tag::SEQUENCE, attributes.element()?)?;
            types.push(attribute.read()?);
        }
    }
    Ok(types)
}
