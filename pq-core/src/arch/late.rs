//! Sums in general registers that the compiler does not reorder.

use core::arch::asm;

/// The sum of two words modulo 2⁶⁴, where `early` is known earlier than `late`.
#[inline(always)]
pub(super) fn add(early: u64, late: u64) -> u64 {
    // which runs no instructions of a CPU
    if cfg!(miri) {
        return early.wrapping_add(late);
    }
    let sum;
    // SAFETY: the instruction only computes a register from two others.
    unsafe {
        asm!(
            "add {}, {}",
            inout(reg) early => sum,
            in(reg) late,
            options(pure, nomem, nostack),
        );
    }
    sum
}
