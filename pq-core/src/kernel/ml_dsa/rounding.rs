//! High and low parts, hints and norms (FIPS 204, section 7.4).
//!
//! `GAMMA2` is (q − 1) / 88 or (q − 1) / 32. There are no divisions, and no
//! branches: signing rounds secrets.

use core::ops::RangeInclusive;

use crate::arch::{Backend, Kernel};
use crate::kernel::ntt::{Q8380417, Ring, within};

/// γ₂ of ML-DSA-44.
pub(crate) const GAMMA2_44: i32 = (Q - 1) / 88;
/// γ₂ of ML-DSA-65 and ML-DSA-87.
pub(crate) const GAMMA2_65_87: i32 = (Q - 1) / 32;

const Q: i32 = Q8380417::Q;

/// d of the standard, the bits dropped from **t**.
pub(crate) const D: u32 = 13;

/// Power2Round (algorithm 35) of f + g: leaves the low part in `f` and writes the high
/// part to `high`, 320 bytes, packed by SimpleBitPack (algorithm 16) with 10 bits.
///
/// Takes |f| ≤ q and |g| ≤ η ≤ 4; gives −2¹² < low ≤ 2¹².
pub(crate) struct AddPower2Round<'a> {
    pub(crate) f: &'a mut [i32; 256],
    pub(crate) g_plus_eta: &'a [u8; 256],
    pub(crate) eta: u8,
    pub(crate) high: &'a mut [u8],
}

impl<B: Backend> Kernel<B> for AddPower2Round<'_> {
    type Output = ();

    const LARGE: bool = true;

    #[inline(always)]
    fn run(self, b: B) {
        let eta = i32::from(self.eta);
        debug_assert!(within::<Q8380417>(self.f, 1) && eta <= 4);
        debug_assert!(self.g_plus_eta.iter().all(|g| *g <= 2 * self.eta));
        debug_assert_eq!(self.high.len(), 32 * 10);
        // One after the other: compilers make vectors of whole loops.
        for (f, g) in self.f.iter_mut().zip(self.g_plus_eta) {
            *f = canonical(*f + i32::from(*g) - eta);
        }
        let chunks = self.f.as_chunks::<16>().0.iter();
        for (f, bytes) in chunks.zip(self.high.chunks_exact_mut(20)) {
            let mut numbers = [0; 16];
            for (f, number) in f.iter().zip(&mut numbers) {
                let (high, _) = power2round(*f);
                *number = high as u32;
            }
            b.pack::<10>(&numbers, bytes);
        }
        for f in self.f.iter_mut() {
            (_, *f) = power2round(*f);
        }
        debug_assert!(all_in(self.f, 1 - (1 << (D - 1))..=1 << (D - 1)));
    }
}

/// Decompose (algorithm 36): leaves the low part in `f` and puts the high part in
/// `high`. HighBits and LowBits (algorithms 37 and 38) are these two parts: nobody needs one alone.
///
/// Takes |f| < q; gives −γ₂ ≤ low ≤ γ₂ and 0 ≤ high < (q − 1) / 2γ₂.
pub(crate) struct Decompose<'a, const GAMMA2: i32> {
    pub(crate) f: &'a mut [i32; 256],
    pub(crate) high: &'a mut [i32; 256],
}

impl<B: Backend, const GAMMA2: i32> Kernel<B> for Decompose<'_, GAMMA2> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: B) {
        for (f, high) in self.f.iter_mut().zip(self.high.iter_mut()) {
            (*high, *f) = decompose::<GAMMA2>(not_negative(*f));
        }
        debug_assert!(all_in(self.f, -GAMMA2..=GAMMA2));
        debug_assert!(all_in(self.high, 0..=top::<GAMMA2>()));
    }
}

