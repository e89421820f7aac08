//! ML-DSA: keyGen, sigGen and sigVer.

use core::fmt;
use std::collections::HashMap;

use pq_core::Error;
use pq_core::arch::Backend;
use pq_core::ml_dsa::{ParameterSet, Signature, SigningKey, VerifyingKey, internal};
use serde::Deserialize;

use super::{Hex, Vectors};
use crate::messages::{self, Hash};
use crate::tally::Tally;

#[test]
fn key_generation() {
    let path = "ML-DSA-keyGen-FIPS204/internalProjection";
    let Some(vectors) = Vectors::<KeyGenGroup>::load(path, "ML-DSA", "keyGen") else {
        return;
    };
    let mut tally = Tally::new(format_args!("ACVP {path}"));
    for group in &vectors.groups {
        let set = &*group.parameter_set;
        for case in &group.tests {
            with_ml_dsa!(set, P => {
                case.check(&SigningKey::<P>::from_seed(case.seed.array()));
                case.check(&parse_expanded::<P>(&case.sk, case.id));
                on_each_backend!(
                    backend => case.check(&internal::keygen::<P, _>(backend, case.seed.array()))
                );
            });
            tally.count(format_args!("{set} keyGen {}", group.test_type));
        }
    }
    tally.finish(vectors.cases);
}

#[test]
fn signature_generation() {
    let folder = "ML-DSA-sigGen-FIPS204";
    let prompt = format!("{folder}/prompt");
    let Some(prompt) = Vectors::<Group<SigGen>>::load(&prompt, "ML-DSA", "sigGen") else {
        return;
    };
    let expected = format!("{folder}/expectedResults");
    let expected = Vectors::<Results>::load(&expected, "ML-DSA", "sigGen")
        .expect("beside the prompt that was just read");
    let expected = expected.groups.into_iter().flat_map(|group| group.tests);
    let mut expected: HashMap<u32, Hex> = expected.map(|case| (case.id, case.signature)).collect();

    let mut tally = Tally::new(format_args!("ACVP {folder}"));
    for group in &prompt.groups {
        let set = &*group.parameter_set;
        let deterministic = group.deterministic.expect("said in every group");
        for case in &group.tests {
            let id = case.id;
            let rnd = match (deterministic, &case.rnd) {
                (true, None) => &[0; 32],
                (false, Some(rnd)) => rnd.array(),
                _ => panic!("case {id}: rnd contradicts its group"),
            };
            let input = case.input.parse(group.interface(), id);
            let signature = expected
                .remove(&id)
                .unwrap_or_else(|| panic!("case {id} has no result"));
            with_ml_dsa!(set, P => {
                let key = parse_expanded::<P>(&case.sk, id);
                let signature = Signature::from_bytes(&signature).expect("of the right length");
                check_signing(&key, &input, rnd, &signature, id);
                check_verdict(key.verifying_key(), &input, &signature, true, id);
                on_each_backend!(backend => {
                    check_signing_internal(backend, &key, &input, rnd, &signature, id);
                });
            });
            let randomness = if deterministic {
                "deterministic"
            } else {
                "hedged"
            };
            tally.count(format_args!("{set} {randomness}, {input}"));
        }
    }
    assert_eq!(expected.len(), 0, "results without a prompt");
    tally.finish(prompt.cases);
}

#[test]
fn signature_verification() {
    let path = "ML-DSA-sigVer-FIPS204/internalProjection";
    let Some(vectors) = Vectors::<Group<SigVer>>::load(path, "ML-DSA", "sigVer") else {
        return;
    };
    let mut tally = Tally::new(format_args!("ACVP {path}"));
    for group in &vectors.groups {
        let set = &*group.parameter_set;
        for case in &group.tests {
            let SigVer { id, passed, .. } = *case;
            let input = case.input.parse(group.interface(), id);
            with_ml_dsa!(set, P => {
                let key = VerifyingKey::<P>::from_bytes(&case.pk).expect("of the right length");
                let signature =
                    Signature::<P>::from_bytes(&case.signature).expect("of the right length");
                check_verdict(&key, &input, &signature, passed, id);
                on_each_backend!(backend => {
                    check_verdict_internal(backend, &key, &input, &signature, passed, id);
                });
                assert_eq!(parse_expanded(&case.sk, id).verifying_key(), &key, "case {id}");
            });
            assert_eq!(passed, case.reason == Reason::Valid, "case {id}");
            tally.count(format_args!("{set} {input}, {:?}", case.reason));
        }
    }
    tally.finish(vectors.cases);
}

