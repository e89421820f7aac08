//! The functions of the SHA2 parameter sets (FIPS 205, section 11.2).

use core::marker::PhantomData;

use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::address::Address;
use super::hash::{Hash, Lanes};
use super::params::{MAX_DIGEST_LEN, MAX_N};
use crate::arch::Backend;
use crate::dimension::Dimension;
use crate::hash::sha2::{Hasher, SHA256, SHA512};
use crate::kernel::sha2::Word;
use crate::secret::wipe;

/// SHA-256 and SHA-512 in their roles, with PK.seed.
///
/// In all of F, H, T and PRF PK.seed fills the first block with zeros after it.
pub(super) struct Sha2<B, N> {
    b: B,
    seed: [u8; MAX_N],
    /// The state of SHA-256 after that block.
    small: [u32; 8],
    /// The same of SHA-512, for n > 16.
    large: [u64; 8],
    n: PhantomData<N>,
}

impl<B: Backend, N: Dimension> Sha2<B, N> {
    /// `pk_seed` has n bytes.
    pub(super) fn new(b: B, pk_seed: &[u8]) -> Self {
        let mut seed = [0; MAX_N];
        seed[..N::N].copy_from_slice(pk_seed);
        Self {
            b,
            seed,
            small: after_block(b, SHA256, pk_seed),
            large: after_block(b, SHA512, pk_seed),
            n: PhantomData,
        }
    }

    /// H or T of one message.
    fn single(&self, address: &Address, message: &[u8], output: &mut [u8]) {
        fn hash<B: Backend, W: Word>(
            mut hasher: Hasher<B, W>,
            address: &Address,
            message: &[u8],
            output: &mut [u8],
        ) {
            hasher.absorb(&address.compressed());
            hasher.absorb(message);
            hasher.finish(output);
        }

        if N::N == 16 {
            hash(
                Hasher::resume(self.b, self.small, 1),
                address,
                message,
                output,
            );
        } else {
            hash(
                Hasher::resume(self.b, self.large, 1),
                address,
                message,
                output,
            );
        }
    }
}

/// The state after `bytes` and zeros to the end of the block.
fn after_block<B: Backend, W: Word>(b: B, initial: [W; 8], bytes: &[u8]) -> [W; 8] {
    let mut hasher = Hasher::new(b, initial);
    hasher.absorb(bytes);
    hasher.absorb(&[0; 128][..Hasher::<B, W>::BLOCK_LEN - bytes.len()]);
    hasher.state()
}

impl<B: Backend, N: Dimension> Hash for Sha2<B, N> {
    const N: usize = N::N;
    const LANES: usize = 1;

    type Lanes<'a> = Sha2Lanes<'a, B, N>;

    fn lanes(&self) -> Sha2Lanes<'_, B, N> {
        Sha2Lanes {
            hash: self,
            address: [0; 22],
            value: [0; MAX_N],
        }
    }

    fn join_pairs(&self, nodes: &mut [u8], count: usize, address: impl Fn(usize) -> Address) {
        let mut parent = [0; MAX_N];
        let parent = &mut parent[..N::N];
        for i in 0..count {
            self.single(&address(i), &nodes[2 * i * N::N..][..2 * N::N], parent);
            nodes[i * N::N..][..N::N].copy_from_slice(parent);
        }
    }

    fn compress(&self, messages: &[u8], nodes: &mut [u8], address: impl Fn(usize) -> Address) {
        let message_len = messages.len() / (nodes.len() / N::N);
        let nodes = nodes.chunks_exact_mut(N::N);
        for (i, (message, node)) in messages.chunks(message_len).zip(nodes).enumerate() {
            self.single(&address(i), message, node);
        }
    }

    fn prf_msg(&self, sk_prf: &[u8], randomness: &[u8], message: &[&[u8]], output: &mut [u8]) {
        if N::N == 16 {
            hmac(self.b, SHA256, sk_prf, randomness, message, output);
        } else {
            hmac(self.b, SHA512, sk_prf, randomness, message, output);
        }
    }

    fn h_msg(&self, r: &[u8], pk_root: &[u8], message: &[&[u8]], output: &mut [u8]) {
        let head = [r, &self.seed[..N::N], pk_root];
        if N::N == 16 {
            h_msg(self.b, SHA256, head, message, output);
        } else {
            h_msg(self.b, SHA512, head, message, output);
        }
    }
}

