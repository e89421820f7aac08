//! Many operations in one call, over different keys.
//!
//! The items of a batch share the lanes that a single operation would leave idle. So on backends
//! with lanes each item takes less time than a single operation: most of all with AVX-512 and
//! [expanded keys](verify_expanded), whose verification is a chain of hashes that uses only one
//! lane. Making a key and verifying with an encoded key sample a matrix, which nearly fills the
//! lanes in a single call, so batches of these gain little.
//!
//! A function takes an iterator with any number of items, and puts the result of each item in the
//! place that came with it. An item that is refused gets its own error and does not affect the
//! others.
//!
//! ```
//! use pq_core::Error;
//! use pq_core::ml_dsa::batch::{self, Verify};
//! use pq_core::ml_dsa::{MlDsa65, SigningKey};
//!
//! # fn random<const N: usize>() -> [u8; N] { [7; N] }
//! let signing_key = SigningKey::<MlDsa65>::from_seed(&random());
//! let key = signing_key.verifying_key().as_bytes();
//! let signature = signing_key.sign(b"message", b"context", &random())?;
//!
//! let messages = [b"message", b"massage", b"message"];
//! let mut results = [None; 3];
//! let items = messages.iter().zip(&mut results);
//! batch::verify::<MlDsa65>(items.map(|(message, result)| Verify {
//!     key,
//!     message: *message,
//!     context: b"context",
//!     signature: signature.as_bytes(),
//!     result,
//! }));
//!
//! assert_eq!(
//!     results,
//!     [Some(Ok(())), Some(Err(Error::InvalidSignature)), Some(Ok(()))]
//! );
//! # Ok::<(), Error>(())
//! ```
//!
//! If an iterator panics, the places of all items that it returned before are empty or have their
//! results: no place keeps what was there before, nor zeros that look like a key.
//!
//! The number and order of the items, and which are refused, are public. The secrets of keys that
//! are made are treated as in single operations.

use core::array;

use super::SEED_LEN;
use super::expansion::Expansion;
use super::params::ParameterSet;
use super::signing_key::{self, SigningKey};
use super::verification::{Key, Message, Space, Verification};
use super::verifying_key::{ExpandedVerifyingKey, valid};
use crate::Error;
use crate::arch::{Backend, choose, dispatch};
use crate::context::Context;
use crate::groups::in_groups;
use crate::hash::lanes;
use crate::place::Unfinished;

/// A key pair to be made.
pub struct Generate<'a, P: ParameterSet> {
    /// ξ, as in [`SigningKey::from_seed`].
    pub seed: &'a [u8; SEED_LEN],
    /// Where the key is made; its previous content is dropped.
    pub result: &'a mut Option<SigningKey<P>>,
}

/// A signature to be verified, with a key of type `K`.
pub struct Verify<'a, K> {
    /// The key to verify with; items may share a key.
    pub key: K,
    /// The signed message.
    pub message: &'a [u8],
    /// The context that was signed with the message.
    pub context: &'a [u8],
    /// The signature in the standard's encoding.
    pub signature: &'a [u8],
    /// Where the result goes.
    ///
    /// The error is [`Error::WrongLength`] if the key or the signature does not have the length of
    /// the parameter set; [`Error::ContextTooLong`] if `context` has more than 255 bytes; or
    /// [`Error::InvalidSignature`].
    pub result: &'a mut Option<Result<(), Error>>,
}

/// Makes key pairs (ML-DSA.KeyGen, FIPS 204, algorithm 1), each directly in its final place.
pub fn generate<'a, P: ParameterSet>(items: impl IntoIterator<Item = Generate<'a, P>>) {
    dispatch!(choose(), b => {
        #[expect(
            clippy::redundant_closure,
            reason = "the function is not general enough in its lifetimes"
        )]
        generate_all(b, &mut items.into_iter(), |b, clients| lanes::serve_together(b, clients));
    });
}

/// Verifies signatures with keys in the standard's encoding (ML-DSA.Verify, FIPS 204,
/// algorithm 3).
pub fn verify<'a, P: ParameterSet>(items: impl IntoIterator<Item = Verify<'a, &'a [u8]>>) {
    dispatch!(choose(), b => verify_all::<P, _>(b, &mut items.into_iter()));
}

/// Verifies signatures with expanded keys (ML-DSA.Verify, FIPS 204, algorithm 3).
pub fn verify_expanded<'a, P: ParameterSet>(
    items: impl IntoIterator<Item = Verify<'a, &'a ExpandedVerifyingKey<P>>>,
) {
    dispatch!(choose(), b => verify_expanded_all(b, &mut items.into_iter()));
}

