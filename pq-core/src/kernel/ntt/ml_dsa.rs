//! The ring of ML-DSA, with products by Barrett's method.

use super::ring::{Ring, ring};
use super::twiddles::{Tables, Twiddles, inverse_scale, powers, residues, spread};
use crate::arch::{Backend, Coefficients};

ring! {
    /// ML-DSA: q = 8380417, ζ = 1753, eight layers.
    Q8380417, i32, I32s,
    q: 8380417, zeta: 1753, last_len: 1,
    twiddles: residues, residues_over_q,
    // No vector of 32 bits has `ROUNDS`.
    rounded: residues, residues_over_q,

    const FORWARD_BOUND: i64 = 10;
    // From q, eight doublings reach 256q = 2145386752 < 2³¹.
    const REDUCED_INVERSE_LAYERS: &'static [usize] = &[];

    /// Barrett's: the high halves of 32 bits take several instructions.
    #[inline(always)]
    fn product<V: Coefficients<Element = i32>>(x: V, factor: V, factor_over_q: V, q: V) -> V {
        const { assert!(!V::ROUNDS) };
        x.barrett_product(factor, factor_over_q, q)
    }

    #[inline(always)]
    fn reduce<V: Coefficients<Element = i32>>(_: V::Token, v: V) -> V {
        v
    }
}

residues!(Q8380417, i32, radix: 1 << 32);

#[cfg(test)]
mod tests {
    use super::{Q8380417, Ring};
    use crate::test_random::Random;

    /// Each twiddle factor times the ends of the range and what is between.
    #[test]
    fn barrett_products_match_textbook() {
        const Q: i64 = 8_380_417;
        let mut random = Random::new(5);
        let ends = [
            i32::MIN,
            -i32::MAX,
            -10 * Q as i32,
            -1,
            0,
            1,
            10 * Q as i32,
            i32::MAX,
        ];
        let table = Q8380417::TABLES.powers;
        for (k, (c, c_over_q)) in table.factors.iter().zip(table.factors_over_q).enumerate() {
            let random = (0..100).map(|_| random.bits() as i32);
            for x in ends.into_iter().chain(random) {
                let product = i64::from(Q8380417::product(x, *c, *c_over_q, Q as i32));
                let expected = i64::from(x) * Q8380417::POWERS[k] % Q;
                assert_eq!((product - expected) % Q, 0);
                assert!(-Q <= 4 * product && 4 * product <= 5 * Q);
                if i64::from(x).abs() <= 10 * Q {
                    assert!(100 * product.abs() < 101 * Q);
                }
            }
        }
    }
}
