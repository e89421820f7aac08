//! The table of the combinations of Composite ML-DSA: the halves, the name and the identifier of each. It also says
//! what is missing for those of the draft that this crate doesn't support.

use core::fmt;
use core::str::FromStr;

use pki_types::AlgorithmIdentifier;
use pq_core::ml_dsa::PreHash;
use spki::{AlgorithmIdentifierRef, ObjectIdentifier};

use crate::classical::{ClassicalAlgorithm, RsaScheme};
use crate::keys::{CompositeIdentifier, KeyAlgorithm, SignatureAlgorithm};

/// The combinations, one a line: the last arc of its identifier below PKIX's `alg`, 1.3.6.1.5.5.7.6,
/// and its halves.
macro_rules! combinations {
    ($(
        $(#[$attribute:meta])*
        $algorithm:ident = $arc:literal: $ml_dsa:ident, $classical:ident $($rsa:ident)?;
    )+) => {
        /// A combination of ML-DSA and a classical algorithm.
        ///
        /// The draft recommends (section 10.4) [`MlDsa65EcdsaP256Sha512`](Self::MlDsa65EcdsaP256Sha512)
        /// in general, [`MlDsa65Rsa3072PssSha512`](Self::MlDsa65Rsa3072PssSha512) if RSA is needed,
        /// [`MlDsa44EcdsaP256Sha256`](Self::MlDsa44EcdsaP256Sha256) and
        /// [`MlDsa44Ed25519Sha512`](Self::MlDsa44Ed25519Sha512) for small signatures, and
        /// [`MlDsa87EcdsaP384Sha512`](Self::MlDsa87EcdsaP384Sha512) for category 5. With
        /// [`MlDsa65Ed25519Sha512`](Self::MlDsa65Ed25519Sha512) nobody can change a signature into
        /// another signature of the same message.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum CompositeAlgorithm {
            $($(#[$attribute])* $algorithm,)+
        }

        impl CompositeAlgorithm {
            /// Every combination that this crate supports.
            pub const ALL: &'static [Self] = &[$(Self::$algorithm),+];

            pub(super) fn row(self) -> &'static Row {
                match self {
                    $(Self::$algorithm => {
                        static ROW: Row = Row {
                            composite: CompositeIdentifier::from_arc($arc)
                                .expect("it is one of the draft's"),
                            identifier: [0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x06, $arc],
                            ml_dsa: SignatureAlgorithm::$ml_dsa,
                            classical: ClassicalAlgorithm::$classical,
                            rsa: scheme!($($rsa)?),
                        };
                        &ROW
                    })+
                }
            }
        }
    };
}

/// The RSA scheme; other algorithms ignore it.
macro_rules! scheme {
    () => {
        RsaScheme::Pkcs1Sha256
    };
    ($rsa:ident) => {
        RsaScheme::$rsa
    };
}

combinations! {
    /// ML-DSA-44 with RSA of 2048 bits, PSS.
    MlDsa44Rsa2048PssSha256 = 37: MlDsa44, Rsa2048 PssSha256;
    /// ML-DSA-44 with RSA of 2048 bits, PKCS#1 v1.5.
    MlDsa44Rsa2048Pkcs15Sha256 = 38: MlDsa44, Rsa2048 Pkcs1Sha256;
    /// ML-DSA-44 with Ed25519.
    MlDsa44Ed25519Sha512 = 39: MlDsa44, Ed25519;
    /// ML-DSA-44 with ECDSA on P-256.
    MlDsa44EcdsaP256Sha256 = 40: MlDsa44, EcdsaP256;
    /// ML-DSA-65 with RSA of 3072 bits, PSS.
    MlDsa65Rsa3072PssSha512 = 41: MlDsa65, Rsa3072 PssSha256;
    /// ML-DSA-65 with RSA of 3072 bits, PKCS#1 v1.5.
    MlDsa65Rsa3072Pkcs15Sha512 = 42: MlDsa65, Rsa3072 Pkcs1Sha256;
    /// ML-DSA-65 with RSA of 4096 bits, PSS.
    MlDsa65Rsa4096PssSha512 = 43: MlDsa65, Rsa4096 PssSha384;
    /// ML-DSA-65 with RSA of 4096 bits, PKCS#1 v1.5.
    MlDsa65Rsa4096Pkcs15Sha512 = 44: MlDsa65, Rsa4096 Pkcs1Sha384;
    /// ML-DSA-65 with ECDSA on P-256.
    MlDsa65EcdsaP256Sha512 = 45: MlDsa65, EcdsaP256;
    /// ML-DSA-65 with ECDSA on P-384.
    MlDsa65EcdsaP384Sha512 = 46: MlDsa65, EcdsaP384;
    /// ML-DSA-65 with Ed25519.
    MlDsa65Ed25519Sha512 = 48: MlDsa65, Ed25519;
    /// ML-DSA-87 with ECDSA on P-384.
    MlDsa87EcdsaP384Sha512 = 49: MlDsa87, EcdsaP384;
    /// ML-DSA-87 with RSA of 3072 bits, PSS.
    MlDsa87Rsa3072PssSha512 = 52: MlDsa87, Rsa3072 PssSha256;
    /// ML-DSA-87 with RSA of 4096 bits, PSS.
    MlDsa87Rsa4096PssSha512 = 53: MlDsa87, Rsa4096 PssSha384;
}

/// The unsupported classical halves of the draft's other combinations, by their last arc.
static MISSING: [(u8, &str); 4] = [
    (47, "ECDSA on brainpoolP256r1"),
    (50, "ECDSA on brainpoolP384r1"),
    (51, "Ed448"),
    (54, "ECDSA on P-521"),
];

/// The properties of a combination.
pub(super) struct Row {
    composite: CompositeIdentifier,
    /// The contents of the SEQUENCE of the AlgorithmIdentifier.
    pub(super) identifier: [u8; 10],
    pub(super) ml_dsa: SignatureAlgorithm,
    pub(super) classical: ClassicalAlgorithm,
    pub(super) rsa: RsaScheme,
}

impl CompositeAlgorithm {
    /// The draft's name without `id-`, such as `MLDSA65-ECDSA-P256-SHA512`.
    pub fn name(self) -> &'static str {
        self.row().composite.name()
    }

    /// The object identifier, the same for keys and for signatures.
    pub fn oid(self) -> ObjectIdentifier {
        self.row().composite.oid()
    }

    /// The AlgorithmIdentifier, without parameters.
    pub fn identifier(self) -> AlgorithmIdentifierRef<'static> {
        AlgorithmIdentifierRef {
            oid: self.oid(),
            parameters: None,
        }
    }

    /// The AlgorithmIdentifier as webpki has it.
    pub fn pki_identifier(self) -> AlgorithmIdentifier {
        AlgorithmIdentifier::from_slice(&self.row().identifier)
    }

    /// The combination with this object identifier.
    ///
    /// # Errors
    ///
    /// [`UnknownComposite::Unsupported`] for a combination of the draft that is not in
    /// [`ALL`](Self::ALL), and [`UnknownComposite::Identifier`] for any other identifier.
    pub fn from_oid(oid: ObjectIdentifier) -> Result<Self, UnknownComposite> {
        let composite = CompositeIdentifier::from_oid(oid);
        Self::try_from(composite.ok_or(UnknownComposite::Identifier(oid))?)
    }

    /// The label that separates the signatures of different combinations. Both halves sign it, and it
    /// is the context of ML-DSA.
    pub(super) fn label(self) -> String {
        format!("COMPSIG-{self}")
    }

    /// The ML-DSA half, which withstands quantum computers.
    pub fn ml_dsa(self) -> SignatureAlgorithm {
        self.row().ml_dsa
    }

    /// The classical half, which doesn't withstand quantum computers.
    pub fn classical(self) -> ClassicalAlgorithm {
        self.row().classical
    }

    /// The hash function for the message (PH in the draft), whose digest both halves sign. CMS needs
    /// this digest.
    pub fn pre_hash(self) -> PreHash {
        self.row().composite.pre_hash()
    }

    /// The length of the longest signature, in bytes. ECDSA signatures vary in length.
    pub fn max_signature_len(self) -> usize {
        self.ml_dsa().signature_len() + self.classical().max_signature_len()
    }
}

