use core::fmt;

use pq_x509::SignatureAlgorithm;
use pq_x509::verification::{Mode, parameter_set};
use pq_x509::x509_cert::Certificate;
use pq_x509::x509_cert::der::asn1::{AnyRef, BitStringRef, ContextSpecific, UintRef};
use pq_x509::x509_cert::der::referenced::OwnedToRef;
use pq_x509::x509_cert::der::{self, Decode, SliceReader, TagNumber};
use pq_x509::x509_cert::spki::{AlgorithmIdentifierRef, ObjectIdentifier, SubjectPublicKeyInfoRef};
use rustls::SignatureScheme;
use rustls::pki_types::TrustAnchor;

use super::scheme_of;

/// The algorithm of the key in a certificate.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum KeyAlgorithm {
    /// A post-quantum one.
    PostQuantum(SignatureAlgorithm),
    /// HashSLH-DSA with this set of SLH-DSA (RFC 9909): post-quantum as well. CAs may have
    /// such keys; TLS has no scheme for them.
    HashSlhDsa(SignatureAlgorithm),
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
        matches!(self, Self::PostQuantum(_) | Self::HashSlhDsa(_))
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
            Self::HashSlhDsa(_) | Self::Rsa { .. } | Self::Other(_) => None,
        }
    }

    /// The length of the longest signature of such a key, in bytes.
    pub(crate) fn max_signature_len(self) -> usize {
        match self {
            Self::PostQuantum(algorithm) | Self::HashSlhDsa(algorithm) => algorithm.signature_len(),
            Self::EcdsaP256 => 72,
            Self::EcdsaP384 => 104,
            Self::EcdsaP521 => 139,
            Self::Ed25519 => 64,
            Self::Ed448 => 114,
            Self::Rsa { bits } => bits.div_ceil(8),
            Self::Other(_) => 0,
        }
    }

    pub(crate) fn strength(self) -> Strength {
        match self {
            Self::PostQuantum(algorithm) | Self::HashSlhDsa(algorithm) => Strength::of(algorithm),
            Self::EcdsaP256 | Self::Ed25519 => Strength::Classical(128),
            Self::EcdsaP384 => Strength::Classical(192),
            Self::Ed448 => Strength::Classical(224),
            Self::EcdsaP521 => Strength::Classical(256),
            // SP 800-57 part 1, table 2.
            Self::Rsa { bits } => Strength::Classical(match bits {
                15_360.. => 256,
                7680.. => 192,
                3072.. => 128,
                2048.. => 112,
                _ => 80,
            }),
            Self::Other(_) => Strength::NONE,
        }
    }

    /// That of a root.
    pub(crate) fn of_trust_anchor(anchor: &TrustAnchor<'_>) -> der::Result<Self> {
        // What is in the SEQUENCE of a SubjectPublicKeyInfo, without its header.
        let mut fields = SliceReader::new(&anchor.subject_public_key_info)?;
        Ok(Self::of(&SubjectPublicKeyInfoRef {
            algorithm: AlgorithmIdentifierRef::decode(&mut fields)?,
            subject_public_key: BitStringRef::decode(&mut fields)?,
        }))
    }

    fn of(spki: &SubjectPublicKeyInfoRef<'_>) -> Self {
        let oid = spki.algorithm.oid;
        match parameter_set(oid) {
            Some((algorithm, Mode::Pure)) => return Self::PostQuantum(algorithm),
            Some((algorithm, Mode::PreHash)) => return Self::HashSlhDsa(algorithm),
            None => {}
        }
        match oid {
            oid::EC_PUBLIC_KEY => Self::on_curve(&spki.algorithm),
            oid::ED25519 => Self::Ed25519,
            oid::ED448 => Self::Ed448,
            oid::RSA | oid::RSA_PSS => match rsa_bits(spki.subject_public_key.raw_bytes()) {
                Ok(bits) => Self::Rsa { bits },
                Err(_) => Self::Other(oid),
            },
            _ => Self::Other(oid),
        }
    }

    fn on_curve(algorithm: &AlgorithmIdentifierRef<'_>) -> Self {
        match algorithm.parameters_oid() {
            Ok(oid::P256) => Self::EcdsaP256,
            Ok(oid::P384) => Self::EcdsaP384,
            Ok(oid::P521) => Self::EcdsaP521,
            Ok(curve) => Self::Other(curve),
            Err(_) => Self::Other(algorithm.oid),
        }
    }
}

