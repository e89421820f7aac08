//! The operations of ML-KEM.

use std::sync::Mutex;

use pq_core::Dimension;
use pq_core::ml_kem::batch::{self, Decapsulate, Encapsulate, Generate};
use pq_core::ml_kem::{Ciphertext, DecapsulationKey, MlKem512, MlKem768, MlKem1024, ParameterSet};
use sha3::{Digest, Sha3_256};

use crate::derived::{g, noise, sample_ntt, shake256};
use crate::operation::{Operation, fresh};
use crate::sought::Sought;
use crate::stack::made_over;

pub(crate) fn operations() -> Vec<Operation> {
    let sets = [of::<MlKem512>(), of::<MlKem768>(), of::<MlKem1024>()];
    let sets = sets.into_iter().flatten();
    sets.chain(batches::<MlKem768>()).collect()
}

fn of<P: ParameterSet>() -> Vec<Operation> {
    let name = |operation: &str| format!("{} {operation}", P::NAME);
    vec![
        Operation::new(
            name("DecapsulationKey::from_seed, dropped"),
            fresh::<64>,
            |seed| drop(DecapsulationKey::<P>::from_seed(seed)),
            |seed, ()| secrets_of(&DecapsulationKey::<P>::boxed_from_seed(seed)),
        ),
        Operation::new(
            name("DecapsulationKey::from_seed_into"),
            fresh::<64>,
            |seed| {
                let mut place = Box::new(None);
                DecapsulationKey::<P>::from_seed_into(seed, &mut place);
                place
            },
            |_, key| secrets_of(key.as_ref().as_ref().expect("a key")),
        ),
        Operation::new(
            name("DecapsulationKey::boxed_from_seed"),
            fresh::<64>,
            |seed| DecapsulationKey::<P>::boxed_from_seed(seed),
            |_, key| secrets_of(key),
        ),
        Operation::new(
            name("DecapsulationKey::from_expanded, dropped"),
            expanded::<P>,
            |bytes| drop(DecapsulationKey::<P>::from_expanded(bytes)),
            |bytes, ()| {
                secrets_of(&*DecapsulationKey::<P>::boxed_from_expanded(bytes).expect("valid"))
            },
        ),
        Operation::new(
            name("DecapsulationKey::from_expanded_into"),
            expanded::<P>,
            |bytes| {
                let mut place = Box::new(None);
                DecapsulationKey::<P>::from_expanded_into(bytes, &mut place).expect("valid");
                place
            },
            |_, key| secrets_of(key.as_ref().as_ref().expect("a key")),
        ),
        Operation::new(
            name("DecapsulationKey::boxed_from_expanded"),
            expanded::<P>,
            |bytes| DecapsulationKey::<P>::boxed_from_expanded(bytes).expect("valid"),
            |_, key| secrets_of(key),
        ),
        Operation::new(
            name("DecapsulationKey::boxed_from_expanded, refused"),
            || {
                let mut bytes = expanded::<P>();
                // keeps z and the first half of ŝ
                bytes[P::DECAPSULATION_KEY_LEN / 6] ^= 1;
                bytes
            },
            |bytes| {
                let error = DecapsulationKey::<P>::boxed_from_expanded(bytes);
                assert!(error.is_err());
            },
            |bytes, ()| encoded_secrets::<P>(bytes),
        ),
        Operation::new(
            name("DecapsulationKey::to_expanded, dropped"),
            key::<P>,
            |key| drop(key.to_expanded()),
            |key, ()| secrets_of(key),
        ),
        Operation::new(
            name("DecapsulationKey::to_expanded_into"),
            key::<P>,
            |key| {
                let mut output = vec![0; P::DECAPSULATION_KEY_LEN];
                key.to_expanded_into(&mut output).expect("of this length");
                output
            },
            |key, _| secrets_of(key),
        ),
        Operation::new(
            name("DecapsulationKey::clone, dropped"),
            key::<P>,
            |key| drop(DecapsulationKey::clone(key)),
            |key, ()| secrets_of(key),
        ),
        Operation::new(
            name("DecapsulationKey::clone_from"),
            || (key::<P>(), Mutex::new(Some(key::<P>()))),
            |(key, place)| {
                let mut place = place.lock().expect("one thread").take().expect("once");
                place.clone_from(key);
                place
            },
            |(key, _), _| secrets_of(key),
        ),
        Operation::new(
            name("DecapsulationKey, dropped"),
            || {
                let key = key::<P>();
                let sought = secrets_of(&key);
                (Mutex::new(Some(key)), sought)
            },
            |(key, _)| drop(key.lock().expect("one thread").take()),
            |(_, sought), ()| sought.clone(),
        ),
        Operation::new(
            name("EncapsulationKey::encapsulate, dropped"),
            || (key::<P>(), fresh::<32>()),
            |(key, m)| drop(key.encapsulation_key().encapsulate(m)),
            |(key, m), ()| secrets_of_encapsulation(key, m),
        ),
        Operation::new(
            name("EncapsulationKey::encapsulate_into"),
            || (key::<P>(), fresh::<32>()),
            |(key, m)| {
                let mut secret = Box::new([0; 32]);
                let mut ciphertext = vec![0; P::CIPHERTEXT_LEN];
                let key = key.encapsulation_key();
                key.encapsulate_into(m, &mut ciphertext, &mut secret)
                    .expect("of this length");
                secret
            },
            |(key, m), secret| secrets_of_encapsulation(key, m).secret("the result", &secret[..]),
        ),
        Operation::new(
            name("DecapsulationKey::decapsulate, dropped"),
            encapsulated::<P>,
            |(key, _, ciphertext)| {
                drop(key.decapsulate(&Ciphertext::from_bytes(ciphertext).expect("of this length")))
            },
            |(key, m, ciphertext), ()| secrets_of_decapsulation(key, m, ciphertext),
        ),
        Operation::new(
            name("DecapsulationKey::decapsulate_into"),
            encapsulated::<P>,
            decapsulate,
            |(key, m, ciphertext), secret| {
                secrets_of_decapsulation(key, m, ciphertext).secret("the result", &secret[..])
            },
        ),
        Operation::new(
            name("DecapsulationKey::for_one_exchange_into"),
            fresh::<64>,
            |seed| {
                let mut place = Box::new(None);
                DecapsulationKey::<P>::for_one_exchange_into(seed, &mut place);
                place
            },
            |seed, _| secrets_of(&DecapsulationKey::<P>::boxed_from_seed(seed)),
        ),
        Operation::new(
            name("DecapsulationKey::decapsulate_into, one exchange"),
            || {
                let (key, m, ciphertext) = encapsulated::<P>();
                let ephemeral =
                    DecapsulationKey::<P>::boxed_for_one_exchange(key.seed().expect("of a seed"));
                (ephemeral, key, m, ciphertext)
            },
            |(ephemeral, _, _, ciphertext)| {
                let mut secret = Box::new([0; 32]);
                let done = ephemeral.decapsulate_into(ciphertext, &mut secret);
                done.expect("of this length");
                secret
            },
            |(_, key, m, ciphertext), secret| {
                secrets_of_decapsulation(key, m, ciphertext).secret("the result", &secret[..])
            },
        ),
        Operation::new(
            name("DecapsulationKey::decapsulate_into, rejected"),
            || {
                let (key, m, mut ciphertext) = encapsulated::<P>();
                // changes c₂, so that it still decrypts to the same m, unless by bad luck
                *ciphertext.last_mut().expect("not empty") ^= 1;
                (key, m, ciphertext)
            },
            decapsulate,
            |(key, m, ciphertext), secret| {
                secrets_of_decapsulation(key, m, ciphertext).secret("the result", &secret[..])
            },
        ),
    ]
}

