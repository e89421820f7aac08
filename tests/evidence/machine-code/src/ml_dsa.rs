//! The operations of ML-DSA. ξ and rnd are secret, and K, **s**₁, **s**₂ and **t**₀ in an expanded
//! key.

use core::cell::RefCell;
use core::hint::black_box;
use core::{array, slice};

use pq_core::arch::{Backend, chosen};
use pq_core::ml_dsa::batch::{self, Generate, Verify};
use pq_core::ml_dsa::{
    MlDsa44, MlDsa65, MlDsa87, ParameterSet, PreHash, Signature, SigningKey, VerifyingKey, internal,
};
use pq_core::{Dimension, on_each_backend};

use crate::{Operation, Run, expect_secret, of_set, public, secret};

pub(crate) fn operations() -> Vec<Operation> {
    let sets = [of::<MlDsa44>(), of::<MlDsa65>(), of::<MlDsa87>()];
    sets.into_iter().flatten().collect()
}

fn of<P: ParameterSet>() -> [Operation; 17] {
    of_set(
        P::NAME,
        [
            ("SigningKey::from_seed", from_seed::<P>),
            ("SigningKey::from_expanded", from_expanded::<P>),
            ("SigningKey::to_expanded", to_expanded::<P>),
            ("SigningKey::clone", clone::<P>),
            ("SigningKey::sign", sign::<P>),
            ("SigningKey::sign_deterministic", sign_deterministic::<P>),
            ("SigningKey::hash_sign", hash_sign::<P>),
            ("SigningKey::sign_digest", sign_digest::<P>),
            ("SigningKey::sign_mu", sign_mu::<P>),
            ("sign_mu_in_two_attempts", sign_mu_in_two_attempts::<P>),
            ("VerifyingKey::expand", expand::<P>),
            ("VerifyingKey::verify", verify::<P>),
            ("VerifyingKey::hash_verify", hash_verify::<P>),
            ("ExpandedVerifyingKey::verify", verify_expanded::<P>),
            ("batch::generate", generate_batch::<P>),
            ("batch::verify", verify_batch::<P>),
            ("batch::verify_expanded", verify_expanded_batch::<P>),
        ],
    )
}

/// Enough messages for each check to reject an attempt.
const MESSAGES: u8 = 4;

fn from_seed<P: ParameterSet>() -> Run {
    let seed = secret();
    Box::new(move || {
        let key = SigningKey::<P>::from_seed(black_box(&seed));
        expect_secret_key(black_box(&key));
    })
}

fn from_expanded<P: ParameterSet>() -> Run {
    let mut bytes = secret_key::<P>().to_expanded().as_ref().to_vec();
    // ρ ‖ K ‖ tr ‖ ...
    for public_part in [0..32, 64..128] {
        let public_copy = public(&bytes[public_part.clone()]);
        bytes[public_part].copy_from_slice(&public_copy);
    }
    Box::new(move || {
        let key = SigningKey::<P>::from_expanded(black_box(&bytes));
        match black_box(&key) {
            Ok(key) => expect_secret_key(key),
            Err(error) => panic!("a valid key is refused: {error}"),
        }
    })
}

fn to_expanded<P: ParameterSet>() -> Run {
    let key = secret_key::<P>();
    Box::new(move || expect_secret_key(black_box(&key)))
}

fn clone<P: ParameterSet>() -> Run {
    let key = secret_key::<P>();
    Box::new(move || {
        let copy = SigningKey::clone(black_box(&key));
        expect_secret_key(black_box(&copy));
    })
}

fn sign<P: ParameterSet>() -> Run {
    let (key, rnd) = (secret_key::<P>(), secret());
    Box::new(move || {
        for i in 0..MESSAGES {
            let signature = key.sign(black_box(&[i]), b"context", &rnd);
            expect_from_secret(black_box(&signature.expect("a short context")));
        }
    })
}

fn sign_deterministic<P: ParameterSet>() -> Run {
    let key = secret_key::<P>();
    Box::new(move || {
        let signature = key.sign_deterministic(black_box(b"message"), b"context");
        expect_from_secret(black_box(&signature.expect("a short context")));
    })
}

fn hash_sign<P: ParameterSet>() -> Run {
    let (key, rnd) = (secret_key::<P>(), secret());
    Box::new(move || {
        let signature = key.hash_sign(PreHash::Sha512, black_box(b"message"), b"context", &rnd);
        expect_from_secret(black_box(&signature.expect("a short context")));
    })
}

fn sign_digest<P: ParameterSet>() -> Run {
    let (key, rnd) = (secret_key::<P>(), secret());
    Box::new(move || {
        let digest = black_box(&[1; 64]);
        let signature = key.sign_digest(PreHash::Sha512, digest, b"context", &rnd);
        expect_from_secret(black_box(&signature.expect("a short context")));
    })
}

fn sign_mu<P: ParameterSet>() -> Run {
    let (key, rnd) = (secret_key::<P>(), secret());
    Box::new(move || expect_from_secret(black_box(&key.sign_mu(black_box(&[1; 64]), &rnd))))
}

