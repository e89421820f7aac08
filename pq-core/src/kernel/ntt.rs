//! The number-theoretic transforms of both standards (FIPS 203, algorithms 9 and
//! 10; FIPS 204, algorithms 41 and 42), written once.
//!
//! A layer of length `LEN` pairs coefficients `LEN` apart. Where a vector is no
//! longer than `LEN` it pairs whole vectors, and one twiddle factor serves all lanes.
//! Below that, the lanes of two neighbouring vectors are sorted into first and second
//! halves of the pairs and back, and the factors come from a table with one for
//! each pair. With one lane that never happens.
//!
//! Coefficients stay in the standards' order throughout.

use crate::arch::{Backend, Coefficients, Kernel, Vector};

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
    /// ζ^BitRev(k) for every k, 0 < k < 256 / `LAST_LEN`.
    const TWIDDLES: Twiddles<Self::Element>;
    /// For the layers of length 1, 2, 4, 8 and 16, the factor of each of their
    /// 128 pairs, in the forward transform's order.
    const LANE_TWIDDLES: [Twiddles<Self::Element>; 5];
    /// The same in the inverse transform's order.
    const INVERSE_LANE_TWIDDLES: [Twiddles<Self::Element>; 5];
    /// R / (256 / `LAST_LEN`): undoes the growth of the inverse transform, and
    /// the R⁻¹ that the multiplication before it left.
    const INVERSE_SCALE: Twiddles<Self::Element>;
    /// Multiples of q below which the forward transform keeps its output.
    const FORWARD_BOUND: i64;
    /// Lengths of the inverse layers whose sums are reduced lest the next
    /// layers overflow.
    const REDUCED_INVERSE_LAYERS: &'static [usize];

    /// A representative that leaves room for what follows: for ML-KEM in 0 ..= q,
    /// for ML-DSA, which has room, the same.
    fn reduce<V: Coefficients<Element = Self::Element>>(token: V::Token, v: V) -> V;
}

/// Constant factors cᵢ of Montgomery products.
pub(crate) struct Twiddles<T: 'static> {
    /// cᵢ · R mod± q
    pub(crate) factors: &'static [T],
    /// cᵢ · R · q⁻¹ mod± R
    pub(crate) factors_over_q: &'static [T],
}

/// The forward transform, in place.
///
/// Takes |x| ≤ q. Gives 0 ≤ x ≤ q for ML-KEM, |x| < 9q for ML-DSA.
pub(crate) struct Ntt<'a, R: Ring>(pub(crate) &'a mut [R::Element; 256]);

impl<B: Backend, R: Ring> Kernel<B> for Ntt<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        let f = self.0;
        debug_assert!(within::<R>(f, 1));
        forward_layer::<R, R::Vectors<B>, 128>(b, f);
        forward_layer::<R, R::Vectors<B>, 64>(b, f);
        forward_layer::<R, R::Vectors<B>, 32>(b, f);
        forward_layer::<R, R::Vectors<B>, 16>(b, f);
        forward_layer::<R, R::Vectors<B>, 8>(b, f);
        forward_layer::<R, R::Vectors<B>, 4>(b, f);
        forward_layer::<R, R::Vectors<B>, 2>(b, f);
        forward_layer::<R, R::Vectors<B>, 1>(b, f);
        for x in R::Vectors::<B>::chunks_mut(f) {
            R::reduce(b, R::Vectors::<B>::load(b, x)).store(x);
        }
        debug_assert!(within::<R>(f, R::FORWARD_BOUND));
    }
}

/// The inverse transform, in place, times R.
///
/// Takes |x| ≤ q, gives |x| < q.
pub(crate) struct InverseNtt<'a, R: Ring>(pub(crate) &'a mut [R::Element; 256]);

