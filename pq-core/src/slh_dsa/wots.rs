//! WOTS⁺ (FIPS 205, section 5): chains, one per lane.

use super::address::{Address, Tree};
use super::hash::{Hash, Lanes};
use super::merkle::Leaves;
use super::parallel::Meter;
use super::params::{MAX_CHAINS, MAX_N, Shape};

/// For each chain, the number of steps to its value in a signature: the message in base w, and its
/// checksum.
///
/// The message that WOTS⁺ signs here, a root or a FORS key, is public.
#[derive(Clone, Copy)]
pub(super) struct Digits([u8; MAX_CHAINS]);

impl Digits {
    /// From a message of n bytes (algorithm 7, steps 2 to 7).
    pub(super) fn of(shape: &Shape, message: &[u8]) -> Self {
        let (n, lg_w, longest) = (message.len(), shape.lg_w, shape.chain_len() as u8);
        let mut digits = [0; MAX_CHAINS];
        let (base_w, checksum) = digits.split_at_mut(shape.message_chains(n));
        let mut sum = 0;
        // Eight digits of lg w bits are lg w bytes.
        let eights = base_w.as_chunks_mut::<8>().0.iter_mut();
        for (digits, bytes) in eights.zip(message.chunks_exact(lg_w)) {
            let bits = bytes
                .iter()
                .fold(0, |bits, byte| bits << 8 | u32::from(*byte));
            for (i, digit) in digits.iter_mut().rev().enumerate() {
                *digit = (bits >> (i * lg_w)) as u8 & longest;
                sum += u16::from(longest - *digit);
            }
        }
        // The standard shifts the digits to the upper end of two bytes to read them there.
        let checksum = &mut checksum[..shape.checksum_chains(n)];
        for (i, digit) in checksum.iter_mut().rev().enumerate() {
            *digit = (sum >> (i * lg_w)) as u8 & longest;
        }
        Self(digits)
    }

    fn of_chain(&self, chain: usize) -> usize {
        self.0[chain].into()
    }
}

/// The key pairs of an XMSS tree: their compressed public keys are its leaves.
pub(super) struct KeyPairs<'a, H> {
    pub(super) hash: &'a H,
    pub(super) sk_seed: &'a [u8],
    pub(super) shape: &'a Shape,
    pub(super) tree: Tree,
    /// The digits of the message that the opened key pair signs.
    pub(super) digits: Digits,
    pub(super) meter: &'a Meter<'a>,
}

/// How many key pairs are made at a time; every tree has at least this many.
const GROUP: usize = 8;

impl<H: Hash> Leaves for KeyPairs<'_, H> {
    type Hash = H;

    // The f sets have trees of 8 and 16 leaves.
    const BLOCK_HEIGHT: usize = 4;

    fn hash(&self) -> &H {
        self.hash
    }

    /// wots_pkGen (algorithm 6), with wots_sign (algorithm 7) on the way.
    fn compute(&self, first: u32, leaves: &mut [u8], mut revealed: Option<(u32, &mut [u8])>) {
        let n = self.hash.n();
        let mut ends = [0; GROUP * MAX_CHAINS * MAX_N];
        let ends = &mut ends[..GROUP * self.shape.chains(n) * n];
        let calls = GROUP as u32 * self.shape.calls_per_key_pair(n);
        for (i, leaves) in leaves.chunks_exact_mut(GROUP * n).enumerate() {
            let first = first + (i * GROUP) as u32;
            let revealed = revealed.as_mut().and_then(|(key_pair, signature)| {
                let i = key_pair.checked_sub(first)? as usize;
                (i < GROUP).then_some((i, &mut **signature))
            });
            self.ends(first, ends, revealed);
            self.hash
                .compress(ends, leaves, |i| self.tree.wots_pk(first + i as u32));
            self.meter.advance(calls);
        }
    }

    fn address(&self, height: usize, index: u32) -> Address {
        self.tree.node(height, index)
    }
}

