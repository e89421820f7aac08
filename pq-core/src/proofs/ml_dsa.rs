//! The products of ML-DSA.

extern crate alloc;

use alloc::string::String;
use alloc::vec::Vec;
use core::array;

use super::backend::{Abstract, on_each_width, on_widths};
use super::bounds::Bounds;
use super::forms::Form;
use super::inputs::{expect, polynomial};
use super::values::prove;
use super::{terms, traces};
use crate::arch::Backend;
use crate::kernel::ml_dsa::challenge::AddProduct;
use crate::kernel::ml_dsa::multiplication::{InnerProduct, Multiply};
use crate::kernel::ntt::{Q8380417, Ring};
use crate::test_random::Random;

const Q: i64 = Q8380417::Q as i64;

/// R⁻¹ mod q, R = 2³²
const INVERSE_RADIX: i64 = 8_265_825;

struct Polynomial([i32; 256]);

impl AsRef<[i32; 256]> for Polynomial {
    fn as_ref(&self) -> &[i32; 256] {
        &self.0
    }
}

/// A coefficient of Σ f ∘ g / R for `pairs` pairs: the inputs of f are numbered from 512j, those of g from
/// 512j + 256 (FIPS 204, algorithm 45).
fn product(pairs: usize, i: usize) -> Form {
    let terms = (0..pairs).map(|j| {
        let f = (512 * j + i) as u16;
        (1, Some(f), f + 256)
    });
    Form::sum(terms, Q).scaled(INVERSE_RADIX, Q)
}

/// `pairs` products of |f| ≤ `f` · q and |g| ≤ `g` · q, and with `last` one more, of factors up to `last` · q.
pub(super) fn inner_product<B: Backend>(
    b: B,
    pairs: u16,
    [f, g]: [i64; 2],
    last: Option<i64>,
    tampered: Option<usize>,
) -> Result<Vec<i64>, String> {
    prove(Q, tampered, || {
        let up_to = |j, bound: i64| Polynomial(polynomial(256 * j, Bounds::up_to(bound * Q)));
        let all = |odd, bound| {
            (0..pairs)
                .map(|j| up_to(2 * j + odd, bound))
                .collect::<Vec<_>>()
        };
        let (f, g) = (all(0, f), all(1, g));
        let last = last.map(|bound| (up_to(2 * pairs, bound), up_to(2 * pairs + 1, bound)));
        let mut output = [0; 256];
        b.run(InnerProduct {
            f: &f,
            g: &g,
            last: last.as_ref().map(|(f, g)| (f, g)),
            output: &mut output,
        });
        let pairs = f.len() + usize::from(last.is_some());
        expect(&output, Bounds::up_to(Q - 1), |i| product(pairs, i));
    })
}

#[test]
fn inner_products() {
    fn check<B: Backend>(b: B) {
        for pairs in 1..=7 {
            for last in [None, Some(10)] {
                inner_product(b, pairs, [1, 10], last, None).unwrap();
            }
        }
    }

    assert_eq!(INVERSE_RADIX * ((1 << 32) % Q) % Q, 1);
    on_each_width!(b => check(b));
}

#[test]
fn inner_products_need_their_bounds() {
    fn check<B: Backend>(b: B) {
        for (bounds, last) in [([3, 10], 10), ([1, 30], 10), ([1, 10], 20)] {
            let failure = inner_product(b, 7, bounds, Some(last), None).unwrap_err();
            assert!(failure.contains("is in"), "{failure}");
        }
        let failure = inner_product(b, 7, [200, 200], Some(10), None).unwrap_err();
        assert!(failure.contains("overflow"), "{failure}");
    }

    on_each_width!(b => check(b));
}

/// a ∘ b / R for |a|, |b| ≤ `bound` · q.
pub(super) fn multiply<B: Backend>(
    b: B,
    bound: i64,
    tampered: Option<usize>,
) -> Result<Vec<i64>, String> {
    prove(Q, tampered, || {
        let bounds = Bounds::up_to(bound * Q);
        let mut output = [0; 256];
        b.run(Multiply {
            a: &polynomial(0, bounds),
            b: &polynomial(256, bounds),
            output: &mut output,
        });
        expect(&output, Bounds::up_to(Q - 1), |i| product(1, i));
    })
}

