//! The compression functions of SHA-2 (FIPS 180-4, section 6), written once for
//! words of 32 and 64 bits. What they hash is public.

use core::ops::{BitAnd, BitXor, Not};

use crate::arch::{Backend, Kernel};

/// Takes whole blocks into one state.
pub(crate) struct Compress<'a, W> {
    pub(crate) state: &'a mut [W; 8],
    /// A multiple of 16 words, big-endian.
    pub(crate) blocks: &'a [u8],
}

impl<B: Backend, W: Word> Kernel<B> for Compress<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: B) {
        debug_assert!(self.blocks.len().is_multiple_of(16 * W::LEN));
        for block in self.blocks.chunks_exact(16 * W::LEN) {
            compress(self.state, block);
        }
    }
}

/// What the functions of 32 and of 64 bits differ in.
pub(crate) trait Word:
    Copy + Default + BitAnd<Output = Self> + BitXor<Output = Self> + Not<Output = Self> + 'static
{
    /// Length in bytes.
    const LEN: usize;
    /// K, one constant for each round, a multiple of 16 (sections 4.2.2 and 4.2.3).
    const CONSTANTS: &'static [Self];

    /// The sum modulo 2^bits.
    fn plus(self, other: Self) -> Self;
    /// Σ₀
    fn big_sigma0(self) -> Self;
    /// Σ₁
    fn big_sigma1(self) -> Self;
    /// σ₀
    fn small_sigma0(self) -> Self;
    /// σ₁
    fn small_sigma1(self) -> Self;
    /// Reads `LEN` bytes, big-endian.
    fn read(bytes: &[u8]) -> Self;
    /// Writes the first bytes, big-endian, at most `LEN`.
    fn write(self, bytes: &mut [u8]);
}

macro_rules! word {
    (
        $word:ty, $constants:expr,
        big: $a0:literal $a1:literal $a2:literal, $b0:literal $b1:literal $b2:literal,
        small: $c0:literal $c1:literal $c2:literal, $d0:literal $d1:literal $d2:literal
    ) => {
        impl Word for $word {
            const LEN: usize = size_of::<Self>();
            const CONSTANTS: &'static [Self] = &const { $constants };

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn big_sigma0(self) -> Self {
                self.rotate_right($a0) ^ self.rotate_right($a1) ^ self.rotate_right($a2)
            }

            #[inline(always)]
            fn big_sigma1(self) -> Self {
                self.rotate_right($b0) ^ self.rotate_right($b1) ^ self.rotate_right($b2)
            }

            #[inline(always)]
            fn small_sigma0(self) -> Self {
                self.rotate_right($c0) ^ self.rotate_right($c1) ^ (self >> $c2)
            }

            #[inline(always)]
            fn small_sigma1(self) -> Self {
                self.rotate_right($d0) ^ self.rotate_right($d1) ^ (self >> $d2)
            }

            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                bytes
                    .iter()
                    .fold(0, |word, byte| word << 8 | Self::from(*byte))
            }

            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                for (byte, word) in bytes.iter_mut().zip(self.to_be_bytes()) {
                    *byte = word;
                }
            }
        }
    };
}

word!(u32, high_halves::<64>(CUBE_ROOTS), big: 2 13 22, 6 11 25, small: 7 18 3, 17 19 10);
word!(u64, CUBE_ROOTS, big: 28 34 39, 14 18 41, small: 1 8 7, 19 61 6);

/// One block (section 6.2.2 or 6.4.2).
#[inline(always)]
fn compress<W: Word>(state: &mut [W; 8], block: &[u8]) {
    // 1: the message schedule, of which 16 words are needed at a time
    let mut schedule = [W::default(); 16];
    for (word, bytes) in schedule.iter_mut().zip(block.chunks_exact(W::LEN)) {
        *word = W::read(bytes);
    }
    // 2
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    // 3
    for (sixteen, constants) in W::CONSTANTS.chunks_exact(16).enumerate() {
        if sixteen > 0 {
            for t in 0..16 {
                schedule[t] = schedule[(t + 14) % 16]
                    .small_sigma1()
                    .plus(schedule[(t + 9) % 16])
                    .plus(schedule[(t + 1) % 16].small_sigma0())
                    .plus(schedule[t]);
            }
        }
        for (word, constant) in schedule.iter().zip(constants) {
            let choice = (e & f) ^ (!e & g);
            let t1 = h
                .plus(e.big_sigma1())
                .plus(choice)
                .plus(*constant)
                .plus(*word);
            let majority = (a & b) ^ (a & c) ^ (b & c);
            let t2 = a.big_sigma0().plus(majority);
            (h, g, f, e, d, c, b, a) = (g, f, e, d.plus(t1), c, b, a, t1.plus(t2));
        }
    }
    // 4
    for (word, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.plus(new);
    }
}

