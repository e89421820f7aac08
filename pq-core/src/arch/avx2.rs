//! AVX2 and the bit manipulation instructions: Intel since Haswell, AMD since Zen.

use core::arch::x86_64::*;
use core::hint::black_box;
use core::mem::MaybeUninit;

use super::instructions::{Integer, instructions, lane_orders, sums, vector};
use super::{
    Backend, Coefficients, FromNumber, I16s, I32s, Kernel, Portable, ShaNi, U32s, U64s, Vector,
    Words, declassify, packing,
};
use crate::sealed::Sealed;

cpufeatures::new!(detection, "avx2", "bmi1", "bmi2", "popcnt");

/// The proof that the CPU has AVX2, BMI1, BMI2 and POPCNT.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    /// The token, if this machine and its operating system support the instructions.
    #[inline]
    pub fn detect() -> Option<Self> {
        detection::get().then_some(Self(()))
    }
}

impl Sealed for Avx2 {}

impl Backend for Avx2 {
    type U64s = U64x4;
    type Few = u64;
    type U32s = U32x8;
    type Sha256 = ShaNi;
    type I16s = I16x16;
    type I32s = I32x8;

    const NAME: &'static str = "AVX2";
    const RANK: u8 = 1;

    #[inline]
    fn run<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
        fn with_features<K: Kernel<Avx2>>(b: Avx2, kernel: K) -> K::Output {
            // The compiler decides whether to align the frame before it knows that vectors
            // will be spilled, and then it is too late. This has it aligned.
            black_box(&MaybeUninit::<__m256i>::uninit());
            kernel.run(b)
        }
        // SAFETY: the token exists only where all of these were detected.
        unsafe { with_features(self, kernel) }
    }

    #[inline]
    fn run_scalar<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "bmi1,bmi2")]
        fn with_features<K: Kernel<Avx2>>(b: Avx2, kernel: K) -> K::Output {
            kernel.run(b)
        }
        // SAFETY: the token exists only where both were detected.
        unsafe { with_features(self, kernel) }
    }

    #[inline]
    fn sha256(self) -> Option<ShaNi> {
        ShaNi::detect()
    }

    #[inline(always)]
    fn pack<const D: usize>(self, numbers: &[u32; 16], bytes: &mut [u8]) {
        if D > 1 && (D <= 16 || D.is_multiple_of(2)) {
            // SAFETY: the token proves that the CPU has the instructions.
            unsafe { pack::<D>(numbers, bytes) }
        } else {
            packing::pack::<D>(numbers, bytes);
        }
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
        mut filled: usize,
    ) -> usize {
        for numbers in numbers.as_chunks().0 {
            // SAFETY: the token proves that the CPU has the instructions.
            let (below, count) = unsafe { keep_below(numbers, limit) };
            filled = packing::append(&below, count, output, filled);
        }
        filled
    }

    #[inline(always)]
    fn add_pair_products(self, a: &[i16; 32], b: &[i16; 32], sums: &mut [i32; 16]) {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { add_pair_products(a, b, sums) }
    }

    #[inline(always)]
    fn halves(self, even: &[i32; 16], odd: &[i32; 16]) -> [[i16; 32]; 2] {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { halves_in_turn(even, odd) }
    }
}

/// Vectors of words: the same instructions, each for its width.
macro_rules! words {
    ($name:ident, $bits:literal, $add:ident, $sub:ident, $shift_left:ident, $shift_right:ident) => {
        impl Words for $name {
            instructions! {
                add => $add(other);
                sub => $sub(other);
                xor => _mm256_xor_si256(other);
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
                // SAFETY: `self` proves that the CPU has the instructions.
                Self(unsafe {
                    _mm256_or_si256(
                        $shift_left(self.0, _mm_cvtsi32_si128(N)),
                        $shift_right(next.0, _mm_cvtsi32_si128($bits - N)),
                    )
                })
            }
        }
    };
}

vector! {
    /// Eight lanes of SHA-256.
    U32x8: __m256i = [u32; 8] of Avx2,
    |x| _mm256_set1_epi32(x.cast_signed()), _mm256_loadu_si256, _mm256_storeu_si256
}

words!(
    U32x8,
    32,
    _mm256_add_epi32,
    _mm256_sub_epi32,
    _mm256_sll_epi32,
    _mm256_srl_epi32
);

impl U32s for U32x8 {}

