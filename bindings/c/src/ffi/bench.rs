//! Calls of pq-core from Rust, and of PQClean, timed in the same process as the library's functions: see `bench`.

use core::hint::black_box;
use std::time::Instant;

use pq_core::{ml_dsa, ml_kem, slh_dsa};
use pqcrypto_mldsa::mldsa65;
use pqcrypto_mlkem::mlkem768;
use pqcrypto_sphincsplus::sphincssha2128fsimple as sphincs;

/// How many nanoseconds `calls` calls take: of pq-core if `who` is 0, of PQClean if it is 1. `what` is the number
/// of the operation in `bench.c`; for other numbers the result is 0.
#[unsafe(no_mangle)]
pub extern "C" fn pqtls_bench(who: i32, what: i32, calls: u32) -> u64 {
    match (who, what) {
        (0, 0..=2) => ml_kem_768(what, calls),
        (0, 3..=5) => ml_dsa_65(what, calls),
        (0, 6..=8) => slh_dsa_sha2_128f(what, calls),
        (1, 0..=2) => pqclean_ml_kem_768(what, calls),
        (1, 3..=5) => pqclean_ml_dsa_65(what, calls),
        (1, 6..=8) => pqclean_slh_dsa_sha2_128f(what, calls),
        _ => 0,
    }
}

fn time(calls: u32, mut call: impl FnMut(u32)) -> u64 {
    let start = Instant::now();
    for i in 0..calls {
        call(i);
    }
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Makes the compiler compute a result that nobody uses.
fn keep<T>(result: T) {
    black_box(&result);
}

fn ml_kem_768(what: i32, calls: u32) -> u64 {
    type Key = ml_kem::DecapsulationKey<ml_kem::MlKem768>;
    let (mut place, mut other) = (None, None);
    let (mut ciphertext, mut secret) = ([0; 1088], [0; 32]);
    let key = Key::from_seed_into(&[7; 64], &mut place);
    let public_key = key.encapsulation_key();
    let _ = public_key.encapsulate_into(&[7; 32], &mut ciphertext, &mut secret);
    match what {
        0 => time(calls, |_| {
            Key::from_seed_into(black_box(&[7; 64]), &mut other);
            other = None;
        }),
        1 => time(calls, |_| {
            let _ = black_box(public_key).encapsulate_into(&[7; 32], &mut ciphertext, &mut secret);
        }),
        _ => time(calls, |_| {
            let _ = black_box(key).decapsulate_into(&ciphertext, &mut secret);
        }),
    }
}

fn ml_dsa_65(what: i32, calls: u32) -> u64 {
    type Key = ml_dsa::SigningKey<ml_dsa::MlDsa65>;
    let (mut place, mut other) = (None, None);
    let key = Key::from_seed_into(&[7; 32], &mut place);
    let public_key = key.verifying_key().expand();
    let Ok(signature) = key.sign_deterministic(&[7; 32], b"") else {
        return 0;
    };
    let mut output = [0; 3309];
    match what {
        3 => time(calls, |_| {
            Key::from_seed_into(black_box(&[7; 32]), &mut other);
            other = None;
        }),
        4 => time(calls, |i| {
            if let Ok(made) = key.sign_deterministic(&message(i), b"") {
                output.copy_from_slice(made.as_bytes());
            }
        }),
        _ => time(calls, |_| {
            let signature = ml_dsa::Signature::from_bytes(black_box(signature.as_bytes()));
            keep(signature.and_then(|signature| public_key.verify(&[7; 32], b"", &signature)));
        }),
    }
}

fn slh_dsa_sha2_128f(what: i32, calls: u32) -> u64 {
    type Key = slh_dsa::SigningKey<slh_dsa::SlhDsaSha2_128f>;
    let (mut place, mut other) = (None, None);
    let key = Key::from_seed_into(&[7; 48], &mut place);
    let mut signature = [0; 17088];
    let pure = slh_dsa::Message::Pure(&[7; 32]);
    let _ = key.sign_into(pure, b"", None, &|_| (), &mut signature);
    match what {
        6 => time(calls, |_| {
            black_box(Key::from_seed_into(black_box(&[7; 48]), &mut other));
        }),
        7 => time(calls, |_| {
            let _ = key.sign_into(black_box(pure), b"", None, &|_| (), &mut signature);
        }),
        _ => time(calls, |_| {
            let _ = black_box(key.verifying_key().verify_bytes(pure, b"", &signature));
        }),
    }
}

/// The time of signing depends on the message, so all sign the same messages.
fn message(i: u32) -> [u8; 32] {
    let mut message = [7; 32];
    message[..4].copy_from_slice(&i.to_le_bytes());
    message
}

fn pqclean_ml_kem_768(what: i32, calls: u32) -> u64 {
    let (public_key, key) = mlkem768::keypair();
    let (_, ciphertext) = mlkem768::encapsulate(&public_key);
    match what {
        0 => time(calls, |_| keep(mlkem768::keypair())),
        1 => time(calls, |_| {
            keep(mlkem768::encapsulate(black_box(&public_key)))
        }),
        _ => time(calls, |_| {
            keep(mlkem768::decapsulate(black_box(&ciphertext), &key))
        }),
    }
}

fn pqclean_ml_dsa_65(what: i32, calls: u32) -> u64 {
    let (public_key, key) = mldsa65::keypair();
    let signature = mldsa65::detached_sign(&[7; 32], &key);
    match what {
        3 => time(calls, |_| keep(mldsa65::keypair())),
        4 => time(calls, |i| keep(mldsa65::detached_sign(&message(i), &key))),
        _ => time(calls, |_| {
            let _ = black_box(mldsa65::verify_detached_signature(
                &signature,
                &[7; 32],
                &public_key,
            ));
        }),
    }
}

fn pqclean_slh_dsa_sha2_128f(what: i32, calls: u32) -> u64 {
    let (public_key, key) = sphincs::keypair();
    let signature = sphincs::detached_sign(&[7; 32], &key);
    match what {
        6 => time(calls, |_| keep(sphincs::keypair())),
        7 => time(calls, |_| keep(sphincs::detached_sign(&[7; 32], &key))),
        _ => time(calls, |_| {
            let _ = black_box(sphincs::verify_detached_signature(
                &signature,
                &[7; 32],
                &public_key,
            ));
        }),
    }
}