/// How many items share the lanes if each has much to sample: enough to fill eight lanes except for
/// a few permutations, and few enough for the stack.
const GROUP: usize = 4;

/// How many rows of **Â** each of these items keeps: the rows that two lanes work on.
const ROWS: usize = 2;

/// How many items share the lanes if each is little more than a chain of hashes.
const GROUP_EXPANDED: usize = 8;

/// As [`generate`], with a function that serves the clients of a group.
///
/// A separate function, like [`verify_together`], so that only one backend's places are on the
/// stack.
#[inline(never)]
fn generate_all<P: ParameterSet, B: Backend>(
    b: B,
    items: &mut dyn Iterator<Item = Generate<'_, P>>,
    serve: impl Fn(B, &mut [Option<Expansion<'_, P, B>>]),
) {
    let mut places: [_; GROUP] = array::from_fn(|_| signing_key::Space::zero());
    let items = items.map(|item| (item.seed, Unfinished::new(item.result)));
    in_groups(items, &mut places, |mut group| {
        let mut clients = group.each_mut().map(|entry| {
            let ((seed, unfinished), space) = entry.as_mut()?;
            let key = unfinished.place().insert(SigningKey::zero());
            Some(key.generation(b, seed, space))
        });
        serve(b, &mut clients);
        for ((_, unfinished), _) in group.into_iter().flatten() {
            unfinished.finish();
        }
    });
}

/// As [`verify`].
fn verify_all<'a, P: ParameterSet, B: Backend>(
    b: B,
    items: &mut dyn Iterator<Item = Verify<'a, &'a [u8]>>,
) {
    verify_together::<P, B, _, ROWS, GROUP>(b, items, |key| {
        Error::check_length(P::VERIFYING_KEY_LEN, key)?;
        Ok(Key::Encoded(key))
    });
}

/// As [`verify_expanded`].
fn verify_expanded_all<'a, P: ParameterSet, B: Backend>(
    b: B,
    items: &mut dyn Iterator<Item = Verify<'a, &'a ExpandedVerifyingKey<P>>>,
) {
    verify_together::<P, B, _, 0, GROUP_EXPANDED>(b, items, |key| Ok(key.into()));
}

/// Verifies signatures with the keys that `check` returns, `N` at a time.
#[inline(never)]
fn verify_together<'a, P: ParameterSet, B: Backend, K: Copy, const ROWS: usize, const N: usize>(
    b: B,
    items: &mut dyn Iterator<Item = Verify<'a, K>>,
    check: impl Fn(K) -> Result<Key<'a, P>, Error>,
) {
    let mut places: [_; N] = array::from_fn(|_| Space::<P, ROWS>::zero());
    // What was verified before must not be taken for the result if the iterator panics.
    let items = items.map(|item| {
        *item.result = None;
        item
    });
    in_groups(items, &mut places, |mut group| {
        let mut clients = group.each_mut().map(|entry| {
            let (item, space) = entry.as_mut()?;
            let begun = check(item.key).and_then(|key| begin(b, key, item, space));
            *item.result = begun.as_ref().err().copied().map(Err);
            begun.ok()
        });
        lanes::serve_together(b, &mut clients);
        let results = clients.map(|client| client.map(|client| client.is_valid()));
        for ((item, _), is_valid) in group.into_iter().flatten().zip(results) {
            if let Some(is_valid) = is_valid {
                *item.result = Some(valid(is_valid));
            }
        }
    });
}

/// Begins to verify the signature of `item` with `key`, which was checked.
#[inline(always)]
fn begin<'a, P: ParameterSet, B: Backend, K, const ROWS: usize>(
    b: B,
    key: Key<'a, P>,
    item: &Verify<'a, K>,
    space: &'a mut Space<P, ROWS>,
) -> Result<Verification<'a, P, B, ROWS>, Error> {
    Error::check_length(P::SIGNATURE_LEN, item.signature)?;
    let message = Message::Pure(Context::new(item.context)?, item.message);
    Verification::new(b, key, message, item.signature, space).ok_or(Error::InvalidSignature)
}

#[cfg(test)]
mod tests {
    extern crate alloc;
    #[cfg(panic = "unwind")]
    extern crate std;

    use alloc::vec::Vec;
    #[cfg(panic = "unwind")]
    use core::panic::AssertUnwindSafe;
    #[cfg(panic = "unwind")]
    use std::panic::catch_unwind;

