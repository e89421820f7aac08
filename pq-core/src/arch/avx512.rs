//! AVX-512 with the byte, word and permutation extensions: Intel since Ice Lake, AMD
//! since Zen 4.

use core::arch::asm;
use core::arch::x86_64::*;

use super::instructions::{Integer, instructions, vector};
use super::{
    Backend, Coefficients, FromNumber, I16s, I32s, Kernel, ShaNi, U32s, U64s, Vector, Words,
    packing,
};
use crate::sealed::Sealed;

cpufeatures::new!(
    detection,
    "avx512f",
    "avx512bw",
    "avx512dq",
    "avx512vl",
    "avx512vbmi",
    "avx512vbmi2",
    "avx2",
    "bmi1",
    "bmi2",
    "popcnt",
);

/// The proof that the CPU has AVX-512 F, BW, DQ, VL, VBMI and VBMI2, AVX2, BMI and POPCNT.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx512 {
    /// The token, if this machine and its operating system support the instructions.
    #[inline]
    pub fn detect() -> Option<Self> {
        detection::get().then_some(Self(()))
    }
}

impl Sealed for Avx512 {}

impl Backend for Avx512 {
    type U64s = U64x8;
    type Lone = U64x8;
    type U32s = U32x16;
    type Sha256 = ShaNi;
    type I16s = I16x32;
    type I32s = I32x16;

    const NAME: &'static str = "AVX-512";
    const RANK: u8 = 2;

    #[inline]
    fn run<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        #[target_feature(
            enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2,popcnt"
        )]
        fn with_features<K: Kernel<Avx512>>(b: Avx512, kernel: K) -> K::Output {
            kernel.run(b)
        }
        // SAFETY: the token exists only where all of these were detected.
        unsafe { with_features(self, kernel) }
    }

    #[inline]
    fn run_scalar<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "bmi1,bmi2")]
        fn with_features<K: Kernel<Avx512>>(b: Avx512, kernel: K) -> K::Output {
            kernel.run(b)
        }
        // SAFETY: the token exists only where both were detected.
        unsafe { with_features(self, kernel) }
    }

    #[inline]
    fn run_lone<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        self.run(kernel)
    }

    #[inline]
    fn sha256(self) -> Option<ShaNi> {
        ShaNi::detect()
    }

    #[inline(always)]
    fn pack<const D: usize>(self, numbers: &[u32; 16], bytes: &mut [u8]) {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { pack::<D>(numbers, bytes) }
    }

    #[inline(always)]
    fn unpack<const D: usize>(self, bytes: &[u8]) -> [u32; 16] {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { unpack::<D>(bytes) }
    }

    #[inline(always)]
    fn append_below<T: FromNumber>(
        self,
        numbers: &[u32; 16],
        limit: u32,
        output: &mut [T; 256],
        filled: usize,
    ) -> usize {
        // SAFETY: the token proves that the CPU has the instructions.
        let (below, count) = unsafe { keep_below(numbers, limit) };
        packing::append(&below, count, output, filled)
    }

    #[inline(always)]
    fn append_12_bits_below(
        self,
        bytes: &[u8; 168],
        limit: u32,
        output: &mut [i16; 256],
        filled: usize,
    ) -> usize {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { append_12_bits_below(bytes, limit, output, filled) }
    }

    #[inline(always)]
    fn add_pair_products(self, a: &[i16; 32], b: &[i16; 32], sums: &mut [i32; 16]) {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { add_pair_products(a, b, sums) }
    }

    #[inline(always)]
    fn halves(self, even: &[i32; 16], odd: &[i32; 16]) -> [[i16; 32]; 2] {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { halves(even, odd) }
    }
}

