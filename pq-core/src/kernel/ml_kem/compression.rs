//! Compression (FIPS 203, section 4.2.1) joined with ByteEncode and ByteDecode
//! (algorithms 5 and 6).

use core::hint;

use crate::arch::{Backend, Kernel, Portable};
use crate::kernel::ntt::{Q3329, Ring, within};
use crate::kernel::packing::{Pack, Unpack};

const Q: u32 = 3329;

/// ByteEncode_D(Compress_D(f)), D < 12, into 32 · D bytes.
///
/// Takes |x| ≤ 8q.
pub(crate) struct CompressEncode<'a, const D: usize> {
    pub(crate) f: &'a [i16; 256],
    pub(crate) output: &'a mut [u8],
}

impl<B: Backend, const D: usize> Kernel<B> for CompressEncode<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        debug_assert!(within::<Q3329>(self.f, 8));
        let pack = Pack::<D, _> {
            coefficient: |i| compress::<D>(canonical(self.f[i]) as u32),
            output: self.output,
        };
        pack.run(b);
    }
}

/// Decompress_D(ByteDecode_D(input)), 1 < D < 12, from 32 · D bytes.
///
/// Gives 0 ≤ x < q.
pub(crate) struct DecodeDecompress<'a, const D: usize> {
    pub(crate) input: &'a [u8],
    pub(crate) f: &'a mut [i16; 256],
}

impl<B: Backend, const D: usize> Kernel<B> for DecodeDecompress<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        let unpack = Unpack::<D, _> {
            input: self.input,
            coefficient: |i, y| self.f[i] = decompress::<D>(y),
        };
        unpack.run(b);
    }
}

/// Decompress₁(ByteDecode₁(m)), the polynomial of a message.
///
/// Gives 0 or ⌈q / 2⌋.
pub(crate) struct DecodeMessage<'a> {
    pub(crate) m: &'a [u8; 32],
    pub(crate) f: &'a mut [i16; 256],
}

impl<B: Backend> Kernel<B> for DecodeMessage<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        // Messages are secret. A compiler that knows a bit for a bit may choose
        // by a branch between the two coefficients; this zero, of which it knows
        // nothing, keeps it from knowing.
        let zero = hint::black_box(0);
        let unpack = Unpack::<1, _> {
            input: self.m,
            coefficient: |i, bit| {
                let mask = -(bit as i16 ^ zero);
                self.f[i] = mask & 1665 /* round(q / 2) */;
            },
        };
        unpack.run(b);
    }
}

/// ByteEncode₁₂(f) into 384 bytes.
///
/// Takes |x| ≤ 8q.
pub(crate) struct Encode12<'a> {
    pub(crate) f: &'a [i16; 256],
    pub(crate) output: &'a mut [u8],
}

impl<B: Backend> Kernel<B> for Encode12<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        debug_assert!(within::<Q3329>(self.f, 8));
        let pack = Pack::<12, _> {
            coefficient: |i| canonical(self.f[i]) as u32,
            output: self.output,
        };
        pack.run(b);
    }
}

/// The representatives in 0 ≤ x < q of |x| ≤ 8q, in place.
pub(crate) struct Canonicalise<'a>(pub(crate) &'a mut [i16; 256]);

impl<B: Backend> Kernel<B> for Canonicalise<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: B) {
        debug_assert!(within::<Q3329>(self.0, 8));
        for x in self.0 {
            *x = canonical(*x);
        }
    }
}

/// Reads 384 bytes as coefficients of 12 bits and says whether all are reduced:
/// ByteDecode₁₂ and the modulus check of FIPS 203, section 7.2, in one.
///
/// Gives 0 ≤ x < 4096, and < q if it returns true. Runs in constant time.
pub(crate) struct Decode12<'a> {
    pub(crate) input: &'a [u8],
    pub(crate) f: &'a mut [i16; 256],
}

impl<B: Backend> Kernel<B> for Decode12<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self, b: B) -> bool {
        let unpack = Unpack::<12, _> {
            input: self.input,
            coefficient: |i, x| self.f[i] = x as i16,
        };
        unpack.run(b);
        let mut reduced = -1;
        for x in self.f.iter() {
            // negative exactly if x < q
            reduced &= x - Q3329::Q;
        }
        reduced < 0
    }
}

/// The representative in 0 ≤ x < q of |x| ≤ 8q.
#[inline(always)]
fn canonical(x: i16) -> i16 {
    let x = Q3329::reduce(Portable, x) - Q3329::Q;
    x + (Q3329::Q & (x >> 15))
}

/// Compress_D(x) = ⌈2^D · x / q⌋ mod 2^D for 0 ≤ x < q.
///
/// x / q as a fraction of 32 bits is x · M, M = ⌈2³² / q⌉, but for an excess below 900,
/// since M exceeds 2³² / q by less than 0.27. The D bits at its upper end are what is left
/// after a half is added to round, and carries are lost modulo 2^D. That half is taken
/// less 1000, which makes up for the excess: x / q is never so close to what it is rounded
/// at that this would matter. The tests try all x.
#[inline(always)]
fn compress<const D: usize>(x: u32) -> u32 {
    const M: u32 = 1_290_168 /* ceil(2^32 / q) */;
    (x * M).wrapping_add((1 << (31 - D)) - 1000) >> (32 - D)
}

/// Decompress_D(y) = ⌈q · y / 2^D⌋ for 0 ≤ y < 2^D.
#[inline(always)]
fn decompress<const D: usize>(y: u32) -> i16 {
    ((Q * y + (1 << (D - 1))) >> D) as i16
}

#[cfg(test)]
mod tests {
    use super::{DecodeMessage, Q, canonical, compress, decompress};
    use crate::arch::{Backend, on_each_backend};

    #[test]
    fn compression_is_exact() {
        fn check<const D: usize>() {
            for x in 0..Q {
                // ⌈·⌋ rounds half up; twice the fraction keeps it in integers.
                let expected = (2 * (x << D) + Q) / (2 * Q) % (1 << D);
                assert_eq!(compress::<D>(x), expected);
            }
            for y in 0..1 << D {
                let expected = (2 * Q * y + (1 << D)) / (2 << D);
                assert_eq!(decompress::<D>(y) as u32, expected);
                assert_eq!(compress::<D>(expected), y);
            }
        }

        check::<1>();
        check::<4>();
        check::<5>();
        check::<10>();
        check::<11>();
    }

    #[test]
    fn messages_are_decompressed() {
        fn check<B: Backend>(b: B) {
            for byte in 0..=255 {
                let mut f = [0; 256];
                b.run(DecodeMessage {
                    m: &[byte; 32],
                    f: &mut f,
                });
                for (i, x) in f.iter().enumerate() {
                    assert_eq!(*x, decompress::<1>(u32::from(byte) >> (i % 8) & 1));
                }
            }
        }

        on_each_backend!(b => check(b));
    }

    #[test]
    fn canonical_representatives() {
        for x in -8 * 3329..=8 * 3329i16 {
            assert_eq!(i32::from(canonical(x)), i32::from(x).rem_euclid(3329));
        }
    }
}