/// What AVX-512 at full width does, which valgrind doesn't know, on the backends that it knows.
fn sign_mu_in_two_attempts<P: ParameterSet>() -> Run {
    fn sign<P: ParameterSet, B: Backend>(b: B, key: &SigningKey<P>, rnd: &[u8; 32]) {
        if B::NAME == chosen() {
            let signature = internal::sign_mu_in_two_attempts(b, key, black_box(&[1; 64]), rnd);
            expect_from_secret(black_box(&signature));
        }
    }

    let (key, rnd) = (secret_key::<P>(), secret());
    Box::new(move || on_each_backend!(b => sign(b, &key, &rnd)))
}

fn expand<P: ParameterSet>() -> Run {
    let key = public_key(&secret_key::<P>());
    Box::new(move || {
        black_box(&black_box(&key).expand());
    })
}

fn verify<P: ParameterSet>() -> Run {
    let (key, signature) = signed::<P>();
    Box::new(move || {
        let result = key.verify(black_box(b"message"), b"context", &signature);
        assert_eq!(result, Ok(()));
    })
}

fn hash_verify<P: ParameterSet>() -> Run {
    let (key, signature) = signed::<P>();
    Box::new(move || {
        let result = key.hash_verify(PreHash::Sha512, black_box(b"message"), b"", &signature);
        assert!(result.is_err(), "the signature is not of the digest");
    })
}

fn verify_expanded<P: ParameterSet>() -> Run {
    let (key, signature) = signed::<P>();
    let key = Box::new(key.expand());
    Box::new(move || {
        let result = key.verify(black_box(b"message"), b"context", &signature);
        assert_eq!(result, Ok(()));
    })
}

/// More than share the lanes at one time.
const ITEMS: usize = 9;

fn generate_batch<P: ParameterSet>() -> Run {
    let seeds: [_; ITEMS] = array::from_fn(|_| secret());
    let keys = RefCell::new(Vec::from_iter(seeds.map(|_| None)));
    Box::new(move || {
        let keys = &mut *keys.borrow_mut();
        let items = black_box(&seeds).iter().zip(&mut *keys);
        batch::generate::<P>(items.map(|(seed, result)| Generate { seed, result }));
        for key in black_box(keys) {
            expect_secret_key(key.as_ref().expect("a key for each item"));
        }
    })
}

fn verify_batch<P: ParameterSet>() -> Run {
    let (key, signature) = signed::<P>();
    Box::new(move || {
        expect_verified(|results| {
            batch::verify::<P>(results.map(|result| item(key.as_bytes(), &signature, result)));
        });
    })
}

fn verify_expanded_batch<P: ParameterSet>() -> Run {
    let (key, signature) = signed::<P>();
    let key = Box::new(key.expand());
    Box::new(move || {
        expect_verified(|results| {
            batch::verify_expanded(results.map(|result| item(&*key, &signature, result)));
        });
    })
}

/// A key and a signature from [`signed`], as an item of a batch.
fn item<'a, K, P: ParameterSet>(
    key: K,
    signature: &'a Signature<P>,
    result: &'a mut Verified,
) -> Verify<'a, K> {
    Verify {
        key,
        message: b"message",
        context: b"context",
        signature: signature.as_bytes(),
        result,
    }
}

type Verified = Option<Result<(), pq_core::Error>>;

/// Runs a batch and expects all items to be valid.
fn expect_verified(run: impl FnOnce(slice::IterMut<'_, Verified>)) {
    let mut results = [None; ITEMS];
    run(black_box(&mut results).iter_mut());
    assert_eq!(black_box(results), [Some(Ok(())); ITEMS]);
}

fn secret_key<P: ParameterSet>() -> Box<SigningKey<P>> {
    Box::new(SigningKey::from_seed(&secret()))
}

fn public_key<P: ParameterSet>(key: &SigningKey<P>) -> VerifyingKey<P> {
    let bytes = public(key.verifying_key().as_bytes());
    VerifyingKey::from_bytes(&bytes).expect("of the right length")
}

/// A key and a signature, both public.
fn signed<P: ParameterSet>() -> (VerifyingKey<P>, Signature<P>) {
    let key = secret_key::<P>();
    let signature = key.sign(b"message", b"context", &secret());
    let bytes = public(signature.expect("a short context").as_bytes());
    let signature = Signature::from_bytes(&bytes).expect("of the right length");
    (public_key(&key), signature)
}

/// Expects K to be secret, and **s**₁, **s**₂ and **t**₀ up to the end.
fn expect_secret_key<P: ParameterSet>(key: &SigningKey<P>) {
    let expanded = key.to_expanded();
    let bytes = black_box(&expanded).as_ref();
    expect_secret(&bytes[32..64]);
    expect_secret(&bytes[128..]);
}

/// Expects **z** to depend on a secret, though it may be known. c̃, which comes before it, and the hint are
/// declassified.
fn expect_from_secret<P: ParameterSet>(signature: &Signature<P>) {
    let c_tilde_len = P::LAMBDA / 4;
    let hint_len = P::OMEGA + P::K::N;
    let bytes = signature.as_bytes();
    expect_secret(&bytes[c_tilde_len..bytes.len() - hint_len]);
}