vector! {
    /// Four lanes of Keccak, SHA-512.
    U64x4: __m256i = [u64; 4] of Avx2,
    |x| _mm256_set1_epi64x(x.cast_signed()), _mm256_loadu_si256, _mm256_storeu_si256
}

words!(
    U64x4,
    64,
    _mm256_add_epi64,
    _mm256_sub_epi64,
    _mm256_sll_epi64,
    _mm256_srl_epi64
);

impl U64s for U64x4 {
    instructions! {
        chi => chi(b, c);
    }

    #[inline(always)]
    fn mask(_: Avx2, lanes: u32) -> Self {
        // SAFETY: the token proves that the CPU has the instructions.
        Self(unsafe { mask(lanes) })
    }

    #[inline(always)]
    fn transpose(vectors: &[Self; 24], blocks: &mut [[u8; 192]]) {
        let mut registers = [vectors[0].0; 24];
        for (register, vector) in registers.iter_mut().zip(vectors) {
            *register = vector.0;
        }
        // SAFETY: the vectors prove that the CPU has the instructions.
        unsafe { transpose(&registers, blocks) }
    }
}

impl From<Avx2> for Portable {
    fn from(_: Avx2) -> Self {
        Self
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn mask(lanes: u32) -> __m256i {
    let bits = _mm256_setr_epi64x(1, 2, 4, 8);
    let lanes = _mm256_set1_epi64x(lanes.into());
    _mm256_cmpeq_epi64(_mm256_and_si256(lanes, bits), bits)
}

/// Six times four vectors.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn transpose(vectors: &[__m256i; 24], blocks: &mut [[u8; 192]]) {
    for (sixth, four) in vectors.as_chunks::<4>().0.iter().enumerate() {
        let [a, b, c, d] = *four;
        // The even lanes of two vectors, and the odd.
        let (ab0, ab1) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
        let (cd0, cd1) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
        let (row0, row2) = transpose_blocks::<128>(ab0, cd0);
        let (row1, row3) = transpose_blocks::<128>(ab1, cd1);
        for (block, row) in blocks.iter_mut().zip([row0, row1, row2, row3]) {
            let bytes: &mut [u8; 32] = &mut block.as_chunks_mut().0[sixth];
            // SAFETY: the array has the size of a register.
            unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), row) }
        }
    }
}

/// a ⊕ b ⊕ c
#[inline]
#[target_feature(enable = "avx2")]
fn xor3(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    _mm256_xor_si256(_mm256_xor_si256(a, b), c)
}

/// a ⊕ (¬b ∧ c)
#[inline]
#[target_feature(enable = "avx2")]
fn chi(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    _mm256_xor_si256(a, _mm256_andnot_si256(b, c))
}

/// (a ∧ b) ⊕ (¬a ∧ c)
#[inline]
#[target_feature(enable = "avx2")]
fn choose(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    _mm256_xor_si256(_mm256_and_si256(a, _mm256_xor_si256(b, c)), c)
}

/// (a ∧ b) ⊕ (a ∧ c) ⊕ (b ∧ c), of which b ⊕ c is the a ⊕ b of SHA-2's round before.
#[inline]
#[target_feature(enable = "avx2")]
fn majority(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    _mm256_xor_si256(
        _mm256_and_si256(_mm256_xor_si256(a, b), _mm256_xor_si256(b, c)),
        b,
    )
}

vector! {
    /// 16 coefficients of ML-KEM.
    I16x16: __m256i = [i16; 16] of Avx2,
    |x| _mm256_set1_epi16(x), _mm256_loadu_si256, _mm256_storeu_si256
}

impl Coefficients for I16x16 {
    instructions! {
        add => _mm256_add_epi16(other);
        sub => _mm256_sub_epi16(other);
        mul_low => _mm256_mullo_epi16(other);
        mul_high => _mm256_mulhi_epi16(other);
    }

    #[inline(always)]
    fn shift_right<const N: i32>(self) -> Self {
        // SAFETY: `self` proves that the CPU has the instruction.
        Self(unsafe { _mm256_srai_epi16::<N>(self.0) })
    }

    lane_orders!(2);
}

impl I16s for I16x16 {}

vector! {
    /// Eight coefficients of ML-DSA.
    I32x8: __m256i = [i32; 8] of Avx2,
    |x| _mm256_set1_epi32(x), _mm256_loadu_si256, _mm256_storeu_si256
}

