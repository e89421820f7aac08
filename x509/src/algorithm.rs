use alloc::sync::Arc;
use core::fmt;
use core::str::FromStr;

use const_oid::ObjectIdentifier;
use der::{Decode, Header, SliceReader, Tag};
use pq_core::ml_dsa::{self, MlDsa44, MlDsa65, MlDsa87};
use pq_core::ml_kem::{self, MlKem512, MlKem768, MlKem1024};
use spki::AlgorithmIdentifierRef;

use crate::backend::{
    self, AnyDecapsulationKey, AnyEncapsulationKey, AnySigningKey, AnyVerifyingKey,
};
use crate::error::KeyError;

/// A post-quantum signature algorithm: a parameter set with its X.509 identifier.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum SignatureAlgorithm {
    /// ML-DSA-44 (FIPS 204, security category 2; RFC 9881).
    MlDsa44,
    /// ML-DSA-65 (FIPS 204, security category 3; RFC 9881).
    MlDsa65,
    /// ML-DSA-87 (FIPS 204, security category 5; RFC 9881).
    MlDsa87,
}

impl SignatureAlgorithm {
    /// Every algorithm of this kind.
    pub const ALL: &'static [Self] = &[Self::MlDsa44, Self::MlDsa65, Self::MlDsa87];

    /// Length of a signature, in bytes.
    pub fn signature_len(self) -> usize {
        self.row().signature_len
    }

    pub(crate) fn row(self) -> &'static SignatureRow {
        match self {
            Self::MlDsa44 => &ML_DSA_44,
            Self::MlDsa65 => &ML_DSA_65,
            Self::MlDsa87 => &ML_DSA_87,
        }
    }

    fn facts(self) -> &'static Facts {
        &self.row().facts
    }
}

/// A post-quantum key-encapsulation mechanism: a parameter set with its X.509 identifier.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum KemAlgorithm {
    /// ML-KEM-512 (FIPS 203, security category 1; RFC 9935).
    MlKem512,
    /// ML-KEM-768 (FIPS 203, security category 3; RFC 9935).
    MlKem768,
    /// ML-KEM-1024 (FIPS 203, security category 5; RFC 9935).
    MlKem1024,
}

impl KemAlgorithm {
    /// Every algorithm of this kind.
    pub const ALL: &'static [Self] = &[Self::MlKem512, Self::MlKem768, Self::MlKem1024];

    /// Length of a ciphertext, in bytes.
    pub fn ciphertext_len(self) -> usize {
        self.row().ciphertext_len
    }

    pub(crate) fn row(self) -> &'static KemRow {
        match self {
            Self::MlKem512 => &ML_KEM_512,
            Self::MlKem768 => &ML_KEM_768,
            Self::MlKem1024 => &ML_KEM_1024,
        }
    }

    fn facts(self) -> &'static Facts {
        &self.row().facts
    }
}

/// Any algorithm whose keys this crate reads and writes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Algorithm {
    /// Keys that sign.
    Signature(SignatureAlgorithm),
    /// Keys that encapsulate.
    Kem(KemAlgorithm),
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: &'static [Self] = &[
        Self::Signature(SignatureAlgorithm::MlDsa44),
        Self::Signature(SignatureAlgorithm::MlDsa65),
        Self::Signature(SignatureAlgorithm::MlDsa87),
        Self::Kem(KemAlgorithm::MlKem512),
        Self::Kem(KemAlgorithm::MlKem768),
        Self::Kem(KemAlgorithm::MlKem1024),
    ];

    /// The algorithm with this object identifier, if it is one of ours.
    pub fn from_oid(oid: ObjectIdentifier) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|algorithm| algorithm.oid() == oid)
    }

    /// The algorithm that an AlgorithmIdentifier names.
    ///
    /// # Errors
    ///
    /// [`KeyError::UnsupportedAlgorithm`] for an unknown object identifier and
    /// [`KeyError::ParametersPresent`] if there are parameters: all algorithms here
    /// demand that they be absent, and NULL is not absent (RFC 9881,
    /// RFC 9935).
    pub fn from_identifier(identifier: &AlgorithmIdentifierRef<'_>) -> Result<Self, KeyError> {
        let algorithm =
            Self::from_oid(identifier.oid).ok_or(KeyError::UnsupportedAlgorithm(identifier.oid))?;
        match identifier.parameters {
            None => Ok(algorithm),
            Some(_) => Err(KeyError::ParametersPresent(algorithm)),
        }
    }

    /// The algorithm that a PKCS#8 private key claims, if it is one of ours.
    ///
    /// This looks at the start alone: the headers of the two outer SEQUENCEs, the version
    /// and the object identifier. It has no opinion on parameters, on what follows, or on
    /// lengths that reach beyond the end, so that a damaged key of ours is known for
    /// ours and reading it tells what is wrong with it.
    pub fn of_pkcs8_der(der: &[u8]) -> Option<Self> {
        let mut reader = SliceReader::new(der).ok()?;
        let enter_sequence = |reader: &mut SliceReader<'_>| {
            let header = Header::decode(reader).ok()?;
            header.tag().assert_eq(Tag::Sequence).ok()
        };
        enter_sequence(&mut reader)?;
        u8::decode(&mut reader).ok()?;
        enter_sequence(&mut reader)?;
        Self::from_oid(ObjectIdentifier::decode(&mut reader).ok()?)
    }

    fn facts(self) -> &'static Facts {
        match self {
            Self::Signature(algorithm) => algorithm.facts(),
            Self::Kem(algorithm) => algorithm.facts(),
        }
    }
}

