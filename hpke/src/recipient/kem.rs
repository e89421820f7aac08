//! The KEMs of HPKE with their numbers, names and lengths.

use core::fmt;

use pq_keys::KemAlgorithm;

use pq_keys::x_wing;

/// A key-encapsulation mechanism of HPKE (RFC 9180, section 7.1; draft-ietf-hpke-pq, sections 3 and 4).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Kem {
    /// ML-KEM-512.
    MlKem512,
    /// ML-KEM-768.
    MlKem768,
    /// ML-KEM-1024.
    MlKem1024,
    /// X-Wing: ML-KEM-768 and X25519 at once. An attacker has to break both.
    XWing,
    /// DHKEM(P-256, HKDF-SHA256), for protocols that ask for it: no protection against quantum computers. Its keys need
    /// the feature `classical`.
    DhP256,
    /// DHKEM(X25519, HKDF-SHA256), for protocols that ask for it, such as Encrypted ClientHello: no protection against
    /// quantum computers.
    DhX25519,
}

impl Kem {
    /// All KEMs of this crate.
    pub const ALL: &'static [Self] = &[
        Self::MlKem512,
        Self::MlKem768,
        Self::MlKem1024,
        Self::XWing,
        Self::DhP256,
        Self::DhX25519,
    ];

    /// Its number in HPKE.
    pub const fn id(self) -> u16 {
        match self {
            Self::MlKem512 => 0x40,
            Self::MlKem768 => 0x41,
            Self::MlKem1024 => 0x42,
            Self::XWing => 0x647a,
            Self::DhP256 => 0x10,
            Self::DhX25519 => 0x20,
        }
    }

    /// The KEM with this number, if it is known here.
    pub fn from_id(id: u16) -> Option<Self> {
        Self::ALL.iter().copied().find(|kem| kem.id() == id)
    }

    /// The usual name, such as `ML-KEM-768`.
    pub fn name(self) -> &'static str {
        match self {
            Self::MlKem512 => KemAlgorithm::MlKem512.name(),
            Self::MlKem768 => KemAlgorithm::MlKem768.name(),
            Self::MlKem1024 => KemAlgorithm::MlKem1024.name(),
            Self::XWing => x_wing::NAME,
            Self::DhP256 => "DHKEM(P-256, HKDF-SHA256)",
            Self::DhX25519 => "DHKEM(X25519, HKDF-SHA256)",
        }
    }

    /// Nenc: length of an encapsulated secret, in bytes.
    pub fn enc_len(self) -> usize {
        match self {
            Self::MlKem512 => KemAlgorithm::MlKem512.ciphertext_len(),
            Self::MlKem768 => KemAlgorithm::MlKem768.ciphertext_len(),
            Self::MlKem1024 => KemAlgorithm::MlKem1024.ciphertext_len(),
            Self::XWing => x_wing::CIPHERTEXT_LEN,
            Self::DhP256 => 65,
            Self::DhX25519 => 32,
        }
    }

    pub(super) fn ml_kem(self) -> Option<KemAlgorithm> {
        match self {
            Self::MlKem512 => Some(KemAlgorithm::MlKem512),
            Self::MlKem768 => Some(KemAlgorithm::MlKem768),
            Self::MlKem1024 => Some(KemAlgorithm::MlKem1024),
            Self::XWing | Self::DhP256 | Self::DhX25519 => None,
        }
    }

    pub(super) fn of_ml_kem(algorithm: KemAlgorithm) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|kem| kem.ml_kem() == Some(algorithm))
    }
}

impl fmt::Display for Kem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
