//! The functions of the SHAKE parameter sets (FIPS 205, section 11.1).

use zeroize::ZeroizeOnDrop;

use super::address::Address;
use super::hash::{Hash, Lanes};
use crate::arch::{Backend, Vector};
use crate::hash::sha3::{SHAKE_SUFFIX, SHAKE256_RATE, shake256, shake256_joined};
use crate::kernel::keccak::{self, KeccakF1600};
use crate::kernel::slh_dsa::shake::Chain;
use crate::secret::wipe;

/// SHAKE256 in its roles, with PK.seed.
pub(super) struct Shake<B> {
    b: B,
    n: usize,
    /// The n / 8 words of PK.seed.
    seed: [u64; 4],
}

impl<B: Backend> Shake<B> {
    /// `pk_seed` has n bytes: 16, 24 or 32.
    pub(super) fn new(b: B, pk_seed: &[u8]) -> Self {
        debug_assert!(matches!(pk_seed.len(), 16 | 24 | 32));
        let mut seed = [0; 4];
        for (word, bytes) in seed.iter_mut().zip(pk_seed.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Self {
            b,
            n: pk_seed.len(),
            seed,
        }
    }

    fn pk_seed(&self, bytes: &mut [u8; 32]) -> usize {
        for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(self.seed) {
            *bytes = word.to_le_bytes();
        }
        self.n
    }

    /// SHAKE256(PK.seed ‖ ADRS ‖ message, 8n), computed in general registers.
    fn single(&self, address: &Address, message: &[u8]) -> [u8; 32] {
        let (mut seed, mut output) = ([0; 32], [0; 32]);
        let n = self.pk_seed(&mut seed);
        let parts = [&seed[..n], &address.bytes(), message];
        shake256(self.b, &parts, &mut output[..n]);
        output
    }

    /// SHAKE256(PK.seed ‖ ADRS ‖ message) of `count` messages, one per lane. They follow one
    /// another and have equal lengths, a multiple of 8.
    fn absorb(
        &self,
        count: usize,
        messages: &[u8],
        address: impl Fn(usize) -> Address,
        states: &mut States<B>,
    ) {
        *states = [Default::default(); 25];
        for lane in 0..count {
            let head = self.seed[..self.n / 8].iter().copied();
            let words = head.chain(address(lane).little_endian());
            for (word, state) in words.zip(states.iter_mut()) {
                state.as_mut()[lane] = word;
            }
        }
        self.absorb_messages(messages, messages.len() / count, states);
    }

    /// Absorbs the messages after their addresses. A separate function, since the compiler would
    /// otherwise compile this again for each `address` of [`absorb`](Self::absorb).
    fn absorb_messages(&self, messages: &[u8], message_len: usize, states: &mut States<B>) {
        let (mut position, mut taken) = (self.n / 8 + 4, 0);
        loop {
            let now = (RATE_WORDS - position).min(message_len / 8 - taken);
            for (lane, message) in messages.chunks(message_len).enumerate() {
                let words = message.as_chunks().0[taken..taken + now].iter();
                for (word, state) in words.zip(&mut states[position..]) {
                    state.as_mut()[lane] ^= u64::from_le_bytes(*word);
                }
            }
            taken += now;
            position += now;
            // If a message ends with the block, its padding is in the next block.
            if position < RATE_WORDS {
                break;
            }
            self.permute(states);
            position = 0;
        }
        for word in states[position].as_mut() {
            *word ^= u64::from(SHAKE_SUFFIX);
        }
        for word in states[RATE_WORDS - 1].as_mut() {
            *word ^= 1 << 63;
        }
        self.permute(states);
    }

    fn permute(&self, states: &mut States<B>) {
        keccak::run(
            self.b,
            KeccakF1600::<B::U64s> {
                token: self.b,
                states,
            },
        );
    }
}

/// The rate of SHAKE256 in words.
const RATE_WORDS: usize = SHAKE256_RATE / 8;

type States<B> = [<<B as Backend>::U64s as Vector>::Array; 25];

/// Copies the first words of a lane.
fn read<A: AsRef<[u64]>>(states: &[A], lane: usize, output: &mut [u8]) {
    for (bytes, state) in output.as_chunks_mut().0.iter_mut().zip(states) {
        *bytes = state.as_ref()[lane].to_le_bytes();
    }
}

impl<B: Backend> Hash for Shake<B> {
    const LANES: usize = B::U64s::LANES;

