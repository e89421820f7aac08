//! The internal algorithms (FIPS 205, section 9).

use super::address::Fors;
use super::fors::{self, CALLS_PER_LEAF, Indices, Secrets};
use super::hash::Hash;
use super::hypertree::{self, Position};
use super::parallel::{Meter, ProgressHook};
use super::params::{HashFamily, MAX_DIGEST_LEN, MAX_N, ParameterSet, Shape};
use super::sha2::Sha2;
use super::shake::Shake;
use super::signing_key::SigningKey;
use super::verifying_key::VerifyingKey;
use super::wots::calls_per_key_pair;
use crate::Error;
use crate::arch::{Backend, declassify};

/// Runs `$body` with `$hash` bound to the functions of the set `$p` with `$pk_seed`.
macro_rules! with_hash {
    ($p:ident, $b:ident, $pk_seed:expr, $hash:ident => $body:expr) => {
        match $p::HASH {
            HashFamily::Shake => {
                let $hash = Shake::<_, $p::N>::new($b, $pk_seed);
                $body
            }
            HashFamily::Sha2 => {
                let $hash = Sha2::<_, $p::N>::new($b, $pk_seed);
                $body
            }
        }
    };
}

/// PK.root, of n bytes (slh_keygen_internal, algorithm 18).
pub(super) fn public_root<P: ParameterSet, B: Backend>(
    b: B,
    sk_seed: &[u8],
    pk_seed: &[u8],
    progress: ProgressHook<'_>,
    root: &mut [u8],
) {
    let meter = Meter::new(progress, calls_per_tree(&P::SHAPE, sk_seed.len()));
    with_hash!(P, b, pk_seed, hash => {
        hypertree::root(&hash, sk_seed, &P::SHAPE, &meter, root);
    });
    // of the public key
    declassify(root);
}

/// slh_sign_internal (algorithm 19) of M′ in parts, into a signature of the right length.
/// Without randomness it is the deterministic variant.
///
/// Fails, with zeros in the signature, if its root is not PK.root: then nobody would accept
/// it, since the key is inconsistent or the computation was disturbed.
pub(super) fn sign<P: ParameterSet, B: Backend>(
    b: B,
    key: &SigningKey<P>,
    message: &[&[u8]],
    randomness: Option<&[u8]>,
    progress: ProgressHook<'_>,
    signature: &mut [u8],
) -> Result<(), Error> {
    let (pk_seed, pk_root) = (key.verifying_key().pk_seed(), key.verifying_key().pk_root());
    // 2: opt_rand ← addrnd, or PK.seed
    let signer = Signer {
        shape: &P::SHAPE,
        sk_seed: key.sk_seed(),
        sk_prf: key.sk_prf(),
        pk_root,
        randomness: randomness.unwrap_or(pk_seed),
    };
    let root = with_hash!(P, b, pk_seed, hash => {
        signer.sign(&hash, message, progress, signature)
    });
    if root[..pk_root.len()] != *pk_root {
        signature.fill(0);
        return Err(Error::InconsistentKey);
    }
    Ok(())
}

/// What a signature is made with, but for the hash functions.
struct Signer<'a> {
    shape: &'a Shape,
    sk_seed: &'a [u8],
    sk_prf: &'a [u8],
    pk_root: &'a [u8],
    randomness: &'a [u8],
}

