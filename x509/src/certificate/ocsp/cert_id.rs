//! How OCSP names a certificate (CertID), with the hash functions for it, and whether it is the certificate at hand.

use core::cell::OnceCell;

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5912::{ID_SHA_1, ID_SHA_256, ID_SHA_384, ID_SHA_512};
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
        let (name, key) = hash.of_issuer(certificate.issuer_der(), issuer);
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
        self.is_by_hashes(&Hashes::of(issuer.subject_der(), issuer))
    }

    /// Whether this identifies the certificate, by this issuer.
    pub fn is_of(&self, certificate: &Certificate, issuer: &Certificate) -> bool {
        Asked::about(certificate, issuer).is(self)
    }

    fn is_by_hashes(&self, issuer: &Hashes<'_>) -> bool {
        (self.hash().and_then(|hash| issuer.by(hash))).is_some_and(|(name, key)| {
            self.0.issuer_name_hash.as_bytes() == name && self.0.issuer_key_hash.as_bytes() == key
        })
    }
}

/// A certificate and its issuer, for comparisons with the identifiers in a response. There may be thousands of these,
/// so nothing is hashed more than once for all.
pub(super) struct Asked<'a> {
    serial_number: &'a [u8],
    names_issuer: bool,
    issuer: Hashes<'a>,
}

impl<'a> Asked<'a> {
    pub(super) fn about(certificate: &'a Certificate, issuer: &'a Certificate) -> Self {
        Self {
            serial_number: certificate.serial_number(),
            names_issuer: certificate.issuer() == issuer.subject(),
            issuer: Hashes::of(certificate.issuer_der(), issuer),
        }
    }

    /// Whether this identifies the certificate, by its issuer.
    pub(super) fn is(&self, id: &CertId) -> bool {
        // Compare the numbers first, because they need no hashing.
        id.serial_number() == self.serial_number
            && self.names_issuer
            && id.is_by_hashes(&self.issuer)
    }

    /// Whether this may identify the certificate, by its issuer: the serial number is the same, and so is the key, or
    /// the hash function is unknown here. The name may have another encoding than in the certificate.
    pub(super) fn may_be(&self, id: &CertId) -> bool {
        if id.serial_number() != self.serial_number {
            return false;
        }
        match id.hash().and_then(|hash| self.issuer.by(hash)) {
            Some((_, key)) => id.0.issuer_key_hash.as_bytes() == key,
            None => true,
        }
    }
}

/// The hashes of an issuer's name, in DER, and of its key's bits.
type NameAndKey = (Vec<u8>, Vec<u8>);

/// The hashes of an issuer's name and key, each computed when it is first asked for.
struct Hashes<'a> {
    /// The issuer's name in DER, with the bytes that it has in the certificate that is asked about (RFC 6960 section
    /// 4.1.1), or in the issuer's own.
    name: &'a [u8],
    issuer: &'a Certificate,
    known: [OnceCell<NameAndKey>; OcspHash::ALL.len()],
}

impl<'a> Hashes<'a> {
    fn of(name: &'a [u8], issuer: &'a Certificate) -> Self {
        Self {
            name,
            issuer,
            known: Default::default(),
        }
    }

    fn by(&self, hash: OcspHash) -> Option<&NameAndKey> {
        let compute = || hash.of_issuer(self.name, self.issuer);
        let known = OcspHash::ALL.into_iter().zip(&self.known);
        let mut of_hash = known.filter(|(one, _)| *one == hash);
        let (_, known) = of_hash.next()?;
        Some(known.get_or_init(compute))
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

    fn of_issuer(self, name: &[u8], issuer: &Certificate) -> NameAndKey {
        (self.digest(name), self.digest(key_bits(issuer)))
    }
}

/// A key without its SubjectPublicKeyInfo.
pub(super) fn key_bits(certificate: &Certificate) -> &[u8] {
    let tbs = certificate.parsed().tbs_certificate();
    tbs.subject_public_key_info().subject_public_key.raw_bytes()
}
