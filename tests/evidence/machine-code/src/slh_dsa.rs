//! The operations of SLH-DSA. SK.seed, SK.prf and addrnd are secret.

use core::hint::black_box;

use pq_core::arch::memcheck;
use pq_core::slh_dsa::{
    ParameterSet, PreHash, Signature, SigningKey, SlhDsaSha2_128f, SlhDsaSha2_128s,
    SlhDsaSha2_192f, SlhDsaSha2_192s, SlhDsaSha2_256f, SlhDsaSha2_256s, SlhDsaShake128f,
    SlhDsaShake128s, SlhDsaShake192f, SlhDsaShake192s, SlhDsaShake256f, SlhDsaShake256s,
    VerifyingKey,
};
use pq_core::{Array, Dimension, Error};

use crate::{Operation, Run, expect_secret, of_set, public};

/// The operations of the sets with fast signatures. The other sets run the same code on larger
/// trees.
pub(crate) fn operations() -> Vec<Operation> {
    let sets = [
        of::<SlhDsaShake128f>(),
        of::<SlhDsaShake192f>(),
        of::<SlhDsaShake256f>(),
        of::<SlhDsaSha2_128f>(),
        of::<SlhDsaSha2_192f>(),
        of::<SlhDsaSha2_256f>(),
    ];
    let variants = [variants::<SlhDsaShake128f>(), variants::<SlhDsaSha2_128f>()];
    let sets = sets.into_iter().flatten();
    sets.chain(variants.into_iter().flatten()).collect()
}

/// The operations of the sets with small signatures, which take seconds.
pub(crate) fn slow_operations() -> Vec<Operation> {
    let sets = [
        of::<SlhDsaShake128s>(),
        of::<SlhDsaShake192s>(),
        of::<SlhDsaShake256s>(),
        of::<SlhDsaSha2_128s>(),
        of::<SlhDsaSha2_192s>(),
        of::<SlhDsaSha2_256s>(),
    ];
    sets.into_iter().flatten().collect()
}

fn of<P: ParameterSet>() -> [Operation; 6] {
    of_set(
        P::NAME,
        [
            ("SigningKey::from_seed", from_seed::<P>),
            ("SigningKey::check", check::<P>),
            ("SigningKey::clone", clone::<P>),
            ("SigningKey::sign", sign::<P>),
            ("VerifyingKey::verify", verify::<P>),
            ("VerifyingKey::hash_verify", hash_verify::<P>),
        ],
    )
}

/// Signing other kinds of messages, and without randomness. Only the beginning differs from `sign`, and signing takes
/// long, so this is done for one set of each family of hash functions.
fn variants<P: ParameterSet>() -> [Operation; 3] {
    of_set(
        P::NAME,
        [
            ("SigningKey::sign_deterministic", sign_deterministic::<P>),
            ("SigningKey::hash_sign", hash_sign::<P>),
            ("SigningKey::sign_digest", sign_digest::<P>),
        ],
    )
}

fn from_seed<P: ParameterSet>() -> Run {
    let seed = seed::<P>();
    Box::new(move || {
        let key = SigningKey::<P>::from_seed(black_box(&seed));
        expect_secret_key(black_box(&key));
    })
}

fn check<P: ParameterSet>() -> Run {
    let key = SigningKey::<P>::from_seed(&seed::<P>());
    Box::new(move || assert_eq!(black_box(&key).check(), Ok(())))
}

fn clone<P: ParameterSet>() -> Run {
    let key = SigningKey::<P>::from_seed(&seed::<P>());
    Box::new(move || {
        let copy = SigningKey::clone(black_box(&key));
        expect_secret_key(black_box(&copy));
    })
}

fn sign<P: ParameterSet>() -> Run {
    signing::<P, _>(|key, randomness| key.sign(black_box(b"message"), b"context", randomness))
}

fn sign_deterministic<P: ParameterSet>() -> Run {
    signing::<P, _>(|key, _| key.sign_deterministic(black_box(b"message"), b"context"))
}

fn hash_sign<P: ParameterSet>() -> Run {
    signing::<P, _>(|key, randomness| {
        key.hash_sign(
            PreHash::Sha512,
            black_box(b"message"),
            b"context",
            randomness,
        )
    })
}

fn sign_digest<P: ParameterSet>() -> Run {
    signing::<P, _>(|key, randomness| {
        let digest = black_box(&[1; 64]);
        key.sign_digest(PreHash::Sha512, digest, b"context", randomness)
    })
}

/// Signs with `sign`, which gets a key and randomness.
fn signing<P: ParameterSet, F>(sign: F) -> Run
where
    F: Fn(&SigningKey<P>, &Array<P::N, u8>) -> Result<Signature<P>, Error> + Send + 'static,
{
    let key = SigningKey::<P>::from_seed(&seed::<P>());
    let randomness = randomness::<P>();
    Box::new(move || {
        let signature = sign(&key, &randomness);
        let signature = black_box(&signature).as_ref().expect("a consistent key");
        // All parts except R depend on SK.seed, though they may be known.
        expect_secret(&signature.as_bytes()[P::N::N..]);
    })
}

fn verify<P: ParameterSet>() -> Run {
    let (key, signature) = refused::<P>();
    Box::new(move || {
        let result = key.verify(black_box(b"message"), b"context", &signature);
        assert!(result.is_err());
    })
}

fn hash_verify<P: ParameterSet>() -> Run {
    let (key, signature) = refused::<P>();
    Box::new(move || {
        let result = key.hash_verify(PreHash::Sha512, black_box(b"message"), b"", &signature);
        assert!(result.is_err());
    })
}

/// Expects SK.seed and SK.prf to be secret.
fn expect_secret_key<P: ParameterSet>(key: &SigningKey<P>) {
    expect_secret(&key.as_bytes()[..2 * P::N::N]);
}

/// SK.seed ‖ SK.prf ‖ PK.seed, where PK.seed is public.
fn seed<P: ParameterSet>() -> Array<P::SeedLen, u8> {
    let mut seed = P::SeedLen::from_fn(|_| 7);
    memcheck::poison(&mut seed.as_mut()[..2 * P::N::N]);
    black_box(seed)
}

fn randomness<P: ParameterSet>() -> Array<P::N, u8> {
    let mut randomness = P::N::from_fn(|_| 7);
    memcheck::poison(randomness.as_mut());
    black_box(randomness)
}

/// A key and a signature of another key, which verification rejects at its end.
fn refused<P: ParameterSet>() -> (VerifyingKey<P>, Box<Signature<P>>) {
    let key = VerifyingKey::from_bytes(&public(&[1; 64])[..2 * P::N::N]);
    let signature = Signature::from_bytes(&vec![2; P::SIGNATURE_LEN]);
    (
        key.expect("of the right length"),
        Box::new(signature.expect("of the right length")),
    )
}