impl Coefficients for I32x8 {
    instructions! {
        add => _mm256_add_epi32(other);
        sub => _mm256_sub_epi32(other);
        mul_low => _mm256_mullo_epi32(other);
        mul_high => mul_high(other);
        montgomery_product => montgomery_product(factor, factor_over_q, q);
    }

    #[inline(always)]
    fn shift_right<const N: i32>(self) -> Self {
        // SAFETY: `self` proves that the CPU has the instruction.
        Self(unsafe { _mm256_srai_epi32::<N>(self.0) })
    }

    lane_orders!(1);
}

sums! {
    /// Those of the even and of the odd lanes.
    I32x8: [__m256i; 2] of Avx2, _mm256_setzero_si256()
}

/// There is no instruction for high halves of 32 bits: products of the even lanes and
/// of the odd lanes, in 64 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn mul_high(a: __m256i, b: __m256i) -> __m256i {
    let even = _mm256_mul_epi32(a, b);
    let odd = _mm256_mul_epi32(odd_lanes(a), odd_lanes(b));
    high_halves(even, odd)
}

/// As the default method, with the high halves taken after the subtraction, and without
/// the low products of 32 bits, which take longer than those of 64.
#[inline]
#[target_feature(enable = "avx2")]
fn montgomery_product(x: __m256i, factor: __m256i, factor_over_q: __m256i, q: __m256i) -> __m256i {
    let (x_odd, factor_odd) = (odd_lanes(x), odd_lanes(factor));
    let m = _mm256_mul_epi32(x, factor_over_q);
    let m_odd = _mm256_mul_epi32(x_odd, odd_lanes(factor_over_q));
    let even = _mm256_sub_epi64(_mm256_mul_epi32(x, factor), _mm256_mul_epi32(m, q));
    let odd = _mm256_sub_epi64(
        _mm256_mul_epi32(x_odd, factor_odd),
        _mm256_mul_epi32(m_odd, q),
    );
    high_halves(even, odd)
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_product(a: __m256i, b: __m256i, [even, odd]: [__m256i; 2]) -> [__m256i; 2] {
    [
        _mm256_add_epi64(even, _mm256_mul_epi32(a, b)),
        _mm256_add_epi64(odd, _mm256_mul_epi32(odd_lanes(a), odd_lanes(b))),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn montgomery_reduce([even, odd]: [__m256i; 2], q_inverse: __m256i, q: __m256i) -> __m256i {
    let (m, m_odd) = (
        _mm256_mul_epi32(even, q_inverse),
        _mm256_mul_epi32(odd, q_inverse),
    );
    high_halves(
        _mm256_sub_epi64(even, _mm256_mul_epi32(m, q)),
        _mm256_sub_epi64(odd, _mm256_mul_epi32(m_odd, q)),
    )
}

/// The odd lanes of `even` and `odd` as even and odd lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn high_halves(even: __m256i, odd: __m256i) -> __m256i {
    _mm256_blend_epi32::<0b1010_1010>(odd_lanes(even), odd)
}

/// Each odd lane in place of the even lane before it.
#[inline]
#[target_feature(enable = "avx2")]
fn odd_lanes(x: __m256i) -> __m256i {
    _mm256_shuffle_epi32::<0b11_11_01_01>(x)
}

/// Each odd block of `BITS` bits of `a` and the even block of `b` before it in each other's
/// place.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_blocks<const BITS: usize>(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    match BITS {
        32 => (
            _mm256_blend_epi32::<0b1010_1010>(a, _mm256_slli_epi64::<32>(b)),
            _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(a), b),
        ),
        64 => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
        _ => (
            _mm256_permute2x128_si256::<0x20>(a, b),
            _mm256_permute2x128_si256::<0x31>(a, b),
        ),
    }
}

/// The second and the third quadword in each other's place: most instructions work on
/// halves, and this makes them work on the whole.
#[inline]
#[target_feature(enable = "avx2")]
fn swap_middle(x: __m256i) -> __m256i {
    _mm256_permute4x64_epi64::<0b11_01_10_00>(x)
}

#[inline]
#[target_feature(enable = "avx2")]
fn deinterleave(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
    (
        swap_middle(_mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(
            a, b,
        ))),
        swap_middle(_mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(
            a, b,
        ))),
    )
}

#[inline]
#[target_feature(enable = "avx2")]
fn interleave(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    transpose_blocks::<128>(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b))
}

