//! The hash functions of the standards.
//!
//! [`sha3`] computes one SHA-3 or SHAKE at a time; [`lanes`] keeps all Keccak lanes
//! of the CPU busy with independent ones; [`sha2`] is SHA-2.

pub(crate) mod lanes;
pub(crate) mod sha2;
pub(crate) mod sha3;

#[cfg(feature = "limit")]
pub use timed::{permute_few_lanes, permute_lanes};

/// Permutations alone: what the benchmarks count the floor of other operations in.
#[cfg(feature = "limit")]
mod timed {
    use core::hint::black_box;

    use crate::arch::{Backend, U64s, Vector};
    use crate::kernel::keccak::KeccakF1600;

    /// Permutes all lanes of a backend so many times, one after the other, and returns their
    /// number.
    pub fn permute_lanes<B: Backend>(b: B, times: usize) -> usize {
        permute::<B::U64s>(b, times, |kernel| b.run(kernel))
    }

    /// Permutes the few lanes that the backend uses where there is no work for all.
    pub fn permute_few_lanes<B: Backend>(b: B, times: usize) -> usize {
        permute::<B::Few>(From::from(b), times, |kernel| b.run_few(kernel))
    }

    fn permute<V: U64s>(token: V::Token, times: usize, run: impl Fn(KeccakF1600<'_, V>)) -> usize {
        let mut states = black_box([<V as Vector>::Array::default(); 25]);
        for _ in 0..times {
            run(KeccakF1600 {
                token,
                states: &mut states,
            });
        }
        black_box(states);
        V::LANES
    }
}
