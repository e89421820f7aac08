//! Kernels that are loops over single coefficients, run on every possible coefficient: they give the results
//! of the standards, and nothing overflows, which the test profile checks. Kernels that pack, unpack or sample run on
//! every backend of the machine, since each may do this by instructions of its own. The others run on the portable
//! backend: all compile the same loops.

use core::array;
use core::ops::RangeInclusive;

use crate::arch::{Backend, Kernel, Portable, on_each_backend};
use crate::kernel::ml_dsa::challenge::{AddProduct, Rotate, Terms, Unrotate};
use crate::kernel::ml_dsa::encoding::{
    BitPack, BitUnpack, Ones, SimpleBitPack, SimpleBitUnpack, UnpackSmall,
};
use crate::kernel::ml_dsa::multiplication::OverRadix;
use crate::kernel::ml_dsa::rounding::{
    AddPower2Round, Below, Centre, D, Decompose, GAMMA2_44, GAMMA2_65_87, MakeHint, UseHint,
};
use crate::kernel::ml_kem::compression::{
    Canonicalise, CompressEncode, CompressedDifference, Decode12, DecodeDecompress, Encode12,
};
use crate::kernel::ml_kem::sampling::CentredBinomial;
use crate::kernel::ntt::{Q3329, Q8380417, Ring};
use crate::kernel::{ml_dsa, ml_kem};

const Q16: i32 = Q3329::Q as i32;
const Q: i32 = Q8380417::Q;

fn run<K: Kernel<Portable>>(kernel: K) -> K::Output {
    Portable.run(kernel)
}

/// All numbers of a range, 256 at a time; the last number may be repeated.
fn polynomials(range: RangeInclusive<i32>) -> impl Iterator<Item = [i32; 256]> {
    let (first, last) = range.into_inner();
    (first..=last)
        .step_by(256)
        .map(move |start| array::from_fn(|i| start.saturating_add(i as i32).min(last)))
}

/// The same as coefficients of ML-KEM.
fn small_polynomials(range: RangeInclusive<i32>) -> impl Iterator<Item = [i16; 256]> {
    polynomials(range).map(|f| f.map(|x| x as i16))
}

/// The numbers of a range in turn, from the one with the number `first` on: so a kernel that takes the number of another
/// place is found.
fn in_turn<T>(range: RangeInclusive<T>, first: usize) -> [T; 256]
where
    RangeInclusive<T>: Iterator<Item = T> + Clone,
{
    let mut numbers = range.cycle().skip(first);
    array::from_fn(|_| numbers.next().expect("a range that is not empty"))
}

/// The i'th number of so many bits, the least significant first.
fn number(bytes: &[u8], bits: usize, i: usize) -> i32 {
    let (first, shift) = (bits * i / 8, bits * i % 8);
    let bytes = &bytes[first..(bits * (i + 1)).div_ceil(8)];
    let number = bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u32::from(*byte));
    (number >> shift & ((1 << bits) - 1)) as i32
}

/// The inverse: `numbers` one after the other.
fn packed(numbers: &[i32; 256], bits: usize) -> [u8; 32 * 20] {
    let mut bytes = [0; 32 * 20];
    for n in 0..256 * bits {
        bytes[n / 8] |= ((numbers[n / bits] >> (n % bits) & 1) as u8) << (n % 8);
    }
    bytes
}

/// r mod± m: in −m/2 < r' ≤ m/2.
fn mod_plus_minus(r: i32, m: i32) -> i32 {
    let r = r.rem_euclid(m);
    if r > m / 2 { r - m } else { r }
}

/// FIPS 204, algorithm 36.
fn textbook_decompose(gamma2: i32, r: i32) -> (i32, i32) {
    let r = r.rem_euclid(Q);
    let r0 = mod_plus_minus(r, 2 * gamma2);
    if r - r0 == Q - 1 {
        (0, r0 - 1)
    } else {
        ((r - r0) / (2 * gamma2), r0)
    }
}

#[test]
fn compressed_numbers_are_compared() {
    fn check<B: Backend, const D: usize>(b: B) {
        for f in small_polynomials(-4 * Q16..=4 * Q16) {
            let mut bytes = [0; 32 * 11];
            let bytes = &mut bytes[..32 * D];
            b.run(CompressEncode::<D> {
                f: &f,
                output: bytes,
            });
            for (i, x) in f.into_iter().enumerate() {
                // ⌈2^D · x / q⌋ mod 2^D, with both sides doubled to stay in integers
                let rounded = (2 * (i32::from(x) << D) + Q16).div_euclid(2 * Q16);
                assert_eq!(number(bytes, D, i), rounded & ((1 << D) - 1));
            }
            assert_eq!(
                b.run(CompressedDifference::<D> {
                    f: &f,
                    input: bytes
                }),
                0
            );
        }
    }

    on_each_backend!(b => {
        check::<_, 4>(b);
        check::<_, 5>(b);
        check::<_, 10>(b);
        check::<_, 11>(b);
    });
}

