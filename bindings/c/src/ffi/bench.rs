//! Calls of pq-core from Rust, timed in the same process as the library's functions: see `bench`.

use core::hint::black_box;
use std::time::Instant;

// so that the static library contains liboqs, which `bench.c` calls
use oqs_sys as _;
use pq_core::{ml_dsa, ml_kem, slh_dsa};

/// How many nanoseconds `calls` calls of pq-core take. `what` is the number of the operation in `bench.c`; for other
/// numbers the result is 0.
#[unsafe(no_mangle)]
pub extern "C" fn pqtls_bench(what: i32, calls: u32) -> u64 {
    match what {
        0..=2 => ml_kem_768(what, calls),
        3..=5 => ml_dsa_65(what, calls),
        6..=8 => slh_dsa_sha2_128f(what, calls),
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
            let _ = black_box(
                signature.and_then(|signature| public_key.verify(&[7; 32], b"", &signature)),
            );
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