/// Batches of one set: the compiler compiles them here, for every backend.
fn batches<P: ParameterSet>() -> Vec<Operation> {
    let name = |operation: &str| format!("{} {operation}", P::NAME);
    vec![
        Operation::new(
            name("batch::generate"),
            || [fresh::<64>(), fresh(), fresh(), fresh(), fresh()],
            |seeds| {
                let mut keys = Vec::from_iter(seeds.iter().map(|_| None));
                let items = seeds.iter().zip(&mut keys);
                batch::generate::<P>(items.map(|(seed, result)| Generate { seed, result }));
                keys
            },
            |_, keys| {
                let keys = keys.iter().flatten();
                keys.fold(Sought::default(), |all, key| all.and(secrets_of(key)))
            },
        ),
        Operation::new(
            name("batch::encapsulate"),
            || {
                [
                    (key::<P>(), fresh::<32>()),
                    (key(), fresh()),
                    (key(), fresh()),
                ]
            },
            |pairs| {
                let mut results = Vec::from_iter(pairs.iter().map(|_| None));
                let items = pairs.iter().zip(&mut results);
                batch::encapsulate::<P>(items.map(|((key, randomness), result)| Encapsulate {
                    key: key.encapsulation_key().as_bytes(),
                    randomness,
                    result,
                }));
                results
            },
            |pairs, _| {
                let pairs = pairs.iter();
                pairs.fold(Sought::default(), |all, (key, m)| {
                    all.and(secrets_of_encapsulation(key, m))
                })
            },
        ),
        Operation::new(
            name("batch::decapsulate"),
            || [encapsulated::<P>(), encapsulated(), encapsulated()],
            |items| {
                let mut results = Vec::from_iter(items.iter().map(|_| None));
                let items = items.iter().zip(&mut results);
                batch::decapsulate::<P>(items.map(|((key, _, ciphertext), result)| Decapsulate {
                    key,
                    ciphertext,
                    result,
                }));
                results
            },
            |items, _| {
                let items = items.iter();
                items.fold(Sought::default(), |all, (key, m, ciphertext)| {
                    all.and(secrets_of_decapsulation(key, m, ciphertext))
                })
            },
        ),
    ]
}

