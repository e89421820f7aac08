//! All algorithms of keys under one type, and their names.

use core::fmt;

use crate::classical::{AgreementAlgorithm, ClassicalAlgorithm};
use crate::composite::CompositeAlgorithm;
use crate::keys::{Algorithm, KemAlgorithm, KeyAlgorithm, SignatureAlgorithm};
use crate::x_wing;

/// The algorithm of a key.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum AnyAlgorithm {
    /// ML-DSA, SLH-DSA or ML-KEM.
    PostQuantum(Algorithm),
    /// ML-KEM-768 and X25519 at once.
    XWing,
    /// ML-DSA and a classical algorithm at once.
    Composite(CompositeAlgorithm),
    /// Signs, and is not safe against quantum computers.
    Classical(ClassicalAlgorithm),
    /// Agrees on secrets, and is not safe against quantum computers. Only keys of X25519 are read as this: a file doesn't
    /// tell keys of ECDH from those of ECDSA.
    Agreement(AgreementAlgorithm),
}

impl AnyAlgorithm {
    /// Those that a file can be of: the post-quantum ones first, then the hybrid and the composite ones.
    pub fn all() -> impl Iterator<Item = Self> {
        let post_quantum = Algorithm::ALL.iter().copied();
        let classical = ClassicalAlgorithm::ALL.iter().copied();
        let composite = CompositeAlgorithm::ALL.iter().copied();
        post_quantum
            .map(Self::PostQuantum)
            .chain([Self::XWing])
            .chain(composite.map(Self::Composite))
            .chain(classical.map(Self::Classical))
            .chain([Self::Agreement(AgreementAlgorithm::X25519)])
    }

    /// The algorithm with this name, in upper or lower case.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|algorithm| algorithm.name().eq_ignore_ascii_case(name))
    }

    /// The name, such as `ML-DSA-65`.
    pub fn name(self) -> &'static str {
        match self {
            Self::PostQuantum(algorithm) => algorithm.name(),
            Self::XWing => x_wing::NAME,
            Self::Composite(algorithm) => algorithm.name(),
            Self::Classical(algorithm) => algorithm.name(),
            Self::Agreement(algorithm) => algorithm.name(),
        }
    }

    /// Whether it is safe against quantum computers, as half of a composite is.
    pub fn is_post_quantum(self) -> bool {
        !matches!(self, Self::Classical(_) | Self::Agreement(_))
    }
}

impl fmt::Display for AnyAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

macro_rules! from {
    ($($algorithm:ident: $variant:ident),+) => {$(
        impl From<$algorithm> for AnyAlgorithm {
            fn from(algorithm: $algorithm) -> Self {
                Self::$variant(algorithm.into())
            }
        }
    )+};
}
from!(
    Algorithm: PostQuantum,
    SignatureAlgorithm: PostQuantum,
    KemAlgorithm: PostQuantum,
    CompositeAlgorithm: Composite,
    ClassicalAlgorithm: Classical,
    AgreementAlgorithm: Agreement
);

impl From<AnyAlgorithm> for KeyAlgorithm {
    fn from(algorithm: AnyAlgorithm) -> Self {
        match algorithm {
            AnyAlgorithm::PostQuantum(algorithm) => algorithm.into(),
            AnyAlgorithm::XWing => Self::XWing,
            AnyAlgorithm::Composite(algorithm) => algorithm.into(),
            AnyAlgorithm::Classical(algorithm) => algorithm.into(),
            AnyAlgorithm::Agreement(AgreementAlgorithm::EcdhP256) => Self::EcdsaP256,
            AnyAlgorithm::Agreement(AgreementAlgorithm::EcdhP384) => Self::EcdsaP384,
            AnyAlgorithm::Agreement(AgreementAlgorithm::X25519) => Self::X25519,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_has_a_name_of_its_own() {
        for algorithm in AnyAlgorithm::all() {
            let lower = algorithm.name().to_lowercase();
            assert_eq!(AnyAlgorithm::named(&lower), Some(algorithm));
        }
        assert_eq!(AnyAlgorithm::named("ML-KEM"), None);
    }

    #[test]
    fn both_lists_say_the_same() {
        for algorithm in AnyAlgorithm::all() {
            let listed = KeyAlgorithm::from(algorithm);
            assert_eq!(listed.to_string(), algorithm.name());
            assert_eq!(
                listed.is_post_quantum(),
                algorithm.is_post_quantum(),
                "{algorithm}"
            );
        }
    }
}
