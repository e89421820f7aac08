//! Many results in few bytes: hashes of all results of thousands of operations,
//! compared with published values and between implementations.

use std::time::Instant;

use shake::{ExtendableOutput, Shake128, Update, XofReader};

use crate::peers::{self, Dsa, Implementation, Implementations, Input, Kem};
use crate::stream::Stream;
use crate::tally::announce;

#[test]
fn ml_kem_768_published_100() {
    // other people's implementations, too: this shows that the test accumulates as published
    check_published(
        ml_kem_768().all(),
        100,
        "1114b1b6699ed191734fa339376afa7e285c9e6acf6ff0177d346696ce564415",
    );
}

#[test]
#[ignore = "takes seconds: `.ci/run core_tests` runs it"]
fn ml_kem_768_published_10_000() {
    check_published(
        ml_kem_768().ours.iter().map(|one| &**one),
        10_000,
        "8a518cc63da366322a8e7a818c7a0d63483cb3528d34a4cf42f35d5ad73f22fc",
    );
}

#[test]
#[ignore = "takes about six minutes on a free core"]
fn ml_kem_768_published_1_000_000() {
    check_published(
        ml_kem_768().ours.iter().map(|one| &**one),
        1_000_000,
        "424bf8f0e8ae99b78d788a6e2e8e9cdaf9773fc0c08a6f433507cb559edfd0f0",
    );
}

#[test]
#[ignore = "takes seconds: `.ci/run core_tests` runs it"]
fn ml_kem_sets_agree() {
    for implementations in peers::kems() {
        check_agreement(&implementations, 400, accumulate_kem);
    }
}

#[test]
#[ignore = "takes seconds: `.ci/run core_tests` runs it"]
fn ml_dsa_sets_agree() {
    for implementations in peers::dsas() {
        check_agreement(&implementations, 100, accumulate_dsa);
    }
}

fn ml_kem_768() -> Implementations<dyn Kem> {
    let [_, ml_kem_768, _] = peers::kems();
    assert_eq!(ml_kem_768.set, "ML-KEM-768");
    ml_kem_768
}

fn check_published<'a>(
    implementations: impl Iterator<Item = &'a dyn Kem>,
    iterations: u32,
    expected: &str,
) {
    for kem in implementations {
        let start = Instant::now();
        let hash = accumulate_kem(kem, iterations);
        let name = kem.name();
        let seconds = start.elapsed().as_secs_f64();
        announce(&format!(
            "accumulated ML-KEM-768, n = {iterations}, {name}: {seconds:.2} s\n"
        ));
        assert_eq!(hex::encode(hash), expected, "{name}");
    }
}

/// Checks that all implementations have the same hash as the first of them.
fn check_agreement<I: Implementation + ?Sized>(
    implementations: &Implementations<I>,
    iterations: u32,
    accumulate: fn(&I, u32) -> [u8; 32],
) {
    let expected = accumulate(implementations.reference(), iterations);
    for one in implementations.all() {
        let hash = accumulate(one, iterations);
        assert_eq!(hash, expected, "{}: {}", implementations.set, one.name());
    }
}

/// The accumulated hash as published for ML-KEM-768: inputs from SHAKE128 of
/// the empty string; per iteration a key from 64 bytes, an encapsulation with 32, and the
/// decapsulation of as many bytes as a ciphertext has.
fn accumulate_kem(kem: &dyn Kem, iterations: u32) -> [u8; 32] {
    let mut inputs = Stream::new(b"");
    let mut outputs = Shake128::default();
    for _ in 0..iterations {
        let key = kem.generate(&inputs.array());
        let ek = key.encapsulation_key();
        let (ciphertext, secret) = kem.encapsulate(&ek, &inputs.array());
        let invalid = inputs.bytes(ciphertext.len());
        outputs.update(&ek);
        outputs.update(&ciphertext);
        outputs.update(&secret);
        outputs.update(&key.decapsulate(&invalid));
    }
    squeeze(outputs)
}

/// A similar hash for ML-DSA, our own definition: per iteration a key from 32 bytes, and signatures of a
/// message of 32 bytes with a context of 32, deterministic and hedged with 32 more;
/// both are verified, and verified again with a flipped bit.
fn accumulate_dsa(dsa: &dyn Dsa, iterations: u32) -> [u8; 32] {
    let mut inputs = Stream::new(b"");
    let mut outputs = Shake128::default();
    for _ in 0..iterations {
        let key = dsa.generate(&inputs.array());
        let vk = key.verifying_key();
        outputs.update(&vk);
        outputs.update(&key.expanded());
        let [message, context, rnd]: [[u8; 32]; 3] = [(); 3].map(|()| inputs.array());
        let input = Input::Pure {
            message: &message,
            context: &context,
        };
        for rnd in [[0; 32], rnd] {
            let mut signature = key.sign(&input, &rnd).expect("everyone signs messages");
            outputs.update(&signature);
            assert_eq!(dsa.verify(&vk, &input, &signature), Some(true));
            inputs.flip_a_bit(&mut signature);
            assert_eq!(dsa.verify(&vk, &input, &signature), Some(false));
        }
    }
    squeeze(outputs)
}

fn squeeze(outputs: Shake128) -> [u8; 32] {
    let mut hash = [0; 32];
    outputs.finalize_xof().read(&mut hash);
    hash
}
