//! The hash functions of the standards.
//!
//! [`sha3`] computes one SHA-3 or SHAKE at a time; [`lanes`] keeps all Keccak lanes
//! of the CPU busy with independent ones; [`sha2`] is SHA-2.

pub(crate) mod lanes;
pub(crate) mod sha2;
pub(crate) mod sha3;

/// Permutes all lanes of a backend so many times, one after the other, and returns their
/// number: what the benchmarks count the floor of other operations in.
#[cfg(feature = "limit")]
pub fn permute_lanes<B: crate::arch::Backend>(b: B, times: usize) -> usize {
    use crate::arch::Vector;
    use crate::kernel::keccak::KeccakF1600;

    let mut states = core::hint::black_box([<B::U64s as Vector>::Array::default(); 25]);
    for _ in 0..times {
        b.run(KeccakF1600::<B::U64s> {
            token: b,
            states: &mut states,
        });
    }
    core::hint::black_box(states);
    B::U64s::LANES
}