/// Vectors of words: the same instructions, each for its width.
macro_rules! words {
    (
        $name:ident, $add:ident, $sub:ident, $shift_right:ident, $shift_in:ident,
        $rotate_left:ident, $add_late:ident
    ) => {
        impl Words for $name {
            instructions! {
                add => $add(other);
                add_late => $add_late(late);
                sub => $sub(other);
                xor => _mm512_xor_si512(other);
                xor3 => xor3(b, c);
                choose => choose(b, c);
                majority => majority(b, c);
            }

            #[inline(always)]
            fn shift_right<const N: i32>(self) -> Self {
                // SAFETY: `self` proves that the CPU has the instruction.
                Self(unsafe { $shift_right(self.0, _mm_cvtsi32_si128(N)) })
            }

            #[inline(always)]
            fn shift_in<const N: i32>(self, next: Self) -> Self {
                // SAFETY: `self` proves that the CPU has the instruction.
                Self(unsafe { $shift_in::<N>(self.0, next.0) })
            }

            #[inline(always)]
            fn rotate_left<const N: i32>(self) -> Self {
                // SAFETY: `self` proves that the CPU has the instruction.
                Self(unsafe { $rotate_left::<N>(self.0) })
            }
        }
    };
}

vector! {
    /// 16 lanes of SHA-256.
    U32x16: __m512i = [u32; 16] of Avx512,
    |x| _mm512_set1_epi32(x.cast_signed()), _mm512_loadu_si512, _mm512_storeu_si512
}

words!(
    U32x16,
    _mm512_add_epi32,
    _mm512_sub_epi32,
    _mm512_srl_epi32,
    _mm512_shldi_epi32,
    _mm512_rol_epi32,
    add_late_32
);

impl U32s for U32x16 {}

vector! {
    /// Eight lanes of Keccak, SHA-512.
    U64x8: __m512i = [u64; 8] of Avx512,
    |x| _mm512_set1_epi64(x.cast_signed()), _mm512_loadu_si512, _mm512_storeu_si512
}

words!(
    U64x8,
    _mm512_add_epi64,
    _mm512_sub_epi64,
    _mm512_srl_epi64,
    _mm512_shldi_epi64,
    _mm512_rol_epi64,
    add_late_64
);

impl U64s for U64x8 {
    instructions! {
        chi => chi(b, c);
    }

    #[inline(always)]
    fn mask(_: Avx512, lanes: u32) -> Self {
        // SAFETY: the token proves that the CPU has the instruction.
        Self(unsafe { _mm512_maskz_set1_epi64(lanes as __mmask8, -1) })
    }

    #[inline(always)]
    fn transpose(vectors: &[Self; 24], blocks: &mut [[u8; 192]]) {
        // SAFETY: the vectors prove that the CPU has the instructions.
        unsafe { transpose(vectors, blocks) }
    }
}

/// Three times eight vectors.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(vectors: &[U64x8; 24], blocks: &mut [[u8; 192]]) {
    for (third, eight) in vectors.as_chunks::<8>().0.iter().enumerate() {
        let rows = transpose_eight(eight.map(|vector| vector.0));
        for (block, row) in blocks.iter_mut().zip(rows) {
            let bytes: &mut [u8; 64] = &mut block.as_chunks_mut().0[third];
            // SAFETY: the array has the size of a register.
            unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), row) }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_eight(rows: [__m512i; 8]) -> [__m512i; 8] {
    // The even lanes of two rows, and the odd.
    let pairs = |i| {
        (
            _mm512_unpacklo_epi64(rows[i], rows[i + 1]),
            _mm512_unpackhi_epi64(rows[i], rows[i + 1]),
        )
    };
    let ((a0, a1), (b0, b1), (c0, c1), (d0, d1)) = (pairs(0), pairs(2), pairs(4), pairs(6));
    // The first and third, or the second and fourth pair of lanes of four vectors.
    let (even0, odd0) = transpose_pairs(a0, b0, c0, d0);
    let (even1, odd1) = transpose_pairs(a1, b1, c1, d1);
    [
        even0[0], even1[0], odd0[0], odd1[0], even0[1], even1[1], odd0[1], odd1[1],
    ]
}

