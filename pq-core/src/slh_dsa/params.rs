//! The parameter sets of SLH-DSA (FIPS 205, section 11, and the draft of SP 800-230): their hash functions, the shape
//! of their trees, and the lengths that follow from it.

use core::fmt::Debug;

use zeroize::Zeroize;

use super::instances::Instances;
use crate::dimension::{Dim, Dimension};
use crate::sealed::Sealed;

/// A parameter set of FIPS 205, section 11, or of SP 800-230.
///
/// Sealed: only the twelve sets of the standard and the six of the draft of SP 800-230 implement
/// it.
pub trait ParameterSet: Instances + Sealed + Copy + Debug + Eq + Send + Sync + 'static {
    /// The standard's name, such as `SLH-DSA-SHAKE-128f`.
    const NAME: &'static str;
    /// The hash functions of the set.
    const HASH: HashFamily;
    /// The sizes of the trees and chains.
    const SHAPE: Shape;
    /// Length of a verifying key in bytes, 2n.
    const VERIFYING_KEY_LEN: usize = Self::VerifyingKeyLen::N;
    /// Length of a signing key in bytes, 4n.
    const SIGNING_KEY_LEN: usize = Self::SigningKeyLen::N;
    /// Length of a signature in bytes, (1 + k(1 + a) + h + d · len) · n.
    const SIGNATURE_LEN: usize = Self::SignatureLen::N;
    /// How many signatures a key may make at most: more make forgeries easier than the security
    /// category promises.
    ///
    /// It is 2²⁴ for the sets of SP 800-230, where the owner of a key must count its signatures. It
    /// is 2⁶⁴ for the sets of FIPS 205, which no key reaches: this constant then is [`u64::MAX`].
    const MAX_SIGNATURES: u64;

    /// n, the length in bytes of a hash, of each part of a key and of the randomness of hedged
    /// signing.
    type N: Dimension<Of<u8>: Zeroize>;
    /// 3n, the length of the seed that a key pair is made from.
    type SeedLen: Dimension<Of<u8>: Zeroize>;
    /// [`VERIFYING_KEY_LEN`](Self::VERIFYING_KEY_LEN) as a type.
    type VerifyingKeyLen: Dimension;
    /// [`SIGNING_KEY_LEN`](Self::SIGNING_KEY_LEN) as a type.
    type SigningKeyLen: Dimension<Of<u8>: Zeroize>;
    /// [`SIGNATURE_LEN`](Self::SIGNATURE_LEN) as a type.
    type SignatureLen: Dimension;
}

/// The hash functions of a parameter set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum HashFamily {
    /// SHAKE256 (FIPS 205, section 11.1).
    Shake,
    /// SHA-256, and with n > 16 for some purposes SHA-512 (FIPS 205, section 11.2).
    Sha2,
}

/// The numbers of a parameter set that define its trees and chains (FIPS 205, table 2).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Shape {
    /// d, the number of layers of the hypertree.
    pub d: usize,
    /// h′, the height of each tree of the hypertree; h = d · h′.
    pub tree_height: usize,
    /// a, the height of each tree of FORS.
    pub a: usize,
    /// k, the number of trees of FORS.
    pub k: usize,
    /// lg w, the number of bits of a message that a chain of WOTS⁺ signs; 4 in FIPS 205. It divides
    /// n.
    pub lg_w: usize,
}

impl Shape {
    /// m, the length of a message digest in bytes.
    pub(super) const fn digest_len(&self) -> usize {
        let [md, tree, leaf] = self.digest_parts();
        md + tree + leaf
    }

    /// The lengths in bytes of the parts of a message digest: the FORS indices, the index of the
    /// tree, and the index of its leaf.
    pub(super) const fn digest_parts(&self) -> [usize; 3] {
        [
            (self.k * self.a).div_ceil(8),
            (self.tree_height * (self.d - 1)).div_ceil(8),
            self.tree_height.div_ceil(8),
        ]
    }

    /// w − 1, the length of a chain of WOTS⁺.
    pub(super) const fn chain_len(&self) -> usize {
        (1 << self.lg_w) - 1
    }

    /// len₁, the number of chains for a message (FIPS 205, section 5).
    pub(super) const fn message_chains(&self, n: usize) -> usize {
        8 * n / self.lg_w
    }