    #[cfg(panic = "unwind")]
    use super::{GROUP, generate, verify};
    use super::{Generate, Verify, generate_all, lanes, verify_all, verify_expanded_all};
    use crate::Error;
    use crate::arch::{Backend, Portable, on_each_backend};
    use crate::ml_dsa::internal::keygen;
    use crate::ml_dsa::{
        MlDsa44, MlDsa65, MlDsa87, ParameterSet, Signature, SigningKey, VerifyingKey,
    };
    use crate::test_random::Random;

    const SIZES: [usize; 8] = [0, 1, 3, 4, 5, 8, 9, 20];

    fn seeds(size: usize) -> Vec<[u8; 32]> {
        let mut random = Random::new(1);
        (0..size).map(|_| random.bytes()).collect()
    }

    #[test]
    fn keys_are_those_of_single_calls() {
        fn check<P: ParameterSet, B: Backend>(b: B, size: usize) {
            let seeds = seeds(size);
            // the previous content of a place does not matter
            let mut results: Vec<Option<SigningKey<P>>> = (0..size)
                .map(|n| (n % 3 == 0).then(|| keygen(Portable, &[7; 32])))
                .collect();
            let items = seeds.iter().zip(&mut results);
            generate_all(
                b,
                &mut items.map(|(seed, result)| Generate { seed, result }),
                |b, clients| lanes::serve_together(b, clients),
            );
            for (result, seed) in results.iter().zip(&seeds) {
                let (result, key) = (result.as_ref().unwrap(), keygen::<P, _>(Portable, seed));
                assert_eq!(*result.to_expanded().as_ref(), *key.to_expanded().as_ref());
                assert_eq!(result.verifying_key(), key.verifying_key());
                assert_eq!(result.seed(), Some(seed));
                // an expanded key does not show whether these work
                assert_eq!(
                    result.sign(b"message", b"", &[1; 32]),
                    key.sign(b"message", b"", &[1; 32])
                );
            }
        }

        on_each_backend!(b => for size in SIZES {
            check::<MlDsa44, _>(b, size);
            check::<MlDsa65, _>(b, size);
            check::<MlDsa87, _>(b, size);
        });
    }

    /// An iterator that panics leaves results, or nothing, in the places that it gave away before:
    /// never what was there.
    #[test]
    #[cfg(panic = "unwind")]
    fn what_panics_leaves_nothing_of_before() {
        const GOOD: usize = GROUP + 2;
        let key = keygen::<MlDsa44, _>(Portable, &[1; 32]);
        let old = keygen::<MlDsa44, _>(Portable, &[2; 32]);
        let signature = key.sign(b"message", b"", &[0; 32]).unwrap();

        let mut keys = [(); 9].map(|()| Some(old.clone()));
        let made = AssertUnwindSafe(|| {
            generate(keys.iter_mut().enumerate().map(|(n, result)| {
                assert!(n < GOOD, "planned");
                Generate {
                    seed: &[1; 32],
                    result,
                }
            }));
        });
        assert!(catch_unwind(made).is_err());
        let mut verdicts = [Some(Ok(())); 9];
        let made = AssertUnwindSafe(|| {
            verify::<MlDsa44>(verdicts.iter_mut().enumerate().map(|(n, result)| {
                assert!(n < GOOD, "planned");
                Verify {
                    key: old.verifying_key().as_bytes(),
                    message: b"message",
                    context: b"",
                    signature: signature.as_bytes(),
                    result,
                }
            }));
        });
        assert!(catch_unwind(made).is_err());
        for (n, (key, verdict)) in keys.iter().zip(verdicts).enumerate() {
            let seed = key.as_ref().and_then(SigningKey::seed);
            let expected = match n {
                0..GROUP => (Some(&[1; 32]), Some(Err(Error::InvalidSignature))),
                GROUP..GOOD => (None, None),
                // the iterator kept these
                _ => (Some(&[2; 32]), Some(Ok(()))),
            };
            assert_eq!((seed, verdict), expected, "item {n}");
        }
    }

    /// No zeros that look like a key remain if the work on them does not end.
    #[test]
    #[cfg(panic = "unwind")]
    fn keys_that_are_not_finished_are_dropped() {
        let mut results = [1, 2, 3].map(|n| Some(keygen::<MlDsa44, _>(Portable, &[n; 32])));
        let made = AssertUnwindSafe(|| {
            let items = results.iter_mut().map(|result| Generate {
                seed: &[1; 32],
                result,
            });
            generate_all(Portable, &mut { items }, |_, _| panic!("planned"));
        });
        assert!(catch_unwind(made).is_err());
        assert!(results.iter().all(Option::is_none));
    }

