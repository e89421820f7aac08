//! Many operations in one call, over different keys.
//!
//! The items of a batch share the lanes that a single operation would leave idle. So on backends
//! with lanes each item takes less time than a single operation: most of all with AVX-512, and from
//! four items on. A function takes an iterator with any number of items, and puts the result of
//! each item in the place that came with it. An item that is refused gets its own error and does
//! not affect the others.
//!
//! ```
//! use pq_core::ml_kem::batch::{self, Encapsulate};
//! use pq_core::ml_kem::{DecapsulationKey, MlKem768};
//!
//! # fn random<const N: usize>() -> [u8; N] { [7; N] }
//! let decapsulation_key = DecapsulationKey::<MlKem768>::from_seed(&random());
//! let good = decapsulation_key.encapsulation_key().as_bytes();
//! let cut_off = &good[1..];
//!
//! let keys = [good, cut_off, good];
//! let randomness: [[u8; 32]; 3] = [random(), random(), random()];
//! let mut results = [const { None }; 3];
//! let items = keys.iter().zip(&randomness).zip(&mut results);
//! batch::encapsulate(items.map(|((key, randomness), result)| Encapsulate {
//!     key,
//!     randomness,
//!     result,
//! }));
//!
//! for (result, key) in results.into_iter().flatten().zip(keys) {
//!     let Ok((ciphertext, secret)) = result else {
//!         assert_eq!(key, cut_off);
//!         continue;
//!     };
//!     assert_eq!(decapsulation_key.decapsulate(&ciphertext), secret);
//! }
//! ```
//!
//! Peak stack use in KiB, for any number of items, measured as for the single operations of
//! [`DecapsulationKey`]:
//!
//! | | `generate` | `encapsulate` | `decapsulate` |
//! |---|---|---|---|
//! | [`MlKem512`](super::MlKem512) | 24 | 36 | 20 |
//! | [`MlKem768`](super::MlKem768) | 32 | 56 | 24 |
//! | [`MlKem1024`](super::MlKem1024) | 40 | 84 | 28 |
//!
//! If an iterator panics, the places of all items that it returned before are empty or have their
//! results: no place keeps what was there before, nor zeros that look like a key.
//!
//! Everything is computed in constant time, as in single operations, and secrets are wiped before a
//! function returns. The number and order of the items, and which are refused, are public.

use core::array;

use super::ciphertext::Ciphertext;
use super::decapsulation::{self, Decapsulation};
use super::encapsulation::{self, Encapsulation};
use super::generation::{self, Generation};
use super::keys::{self, DecapsulationKey};
use super::params::ParameterSet;
use super::ring::zero_t;
use super::shared_secret::SharedSecret;
use super::{SEED_LEN, sampling};
use crate::Error;
use crate::arch::{Backend, choose, dispatch};
use crate::groups::in_groups;
use crate::hash::lanes;
use crate::place::Unfinished;

/// A key pair to be made.
pub struct Generate<'a, P: ParameterSet> {
    /// d ‖ z, as in [`DecapsulationKey::from_seed`].
    pub seed: &'a [u8; SEED_LEN],
    /// Where the key is made; its previous content is dropped.
    pub result: &'a mut Option<DecapsulationKey<P>>,
}

/// A shared secret to be made for the owner of a decapsulation key.
pub struct Encapsulate<'a, P: ParameterSet> {
    /// The encapsulation key in the standard's encoding; it is checked as in
    /// [`EncapsulationKey::from_bytes`](super::EncapsulationKey::from_bytes).
    pub key: &'a [u8],
    /// The standard's m: 32 bytes from a cryptographic random number generator, used for this item
    /// only and never again.
    pub randomness: &'a [u8; 32],
    /// Where the result goes; its previous content is dropped.
    ///
    /// The error is [`Error::WrongLength`], or [`Error::UnreducedCoefficient`] if the modulus check
    /// of FIPS 203, section 7.2, fails.
    pub result: &'a mut Option<Result<(Ciphertext<P>, SharedSecret), Error>>,
}

