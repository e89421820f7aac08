//! ML-DSA: the interface of an implementation, and what is timed.

use core::hint::black_box;

use pq_core::ml_dsa::{ParameterSet, SEED_LEN, Signature, SigningKey, VerifyingKey};

use crate::schemes::elsewhere::{Elsewhere, Fields};
use crate::schemes::inputs::{INPUTS, bytes, several};
use crate::schemes::set::{self, Implementation, Operation as _, Rows, operations};
use crate::timing::Passes;

/// One implementation of one parameter set.
///
/// Keys and signatures are bytes, in and out, as in certificates. Contexts are empty, as
/// in X.509 and TLS.
pub trait Dsa {
    /// A signing key in memory, in the form that signs fastest.
    type SigningKey;

    /// A verifying key in memory, in the form that verifies fastest;
    /// [`Infallible`](core::convert::Infallible) if keys are only bytes.
    type VerifyingKey;

    /// Whether the implementation draws rnd itself when it signs, because its interface
    /// takes none.
    const DRAWS_RND: bool = false;

    /// Whether it draws ξ itself in key generation.
    const DRAWS_SEED: bool = false;

    /// The name of the row.
    fn name(&self) -> String;

    /// Generates a key pair from ξ, if it can, and writes the verifying key.
    fn generate(&self, xi: &[u8; SEED_LEN], verifying_key: &mut [u8]) -> Self::SigningKey;

    /// The same key every time, from ξ or from the expanded key. Not timed.
    fn load(&self, xi: &[u8; SEED_LEN], expanded: &[u8]) -> Self::SigningKey;

    /// Signs with the randomness rnd, if it can, and writes the signature.
    fn sign(&self, key: &Self::SigningKey, message: &[u8], rnd: &[u8; 32], signature: &mut [u8]);

    /// Reads the verifying key and the signature, and verifies.
    fn verify(&self, verifying_key: &[u8], message: &[u8], signature: &[u8]) -> bool;

    /// The verifying key in memory; `None` if the implementation keeps only its bytes. Not timed.
    fn expand(&self, verifying_key: &[u8]) -> Option<Self::VerifyingKey>;

    /// Reads the signature, and verifies.
    fn verify_expanded(&self, key: &Self::VerifyingKey, message: &[u8], signature: &[u8]) -> bool;

    /// The program that performs the operations instead of this process, if there is one.
    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        None
    }
}

operations! {
    /// From the seed to the key in memory and the verifying key's bytes.
    KeyGeneration = "key-generation",
    /// From the message to the signature's bytes, with the key in memory.
    Signing = "signing",
    /// From the bytes of the verifying key and the signature: what TLS does.
    Verification = "verification",
    /// From the bytes of the signature, with the verifying key in memory.
    VerificationExpanded = "verification-expanded",
}

/// Makes the set with this number of messages to sign.
pub type Make = fn(usize) -> Set;

/// One parameter set: its implementations and their inputs.
pub type Set = set::Set<Operation>;

impl Set {
    /// `P` with its inputs, including this number of messages to sign, and its implementations.
    pub(crate) fn of<P: ParameterSet>(messages: usize, rows: Rows<Operation>) -> Self {
        Self::new(P::NAME, Inputs::new::<P>(messages), rows)
    }
}

impl<D: Dsa> Implementation<Operation> for D {
    fn name(&self) -> String {
        Dsa::name(self)
    }

    fn check(&self, inputs: &Inputs) {
        let name = Dsa::name(self);
        let mut generated_key = inputs.empty_verifying_key();
        let mut signature = inputs.empty_signature();
        let key = self.load(&inputs.seeds[0], &inputs.expanded);

        for (i, signed) in inputs.signed.iter().enumerate() {
            let (message, rnd) = &inputs.messages[i % inputs.messages.len()];
            let generated = self.generate(&inputs.seeds[i], &mut generated_key);
            self.sign(&generated, message, rnd, &mut signature);
            assert!(self.verify(&generated_key, message, &signature), "{name}");
            if !D::DRAWS_SEED {
                assert_eq!(generated_key, signed.verifying_key, "{name}");
            }

            // for pq-core
            self.sign(&key, message, rnd, &mut signature);
            assert!((inputs.verify)(message, &signature), "{name}");
            if !D::DRAWS_RND {
                assert_eq!(signature, (inputs.sign)(message, rnd), "{name}");
            }

            // from pq-core
            let vk = &signed.verifying_key;
            assert!(
                self.verify(vk, &signed.message, &signed.signature),
                "{name}"
            );
            assert!(
                !self.verify(vk, b"another message", &signed.signature),
                "{name}"
            );
            if let Some(expanded) = self.expand(vk) {
                assert!(
                    self.verify_expanded(&expanded, &signed.message, &signed.signature),
                    "{name}"
                );
                assert!(
                    !self.verify_expanded(&expanded, b"another message", &signed.signature),
                    "{name}"
                );
            }
        }
    }

