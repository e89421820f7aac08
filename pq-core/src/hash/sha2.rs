//! SHA-2 (FIPS 180-4), one message at a time.
//!
//! It hashes the messages of HashML-DSA and HashSLH-DSA, which are public; in SLH-DSA it also
//! hashes secrets.

use zeroize::ZeroizeOnDrop;

use crate::arch::Backend;
use crate::kernel::sha2::{SQUARE_ROOTS, Word};
use crate::secret::wipe;

/// The initial value of SHA-512/t (section 5.3.6) by its name.
pub(crate) fn sha512_t<B: Backend>(b: B, name: &[u8]) -> [u64; 8] {
    let mut hasher = Hasher::new(SHA512.map(|word| word ^ 0xa5a5_a5a5_a5a5_a5a5));
    hasher.absorb(b, name);
    hasher.pad(b);
    hasher.state
}

/// The initial values, from the square roots of the first 8 primes, or of the next 8 for SHA-224
/// and SHA-384 (section 5.3).
pub(crate) const SHA224: [u32; 8] = words32(8, 0);
pub(crate) const SHA256: [u32; 8] = words32(0, 32);
pub(crate) const SHA384: [u64; 8] = words64(8);
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
/// It does both in place: a move would leave a copy of the state behind, and of the last bytes of
/// the message. Every backend goes on where another one stopped.
pub(crate) struct Hasher<W: Word> {
    state: [W; 8],
    /// The bytes of the current block, fewer than 16 words.
    block: [u8; 128],
    position: usize,
    /// Bytes taken in all.
    length: u128,
}

impl<W: Word> Hasher<W> {
    /// Length of a block in bytes.
    pub(crate) const BLOCK_LEN: usize = 16 * W::LEN;

    /// `initial` is the state before the first block.
    pub(crate) fn new(initial: [W; 8]) -> Self {
        Self::resume(initial, 0)
    }

    /// `state` is the state after `blocks` whole blocks.
    pub(crate) fn resume(state: [W; 8], blocks: usize) -> Self {
        Self {
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
    pub(crate) fn absorb<B: Backend>(&mut self, b: B, bytes: &[u8]) {
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
            self.compress_block(b);
        }
        let (blocks, rest) = bytes.split_at(bytes.len() - bytes.len() % Self::BLOCK_LEN);
        W::compress_stream(b, &mut self.state, blocks);
        self.block[..rest.len()].copy_from_slice(rest);
        self.position = rest.len();
    }

    /// Appends padding and length (section 5.1), which end the message.
    fn pad<B: Backend>(&mut self, b: B) {
        let length = (self.length * 8).to_be_bytes();
        let length = &length[16 - 2 * W::LEN..];
        self.block[self.position] = 0x80;
        self.block[self.position + 1..].fill(0);
        if self.position + 1 + length.len() > Self::BLOCK_LEN {
            self.compress_block(b);
            self.block.fill(0);
        }
        self.block[Self::BLOCK_LEN - length.len()..Self::BLOCK_LEN].copy_from_slice(length);
        self.compress_block(b);
    }

    /// Ends the message, and fills `output` with the first bytes of the digest. Nothing may
    /// follow.
    pub(crate) fn finish<B: Backend>(&mut self, b: B, output: &mut [u8]) {
        self.pad(b);
        for (word, bytes) in self.state.iter().zip(output.chunks_mut(W::LEN)) {
            word.write(bytes);
        }
    }

    fn compress_block<B: Backend>(&mut self, b: B) {
        let block = &self.block[..Self::BLOCK_LEN];
        W::compress_stream(b, &mut self.state, block);
        self.position = 0;
    }
}

impl<W: Word> Drop for Hasher<W> {
    fn drop(&mut self) {
        wipe(&mut self.state);
        wipe(&mut self.block);
    }
}

impl<W: Word> ZeroizeOnDrop for Hasher<W> {}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use sha2::Digest;

    use super::{Hasher, SHA224, SHA256, SHA384, SHA512, sha512_t};
    use crate::arch::{Backend, Portable, check_wiped, on_each_backend, part};
    use crate::kernel::sha2::Word;

    #[test]
    fn secrets_are_wiped() {
        let mut hasher = Hasher::new(SHA512);
        hasher.absorb(Portable, &[7; 200]);
        check_wiped(hasher, |hasher| {
            alloc::vec![
                part(hasher, "the state", &hasher.state),
                part(hasher, "the block", &hasher.block),
            ]
        });
    }