/// Lanes 0, 4 and lanes 2, 6 of eight rows, from the even or odd lanes of two each.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_pairs(a: __m512i, b: __m512i, c: __m512i, d: __m512i) -> ([__m512i; 2], [__m512i; 2]) {
    const EVEN: i32 = 0b10_00_10_00;
    const ODD: i32 = 0b11_01_11_01;
    let even = (
        _mm512_shuffle_i64x2::<EVEN>(a, b),
        _mm512_shuffle_i64x2::<EVEN>(c, d),
    );
    let odd = (
        _mm512_shuffle_i64x2::<ODD>(a, b),
        _mm512_shuffle_i64x2::<ODD>(c, d),
    );
    (
        [
            _mm512_shuffle_i64x2::<EVEN>(even.0, even.1),
            _mm512_shuffle_i64x2::<ODD>(even.0, even.1),
        ],
        [
            _mm512_shuffle_i64x2::<EVEN>(odd.0, odd.1),
            _mm512_shuffle_i64x2::<ODD>(odd.0, odd.1),
        ],
    )
}

/// a ⊕ b ⊕ c. The truth table's bit 4a + 2b + c is the result.
#[inline]
#[target_feature(enable = "avx512f")]
fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0b1001_0110>(a, b, c)
}

/// a ⊕ (¬b ∧ c)
#[inline]
#[target_feature(enable = "avx512f")]
fn chi(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0b1101_0010>(a, b, c)
}

/// Sums that the compiler does not see through.
macro_rules! add_late {
    ($name:ident, $instruction:literal) => {
        #[inline]
        #[target_feature(enable = "avx512f")]
        fn $name(early: __m512i, late: __m512i) -> __m512i {
            let sum;
            // SAFETY: the instruction computes a register from two.
            unsafe {
                asm!(
                    concat!($instruction, " {}, {}, {}"),
                    lateout(zmm_reg) sum,
                    in(zmm_reg) early,
                    in(zmm_reg) late,
                    options(pure, nomem, nostack, preserves_flags),
                );
            }
            sum
        }
    };
}
add_late!(add_late_32, "vpaddd");
add_late!(add_late_64, "vpaddq");

/// (a ∧ b) ⊕ (¬a ∧ c)
#[inline]
#[target_feature(enable = "avx512f")]
fn choose(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0b1100_1010>(a, b, c)
}

/// (a ∧ b) ⊕ (a ∧ c) ⊕ (b ∧ c)
#[inline]
#[target_feature(enable = "avx512f")]
fn majority(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0b1110_1000>(a, b, c)
}

vector! {
    /// 32 coefficients of ML-KEM.
    I16x32: __m512i = [i16; 32] of Avx512,
    |x| _mm512_set1_epi16(x), _mm512_loadu_si512, _mm512_storeu_si512
}

impl Coefficients for I16x32 {
    instructions! {
        add => _mm512_add_epi16(other);
        sub => _mm512_sub_epi16(other);
        mul_low => _mm512_mullo_epi16(other);
        mul_high => _mm512_mulhi_epi16(other);
    }

    #[inline(always)]
    fn shift_right<const N: i32>(self) -> Self {
        // SAFETY: `self` proves that the CPU has the instruction.
        Self(unsafe { _mm512_sra_epi16(self.0, _mm_cvtsi32_si128(N)) })
    }

    #[inline(always)]
    fn deinterleave<const LEN: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: `a` proves that the CPU has the instructions.
        let (even, odd) = unsafe {
            match LEN {
                1 => permute_words(a.0, b.0, &DEINTERLEAVED_WORDS),
                2 => permute_doublewords(a.0, b.0, &DEINTERLEAVED_DOUBLEWORDS),
                4 => permute_quadwords(a.0, b.0, &DEINTERLEAVED_QUADWORDS[0]),
                8 => permute_quadwords(a.0, b.0, &DEINTERLEAVED_QUADWORDS[1]),
                _ => permute_quadwords(a.0, b.0, &DEINTERLEAVED_QUADWORDS[2]),
            }
        };
        (Self(even), Self(odd))
    }

    #[inline(always)]
    fn interleave<const LEN: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: `a` proves that the CPU has the instructions.
        let (low, high) = unsafe {
            match LEN {
                1 => permute_words(a.0, b.0, &INTERLEAVED_WORDS),
                2 => permute_doublewords(a.0, b.0, &INTERLEAVED_DOUBLEWORDS),
                4 => permute_quadwords(a.0, b.0, &INTERLEAVED_QUADWORDS[0]),
                8 => permute_quadwords(a.0, b.0, &INTERLEAVED_QUADWORDS[1]),
                _ => permute_quadwords(a.0, b.0, &INTERLEAVED_QUADWORDS[2]),
            }
        };
        (Self(low), Self(high))
    }
}

