//! AVX2 and the bit manipulation instructions: Intel since Haswell, AMD since Zen.

mod coefficients;
mod packing;
mod words;

use core::arch::x86_64::*;
use core::array;
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
    type Schedules = U64x4;
    type U32s = U32x8;
    type Sha256 = ShaNi;
    type I16s = I16x16;
    type I32s = I32x8;

    const NAME: &'static str = "AVX2";
    const RANK: u8 = 1;

    run_with!(
        run: "avx2", "bmi1", "bmi2", "popcnt";
        // The compiler decides whether to align the frame before it knows that vectors will be
        // spilled, which is too late. This line makes it align the frame.
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
    /// The compiler makes all code of this crate leave them clear. This is for callers of code that
    /// does not: while an upper half is in use, some Intel CPUs (Emerald Rapids for one) take many
    /// times as long for SSE instructions in legacy encoding, which are most of a program's.
    /// It wipes no secrets, since the lower halves stay.
    #[inline]
    pub fn clear_upper_halves(self) {
        // SAFETY: the token proves that the CPU has the instruction.
        unsafe { _mm256_zeroupper() }
    }

    /// Whether upper halves that are in use may slow this CPU even if all their bits are 0.
    ///
    /// AMD says that only other values slow its CPUs (Software Optimization Guide for AMD Family
    /// 17h Processors, section 2.11.6). But some of them report upper halves of zeros as in use,
    /// Zen 4 at least if they were loaded; for these the answer is yes, and for those that don't
    /// report it.
    ///
    /// The answer is kept. It is yes, the safe one, unless many readings agree on no: an interrupt
    /// between two instructions can change what one of them says.
    #[inline]
    pub fn slowed_by_zero_halves(self) -> bool {
        static SLOWED: AskedOnce = AskedOnce::new();
        SLOWED.get(|| (vendor() != AMD || may_be_slowed(array::from_fn(|_| self.reading()))).into())
            != 0
    }

    /// What the CPU says of cleared upper halves, and then with zeros in one.
    fn reading(self) -> Reading {
        // asked for before, since it can interrupt
        let tells = self.tells_of_halves();
        self.clear_upper_halves();
        let when_clear = self.halves_in_use(tells);
        // Loaded, since some CPUs don't count those that `vpxor` with itself makes.
        let zeros = [0_u64; 4];
        // SAFETY: the token proves that the CPU has the instruction, which changes only this
        // register and reads an array of its size. The operand is named by its SSE name, since the
        // compiler would otherwise clear its upper half.
        unsafe {
            core::arch::asm!(
                "vmovdqu ymm15, [{zeros}]",
                zeros = in(reg) zeros.as_ptr(),
                out("xmm15") _,
                options(readonly, nostack, preserves_flags)
            );
        }
        let with_zeros = self.halves_in_use(tells);
        self.clear_upper_halves();
        Some([when_clear?, with_zeros?])
    }

    /// Sets bits of an upper half, so that it is in use.
    #[cfg(feature = "limit")]
    pub fn set_upper_half(self) {
        // SAFETY: the token proves that the CPU has the instruction, which changes only this
        // register. The operand is named by its SSE name, since the compiler would otherwise clear
        // its upper half.
        unsafe {
            core::arch::asm!(
                "vpcmpeqd ymm15, ymm15, ymm15",
                out("xmm15") _,
                options(nomem, nostack, preserves_flags)
            );
        }
    }

    /// Whether an upper half of these registers is in use, if the CPU reports it. Some report them
    /// as in use even after [`clear_upper_halves`](Self::clear_upper_halves).
    #[cfg(feature = "limit")]
    pub fn upper_halves_in_use(self) -> Option<bool> {
        self.halves_in_use(self.tells_of_halves())
    }

    /// Whether the CPU reports which upper halves are in use.
    ///
    /// It is asked once. In a virtual machine CPUID hands over to the host, which may save and load
    /// registers, and so change whether they are in use.
    fn tells_of_halves(self) -> bool {
        // Intel's manual, volume 1, section 13.2: this bit says whether XGETBV reports the
        // components of the state that are in use.
        const TELLS: u32 = 1 << 2;
        static ANSWER: AskedOnce = AskedOnce::new();
        ANSWER.get(|| {
            #[allow(
                unused_unsafe,
                reason = "safe in later versions of Rust than the oldest that is supported"
            )]
            // SAFETY: a CPU with AVX2 has CPUID, and this leaf, which describes XSAVE.
            let leaf = unsafe { __cpuid_count(0xd, 1) };
            (leaf.eax & TELLS != 0).into()
        }) != 0
    }

    /// Whether an upper half is in use, if the CPU `tells`.
    fn halves_in_use(self, tells: bool) -> Option<bool> {
        /// The upper halves are component 2 of the state.
        const UPPER_HALVES: u64 = 1 << 2;

        /// Only for CPUs that report this.
        #[target_feature(enable = "xsave")]
        unsafe fn components_in_use() -> u64 {
            // SAFETY: the CPU has this register, which XGETBV reads.
            unsafe { _xgetbv(1) }
        }

        // SAFETY: the CPU reports the components, and there would be no AVX2 if the operating
        // system hadn't enabled XSAVE.
        tells.then(|| unsafe { components_in_use() } & UPPER_HALVES != 0)
    }
}

/// Whether upper halves are in use when they are cleared, and when zeros were put in one. `None` if
/// the CPU does not say.
type Reading = Option<[bool; 2]>;

/// How many readings have to agree that zeros do not count as in use. Each takes a few dozen cycles.
const READINGS: usize = 32;

/// Whether zeros in upper halves may slow an AMD CPU, by what it says of them.
///
/// A CPU that tells zeros and cleared halves apart does so in every reading that nothing interrupts,
/// and an interrupt hides this at most. So one reading is enough for yes. Clearing without need
/// takes a few cycles, and not clearing where it is needed slows a program many times over: whatever
/// else a CPU says means yes, too.
fn may_be_slowed(readings: [Reading; READINGS]) -> bool {
    readings != [Some([false; 2]); READINGS]
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

#[cfg(test)]
mod tests {
    use super::{READINGS, Reading, may_be_slowed};

    const NOT_IN_USE: Reading = Some([false, false]);
    const ZEROS_IN_USE: Reading = Some([false, true]);

    /// As Zen 3 and Zen 5 answer.
    #[test]
    fn zeros_that_are_never_in_use_do_not_slow() {
        assert!(!may_be_slowed([NOT_IN_USE; READINGS]));
    }

    /// As Zen 4 answers, with any number of interrupted readings but all, wherever they are.
    #[test]
    fn interrupted_readings_do_not_hide_that_zeros_slow() {
        assert!(may_be_slowed([ZEROS_IN_USE; READINGS]));
        for undisturbed in 0..READINGS {
            let mut readings = [NOT_IN_USE; READINGS];
            readings[undisturbed] = ZEROS_IN_USE;
            assert!(may_be_slowed(readings), "reading {undisturbed}");
            let mut readings = [ZEROS_IN_USE; READINGS];
            readings[undisturbed] = NOT_IN_USE;
            assert!(may_be_slowed(readings), "all but reading {undisturbed}");
        }
    }

    /// What nobody has seen yet is not taken for "never slowed".
    #[test]
    fn other_answers_err_on_the_safe_side() {
        for other in [None, Some([true, false]), Some([true, true])] {
            assert!(may_be_slowed([other; READINGS]), "{other:?}");
            let mut readings = [NOT_IN_USE; READINGS];
            readings[READINGS - 1] = other;
            assert!(may_be_slowed(readings), "{other:?} once");
        }
    }
}
