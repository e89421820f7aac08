//! F of the SHA2 parameter sets (FIPS 205, section 11.2) applied again and again.
//!
//! What F hashes after the block with PK.seed fits one block with its padding. Values stay
//! words from step to step; they only move by the two bytes that ADRSᶜ is shorter than six
//! words.

use core::array;

use crate::arch::{Backend, Kernel, Portable, Sha256Instructions, U32s, Vector, Words};
use crate::kernel::sha2::{LanesOf, compress, compress_streams};

/// Replaces every value by F(PK.seed, ADRS, value), `steps` times, and counts up the last
/// field of ADRS after each.
///
/// `V` are the words of all lanes.
pub(crate) struct Chain<'a, V> {
    /// n / 4, how many words a value has: 4, 6 or 8.
    pub(crate) words: usize,
    /// The state after the block with PK.seed.
    pub(crate) midstate: &'a [u32; 8],
    /// ADRSᶜ and two bytes of zeros.
    pub(crate) addresses: &'a mut [V; 6],
    /// So many vectors. What is left of those behind them means nothing.
    pub(crate) values: &'a mut [V; 8],
    pub(crate) steps: usize,
}

impl<B: Backend> Kernel<B> for Chain<'_, LanesOf<B, u32>> {
    type Output = ();

    /// Compiled for each length, so that no place in a block has to be computed.
    #[inline(always)]
    fn run(self, b: B) {
        match self.words {
            4 => self.run_with(b, 4),
            6 => self.run_with(b, 6),
            _ => self.run_with(b, 8),
        }
    }
}

impl<V> Chain<'_, V> {
    #[inline(always)]
    fn run_with<B: Backend<U32s: Vector<Array = V>>>(self, b: B, words: usize) {
        let load = |array| <B::U32s as Vector>::load(b, array);
        let midstate = self
            .midstate
            .map(|word| <B::U32s as Vector>::splat(b, word));
        let mut address = self.addresses.each_ref().map(load);
        let mut value = self.values.each_ref().map(load);
        for _ in 0..self.steps {
            let block = block::<B::U32s>(b, words, &address, &value);
            value = compress::<_, _, true>(b, midstate, block);
            address[5] = address[5].add(<B::U32s as Vector>::splat(b, COUNT));
        }
        for (vector, array) in value.iter().zip(self.values) {
            vector.store(array);
        }
        address[5].store(&mut self.addresses[5]);
    }
}

impl<V: AsRef<[u32]> + AsMut<[u32]>> Chain<'_, V> {
    /// The same by the instructions that a CPU has for SHA-256.
    pub(crate) fn run_by<S: Sha256Instructions>(self, instructions: S) {
        match self.words {
            4 => instructions.run(ChainStreams::<_, 4>(self)),
            6 => instructions.run(ChainStreams::<_, 6>(self)),
            _ => instructions.run(ChainStreams::<_, 8>(self)),
        }
    }
}

/// A chain of values of `WORDS` words: instructions are so fast that it matters whether the compiler knows
/// where things belong in a block.
struct ChainStreams<'a, V, const WORDS: usize>(Chain<'a, V>);

/// How many messages side by side keep the instructions busy. Registers are for no more.
const STREAMS: usize = 4;

impl<S: Sha256Instructions, V, const WORDS: usize> Kernel<S> for ChainStreams<'_, V, WORDS>
where
    V: AsRef<[u32]> + AsMut<[u32]>,
{
    type Output = ();

    #[inline(always)]
    fn run(self, s: S) {
        let Self(chain) = self;
        debug_assert_eq!(chain.words, WORDS);
        let lanes = chain.values[0].as_ref().len();
        debug_assert!(lanes.is_multiple_of(STREAMS));
        let midstate = [s.pack(chain.midstate); STREAMS];
        // What the loop computes with is in registers, or where the compiler spills them, and not
        // wiped: in memory, where it could be, signing takes 3 to 15 % longer.
        for first in (0..lanes).step_by(STREAMS) {
            let mut addresses = read_lanes(chain.addresses, first);
            let mut values = read_lanes(chain.values, first);
            for _ in 0..chain.steps {
                // A closure for all would be a function of its own, by which signing takes half as long again.
                let block = |i: usize| block::<u32>(Portable, WORDS, &addresses[i], &values[i]);
                let blocks = [block(0), block(1), block(2), block(3)];
                values = compress_streams(s, midstate, blocks).map(|state| s.unpack(state));
                for address in &mut addresses {
                    address[5] = address[5].wrapping_add(COUNT);
                }
            }
            for (i, (address, value)) in addresses.iter().zip(&values).enumerate() {
                chain.addresses[5].as_mut()[first + i] = address[5];
                for (words, word) in chain.values.iter_mut().zip(value) {
                    words.as_mut()[first + i] = *word;
                }
            }
        }
    }
}

