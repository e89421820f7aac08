//! Multiplication in T_q (FIPS 203, algorithms 11 and 12).
//!
//! An element of T_q is 128 residues modulo X² − γ. The product of (a₀, a₁) and
//! (b₀, b₁) is (a₀b₀ + a₁b₁γ, a₀b₁ + a₁b₀): two sums of products of pairs, one with
//! (b₀, b₁γ) and one with (b₁, b₀), which are computed once for each b. Sums of products
//! are reduced once.

use zeroize::Zeroize;

use crate::arch::{Backend, Coefficients, Kernel, Vector};
use crate::kernel::ntt::{Q3329, Ring, within};
use crate::secret::{Zero, wipe};

/// A factor b in the form of [`InnerProduct`].
#[derive(Clone)]
#[repr(align(64))]
pub(crate) struct Factor {
    /// (b₀, b₁γ) for each residue
    first: [i16; 256],
    /// (b₁, b₀) for each residue
    second: [i16; 256],
}

impl Factor {
    /// Writes b.
    pub(crate) fn write(&self, b: &mut [i16; 256]) {
        let b = b.as_chunks_mut::<2>().0.iter_mut();
        for (b, [b1, b0]) in b.zip(self.second.as_chunks().0) {
            *b = [*b0, *b1];
        }
    }
}

impl Zero for Factor {
    const ZERO: Self = Self {
        first: [0; 256],
        second: [0; 256],
    };
}

impl Zeroize for Factor {
    fn zeroize(&mut self) {
        wipe(&mut self.first);
        wipe(&mut self.second);
    }
}

/// Makes `b` a factor.
///
/// Takes |x| ≤ q, gives |x| ≤ q.
pub(crate) struct MakeFactor<'a> {
    pub(crate) b: &'a [i16; 256],
    pub(crate) factor: &'a mut Factor,
}

impl<B: Backend> Kernel<B> for MakeFactor<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, token: B) {
        let Self { b, factor } = self;
        debug_assert!(within::<Q3329>(b, 1));
        let q = B::I16s::splat(token, Q3329::Q);
        let ones_and_gammas = B::I16s::chunks(&ONES_AND_GAMMAS).iter();
        let ones_and_gammas = ones_and_gammas.zip(B::I16s::chunks(&ONES_AND_GAMMAS_OVER_Q));
        let first = B::I16s::chunks_mut(&mut factor.first).iter_mut();
        for ((first, b), (c, c_over_q)) in first.zip(B::I16s::chunks(b)).zip(ones_and_gammas) {
            let (c, c_over_q) = (B::I16s::load(token, c), B::I16s::load(token, c_over_q));
            B::I16s::load(token, b)
                .montgomery_product(c, c_over_q, q)
                .store(first);
        }
        let second = factor.second.as_chunks_mut::<2>().0.iter_mut();
        for (second, [b0, b1]) in second.zip(b.as_chunks().0) {
            *second = [*b1, *b0];
        }
    }
}

/// 1 and γ for each residue. γ of residues 2i and 2i + 1 is the twiddle factor 64 + i of the
/// last layer of the transform, and its negative.
const CONSTANTS: [i64; 256] = {
    let mut constants = [1; 256];
    let mut i = 0;
    while i < 64 {
        let gamma = Q3329::POWERS[64 + i];
        constants[4 * i + 1] = gamma;
        constants[4 * i + 3] = Q3329::Q as i64 - gamma;
        i += 1;
    }
    constants
};

static ONES_AND_GAMMAS: [i16; 256] = Q3329::factors(CONSTANTS);
static ONES_AND_GAMMAS_OVER_Q: [i16; 256] = Q3329::factors_over_q(CONSTANTS);

/// Elements of T_q one after the other. Types for the few ways in which they lie in memory, and no closures: the
/// kernel would be compiled for each of these.
pub(crate) trait Elements<'a> {
    /// Element i.
    fn element(&self, i: usize) -> &'a [i16; 256];
}

#[cfg(test)]
impl<'a> Elements<'a> for &'a [[i16; 256]] {
    #[inline(always)]
    fn element(&self, i: usize) -> &'a [i16; 256] {
        &self[i]
    }
}

