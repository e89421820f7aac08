//! ML-KEM beside RustCrypto's, on every backend: which keys are accepted, and what comes of
//! arbitrary ciphertexts.
#![no_main]
// RustCrypto would rather have seeds than expanded keys.
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
    on_each_backend!(b => {
        arch::limit(b);
        match input.set {
            Set::MlKem512 => check::<MlKem512>(&input),
            Set::MlKem768 => check::<MlKem768>(&input),
            Set::MlKem1024 => check::<MlKem1024>(&input),
        }
    });
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    set: Set,
    seed: [u8; 64],
    m: [u8; 32],
    /// What becomes of the key pair's encapsulation key, of a ciphertext for it, and of the
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
    let key = DecapsulationKey::<P>::from_seed(&input.seed);
    let mut generated = None::<DecapsulationKey<P>>;
    batch::generate([batch::Generate {
        seed: &input.seed,
        result: &mut generated,
    }]);
    let expanded = key.to_expanded().as_ref().to_vec();
    assert_eq!(expanded, P::generate(&input.seed));
    assert_eq!(
        generated.map(|key| key.to_expanded().as_ref().to_vec()),
        Some(expanded.clone())
    );

    check_encapsulation(&key, input);
    check_ciphertext(&key, &expanded, input);
    check_expanded(&key, &expanded, input);
}

/// Bytes are a key for us where they are one for the peer, and the secret is the same.
fn check_encapsulation<P: Peer>(key: &DecapsulationKey<P>, input: &Input<'_>) {
    let bytes = input
        .encapsulation_key
        .of(key.encapsulation_key().as_bytes());
    let ours = EncapsulationKey::<P>::from_bytes(&bytes).map(|key| key.encapsulate(&input.m));
    let mut together = [const { None }; 3];
    let valid = key.encapsulation_key().as_bytes();
    batch::encapsulate([valid, &bytes, valid].into_iter().zip(&mut together).map(
        |(key, result)| batch::Encapsulate {
            key,
            randomness: &input.m,
            result,
        },
    ));
    let [before, alone, after] = together;
    assert_eq!(alone.as_ref(), Some(&ours));
    assert!(before == after && before.is_some_and(|result| result.is_ok()));
    let ours = ours
        .ok()
        .map(|(ciphertext, secret)| (ciphertext.as_bytes().to_vec(), *secret.as_bytes()));
    assert_eq!(ours, P::encapsulate(&bytes, &input.m));
}

/// Any ciphertext gives the secret that it gives to the peer.
fn check_ciphertext<P: Peer>(key: &DecapsulationKey<P>, expanded: &[u8], input: &Input<'_>) {
    let (valid, secret) = key.encapsulation_key().encapsulate(&input.m);
    let bytes = input.ciphertext.of(valid.as_bytes());
    let ours = Ciphertext::from_bytes(&bytes).map(|ciphertext| key.decapsulate(&ciphertext));
    let mut together = [const { None }; 2];
    batch::decapsulate(
        [&bytes, valid.as_bytes()]
            .into_iter()
            .zip(&mut together)
            .map(|(ciphertext, result)| batch::Decapsulate {
                key,
                ciphertext,
                result,
            }),
    );
    assert_eq!(together, [Some(ours.clone()), Some(Ok(secret.clone()))]);
    let Ok(ours) = ours else {
        assert_ne!(bytes.len(), P::CIPHERTEXT_LEN);
        return;
    };
    assert_eq!(*ours.as_bytes(), P::decapsulate(expanded, &bytes));
    assert_eq!(ours == secret, bytes == valid.as_bytes());
}

/// Nothing in an expanded key can be changed but z, which nothing else depends on.
fn check_expanded<P: Peer>(key: &DecapsulationKey<P>, expanded: &[u8], input: &Input<'_>) {
    let bytes = input.expanded.of(expanded);
    let z_at = expanded.len() - 32;
    let consistent = bytes.len() == expanded.len() && bytes[..z_at] == expanded[..z_at];
    match DecapsulationKey::<P>::from_expanded(&bytes) {
        Ok(read) => {
            assert!(consistent || matches!(input.expanded, Bytes::Whole(_)));
            assert_eq!(read.to_expanded().as_ref(), bytes);
            let (mut ciphertext, secret) = key.encapsulation_key().encapsulate(&input.m);
            if consistent {
                assert_eq!(read.decapsulate(&ciphertext), secret);
            }
            let mut rejected = ciphertext.as_bytes().to_vec();
            rejected[0] ^= 1;
            ciphertext = Ciphertext::from_bytes(&rejected).expect("of the right length");
            assert_eq!(
                *read.decapsulate(&ciphertext).as_bytes(),
                P::decapsulate(&bytes, &rejected)
            );
        }
        Err(_) => assert!(!consistent),
    }
}

/// The same parameter set of RustCrypto's.
trait Peer: ParameterSet {
    /// The expanded key.
    fn generate(seed: &[u8; 64]) -> Vec<u8>;
    /// `None` if `key` isn't one.
    fn encapsulate(key: &[u8], m: &[u8; 32]) -> Option<(Vec<u8>, [u8; 32])>;
    /// Of a valid expanded key, and of a ciphertext of the right length.
    fn decapsulate(expanded: &[u8], ciphertext: &[u8]) -> [u8; 32];
}

macro_rules! peers {
    ($($set:ident),+) => {$(
        impl Peer for $set {
            fn generate(seed: &[u8; 64]) -> Vec<u8> {
                ml_kem::DecapsulationKey::<ml_kem::$set>::from_seed((*seed).into())
                    .to_expanded_bytes()
                    .to_vec()
            }

            fn encapsulate(key: &[u8], m: &[u8; 32]) -> Option<(Vec<u8>, [u8; 32])> {
                let key = key.try_into().ok()?;
                let key = ml_kem::EncapsulationKey::<ml_kem::$set>::new(key).ok()?;
                let (ciphertext, secret) = key.encapsulate_deterministic(&(*m).into());
                assert_eq!(key.to_bytes().len(), Self::ENCAPSULATION_KEY_LEN);
                Some((ciphertext.to_vec(), secret.into()))
            }

            fn decapsulate(expanded: &[u8], ciphertext: &[u8]) -> [u8; 32] {
                let expanded = expanded.try_into().expect("of the right length");
                ml_kem::DecapsulationKey::<ml_kem::$set>::from_expanded_bytes(expanded)
                    .expect("a valid key")
                    .decapsulate_slice(ciphertext)
                    .expect("of the right length")
                    .into()
            }
        }
    )+};
}

peers!(MlKem512, MlKem768, MlKem1024);
