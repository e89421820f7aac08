//! The SHA extensions: Intel since Goldmont and Ice Lake, AMD since Zen.

use core::arch::x86_64::*;

use super::instructions::{run_with, token};
use super::{Kernel, Sha256Instructions};
use crate::sealed::Sealed;

token! {
    /// The proof that the CPU has the SHA extensions, SSSE3 and SSE4.1.
    ShaNi: "sha", "ssse3", "sse4.1"
}

impl Sha256Instructions for ShaNi {
    type Words = __m128i;
    /// The words f, e, b, a and h, g, d, c, from the lowest lane on.
    type State = (__m128i, __m128i);

    run_with!(run: "sha", "ssse3", "sse4.1");

    #[inline(always)]
    fn load(self, words: &[u32; 4]) -> __m128i {
        // SAFETY: the array has the size of the register.
        unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn add(self, a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: every x86-64 CPU has the instruction.
        unsafe { _mm_add_epi32(a, b) }
    }

    #[inline(always)]
    fn schedule(self, words: [__m128i; 4]) -> __m128i {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { schedule(words) }
    }

    #[inline(always)]
    fn pack(self, state: &[u32; 8]) -> (__m128i, __m128i) {
        let [abcd, efgh] = [0, 4].map(|i| self.load(&core::array::from_fn(|j| state[i + j])));
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { pack(abcd, efgh) }
    }

    #[inline(always)]
    fn unpack(self, state: (__m128i, __m128i)) -> [u32; 8] {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { unpack(state) }
    }

    #[inline(always)]
    fn add_states(self, a: Self::State, b: Self::State) -> Self::State {
        (self.add(a.0, b.0), self.add(a.1, b.1))
    }

    #[inline(always)]
    fn four_rounds(self, state: Self::State, sums: __m128i) -> Self::State {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { four_rounds(state, sums) }
    }
}

#[inline]
#[target_feature(enable = "sha,ssse3")]
fn schedule([w0, w4, w8, w12]: [__m128i; 4]) -> __m128i {
    let w9 = _mm_alignr_epi8::<4>(w12, w8);
    _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w0, w4), w9), w12)
}

/// Two rounds at a time. After two rounds, c, d, g, h are the previous a, b, e, f.
#[inline]
#[target_feature(enable = "sha")]
fn four_rounds((abef, cdgh): (__m128i, __m128i), sums: __m128i) -> (__m128i, __m128i) {
    let after_two = _mm_sha256rnds2_epu32(cdgh, abef, sums);
    let high = _mm_shuffle_epi32::<0b11_10_11_10>(sums);
    (_mm_sha256rnds2_epu32(abef, after_two, high), after_two)
}

#[inline]
#[target_feature(enable = "ssse3,sse4.1")]
fn pack(abcd: __m128i, efgh: __m128i) -> (__m128i, __m128i) {
    let badc = _mm_shuffle_epi32::<0b10_11_00_01>(abcd);
    let hgfe = _mm_shuffle_epi32::<0b00_01_10_11>(efgh);
    (
        _mm_alignr_epi8::<8>(badc, hgfe),
        _mm_blend_epi16::<0b1111_0000>(hgfe, badc),
    )
}

#[inline]
#[target_feature(enable = "ssse3,sse4.1")]
fn unpack((abef, cdgh): (__m128i, __m128i)) -> [u32; 8] {
    let abef = _mm_shuffle_epi32::<0b00_01_10_11>(abef);
    let ghcd = _mm_shuffle_epi32::<0b10_11_00_01>(cdgh);
    let abcd = _mm_blend_epi16::<0b1111_0000>(abef, ghcd);
    let efgh = _mm_alignr_epi8::<8>(ghcd, abef);
    let mut state = [0; 8];
    for (words, half) in state.as_chunks_mut::<4>().0.iter_mut().zip([abcd, efgh]) {
        // SAFETY: the array has the size of the register.
        unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), half) }
    }
    state
}