impl From<SignatureAlgorithm> for Algorithm {
    fn from(algorithm: SignatureAlgorithm) -> Self {
        Self::Signature(algorithm)
    }
}

impl From<KemAlgorithm> for Algorithm {
    fn from(algorithm: KemAlgorithm) -> Self {
        Self::Kem(algorithm)
    }
}

/// A name that is none of the algorithms asked for.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{name:?} is not an algorithm known here; known: {known}")]
pub struct UnknownAlgorithm {
    name: String,
    known: String,
}

/// What all algorithms have, read from [`Facts`].
macro_rules! accessors {
    ($($algorithm:ident),+) => {$(
        impl $algorithm {
            /// The standard's name, such as `ML-DSA-65`.
            pub fn name(self) -> &'static str {
                self.facts().name
            }

            /// The object identifier, the same for keys and for signatures.
            pub fn oid(self) -> ObjectIdentifier {
                self.facts().oid
            }

            /// The AlgorithmIdentifier, with its parameters absent.
            pub fn identifier(self) -> AlgorithmIdentifierRef<'static> {
                AlgorithmIdentifierRef {
                    oid: self.oid(),
                    parameters: None,
                }
            }

            /// Length of the raw public key, in bytes.
            pub fn public_key_len(self) -> usize {
                self.facts().public_key_len
            }

            /// Length of the seed that a private key grows from, in bytes.
            pub fn seed_len(self) -> usize {
                self.facts().seed_len
            }

            /// Length of the expanded private key, in bytes.
            pub fn expanded_len(self) -> usize {
                self.facts().expanded_len
            }
        }

        impl fmt::Display for $algorithm {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $algorithm {
            type Err = UnknownAlgorithm;

            /// Reads a name as [`name`](Self::name) gives it, in either case.
            fn from_str(name: &str) -> Result<Self, Self::Err> {
                Self::ALL
                    .iter()
                    .copied()
                    .find(|algorithm| algorithm.name().eq_ignore_ascii_case(name))
                    .ok_or_else(|| UnknownAlgorithm {
                        name: name.into(),
                        known: Self::ALL.iter().map(|a| a.name()).collect::<Vec<_>>().join(", "),
                    })
            }
        }
    )+};
}

accessors!(SignatureAlgorithm, KemAlgorithm, Algorithm);

/// What an algorithm's row says whatever its kind.
struct Facts {
    name: &'static str,
    oid: ObjectIdentifier,
    public_key_len: usize,
    seed_len: usize,
    expanded_len: usize,
}

type Parse<K> = fn(&[u8]) -> Result<Arc<K>, pq_core::Error>;

/// All there is to say about a signature algorithm. A further one is a further row.
pub(crate) struct SignatureRow {
    facts: Facts,
    signature_len: usize,
    pub(crate) from_seed: Parse<dyn AnySigningKey>,
    pub(crate) from_expanded: Parse<dyn AnySigningKey>,
    pub(crate) verifying_key: Parse<dyn AnyVerifyingKey>,
}

/// All there is to say about a key-encapsulation mechanism.
pub(crate) struct KemRow {
    facts: Facts,
    ciphertext_len: usize,
    pub(crate) from_seed: Parse<dyn AnyDecapsulationKey>,
    pub(crate) from_expanded: Parse<dyn AnyDecapsulationKey>,
    pub(crate) encapsulation_key: Parse<dyn AnyEncapsulationKey>,
}

