//! The three parameter sets of ML-KEM (FIPS 203, section 8), and the lengths of keys and ciphertexts that follow from
//! their numbers.

use core::fmt::Debug;

use zeroize::Zeroize;

use super::instances::Instances;
use crate::dimension::{Dim, Dimension};
use crate::sealed::Sealed;

/// A parameter set of FIPS 203, section 8.
///
/// Sealed: only the standard's three sets implement it.
pub trait ParameterSet: Instances + Sealed + Copy + Debug + Eq + Send + Sync + 'static {
    /// The standard's name, such as `ML-KEM-768`.
    const NAME: &'static str;
    /// Length of an encapsulation key in bytes, 384k + 32.
    const ENCAPSULATION_KEY_LEN: usize = Self::EncapsulationKeyLen::N;
    /// Length of an expanded decapsulation key in bytes, 768k + 96.
    const DECAPSULATION_KEY_LEN: usize = Self::DecapsulationKeyLen::N;
    /// Length of a ciphertext in bytes, 32(dᵤk + dᵥ).
    const CIPHERTEXT_LEN: usize = Self::CiphertextLen::N;
    /// η₁, the width of the noise in keys and in **y**.
    const ETA1: usize;
    /// dᵤ, bits of a coefficient of **u** in a ciphertext.
    const DU: usize;
    /// dᵥ, bits of a coefficient of v in a ciphertext.
    const DV: usize;

    /// k, the rank of the module.
    type K: Dimension;
    /// [`ENCAPSULATION_KEY_LEN`](Self::ENCAPSULATION_KEY_LEN) as a type.
    type EncapsulationKeyLen: Dimension;
    /// [`DECAPSULATION_KEY_LEN`](Self::DECAPSULATION_KEY_LEN) as a type.
    type DecapsulationKeyLen: Dimension<Of<u8>: Zeroize>;
    /// [`CIPHERTEXT_LEN`](Self::CIPHERTEXT_LEN) as a type.
    type CiphertextLen: Dimension;
}

/// η₂, the width of the noise in ciphertexts, in every set.
pub(super) const ETA2: usize = 2;

macro_rules! parameter_set {
    (
        $(#[$doc:meta])*
        $set:ident, $name:literal,
        k: $k:literal, eta1: $eta1:literal, du: $du:literal, dv: $dv:literal
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub struct $set;

        impl Sealed for $set {}

        impl ParameterSet for $set {
            const NAME: &'static str = $name;
            const ETA1: usize = $eta1;
            const DU: usize = $du;
            const DV: usize = $dv;

            type K = Dim<$k>;
            type EncapsulationKeyLen = Dim<{ 384 * $k + 32 }>;
            type DecapsulationKeyLen = Dim<{ 768 * $k + 96 }>;
            type CiphertextLen = Dim<{ 32 * ($du * $k + $dv) }>;
        }
    };
}

parameter_set! {
    /// ML-KEM-512, security category 1.
    MlKem512, "ML-KEM-512", k: 2, eta1: 3, du: 10, dv: 4
}

parameter_set! {
    /// ML-KEM-768, security category 3; choose it unless you have a reason for another set.
    MlKem768, "ML-KEM-768", k: 3, eta1: 2, du: 10, dv: 4
}

parameter_set! {
    /// ML-KEM-1024, security category 5.
    MlKem1024, "ML-KEM-1024", k: 4, eta1: 2, du: 11, dv: 5
}