#[test]
fn numbers_are_decompressed() {
    fn check<B: Backend, const D: usize>(b: B) {
        for numbers in polynomials(0..=(1 << D) - 1) {
            let mut f = [0; 256];
            b.run(DecodeDecompress::<D> {
                input: &packed(&numbers, D)[..32 * D],
                f: &mut f,
            });
            let expected = numbers.map(|y| ((2 * Q16 * y + (1 << D)) >> (D + 1)) as i16);
            assert_eq!(f, expected);
        }
    }

    on_each_backend!(b => {
        check::<_, 4>(b);
        check::<_, 5>(b);
        check::<_, 10>(b);
        check::<_, 11>(b);
    });
}

#[test]
fn coefficients_of_ml_kem_become_canonical() {
    on_each_backend!(b => for f in small_polynomials(-8 * Q16..=8 * Q16) {
        let expected = f.map(|x| i32::from(x).rem_euclid(Q16));
        let mut canonical = f;
        b.run(Canonicalise(&mut canonical));
        assert_eq!(canonical.map(i32::from), expected);
        let mut bytes = [0; 384];
        b.run(Encode12 {
            f: &f,
            output: &mut bytes,
        });
        assert_eq!(bytes, packed(&expected, 12)[..384]);
    });
}

/// Each number in some place, and the numbers near q in every place.
#[test]
fn coefficients_are_reduced_or_not() {
    fn check(b: impl Backend, x: i32, place: usize) {
        let numbers = array::from_fn(|i| if i == place { x } else { 0 });
        let input = &packed(&numbers, 12)[..384];
        let mut f = [1; 256];
        assert_eq!(b.run(Decode12 { input, f: &mut f }), x < Q16);
        assert_eq!(f.map(i32::from), numbers);
    }

    on_each_backend!(b => {
        for x in 0..4096 {
            check(b, x, x as usize % 256);
        }
        for place in 0..256 {
            for x in [Q16 - 1, Q16, 4095] {
                check(b, x, place);
            }
        }
    });
}

/// All bits of one coefficient, or of four (FIPS 203, algorithm 8).
#[test]
fn binomials_of_all_bits() {
    fn check(b: impl Backend) {
        let ones = |bits: u32| bits.count_ones() as i16;
        for first in 0..=255 {
            let bytes: [u8; 256] = in_turn(0..=255, first);
            let bytes = &bytes[..128];
            let mut f = [9; 256];
            b.run(CentredBinomial::<2> { bytes, f: &mut f });
            for (f, byte) in f.as_chunks().0.iter().zip(bytes) {
                let bits = u32::from(*byte);
                let expected = [bits, bits >> 4].map(|bits| ones(bits & 3) - ones(bits >> 2 & 3));
                assert_eq!(*f, expected);
            }
        }
        for high in 0u32..1 << 18 {
            let bits: [u32; 64] = array::from_fn(|i| high << 6 | i as u32);
            let bytes = bits.map(|bits| *bits.to_le_bytes().first_chunk::<3>().unwrap());
            let mut f = [9; 256];
            b.run(CentredBinomial::<3> {
                bytes: bytes.as_flattened(),
                f: &mut f,
            });
            for (f, bits) in f.as_chunks::<4>().0.iter().zip(bits) {
                for (i, x) in f.iter().enumerate() {
                    let bits = bits >> (6 * i);
                    assert_eq!(*x, ones(bits & 7) - ones(bits >> 3 & 7));
                }
            }
        }
    }

    on_each_backend!(b => check(b));
}

#[test]
fn coefficients_are_decomposed() {
    fn check<const GAMMA2: i32, const W1_BITS: usize>() {
        let all: [u8; 256] = array::from_fn(|i| i as u8);
        let m = (Q - 1) / (2 * GAMMA2);
        for input in polynomials(1 - Q..=Q - 1) {
            let (mut f, mut high) = (input, [0; 256]);
            run(Decompose::<GAMMA2> {
                f: &mut f,
                high: &mut high,
            });
            let mut packed = [[0; 32 * 6]; 2];
            for (packed, hints) in packed.iter_mut().zip([&all[..0], &all]) {
                run(UseHint::<GAMMA2, W1_BITS> {
                    f: &mut { input },
                    hints,
                    output: &mut packed[..32 * W1_BITS],
                });
            }
            for (i, x) in input.into_iter().enumerate() {
                let (r1, r0) = textbook_decompose(GAMMA2, x);
                assert_eq!((high[i], f[i]), (r1, r0));
                // algorithm 40
                let hinted = (r1 + if r0 > 0 { 1 } else { -1 }).rem_euclid(m);
                assert_eq!(packed.map(|w1| number(&w1, W1_BITS, i)), [r1, hinted]);
            }
        }
    }

    check::<GAMMA2_44, 6>();
    check::<GAMMA2_65_87, 4>();
}

