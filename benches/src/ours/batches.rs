//! Compares batches of our operations with the same operations one by one, on the same inputs.

use core::hint::black_box;
use core::marker::PhantomData;

use pq_core::arch::{Backend, limit};
use pq_core::ml_dsa::batch::Verify;
use pq_core::ml_dsa::{
    ExpandedVerifyingKey, MlDsa44, MlDsa65, MlDsa87, ParameterSet as _, Signature, SigningKey,
    VerifyingKey,
};
use pq_core::ml_kem::batch::{Decapsulate, Encapsulate, Generate};
use pq_core::ml_kem::{
    Ciphertext, DecapsulationKey, EncapsulationKey, MlKem512, MlKem768, MlKem1024, ParameterSet,
    SEED_LEN, SharedSecret, batch,
};
use pq_core::{Error, ml_dsa, on_each_backend};

use crate::schemes::inputs::{INPUTS, several};
use crate::timing::{Passes, Row};

/// How many items a batch has.
pub const SIZE: usize = 8;

/// An operation of a parameter set.
pub struct Batch {
    /// The standard's name, such as `ML-KEM-768`.
    pub set: &'static str,
    /// Such as `encapsulation`.
    pub operation: &'static str,
    rows: fn(&str) -> Vec<Row<'static>>,
}

impl Batch {
    /// All batches, in the order of the report.
    pub const ALL: &[Self] = &[
        Self::new::<KeyGenerations<MlKem512>>(MlKem512::NAME, "key-generation"),
        Self::new::<KeyGenerations<MlKem768>>(MlKem768::NAME, "key-generation"),
        Self::new::<KeyGenerations<MlKem1024>>(MlKem1024::NAME, "key-generation"),
        Self::new::<Encapsulations<MlKem512>>(MlKem512::NAME, "encapsulation"),
        Self::new::<Encapsulations<MlKem768>>(MlKem768::NAME, "encapsulation"),
        Self::new::<Encapsulations<MlKem1024>>(MlKem1024::NAME, "encapsulation"),
        Self::new::<Decapsulations<MlKem512>>(MlKem512::NAME, "decapsulation"),
        Self::new::<Decapsulations<MlKem768>>(MlKem768::NAME, "decapsulation"),
        Self::new::<Decapsulations<MlKem1024>>(MlKem1024::NAME, "decapsulation"),
        Self::new::<SigningKeys<MlDsa44>>(MlDsa44::NAME, "key-generation"),
        Self::new::<SigningKeys<MlDsa65>>(MlDsa65::NAME, "key-generation"),
        Self::new::<SigningKeys<MlDsa87>>(MlDsa87::NAME, "key-generation"),
        Self::new::<Verifications<MlDsa44>>(MlDsa44::NAME, "verification"),
        Self::new::<Verifications<MlDsa65>>(MlDsa65::NAME, "verification"),
        Self::new::<Verifications<MlDsa87>>(MlDsa87::NAME, "verification"),
        Self::new::<ExpandedVerifications<MlDsa44>>(MlDsa44::NAME, "verification-expanded"),
        Self::new::<ExpandedVerifications<MlDsa65>>(MlDsa65::NAME, "verification-expanded"),
        Self::new::<ExpandedVerifications<MlDsa87>>(MlDsa87::NAME, "verification-expanded"),
    ];

    const fn new<I: Items + 'static>(set: &'static str, operation: &'static str) -> Self {
        Self {
            set,
            operation,
            rows: rows::<I>,
        }
    }

    /// The name of the batch's table.
    pub fn table(&self) -> String {
        format!("batch/{}/{}", self.set, self.operation)
    }

    /// The rows of the batch's table, two for each backend.
    pub fn rows(&self) -> Vec<Row<'static>> {
        (self.rows)(&self.table())
    }
}

/// The row of the operations one by one on a backend.
pub fn one_by_one(backend: &str) -> String {
    format!("pq-core/{backend}")
}

/// The row of the operations in batches on a backend.
pub fn together(backend: &str) -> String {
    format!("pq-core/{backend}/batch")
}

/// A timed operation with its inputs. Both functions do the operation on each input.
trait Items {
    fn new() -> Self;

    fn one_by_one(&mut self);

    /// In batches of [`SIZE`].
    fn together(&mut self);
}

