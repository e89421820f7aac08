//! Random inputs for which all implementations must agree byte for byte.

mod slh_dsa;

use std::env;

use crate::messages::{self, Hash};
use crate::peers::{self, Dsa, Implementations, Input, Kem};
use crate::stream::Stream;
use crate::tally::announce;

#[test]
fn ml_kem() {
    for implementations in peers::kems() {
        let set = implementations.set;
        let mut random = random(set);
        for case in 0..cases() {
            compare_kems(
                &implementations,
                &mut random,
                &format!("{set}, case {case}"),
            );
        }
    }
}

#[test]
fn ml_dsa() {
    for implementations in peers::dsas() {
        let set = implementations.set;
        let mut random = random(set);
        for case in 0..cases() {
            compare_dsas(
                &implementations,
                &mut random,
                case,
                &format!("{set}, case {case}"),
            );
        }
    }
}

/// The inputs for one parameter set; they depend on `PQ_CORE_TEST_SEED`.
fn random(set: &str) -> Stream {
    let seed = env::var("PQ_CORE_TEST_SEED").unwrap_or_else(|_| String::from("0"));
    announce(&format!(
        "differential test of {set}: PQ_CORE_TEST_SEED={seed}\n"
    ));
    Stream::new(format!("{set} {seed}").as_bytes())
}

/// How many keys to try with each parameter set.
fn cases() -> usize {
    match env::var("PQ_CORE_TEST_CASES") {
        Ok(cases) => cases.parse().expect("PQ_CORE_TEST_CASES is a number"),
        Err(_) => 24,
    }
}

fn compare_kems(implementations: &Implementations<dyn Kem>, random: &mut Stream, case: &str) {
    let reference = implementations.reference();
    let seed = random.array();
    let m = random.array();
    let key = reference.generate(&seed);
    let ek = key.encapsulation_key();
    let dk = key.expanded();
    let (ciphertext, secret) = reference.encapsulate(&ek, &m);

    // three ways to fail: near the real ciphertext, far from it, and one for another key
    let mut flipped = ciphertext.clone();
    random.flip_a_bit(&mut flipped);
    let noise = random.bytes(ciphertext.len());
    let other_ek = reference.generate(&random.array()).encapsulation_key();
    let (misdirected, _) = reference.encapsulate(&other_ek, &m);
    let rejected = [flipped, noise, misdirected];

    for implementation in implementations.all() {
        let name = implementation.name();
        let encapsulated = implementation.encapsulate(&ek, &m);
        assert!(
            encapsulated == (ciphertext.clone(), secret),
            "{case}: {name} encapsulates"
        );
        for key in [implementation.generate(&seed), implementation.import(&dk)] {
            assert_eq!(key.encapsulation_key(), ek, "{case}: ek of {name}");
            assert_eq!(key.expanded(), dk, "{case}: dk of {name}");
            assert_eq!(
                key.decapsulate(&ciphertext),
                secret,
                "{case}: {name} decapsulates"
            );
            for ciphertext in &rejected {
                assert_eq!(
                    key.decapsulate(ciphertext),
                    peers::implicit_rejection(&dk, ciphertext),
                    "{case}: {name} rejects implicitly"
                );
            }
        }
    }
}

fn compare_dsas(
    implementations: &Implementations<dyn Dsa>,
    random: &mut Stream,
    number: usize,
    case: &str,
) {
    let reference = implementations.reference();
    let xi = random.array();
    let key = reference.generate(&xi);
    let vk = key.verifying_key();
    let sk = key.expanded();
    let mut keys = Vec::new();
    for implementation in implementations.all() {
        let name = implementation.name();
        for key in [
            Some(implementation.generate(&xi)),
            implementation.import(&sk),
        ]
        .into_iter()
        .flatten()
        {
            assert_eq!(key.verifying_key(), vk, "{case}: verifying key of {name}");
            assert_eq!(key.expanded(), sk, "{case}: signing key of {name}");
            keys.push((name, key));
        }
    }

    let message_len = random.below(400);
    let message = random.bytes(message_len);
    let context_len = match random.below(4) {
        0 => 0,
        1 => 255,
        _ => random.below(256),
    };
    let context = random.bytes(context_len);
    let mu = messages::mu(
        &vk,
        &messages::pure_message_representative(&message, &context),
    );
    let (message, context) = (&*message, &*context);
    let pre_hash = |hash| Input::PreHash {
        hash,
        message,
        context,
    };
    let hash = &Hash::ALL[number % Hash::ALL.len()];
    let other_vk = reference.generate(&random.array()).verifying_key();
    for rnd in [[0; 32], random.array()] {
        let [of_message, of_digest, of_shake128_digest] = [
            Input::Pure { message, context },
            pre_hash(hash),
            pre_hash(Hash::named("SHAKE-128")), // the only one that libcrux has
        ]
        .map(|input| {
            let signature = key.sign(&input, &rnd).expect("the reference has them all");
            (input, signature)
        });
        // signing µ must give the same as signing the message
        let of_mu = (Input::Mu(&mu), of_message.1.clone());
        for (input, signature) in [of_message, of_mu, of_digest, of_shake128_digest] {
            for (name, key) in &keys {
                if let Some(own) = key.sign(&input, &rnd) {
                    assert!(own == signature, "{case}: {name} signs {input}");
                }
            }
            let mut flipped = signature.clone();
            random.flip_a_bit(&mut flipped);
            let noise = random.bytes(signature.len());
            for implementation in implementations.all() {
                let name = implementation.name();
                for (signature, valid) in [(&signature, true), (&flipped, false), (&noise, false)] {
                    if let Some(verdict) = implementation.verify(&vk, &input, signature) {
                        assert_eq!(verdict, valid, "{case}: {name} verifies {input}");
                    }
                }
                if let Some(verdict) = implementation.verify(&other_vk, &input, &signature) {
                    assert!(
                        !verdict,
                        "{case}: {name} verifies {input} under another key"
                    );
                }
            }
        }
    }
}
