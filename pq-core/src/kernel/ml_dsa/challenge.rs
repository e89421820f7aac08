//! Products by the challenge c of signing, whose coefficients are ±1 at τ places and 0 elsewhere.
//!
//! Such a product is a sum of τ polynomials ±Xʲ · s modulo X²⁵⁶ + 1, and each of these is s
//! moved by j places, with what passes the end negated: 256 coefficients in a row of
//! (s, −s, s). If the coefficients of s are small, they and their sums fit bytes, of
//! which a vector adds many at once: it takes about half the time of multiplying transforms
//! and transforming back, a quarter where there are no vectors, and c need not be transformed.

use crate::arch::{Backend, Kernel, U64s};
use crate::kernel::ml_dsa::rounding::Below;
use crate::secret::wipe;

/// (s, −s, s), with η added to each coefficient.
pub(crate) type Rotations = [[u8; 256]; 3];

/// Writes the rotations of s, of which the second, η − s, is there; |s| ≤ η ≤ 4.
pub(crate) struct Rotate<'a> {
    pub(crate) rotations: &'a mut Rotations,
    pub(crate) eta: u8,
}

impl<B: Backend> Kernel<B> for Rotate<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: B) {
        let [first, second, third] = self.rotations;
        let top = 2 * self.eta;
        debug_assert!(second.iter().all(|x| *x <= top) && self.eta <= 4);
        for (x, eta_less_s) in first.iter_mut().zip(second) {
            *x = top - *eta_less_s;
        }
        third.copy_from_slice(first);
    }
}

/// Reads s from its rotations, the inverse of [`Rotate`].
pub(crate) struct Unrotate<'a> {
    pub(crate) rotations: &'a Rotations,
    pub(crate) eta: u8,
    pub(crate) s: &'a mut [i32; 256],
}

impl<B: Backend> Kernel<B> for Unrotate<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: B) {
        for (s, x) in self.s.iter_mut().zip(&self.rotations[0]) {
            *s = i32::from(*x) - i32::from(self.eta);
        }
    }
}

/// For each coefficient of `c` that is not 0, where in [`Rotations`] the product by its term
/// begins; gives how many there are. What follows them is overwritten.
///
/// c is public, and |c| ≤ 1.
pub(crate) struct Terms<'a> {
    pub(crate) c: &'a [i32; 256],
    pub(crate) terms: &'a mut [i16; 256],
}

impl<B: Backend> Kernel<B> for Terms<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self, b: B) -> usize {
        debug_assert!(self.c.iter().all(|c| c.abs() <= 1));
        let mut count = 0;
        for (n, c) in self.c.as_chunks::<16>().0.iter().enumerate() {
            let mut starts = [0; 16];
            for (i, (start, c)) in starts.iter_mut().zip(c).enumerate() {
                // Xʲ · s begins j before the last s, −Xʲ · s as far before −s.
                let zero = (c & 1) - 1;
                *start = (384 + 128 * c - (16 * n + i) as i32) as u32 | zero as u32 >> 1;
            }
            count = b.append_below(&starts, 513, self.terms, count);
        }
        count
    }
}

/// f + c · s or f − c · s, in place, and whether all results are below `bound` by magnitude.
///
/// Takes |f| + τη < 2³⁰ and |s| ≤ η. Indexes by the terms of c, and looks at all
/// coefficients whatever they are.
pub(crate) struct AddProduct<'a, const ETA: i32, const SUBTRACT: bool> {
    pub(crate) f: &'a mut [i32; 256],
    pub(crate) terms: &'a [i16],
    pub(crate) rotations: &'a Rotations,
    pub(crate) bound: i32,
}

impl<B: Backend, const ETA: i32, const SUBTRACT: bool> Kernel<B> for AddProduct<'_, ETA, SUBTRACT> {
    type Output = bool;

    #[inline(always)]
    fn run(self, b: B) -> bool {
        debug_assert!(all_to::<ETA>(self.rotations));
        let mut sums = [0; 256];
        // As many as fit a byte.
        for terms in self.terms.chunks(255 / (2 * ETA) as usize) {
            add_rotations::<B::U64s, 4>(b, terms, self.rotations, &mut sums);
            let added = ETA * terms.len() as i32;
            for (f, sum) in self.f.iter_mut().zip(&sums) {
                let product = i32::from(*sum) - added;
                *f += if SUBTRACT { -product } else { product };
            }
        }
        wipe(&mut sums);
        let (f, bound) = (&*self.f, self.bound);
        Below { f, bound }.run(b)
    }
}

/// Whether all s are in −η ..= η.
fn all_to<const ETA: i32>(rotations: &Rotations) -> bool {
    let mut coefficients = rotations.as_flattened().iter();
    coefficients.all(|x| i32::from(*x) <= 2 * ETA)
}

