//! Polynomials as bytes (FIPS 204, section 7.1).

use crate::arch::{Backend, Kernel};
use crate::kernel::packing::{Pack, Unpack};

/// SimpleBitPack (algorithm 16) with D bits, into 32 · D bytes.
///
/// Takes 0 ≤ x < 2^D.
pub(crate) struct SimpleBitPack<'a, const D: usize> {
    pub(crate) f: &'a [i32; 256],
    pub(crate) output: &'a mut [u8],
}

impl<B: Backend, const D: usize> Kernel<B> for SimpleBitPack<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        debug_assert!(self.f.iter().all(|x| (0..1 << D).contains(x)));
        let pack = Pack::<D, _> {
            coefficient: |i| self.f[i] as u32,
            output: self.output,
        };
        pack.run(b);
    }
}

/// BitPack (algorithm 17) with D bits, into 32 · D bytes: packs `top` − x.
///
/// Takes 0 ≤ `top` − x < 2^D.
pub(crate) struct BitPack<'a, const D: usize> {
    pub(crate) f: &'a [i32; 256],
    pub(crate) top: i32,
    pub(crate) output: &'a mut [u8],
}

impl<B: Backend, const D: usize> Kernel<B> for BitPack<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        let Self { f, top, output } = self;
        debug_assert!(f.iter().all(|x| (0..1 << D).contains(&(top - x))));
        let pack = Pack::<D, _> {
            coefficient: |i| (top - f[i]) as u32,
            output,
        };
        pack.run(b);
    }
}

/// SimpleBitUnpack (algorithm 18) with D bits, from 32 · D bytes, times 2^`SHIFT`.
///
/// Gives 0 ≤ x < 2^(D + SHIFT).
pub(crate) struct SimpleBitUnpack<'a, const D: usize, const SHIFT: u32> {
    pub(crate) input: &'a [u8],
    pub(crate) f: &'a mut [i32; 256],
}

impl<B: Backend, const D: usize, const SHIFT: u32> Kernel<B> for SimpleBitUnpack<'_, D, SHIFT> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        let unpack = Unpack::<D, _> {
            input: self.input,
            coefficient: |i, x| self.f[i] = (x << SHIFT) as i32,
        };
        unpack.run(b);
    }
}

/// BitUnpack (algorithm 19) with D bits, from 32 · D bytes: unpacks x of `top` − x.
///
/// Gives `top` − 2^D < x ≤ `top`.
pub(crate) struct BitUnpack<'a, const D: usize> {
    pub(crate) input: &'a [u8],
    pub(crate) top: i32,
    pub(crate) f: &'a mut [i32; 256],
}

impl<B: Backend, const D: usize> Kernel<B> for BitUnpack<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        let Self { input, top, f } = self;
        let unpack = Unpack::<D, _> {
            input,
            coefficient: |i, x| f[i] = top - x as i32,
        };
        unpack.run(b);
    }
}

/// BitUnpack (algorithm 19) with D bits, from 32 · D bytes, of x that are to be `top` at most by
/// magnitude: unpacks `top` − x, and gives whether all are.
pub(crate) struct UnpackSmall<'a, const D: usize> {
    pub(crate) input: &'a [u8],
    pub(crate) top: u8,
    pub(crate) top_less_x: &'a mut [u8; 256],
}

impl<B: Backend, const D: usize> Kernel<B> for UnpackSmall<'_, D> {
    type Output = bool;

    #[inline(always)]
    fn run(self, b: B) -> bool {
        let Self {
            input,
            top,
            top_less_x,
        } = self;
        let unpack = Unpack::<D, _> {
            input,
            coefficient: |i, number| top_less_x[i] = number as u8,
        };
        unpack.run(b);
        // by the sign of a byte, whatever the others are
        let mut signs = 0;
        for number in top_less_x {
            signs |= (2 * top).wrapping_sub(*number);
        }
        signs >> 7 == 0
    }
}

/// Where the ones of a hint are, ascending, as HintBitPack (algorithm 20) wants them; gives how many
/// there are. What follows them is overwritten.
///
/// The hint is public. Takes 0s and 1s.
pub(crate) struct Ones<'a> {
    pub(crate) hint: &'a [i32; 256],
    pub(crate) indices: &'a mut [i16; 256],
}