    /// len₂, the number of chains for the checksum: the number of digits of its largest value.
    pub(super) const fn checksum_chains(&self, n: usize) -> usize {
        let largest = self.message_chains(n) * self.chain_len();
        largest.ilog2() as usize / self.lg_w + 1
    }

    /// len, the number of chains.
    pub(super) const fn chains(&self, n: usize) -> usize {
        self.message_chains(n) + self.checksum_chains(n)
    }

    /// Length of a signature in bytes.
    pub(super) const fn signature_len(&self, n: usize) -> usize {
        n * (1 + self.k * (1 + self.a) + self.d * (self.tree_height + self.chains(n)))
    }

    /// How many calls of PRF and F make a key pair of WOTS⁺.
    pub(super) const fn calls_per_key_pair(&self, n: usize) -> u32 {
        (self.chains(n) * (1 + self.chain_len())) as u32
    }

    /// How many calls of PRF and F make a tree of such key pairs.
    pub(super) const fn calls_per_tree(&self, n: usize) -> u32 {
        self.calls_per_key_pair(n) * (1 << self.tree_height)
    }

    /// How many calls of hash functions make a signature, without those that hash whole messages.
    pub(super) const fn calls_per_signature(&self, n: usize) -> u32 {
        let leaves = (self.k * (1 << self.a)) as u32;
        leaves * CALLS_PER_LEAF + self.d as u32 * self.calls_per_tree(n)
    }
}

/// How many calls of PRF, F and H make a leaf of FORS and its share of the tree.
pub(super) const CALLS_PER_LEAF: u32 = 3;

/// The largest n.
pub(super) const MAX_N: usize = 32;
/// The largest len; arrays of this size are on the stack.
pub(super) const MAX_CHAINS: usize = if cfg!(any(test, feature = "slh-dsa-sp800-230-draft")) {
    133
} else {
    67
};
/// The largest k.
pub(super) const MAX_K: usize = 35;
/// The largest a.
pub(super) const MAX_A: usize = 25;
/// The largest m.
pub(super) const MAX_DIGEST_LEN: usize = 49;

macro_rules! parameter_sets {
    (
        max_signatures: $max_signatures:expr,
        about: $about:literal,
        $(
            $shake:ident, $sha2:ident, $suffix:literal, $category:literal,
            n: $n:literal, d: $d:literal, tree_height: $tree_height:literal, a: $a:literal,
            k: $k:literal, lg_w: $lg_w:literal;
        )*
    ) => {$(
        parameter_sets!(
            @set $shake, Shake, "SHAKE", $suffix, $category, $about, $max_signatures,
            $n, $d, $tree_height, $a, $k, $lg_w
        );
        parameter_sets!(
            @set $sha2, Sha2, "SHA2", $suffix, $category, $about, $max_signatures,
            $n, $d, $tree_height, $a, $k, $lg_w
        );
    )*};
    (
        @set $set:ident, $family:ident, $family_name:literal, $suffix:literal, $category:literal,
        $about:literal, $max_signatures:expr,
        $n:literal, $d:literal, $tree_height:literal, $a:literal, $k:literal, $lg_w:literal
    ) => {
        #[doc = concat!("SLH-DSA-", $family_name, "-", $suffix, ", security category ", $category, ".")]
        #[doc = $about]
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub struct $set;

        impl Sealed for $set {}

        impl ParameterSet for $set {
            const NAME: &'static str = concat!("SLH-DSA-", $family_name, "-", $suffix);
            const HASH: HashFamily = HashFamily::$family;
            const SHAPE: Shape = Shape {
                d: $d,
                tree_height: $tree_height,
                a: $a,
                k: $k,
                lg_w: $lg_w,
            };
            const MAX_SIGNATURES: u64 = $max_signatures;

            type N = Dim<$n>;
            type SeedLen = Dim<{ 3 * $n }>;
            type VerifyingKeyLen = Dim<{ 2 * $n }>;
            type SigningKeyLen = Dim<{ 4 * $n }>;
            type SignatureLen = Dim<{ Self::SHAPE.signature_len($n) }>;
        }

        const _: () = {
            assert!($k <= MAX_K && $a <= MAX_A && $n <= MAX_N);
            assert!($set::SHAPE.digest_len() <= MAX_DIGEST_LEN);
            assert!($n % $lg_w == 0 && $set::SHAPE.chains($n) <= MAX_CHAINS);
            // does not compile if it overflows
            assert!($set::SHAPE.calls_per_signature($n) > 0);
        };
    };
}

