//! No secret decides what a kernel over vectors does, except those that are declassified.
//!
//! In a proof, numbers in memory are names. They stand for secrets, and say nothing about them. If a kernel does
//! anything with a name except load it into a lane, its behaviour depends on the name, and differs with other names.
//! So each proof runs with several namings. An observer has to see the same operations, on the same values, with the
//! same constants, and the same public outputs.

extern crate alloc;

use alloc::string::String;
use core::array;
use core::fmt::Debug;

use super::backend::{Abstract, CHI_LAST, COMPLEMENTS, IN_MEMORY, ROUNDS, on_each_width_of_words};
use super::bounds::Bounds;
use super::inputs::{Number, polynomial};
use super::traces::{self, observe};
use super::transforms::{Matrices, STATED, Standard};
use super::{keccak, ml_dsa, ml_kem, sha2, terms, transforms, values};
use crate::arch::{Backend, Coefficients, U64s, Vector, Words};
use crate::kernel::ml_dsa::challenge::Terms;
use crate::kernel::ml_dsa::encoding::Ones;
use crate::kernel::ml_dsa::sampling::RejectBounded;
use crate::kernel::ntt::{Q3329, Q8380417};
use crate::kernel::{ml_dsa as kernels_of_ml_dsa, ml_kem as kernels_of_ml_kem};
use crate::test_random::Random;

const Q: i64 = 3329;

#[test]
fn transforms_see_no_secret() {
    fn check<B: Backend, R: Standard>(b: B, matrices: &Matrices) {
        observe(|| transforms::forward::<_, R>(b, STATED, matrices)).unwrap();
        observe(|| transforms::forward_of::<_, R>(b, STATED, matrices)).unwrap();
        observe(|| transforms::inverse::<_, R>(b, STATED, matrices)).unwrap();
    }

    let matrices = Matrices::new::<Q3329>();
    check::<_, Q3329>(Abstract::<1>, &matrices);
    check::<_, Q3329>(Abstract::<16>, &matrices);
    check::<_, Q3329>(Abstract::<8, ROUNDS>, &matrices);
    let matrices = Matrices::new::<Q8380417>();
    check::<_, Q8380417>(Abstract::<1>, &matrices);
    check::<_, Q8380417>(Abstract::<8>, &matrices);
    // all in registers
    check::<_, Q8380417>(Abstract::<16>, &matrices);
}

#[test]
fn products_see_no_secret() {
    fn check<B: Backend>(b: B) {
        observe(|| ml_kem::inner_product::<_, 4>(b, [Q; 2], None)).unwrap();
        observe(|| ml_kem::times_radix_plus(b, Q, None)).unwrap();
        observe(|| ml_kem::additions(b, [Q; 2])).unwrap();
        observe(|| ml_dsa::inner_product(b, 7, [1, 10], Some(10), None)).unwrap();
        observe(|| ml_dsa::multiply(b, 10, None)).unwrap();
    }

    on_each_width_of_words!(b => check(b));
}

/// Except how many blocks and bytes there are, and which sponges begin.
#[test]
fn hash_functions_see_no_secret() {
    fn check<B: Backend>(b: B) {
        let lens = [136, 168, 0, 72, 136, 168, 0, 72, 0, 0, 0, 0, 0, 0, 0, 0];
        let lens = &lens[..B::U64s::LANES];
        observe(|| keccak::permutation::<_, false>(b, None)).unwrap();
        observe(|| keccak::absorbing(b, 136, 1, None)).unwrap();
        observe(|| keccak::step::<_, B::U64s>(b, 0, 0x5555, lens, true, None)).unwrap();
        observe(|| keccak::chain(b, 16, 2, None)).unwrap();
        observe(|| sha2::lanes::<_, u32>(b, None)).unwrap();
        observe(|| sha2::lanes::<_, u64>(b, None)).unwrap();
        observe(|| sha2::one_state::<_, u32>(b, None)).unwrap();
        observe(|| sha2::one_state::<_, u64>(b, None)).unwrap();
        observe(|| sha2::ahead(b, 2, None)).unwrap();
        observe(|| sha2::chain(b, 16, 2, None)).unwrap();
    }

    check(Abstract::<1>);
    check(Abstract::<4>);
    observe(|| keccak::permutation::<_, true>(Abstract::<4>, None)).unwrap();
    observe(|| keccak::permutation::<_, false>(Abstract::<1, COMPLEMENTS>, None)).unwrap();
    observe(|| keccak::permutation::<_, false>(Abstract::<4, CHI_LAST>, None)).unwrap();
    observe(|| keccak::permutation::<_, false>(Abstract::<2, IN_MEMORY>, None)).unwrap();
    observe(|| sha2::stream(2, None)).unwrap();
    observe(|| sha2::streams_side_by_side(None)).unwrap();
}

