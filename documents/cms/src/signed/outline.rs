//! Describes a SignedData without verifying it: its certificates, its signers, and what each signature says about
//! itself.

use std::io::BufRead;

use const_oid::ObjectIdentifier;
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;

use super::attributes::SignedAttributes;
use super::error::{SignatureRefusal, VerificationError};
use super::message::Head;
use super::signer_info::SignerInfo;
use crate::encoding::{BerReader, EncodingError, tag};
use crate::identifier::Identifier;

/// What a SignedData says about itself. **None of it was verified.**
#[derive(Debug)]
#[non_exhaustive]
pub struct SignedOutline {
    /// The version of the syntax (RFC 5652, section 5.1).
    pub version: u8,
    /// What the content is: 1.2.840.113549.1.7.1 for plain data.
    pub content_type: ObjectIdentifier,
    /// Length of the content, in bytes; `None` if it is not in the message.
    pub content_len: Option<u64>,
    /// The hash functions that the message lists.
    pub digests: Vec<ObjectIdentifier>,
    /// The X.509 certificates.
    pub certificates: Vec<Certificate>,
    /// How many revocation lists there are.
    pub revocation_lists: u64,
    /// Who signed, as the message says.
    pub signers: Vec<SignerOutline>,
}

/// What a signature says about itself. None of it was verified.
#[derive(Debug)]
#[non_exhaustive]
pub struct SignerOutline {
    /// Whom the message names as the signer.
    pub signer: Identifier,
    /// The hash function of the content.
    pub digest: ObjectIdentifier,
    /// The algorithm of the signature.
    pub algorithm: ObjectIdentifier,
    /// Length of the signature, in bytes.
    pub signature_len: usize,
    /// When it was made, as the message says.
    pub signing_time: Option<UnixTime>,
    /// The types of the signed attributes; `None` if there are none.
    pub attributes: Option<Vec<ObjectIdentifier>>,
    /// Why the attributes can't be read, if they can't.
    pub fault: Option<SignatureRefusal>,
}

impl SignerOutline {
    fn of(signer: &SignerInfo) -> Self {
        let attributes = signer.attributes.as_deref().map(SignedAttributes::from_der);
        let (attributes, fault) = match attributes {
            None => (None, None),
            Some(Ok(attributes)) => (Some(attributes), None),
            Some(Err(fault)) => (None, Some(fault)),
        };
        Self {
            signer: signer.signer.readable(),
            digest: signer.digest.oid,
            algorithm: signer.algorithm.oid,
            signature_len: signer.signature.len(),
            signing_time: attributes.as_ref().and_then(|a| a.signing_time),
            attributes: attributes.map(|attributes| attributes.types),
            fault,
        }
    }
}

/// Reads a SignedData after the ContentInfo's type.
pub(crate) fn outline(
    mut reader: BerReader<impl BufRead>,
) -> Result<SignedOutline, VerificationError> {
    let head = Head::read_signed(&mut reader)?;
    let content_len = match head.has_content {
        true => Some(reader.octets(tag::OCTET_STRING, |_| Ok::<_, EncodingError>(()))?),
        false => None,
    };
    let version = head.version;
    let digests = head.digests.iter().map(|digest| digest.oid).collect();
    let message = head.tail(reader)?;
    Ok(SignedOutline {
        version,
        content_type: message.content_type,
        content_len,
        digests,
        revocation_lists: message.revocation_lists,
        signers: message.signers.iter().map(SignerOutline::of).collect(),
        certificates: message
            .certificates
            .into_iter()
            .map(|named| named.certificate)
            .collect(),
    })
}