/// The sums of 256 bytes of the rotations, from each of `terms` on, `N` vectors at a time. They fit
/// bytes, so that sums of words are sums of their bytes.
#[inline(always)]
fn add_rotations<V: U64s, const N: usize>(
    token: V::Token,
    terms: &[i16],
    rotations: &Rotations,
    sums: &mut [u8; 256],
) {
    let rotations = rotations.as_flattened();
    for (i, output) in sums.chunks_exact_mut(8 * V::LANES * N).enumerate() {
        let mut sums = [V::splat(token, 0); N];
        for start in terms {
            let rotation = &rotations[*start as usize..][..256];
            let bytes = rotation.chunks_exact(8 * V::LANES).skip(N * i);
            for (sum, bytes) in sums.iter_mut().zip(bytes) {
                *sum = sum.add(V::from_le_bytes(token, bytes));
            }
        }
        for (bytes, sum) in output.chunks_exact_mut(8 * V::LANES).zip(sums) {
            sum.to_le_bytes(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AddProduct, Rotate, Rotations, Terms, Unrotate};
    use crate::arch::{Backend, on_each_backend};
    use crate::test_random::Random;

    /// c with `tau` coefficients that are not 0.
    fn challenge(tau: usize, random: &mut Random) -> [i32; 256] {
        let mut c = [0; 256];
        for i in 256 - tau..256 {
            let j = random.bits() as usize % (i + 1);
            c[i] = c[j];
            c[j] = 1 - 2 * (random.bits() & 1) as i32;
        }
        c
    }

    /// c · s modulo X²⁵⁶ + 1.
    fn textbook_product(c: &[i32; 256], s: &[i32; 256]) -> [i32; 256] {
        let mut product = [0; 256];
        for (i, c) in c.iter().enumerate() {
            for (j, s) in s.iter().enumerate() {
                let sign = if i + j < 256 { 1 } else { -1 };
                product[(i + j) % 256] += sign * c * s;
            }
        }
        product
    }

    fn products_match_textbook<B: Backend, const ETA: i32>(
        b: B,
        c: &[i32; 256],
        s: &[i32; 256],
        random: &mut Random,
    ) {
        let mut terms = [0; 256];
        let count = b.run(Terms {
            c,
            terms: &mut terms,
        });
        let terms = &terms[..count];
        let eta = ETA as u8;
        let mut rotations = [[0; 256]; 3];
        rotations[1] = s.map(|s| (ETA - s) as u8);
        b.run(Rotate {
            rotations: &mut rotations,
            eta,
        });
        let mut again = [0; 256];
        b.run(Unrotate {
            rotations: &rotations,
            eta,
            s: &mut again,
        });
        assert_eq!(again, *s);

        let product = textbook_product(c, s);
        let f: [i32; 256] = core::array::from_fn(|_| random.within(1 << 20));
        let sum: [i32; 256] = core::array::from_fn(|i| f[i] + product[i]);
        let difference: [i32; 256] = core::array::from_fn(|i| f[i] - product[i]);
        check_sum::<_, ETA, false>(b, f, terms, &rotations, &sum);
        check_sum::<_, ETA, true>(b, f, terms, &rotations, &difference);
    }

    /// `f` and the product make `expected`, and just so large.
    fn check_sum<B: Backend, const ETA: i32, const SUBTRACT: bool>(
        b: B,
        f: [i32; 256],
        terms: &[i16],
        rotations: &Rotations,
        expected: &[i32; 256],
    ) {
        let greatest = expected.iter().map(|x| x.abs()).max().unwrap();
        for (bound, below) in [(greatest, false), (greatest + 1, true)] {
            let mut sum = f;
            let result = b.run(AddProduct::<ETA, SUBTRACT> {
                f: &mut sum,
                terms,
                rotations,
                bound,
            });
            assert_eq!((sum, result), (*expected, below));
        }
    }

    #[test]
    fn products_of_challenges_match_textbook() {
        fn check<B: Backend, const ETA: i32>(b: B) {
            let mut random = Random::new(1);
            // No terms, and around what one sum of bytes takes, up to all coefficients.
            for tau in [0, 1, 30, 31, 32, 39, 49, 60, 62, 63, 64, 256] {
                let c = challenge(tau, &mut random);
                let s = core::array::from_fn(|_| random.within(ETA));
                products_match_textbook::<_, ETA>(b, &c, &s, &mut random);
                // The greatest sums of bytes, and the least.
                for (c, s) in [(1, ETA), (1, -ETA), (-1, ETA), (-1, -ETA)] {
                    let c = core::array::from_fn(|i| if i < tau { c } else { 0 });
                    products_match_textbook::<_, ETA>(b, &c, &[s; 256], &mut random);
                }
            }
            // Each place of a single term.
            for i in 0..256 {
                let s = core::array::from_fn(|_| random.within(ETA));
                for sign in [1, -1] {
                    let mut c = [0; 256];
                    c[i] = sign;
                    products_match_textbook::<_, ETA>(b, &c, &s, &mut random);
                }
            }
        }

        fn check_all<B: Backend>(b: B) {
            check::<_, 2>(b);
            check::<_, 4>(b);
        }

        on_each_backend!(b => check_all(b));
    }
}
