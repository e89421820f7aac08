use core::fmt;

use pq_x509::x509_cert::Certificate;
use pq_x509::x509_cert::der::asn1::{AnyRef, ContextSpecific, UintRef};
use pq_x509::x509_cert::der::referenced::OwnedToRef;
use pq_x509::x509_cert::der::{self, Decode, TagNumber};
use pq_x509::x509_cert::spki::{AlgorithmIdentifierRef, ObjectIdentifier, SubjectPublicKeyInfoRef};
use pq_x509::{Algorithm, SignatureAlgorithm};
use rustls::SignatureScheme;

use crate::sign::scheme_of;

/// The algorithm of the key in a certificate.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum KeyAlgorithm {
    /// A post-quantum one.
    PostQuantum(SignatureAlgorithm),
    /// ECDSA on P-256.
    EcdsaP256,
    /// ECDSA on P-384.
    EcdsaP384,
    /// ECDSA on P-521.
    EcdsaP521,
    /// Ed25519 (RFC 8032).
    Ed25519,
    /// Ed448 (RFC 8032).
    Ed448,
    /// RSA, with any padding.
    Rsa {
        /// The length of the modulus.
        bits: usize,
    },
    /// Something else.
    Other(ObjectIdentifier),
}

impl KeyAlgorithm {
    /// Whether signatures of such a key withstand a quantum computer.
    pub fn is_post_quantum(self) -> bool {
        matches!(self, Self::PostQuantum(_))
    }

    /// The scheme that such a key signs a TLS 1.3 handshake with, where there is just
    /// one: RSA keys can use several.
    pub(crate) fn only_scheme(self) -> Option<SignatureScheme> {
        match self {
            Self::PostQuantum(algorithm) => scheme_of(algorithm),
            Self::EcdsaP256 => Some(SignatureScheme::ECDSA_NISTP256_SHA256),
            Self::EcdsaP384 => Some(SignatureScheme::ECDSA_NISTP384_SHA384),
            Self::EcdsaP521 => Some(SignatureScheme::ECDSA_NISTP521_SHA512),
            Self::Ed25519 => Some(SignatureScheme::ED25519),
            Self::Ed448 => Some(SignatureScheme::ED448),
            Self::Rsa { .. } | Self::Other(_) => None,
        }
    }

    fn of(spki: &SubjectPublicKeyInfoRef<'_>) -> Self {
        let oid = spki.algorithm.oid;
        if let Some(Algorithm::Signature(algorithm)) = Algorithm::from_oid(oid) {
            return Self::PostQuantum(algorithm);
        }
        match oid {
            oid::EC_PUBLIC_KEY => match spki.algorithm.parameters_oid() {
                Ok(oid::P256) => Self::EcdsaP256,
                Ok(oid::P384) => Self::EcdsaP384,
                Ok(oid::P521) => Self::EcdsaP521,
                Ok(curve) => Self::Other(curve),
                Err(_) => Self::Other(oid),
            },
            oid::ED25519 => Self::Ed25519,
            oid::ED448 => Self::Ed448,
            oid::RSA | oid::RSA_PSS => match rsa_bits(spki.subject_public_key.raw_bytes()) {
                Ok(bits) => Self::Rsa { bits },
                Err(_) => Self::Other(oid),
            },
            _ => Self::Other(oid),
        }
    }
}

impl fmt::Display for KeyAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PostQuantum(algorithm) => algorithm.fmt(f),
            Self::EcdsaP256 => f.write_str("ECDSA P-256"),
            Self::EcdsaP384 => f.write_str("ECDSA P-384"),
            Self::EcdsaP521 => f.write_str("ECDSA P-521"),
            Self::Ed25519 => f.write_str("Ed25519"),
            Self::Ed448 => f.write_str("Ed448"),
            Self::Rsa { bits } => write!(f, "RSA-{bits}"),
            Self::Other(oid) => oid.fmt(f),
        }
    }
}

/// What a certificate's signature was made with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Signature {
    PostQuantum(SignatureAlgorithm),
    Ecdsa(Hash),
    RsaPkcs1(Hash),
    RsaPss(Hash),
    Ed25519,
    Ed448,
    Other(ObjectIdentifier),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Hash {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Signature {
    fn of(algorithm: &AlgorithmIdentifierRef<'_>) -> Self {
        if let Some(Algorithm::Signature(algorithm)) = Algorithm::from_oid(algorithm.oid) {
            return Self::PostQuantum(algorithm);
        }
        match algorithm.oid {
            oid::ECDSA_SHA1 => Self::Ecdsa(Hash::Sha1),
            oid::ECDSA_SHA256 => Self::Ecdsa(Hash::Sha256),
            oid::ECDSA_SHA384 => Self::Ecdsa(Hash::Sha384),
            oid::ECDSA_SHA512 => Self::Ecdsa(Hash::Sha512),
            oid::RSA_SHA1 => Self::RsaPkcs1(Hash::Sha1),
            oid::RSA_SHA256 => Self::RsaPkcs1(Hash::Sha256),
            oid::RSA_SHA384 => Self::RsaPkcs1(Hash::Sha384),
            oid::RSA_SHA512 => Self::RsaPkcs1(Hash::Sha512),
            oid::RSA_PSS => match pss_hash(algorithm.parameters) {
                Some(hash) => Self::RsaPss(hash),
                None => Self::Other(algorithm.oid),
            },
            oid::ED25519 => Self::Ed25519,
            oid::ED448 => Self::Ed448,
            oid => Self::Other(oid),
        }
    }

    pub(crate) fn is_post_quantum(self) -> bool {
        matches!(self, Self::PostQuantum(_))
    }
}

/// The algorithms of a certificate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Algorithms {
    pub(crate) key: KeyAlgorithm,
    pub(crate) signature: Signature,
    /// Whether issuer and subject are the same. Nobody relies on the signature then:
    /// such a certificate is trusted as it is or not at all.
    pub(crate) is_self_issued: bool,
}

