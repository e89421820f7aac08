//! The hash functions of the standards.
//!
//! [`sha3`] computes one SHA-3 or SHAKE at a time; [`lanes`] computes several independent ones
//! together, to keep all Keccak lanes of the CPU busy; [`sha2`] is SHA-2.

pub(crate) mod lanes;
pub(crate) mod sha2;
pub(crate) mod sha3;

#[cfg(feature = "limit")]
pub use timed::{permute_few_lanes, permute_lanes};

/// Permutations alone: the unit in which benchmarks give the lower limit of other operations' time.
#[cfg(feature = "limit")]
mod timed {
    use core::hint::black_box;

    use crate::arch::{Backend, Vector};
    use crate::kernel::keccak::{self, KeccakF1600, PermuteAndAbsorb};

    /// Permutes all lanes of a backend `times` times, one permutation after the other.
    pub fn permute_lanes<B: Backend>(b: B, times: usize) {
        let mut states = black_box([<B::U64s as Vector>::Array::default(); 25]);
        for _ in 0..times {
            keccak::run(
                b,
                KeccakF1600::<B::U64s> {
                    token: b,
                    states: &mut states,
                },
            );
        }
        black_box(states);
    }

    /// Permutes a [few](Backend::Few) lanes `times` times; this takes as long for one state as for
    /// several.
    pub fn permute_few_lanes<B: Backend>(b: B, times: usize) {
        let mut state = black_box([0; 25]);
        for _ in 0..times {
            keccak::run_few(
                b,
                PermuteAndAbsorb::<B::Few> {
                    token: From::from(b),
                    state: &mut state,
                    rate: 136,
                    blocks: &[],
                },
            );
        }
        black_box(state);
    }
}