/// UseHint (algorithm 40), with the hint 1 at `hints` and 0 elsewhere, to `output`, packed by
/// SimpleBitPack (algorithm 16) with D bits.
///
/// Everything is public. Takes |x| < q, which are written over where the hint is 1, and `hints`
/// in ascending order, none twice.
pub(crate) struct UseHint<'a, const GAMMA2: i32, const D: usize> {
    pub(crate) f: &'a mut [i32; 256],
    pub(crate) hints: &'a [u8],
    pub(crate) output: &'a mut [u8],
}

impl<B: Backend, const GAMMA2: i32, const D: usize> Kernel<B> for UseHint<'_, GAMMA2, D> {
    type Output = ();

    const LARGE: bool = true;

    #[inline(always)]
    fn run(self, b: B) {
        const {
            assert!(top::<GAMMA2>() < 1 << D);
        }
        debug_assert_eq!(self.output.len(), 32 * D);
        debug_assert!(self.hints.is_sorted_by(|i, j| i < j));
        // Few hints are 1. Where one is, the coefficient becomes one whose high part is right
        // without, and then all are alike.
        for i in self.hints {
            let x = &mut self.f[usize::from(*i)];
            *x = use_hint::<GAMMA2>(not_negative(*x)) * (2 * GAMMA2);
        }
        let chunks = self.f.as_chunks::<16>().0.iter();
        for (f, bytes) in chunks.zip(self.output.chunks_exact_mut(2 * D)) {
            let mut numbers = [0; 16];
            for (x, number) in f.iter().zip(&mut numbers) {
                let (high, _) = decompose::<GAMMA2>(not_negative(*x));
                *number = high as u32;
            }
            b.pack::<D>(&numbers, bytes);
        }
    }
}

/// The representative mod± q of each coefficient, in place.
///
/// Takes |x| ≤ q and |x mod± q| < 2²¹.
pub(crate) struct Centre<'a>(pub(crate) &'a mut [i32; 256]);

impl<B: Backend> Kernel<B> for Centre<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: B) {
        debug_assert!(within::<Q8380417>(self.0, 1));
        for x in self.0 {
            *x = centred(*x);
        }
    }
}

/// Whether all coefficients are below `bound` by magnitude; |x| < 2³⁰. Looks at all
/// of them whatever they are.
pub(crate) struct Below<'a> {
    pub(crate) f: &'a [i32; 256],
    pub(crate) bound: i32,
}

impl<B: Backend> Kernel<B> for Below<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self, _: B) -> bool {
        debug_assert!(all_in(self.f, BELOW_2_30));
        let mut excess = 0;
        for x in self.f {
            excess |= mask_not_below(*x, self.bound);
        }
        excess == 0
    }
}

/// MakeHint (algorithm 39) of −ct₀ and w − cs₂ + ct₀; gives the number of ones, and
/// whether ‖ct₀‖∞ < γ₂.
///
/// Takes the low part of w − cs₂ in `f`, |f| ≤ γ₂, and leaves the hint in its place; its
/// high part in `high`, 0 ≤ high < (q − 1) / 2γ₂; and |ct₀| ≤ q with |ct₀ mod± q| < 2²¹.
/// If ‖ct₀‖∞ ≥ γ₂, which ML-DSA-44 allows (its ‖ct₀‖∞ is at most τ · 2¹² = 159744), the
/// signature is refused and the hint, though 0s and 1s, means nothing.
pub(crate) struct MakeHint<'a, const GAMMA2: i32> {
    pub(crate) f: &'a mut [i32; 256],
    pub(crate) high: &'a [i32; 256],
    pub(crate) ct0: &'a [i32; 256],
}

