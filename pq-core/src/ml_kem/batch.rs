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
    dispatch!(choose(), b => generate_all(b, &mut items.into_iter()));
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

/// As [`generate`].
///
/// These are separate functions so that only one backend's places are on the stack.
#[inline(never)]
fn generate_all<P: ParameterSet, B: Backend>(
    b: B,
    items: &mut dyn Iterator<Item = Generate<'_, P>>,
) {
    let mut places: [_; GROUP] = array::from_fn(|_| generation::Space::zero());
    in_groups(items, &mut places, |group| {
        let mut clients = group.map(|entry| {
            let (Generate { seed, result }, space) = entry?;
            let [d, z] = sampling::halves(seed);
            let key = result.insert(DecapsulationKey::zero());
            key.set_seed(d, z);
            Some(Generation::new(b, d, key, space))
        });
        lanes::serve_together(b, &mut clients);
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
    in_groups(items, &mut places, |mut group| {
        let mut clients = group.each_mut().map(|entry| {
            let (item, place) = entry.as_mut()?;
            let (t_hat, space) =
                place.get_or_insert_with(|| (zero_t::<P>(), encapsulation::Space::<P>::zero()));
            let checked = keys::check::<P, B>(b, item.key, t_hat.as_mut());
            *item.result = checked.err().map(Err);
            checked.ok()?;
            Some(Encapsulation::new(b, item.key, item.randomness, space))
        });
        lanes::serve_together(b, &mut clients);
        for (item, place) in group.into_iter().flatten() {
            if item.result.is_none()
                && let Some((t_hat, space)) = place
                && let zero = (Ciphertext::zero(), SharedSecret::zero())
                && let Ok((c, secret)) = item.result.insert(Ok(zero))
            {
                let (c, secret) = (c.0.as_mut(), &mut secret.0);
                space.finish(b, t_hat.as_ref(), item.randomness, c, secret);
            }
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
    in_groups(items, &mut places, |mut group| {
        let mut clients = group.each_mut().map(|entry| {
            let (item, space) = entry.as_mut()?;
            let checked = Error::check_length(P::CIPHERTEXT_LEN, item.ciphertext);
            *item.result = checked.err().map(Err);
            checked.ok()?;
            Some(Decapsulation::new(b, item.key, item.ciphertext, space))
        });
        lanes::serve_together(b, &mut clients);
        for (item, space) in group.into_iter().flatten() {
            if item.result.is_none()
                && let Ok(secret) = item.result.insert(Ok(SharedSecret::zero()))
            {
                space.finish(b, item.key, item.ciphertext, &mut secret.0);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec::Vec;

    use super::{
        Decapsulate, Encapsulate, Generate, decapsulate_all, encapsulate_all, generate,
        generate_all,
    };
    use crate::Error;
    use crate::arch::{Backend, Portable, is_data_independent, on_each_backend, with_and_without};
    use crate::ml_kem::internal::{decaps, encaps, keygen};
    use crate::ml_kem::{
        DecapsulationKey, EncapsulationKey, MlKem512, MlKem768, MlKem1024, ParameterSet,
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
            let mut results: Vec<_> = (0..size)
                .map(|_| Some(Err(Error::InvalidSignature)))
                .collect();
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
            let mut results: Vec<_> = (0..size).map(|_| None).collect();
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