impl I16s for I16x32 {}

vector! {
    /// 16 coefficients of ML-DSA.
    I32x16: __m512i = [i32; 16] of Avx512,
    |x| _mm512_set1_epi32(x), _mm512_loadu_si512, _mm512_storeu_si512
}

impl Coefficients for I32x16 {
    instructions! {
        add => _mm512_add_epi32(other);
        sub => _mm512_sub_epi32(other);
        mul_low => _mm512_mullo_epi32(other);
        mul_high => mul_high(other);
        montgomery_product => montgomery_product(factor, factor_over_q, q);
    }

    #[inline(always)]
    fn shift_right<const N: i32>(self) -> Self {
        // SAFETY: `self` proves that the CPU has the instruction.
        Self(unsafe { _mm512_sra_epi32(self.0, _mm_cvtsi32_si128(N)) })
    }

    #[inline(always)]
    fn deinterleave<const LEN: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: `a` proves that the CPU has the instructions.
        let (even, odd) = unsafe {
            match LEN {
                1 => permute_doublewords(a.0, b.0, &DEINTERLEAVED_DOUBLEWORDS),
                2 => permute_quadwords(a.0, b.0, &DEINTERLEAVED_QUADWORDS[0]),
                4 => permute_quadwords(a.0, b.0, &DEINTERLEAVED_QUADWORDS[1]),
                _ => permute_quadwords(a.0, b.0, &DEINTERLEAVED_QUADWORDS[2]),
            }
        };
        (Self(even), Self(odd))
    }

    #[inline(always)]
    fn interleave<const LEN: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: `a` proves that the CPU has the instructions.
        let (low, high) = unsafe {
            match LEN {
                1 => permute_doublewords(a.0, b.0, &INTERLEAVED_DOUBLEWORDS),
                2 => permute_quadwords(a.0, b.0, &INTERLEAVED_QUADWORDS[0]),
                4 => permute_quadwords(a.0, b.0, &INTERLEAVED_QUADWORDS[1]),
                _ => permute_quadwords(a.0, b.0, &INTERLEAVED_QUADWORDS[2]),
            }
        };
        (Self(low), Self(high))
    }
}

impl I32s for I32x16 {}

