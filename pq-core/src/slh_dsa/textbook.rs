//! FIPS 205 as printed, on bytes and one hash at a time, with hash functions of other
//! implementations.
//!
//! Tests compare the other modules with it. It does not use the numbers of any parameter set.

extern crate alloc;

use alloc::vec;
use alloc::vec::Vec;

use super::params::{HashFamily, Shape};

/// A parameter set with a key's PK.seed.
pub(super) struct Textbook<'a> {
    pub(super) family: HashFamily,
    pub(super) n: usize,
    pub(super) shape: Shape,
    pub(super) pk_seed: &'a [u8],
}

/// ADRS (section 4.2), and its member functions (table 1).
#[derive(Clone)]
struct Adrs([u8; 32]);

impl Adrs {
    fn new() -> Self {
        Self([0; 32])
    }

    fn set(&mut self, at: usize, number: u32) {
        self.0[at..at + 4].copy_from_slice(&number.to_be_bytes());
    }

    fn set_layer_address(&mut self, layer: u32) {
        self.set(0, layer);
    }

    fn set_tree_address(&mut self, tree: u64) {
        self.0[4..8].fill(0);
        self.0[8..16].copy_from_slice(&tree.to_be_bytes());
    }

    fn set_type_and_clear(&mut self, kind: u32) {
        self.set(16, kind);
        self.0[20..].fill(0);
    }

    fn set_key_pair_address(&mut self, key_pair: u32) {
        self.set(20, key_pair);
    }

    fn key_pair_address(&self) -> u32 {
        u32::from_be_bytes(self.0[20..24].try_into().expect("4 bytes"))
    }

    fn set_chain_address(&mut self, chain: u32) {
        self.set(24, chain);
    }

    fn set_tree_height(&mut self, height: u32) {
        self.set(24, height);
    }

    fn set_hash_address(&mut self, hash: u32) {
        self.set(28, hash);
    }

    fn set_tree_index(&mut self, index: u32) {
        self.set(28, index);
    }
}

const WOTS_HASH: u32 = 0;
const WOTS_PK: u32 = 1;
const TREE: u32 = 2;
const FORS_TREE: u32 = 3;
const FORS_ROOTS: u32 = 4;
const WOTS_PRF: u32 = 5;
const FORS_PRF: u32 = 6;

/// Algorithm 1.
fn gen_len2(n: usize, lg_w: usize) -> usize {
    let w = 1 << lg_w;
    let len1 = (8 * n).div_ceil(lg_w);
    let max_checksum = len1 * (w - 1);
    let mut len2 = 1;
    let mut capacity = w;
    while capacity <= max_checksum {
        len2 += 1;
        capacity *= w;
    }
    len2
}

/// Algorithm 2.
fn to_int(x: &[u8]) -> u64 {
    x.iter()
        .fold(0, |total, byte| 256 * total + u64::from(*byte))
}

/// Algorithm 3.
fn to_byte(x: u64, n: usize) -> Vec<u8> {
    (0..n).rev().map(|i| (x >> (8 * i)) as u8).collect()
}

/// Algorithm 4.
fn base_2b(x: &[u8], b: usize, out_len: usize) -> Vec<u32> {
    let (mut i, mut bits, mut total) = (0, 0, 0_u64);
    let mut output = Vec::new();
    for _ in 0..out_len {
        while bits < b {
            total = (total << 8) + u64::from(x[i]);
            i += 1;
            bits += 8;
        }
        bits -= b;
        output.push(((total >> bits) % (1 << b)) as u32);
    }
    output
}

fn shake256(parts: &[&[u8]], len: usize) -> Vec<u8> {
    use shake::digest::{ExtendableOutput, Update, XofReader};
    let mut hash = shake::Shake256::default();
    for part in parts {
        hash.update(part);
    }
    let mut output = vec![0; len];
    hash.finalize_xof().read(&mut output);
    output
}

fn digest<D: sha2::Digest>(parts: &[&[u8]]) -> Vec<u8> {
    let mut hash = D::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().to_vec()
}

/// Chooses SHA-256, used in category 1 and for F and PRF, or SHA-512.
fn sha2(small: bool, parts: &[&[u8]]) -> Vec<u8> {
    if small {
        digest::<sha2::Sha256>(parts)
    } else {
        digest::<sha2::Sha512>(parts)
    }
}