// NIST's arc for signature algorithms is 2.16.840.1.101.3.4.3 (RFC 9881),
// the one for key encapsulation 2.16.840.1.101.3.4.4 (RFC 9935).
static ML_DSA_44: SignatureRow = ml_dsa::<MlDsa44>("2.16.840.1.101.3.4.3.17");
static ML_DSA_65: SignatureRow = ml_dsa::<MlDsa65>("2.16.840.1.101.3.4.3.18");
static ML_DSA_87: SignatureRow = ml_dsa::<MlDsa87>("2.16.840.1.101.3.4.3.19");
static ML_KEM_512: KemRow = ml_kem::<MlKem512>("2.16.840.1.101.3.4.4.1");
static ML_KEM_768: KemRow = ml_kem::<MlKem768>("2.16.840.1.101.3.4.4.2");
static ML_KEM_1024: KemRow = ml_kem::<MlKem1024>("2.16.840.1.101.3.4.4.3");

const fn ml_dsa<P: ml_dsa::ParameterSet>(oid: &str) -> SignatureRow {
    SignatureRow {
        facts: Facts {
            name: P::NAME,
            oid: ObjectIdentifier::new_unwrap(oid),
            public_key_len: P::VERIFYING_KEY_LEN,
            seed_len: ml_dsa::SEED_LEN,
            expanded_len: P::SIGNING_KEY_LEN,
        },
        signature_len: P::SIGNATURE_LEN,
        from_seed: backend::signing_key_from_seed::<P>,
        from_expanded: backend::signing_key_from_expanded::<P>,
        verifying_key: backend::verifying_key::<P>,
    }
}

const fn ml_kem<P: ml_kem::ParameterSet>(oid: &str) -> KemRow {
    KemRow {
        facts: Facts {
            name: P::NAME,
            oid: ObjectIdentifier::new_unwrap(oid),
            public_key_len: P::ENCAPSULATION_KEY_LEN,
            seed_len: ml_kem::SEED_LEN,
            expanded_len: P::DECAPSULATION_KEY_LEN,
        },
        ciphertext_len: P::CIPHERTEXT_LEN,
        from_seed: backend::decapsulation_key_from_seed::<P>,
        from_expanded: backend::decapsulation_key_from_expanded::<P>,
        encapsulation_key: backend::encapsulation_key::<P>,
    }
}

#[cfg(test)]
mod tests {
    use der::Encode;

    use super::*;

    #[test]
    fn all_lists_agree() {
        let signatures = SignatureAlgorithm::ALL.iter().copied().map(Algorithm::from);
        let kems = KemAlgorithm::ALL.iter().copied().map(Algorithm::from);
        assert!(signatures.chain(kems).eq(Algorithm::ALL.iter().copied()));
    }

    #[test]
    fn names_and_identifiers_are_distinct_and_found_again() {
        for algorithm in Algorithm::ALL {
            assert_eq!(Algorithm::from_oid(algorithm.oid()), Some(*algorithm));
            assert_eq!(algorithm.name().parse(), Ok(*algorithm));
            assert_eq!(algorithm.name().to_lowercase().parse(), Ok(*algorithm));
            assert_eq!(
                Algorithm::from_identifier(&algorithm.identifier()),
                Ok(*algorithm)
            );
        }
        let unknown = "ML-KEM-768".parse::<SignatureAlgorithm>().unwrap_err();
        assert!(unknown.to_string().contains("ML-DSA-65"));
    }

    #[test]
    fn pkcs8_is_known_by_its_start() {
        for algorithm in Algorithm::ALL {
            let identifier = algorithm.identifier().to_der().unwrap();
            let version = [2, 1, 0];
            // Of the whole key that the lengths promise, only the start is there.
            let start = [&[0x30, 0x82, 0x0f, 0xff][..], &version, &identifier].concat();
            for end in [&[][..], &[5, 0], &[0xff; 40]] {
                let der = [&start, end].concat();
                assert_eq!(Algorithm::of_pkcs8_der(&der), Some(*algorithm));
            }
            for cut in 0..start.len() {
                assert_eq!(Algorithm::of_pkcs8_der(&start[..cut]), None, "{cut}");
            }
        }
        // An EC key (id-ecPublicKey), and an EncryptedPrivateKeyInfo's start.
        let ec = hex::decode("308187020100301306072a8648ce3d0201").unwrap();
        let encrypted = hex::decode("3081f9305306092a864886f70d01050d").unwrap();
        for other in [ec, encrypted] {
            assert_eq!(Algorithm::of_pkcs8_der(&other), None);
        }
    }

    #[test]
    fn parameters_are_refused_even_when_null() {
        for algorithm in Algorithm::ALL {
            let identifier = AlgorithmIdentifierRef {
                parameters: Some(der::asn1::AnyRef::NULL),
                ..algorithm.identifier()
            };
            assert_eq!(
                Algorithm::from_identifier(&identifier),
                Err(KeyError::ParametersPresent(*algorithm))
            );
        }
    }
}
