//! One operation of pq-core with a secret that `.ci/wasm_traces` writes into the compiled program. So
//! the code is the same for all secrets, and two runs can be compared instruction by instruction.
//!
//! All inputs are the same in all runs, except the secret and a bit of a ciphertext, on
//! which it depends whether decapsulation accepts or rejects.

use core::hint::black_box;
use core::sync::atomic::{AtomicBool, Ordering};

use pq_core::ml_kem::{DecapsulationKey, MlKem768, ParameterSet};
use pq_core::slh_dsa::{SigningKey, SlhDsaSha2_128f};

/// The traces must be of the backend for SIMD128.
#[cfg(target_arch = "wasm32")]
const _: () = assert!(cfg!(target_feature = "simd128"));

/// Whether the operation was run: the interpreter calls every exported function, so `main` runs twice.
static RAN: AtomicBool = AtomicBool::new(false);

/// The operation's name, eight bytes, and a secret of 32 bytes: `.ci/wasm_traces` overwrites them in the file.
static INPUT: [u8; 40] = *b"OPERATE?SECRETSECRETSECRETSECRETSECRETSE";

fn main() {
    if RAN.swap(true, Ordering::Relaxed) {
        return;
    }
    let input = black_box(&INPUT);
    let (name, secret) = input.split_at(8);
    let secret = secret.first_chunk().expect("40 bytes less 8");
    match name {
        b"encaps.." => encapsulate(secret),
        b"decaps.." => decapsulate(secret),
        b"keygen.." => make_key(secret),
        b"branch.." => branch(secret),
        b"address." => {
            black_box(secret[usize::from(secret[0] % 32)]);
        }
        b"length.." => {
            let len = usize::from(secret[0] % 32);
            let mut copy = [0; 32];
            copy[..len].copy_from_slice(&secret[..len]);
            black_box(&copy);
        }
        b"divisor." => {
            black_box(black_box(1000) / (u32::from(secret[0]) + 1));
        }
        _ => panic!("no operation: the file is to be written over"),
    }
}

/// Computes in one of two ways; neither accesses memory.
fn branch(secret: &[u8; 32]) {
    let mut x = u32::from(secret[1]);
    if secret[0] & 1 == 1 {
        for _ in 0..20 {
            x = x.rotate_left(5).wrapping_mul(0x9e37_79b9) ^ 7;
        }
    } else {
        for _ in 0..20 {
            x = (x ^ x >> 3).wrapping_add(x << 7);
        }
    }
    black_box(x);
}

/// Encapsulates to a key that is always the same, with a secret m.
fn encapsulate(m: &[u8; 32]) {
    let key = DecapsulationKey::<MlKem768>::from_seed(&[1; 64]);
    black_box(key.encapsulation_key().encapsulate(m));
}

/// Decapsulates with a secret z. A bit of z decides whether the ciphertext is right or wrong.
fn decapsulate(z: &[u8; 32]) {
    let mut seed = [1; 64];
    seed[32..].copy_from_slice(z);
    let key = DecapsulationKey::<MlKem768>::from_seed(&seed);
    let (ciphertext, _) = key.encapsulation_key().encapsulate(&[2; 32]);
    let mut bytes = [0; MlKem768::CIPHERTEXT_LEN];
    bytes.copy_from_slice(ciphertext.as_bytes());
    bytes[0] ^= z[0] & 1;
    let mut secret = [0; 32];
    let decapsulated = key.decapsulate_into(&bytes, &mut secret);
    black_box((decapsulated.is_ok(), secret));
}

/// Makes a key from a secret SK.seed and SK.prf, and a PK.seed that is always the same.
fn make_key(secret: &[u8; 32]) {
    let mut seed = [3; 48];
    seed[..32].copy_from_slice(secret);
    black_box(SigningKey::<SlhDsaSha2_128f>::from_seed(&seed));
}
