//! F of the SHAKE parameter sets (FIPS 205, section 11.1) applied again and again.
//!
//! Everything that F hashes is a whole number of words, and fits one block with its
//! padding: a step is one permutation of a state that is put together in registers.

use crate::arch::{Backend, U64s};
use crate::kernel::keccak::{Permuting, permute};

/// Replaces every value by F(PK.seed, ADRS, value), `steps` times, and counts up the last
/// field of ADRS after each.
///
/// Seeds, addresses and values are words of their bytes, the least significant first.
pub(crate) struct Chain<'a, V: U64s> {
    pub(crate) token: V::Token,
    /// n / 8, how many words a value has: 2, 3 or 4.
    pub(crate) words: usize,
    /// So many words of PK.seed.
    pub(crate) seed: &'a [u64; 4],
    pub(crate) addresses: &'a mut [V::Array; 4],
    /// So many vectors of words. What is left of those behind them means nothing.
    pub(crate) values: &'a mut [V::Array; 4],
    pub(crate) steps: usize,
}

impl<B: Backend, V: U64s> Permuting<B> for Chain<'_, V> {
    /// Compiled for each length: where nothing is known of places in the state it takes 3 % longer.
    #[inline(always)]
    fn run<const PAIRS: bool>(self, _: B) {
        match self.words {
            2 => self.run_with::<B, PAIRS>(2),
            3 => self.run_with::<B, PAIRS>(3),
            _ => self.run_with::<B, PAIRS>(4),
        }
    }
}

impl<V: U64s> Chain<'_, V> {
    #[inline(always)]
    fn run_with<B: Backend, const PAIRS: bool>(self, words: usize) {
        let Self {
            token,
            seed,
            addresses,
            values,
            steps,
            ..
        } = self;
        let zero = V::splat(token, 0);
        // PK.seed ‖ ADRS without its last word, and the end of the block of 136 bytes
        let mut block = [[zero; 5]; 5];
        let a = block.as_flattened_mut();
        for (place, word) in a.iter_mut().zip(&seed[..words]) {
            *place = V::splat(token, *word);
        }
        for (place, address) in a[words..].iter_mut().zip(&addresses[..3]) {
            *place = V::load(token, address);
        }
        a[16] = V::splat(token, 1 << 63);
        let mut value = values.each_ref().map(|array| V::load(token, array));
        for _ in 0..steps {
            // the rest of ADRS ‖ value, and the suffix of SHAKE in place of what is not of the value
            let mut state = block;
            let a = state.as_flattened_mut();
            a[words + 3] = V::load(token, &addresses[3]);
            a[words + 4..words + 8].copy_from_slice(&value);
            a[2 * words + 4] = V::splat(token, 0x1f);
            a[2 * words + 5] = zero;
            let [[first, second, third, fourth, _], ..] = permute::<B, V, PAIRS>(token, state);
            value = [first, second, third, fourth];
            // The field is big-endian, so its last byte is the most significant here. It
            // counts steps of a chain, of which there are at most 15, or is not used again.
            for word in addresses[3].as_mut() {
                *word = word.wrapping_add(1 << 56);
            }
        }
        for (vector, array) in value.iter().zip(values) {
            vector.store(array);
        }
    }
}