/// A ciphertext to be decapsulated.
pub struct Decapsulate<'a, P: ParameterSet> {
    /// The key that decapsulates the ciphertext; items may share a key.
    pub key: &'a DecapsulationKey<P>,
    /// The ciphertext in the standard's encoding.
    pub ciphertext: &'a [u8],
    /// Where the result goes; its previous content is dropped.
    ///
    /// The error is [`Error::WrongLength`] (the check of FIPS 203, section 7.3). A ciphertext that
    /// was not made for the key gives a secret that nobody else can know, as
    /// [`DecapsulationKey::decapsulate`] explains.
    pub result: &'a mut Option<Result<SharedSecret, Error>>,
}

/// Makes key pairs (ML-KEM.KeyGen, FIPS 203, algorithm 19), each directly in its final place.
pub fn generate<'a, P: ParameterSet>(items: impl IntoIterator<Item = Generate<'a, P>>) {
    dispatch!(choose(), b => {
        #[expect(
            clippy::redundant_closure,
            reason = "the function is not general enough in its lifetimes"
        )]
        generate_all(b, &mut items.into_iter(), |b, clients| lanes::serve_together(b, clients));
    });
}

/// Checks encapsulation keys and makes shared secrets and their ciphertexts (ML-KEM.Encaps,
/// FIPS 203, algorithm 20).
pub fn encapsulate<'a, P: ParameterSet>(items: impl IntoIterator<Item = Encapsulate<'a, P>>) {
    dispatch!(choose(), b => encapsulate_all(b, &mut items.into_iter()));
}

/// Finds the shared secrets that ciphertexts carry (ML-KEM.Decaps, FIPS 203, algorithm 21).
pub fn decapsulate<'a, P: ParameterSet>(items: impl IntoIterator<Item = Decapsulate<'a, P>>) {
    dispatch!(choose(), b => decapsulate_all(b, &mut items.into_iter()));
}

/// How many items share the lanes: enough to fill eight lanes except for a few permutations, and
/// few enough for the stack and the cache.
const GROUP: usize = 4;

