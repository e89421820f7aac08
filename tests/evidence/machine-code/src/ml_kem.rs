//! The operations of ML-KEM. d, z and m are secret, and ŝ and z in an expanded key.

use core::array;
use core::hint::black_box;
use std::sync::Mutex;

use pq_core::arch::memcheck;
use pq_core::ml_kem::batch::{self, Decapsulate, Encapsulate, Generate};
use pq_core::ml_kem::{
    Ciphertext, DecapsulationKey, EncapsulationKey, MlKem512, MlKem768, MlKem1024, ParameterSet,
};

use crate::{Operation, Run, expect_secret, of_set, public, secret};

pub(crate) fn operations() -> Vec<Operation> {
    let sets = [of::<MlKem512>(), of::<MlKem768>(), of::<MlKem1024>()];
    sets.into_iter().flatten().collect()
}

fn of<P: ParameterSet>() -> [Operation; 13] {
    of_set(
        P::NAME,
        [
            ("DecapsulationKey::from_seed", from_seed::<P>),
            ("DecapsulationKey::from_expanded", from_expanded::<P>),
            ("DecapsulationKey::to_expanded", to_expanded::<P>),
            ("DecapsulationKey::clone", clone::<P>),
            ("DecapsulationKey::decapsulate", decapsulate::<P>),
            ("DecapsulationKey::decapsulate, rejected", reject::<P>),
            ("DecapsulationKey, one exchange", exchange::<P>),
            ("EncapsulationKey::from_bytes", from_bytes::<P>),
            ("EncapsulationKey::encapsulate", encapsulate::<P>),
            ("SharedSecret::eq", compare::<P>),
            ("batch::generate", generate_batch::<P>),
            ("batch::encapsulate", encapsulate_batch::<P>),
            ("batch::decapsulate", decapsulate_batch::<P>),
        ],
    )
}

fn from_seed<P: ParameterSet>() -> Run {
    let seed = secret();
    Box::new(move || {
        let key = DecapsulationKey::<P>::from_seed(black_box(&seed));
        expect_secret_key(black_box(&key));
    })
}

fn from_expanded<P: ParameterSet>() -> Run {
    let seed = secret();
    let key = DecapsulationKey::<P>::from_seed(&seed);
    let mut bytes = key.to_expanded().as_ref().to_vec();
    // ek ‖ H(ek), which are between ŝ and z
    let public_part = secret_len::<P>()..bytes.len() - 32;
    let public_copy = public(&bytes[public_part.clone()]);
    bytes[public_part].copy_from_slice(&public_copy);
    Box::new(move || {
        let key = DecapsulationKey::<P>::from_expanded(black_box(&bytes));
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
        let copy = DecapsulationKey::clone(black_box(&key));
        expect_secret_key(black_box(&copy));
    })
}

fn decapsulate<P: ParameterSet>() -> Run {
    let key = secret_key::<P>();
    let ciphertext = ciphertext_for(&key, 0);
    Box::new(move || {
        let shared = key.decapsulate(black_box(&ciphertext));
        expect_secret(black_box(&shared).as_bytes());
    })
}

fn reject<P: ParameterSet>() -> Run {
    let key = secret_key::<P>();
    let ciphertext = ciphertext_for(&key, 1);
    Box::new(move || {
        let shared = key.decapsulate(black_box(&ciphertext));
        expect_secret(black_box(&shared).as_bytes());
    })
}

/// Makes a key, and decapsulates with it.
fn exchange<P: ParameterSet>() -> Run {
    let seed = secret();
    let ciphertext = ciphertext_for(&secret_key::<P>(), 0);
    Box::new(move || {
        let mut place = None;
        let key = DecapsulationKey::<P>::for_one_exchange_into(black_box(&seed), &mut place);
        let mut shared = [0; 32];
        let done = key.decapsulate_into(black_box(ciphertext.as_bytes()), &mut shared);
        assert_eq!(done, Ok(()));
        expect_secret(black_box(&shared));
    })
}

fn from_bytes<P: ParameterSet>() -> Run {
    let bytes = public(secret_key::<P>().encapsulation_key().as_bytes());
    Box::new(move || {
        let key = EncapsulationKey::<P>::from_bytes(black_box(&bytes));
        assert!(black_box(&key).is_ok());
    })
}

fn encapsulate<P: ParameterSet>() -> Run {
    let key = public_key(&secret_key::<P>());
    let m = secret();
    Box::new(move || {
        let (ciphertext, shared) = key.encapsulate(black_box(&m));
        expect_secret(black_box(&ciphertext).as_bytes());
        expect_secret(black_box(&shared).as_bytes());
    })
}

