//! All algorithms of keys under one type, and their names: post-quantum, X-Wing, composite and classical.

use core::fmt;

use rustls_pq::classical::ClassicalAlgorithm;
use rustls_pq::composite::CompositeAlgorithm;

/// The algorithm of a key, as users name it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Algorithm {
    PostQuantum(pq_x509::Algorithm),
    /// ML-KEM-768 and X25519 at once, for files.
    XWing,
    /// ML-DSA and a classical algorithm at once.
    Composite(CompositeAlgorithm),
    /// Not safe against quantum computers.
    Classical(ClassicalAlgorithm),
}

impl Algorithm {
    /// The post-quantum ones first, then the hybrid and the composite ones.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let post_quantum = pq_x509::Algorithm::ALL.iter().copied();
        let classical = ClassicalAlgorithm::ALL.iter().copied();
        let composite = CompositeAlgorithm::ALL.iter().copied();
        post_quantum
            .map(Self::PostQuantum)
            .chain([Self::XWing])
            .chain(composite.map(Self::Composite))
            .chain(classical.map(Self::Classical))
    }

    /// The algorithm with this name, in upper or lower case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::all().find(|algorithm| algorithm.name().eq_ignore_ascii_case(name))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::PostQuantum(algorithm) => algorithm.name(),
            Self::XWing => pq_hpke::Kem::XWing.name(),
            Self::Composite(algorithm) => algorithm.name(),
            Self::Classical(algorithm) => algorithm.name(),
        }
    }

    /// Whether it is safe against quantum computers, as half of a composite is.
    pub(crate) fn is_post_quantum(self) -> bool {
        !matches!(self, Self::Classical(_))
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