impl<B: Backend> Kernel<B> for Ones<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self, b: B) -> usize {
        debug_assert!(self.hint.iter().all(|h| [0, 1].contains(h)));
        let mut count = 0;
        for (n, hint) in self.hint.as_chunks::<16>().0.iter().enumerate() {
            let mut indices = [0; 16];
            for (i, (index, h)) in indices.iter_mut().zip(hint).enumerate() {
                *index = (16 * n + i) as u32 | (h - 1) as u32 >> 1;
            }
            count = b.append_below(&indices, 256, self.indices, count);
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::{BitPack, BitUnpack, Ones, SimpleBitPack, SimpleBitUnpack, UnpackSmall};
    use crate::arch::{Backend, on_each_backend};
    use crate::test_random::Random;

    /// Algorithms 16 to 19, bit by bit: each of `f` as D bits of `top − x`, or of x.
    fn check<B: Backend, const D: usize>(b: B, top: Option<i32>) {
        let mut storage = [0; 32 * 20];
        let packed = &mut storage[..32 * D];
        let mut random = Random::new(1);
        for _ in 0..50 {
            let stored: [i32; 256] = core::array::from_fn(|_| random.below(1 << D) as i32);
            let mut unpacked = [0; 256];
            let f = stored.map(|x| top.map_or(x, |top| top - x));
            if let Some(top) = top {
                b.run(BitPack::<D> {
                    f: &f,
                    top,
                    output: packed,
                });
                b.run(BitUnpack::<D> {
                    input: packed,
                    top,
                    f: &mut unpacked,
                });
            } else {
                b.run(SimpleBitPack::<D> {
                    f: &f,
                    output: packed,
                });
                b.run(SimpleBitUnpack::<D, 0> {
                    input: packed,
                    f: &mut unpacked,
                });
            }
            assert_eq!(unpacked, f);
            for i in 0..256 * D {
                let bit = i32::from(packed[i / 8]) >> (i % 8) & 1;
                assert_eq!(bit, stored[i / D] >> (i % D) & 1);
            }
        }
    }

    #[test]
    fn encodings_match_textbook() {
        fn check_all<B: Backend>(b: B) {
            check::<_, 4>(b, None); // w₁, γ₂ = (q − 1) / 32
            check::<_, 6>(b, None); // w₁, γ₂ = (q − 1) / 88
            check::<_, 10>(b, None); // t₁
            check::<_, 3>(b, Some(2)); // s₁, s₂
            check::<_, 4>(b, Some(4)); // s₁, s₂
            check::<_, 13>(b, Some(1 << 12)); // t₀
            check::<_, 18>(b, Some(1 << 17)); // z
            check::<_, 20>(b, Some(1 << 19)); // z
        }

        on_each_backend!(b => check_all(b));
    }

    /// Each number of D bits at each place, between zeros and between the greatest that do.
    #[test]
    fn small_coefficients_are_told_from_others() {
        fn check<B: Backend, const D: usize>(b: B, top: u8) {
            let mut packed = [0; 32 * 4];
            let input = &mut packed[..32 * D];
            for (number, i) in (0..1 << D).flat_map(|number| (0..256).map(move |i| (number, i))) {
                for others in [0, 2 * top] {
                    let mut numbers = [others; 256];
                    numbers[i] = number;
                    b.run(SimpleBitPack::<D> {
                        f: &numbers.map(i32::from),
                        output: input,
                    });
                    let mut top_less_x = [0xff; 256];
                    let all_small = b.run(UnpackSmall::<D> {
                        input,
                        top,
                        top_less_x: &mut top_less_x,
                    });
                    assert_eq!((top_less_x, all_small), (numbers, number <= 2 * top));
                }
            }
        }

        on_each_backend!(b => {
            check::<_, 3>(b, 2);
            check::<_, 4>(b, 4);
        });
    }

    #[test]
    fn shifted_unpacking() {
        fn check<B: Backend>(b: B) {
            let packed: [u8; 320] = Random::new(1).bytes();
            let (mut plain, mut shifted) = ([0; 256], [0; 256]);
            b.run(SimpleBitUnpack::<10, 0> {
                input: &packed,
                f: &mut plain,
            });
            b.run(SimpleBitUnpack::<10, 13> {
                input: &packed,
                f: &mut shifted,
            });
            assert_eq!(plain.map(|x| x * 8192), shifted);
        }

        on_each_backend!(b => check(b));
    }

    #[test]
    fn indices_of_ones_match_textbook() {
        fn check<B: Backend>(b: B) {
            let mut random = Random::new(2);
            // From no ones to all.
            for likelihood in 0..=32 {
                let hint = core::array::from_fn(|_| i32::from(random.below(32) < likelihood));
                let mut indices = [-1; 256];
                let count = b.run(Ones {
                    hint: &hint,
                    indices: &mut indices,
                });
                let expected = (0..256).filter(|i| hint[*i as usize] == 1);
                assert!(expected.eq(indices[..count].iter().copied()));
            }
        }

        on_each_backend!(b => check(b));
    }
}
