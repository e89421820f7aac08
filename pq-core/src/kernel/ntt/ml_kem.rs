//! The ring of ML-KEM, with products by Montgomery's method.

use super::ring::{Ring, ring};
use super::twiddles::{Twiddles, inverse_scale, powers, spread};
use crate::arch::{Backend, Coefficients};

ring! {
    /// ML-KEM: q = 3329, ζ = 17, seven layers.
    Q3329, i16, I16s,
    q: 3329, zeta: 17, last_len: 2,
    twiddles: Self::factors, Self::factors_over_q,

    const FORWARD_BOUND: i64 = 1;
    // From q, three doublings reach 8q = 26632 < 2¹⁵.
    const REDUCED_INVERSE_LAYERS: &'static [usize] = &[8, 64];

    /// Montgomery's: one multiplication gives the high halves of 16 bits.
    #[inline(always)]
    fn product<V: Coefficients<Element = i16>>(x: V, factor: V, factor_over_q: V, q: V) -> V {
        x.montgomery_product(factor, factor_over_q, q)
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

#[cfg(test)]
mod tests {
    use super::{Q3329, Ring};
    use crate::arch::Portable;

    #[test]
    fn barrett_reduction_is_canonical_but_for_q() {
        for x in -8 * 3329..=8 * 3329i16 {
            let r = Q3329::reduce(Portable, x);
            assert!((0..=3329).contains(&r));
            assert_eq!((i32::from(x) - i32::from(r)) % 3329, 0);
        }
    }
}
