//! Operations of pq-core as users compile them, on secrets that whoever runs this poisons.
//!
//! Nothing in this program knows of valgrind. What it reads from standard input is zeros, which
//! `shipped-code` marks as uninitialised as they arrive: a byte becomes secret by adding
//! one of them. Each operation ends by [`look`]ing at its result, a leak that must be found, so
//! that valgrind did not lose track of the secret on the way.

#![forbid(unsafe_code)]

mod planted;

use core::error::Error;
use core::hint::black_box;
use std::env;
use std::io::{self, Read};

use pq_core::ml_dsa::{self, MlDsa44};
use pq_core::ml_kem::batch::{self, Decapsulate, Encapsulate, Generate};
use pq_core::ml_kem::{self, DecapsulationKey, EncapsulationKey, MlKem768};
use pq_core::slh_dsa::{self, SlhDsaSha2_128f};

type Outcome = Result<(), Box<dyn Error>>;

type Operation = fn() -> Outcome;

/// What can be run, by name. `shipped-code` has the same names.
const OPERATIONS: [(&str, Operation); 10] = [
    ("ml-kem-768 generate", generate_ml_kem),
    ("ml-kem-768 encapsulate", encapsulate),
    ("ml-kem-768 decapsulate", decapsulate),
    ("ml-dsa-44 generate", generate_ml_dsa),
    ("ml-dsa-44 sign, secret vectors", sign_with_secret_vectors),
    ("ml-dsa-44 sign, secret mask", sign_with_secret_mask),
    ("slh-dsa-sha2-128f generate", generate_slh_dsa),
    ("slh-dsa-sha2-128f sign, SK.seed", sign_with_secret_seed),
    ("slh-dsa-sha2-128f sign, SK.prf", sign_with_secret_prf),
    ("planted", planted::leak),
];

fn main() -> Outcome {
    let name = env::args().nth(1).unwrap_or_default();
    match OPERATIONS.iter().find(|(known, _)| *known == name) {
        Some((_, run)) => {
            println!("{}", pq_core::arch::chosen());
            run()
        }
        None => {
            let names = OPERATIONS.map(|(name, _)| name).join("\n  ");
            Err(format!("usage: shipped-program OPERATION < /dev/zero\n  {names}").into())
        }
    }
}

/// d and z.
fn generate_ml_kem() -> Outcome {
    let seed = secret()?;
    let key = Box::new(DecapsulationKey::<MlKem768>::from_seed(&seed));
    look(key.to_expanded().as_ref());
    let mut results = [None, None];
    let seeds = [secret()?, secret()?];
    batch::generate::<MlKem768>(
        seeds
            .iter()
            .zip(&mut results)
            .map(|(seed, result)| Generate { seed, result }),
    );
    for key in results.iter().flatten() {
        look(key.clone().to_expanded().as_ref());
    }
    Ok(())
}

/// m.
fn encapsulate() -> Outcome {
    let pair = DecapsulationKey::<MlKem768>::from_seed(&[1; 64]);
    let encoded = pair.encapsulation_key().as_bytes();
    let key = EncapsulationKey::<MlKem768>::from_bytes(black_box(encoded))?;
    let (ciphertext, shared) = key.encapsulate(&secret()?);
    look(ciphertext.as_bytes());
    look(shared.as_bytes());
    let mut results = [None, None];
    let several_m = [secret()?, secret()?];
    batch::encapsulate::<MlKem768>(several_m.iter().zip(&mut results).map(
        |(randomness, result)| Encapsulate {
            key: encoded,
            randomness,
            result,
        },
    ));
    for (ciphertext, shared) in results.iter().flatten().flatten() {
        look(ciphertext.as_bytes());
        look(shared.as_bytes());
    }
    Ok(())
}

/// ŝ and z, of a key that is read; a ciphertext that is accepted and one that is not.
fn decapsulate() -> Outcome {
    let pair = DecapsulationKey::<MlKem768>::from_seed(&[2; 64]);
    let (accepted, _) = pair.encapsulation_key().encapsulate(&[3; 32]);
    let mut bytes = accepted.as_bytes().to_vec();
    bytes[7] ^= 1;
    let rejected = ml_kem::Ciphertext::<MlKem768>::from_bytes(&bytes)?;

    // dk = ŝ ‖ ek ‖ H(ek) ‖ z
    let mut expanded = pair.to_expanded().as_ref().to_vec();
    let z = expanded.len() - 32;
    make_secret(&mut expanded[..3 * 384])?;
    make_secret(&mut expanded[z..])?;
    let key = Box::new(DecapsulationKey::<MlKem768>::from_expanded(&expanded)?);
    for ciphertext in [&accepted, &rejected] {
        let shared = key.decapsulate(black_box(ciphertext));
        look(shared.as_bytes());
    }
    let mut results = [None, None];
    let ciphertexts = [&accepted, &rejected];
    batch::decapsulate(
        ciphertexts
            .iter()
            .zip(&mut results)
            .map(|(ciphertext, result)| Decapsulate {
                key: &key,
                ciphertext: ciphertext.as_bytes(),
                result,
            }),
    );
    for shared in results.iter().flatten().flatten() {
        look(shared.as_bytes());
    }
    Ok(())
}

