//! Compression (FIPS 203, section 4.2.1) joined with ByteEncode and ByteDecode
//! (algorithms 5 and 6).

use core::hint;

use crate::arch::{Backend, Kernel, Portable};
use crate::kernel::ntt::{Q3329, Ring, within};

const Q: i16 = Q3329::Q;

/// ByteEncode_D(Compress_D(f)), D < 12, into 32 · D bytes.
///
/// Takes |x| ≤ 4q.
pub(crate) struct CompressEncode<'a, const D: usize> {
    pub(crate) f: &'a [i16; 256],
    pub(crate) output: &'a mut [u8],
}

impl<B: Backend, const D: usize> Kernel<B> for CompressEncode<'_, D> {
    type Output = ();

    const LARGE: bool = true;

    #[inline(always)]
    fn run(self, b: B) {
        debug_assert!(within::<Q3329>(self.f, 4));
        encode::<D, B>(b, self.f, self.output, compress::<D>);
    }
}

/// What is zero exactly if ByteEncode_D(Compress_D(f)), 1 < D < 12, is `input`, of 32 · D bytes:
/// the bits in which any two numbers differ.
///
/// Takes |x| ≤ 4q. Runs in constant time.
pub(crate) struct CompressedDifference<'a, const D: usize> {
    pub(crate) f: &'a [i16; 256],
    pub(crate) input: &'a [u8],
}

impl<B: Backend, const D: usize> Kernel<B> for CompressedDifference<'_, D> {
    type Output = u16;

    #[inline(always)]
    fn run(self, b: B) -> u16 {
        debug_assert!(within::<Q3329>(self.f, 4));
        debug_assert_eq!(self.input.len(), 32 * D);
        let mut differences = [0; 32];
        for (f, bytes) in self
            .f
            .as_chunks::<32>()
            .0
            .iter()
            .zip(self.input.chunks_exact(4 * D))
        {
            let numbers = b.unpack_i16s::<D>(bytes);
            for ((difference, x), number) in differences.iter_mut().zip(f).zip(numbers) {
                *difference |= compress::<D>(*x) ^ number;
            }
        }
        differences
            .into_iter()
            .fold(0, |all, difference| all | difference) as u16
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

    const LARGE: bool = true;

    #[inline(always)]
    fn run(self, b: B) {
        decode::<D, B>(b, self.input, self.f, decompress::<D>);
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
        decode::<1, B>(b, self.m, self.f, |bit| {
            -(bit ^ zero) & 1665 /* round(q / 2) */
        });
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
        encode::<12, B>(b, self.f, self.output, canonical);
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
        let mut reduced = -1;
        decode::<12, B>(b, self.input, self.f, |x| {
            // negative exactly if x < q
            reduced &= x - Q;
            x
        });
        reduced < 0
    }
}

/// ByteEncode_D (algorithm 5) of what `number` makes of the coefficients.
#[inline(always)]
fn encode<const D: usize, B: Backend>(
    b: B,
    f: &[i16; 256],
    output: &mut [u8],
    number: impl Fn(i16) -> i16,
) {
    debug_assert_eq!(output.len(), 32 * D);
    for (f, bytes) in f.as_chunks().0.iter().zip(output.chunks_exact_mut(4 * D)) {
        let mut numbers: [i16; 32] = *f;
        for x in &mut numbers {
            *x = number(*x);
            debug_assert!((0..1 << D).contains(x));
        }
        b.pack_i16s::<D>(&numbers, bytes);
    }
}

/// What `coefficient` makes of ByteDecode_D (algorithm 6).
#[inline(always)]
fn decode<const D: usize, B: Backend>(
    b: B,
    input: &[u8],
    f: &mut [i16; 256],
    mut coefficient: impl FnMut(i16) -> i16,
) {
    debug_assert_eq!(input.len(), 32 * D);
    let f = f.as_chunks_mut::<32>().0.iter_mut();
    for (f, bytes) in f.zip(input.chunks_exact(4 * D)) {
        let numbers = b.unpack_i16s::<D>(bytes);
        for (x, number) in f.iter_mut().zip(numbers) {
            *x = coefficient(number);
        }
    }
}

/// The representative in 0 ≤ x < q of |x| ≤ 8q.
#[inline(always)]
fn canonical(x: i16) -> i16 {
    let x = Q3329::reduce(Portable, x) - Q;
    x + (Q & (x >> 15))
}

