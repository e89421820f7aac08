//! The hypertree (FIPS 205, sections 6 and 7): trees of key pairs that sign the roots of the trees
//! below them, or FORS keys at the bottom.

use super::address::Tree;
use super::hash::Hash;
use super::merkle::{self, Opening};
use super::parallel::Meter;
use super::params::{MAX_N, Shape};
use super::wots::{self, Digits, KeyPairs};
use crate::arch::declassify;

/// The key pair of the bottom layer that signs.
#[derive(Clone, Copy)]
pub(super) struct Position {
    pub(super) tree: u64,
    pub(super) key_pair: u32,
}

impl Position {
    /// The position of the key pair that signs this tree's root, in the layer above.
    fn above(self, shape: &Shape) -> Self {
        Self {
            tree: self.tree >> shape.tree_height,
            key_pair: self.tree as u32 & ((1 << shape.tree_height) - 1),
        }
    }
}

/// The root of the hypertree (slh_keygen_internal, algorithm 18, step 3).
pub(super) fn root<H: Hash>(
    hash: &H,
    sk_seed: &[u8],
    shape: &Shape,
    meter: &Meter<'_>,
    root: &mut [u8],
) {
    let key_pairs = KeyPairs {
        hash,
        sk_seed,
        shape,
        tree: Tree {
            layer: shape.d as u32 - 1,
            index: 0,
        },
        digits: Digits::of(shape, root),
        meter,
    };
    merkle::root(&key_pairs, shape.tree_height, 0, None, root);
}

/// Signs `message`, and writes the root of the hypertree over it (ht_sign, algorithm 12, and
/// xmss_sign, algorithm 10).
pub(super) fn sign<H: Hash>(
    hash: &H,
    sk_seed: &[u8],
    shape: &Shape,
    position: Position,
    meter: &Meter<'_>,
    signature: &mut [u8],
    message: &mut [u8],
) {
    let n = hash.n();
    let mut position = position;
    let layers = signature.chunks_exact_mut(xmss_len(shape, n));
    for (layer, signature) in (0..).zip(layers) {
        let key_pairs = KeyPairs {
            hash,
            sk_seed,
            shape,
            tree: Tree {
                layer,
                index: position.tree,
            },
            digits: Digits::of(shape, message),
            meter,
        };
        let (revealed, path) = signature.split_at_mut(shape.chains(n) * n);
        let opening = Opening {
            leaf: position.key_pair,
            revealed,
            path,
        };
        merkle::root(&key_pairs, shape.tree_height, 0, Some(opening), message);
        // a root, which everybody can compute from the signature
        declassify(message);
        position = position.above(shape);
    }
}

/// Writes the root that a signature of `message` leads to over `message` (ht_verify, algorithm 13,
/// and xmss_pkFromSig, algorithm 11).
pub(super) fn root_by_signature<H: Hash>(
    hash: &H,
    shape: &Shape,
    position: Position,
    signature: &[u8],
    message: &mut [u8],
) {
    let n = hash.n();
    let mut position = position;
    let mut leaf = [0; MAX_N];
    let leaf = &mut leaf[..n];
    for (layer, signature) in (0..).zip(signature.chunks_exact(xmss_len(shape, n))) {
        let tree = Tree {
            layer,
            index: position.tree,
        };
        let (revealed, path) = signature.split_at(shape.chains(n) * n);
        wots::public_key(
            hash,
            shape,
            tree,
            position.key_pair,
            message,
            revealed,
            leaf,
        );
        merkle::root_by_path(
            hash,
            position.key_pair,
            leaf,
            path,
            |height, index| tree.node(height, index),
            message,
        );
        position = position.above(shape);
    }
}

/// Length of one layer's part of a signature: the WOTS⁺ signature and the authentication path.
fn xmss_len(shape: &Shape, n: usize) -> usize {
    (shape.chains(n) + shape.tree_height) * n
}
