//! The ciphers of the content, and how a message names them: AlgorithmIdentifiers with the nonce and the length of the
//! tag (RFC 5084), or with the IV.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5911::{ID_AES_128_CBC, ID_AES_128_GCM, ID_AES_256_CBC, ID_AES_256_GCM};
use der::asn1::{AnyRef, OctetStringRef};
use der::{Decode, Encode};
use pq_keys::gcm::{NONCE_LEN, TAG_LEN};
use spki::AlgorithmIdentifierRef;

use super::cbc::BLOCK;
use super::error::OpeningError;
use crate::encoding::{Fields, tag, tlv};

/// The cipher of the content.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum ContentCipher {
    /// AES-128-GCM, in an AuthEnvelopedData.
    Aes128Gcm,
    /// AES-256-GCM, in an AuthEnvelopedData.
    #[default]
    Aes256Gcm,
    /// AES-128-CBC, in an EnvelopedData. **Whoever can change the message can change the content**, and
    /// learn about it from how a recipient reacts. Use it only for recipients that support nothing else.
    Aes128Cbc,
    /// AES-256-CBC, in an EnvelopedData, which is just as unprotected.
    Aes256Cbc,
}

impl ContentCipher {
    const ALL: [(Self, ObjectIdentifier); 4] = [
        (Self::Aes128Gcm, ID_AES_128_GCM),
        (Self::Aes256Gcm, ID_AES_256_GCM),
        (Self::Aes128Cbc, ID_AES_128_CBC),
        (Self::Aes256Cbc, ID_AES_256_CBC),
    ];

    /// The usual name, such as `AES-256-GCM`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aes128Gcm => "AES-128-GCM",
            Self::Aes256Gcm => "AES-256-GCM",
            Self::Aes128Cbc => "AES-128-CBC",
            Self::Aes256Cbc => "AES-256-CBC",
        }
    }

    /// Whether changes of the message are noticed.
    pub const fn is_authenticated(self) -> bool {
        matches!(self, Self::Aes128Gcm | Self::Aes256Gcm)
    }

    /// Length of a key, in bytes.
    pub(super) const fn key_len(self) -> usize {
        match self {
            Self::Aes128Gcm | Self::Aes128Cbc => 16,
            Self::Aes256Gcm | Self::Aes256Cbc => 32,
        }
    }
}

/// The parameters of a cipher besides the key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Parameters {
    /// The nonce, and the length of the tag.
    Gcm([u8; NONCE_LEN], usize),
    Cbc([u8; BLOCK]),
}

/// The AlgorithmIdentifier for a new message.
pub(super) fn encode(cipher: ContentCipher, parameters: &Parameters) -> der::Result<Vec<u8>> {
    let parameters = match parameters {
        // RFC 5084, section 3.2
        Parameters::Gcm(nonce, tag_len) => tlv(
            tag::SEQUENCE,
            &[
                &tlv(tag::OCTET_STRING, &[nonce]),
                &tlv(tag::INTEGER, &[&[*tag_len as u8]]),
            ],
        ),
        Parameters::Cbc(iv) => tlv(tag::OCTET_STRING, &[iv]),
    };
    let oid = ContentCipher::ALL
        .iter()
        .find(|(known, _)| *known == cipher)
        .map(|(_, oid)| *oid);
    let oid = oid.ok_or_else(|| der::Tag::ObjectIdentifier.value_error())?;
    AlgorithmIdentifierRef {
        oid,
        parameters: Some(AnyRef::from_der(&parameters)?),
    }
    .to_der()
}

/// Reads the AlgorithmIdentifier of a message, whose type says whether it is authenticated.
pub(super) fn decode(
    identifier: &[u8],
    is_authenticated: bool,
) -> Result<(ContentCipher, Parameters), OpeningError> {
    let identifier = AlgorithmIdentifierRef::from_der(identifier)?;
    let unknown = || OpeningError::UnknownCipher(identifier.oid);
    let cipher = ContentCipher::ALL
        .iter()
        .find(|(cipher, oid)| {
            *oid == identifier.oid && cipher.is_authenticated() == is_authenticated
        })
        .map(|(cipher, _)| *cipher);
    let cipher = cipher.ok_or_else(unknown)?;
    let parameters = identifier.parameters.ok_or_else(unknown)?;
    if !is_authenticated {
        let iv: &OctetStringRef = parameters.decode_as()?;
        let iv = iv.as_bytes().try_into();
        return Ok((cipher, Parameters::Cbc(iv.map_err(|_| unknown())?)));
    }
    let parameters = parameters.to_der()?;
    let mut fields = Fields::of(tag::SEQUENCE, &parameters)?;
    let nonce: &OctetStringRef = fields.read()?;
    let nonce = nonce.as_bytes().try_into().map_err(|_| unknown())?;
    let tag_len = match fields.is_empty() {
        // DEFAULT
        true => LEAST_TAG_LEN,
        false => usize::from(fields.read::<u8>()?),
    };
    fields.end()?;
    match (LEAST_TAG_LEN..=TAG_LEN).contains(&tag_len) {
        true => Ok((cipher, Parameters::Gcm(nonce, tag_len))),
        false => Err(unknown()),
    }
}

/// RFC 5084 allows no shorter tags.
const LEAST_TAG_LEN: usize = 12;