#[test]
fn products() {
    fn check<B: Backend>(b: B) {
        multiply(b, 10, None).unwrap();
        multiply(b, 20, None).unwrap_err();
    }

    on_each_width!(b => check(b));
}

#[test]
fn each_constant_of_products_matters() {
    fn check(proof: &dyn Fn(Option<usize>) -> Result<Vec<i64>, String>) {
        // q, q⁻¹ and 0
        assert_eq!(proof(None).unwrap().len(), 3);
        for tampered in 0..3 {
            assert!(proof(Some(tampered)).is_err(), "constant {tampered}");
        }
    }

    check(&|tampered| multiply(Abstract::<1>, 10, tampered));
    check(&|tampered| multiply(Abstract::<8>, 10, tampered));
    check(&|tampered| inner_product(Abstract::<1>, 7, [1, 10], Some(10), tampered));
    check(&|tampered| inner_product(Abstract::<8>, 7, [1, 10], Some(10), tampered));
}

/// Rotations in memory. The eight bytes from byte i on stand for input i, for each i.
fn rotations(top: u8) -> [[u8; 256]; 3] {
    let mut random = Random::new(traces::naming() / 2);
    loop {
        let mut rotations = [[0; 256]; 3];
        for byte in rotations.as_flattened_mut() {
            let x = random.below(u32::from(top) + 1) as u8;
            *byte = if traces::naming() % 2 == 1 {
                top - x
            } else {
                x
            };
        }
        let words: Vec<_> = rotations.as_flattened().windows(8).collect();
        let mut names: Vec<_> = words.iter().map(|word| &word[..7]).collect();
        names.sort_unstable();
        if names.is_sorted_by(|x, y| x < y) && names[0] != [0; 7] {
            for (i, word) in words.into_iter().enumerate() {
                let word = *word.first_chunk().expect("eight bytes");
                terms::call(u64::from_le_bytes(word), terms::input(i as u16, u64::MAX));
            }
            return rotations;
        }
    }
}

/// f ± Σ rotations from these places on. The kernel sums up as many at once as fit a byte (each is at most 2η), so
/// the bytes of a sum of words are the sums of their bytes. The terms know the sums of words. In memory, each sum has
/// a name, whose bytes the kernel adds to f.
fn add_product<B: Backend, const ETA: i32, const SUBTRACT: bool>(
    b: B,
    places: &[i16],
) -> Result<Vec<u64>, String> {
    terms::prove(64, None, || {
        let before: [i32; 256] = array::from_fn(|i| 1000 * i as i32 - 128_000);
        let mut f = before;
        let bound = 128_000;
        let small = b.run(AddProduct::<ETA, SUBTRACT> {
            f: &mut f,
            terms: places,
            rotations: &rotations(2 * ETA as u8),
            bound,
        });
        let mut expected = before;
        for places in places.chunks(255 / (2 * ETA) as usize) {
            for (j, expected) in expected.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                let words = places
                    .iter()
                    .map(|place| terms::input((*place as usize + 8 * j) as u16, u64::MAX));
                let sum = words.reduce(terms::add).expect("there are some");
                for (x, byte) in expected.iter_mut().zip(terms::name(sum).to_le_bytes()) {
                    let product = i32::from(byte) - ETA * places.len() as i32;
                    *x += if SUBTRACT { -product } else { product };
                }
            }
        }
        terms::check(f == expected, "f");
        let expected = f.iter().all(|x| x.abs() < bound);
        terms::check(small == expected, "whether all are below the bound");
    })
}

/// Each place by itself, as many places as there may be, and one more than fits a byte.
#[test]
fn products_by_challenges() {
    fn check<B: Backend, const ETA: i32, const SUBTRACT: bool>(b: B) {
        let mut random = Random::new(1);
        let check = |places: &[i16]| {
            add_product::<_, ETA, SUBTRACT>(b, places).unwrap();
        };
        (0..=512).for_each(|place| check(&[place]));
        for count in [31, 32, 39, 49, 60] {
            let places: Vec<_> = (0..count).map(|_| random.below(513) as i16).collect();
            check(&places);
        }
    }

    on_widths!(b, ANY, 1 2 4 8 => {
        check::<_, 2, false>(b);
        check::<_, 2, true>(b);
        check::<_, 4, false>(b);
        check::<_, 4, true>(b);
    });
}