    /// Every length near block and padding boundaries, against another crate.
    #[test]
    fn digests_match_another_implementation() {
        fn check<D: Digest, W: Word>(initial: [W; 8]) {
            let message: [u8; 1100] = core::array::from_fn(|i| (i * i % 251) as u8);
            for len in (0..=520).chain([1000, 1023, 1024, 1025, 1100]) {
                let expected = D::digest(&message[..len]);
                let mut storage = [0; 64];
                let output = &mut storage[..expected.len()];
                let mut hasher = Hasher::new(initial);
                hasher.absorb(Portable, &message[..len]);
                hasher.finish(Portable, output);
                assert_eq!(output, expected.as_slice(), "{len} bytes");
            }
        }

        check::<sha2::Sha224, _>(SHA224);
        check::<sha2::Sha256, _>(SHA256);
        check::<sha2::Sha384, _>(SHA384);
        check::<sha2::Sha512, _>(SHA512);
        check::<sha2::Sha512_224, _>(sha512_t(Portable, b"SHA-512/224"));
        check::<sha2::Sha512_256, _>(sha512_t(Portable, b"SHA-512/256"));
    }

    /// The split of a message into pieces makes no difference.
    #[test]
    fn pieces_make_no_difference() {
        let message: [u8; 400] = core::array::from_fn(|i| i as u8);
        for first in 0..=260 {
            for second in [0, 1, 63, 64, 65, 127, 128, 130] {
                let (mut a, mut b) = ([0; 32], [0; 64]);
                let mut small = Hasher::new(SHA256);
                let mut large = Hasher::new(SHA512);
                let (head, tail) = message.split_at(first);
                let (middle, tail) = tail.split_at(second);
                for part in [head, middle, tail] {
                    small.absorb(Portable, part);
                    large.absorb(Portable, part);
                }
                small.finish(Portable, &mut a);
                large.finish(Portable, &mut b);
                assert_eq!(a, *sha2::Sha256::digest(message));
                assert_eq!(b, *sha2::Sha512::digest(message));
            }
        }
    }

    /// As [`pieces_make_no_difference`], of messages that are longer than the groups of blocks that
    /// some backends take: every length around blocks, and pieces of every length.
    #[test]
    fn long_messages_on_each_backend() {
        fn check<B: Backend>(b: B) {
            let message: [u8; 4 * 1024 + 300] = core::array::from_fn(|i| (i * i % 251) as u8);
            let digest_of = |bytes: &[u8], piece: usize| {
                let (mut of_384, mut of_512) = ([0; 48], [0; 64]);
                let (mut short, mut long) = (Hasher::new(SHA384), Hasher::new(SHA512));
                for piece in bytes.chunks(piece) {
                    short.absorb(b, piece);
                    long.absorb(b, piece);
                }
                short.finish(b, &mut of_384);
                long.finish(b, &mut of_512);
                (of_384, of_512)
            };
            let expected = |bytes: &[u8]| {
                let (short, long) = (sha2::Sha384::digest(bytes), sha2::Sha512::digest(bytes));
                (short.into(), long.into())
            };
            for len in (1000..1300).chain(2030..2200).chain(4080..4396) {
                let bytes = &message[..len];
                assert_eq!(digest_of(bytes, len), expected(bytes), "{len} bytes");
            }
            let whole = expected(&message);
            for piece in 1..=message.len() {
                assert_eq!(digest_of(&message, piece), whole, "pieces of {piece} bytes");
            }
        }

        on_each_backend!(b => check(b));
    }

    /// The length at the end of the message, beyond 4 GiB and beyond 2⁶⁴ bits, after blocks that were
    /// taken elsewhere (section 5.1.2).
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn lengths_that_no_test_hashes() {
        let state = core::array::from_fn(|i| i as u64);
        let tail = [7; 9 * 128 + 5];
        for blocks in [
            (1 << 25) - 9,
            (1 << 25) - 1,
            1 << 25,
            (1 << 54) - 9,
            1 << 54,
        ] {
            let bits = (128 * blocks + tail.len()) as u128 * 8;
            let mut padded = [[0; 128]; 10];
            padded.as_flattened_mut()[..tail.len()].copy_from_slice(&tail);
            padded.as_flattened_mut()[tail.len()] = 0x80;
            padded[9][112..].copy_from_slice(&bits.to_be_bytes());
            let mut expected = state;
            sha2::block_api::compress512(&mut expected, &padded);
            on_each_backend!(b => {
                let mut hasher = Hasher::resume(state, blocks);
                hasher.absorb(b, &tail);
                let mut output = [0; 64];
                hasher.finish(b, &mut output);
                assert_eq!(output.as_chunks().0, expected.map(u64::to_be_bytes), "{blocks}");
            });
        }
    }
}