/// The rows for each backend. Each call first hides the better backends, which costs one store.
fn rows<I: Items + 'static>(table: &str) -> Vec<Row<'static>> {
    fn on<I: Items + 'static, B: Backend>(backend: B, table: &str) -> [Row<'static>; 2] {
        let row = |name, mut pass: Box<dyn FnMut()>| Row {
            group: table.into(),
            name,
            passes: Passes::new(INPUTS, move || {
                limit(backend);
                pass();
            }),
        };
        let (mut alone, mut batched) = (I::new(), I::new());
        [
            row(one_by_one(B::NAME), Box::new(move || alone.one_by_one())),
            row(together(B::NAME), Box::new(move || batched.together())),
        ]
    }

    let mut rows = Vec::new();
    on_each_backend!(backend => rows.extend(on::<I, _>(backend, table)));
    rows
}

/// The places for results.
fn results<T>() -> Vec<Option<T>> {
    (0..INPUTS).map(|_| None).collect()
}

struct KeyGenerations<P: ParameterSet> {
    seeds: Vec<[u8; SEED_LEN]>,
    results: Vec<Option<DecapsulationKey<P>>>,
}

impl<P: ParameterSet> Items for KeyGenerations<P> {
    fn new() -> Self {
        Self {
            seeds: several("seed"),
            results: results(),
        }
    }

    fn one_by_one(&mut self) {
        for seed in &self.seeds {
            black_box(DecapsulationKey::<P>::from_seed(black_box(seed)));
        }
    }

    fn together(&mut self) {
        let results = self.results.chunks_mut(SIZE);
        for (seeds, results) in self.seeds.chunks(SIZE).zip(results) {
            let items = black_box(seeds).iter().zip(results);
            batch::generate(items.map(|(seed, result)| Generate { seed, result }));
        }
        black_box(&self.results);
    }
}

type Encapsulated<P> = Result<(Ciphertext<P>, SharedSecret), Error>;

struct Encapsulations<P: ParameterSet> {
    keys: Vec<Vec<u8>>,
    several_m: Vec<[u8; 32]>,
    results: Vec<Option<Encapsulated<P>>>,
}

impl<P: ParameterSet> Items for Encapsulations<P> {
    fn new() -> Self {
        let seeds = several("seed");
        let keys = seeds.iter().map(|seed| {
            let key = DecapsulationKey::<P>::from_seed(seed);
            key.encapsulation_key().as_bytes().to_vec()
        });
        Self {
            keys: keys.collect(),
            several_m: several("m"),
            results: results(),
        }
    }

    fn one_by_one(&mut self) {
        for (key, m) in self.keys.iter().zip(&self.several_m) {
            let key = EncapsulationKey::<P>::from_bytes(black_box(key));
            black_box(key.map(|key| key.encapsulate(black_box(m)))).expect("a valid key");
        }
    }

    fn together(&mut self) {
        let inputs = self
            .keys
            .chunks(SIZE)
            .zip(self.several_m.chunks(SIZE))
            .zip(self.results.chunks_mut(SIZE));
        for ((keys, several_m), results) in inputs {
            let items = black_box(keys)
                .iter()
                .zip(black_box(several_m))
                .zip(results);
            batch::encapsulate(items.map(|((key, randomness), result)| Encapsulate {
                key,
                randomness,
                result,
            }));
        }
        black_box(&self.results);
    }
}

/// Each ciphertext is for a key of its own.
struct Decapsulations<P: ParameterSet> {
    pairs: Vec<(DecapsulationKey<P>, Vec<u8>)>,
    results: Vec<Option<Result<SharedSecret, Error>>>,
}

impl<P: ParameterSet> Items for Decapsulations<P> {
    fn new() -> Self {
        let (seeds, several_m) = (several("seed"), several("m"));
        let pairs = seeds.iter().zip(&several_m).map(|(seed, m)| {
            let key = DecapsulationKey::<P>::from_seed(seed);
            let (ciphertext, _) = key.encapsulation_key().encapsulate(m);
            (key, ciphertext.as_bytes().to_vec())
        });
        Self {
            pairs: pairs.collect(),
            results: results(),
        }
    }

    fn one_by_one(&mut self) {
        for (key, ciphertext) in &self.pairs {
            let ciphertext = Ciphertext::from_bytes(black_box(ciphertext));
            black_box(ciphertext.map(|ciphertext| key.decapsulate(&ciphertext)))
                .expect("of the right length");
        }
    }

    fn together(&mut self) {
        let results = self.results.chunks_mut(SIZE);
        for (pairs, results) in self.pairs.chunks(SIZE).zip(results) {
            let items = black_box(pairs).iter().zip(results);
            batch::decapsulate(items.map(|((key, ciphertext), result)| Decapsulate {
                key,
                ciphertext,
                result,
            }));
        }
        black_box(&self.results);
    }
}

