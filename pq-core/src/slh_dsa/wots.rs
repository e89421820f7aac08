//! WOTS⁺ (FIPS 205, section 5): chains, a lane each.

use super::address::{Address, Tree};
use super::hash::{Hash, Lanes};
use super::merkle::Leaves;
use super::parallel::Meter;
use super::params::{CHAIN_LEN, LG_W, MAX_CHAINS, MAX_N, chains};

/// For each chain, how many steps into it a signature of some message is: the message in
/// base w, and its checksum.
///
/// What WOTS⁺ signs here, a root or a FORS key, is public.
#[derive(Clone, Copy)]
pub(super) struct Digits([u8; MAX_CHAINS]);

impl Digits {
    /// Of a message of n bytes (algorithm 7, steps 2 to 7).
    pub(super) fn of(message: &[u8]) -> Self {
        let mut digits = [0; MAX_CHAINS];
        let (pairs, checksum) = digits.split_at_mut(2 * message.len());
        let mut sum = 0;
        for (pair, byte) in pairs.as_chunks_mut().0.iter_mut().zip(message) {
            *pair = [byte >> LG_W, byte & CHAIN_LEN as u8];
            sum += 2 * CHAIN_LEN as u16 - u16::from(pair[0]) - u16::from(pair[1]);
        }
        // The standard shifts three digits to the upper end of two bytes to read them there.
        for (digit, shift) in checksum.iter_mut().zip([2 * LG_W, LG_W, 0]) {
            *digit = (sum >> shift) as u8 & CHAIN_LEN as u8;
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
    pub(super) tree: Tree,
    /// What the key pair signs that is opened.
    pub(super) digits: Digits,
    pub(super) meter: &'a Meter<'a>,
}

/// How many key pairs are made at a time, which no tree has fewer of.
const GROUP: usize = 8;

impl<H: Hash> Leaves for KeyPairs<'_, H> {
    type Hash = H;

    // f sets have trees of 8 and 16 leaves.
    const BLOCK_HEIGHT: usize = 4;

    fn hash(&self) -> &H {
        self.hash
    }

    /// wots_pkGen (algorithm 6), and wots_sign (algorithm 7) on the way.
    fn compute(&self, first: u32, leaves: &mut [u8], mut revealed: Option<(u32, &mut [u8])>) {
        let mut ends = [0; GROUP * MAX_CHAINS * MAX_N];
        let ends = &mut ends[..GROUP * chains(H::N) * H::N];
        for (i, leaves) in leaves.chunks_exact_mut(GROUP * H::N).enumerate() {
            let first = first + (i * GROUP) as u32;
            let revealed = revealed.as_mut().and_then(|(key_pair, signature)| {
                let i = key_pair.checked_sub(first)? as usize;
                (i < GROUP).then_some((i, &mut **signature))
            });
            self.ends(first, ends, revealed);
            self.hash
                .compress(ends, leaves, |i| self.tree.wots_pk(first + i as u32));
            self.meter.advance(GROUP as u32 * calls_per_key_pair(H::N));
        }
    }

    fn address(&self, height: usize, index: u32) -> Address {
        self.tree.node(height, index)
    }
}

impl<H: Hash> KeyPairs<'_, H> {
    /// The ends of all chains of [`GROUP`] key pairs; `revealed` is that which signs.
    fn ends(&self, first: u32, ends: &mut [u8], mut revealed: Option<(usize, &mut [u8])>) {
        let n = H::N;
        let chains = chains(n);
        let mut lanes = self.hash.lanes();
        for start in (0..GROUP * chains).step_by(H::LANES) {
            // Lane by lane the key pair and the chain.
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
                let mut next = CHAIN_LEN;
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
                if position == CHAIN_LEN {
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

/// Calls of PRF and F that make a public key.
pub(super) fn calls_per_key_pair(n: usize) -> u32 {
    (chains(n) * (1 + CHAIN_LEN)) as u32
}

/// The compressed public key that a signature of `message` belongs to (wots_pkFromSig,
/// algorithm 8).
pub(super) fn public_key<H: Hash>(
    hash: &H,
    tree: Tree,
    key_pair: u32,
    message: &[u8],
    signature: &[u8],
    public_key: &mut [u8],
) {
    let n = H::N;
    let digits = Digits::of(message);
    let mut ends = [0; MAX_CHAINS * MAX_N];
    let ends = &mut ends[..chains(n) * n];
    // The longest first, so that the lanes are done at about the same time.
    let mut order: [u8; MAX_CHAINS] = core::array::from_fn(|chain| chain as u8);
    let order = &mut order[..chains(n)];
    order.sort_unstable_by_key(|chain| digits.0[usize::from(*chain)]);
    let mut waiting = order.iter().map(|chain| usize::from(*chain));

    /// A chain on a lane, and what is left of it.
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
            // The chain that has ended goes, and those that have no step to take.
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
                        steps: CHAIN_LEN - usize::from(digit),
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

/// The most lanes of any hash function on any backend.
const MAX_LANES: usize = 16;

#[cfg(test)]
mod tests {
    use super::Digits;

    /// The checksum of all zeros and all ones, and digits in between.
    #[test]
    fn digits_are_those_of_the_standard() {
        // 32 chains of 15 steps: 480 = 0x1e0
        let digits = Digits::of(&[0; 16]);
        assert_eq!(digits.0[..32], [0; 32]);
        assert_eq!(digits.0[32..35], [0x1, 0xe, 0x0]);
        let digits = Digits::of(&[0xff; 32]);
        assert_eq!(digits.0[..64], [15; 64]);
        assert_eq!(digits.0[64..], [0; 3]);
        let mut message = [0xff; 24];
        message[0] = 0x3c;
        let digits = Digits::of(&message);
        assert_eq!(digits.0[..3], [3, 12, 15]);
        // 12 + 3
        assert_eq!(digits.0[48..51], [0, 0, 15]);
    }
}
