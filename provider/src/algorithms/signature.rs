//! Recognizes the algorithm of a certificate's signature, and says how strong it is and which schemes of TLS cover it
//! (RFC 9846, section 4.2.3).

use core::fmt;

use pq_x509::keys::SignatureAlgorithm;
use pq_x509::verification::{Mode, parameter_set};
use pq_x509::x509_cert::der::asn1::{AnyRef, ContextSpecific};
use pq_x509::x509_cert::der::{self, Decode, TagNumber};
use pq_x509::x509_cert::spki::{AlgorithmIdentifierRef, ObjectIdentifier};
use rustls::SignatureScheme;

use super::{Strength, oid, scheme_of};

/// The algorithm of a certificate's signature.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Signature {
    PostQuantum(SignatureAlgorithm),
    HashSlhDsa(SignatureAlgorithm),
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
    pub(crate) fn of(algorithm: &AlgorithmIdentifierRef<'_>) -> Self {
        match parameter_set(algorithm.oid) {
            Some((set, Mode::Pure)) => return Self::PostQuantum(set),
            Some((set, Mode::PreHash)) => return Self::HashSlhDsa(set),
            None => {}
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
        matches!(self, Self::PostQuantum(_) | Self::HashSlhDsa(_))
    }

    pub(crate) fn is_slh_dsa(self) -> bool {
        match self {
            Self::PostQuantum(algorithm) => SignatureAlgorithm::SLH_DSA.contains(&algorithm),
            Self::HashSlhDsa(_) => true,
            _ => false,
        }
    }

    /// The strength without the issuer's key, which has its own certificate or is the root's.
    pub(crate) fn strength(self) -> Strength {
        match self {
            Self::PostQuantum(algorithm) | Self::HashSlhDsa(algorithm) => Strength::of(algorithm),
            Self::Ecdsa(hash) | Self::RsaPkcs1(hash) | Self::RsaPss(hash) => {
                Strength::Classical(match hash {
                    Hash::Sha1 => 63,
                    Hash::Sha256 => 128,
                    Hash::Sha384 => 192,
                    Hash::Sha512 => 256,
                })
            }
            Self::Ed25519 => Strength::Classical(128),
            Self::Ed448 => Strength::Classical(224),
            Self::Other(_) => Strength::NONE,
        }
    }

    /// Whether `scheme` covers such a signature in a certificate (RFC 9846, section
    /// 4.2.3).
    ///
    /// No scheme covers HashSLH-DSA: the schemes for SLH-DSA are for its pure form
    /// (draft-reddy-tls-slhdsa).
    ///
    /// For ECDSA the hash decides: the curve is in the issuer's key, which is not always available,
    /// and implementations don't insist on it. The hash decides for RSASSA-PSS as well, with an
    /// rsaEncryption or an RSASSA-PSS key.
    pub(crate) fn is_covered_by(self, scheme: SignatureScheme) -> bool {
        use SignatureScheme as Scheme;
        match self {
            Self::PostQuantum(algorithm) => scheme_of(algorithm) == Some(scheme),
            Self::Ed25519 => scheme == Scheme::ED25519,
            Self::Ed448 => scheme == Scheme::ED448,
            Self::Ecdsa(hash) => {
                scheme
                    == match hash {
                        Hash::Sha1 => Scheme::ECDSA_SHA1_Legacy,
                        Hash::Sha256 => Scheme::ECDSA_NISTP256_SHA256,
                        Hash::Sha384 => Scheme::ECDSA_NISTP384_SHA384,
                        Hash::Sha512 => Scheme::ECDSA_NISTP521_SHA512,
                    }
            }
            Self::RsaPkcs1(hash) => {
                scheme
                    == match hash {
                        Hash::Sha1 => Scheme::RSA_PKCS1_SHA1,
                        Hash::Sha256 => Scheme::RSA_PKCS1_SHA256,
                        Hash::Sha384 => Scheme::RSA_PKCS1_SHA384,
                        Hash::Sha512 => Scheme::RSA_PKCS1_SHA512,
                    }
            }
            Self::RsaPss(hash) => {
                let [rsae, pss] = match hash {
                    Hash::Sha1 => return false,
                    Hash::Sha256 => [Scheme::RSA_PSS_SHA256, Scheme::from(0x0809)],
                    Hash::Sha384 => [Scheme::RSA_PSS_SHA384, Scheme::from(0x080a)],
                    Hash::Sha512 => [Scheme::RSA_PSS_SHA512, Scheme::from(0x080b)],
                };
                scheme == rsae || scheme == pss
            }
            Self::HashSlhDsa(_) | Self::Other(_) => false,
        }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PostQuantum(algorithm) => algorithm.fmt(f),
            Self::HashSlhDsa(algorithm) => write!(f, "Hash{algorithm}"),
            Self::Ecdsa(hash) => write!(f, "ECDSA with {hash}"),
            Self::RsaPkcs1(hash) => write!(f, "RSA PKCS#1 v1.5 with {hash}"),
            Self::RsaPss(hash) => write!(f, "RSA-PSS with {hash}"),
            Self::Ed25519 => f.write_str("Ed25519"),
            Self::Ed448 => f.write_str("Ed448"),
            Self::Other(oid) => oid::fmt_unnamed(*oid, f),
        }
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sha1 => "SHA-1",
            Self::Sha256 => "SHA-256",
            Self::Sha384 => "SHA-384",
            Self::Sha512 => "SHA-512",
        })
    }
}

/// The hash in RSASSA-PSS-params (RFC 4055, section 3.1); the default is SHA-1.
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