    fn passes<'a>(&'a self, operation: Operation, inputs: &'a Inputs) -> Option<Passes<'a>> {
        if let Some(elsewhere) = self.elsewhere() {
            let (key, items) = inputs.items(operation);
            return Some(elsewhere.passes(operation.name(), key, &items));
        }
        Some(match operation {
            Operation::KeyGeneration => {
                let mut verifying_key = inputs.empty_verifying_key();
                Passes::new(INPUTS, move || {
                    for xi in &inputs.seeds {
                        black_box(self.generate(black_box(xi), &mut verifying_key));
                        black_box(&verifying_key);
                    }
                })
            }
            Operation::Signing => {
                let key = self.load(&inputs.seeds[0], &inputs.expanded);
                let mut signature = inputs.empty_signature();
                Passes::new(inputs.messages.len(), move || {
                    for (message, rnd) in &inputs.messages {
                        self.sign(&key, black_box(message), black_box(rnd), &mut signature);
                        black_box(&signature);
                    }
                })
            }
            Operation::Verification => Passes::new(INPUTS, move || {
                for signed in &inputs.signed {
                    let Signed {
                        verifying_key,
                        message,
                        signature,
                    } = black_box(signed);
                    black_box(self.verify(verifying_key, message, signature));
                }
            }),
            Operation::VerificationExpanded => {
                // One key: sixteen expanded ones would measure the L2 cache.
                let key = self.expand(&inputs.signed[0].verifying_key)?;
                Passes::new(INPUTS, move || {
                    for (message, signature) in &inputs.signed_with_one_key {
                        black_box(self.verify_expanded(
                            &key,
                            black_box(message),
                            black_box(signature),
                        ));
                    }
                })
            }
        })
    }
}

/// How many messages a pass of signing signs when it is measured.
///
/// Signing takes a random number of attempts, 4.25, 5.1 and 3.85 on average (FIPS 204,
/// table 1), with a standard deviation almost as large. All implementations that take
/// rnd make exactly the same attempts here, so their ratios are exact for any number of
/// messages. Implementations that draw rnd themselves make other attempts each time. They are
/// comparable only if these messages need the expected number on average. Messages chosen at random
/// would miss it by 5 %; a test allows 2 %.
pub const MESSAGES: usize = 256;

/// The inputs for all implementations of a set, and the expected results.
pub struct Inputs {
    seeds: Vec<[u8; SEED_LEN]>,
    /// The first signing key.
    expanded: Vec<u8>,
    /// Messages to sign with the first key, each with its rnd: hedged signing, with the
    /// same hedge for all.
    messages: Vec<(Vec<u8>, [u8; 32])>,
    /// A message signed with each key.
    signed: Vec<Signed>,
    /// Messages and signatures of the first key.
    signed_with_one_key: Vec<(Vec<u8>, Vec<u8>)>,
    /// pq-core's signing with the first key.
    sign: Box<Sign>,
    /// pq-core's verification with the first key.
    verify: Box<Verify>,
}

/// Makes a signature of a message with rnd.
type Sign = dyn Fn(&[u8], &[u8; 32]) -> Vec<u8>;

/// Verifies a message's signature.
type Verify = dyn Fn(&[u8], &[u8]) -> bool;

struct Signed {
    verifying_key: Vec<u8>,
    message: Vec<u8>,
    signature: Vec<u8>,
}

impl Inputs {
    fn new<P: ParameterSet>(messages: usize) -> Self {
        let seeds = several("xi");
        let messages: Vec<_> = (0..messages).map(message).collect();
        let key = SigningKey::<P>::boxed_from_seed(&seeds[0]);
        let signed = seeds
            .iter()
            .enumerate()
            .map(|(i, xi)| {
                let key = SigningKey::<P>::boxed_from_seed(xi);
                let (message, rnd) = message(i);
                Signed {
                    verifying_key: key.verifying_key().as_bytes().to_vec(),
                    signature: sign(&key, &message, &rnd),
                    message,
                }
            })
            .collect();
        let signed_with_one_key = (0..INPUTS)
            .map(|i| {
                let (message, rnd) = message(i);
                let signature = sign(&key, &message, &rnd);
                (message, signature)
            })
            .collect();
        let verifying_key: VerifyingKey<P> = key.verifying_key().clone();

        Self {
            seeds,
            expanded: key.to_expanded().as_ref().to_vec(),
            messages,
            signed,
            signed_with_one_key,
            verify: Box::new(move |message, signature| {
                Signature::from_bytes(signature)
                    .and_then(|signature| verifying_key.verify(message, b"", &signature))
                    .is_ok()
            }),
            sign: Box::new(move |message, rnd| sign(&key, message, rnd)),
        }
    }

    /// An operation's key and other inputs, as a program of its own takes them.
    fn items(&self, operation: Operation) -> (&[u8], Vec<Fields<'_>>) {
        match operation {
            Operation::KeyGeneration => {
                let items = self.seeds.iter().map(|xi| vec![&xi[..]]);
                (&[], items.collect())
            }
            Operation::Signing => {
                let items = self
                    .messages
                    .iter()
                    .map(|(message, rnd)| vec![&message[..], rnd]);
                (&self.seeds[0], items.collect())
            }
            Operation::Verification => {
                let items = self.signed.iter().map(|signed| {
                    let Signed {
                        verifying_key,
                        message,
                        signature,
                    } = signed;
                    vec![&verifying_key[..], message, signature]
                });
                (&[], items.collect())
            }
            Operation::VerificationExpanded => {
                let items = self.signed_with_one_key.iter();
                let items = items.map(|(message, signature)| vec![&message[..], signature]);
                (&self.signed[0].verifying_key, items.collect())
            }
        }
    }

