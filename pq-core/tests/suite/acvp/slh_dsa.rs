//! SLH-DSA: keyGen, sigGen and sigVer.

use core::fmt;

use pq_core::arch::Backend;
use pq_core::slh_dsa::{Message, ParameterSet, Signature, SigningKey, VerifyingKey, internal};
use pq_core::{Dimension, Error};
use serde::Deserialize;

use super::{Hex, Vectors};
use crate::messages::{self, Hash};
use crate::parameter_sets::array;
use crate::tally::Tally;

#[test]
fn key_generation_with_fast_sets() {
    key_generation('f');
}

#[test]
#[ignore = "takes seconds: `.ci/run core_tests` runs it"]
fn key_generation_with_small_sets() {
    key_generation('s');
}

/// Tests the sets whose name ends with `speed`: half of all.
fn key_generation(speed: char) {
    let path = "SLH-DSA-keyGen-FIPS205/internalProjection";
    let Some(vectors) = Vectors::<KeyGenGroup>::load(path, "SLH-DSA", "keyGen") else {
        return;
    };
    let mut tally = Tally::new(format_args!("ACVP {path}, {speed} sets"));
    let groups = vectors.groups.iter();
    for group in groups.filter(|group| group.parameter_set.ends_with(speed)) {
        let set = &*group.parameter_set;
        for case in &group.tests {
            with_slh_dsa!(set, P => {
                let seed = array::<<P as ParameterSet>::SeedLen>(&case.seed());
                case.check(&SigningKey::<P>::from_seed(&seed));
                case.check(&SigningKey::<P>::from_bytes(&case.sk).expect("of the right length"));
                on_each_backend!(backend => {
                    case.check(&internal::keygen::<P, _>(backend, &seed));
                });
            });
            tally.count(format_args!("{set} keyGen {}", group.test_type));
        }
    }
    tally.finish(vectors.cases / 2);
}

#[test]
fn signature_generation_with_fast_sets() {
    signature_generation('f');
}

#[test]
#[ignore = "takes a minute: `.ci/run core_tests` runs it"]
fn signature_generation_with_small_sets() {
    signature_generation('s');
}

/// Tests the groups of the sets whose name ends with `speed`: half of all.
fn signature_generation(speed: char) {
    let path = "SLH-DSA-sigGen-FIPS205/subset";
    let Some(vectors) = Vectors::<SigGenGroup>::load(path, "SLH-DSA", "sigGen") else {
        return;
    };
    let mut tally = Tally::new(format_args!("ACVP {path}, {speed} sets"));
    let groups = vectors.groups.iter();
    for group in groups.filter(|group| group.parameter_set.ends_with(speed)) {
        let set = &*group.parameter_set;
        for case in &group.tests {
            let id = case.id;
            assert_eq!(group.deterministic, case.randomness.is_none(), "case {id}");
            let input = case.input.parse(group.interface(), id);
            with_slh_dsa!(set, P => {
                let key = SigningKey::<P>::from_bytes(&case.sk).expect("of the right length");
                case.check(&key, &input);
                check_verdict(key.verifying_key(), &input, &case.signature, Ok(()), id);
                on_each_backend!(backend => {
                    case.check_internal(backend, &key, &input);
                });
            });
            let randomness = if group.deterministic {
                "deterministic"
            } else {
                "hedged"
            };
            tally.count(format_args!("{set} {randomness}, {input}"));
        }
    }
    tally.finish(vectors.cases / 2);
}

#[test]
fn signature_verification() {
    let path = "SLH-DSA-sigVer-FIPS205/internalProjection";
    let Some(vectors) = Vectors::<SigVerGroup>::load(path, "SLH-DSA", "sigVer") else {
        return;
    };
    let mut tally = Tally::new(format_args!("ACVP {path}"));
    for group in &vectors.groups {
        let set = &*group.parameter_set;
        for case in &group.tests {
            let id = case.id;
            let input = Input::Internal(&case.message);
            with_slh_dsa!(set, P => {
                let key = VerifyingKey::<P>::from_bytes(&case.pk).expect("of the right length");
                let expected = match case.reason {
                    Reason::Valid => Ok(()),
                    Reason::TooLarge | Reason::TooSmall => Err(Error::WrongLength {
                        expected: P::SIGNATURE_LEN,
                        actual: case.signature.len(),
                    }),
                    _ => Err(Error::InvalidSignature),
                };
                assert_eq!(expected.is_ok(), case.passed, "case {id}");
                check_verdict(&key, &input, &case.signature, expected, id);
                let signing_key = SigningKey::<P>::from_bytes(&case.sk).expect("of the right length");
                assert_eq!(*signing_key.verifying_key(), key, "case {id}");
                // The tests of signature generation cover the s sets.
                if expected.is_ok() && set.ends_with('f') {
                    let randomness = array::<<P as ParameterSet>::N>(&case.additional_randomness);
                    on_each_backend!(backend => {
                        let signature =
                            internal::sign(backend, &signing_key, &[&case.message], Some(&randomness));
                        let signature = signature.expect("a consistent key");
                        assert!(signature.as_bytes() == &*case.signature, "case {id}");
                    });
                }
            });
            tally.count(format_args!("{set} {input}, {:?}", case.reason));
        }
    }
    tally.finish(vectors.cases);
}