/// As [`generate`], with a function that serves the clients of a group.
///
/// These are separate functions so that only one backend's places are on the stack.
#[inline(never)]
fn generate_all<P: ParameterSet, B: Backend>(
    b: B,
    items: &mut dyn Iterator<Item = Generate<'_, P>>,
    serve: impl Fn(B, &mut [Option<Generation<'_, P, B>>]),
) {
    let mut places: [_; GROUP] = array::from_fn(|_| generation::Space::zero());
    let items = items.map(|item| (item.seed, Unfinished::new(item.result)));
    in_groups(items, &mut places, |mut group| {
        let mut clients = group.each_mut().map(|entry| {
            let ((seed, unfinished), space) = entry.as_mut()?;
            let [d, z] = sampling::halves(seed);
            let key = unfinished.place().insert(DecapsulationKey::zero());
            key.set_seed(d, z);
            Some(Generation::new(b, d, key, true, space))
        });
        serve(b, &mut clients);
        for ((_, unfinished), _) in group.into_iter().flatten() {
            unfinished.finish();
        }
    });
}

/// As [`encapsulate`].
#[inline(never)]
fn encapsulate_all<P: ParameterSet, B: Backend>(
    b: B,
    items: &mut dyn Iterator<Item = Encapsulate<'_, P>>,
) {
    // An array made at once would be on the stack twice while it is moved to its place.
    let mut places = [const { None }; GROUP];
    let items = items.map(|item| (item.key, item.randomness, Unfinished::new(item.result)));
    in_groups(items, &mut places, |mut group| {
        let mut clients = group.each_mut().map(|entry| {
            let ((key, randomness, unfinished), place) = entry.as_mut()?;
            let (t_hat, space) =
                place.get_or_insert_with(|| (zero_t::<P>(), encapsulation::Space::<P>::zero()));
            let checked = keys::check::<P, B>(b, key, t_hat.as_mut());
            *unfinished.place() = checked.err().map(Err);
            checked.ok()?;
            Some(Encapsulation::new(b, key, randomness, space))
        });
        lanes::serve_together(b, &mut clients);
        for ((_, randomness, mut unfinished), place) in group.into_iter().flatten() {
            let result = unfinished.place();
            if result.is_none()
                && let Some((t_hat, space)) = place
                && let zero = (Ciphertext::zero(), SharedSecret::zero())
                && let Ok((c, secret)) = result.insert(Ok(zero))
            {
                let (c, secret) = (c.0.as_mut(), &mut secret.0);
                space.finish(b, t_hat.as_ref(), randomness, c, secret);
            }
            unfinished.finish();
        }
    });
}

/// As [`decapsulate`].
#[inline(never)]
fn decapsulate_all<P: ParameterSet, B: Backend>(
    b: B,
    items: &mut dyn Iterator<Item = Decapsulate<'_, P>>,
) {
    let mut places: [_; GROUP] = array::from_fn(|_| decapsulation::Space::zero());
    let items = items.map(|item| (item.key, item.ciphertext, Unfinished::new(item.result)));
    in_groups(items, &mut places, |mut group| {
        let mut clients = group.each_mut().map(|entry| {
            let ((key, ciphertext, unfinished), space) = entry.as_mut()?;
            let checked = Error::check_length(P::CIPHERTEXT_LEN, ciphertext);
            *unfinished.place() = checked.err().map(Err);
            checked.ok()?;
            Some(Decapsulation::new(b, key, ciphertext, space))
        });
        lanes::serve_together(b, &mut clients);
        for ((key, ciphertext, mut unfinished), space) in group.into_iter().flatten() {
            let result = unfinished.place();
            if result.is_none()
                && let Ok(secret) = result.insert(Ok(SharedSecret::zero()))
            {
                space.finish(b, key, ciphertext, &mut secret.0);
            }
            unfinished.finish();
        }
    });
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

    use super::{
        Decapsulate, Encapsulate, Generate, decapsulate_all, encapsulate_all, generate,
        generate_all, lanes,
    };
    #[cfg(panic = "unwind")]
    use super::{decapsulate, encapsulate};
    use crate::Error;
    use crate::arch::{Backend, Portable, is_data_independent, on_each_backend, with_and_without};
    use crate::ml_kem::internal::{decaps, encaps, keygen};
    use crate::ml_kem::{
        Ciphertext, DecapsulationKey, EncapsulationKey, MlKem512, MlKem768, MlKem1024,
        ParameterSet, SharedSecret,
    };
    use crate::test_random::Random;

    const SIZES: [usize; 7] = [0, 1, 3, 4, 8, 9, 20];

    /// Checks batches of every size on every backend, for every set.
    macro_rules! on_each_backend_and_set {
        ($check:ident) => {
            on_each_backend!(b => for size in SIZES {
                $check::<MlKem512, _>(b, size);
                $check::<MlKem768, _>(b, size);
                $check::<MlKem1024, _>(b, size);
            })
        };
    }

    fn several<const N: usize>(size: usize, seed: u64) -> Vec<[u8; N]> {
        let mut random = Random::new(seed);
        (0..size).map(|_| random.bytes()).collect()
    }

    fn keys<P: ParameterSet>(size: usize) -> Vec<DecapsulationKey<P>> {
        let seeds = several::<64>(size, 1);
        let keys = seeds.iter().map(|seed| {
            let (d, z) = seed.split_at(32);
            keygen(Portable, d.try_into().unwrap(), z.try_into().unwrap())
        });
        keys.collect()
    }

    #[test]
    fn keys_are_those_of_single_calls() {
        fn check<P: ParameterSet, B: Backend>(b: B, size: usize) {
            let seeds = several(size, 1);
            // the previous content of a place does not matter
            let mut results: Vec<Option<DecapsulationKey<P>>> = keys(size / 2)
                .into_iter()
                .rev()
                .map(Some)
                .chain((size / 2..size).map(|_| None))
                .collect();
            let items = seeds.iter().zip(&mut results);
            generate_all(
                b,
                &mut items.map(|(seed, result)| Generate { seed, result }),
                |b, clients| lanes::serve_together(b, clients),
            );
            for ((result, key), seed) in results.iter().zip(keys::<P>(size)).zip(&seeds) {
                let result = result.as_ref().unwrap();
                assert_eq!(*result.to_expanded().as_ref(), *key.to_expanded().as_ref());
                assert_eq!(result.seed(), Some(seed));
                // an expanded key does not show whether these work
                let (c, secret) = encaps(Portable, key.encapsulation_key(), &[1; 32]);
                assert_eq!(decaps(b, result, &c), secret);
            }
        }

        on_each_backend_and_set!(check);
    }

    /// A whole batch runs with data-independent timing, also its iterator, whether or not the
    /// iterator makes a key itself.
    #[test]
    fn timing_is_data_independent() {
        let seeds = several(9, 1);
        with_and_without(|inside| {
            let mut results: Vec<Option<DecapsulationKey<MlKem512>>> =
                keys(9).into_iter().map(Some).collect();
            let items = seeds.iter().zip(&mut results).map(|(seed, result)| {
                assert_eq!(is_data_independent(), inside);
                drop(DecapsulationKey::<MlKem512>::from_seed(seed));
                assert_eq!(is_data_independent(), inside);
                Generate { seed, result }
            });
            generate(items);
            assert_eq!(results[8].as_ref().unwrap().seed(), Some(&seeds[8]));
        });
    }

    /// An iterator that panics leaves results, or nothing, in the places that it gave away before:
    /// never what was there, and no zeros. The places that it kept are as before.
    #[test]
    #[cfg(panic = "unwind")]
    fn what_panics_leaves_nothing_of_before() {
        const GOOD: usize = 6;

        /// The places after a batch of nine items whose iterator panics.
        fn after<T>(places: impl Fn() -> T, batch: impl Fn(&mut [T], &dyn Fn(usize))) -> Vec<T> {
            let mut results: Vec<T> = (0..9).map(|_| places()).collect();
            let made = AssertUnwindSafe(|| {
                batch(&mut results, &|n| assert!(n < GOOD, "planned"));
            });
            assert!(catch_unwind(made).is_err());
            results
        }

        let keys = keys::<MlKem512>(2);
        let (key, old_key) = (&keys[0], &keys[1]);
        let (ciphertext, secret) = key.encapsulation_key().encapsulate(&[1; 32]);
        let (old, old_secret) = old_key.encapsulation_key().encapsulate(&[2; 32]);

        let generated = after(
            || Some(old_key.clone()),
            |results, check| {
                generate(results.iter_mut().enumerate().map(|(n, result)| {
                    check(n);
                    Generate {
                        seed: key.seed().unwrap(),
                        result,
                    }
                }));
            },
        );
        let encapsulated = after(
            || Some(Ok((old.clone(), old_secret.clone()))),
            |results, check| {
                encapsulate(results.iter_mut().enumerate().map(|(n, result)| {
                    check(n);
                    Encapsulate {
                        key: key.encapsulation_key().as_bytes(),
                        randomness: &[1; 32],
                        result,
                    }
                }));
            },
        );
        let decapsulated = after(
            || Some(Ok(old_secret.clone())),
            |results, check| {
                decapsulate(results.iter_mut().enumerate().map(|(n, result)| {
                    check(n);
                    Decapsulate {
                        key,
                        ciphertext: ciphertext.as_bytes(),
                        result,
                    }
                }));
            },
        );
        for n in 0..9 {
            // the first group of four was worked on
            let of = |made: bool, kept: bool| (made, kept) == (n < 4, n >= GOOD);
            let generated = generated[n].as_ref().map(DecapsulationKey::seed);
            assert!(of(
                generated == Some(key.seed()),
                generated == Some(old_key.seed())
            ));
            let done = Some(Ok((ciphertext.clone(), secret.clone())));
            let before = Some(Ok((old.clone(), old_secret.clone())));
            assert!(of(encapsulated[n] == done, encapsulated[n] == before));
            let (done, before) = (Some(Ok(secret.clone())), Some(Ok(old_secret.clone())));
            assert!(of(decapsulated[n] == done, decapsulated[n] == before));
        }
    }

    /// No zeros that look like a key remain if the work on them does not end.
    #[test]
    #[cfg(panic = "unwind")]
    fn keys_that_are_not_finished_are_dropped() {
        let mut results: Vec<Option<DecapsulationKey<MlKem512>>> =
            keys(3).into_iter().map(Some).collect();
        let made = AssertUnwindSafe(|| {
            let items = results.iter_mut().map(|result| Generate {
                seed: &[1; 64],
                result,
            });
            generate_all(Portable, &mut { items }, |_, _| panic!("planned"));
        });
        assert!(catch_unwind(made).is_err());
        assert!(results.iter().all(Option::is_none));
    }

    #[test]
    fn encapsulations_are_those_of_single_calls() {
        fn check<P: ParameterSet, B: Backend>(b: B, size: usize) {
            check_with::<P, B>(b, size, |_, _| ());
            check_with::<P, B>(b, size, |n, key| match n % 5 {
                1 => drop(key.pop()),
                // 12 bits, little-endian: q = 0xd01
                2 => {
                    key[0] = 0x01;
                    key[1] = key[1] & 0xf0 | 0x0d;
                }
                3 => key.push(0),
                _ => (),
            });
            // no valid key at all
            check_with::<P, B>(b, size, |_, key| key.clear());
        }

        fn check_with<P: ParameterSet, B: Backend>(
            b: B,
            size: usize,
            spoil: impl Fn(usize, &mut Vec<u8>),
        ) {
            let encoded = keys::<P>(size).into_iter().enumerate().map(|(n, key)| {
                let mut encoded = key.encapsulation_key().as_bytes().to_vec();
                spoil(n, &mut encoded);
                encoded
            });
            let encoded: Vec<_> = encoded.collect();
            let several_m = several(size, 2);
            // the previous content of a place does not matter
            let previous = |n| match n % 3 {
                0 => None,
                1 => Some(Err(Error::InvalidSignature)),
                _ => Some(Ok((Ciphertext::zero(), SharedSecret::zero()))),
            };
            let mut results: Vec<_> = (0..size).map(previous).collect();
            let items = encoded.iter().zip(&several_m).zip(&mut results);
            encapsulate_all(
                b,
                &mut items.map(|((key, randomness), result)| Encapsulate {
                    key,
                    randomness,
                    result,
                }),
            );
            for ((result, key), m) in results.into_iter().zip(&encoded).zip(&several_m) {
                let key = EncapsulationKey::<P>::from_bytes(key);
                assert_eq!(result, Some(key.map(|key| encaps(Portable, &key, m))));
            }
        }

        on_each_backend_and_set!(check);
    }

    #[test]
    fn decapsulations_are_those_of_single_calls() {
        fn check<P: ParameterSet, B: Backend>(b: B, size: usize) {
            let keys = keys::<P>(size);
            let several_m = several(size, 2);
            let pairs = keys.iter().zip(&several_m).enumerate();
            let (ciphertexts, expected): (Vec<_>, Vec<_>) = pairs
                .map(|(n, (key, m))| {
                    let (mut c, secret) = encaps(Portable, key.encapsulation_key(), m);
                    let mut expected = Ok(secret.clone());
                    let mut spoiled = c.as_bytes().to_vec();
                    match n % 5 {
                        1 => drop(spoiled.pop()),
                        2 => spoiled.push(0),
                        // implicit rejection
                        3 => {
                            c.0.as_mut()[n] ^= 1;
                            spoiled[n] ^= 1;
                            let rejected = decaps(Portable, key, &c);
                            assert_ne!(rejected, secret);
                            expected = Ok(rejected);
                        }
                        _ => (),
                    }
                    expected = Error::check_length(P::CIPHERTEXT_LEN, &spoiled).and(expected);
                    (spoiled, expected)
                })
                .unzip();
            // the previous content of a place does not matter
            let previous = |n| match n % 3 {
                0 => None,
                1 => Some(Err(Error::InvalidSignature)),
                _ => Some(Ok(SharedSecret::zero())),
            };
            let mut results: Vec<_> = (0..size).map(previous).collect();
            let items = keys.iter().zip(&ciphertexts).zip(&mut results);
            decapsulate_all(
                b,
                &mut items.map(|((key, ciphertext), result)| Decapsulate {
                    key,
                    ciphertext,
                    result,
                }),
            );
            assert!(results.into_iter().eq(expected.into_iter().map(Some)));
        }

        on_each_backend_and_set!(check);
    }
}
