//! AVX2 and the bit manipulation instructions: Intel since Haswell, AMD since Zen.

mod coefficients;
mod packing;
mod words;

use core::arch::x86_64::*;
use core::hint::black_box;
use core::mem::MaybeUninit;

use self::coefficients::{I16x16, I32x8};
use self::packing::{
    append_4_bits_below, bit_pair_differences, keep_below, pack, pack_i16s, unpack,
};
pub(super) use self::words::transpose;
use self::words::{U32x8, U64x4};
use super::asked_once::AskedOnce;
use super::instructions::{Integer, numbers, register, run_with, token};
use super::vendor::{AMD, vendor};
use super::{Backend, FromNumber, Kernel, Portable, ShaNi};
use crate::sealed::Sealed;

token! {
    /// The proof that the CPU has AVX2, BMI1, BMI2 and POPCNT.
    Avx2: "avx2", "bmi1", "bmi2", "popcnt"
}

impl Backend for Avx2 {
    type U64s = U64x4;
    type Few = u64;
    type U32s = U32x8;
    type Sha256 = ShaNi;
    type I16s = I16x16;
    type I32s = I32x8;

    const NAME: &'static str = "AVX2";
    const RANK: u8 = 1;

    run_with!(
        run: "avx2", "bmi1", "bmi2", "popcnt";
        // The compiler decides whether to align the frame before it knows that vectors will be
        // spilled, and then it is too late. This has it aligned.
        first black_box(&MaybeUninit::<__m256i>::uninit())
    );

    run_with!(run_scalar: "bmi1", "bmi2");

    #[inline]
    fn sha256(self) -> Option<ShaNi> {
        ShaNi::detect()
    }

    numbers!();

    #[inline(always)]
    fn append_4_bits_below(
        self,
        bytes: &[u8; 136],
        limit: u32,
        output: &mut [u8; 256],
        filled: usize,
    ) -> usize {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { append_4_bits_below(bytes, limit, output, filled) }
    }
}

impl Avx2 {
    /// Clears the upper halves of the sixteen vector registers that SSE has (`vzeroupper`).
    ///
    /// All that this crate runs leaves them clear, as the compiler sees to. This is for callers of
    /// code that does not: while an upper half is in use, some of Intel's CPUs (Emerald Rapids
    /// for one) take many times as long for the instructions of SSE in their first encoding, which
    /// most of a program's are. It wipes nothing, since the lower halves stay.
    #[inline]
    pub fn clear_upper_halves(self) {
        // SAFETY: the token proves that the CPU has the instruction.
        unsafe { _mm256_zeroupper() }
    }

    /// Whether upper halves that are in use may slow this CPU even if all their bits are 0. AMD says
    /// that its CPUs are slowed only by others (Software Optimization Guide for AMD Family 17h
    /// Processors, section 2.11.6). Those of them that say of zeros that they are in use, as Zen 4 does
    /// and Zen 3 and Zen 5 don't, are taken at their word.
    #[inline]
    pub fn slowed_by_zero_halves(self) -> bool {
        static SLOWED: AskedOnce = AskedOnce::new();
        SLOWED.get(|| (vendor() != AMD || self.says_that_zeros_are_in_use()).into()) != 0
    }

    /// Whether an upper half counts as in use that has only zeros, on a CPU that says when none is.
    fn says_that_zeros_are_in_use(self) -> bool {
        self.clear_upper_halves();
        let when_clear = self.halves_in_use();
        // SAFETY: the token proves that the CPU has the instruction, which changes this register
        // only. By its name for SSE, or the compiler would clear its upper half.
        unsafe {
            core::arch::asm!(
                "vpxor ymm15, ymm15, ymm15",
                out("xmm15") _,
                options(nomem, nostack, preserves_flags)
            );
        }
        let with_zeros = self.halves_in_use();
        self.clear_upper_halves();
        (when_clear, with_zeros) == (Some(false), Some(true))
    }

    /// Puts an upper half in use, with bits that are not 0.
    #[cfg(feature = "limit")]
    pub fn set_upper_half(self) {
        // SAFETY: the token proves that the CPU has the instruction, which changes this register
        // only. By its name for SSE, or the compiler would clear its upper half.
        unsafe {
            core::arch::asm!(
                "vpcmpeqd ymm15, ymm15, ymm15",
                out("xmm15") _,
                options(nomem, nostack, preserves_flags)
            );
        }
    }

    /// Whether an upper half of these registers is in use, if the CPU says so: after
    /// [`clear_upper_halves`](Self::clear_upper_halves) some say that they always are.
    #[cfg(feature = "limit")]
    pub fn upper_halves_in_use(self) -> Option<bool> {
        self.halves_in_use()
    }

    fn halves_in_use(self) -> Option<bool> {
        // Intel's manual, volume 1, section 13.2: whether XGETBV says which components of the
        // state are in use. These are component 2.
        const TELLS: u32 = 1 << 2;
        const UPPER_HALVES: u64 = 1 << 2;

        /// For CPUs that tell.
        #[target_feature(enable = "xsave")]
        unsafe fn components_in_use() -> u64 {
            // SAFETY: the CPU has this register of those that XGETBV reads.
            unsafe { _xgetbv(1) }
        }

        #[allow(
            unused_unsafe,
            reason = "safe in later versions of Rust than the oldest that is supported"
        )]
        // SAFETY: a CPU with AVX2 has CPUID, and this leaf of it, which is about XSAVE.
        let tells = unsafe { __cpuid_count(0xd, 1) }.eax & TELLS != 0;
        // SAFETY: the CPU tells, and there would be no AVX2 if the operating system hadn't enabled
        // XSAVE.
        tells.then(|| unsafe { components_in_use() } & UPPER_HALVES != 0)
    }
}

impl From<Avx2> for Portable {
    fn from(_: Avx2) -> Self {
        Self
    }
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
fn halves(even: &[i32; 16], odd: &[i32; 16]) -> [[i16; 32]; 2] {
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

register!(__m256i, "avx2", _mm256_loadu_si256, _mm256_storeu_si256);