struct SigningKeys<P: ml_dsa::ParameterSet> {
    seeds: Vec<[u8; ml_dsa::SEED_LEN]>,
    results: Vec<Option<SigningKey<P>>>,
}

impl<P: ml_dsa::ParameterSet> Items for SigningKeys<P> {
    fn new() -> Self {
        Self {
            seeds: several("xi"),
            results: results(),
        }
    }

    fn one_by_one(&mut self) {
        for seed in &self.seeds {
            black_box(SigningKey::<P>::from_seed(black_box(seed)));
        }
    }

    fn together(&mut self) {
        let results = self.results.chunks_mut(SIZE);
        for (seeds, results) in self.seeds.chunks(SIZE).zip(results) {
            let items = black_box(seeds).iter().zip(results);
            let items = items.map(|(seed, result)| ml_dsa::batch::Generate { seed, result });
            ml_dsa::batch::generate(items);
        }
        black_box(&self.results);
    }
}

type Verified = Option<Result<(), Error>>;

/// Signed messages, each with a key of its own.
struct Signed {
    key: Vec<u8>,
    message: [u8; 32],
    signature: Vec<u8>,
}

impl Signed {
    fn several<P: ml_dsa::ParameterSet>() -> Vec<Self> {
        let signed = several("xi").into_iter().map(|seed| {
            let key = SigningKey::<P>::boxed_from_seed(&seed);
            let signature = key.sign(&seed, b"", &seed).expect("a short context");
            Self {
                key: key.verifying_key().as_bytes().to_vec(),
                message: seed,
                signature: signature.as_bytes().to_vec(),
            }
        });
        signed.collect()
    }

    fn item<'a, K>(&'a self, key: K, result: &'a mut Verified) -> Verify<'a, K> {
        Verify {
            key,
            message: &self.message,
            context: b"",
            signature: &self.signature,
            result,
        }
    }
}

struct Verifications<P> {
    signed: Vec<Signed>,
    results: Vec<Verified>,
    parameter_set: PhantomData<P>,
}

impl<P: ml_dsa::ParameterSet> Items for Verifications<P> {
    fn new() -> Self {
        Self {
            signed: Signed::several::<P>(),
            results: results(),
            parameter_set: PhantomData,
        }
    }

    fn one_by_one(&mut self) {
        for signed in &self.signed {
            let signed = black_box(signed);
            let key = VerifyingKey::<P>::from_bytes(&signed.key).expect("of the right length");
            let signature = Signature::from_bytes(&signed.signature).expect("of the right length");
            black_box(key.verify(&signed.message, b"", &signature)).expect("a valid signature");
        }
    }

    fn together(&mut self) {
        let results = self.results.chunks_mut(SIZE);
        for (signed, results) in self.signed.chunks(SIZE).zip(results) {
            let items = black_box(signed).iter().zip(results);
            let items = items.map(|(signed, result)| signed.item(&signed.key[..], result));
            ml_dsa::batch::verify::<P>(items);
        }
        black_box(&self.results);
    }
}

/// Each key is expanded: sixteen of ML-DSA-87 take a megabyte, both in batches and one by one.
struct ExpandedVerifications<P: ml_dsa::ParameterSet> {
    signed: Vec<Signed>,
    keys: Vec<ExpandedVerifyingKey<P>>,
    results: Vec<Verified>,
}

impl<P: ml_dsa::ParameterSet> Items for ExpandedVerifications<P> {
    fn new() -> Self {
        let signed = Signed::several::<P>();
        let keys = signed.iter().map(|signed| {
            let key = VerifyingKey::<P>::from_bytes(&signed.key).expect("of the right length");
            key.expand()
        });
        Self {
            keys: keys.collect(),
            signed,
            results: results(),
        }
    }

    fn one_by_one(&mut self) {
        for (signed, key) in self.signed.iter().zip(&self.keys) {
            let (signed, key) = black_box((signed, key));
            let signature = Signature::from_bytes(&signed.signature).expect("of the right length");
            black_box(key.verify(&signed.message, b"", &signature)).expect("a valid signature");
        }
    }

    fn together(&mut self) {
        let inputs = self
            .signed
            .chunks(SIZE)
            .zip(self.keys.chunks(SIZE))
            .zip(self.results.chunks_mut(SIZE));
        for ((signed, keys), results) in inputs {
            let items = black_box(signed).iter().zip(black_box(keys)).zip(results);
            let items = items.map(|((signed, key), result)| signed.item(key, result));
            ml_dsa::batch::verify_expanded(items);
        }
        black_box(&self.results);
    }
}