/// Every coefficient with every small one, for both η.
#[test]
fn powers_of_two_are_rounded_to() {
    let check = |input: [i32; 256], eta: i32, g_plus_eta: &[u8; 256]| {
        let (mut f, mut high) = (input, [0; 320]);
        run(AddPower2Round {
            f: &mut f,
            g_plus_eta,
            eta: eta as u8,
            high: &mut high,
        });
        for (i, x) in input.into_iter().enumerate() {
            let r = (x + i32::from(g_plus_eta[i]) - eta).rem_euclid(Q);
            let r0 = mod_plus_minus(r, 1 << D);
            assert_eq!((number(&high, 10, i), f[i]), ((r - r0) >> D, r0));
        }
    };
    for eta in [2, 4] {
        for first in 0..=2 * eta {
            let g_plus_eta = in_turn(0..=2 * eta as u8, first as usize);
            polynomials(-Q..=Q).for_each(|f| check(f, eta, &g_plus_eta));
        }
    }
}

#[test]
fn coefficients_are_centred() {
    const NEAR: i32 = (1 << 21) - 1;
    for middle in [-Q, 0, Q] {
        for f in polynomials((middle - NEAR).max(-Q)..=(middle + NEAR).min(Q)) {
            let mut centred = f;
            run(Centre(&mut centred));
            assert_eq!(centred, f.map(|x| mod_plus_minus(x, Q)));
        }
    }
}

/// Every sum of a low part and ct₀ that the kernel takes, for the high parts that make a difference
/// (FIPS 204, algorithm 39, where ct₀ is less than γ₂ by magnitude).
#[test]
fn hints_are_made() {
    fn check<const GAMMA2: i32>() {
        let top = (Q - 1) / (2 * GAMMA2) - 1;
        let greatest = GAMMA2 + (1 << 21) - 1;
        for sums in polynomials(-greatest..=greatest) {
            let low = sums.map(|a| a.clamp(-GAMMA2, GAMMA2));
            let ct0: [i32; 256] = array::from_fn(|i| sums[i] - low[i]);
            // Of four, so that the only sum for which the high part matters, -γ2, meets another one than the first
            // place does: it is the last of its polynomial, and 255 is a multiple of three.
            for first in 0..4 {
                let highs = in_turn(0..=3, first).map(|n| [0, 1, top, 1][n]);
                let mut hint = low;
                let (ones, small) = run(MakeHint::<GAMMA2> {
                    f: &mut hint,
                    high: &highs,
                    ct0: &ct0,
                });
                assert_eq!(small, ct0.iter().all(|x| x.abs() < GAMMA2));
                assert_eq!(ones as i32, hint.iter().sum::<i32>());
                for (i, (h, high)) in hint.into_iter().zip(highs).enumerate() {
                    if ct0[i].abs() < GAMMA2 {
                        let r = high * 2 * GAMMA2 + sums[i];
                        let changed = textbook_decompose(GAMMA2, r).0 != high;
                        assert_eq!(h, i32::from(changed), "{high} {}", sums[i]);
                    }
                }
            }
        }
    }

    check::<GAMMA2_44>();
    check::<GAMMA2_65_87>();
}

#[test]
fn numbers_are_packed() {
    fn signed<const D: usize>(b: impl Backend, top: i32) {
        for f in polynomials(top - (1 << D) + 1..=top) {
            let mut bytes = [0; 32 * 20];
            let output = &mut bytes[..32 * D];
            b.run(BitPack::<D> { f: &f, top, output });
            assert_eq!(bytes, packed(&f.map(|x| top - x), D));
            let mut again = [0; 256];
            b.run(BitUnpack::<D> {
                input: &bytes[..32 * D],
                top,
                f: &mut again,
            });
            assert_eq!(again, f);
        }
    }

    fn simple<const D: usize>(b: impl Backend) {
        for f in polynomials(0..=(1 << D) - 1) {
            let mut bytes = [0; 32 * 20];
            let output = &mut bytes[..32 * D];
            b.run(SimpleBitPack::<D> { f: &f, output });
            assert_eq!(bytes, packed(&f, D));
            let mut again = [0; 256];
            b.run(SimpleBitUnpack::<D, 13> {
                input: &bytes[..32 * D],
                f: &mut again,
            });
            assert_eq!(again, f.map(|x| x << 13));
        }
    }

    on_each_backend!(b => {
        signed::<3>(b, 2);
        signed::<4>(b, 4);
        signed::<13>(b, 1 << 12);
        signed::<18>(b, 1 << 17);
        signed::<20>(b, 1 << 19);
        simple::<4>(b);
        simple::<6>(b);
        simple::<10>(b);
    });
}

