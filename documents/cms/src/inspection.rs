//! What a message says about itself to anybody, without a key.
//!
//! It uses [`signed`](crate::signed), [`enveloped`](crate::enveloped) and [`encoding`](crate::encoding).

use std::io::BufRead;

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5911::{ID_CT_AUTH_ENVELOPED_DATA, ID_ENVELOPED_DATA, ID_SIGNED_DATA};

use crate::encoding::{BerReader, EncodingError, tag};
use crate::enveloped::{self, EnvelopedOutline, OpeningError};
use crate::signed::{self, SignedOutline, VerificationError};

/// What a message says about itself. **None of it was verified**: anybody can write such a message.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outline {
    /// A SignedData.
    Signed(SignedOutline),
    /// An EnvelopedData or an AuthEnvelopedData.
    Enveloped(EnvelopedOutline),
    /// A message of another type, which is not read.
    Other(ObjectIdentifier),
}

/// Why a message can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InspectionError {
    /// It is no ContentInfo, or can't be read at all.
    #[error("{0}")]
    Encoding(EncodingError),
    /// It is a SignedData that can't be read.
    #[error("{0}")]
    Signed(Box<VerificationError>),
    /// It is an EnvelopedData or an AuthEnvelopedData that can't be read.
    #[error("{0}")]
    Enveloped(Box<OpeningError>),
}

/// Reads a message to its end, in constant memory, and returns what it says about itself.
///
/// ```
/// use pq_cms::{DocumentSigner, Outline, SignedDataBuilder, inspect};
/// use pq_x509::issuing::{CertificateBuilder, Issuer};
/// use pq_x509::keys::{SignatureAlgorithm, SigningKey};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// let ca_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// let ca = Issuer::self_signed(CertificateBuilder::ca("Example CA"), ca_key)?;
/// let certificate = ca.issue(CertificateBuilder::end_entity().common_name("Alice"), &key)?;
/// let signer = DocumentSigner::new(&certificate, &key);
/// let mut message = Vec::new();
/// SignedDataBuilder::new().signer(signer).sign(&b"Version 1.0"[..], &mut message)?;
///
/// let Outline::Signed(outline) = inspect(&message[..])? else {
///     panic!("it is signed");
/// };
/// assert_eq!(outline.content_len, Some(11));
/// assert_eq!(outline.signers[0].algorithm, SignatureAlgorithm::MlDsa65.oid());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// An [`InspectionError`] that says what is wrong.
pub fn inspect(message: impl BufRead) -> Result<Outline, InspectionError> {
    let mut reader = BerReader::new(message);
    reader
        .enter(tag::SEQUENCE, "a ContentInfo")
        .map_err(InspectionError::Encoding)?;
    let content_type = reader
        .object_identifier("a content type")
        .map_err(InspectionError::Encoding)?;
    match content_type {
        ID_SIGNED_DATA => Ok(Outline::Signed(signed::outline(reader)?)),
        ID_ENVELOPED_DATA | ID_CT_AUTH_ENVELOPED_DATA => Ok(Outline::Enveloped(
            enveloped::outline(reader, content_type)?,
        )),
        other => Ok(Outline::Other(other)),
    }
}

impl From<VerificationError> for InspectionError {
    fn from(error: VerificationError) -> Self {
        match error {
            VerificationError::Encoding(error) => Self::Encoding(error),
            error => Self::Signed(Box::new(error)),
        }
    }
}

impl From<OpeningError> for InspectionError {
    fn from(error: OpeningError) -> Self {
        match error {
            OpeningError::Encoding(error) => Self::Encoding(error),
            error => Self::Enveloped(Box::new(error)),
        }
    }
}
