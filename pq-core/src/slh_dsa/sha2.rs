//! The functions of the SHA2 parameter sets (FIPS 205, section 11.2).

use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::address::Address;
use super::hash::{Hash, Lanes};
use super::params::{MAX_DIGEST_LEN, MAX_N};
use crate::arch::{Backend, Vector};
use crate::hash::sha2::{Hasher, SHA256, SHA512};
use crate::kernel::sha2::{CompressLanes, LanesOf, Word};
use crate::kernel::slh_dsa::sha2::Chain;
use crate::secret::wipe;

/// SHA-256 and SHA-512 in their roles, with PK.seed.
///
/// In F, H, T and PRF alike, PK.seed and zeros fill the first block.
pub(super) struct Sha2<B> {
    b: B,
    n: usize,
    seed: [u8; MAX_N],
    /// The state of SHA-256 after that block.
    small: [u32; 8],
    /// The state of SHA-512 after that block, for n > 16.
    large: [u64; 8],
}

impl<B: Backend> Sha2<B> {
    /// `pk_seed` has n bytes: 16, 24 or 32.
    pub(super) fn new(b: B, pk_seed: &[u8]) -> Self {
        debug_assert!(matches!(pk_seed.len(), 16 | 24 | 32));
        let n = pk_seed.len();
        let mut seed = [0; MAX_N];
        seed[..n].copy_from_slice(pk_seed);
        Self {
            b,
            n,
            seed,
            small: after_block(b, SHA256, pk_seed),
            large: after_block(b, SHA512, pk_seed),
        }
    }

    /// H or T of each of `digests.len()` messages, which follow one another and have equal lengths,
    /// a multiple of 8.
    fn tweak(
        &self,
        messages: &[u8],
        address: impl Fn(usize) -> Address,
        digests: &mut [[u8; MAX_N]],
    ) {
        let mut addresses = [Address::default(); MAX_LANES];
        let addresses = &mut addresses[..digests.len()];
        for (i, place) in addresses.iter_mut().enumerate() {
            *place = address(i);
        }
        if self.n == 16 {
            tweak(self.b, &self.small, addresses, messages, digests);
        } else {
            tweak(self.b, &self.large, addresses, messages, digests);
        }
    }
}

/// The state after `bytes` and zeros to the end of the block.
fn after_block<B: Backend, W: Word>(b: B, initial: [W; 8], bytes: &[u8]) -> [W; 8] {
    let mut hasher = Hasher::new(initial);
    hasher.absorb(b, bytes);
    hasher.absorb(b, &[0; 128][..Hasher::<W>::BLOCK_LEN - bytes.len()]);
    hasher.state()
}

impl<B: Backend> Hash for Sha2<B> {
    const LANES: usize = B::U32s::LANES;

    type Lanes<'a>
        = Sha2Lanes<'a, B>
    where
        B: 'a;

    fn n(&self) -> usize {
        self.n
    }

    fn lanes(&self) -> Sha2Lanes<'_, B> {
        Sha2Lanes {
            hash: self,
            addresses: Default::default(),
            values: Default::default(),
        }
    }

    fn join_pairs(&self, nodes: &mut [u8], count: usize, address: impl Fn(usize) -> Address) {
        let n = self.n;
        let mut digests = [[0; MAX_N]; MAX_LANES];
        for first in (0..count).step_by(MAX_LANES) {
            let digests = &mut digests[..MAX_LANES.min(count - first)];
            let pairs = &nodes[2 * first * n..][..2 * digests.len() * n];
            self.tweak(pairs, |i| address(first + i), digests);
            let parents = nodes[first * n..].chunks_exact_mut(n);
            for (parent, digest) in parents.zip(digests) {
                parent.copy_from_slice(&digest[..n]);
            }
        }
    }

    fn compress(&self, messages: &[u8], nodes: &mut [u8], address: impl Fn(usize) -> Address) {
        let n = self.n;
        let message_len = messages.len() / (nodes.len() / n);
        let mut digests = [[0; MAX_N]; MAX_LANES];
        let groups = messages.chunks(MAX_LANES * message_len);
        for ((group, messages), nodes) in groups.enumerate().zip(nodes.chunks_mut(MAX_LANES * n)) {
            let digests = &mut digests[..nodes.len() / n];
            self.tweak(messages, |i| address(group * MAX_LANES + i), digests);
            for (node, digest) in nodes.chunks_exact_mut(n).zip(digests) {
                node.copy_from_slice(&digest[..n]);
            }
        }
    }

    fn prf_msg(&self, sk_prf: &[u8], randomness: &[u8], message: &[&[u8]], output: &mut [u8]) {
        if self.n == 16 {
            hmac(self.b, SHA256, sk_prf, randomness, message, output);
        } else {
            hmac(self.b, SHA512, sk_prf, randomness, message, output);
        }
    }

    fn h_msg(&self, r: &[u8], pk_root: &[u8], message: &[&[u8]], output: &mut [u8]) {
        let head = [r, &self.seed[..self.n], pk_root];
        if self.n == 16 {
            h_msg(self.b, SHA256, head, message, output);
        } else {
            h_msg(self.b, SHA512, head, message, output);
        }
    }
}