/// The first bytes of HMAC(key, randomness ‖ message); the key is shorter than a block.
fn hmac<B: Backend, W: Word>(
    b: B,
    initial: [W; 8],
    key: &[u8],
    randomness: &[u8],
    message: &[&[u8]],
    output: &mut [u8],
) {
    let keyed = |pad: u8| {
        let mut block = Zeroizing::new([pad; 128]);
        for (byte, key) in block.iter_mut().zip(key) {
            *byte ^= key;
        }
        let mut hasher = Hasher::new(b, initial);
        hasher.absorb(&block[..Hasher::<B, W>::BLOCK_LEN]);
        hasher
    };
    let mut inner = keyed(0x36);
    inner.absorb(randomness);
    for part in message {
        inner.absorb(part);
    }
    let mut digest = [0; 64];
    let digest = &mut digest[..8 * W::LEN];
    inner.finish(digest);
    let mut outer = keyed(0x5c);
    outer.absorb(digest);
    outer.finish(output);
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
    let mut inner = Hasher::new(b, initial);
    for part in [r, pk_seed, pk_root].iter().chain(message) {
        inner.absorb(part);
    }
    let mut digest = [0; 64];
    let digest = &mut digest[..8 * W::LEN];
    inner.finish(digest);
    for (counter, output) in (0_u32..).zip(output.chunks_mut(8 * W::LEN)) {
        let mut hasher = Hasher::new(b, initial);
        for part in [r, pk_seed, digest, &counter.to_be_bytes()] {
            hasher.absorb(part);
        }
        hasher.finish(output);
    }
}

/// One value.
pub(super) struct Sha2Lanes<'a, B: Backend, N> {
    hash: &'a Sha2<B, N>,
    address: [u8; 22],
    value: [u8; MAX_N],
}

impl<B: Backend, N: Dimension> Lanes for Sha2Lanes<'_, B, N> {
    fn set_address(&mut self, _: usize, address: &Address) {
        self.address = address.compressed();
    }

    fn set_value(&mut self, _: usize, value: &[u8]) {
        self.value[..N::N].copy_from_slice(value);
    }

    fn value(&self, _: usize, output: &mut [u8]) {
        output.copy_from_slice(&self.value[..N::N]);
    }

    fn advance(&mut self, steps: usize) {
        // ADRSᶜ ‖ value ‖ padding fits one block.
        let mut block = Zeroizing::new([0; 64]);
        block[..22].copy_from_slice(&self.address);
        block[22 + N::N] = 0x80;
        let bits = 8 * (64 + 22 + N::N) as u16;
        block[62..].copy_from_slice(&bits.to_be_bytes());
        for _ in 0..steps {
            block[22..22 + N::N].copy_from_slice(&self.value[..N::N]);
            let mut state = self.hash.small;
            u32::compress_stream(self.hash.b, &mut state, &*block);
            for (word, bytes) in state.iter().zip(self.value.chunks_exact_mut(4)) {
                bytes.copy_from_slice(&word.to_be_bytes());
            }
            block[21] = block[21].wrapping_add(1);
        }
        self.address[21] = block[21];
    }
}

impl<B: Backend, N> Drop for Sha2Lanes<'_, B, N> {
    fn drop(&mut self) {
        wipe(&mut self.value);
    }
}

impl<B: Backend, N> ZeroizeOnDrop for Sha2Lanes<'_, B, N> {}
