//! The ring of ML-KEM, with products by Montgomery's method or with a rounded quotient.

use super::ring::{Ring, ring};
use super::twiddles::{Tables, Twiddles, inverse_scale, powers, residues, spread};
use crate::arch::{Backend, Coefficients};

ring! {
    /// ML-KEM: q = 3329, ζ = 17, seven layers.
    Q3329, i16, I16s,
    q: 3329, zeta: 17, last_len: 2,
    twiddles: Self::factors, Self::factors_over_q,
    rounded: residues, residues_over_q,

    const FORWARD_BOUND: i64 = 1;
    // From q, three doublings reach 8q = 26632 < 2¹⁵.
    const REDUCED_INVERSE_LAYERS: &'static [usize] = &[8, 64];

    /// Montgomery's, if one multiplication gives the high halves of 16 bits.
    #[inline(always)]
    fn product<V: Coefficients<Element = i16>>(x: V, factor: V, factor_over_q: V, q: V) -> V {
        if V::ROUNDS {
            x.rounded_product(factor, factor_over_q, q)
        } else {
            x.montgomery_product(factor, factor_over_q, q)
        }
    }

    /// Barrett: x − ⌊x · 20159 / 2²⁶⌋ · q, for |x| ≤ 8q.
    #[inline(always)]
    fn reduce<V: Coefficients<Element = i16>>(token: V::Token, v: V) -> V {
        let quotient = v
            .mul_high(V::splat(token, 20159 /* round(2^26 / q) */))
            .shift_right::<10>();
        v.sub(quotient.mul_low(V::splat(token, Self::Q)))
    }
}

// Half of R, for quotients that are rounded.
residues!(Q3329, i16, radix: 1 << 15);

#[cfg(test)]
mod tests {
    use super::{Q3329, Ring};
    use crate::arch::{Backend, Coefficients, Kernel, Vector, on_each_backend};
    use crate::kernel::ntt::ring::tables;

    /// Calls `check` with each number of `numbers` and what `f` makes of it.
    #[inline(always)]
    fn each<V: Coefficients<Element = i16>>(
        token: V::Token,
        numbers: impl Iterator<Item = i16>,
        f: impl Fn(V) -> V,
        check: impl Fn(i16, i16),
    ) {
        let mut numbers = numbers.peekable();
        while let Some(&last) = numbers.peek() {
            let mut operands = V::Array::default();
            for x in operands.as_mut() {
                *x = numbers.next().unwrap_or(last);
            }
            let mut results = V::Array::default();
            f(V::load(token, &operands)).store(&mut results);
            for (x, result) in operands.as_ref().iter().zip(results.as_ref()) {
                check(*x, *result);
            }
        }
    }

    /// Every number times every factor.
    struct Products;

    impl<B: Backend> Kernel<B> for Products {
        type Output = ();

        #[inline(always)]
        fn run(self, b: B) {
            let q = B::I16s::splat(b, Q3329::Q);
            let table = tables::<Q3329, B::I16s>();
            let powers = (&table.powers, &Q3329::POWERS[..128]);
            let scales = (&table.inverse_scales, &Q3329::INVERSE_SCALES_MOD_Q[..]);
            for (twiddles, constants) in [powers, scales] {
                for (k, c) in constants.iter().enumerate() {
                    let factor = B::I16s::splat(b, twiddles.factors[k]);
                    let factor_over_q = B::I16s::splat(b, twiddles.factors_over_q[k]);
                    each(
                        b,
                        i16::MIN..=i16::MAX,
                        |x| Q3329::product(x, factor, factor_over_q, q),
                        |x, product| {
                            let [x, c, product] = [i32::from(x), *c as i32, i32::from(product)];
                            assert_eq!((product - x * c) % 3329, 0);
                            if B::I16s::ROUNDS {
                                assert!(product.abs() <= 3323);
                            } else {
                                assert!(product.abs() <= 3329);
                            }
                        },
                    );
                }
            }
        }
    }

    #[test]
    fn products_match_textbook() {
        on_each_backend!(b => b.run(Products));
    }

    /// All that may be reduced.
    struct Reductions;

    impl<B: Backend> Kernel<B> for Reductions {
        type Output = ();

        #[inline(always)]
        fn run(self, b: B) {
            each::<B::I16s>(
                b,
                -8 * 3329..=8 * 3329,
                |x| Q3329::reduce(b, x),
                |x, r| {
                    assert!((0..=3329).contains(&r));
                    assert_eq!((i32::from(x) - i32::from(r)) % 3329, 0);
                },
            );
        }
    }

    #[test]
    fn barrett_reduction_is_canonical_but_for_q() {
        on_each_backend!(b => b.run(Reductions));
    }
}
