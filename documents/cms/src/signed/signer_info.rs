//! SignerInfo, read and encoded, and the rules for the versions of a SignerInfo and of a SignedData (RFC 5652, sections
//! 5.1 and 5.3).

use const_oid::ObjectIdentifier;
use der::Encode;
use der::asn1::OctetStringRef;
use spki::AlgorithmIdentifierOwned;

use super::attributes::{UNSIGNED, misplaced};
use super::error::VerificationError;
use crate::encoding::{Fields, contents, tag, tlv};
use crate::identifier::{KeyIdentifier, MAX_KEY_IDENTIFIER};

/// SignerInfo (RFC 5652, section 5.3).
#[derive(Debug)]
pub(super) struct SignerInfo {
    pub(super) signer: KeyIdentifier,
    pub(super) digest: AlgorithmIdentifierOwned,
    /// The SET OF attributes that is signed, in DER.
    pub(super) attributes: Option<Vec<u8>>,
    pub(super) algorithm: AlgorithmIdentifierOwned,
    pub(super) signature: Vec<u8>,
    /// Which of the attributes that are not signed has to be. Nothing else is kept of them.
    pub(super) misplaced: der::Result<Option<ObjectIdentifier>>,
}

impl SignerInfo {
    /// 3 for a signer that is named by its key identifier, else 1.
    pub(super) fn version(&self) -> u8 {
        match self.signer {
            KeyIdentifier::IssuerAndSerial(..) => 1,
            KeyIdentifier::SubjectKeyId(_) => 3,
        }
    }

    pub(super) fn from_der(der: &[u8]) -> Result<Self, VerificationError> {
        let mut fields = Fields::of(tag::SEQUENCE, der)?;
        let version: u8 = fields.read()?;
        let identifier = fields.element()?;
        if identifier.len() > MAX_KEY_IDENTIFIER {
            return Err(VerificationError::LongIdentifier(MAX_KEY_IDENTIFIER));
        }
        let signer = KeyIdentifier::from_der(identifier)?;
        let digest = fields.read()?;
        let attributes = match fields.element_if(tag::context_constructed(0))? {
            Some(attributes) => Some(tlv(tag::SET, &[contents(attributes)?])),
            None => None,
        };
        let algorithm = fields.read()?;
        let signature: &OctetStringRef = fields.read()?;
        let unsigned = fields.element_if(UNSIGNED)?;
        let misplaced = unsigned.map_or(Ok(None), misplaced);
        fields.end()?;
        let signer = Self {
            signer,
            digest,
            attributes,
            algorithm,
            signature: signature.as_bytes().to_vec(),
            misplaced,
        };
        match signer.version() == version {
            true => Ok(signer),
            false => Err(der::Error::from(der::Tag::Integer.value_error()).into()),
        }
    }

    pub(super) fn to_der(&self) -> der::Result<Vec<u8>> {
        let attributes = match &self.attributes {
            Some(attributes) => tlv(tag::context_constructed(0), &[contents(attributes)?]),
            None => Vec::new(),
        };
        Ok(tlv(
            tag::SEQUENCE,
            &[
                &self.version().to_der()?,
                &self.signer.to_der(),
                &self.digest.to_der()?,
                &attributes,
                &self.algorithm.to_der()?,
                &tlv(tag::OCTET_STRING, &[&self.signature]),
            ],
        ))
    }
}

/// Which certificates other than X.509 ones a SignedData has. They are ignored, except for the version.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OtherCertificates {
    pub(super) attribute_v1: bool,
    pub(super) attribute_v2: bool,
    pub(super) other: bool,
}

/// The version of a SignedData (RFC 5652, section 5.1).
pub(super) fn version(
    content_type: ObjectIdentifier,
    signers: &[SignerInfo],
    certificates: OtherCertificates,
) -> u8 {
    let is_other = content_type != const_oid::db::rfc5911::ID_DATA;
    match certificates {
        OtherCertificates { other: true, .. } => 5,
        OtherCertificates {
            attribute_v2: true, ..
        } => 4,
        OtherCertificates {
            attribute_v1: true, ..
        } => 3,
        _ if is_other || signers.iter().any(|signer| signer.version() == 3) => 3,
        _ => 1,
    }
}
