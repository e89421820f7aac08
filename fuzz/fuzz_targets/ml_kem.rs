//! ML-KEM beside RustCrypto's, on every backend: which keys are accepted, and which secrets
//! arbitrary ciphertexts give.
#![no_main]
// RustCrypto deprecates expanded keys in favor of seeds.
#![expect(deprecated, reason = "what becomes of expanded keys is compared, too")]

use arbitrary::Arbitrary;
use fuzz::Bytes;
use libfuzzer_sys::fuzz_target;
use ml_kem::{Decapsulate, ExpandedKeyEncoding, KeyExport};
use pq_core::arch;
use pq_core::ml_kem::{
    Ciphertext, DecapsulationKey, EncapsulationKey, MlKem512, MlKem768, MlKem1024, ParameterSet,
    batch,
};
use pq_core::on_each_backend;

fuzz_target!(|input: Input<'_>| {
    match input.set {
        Set::MlKem512 => check::<MlKem512>(&input),
        Set::MlKem768 => check::<MlKem768>(&input),
        Set::MlKem1024 => check::<MlKem1024>(&input),
    }
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    set: Set,
    seed: [u8; 64],
    m: [u8; 32],
    /// The changes to the key pair's encapsulation key, to a ciphertext for it, and to the
    /// expanded decapsulation key.
    encapsulation_key: Bytes<'a>,
    ciphertext: Bytes<'a>,
    expanded: Bytes<'a>,
}

#[derive(Arbitrary, Debug)]
enum Set {
    MlKem512,
    MlKem768,
    MlKem1024,
}

fn check<P: Peer>(input: &Input<'_>) {
    let case = Case::new::<P>(input);
    on_each_backend!(b => {
        arch::limit(b);
        let key = DecapsulationKey::<P>::from_seed(&input.seed);
        check_generation(&key, &case, &input.seed);
        check_encapsulation(&key, &case, &input.m);
        check_ciphertext(&key, &case);
        check_expanded::<P>(&case);
    });
}

/// The peer's results for an input: the peer takes longer than we do.
struct Case {
    expanded: Vec<u8>,
    /// A ciphertext for the key pair, and its secret.
    valid: Encapsulated,
    changed_key: Vec<u8>,
    for_changed_key: Option<Encapsulated>,
    changed_ciphertext: Vec<u8>,
    /// `None` if the ciphertext has another length.
    decapsulated: Option<[u8; 32]>,
    changed_expanded: Vec<u8>,
    /// The secret that the changed expanded key decapsulates from the changed ciphertext. `None` if the key
    /// isn't equivalent: only z can change, since nothing else depends on z.
    decapsulated_by_changed: Option<Option<[u8; 32]>>,
}

/// A ciphertext and its secret.
type Encapsulated = (Vec<u8>, [u8; 32]);

impl Case {
    fn new<P: Peer>(input: &Input<'_>) -> Self {
        let (expanded, key) = P::generate(&input.seed);
        let valid = P::encapsulate(&key, &input.m).expect("a valid key");
        let changed_key = input.encapsulation_key.of(&key);
        let changed_ciphertext = input.ciphertext.of(&valid.0);
        let changed_expanded = input.expanded.of(&expanded);
        let z_at = expanded.len() - 32;
        let is_consistent = changed_expanded.len() == expanded.len()
            && changed_expanded[..z_at] == expanded[..z_at];
        Self {
            for_changed_key: P::encapsulate(&changed_key, &input.m),
            decapsulated: P::decapsulate(&expanded, &changed_ciphertext),
            decapsulated_by_changed: is_consistent
                .then(|| P::decapsulate(&changed_expanded, &changed_ciphertext)),
            expanded,
            valid,
            changed_key,
            changed_ciphertext,
            changed_expanded,
        }
    }
}

fn check_generation<P: Peer>(key: &DecapsulationKey<P>, case: &Case, seed: &[u8; 64]) {
    let mut result = None::<DecapsulationKey<P>>;
    batch::generate([batch::Generate {
        seed,
        result: &mut result,
    }]);
    let mut place = None;
    let in_place = DecapsulationKey::<P>::from_seed_into(seed, &mut place);
    let [mut copy, other] = [key, in_place].map(DecapsulationKey::clone);
    copy.clone_from(&other);
    for key in [key, &result.expect("a key"), in_place, &other, &copy] {
        assert_eq!(key.to_expanded().as_ref(), case.expanded);
        assert_eq!(key.seed(), Some(seed));
        assert_eq!(
            format!("{key:?}"),
            format!("DecapsulationKey<{}>(..)", P::NAME)
        );
    }
}