fn decapsulate<P: ParameterSet>((key, _, ciphertext): &Encapsulated<P>) -> Box<[u8; 32]> {
    let mut secret = Box::new([0; 32]);
    key.decapsulate_into(ciphertext, &mut secret)
        .expect("of this length");
    secret
}

fn key<P: ParameterSet>() -> Box<DecapsulationKey<P>> {
    DecapsulationKey::boxed_from_seed(&fresh())
}

fn expanded<P: ParameterSet>() -> Vec<u8> {
    let mut bytes = vec![0; P::DECAPSULATION_KEY_LEN];
    key::<P>()
        .to_expanded_into(&mut bytes)
        .expect("of this length");
    bytes
}

/// A key, m, and the ciphertext.
pub(crate) type Encapsulated<P> = (Box<DecapsulationKey<P>>, Box<[u8; 32]>, Vec<u8>);

pub(crate) fn encapsulated<P: ParameterSet>() -> Encapsulated<P> {
    let (key, m) = (key::<P>(), fresh());
    let (ciphertext, _) = key.encapsulation_key().encapsulate(&m);
    (key, m, ciphertext.as_bytes().to_vec())
}

/// All secrets of a key: as the standard encodes them, as they are in memory, and the values computed on the way
/// there.
pub(crate) fn secrets_of<P: ParameterSet>(key: &DecapsulationKey<P>) -> Sought {
    let mut expanded = vec![0; P::DECAPSULATION_KEY_LEN];
    key.to_expanded_into(&mut expanded).expect("of this length");
    // not the operation's own key, which may contain parts of its stack
    let boxed = made_over(0x55, || match key.seed() {
        Some(seed) => DecapsulationKey::<P>::boxed_from_seed(seed),
        None => DecapsulationKey::boxed_from_expanded(&expanded).expect("valid"),
    });
    let again = made_over(0xaa, || {
        let mut place = Box::new(None);
        match key.seed() {
            Some(seed) => DecapsulationKey::<P>::from_seed_into(seed, &mut place),
            None => DecapsulationKey::from_expanded_into(&expanded, &mut place).expect("valid"),
        };
        place
    });
    let again = again.as_ref().as_ref().expect("it was made");
    let mut sought = encoded_secrets::<P>(&expanded)
        .and(public_of(&boxed, again))
        .in_memory(
            "the decapsulation key in memory",
            &*boxed,
            again,
            &*self::key(),
        );
    if let Some(seed) = key.seed() {
        let [_, sigma] = g(&[&seed[..32], &[P::K::N as u8]]);
        sought = sought.secret("the seed", seed).secret("σ", &sigma);
        for n in 0..2 * P::K::N as u8 {
            sought = sought.and(noise(&sigma, n, P::ETA1));
        }
    }
    sought
}

/// ŝ and z in an expanded key.
fn encoded_secrets<P: ParameterSet>(expanded: &[u8]) -> Sought {
    let (s_hat, rest) = expanded.split_at(384 * P::K::N);
    Sought::default()
        .secret("the encoded ŝ", s_hat)
        .secret("z", &rest[rest.len() - 32..])
}

/// The public parts of a key that was made twice: the encapsulation key, also as it is in memory, its
/// hash and **Â**.
fn public_of<P: ParameterSet>(key: &DecapsulationKey<P>, again: &DecapsulationKey<P>) -> Sought {
    let [key, again] = [key, again].map(DecapsulationKey::encapsulation_key);
    let bytes = key.as_bytes();
    let mut sought = Sought::default()
        .public(bytes)
        .public(&Sha3_256::digest(bytes))
        .public_in_memory(key, again);
    let k = P::K::N as u8;
    for (row, column) in (0..k).flat_map(|row| (0..k).map(move |column| (row, column))) {
        sought = sought.public(&sample_ntt(&bytes[384 * P::K::N..], row, column));
    }
    sought
}

/// The values that encapsulation computes from m.
pub(crate) fn secrets_of_encapsulation<P: ParameterSet>(
    key: &DecapsulationKey<P>,
    m: &[u8; 32],
) -> Sought {
    let h = Sha3_256::digest(key.encapsulation_key().as_bytes());
    let [k, r] = g(&[m, &h]);
    let mut sought = Sought::default()
        .secret("m", m)
        .secret("the shared secret", &k)
        .secret("r", &r);
    for n in 0..=2 * P::K::N as u8 {
        let eta = if usize::from(n) < P::K::N { P::ETA1 } else { 2 };
        sought = sought.and(noise(&r, n, eta));
    }
    sought
}

/// The values that decapsulation computes from a key and a ciphertext that decrypts to m.
pub(crate) fn secrets_of_decapsulation<P: ParameterSet>(
    key: &DecapsulationKey<P>,
    m: &[u8; 32],
    ciphertext: &[u8],
) -> Sought {
    let mut expanded = vec![0; P::DECAPSULATION_KEY_LEN];
    key.to_expanded_into(&mut expanded).expect("of this length");
    let z = &expanded[expanded.len() - 32..];
    secrets_of(key)
        .and(secrets_of_encapsulation(key, m))
        .secret("the secret of rejection", &shake256(&[z, ciphertext], 32))
}
