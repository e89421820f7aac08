//! The order of algorithms by strength, for the choice among chains: any post-quantum algorithm is above every
//! classical one.

use pq_x509::keys::SignatureAlgorithm;

/// How hard a signature is to forge.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Strength {
    /// In bits, against attackers without a quantum computer.
    Classical(u16),
    /// NIST's security category, against all attackers.
    PostQuantum(u8),
}

impl Strength {
    pub(crate) const NONE: Self = Self::Classical(0);

    pub(super) fn of(algorithm: SignatureAlgorithm) -> Self {
        Self::PostQuantum(algorithm.security_category())
    }
}