/// There is no instruction for high halves of 32 bits: products of the even lanes and
/// of the odd lanes, in 64 bits.
#[inline]
#[target_feature(enable = "avx512f")]
fn mul_high(a: __m512i, b: __m512i) -> __m512i {
    let even = _mm512_mul_epi32(a, b);
    let odd = _mm512_mul_epi32(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
    _mm512_mask_shuffle_epi32::<_MM_PERM_DDBB>(odd, EVEN_LANES, even)
}

/// As the default method, with the high halves taken after the subtraction.
#[inline]
#[target_feature(enable = "avx512f")]
fn montgomery_product(x: __m512i, factor: __m512i, factor_over_q: __m512i, q: __m512i) -> __m512i {
    let m = _mm512_mullo_epi32(x, factor_over_q);
    let even = _mm512_sub_epi64(_mm512_mul_epi32(x, factor), _mm512_mul_epi32(m, q));
    let odd = _mm512_sub_epi64(
        _mm512_mul_epi32(odd_lanes(x), odd_lanes(factor)),
        _mm512_mul_epi32(odd_lanes(m), odd_lanes(q)),
    );
    _mm512_mask_shuffle_epi32::<_MM_PERM_DDBB>(odd, EVEN_LANES, even)
}

const EVEN_LANES: __mmask16 = 0x5555;

/// Each odd lane in place of the even lane before it.
#[inline]
#[target_feature(enable = "avx512f")]
fn odd_lanes(x: __m512i) -> __m512i {
    _mm512_shuffle_epi32::<_MM_PERM_DDBB>(x)
}

/// Two permutations of the 16-bit lanes of `a` and `b`.
#[inline]
#[target_feature(enable = "avx512bw")]
fn permute_words(a: __m512i, b: __m512i, lanes: &[[u16; 32]; 2]) -> (__m512i, __m512i) {
    let (first, second) = (read(&lanes[0]), read(&lanes[1]));
    (
        _mm512_permutex2var_epi16(a, first, b),
        _mm512_permutex2var_epi16(a, second, b),
    )
}

/// Two permutations of the 32-bit lanes of `a` and `b`.
#[inline]
#[target_feature(enable = "avx512f")]
fn permute_doublewords(a: __m512i, b: __m512i, lanes: &[[u32; 16]; 2]) -> (__m512i, __m512i) {
    let (first, second) = (read(&lanes[0]), read(&lanes[1]));
    (
        _mm512_permutex2var_epi32(a, first, b),
        _mm512_permutex2var_epi32(a, second, b),
    )
}

/// Two permutations of the 64-bit lanes of `a` and `b`.
#[inline]
#[target_feature(enable = "avx512f")]
fn permute_quadwords(a: __m512i, b: __m512i, lanes: &[[u64; 8]; 2]) -> (__m512i, __m512i) {
    let (first, second) = (read(&lanes[0]), read(&lanes[1]));
    (
        _mm512_permutex2var_epi64(a, first, b),
        _mm512_permutex2var_epi64(a, second, b),
    )
}

/// Defines the permutations that take two vectors apart by blocks, the even blocks and
/// the odd, and those that put them together.
macro_rules! permutations {
    ($element:ty, $lanes:literal, $deinterleaved:ident, $interleaved:ident) => {
        const fn $deinterleaved(len: usize) -> [[$element; $lanes]; 2] {
            let mut lanes = [[0; $lanes]; 2];
            let mut i = 0;
            while i < $lanes {
                lanes[0][i] = (2 * (i / len) * len + i % len) as $element;
                lanes[1][i] = ((2 * (i / len) + 1) * len + i % len) as $element;
                i += 1;
            }
            lanes
        }

        const fn $interleaved(len: usize) -> [[$element; $lanes]; 2] {
            let mut lanes = [[0; $lanes]; 2];
            let mut i = 0;
            while i < 2 * $lanes {
                let from = if i / len % 2 == 0 { 0 } else { $lanes };
                lanes[i / $lanes][i % $lanes] = (from + i / (2 * len) * len + i % len) as $element;
                i += 1;
            }
            lanes
        }
    };
}

permutations!(u16, 32, deinterleaved_words, interleaved_words);
permutations!(u32, 16, deinterleaved_doublewords, interleaved_doublewords);
permutations!(u64, 8, deinterleaved_quadwords, interleaved_quadwords);

static DEINTERLEAVED_WORDS: [[u16; 32]; 2] = deinterleaved_words(1);
static INTERLEAVED_WORDS: [[u16; 32]; 2] = interleaved_words(1);
static DEINTERLEAVED_DOUBLEWORDS: [[u32; 16]; 2] = deinterleaved_doublewords(1);
static INTERLEAVED_DOUBLEWORDS: [[u32; 16]; 2] = interleaved_doublewords(1);
/// Blocks of 1, 2 and 4 quadwords.
static DEINTERLEAVED_QUADWORDS: [[[u64; 8]; 2]; 3] = [
    deinterleaved_quadwords(1),
    deinterleaved_quadwords(2),
    deinterleaved_quadwords(4),
];
static INTERLEAVED_QUADWORDS: [[[u64; 8]; 2]; 3] = [
    interleaved_quadwords(1),
    interleaved_quadwords(2),
    interleaved_quadwords(4),
];

/// Where the bits of packed numbers are: 16 numbers of `D` bits, two to a quadword.
struct Packed<const D: usize>;

impl<const D: usize> Packed<D> {
    /// A bit for each of the packed bytes.
    const BYTES: __mmask64 = (1 << (2 * D)) - 1;

    /// The bit of its first byte where each quadword begins.
    const PHASES: [u64; 8] = {
        let mut phases = [0; 8];
        let mut i = 0;
        while i < 8 {
            phases[i] = (2 * D * i % 8) as u64;
            i += 1;
        }
        phases
    };

    /// For each packed byte the byte of a quadword, moved by its phase, that has its low
    /// bits, and that which has the rest if there is one; there are no more, but for `D` = 1.
    const PARTS: [[u8; 64]; 2] = {
        assert!(D <= 24, "two numbers and a phase fit a quadword");
        let mut parts = [[0; 64]; 2];
        let mut i = 0;
        while i < 2 * D {
            let (low, high) = (8 * i / (2 * D), (8 * i + 7) / (2 * D));
            parts[0][i] = (8 * low + i - 2 * D * low / 8) as u8;
            parts[1][i] = (8 * high) as u8;
            i += 1;
        }
        parts
    };

    /// A bit for each of the packed bytes that has bits of two quadwords.
    const SHARED: __mmask64 = {
        let mut shared = 0;
        let mut i = 0;
        while i < 2 * D {
            if 8 * i / (2 * D) != (8 * i + 7) / (2 * D) {
                shared |= 1 << i;
            }
            i += 1;
        }
        shared
    };

    /// For each quadword the packed bytes from its first bit on.
    const GATHERED: [u8; 64] = {
        let mut bytes = [0; 64];
        let mut i = 0;
        while i < 64 {
            bytes[i] = (2 * D * (i / 8) / 8 + i % 8) as u8;
            i += 1;
        }
        bytes
    };

    /// For each byte of the numbers the bit of the gathered quadword where it begins.
    const SHIFTS: [u8; 64] = {
        let mut shifts = [0; 64];
        let mut i = 0;
        while i < 64 {
            shifts[i] = (2 * D * (i / 8) % 8 + i / 4 % 2 * D + i % 4 * 8) as u8;
            i += 1;
        }
        shifts
    };
}

/// A vector from memory.
#[inline]
#[target_feature(enable = "avx512f")]
fn read<T, const N: usize>(lanes: &[T; N]) -> __m512i {
    const { assert!(size_of::<[T; N]>() == size_of::<__m512i>()) }
    // SAFETY: the array has the size of a register.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn pack<const D: usize>(numbers: &[u32; 16], bytes: &mut [u8]) {
    assert_eq!(bytes.len(), 2 * D);
    let x = read(numbers);
    if D == 1 {
        let bits = _mm512_test_epi32_mask(x, _mm512_set1_epi32(1));
        bytes.copy_from_slice(&bits.to_le_bytes());
        return;
    }
    // The even numbers go to the upper ends of their lanes, and then both down.
    let aligned = _mm512_sllv_epi32(x, _mm512_set1_epi64(32 - D as i64));
    let pairs = _mm512_srl_epi64(aligned, _mm_cvtsi32_si128(32 - D as i32));
    let pairs = _mm512_rolv_epi64(pairs, read(&Packed::<D>::PHASES));
    let low = _mm512_permutexvar_epi8(read(&Packed::<D>::PARTS[0]), pairs);
    let high = read(&Packed::<D>::PARTS[1]);
    let high = _mm512_maskz_permutexvar_epi8(Packed::<D>::SHARED, high, pairs);
    let packed = _mm512_or_si512(low, high);
    // SAFETY: the mask has a bit for each of the bytes that `bytes` has.
    unsafe { _mm512_mask_storeu_epi8(bytes.as_mut_ptr().cast(), Packed::<D>::BYTES, packed) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack<const D: usize>(bytes: &[u8]) -> [u32; 16] {
    assert_eq!(bytes.len(), 2 * D);
    // SAFETY: the mask has a bit for each of the bytes that `bytes` has.
    let packed = unsafe { _mm512_maskz_loadu_epi8(Packed::<D>::BYTES, bytes.as_ptr().cast()) };
    let gathered = _mm512_permutexvar_epi8(read(&Packed::<D>::GATHERED), packed);
    let shifted = _mm512_multishift_epi64_epi8(read(&Packed::<D>::SHIFTS), gathered);
    lanes(_mm512_and_si512(shifted, _mm512_set1_epi32((1 << D) - 1)))
}

/// Those that are below `limit`, in their order and then zeros, and how many there are.
#[inline]
#[target_feature(enable = "avx512f,popcnt")]
fn keep_below(candidates: &[u32; 16], limit: u32) -> ([u32; 16], usize) {
    let x = read(candidates);
    let below = _mm512_cmplt_epu32_mask(x, _mm512_set1_epi32(limit.cast_signed()));
    let kept = _mm512_maskz_compress_epi32(below, x);
    (lanes(kept), below.count_ones() as usize)
}

/// 32 numbers at a time, and 16 at the end.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn append_12_bits_below(
    bytes: &[u8; 168],
    limit: u32,
    output: &mut [i16; 256],
    mut filled: usize,
) -> usize {
    // Read as they were written, in whole vectors: no load waits for two stores.
    let [first, second]: &[[u8; 64]; 2] = bytes
        .as_chunks()
        .0
        .first_chunk()
        .expect("two of 64 fit 168 bytes");
    let (first, second) = (read(first), read(second));
    // SAFETY: the mask has a bit for each byte that follows the first 128.
    let third = unsafe { _mm512_maskz_loadu_epi8((1 << 40) - 1, bytes[128..].as_ptr().cast()) };
    let limit = _mm512_set1_epi16(limit as i16);
    let phases = _mm512_set1_epi32(4 << 16);
    let groups = [
        (first, first, __mmask32::MAX),
        (first, second, __mmask32::MAX),
        (second, third, __mmask32::MAX),
        (third, third, 0xffff),
    ];
    for ((a, b, there), pairs) in groups.into_iter().zip(&PAIRS_OF_BYTES) {
        let pairs = _mm512_permutex2var_epi8(a, read(pairs), b);
        let numbers = _mm512_and_si512(_mm512_srlv_epi16(pairs, phases), _mm512_set1_epi16(0xfff));
        let below = _mm512_mask_cmplt_epu16_mask(there, numbers, limit);
        let kept = _mm512_maskz_compress_epi16(below, numbers);
        // No branch on where the last one is: it would be mispredicted for each polynomial.
        let rest = &mut output[filled..];
        let count = rest.len().min(below.count_ones() as usize);
        let mask = _bzhi_u32(u32::MAX, count as u32);
        // SAFETY: the mask has a bit for each of `count` elements, which there are.
        unsafe { _mm512_mask_storeu_epi16(rest.as_mut_ptr(), mask, kept) }
        filled += count;
    }
    filled
}

/// For each group of 32 numbers of 12 bits the two bytes of each, in the two vectors that
/// have bytes 48i and following; the last group ends in its one vector, whose rest counts
/// for nothing.
static PAIRS_OF_BYTES: [[u8; 64]; 4] = {
    let mut bytes = [[0; 64]; 4];
    let mut i = 0;
    while i < 4 * 64 {
        let (group, number) = (i / 64, i % 64 / 2);
        let byte = 48 * group + 3 * number / 2 + i % 2;
        // where the first vector of the group begins
        let start = [0, 0, 64, 128][group];
        bytes[group][i % 64] = (byte - start) as u8;
        i += 1;
    }
    bytes
};

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add_pair_products(a: &[i16; 32], b: &[i16; 32], sums: &mut [i32; 16]) {
    let products = _mm512_madd_epi16(read(a), read(b));
    *sums = lanes(_mm512_add_epi32(read(sums), products));
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn halves(even: &[i32; 16], odd: &[i32; 16]) -> [[i16; 32]; 2] {
    const ODD_LANES: __mmask32 = 0xaaaa_aaaa;
    let (even, odd) = (read(even), read(odd));
    let low = _mm512_mask_blend_epi16(ODD_LANES, even, _mm512_slli_epi32::<16>(odd));
    let high = _mm512_mask_blend_epi16(ODD_LANES, _mm512_srli_epi32::<16>(even), odd);
    [lanes(low), lanes(high)]
}

/// The lanes of a vector.
#[inline]
#[target_feature(enable = "avx512f")]
fn lanes<T: Integer, const N: usize>(x: __m512i) -> [T; N] {
    const { assert!(size_of::<[T; N]>() == size_of::<__m512i>()) }
    let mut lanes = [T::default(); N];
    // SAFETY: the array has the size of a register, and takes any bits.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), x) }
    lanes
}
