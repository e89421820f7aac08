//! ML-KEM: the interface of an implementation, and what is timed.

use core::hint::black_box;

use pq_core::ml_kem::{
    Ciphertext, DecapsulationKey, MlKem1024, ParameterSet, SEED_LEN, SHARED_SECRET_LEN,
};

use crate::schemes::elsewhere::{Elsewhere, Fields};
use crate::schemes::inputs::{INPUTS, bytes, several};
use crate::schemes::set::{self, Implementation, Operation as _, Rows, operations};
use crate::timing::Passes;

/// One implementation of one parameter set.
///
/// Keys and ciphertexts are bytes, in and out, as on the wire. Copying them costs every implementation
/// the same few nanoseconds.
pub trait Kem {
    /// A decapsulation key in memory, in the form that decapsulates fastest.
    type Key;

    /// Whether the implementation draws its own randomness in key generation and
    /// encapsulation, because its interface takes none.
    const DRAWS_RANDOMNESS: bool = false;

    /// Whether encapsulation makes the modulus check of FIPS 203, section 7.2.
    const CHECKS_MODULUS: bool = true;

    /// The name of the row.
    fn name(&self) -> String;

    /// Generates a key pair from d ‖ z, if it can, and writes the encapsulation key.
    fn generate(&self, seed: &[u8; SEED_LEN], encapsulation_key: &mut [u8]) -> Self::Key;

    /// The same key pair every time, from d ‖ z or from the expanded key. Not timed.
    fn load(&self, seed: &[u8; SEED_LEN], expanded: &[u8]) -> Self::Key;

    /// Reads and checks the encapsulation key, encapsulates m to it, if it can, and
    /// writes the ciphertext. `None` if the key is refused.
    fn encapsulate(
        &self,
        encapsulation_key: &[u8],
        m: &[u8; 32],
        ciphertext: &mut [u8],
    ) -> Option<[u8; SHARED_SECRET_LEN]>;

    /// Decapsulates.
    fn decapsulate(&self, key: &Self::Key, ciphertext: &[u8]) -> [u8; SHARED_SECRET_LEN];

    /// The program that performs the operations instead of this process, if there is one.
    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        None
    }
}

operations! {
    /// From the seed to the key in memory and the encapsulation key's bytes.
    KeyGeneration = "key-generation",
    /// From the encapsulation key's bytes to the ciphertext's: what a TLS server does.
    Encapsulation = "encapsulation",
    /// From the ciphertext's bytes to the secret, with the key in memory.
    Decapsulation = "decapsulation",
}

/// Makes the set with its inputs.
pub type Make = fn() -> Set;

/// One parameter set: its implementations and their inputs.
pub type Set = set::Set<Operation>;

impl Set {
    /// `P` with its inputs and its implementations.
    pub(crate) fn of<P: ParameterSet>(rows: Rows<Operation>) -> Self {
        Self::new(P::NAME, Inputs::new::<P>(), rows)
    }
}

impl<K: Kem> Implementation<Operation> for K {
    fn name(&self) -> String {
        Kem::name(self)
    }

    fn check(&self, inputs: &Inputs) {
        let name = Kem::name(self);
        let mut ek = inputs.empty_encapsulation_key();
        let mut ciphertext = inputs.empty_ciphertext();
        let key = self.load(&inputs.seeds[0], &inputs.expanded);

        for (i, expected) in inputs.secrets.iter().enumerate() {
            let generated = self.generate(&inputs.seeds[i], &mut ek);
            let secret = self
                .encapsulate(&ek, &inputs.messages[i], &mut ciphertext)
                .unwrap_or_else(|| panic!("{name} refuses its own key"));
            assert_eq!(self.decapsulate(&generated, &ciphertext), secret, "{name}");
            if !K::DRAWS_RANDOMNESS {
                assert_eq!(ek, inputs.encapsulation_keys[i], "{name}");
            }

            // to pq-core's key
            let ek = &inputs.encapsulation_keys[0];
            let secret = self
                .encapsulate(ek, &inputs.messages[i], &mut ciphertext)
                .unwrap_or_else(|| panic!("{name} refuses a key of pq-core"));
            assert_eq!((inputs.decapsulate)(&ciphertext), secret, "{name}");
            if !K::DRAWS_RANDOMNESS {
                assert_eq!(ciphertext, inputs.ciphertexts[i], "{name}");
            }

            // from pq-core
            let ciphertext = &inputs.ciphertexts[i];
            assert_eq!(self.decapsulate(&key, ciphertext), *expected, "{name}");
        }

        let rejected = self.decapsulate(&key, &inputs.forged_ciphertext);
        assert_eq!(
            rejected,
            (inputs.decapsulate)(&inputs.forged_ciphertext),
            "{name}"
        );

        let accepts = self
            .encapsulate(&inputs.unreduced_key, &inputs.messages[0], &mut ciphertext)
            .is_some();
        assert_eq!(accepts, !K::CHECKS_MODULUS, "{name}'s modulus check");
    }