impl fmt::Display for KeyAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PostQuantum(algorithm) => algorithm.fmt(f),
            Self::HashSlhDsa(algorithm) => write!(f, "Hash{algorithm}"),
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
    fn of(algorithm: &AlgorithmIdentifierRef<'_>) -> Self {
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

    /// Without the issuer's key, which has a certificate of its own or is the root's.
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
    /// None covers HashSLH-DSA: the schemes for SLH-DSA are for its pure form
    /// (draft-reddy-tls-slhdsa).
    ///
    /// For ECDSA the hash decides: the curve is that of the issuer's key, which is not
    /// always at hand, and implementations don't insist on it. For RSASSA-PSS it is the hash
    /// as well, for either kind of key.
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
            Self::Other(oid) => oid.fmt(f),
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

/// The name of an algorithm, of keys or of signatures, by what is in its AlgorithmIdentifier.
pub(crate) fn name_of(identifier: &[u8]) -> String {
    match algorithm_in(identifier) {
        Ok(algorithm) if algorithm.oid == oid::EC_PUBLIC_KEY => {
            KeyAlgorithm::on_curve(&algorithm).to_string()
        }
        Ok(algorithm) if algorithm.oid == oid::RSA => "RSA".into(),
        Ok(algorithm) => Signature::of(&algorithm).to_string(),
        Err(_) => "an algorithm without a name".into(),
    }
}

/// An AlgorithmIdentifier without the header of its SEQUENCE.
fn algorithm_in(contents: &[u8]) -> der::Result<AlgorithmIdentifierRef<'_>> {
    let mut reader = SliceReader::new(contents)?;
    Ok(AlgorithmIdentifierRef {
        oid: ObjectIdentifier::decode(&mut reader)?,
        parameters: Option::decode(&mut reader)?,
    })
}

/// How hard a signature is to forge.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Strength {
    /// In bits, and for those who have no quantum computer.
    Classical(u16),
    /// By NIST's security category, for everybody.
    PostQuantum(u8),
}

impl Strength {
    pub(crate) const NONE: Self = Self::Classical(0);

    fn of(algorithm: SignatureAlgorithm) -> Self {
        Self::PostQuantum(algorithm.security_category())
    }
}

/// The algorithms of a certificate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Algorithms {
    pub(crate) key: KeyAlgorithm,
    signature: Signature,
    /// Whether issuer and subject are the same and the key in the certificate is one that
    /// makes such signatures. Whether it did make this one, nobody has verified.
    looks_self_signed: bool,
}

impl Algorithms {
    pub(crate) fn of(certificate: &[u8]) -> Result<Self, der::Error> {
        Ok(Self::in_certificate(&Certificate::from_der(certificate)?))
    }

    pub(crate) fn in_certificate(certificate: &Certificate) -> Self {
        let tbs = certificate.tbs_certificate();
        let spki = tbs.subject_public_key_info().owned_to_ref();
        let algorithm = certificate.signature_algorithm().owned_to_ref();
        let signature = Signature::of(&algorithm);
        let is_self_issued = tbs.subject() == tbs.issuer() && !tbs.subject().is_empty();
        Self {
            key: KeyAlgorithm::of(&spki),
            signature,
            looks_self_signed: is_self_issued
                && match (spki.algorithm.oid, signature) {
                    (oid::EC_PUBLIC_KEY, Signature::Ecdsa(_))
                    | (oid::RSA, Signature::RsaPkcs1(_) | Signature::RsaPss(_)) => true,
                    // All others have one identifier for both.
                    (key, _) => key == algorithm.oid,
                },
        }
    }

    /// The signatures that trust in a chain, leaf first, may rest on: all but those of CAs
    /// that look self-signed, which are trusted as they are or not at all.
    ///
    /// Self-issued isn't enough (RFC 5280, section 3.2): a CA that changes its key signs the
    /// new one with the old one, under one name, and verifiers rely on that. Whether a
    /// certificate that looks self-signed is such a link, nothing here tells, and yet it hides
    /// no classical signature where it matters. If the signatures that count are all
    /// post-quantum, then so are all on the path that was verified:
    ///
    /// * The leaf's always counts.
    /// * What verifies a post-quantum signature is a post-quantum key. If that is a further
    ///   certificate's, then the signature of that certificate counts, or looks as if that
    ///   key had made it. It is post-quantum either way, and so on up to the root's key.
    pub(crate) fn relied_on(chain: &[Self]) -> impl Iterator<Item = Signature> {
        chain
            .iter()
            .enumerate()
            .filter(|(index, certificate)| *index == 0 || !certificate.looks_self_signed)
            .map(|(_, certificate)| certificate.signature)
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