    type Lanes<'a>
        = ShakeLanes<'a, B>
    where
        B: 'a;

    fn n(&self) -> usize {
        self.n
    }

    fn lanes(&self) -> ShakeLanes<'_, B> {
        ShakeLanes {
            hash: self,
            addresses: Default::default(),
            values: Default::default(),
        }
    }

    fn join_pairs(&self, nodes: &mut [u8], count: usize, address: impl Fn(usize) -> Address) {
        let n = self.n;
        let mut states = [Default::default(); 25];
        for first in (0..count).step_by(Self::LANES) {
            let lanes = Self::LANES.min(count - first);
            if lanes == 1 {
                let children = &nodes[2 * first * n..][..2 * n];
                let parent = self.single(&address(first), children);
                nodes[first * n..][..n].copy_from_slice(&parent[..n]);
                continue;
            }
            let pairs = &nodes[2 * first * n..][..2 * lanes * n];
            self.absorb(lanes, pairs, |i| address(first + i), &mut states);
            let parents = nodes[first * n..].chunks_exact_mut(n).take(lanes);
            for (i, parent) in parents.enumerate() {
                read(&states, i, parent);
            }
        }
    }

    fn compress(&self, messages: &[u8], nodes: &mut [u8], address: impl Fn(usize) -> Address) {
        let n = self.n;
        let message_len = messages.len() / (nodes.len() / n);
        let mut states = [Default::default(); 25];
        let messages = messages.chunks(Self::LANES * message_len);
        let nodes = nodes.chunks_mut(Self::LANES * n);
        for (i, (messages, nodes)) in messages.zip(nodes).enumerate() {
            let first = i * Self::LANES;
            let lanes = nodes.len() / n;
            if lanes == 1 {
                nodes.copy_from_slice(&self.single(&address(first), messages)[..n]);
                continue;
            }
            self.absorb(lanes, messages, |i| address(first + i), &mut states);
            for (i, node) in nodes.chunks_exact_mut(n).enumerate() {
                read(&states, i, node);
            }
        }
    }

    fn prf_msg(&self, sk_prf: &[u8], randomness: &[u8], message: &[&[u8]], output: &mut [u8]) {
        shake256_joined(self.b, &[sk_prf, randomness], message, output);
    }

    fn h_msg(&self, r: &[u8], pk_root: &[u8], message: &[&[u8]], output: &mut [u8]) {
        let mut seed = [0; 32];
        let n = self.pk_seed(&mut seed);
        shake256_joined(self.b, &[r, &seed[..n], pk_root], message, output);
    }
}

/// Values in lanes, by words.
pub(super) struct ShakeLanes<'a, B: Backend> {
    hash: &'a Shake<B>,
    addresses: [<B::U64s as Vector>::Array; 4],
    values: [<B::U64s as Vector>::Array; 4],
}

impl<B: Backend> Lanes for ShakeLanes<'_, B> {
    fn set_address(&mut self, lane: usize, address: &Address) {
        for (words, word) in self.addresses.iter_mut().zip(address.little_endian()) {
            words.as_mut()[lane] = word;
        }
    }

    fn set_value(&mut self, lane: usize, value: &[u8]) {
        for (words, bytes) in self.values.iter_mut().zip(value.as_chunks().0) {
            words.as_mut()[lane] = u64::from_le_bytes(*bytes);
        }
    }

    fn value(&self, lane: usize, output: &mut [u8]) {
        read(&self.values, lane, output);
    }

    fn advance(&mut self, steps: usize) {
        let b = self.hash.b;
        keccak::run(
            b,
            Chain::<B::U64s> {
                token: b,
                words: self.hash.n / 8,
                seed: &self.hash.seed,
                addresses: &mut self.addresses,
                values: &mut self.values,
                steps,
            },
        );
    }
}

impl<B: Backend> Drop for ShakeLanes<'_, B> {
    fn drop(&mut self) {
        wipe(&mut self.values);
    }
}

impl<B: Backend> ZeroizeOnDrop for ShakeLanes<'_, B> {}