impl From<CompositeAlgorithm> for KeyAlgorithm {
    fn from(algorithm: CompositeAlgorithm) -> Self {
        Self::Composite(algorithm.row().composite)
    }
}

impl TryFrom<CompositeIdentifier> for CompositeAlgorithm {
    type Error = UnknownComposite;

    fn try_from(composite: CompositeIdentifier) -> Result<Self, Self::Error> {
        let mut all = Self::ALL.iter().copied();
        if let Some(found) = all.find(|algorithm| algorithm.row().composite == composite) {
            return Ok(found);
        }
        let missing = MISSING.iter().find(|(arc, _)| *arc == composite.arc());
        Err(UnknownComposite::Unsupported {
            composite,
            missing: missing.map_or("its classical half", |(_, missing)| missing),
        })
    }
}

impl fmt::Display for CompositeAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for CompositeAlgorithm {
    type Err = UnknownComposite;

    /// Reads a [`name`](Self::name), in upper or lower case.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut all = CompositeIdentifier::ALL.iter().copied();
        let found = all.find(|one| one.name().eq_ignore_ascii_case(name));
        Self::try_from(found.ok_or_else(|| UnknownComposite::Name(name.into()))?)
    }
}

/// Why there is no such [`CompositeAlgorithm`].
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownComposite {
    /// A combination of the draft whose classical half this crate doesn't support.
    #[error(
        "no support for keys of {composite}, since {missing} is missing here; take one of {names}",
        names = names()
    )]
    Unsupported {
        /// The combination.
        composite: CompositeIdentifier,
        /// The classical half.
        missing: &'static str,
    },
    /// An identifier that is not one of Composite ML-DSA.
    #[error("{0} is no identifier of Composite ML-DSA; take a key of one of {names}", names = names())]
    Identifier(ObjectIdentifier),
    /// A name that the draft doesn't have.
    #[error("{0:?} is no combination of Composite ML-DSA; known: {names}", names = names())]
    Name(String),
}