fn block_len(small: bool) -> usize {
    if small { 64 } else { 128 }
}

fn hmac(small: bool, key: &[u8], message: &[&[u8]]) -> Vec<u8> {
    let pad = |byte: u8| -> Vec<u8> {
        let padded = key.iter().copied().chain(core::iter::repeat(0));
        padded
            .take(block_len(small))
            .map(|key| key ^ byte)
            .collect()
    };
    let (inner, outer) = (pad(0x36), pad(0x5c));
    let digest = sha2(small, &[&[&inner[..]], message].concat());
    sha2(small, &[&outer, &digest])
}

fn mgf1(small: bool, seed: &[u8], len: usize) -> Vec<u8> {
    let blocks = (0..).flat_map(|counter: u32| sha2(small, &[seed, &counter.to_be_bytes()]));
    blocks.take(len).collect()
}

/// Section 11: the functions.
impl Textbook<'_> {
    fn is_category_1(&self) -> bool {
        self.n == 16
    }

    fn tweaked(&self, small: bool, adrs: &Adrs, message: &[u8]) -> Vec<u8> {
        match self.family {
            HashFamily::Shake => shake256(&[self.pk_seed, &adrs.0, message], self.n),
            HashFamily::Sha2 => {
                let zeros = vec![0; block_len(small) - self.n];
                let a = &adrs.0;
                let compressed = [&a[3..4], &a[8..16], &a[19..20], &a[20..32]].concat();
                let parts = [self.pk_seed, &zeros, &compressed, message];
                sha2(small, &parts)[..self.n].to_vec()
            }
        }
    }

    fn prf(&self, sk_seed: &[u8], adrs: &Adrs) -> Vec<u8> {
        self.tweaked(true, adrs, sk_seed)
    }

    fn f(&self, adrs: &Adrs, m: &[u8]) -> Vec<u8> {
        self.tweaked(true, adrs, m)
    }

    fn t(&self, adrs: &Adrs, m: &[u8]) -> Vec<u8> {
        self.tweaked(self.is_category_1(), adrs, m)
    }

    fn prf_msg(&self, sk_prf: &[u8], opt_rand: &[u8], m: &[u8]) -> Vec<u8> {
        match self.family {
            HashFamily::Shake => shake256(&[sk_prf, opt_rand, m], self.n),
            HashFamily::Sha2 => {
                hmac(self.is_category_1(), sk_prf, &[opt_rand, m])[..self.n].to_vec()
            }
        }
    }

    fn h_msg(&self, r: &[u8], pk_root: &[u8], m: &[u8], len: usize) -> Vec<u8> {
        match self.family {
            HashFamily::Shake => shake256(&[r, self.pk_seed, pk_root, m], len),
            HashFamily::Sha2 => {
                let small = self.is_category_1();
                let digest = sha2(small, &[r, self.pk_seed, pk_root, m]);
                mgf1(small, &[r, self.pk_seed, &digest].concat(), len)
            }
        }
    }
}