impl Algorithms {
    pub(crate) fn of(certificate: &[u8]) -> Result<Self, der::Error> {
        let certificate = Certificate::from_der(certificate)?;
        let tbs = certificate.tbs_certificate();
        Ok(Self {
            key: KeyAlgorithm::of(&tbs.subject_public_key_info().owned_to_ref()),
            signature: Signature::of(&certificate.signature_algorithm().owned_to_ref()),
            is_self_issued: tbs.subject() == tbs.issuer() && !tbs.subject().is_empty(),
        })
    }
}

/// The hash of RSASSA-PSS-params (RFC 4055, section 3.1), where SHA-1 is the default.
fn pss_hash(parameters: Option<AnyRef<'_>>) -> Option<Hash> {
    let hash = parameters?
        .sequence(|reader| {
            let hash = ContextSpecific::<AlgorithmIdentifierRef<'_>>::decode_explicit(
                reader,
                TagNumber(0),
            )?;
            // The mask generation function and the salt length follow.
            while !der::Reader::is_finished(reader) {
                AnyRef::decode(reader)?;
            }
            Ok::<_, der::Error>(hash.map(|hash| hash.value.oid))
        })
        .ok()?;
    match hash {
        None => Some(Hash::Sha1),
        Some(oid::SHA256) => Some(Hash::Sha256),
        Some(oid::SHA384) => Some(Hash::Sha384),
        Some(oid::SHA512) => Some(Hash::Sha512),
        Some(_) => None,
    }
}

/// The length of the modulus of an RSAPublicKey (RFC 8017, appendix A.1.1).
fn rsa_bits(key: &[u8]) -> der::Result<usize> {
    AnyRef::from_der(key)?.sequence(|reader| {
        let modulus = UintRef::decode(reader)?;
        UintRef::decode(reader)?;
        let bytes = modulus.as_bytes();
        let first = bytes.first().copied().unwrap_or_default();
        Ok((bytes.len() * 8).saturating_sub(first.leading_zeros() as usize))
    })
}

mod oid {
    use super::ObjectIdentifier as Oid;

    pub(super) const EC_PUBLIC_KEY: Oid = Oid::new_unwrap("1.2.840.10045.2.1");
    pub(super) const P256: Oid = Oid::new_unwrap("1.2.840.10045.3.1.7");
    pub(super) const P384: Oid = Oid::new_unwrap("1.3.132.0.34");
    pub(super) const P521: Oid = Oid::new_unwrap("1.3.132.0.35");
    pub(super) const ED25519: Oid = Oid::new_unwrap("1.3.101.112");
    pub(super) const ED448: Oid = Oid::new_unwrap("1.3.101.113");
    pub(super) const RSA: Oid = Oid::new_unwrap("1.2.840.113549.1.1.1");
    pub(super) const RSA_PSS: Oid = Oid::new_unwrap("1.2.840.113549.1.1.10");
    pub(super) const RSA_SHA1: Oid = Oid::new_unwrap("1.2.840.113549.1.1.5");
    pub(super) const RSA_SHA256: Oid = Oid::new_unwrap("1.2.840.113549.1.1.11");
    pub(super) const RSA_SHA384: Oid = Oid::new_unwrap("1.2.840.113549.1.1.12");
    pub(super) const RSA_SHA512: Oid = Oid::new_unwrap("1.2.840.113549.1.1.13");
    pub(super) const ECDSA_SHA1: Oid = Oid::new_unwrap("1.2.840.10045.4.1");
    pub(super) const ECDSA_SHA256: Oid = Oid::new_unwrap("1.2.840.10045.4.3.2");
    pub(super) const ECDSA_SHA384: Oid = Oid::new_unwrap("1.2.840.10045.4.3.3");
    pub(super) const ECDSA_SHA512: Oid = Oid::new_unwrap("1.2.840.10045.4.3.4");
    pub(super) const SHA256: Oid = Oid::new_unwrap("2.16.840.1.101.3.4.2.1");
    pub(super) const SHA384: Oid = Oid::new_unwrap("2.16.840.1.101.3.4.2.2");
    pub(super) const SHA512: Oid = Oid::new_unwrap("2.16.840.1.101.3.4.2.3");
}