impl<B: Backend, R: Ring> Kernel<B> for InverseNtt<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        let f = self.0;
        debug_assert!(within::<R>(f, 1));
        inverse_layer::<R, R::Vectors<B>, 1>(b, f);
        inverse_layer::<R, R::Vectors<B>, 2>(b, f);
        inverse_layer::<R, R::Vectors<B>, 4>(b, f);
        inverse_layer::<R, R::Vectors<B>, 8>(b, f);
        inverse_layer::<R, R::Vectors<B>, 16>(b, f);
        inverse_layer::<R, R::Vectors<B>, 32>(b, f);
        inverse_layer::<R, R::Vectors<B>, 64>(b, f);
        inverse_layer::<R, R::Vectors<B>, 128>(b, f);
        let q = R::Vectors::<B>::splat(b, R::Q);
        let scale = R::Vectors::<B>::splat(b, R::INVERSE_SCALE.factors[0]);
        let scale_over_q = R::Vectors::<B>::splat(b, R::INVERSE_SCALE.factors_over_q[0]);
        for x in R::Vectors::<B>::chunks_mut(f) {
            R::Vectors::<B>::load(b, x)
                .montgomery_product(scale, scale_over_q, q)
                .store(x);
        }
        debug_assert!(within::<R>(f, 1));
    }
}

/// (a, b) ← (a + zb, a − zb); each layer adds less than q to the bound.
#[inline(always)]
fn forward_layer<R: Ring, V: Coefficients<Element = R::Element>, const LEN: usize>(
    token: V::Token,
    f: &mut [R::Element; 256],
) {
    let q = V::splat(token, R::Q);
    layer::<R, V, LEN>(token, f, true, |a, b, z, z_over_q| {
        let t = b.montgomery_product(z, z_over_q, q);
        (a.add(t), a.sub(t))
    });
}

/// (a, b) ← (a + b, z(b − a)); each layer doubles the bound of the sums, from q:
/// 8q fits 16 bits, 256q fits 32.
#[inline(always)]
fn inverse_layer<R: Ring, V: Coefficients<Element = R::Element>, const LEN: usize>(
    token: V::Token,
    f: &mut [R::Element; 256],
) {
    let q = V::splat(token, R::Q);
    layer::<R, V, LEN>(token, f, false, |a, b, z, z_over_q| {
        let mut sum = a.add(b);
        if R::REDUCED_INVERSE_LAYERS.contains(&LEN) {
            sum = R::reduce(token, sum);
        }
        (sum, b.sub(a).montgomery_product(z, z_over_q, q))
    });
}

/// Applies `butterfly` to every pair of coefficients `LEN` apart and its factor.
///
/// The forward transform takes the factors of a layer in ascending order, its
/// inverse in descending order: ζ^BitRev(k) · ζ^BitRev(k') = −1 for the k'th factor
/// from the end of a layer, and b − a makes up for the sign.
#[inline(always)]
fn layer<R: Ring, V: Coefficients<Element = R::Element>, const LEN: usize>(
    token: V::Token,
    f: &mut [R::Element; 256],
    forward: bool,
    butterfly: impl Fn(V, V, V, V) -> (V, V),
) {
    if LEN < R::LAST_LEN {
        return;
    }
    if LEN >= V::LANES {
        let blocks = 128 / LEN;
        for (i, block) in f.chunks_exact_mut(2 * LEN).enumerate() {
            let k = if forward {
                blocks + i
            } else {
                2 * blocks - 1 - i
            };
            let z = V::splat(token, R::TWIDDLES.factors[k]);
            let z_over_q = V::splat(token, R::TWIDDLES.factors_over_q[k]);
            let (low, high) = block.split_at_mut(LEN);
            for (x, y) in V::chunks_mut(low).iter_mut().zip(V::chunks_mut(high)) {
                let (a, b) = butterfly(V::load(token, x), V::load(token, y), z, z_over_q);
                a.store(x);
                b.store(y);
            }
        }
    } else {
        let tables = if forward {
            &R::LANE_TWIDDLES
        } else {
            &R::INVERSE_LANE_TWIDDLES
        };
        let table = &tables[LEN.ilog2() as usize];
        let factors = V::chunks(table.factors).iter();
        let factors = factors.zip(V::chunks(table.factors_over_q));
        for (vectors, (z, z_over_q)) in f.chunks_exact_mut(2 * V::LANES).zip(factors) {
            let (low, high) = vectors.split_at_mut(V::LANES);
            for (x, y) in V::chunks_mut(low).iter_mut().zip(V::chunks_mut(high)) {
                let (a, b) = V::deinterleave::<LEN>(V::load(token, x), V::load(token, y));
                let (a, b) = butterfly(a, b, V::load(token, z), V::load(token, z_over_q));
                let (a, b) = V::interleave::<LEN>(a, b);
                a.store(x);
                b.store(y);
            }
        }
    }
}

