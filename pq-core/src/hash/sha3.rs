//! SHA-3 and SHAKE (FIPS 202), one sponge at a time.

use zeroize::ZeroizeOnDrop;

use crate::arch::Backend;
use crate::kernel::keccak::{self, PermuteAndAbsorb};
use crate::secret::{wipe, wipe_stack};

/// Rate of SHAKE128 in bytes.
pub(crate) const SHAKE128_RATE: usize = 168;
/// Rate of SHAKE256 and SHA3-256 in bytes.
pub(crate) const SHAKE256_RATE: usize = 136;
/// Rate of SHA3-512 in bytes.
pub(crate) const SHA3_512_RATE: usize = 72;

/// Domain separation and first padding bit of SHA-3.
pub(crate) const SHA3_SUFFIX: u8 = 0x06;
/// Domain separation and first padding bit of SHAKE.
pub(crate) const SHAKE_SUFFIX: u8 = 0x1f;

/// A function of FIPS 202, by what its sponge begins with.
#[derive(Clone, Copy)]
pub(crate) struct Function {
    /// In bytes.
    pub(crate) rate: usize,
    /// Domain separation and first padding bit.
    pub(crate) suffix: u8,
}

pub(crate) const SHA3_256: Function = Function {
    rate: SHAKE256_RATE,
    suffix: SHA3_SUFFIX,
};
pub(crate) const SHA3_512: Function = Function {
    rate: SHA3_512_RATE,
    suffix: SHA3_SUFFIX,
};
pub(crate) const SHAKE128: Function = Function {
    rate: SHAKE128_RATE,
    suffix: SHAKE_SUFFIX,
};
pub(crate) const SHAKE256: Function = Function {
    rate: SHAKE256_RATE,
    suffix: SHAKE_SUFFIX,
};

/// SHAKE256 of the concatenation of `parts`, as long as `output`; `H` of FIPS 204.
pub(crate) fn shake256<B: Backend>(b: B, parts: &[&[u8]], output: &mut [u8]) {
    hash(b, SHAKE256_RATE, SHAKE_SUFFIX, parts, output);
}

/// [`shake256`] of the parts of `head` and then those of `message`.
pub(crate) fn shake256_joined<B: Backend>(
    b: B,
    head: &[&[u8]],
    message: &[&[u8]],
    output: &mut [u8],
) {
    let parts = head.iter().chain(message);
    hash_all(b, SHAKE256_RATE, SHAKE_SUFFIX, parts, output);
    wipe_stack();
}

/// Any function of FIPS 202 on the concatenation of `parts`, as long as `output`.
pub(crate) fn hash<B: Backend>(b: B, rate: usize, suffix: u8, parts: &[&[u8]], output: &mut [u8]) {
    hash_all(b, rate, suffix, parts.iter(), output);
    wipe_stack();
}

/// A separate function, so that its remains on the stack can be overwritten.
#[inline(never)]
fn hash_all<'a, B: Backend>(
    b: B,
    rate: usize,
    suffix: u8,
    parts: impl Iterator<Item = &'a &'a [u8]>,
    output: &mut [u8],
) {
    let mut sponge = Sponge::new(rate);
    for part in parts {
        sponge.absorb(b, part);
    }
    sponge.finish(suffix);
    sponge.squeeze(b, output);
}

/// A sponge, which takes its message and then gives its output. Wiped when dropped.
///
/// It changes from one to the other in place: a move would leave a copy of the state behind, and so
/// of a short message. Every backend goes on where another one stopped.
pub(crate) struct Sponge {
    state: State,
    rate: usize,
    /// Bytes of the current block that were taken or given: less than `rate` while the sponge
    /// takes, and `rate` when the next block of output is due.
    position: usize,
}

impl Sponge {
    /// `rate` in bytes: one of 72, 104, 136, 144 and 168.
    pub(crate) fn new(rate: usize) -> Self {
        Self {
            state: State([0; 25]),
            rate,
            position: 0,
        }
    }