    fn empty_verifying_key(&self) -> Vec<u8> {
        vec![0; self.signed[0].verifying_key.len()]
    }

    fn empty_signature(&self) -> Vec<u8> {
        vec![0; self.signed[0].signature.len()]
    }
}

/// A message and its rnd. The message is as long as what a TLS server signs: 64 spaces,
/// a label, a zero byte and the hash of the handshake (RFC 8446, section 4.4.3).
fn message(index: usize) -> (Vec<u8>, [u8; 32]) {
    (bytes::<130>("message", index).to_vec(), bytes(RND, index))
}

/// The kind of rnd, one of those for which the number of attempts is the expected one
/// in all three sets ([`MESSAGES`]).
const RND: &str = "rnd 37";

fn sign<P: ParameterSet>(key: &SigningKey<P>, message: &[u8], rnd: &[u8; 32]) -> Vec<u8> {
    key.sign(message, b"", rnd)
        .expect("an empty context is short enough")
        .as_bytes()
        .to_vec()
}

#[cfg(test)]
mod tests {
    use pq_core::ml_dsa::{MlDsa44, MlDsa65, MlDsa87};
    use shake::{ExtendableOutput, Shake256, Update, XofReader};

    use super::*;

    #[test]
    fn messages_need_the_expected_number_of_attempts() {
        // FIPS 204, tables 1 and 2
        assert_expected::<MlDsa44>(
            4.25,
            &Shape {
                l: 4,
                beta: 78,
                gamma1_bits: 17,
                c_len: 32,
            },
        );
        assert_expected::<MlDsa65>(
            5.1,
            &Shape {
                l: 5,
                beta: 196,
                gamma1_bits: 19,
                c_len: 48,
            },
        );
        assert_expected::<MlDsa87>(
            3.85,
            &Shape {
                l: 7,
                beta: 120,
                gamma1_bits: 19,
                c_len: 64,
            },
        );
    }

    fn assert_expected<P: ParameterSet>(expected: f64, shape: &Shape) {
        let inputs = Inputs::new::<P>(MESSAGES);
        let total: usize = inputs
            .messages
            .iter()
            .map(|(message, rnd)| {
                let signature = (inputs.sign)(message, rnd);
                shape.attempts(&inputs.expanded, message, rnd, &signature)
            })
            .sum();
        let mean = total as f64 / MESSAGES as f64;
        assert!((mean / expected - 1.0).abs() < 0.02, "{}: {mean}", P::NAME);
    }

    /// What is needed to compute y of an attempt.
    struct Shape {
        l: usize,
        beta: u32,
        /// log₂ γ₁
        gamma1_bits: usize,
        /// Length of c̃ in bytes.
        c_len: usize,
    }

    impl Shape {
        /// How many attempts the signature took: κ grows by ℓ with each. The last one has z = y + cs₁,
        /// and the coefficients of cs₁ are at most β.
        fn attempts(&self, sk: &[u8], message: &[u8], rnd: &[u8; 32], signature: &[u8]) -> usize {
            let (k, tr) = (&sk[32..64], &sk[64..128]);
            let mu: [u8; 64] = h(&[tr, &[0, 0], message]);
            let rho: [u8; 64] = h(&[k, rnd, &mu]);

            let z = self.first_polynomial(&signature[self.c_len..]);
            let attempt = (0..1000).find(|attempt| {
                let kappa = u16::try_from(attempt * self.l).expect("few attempts");
                let y: [u8; 640] = h(&[&rho, &kappa.to_le_bytes()]);
                let y = self.first_polynomial(&y);
                y.zip(z.clone()).all(|(y, z)| y.abs_diff(z) <= self.beta)
            });
            attempt.expect("the last attempt is among the first thousand") + 1
        }

        /// γ₁ minus each of the first 256 coefficients: the encoding holds these differences.
        fn first_polynomial(&self, bytes: &[u8]) -> impl Iterator<Item = u32> + Clone {
            let bits = self.gamma1_bits + 1;
            (0..256).map(move |i| {
                let (byte, bit) = (i * bits / 8, i * bits % 8);
                let mut window = [0; 4];
                let available = (bytes.len() - byte).min(4);
                window[..available].copy_from_slice(&bytes[byte..][..available]);
                u32::from_le_bytes(window) >> bit & ((1 << bits) - 1)
            })
        }
    }

    /// SHAKE256 of the parts.
    fn h<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
        let mut hash = Shake256::default();
        for part in parts {
            hash.update(part);
        }
        let mut output = [0; N];
        hash.finalize_xof().read(&mut output);
        output
    }
}
