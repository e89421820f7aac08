//! The methods of each backend's vectors on more operands than their tests have: all pairs of 16 bits, and wider
//! pairs wherever a carry or a sign may go wrong.

extern crate alloc;

use alloc::vec::Vec;
use core::fmt::Debug;

use crate::arch::{Backend, Coefficients, Kernel, Vector, Words, on_each_backend};
use crate::kernel::ntt::{Q3329, Ring};
use crate::test_random::{Random, inputs};

/// A kernel that calls a function with the backend.
struct Run<F>(F);

impl<B: Backend, F: FnOnce(B)> Kernel<B> for Run<F> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        self.0(b);
    }
}

/// Checks that the lanes of `actual` are the results of `expected` for the lanes of `x`.
#[inline(always)]
fn expect<V: Vector>(
    actual: V,
    x: &V::Array,
    expected: impl Fn(V::Element) -> V::Element,
    of: impl Debug,
) where
    V::Element: PartialEq,
{
    let mut array = V::Array::default();
    actual.store(&mut array);
    let mut same = true;
    for (actual, x) in array.as_ref().iter().zip(x.as_ref()) {
        same &= *actual == expected(*x);
    }
    assert!(same, "{of:?}");
}

/// Every number of 16 bits with each of `others`. Sums and differences use only operands whose result fits, and the
/// high half leaves out the least number as the second operand.
struct Pairs<'a> {
    others: &'a [i16],
    all: &'a [i16],
}

impl<B: Backend> Kernel<B> for Pairs<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        for y in self.others {
            let other = B::I16s::splat(b, *y);
            let wide = i32::from(*y);
            for array in B::I16s::chunks(self.all) {
                let x = B::I16s::load(b, array);
                let product = |x: i16| i32::from(x) * wide;
                expect(x.mul_low(other), array, |x| product(x) as i16, ("low", y));
                if *y != i16::MIN {
                    let high = |x| (product(x) >> 16) as i16;
                    expect(x.mul_high(other), array, high, ("high", y));
                }
                // Change operands whose result would not fit.
                let mut fits = *array;
                for x in fits.as_mut() {
                    *x = x.saturating_add(*y).wrapping_sub(*y);
                }
                let x = B::I16s::load(b, &fits);
                expect(x.add(other), &fits, |x| x.wrapping_add(*y), ("sum", y));
                let mut fits = *array;
                for x in fits.as_mut() {
                    *x = x.saturating_sub(*y).wrapping_add(*y);
                }
                let x = B::I16s::load(b, &fits);
                expect(
                    x.sub(other),
                    &fits,
                    |x| x.wrapping_sub(*y),
                    ("difference", y),
                );
            }
        }
    }
}

/// Every number of 16 bits times each of `factors`, |c| ≤ q / 2, modulo q = 3329.
struct Products<'a> {
    factors: &'a [i16],
    all: &'a [i16],
}

impl<B: Backend> Kernel<B> for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        const Q: i32 = Q3329::Q as i32;
        let q = B::I16s::splat(b, Q3329::Q);
        for c in self.factors {
            let factor = B::I16s::splat(b, *c);
            let wide = i32::from(*c);
            let inverse = c.wrapping_mul(-3327 /* q⁻¹ mod± 2^16 */);
            let over_q = (2 * (wide << 16) + Q).div_euclid(2 * Q) as i16;
            let over_2q = ((wide << 16) + Q).div_euclid(2 * Q) as i16;
            for array in B::I16s::chunks(self.all) {
                let x = B::I16s::load(b, array);
                let montgomery = |x: i16| {
                    let m = i32::from(x.wrapping_mul(inverse));
                    ((i32::from(x) * wide - m * Q) >> 16) as i16
                };
                let product = x.montgomery_product(factor, B::I16s::splat(b, inverse), q);
                expect(product, array, montgomery, ("Montgomery", c));
                let barrett = |x: i16| {
                    let quotient = (i32::from(x) * i32::from(over_q)) >> 16;
                    (i32::from(x) * wide - quotient * Q) as i16
                };
                let product = x.barrett_product(factor, B::I16s::splat(b, over_q), q);
                expect(product, array, barrett, ("Barrett", c));
                let rounded = |x: i16| {
                    let twice = i32::from(x) * i32::from(over_2q);
                    let quotient = if B::I16s::ROUNDS {
                        (twice + (1 << 14)) >> 15
                    } else {
                        twice >> 15
                    };
                    (i32::from(x) * wide - quotient * Q) as i16
                };
                let product = x.rounded_product(factor, B::I16s::splat(b, over_2q), q);
                expect(product, array, rounded, ("rounded", c));
            }
        }
    }
}

/// All numbers of 16 bits.
fn all() -> Vec<i16> {
    (i16::MIN..=i16::MAX).collect()
}

