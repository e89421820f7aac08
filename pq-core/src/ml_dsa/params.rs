//! The three parameter sets of ML-DSA (FIPS 204, section 4), and the lengths that follow from their numbers.
//! `match_constant!` passes these numbers to kernels.

use core::fmt::Debug;

use zeroize::Zeroize;

use super::instances::Instances;
use crate::dimension::{Dim, Dimension};
use crate::kernel::ml_dsa::rounding::{GAMMA2_44, GAMMA2_65_87};
use crate::sealed::Sealed;

/// A parameter set of FIPS 204, section 4.
///
/// Sealed: only the standard's three sets implement it.
pub trait ParameterSet: Instances + Sealed + Copy + Debug + Eq + Send + Sync + 'static {
    /// The standard's name, such as `ML-DSA-65`.
    const NAME: &'static str;
    /// Length of a verifying key in bytes, 32 + 320k.
    const VERIFYING_KEY_LEN: usize = Self::VerifyingKeyLen::N;
    /// Length of an expanded signing key in bytes, 128 + 32((k + ℓ) · bitlen 2η + 13k).
    const SIGNING_KEY_LEN: usize = Self::SigningKeyLen::N;
    /// Length of a signature in bytes, λ/4 + 32ℓ(1 + bitlen(γ₁ − 1)) + ω + k.
    const SIGNATURE_LEN: usize = Self::SignatureLen::N;
    /// λ, the collision strength of c̃ in bits.
    const LAMBDA: usize;
    /// τ, the number of coefficients of c that are not zero.
    const TAU: usize;
    /// η, the largest magnitude of a coefficient of **s**₁ and **s**₂.
    const ETA: i32;
    /// γ₁, the largest magnitude of a coefficient of **y**.
    const GAMMA1: i32;
    /// γ₂, half the width of the intervals to which **w** is rounded.
    const GAMMA2: i32;
    /// β = τη, the largest magnitude of a coefficient of c**s**₁ and c**s**₂.
    const BETA: i32 = Self::TAU as i32 * Self::ETA;
    /// ω, the largest number of ones in a hint.
    const OMEGA: usize;

    /// k, the number of rows of **A**.
    type K: Dimension;
    /// ℓ, the number of columns of **A**.
    type L: Dimension;
    /// k · ℓ, the number of entries of **A**.
    type Entries: Dimension;
    /// [`VERIFYING_KEY_LEN`](Self::VERIFYING_KEY_LEN) as a type.
    type VerifyingKeyLen: Dimension;
    /// [`SIGNING_KEY_LEN`](Self::SIGNING_KEY_LEN) as a type.
    type SigningKeyLen: Dimension<Of<u8>: Zeroize>;
    /// [`SIGNATURE_LEN`](Self::SIGNATURE_LEN) as a type.
    type SignatureLen: Dimension;
}

/// Chooses by a constant of the parameter set, which must have one of two values: any other does
/// not compile. Kernels take such constants as const generics, and Rust cannot pass them the
/// constants of a generic parameter set.
macro_rules! match_constant {
    ($constant:expr => { $a:pat => $with_a:expr, $b:pat => $with_b:expr, }) => {{
        const { assert!(matches!($constant, $a | $b), "no kernel for this parameter") };
        if let $a = $constant { $with_a } else { $with_b }
    }};
}
pub(super) use match_constant;

macro_rules! parameter_set {
    (
        $(#[$doc:meta])*
        $set:ident, $name:literal,
        k: $k:literal, l: $l:literal, lambda: $lambda:literal, tau: $tau:literal,
        eta: $eta:literal, gamma1_bits: $gamma1_bits:literal, gamma2: $gamma2:expr,
        omega: $omega:literal
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub struct $set;

        impl Sealed for $set {}

        impl ParameterSet for $set {
            const NAME: &'static str = $name;
            const LAMBDA: usize = $lambda;
            const TAU: usize = $tau;
            const ETA: i32 = $eta;
            const GAMMA1: i32 = 1 << $gamma1_bits;
            const GAMMA2: i32 = $gamma2;
            const OMEGA: usize = $omega;

            type K = Dim<$k>;
            type L = Dim<$l>;
            type Entries = Dim<{ $k * $l }>;
            type VerifyingKeyLen = Dim<{ 32 + 320 * $k }>;
            type SigningKeyLen =
                Dim<{ 128 + 32 * (($k + $l) * (usize::ilog2(2 * $eta) as usize + 1) + 13 * $k) }>;
            type SignatureLen =
                Dim<{ $lambda / 4 + 32 * $l * (1 + $gamma1_bits) + $omega + $k }>;
        }
    };
}

parameter_set! {
    /// ML-DSA-44, security category 2.
    MlDsa44, "ML-DSA-44",
    k: 4, l: 4, lambda: 128, tau: 39, eta: 2, gamma1_bits: 17, gamma2: GAMMA2_44, omega: 80
}

parameter_set! {
    /// ML-DSA-65, security category 3; choose it unless you have a reason for another set.
    MlDsa65, "ML-DSA-65",
    k: 6, l: 5, lambda: 192, tau: 49, eta: 4, gamma1_bits: 19, gamma2: GAMMA2_65_87, omega: 55
}

parameter_set! {
    /// ML-DSA-87, security category 5.
    MlDsa87, "ML-DSA-87",
    k: 8, l: 7, lambda: 256, tau: 60, eta: 2, gamma1_bits: 19, gamma2: GAMMA2_65_87, omega: 75
}
