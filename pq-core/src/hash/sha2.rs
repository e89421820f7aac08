//! SHA-2 (FIPS 180-4), one message at a time.
//!
//! It hashes the messages of HashML-DSA and HashSLH-DSA, which are public, and in SLH-DSA
//! secrets too.

use zeroize::ZeroizeOnDrop;

use crate::arch::Backend;
use crate::kernel::sha2::{SQUARE_ROOTS, Word};
use crate::secret::wipe;

/// The hash functions of FIPS 180-4, SHA-1 apart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Variant {
    Sha224,
    Sha256,
    Sha384,
    Sha512,
    Sha512_224,
    Sha512_256,
}

/// The digest of `message`; `output` is as long as the digests of `variant`.
pub(crate) fn digest<B: Backend>(b: B, variant: Variant, message: &[u8], output: &mut [u8]) {
    match variant {
        Variant::Sha224 => hash(b, SHA224, message, output),
        Variant::Sha256 => hash(b, SHA256, message, output),
        Variant::Sha384 => hash(b, SHA384, message, output),
        Variant::Sha512 => hash(b, SHA512, message, output),
        Variant::Sha512_224 => hash(b, sha512_t(b, b"SHA-512/224"), message, output),
        Variant::Sha512_256 => hash(b, sha512_t(b, b"SHA-512/256"), message, output),
    }
}

fn hash<B: Backend, W: Word>(b: B, initial: [W; 8], message: &[u8], output: &mut [u8]) {
    let mut hasher = Hasher::new(b, initial);
    hasher.absorb(message);
    hasher.finish(output);
}

/// The initial value of SHA-512/t (section 5.3.6) by its name.
fn sha512_t<B: Backend>(b: B, name: &[u8]) -> [u64; 8] {
    let mut hasher = Hasher::new(b, SHA512.map(|word| word ^ 0xa5a5_a5a5_a5a5_a5a5));
    hasher.absorb(name);
    hasher.pad();
    hasher.state
}

/// The initial values, by the square roots of the first 8 primes, or of the second 8
/// (section 5.3): SHA-224 and SHA-384 share the latter.
const SHA224: [u32; 8] = words32(8, 0);
pub(crate) const SHA256: [u32; 8] = words32(0, 32);
const SHA384: [u64; 8] = words64(8);
pub(crate) const SHA512: [u64; 8] = words64(0);

const fn words64(start: usize) -> [u64; 8] {
    let mut words = [0; 8];
    let mut i = 0;
    while i < 8 {
        words[i] = SQUARE_ROOTS[start + i];
        i += 1;
    }
    words
}

const fn words32(start: usize, shift: u32) -> [u32; 8] {
    let roots = words64(start);
    let mut words = [0; 8];
    let mut i = 0;
    while i < 8 {
        words[i] = (roots[i] >> shift) as u32;
        i += 1;
    }
    words
}

/// A hash function that takes its message, and then gives the digest. Wiped when dropped.
///
/// It does both in place: a move would leave a copy of the state behind, and of what it took
/// last.
pub(crate) struct Hasher<B, W: Word> {
    b: B,
    state: [W; 8],
    /// The bytes of the current block, of which there are fewer than 16 words.
    block: [u8; 128],
    position: usize,
    /// Bytes taken in all.
    length: u128,
}

impl<B: Backend, W: Word> Hasher<B, W> {
    /// Length of a block in bytes.
    pub(crate) const BLOCK_LEN: usize = 16 * W::LEN;

    /// `initial` is the state before the first block.
    pub(crate) fn new(b: B, initial: [W; 8]) -> Self {
        Self::resume(b, initial, 0)
    }

    /// `state` is that after a number of whole blocks.
    pub(crate) fn resume(b: B, state: [W; 8], blocks: usize) -> Self {
        Self {
            b,
            state,
            block: [0; 128],
            position: 0,
            length: (blocks * Self::BLOCK_LEN) as u128,
        }
    }

    /// The state, after whole blocks.
    pub(crate) fn state(&self) -> [W; 8] {
        debug_assert_eq!(self.position, 0);
        self.state
    }

