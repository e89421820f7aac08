//! The internal algorithms (FIPS 205, section 9).

use super::address::Fors;
use super::fors::{self, Indices, Secrets};
use super::hash::Hash;
use super::hypertree::{self, Position};
use super::parallel::{Meter, ProgressHook};
use super::params::{HashFamily, MAX_DIGEST_LEN, MAX_N, ParameterSet, Shape};
use super::sha2::Sha2;
use super::shake::Shake;
use super::signing_key::SigningKey;
use super::verifying_key::VerifyingKey;
use crate::Error;
use crate::arch::{Backend, declassify};

/// Runs `$body` with `$hash` bound to the functions of the set `$p` with `$pk_seed`.
macro_rules! with_hash {
    ($p:ident, $b:ident, $pk_seed:expr, $hash:ident => $body:expr) => {
        match $p::HASH {
            HashFamily::Shake => {
                let $hash = Shake::new($b, $pk_seed);
                $body
            }
            HashFamily::Sha2 => {
                let $hash = Sha2::new($b, $pk_seed);
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
    let meter = Meter::new(progress, P::SHAPE.calls_per_tree(sk_seed.len()));
    with_hash!(P, b, pk_seed, hash => {
        hypertree::root(&hash, sk_seed, &P::SHAPE, &meter, root);
    });
    // part of the public key
    declassify(root);
}

/// slh_sign_internal (algorithm 19) of M′ in parts, into a signature of the right length. Without
/// randomness it is the deterministic variant.
///
/// Fails, with zeros in the signature, if the signature leads to another root than PK.root: it
/// would be invalid, since the key is inconsistent or the computation was disturbed.
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

/// The inputs of a signature, except the hash functions.
struct Signer<'a> {
    shape: &'a Shape,
    sk_seed: &'a [u8],
    sk_prf: &'a [u8],
    pk_root: &'a [u8],
    randomness: &'a [u8],
}

impl Signer<'_> {
    /// Returns the root that the signature leads to, followed by zeros.
    fn sign<H: Hash>(
        &self,
        hash: &H,
        message: &[&[u8]],
        progress: ProgressHook<'_>,
        signature: &mut [u8],
    ) -> [u8; MAX_N] {
        let Self { shape, sk_seed, .. } = *self;
        let n = hash.n();
        let meter = &Meter::new(progress, shape.calls_per_signature(n));
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
        // The FORS public key follows from the signature, and WOTS⁺ branches on it.
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

/// The root that a signature leads to, followed by zeros.
fn root_by_signature<H: Hash>(
    hash: &H,
    shape: &Shape,
    pk_root: &[u8],
    message: &[&[u8]],
    signature: &[u8],
) -> [u8; MAX_N] {
    let n = hash.n();
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

/// The parts of the key that a message digest selects.
struct Digest {
    indices: Indices,
    fors: Fors,
    position: Position,
}

impl Digest {
    /// From the digest H_msg(R, PK.seed, PK.root, M) (algorithm 19, steps 5 to 10).
    fn of<H: Hash>(hash: &H, shape: &Shape, r: &[u8], pk_root: &[u8], message: &[&[u8]]) -> Self {
        let mut digest = [0; MAX_DIGEST_LEN];
        let digest = &mut digest[..shape.digest_len()];
        hash.h_msg(r, pk_root, message, digest);
        let [md_len, tree_len, _] = shape.digest_parts();
        let (md, rest) = digest.split_at(md_len);
        let (tree, leaf) = rest.split_at(tree_len);
        let position = Position {
            tree: number(tree, (shape.tree_height * (shape.d - 1)) as u32),
            key_pair: number(leaf, shape.tree_height as u32) as u32,
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
fn number(bytes: &[u8], bits: u32) -> u64 {
    let number = bytes
        .iter()
        .fold(0, |number, byte| number << 8 | u64::from(*byte));
    // the tree's index has no bits if there is only one tree
    number & u64::MAX.checked_shr(64 - bits).unwrap_or(0)
}

/// Length of the FORS signature.
fn fors_len(shape: &Shape, n: usize) -> usize {
    shape.k * (1 + shape.a) * n
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec;
    use alloc::vec::Vec;

    use super::{Signer, root_by_signature};
    use crate::arch::on_each_backend;
    use crate::slh_dsa::hash::Hash;
    use crate::slh_dsa::hypertree;
    use crate::slh_dsa::parallel::Meter;
    use crate::slh_dsa::params::{HashFamily, Shape};
    use crate::slh_dsa::sha2::Sha2;
    use crate::slh_dsa::shake::Shake;
    use crate::slh_dsa::textbook::Textbook;
    use crate::test_random::Random;

    const FAMILIES: [HashFamily; 2] = [HashFamily::Shake, HashFamily::Sha2];

    /// n and shape of the sets of SP 800-230.
    const LIMITED: [(usize, Shape); 3] = [
        (16, shape(1, 22, 24, 6, 2)),
        (24, shape(1, 21, 25, 9, 3)),
        (32, shape(1, 21, 25, 12, 2)),
    ];

    const fn shape(d: usize, tree_height: usize, a: usize, k: usize, lg_w: usize) -> Shape {
        Shape {
            d,
            tree_height,
            a,
            k,
            lg_w,
        }
    }

    /// Calls `$check` with the functions of a family on each backend.
    macro_rules! on_each_hash {
        ($family:expr, $pk_seed:expr, $check:expr) => {
            on_each_backend!(b => match $family {
                HashFamily::Shake => $check.run(&Shake::new(b, $pk_seed)),
                HashFamily::Sha2 => $check.run(&Sha2::new(b, $pk_seed)),
            })
        };
    }

    /// A key and the message that it signs.
    struct Key {
        parts: [u8; 4 * 32],
        message: Vec<u8>,
    }

    impl Key {
        fn new(seed: u64) -> Self {
            let mut random = Random::new(seed);
            Self {
                parts: random.bytes(),
                message: random.bytes::<77>().to_vec(),
            }
        }

        /// SK.seed, SK.prf, PK.seed, and fresh randomness, of n bytes.
        fn parts(&self, n: usize) -> [&[u8]; 4] {
            let part = |i: usize| &self.parts[32 * i..][..n];
            [part(0), part(1), part(2), part(3)]
        }
    }

    /// Keys and signatures of sets that are small enough for the textbook, with the chains of each
    /// standard, and with trees lower and higher than the subtrees that are computed in one piece.
    #[test]
    fn small_trees_match_textbook() {
        struct Check<'a> {
            key: &'a Key,
            shape: &'a Shape,
            root: &'a [u8],
            signature: &'a [u8],
        }

        impl Check<'_> {
            fn run<H: Hash>(&self, hash: &H) {
                let Self { key, shape, .. } = *self;
                let n = hash.n();
                let [sk_seed, sk_prf, _, randomness] = key.parts(n);
                let mut root = vec![0; n];
                let meter = Meter::new(&|_| (), shape.calls_per_tree(n));
                hypertree::root(hash, sk_seed, shape, &meter, &mut root);
                assert_eq!(root, self.root, "{shape:?}");

                let signer = Signer {
                    shape,
                    sk_seed,
                    sk_prf,
                    pk_root: self.root,
                    randomness,
                };
                let (message, hook) = (&[&key.message[..5], &key.message[5..]], &|_| ());
                let mut signature = vec![0; shape.signature_len(n)];
                let root = signer.sign(hash, message, hook, &mut signature);
                assert_eq!(root[..n], *self.root);
                assert!(signature == self.signature, "{shape:?}");
                let root = root_by_signature(hash, shape, self.root, message, &signature);
                assert_eq!(root[..n], *self.root);
            }
        }

        for (i, (n, shape)) in [
            (16, shape(1, 5, 7, 6, 2)),
            (24, shape(1, 5, 7, 9, 3)),
            (32, shape(1, 5, 7, 12, 2)),
            (16, shape(2, 3, 3, 6, 2)),
            (24, shape(2, 3, 5, 3, 3)),
            (32, shape(2, 3, 3, 2, 4)),
        ]
        .into_iter()
        .enumerate()
        {
            let key = Key::new(i as u64);
            let [sk_seed, sk_prf, pk_seed, randomness] = key.parts(n);
            for family in FAMILIES {
                let textbook = Textbook {
                    family,
                    n,
                    shape,
                    pk_seed,
                };
                let root = &textbook.root(sk_seed);
                let secrets = [sk_seed, sk_prf, root];
                let signature = &textbook.sign(&key.message, secrets, randomness);
                let by_signature = textbook.root_by_signature(&key.message, signature, root);
                assert_eq!(by_signature, *root);
                let check = Check {
                    key: &key,
                    shape: &shape,
                    root,
                    signature,
                };
                on_each_hash!(family, pk_seed, check);
            }
        }
    }

    /// With all numbers of SP 800-230: no key is made, and the signature is arbitrary bytes.
    #[test]
    fn limited_sets_verify_as_textbook() {
        struct Check<'a> {
            key: &'a Key,
            shape: &'a Shape,
            signature: &'a [u8],
            root: &'a [u8],
        }

        impl Check<'_> {
            fn run<H: Hash>(&self, hash: &H) {
                let Self { key, shape, .. } = *self;
                let n = hash.n();
                let pk_root = key.parts(n)[3];
                let message = &[&key.message[..]];
                let root = root_by_signature(hash, shape, pk_root, message, self.signature);
                assert_eq!(root[..n], *self.root, "{shape:?}");
            }
        }

        for (n, shape) in LIMITED {
            let mut random = Random::new(n as u64);
            let signature: Vec<u8> = (0..shape.signature_len(n))
                .map(|_| random.bits() as u8)
                .collect();
            for seed in 0..4 {
                let key = Key::new(seed);
                let [_, _, pk_seed, pk_root] = key.parts(n);
                for family in FAMILIES {
                    let textbook = Textbook {
                        family,
                        n,
                        shape,
                        pk_seed,
                    };
                    let root = &textbook.root_by_signature(&key.message, &signature, pk_root);
                    let check = Check {
                        key: &key,
                        shape: &shape,
                        signature: &signature,
                        root,
                    };
                    on_each_hash!(family, pk_seed, check);
                }
            }
        }
    }

    /// Keys and signatures of the sets of SP 800-230. One test each, since they take a minute and
    /// more without optimisation: `cargo test --release -p pq-core --features
    /// rayon,slh-dsa-sp800-230-draft --lib -- --ignored --nocapture whole`.
    #[cfg(feature = "slh-dsa-sp800-230-draft")]
    mod whole {
        extern crate std;

        use alloc::vec;
        use std::eprintln;
        use std::time::Instant;

        use super::{LIMITED, Random, Textbook, alloc};
        use crate::dimension::Dimension;
        use crate::slh_dsa::{
            Message, ParameterSet, SigningKey, SlhDsaSha2_128_24, SlhDsaSha2_192_24,
            SlhDsaSha2_256_24, SlhDsaShake128_24, SlhDsaShake192_24, SlhDsaShake256_24,
        };

        fn check<P: ParameterSet>() {
            let n = P::N::N;
            assert!(LIMITED.contains(&(n, P::SHAPE)));
            let mut random = Random::new(24);
            let seed = P::SeedLen::from_fn(|_| random.bits() as u8);
            let randomness = P::N::from_fn(|_| random.bits() as u8);
            let start = Instant::now();
            let key = SigningKey::<P>::from_seed(&seed);
            eprintln!("{}: key in {:?}", P::NAME, start.elapsed());

            let (message, context) = (b"message", b"context");
            let mut signature = vec![0; P::SIGNATURE_LEN];
            let start = Instant::now();
            let signed = key.sign_counted_into(
                Message::Pure(message),
                context,
                Some(&randomness),
                &|progress| assert!(progress.done <= progress.total),
                &mut signature,
            );
            eprintln!("{}: signature in {:?}", P::NAME, start.elapsed());
            assert_eq!(signed, Ok(()));

            let verifying_key = key.verifying_key();
            let verify = |signature: &[u8]| {
                verifying_key.verify_bytes(Message::Pure(message), context, signature)
            };
            assert_eq!(verify(&signature), Ok(()));
            let textbook = Textbook {
                family: P::HASH,
                n,
                shape: P::SHAPE,
                pk_seed: verifying_key.pk_seed(),
            };
            let formatted = [&[0, 7][..], context, message].concat();
            let pk_root = verifying_key.pk_root();
            let root = textbook.root_by_signature(&formatted, &signature, pk_root);
            assert_eq!(root, pk_root);
            for at in (0..signature.len()).step_by(97) {
                signature[at] ^= 0x10;
                assert!(verify(&signature).is_err(), "byte {at}");
                signature[at] ^= 0x10;
            }
        }

        macro_rules! whole_sets {
            ($($name:ident $set:ident;)*) => {$(
                #[test]
                #[ignore = "takes a minute and more"]
                fn $name() {
                    check::<$set>();
                }
            )*};
        }

        whole_sets! {
            shake_128_24 SlhDsaShake128_24;
            shake_192_24 SlhDsaShake192_24;
            shake_256_24 SlhDsaShake256_24;
            sha2_128_24 SlhDsaSha2_128_24;
            sha2_192_24 SlhDsaSha2_192_24;
            sha2_256_24 SlhDsaSha2_256_24;
        }
    }
}