    /// Takes the next bytes of the message, before [`finish`](Self::finish).
    pub(crate) fn absorb<B: Backend>(&mut self, b: B, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let take = bytes.len().min(self.rate - self.position);
            let (now, later) = bytes.split_at(take);
            self.state.xor(self.position, now);
            self.position += take;
            bytes = later;
            if self.position == self.rate {
                let whole = bytes.len() - bytes.len() % self.rate;
                let (blocks, rest) = bytes.split_at(whole);
                self.permute_and_absorb(b, blocks);
                self.position = 0;
                bytes = rest;
            }
        }
    }

    /// Pads the message; `suffix` marks its end.
    pub(crate) fn finish(&mut self, suffix: u8) {
        self.state.xor(self.position, &[suffix]);
        self.state.xor(self.rate - 1, &[0x80]);
        self.position = self.rate;
    }

    /// Fills `output` with the next bytes, after [`finish`](Self::finish).
    pub(crate) fn squeeze<B: Backend>(&mut self, b: B, mut output: &mut [u8]) {
        while !output.is_empty() {
            if self.position == self.rate {
                self.permute_and_absorb(b, &[]);
                self.position = 0;
            }
            let take = output.len().min(self.rate - self.position);
            let (now, later) = output.split_at_mut(take);
            self.state.read(self.position, now);
            self.position += take;
            output = later;
        }
    }

    /// Permutes the state, then adds each of `blocks` and permutes again.
    fn permute_and_absorb<B: Backend>(&mut self, b: B, blocks: &[u8]) {
        keccak::run_few(
            b,
            PermuteAndAbsorb::<B::Few> {
                token: From::from(b),
                state: &mut self.state.0,
                rate: self.rate,
                blocks,
            },
        );
    }
}

/// A state's 25 words, read and written as bytes.
struct State([u64; 25]);

impl State {
    fn xor(&mut self, mut position: usize, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let lane = &mut self.0[position / 8];
            if position.is_multiple_of(8)
                && let Some((word, tail)) = rest.split_first_chunk()
            {
                *lane ^= u64::from_le_bytes(*word);
                position += 8;
                rest = tail;
            } else {
                *lane ^= u64::from(rest[0]) << (8 * (position % 8));
                position += 1;
                rest = &rest[1..];
            }
        }
    }

    fn read(&self, mut position: usize, bytes: &mut [u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let lane = self.0[position / 8];
            if position.is_multiple_of(8) && rest.len() >= 8 {
                let (word, tail) = rest.split_at_mut(8);
                word.copy_from_slice(&lane.to_le_bytes());
                position += 8;
                rest = tail;
            } else {
                rest[0] = (lane >> (8 * (position % 8))) as u8;
                position += 1;
                rest = &mut rest[1..];
            }
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl ZeroizeOnDrop for State {}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use sha3::Digest;
    use sha3::digest::{ExtendableOutput, Update, XofReader};

    use super::{
        SHA3_512_RATE, SHA3_SUFFIX, SHAKE_SUFFIX, SHAKE128_RATE, SHAKE256_RATE, Sponge, State, hash,
    };
    use crate::arch::{Portable, check_wiped, part};

    #[test]
    fn secrets_are_wiped() {
        check_wiped(State([7; 25]), |state| {
            alloc::vec![part(state, "the state", &state.0)]
        });
    }

    /// Every length around the rates, whole and in two parts, against other crates.
    #[test]
    fn hashes_match_independent_crates() {
        fn check(rate: usize, suffix: u8, parts: &[&[u8]], expected: &[u8]) {
            let mut output = [0; 400];
            let output = &mut output[..expected.len()];
            hash(Portable, rate, suffix, parts, output);
            assert_eq!(output, expected);
        }

        let message: [u8; 400] = core::array::from_fn(|i| (i * 7) as u8);
        for len in 0..message.len() {
            let message = &message[..len];
            let (start, end) = message.split_at(len / 3);
            let parts = [start, end];
            check(
                SHAKE256_RATE,
                SHA3_SUFFIX,
                &parts,
                &sha3::Sha3_256::digest(message),
            );
            check(
                SHA3_512_RATE,
                SHA3_SUFFIX,
                &parts,
                &sha3::Sha3_512::digest(message),
            );
            check(144, SHA3_SUFFIX, &parts, &sha3::Sha3_224::digest(message));
            check(104, SHA3_SUFFIX, &parts, &sha3::Sha3_384::digest(message));
            let mut expected = [0; 400];
            shake::Shake128::default()
                .chain(message)
                .finalize_xof_into(&mut expected);
            check(SHAKE128_RATE, SHAKE_SUFFIX, &parts, &expected);
            shake::Shake256::default()
                .chain(message)
                .finalize_xof_into(&mut expected);
            check(SHAKE256_RATE, SHAKE_SUFFIX, &parts, &expected);
        }
    }

    /// Output does not depend on the lengths of the reads.
    #[test]
    fn output_streams() {
        let mut expected = [0; 1000];
        shake::Shake128::default()
            .chain(b"pq")
            .finalize_xof()
            .read(&mut expected);
        for step in [1, 7, 8, 9, 167, 168, 169, 1000] {
            let mut sponge = Sponge::new(168);
            sponge.absorb(Portable, b"pq");
            sponge.finish(SHAKE_SUFFIX);
            for expected in expected.chunks(step) {
                let mut output = [0; 1000];
                let output = &mut output[..expected.len()];
                sponge.squeeze(Portable, output);
                assert_eq!(output, expected);
            }
        }
    }
}