/// Where the bits of packed numbers are: 16 numbers of `D` bits, four to each half of a
/// vector.
struct Packed<const D: usize>;

impl<const D: usize> Packed<D> {
    /// For each byte of four packed numbers the byte of a quadword, of which the second
    /// is moved by its phase, that has its low bits, and that which has the rest.
    const PARTS: [[u8; 16]; 2] = {
        assert!(D <= 24, "two numbers and a phase fit a quadword");
        let mut parts = [[NONE; 16]; 2];
        let mut i = 0;
        while i < (4 * D).div_ceil(8) {
            let (low, high) = (8 * i / (2 * D), (8 * i + 7) / (2 * D));
            parts[0][i] = (8 * low + i - 2 * D * low / 8) as u8;
            if low == 0 && high == 1 {
                parts[1][i] = 8;
            }
            i += 1;
        }
        parts
    };

    /// Where 16 bytes are read that have four packed numbers: from the first bit on, or
    /// the last that there are.
    const STARTS: [usize; 4] = {
        let mut starts = [0; 4];
        let mut i = 0;
        while i < 4 && 2 * D >= 16 {
            starts[i] = D * i / 2;
            if starts[i] > 2 * D - 16 {
                starts[i] = 2 * D - 16;
            }
            i += 1;
        }
        starts
    };

    /// For each byte of the numbers the byte of those read where it begins.
    const GATHERED: [[u8; 32]; 2] = {
        let mut bytes = [[NONE; 32]; 2];
        let mut i = 0;
        while i < 64 {
            let byte = D * (i / 4) / 8 + i % 4 - Self::STARTS[i / 16];
            if byte < 16 {
                bytes[i / 32][i % 32] = byte as u8;
            }
            i += 1;
        }
        bytes
    };

    /// The bit of its first byte where each number begins.
    const PHASES: [[u32; 8]; 2] = {
        let mut phases = [[0; 8]; 2];
        let mut i = 0;
        while i < 16 {
            phases[i / 8][i % 8] = (D * i % 8) as u32;
            i += 1;
        }
        phases
    };
}

/// The index of a byte of zeros.
const NONE: u8 = 0x80;

