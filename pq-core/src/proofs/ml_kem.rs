//! The products and sums of ML-KEM.

extern crate alloc;

use alloc::string::String;
use alloc::vec::Vec;
use core::array;

use super::backend::{Abstract, on_each_width};
use super::bounds::Bounds;
use super::forms::Form;
use super::inputs::{expect, polynomial};
use super::values::prove;
use crate::arch::Backend;
use crate::kernel::ml_kem::addition::{Add, Subtract};
use crate::kernel::ml_kem::multiplication::{Factor, InnerProduct, MakeFactor, TimesRadixPlus};
use crate::kernel::ntt::{Q3329, Ring};
use crate::secret::Zero;

const Q: i64 = Q3329::Q as i64;

/// R⁻¹ mod q, R = 2¹⁶
const INVERSE_RADIX: i64 = 169;

/// ζ^(2 BitRev₇(i) + 1), which replaces X² in residue i (FIPS 203, algorithm 11).
fn gamma(i: usize) -> i64 {
    let exponent = 2 * ((i as u8).reverse_bits() >> 1) + 1;
    (0..exponent).fold(1, |power, _| power * 17 % Q)
}

/// A coefficient of Σ a ∘ b / R for `len` pairs: the inputs of a are numbered from 512j, those of b from 512j + 256
/// (FIPS 203, algorithm 12).
fn product(len: u16, i: usize) -> Form {
    let (residue, odd) = (i / 2, i % 2 == 1);
    let terms = (0..len).flat_map(|j| {
        let a0 = 512 * j + 2 * residue as u16;
        let (a1, b0, b1) = (a0 + 1, a0 + 256, a0 + 257);
        if odd {
            [(1, Some(a0), b1), (1, Some(a1), b0)]
        } else {
            [(1, Some(a0), b0), (gamma(residue), Some(a1), b1)]
        }
    });
    Form::sum(terms, Q).scaled(INVERSE_RADIX, Q)
}

/// Makes factors and sums up products, for |x| ≤ `a` and |x| ≤ `b`.
pub(super) fn inner_product<B: Backend, const LEN: usize>(
    backend: B,
    [a, b]: [i64; 2],
    tampered: Option<usize>,
) -> Result<Vec<i64>, String> {
    prove(Q, tampered, || {
        let elements: [_; LEN] =
            array::from_fn(|j| polynomial::<i16>(512 * j as u16, Bounds::up_to(a)));
        let factors: [_; LEN] = array::from_fn(|j| {
            let b = polynomial(512 * j as u16 + 256, Bounds::up_to(b));
            let mut factor = Factor::ZERO;
            backend.run(MakeFactor {
                b: &b,
                factor: &mut factor,
            });
            let mut again = [0; 256];
            factor.write(&mut again);
            assert_eq!(again, b);
            factor
        });
        let mut output = [0; 256];
        backend.run(InnerProduct {
            a: elements.as_slice(),
            b: &factors,
            output: &mut output,
        });
        expect(&output, Bounds::up_to(Q - 1), |i| product(LEN as u16, i));
    })
}

#[test]
fn inner_products() {
    fn check<B: Backend>(b: B) {
        inner_product::<_, 1>(b, [Q; 2], None).unwrap();
        inner_product::<_, 2>(b, [Q; 2], None).unwrap();
        inner_product::<_, 3>(b, [Q; 2], None).unwrap();
        inner_product::<_, 4>(b, [Q; 2], None).unwrap();
    }

    assert_eq!(INVERSE_RADIX * (1 << 16) % Q, 1);
    on_each_width!(b => check(b));
}

#[test]
fn inner_products_need_their_bounds() {
    fn check<B: Backend>(b: B) {
        let failure = inner_product::<_, 4>(b, [4 * Q, 2 * Q], None).unwrap_err();
        assert!(failure.contains("is in"), "{failure}");
        let failure = inner_product::<_, 4>(b, [32767, 32767], None).unwrap_err();
        assert!(failure.contains("overflow"), "{failure}");
    }

    on_each_width!(b => check(b));
}

#[test]
fn each_constant_of_inner_products_matters() {
    let constants = inner_product::<_, 4>(Abstract::<16>, [Q; 2], None).unwrap();
    // 1 and the γ, each in two forms; q, q⁻¹ and 0
    assert_eq!(constants.len(), 2 * (1 + 128) + 3);
    for tampered in 0..constants.len() {
        let proof = inner_product::<_, 4>(Abstract::<16>, [Q; 2], Some(tampered));
        assert!(proof.is_err(), "constant {tampered}");
    }
}

/// f · R + g for any f and |g| ≤ `g`.
pub(super) fn times_radix_plus<B: Backend>(
    b: B,
    g: i64,
    tampered: Option<usize>,
) -> Result<Vec<i64>, String> {
    prove(Q, tampered, || {
        let mut f = polynomial::<i16>(0, Bounds::of_lane(16));
        let g = polynomial(256, Bounds::up_to(g));
        b.run(TimesRadixPlus { f: &mut f, g: &g });
        expect(&f, Bounds::new(0, Q), |i| {
            let i = i as u16;
            Form::sum([(1 << 16, None, i), (1, None, 256 + i)], Q)
        });
    })
}

#[test]
fn radix() {
    fn check<B: Backend>(b: B) {
        let constants = times_radix_plus(b, Q, None).unwrap();
        assert_eq!(constants.len(), 4);
        for (tampered, c) in constants.into_iter().enumerate() {
            // 20160 is also right, since the number to reduce is less than 2q
            let holds = times_radix_plus(b, Q, Some(tampered)).is_ok();
            assert_eq!(holds, c == 20159, "{c}");
        }
        times_radix_plus(b, 30_500, None).unwrap_err();
    }

    on_each_width!(b => check(b));
}

/// f + g and f − g, for |f| ≤ `f` and |g| ≤ `g`.
pub(super) fn additions<B: Backend>(b: B, [f, g]: [i64; 2]) -> Result<Vec<i64>, String> {
    prove(Q, None, || {
        let operands = || {
            let f = polynomial::<i16>(0, Bounds::up_to(f));
            (f, polynomial(256, Bounds::up_to(g)))
        };
        let result = |sign: i64| {
            move |i: usize| {
                let i = i as u16;
                Form::sum([(1, None, i), (sign, None, 256 + i)], Q)
            }
        };
        let (mut sum, addend) = operands();
        b.run(Add(&mut sum, &addend));
        expect(&sum, Bounds::up_to(f + g), result(1));
        let (mut difference, subtrahend) = operands();
        b.run(Subtract(&mut difference, &subtrahend));
        expect(&difference, Bounds::up_to(f + g), result(-1));
    })
}

/// For the bounds that callers use, and for others that fit.
#[test]
fn sums_and_differences() {
    fn check<B: Backend>(b: B) {
        for [f, g] in [[Q, Q], [7 * Q, Q], [0, i64::from(i16::MAX)]] {
            additions(b, [f, g]).unwrap();
        }
        additions(b, [1, i64::from(i16::MAX)]).unwrap_err();
    }

    on_each_width!(b => check(b));
}