    /// Takes the next bytes of the message.
    pub(crate) fn absorb(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u128;
        let mut bytes = bytes;
        if self.position > 0 {
            let take = bytes.len().min(Self::BLOCK_LEN - self.position);
            let (now, later) = bytes.split_at(take);
            self.block[self.position..self.position + take].copy_from_slice(now);
            self.position += take;
            bytes = later;
            if self.position < Self::BLOCK_LEN {
                return;
            }
            self.compress_block();
        }
        let (blocks, rest) = bytes.split_at(bytes.len() - bytes.len() % Self::BLOCK_LEN);
        W::compress_stream(self.b, &mut self.state, blocks);
        self.block[..rest.len()].copy_from_slice(rest);
        self.position = rest.len();
    }

    /// Takes padding and length (section 5.1), which end the message.
    fn pad(&mut self) {
        let length = (self.length * 8).to_be_bytes();
        let length = &length[16 - 2 * W::LEN..];
        self.block[self.position] = 0x80;
        self.block[self.position + 1..].fill(0);
        if self.position + 1 + length.len() > Self::BLOCK_LEN {
            self.compress_block();
            self.block.fill(0);
        }
        self.block[Self::BLOCK_LEN - length.len()..Self::BLOCK_LEN].copy_from_slice(length);
        self.compress_block();
    }

    /// Ends the message, and fills `output` with the first bytes of the digest. Nothing may
    /// follow.
    pub(crate) fn finish(&mut self, output: &mut [u8]) {
        self.pad();
        for (word, bytes) in self.state.iter().zip(output.chunks_mut(W::LEN)) {
            word.write(bytes);
        }
    }

    fn compress_block(&mut self) {
        let block = &self.block[..Self::BLOCK_LEN];
        W::compress_stream(self.b, &mut self.state, block);
        self.position = 0;
    }
}

impl<B, W: Word> Drop for Hasher<B, W> {
    fn drop(&mut self) {
        wipe(&mut self.state);
        wipe(&mut self.block);
    }
}

impl<B, W: Word> ZeroizeOnDrop for Hasher<B, W> {}

#[cfg(test)]
mod tests {
    use sha2::Digest;

    use super::{Hasher, SHA256, SHA512, Variant, digest};
    use crate::arch::Portable;

    /// Every length about the edges of blocks and padding, against another crate.
    #[test]
    fn digests_match_another_implementation() {
        fn check<D: Digest>(variant: Variant) {
            let message: [u8; 1100] = core::array::from_fn(|i| (i * i % 251) as u8);
            for len in (0..=520).chain([1000, 1023, 1024, 1025, 1100]) {
                let expected = D::digest(&message[..len]);
                let mut storage = [0; 64];
                let output = &mut storage[..expected.len()];
                digest(Portable, variant, &message[..len], output);
                assert_eq!(output, expected.as_slice(), "{variant:?}, {len} bytes");
            }
        }

        check::<sha2::Sha224>(Variant::Sha224);
        check::<sha2::Sha256>(Variant::Sha256);
        check::<sha2::Sha384>(Variant::Sha384);
        check::<sha2::Sha512>(Variant::Sha512);
        check::<sha2::Sha512_224>(Variant::Sha512_224);
        check::<sha2::Sha512_256>(Variant::Sha512_256);
    }

    /// The pieces that a message comes in make no difference.
    #[test]
    fn pieces_make_no_difference() {
        let message: [u8; 400] = core::array::from_fn(|i| i as u8);
        for first in 0..=260 {
            for second in [0, 1, 63, 64, 65, 127, 128, 130] {
                let (mut a, mut b) = ([0; 32], [0; 64]);
                let mut small = Hasher::new(Portable, SHA256);
                let mut large = Hasher::new(Portable, SHA512);
                let (head, tail) = message.split_at(first);
                let (middle, tail) = tail.split_at(second);
                for part in [head, middle, tail] {
                    small.absorb(part);
                    large.absorb(part);
                }
                small.finish(&mut a);
                large.finish(&mut b);
                assert_eq!(a, *sha2::Sha256::digest(message));
                assert_eq!(b, *sha2::Sha512::digest(message));
            }
        }
    }
}