/// A vector from memory.
#[inline]
#[target_feature(enable = "avx2")]
fn read<T, const N: usize>(lanes: &[T; N]) -> __m256i {
    const { assert!(size_of::<[T; N]>() == size_of::<__m256i>()) }
    // SAFETY: the array has the size of a register.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

/// Half a vector from memory.
#[inline]
#[target_feature(enable = "avx2")]
fn read_half(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the array has the size of the register.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// The lanes of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes<T: Integer, const N: usize>(x: __m256i) -> [T; N] {
    const { assert!(size_of::<[T; N]>() == size_of::<__m256i>()) }
    let mut lanes = [T::default(); N];
    // SAFETY: the array has the size of the register, and takes any bits.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), x) }
    lanes
}

/// 1 < `D`, and `D` ≤ 16 or even.
#[inline]
#[target_feature(enable = "avx2")]
fn pack<const D: usize>(numbers: &[u32; 16], bytes: &mut [u8]) {
    let low_parts = _mm256_broadcastsi128_si256(read_half(&Packed::<D>::PARTS[0]));
    let high_parts = _mm256_broadcastsi128_si256(read_half(&Packed::<D>::PARTS[1]));
    // The even numbers go to the upper ends of their lanes, and then both down. The
    // second of two quadwords goes up by the phase of its bits.
    let alignment = _mm256_set1_epi64x(32 - D as i64);
    let phase = (2 * D % 8) as i64;
    let phases = _mm256_setr_epi64x(0, phase, 0, phase);
    for (numbers, bytes) in numbers.as_chunks().0.iter().zip(bytes.chunks_exact_mut(D)) {
        let numbers: &[u32; 8] = numbers;
        let aligned = _mm256_sllv_epi32(read(numbers), alignment);
        let pairs = _mm256_srl_epi64(aligned, _mm_cvtsi32_si128(32 - D as i32));
        let pairs = _mm256_sllv_epi64(pairs, phases);
        let packed = _mm256_or_si256(
            _mm256_shuffle_epi8(pairs, low_parts),
            _mm256_shuffle_epi8(pairs, high_parts),
        );
        let [first, second] = halves(packed);
        if D <= 16 {
            let packed = first | second << (4 * D);
            bytes.copy_from_slice(&packed.to_le_bytes()[..D]);
        } else {
            let (start, end) = bytes.split_at_mut(D / 2);
            start.copy_from_slice(&first.to_le_bytes()[..D / 2]);
            end.copy_from_slice(&second.to_le_bytes()[..D / 2]);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves(x: __m256i) -> [u128; 2] {
    let mut halves = [0; 2];
    // SAFETY: the array has the size of the register.
    unsafe { _mm256_storeu_si256(halves.as_mut_ptr().cast(), x) }
    halves
}

#[inline]
#[target_feature(enable = "avx2")]
fn unpack<const D: usize>(bytes: &[u8]) -> [u32; 16] {
    assert_eq!(bytes.len(), 2 * D);
    let mut padded = [0; 16];
    let four = |i: usize| {
        let start = Packed::<D>::STARTS[i];
        bytes[start..].first_chunk()
    };
    let quarters = if 2 * D < 16 {
        padded[..2 * D].copy_from_slice(bytes);
        [&padded; 4]
    } else {
        [0, 1, 2, 3].map(|i| four(i).unwrap_or(&padded))
    };
    let mask = _mm256_set1_epi32((1 << D) - 1);
    let mut unpacked = [0; 16];
    for (i, unpacked) in unpacked.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let x = _mm256_set_m128i(read_half(quarters[2 * i + 1]), read_half(quarters[2 * i]));
        let gathered = _mm256_shuffle_epi8(x, read(&Packed::<D>::GATHERED[i]));
        let shifted = _mm256_srlv_epi32(gathered, read(&Packed::<D>::PHASES[i]));
        *unpacked = lanes(_mm256_and_si256(shifted, mask));
    }
    unpacked
}

/// Those that are below `limit`, in their order, and how many there are.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn keep_below(candidates: &[u32; 8], limit: u32) -> ([u32; 8], usize) {
    let x = read(candidates);
    let below = _mm256_cmpgt_epi32(_mm256_set1_epi32(limit.cast_signed()), x);
    let mut below = _mm256_movemask_ps(_mm256_castsi256_ps(below)).cast_unsigned();
    declassify(&mut below);
    let kept = KEPT_LANES[below as usize & 0xff].to_le_bytes();
    // SAFETY: the array has the eight bytes that are read.
    let order = unsafe { _mm_loadl_epi64(kept.as_ptr().cast()) };
    let kept = _mm256_permutevar8x32_epi32(x, _mm256_cvtepu8_epi32(order));
    (lanes(kept), below.count_ones() as usize)
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_pair_products(a: &[i16; 32], b: &[i16; 32], sums: &mut [i32; 16]) {
    let (a, b) = (a.as_chunks::<16>().0, b.as_chunks::<16>().0);
    for (sums, (a, b)) in sums.as_chunks_mut::<8>().0.iter_mut().zip(a.iter().zip(b)) {
        let products = _mm256_madd_epi16(read(a), read(b));
        *sums = lanes(_mm256_add_epi32(read(sums), products));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves_in_turn(even: &[i32; 16], odd: &[i32; 16]) -> [[i16; 32]; 2] {
    const ODD_LANES: i32 = 0b1010_1010;
    let (mut low, mut high) = ([0; 32], [0; 32]);
    let halves = low.as_chunks_mut::<16>().0.iter_mut();
    let halves = halves.zip(high.as_chunks_mut::<16>().0);
    let numbers = even.as_chunks::<8>().0.iter().zip(odd.as_chunks::<8>().0);
    for ((low, high), (even, odd)) in halves.zip(numbers) {
        let (even, odd) = (read(even), read(odd));
        *low = lanes(_mm256_blend_epi16::<ODD_LANES>(
            even,
            _mm256_slli_epi32::<16>(odd),
        ));
        *high = lanes(_mm256_blend_epi16::<ODD_LANES>(
            _mm256_srli_epi32::<16>(even),
            odd,
        ));
    }
    [low, high]
}

/// For every choice of lanes their indices, a byte each.
static KEPT_LANES: [u64; 256] = {
    let mut lanes = [0; 256];
    let mut choice = 0;
    while choice < 256 {
        let (mut i, mut count) = (0, 0);
        while i < 8 {
            if choice >> i & 1 == 1 {
                lanes[choice] |= i << (8 * count);
                count += 1;
            }
            i += 1;
        }
        choice += 1;
    }
    lanes
};