/// [`Sha2::tweak`] with the hash function that has the state `midstate` after PK.seed.
///
/// Takes addresses as a slice: with a function, the compiler would compile this again for each such
/// function.
fn tweak<B: Backend, W: Word>(
    b: B,
    midstate: &[W; 8],
    addresses: &[Address],
    messages: &[u8],
    digests: &mut [[u8; MAX_N]],
) {
    let message_len = messages.len() / addresses.len();
    let lanes = W::Lanes::<B>::LANES;
    let few = if W::LEN == 4 && b.sha256().is_some() {
        FEW
    } else {
        1
    };
    let groups = addresses
        .chunks(lanes)
        .zip(messages.chunks(lanes * message_len));
    for ((addresses, messages), digests) in groups.zip(digests.chunks_mut(lanes)) {
        if digests.len() <= few {
            let messages = messages.chunks(message_len);
            for ((address, message), digest) in addresses.iter().zip(messages).zip(digests) {
                let mut hasher = Hasher::resume(*midstate, 1);
                hasher.absorb(
                    b,
                    &address.compressed().map(u64::to_be_bytes).as_flattened()[..22],
                );
                hasher.absorb(b, message);
                hasher.finish(b, digest);
            }
        } else {
            let states = tweak_lanes(b, midstate, addresses, messages);
            for (lane, digest) in digests.iter_mut().enumerate() {
                for (bytes, words) in digest.chunks_exact_mut(W::LEN).zip(&states) {
                    words.as_ref()[lane].write(bytes);
                }
            }
        }
    }
}

/// The largest number of messages hashed side by side.
const MAX_LANES: usize = 16;

/// How many one-block messages the CPU's instructions for SHA-256 hash one after another in the
/// time of all lanes together: 32 ns each against 135 ns with AVX-512, and 235 ns with AVX2.
const FEW: usize = 4;

/// The digests of messages that begin after the first block; at most as many messages as lanes.
fn tweak_lanes<B: Backend, W: Word>(
    b: B,
    midstate: &[W; 8],
    addresses: &[Address],
    messages: &[u8],
) -> [LanesOf<B, W>; 8] {
    let message_len = messages.len() / addresses.len();
    let mut states = midstate.map(|word| {
        let mut words = LanesOf::<B, W>::default();
        words.as_mut().fill(word);
        words
    });
    let mut blocks = [LanesOf::<B, W>::default(); 16];
    let mut compress = |blocks: &[LanesOf<B, W>; 16]| {
        b.run(CompressLanes::<B, W> {
            states: &mut states,
            blocks,
        });
    };

    // ADRSᶜ is 22 bytes long. The word in which it ends also takes the first two bytes of the
    // message, and the message's last word has room for two bytes of padding.
    let address_words = 24 / W::LEN;
    let messages = messages.chunks(message_len);
    for (lane, (address, message)) in addresses.iter().zip(messages.clone()).enumerate() {
        let mut bytes = address.compressed().map(u64::to_be_bytes);
        bytes[2][6..].copy_from_slice(&message[..2]);
        let words = bytes.as_flattened().chunks_exact(W::LEN);
        for (blocks, bytes) in blocks.iter_mut().zip(words) {
            blocks.as_mut()[lane] = W::read(bytes);
        }
    }
    debug_assert!(message_len >= 8 && message_len.is_multiple_of(8));
    let mut position = address_words;
    let mut taken = 2;
    loop {
        let bytes = (message_len - taken).min((16 - position) * W::LEN) / W::LEN * W::LEN;
        for (lane, message) in messages.clone().enumerate() {
            let words = message[taken..taken + bytes].chunks_exact(W::LEN);
            for (blocks, bytes) in blocks[position..].iter_mut().zip(words) {
                blocks.as_mut()[lane] = W::read(bytes);
            }
        }
        taken += bytes;
        position += bytes / W::LEN;
        if position < 16 {
            break;
        }
        compress(&blocks);
        position = 0;
    }
    for (lane, message) in messages.enumerate() {
        let end = message[taken..]
            .iter()
            .copied()
            .chain([0x80, 0])
            .fold(0, |word, byte| word << 8 | u64::from(byte));
        blocks[position].as_mut()[lane] = W::read(&end.to_be_bytes()[8 - W::LEN..]);
    }
    blocks[position + 1..].fill(Default::default());
    // The length takes two words.
    if position + 1 > 14 {
        compress(&blocks);
        blocks = [Default::default(); 16];
    }
    let bits = 8 * (16 * W::LEN + 22 + message_len) as u64;
    let length = W::read(&bits.to_be_bytes()[8 - W::LEN..]);
    blocks[15].as_mut().fill(length);
    compress(&blocks);
    states
}

