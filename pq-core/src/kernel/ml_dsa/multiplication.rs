//! Multiplication in T_q (FIPS 204, algorithm 45), coefficient by coefficient.
//!
//! Sums of products are kept in 64 bits, in registers, and reduced once.

use crate::arch::{Backend, Kernel};
use crate::kernel::ntt::{Q8380417, Ring, within};

/// f₀ ∘ g₀ + f₁ ∘ g₁ + … · R⁻¹ mod q, with one more product if there is a `last`.
///
/// Takes |f|, |g| ≤ 9q. There are at most 25 products, each at most 81q², which stay below
/// 2³¹ q; gives |x| < q.
pub(crate) struct InnerProduct<'a, T> {
    pub(crate) f: &'a [T],
    pub(crate) g: &'a [T],
    pub(crate) last: Option<(&'a T, &'a T)>,
    pub(crate) output: &'a mut [i32; 256],
}

impl<B: Backend, T: AsRef<[i32; 256]>> Kernel<B> for InnerProduct<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: B) {
        // As many coefficients at a time as keep their sums in registers.
        const WIDTH: usize = 16;
        let Self { f, g, last, output } = self;
        debug_assert_eq!(f.len(), g.len());
        for (i, output) in output.as_chunks_mut::<WIDTH>().0.iter_mut().enumerate() {
            let mut sums = [0; WIDTH];
            for (f, g) in f.iter().zip(g).chain(last) {
                let (f, g) = (f.as_ref(), g.as_ref());
                debug_assert!(within::<Q8380417>(f, 9) && within::<Q8380417>(g, 9));
                let f = &f.as_chunks::<WIDTH>().0[i];
                let g = &g.as_chunks::<WIDTH>().0[i];
                for ((sum, f), g) in sums.iter_mut().zip(f).zip(g) {
                    *sum += i64::from(*f) * i64::from(*g);
                }
            }
            for (x, sum) in output.iter_mut().zip(sums) {
                *x = montgomery_reduce(sum);
            }
        }
        debug_assert!(within::<Q8380417>(output, 1));
    }
}

/// a ∘ b · R⁻¹ mod q.
///
/// Takes |a|, |b| ≤ 9q, gives |x| < q.
pub(crate) struct Multiply<'a> {
    pub(crate) a: &'a [i32; 256],
    pub(crate) b: &'a [i32; 256],
    pub(crate) output: &'a mut [i32; 256],
}

impl<B: Backend> Kernel<B> for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: B) {
        debug_assert!(within::<Q8380417>(self.a, 9) && within::<Q8380417>(self.b, 9));
        for ((x, a), b) in self.output.iter_mut().zip(self.a).zip(self.b) {
            *x = montgomery_reduce(i64::from(*a) * i64::from(*b));
        }
        debug_assert!(within::<Q8380417>(self.output, 1));
    }
}

/// f · R⁻¹ mod q, in place.
///
/// Takes any x, gives |x| < q.
pub(crate) struct OverRadix<'a>(pub(crate) &'a mut [i32; 256]);

impl<B: Backend> Kernel<B> for OverRadix<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: B) {
        for x in self.0.iter_mut() {
            *x = montgomery_reduce(i64::from(*x));
        }
        debug_assert!(within::<Q8380417>(self.0, 1));
    }
}

/// What reduction takes: 2³¹ q.
const SUM_BOUND: i64 = (Q8380417::Q as i64) << 31;

/// x · R⁻¹ mod q for |x| < 2³¹ q (FIPS 204, algorithm 49); |result| < q.
#[inline(always)]
fn montgomery_reduce(x: i64) -> i32 {
    const Q_INVERSE: i32 = 58_728_449 /* q⁻¹ mod± R */;
    debug_assert!(x.abs() < SUM_BOUND);
    let m = (x as i32).wrapping_mul(Q_INVERSE);
    ((x - i64::from(m) * i64::from(Q8380417::Q)) >> 32) as i32
}

#[cfg(test)]
mod tests {
    use core::array;

    use super::{InnerProduct, Multiply, OverRadix, montgomery_reduce};
    use crate::arch::{Backend, on_each_backend};
    use crate::test_random::Random;

    const Q: i64 = 8_380_417;

    #[test]
    fn montgomery_constant() {
        assert_eq!(8_380_417i32.wrapping_mul(58_728_449), 1);
    }

    #[test]
    fn montgomery_reduction_over_its_range() {
        let limit = Q << 31;
        let near = |x: i64| (x - 100_000).max(1 - limit)..(x + 100_000).min(limit);
        // Not `step_by`, whose step is a `usize` of 32 bits on some targets.
        let sampled = core::iter::successors(Some(1 - limit), |x| Some(x + 48_611_737_211))
            .take_while(|&x| x < limit);
        for x in sampled
            .chain(near(-limit))
            .chain(near(0))
            .chain(near(limit))
        {
            let r = i64::from(montgomery_reduce(x));
            assert!(r.abs() < Q);
            assert_eq!(((r << 32) - x) % Q, 0);
        }
    }

    struct Factor([i32; 256]);

    impl AsRef<[i32; 256]> for Factor {
        fn as_ref(&self) -> &[i32; 256] {
            &self.0
        }
    }

    #[test]
    fn products_match_textbook() {
        fn check<B: Backend>(backend: B, pick: &mut dyn FnMut() -> i32) {
            let a: [i32; 256] = array::from_fn(|_| pick());
            let b: [i32; 256] = array::from_fn(|_| pick());
            let congruent = |actual: i32, expected: i64| {
                assert!(i64::from(actual).abs() < Q);
                assert_eq!(((i64::from(actual) << 32) - expected) % Q, 0);
            };

            let mut product = [0; 256];
            backend.run(Multiply {
                a: &a,
                b: &b,
                output: &mut product,
            });
            for i in 0..256 {
                congruent(product[i], i64::from(a[i]) * i64::from(b[i]));
            }

            for count in [0, 1, 7, 8] {
                let f: [_; 8] = array::from_fn(|i| Factor(a.map(|x| x / (i as i32 + 1))));
                let g: [_; 8] = array::from_fn(|i| Factor(b.map(|x| x / (8 - i as i32))));
                for last in [None, Some((&Factor(a), &Factor(b)))] {
                    let mut sum = [0; 256];
                    backend.run(InnerProduct {
                        f: &f[..count],
                        g: &g[..count],
                        last,
                        output: &mut sum,
                    });
                    for (i, sum) in sum.into_iter().enumerate() {
                        let products = f[..count].iter().zip(&g).chain(last);
                        let products = products.map(|(f, g)| i64::from(f.0[i]) * i64::from(g.0[i]));
                        congruent(sum, products.sum());
                    }
                }
            }

            let mut quotient = a;
            backend.run(OverRadix(&mut quotient));
            for i in 0..256 {
                congruent(quotient[i], i64::from(a[i]));
            }
        }

        fn check_all<B: Backend>(b: B) {
            check(b, &mut || 9 * Q as i32);
            check(b, &mut || -9 * Q as i32);
            let mut random = Random::new(1);
            for _ in 0..100 {
                check(b, &mut || random.within(9 * Q as i32));
            }
        }

        on_each_backend!(b => check_all(b));
    }
}