/// Each number in every place.
#[test]
fn small_numbers_are_unpacked() {
    fn check<const D: usize>(b: impl Backend, top: u8) {
        for x in 0..1 << D {
            for place in 0..256 {
                let numbers = array::from_fn(|i| if i == place { x } else { 0 });
                let mut top_less_x = [1; 256];
                let small = b.run(UnpackSmall::<D> {
                    input: &packed(&numbers, D)[..32 * D],
                    top,
                    top_less_x: &mut top_less_x,
                });
                assert_eq!(small, x <= 2 * i32::from(top));
                assert_eq!(top_less_x.map(i32::from), numbers);
            }
        }
    }

    on_each_backend!(b => {
        check::<3>(b, 2);
        check::<4>(b, 4);
    });
}

/// Each coefficient of a challenge and each bit of a hint, in every place.
#[test]
fn places_are_found() {
    on_each_backend!(b => for place in 0..256 {
        let one = |x: i32| array::from_fn(|i| if i == place { x } else { 0 });
        for (c, start) in [(0, None), (1, Some(512)), (-1, Some(256))] {
            let mut terms = [0; 256];
            let count = b.run(Terms {
                c: &one(c),
                terms: &mut terms,
            });
            let expected = start.map(|start: usize| (start - place) as i16);
            assert_eq!(terms[..count], *expected.as_slice());
        }
        let mut indices = [0; 256];
        let hint = one(1);
        let count = b.run(Ones {
            hint: &hint,
            indices: &mut indices,
        });
        assert_eq!(indices[..count], [place as i16]);
    });
}

#[test]
fn secrets_are_rotated() {
    for eta in [2u8, 4] {
        for first in 0..=2 * eta {
            // every number in every place, next to others
            let eta_less_s = in_turn(0..=2 * eta, first.into());
            let mut rotations = [[0; 256], eta_less_s, [0; 256]];
            run(Rotate {
                rotations: &mut rotations,
                eta,
            });
            let eta_plus_s = eta_less_s.map(|x| 2 * eta - x);
            assert_eq!(rotations, [eta_plus_s, eta_less_s, eta_plus_s]);
            let mut s = [0; 256];
            run(Unrotate {
                rotations: &rotations,
                eta,
                s: &mut s,
            });
            assert_eq!(s, eta_less_s.map(|x| i32::from(eta) - i32::from(x)));
        }
    }
}

/// Every sum of every number of terms: from places that hold 2η, one place that holds less, and places that hold 0.
#[test]
fn products_of_every_sum() {
    fn check<const ETA: i32, const SUBTRACT: bool>() {
        let top = 2 * ETA as usize;
        for count in 1..=60 {
            for sum in 0..=top * count {
                let rest = (sum % top) as u8;
                let terms: [i16; 60] = array::from_fn(|i| match i {
                    i if i < sum / top => 512,
                    i if i == sum / top => 256,
                    _ => 0,
                });
                let before = [0, 1 - (1 << 30) + 240, (1 << 30) - 1 - 240];
                let mut f = array::from_fn(|i| before[i % 3]);
                let product = sum as i32 - ETA * count as i32;
                let product = if SUBTRACT { -product } else { product };
                let expected: [i32; 256] = array::from_fn(|i| before[i % 3] + product);
                let greatest = expected.iter().map(|x| x.abs()).max();
                let bound = greatest.expect("there are 256") + (sum % 2) as i32;
                let small = run(AddProduct::<ETA, SUBTRACT> {
                    f: &mut f,
                    terms: &terms[..count],
                    rotations: &[[0; 256], [rest; 256], [top as u8; 256]],
                    bound,
                });
                assert_eq!(f, expected, "{sum} of {count}");
                assert_eq!(small, sum % 2 == 1, "{sum} of {count}");
            }
        }
    }

    check::<2, false>();
    check::<2, true>();
    check::<4, false>();
    check::<4, true>();
}