impl<B: Backend, const GAMMA2: i32> Kernel<B> for MakeHint<'_, GAMMA2> {
    type Output = (usize, bool);

    #[inline(always)]
    fn run(self, _: B) -> (usize, bool) {
        debug_assert!(within::<Q8380417>(self.ct0, 1) && all_in(self.f, -GAMMA2..=GAMMA2));
        debug_assert!(all_in(self.high, 0..=top::<GAMMA2>()));
        let mut excess = 0;
        let mut ones = 0;
        for ((f, high), ct0) in self.f.iter_mut().zip(self.high).zip(self.ct0) {
            let ct0 = centred(*ct0);
            excess |= mask_not_below(ct0, GAMMA2);
            *f = make_hint::<GAMMA2>(*high, *f + ct0);
            ones += *f;
        }
        (ones as usize, excess == 0)
    }
}

/// |x| < 2³⁰
const BELOW_2_30: RangeInclusive<i32> = 1 - (1 << 30)..=(1 << 30) - 1;

/// Whether all coefficients are in `range`.
fn all_in(f: &[i32; 256], range: RangeInclusive<i32>) -> bool {
    f.iter().all(|x| range.contains(x))
}

/// (q − 1) / 2γ₂ − 1, the greatest high part.
const fn top<const GAMMA2: i32>() -> i32 {
    (Q - 1) / (2 * GAMMA2) - 1
}

/// Power2Round (algorithm 35): (r₁, r₀) with r = r₁ · 2^d + r₀ for 0 ≤ r < q.
#[inline(always)]
fn power2round(r: i32) -> (i32, i32) {
    let r1 = (r + (1 << (D - 1)) - 1) >> D;
    (r1, r - (r1 << D))
}

/// Decompose (algorithm 36): (r₁, r₀) with r ≡ r₁ · 2γ₂ + r₀ (mod q) for 0 ≤ r < q.
#[inline(always)]
fn decompose<const GAMMA2: i32>(r: i32) -> (i32, i32) {
    const {
        assert!(GAMMA2 == GAMMA2_44 || GAMMA2 == GAMMA2_65_87);
    }
    // r₁ = ⌈(r − γ₂) / 2γ₂⌉ = ⌊(r + γ₂ − 1) / 2γ₂⌋, by division by the power of
    // two in 2γ₂, then by the odd rest, which is a multiplication. The tests try all r.
    let r1 = if GAMMA2 == GAMMA2_44 {
        let x = (r + (GAMMA2 - 1)) >> 11; // 2γ₂ = 93 · 2^11
        (x * 5638/* ceil(2^19 / 93) */) >> 19
    } else {
        let x = (r + (GAMMA2 - 1)) >> 9; // 2γ₂ = 1023 · 2^9
        (x * 32801/* ceil(2^25 / 1023) */) >> 25
    };
    // Where r − r₀ = q − 1, r₁ = 0 and r₀ is one less.
    let wraps = (top::<GAMMA2>() - r1) >> 31;
    (r1 & !wraps, r - r1 * (2 * GAMMA2) + wraps)
}

/// UseHint (algorithm 40) with hint 1, for 0 ≤ r < q.
#[inline(always)]
fn use_hint<const GAMMA2: i32>(r: i32) -> i32 {
    let top = top::<GAMMA2>();
    let (r1, r0) = decompose::<GAMMA2>(r);
    match if r0 > 0 { r1 + 1 } else { r1 - 1 } {
        -1 => top,
        next if next > top => 0,
        next => next,
    }
}

/// MakeHint (algorithm 39): whether r = r₁ · 2γ₂ + a mod q has other high bits than
/// r₁, for |a| < 2γ₂.
///
/// It has the same if −γ₂ < a ≤ γ₂. At a = −γ₂ it falls to the multiple of 2γ₂ below,
/// unless r₁ = 0: there r = q − γ₂, where Decompose rounds up to q − 1 and wraps to 0.
///
/// For greater |a|, which only signatures to be refused have, the result is 1 and nothing
/// overflows below 2³⁰: |a| ≤ γ₂ + τ · 2¹², which is 254976 for ML-DSA-44.
#[inline(always)]
fn make_hint<const GAMMA2: i32>(r1: i32, a: i32) -> i32 {
    let above = (GAMMA2 - a) >> 31;
    let from_edge = a + GAMMA2;
    let below = from_edge >> 31;
    let at_edge = !((from_edge | -from_edge) >> 31);
    let r1_not_zero = -r1 >> 31;
    -(above | below | (at_edge & r1_not_zero))
}

