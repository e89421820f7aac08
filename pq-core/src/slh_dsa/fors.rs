//! FORS (FIPS 205, section 8): the few-time signature of the message digest.

use super::address::{Address, Fors};
use super::hash::{Hash, Lanes};
use super::merkle::{self, Leaves, MAX_BLOCK_HEIGHT, Opening};
use super::parallel::{Meter, join};
use super::params::{CALLS_PER_LEAF, MAX_A, MAX_K, MAX_N, Shape};

/// For each tree, the leaf that a message opens (base_2ᵇ, algorithm 4).
///
/// The indices are bits of the message digest, and public like it.
pub(super) struct Indices([u32; MAX_K]);

impl Indices {
    /// From the first part of a message digest.
    pub(super) fn of(shape: &Shape, md: &[u8]) -> Self {
        let mut indices = [0; MAX_K];
        let mut bytes = md.iter();
        // the rest of a byte, and the bits of an index
        const {
            assert!(7 + MAX_A <= u32::BITS as usize);
        }
        let (mut bits, mut total) = (0, 0_u32);
        for index in &mut indices[..shape.k] {
            while bits < shape.a {
                total = total << 8 | u32::from(*bytes.next().expect("md has k · a bits"));
                bits += 8;
            }
            bits -= shape.a;
            *index = total >> bits & ((1 << shape.a) - 1);
        }
        Self(indices)
    }

    /// The leaf of tree `i`, counted through all trees.
    fn leaf(&self, shape: &Shape, i: usize) -> u32 {
        (i << shape.a) as u32 | self.0[i]
    }
}

/// The leaves of all trees of a key, one tree after the other.
pub(super) struct Secrets<'a, H> {
    pub(super) hash: &'a H,
    pub(super) sk_seed: &'a [u8],
    pub(super) key: Fors,
    pub(super) meter: &'a Meter<'a>,
}

impl<H: Hash> Leaves for Secrets<'_, H> {
    type Hash = H;

    const BLOCK_HEIGHT: usize = MAX_BLOCK_HEIGHT;

    fn hash(&self) -> &H {
        self.hash
    }

    /// fors_skGen (algorithm 14), and the leaves of fors_node (algorithm 15).
    fn compute(&self, first: u32, leaves: &mut [u8], mut revealed: Option<(u32, &mut [u8])>) {
        let n = self.hash.n();
        let count = (leaves.len() / n) as u32;
        let mut lanes = self.hash.lanes();
        let groups = (first..).step_by(H::LANES);
        for (first, leaves) in groups.zip(leaves.chunks_mut(H::LANES * n)) {
            let indices = || (first..).take(leaves.len() / n).enumerate();
            for (lane, leaf) in indices() {
                lanes.set_address(lane, &self.key.prf(leaf));
                lanes.set_value(lane, self.sk_seed);
            }
            lanes.advance(1);
            for (lane, leaf) in indices() {
                lanes.set_address(lane, &self.key.node(0, leaf));
                if let Some((index, secret)) = &mut revealed
                    && *index == leaf
                {
                    lanes.value(lane, secret);
                }
            }
            lanes.advance(1);
            for (lane, leaf) in leaves.chunks_exact_mut(n).enumerate() {
                lanes.value(lane, leaf);
            }
        }
        self.meter.advance(CALLS_PER_LEAF * count);
    }

    fn address(&self, height: usize, index: u32) -> Address {
        self.key.node(height, index)
    }
}

/// Signs (fors_sign, algorithm 16), and computes the public key (as algorithm 17 does, but from the
/// roots that signing computed).
pub(super) fn sign<H: Hash>(
    secrets: &Secrets<'_, H>,
    shape: &Shape,
    indices: &Indices,
    signature: &mut [u8],
    public_key: &mut [u8],
) {
    let mut roots = [0; MAX_K * MAX_N];
    let roots = &mut roots[..shape.k * secrets.hash.n()];
    trees(secrets, shape, indices, 0, signature, roots);
    secrets
        .hash
        .compress(roots, public_key, |_| secrets.key.roots());
}

