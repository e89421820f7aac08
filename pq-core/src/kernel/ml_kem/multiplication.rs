//! Multiplication in T_q (FIPS 203, algorithms 11 and 12).
//!
//! An element of T_q is 128 residues modulo X² − γ. The product of (a₀, a₁) and
//! (b₀, b₁) is (a₀b₀ + a₁b₁γ, a₀b₁ + a₁b₀). The factors b₁γ are computed once for
//! each b and kept beside it, so that a product is four multiplications, and sums
//! of products are reduced once.

use crate::arch::{Backend, Coefficients, Kernel, Vector};
use crate::kernel::ntt::{Q3329, Ring, within};
use crate::secret::wipe;

/// b₁γ for the 128 residues of `b`.
///
/// Takes |x| ≤ q, gives |x| < q.
pub(crate) struct TimesGamma<'a> {
    pub(crate) b: &'a [i16; 256],
    pub(crate) output: &'a mut [i16; 128],
}

impl<B: Backend> Kernel<B> for TimesGamma<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: B) {
        debug_assert!(within::<Q3329>(self.b, 1));
        // γ of residues 2i and 2i + 1 is the twiddle factor 64 + i of the last layer,
        // and its negative.
        let factors = Q3329::TWIDDLES.factors[64..128].iter();
        let factors = factors.zip(&Q3329::TWIDDLES.factors_over_q[64..128]);
        let b = self.b.as_chunks::<4>().0;
        let outputs = self.output.as_chunks_mut::<2>().0;
        for (([_, b1, _, b3], output), (gamma, gamma_over_q)) in b.iter().zip(outputs).zip(factors)
        {
            *output = [
                b1.montgomery_product(*gamma, *gamma_over_q, Q3329::Q),
                -b3.montgomery_product(*gamma, *gamma_over_q, Q3329::Q),
            ];
        }
    }
}

/// A factor with what [`TimesGamma`] made of it.
#[derive(Clone, Copy)]
pub(crate) struct Factor<'a> {
    pub(crate) b: &'a [i16; 256],
    pub(crate) b1_gamma: &'a [i16; 128],
}

/// The sum of `len` products `term(0)`, …, times R⁻¹.
///
/// Takes at most four products of |x| ≤ q, gives |x| < q.
pub(crate) struct InnerProduct<'a, F> {
    pub(crate) len: usize,
    pub(crate) term: F,
    pub(crate) output: &'a mut [i16; 256],
}

impl<'t, B: Backend, F> Kernel<B> for InnerProduct<'_, F>
where
    F: Fn(usize) -> (&'t [i16; 256], Factor<'t>),
{
    type Output = ();

    #[inline(always)]
    fn run(self, _: B) {
        debug_assert!(self.len <= 4);
        // Eight products of at most q² are at most 8q² < 2¹⁵ q, which the
        // reduction takes.
        let mut sums = [[0; 2]; 128];
        for i in 0..self.len {
            let (a, Factor { b, b1_gamma }) = (self.term)(i);
            debug_assert!(within::<Q3329>(a, 1) && within::<Q3329>(b, 1));
            let a = a.as_chunks::<2>().0;
            let b = b.as_chunks::<2>().0;
            for (((sum, a), b), b1_gamma) in sums.iter_mut().zip(a).zip(b).zip(b1_gamma) {
                let [a0, a1] = a.map(i32::from);
                let [b0, b1] = b.map(i32::from);
                sum[0] += a0 * b0 + a1 * i32::from(*b1_gamma);
                sum[1] += a0 * b1 + a1 * b0;
            }
        }
        for (x, sum) in self.output.iter_mut().zip(sums.as_flattened()) {
            *x = montgomery_reduce(*sum);
        }
        debug_assert!(within::<Q3329>(self.output, 1));
        // With Â public, a product with a secret vector tells the vector.
        wipe(sums.as_flattened_mut());
    }
}

/// f · R mod q, in place.
///
/// Takes any x, gives |x| < q.
pub(crate) struct TimesRadix<'a>(pub(crate) &'a mut [i16; 256]);

impl<B: Backend> Kernel<B> for TimesRadix<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        let q = B::I16s::splat(b, Q3329::Q);
        let factor = B::I16s::splat(b, 1353 /* R² mod q, R = 2^16 */);
        let factor_over_q = B::I16s::splat(b, 20553 /* R² · q⁻¹ mod± R */);
        for x in B::I16s::chunks_mut(self.0) {
            B::I16s::load(b, x)
                .montgomery_product(factor, factor_over_q, q)
                .store(x);
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
    use super::{Factor, InnerProduct, OverRadix, TimesGamma, TimesRadix, montgomery_reduce};
    use crate::arch::{Backend, on_each_backend};
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
                let (mut times, mut over) = (input, input);
                b.run(TimesRadix(&mut times));
                b.run(OverRadix(&mut over));
                for (x, (times, over)) in input.iter().zip(times.iter().zip(over)) {
                    assert!(i64::from(*times).abs() < Q && i64::from(over).abs() < Q);
                    assert_eq!((i64::from(*x) * 65536 - i64::from(*times)) % Q, 0);
                    assert_eq!((i64::from(over) * 65536 - i64::from(*x)) % Q, 0);
                }
            }
        }

        on_each_backend!(b => check(b));
    }

    /// Against algorithms 11 and 12 with `%`.
    #[test]
    fn inner_product_matches_textbook() {
        fn check<B: Backend>(backend: B, pick: &mut dyn FnMut() -> i16) {
            for len in 1..=4 {
                let a: [[i16; 256]; 4] = core::array::from_fn(|_| core::array::from_fn(|_| pick()));
                let b: [[i16; 256]; 4] = core::array::from_fn(|_| core::array::from_fn(|_| pick()));
                let b1_gamma: [[i16; 128]; 4] = core::array::from_fn(|i| {
                    let mut output = [0; 128];
                    backend.run(TimesGamma {
                        b: &b[i],
                        output: &mut output,
                    });
                    output
                });
                let mut output = [0; 256];
                backend.run(InnerProduct {
                    len,
                    term: |i: usize| {
                        let factor = Factor {
                            b: &b[i],
                            b1_gamma: &b1_gamma[i],
                        };
                        (&a[i], factor)
                    },
                    output: &mut output,
                });
                for i in 0..128 {
                    let exponent = 2 * ((i as u8).reverse_bits() >> 1) + 1;
                    let gamma = (0..exponent).fold(1, |power, _| power * 17 % Q);
                    let mut expected = [0; 2];
                    for (a, b) in a.iter().zip(&b).take(len) {
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
        }

        fn check_all<B: Backend>(b: B) {
            check(b, &mut || 3329);
            check(b, &mut || -3329);
            let mut random = Random::new(1);
            check(b, &mut || random.within(3329) as i16);
        }

        on_each_backend!(b => check_all(b));
    }
}