/// Signs through every function of the public API that covers the case.
fn check_signing<P: ParameterSet>(
    key: &SigningKey<P>,
    input: &Input<'_>,
    rnd: &[u8; 32],
    expected: &Signature<P>,
    id: u32,
) {
    let vk = key.verifying_key();
    let mut signatures = vec![Ok(key.sign_mu(&input.mu(vk), rnd))];
    match *input {
        Input::Pure { message, context } => {
            signatures.push(key.sign(message, context, rnd));
            if *rnd == [0; 32] {
                signatures.push(key.sign_deterministic(message, context));
            }
            assert_eq!(vk.mu(message, context), Ok(input.mu(vk)), "case {id}");
        }
        Input::PreHash {
            hash,
            message,
            context,
        } => {
            let digest = hash.digest(message);
            for signed in [
                key.hash_sign(hash.pre_hash, message, context, rnd),
                key.sign_digest(hash.pre_hash, &digest, context, rnd),
            ] {
                if hash.is_signed_with(P::LAMBDA) {
                    signatures.push(signed);
                } else {
                    // the vectors have more than the standard allows
                    assert!(matches!(signed, Err(Error::WeakHash { .. })), "case {id}");
                }
            }
        }
        Input::ExternalMu { .. } | Input::Internal { .. } => {}
    }
    for signature in signatures {
        assert_eq!(signature.as_ref(), Ok(expected), "case {id}");
    }
}

/// Signs through ML-DSA.Sign_internal, with M′ in one part and in two.
fn check_signing_internal<P: ParameterSet, B: Backend>(
    backend: B,
    key: &SigningKey<P>,
    input: &Input<'_>,
    rnd: &[u8; 32],
    expected: &Signature<P>,
    id: u32,
) {
    // if µ comes from outside, there is no M′
    let Some(m) = input.message_representative() else {
        return;
    };
    let (head, tail) = m.split_at(m.len() / 2);
    for parts in [&[&*m][..], &[head, tail]] {
        let signature = internal::sign(backend, key, parts, rnd);
        assert_eq!(&signature, expected, "case {id}");
    }
}

/// Verifies through every function of the public API that covers the case.
fn check_verdict<P: ParameterSet>(
    key: &VerifyingKey<P>,
    input: &Input<'_>,
    signature: &Signature<P>,
    valid: bool,
    id: u32,
) {
    let expanded = key.expand();
    assert_eq!(expanded.verifying_key(), key, "case {id}");
    let mu = input.mu(key);
    let mut verdicts = vec![
        key.verify_mu(&mu, signature),
        expanded.verify_mu(&mu, signature),
    ];
    match *input {
        Input::Pure { message, context } => verdicts.extend([
            key.verify(message, context, signature),
            expanded.verify(message, context, signature),
        ]),
        Input::PreHash {
            hash,
            message,
            context,
        } => {
            let digest = hash.digest(message);
            verdicts.extend([
                key.hash_verify(hash.pre_hash, message, context, signature),
                expanded.hash_verify(hash.pre_hash, message, context, signature),
                key.verify_digest(hash.pre_hash, &digest, context, signature),
                expanded.verify_digest(hash.pre_hash, &digest, context, signature),
            ]);
        }
        Input::ExternalMu { .. } | Input::Internal { .. } => {}
    }
    let expected = if valid {
        Ok(())
    } else {
        Err(Error::InvalidSignature)
    };
    for verdict in verdicts {
        assert_eq!(verdict, expected, "case {id}");
    }
}

/// Verifies through ML-DSA.Verify_internal, with M′ in one part and in two.
fn check_verdict_internal<P: ParameterSet, B: Backend>(
    backend: B,
    key: &VerifyingKey<P>,
    input: &Input<'_>,
    signature: &Signature<P>,
    valid: bool,
    id: u32,
) {
    // if µ comes from outside, there is no M′
    let Some(m) = input.message_representative() else {
        return;
    };
    let (head, tail) = m.split_at(m.len() / 2);
    for parts in [&[&*m][..], &[head, tail]] {
        let verdict = internal::verify(backend, key, parts, signature);
        assert_eq!(verdict, valid, "case {id}");
    }
}

fn parse_expanded<P: ParameterSet>(sk: &[u8], id: u32) -> SigningKey<P> {
    let key =
        SigningKey::<P>::from_expanded(sk).unwrap_or_else(|error| panic!("case {id}: {error}"));
    assert_eq!(key.to_expanded().as_ref(), sk, "case {id}");
    key
}

/// The data to be signed, and the interface.
#[derive(Clone, Copy)]
enum Input<'a> {
    Pure {
        message: &'a [u8],
        context: &'a [u8],
    },
    PreHash {
        hash: &'static Hash,
        message: &'a [u8],
        context: &'a [u8],
    },
    ExternalMu {
        mu: &'a [u8; 64],
    },
    Internal {
        message_representative: &'a [u8],
    },
}

impl Input<'_> {
    fn message_representative(&self) -> Option<Vec<u8>> {
        match *self {
            Self::Pure { message, context } => {
                Some(messages::pure_message_representative(message, context))
            }
            Self::PreHash {
                hash,
                message,
                context,
            } => Some(hash.message_representative(message, context)),
            Self::ExternalMu { .. } => None,
            Self::Internal {
                message_representative,
            } => Some(message_representative.to_vec()),
        }
    }

    fn mu<P: ParameterSet>(&self, key: &VerifyingKey<P>) -> [u8; 64] {
        match (*self, self.message_representative()) {
            (Self::ExternalMu { mu }, _) => *mu,
            (_, Some(m)) => messages::mu(key.as_bytes(), &m),
            (_, None) => unreachable!("all others have a message"),
        }
    }
}