/// The sum of `LEN` products a ∘ b, times R⁻¹.
///
/// Takes at most four products of |x| ≤ q, gives |x| < q.
pub(crate) struct InnerProduct<'a, const LEN: usize, A> {
    pub(crate) a: A,
    pub(crate) b: &'a [Factor; LEN],
    pub(crate) output: &'a mut [i16; 256],
}

impl<'a, B: Backend, const LEN: usize, A: Elements<'a>> Kernel<B> for InnerProduct<'_, LEN, A> {
    type Output = ();

    const LARGE: bool = true;

    #[inline(always)]
    fn run(self, token: B) {
        const {
            assert!(LEN <= 4);
        }
        let Self { a, b, output } = self;
        let q = B::I16s::splat(token, Q3329::Q);
        let q_inverse = B::I16s::splat(token, -3327 /* q⁻¹ mod± R */);
        for (i, output) in output.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            // Eight products of at most q² are at most 8q² < 2¹⁵ q, which the
            // reduction takes.
            let (mut even, mut odd) = ([0; 16], [0; 16]);
            for (j, Factor { first, second }) in b.iter().enumerate() {
                let a = a.element(j);
                debug_assert!([a, first, second].iter().all(|f| within::<Q3329>(f, 1)));
                let a = part(a, i);
                token.add_pair_products(a, part(first, i), &mut even);
                token.add_pair_products(a, part(second, i), &mut odd);
            }
            // x · R⁻¹ for |x| < 2¹⁵ q: x ≡ m · q mod R for m = x · q⁻¹ mod± R, so that the
            // low halves cancel and the high halves differ by the exact quotient.
            let [low, high] = token.halves(&even, &odd);
            let halves = B::I16s::chunks(&low).iter().zip(B::I16s::chunks(&high));
            for (output, (low, high)) in B::I16s::chunks_mut(output).iter_mut().zip(halves) {
                let m = B::I16s::load(token, low).mul_low(q_inverse);
                B::I16s::load(token, high).sub(m.mul_high(q)).store(output);
            }
        }
        debug_assert!(within::<Q3329>(output, 1));
    }
}

/// Coefficients 32i, …, 32i + 31.
#[inline(always)]
fn part(f: &[i16; 256], i: usize) -> &[i16; 32] {
    &f.as_chunks().0[i]
}

/// f ← f · R + g mod q.
///
/// Takes any f and |x| ≤ q of g, gives 0 ≤ x ≤ q.
pub(crate) struct TimesRadixPlus<'a> {
    pub(crate) f: &'a mut [i16; 256],
    pub(crate) g: &'a [i16; 256],
}

impl<B: Backend> Kernel<B> for TimesRadixPlus<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        let Self { f, g } = self;
        debug_assert!(within::<Q3329>(g, 1));
        let q = B::I16s::splat(b, Q3329::Q);
        let factor = B::I16s::splat(b, 1353 /* R² mod q, R = 2^16 */);
        let factor_over_q = B::I16s::splat(b, 20553 /* R² · q⁻¹ mod± R */);
        for (f, g) in B::I16s::chunks_mut(f).iter_mut().zip(B::I16s::chunks(g)) {
            let product = B::I16s::load(b, f).montgomery_product(factor, factor_over_q, q);
            Q3329::reduce(b, product.add(B::I16s::load(b, g))).store(f);
        }
    }
}

/// f · R⁻¹ mod q, in place.
///
/// Takes any x, gives |x| < q.
pub(crate) struct OverRadix<'a>(pub(crate) &'a mut [i16; 256]);

impl<B: Backend> Kernel<B> for OverRadix<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: B) {
        for x in self.0 {
            *x = montgomery_reduce(i32::from(*x));
        }
    }
}

/// x · R⁻¹ mod q for |x| < 2¹⁵ q; |result| < q.
#[inline(always)]
fn montgomery_reduce(x: i32) -> i16 {
    const Q_INVERSE: i16 = -3327 /* q⁻¹ mod± R */;
    let m = (x as i16).wrapping_mul(Q_INVERSE);
    ((x - i32::from(m) * i32::from(Q3329::Q)) >> 16) as i16
}

