//! Merkle trees of XMSS and FORS: roots, and the paths to them.

use super::address::Address;
use super::hash::Hash;
use super::parallel::join;
use super::params::MAX_N;

/// The leaves of a tree, and the addresses of the nodes above them.
pub(super) trait Leaves: Sync {
    type Hash: Hash;

    /// The height of the subtrees that are computed in one piece: at most [`MAX_BLOCK_HEIGHT`].
    const BLOCK_HEIGHT: usize;

    fn hash(&self) -> &Self::Hash;

    /// Computes the leaves from `first` on, of n bytes each. If the leaf with the index in
    /// `revealed` is among them, writes what a signature reveals of it to the slice there.
    fn compute(&self, first: u32, leaves: &mut [u8], revealed: Option<(u32, &mut [u8])>);

    /// The address of a node above the leaves.
    fn address(&self, height: usize, index: u32) -> Address;
}

/// The largest [`Leaves::BLOCK_HEIGHT`].
pub(super) const MAX_BLOCK_HEIGHT: usize = 6;

/// A leaf that a signature opens, and the places of its parts of the signature.
pub(super) struct Opening<'a> {
    pub(super) leaf: u32,
    /// What the signature reveals of the leaf.
    pub(super) revealed: &'a mut [u8],
    /// The authentication path: the sibling of every node on the way to the root, from the
    /// leaf on.
    pub(super) path: &'a mut [u8],
}

/// The node at `height` with `index` (xmss_node, FIPS 205, algorithm 9; fors_node, algorithm
/// 15).
///
/// A tree is halved until a subtree can be computed in one piece, so that memory use grows with the
/// height and not with the number of leaves.
pub(super) fn root<L: Leaves>(
    leaves: &L,
    height: usize,
    index: u32,
    opening: Option<Opening<'_>>,
    root: &mut [u8],
) {
    if height <= L::BLOCK_HEIGHT {
        return block_root(leaves, height, index, opening, root);
    }
    let n = leaves.hash().n();
    let mut children = [0; 2 * MAX_N];
    let children = &mut children[..2 * n];
    let (left, right) = children.split_at_mut(n);
    // The half with the opened leaf gets the path up to its own root; the path then ends with the
    // root of the other half.
    let mut sibling = None;
    let (mut in_left, mut in_right) = (None, None);
    if let Some(opening) = opening {
        let (path, end) = opening.path.split_at_mut((height - 1) * n);
        let is_right = opening.leaf >> (height - 1) & 1 == 1;
        sibling = Some((is_right, end));
        let opening = Some(Opening { path, ..opening });
        *(if is_right {
            &mut in_right
        } else {
            &mut in_left
        }) = opening;
    }
    join(
        || self::root(leaves, height - 1, 2 * index, in_left, left),
        || self::root(leaves, height - 1, 2 * index + 1, in_right, right),
    );
    if let Some((is_right, sibling)) = sibling {
        sibling.copy_from_slice(if is_right { left } else { right });
    }
    leaves
        .hash()
        .join_pairs(children, 1, |_| leaves.address(height, index));
    root.copy_from_slice(&children[..n]);
}

/// [`root`] of a subtree, level by level.
///
/// Not inlined, since each level of the recursion above would then reserve stack for the
/// computation of leaves.
#[inline(never)]
fn block_root<L: Leaves>(
    leaves: &L,
    height: usize,
    index: u32,
    opening: Option<Opening<'_>>,
    root: &mut [u8],
) {
    const {
        assert!(L::BLOCK_HEIGHT <= MAX_BLOCK_HEIGHT);
    }
    let n = leaves.hash().n();
    let mut nodes = [0; MAX_N << MAX_BLOCK_HEIGHT];
    let nodes = &mut nodes[..n << height];
    let first = index << height;
    let mut path = None;
    let mut revealed = None;
    if let Some(opening) = opening {
        path = Some((opening.leaf, opening.path.chunks_exact_mut(n)));
        revealed = Some((opening.leaf, opening.revealed));
    }
    leaves.compute(first, nodes, revealed);
    for z in 1..=height {
        if let Some((leaf, path)) = &mut path
            && let Some(sibling) = path.next()
        {
            // the sibling of the node at height z − 1 on the path from the leaf
            let i = ((*leaf - first) >> (z - 1) ^ 1) as usize;
            sibling.copy_from_slice(&nodes[i * n..][..n]);
        }
        let count = 1 << (height - z);
        let first = first >> z;
        leaves
            .hash()
            .join_pairs(nodes, count, |i| leaves.address(z, first + i as u32));
    }
    root.copy_from_slice(&nodes[..n]);
}

/// The root above the leaf with `index`, by its authentication path (the end of algorithm 11).
pub(super) fn root_by_path<H: Hash>(
    hash: &H,
    index: u32,
    leaf: &[u8],
    path: &[u8],
    address: impl Fn(usize, u32) -> Address,
    root: &mut [u8],
) {
    let n = hash.n();
    let mut nodes = [0; 2 * MAX_N];
    let nodes = &mut nodes[..2 * n];
    nodes[..n].copy_from_slice(leaf);
    for (z, sibling) in path.chunks_exact(n).enumerate() {
        place_beside(nodes, sibling, index >> z);
        hash.join_pairs(nodes, 1, |_| address(z + 1, index >> (z + 1)));
    }
    root.copy_from_slice(&nodes[..n]);
}

/// Makes a pair of children from the node with `index`, which is the first half of `pair`, and its
/// sibling: even indices are on the left.
pub(super) fn place_beside(pair: &mut [u8], sibling: &[u8], index: u32) {
    let n = sibling.len();
    if index & 1 == 1 {
        pair.copy_within(..n, n);
        pair[..n].copy_from_slice(sibling);
    } else {
        pair[n..].copy_from_slice(sibling);
    }
}