/// Compares equal secrets, and different ones.
fn compare<P: ParameterSet>() -> Run {
    let key = secret_key::<P>();
    let [shared, same, other] = [0, 0, 1].map(|change| {
        let ciphertext = ciphertext_for(&key, change);
        key.decapsulate(&ciphertext)
    });
    Box::new(move || {
        let compare = |other| {
            let mut is_equal = black_box(&shared) == black_box(other);
            memcheck::declassify(&mut is_equal);
            is_equal
        };
        assert!(compare(&same) && !compare(&other));
    })
}

/// More than share the lanes at one time, and not a multiple of that number.
const BATCH: usize = 9;

/// The results of a batch, which its caller owns: they are neither on the stack nor allocated by the operation.
type Results<T> = Mutex<Vec<Option<T>>>;

fn results<T>() -> Results<T> {
    Mutex::new((0..BATCH).map(|_| None).collect())
}

fn generate_batch<P: ParameterSet>() -> Run {
    let seeds: [[u8; 64]; BATCH] = array::from_fn(|_| secret());
    let results = results();
    Box::new(move || {
        let mut results = results.lock().expect("one thread");
        let items = black_box(&seeds).iter().zip(&mut *results);
        batch::generate(items.map(|(seed, result)| Generate { seed, result }));
        for key in &*results {
            expect_secret_key::<P>(black_box(key.as_ref().expect("a key")));
        }
    })
}

/// One of the items is rejected.
fn encapsulate_batch<P: ParameterSet>() -> Run {
    let keys: [_; BATCH] = array::from_fn(|n| {
        let mut key = public(secret_key::<P>().encapsulation_key().as_bytes());
        key.truncate(P::ENCAPSULATION_KEY_LEN - usize::from(n == 1));
        key
    });
    let several_m: [[u8; 32]; BATCH] = array::from_fn(|_| secret());
    let results = results();
    Box::new(move || {
        let mut results = results.lock().expect("one thread");
        let items = keys.iter().zip(black_box(&several_m)).zip(&mut *results);
        batch::encapsulate::<P>(items.map(|((key, randomness), result)| Encapsulate {
            key,
            randomness,
            result,
        }));
        assert!(matches!(results[1], Some(Err(_))));
        let good = results.iter().flatten().flatten();
        assert_eq!(good.clone().count(), BATCH - 1);
        for (ciphertext, shared) in good {
            expect_secret(black_box(ciphertext).as_bytes());
            expect_secret(black_box(shared).as_bytes());
        }
    })
}

/// Every third ciphertext is rejected implicitly.
fn decapsulate_batch<P: ParameterSet>() -> Run {
    let pairs: Vec<_> = (0..BATCH)
        .map(|n| {
            let key = secret_key::<P>();
            let ciphertext = ciphertext_for(&key, u8::from(n % 3 == 2));
            (key, ciphertext)
        })
        .collect();
    let results = results();
    Box::new(move || {
        let mut results = results.lock().expect("one thread");
        let items = black_box(&pairs).iter().zip(&mut *results);
        batch::decapsulate(items.map(|((key, ciphertext), result)| Decapsulate {
            key,
            ciphertext: ciphertext.as_bytes(),
            result,
        }));
        let good = results.iter().flatten().flatten();
        assert_eq!(good.clone().count(), BATCH);
        for shared in good {
            expect_secret(black_box(shared).as_bytes());
        }
    })
}

/// A leak on purpose: a branch on the shared secret.
pub(crate) fn branch_on_shared_secret() -> Run {
    let key = secret_key::<MlKem768>();
    let ciphertext = ciphertext_for(&key, 0);
    Box::new(move || {
        let shared = key.decapsulate(black_box(&ciphertext));
        if shared.as_bytes()[31] & 1 == 0 {
            black_box(&shared);
        }
    })
}

fn secret_key<P: ParameterSet>() -> Box<DecapsulationKey<P>> {
    Box::new(DecapsulationKey::from_seed(&secret()))
}

fn public_key<P: ParameterSet>(key: &DecapsulationKey<P>) -> EncapsulationKey<P> {
    let bytes = public(key.encapsulation_key().as_bytes());
    EncapsulationKey::from_bytes(&bytes).expect("the key of a pair")
}

/// A public ciphertext, with the bits of `change` flipped in its last byte.
fn ciphertext_for<P: ParameterSet>(key: &DecapsulationKey<P>, change: u8) -> Ciphertext<P> {
    let (ciphertext, _) = public_key(key).encapsulate(&secret());
    let mut bytes = public(ciphertext.as_bytes());
    *bytes.last_mut().expect("not empty") ^= change;
    Ciphertext::from_bytes(&bytes).expect("of the right length")
}

/// The length of the encoded ŝ.
fn secret_len<P: ParameterSet>() -> usize {
    P::ENCAPSULATION_KEY_LEN - 32
}

fn expect_secret_key<P: ParameterSet>(key: &DecapsulationKey<P>) {
    let expanded = key.to_expanded();
    let bytes = black_box(&expanded).as_ref();
    expect_secret(&bytes[..secret_len::<P>()]);
    expect_secret(&bytes[bytes.len() - 32..]);
}