fn names() -> String {
    let names: Vec<_> = CompositeAlgorithm::ALL.iter().map(|a| a.name()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_18_combinations_are_known_by_name_and_identifier() {
        let mut supported = 0;
        for identifier in CompositeIdentifier::ALL {
            let (oid, name) = (identifier.oid(), identifier.name());
            match CompositeAlgorithm::from_oid(oid) {
                Ok(algorithm) => {
                    supported += 1;
                    assert_eq!(algorithm.oid(), oid);
                    assert_eq!(algorithm.name(), name);
                    assert_eq!(algorithm.row().identifier[2..], *oid.as_bytes());
                    for written in [name.into(), name.to_lowercase(), name.to_uppercase()] {
                        assert_eq!(written.parse(), Ok(algorithm));
                    }
                }
                Err(error) => {
                    assert_eq!(name.parse::<CompositeAlgorithm>(), Err(error.clone()));
                    let text = error.to_string();
                    assert!(text.contains(name), "{text}");
                }
            }
        }
        assert_eq!(supported, CompositeAlgorithm::ALL.len());
        assert_eq!(supported + MISSING.len(), CompositeIdentifier::ALL.len());
        let other = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.55");
        assert_eq!(
            CompositeAlgorithm::from_oid(other),
            Err(UnknownComposite::Identifier(other))
        );
    }

    /// The names agree with the halves.
    #[test]
    fn names_and_rows_agree() {
        for algorithm in CompositeAlgorithm::ALL {
            let parts: Vec<_> = algorithm.name().split('-').collect();
            let ml_dsa = algorithm.ml_dsa().name().replacen("ML-DSA-", "MLDSA", 1);
            assert_eq!(parts[0], ml_dsa);
            let hash = algorithm.pre_hash().name().replace('-', "");
            assert_eq!(parts.last(), Some(&hash.as_str()));
            let classical = algorithm.classical().name();
            let classical = match classical.strip_prefix("RSA-") {
                Some(bits) => format!("RSA{bits}"),
                None => classical.into(),
            };
            let rest = parts[1..parts.len() - 1].join("-");
            let (expected, padding) = match algorithm.row().rsa {
                _ if !rest.starts_with("RSA") => (classical, None),
                RsaScheme::PssSha256 | RsaScheme::PssSha384 => (classical, Some("-PSS")),
                _ => (classical, Some("-PKCS15")),
            };
            assert_eq!(rest, expected + padding.unwrap_or_default());
        }
    }
}
