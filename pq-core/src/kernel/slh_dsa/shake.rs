//! F of the SHAKE parameter sets (FIPS 205, section 11.1) applied again and again.
//!
//! Everything that F hashes is a whole number of words, and fits one block with its
//! padding: a step is one permutation of a state that is put together in registers.

use core::marker::PhantomData;

use crate::arch::{Backend, U64s};
use crate::dimension::Dimension;
use crate::kernel::keccak::{Permuting, permute};

/// Replaces every value by F(PK.seed, ADRS, value), `steps` times, and counts up the last
/// field of ADRS after each.
///
/// `N` is n, the length of a value in bytes: 16, 24 or 32. Seeds, addresses and values are
/// words of their bytes, the least significant first.
pub(crate) struct Chain<'a, V: U64s, N> {
    pub(crate) token: V::Token,
    /// n / 8 words of PK.seed.
    pub(crate) seed: &'a [u64; 4],
    pub(crate) addresses: &'a mut [V::Array; 4],
    /// n / 8 vectors of words.
    pub(crate) values: &'a mut [V::Array; 4],
    pub(crate) steps: usize,
    pub(crate) n: PhantomData<N>,
}

impl<B: Backend, V: U64s, N: Dimension> Permuting<B> for Chain<'_, V, N> {
    #[inline(always)]
    fn run<const PAIRS: bool>(self, _: B) {
        const {
            assert!(N::N == 16 || N::N == 24 || N::N == 32);
        }
        let words = N::N / 8;
        let Self {
            token,
            seed,
            addresses,
            values,
            steps,
            ..
        } = self;
        let zero = V::splat(token, 0);
        let mut value = [zero; 4];
        for (vector, array) in value.iter_mut().zip(values.iter()).take(words) {
            *vector = V::load(token, array);
        }
        for _ in 0..steps {
            // PK.seed ‖ ADRS ‖ value, the suffix of SHAKE, and the end of the block of
            // 136 bytes
            let mut state = [[zero; 5]; 5];
            let a = state.as_flattened_mut();
            for i in 0..words {
                a[i] = V::splat(token, seed[i]);
                a[words + 4 + i] = value[i];
            }
            for i in 0..4 {
                a[words + i] = V::load(token, &addresses[i]);
            }
            a[2 * words + 4] = V::splat(token, 0x1f);
            a[16] = V::splat(token, 1 << 63);
            let state = permute::<B, V, PAIRS>(token, state);
            value[..words].copy_from_slice(&state[0][..words]);
            // The field is big-endian, so its last byte is the most significant here. It
            // counts steps of a chain, of which there are at most 15, or is not used again.
            for word in addresses[3].as_mut() {
                *word = word.wrapping_add(1 << 56);
            }
        }
        for (vector, array) in value.iter().zip(values).take(words) {
            vector.store(array);
        }
    }
}
