//! Batches of verifications, which give what single calls give.

use pq_keys::signing::{SignatureOptions, SigningVariant, Unverified, verify_batch};
use pq_keys::{SignatureAlgorithm, SigningKey, VerifyingKey};

/// Messages of two keys of each set, under contexts of the least and the greatest length.
struct Signed {
    key: SigningKey,
    message: Vec<u8>,
    context: Vec<u8>,
    signature: Vec<u8>,
}

fn signed() -> Vec<Signed> {
    let quick = [
        SignatureAlgorithm::SlhDsaSha2_128f,
        SignatureAlgorithm::SlhDsaShake128f,
    ];
    let algorithms = SignatureAlgorithm::ML_DSA.iter().copied().chain(quick);
    let mut signed = Vec::new();
    for algorithm in algorithms {
        for (number, context) in [vec![], vec![3; 255]].into_iter().enumerate() {
            let seed = vec![u8::try_from(number).unwrap(); algorithm.seed_len()];
            let key = SigningKey::from_seed(algorithm, &seed).unwrap();
            let message = vec![5; 100 * number];
            let options = SignatureOptions::new().context(&context);
            let signature = key.sign_with(&message, &options, SigningVariant::Deterministic);
            signed.push(Signed {
                key,
                message,
                context: context.clone(),
                signature: signature.unwrap(),
            });
        }
    }
    signed
}

/// The public halves, each expanded and as it is.
fn public_halves(signed: &[Signed]) -> Vec<VerifyingKey> {
    let halves = signed
        .iter()
        .map(|signed| signed.key.verifying_key().clone());
    halves.flat_map(|half| [half.expand(), half]).collect()
}

/// Each message, context and signature with each key: right and wrong ones of all sets between each other.
#[test]
fn a_batch_gives_what_single_calls_give() {
    let signed = signed();
    let halves = public_halves(&signed);
    let too_long = [1; 256];
    let mut all = Vec::new();
    for (number, key) in halves.iter().enumerate() {
        for (other, from) in signed.iter().enumerate() {
            let right = Unverified {
                key,
                message: &from.message,
                context: &from.context,
                signature: &from.signature,
            };
            all.push(right);
            // Of what is wrong in another way, so many of one set that its lanes are full.
            if number / 2 == other {
                all.extend([right; 9]);
                all.push(Unverified {
                    message: b"other",
                    ..right
                });
                all.push(Unverified {
                    context: &too_long,
                    ..right
                });
                let (short, none) = (&from.signature[1..], &from.signature[..0]);
                all.push(Unverified {
                    signature: short,
                    ..right
                });
                all.push(Unverified {
                    signature: none,
                    context: &too_long,
                    ..right
                });
            }
        }
    }
    let single = |one: &Unverified<'_>| {
        let options = SignatureOptions::new().context(one.context);
        one.key.verify_with(one.message, one.signature, &options)
    };
    let expected: Vec<_> = all.iter().map(single).collect();
    let valid = expected.iter().filter(|result| result.is_ok()).count();
    assert_eq!(valid, halves.len() * 10);
    assert_eq!(verify_batch(&all), expected);

    // in the other order, and in batches of each small length
    all.reverse();
    let reversed: Vec<_> = expected.iter().rev().cloned().collect();
    assert_eq!(verify_batch(&all), reversed);
    for len in 0..20 {
        assert_eq!(verify_batch(&all[..len]), reversed[..len]);
    }
}
