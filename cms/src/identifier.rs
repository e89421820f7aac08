//! How a message names a certificate: by issuer and serial number, or by the subject key identifier.
//!
//! It uses [`encoding`](crate::encoding).

use der::{Decode, Encode};
use pq_x509::x509_cert::name::Name;
use pq_x509::x509_cert::serial_number::SerialNumber;
use pq_x509::{Certificate, EncapsulationKey};

use sha2::{Digest, Sha256};

use crate::encoding::{Fields, contents, tag, tlv};

/// SignerIdentifier or RecipientIdentifier (RFC 5652, sections 5.3 and 6.2.1).
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum KeyIdentifier {
    /// The issuer's name, in DER, and the contents of the serial number.
    IssuerAndSerial(Vec<u8>, Vec<u8>),
    /// The certificate's extension of that name.
    SubjectKeyId(Vec<u8>),
}

impl KeyIdentifier {
    pub(crate) fn issuer_and_serial(certificate: &Certificate) -> der::Result<Self> {
        Ok(Self::IssuerAndSerial(
            certificate.issuer().to_der()?,
            certificate.serial_number().to_vec(),
        ))
    }

    /// `None` if the certificate has no such extension.
    pub(crate) fn subject_key_id(certificate: &Certificate) -> Option<Self> {
        Some(Self::SubjectKeyId(certificate.subject_key_id()?.to_vec()))
    }

    pub(crate) fn from_der(der: &[u8]) -> der::Result<Self> {
        if der.first() == Some(&tag::context(0)) {
            return Ok(Self::SubjectKeyId(contents(der)?.to_vec()));
        }
        let mut fields = Fields::of(tag::SEQUENCE, der)?;
        let issuer = fields.element()?;
        let serial: SerialNumber = fields.read()?;
        fields.end()?;
        Ok(Self::IssuerAndSerial(
            issuer.to_vec(),
            serial.as_bytes().to_vec(),
        ))
    }

    pub(crate) fn to_der(&self) -> Vec<u8> {
        match self {
            Self::IssuerAndSerial(issuer, serial) => {
                tlv(tag::SEQUENCE, &[issuer, &tlv(tag::INTEGER, &[serial])])
            }
            Self::SubjectKeyId(id) => tlv(tag::context(0), &[id]),
        }
    }

    /// For messages and reports.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::IssuerAndSerial(issuer, serial) => {
                let issuer = Name::from_der(issuer).map(|name| name.to_string());
                let issuer = issuer.unwrap_or_else(|_| "an unreadable name".into());
                // Whoever made the message chose the name.
                let issuer: String = issuer.escape_debug().take(MAX_DESCRIBED).collect();
                format!("number {} of {issuer}", hex(serial))
            }
            Self::SubjectKeyId(id) => format!("key identifier {}", hex(id)),
        }
    }
}

/// A certificate that messages may name.
#[derive(Clone, Debug)]
pub(crate) struct NamedCertificate {
    pub(crate) certificate: Certificate,
    /// In DER, which takes long to make for each message that might name it.
    issuer: Vec<u8>,
}

impl NamedCertificate {
    pub(crate) fn new(certificate: Certificate) -> der::Result<Self> {
        Ok(Self {
            issuer: certificate.issuer().to_der()?,
            certificate,
        })
    }

    /// Whether a message means it.
    pub(crate) fn is_named_by(&self, identifier: &KeyIdentifier) -> bool {
        match identifier {
            KeyIdentifier::IssuerAndSerial(issuer, serial) => {
                self.certificate.serial_number() == serial && self.issuer == *issuer
            }
            KeyIdentifier::SubjectKeyId(id) => {
                self.certificate.subject_key_id() == Some(id.as_slice())
            }
        }
    }
}

/// An identifier for a key that has no certificate, which everybody makes of it alike: the first 20 bytes
/// of the SHA-256 of its bits (RFC 7093, section 2).
pub fn key_identifier(key: &EncapsulationKey) -> [u8; 20] {
    let digest = Sha256::digest(key.as_bytes());
    let mut identifier = [0; 20];
    for (byte, from) in identifier.iter_mut().zip(digest) {
        *byte = from;
    }
    identifier
}

/// How many characters of a name are in a message.
const MAX_DESCRIBED: usize = 256;

fn hex(bytes: &[u8]) -> String {
    let bytes = bytes.iter().take(MAX_DESCRIBED / 2);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}
