//! What a transform has to know of a ring.

use super::twiddles::Tables;
use crate::arch::{Backend, Coefficients};

/// A ring ℤ_q\[X\]/(X²⁵⁶ + 1) and its transform.
pub(crate) trait Ring: 'static {
    /// Signed, of 16 or 32 bits; R = 2^bits is the Montgomery radix.
    type Element: Copy + Into<i64>;
    /// The vectors of a CPU that hold such elements.
    type Vectors<B: Backend>: Coefficients<Element = Self::Element, Token = B>;

    /// The modulus.
    const Q: Self::Element;
    /// The length of the last forward layer: 2 or 1.
    const LAST_LEN: usize;
    /// The factors in the form that [`product`](Self::product) takes.
    const TABLES: Tables<Self::Element>;
    /// The same for vectors with [`ROUNDS`](Coefficients::ROUNDS), if `product` takes these.
    const ROUNDED_TABLES: Tables<Self::Element>;
    /// Multiples of q below which the forward transform keeps its output.
    const FORWARD_BOUND: i64;
    /// Lengths of the inverse layers whose sums are reduced lest the next
    /// layers overflow.
    const REDUCED_INVERSE_LAYERS: &'static [usize];

    /// x · c mod q for a twiddle factor c, below 5/4 q by magnitude for any x, and in the
    /// forward transform, where |x| is below 10q, below 1.01 q.
    fn product<V: Coefficients<Element = Self::Element>>(
        x: V,
        factor: V,
        factor_over_q: V,
        q: V,
    ) -> V;

    /// A representative that leaves room for what follows: for ML-KEM in 0 ..= q,
    /// for ML-DSA, which has room, the same.
    fn reduce<V: Coefficients<Element = Self::Element>>(token: V::Token, v: V) -> V;
}

/// |x| ≤ `bound` · q for all coefficients.
pub(crate) fn within<R: Ring>(f: &[R::Element; 256], bound: i64) -> bool {
    let q: i64 = R::Q.into();
    f.iter().all(|&x| x.into().abs() <= bound * q)
}

/// The factors in the form that a ring has for these vectors.
#[inline(always)]
pub(super) fn tables<R: Ring, V: Coefficients<Element = R::Element>>() -> &'static Tables<R::Element>
{
    if V::ROUNDS {
        &R::ROUNDED_TABLES
    } else {
        &R::TABLES
    }
}

/// A ring, its constants computed from q and ζ; `twiddles` are the functions that give the
/// factors the form that its `product` takes, and `rounded` those for vectors with `ROUNDS`.
macro_rules! ring {
    (
        $(#[$doc:meta])*
        $name:ident, $element:ty, $vectors:ident,
        q: $q:literal, zeta: $zeta:literal, last_len: $last_len:literal,
        twiddles: $factors:path, $factors_over_q:path,
        rounded: $rounded:path, $rounded_over_q:path,
        $($rest:item)*
    ) => {
        $(#[$doc])*
        pub(crate) enum $name {}

        impl $name {
            /// ζ^BitRev(k) mod q
            pub(crate) const POWERS: [i64; 256] = powers($q, $zeta, 256 / $last_len);

            /// As `Tables::inverse_scales`, mod q.
            const INVERSE_SCALES_MOD_Q: [i64; 2] = {
                let scale = inverse_scale($q, 256 / $last_len, <$element>::BITS);
                [scale, scale * Self::POWERS[1] % $q]
            };

            /// c · R mod± q for each of `constants`
            pub(crate) const fn factors<const N: usize>(constants: [i64; N]) -> [$element; N] {
                let mut factors = [0; N];
                let mut i = 0;
                while i < N {
                    let c = (constants[i] << <$element>::BITS) % $q;
                    factors[i] = (if c > $q / 2 { c - $q } else { c }) as $element;
                    i += 1;
                }
                factors
            }

            /// c · R · q⁻¹ mod± R for each of `constants`
            pub(crate) const fn factors_over_q<const N: usize>(constants: [i64; N]) -> [$element; N] {
                let mut factors = Self::factors(constants);
                // Newton's iteration doubles the correct low bits of q⁻¹, of which
                // q itself has three.
                const TWO: $element = 2;
                let mut inverse: $element = $q;
                while inverse.wrapping_mul($q) != 1 {
                    inverse = inverse.wrapping_mul(TWO.wrapping_sub(inverse.wrapping_mul($q)));
                }
                let mut i = 0;
                while i < N {
                    factors[i] = factors[i].wrapping_mul(inverse);
                    i += 1;
                }
                factors
            }
        }

        impl Ring for $name {
            type Element = $element;
            type Vectors<B: Backend> = B::$vectors;

            const Q: $element = $q;
            const LAST_LEN: usize = $last_len;
            const TABLES: Tables<$element> = ring!(
                @tables $factors, $factors_over_q, Self::factors, Self::factors_over_q
            );
            const ROUNDED_TABLES: Tables<$element> = ring!(
                @tables $rounded, $rounded_over_q, $rounded, $rounded_over_q
            );

            $($rest)*
        }
    };
    (@tables $factors:path, $factors_over_q:path, $scales:path, $scales_over_q:path) => {
        Tables {
            powers: Twiddles {
                factors: &const { $factors(Self::POWERS) },
                factors_over_q: &const { $factors_over_q(Self::POWERS) },
            },
            lanes: ring!(@lanes true, $factors, $factors_over_q, 1, 2, 4, 8, 16),
            inverse_lanes: ring!(@lanes false, $factors, $factors_over_q, 1, 2, 4, 8, 16),
            inverse_scales: Twiddles {
                factors: &const { $scales(Self::INVERSE_SCALES_MOD_Q) },
                factors_over_q: &const { $scales_over_q(Self::INVERSE_SCALES_MOD_Q) },
            },
        }
    };
    (@lanes $forward:literal, $factors:path, $factors_over_q:path, $($len:literal),*) => {
        [$(Twiddles {
            factors: &const { $factors(spread(&Self::POWERS, $len, $forward)) },
            factors_over_q: &const { $factors_over_q(spread(&Self::POWERS, $len, $forward)) },
        }),*]
    };
}
pub(super) use ring;