/// Numbers of 64 bits whose lower halves and quarters matter too: powers of two, their neighbours, the negatives
/// of all these, and some random numbers.
fn edges() -> Vec<i64> {
    let mut random = Random::new(9);
    let powers = (0..64).map(|n| 1i64 << n);
    let near = powers.flat_map(|x| [x, x.wrapping_sub(1), x.wrapping_add(1)]);
    let near = near.flat_map(|x| [x, x.wrapping_neg()]);
    near.chain((0..64).map(|_| random.bits() as i64)).collect()
}

#[test]
fn pairs_of_16_bits_near_edges() {
    fn check<B: Backend>(b: B, edges: &[i16]) {
        b.run(Pairs {
            others: edges,
            all: &all(),
        });
        let factors: Vec<i16> = edges.iter().map(|x| x % (Q3329::Q / 2 + 1)).collect();
        b.run(Products {
            factors: &factors,
            all: &all(),
        });
    }

    let mut edges: Vec<i16> = edges().into_iter().map(|x| x as i16).collect();
    edges.sort_unstable();
    edges.dedup();
    edges.truncate(inputs(edges.len()));
    on_each_backend!(b => check(b, &edges));
}

/// All 2³² pairs, and each factor times each number.
#[test]
#[ignore = "takes up to half a minute: README.md has the command"]
fn all_pairs_of_16_bits() {
    fn check<B: Backend>(b: B) {
        let all = all();
        let (others, all) = (&all, &all);
        b.run(Pairs { others, all });
        let factors: Vec<i16> = (-Q3329::Q / 2..=Q3329::Q / 2).collect();
        b.run(Products {
            factors: &factors,
            all,
        });
    }

    on_each_backend!(b => check(b));
}

/// Each pair of numbers near edges, in every lane.
#[test]
fn pairs_of_wider_numbers_near_edges() {
    fn each<V: Vector>(
        token: V::Token,
        edges: &[V::Element],
        check: impl Fn(V, &V::Array, V::Element),
    ) {
        // enough to fill the vectors, in another order for each lane
        let mut padded = edges.to_vec();
        padded.extend_from_slice(&edges[..V::LANES]);
        for shift in 0..V::LANES {
            for array in V::chunks(&padded[shift..]) {
                for y in edges {
                    check(V::load(token, array), array, *y);
                }
            }
        }
    }

    fn words<V: Words>(token: V::Token, edges: &[V::Element])
    where
        V::Element: Wrapping,
    {
        each::<V>(token, edges, |x, array, y| {
            let other = V::splat(token, y);
            expect(x.add(other), array, |x| x.sum(y), "sum");
            expect(x.add_late(other), array, |x| x.sum(y), "sum");
            expect(x.sub(other), array, |x| x.difference(y), "difference");
        });
    }

    fn coefficients<V: Coefficients<Element = i32>>(token: V::Token, edges: &[i32]) {
        each::<V>(token, edges, |x, array, y| {
            let other = V::splat(token, y);
            let product = |x: i32| i64::from(x) * i64::from(y);
            expect(x.mul_low(other), array, |x| product(x) as i32, "low half");
            if y != i32::MIN {
                let high = |x| (product(x) >> 32) as i32;
                expect(x.mul_high(other), array, high, "high half");
            }
            let mut halves = *array;
            for x in halves.as_mut() {
                *x >>= 1;
            }
            let (x, other) = (V::load(token, &halves), V::splat(token, y >> 1));
            expect(x.add(other), &halves, |x| x + (y >> 1), "sum");
            expect(x.sub(other), &halves, |x| x - (y >> 1), "difference");
        });
    }

    fn check<B: Backend>(b: B) {
        let edges = edges();
        let signed: Vec<i32> = edges.iter().map(|x| *x as i32).collect();
        let unsigned: Vec<u32> = edges.iter().map(|x| *x as u32).collect();
        let wide: Vec<u64> = edges.iter().map(|x| *x as u64).collect();
        b.run(Run(|b: B| coefficients::<B::I32s>(b, &signed)));
        b.run(Run(|b: B| words::<B::U32s>(b, &unsigned)));
        b.run(Run(|b: B| words::<B::U64s>(b, &wide)));
        b.run_few(Run(|b: B| words::<B::Few>(From::from(b), &wide)));
    }

    on_each_backend!(b => check(b));
}

/// Sums and differences modulo 2^bits.
trait Wrapping: Copy + PartialEq {
    fn sum(self, other: Self) -> Self;
    fn difference(self, other: Self) -> Self;
}

macro_rules! wrapping {
    ($($word:ty)*) => {$(
        impl Wrapping for $word {
            fn sum(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn difference(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
        }
    )*};
}
wrapping!(u32 u64);
