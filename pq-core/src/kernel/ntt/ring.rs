//! What a transform has to know of a ring.

use super::twiddles::Twiddles;
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
    /// ζ^BitRev(k) for every k, 0 < k < 256 / `LAST_LEN`, in the form that
    /// [`product`](Self::product) takes, as those of single layers.
    const TWIDDLES: Twiddles<Self::Element>;
    /// For the layers of length 1, 2, 4, 8 and 16, the factor of each of their
    /// 128 pairs, in the forward transform's order.
    const LANE_TWIDDLES: [Twiddles<Self::Element>; 5];
    /// The same in the inverse transform's order.
    const INVERSE_LANE_TWIDDLES: [Twiddles<Self::Element>; 5];
    /// R / (256 / `LAST_LEN`), which undoes the growth of the inverse transform and the R⁻¹
    /// that the multiplication before it left; and the same times the factor of its last
    /// layer. For Montgomery products.
    const INVERSE_SCALES: Twiddles<Self::Element>;
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

/// A ring, its constants computed from q and ζ; `twiddles` are the functions that give the
/// factors the form that its `product` takes.
macro_rules! ring {
    (
        $(#[$doc:meta])*
        $name:ident, $element:ty, $vectors:ident,
        q: $q:literal, zeta: $zeta:literal, last_len: $last_len:literal,
        twiddles: $factors:path, $factors_over_q:path,
        $($rest:item)*
    ) => {
        $(#[$doc])*
        pub(crate) enum $name {}

        impl $name {
            /// ζ^BitRev(k) mod q
            pub(crate) const POWERS: [i64; 256] = powers($q, $zeta, 256 / $last_len);

            /// As [`Ring::INVERSE_SCALES`], mod q.
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
            const TWIDDLES: Twiddles<$element> = Twiddles {
                factors: &const { $factors(Self::POWERS) },
                factors_over_q: &const { $factors_over_q(Self::POWERS) },
            };
            const LANE_TWIDDLES: [Twiddles<$element>; 5] =
                ring!(@lane_twiddles true, $factors, $factors_over_q, 1, 2, 4, 8, 16);
            const INVERSE_LANE_TWIDDLES: [Twiddles<$element>; 5] =
                ring!(@lane_twiddles false, $factors, $factors_over_q, 1, 2, 4, 8, 16);
            const INVERSE_SCALES: Twiddles<$element> = Twiddles {
                factors: &const { Self::factors(Self::INVERSE_SCALES_MOD_Q) },
                factors_over_q: &const { Self::factors_over_q(Self::INVERSE_SCALES_MOD_Q) },
            };
            $($rest)*
        }
    };
    (@lane_twiddles $forward:literal, $factors:path, $factors_over_q:path, $($len:literal),*) => {
        [$(Twiddles {
            factors: &const { $factors(spread(&Self::POWERS, $len, $forward)) },
            factors_over_q: &const { $factors_over_q(spread(&Self::POWERS, $len, $forward)) },
        }),*]
    };
}
pub(super) use ring;