/// Compress_D(x) = ⌈2^D · x / q⌋ mod 2^D for |x| ≤ 4q.
///
/// First the quotient is ⌊2^D · x / q⌋ or one off, since its factor is rounded: that makes less
/// than 1/4 before it is rounded down. So the remainder lies between −q/4 and 5/4 q, which fits
/// 16 bits, and where the quotient is off, it corrects that.
#[inline(always)]
fn compress<const D: usize>(x: i16) -> i16 {
    // with D = 11 the factor would not fit 16 bits
    let doubled = D / 11;
    let factor = const { ((1 << (17 + D - D / 11)) / Q as i32 + 1) / 2 };
    let quotient = ((i32::from(x << doubled) * factor) >> 16) as i16;
    let remainder = (x << D).wrapping_sub(quotient.wrapping_mul(Q));
    // −1 exactly if the remainder is more than q / 2
    let below = (Q / 2 - remainder) >> 15;
    (quotient - below) & ((1 << D) - 1)
}

/// Decompress_D(y) = ⌈q · y / 2^D⌋ for 0 ≤ y < 2^D.
#[inline(always)]
fn decompress<const D: usize>(y: i16) -> i16 {
    // ⌊2q · y / 2^D⌋ as the high half of a product of numbers of 15 bits
    let twice = ((i32::from(y << (15 - D)) * i32::from(4 * Q)) >> 16) as i16;
    (twice + 1) >> 1
}

#[cfg(test)]
mod tests {
    use super::{
        CompressEncode, CompressedDifference, DecodeMessage, Q, canonical, compress, decompress,
    };
    use crate::arch::{Backend, on_each_backend};
    use crate::test_random::Random;

    /// Of all coefficients, as bytes too.
    #[test]
    fn compression_is_exact() {
        fn check<B: Backend, const D: usize>(b: B) {
            let q = i32::from(Q);
            let mut storage = [0; 32 * 11];
            let bytes = &mut storage[..32 * D];
            for start in (-4 * q..=4 * q - 255).step_by(256).chain([4 * q - 255]) {
                let f = core::array::from_fn(|i| (start + i as i32) as i16);
                b.run(CompressEncode::<D> {
                    f: &f,
                    output: bytes,
                });
                for (i, x) in f.into_iter().enumerate() {
                    // ⌈·⌋ rounds half up; twice the fraction keeps it in integers.
                    let expected = (2 * (i32::from(x) << D) + q).div_euclid(2 * q);
                    assert_eq!(number::<D>(bytes, i), expected & ((1 << D) - 1));
                }
            }
        }

        /// The i'th number of D bits.
        fn number<const D: usize>(bytes: &[u8], i: usize) -> i32 {
            let bit = |n: usize| i32::from(bytes[n / 8] >> (n % 8) & 1);
            (0..D).fold(0, |number, j| number | bit(D * i + j) << j)
        }

        on_each_backend!(b => {
            check::<_, 1>(b);
            check::<_, 4>(b);
            check::<_, 5>(b);
            check::<_, 10>(b);
            check::<_, 11>(b);
        });
    }

    /// Bytes that differ in no bit, in one, and in all.
    #[test]
    fn differences_are_seen() {
        fn check<B: Backend, const D: usize>(b: B) {
            let mut random = Random::new(3);
            let f = core::array::from_fn(|_| random.within(4 * i32::from(Q)) as i16);
            let mut storage = [0; 32 * 11];
            let input = &mut storage[..32 * D];
            b.run(CompressEncode::<D> {
                f: &f,
                output: input,
            });
            let difference = |input: &[u8]| b.run(CompressedDifference::<D> { f: &f, input });
            assert_eq!(difference(input), 0);
            for i in 0..8 * input.len() {
                input[i / 8] ^= 1 << (i % 8);
                assert_eq!(difference(input), 1 << (i % D));
                input[i / 8] ^= 1 << (i % 8);
            }
            for byte in input.iter_mut() {
                *byte = !*byte;
            }
            assert_eq!(difference(input), (1 << D) - 1);
        }

        on_each_backend!(b => {
            check::<_, 4>(b);
            check::<_, 5>(b);
            check::<_, 10>(b);
            check::<_, 11>(b);
        });
    }

    #[test]
    fn decompression_is_exact() {
        fn check<const D: usize>() {
            for y in 0..1 << D {
                let expected = (2 * i32::from(Q) * y + (1 << D)) / (2 << D);
                assert_eq!(i32::from(decompress::<D>(y as i16)), expected);
                assert_eq!(i32::from(compress::<D>(expected as i16)), y);
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
                    assert_eq!(*x, decompress::<1>(i16::from(byte >> (i % 8) & 1)));
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