/// Bytes of 0 and 255, which differ with each naming.
fn bytes<const N: usize>() -> [u8; N] {
    let mut random = Random::new(traces::naming());
    array::from_fn(|_| random.below(2) as u8 * 255)
}

/// The outputs of these kernels depend on their inputs, which have to be public or declassified (see README.md).
#[test]
fn declassified_counts_show() {
    fn shows(count: impl Fn() -> usize) {
        let failure = observe(count).unwrap_err();
        assert!(failure.contains("public output"), "{failure}");
    }

    let b = Abstract::<4>;
    shows(|| {
        b.run(kernels_of_ml_kem::sampling::RejectUniform {
            block: &bytes(),
            f: &mut [0; 256],
            filled: 0,
        })
    });
    shows(|| {
        b.run(kernels_of_ml_dsa::sampling::RejectUniform {
            block: &bytes(),
            f: &mut [0; 256],
            filled: 0,
        })
    });
    shows(|| {
        b.run(RejectBounded::<2> {
            block: &bytes(),
            eta_less_s: &mut [0; 256],
            filled: 0,
        })
    });
    let bits = || bytes::<256>().map(|byte| i32::from(byte & 1));
    shows(|| {
        b.run(Terms {
            c: &bits(),
            terms: &mut [0; 256],
        })
    });
    shows(|| {
        b.run(Ones {
            hint: &bits(),
            indices: &mut [0; 256],
        })
    });
}

type Coefficients16 = <Abstract<4> as Backend>::I16s;

/// Observes an action on coefficients.
fn observe_coefficients<O: PartialEq + Debug>(
    act: impl Fn(Abstract<4>, &mut [i16; 256]) -> O,
) -> Result<(), String> {
    observe(|| {
        let mut output = None;
        let proof = values::prove(Q, None, || {
            let mut f = polynomial::<i16>(0, Bounds::up_to(100));
            output = Some(act(Abstract, &mut f));
            f.iter().for_each(|x| _ = x.value());
        });
        (proof, output)
    })
}

/// Adds vector j to vector i.
fn add(b: Abstract<4>, f: &mut [i16; 256], i: usize, j: usize) {
    let [x, y] = [i, j].map(|i| Coefficients16::load(b, &Coefficients16::chunks(f)[i]));
    x.add(y).store(&mut Coefficients16::chunks_mut(f)[i]);
}

#[test]
fn coefficients_that_are_taken_for_numbers_are_found() {
    observe_coefficients(|b, f| add(b, f, 0, 1)).unwrap();
    let found = |act: &dyn Fn(Abstract<4>, &mut [i16; 256])| {
        observe_coefficients(act).unwrap_err();
    };
    // a branch, an address, the end of a loop, the place of a value, and a constant
    found(&|b, f| {
        if f[3] < 0 {
            add(b, f, 0, 1);
        }
    });
    found(&|b, f| add(b, f, 0, f[3].unsigned_abs() as usize % 64));
    found(&|b, f| {
        for i in 0..64 {
            if f[4 * i] > f[4 * i + 1] {
                break;
            }
            add(b, f, i, 0);
        }
    });
    found(&|_, f| {
        if f[9] > f[10] {
            f.swap(0, 1);
        }
    });
    found(&|b, f| {
        let x = Coefficients16::splat(b, f[5] >> 15);
        x.mul_low(x).store(&mut [0; 4]);
    });
    // the number of those below a limit
    let count = |b: Abstract<4>, f: &mut [i16; 256]| {
        let numbers = array::from_fn(|i| u32::from(f[i].unsigned_abs()));
        b.append_below(&numbers, 3000, &mut [0i16; 256], 0)
    };
    let failure = observe_coefficients(count).unwrap_err();
    assert!(failure.contains("public output"), "{failure}");
}

#[test]
fn words_that_are_taken_for_numbers_are_found() {
    type Words64 = <Abstract<4> as Backend>::U64s;
    let observed = |act: &dyn Fn(Abstract<4>, &[u64; 4])| {
        observe(|| {
            terms::prove(64, None, || {
                act(
                    Abstract,
                    &array::from_fn(|i| terms::name(terms::input(i as u16, u64::MAX))),
                );
            })
        })
    };
    observed(&|b, words| _ = Words64::load(b, words).rotate_left::<3>()).unwrap();
    // a mask, a word that no lane has, and which of two words is loaded
    observed(&|b, words| _ = Words64::mask(b, words[0] as u32 & 1)).unwrap_err();
    observed(&|b, words| _ = Words64::splat(b, words[1] >> 1)).unwrap_err();
    observed(&|b, words| _ = Words64::splat(b, words[(words[2] & 1) as usize])).unwrap_err();
}
