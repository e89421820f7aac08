//! The table of post-quantum algorithms: the identifier, the lengths and the functions of pq-core for each, and the
//! types that name them.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use core::str::FromStr;

use const_oid::ObjectIdentifier;
use pq_core::ml_dsa::{self, MlDsa44, MlDsa65, MlDsa87};
use pq_core::ml_kem::{self, MlKem512, MlKem768, MlKem1024};
use pq_core::slh_dsa::PreHash;
#[cfg(feature = "slh-dsa")]
use pq_core::{
    Dimension,
    slh_dsa::{
        self, SlhDsaSha2_128f, SlhDsaSha2_128s, SlhDsaSha2_192f, SlhDsaSha2_192s, SlhDsaSha2_256f,
        SlhDsaSha2_256s, SlhDsaShake128f, SlhDsaShake128s, SlhDsaShake192f, SlhDsaShake192s,
        SlhDsaShake256f, SlhDsaShake256s,
    },
};
use spki::AlgorithmIdentifierRef;

use super::backend::{
    self, AnyDecapsulationKey, AnyEncapsulationKey, AnySigningKey, AnyVerifyingKey,
};

/// The algorithms, each with its row. To add one, add a line here; `if` names the feature that it needs.
macro_rules! algorithms {
    ($(
        $(#[$kind_attribute:meta])*
        $kind:ident: $row_type:ty, as $any:ident {
            $($(#[$attribute:meta])* $algorithm:ident $(if $feature:literal)? = $row:expr;)+
        }
    )+) => {
        $(
            $(#[$kind_attribute])*
            #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
            #[non_exhaustive]
            pub enum $kind {
                $($(#[$attribute])* $(#[cfg(feature = $feature)])? $algorithm,)+
            }

            impl $kind {
                /// Every algorithm of this kind.
                pub const ALL: &'static [Self] = &[$($(#[cfg(feature = $feature)])? Self::$algorithm),+];

                pub(crate) fn row(self) -> &'static $row_type {
                    match self {
                        $($(#[cfg(feature = $feature)])? Self::$algorithm => {
                            static ROW: $row_type = $row;
                            &ROW
                        })+
                    }
                }

                fn facts(self) -> &'static Facts {
                    &self.row().facts
                }
            }

            impl From<$kind> for Algorithm {
                fn from(algorithm: $kind) -> Self {
                    Self::$any(algorithm)
                }
            }
        )+

        impl Algorithm {
            /// Every algorithm.
            pub const ALL: &'static [Self] = &[$($($(#[cfg(feature = $feature)])? Self::$any($kind::$algorithm)),+),+];
        }
    };
}

// NIST's arc for signature algorithms is 2.16.840.1.101.3.4.3 (RFC 9881, RFC 9909),
// the one for key encapsulation 2.16.840.1.101.3.4.4 (RFC 9935).
algorithms! {
    /// A post-quantum signature algorithm: a parameter set with its X.509 identifier.
    SignatureAlgorithm: SignatureRow, as Signature {
        /// ML-DSA-44 (FIPS 204, security category 2; RFC 9881).
        MlDsa44 = ml_dsa::<MlDsa44>("2.16.840.1.101.3.4.3.17", 2);
        /// ML-DSA-65 (FIPS 204, security category 3; RFC 9881).
        MlDsa65 = ml_dsa::<MlDsa65>("2.16.840.1.101.3.4.3.18", 3);
        /// ML-DSA-87 (FIPS 204, security category 5; RFC 9881).
        MlDsa87 = ml_dsa::<MlDsa87>("2.16.840.1.101.3.4.3.19", 5);
        /// SLH-DSA-SHA2-128s, small signatures (FIPS 205, security category 1; RFC 9909).
        SlhDsaSha2_128s if "slh-dsa" = slh_dsa::<SlhDsaSha2_128s>("2.16.840.1.101.3.4.3.20", "2.16.840.1.101.3.4.3.35", PreHash::Sha256);
        /// SLH-DSA-SHA2-128f, fast (FIPS 205, security category 1; RFC 9909).
        SlhDsaSha2_128f if "slh-dsa" = slh_dsa::<SlhDsaSha2_128f>("2.16.840.1.101.3.4.3.21", "2.16.840.1.101.3.4.3.36", PreHash::Sha256);
        /// SLH-DSA-SHA2-192s, small signatures (FIPS 205, security category 3; RFC 9909).
        SlhDsaSha2_192s if "slh-dsa" = slh_dsa::<SlhDsaSha2_192s>("2.16.840.1.101.3.4.3.22", "2.16.840.1.101.3.4.3.37", PreHash::Sha512);
        /// SLH-DSA-SHA2-192f, fast (FIPS 205, security category 3; RFC 9909).
        SlhDsaSha2_192f if "slh-dsa" = slh_dsa::<SlhDsaSha2_192f>("2.16.840.1.101.3.4.3.23", "2.16.840.1.101.3.4.3.38", PreHash::Sha512);
        /// SLH-DSA-SHA2-256s, small signatures (FIPS 205, security category 5; RFC 9909).
        SlhDsaSha2_256s if "slh-dsa" = slh_dsa::<SlhDsaSha2_256s>("2.16.840.1.101.3.4.3.24", "2.16.840.1.101.3.4.3.39", PreHash::Sha512);
        /// SLH-DSA-SHA2-256f, fast (FIPS 205, security category 5; RFC 9909).
        SlhDsaSha2_256f if "slh-dsa" = slh_dsa::<SlhDsaSha2_256f>("2.16.840.1.101.3.4.3.25", "2.16.840.1.101.3.4.3.40", PreHash::Sha512);
        /// SLH-DSA-SHAKE-128s, small signatures (FIPS 205, security category 1; RFC 9909).
        SlhDsaShake128s if "slh-dsa" = slh_dsa::<SlhDsaShake128s>("2.16.840.1.101.3.4.3.26", "2.16.840.1.101.3.4.3.41", PreHash::Shake128);
        /// SLH-DSA-SHAKE-128f, fast (FIPS 205, security category 1; RFC 9909).
        SlhDsaShake128f if "slh-dsa" = slh_dsa::<SlhDsaShake128f>("2.16.840.1.101.3.4.3.27", "2.16.840.1.101.3.4.3.42", PreHash::Shake128);
        /// SLH-DSA-SHAKE-192s, small signatures (FIPS 205, security category 3; RFC 9909).
        SlhDsaShake192s if "slh-dsa" = slh_dsa::<SlhDsaShake192s>("2.16.840.1.101.3.4.3.28", "2.16.840.1.101.3.4.3.43", PreHash::Shake256);
        /// SLH-DSA-SHAKE-192f, fast (FIPS 205, security category 3; RFC 9909).
        SlhDsaShake192f if "slh-dsa" = slh_dsa::<SlhDsaShake192f>("2.16.840.1.101.3.4.3.29", "2.16.840.1.101.3.4.3.44", PreHash::Shake256);
        /// SLH-DSA-SHAKE-256s, small signatures (FIPS 205, security category 5; RFC 9909).
        SlhDsaShake256s if "slh-dsa" = slh_dsa::<SlhDsaShake256s>("2.16.840.1.101.3.4.3.30", "2.16.840.1.101.3.4.3.45", PreHash::Shake256);
        /// SLH-DSA-SHAKE-256f, fast (FIPS 205, security category 5; RFC 9909).
        SlhDsaShake256f if "slh-dsa" = slh_dsa::<SlhDsaShake256f>("2.16.840.1.101.3.4.3.31", "2.16.840.1.101.3.4.3.46", PreHash::Shake256);
    }

    /// A post-quantum key-encapsulation mechanism: a parameter set with its X.509 identifier.
    KemAlgorithm: KemRow, as Kem {
        /// ML-KEM-512 (FIPS 203, security category 1; RFC 9935).
        MlKem512 = ml_kem::<MlKem512>("2.16.840.1.101.3.4.4.1");
        /// ML-KEM-768 (FIPS 203, security category 3; RFC 9935).
        MlKem768 = ml_kem::<MlKem768>("2.16.840.1.101.3.4.4.2");
        /// ML-KEM-1024 (FIPS 203, security category 5; RFC 9935).
        MlKem1024 = ml_kem::<MlKem1024>("2.16.840.1.101.3.4.4.3");
    }
}

impl SignatureAlgorithm {
    /// The sets of ML-DSA.
    pub const ML_DSA: &'static [Self] = Self::ALL.split_at(3).0;

    /// The sets of SLH-DSA.
    pub const SLH_DSA: &'static [Self] = Self::ALL.split_at(3).1;

    /// Length of a signature, in bytes.
    pub fn signature_len(self) -> usize {
        self.row().signature_len
    }

    /// NIST's security category, from 1 to 5: as hard to break as a search for a key of
    /// AES-128 (1), AES-192 (3) or AES-256 (5), or a collision of SHA-256 (2).
    pub fn security_category(self) -> u8 {
        self.row().security_category
    }

    /// The hash function that is usual for [signing a hash](crate::signing::SignatureOptions::pre_hash): for
    /// SLH-DSA the one of RFC 9909, for ML-DSA SHA-512, which NIST's identifiers of HashML-DSA use.
    pub fn usual_pre_hash(self) -> PreHash {
        match &self.row().pre_hash {
            Some(row) => row.hash,
            None => PreHash::Sha512,
        }
    }

    /// The length of the shortest digest that a [`SigningKey`](crate::SigningKey) signs, in bytes.
    ///
    /// It is 2λ or 16n bits (FIPS 204, section 5.4; FIPS 205, section 10.2): collisions of such digests
    /// are as hard to find as the algorithm is to break.
    pub fn least_digest_len(self) -> usize {
        self.row().least_digest_len
    }
}

impl KemAlgorithm {
    /// Length of a ciphertext, in bytes.
    pub fn ciphertext_len(self) -> usize {
        self.row().ciphertext_len
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
    /// The algorithm with this object identifier, if it is one of ours.
    pub fn from_oid(oid: ObjectIdentifier) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|algorithm| algorithm.oid() == oid)
    }

    /// Whether a PKCS#8 private key holds the key itself (RFC 9909, section 6) and not the
    /// CHOICE of seed, expanded key or both (RFC 9881 and RFC 9935, section 6).
    pub(crate) fn private_key_is_bare(self) -> bool {
        self.preferred_form() == PrivateKeyForm::Expanded
    }

    fn facts(self) -> &'static Facts {
        match self {
            Self::Signature(algorithm) => algorithm.facts(),
            Self::Kem(algorithm) => algorithm.facts(),
        }
    }
}

/// The three ways to write a private key (RFC 9881 section 6, RFC 9935 section 6).
///
/// SLH-DSA has one of them (RFC 9909 section 6).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PrivateKeyForm {
    /// The seed alone: small, and every importer reads it. Preferred for ML-DSA and
    /// ML-KEM; SLH-DSA doesn't have it.
    Seed,
    /// The expanded key alone. For ML-DSA and ML-KEM, the seed cannot be recovered from it.
    /// For SLH-DSA this is the only form, and it is the whole key.
    Expanded,
    /// The seed and the expanded key. SLH-DSA doesn't have it.
    Both,
}

/// A name of no algorithm of the requested kind.
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

            /// Length of the expanded private key, in bytes. For SLH-DSA it is the length of the
            /// only encoding.
            pub fn expanded_len(self) -> usize {
                self.facts().expanded_len
            }

            /// The form of PKCS#8 that most importers read, and the only one for SLH-DSA.
            pub fn preferred_form(self) -> PrivateKeyForm {
                self.facts().preferred_form
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

/// The part of a row that all kinds of algorithms have.
struct Facts {
    name: &'static str,
    oid: ObjectIdentifier,
    public_key_len: usize,
    seed_len: usize,
    expanded_len: usize,
    preferred_form: PrivateKeyForm,
}

type Parse<K> = fn(&[u8]) -> Result<K, pq_core::Error>;

/// Everything about a signature algorithm.
pub(crate) struct SignatureRow {
    facts: Facts,
    signature_len: usize,
    security_category: u8,
    least_digest_len: usize,
    pub(crate) from_seed: Parse<Box<dyn AnySigningKey>>,
    pub(crate) from_expanded: Parse<Box<dyn AnySigningKey>>,
    pub(crate) verifying_key: Parse<Arc<dyn AnyVerifyingKey>>,
    /// The HashSLH-DSA that RFC 9909 defines for keys of the same set, under another identifier.
    pub(crate) pre_hash: Option<PreHashRow>,
}

/// Everything about the HashSLH-DSA of a parameter set.
pub(crate) struct PreHashRow {
    pub(crate) oid: ObjectIdentifier,
    pub(crate) hash: PreHash,
}

/// Everything about a key-encapsulation mechanism.
pub(crate) struct KemRow {
    facts: Facts,
    ciphertext_len: usize,
    pub(crate) from_seed: Parse<Box<dyn AnyDecapsulationKey>>,
    pub(crate) from_expanded: Parse<Box<dyn AnyDecapsulationKey>>,
    pub(crate) encapsulation_key: Parse<Arc<dyn AnyEncapsulationKey>>,
}

const fn ml_dsa<P: ml_dsa::ParameterSet>(oid: &str, security_category: u8) -> SignatureRow {
    SignatureRow {
        facts: Facts {
            name: P::NAME,
            oid: ObjectIdentifier::new_unwrap(oid),
            public_key_len: P::VERIFYING_KEY_LEN,
            seed_len: ml_dsa::SEED_LEN,
            expanded_len: P::SIGNING_KEY_LEN,
            preferred_form: PrivateKeyForm::Seed,
        },
        signature_len: P::SIGNATURE_LEN,
        security_category,
        least_digest_len: P::LAMBDA / 4,
        from_seed: backend::ml_dsa_from_seed::<P>,
        from_expanded: backend::ml_dsa_from_expanded::<P>,
        verifying_key: backend::ml_dsa_verifying_key::<P>,
        pre_hash: None,
    }
}

#[cfg(feature = "slh-dsa")]
const fn slh_dsa<P: slh_dsa::ParameterSet>(
    oid: &str,
    pre_hash_oid: &str,
    hash: PreHash,
) -> SignatureRow {
    SignatureRow {
        facts: Facts {
            name: P::NAME,
            oid: ObjectIdentifier::new_unwrap(oid),
            public_key_len: P::VERIFYING_KEY_LEN,
            seed_len: P::SeedLen::N,
            expanded_len: P::SIGNING_KEY_LEN,
            preferred_form: PrivateKeyForm::Expanded,
        },
        signature_len: P::SIGNATURE_LEN,
        // FIPS 205, table 2.
        security_category: match P::N::N {
            16 => 1,
            24 => 3,
            _ => 5,
        },
        least_digest_len: 2 * P::N::N,
        from_seed: backend::slh_dsa_from_seed::<P>,
        from_expanded: backend::slh_dsa_from_bytes::<P>,
        verifying_key: backend::slh_dsa_verifying_key::<P>,
        pre_hash: Some(PreHashRow {
            oid: ObjectIdentifier::new_unwrap(pre_hash_oid),
            hash,
        }),
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
            preferred_form: PrivateKeyForm::Seed,
        },
        ciphertext_len: P::CIPHERTEXT_LEN,
        from_seed: backend::decapsulation_key_from_seed::<P>,
        from_expanded: backend::decapsulation_key_from_expanded::<P>,
        encapsulation_key: backend::encapsulation_key::<P>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lists_agree() {
        let signatures = SignatureAlgorithm::ALL.iter().copied().map(Algorithm::from);
        let kems = KemAlgorithm::ALL.iter().copied().map(Algorithm::from);
        assert!(signatures.chain(kems).eq(Algorithm::ALL.iter().copied()));
    }

    #[test]
    fn families_are_told_apart() {
        for (family, name) in [
            (SignatureAlgorithm::ML_DSA, "ML-DSA"),
            (SignatureAlgorithm::SLH_DSA, "SLH-DSA"),
        ] {
            assert!(family.iter().all(|set| set.name().starts_with(name)));
        }
        assert_eq!(SignatureAlgorithm::ML_DSA.len(), 3);
        let slh_dsa = if cfg!(feature = "slh-dsa") { 12 } else { 0 };
        assert_eq!(SignatureAlgorithm::SLH_DSA.len(), slh_dsa);
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
}