/// The representative in 0 ≤ x < q of −2q ≤ x < 2q.
#[inline(always)]
fn canonical(x: i32) -> i32 {
    debug_assert!((-2 * Q..2 * Q).contains(&x));
    let x = x + ((2 * Q) & (x >> 31)) - Q;
    x + (Q & (x >> 31))
}

/// The representative in 0 ≤ x < q of −q < x < q.
#[inline(always)]
fn not_negative(x: i32) -> i32 {
    debug_assert!((1 - Q..Q).contains(&x));
    x + (Q & (x >> 31))
}

/// x mod± q for |x| ≤ q, provided that it is below 2²¹ by magnitude.
///
/// x is then within 2²¹ of −q, 0 or q, and 2²² + 2²¹ + 2¹³ < 2²³ keeps the
/// quotient, rounded by 2²³ instead of q, the same.
#[inline(always)]
fn centred(x: i32) -> i32 {
    let quotient = (x + (1 << 22)) >> 23;
    // quotient · q; a multiplication of vectors costs more
    let r = x - ((quotient << 23) - (quotient << 13) + quotient);
    debug_assert!(r.abs() < 1 << 21);
    r
}

/// −1 if |x| ≥ bound, else 0.
#[inline(always)]
fn mask_not_below(x: i32, bound: i32) -> i32 {
    let sign = x >> 31;
    let magnitude = (x ^ sign) - sign;
    (bound - 1 - magnitude) >> 31
}

#[cfg(test)]
mod tests {
    use super::{
        AddPower2Round, BELOW_2_30, Below, Centre, D, Decompose, GAMMA2_44, GAMMA2_65_87, MakeHint,
        Q, UseHint, canonical, centred, decompose, make_hint, mask_not_below, not_negative,
        power2round, use_hint,
    };
    use crate::arch::{Backend, on_each_backend};
    use crate::test_random::Random;

    /// r mod± m: in −m/2 < r' ≤ m/2.
    fn mod_plus_minus(r: i32, m: i32) -> i32 {
        let r = r.rem_euclid(m);
        if r > m / 2 { r - m } else { r }
    }

    /// Algorithm 36.
    fn textbook_decompose(gamma2: i32, r: i32) -> (i32, i32) {
        let r0 = mod_plus_minus(r, 2 * gamma2);
        if r - r0 == Q - 1 {
            (0, r0 - 1)
        } else {
            ((r - r0) / (2 * gamma2), r0)
        }
    }

    /// Algorithm 40 with h = 1.
    fn textbook_use_hint(gamma2: i32, r: i32) -> i32 {
        let m = (Q - 1) / (2 * gamma2);
        let (r1, r0) = textbook_decompose(gamma2, r);
        if r0 > 0 {
            (r1 + 1).rem_euclid(m)
        } else {
            (r1 - 1).rem_euclid(m)
        }
    }

    #[test]
    fn constants() {
        assert_eq!(BELOW_2_30, -0x3fff_ffff..=0x3fff_ffff);
        assert_eq!(2 * GAMMA2_44, 93 << 11);
        assert_eq!(2 * GAMMA2_65_87, 1023 << 9);
        assert_eq!((1 << 19) / 93 + 1, 5638);
        assert_eq!((1 << 25) / 1023 + 1, 32801);
    }

    #[test]
    fn power2round_of_every_r() {
        for r in 0..Q {
            let r0 = mod_plus_minus(r, 1 << D);
            assert_eq!(power2round(r), ((r - r0) >> D, r0));
        }
    }