impl<H: Hash> KeyPairs<'_, H> {
    /// The ends of all chains of [`GROUP`] key pairs; `revealed` is the index of the key pair that
    /// signs and its signature.
    fn ends(&self, first: u32, ends: &mut [u8], mut revealed: Option<(usize, &mut [u8])>) {
        let n = self.hash.n();
        let (chains, chain_len) = (self.shape.chains(n), self.shape.chain_len());
        let mut lanes = self.hash.lanes();
        for start in (0..GROUP * chains).step_by(H::LANES) {
            // The key pair and the chain on each lane.
            let at = |lane: usize| ((start + lane) % GROUP, (start + lane) / GROUP);
            let count = H::LANES.min(GROUP * chains - start);
            for lane in 0..count {
                let (i, chain) = at(lane);
                lanes.set_address(lane, &self.tree.wots_prf(first + i as u32, chain));
                lanes.set_value(lane, self.sk_seed);
            }
            lanes.advance(1);
            for lane in 0..count {
                let (i, chain) = at(lane);
                lanes.set_address(lane, &self.tree.wots_hash(first + i as u32, chain, 0));
            }
            let mut position = 0;
            loop {
                let mut next = chain_len;
                if let Some((key_pair, signature)) = &mut revealed {
                    for lane in (0..count).filter(|lane| at(*lane).0 == *key_pair) {
                        let (_, chain) = at(lane);
                        let digit = self.digits.of_chain(chain);
                        if digit == position {
                            lanes.value(lane, &mut signature[chain * n..][..n]);
                        } else if digit > position {
                            next = next.min(digit);
                        }
                    }
                }
                if position == chain_len {
                    break;
                }
                lanes.advance(next - position);
                position = next;
            }
            for lane in 0..count {
                let (i, chain) = at(lane);
                lanes.value(lane, &mut ends[(i * chains + chain) * n..][..n]);
            }
        }
    }
}

/// The compressed public key that a signature of `message` leads to (wots_pkFromSig, algorithm 8).
pub(super) fn public_key<H: Hash>(
    hash: &H,
    shape: &Shape,
    tree: Tree,
    key_pair: u32,
    message: &[u8],
    signature: &[u8],
    public_key: &mut [u8],
) {
    let n = hash.n();
    let (chains, chain_len) = (shape.chains(n), shape.chain_len());
    let digits = Digits::of(shape, message);
    let mut ends = [0; MAX_CHAINS * MAX_N];
    let ends = &mut ends[..chains * n];
    // The longest chains first, so that all lanes end at about the same time.
    let mut order: [u8; MAX_CHAINS] = core::array::from_fn(|chain| chain as u8);
    let order = &mut order[..chains];
    order.sort_unstable_by_key(|chain| digits.0[usize::from(*chain)]);
    let mut waiting = order.iter().map(|chain| usize::from(*chain));

    /// A chain on a lane, and how many steps are left.
    #[derive(Clone, Copy)]
    struct Running {
        chain: usize,
        steps: usize,
    }

    let mut lanes = hash.lanes();
    let mut slots = [None; MAX_LANES];
    let slots = &mut slots[..H::LANES];
    loop {
        for (lane, slot) in slots.iter_mut().enumerate() {
            // Removes the chain that has ended, and skips chains that have no step to take.
            while slot.is_none_or(|running: Running| running.steps == 0) {
                if let Some(Running { chain, .. }) = *slot {
                    lanes.value(lane, &mut ends[chain * n..][..n]);
                }
                *slot = waiting.next().map(|chain| {
                    let digit = digits.0[chain];
                    lanes.set_address(lane, &tree.wots_hash(key_pair, chain, digit));
                    lanes.set_value(lane, &signature[chain * n..][..n]);
                    Running {
                        chain,
                        steps: chain_len - usize::from(digit),
                    }
                });
                if slot.is_none() {
                    break;
                }
            }
        }
        let Some(steps) = slots.iter().flatten().map(|running| running.steps).min() else {
            break;
        };
        lanes.advance(steps);
        for running in slots.iter_mut().flatten() {
            running.steps -= steps;
        }
    }
    hash.compress(ends, public_key, |_| tree.wots_pk(key_pair));
}