/// |x| ≤ `bound` · q for all coefficients.
pub(crate) fn within<R: Ring>(f: &[R::Element; 256], bound: i64) -> bool {
    let q: i64 = R::Q.into();
    f.iter().all(|&x| x.into().abs() <= bound * q)
}

macro_rules! ring {
    (
        $(#[$doc:meta])*
        $name:ident, $element:ty, $vectors:ident,
        q: $q:literal, zeta: $zeta:literal, last_len: $last_len:literal,
        $($rest:item)*
    ) => {
        $(#[$doc])*
        pub(crate) enum $name {}

        impl $name {
            /// ζ^BitRev(k) mod q
            pub(crate) const POWERS: [i64; 256] = powers($q, $zeta, 256 / $last_len);

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
                factors: &const { Self::factors(Self::POWERS) },
                factors_over_q: &const { Self::factors_over_q(Self::POWERS) },
            };
            const LANE_TWIDDLES: [Twiddles<$element>; 5] =
                ring!(@lane_twiddles true, 1, 2, 4, 8, 16);
            const INVERSE_LANE_TWIDDLES: [Twiddles<$element>; 5] =
                ring!(@lane_twiddles false, 1, 2, 4, 8, 16);
            const INVERSE_SCALE: Twiddles<$element> = Twiddles {
                factors: &const { Self::factors([inverse_scale($q, 256 / $last_len, <$element>::BITS)]) },
                factors_over_q: &const { Self::factors_over_q([inverse_scale($q, 256 / $last_len, <$element>::BITS)]) },
            };
            $($rest)*
        }
    };
    (@lane_twiddles $forward:literal, $($len:literal),*) => {
        [$(Twiddles {
            factors: &const { Self::factors(spread(&Self::POWERS, $len, $forward)) },
            factors_over_q: &const { Self::factors_over_q(spread(&Self::POWERS, $len, $forward)) },
        }),*]
    };
}

ring! {
    /// ML-KEM: q = 3329, ζ = 17, seven layers.
    Q3329, i16, I16s,
    q: 3329, zeta: 17, last_len: 2,

    const FORWARD_BOUND: i64 = 1;
    // From q, three doublings reach 8q = 26632 < 2¹⁵.
    const REDUCED_INVERSE_LAYERS: &'static [usize] = &[8, 64];

    /// Barrett: x − ⌊x · 20159 / 2²⁶⌋ · q, for |x| ≤ 8q.
    #[inline(always)]
    fn reduce<V: Coefficients<Element = i16>>(token: V::Token, v: V) -> V {
        let quotient = v
            .mul_high(V::splat(token, 20159 /* round(2^26 / q) */))
            .shift_right::<10>();
        v.sub(quotient.mul_low(V::splat(token, Self::Q)))
    }
}

ring! {
    /// ML-DSA: q = 8380417, ζ = 1753, eight layers.
    Q8380417, i32, I32s,
    q: 8380417, zeta: 1753, last_len: 1,

    const FORWARD_BOUND: i64 = 9;
    // From q, eight doublings reach 256q = 2145386752 < 2³¹.
    const REDUCED_INVERSE_LAYERS: &'static [usize] = &[];

    #[inline(always)]
    fn reduce<V: Coefficients<Element = i32>>(_: V::Token, v: V) -> V {
        v
    }
}

/// ζ^BitRev(k) mod q for 0 ≤ k < n, where BitRev reverses log₂ n bits.
const fn powers(q: i64, zeta: i64, n: usize) -> [i64; 256] {
    let mut powers = [0; 256];
    let mut power = 1;
    let mut exponent: usize = 0;
    while exponent < n {
        powers[exponent.reverse_bits() >> (usize::BITS - n.ilog2())] = power;
        power = power * zeta % q;
        exponent += 1;
    }
    powers
}

/// The power for each of the 128 pairs of the layer of length `len`.
const fn spread(powers: &[i64; 256], len: usize, forward: bool) -> [i64; 128] {
    let blocks = 128 / len;
    let mut spread = [0; 128];
    let mut pair = 0;
    while pair < 128 {
        let block = pair / len;
        spread[pair] = powers[if forward {
            blocks + block
        } else {
            2 * blocks - 1 - block
        }];
        pair += 1;
    }
    spread
}

/// R / n mod q for n that divides q − 1: −(q − 1) / n is the inverse of n.
const fn inverse_scale(q: i64, n: i64, bits: u32) -> i64 {
    (1 << bits) % q * (q - (q - 1) / n) % q
}

#[cfg(test)]
mod tests {
    use super::{InverseNtt, Ntt, Q3329, Q8380417, Ring, within};
    use crate::arch::{Backend, Portable, on_each_backend};
    use crate::test_random::Random;

    /// The transforms of the standards, with `%`.
    fn textbook_ntt<R: Ring>(f: &mut [i64; 256], zeta: i64) {
        let q: i64 = R::Q.into();
        let mut k = 0;
        let mut len = 128;
        while len >= R::LAST_LEN {
            for start in (0..256).step_by(2 * len) {
                k += 1;
                let z = textbook_power(zeta, bit_reversed(k, 256 / R::LAST_LEN), q);
                for j in start..start + len {
                    let t = z * f[j + len] % q;
                    f[j + len] = (f[j] - t).rem_euclid(q);
                    f[j] = (f[j] + t).rem_euclid(q);
                }
            }
            len /= 2;
        }
    }

    fn textbook_power(base: i64, exponent: usize, q: i64) -> i64 {
        (0..exponent).fold(1, |power, _| power * base % q)
    }

    fn bit_reversed(k: usize, n: usize) -> usize {
        k.reverse_bits() >> (usize::BITS - n.ilog2())
    }

    fn inputs<R: Ring>() -> impl Iterator<Item = [i64; 256]> {
        let q: i64 = R::Q.into();
        let limit = q as i32;
        let mut random = Random::new(1);
        let random = move |_: usize| core::array::from_fn(|_| i64::from(random.within(limit)));
        // The edges of the contract first: they show an overflow if there is one.
        [[q; 256], [-q; 256], [0; 256]]
            .into_iter()
            .chain(
                (0..2).map(move |odd| core::array::from_fn(|i| if i % 2 == odd { q } else { -q })),
            )
            .chain((0..200).map(random))
    }

    fn forward_matches_textbook<B: Backend, R: Ring>(b: B, zeta: i64)
    where
        R::Element: TryFrom<i64> + core::fmt::Debug,
    {
        let q: i64 = R::Q.into();
        for input in inputs::<R>() {
            let mut f = input.map(|x| element::<R>(x));
            b.run(Ntt::<R>(&mut f));
            let mut expected = input;
            textbook_ntt::<R>(&mut expected, zeta);
            for (x, expected) in f.iter().zip(expected) {
                assert_eq!((*x).into().rem_euclid(q), expected);
            }
        }
    }

    fn inverse_inverts<B: Backend, R: Ring>(b: B, zeta: i64)
    where
        R::Element: TryFrom<i64> + core::fmt::Debug,
    {
        let q: i64 = R::Q.into();
        let radix = (1i64 << (8 * size_of::<R::Element>())) % q;
        for input in inputs::<R>() {
            let mut f = input.map(|x| element::<R>(x));
            b.run(InverseNtt::<R>(&mut f));
            assert!(within::<R>(&f, 1));
            let mut back: [i64; 256] = f.map(Into::into);
            textbook_ntt::<R>(&mut back, zeta);
            for (x, back) in input.iter().zip(back) {
                assert_eq!((x * radix).rem_euclid(q), back.rem_euclid(q));
            }
        }
    }

    fn element<R: Ring>(x: i64) -> R::Element
    where
        R::Element: TryFrom<i64>,
    {
        let Ok(x) = R::Element::try_from(x) else {
            panic!("{x} does not fit an element")
        };
        x
    }

    #[test]
    fn transforms_match_textbook() {
        fn check(b: impl Backend) {
            forward_matches_textbook::<_, Q3329>(b, 17);
            forward_matches_textbook::<_, Q8380417>(b, 1753);
            inverse_inverts::<_, Q3329>(b, 17);
            inverse_inverts::<_, Q8380417>(b, 1753);
        }

        on_each_backend!(b => check(b));
    }

    #[test]
    fn barrett_reduction_is_canonical_but_for_q() {
        for x in -8 * 3329..=8 * 3329i16 {
            let r = Q3329::reduce(Portable, x);
            assert!((0..=3329).contains(&r));
            assert_eq!((i32::from(x) - i32::from(r)) % 3329, 0);
        }
    }
}