/// Signs with the trees from `first` on, as many as there are roots.
fn trees<H: Hash>(
    secrets: &Secrets<'_, H>,
    shape: &Shape,
    indices: &Indices,
    first: usize,
    signature: &mut [u8],
    roots: &mut [u8],
) {
    let n = secrets.hash.n();
    let count = roots.len() / n;
    if count > 1 {
        let half = count / 2;
        let (left, right) = signature.split_at_mut(half * (1 + shape.a) * n);
        let (left_roots, right_roots) = roots.split_at_mut(half * n);
        join(
            || trees(secrets, shape, indices, first, left, left_roots),
            || trees(secrets, shape, indices, first + half, right, right_roots),
        );
        return;
    }
    let (revealed, path) = signature.split_at_mut(n);
    let opening = Opening {
        leaf: indices.leaf(shape, first),
        revealed,
        path,
    };
    merkle::root(secrets, shape.a, first as u32, Some(opening), roots);
}

/// The public key that a signature leads to (fors_pkFromSig, algorithm 17).
pub(super) fn public_key<H: Hash>(
    hash: &H,
    key: Fors,
    shape: &Shape,
    indices: &Indices,
    signature: &[u8],
    public_key: &mut [u8],
) {
    let n = hash.n();
    let tree = |i: usize| &signature[i * (1 + shape.a) * n..][..(1 + shape.a) * n];
    // All trees, level by level: first the nodes of a level, then each with its sibling.
    let mut nodes = [0; 2 * MAX_K * MAX_N];
    let nodes = &mut nodes[..2 * shape.k * n];

    let mut lanes = hash.lanes();
    for first in (0..shape.k).step_by(H::LANES) {
        let count = H::LANES.min(shape.k - first);
        for lane in 0..count {
            let i = first + lane;
            lanes.set_address(lane, &key.node(0, indices.leaf(shape, i)));
            lanes.set_value(lane, &tree(i)[..n]);
        }
        lanes.advance(1);
        for lane in 0..count {
            lanes.value(lane, &mut nodes[(first + lane) * n..][..n]);
        }
    }
    for z in 0..shape.a {
        // From the last to the first, since pairs take more memory than nodes.
        for i in (0..shape.k).rev() {
            nodes.copy_within(i * n..(i + 1) * n, 2 * i * n);
            let sibling = &tree(i)[(1 + z) * n..][..n];
            let index = indices.leaf(shape, i) >> z;
            merkle::place_beside(&mut nodes[2 * i * n..][..2 * n], sibling, index);
        }
        hash.join_pairs(nodes, shape.k, |i| {
            key.node(z + 1, indices.leaf(shape, i) >> (z + 1))
        });
    }
    hash.compress(&nodes[..shape.k * n], public_key, |_| key.roots());
}

#[cfg(test)]
mod tests {
    use super::Indices;
    use crate::slh_dsa::params::Shape;

    /// Bits in the order of the bytes, the most significant first.
    #[test]
    fn indices_are_the_bits_of_the_digest() {
        let shape = |a| Shape {
            d: 1,
            tree_height: 8,
            a,
            k: 3,
            lg_w: 4,
        };
        let indices = Indices::of(&shape(12), &[0x12, 0x34, 0x56, 0x78, 0x9f]);
        assert_eq!(indices.0[..3], [0x123, 0x456, 0x789]);
        assert_eq!(indices.leaf(&shape(12), 2), 0x2789);

        let md = [0xff, 0xff, 0xff, 0x80, 0, 0, 0x3f, 0xff, 0xff, 0xe0];
        let indices = Indices::of(&shape(25), &md);
        assert_eq!(indices.0[..3], [0x1ff_ffff, 0, 0x1ff_ffff]);
        assert_eq!(indices.leaf(&shape(25), 2), 0x5ff_ffff);
    }
}