/// Section 5: WOTS⁺.
impl Textbook<'_> {
    fn len1(&self) -> usize {
        (8 * self.n).div_ceil(self.shape.lg_w)
    }

    fn len(&self) -> usize {
        self.len1() + gen_len2(self.n, self.shape.lg_w)
    }

    fn w(&self) -> u32 {
        1 << self.shape.lg_w
    }

    /// Algorithm 5.
    fn chain(&self, x: &[u8], i: u32, s: u32, adrs: &mut Adrs) -> Vec<u8> {
        let mut tmp = x.to_vec();
        for j in i..i + s {
            adrs.set_hash_address(j);
            tmp = self.f(adrs, &tmp);
        }
        tmp
    }

    fn wots_sk(&self, sk_seed: &[u8], i: usize, adrs: &Adrs) -> Vec<u8> {
        let mut sk_adrs = adrs.clone();
        sk_adrs.set_type_and_clear(WOTS_PRF);
        sk_adrs.set_key_pair_address(adrs.key_pair_address());
        sk_adrs.set_chain_address(i as u32);
        self.prf(sk_seed, &sk_adrs)
    }

    fn wots_compress(&self, tmp: &[u8], adrs: &Adrs) -> Vec<u8> {
        let mut pk_adrs = adrs.clone();
        pk_adrs.set_type_and_clear(WOTS_PK);
        pk_adrs.set_key_pair_address(adrs.key_pair_address());
        self.t(&pk_adrs, tmp)
    }

    /// Algorithm 6.
    fn wots_pkgen(&self, sk_seed: &[u8], adrs: &mut Adrs) -> Vec<u8> {
        let mut tmp = Vec::new();
        for i in 0..self.len() {
            let sk = self.wots_sk(sk_seed, i, adrs);
            adrs.set_chain_address(i as u32);
            tmp.extend(self.chain(&sk, 0, self.w() - 1, adrs));
        }
        self.wots_compress(&tmp, adrs)
    }

    /// Algorithm 7, steps 1 to 7, which are also those of algorithm 8.
    pub(super) fn wots_digits(&self, m: &[u8]) -> Vec<u32> {
        let lg_w = self.shape.lg_w;
        let len2 = gen_len2(self.n, lg_w);
        let mut csum = 0;
        let mut msg = base_2b(m, lg_w, self.len1());
        for digit in &msg {
            csum += u64::from(self.w() - 1 - digit);
        }
        csum <<= (8 - ((len2 * lg_w) % 8)) % 8;
        let bytes = to_byte(csum, (len2 * lg_w).div_ceil(8));
        msg.extend(base_2b(&bytes, lg_w, len2));
        msg
    }

    /// Algorithm 7.
    fn wots_sign(&self, m: &[u8], sk_seed: &[u8], adrs: &mut Adrs) -> Vec<u8> {
        let mut sig = Vec::new();
        for (i, digit) in self.wots_digits(m).into_iter().enumerate() {
            let sk = self.wots_sk(sk_seed, i, adrs);
            adrs.set_chain_address(i as u32);
            sig.extend(self.chain(&sk, 0, digit, adrs));
        }
        sig
    }

    /// Algorithm 8.
    fn wots_pk_from_sig(&self, sig: &[u8], m: &[u8], adrs: &mut Adrs) -> Vec<u8> {
        let mut tmp = Vec::new();
        for (i, digit) in self.wots_digits(m).into_iter().enumerate() {
            adrs.set_chain_address(i as u32);
            let value = &sig[i * self.n..][..self.n];
            tmp.extend(self.chain(value, digit, self.w() - 1 - digit, adrs));
        }
        self.wots_compress(&tmp, adrs)
    }
}