    fn passes<'a>(&'a self, operation: Operation, inputs: &'a Inputs) -> Option<Passes<'a>> {
        if let Some(elsewhere) = self.elsewhere() {
            let (key, items) = inputs.items(operation);
            return Some(elsewhere.passes(operation.name(), key, &items));
        }
        Some(match operation {
            Operation::KeyGeneration => {
                let mut ek = inputs.empty_encapsulation_key();
                Passes::new(INPUTS, move || {
                    for seed in &inputs.seeds {
                        black_box(self.generate(black_box(seed), &mut ek));
                        black_box(&ek);
                    }
                })
            }
            Operation::Encapsulation => {
                let mut ciphertext = inputs.empty_ciphertext();
                Passes::new(INPUTS, move || {
                    for (ek, m) in inputs.encapsulation_keys.iter().zip(&inputs.messages) {
                        black_box(self.encapsulate(black_box(ek), black_box(m), &mut ciphertext));
                        black_box(&ciphertext);
                    }
                })
            }
            Operation::Decapsulation => {
                let key = self.load(&inputs.seeds[0], &inputs.expanded);
                Passes::new(INPUTS, move || {
                    for ciphertext in &inputs.ciphertexts {
                        black_box(self.decapsulate(&key, black_box(ciphertext)));
                    }
                })
            }
        })
    }
}

/// The inputs for all implementations of a set, and the expected results.
pub struct Inputs {
    seeds: Vec<[u8; SEED_LEN]>,
    messages: Vec<[u8; 32]>,
    /// The key of each seed.
    encapsulation_keys: Vec<Vec<u8>>,
    /// The first decapsulation key.
    expanded: Vec<u8>,
    /// The ciphertext of each m for the first key.
    ciphertexts: Vec<Vec<u8>>,
    /// The secrets of these ciphertexts.
    secrets: Vec<[u8; SHARED_SECRET_LEN]>,
    /// pq-core's decapsulation with the first key.
    decapsulate: Box<Decapsulate>,
    /// A ciphertext of the right length, but for no key.
    forged_ciphertext: Vec<u8>,
    /// The first encapsulation key, with q for its first coefficient.
    unreduced_key: Vec<u8>,
}

/// The secret in a ciphertext.
type Decapsulate = dyn Fn(&[u8]) -> [u8; SHARED_SECRET_LEN];

impl Inputs {
    fn new<P: ParameterSet>() -> Self {
        let seeds = several("seed");
        let messages = several("m");
        let keys: Vec<_> = seeds.iter().map(DecapsulationKey::<P>::from_seed).collect();
        let encapsulation_keys: Vec<_> = keys
            .iter()
            .map(|key| key.encapsulation_key().as_bytes().to_vec())
            .collect();
        let key = keys[0].clone();
        let (ciphertexts, secrets) = messages
            .iter()
            .map(|m| {
                let (ciphertext, secret) = key.encapsulation_key().encapsulate(m);
                (ciphertext.as_bytes().to_vec(), *secret.as_bytes())
            })
            .unzip();

        let forged_ciphertext = bytes::<{ MlKem1024::CIPHERTEXT_LEN }>("forged", 0);
        let mut unreduced_key = encapsulation_keys[0].clone();
        // 12 bits, little-endian: q = 0xd01
        unreduced_key[0] = 0x01;
        unreduced_key[1] = unreduced_key[1] & 0xf0 | 0x0d;
        Self {
            expanded: key.to_expanded().as_ref().to_vec(),
            decapsulate: Box::new(move |ciphertext| {
                let ciphertext = Ciphertext::from_bytes(ciphertext).expect("of the right length");
                *key.decapsulate(&ciphertext).as_bytes()
            }),
            forged_ciphertext: forged_ciphertext[..P::CIPHERTEXT_LEN].to_vec(),
            unreduced_key,
            seeds,
            messages,
            encapsulation_keys,
            ciphertexts,
            secrets,
        }
    }

    /// An operation's key and other inputs, as a program of its own takes them.
    fn items(&self, operation: Operation) -> (&[u8], Vec<Fields<'_>>) {
        match operation {
            Operation::KeyGeneration => {
                let items = self.seeds.iter().map(|seed| vec![&seed[..]]);
                (&[], items.collect())
            }
            Operation::Encapsulation => {
                let items = self.encapsulation_keys.iter().zip(&self.messages);
                (&[], items.map(|(ek, m)| vec![&ek[..], m]).collect())
            }
            Operation::Decapsulation => {
                let items = self
                    .ciphertexts
                    .iter()
                    .map(|ciphertext| vec![&ciphertext[..]]);
                (&self.seeds[0], items.collect())
            }
        }
    }

    fn empty_encapsulation_key(&self) -> Vec<u8> {
        vec![0; self.encapsulation_keys[0].len()]
    }

    fn empty_ciphertext(&self) -> Vec<u8> {
        vec![0; self.ciphertexts[0].len()]
    }
}