/// Verifies through the public API and on every backend.
fn check_verdict<P: ParameterSet>(
    key: &VerifyingKey<P>,
    input: &Input<'_>,
    signature: &[u8],
    expected: Result<(), Error>,
    id: u32,
) {
    let parsed = Signature::<P>::from_bytes(signature);
    if let Input::External { message, context } = *input {
        let verdict = key.verify_bytes(message, context, signature);
        assert_eq!(verdict, expected, "case {id}");
        if let Message::Hashed(hash, bytes) = message {
            let digest = Hash::of(hash).digest(bytes);
            let verdict = key.verify_bytes(Message::Digest(hash, &digest), context, signature);
            assert_eq!(verdict, expected, "case {id}");
        }
        if let Ok(signature) = &parsed {
            let verdict = match message {
                Message::Pure(message) => key.verify(message, context, signature),
                Message::Hashed(hash, message) => {
                    key.hash_verify(hash, message, context, signature)
                }
                Message::Digest(..) => unreachable!("files have messages"),
            };
            assert_eq!(verdict, expected, "case {id}");
        }
    }
    match parsed {
        Ok(signature) => {
            let m = input.message_representative();
            let (head, tail) = m.split_at(m.len() / 2);
            on_each_backend!(backend => {
                let verdict = internal::verify(backend, key, &[head, tail], &signature);
                assert_eq!(verdict, expected.is_ok(), "case {id}");
            });
        }
        Err(error) => assert_eq!(Err(error), expected, "case {id}"),
    }
}

/// The data to be signed, and the interface.
#[derive(Clone, Copy)]
enum Input<'a> {
    External {
        message: Message<'a>,
        context: &'a [u8],
    },
    Internal(&'a [u8]),
}

impl Input<'_> {
    fn message_representative(&self) -> Vec<u8> {
        match *self {
            Self::External { message, context } => match message {
                Message::Pure(message) => messages::pure_message_representative(message, context),
                Message::Hashed(hash, message) => {
                    Hash::of(hash).message_representative(message, context)
                }
                Message::Digest(..) => unreachable!("files have messages"),
            },
            Self::Internal(message_representative) => message_representative.to_vec(),
        }
    }
}

/// The kind of case, for the counts.
impl fmt::Display for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::External { message, .. } => match message {
                Message::Pure(_) => f.write_str("pure"),
                Message::Hashed(hash, _) | Message::Digest(hash, _) => {
                    write!(f, "pre-hash {}", Hash::of(*hash).name)
                }
            },
            Self::Internal(_) => f.write_str("internal"),
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
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct KeyGen {
    #[serde(rename = "tcId")]
    id: u32,
    #[serde(rename = "deferred")]
    _deferred: bool,
    sk_seed: Hex,
    sk_prf: Hex,
    pk_seed: Hex,
    pk: Hex,
    sk: Hex,
}

impl KeyGen {
    fn seed(&self) -> Vec<u8> {
        [&*self.sk_seed, &self.sk_prf, &self.pk_seed].concat()
    }

    fn check<P: ParameterSet>(&self, key: &SigningKey<P>) {
        let id = self.id;
        assert_eq!(key.verifying_key().as_bytes(), &*self.pk, "case {id}");
        assert_eq!(key.as_bytes(), &*self.sk, "case {id}");
    }
}

/// Unknown fields and values make the file unreadable, so that a new mode
/// can't go unnoticed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SigGenGroup {
    #[serde(rename = "tgId")]
    _id: u32,
    #[serde(rename = "testType")]
    _test_type: TestType,
    parameter_set: String,
    deterministic: bool,
    signature_interface: SignatureInterface,
    pre_hash: Option<PreHashMode>,
    tests: Vec<SigGen>,
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
    Pure,
    PreHash,
}

#[derive(Clone, Copy, Debug)]
enum Interface {
    Pure,
    PreHash,
    Internal,
}