/// Sections 6 and 7: XMSS and the hypertree.
impl Textbook<'_> {
    /// Algorithm 9.
    fn xmss_node(&self, sk_seed: &[u8], i: u32, z: u32, adrs: &mut Adrs) -> Vec<u8> {
        if z == 0 {
            adrs.set_type_and_clear(WOTS_HASH);
            adrs.set_key_pair_address(i);
            return self.wots_pkgen(sk_seed, adrs);
        }
        let mut nodes = self.xmss_node(sk_seed, 2 * i, z - 1, adrs);
        nodes.extend(self.xmss_node(sk_seed, 2 * i + 1, z - 1, adrs));
        adrs.set_type_and_clear(TREE);
        adrs.set_tree_height(z);
        adrs.set_tree_index(i);
        self.t(adrs, &nodes)
    }

    /// Algorithm 10.
    fn xmss_sign(&self, m: &[u8], sk_seed: &[u8], idx: u32, adrs: &mut Adrs) -> Vec<u8> {
        let mut auth = Vec::new();
        for j in 0..self.shape.tree_height as u32 {
            auth.extend(self.xmss_node(sk_seed, (idx >> j) ^ 1, j, adrs));
        }
        adrs.set_type_and_clear(WOTS_HASH);
        adrs.set_key_pair_address(idx);
        let mut sig = self.wots_sign(m, sk_seed, adrs);
        sig.extend(auth);
        sig
    }

    /// Algorithm 11.
    fn xmss_pk_from_sig(&self, idx: u32, sig: &[u8], m: &[u8], adrs: &mut Adrs) -> Vec<u8> {
        adrs.set_type_and_clear(WOTS_HASH);
        adrs.set_key_pair_address(idx);
        let (wots, auth) = sig.split_at(self.len() * self.n);
        let node = self.wots_pk_from_sig(wots, m, adrs);
        adrs.set_type_and_clear(TREE);
        self.climb(idx, node, auth, adrs)
    }

    /// The rest of algorithms 11 and, for a tree, 17.
    fn climb(&self, index: u32, mut node: Vec<u8>, auth: &[u8], adrs: &mut Adrs) -> Vec<u8> {
        for (k, sibling) in auth.chunks_exact(self.n).enumerate() {
            adrs.set_tree_height(k as u32 + 1);
            adrs.set_tree_index(index >> (k + 1));
            let pair = if (index >> k).is_multiple_of(2) {
                [&node, sibling].concat()
            } else {
                [sibling, &node].concat()
            };
            node = self.t(adrs, &pair);
        }
        node
    }

    /// The tree and leaf that sign the root of the one below (algorithm 12, steps 7 and 8).
    fn above(&self, tree: u64) -> (u64, u32) {
        let leaves = 1 << self.shape.tree_height;
        (tree / leaves, (tree % leaves) as u32)
    }

    fn layer(&self, layer: usize, tree: u64) -> Adrs {
        let mut adrs = Adrs::new();
        adrs.set_layer_address(layer as u32);
        adrs.set_tree_address(tree);
        adrs
    }

    /// Algorithm 12.
    fn ht_sign(&self, m: &[u8], sk_seed: &[u8], mut tree: u64, mut leaf: u32) -> Vec<u8> {
        let mut sig = Vec::new();
        let mut root = m.to_vec();
        for j in 0..self.shape.d {
            let adrs = &mut self.layer(j, tree);
            let tmp = self.xmss_sign(&root, sk_seed, leaf, adrs);
            root = self.xmss_pk_from_sig(leaf, &tmp, &root, adrs);
            sig.extend(tmp);
            (tree, leaf) = self.above(tree);
        }
        sig
    }

    /// Algorithm 13, up to the comparison.
    fn ht_root(&self, m: &[u8], sig: &[u8], mut tree: u64, mut leaf: u32) -> Vec<u8> {
        let mut node = m.to_vec();
        let layers = sig.chunks_exact((self.len() + self.shape.tree_height) * self.n);
        for (j, sig) in layers.enumerate() {
            node = self.xmss_pk_from_sig(leaf, sig, &node, &mut self.layer(j, tree));
            (tree, leaf) = self.above(tree);
        }
        node
    }
}

/// Section 8: FORS.
impl Textbook<'_> {
    /// Algorithm 14.
    fn fors_skgen(&self, sk_seed: &[u8], adrs: &Adrs, idx: u32) -> Vec<u8> {
        let mut sk_adrs = adrs.clone();
        sk_adrs.set_type_and_clear(FORS_PRF);
        sk_adrs.set_key_pair_address(adrs.key_pair_address());
        sk_adrs.set_tree_index(idx);
        self.prf(sk_seed, &sk_adrs)
    }

    /// Algorithm 15.
    fn fors_node(&self, sk_seed: &[u8], i: u32, z: u32, adrs: &mut Adrs) -> Vec<u8> {
        if z == 0 {
            let sk = self.fors_skgen(sk_seed, adrs, i);
            adrs.set_tree_height(0);
            adrs.set_tree_index(i);
            return self.f(adrs, &sk);
        }
        let mut nodes = self.fors_node(sk_seed, 2 * i, z - 1, adrs);
        nodes.extend(self.fors_node(sk_seed, 2 * i + 1, z - 1, adrs));
        adrs.set_tree_height(z);
        adrs.set_tree_index(i);
        self.t(adrs, &nodes)
    }

    /// Algorithm 16.
    fn fors_sign(&self, md: &[u8], sk_seed: &[u8], adrs: &mut Adrs) -> Vec<u8> {
        let Shape { a, k, .. } = self.shape;
        let mut sig = Vec::new();
        for (i, index) in base_2b(md, a, k).into_iter().enumerate() {
            sig.extend(self.fors_skgen(sk_seed, adrs, ((i as u32) << a) + index));
            for j in 0..a {
                let s = (index >> j) ^ 1;
                let node = ((i as u32) << (a - j)) + s;
                sig.extend(self.fors_node(sk_seed, node, j as u32, adrs));
            }
        }
        sig
    }

    /// Algorithm 17.
    fn fors_pk_from_sig(&self, sig: &[u8], md: &[u8], adrs: &mut Adrs) -> Vec<u8> {
        let Shape { a, k, .. } = self.shape;
        let mut roots = Vec::new();
        let trees = sig.chunks_exact((a + 1) * self.n);
        for ((i, index), tree) in base_2b(md, a, k).into_iter().enumerate().zip(trees) {
            let (sk, auth) = tree.split_at(self.n);
            let leaf = ((i as u32) << a) + index;
            adrs.set_tree_height(0);
            adrs.set_tree_index(leaf);
            let node = self.f(adrs, sk);
            roots.extend(self.climb(leaf, node, auth, adrs));
        }
        let mut pk_adrs = adrs.clone();
        pk_adrs.set_type_and_clear(FORS_ROOTS);
        pk_adrs.set_key_pair_address(adrs.key_pair_address());
        self.t(&pk_adrs, &roots)
    }
}