/// The first bytes of HMAC(key, randomness ‖ message); the key must be shorter than a block.
fn hmac<B: Backend, W: Word>(
    b: B,
    initial: [W; 8],
    key: &[u8],
    randomness: &[u8],
    message: &[&[u8]],
    output: &mut [u8],
) {
    let absorb_key = |hasher: &mut Hasher<W>, pad: u8| {
        let mut block = Zeroizing::new([pad; 128]);
        for (byte, key) in block.iter_mut().zip(key) {
            *byte ^= key;
        }
        hasher.absorb(b, &block[..Hasher::<W>::BLOCK_LEN]);
    };
    let mut inner = Hasher::new(initial);
    absorb_key(&mut inner, 0x36);
    inner.absorb(b, randomness);
    for part in message {
        inner.absorb(b, part);
    }
    let mut digest = Zeroizing::new([0; 64]);
    let digest = &mut digest[..8 * W::LEN];
    inner.finish(b, digest);
    let mut outer = Hasher::new(initial);
    absorb_key(&mut outer, 0x5c);
    outer.absorb(b, digest);
    outer.finish(b, output);
}

/// MGF1(R ‖ PK.seed ‖ hash(R ‖ PK.seed ‖ PK.root ‖ message), m).
fn h_msg<B: Backend, W: Word>(
    b: B,
    initial: [W; 8],
    [r, pk_seed, pk_root]: [&[u8]; 3],
    message: &[&[u8]],
    output: &mut [u8],
) {
    debug_assert!(output.len() <= MAX_DIGEST_LEN);
    let mut inner = Hasher::new(initial);
    for part in [r, pk_seed, pk_root].iter().chain(message) {
        inner.absorb(b, part);
    }
    let mut digest = [0; 64];
    let digest = &mut digest[..8 * W::LEN];
    inner.finish(b, digest);
    for (counter, output) in (0_u32..).zip(output.chunks_mut(8 * W::LEN)) {
        let mut hasher = Hasher::new(initial);
        for part in [r, pk_seed, digest, &counter.to_be_bytes()] {
            hasher.absorb(b, part);
        }
        hasher.finish(b, output);
    }
}

/// Values in lanes, by words.
pub(super) struct Sha2Lanes<'a, B: Backend> {
    hash: &'a Sha2<B>,
    addresses: [LanesOf<B, u32>; 6],
    values: [LanesOf<B, u32>; 8],
}

impl<B: Backend> Lanes for Sha2Lanes<'_, B> {
    fn set_address(&mut self, lane: usize, address: &Address) {
        let halves = self.addresses.as_chunks_mut::<2>().0;
        for ([high, low], word) in halves.iter_mut().zip(address.compressed()) {
            high.as_mut()[lane] = (word >> 32) as u32;
            low.as_mut()[lane] = word as u32;
        }
    }

    fn set_value(&mut self, lane: usize, value: &[u8]) {
        for (words, bytes) in self.values.iter_mut().zip(value.as_chunks().0) {
            words.as_mut()[lane] = u32::from_be_bytes(*bytes);
        }
    }

    fn value(&self, lane: usize, output: &mut [u8]) {
        for (bytes, words) in output.as_chunks_mut().0.iter_mut().zip(&self.values) {
            *bytes = words.as_ref()[lane].to_be_bytes();
        }
    }

    fn advance(&mut self, steps: usize) {
        let b = self.hash.b;
        let chain = Chain {
            words: self.hash.n / 4,
            midstate: &self.hash.small,
            addresses: &mut self.addresses,
            values: &mut self.values,
            steps,
        };
        match b.sha256() {
            Some(instructions) if B::U32s::LANES < 16 => chain.run_by(instructions),
            _ => b.run(chain),
        }
    }
}

impl<B: Backend> Drop for Sha2Lanes<'_, B> {
    fn drop(&mut self) {
        wipe(&mut self.values);
    }
}

impl<B: Backend> ZeroizeOnDrop for Sha2Lanes<'_, B> {}