#[cfg(test)]
mod tests {
    use super::{Factor, InnerProduct, MakeFactor, OverRadix, TimesRadixPlus, montgomery_reduce};
    use crate::arch::{Backend, on_each_backend};
    use crate::secret::Zero;
    use crate::test_random::Random;

    const Q: i64 = 3329;

    #[test]
    fn montgomery_constants() {
        assert_eq!((1i64 << 32) % Q, 1353);
        assert_eq!(3329i16.wrapping_mul(-3327), 1);
        assert_eq!(1353i16.wrapping_mul(-3327), 20553);
    }

    #[test]
    fn montgomery_reduction_over_its_range() {
        let limit = (Q as i32) << 15;
        let near = |x: i32| (x - 70_000).max(1 - limit)..(x + 70_000).min(limit);
        let sampled = (1 - limit..limit).step_by(613);
        for x in sampled
            .chain(near(-limit))
            .chain(near(0))
            .chain(near(limit))
        {
            let r = i64::from(montgomery_reduce(x));
            assert!(r.abs() < Q);
            assert_eq!(((r << 16) - i64::from(x)) % Q, 0);
        }
    }

    #[test]
    fn radix_over_every_input() {
        fn check<B: Backend>(b: B) {
            for start in (i16::MIN..=i16::MAX).step_by(256) {
                let input: [i16; 256] = core::array::from_fn(|i| start + i as i16);
                for g in [-3329, 0, 3329] {
                    let mut f = input;
                    b.run(TimesRadixPlus {
                        f: &mut f,
                        g: &[g; 256],
                    });
                    for (x, y) in input.into_iter().zip(f) {
                        assert!((0..=3329).contains(&y));
                        let expected = i64::from(x) * 65536 + i64::from(g);
                        assert_eq!((expected - i64::from(y)) % Q, 0);
                    }
                }
                let mut over = input;
                b.run(OverRadix(&mut over));
                for (x, over) in input.into_iter().zip(over) {
                    assert!(i64::from(over).abs() < Q);
                    assert_eq!((i64::from(over) * 65536 - i64::from(x)) % Q, 0);
                }
            }
        }

        on_each_backend!(b => check(b));
    }

    /// Against algorithms 11 and 12 with `%`.
    #[test]
    fn inner_product_matches_textbook() {
        fn check<B: Backend, const LEN: usize>(backend: B, pick: &mut dyn FnMut() -> i16) {
            let a: [[i16; 256]; 4] = core::array::from_fn(|_| core::array::from_fn(|_| pick()));
            let b: [[i16; 256]; 4] = core::array::from_fn(|_| core::array::from_fn(|_| pick()));
            let factors: [Factor; LEN] = core::array::from_fn(|i| {
                let mut factor = Factor::ZERO;
                backend.run(MakeFactor {
                    b: &b[i],
                    factor: &mut factor,
                });
                factor
            });
            let mut output = [0; 256];
            backend.run(InnerProduct {
                a: a.as_slice(),
                b: &factors,
                output: &mut output,
            });
            for i in 0..128 {
                let exponent = 2 * ((i as u8).reverse_bits() >> 1) + 1;
                let gamma = (0..exponent).fold(1, |power, _| power * 17 % Q);
                let mut expected = [0; 2];
                for (a, b) in a.iter().zip(&b).take(LEN) {
                    let [a0, a1] = [i64::from(a[2 * i]), i64::from(a[2 * i + 1])];
                    let [b0, b1] = [i64::from(b[2 * i]), i64::from(b[2 * i + 1])];
                    expected[0] += a0 * b0 + a1 * b1 % Q * gamma;
                    expected[1] += a0 * b1 + a1 * b0;
                }
                for j in 0..2 {
                    let actual = i64::from(output[2 * i + j]) << 16;
                    assert_eq!((actual - expected[j]) % Q, 0);
                }
            }
        }

        fn check_all<B: Backend>(b: B) {
            let mut random = Random::new(1);
            let picks: [&mut dyn FnMut() -> i16; 3] = [&mut || 3329, &mut || -3329, &mut || {
                random.within(3329) as i16
            }];
            for pick in picks {
                check::<_, 1>(b, pick);
                check::<_, 2>(b, pick);
                check::<_, 3>(b, pick);
                check::<_, 4>(b, pick);
            }
        }

        on_each_backend!(b => check_all(b));
    }
}