/// The first 64 bits of the fractional parts of the square roots of the first 16
/// primes: what the initial values are made of (section 5.3).
pub(crate) const SQUARE_ROOTS: [u64; 16] = fractions_of_roots(2);

/// The same of the cube roots of the first 80 primes.
const CUBE_ROOTS: [u64; 80] = fractions_of_roots(3);

/// The high halves of the first `N` words.
const fn high_halves<const N: usize>(words: [u64; 80]) -> [u32; N] {
    let mut halves = [0; N];
    let mut i = 0;
    while i < N {
        halves[i] = (words[i] >> 32) as u32;
        i += 1;
    }
    halves
}

/// The first 64 bits of the fractional parts of the roots of the first `N` primes.
const fn fractions_of_roots<const N: usize>(exponent: usize) -> [u64; N] {
    let mut roots = [0; N];
    let mut count = 0;
    let mut candidate = 2;
    while count < N {
        if is_prime(candidate) {
            roots[count] = fraction_of_root(candidate, exponent);
            count += 1;
        }
        candidate += 1;
    }
    roots
}

const fn is_prime(n: u64) -> bool {
    let mut divisor = 2;
    while divisor * divisor <= n {
        if n.is_multiple_of(divisor) {
            return false;
        }
        divisor += 1;
    }
    true
}

/// The low 64 bits of the largest x with x^exponent ≤ n · 2^(64 · exponent); n < 512 and
/// exponent ≤ 3, so that x < 2⁶⁸ and nothing exceeds 256 bits.
const fn fraction_of_root(n: u64, exponent: usize) -> u64 {
    let mut target = [0; 4];
    target[exponent] = n;
    let mut x: [u64; 4] = [0; 4];
    let mut bit = 68;
    while bit > 0 {
        bit -= 1;
        x[bit / 64] |= 1 << (bit % 64);
        let mut power = x;
        let mut i = 1;
        while i < exponent {
            power = product(power, x);
            i += 1;
        }
        if exceeds(power, target) {
            x[bit / 64] &= !(1 << (bit % 64));
        }
    }
    x[0]
}

/// a · b mod 2²⁵⁶, least significant words first.
const fn product(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    let mut product = [0; 4];
    let mut i = 0;
    while i < 4 {
        let mut carry = 0;
        let mut j = 0;
        while i + j < 4 {
            let sum = a[i] as u128 * b[j] as u128 + product[i + j] as u128 + carry;
            product[i + j] = sum as u64;
            carry = sum >> 64;
            j += 1;
        }
        i += 1;
    }
    product
}

/// Whether a > b.
const fn exceeds(a: [u64; 4], b: [u64; 4]) -> bool {
    let mut i = 4;
    while i > 0 {
        i -= 1;
        if a[i] != b[i] {
            return a[i] > b[i];
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{SQUARE_ROOTS, Word};

    /// The first and last constants as FIPS 180-4 prints them.
    #[test]
    fn constants_as_printed() {
        assert_eq!(u32::CONSTANTS.len(), 64);
        assert_eq!(u32::CONSTANTS[..2], [0x428a_2f98, 0x7137_4491]);
        assert_eq!(u32::CONSTANTS[62..], [0xbef9_a3f7, 0xc671_78f2]);
        assert_eq!(u64::CONSTANTS.len(), 80);
        assert_eq!(u64::CONSTANTS[0], 0x428a_2f98_d728_ae22);
        assert_eq!(u64::CONSTANTS[79], 0x6c44_198c_4a47_5817);
        assert_eq!(SQUARE_ROOTS[0], 0x6a09_e667_f3bc_c908);
        assert_eq!(SQUARE_ROOTS[15], 0x47b5_481d_befa_4fa4);
    }
}