/// The words of lanes from `first` on.
#[inline(always)]
fn read_lanes<V: AsRef<[u32]>, const N: usize>(
    words: &[V; N],
    first: usize,
) -> [[u32; N]; STREAMS] {
    array::from_fn(|i| words.each_ref().map(|words| words.as_ref()[first + i]))
}

/// One more in the last field, which ends two bytes before its word does. It counts steps of
/// a chain, of which there are at most 15, or is not used again: what the upper half of the field
/// loses by an overflow is not missed.
const COUNT: u32 = 1 << 16;

/// ADRSᶜ ‖ value ‖ padding.
#[inline(always)]
fn block<V: U32s>(token: V::Token, words: usize, address: &[V; 6], value: &[V; 8]) -> [V; 16] {
    let mut block = [V::splat(token, 0); 16];
    block[..6].copy_from_slice(address);
    block[5] = block[5].add(value[0].shift_right::<16>());
    for i in 1..8 {
        block[5 + i] = value[i - 1].shift_in::<16>(value[i]);
    }
    // the padding, in place of what is not of the value
    block[5 + words] = value[words - 1].shift_in::<16>(V::splat(token, 1 << 31));
    block[6 + words..].fill(V::splat(token, 0));
    let bits = 8 * (64 + 22 + 4 * words) as u32;
    block[15] = V::splat(token, bits);
    block
}

#[cfg(test)]
mod tests {
    use sha2::block_api::compress256;

    use super::Chain;
    use crate::arch::{Backend, Vector, on_each_backend};
    use crate::kernel::sha2::LanesOf;
    use crate::test_random::Random;

    /// F by bytes, on one lane.
    fn textbook(midstate: &[u32; 8], address: &[u8; 22], value: &mut [u8]) {
        let mut block = [0; 64];
        block[..22].copy_from_slice(address);
        block[22..22 + value.len()].copy_from_slice(value);
        block[22 + value.len()] = 0x80;
        block[62..].copy_from_slice(&(8 * (86 + value.len()) as u16).to_be_bytes());
        let mut state = *midstate;
        compress256(&mut state, &[block]);
        let digest = state.map(u32::to_be_bytes);
        value.copy_from_slice(&digest.as_flattened()[..value.len()]);
    }

    /// The words of 32 bytes in a lane.
    fn put<V: AsMut<[u32]>>(words: &mut [V], lane: usize, bytes: &[u8]) {
        for (words, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            words.as_mut()[lane] = u32::from_be_bytes(*bytes);
        }
    }

    /// In lanes, and by the CPU's instructions.
    #[test]
    fn chains_match_textbook() {
        fn check<B: Backend>(b: B, n: usize, steps: usize) {
            let mut random = Random::new(6);
            let midstate = core::array::from_fn(|_| random.bits() as u32);
            let mut addresses = [LanesOf::<B, u32>::default(); 6];
            let mut values = [LanesOf::<B, u32>::default(); 8];
            let mut expected = [[0; 32]; 16];
            let mut counted = [[0; 24]; 16];
            for lane in 0..B::U32s::LANES {
                let mut address: [u8; 24] = random.bytes();
                // the chain begins in the middle, at another step in each lane
                address[21] %= 128;
                address[22..].fill(0);
                let value: [u8; 32] = random.bytes();
                put(&mut addresses, lane, &address);
                put(&mut values[..n / 4], lane, &value);
                expected[lane] = value;
                for _ in 0..steps {
                    let address22 = address.first_chunk().expect("24 bytes");
                    textbook(&midstate, address22, &mut expected[lane][..n]);
                    address[21] += 1;
                }
                counted[lane] = address;
            }
            for by_instructions in [false, true] {
                let (mut addresses, mut values) = (addresses, values);
                let chain = Chain {
                    words: n / 4,
                    midstate: &midstate,
                    addresses: &mut addresses,
                    values: &mut values,
                    steps,
                };
                match b.sha256() {
                    Some(instructions) if by_instructions => chain.run_by(instructions),
                    None if by_instructions => continue,
                    _ => b.run(chain),
                }
                for lane in 0..B::U32s::LANES {
                    let word = |words: &LanesOf<B, u32>| words.as_ref()[lane].to_be_bytes();
                    let value = values.each_ref().map(word);
                    assert_eq!(value.as_flattened()[..n], expected[lane][..n]);
                    let address = addresses.each_ref().map(word);
                    assert_eq!(address.as_flattened(), counted[lane]);
                }
            }
        }

        for steps in [0, 1, 2, 3, 7, 15] {
            on_each_backend!(b => {
                for n in [16, 24, 32] {
                    check(b, n, steps);
                }
            });
        }
    }
}