    #[test]
    fn decompose_and_use_hint_of_every_r() {
        fn check<const GAMMA2: i32>() {
            for r in 0..Q {
                let (r1, r0) = decompose::<GAMMA2>(r);
                assert_eq!((r1, r0), textbook_decompose(GAMMA2, r));
                assert_eq!(use_hint::<GAMMA2>(r), textbook_use_hint(GAMMA2, r));
            }
        }

        check::<GAMMA2_44>();
        check::<GAMMA2_65_87>();
    }

    /// Algorithm 39 for every r and addends at every edge.
    #[test]
    fn make_hint_of_every_r() {
        fn check<const GAMMA2: i32>() {
            for r in 0..Q {
                let (r1, r0) = decompose::<GAMMA2>(r);
                for edge in [-GAMMA2, 0, GAMMA2] {
                    for a in edge - 1..=edge + 1 {
                        let z = a - r0;
                        if z.abs() >= GAMMA2 {
                            continue;
                        }
                        let sum = (r + z).rem_euclid(Q);
                        let expected = textbook_decompose(GAMMA2, sum).0 != r1;
                        assert_eq!(make_hint::<GAMMA2>(r1, a), i32::from(expected));
                    }
                }
            }
        }

        check::<GAMMA2_44>();
        check::<GAMMA2_65_87>();
    }

    #[test]
    fn representatives() {
        for x in -2 * Q..2 * Q {
            assert_eq!(canonical(x), x.rem_euclid(Q));
        }
        for x in 1 - Q..Q {
            assert_eq!(not_negative(x), x.rem_euclid(Q));
        }
        for x in -Q..=Q {
            let expected = mod_plus_minus(x, Q);
            if expected.abs() < 1 << 21 {
                assert_eq!(centred(x), expected);
            }
        }
    }

    #[test]
    fn bounds_of_norms() {
        for bound in [1, 78, 120, 196, GAMMA2_44, GAMMA2_65_87, 1 << 17, 1 << 19] {
            for x in (-bound - 2..=2 - bound)
                .chain(-2..=2)
                .chain(bound - 2..=bound + 2)
            {
                let expected = if x.abs() >= bound { -1 } else { 0 };
                assert_eq!(mask_not_below(x, bound), expected);
            }
        }
    }

    /// Number i of those that are packed with `BITS` bits.
    fn unpacked<const BITS: usize>(packed: &[u8], i: usize) -> i32 {
        let bit = |j: usize| i32::from(packed[j / 8] >> (j % 8) & 1);
        (0..BITS).map(|j| bit(BITS * i + j) << j).sum()
    }

