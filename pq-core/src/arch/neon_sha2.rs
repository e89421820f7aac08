//! The SHA-256 instructions of Arm.

use core::arch::aarch64::*;

use super::instructions::{run_with, token};
use super::{Kernel, Sha256Instructions};
use crate::sealed::Sealed;

token! {
    /// The proof that the CPU has the SHA-256 instructions.
    NeonSha2: "sha2"
}

impl Sha256Instructions for NeonSha2 {
    type Words = uint32x4_t;
    /// The words a, b, c, d and e, f, g, h.
    type State = (uint32x4_t, uint32x4_t);

    run_with!(run: "neon", "sha2");

    #[inline(always)]
    fn load(self, words: &[u32; 4]) -> uint32x4_t {
        // SAFETY: the target has NEON, and the array has the size of the register.
        unsafe { vld1q_u32(words.as_ptr()) }
    }

    #[inline(always)]
    fn add(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        // SAFETY: the target has NEON.
        unsafe { vaddq_u32(a, b) }
    }

    #[inline(always)]
    fn schedule(self, words: [uint32x4_t; 4]) -> uint32x4_t {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { schedule(words) }
    }

    #[inline(always)]
    fn pack(self, state: &[u32; 8]) -> Self::State {
        let [abcd, efgh] = [0, 4].map(|i| self.load(&core::array::from_fn(|j| state[i + j])));
        (abcd, efgh)
    }

    #[inline(always)]
    fn unpack(self, (abcd, efgh): Self::State) -> [u32; 8] {
        let mut state = [0; 8];
        for (words, half) in state.as_chunks_mut::<4>().0.iter_mut().zip([abcd, efgh]) {
            // SAFETY: the target has NEON, and the array has the size of the register.
            unsafe { vst1q_u32(words.as_mut_ptr(), half) }
        }
        state
    }

    #[inline(always)]
    fn add_states(self, a: Self::State, b: Self::State) -> Self::State {
        (self.add(a.0, b.0), self.add(a.1, b.1))
    }

    #[inline(always)]
    fn four_rounds(self, state: Self::State, sums: uint32x4_t) -> Self::State {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { four_rounds(state, sums) }
    }
}

#[inline]
#[target_feature(enable = "neon,sha2")]
fn schedule([w0, w4, w8, w12]: [uint32x4_t; 4]) -> uint32x4_t {
    vsha256su1q_u32(vsha256su0q_u32(w0, w4), w8, w12)
}

#[inline]
#[target_feature(enable = "neon,sha2")]
fn four_rounds(
    (abcd, efgh): (uint32x4_t, uint32x4_t),
    sums: uint32x4_t,
) -> (uint32x4_t, uint32x4_t) {
    (
        vsha256hq_u32(abcd, efgh, sums),
        vsha256h2q_u32(efgh, abcd, sums),
    )
}