parameter_sets! {
    max_signatures: u64::MAX,
    about: "",
    SlhDsaShake128s, SlhDsaSha2_128s, "128s", "1",
        n: 16, d: 7, tree_height: 9, a: 12, k: 14, lg_w: 4;
    SlhDsaShake128f, SlhDsaSha2_128f, "128f", "1",
        n: 16, d: 22, tree_height: 3, a: 6, k: 33, lg_w: 4;
    SlhDsaShake192s, SlhDsaSha2_192s, "192s", "3",
        n: 24, d: 7, tree_height: 9, a: 14, k: 17, lg_w: 4;
    SlhDsaShake192f, SlhDsaSha2_192f, "192f", "3",
        n: 24, d: 22, tree_height: 3, a: 8, k: 33, lg_w: 4;
    SlhDsaShake256s, SlhDsaSha2_256s, "256s", "5",
        n: 32, d: 8, tree_height: 8, a: 14, k: 22, lg_w: 4;
    SlhDsaShake256f, SlhDsaSha2_256f, "256f", "5",
        n: 32, d: 17, tree_height: 4, a: 9, k: 35, lg_w: 4;
}

#[cfg(feature = "slh-dsa-sp800-230-draft")]
parameter_sets! {
    max_signatures: 1 << 24,
    about: "
From the initial public draft of SP 800-230, of 2026-04-13. The final set may differ under the same name
and refuse this one's signatures: use it only for tests until then.

A key may make at most 2²⁴ signatures
([`MAX_SIGNATURES`](ParameterSet::MAX_SIGNATURES)). The owner of the key must count them:
[`LimitedSigningKey`](super::LimitedSigningKey), which alone signs with this set, does this within one program. Making a key and each
signature take seconds to minutes.",
    SlhDsaShake128_24, SlhDsaSha2_128_24, "128-24", "1",
        n: 16, d: 1, tree_height: 22, a: 24, k: 6, lg_w: 2;
    SlhDsaShake192_24, SlhDsaSha2_192_24, "192-24", "3",
        n: 24, d: 1, tree_height: 21, a: 25, k: 9, lg_w: 3;
    SlhDsaShake256_24, SlhDsaSha2_256_24, "256-24", "5",
        n: 32, d: 1, tree_height: 21, a: 25, k: 12, lg_w: 2;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 2 of the standard: the values that follow from the other numbers.
    #[test]
    fn lengths_as_printed() {
        fn check<A: ParameterSet, B: ParameterSet>(h: usize, m: usize, signature: usize) {
            assert_eq!(A::SHAPE, B::SHAPE);
            assert_eq!(A::N::N, B::N::N);
            assert_eq!(A::SHAPE.d * A::SHAPE.tree_height, h);
            assert_eq!(A::SHAPE.digest_len(), m);
            assert_eq!(A::SIGNATURE_LEN, signature);
            assert_eq!(B::SIGNATURE_LEN, signature);
            assert_eq!(A::VERIFYING_KEY_LEN, 2 * A::N::N);
            assert_eq!(A::SIGNING_KEY_LEN, 4 * A::N::N);
        }

        check::<SlhDsaShake128s, SlhDsaSha2_128s>(63, 30, 7856);
        check::<SlhDsaShake128f, SlhDsaSha2_128f>(66, 34, 17088);
        check::<SlhDsaShake192s, SlhDsaSha2_192s>(63, 39, 16224);
        check::<SlhDsaShake192f, SlhDsaSha2_192f>(66, 42, 35664);
        check::<SlhDsaShake256s, SlhDsaSha2_256s>(64, 47, 29792);
        check::<SlhDsaShake256f, SlhDsaSha2_256f>(68, 49, 49856);
        // SP 800-230, table 1
        #[cfg(feature = "slh-dsa-sp800-230-draft")]
        {
            check::<SlhDsaShake128_24, SlhDsaSha2_128_24>(22, 21, 3856);
            check::<SlhDsaShake192_24, SlhDsaSha2_192_24>(21, 32, 7752);
            check::<SlhDsaShake256_24, SlhDsaSha2_256_24>(21, 41, 14944);
        }
    }
}