/// The parts of a message digest (algorithm 19, steps 6 to 10).
struct Selection {
    md: Vec<u8>,
    tree: u64,
    leaf: u32,
}

/// Section 9: the internal algorithms.
impl Textbook<'_> {
    /// PK.root (algorithm 18).
    pub(super) fn root(&self, sk_seed: &[u8]) -> Vec<u8> {
        let mut adrs = self.layer(self.shape.d - 1, 0);
        self.xmss_node(sk_seed, 0, self.shape.tree_height as u32, &mut adrs)
    }

    fn select(&self, r: &[u8], pk_root: &[u8], m: &[u8]) -> Selection {
        let Shape {
            a,
            k,
            d,
            tree_height,
            ..
        } = self.shape;
        let tree_bits = (d - 1) * tree_height;
        let lens = [
            (k * a).div_ceil(8),
            tree_bits.div_ceil(8),
            tree_height.div_ceil(8),
        ];
        let digest = self.h_msg(r, pk_root, m, lens.iter().sum());
        let (md, rest) = digest.split_at(lens[0]);
        let (tree, leaf) = rest.split_at(lens[1]);
        Selection {
            md: md.to_vec(),
            tree: (u128::from(to_int(tree)) % (1 << tree_bits)) as u64,
            leaf: (to_int(leaf) % (1 << tree_height)) as u32,
        }
    }

    fn fors_adrs(&self, selection: &Selection) -> Adrs {
        let mut adrs = self.layer(0, selection.tree);
        adrs.set_type_and_clear(FORS_TREE);
        adrs.set_key_pair_address(selection.leaf);
        adrs
    }

    /// Algorithm 19.
    pub(super) fn sign(
        &self,
        m: &[u8],
        [sk_seed, sk_prf, pk_root]: [&[u8]; 3],
        opt_rand: &[u8],
    ) -> Vec<u8> {
        let r = self.prf_msg(sk_prf, opt_rand, m);
        let selection = self.select(&r, pk_root, m);
        let adrs = &mut self.fors_adrs(&selection);
        let fors = self.fors_sign(&selection.md, sk_seed, adrs);
        let pk_fors = self.fors_pk_from_sig(&fors, &selection.md, adrs);
        let hypertree = self.ht_sign(&pk_fors, sk_seed, selection.tree, selection.leaf);
        [r, fors, hypertree].concat()
    }

    /// Algorithm 20, up to the comparison: the root that a signature leads to.
    pub(super) fn root_by_signature(&self, m: &[u8], sig: &[u8], pk_root: &[u8]) -> Vec<u8> {
        let (r, rest) = sig.split_at(self.n);
        let (fors, hypertree) = rest.split_at(self.shape.k * (1 + self.shape.a) * self.n);
        let selection = self.select(r, pk_root, m);
        let adrs = &mut self.fors_adrs(&selection);
        let pk_fors = self.fors_pk_from_sig(fors, &selection.md, adrs);
        self.ht_root(&pk_fors, hypertree, selection.tree, selection.leaf)
    }
}