/// Checks what `append` makes of a block of `N` numbers of `bits` bits, of which it takes those below `limit`: for
/// every number in some place, for the numbers near the limit in every place, and for every choice of places among
/// sixteen in a row, with the other numbers taken or not. The output is filled to every possible length in turn.
fn candidates<T, const N: usize>(
    bits: usize,
    limit: u32,
    groups: &[usize],
    append: impl Fn(&[u32; N], &mut [T; 256], usize) -> usize,
) where
    T: Copy + PartialEq + TryFrom<u32, Error: core::fmt::Debug> + core::fmt::Debug,
{
    let twelve = T::try_from(12).expect("it fits");
    let check = |numbers: &[u32; N], filled: usize| {
        let mut output = [twelve; 256];
        let count = append(numbers, &mut output, filled);
        let taken = numbers.iter().filter(|x| **x < limit);
        let taken = taken.map(|x| T::try_from(*x).expect("it fits"));
        let all = core::iter::repeat_n(twelve, filled).chain(taken).take(256);
        assert!(output[..count].iter().copied().eq(all), "{numbers:?}");
    };
    for first in (0..1u32 << bits).step_by(N) {
        check(
            &array::from_fn(|i| (first + i as u32) & ((1 << bits) - 1)),
            0,
        );
    }
    for place in 0..N {
        for x in [0, limit - 1, limit, (1 << bits) - 1] {
            for others in [0, limit] {
                check(
                    &array::from_fn(|i| if i == place { x } else { others }),
                    place,
                );
            }
        }
    }
    for start in groups {
        for choice in 0..1u32 << 16 {
            let others = if choice % 3 == 0 { 0 } else { limit };
            let numbers = array::from_fn(|i| match i.checked_sub(*start) {
                Some(j) if j < 16 && choice >> j & 1 == 1 => i as u32,
                Some(j) if j < 16 => limit + i as u32,
                _ => others,
            });
            check(&numbers, choice as usize % 257);
        }
    }
}

/// FIPS 203, algorithm 7.
#[test]
fn candidates_of_ml_kem() {
    on_each_backend!(b => {
        let groups = [0, 16, 32, 48, 64, 80, 96];
        candidates(12, Q16 as u32, &groups, |numbers: &[u32; 112], f, filled| {
            let mut block = [0; 168];
            for (bytes, [d1, d2]) in block.as_chunks_mut().0.iter_mut().zip(numbers.as_chunks().0) {
                // d₁ = C₀ + 256 (C₁ mod 16), d₂ = ⌊C₁ / 16⌋ + 16 C₂
                *bytes = [*d1 as u8, (d1 / 256 + 16 * (d2 % 16)) as u8, (d2 / 16) as u8];
            }
            b.run(ml_kem::sampling::RejectUniform { block: &block, f, filled })
        });
    });
}

/// FIPS 204, algorithms 14 and 30, whatever the value of the bit that is ignored.
#[test]
fn candidates_of_ml_dsa() {
    on_each_backend!(b => {
        let groups = [0, 16, 32, 40];
        candidates(23, Q as u32, &groups, |numbers: &[u32; 56], f, filled| {
            let mut block = [0; 168];
            for (i, (bytes, x)) in block.as_chunks_mut().0.iter_mut().zip(numbers).enumerate() {
                let more = (filled + i) as u8 % 2 * 128;
                *bytes = [*x as u8, (x >> 8) as u8, (x >> 16) as u8 + more];
            }
            b.run(ml_dsa::sampling::RejectUniform { block: &block, f, filled })
        });
    });
}

/// f / R of all 2³² coefficients, R = 2³².
#[test]
#[ignore = "takes up to half a minute: README.md has the command"]
fn radix_of_every_coefficient() {
    for f in polynomials(i32::MIN..=i32::MAX) {
        let mut over = f;
        run(OverRadix(&mut over));
        for (x, over) in f.into_iter().zip(over) {
            let difference = (i64::from(over) << 32) - i64::from(x);
            assert!(over.abs() < Q && difference % i64::from(Q) == 0, "{x}");
        }
    }
}

/// All 2³¹ coefficients that the kernel takes, for some bounds.
#[test]
#[ignore = "takes up to half a minute: README.md has the command"]
fn all_norms() {
    const LIMIT: i32 = (1 << 30) - 1;
    for bound in [1, (1 << 17) - 78, (1 << 19) - 196, GAMMA2_44, LIMIT] {
        let mut below = 0;
        for f in polynomials(-LIMIT..=LIMIT) {
            let expected = f.iter().all(|x| x.abs() < bound);
            assert_eq!(run(Below { f: &f, bound }), expected);
            below += usize::from(expected);
        }
        assert!(below.abs_diff(2 * bound as usize / 256) <= 2);
    }
}