/// ξ.
fn generate_ml_dsa() -> Outcome {
    let key = Box::new(ml_dsa::SigningKey::<MlDsa44>::from_seed(&secret()?));
    look(key.to_expanded().as_ref());
    Ok(())
}

/// Enough for each check of an attempt to refuse one.
const MESSAGES: u8 = 6;

/// **s**₁, **s**₂ and **t**₀, of a key that is read. K, rnd and µ are known here, and so **y**, **w** and
/// c̃ of each attempt: whatever depends on a secret depends on the key.
fn sign_with_secret_vectors() -> Outcome {
    // ρ ‖ K ‖ tr ‖ s₁ ‖ s₂ ‖ t₀
    let key = signing_key(|expanded| make_secret(&mut expanded[128..]))?;
    for i in 0..MESSAGES {
        look_at_z(&key.sign_mu(black_box(&[i; 64]), &[4; 32]));
    }
    Ok(())
}

/// K and rnd, and so **y**, **w** and c̃, with known **s**₁, **s**₂ and **t**₀.
fn sign_with_secret_mask() -> Outcome {
    let key = signing_key(|expanded| make_secret(&mut expanded[32..64]))?;
    let rnd = secret()?;
    for i in 0..MESSAGES {
        look_at_z(&key.sign(black_box(&[i]), b"context", &rnd)?);
    }
    Ok(())
}

fn signing_key(
    change: impl FnOnce(&mut [u8]) -> Outcome,
) -> Result<Box<ml_dsa::SigningKey<MlDsa44>>, Box<dyn Error>> {
    let pair = Box::new(ml_dsa::SigningKey::<MlDsa44>::from_seed(&[5; 32]));
    let mut expanded = pair.to_expanded().as_ref().to_vec();
    change(&mut expanded)?;
    Ok(Box::new(ml_dsa::SigningKey::from_expanded(&expanded)?))
}

/// Which is after c̃.
fn look_at_z(signature: &ml_dsa::Signature<MlDsa44>) {
    look(&signature.as_bytes()[32..96]);
}

/// SK.seed, for the secret values of FORS and WOTS⁺. SK.prf, addrnd and PK.root are known here, and so
/// which of FORS's a signature opens.
fn sign_with_secret_seed() -> Outcome {
    sign_slh_dsa(|bytes| make_secret(&mut bytes[..16]), [7; 16])
}

/// SK.prf and addrnd, for R, with a known SK.seed.
fn sign_with_secret_prf() -> Outcome {
    sign_slh_dsa(|bytes| make_secret(&mut bytes[16..32]), secret()?)
}

fn sign_slh_dsa(change: impl FnOnce(&mut [u8]) -> Outcome, addrnd: [u8; 16]) -> Outcome {
    let pair = slh_dsa::SigningKey::<SlhDsaSha2_128f>::from_seed(&[6; 48]);
    // SK.seed ‖ SK.prf ‖ PK.seed ‖ PK.root
    let mut bytes = pair.as_bytes().to_vec();
    change(&mut bytes)?;
    let key = slh_dsa::SigningKey::<SlhDsaSha2_128f>::from_bytes(&bytes)?;
    let signature = key.sign(black_box(b"message"), b"context", &addrnd)?;
    // R and the first secret value of FORS
    look(&signature.as_bytes()[..32]);
    Ok(())
}

/// SK.seed and SK.prf.
fn generate_slh_dsa() -> Outcome {
    let mut seed = [6; 48];
    make_secret(&mut seed[..32])?;
    let key = slh_dsa::SigningKey::<SlhDsaSha2_128f>::from_seed(&seed);
    look(key.as_bytes());
    Ok(())
}

/// `N` secret bytes, which are 9.
fn secret<const N: usize>() -> Result<[u8; N], Box<dyn Error>> {
    let mut bytes = [9; N];
    make_secret(&mut bytes)?;
    Ok(bytes)
}

/// Adds what comes from standard input, zeros that whoever runs this says are secret.
#[inline(never)]
fn make_secret(bytes: &mut [u8]) -> Outcome {
    let mut zeros = vec![0; bytes.len()];
    io::stdin().read_exact(&mut zeros)?;
    for (byte, zero) in bytes.iter_mut().zip(zeros) {
        *byte = byte.wrapping_add(zero);
    }
    Ok(())
}

/// Branches on bytes that come from a secret.
#[inline(never)]
fn look(bytes: &[u8]) {
    for byte in bytes.iter().step_by(16) {
        if black_box(byte) & 1 == 0 {
            black_box(());
        }
    }
}
