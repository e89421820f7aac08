//! Multiplication in T_q (FIPS 204, algorithm 45), coefficient by coefficient.
//!
//! Sums of products are kept in 64 bits, in registers, and reduced once, by MontgomeryReduce (FIPS 204,
//! algorithm 49; [`I32s::montgomery_reduce`]).

use crate::arch::{Backend, I32s, Kernel, Vector};
use crate::kernel::ntt::{Q8380417, Ring, within};

/// f₀ ∘ g₀ + f₁ ∘ g₁ + … · R⁻¹ mod q, with one more product if there is a `last`.
///
/// Takes at most seven of |f| ≤ q and |g| ≤ 10q, and |x| ≤ 10q in `last`: sums stay within
/// (7 · 10 + 100) q² = 170q² < 2³¹ q. Gives |x| < q.
pub(crate) struct InnerProduct<'a, T> {
    pub(crate) f: &'a [T],
    pub(crate) g: &'a [T],
    pub(crate) last: Option<(&'a T, &'a T)>,
    pub(crate) output: &'a mut [i32; 256],
}

impl<B: Backend, T: AsRef<[i32; 256]>> Kernel<B> for InnerProduct<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        debug_assert!(self.f.len() == self.g.len() && self.f.len() <= 7);
        debug_assert!(self.f.iter().all(|f| within::<Q8380417>(f.as_ref(), 1)));
        debug_assert!(self.g.iter().all(|g| within::<Q8380417>(g.as_ref(), 10)));
        debug_assert!(self.last.is_none_or(|(f, g)| {
            within::<Q8380417>(f.as_ref(), 10) && within::<Q8380417>(g.as_ref(), 10)
        }));
        let output = &mut *self.output;
        // As many vectors at a time as keep their sums in registers.
        if B::I32s::LANES == 1 {
            inner_product::<B::I32s, T, 16>(b, self.f, self.g, self.last, output);
        } else {
            inner_product::<B::I32s, T, 2>(b, self.f, self.g, self.last, output);
        }
        debug_assert!(within::<Q8380417>(output, 1));
    }
}

/// The inner product, `N` vectors of coefficients at a time.
#[inline(always)]
fn inner_product<V: I32s, T: AsRef<[i32; 256]>, const N: usize>(
    token: V::Token,
    f: &[T],
    g: &[T],
    last: Option<(&T, &T)>,
    output: &mut [i32; 256],
) {
    let q = V::splat(token, Q8380417::Q);
    let q_inverse = V::splat(token, Q_INVERSE);
    let output = V::chunks_mut(output).as_chunks_mut::<N>().0;
    for (i, output) in output.iter_mut().enumerate() {
        let mut sums = [V::zero_sums(token); N];
        // Not chained with the last: the loop would ask each time where it is.
        for (f, g) in f.iter().zip(g) {
            add_products::<V, N>(token, f.as_ref(), g.as_ref(), i, &mut sums);
        }
        if let Some((f, g)) = last {
            add_products::<V, N>(token, f.as_ref(), g.as_ref(), i, &mut sums);
        }
        for (x, sums) in output.iter_mut().zip(sums) {
            V::montgomery_reduce(sums, q_inverse, q).store(x);
        }
    }
}

/// Adds the products of the i'th `N` vectors.
#[inline(always)]
fn add_products<V: I32s, const N: usize>(
    token: V::Token,
    f: &[i32; 256],
    g: &[i32; 256],
    i: usize,
    sums: &mut [V::Sums; N],
) {
    let f = &V::chunks(f).as_chunks::<N>().0[i];
    let g = &V::chunks(g).as_chunks::<N>().0[i];
    for ((sums, f), g) in sums.iter_mut().zip(f).zip(g) {
        *sums = V::load(token, f).add_product(V::load(token, g), *sums);
    }
}

/// a ∘ b · R⁻¹ mod q.
///
/// Takes |a|, |b| ≤ 10q, gives |x| < q.
pub(crate) struct Multiply<'a> {
    pub(crate) a: &'a [i32; 256],
    pub(crate) b: &'a [i32; 256],
    pub(crate) output: &'a mut [i32; 256],
}

impl<B: Backend> Kernel<B> for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        debug_assert!(within::<Q8380417>(self.a, 10) && within::<Q8380417>(self.b, 10));
        let q = B::I32s::splat(b, Q8380417::Q);
        let q_inverse = B::I32s::splat(b, Q_INVERSE);
        let factors = B::I32s::chunks(self.a).iter().zip(B::I32s::chunks(self.b));
        for (x, (f, g)) in B::I32s::chunks_mut(self.output).iter_mut().zip(factors) {
            let (f, g) = (B::I32s::load(b, f), B::I32s::load(b, g));
            let product = f.add_product(g, B::I32s::zero_sums(b));
            B::I32s::montgomery_reduce(product, q_inverse, q).store(x);
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
            *x = i32::montgomery_reduce(i64::from(*x), Q_INVERSE, Q8380417::Q);
        }
        debug_assert!(within::<Q8380417>(self.0, 1));
    }
}

/// q⁻¹ mod± R
const Q_INVERSE: i32 = 58_728_449;

#[cfg(test)]
mod tests {
    use core::array;

    use super::{InnerProduct, Multiply, OverRadix, Q_INVERSE};
    use crate::arch::{Backend, I32s, on_each_backend};
    use crate::test_random::Random;

    const Q: i64 = 8_380_417;

    #[test]
    fn montgomery_constant() {
        assert_eq!(8_380_417i32.wrapping_mul(Q_INVERSE), 1);
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
            let r = i64::from(i32::montgomery_reduce(x, Q_INVERSE, Q as i32));
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

            for count in [0, 1, 5, 7] {
                let rotated = |x: &[i32; 256], i| {
                    let mut x = *x;
                    x.rotate_left(i);
                    x
                };
                let f: [_; 7] = array::from_fn(|i| Factor(rotated(&a, i).map(|x| x / 10)));
                let g: [_; 7] = array::from_fn(|i| Factor(rotated(&b, 9 * i)));
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
            check(b, &mut || 10 * Q as i32);
            check(b, &mut || -10 * Q as i32);
            let mut random = Random::new(1);
            for _ in 0..100 {
                check(b, &mut || random.within(10 * Q as i32));
            }
        }

        on_each_backend!(b => check_all(b));
    }
}