    /// A signature to be verified, with its inputs.
    #[derive(Clone)]
    struct Case {
        key: Vec<u8>,
        message: Vec<u8>,
        context: Vec<u8>,
        signature: Vec<u8>,
    }

    impl Case {
        /// A valid case; the messages are shorter and longer than a block.
        fn new<P: ParameterSet>(n: usize, seed: &[u8; 32]) -> Self {
            let key = keygen::<P, _>(Portable, seed);
            let message: Vec<u8> = (0..60 * n).map(|i| i as u8).collect();
            let context = [n as u8; 255][..n % 4 * 85].to_vec();
            let signature = key.sign(&message, &context, seed).unwrap();
            Self {
                key: key.verifying_key().as_bytes().to_vec(),
                message,
                context,
                signature: signature.as_bytes().to_vec(),
            }
        }

        /// Makes the case invalid in way number `n`, 1 to 12; other numbers change nothing.
        fn spoil<P: ParameterSet>(&mut self, n: usize) {
            match n {
                1 => self.context = [0; 256].to_vec(),
                2 => drop(self.signature.pop()),
                3 => self.signature.push(0),
                4 => self.signature[0] ^= 1,
                // a malformed hint, and a z that is too large
                5 => *self.signature.last_mut().unwrap() = 255,
                6 => self.signature[P::LAMBDA / 4..][..3].fill(0),
                7 => self.message.push(0),
                8 => self.context.push(0),
                9 => self.key[P::VERIFYING_KEY_LEN - 1] ^= 1,
                10 => self.key[0] ^= 1,
                11 => drop(self.key.pop()),
                12 => self.key.clear(),
                _ => (),
            }
        }

        fn single<P: ParameterSet>(&self) -> Result<(), Error> {
            let key = VerifyingKey::<P>::from_bytes(&self.key)?;
            let signature = Signature::from_bytes(&self.signature)?;
            key.verify(&self.message, &self.context, &signature)
        }

        fn item<'a, K>(
            &'a self,
            key: K,
            result: &'a mut Option<Result<(), Error>>,
        ) -> Verify<'a, K> {
            Verify {
                key,
                message: &self.message,
                context: &self.context,
                signature: &self.signature,
                result,
            }
        }
    }

    /// Every kind of invalid item gets its own error, next to valid items, with both kinds of keys.
    #[test]
    fn results_are_those_of_single_calls() {
        fn check<P: ParameterSet, B: Backend>(b: B, valid: &[Case]) {
            // with 1 all items are valid; with 13 the ways of `spoil` occur in turn
            for (size, ways) in SIZES.into_iter().flat_map(|size| [(size, 1), (size, 13)]) {
                let mut cases = valid[..size].to_vec();
                for (n, case) in cases.iter_mut().enumerate() {
                    case.spoil::<P>((size + n) % ways);
                }
                let expected = cases.iter().map(|case| Some(case.single::<P>()));
                let expected: Vec<_> = expected.collect();
                assert!(ways > 1 || expected.iter().all(|result| *result == Some(Ok(()))));

                let mut results = alloc::vec![Some(Err(Error::InconsistentKey)); size];
                let items = cases.iter().zip(&mut results);
                verify_all::<P, _>(
                    b,
                    &mut items.map(|(case, result)| case.item(&case.key[..], result)),
                );
                assert_eq!(results, expected);

                // only keys of the right length can be expanded
                let keys = cases
                    .iter()
                    .map(|case| VerifyingKey::<P>::from_bytes(&case.key));
                let keys: Vec<_> = keys.map(|key| key.map(|key| key.expand())).collect();
                let mut results = alloc::vec![Some(Err(Error::InconsistentKey)); size];
                let items = cases.iter().zip(&keys).zip(&mut results);
                let mut items = items.filter_map(|((case, key), result)| match key {
                    Ok(key) => Some(case.item(key, result)),
                    Err(error) => {
                        *result = Some(Err(*error));
                        None
                    }
                });
                verify_expanded_all(b, &mut items);
                assert_eq!(results, expected);
            }
        }

        fn valid<P: ParameterSet>() -> Vec<Case> {
            let seeds = seeds(20);
            let cases = seeds.iter().enumerate();
            cases.map(|(n, seed)| Case::new::<P>(n, seed)).collect()
        }

        let (valid_44, valid_65, valid_87) =
            (valid::<MlDsa44>(), valid::<MlDsa65>(), valid::<MlDsa87>());
        on_each_backend!(b => {
            check::<MlDsa44, _>(b, &valid_44);
            check::<MlDsa65, _>(b, &valid_65);
            check::<MlDsa87, _>(b, &valid_87);
        });
    }
}
