//! F of the SHA2 parameter sets (FIPS 205, section 11.2) applied again and again.
//!
//! What F hashes after the block with PK.seed fits one block with its padding. Values stay
//! words from step to step; they only move by the two bytes that ADRSᶜ is shorter than six
//! words.

use core::array;
use core::marker::PhantomData;

use crate::arch::{Backend, Kernel, Portable, Sha256Instructions, U32s, Vector, Words};
use crate::dimension::Dimension;
use crate::kernel::sha2::{LanesOf, compress, compress_streams};

/// Replaces every value by F(PK.seed, ADRS, value), `steps` times, and counts up the last
/// field of ADRS after each.
///
/// `N` is n, the length of a value in bytes: 16, 24 or 32. `V` are the words of all lanes.
pub(crate) struct Chain<'a, V, N> {
    /// The state after the block with PK.seed.
    pub(crate) midstate: &'a [u32; 8],
    /// ADRSᶜ and two bytes of zeros.
    pub(crate) addresses: &'a mut [V; 6],
    /// n / 4 vectors.
    pub(crate) values: &'a mut [V; 8],
    pub(crate) steps: usize,
    pub(crate) n: PhantomData<N>,
}

impl<B: Backend, N: Dimension> Kernel<B> for Chain<'_, LanesOf<B, u32>, N> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        let load = |array| <B::U32s as Vector>::load(b, array);
        let midstate = self
            .midstate
            .map(|word| <B::U32s as Vector>::splat(b, word));
        let mut address = self.addresses.each_ref().map(load);
        let mut value = self.values.each_ref().map(load);
        for _ in 0..self.steps {
            value = compress::<_, _, true>(b, midstate, block::<B::U32s, N>(b, &address, &value));
            address[5] = address[5].add(<B::U32s as Vector>::splat(b, COUNT));
        }
        for (vector, array) in value.iter().zip(self.values) {
            vector.store(array);
        }
        address[5].store(&mut self.addresses[5]);
    }
}

/// The same by the instructions that a CPU has for SHA-256.
pub(crate) struct ChainStreams<'a, V, N>(pub(crate) Chain<'a, V, N>);

/// How many messages side by side keep the instructions busy. Registers are for no more.
const STREAMS: usize = 4;

impl<S: Sha256Instructions, V, N: Dimension> Kernel<S> for ChainStreams<'_, V, N>
where
    V: AsRef<[u32]> + AsMut<[u32]>,
{
    type Output = ();

    #[inline(always)]
    fn run(self, s: S) {
        let Self(chain) = self;
        let lanes = chain.values[0].as_ref().len();
        debug_assert!(lanes.is_multiple_of(STREAMS));
        let midstate = [s.pack(chain.midstate); STREAMS];
        // What the loop computes with is in registers, or where the compiler spills them, and not
        // wiped: in memory, where it could be, signing takes 3 to 15 % longer.
        for first in (0..lanes).step_by(STREAMS) {
            let mut addresses = read_lanes(chain.addresses, first);
            let mut values = read_lanes(chain.values, first);
            for _ in 0..chain.steps {
                let blocks =
                    array::from_fn(|i| block::<u32, N>(Portable, &addresses[i], &values[i]));
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
fn block<V: U32s, N: Dimension>(token: V::Token, address: &[V; 6], value: &[V; 8]) -> [V; 16] {
    const {
        assert!(N::N == 16 || N::N == 24 || N::N == 32);
    }
    let words = N::N / 4;
    let mut block = [V::splat(token, 0); 16];
    block[..6].copy_from_slice(address);
    block[5] = block[5].add(value[0].shift_right::<16>());
    for i in 1..words {
        block[5 + i] = value[i - 1].shift_in::<16>(value[i]);
    }
    block[5 + words] = value[words - 1].shift_in::<16>(V::splat(token, 1 << 31));
    let bits = 8 * (64 + 22 + N::N) as u32;
    block[15] = V::splat(token, bits);
    block
}

#[cfg(test)]
mod tests {
    use core::marker::PhantomData;

    use sha2::block_api::compress256;

    use super::{Chain, ChainStreams};
    use crate::arch::{Backend, Sha256Instructions, Vector, on_each_backend};
    use crate::dimension::{Dim, Dimension};
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
        fn check<B: Backend, N: Dimension>(b: B, steps: usize) {
            let mut random = Random::new(6);
            let midstate = core::array::from_fn(|_| random.bits() as u32);
            let mut addresses = [LanesOf::<B, u32>::default(); 6];
            let mut values = [LanesOf::<B, u32>::default(); 8];
            let mut expected = [[0; 32]; 16];
            let mut counted = [[0; 24]; 16];
            for lane in 0..B::U32s::LANES {
                let mut address: [u8; 24] = random.bytes();
                address[20..].fill(0);
                let value: [u8; 32] = random.bytes();
                put(&mut addresses, lane, &address);
                put(&mut values[..N::N / 4], lane, &value);
                expected[lane] = value;
                for _ in 0..steps {
                    let address22 = address.first_chunk().expect("24 bytes");
                    textbook(&midstate, address22, &mut expected[lane][..N::N]);
                    address[21] += 1;
                }
                counted[lane] = address;
            }
            for by_instructions in [false, true] {
                let (mut addresses, mut values) = (addresses, values);
                let chain = Chain {
                    midstate: &midstate,
                    addresses: &mut addresses,
                    values: &mut values,
                    steps,
                    n: PhantomData::<N>,
                };
                match b.sha256() {
                    Some(instructions) if by_instructions => instructions.run(ChainStreams(chain)),
                    None if by_instructions => continue,
                    _ => b.run(chain),
                }
                for lane in 0..B::U32s::LANES {
                    let word = |words: &LanesOf<B, u32>| words.as_ref()[lane].to_be_bytes();
                    let value = values.each_ref().map(word);
                    assert_eq!(value.as_flattened()[..N::N], expected[lane][..N::N]);
                    let address = addresses.each_ref().map(word);
                    assert_eq!(address.as_flattened(), counted[lane]);
                }
            }
        }

        for steps in [0, 1, 2, 3, 7, 15] {
            on_each_backend!(b => {
                check::<_, Dim<16>>(b, steps);
                check::<_, Dim<24>>(b, steps);
                check::<_, Dim<32>>(b, steps);
            });
        }
    }
}
