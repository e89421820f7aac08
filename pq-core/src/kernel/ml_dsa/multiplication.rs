//! Multiplication in T_q (FIPS 204, algorithm 45), coefficient by coefficient.
//!
//! Sums of products are kept in 64 bits and reduced once.

use crate::arch::{Backend, Kernel};
use crate::kernel::ntt::{Q8380417, Ring, within};

/// sums + a ∘ b, in place.
///
/// Takes |a|, |b| ≤ 9q: each product adds at most 81q² to the bound of `sums`, which
/// stay below 2³¹ q.
pub(crate) struct MultiplyAccumulate<'a> {
    pub(crate) a: &'a [i32; 256],
    pub(crate) b: &'a [i32; 256],
    pub(crate) sums: &'a mut [i64; 256],
}

impl<B: Backend> Kernel<B> for MultiplyAccumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: B) {
        debug_assert!(within::<Q8380417>(self.a, 9) && within::<Q8380417>(self.b, 9));
        for ((sum, a), b) in self.sums.iter_mut().zip(self.a).zip(self.b) {
            *sum += i64::from(*a) * i64::from(*b);
            debug_assert!(sum.abs() < SUM_BOUND);
        }
    }
}

/// sums · R⁻¹ mod q.
///
/// Takes |x| < 2³¹ q, which is more than 256q²; gives |x| < q.
pub(crate) struct Reduce<'a> {
    pub(crate) sums: &'a [i64; 256],
    pub(crate) output: &'a mut [i32; 256],
}

impl<B: Backend> Kernel<B> for Reduce<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: B) {
        for (x, sum) in self.output.iter_mut().zip(self.sums) {
            *x = montgomery_reduce(*sum);
        }
        debug_assert!(within::<Q8380417>(self.output, 1));
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
    use super::{Multiply, MultiplyAccumulate, OverRadix, Reduce, montgomery_reduce};
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

    #[test]
    fn products_match_textbook() {
        fn check<B: Backend>(backend: B, pick: &mut dyn FnMut() -> i32) {
            let a: [i32; 256] = core::array::from_fn(|_| pick());
            let b: [i32; 256] = core::array::from_fn(|_| pick());
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

            // the most that verification sums up: 81q² and less than 63q²
            let mut sums = [0; 256];
            let small = b.map(|x| x % (8 * Q as i32));
            for b in [&b, &small] {
                backend.run(MultiplyAccumulate {
                    a: &a,
                    b,
                    sums: &mut sums,
                });
            }
            let mut reduced = [0; 256];
            backend.run(Reduce {
                sums: &sums,
                output: &mut reduced,
            });
            for i in 0..256 {
                let expected = i64::from(a[i]) * (i64::from(b[i]) + i64::from(small[i]));
                assert_eq!(sums[i], expected);
                congruent(reduced[i], expected);
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
