//! Pseudorandom inputs for tests: reproducible, and not fit for anything else.

use core::array;

/// How many inputs a test tries: `natively`, or fewer under Miri, which takes a thousand times as long.
pub(crate) fn inputs(natively: usize) -> usize {
    if cfg!(miri) {
        natively.div_ceil(25)
    } else {
        natively
    }
}

/// A generator (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    /// Another seed gives other inputs.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        // the increment is ⌊2⁶⁴ / golden ratio⌋, made odd
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// 0 ≤ x < `limit`
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u32
    }

    /// |x| ≤ `limit`
    pub(crate) fn within(&mut self, limit: i32) -> i32 {
        self.below(2 * limit as u32 + 1) as i32 - limit
    }

    /// Any bytes.
    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        array::from_fn(|_| self.bits() as u8)
    }
}