/// The largest number of lanes of any hash function on any backend.
const MAX_LANES: usize = 16;

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec::Vec;

    use super::Digits;
    use crate::slh_dsa::params::{HashFamily, Shape};
    use crate::slh_dsa::textbook::Textbook;
    use crate::test_random::Random;

    fn shape(lg_w: usize) -> Shape {
        Shape {
            d: 1,
            tree_height: 3,
            a: 3,
            k: 8,
            lg_w,
        }
    }

    fn digits(lg_w: usize, message: &[u8]) -> Vec<u8> {
        let shape = shape(lg_w);
        Digits::of(&shape, message).0[..shape.chains(message.len())].to_vec()
    }

    /// The checksums of all zeros and all ones, and digits in between.
    #[test]
    fn digits_are_those_of_the_standard() {
        // 32 chains of 15 steps: 480 = 0x1e0
        let all = digits(4, &[0; 16]);
        assert_eq!(all[..32], [0; 32]);
        assert_eq!(all[32..], [0x1, 0xe, 0x0]);
        let all = digits(4, &[0xff; 32]);
        assert_eq!(all[..64], [15; 64]);
        assert_eq!(all[64..], [0; 3]);
        let mut message = [0xff; 24];
        message[0] = 0x3c;
        let all = digits(4, &message);
        assert_eq!(all[..3], [3, 12, 15]);
        // 12 + 3
        assert_eq!(all[48..], [0, 0, 15]);
    }

    /// Chains of three and of seven steps have checksums with lengths of their own, which fill no
    /// byte or exactly one. Code that only knows w = 16 would sign a checksum of zeros with them,
    /// or digits across the wrong bits: then anyone who has a signature could make others from it.
    #[test]
    fn checksums_of_shorter_chains() {
        // 64 chains of 3 steps: 192 = 0b11_00_00_00
        assert_eq!(digits(2, &[0; 16])[64..], [3, 0, 0, 0]);
        // 128 of them: 384 = 0b01_10_00_00_00
        assert_eq!(digits(2, &[0; 32])[128..], [1, 2, 0, 0, 0]);
        // 64 chains of 7 steps: 448 = 0b111_000_000
        assert_eq!(digits(3, &[0; 24])[64..], [7, 0, 0]);
        for (lg_w, n) in [(2, 16), (3, 24), (2, 32)] {
            let all = digits(lg_w, &[0xff; 32][..n]);
            let (message, checksum) = all.split_at(shape(lg_w).message_chains(n));
            assert!(message.iter().all(|digit| *digit == (1 << lg_w) - 1));
            assert!(checksum.iter().all(|digit| *digit == 0));
        }
        // across bytes: 0b000_110_11 0b1_000_001_0 0b10_001_111
        let mut message = [0xff; 24];
        message[..3].copy_from_slice(&[0b0001_1011, 0b1000_0010, 0b1000_1111]);
        let all = digits(3, &message);
        assert_eq!(all[..8], [0, 6, 7, 0, 1, 2, 1, 7]);
        // 7 + 1 + 0 + 7 + 6 + 5 + 6 + 0 = 0b000_100_000
        assert_eq!(all[64..], [0, 4, 0]);
    }

    #[test]
    fn digits_match_textbook() {
        let mut random = Random::new(11);
        for (lg_w, n) in [(4, 16), (4, 24), (4, 32), (2, 16), (3, 24), (2, 32)] {
            let textbook = Textbook {
                family: HashFamily::Shake,
                n,
                shape: shape(lg_w),
                pk_seed: &[],
            };
            for _ in 0..100 {
                let message = &random.bytes::<32>()[..n];
                let digits: Vec<u32> = digits(lg_w, message).into_iter().map(u32::from).collect();
                assert_eq!(
                    digits,
                    textbook.wots_digits(message),
                    "lg w = {lg_w}, n = {n}"
                );
            }
        }
    }
}
