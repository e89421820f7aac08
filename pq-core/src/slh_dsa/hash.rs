//! The hash functions of SLH-DSA (FIPS 205, section 11), in lanes.

use super::address::Address;

/// The functions of a parameter set, with PK.seed.
///
/// The length of everything hashed together with PK.seed and an address is fixed by the parameter
/// set, so the padding is known in advance.
pub(super) trait Hash: Sync {
    /// How many values [`lanes`](Self::lanes) has.
    const LANES: usize;

    /// Values side by side.
    type Lanes<'a>: Lanes
    where
        Self: 'a;

    /// n, in bytes.
    fn n(&self) -> usize;

    /// All values zero.
    fn lanes(&self) -> Self::Lanes<'_>;

    /// H: replaces pairs of nodes by their parents. Parent `i` has the address `address(i)`; there
    /// are `count` of them, and the second half of `nodes` then has no defined content.
    fn join_pairs(&self, nodes: &mut [u8], count: usize, address: impl Fn(usize) -> Address);

    /// Tₗ: compresses `messages`, which have equal lengths, each to one of `nodes`.
    fn compress(&self, messages: &[u8], nodes: &mut [u8], address: impl Fn(usize) -> Address);

    /// PRF_msg, of `message` in parts.
    fn prf_msg(&self, sk_prf: &[u8], randomness: &[u8], message: &[&[u8]], output: &mut [u8]);

    /// H_msg, of `message` in parts.
    fn h_msg(&self, r: &[u8], pk_root: &[u8], message: &[&[u8]], output: &mut [u8]);
}

/// Values of n bytes, each with an address. Wiped when dropped.
///
/// F and PRF are one function: F(PK.seed, ADRS, M₁) with M₁ = SK.seed is PRF(PK.seed,
/// SK.seed, ADRS).
pub(super) trait Lanes {
    /// Sets the address of a lane.
    fn set_address(&mut self, lane: usize, address: &Address);

    /// Sets the value of a lane.
    fn set_value(&mut self, lane: usize, value: &[u8]);

    /// Copies the value of a lane.
    fn value(&self, lane: usize, output: &mut [u8]);

    /// Replaces every value by F(PK.seed, ADRS, value), `steps` times, and each time increments the
    /// last field of every address. A chain has at least `steps` steps.
    fn advance(&mut self, steps: usize);
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec;
    use alloc::vec::Vec;

    use super::{Hash, Lanes};
    use crate::arch::{Backend, on_each_backend};
    use crate::slh_dsa::address::{Address, Tree};
    use crate::slh_dsa::sha2::Sha2;
    use crate::slh_dsa::shake::Shake;
    use crate::test_random::Random;

    /// The functions for messages of n bytes (`f`) and for longer ones (`t`), of PK.seed, address
    /// and message, with hashes of other implementations.
    struct Textbook {
        f: fn(&[u8], &Address, &[u8]) -> Vec<u8>,
        t: fn(&[u8], &Address, &[u8]) -> Vec<u8>,
    }

    fn shake(seed: &[u8], address: &Address, message: &[u8]) -> Vec<u8> {
        use shake::digest::{ExtendableOutput, Update, XofReader};
        let mut output = vec![0; seed.len()];
        let hash = shake::Shake256::default();
        let hash = hash.chain(seed).chain(address.bytes()).chain(message);
        hash.finalize_xof().read(&mut output);
        output
    }

    fn sha2<D: sha2::Digest>(seed: &[u8], address: &Address, message: &[u8]) -> Vec<u8> {
        let block = if <D as sha2::Digest>::output_size() == 32 {
            64
        } else {
            128
        };
        let mut hash = D::new();
        hash.update(seed);
        hash.update(vec![0; block - seed.len()]);
        hash.update(&address.compressed().map(u64::to_be_bytes).as_flattened()[..22]);
        hash.update(message);
        hash.finalize()[..seed.len()].to_vec()
    }

    fn address(i: usize) -> Address {
        step(i, 0)
    }

    /// The address of a step of the i'th chain.
    fn step(i: usize, step: usize) -> Address {
        let tree = Tree {
            layer: 3,
            index: 0x0123_4567_89ab_cdef ^ (i as u64) << 40,
        };
        tree.wots_hash(0x0102_0300 + i as u32, 77, step as u8)
    }

    /// Every function with every number of lanes, against the definitions.
    fn check<H: Hash>(hash: &H, seed: &[u8], textbook: &Textbook) {
        let n = hash.n();
        let mut random = Random::new(5);
        let mut random =
            |len: usize| -> Vec<u8> { (0..len).map(|_| random.bits() as u8).collect() };

        for (steps, begin) in [0, 1, 2, 3, 7, 15].into_iter().zip([3, 14, 0, 5, 8, 0]) {
            let values = random(H::LANES * n);
            let mut lanes = hash.lanes();
            // A signature's chains begin in the middle, and not all at one step.
            let begin = |lane: usize| if lane.is_multiple_of(2) { begin } else { 0 };
            for (lane, value) in values.chunks(n).enumerate() {
                lanes.set_address(lane, &step(lane, begin(lane)));
                lanes.set_value(lane, value);
            }
            lanes.advance(steps);
            for (lane, value) in values.chunks(n).enumerate() {
                let mut expected = value.to_vec();
                for done in 0..steps {
                    let address = step(lane, begin(lane) + done);
                    expected = (textbook.f)(seed, &address, &expected);
                }
                let mut value = vec![0; n];
                lanes.value(lane, &mut value);
                assert_eq!(value, expected, "lane {lane}, {steps} steps");
            }
        }

        for count in 1..=2 * H::LANES + 1 {
            let nodes = random(2 * count * n);
            let mut parents = nodes.clone();
            hash.join_pairs(&mut parents, count, address);
            for i in 0..count {
                let expected = (textbook.t)(seed, &address(i), &nodes[2 * i * n..][..2 * n]);
                assert_eq!(parents[i * n..][..n], expected, "pair {i} of {count}");
            }
            for blocks in [6, 9, 14, 35, 51, 67, 68, 133] {
                let messages = random(count * blocks * n);
                let mut nodes = vec![0; count * n];
                hash.compress(&messages, &mut nodes, address);
                for (i, message) in messages.chunks(blocks * n).enumerate() {
                    let expected = (textbook.t)(seed, &address(i), message);
                    assert_eq!(nodes[i * n..][..n], expected);
                }
            }
        }
    }

    #[test]
    fn functions_match_textbook() {
        fn with_n<B: Backend>(b: B, n: usize) {
            let seed: [u8; 32] = Random::new(9).bytes();
            let seed = &seed[..n];
            check(&Shake::new(b, seed), seed, &Textbook { f: shake, t: shake });
            let t = if n == 16 {
                sha2::<sha2::Sha256>
            } else {
                sha2::<sha2::Sha512>
            };
            let textbook = Textbook {
                f: sha2::<sha2::Sha256>,
                t,
            };
            check(&Sha2::new(b, seed), seed, &textbook);
        }

        on_each_backend!(b => {
            for n in [16, 24, 32] {
                with_n(b, n);
            }
        });
    }
}
