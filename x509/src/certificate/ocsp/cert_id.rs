//! How OCSP names a certificate (CertID), with the hash functions for it, and whether it is the certificate at hand.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5912::{ID_SHA_1, ID_SHA_256, ID_SHA_384, ID_SHA_512};
use der::Encode;
use der::asn1::{Any, Int, OctetString};
use sha1::Sha1;
use sha2::digest::Digest;
use sha2::{Sha256, Sha384, Sha512};
use spki::AlgorithmIdentifierOwned;

use super::asn1;
use super::error::OcspRequestError;
use crate::certificate::Certificate;

/// Identifies a certificate in OCSP, by the hashes of its issuer's name and key, and its serial number
/// (CertID, RFC 6960 section 4.1.1).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CertId(pub(crate) asn1::CertId);

impl CertId {
    /// Identifies a certificate, by the issuer's name in it and the key of this issuer.
    ///
    /// # Errors
    ///
    /// [`OcspRequestError::NotTheIssuer`] if the certificate names another issuer. It is not checked
    /// whether the issuer's key signed the certificate.
    pub fn new(
        certificate: &Certificate,
        issuer: &Certificate,
        hash: OcspHash,
    ) -> Result<Self, OcspRequestError> {
        if certificate.issuer() != issuer.subject() {
            return Err(OcspRequestError::NotTheIssuer {
                certificate: certificate.describe_subject(),
                named: certificate.describe_issuer(),
                given: issuer.describe_subject(),
            });
        }
        let (name, key) = hash.of_issuer(issuer)?;
        Ok(Self(asn1::CertId {
            hash_algorithm: hash.identifier(),
            issuer_name_hash: OctetString::new(name)?,
            issuer_key_hash: OctetString::new(key)?,
            serial_number: Int::new(certificate.serial_number())?,
        }))
    }

    /// The serial number: the contents of a DER INTEGER, as in [`Certificate::serial_number`]. In
    /// a request it can have any sign and length.
    pub fn serial_number(&self) -> &[u8] {
        self.0.serial_number.as_bytes()
    }

    /// The hash function; `None` for an unknown one, with which nobody can tell who the issuer is.
    pub fn hash(&self) -> Option<OcspHash> {
        OcspHash::of_identifier(&self.0.hash_algorithm)
    }

    /// Whether the issuer has the name and the key of this certificate.
    pub fn is_by(&self, issuer: &Certificate) -> bool {
        let Some((name, key)) = self.hash().and_then(|hash| hash.of_issuer(issuer).ok()) else {
            return false;
        };
        self.0.issuer_name_hash.as_bytes() == name && self.0.issuer_key_hash.as_bytes() == key
    }

    /// Whether this identifies the certificate, by this issuer.
    pub fn is_of(&self, certificate: &Certificate, issuer: &Certificate) -> bool {
        // Compare the numbers first, because they need no hashing.
        self.serial_number() == certificate.serial_number()
            && certificate.issuer() == issuer.subject()
            && self.is_by(issuer)
    }
}

impl CertId {
    /// Whether this may identify the certificate, by this issuer: the serial number is the same, and so is the key, or
    /// the hash function is unknown here. The name may have another encoding than in the certificate.
    pub(super) fn may_be_of(&self, certificate: &Certificate, issuer: &Certificate) -> bool {
        if self.serial_number() != certificate.serial_number() {
            return false;
        }
        let Some((_, key)) = self.hash().and_then(|hash| hash.of_issuer(issuer).ok()) else {
            return true;
        };
        self.0.issuer_key_hash.as_bytes() == key
    }
}

/// A hash function for the issuer's name and key in a [`CertId`].
///
/// Nothing depends on its strength: the path decides which certificate is meant, and the answer about
/// it is signed. All responders know SHA-1, the default (RFC 5019 section 2.1.1).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum OcspHash {
    /// SHA-1.
    #[default]
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl OcspHash {
    const ALL: [Self; 4] = [Self::Sha1, Self::Sha256, Self::Sha384, Self::Sha512];

    fn oid(self) -> ObjectIdentifier {
        match self {
            Self::Sha1 => ID_SHA_1,
            Self::Sha256 => ID_SHA_256,
            Self::Sha384 => ID_SHA_384,
            Self::Sha512 => ID_SHA_512,
        }
    }

    fn identifier(self) -> AlgorithmIdentifierOwned {
        AlgorithmIdentifierOwned {
            oid: self.oid(),
            // RFC 3279 section 2.2.1 and RFC 5754 section 2.
            parameters: (self == Self::Sha1).then(Any::null),
        }
    }

    /// Accepts NULL parameters or none, because both are in use.
    fn of_identifier(identifier: &AlgorithmIdentifierOwned) -> Option<Self> {
        let parameters = identifier.parameters.as_ref();
        if parameters.is_some_and(|parameters| *parameters != Any::null()) {
            return None;
        }
        Self::ALL
            .into_iter()
            .find(|hash| hash.oid() == identifier.oid)
    }

    fn digest(self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha1 => Sha1::digest(message).to_vec(),
            Self::Sha256 => Sha256::digest(message).to_vec(),
            Self::Sha384 => Sha384::digest(message).to_vec(),
            Self::Sha512 => Sha512::digest(message).to_vec(),
        }
    }

    /// The hashes of an issuer's name, in DER, and of its key's bits.
    fn of_issuer(self, issuer: &Certificate) -> der::Result<(Vec<u8>, Vec<u8>)> {
        let name = self.digest(&issuer.subject().to_der()?);
        Ok((name, self.digest(key_bits(issuer))))
    }
}

/// A key without its SubjectPublicKeyInfo.
pub(super) fn key_bits(certificate: &Certificate) -> &[u8] {
    let tbs = certificate.parsed().tbs_certificate();
    tbs.subject_public_key_info().subject_public_key.raw_bytes()
}