/// The kind of case, for the counts.
impl fmt::Display for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pure { .. } => f.write_str("pure"),
            Self::PreHash { hash, .. } => write!(f, "pre-hash {}", hash.name),
            Self::ExternalMu { .. } => f.write_str("internal, external µ"),
            Self::Internal { .. } => f.write_str("internal, message"),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct KeyGenGroup {
    #[serde(rename = "tgId")]
    _id: u32,
    test_type: String,
    parameter_set: String,
    tests: Vec<KeyGen>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyGen {
    #[serde(rename = "tcId")]
    id: u32,
    #[serde(rename = "deferred")]
    _deferred: bool,
    seed: Hex,
    pk: Hex,
    sk: Hex,
}

impl KeyGen {
    fn check<P: ParameterSet>(&self, key: &SigningKey<P>) {
        let id = self.id;
        assert_eq!(key.verifying_key().as_bytes(), &*self.pk, "case {id}");
        assert_eq!(key.to_expanded().as_ref(), &*self.sk, "case {id}");
        if let Some(seed) = key.seed() {
            assert_eq!(seed, self.seed.array(), "case {id}");
        }
    }
}

/// A group of sigGen or sigVer. Unknown fields and values make the
/// file unreadable, so that a new mode can't go unnoticed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Group<C> {
    #[serde(rename = "tgId")]
    _id: u32,
    #[serde(rename = "testType")]
    _test_type: TestType,
    parameter_set: String,
    deterministic: Option<bool>,
    signature_interface: SignatureInterface,
    pre_hash: Option<PreHashMode>,
    external_mu: Option<bool>,
    tests: Vec<C>,
}

#[derive(Deserialize)]
enum TestType {
    #[serde(rename = "AFT")]
    AlgorithmFunctionalTest,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum SignatureInterface {
    External,
    Internal,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum PreHashMode {
    None,
    Pure,
    PreHash,
}

#[derive(Clone, Copy, Debug)]
enum Interface {
    Pure,
    PreHash,
    ExternalMu,
    Internal,
}

impl<C> Group<C> {
    fn interface(&self) -> Interface {
        match (self.signature_interface, self.pre_hash, self.external_mu) {
            (SignatureInterface::External, Some(PreHashMode::Pure), None | Some(false)) => {
                Interface::Pure
            }
            (SignatureInterface::External, Some(PreHashMode::PreHash), None | Some(false)) => {
                Interface::PreHash
            }
            (SignatureInterface::Internal, None | Some(PreHashMode::None), Some(true)) => {
                Interface::ExternalMu
            }
            (SignatureInterface::Internal, None | Some(PreHashMode::None), Some(false)) => {
                Interface::Internal
            }
            unknown => panic!("unknown interface {unknown:?}"),
        }
    }
}

#[derive(Deserialize)]
struct SigGen {
    #[serde(rename = "tcId")]
    id: u32,
    sk: Hex,
    rnd: Option<Hex>,
    #[serde(flatten)]
    input: InputFields,
}

#[derive(Deserialize)]
struct Results {
    tests: Vec<Expected>,
}

#[derive(Deserialize)]
struct Expected {
    #[serde(rename = "tcId")]
    id: u32,
    signature: Hex,
}

#[derive(Deserialize)]
struct SigVer {
    #[serde(rename = "tcId")]
    id: u32,
    #[serde(rename = "testPassed")]
    passed: bool,
    pk: Hex,
    sk: Hex,
    signature: Hex,
    reason: Reason,
    #[serde(flatten)]
    input: InputFields,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
enum Reason {
    #[serde(rename = "valid signature and message - signature should verify successfully")]
    Valid,
    #[serde(rename = "modified message")]
    ModifiedMessage,
    #[serde(rename = "modified signature - commitment")]
    ModifiedCommitment,
    #[serde(rename = "modified signature - z")]
    ModifiedZ,
    #[serde(rename = "modified signature - hint")]
    ModifiedHint,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InputFields {
    message: Option<Hex>,
    context: Option<Hex>,
    hash_alg: Option<String>,
    mu: Option<Hex>,
}

impl InputFields {
    /// The input, which must have exactly the fields of its interface.
    fn parse(&self, interface: Interface, id: u32) -> Input<'_> {
        let hash_alg = self.hash_alg.as_deref().filter(|name| *name != "none");
        match (interface, &self.message, &self.context, hash_alg, &self.mu) {
            (Interface::Pure, Some(message), Some(context), None, None) => {
                Input::Pure { message, context }
            }
            (Interface::PreHash, Some(message), Some(context), Some(name), None) => {
                Input::PreHash {
                    hash: Hash::named(name),
                    message,
                    context,
                }
            }
            (Interface::ExternalMu, None, None, None, Some(mu)) => {
                Input::ExternalMu { mu: mu.array() }
            }
            (Interface::Internal, Some(message_representative), None, None, None) => {
                Input::Internal {
                    message_representative,
                }
            }
            _ => panic!("case {id}: its fields don't fit {interface:?}"),
        }
    }
}