impl Signer<'_> {
    /// Returns the root that the signature belongs to, and zeros after it.
    fn sign<H: Hash>(
        &self,
        hash: &H,
        message: &[&[u8]],
        progress: ProgressHook<'_>,
        signature: &mut [u8],
    ) -> [u8; MAX_N] {
        let Self { shape, sk_seed, .. } = *self;
        let n = H::N;
        let leaves = (shape.k << shape.a) as u32;
        let trees = shape.d as u32 * calls_per_tree(shape, n);
        let meter = &Meter::new(progress, leaves * CALLS_PER_LEAF + trees);
        let (r, rest) = signature.split_at_mut(n);
        let (fors_signature, hypertree_signature) = rest.split_at_mut(fors_len(shape, n));
        // 3: R ← PRF_msg(SK.prf, opt_rand, M)
        hash.prf_msg(self.sk_prf, self.randomness, message, r);
        // part of the signature
        declassify(r);
        // 5-10
        let digest = Digest::of(hash, shape, r, self.pk_root, message);
        // 11-16
        let mut root = [0; MAX_N];
        let secrets = Secrets {
            hash,
            sk_seed,
            key: digest.fors,
            meter,
        };
        fors::sign(
            &secrets,
            shape,
            &digest.indices,
            fors_signature,
            &mut root[..n],
        );
        // The FORS public key follows from the signature, and WOTS⁺ branches by it.
        declassify(&mut root);
        // 17
        hypertree::sign(
            hash,
            sk_seed,
            shape,
            digest.position,
            meter,
            hypertree_signature,
            &mut root[..n],
        );
        root
    }
}

/// slh_verify_internal (algorithm 20) of M′ in parts and a signature of the right length.
pub(super) fn verify<P: ParameterSet, B: Backend>(
    b: B,
    key: &VerifyingKey<P>,
    message: &[&[u8]],
    signature: &[u8],
) -> bool {
    with_hash!(P, b, key.pk_seed(), hash => {
        let root = root_by_signature(&hash, &P::SHAPE, key.pk_root(), message, signature);
        root[..key.pk_root().len()] == *key.pk_root()
    })
}

/// The root that a signature belongs to, and zeros after it.
fn root_by_signature<H: Hash>(
    hash: &H,
    shape: &Shape,
    pk_root: &[u8],
    message: &[&[u8]],
    signature: &[u8],
) -> [u8; MAX_N] {
    let n = H::N;
    let (r, rest) = signature.split_at(n);
    let (fors_signature, hypertree_signature) = rest.split_at(fors_len(shape, n));
    let digest = Digest::of(hash, shape, r, pk_root, message);
    let mut root = [0; MAX_N];
    fors::public_key(
        hash,
        digest.fors,
        shape,
        &digest.indices,
        fors_signature,
        &mut root[..n],
    );
    hypertree::root_by_signature(
        hash,
        shape,
        digest.position,
        hypertree_signature,
        &mut root[..n],
    );
    root
}

/// What a message digest selects.
struct Digest {
    indices: Indices,
    fors: Fors,
    position: Position,
}

impl Digest {
    /// Of H_msg(R, PK.seed, PK.root, M) (algorithm 19, steps 5 to 10).
    fn of<H: Hash>(hash: &H, shape: &Shape, r: &[u8], pk_root: &[u8], message: &[&[u8]]) -> Self {
        let mut digest = [0; MAX_DIGEST_LEN];
        let digest = &mut digest[..shape.digest_len()];
        hash.h_msg(r, pk_root, message, digest);
        let [md_len, tree_len, _] = shape.digest_parts();
        let (md, rest) = digest.split_at(md_len);
        let (tree, leaf) = rest.split_at(tree_len);
        let position = Position {
            tree: number(tree, shape.tree_height * (shape.d - 1)),
            key_pair: number(leaf, shape.tree_height) as u32,
        };
        Self {
            indices: Indices::of(shape, md),
            fors: Fors {
                tree: position.tree,
                key_pair: position.key_pair,
            },
            position,
        }
    }
}

/// The low bits of a big-endian number, at most 64.
fn number(bytes: &[u8], bits: usize) -> u64 {
    let number = bytes
        .iter()
        .fold(0, |number, byte| number << 8 | u64::from(*byte));
    number & (u64::MAX >> (64 - bits))
}

/// Length of the signature of FORS.
fn fors_len(shape: &Shape, n: usize) -> usize {
    shape.k * (1 + shape.a) * n
}

fn calls_per_tree(shape: &Shape, n: usize) -> u32 {
    calls_per_key_pair(n) << shape.tree_height
}