/// Checks that we accept the keys that the peer accepts, and that the secret is the same.
fn check_encapsulation<P: Peer>(key: &DecapsulationKey<P>, case: &Case, m: &[u8; 32]) {
    let valid = key.encapsulation_key();
    let changed = EncapsulationKey::<P>::from_bytes(&case.changed_key);
    let mut results = [const { None }; 3];
    let keys = [valid.as_bytes(), &case.changed_key, valid.as_bytes()];
    batch::encapsulate::<P>(keys.into_iter().zip(&mut results).map(|(key, result)| {
        batch::Encapsulate {
            key,
            randomness: m,
            result,
        }
    }));
    let expected = [
        Ok(valid.encapsulate(m)),
        changed.map(|key| key.encapsulate(m)),
        Ok(valid.encapsulate(m)),
    ];
    assert_eq!(results.as_ref(), expected.clone().map(Some));
    let [valid, changed, _] = expected.map(|result| {
        let (ciphertext, secret) = result.ok()?;
        Some((ciphertext.as_bytes().to_vec(), *secret.as_bytes()))
    });
    assert_eq!(valid.as_ref(), Some(&case.valid));
    assert_eq!(changed, case.for_changed_key);
}

/// Checks that any ciphertext gives the same secret as the peer's.
fn check_ciphertext<P: Peer>(key: &DecapsulationKey<P>, case: &Case) {
    let mut results = [const { None }; 2];
    let ciphertexts = [&case.valid.0, &case.changed_ciphertext];
    batch::decapsulate(
        ciphertexts
            .into_iter()
            .zip(&mut results)
            .map(|(ciphertext, result)| batch::Decapsulate {
                key,
                ciphertext,
                result,
            }),
    );
    let expected = ciphertexts.map(|ciphertext| decapsulate(key, ciphertext));
    let results = results.map(|result| result?.ok());
    assert_eq!(
        results.map(|secret| secret.map(|secret| *secret.as_bytes())),
        expected
    );
    assert_eq!(expected, [Some(case.valid.1), case.decapsulated]);
}

fn check_expanded<P: Peer>(case: &Case) {
    let mut place = None;
    let in_place = DecapsulationKey::<P>::from_expanded_into(&case.changed_expanded, &mut place);
    match in_place {
        Ok(key) => assert_eq!(key.to_expanded().as_ref(), case.changed_expanded),
        Err(_) => assert_eq!(case.decapsulated_by_changed, None),
    }
    match DecapsulationKey::<P>::from_expanded(&case.changed_expanded) {
        Ok(key) => {
            assert_eq!(key.to_expanded().as_ref(), case.changed_expanded);
            let secret = decapsulate(&key, &case.changed_ciphertext);
            assert_eq!(Some(secret), case.decapsulated_by_changed);
            assert_eq!(decapsulate(&key, &case.valid.0), Some(case.valid.1));
        }
        Err(_) => assert_eq!(case.decapsulated_by_changed, None),
    }
}

/// `None` if the ciphertext has another length.
fn decapsulate<P: Peer>(key: &DecapsulationKey<P>, ciphertext: &[u8]) -> Option<[u8; 32]> {
    let ciphertext = Ciphertext::from_bytes(ciphertext).ok()?;
    Some(*key.decapsulate(&ciphertext).as_bytes())
}

/// RustCrypto's implementation of the same parameter set.
trait Peer: ParameterSet {
    /// The expanded key and the encapsulation key.
    fn generate(seed: &[u8; 64]) -> (Vec<u8>, Vec<u8>);
    /// `None` if `key` isn't one.
    fn encapsulate(key: &[u8], m: &[u8; 32]) -> Option<Encapsulated>;
    /// Decapsulates with a valid expanded key; `None` if the ciphertext has another length.
    fn decapsulate(expanded: &[u8], ciphertext: &[u8]) -> Option<[u8; 32]>;
}

macro_rules! peers {
    ($($set:ident),+) => {$(
        impl Peer for $set {
            fn generate(seed: &[u8; 64]) -> (Vec<u8>, Vec<u8>) {
                let key = ml_kem::DecapsulationKey::<ml_kem::$set>::from_seed((*seed).into());
                let encapsulation_key = key.encapsulation_key().to_bytes();
                (key.to_expanded_bytes().to_vec(), encapsulation_key.to_vec())
            }

            fn encapsulate(key: &[u8], m: &[u8; 32]) -> Option<Encapsulated> {
                let key = key.try_into().ok()?;
                let key = ml_kem::EncapsulationKey::<ml_kem::$set>::new(key).ok()?;
                let (ciphertext, secret) = key.encapsulate_deterministic(&(*m).into());
                Some((ciphertext.to_vec(), secret.into()))
            }

            fn decapsulate(expanded: &[u8], ciphertext: &[u8]) -> Option<[u8; 32]> {
                let expanded = expanded.try_into().expect("of the right length");
                ml_kem::DecapsulationKey::<ml_kem::$set>::from_expanded_bytes(expanded)
                    .expect("a valid key")
                    .decapsulate_slice(ciphertext)
                    .ok()
                    .map(Into::into)
            }
        }
    )+};
}

peers!(MlKem512, MlKem768, MlKem1024);
