//! How a message names a certificate: by issuer and serial number, or by the subject key identifier.
//!
//! It uses [`encoding`](crate::encoding).

use core::fmt;

use der::Decode;
use pq_keys::SubjectKey;
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use pq_x509::x509_cert::name::Name;
use pq_x509::x509_cert::serial_number::SerialNumber;
use sha2::{Digest, Sha256};
use spki::SubjectPublicKeyInfoRef;

use crate::encoding::{Fields, contents, tag, tlv};

/// SignerIdentifier or RecipientIdentifier (RFC 5652, sections 5.3 and 6.2.1).
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum KeyIdentifier {
    /// The issuer's name, in DER, and the contents of the serial number.
    IssuerAndSerial(Vec<u8>, Vec<u8>),
    /// The certificate's subject key identifier.
    SubjectKeyId(Vec<u8>),
}

impl KeyIdentifier {
    pub(crate) fn issuer_and_serial(certificate: &Certificate) -> Self {
        Self::IssuerAndSerial(
            certificate.issuer_der().to_vec(),
            certificate.serial_number().to_vec(),
        )
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

    /// For error messages and `Debug`.
    pub(crate) fn describe(&self) -> String {
        self.readable().to_string()
    }

    pub(crate) fn readable(&self) -> Identifier {
        match self {
            Self::IssuerAndSerial(issuer, serial) => {
                let issuer = readable_name(issuer).unwrap_or_else(|| "an unreadable name".into());
                // Whoever made the message chose the name.
                Identifier::Certificate {
                    issuer: issuer.escape_debug().take(MAX_DESCRIBED).collect(),
                    serial_number: start(serial),
                }
            }
            Self::SubjectKeyId(id) => Identifier::Key(start(id)),
        }
    }
}

/// Whom a message names, for people to read.
///
/// What the sender chose in it is escaped, and cut after 256 characters. A name with more than 256 parts is not read.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Identifier {
    /// The certificate with this number by this issuer.
    Certificate {
        /// The issuer's name (RFC 4514).
        issuer: String,
        /// The contents of the serial number, or the first 128 bytes of them.
        serial_number: Vec<u8>,
    },
    /// The key with this identifier, of which only the first 128 bytes are kept.
    Key(Vec<u8>),
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Certificate {
                issuer,
                serial_number,
            } => write!(f, "number {} of {issuer}", hex(serial_number)),
            Self::Key(id) => write!(f, "key identifier {}", hex(id)),
        }
    }
}

/// A certificate that messages may name.
#[derive(Clone, Debug)]
pub(crate) struct NamedCertificate {
    pub(crate) certificate: Certificate,
    /// The issuer's name in DER. Encoding it again for each message would take long.
    pub(crate) issuer: Vec<u8>,
    /// The subject's, too.
    pub(crate) subject: Vec<u8>,
    /// Certificates with the same digest are the same one.
    pub(crate) digest: [u8; 32],
}

impl NamedCertificate {
    pub(crate) fn new(certificate: Certificate) -> Self {
        Self {
            issuer: certificate.issuer_der().to_vec(),
            subject: certificate.subject_der().to_vec(),
            digest: Sha256::digest(certificate.der()).into(),
            certificate,
        }
    }

    /// Whether the certificate is within its validity then, if a time is given.
    pub(crate) fn is_valid_at(&self, time: Option<UnixTime>) -> bool {
        time.is_none_or(|time| {
            self.certificate.not_before() <= time && time <= self.certificate.not_after()
        })
    }

    /// Whether this identifier names the certificate.
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

/// An identifier for a key that has no certificate.
///
/// It is the first 20 bytes of the SHA-256 hash of the key's bits (RFC 7093, section 2), so everybody computes
/// the same one.
pub fn key_identifier(key: &(impl SubjectKey + ?Sized)) -> [u8; 20] {
    let spki = key.spki();
    let bits = SubjectPublicKeyInfoRef::from_der(&spki)
        .ok()
        .and_then(|spki| spki.subject_public_key.as_bytes());
    // If the key is no SubjectPublicKeyInfo, all of it is hashed.
    let digest = Sha256::digest(bits.unwrap_or(&spki));
    let mut identifier = [0; 20];
    for (byte, from) in identifier.iter_mut().zip(digest) {
        *byte = from;
    }
    identifier
}

/// A name (RFC 4514); `None` if it is malformed, or has more parts than a name that anybody reads.
fn readable_name(der: &[u8]) -> Option<String> {
    // In memory, small parts take some thirty times as many bytes as in DER.
    let mut parts: usize = 0;
    let mut names = Fields::of(tag::SEQUENCE, der).ok()?;
    while !names.is_empty() {
        let mut attributes = Fields::of(tag::SET, names.element().ok()?).ok()?;
        parts += 1;
        while !attributes.is_empty() {
            attributes.element().ok()?;
            parts += 1;
        }
        if parts > MAX_NAME_PARTS {
            return None;
        }
    }
    Some(Name::from_der(der).ok()?.to_string())
}

/// How many bytes an identifier may have: as many as a recipient that has no others beside it.
pub(crate) const MAX_KEY_IDENTIFIER: usize = 64 * 1024;

/// How many relative names and attributes in them a name may have to be shown. Each attribute takes at least two of the
/// characters that are shown.
const MAX_NAME_PARTS: usize = 256;

/// How many characters of a name are shown.
const MAX_DESCRIBED: usize = 256;

/// The bytes that are shown: as many as give that many characters.
fn start(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().take(MAX_DESCRIBED / 2).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
