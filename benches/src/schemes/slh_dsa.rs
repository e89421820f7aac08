//! SLH-DSA: the interface of an implementation, and what is timed.

use core::hint::black_box;

use pq_core::Dimension;
use pq_core::slh_dsa::{Message, ParameterSet, SigningKey};

use crate::schemes::elsewhere::{Elsewhere, Fields};
use crate::schemes::inputs::bytes;
use crate::schemes::set::{self, Implementation, Operation as _, Rows, operations};
use crate::timing::Passes;

/// One implementation of one parameter set.
///
/// Everything is bytes: keys are only a few seeds and a root. Signing is deterministic if the
/// implementation lets us choose, which only changes the hashed values; contexts are empty, as in X.509.
pub trait Slh {
    /// A signing key in memory.
    type SigningKey;

    /// Whether the implementation draws the randomness of key generation and of signing
    /// itself, because its interface takes none.
    const DRAWS_RANDOMNESS: bool = false;

    /// Whether the signatures are those of FIPS 205, and not of its predecessor SPHINCS⁺, which takes the
    /// indices of FORS from a digest in another order, with the same work and the same keys.
    const IS_STANDARD: bool = true;

    /// The name of the row.
    fn name(&self) -> String;

    /// Generates a key pair from SK.seed ‖ SK.prf ‖ PK.seed, if it can, and writes the
    /// verifying key.
    fn generate(&self, seed: &[u8], verifying_key: &mut [u8]);

    /// Reads a signing key. Not timed.
    fn load(&self, signing_key: &[u8]) -> Self::SigningKey;

    /// Signs, and writes the signature.
    fn sign(&self, key: &Self::SigningKey, message: &[u8], signature: &mut [u8]);

    /// Reads the verifying key and the signature, and verifies.
    fn verify(&self, verifying_key: &[u8], message: &[u8], signature: &[u8]) -> bool;

    /// The program that performs the operations instead of this process, if there is one.
    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        None
    }
}

operations! {
    /// From the seeds to the verifying key's bytes.
    KeyGeneration = "key-generation",
    /// From the message to the signature's bytes, with the key in memory.
    Signing = "signing",
    /// From the bytes of the verifying key and the signature.
    Verification = "verification",
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

impl<S: Slh> Implementation<Operation> for S {
    fn name(&self) -> String {
        Slh::name(self)
    }

    fn check(&self, inputs: &Inputs) {
        let name = Slh::name(self);
        let Inputs {
            verifying_key,
            signed,
            ..
        } = inputs;
        let mut generated = vec![0; verifying_key.len()];
        self.generate(&inputs.seed, &mut generated);
        if !S::DRAWS_RANDOMNESS {
            assert_eq!(generated, *verifying_key, "{name}");
        }

        // for pq-core
        let (message, expected) = &signed[0];
        let mut signature = vec![0; expected.len()];
        self.sign(&self.load(&inputs.signing_key), message, &mut signature);
        assert_eq!(
            (inputs.verify)(message, &signature),
            S::IS_STANDARD,
            "{name}"
        );
        if !S::DRAWS_RANDOMNESS {
            assert_eq!(signature, *expected, "{name}");
        }

        // from pq-core, or its own
        let own = [(message.clone(), signature)];
        let signed = if S::IS_STANDARD { &signed[..] } else { &own };
        for (message, signature) in signed {
            assert!(self.verify(verifying_key, message, signature), "{name}");
            assert!(
                !self.verify(verifying_key, b"another message", signature),
                "{name}"
            );
        }
    }

    fn passes<'a>(&'a self, operation: Operation, inputs: &'a Inputs) -> Option<Passes<'a>> {
        if let Some(elsewhere) = self.elsewhere() {
            let (key, items) = inputs.items(operation);
            return Some(elsewhere.passes(operation.name(), key, &items));
        }
        Some(match operation {
            Operation::KeyGeneration => {
                let mut verifying_key = vec![0; inputs.verifying_key.len()];
                Passes::new(1, move || {
                    self.generate(black_box(&inputs.seed), &mut verifying_key);
                    black_box(&verifying_key);
                })
            }
            Operation::Signing => {
                let key = self.load(&inputs.signing_key);
                let (message, signature) = &inputs.signed[0];
                let mut signature = vec![0; signature.len()];
                Passes::new(1, move || {
                    self.sign(&key, black_box(message), &mut signature);
                    black_box(&signature);
                })
            }
            Operation::Verification => {
                let mut signed = inputs.signed.clone();
                if !S::IS_STANDARD {
                    let key = self.load(&inputs.signing_key);
                    for (message, signature) in &mut signed {
                        self.sign(&key, message, signature);
                    }
                }
                Passes::new(signed.len(), move || {
                    for (message, signature) in &signed {
                        black_box(self.verify(
                            black_box(&inputs.verifying_key),
                            black_box(message),
                            black_box(signature),
                        ));
                    }
                })
            }
        })
    }
}

/// The inputs for all implementations of a set, and the expected results.
pub struct Inputs {
    seed: Vec<u8>,
    signing_key: Vec<u8>,
    verifying_key: Vec<u8>,
    /// Messages as long as those that a TLS server signs, and their signatures: the lengths of the hash
    /// chains in verification depend on the message.
    signed: Vec<(Vec<u8>, Vec<u8>)>,
    /// pq-core's verification.
    verify: Box<Verify>,
}

/// Verifies a message's signature.
type Verify = dyn Fn(&[u8], &[u8]) -> bool;

impl Inputs {
    fn new<P: ParameterSet>() -> Self {
        const MESSAGES: usize = 4;
        let seed = bytes::<96>("slh-dsa seed", 0);
        let seed = P::SeedLen::from_fn(|i| seed[i]);
        let key = SigningKey::<P>::from_seed(&seed);
        let verifying_key = key.verifying_key().clone();
        let signed = (0..MESSAGES).map(|index| {
            let message = bytes::<130>("message", index).to_vec();
            let signature = key
                .sign_deterministic(&message, b"")
                .expect("an empty context is short enough, and the key is whole");
            (message, signature.as_bytes().to_vec())
        });
        Self {
            seed: seed.as_ref().to_vec(),
            signing_key: key.as_bytes().to_vec(),
            verifying_key: verifying_key.as_bytes().to_vec(),
            signed: signed.collect(),
            verify: Box::new(move |message, signature| {
                verifying_key
                    .verify_bytes(Message::Pure(message), b"", signature)
                    .is_ok()
            }),
        }
    }

    /// An operation's key and other inputs, as a program of its own takes them.
    fn items(&self, operation: Operation) -> (&[u8], Vec<Fields<'_>>) {
        match operation {
            Operation::KeyGeneration => (&[], vec![vec![&self.seed]]),
            Operation::Signing => (&self.signing_key, vec![vec![&self.signed[0].0]]),
            Operation::Verification => {
                let items = self.signed.iter();
                let items = items
                    .map(|(message, signature)| vec![&self.verifying_key[..], message, signature]);
                (&[], items.collect())
            }
        }
    }
}