    #[test]
    fn kernels_match_textbook() {
        fn check<B: Backend, const GAMMA2: i32, const W1_BITS: usize>(
            backend: B,
            random: &mut Random,
        ) {
            let mut random = |limit| core::array::from_fn(|_| random.within(limit));
            let (input, small): ([i32; 256], [i32; 256]) = (random(Q), random(4));
            let (mut f, mut packed) = (input, [0; 320]);
            backend.run(AddPower2Round {
                f: &mut f,
                g_plus_eta: &small.map(|g| (g + 4) as u8),
                eta: 4,
                high: &mut packed,
            });
            for (i, (x, g)) in input.iter().zip(small).enumerate() {
                let t = (x + g).rem_euclid(Q);
                assert_eq!(f[i], mod_plus_minus(t, 1 << D));
                assert_eq!(unpacked::<10>(&packed, i), (t - f[i]) >> D);
            }

            let (input, mut high): ([i32; 256], _) = (random(Q - 1), [0; 256]);
            let mut f = input;
            backend.run(Decompose::<GAMMA2> {
                f: &mut f,
                high: &mut high,
            });
            for (i, x) in input.iter().enumerate() {
                let expected = textbook_decompose(GAMMA2, x.rem_euclid(Q));
                assert_eq!((high[i], f[i]), expected);
            }

            let mut hinted = input;
            let hints = [0, 1, 77, 78, 255];
            backend.run(UseHint::<GAMMA2, W1_BITS> {
                f: &mut hinted,
                hints: &hints,
                output: &mut packed[..32 * W1_BITS],
            });
            for (i, x) in input.iter().enumerate() {
                let r = x.rem_euclid(Q);
                let expected = if hints.contains(&(i as u8)) {
                    textbook_use_hint(GAMMA2, r)
                } else {
                    textbook_decompose(GAMMA2, r).0
                };
                assert_eq!(unpacked::<W1_BITS>(&packed, i), expected);
            }

            // the same residues as a mod± q, up to one q away
            let centred: [i32; 256] = random(GAMMA2 - 1);
            let mut far = centred;
            for (i, x) in far.iter_mut().enumerate() {
                *x += match i % 2 {
                    0 => 0,
                    _ if *x > 0 => -Q,
                    _ => Q,
                };
            }
            let mut f = far;
            backend.run(Centre(&mut f));
            assert_eq!(f, centred);

            let bound = centred.map(i32::abs).into_iter().max().unwrap();
            for (bound, expected) in [(bound, false), (bound + 1, true)] {
                let f = &centred;
                assert_eq!(backend.run(Below { f, bound }), expected);
            }

            let low: [i32; 256] = random(GAMMA2 - 200);
            let high = random(15).map(i32::abs);
            let mut hint = low;
            let ones = backend.run(MakeHint::<GAMMA2> {
                f: &mut hint,
                high: &high,
                ct0: &far,
            });
            let mut expected = 0;
            for i in 0..256 {
                let r = (high[i] * 2 * GAMMA2 + low[i] + centred[i]).rem_euclid(Q);
                let changed = textbook_decompose(GAMMA2, r).0 != high[i];
                assert_eq!(hint[i], i32::from(changed));
                expected += usize::from(changed);
            }
            assert_eq!(ones, (expected, true));
        }

        fn check_all<B: Backend>(b: B) {
            let mut random = Random::new(1);
            for _ in 0..100 {
                check::<_, GAMMA2_44, 6>(b, &mut random);
                check::<_, GAMMA2_65_87, 4>(b, &mut random);
            }
        }

        on_each_backend!(b => check_all(b));
    }

    /// One ct₀ that is too large is found wherever it is and however large: nothing
    /// overflows, and the other coefficients are worked on all the same.
    #[test]
    fn large_ct0_is_found() {
        fn check<B: Backend, const GAMMA2: i32>(b: B) {
            // the third is the most of ML-DSA-44, the last the most that the kernel takes
            for large in [GAMMA2, GAMMA2 + 1, 39 << 12, (1 << 21) - 1] {
                for ct0 in [large, -large, large - Q, Q - large] {
                    for (edge, i) in [(-GAMMA2, 0), (GAMMA2, 255)] {
                        let mut coefficients = [1; 256];
                        coefficients[i] = ct0;
                        let mut f = [GAMMA2; 256];
                        f[i] = edge;
                        let result = b.run(MakeHint::<GAMMA2> {
                            f: &mut f,
                            high: &[1; 256],
                            ct0: &coefficients,
                        });
                        assert!([0, 1].contains(&f[i]));
                        assert_eq!(result, (255 + f[i] as usize, large < GAMMA2));
                        f[i] = 1;
                        assert_eq!(f, [1; 256]);
                    }
                }
            }
            for a in [2 * GAMMA2, GAMMA2 + (1 << 21), (1 << 30) - 1] {
                for r1 in [0, 1, 15] {
                    assert_eq!(make_hint::<GAMMA2>(r1, a), 1);
                    assert_eq!(make_hint::<GAMMA2>(r1, -a), 1);
                }
            }
        }

        fn check_all<B: Backend>(b: B) {
            check::<_, GAMMA2_44>(b);
            check::<_, GAMMA2_65_87>(b);
        }

        on_each_backend!(b => check_all(b));
    }
}
