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

#[cfg(test)]
mod tests {
    use super::{BitPack, BitUnpack, SimpleBitPack, SimpleBitUnpack};
    use crate::arch::{Backend, Portable};

    /// Algorithms 16 to 19, bit by bit: each of `f` as D bits of `top − x`, or of x.
    fn check<const D: usize>(top: Option<i32>) {
        let mut storage = [0; 32 * 20];
        let packed = &mut storage[..32 * D];
        for seed in 0..50i32 {
            let stored: [i32; 256] = core::array::from_fn(|i| {
                let random = (seed << 8 | i as i32).wrapping_mul(0x5851_f42d);
                (random as u32 >> (32 - D)) as i32
            });
            let mut unpacked = [0; 256];
            let f = stored.map(|x| top.map_or(x, |top| top - x));
            if let Some(top) = top {
                Portable.run(BitPack::<D> {
                    f: &f,
                    top,
                    output: packed,
                });
                Portable.run(BitUnpack::<D> {
                    input: packed,
                    top,
                    f: &mut unpacked,
                });
            } else {
                Portable.run(SimpleBitPack::<D> {
                    f: &f,
                    output: packed,
                });
                Portable.run(SimpleBitUnpack::<D, 0> {
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
        check::<4>(None); // w₁, γ₂ = (q − 1) / 32
        check::<6>(None); // w₁, γ₂ = (q − 1) / 88
        check::<10>(None); // t₁
        check::<3>(Some(2)); // s₁, s₂
        check::<4>(Some(4)); // s₁, s₂
        check::<13>(Some(1 << 12)); // t₀
        check::<18>(Some(1 << 17)); // z
        check::<20>(Some(1 << 19)); // z
    }

    #[test]
    fn shifted_unpacking() {
        let packed: [u8; 320] = core::array::from_fn(|i| (i * 89) as u8);
        let (mut plain, mut shifted) = ([0; 256], [0; 256]);
        Portable.run(SimpleBitUnpack::<10, 0> {
            input: &packed,
            f: &mut plain,
        });
        Portable.run(SimpleBitUnpack::<10, 13> {
            input: &packed,
            f: &mut shifted,
        });
        assert_eq!(plain.map(|x| x * 8192), shifted);
    }
}