impl SigGenGroup {
    fn interface(&self) -> Interface {
        match (self.signature_interface, self.pre_hash) {
            (SignatureInterface::External, Some(PreHashMode::Pure)) => Interface::Pure,
            (SignatureInterface::External, Some(PreHashMode::PreHash)) => Interface::PreHash,
            (SignatureInterface::Internal, None) => Interface::Internal,
            unknown => panic!("unknown interface {unknown:?}"),
        }
    }
}

#[derive(Deserialize)]
struct SigGen {
    #[serde(rename = "tcId")]
    id: u32,
    sk: Hex,
    #[serde(rename = "additionalRandomness")]
    randomness: Option<Hex>,
    signature: Hex,
    #[serde(flatten)]
    input: InputFields,
}

impl SigGen {
    /// Signs through the public API, where it covers the case.
    fn check<P: ParameterSet>(&self, key: &SigningKey<P>, input: &Input<'_>) {
        let randomness = self.randomness.as_deref().map(array::<P::N>);
        let Input::External { message, context } = *input else {
            return;
        };
        let mut signature = vec![0; P::SIGNATURE_LEN];
        let result = key.sign_into(
            message,
            context,
            randomness.as_ref(),
            &|_| (),
            &mut signature,
        );
        if let Message::Hashed(hash, _) = message
            && !Hash::of(hash).is_signed_with(8 * P::N::N)
        {
            // the vectors have more than the standard allows
            let refused = matches!(result, Err(Error::WeakHash { .. }));
            assert!(refused, "case {}", self.id);
            return;
        }
        assert_eq!(result, Ok(()), "case {}", self.id);
        self.assert_same(&signature);
        let signature = match (message, &randomness) {
            (Message::Pure(message), Some(randomness)) => key.sign(message, context, randomness),
            (Message::Pure(message), None) => key.sign_deterministic(message, context),
            (Message::Hashed(hash, message), Some(randomness)) => {
                key.hash_sign(hash, message, context, randomness)
            }
            _ => return,
        };
        self.assert_same(signature.expect("a consistent key").as_bytes());
    }

    /// Signs through slh_sign_internal, with M′ in two parts.
    fn check_internal<P: ParameterSet, B: Backend>(
        &self,
        backend: B,
        key: &SigningKey<P>,
        input: &Input<'_>,
    ) {
        let randomness = self.randomness.as_deref().map(array::<P::N>);
        let m = input.message_representative();
        let (head, tail) = m.split_at(m.len() / 2);
        let signature = internal::sign(backend, key, &[head, tail], randomness.as_ref());
        self.assert_same(signature.expect("a consistent key").as_bytes());
    }

    /// Compares without printing: signatures are too long for that.
    fn assert_same(&self, signature: &[u8]) {
        assert!(signature == &*self.signature, "case {}", self.id);
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SigVerGroup {
    #[serde(rename = "tgId")]
    _id: u32,
    #[serde(rename = "testType")]
    _test_type: TestType,
    parameter_set: String,
    #[serde(rename = "messageLengths")]
    _message_lengths: serde_json::Value,
    tests: Vec<SigVer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SigVer {
    #[serde(rename = "tcId")]
    id: u32,
    #[serde(rename = "testPassed")]
    passed: bool,
    #[serde(rename = "deferred")]
    _deferred: bool,
    pk: Hex,
    sk: Hex,
    additional_randomness: Hex,
    #[serde(rename = "messageLength")]
    _message_length: usize,
    message: Hex,
    signature: Hex,
    reason: Reason,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
enum Reason {
    #[serde(rename = "valid signature and message - signature should verify successfully")]
    Valid,
    #[serde(rename = "message altered")]
    ModifiedMessage,
    #[serde(rename = "modified signature - R modified")]
    ModifiedR,
    #[serde(rename = "modified signature - SIGFORS modified")]
    ModifiedFors,
    #[serde(rename = "modified signature - SIGHT modified")]
    ModifiedHypertree,
    #[serde(rename = "invalid signature - signature is too large")]
    TooLarge,
    #[serde(rename = "invalid signature - signature is too small")]
    TooSmall,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InputFields {
    message: Hex,
    context: Option<Hex>,
    hash_alg: Option<String>,
}

impl InputFields {
    /// The input, which must have exactly the fields of its interface.
    fn parse(&self, interface: Interface, id: u32) -> Input<'_> {
        let message = &*self.message;
        match (interface, &self.context, &self.hash_alg) {
            (Interface::Pure, Some(context), None) => Input::External {
                message: Message::Pure(message),
                context,
            },
            (Interface::PreHash, Some(context), Some(name)) => Input::External {
                message: Message::Hashed(Hash::named(name).pre_hash, message),
                context,
            },
            (Interface::Internal, None, None) => Input::Internal(message),
            _ => panic!("case {id}: its fields don't fit {interface:?}"),
        }
    }
}
