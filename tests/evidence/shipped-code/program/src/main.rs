//! Operations of pq-core as users compile them, on secrets that the caller of this program poisons.
//!
//! Nothing in this program knows about valgrind. It reads zeros from standard input, which
//! `shipped-code` marks as uninitialised as they arrive: a byte becomes secret when such a zero is added
//! to it. Each operation ends with a [`look`] at its result. This leak must be found: it shows
//! that valgrind did not lose track of the secret on the way.

#![forbid(unsafe_code)]

mod planted;

use core::error::Error;
use core::hint::black_box;
use std::env;
use std::io::{self, Read};

use pq_core::ml_dsa::{self, MlDsa44, MlDsa65};
use pq_core::ml_kem::batch::{self, Decapsulate, Encapsulate, Generate};
use pq_core::ml_kem::{self, DecapsulationKey, EncapsulationKey, MlKem512, MlKem768};
use pq_core::slh_dsa::{SlhDsaSha2_128f, SlhDsaShake128f};

type Outcome = Result<(), Box<dyn Error>>;

type Operation = fn() -> Outcome;

/// The operations that can be run, by name. `shipped-code` uses the same names.
const OPERATIONS: [(&str, Operation); 19] = [
    ("ml-kem-768 generate", generate_ml_kem::<MlKem768>),
    ("ml-kem-768 encapsulate", encapsulate::<MlKem768>),
    ("ml-kem-768 decapsulate", decapsulate::<MlKem768>),
    ("ml-kem-512 generate", generate_ml_kem::<MlKem512>),
    ("ml-kem-512 encapsulate", encapsulate::<MlKem512>),
    ("ml-kem-512 decapsulate", decapsulate::<MlKem512>),
    ("ml-dsa-44 generate", generate_ml_dsa::<MlDsa44>),
    (
        "ml-dsa-44 sign, secret vectors",
        sign_with_secret_vectors::<MlDsa44>,
    ),
    (
        "ml-dsa-44 sign, secret mask",
        sign_with_secret_mask::<MlDsa44>,
    ),
    ("ml-dsa-65 generate", generate_ml_dsa::<MlDsa65>),
    (
        "ml-dsa-65 sign, secret vectors",
        sign_with_secret_vectors::<MlDsa65>,
    ),
    (
        "ml-dsa-65 sign, secret mask",
        sign_with_secret_mask::<MlDsa65>,
    ),
    ("slh-dsa-sha2-128f generate", slh_dsa_sha2::generate),
    (
        "slh-dsa-sha2-128f sign, SK.seed",
        slh_dsa_sha2::sign_with_secret_seed,
    ),
    (
        "slh-dsa-sha2-128f sign, SK.prf",
        slh_dsa_sha2::sign_with_secret_prf,
    ),
    ("slh-dsa-shake-128f generate", slh_dsa_shake::generate),
    (
        "slh-dsa-shake-128f sign, SK.seed",
        slh_dsa_shake::sign_with_secret_seed,
    ),
    (
        "slh-dsa-shake-128f sign, SK.prf",
        slh_dsa_shake::sign_with_secret_prf,
    ),
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

/// Secret: d and z.
fn generate_ml_kem<P: ml_kem::ParameterSet>() -> Outcome {
    let seed = secret()?;
    let key = Box::new(DecapsulationKey::<P>::from_seed(&seed));
    look(key.to_expanded().as_ref());
    let mut results = [None, None];
    let seeds = [secret()?, secret()?];
    batch::generate::<P>(
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

/// Secret: m.
fn encapsulate<P: ml_kem::ParameterSet>() -> Outcome {
    let pair = DecapsulationKey::<P>::from_seed(&[1; 64]);
    let encoded = pair.encapsulation_key().as_bytes();
    let key = EncapsulationKey::<P>::from_bytes(black_box(encoded))?;
    let (ciphertext, shared) = key.encapsulate(&secret()?);
    look(ciphertext.as_bytes());
    look(shared.as_bytes());
    let mut results = [None, None];
    let several_m = [secret()?, secret()?];
    batch::encapsulate::<P>(
        several_m
            .iter()
            .zip(&mut results)
            .map(|(randomness, result)| Encapsulate {
                key: encoded,
                randomness,
                result,
            }),
    );
    for (ciphertext, shared) in results.iter().flatten().flatten() {
        look(ciphertext.as_bytes());
        look(shared.as_bytes());
    }
    Ok(())
}

/// Secret: ŝ and z, in a key that is read. Decapsulates an accepted and a rejected ciphertext.
fn decapsulate<P: ml_kem::ParameterSet>() -> Outcome {
    let pair = DecapsulationKey::<P>::from_seed(&[2; 64]);
    let (accepted, _) = pair.encapsulation_key().encapsulate(&[3; 32]);
    let mut bytes = accepted.as_bytes().to_vec();
    bytes[7] ^= 1;
    let rejected = ml_kem::Ciphertext::<P>::from_bytes(&bytes)?;

    // dk = ŝ ‖ ek ‖ H(ek) ‖ z
    let mut expanded = pair.to_expanded().as_ref().to_vec();
    let z = expanded.len() - 32;
    let ek = z - 32 - pair.encapsulation_key().as_bytes().len();
    make_secret(&mut expanded[..ek])?;
    make_secret(&mut expanded[z..])?;
    let key = Box::new(DecapsulationKey::<P>::from_expanded(&expanded)?);
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

/// Secret: ξ.
fn generate_ml_dsa<P: ml_dsa::ParameterSet>() -> Outcome {
    let key = Box::new(ml_dsa::SigningKey::<P>::from_seed(&secret()?));
    look(key.to_expanded().as_ref());
    Ok(())
}

/// Enough messages for each check to reject an attempt.
const MESSAGES: u8 = 6;

/// Secret: **s**₁, **s**₂ and **t**₀, in a key that is read. K, rnd and µ are known here, and so are **y**, **w** and
/// c̃ of each attempt: everything that depends on a secret depends on these vectors.
fn sign_with_secret_vectors<P: ml_dsa::ParameterSet>() -> Outcome {
    // ρ ‖ K ‖ tr ‖ s₁ ‖ s₂ ‖ t₀
    let key = signing_key::<P>(|expanded| make_secret(&mut expanded[128..]))?;
    for i in 0..MESSAGES {
        look_at_z(&key.sign_mu(black_box(&[i; 64]), &[4; 32]));
    }
    Ok(())
}

/// Secret: K and rnd, and so **y**, **w** and c̃; **s**₁, **s**₂ and **t**₀ are known.
fn sign_with_secret_mask<P: ml_dsa::ParameterSet>() -> Outcome {
    let key = signing_key::<P>(|expanded| make_secret(&mut expanded[32..64]))?;
    let rnd = secret()?;
    for i in 0..MESSAGES {
        look_at_z(&key.sign(black_box(&[i]), b"context", &rnd)?);
    }
    Ok(())
}

fn signing_key<P: ml_dsa::ParameterSet>(
    change: impl FnOnce(&mut [u8]) -> Outcome,
) -> Result<Box<ml_dsa::SigningKey<P>>, Box<dyn Error>> {
    let pair = Box::new(ml_dsa::SigningKey::<P>::from_seed(&[5; 32]));
    let mut expanded = pair.to_expanded().as_ref().to_vec();
    change(&mut expanded)?;
    Ok(Box::new(ml_dsa::SigningKey::from_expanded(&expanded)?))
}

/// Looks at **z**, which follows c̃; c̃ has at most 64 bytes.
fn look_at_z<P: ml_dsa::ParameterSet>(signature: &ml_dsa::Signature<P>) {
    look(&signature.as_bytes()[64..128]);
}

/// The operations of SLH-DSA's sets with n = 16, in a module for each set.
macro_rules! slh_dsa {
    ($module:ident: $set:ty) => {
        mod $module {
            use core::hint::black_box;

            use pq_core::slh_dsa::SigningKey;

            use crate::{Outcome, look, make_secret, secret};

            /// Secret: SK.seed, and so the secret values of FORS and WOTS⁺. SK.prf, addrnd and PK.root are known
            /// here, and so are the values of FORS that a signature reveals.
            pub(crate) fn sign_with_secret_seed() -> Outcome {
                sign(|bytes| make_secret(&mut bytes[..16]), [7; 16])
            }

            /// Secret: SK.prf and addrnd, and so R; SK.seed is known.
            pub(crate) fn sign_with_secret_prf() -> Outcome {
                sign(|bytes| make_secret(&mut bytes[16..32]), secret()?)
            }

            fn sign(change: impl FnOnce(&mut [u8]) -> Outcome, addrnd: [u8; 16]) -> Outcome {
                let pair = SigningKey::<$set>::from_seed(&[6; 48]);
                // SK.seed ‖ SK.prf ‖ PK.seed ‖ PK.root
                let mut bytes = pair.as_bytes().to_vec();
                change(&mut bytes)?;
                let key = SigningKey::<$set>::from_bytes(&bytes)?;
                let signature = key.sign(black_box(b"message"), b"context", &addrnd)?;
                // R and the first secret value of FORS
                look(&signature.as_bytes()[..32]);
                Ok(())
            }

            /// Secret: SK.seed and SK.prf.
            pub(crate) fn generate() -> Outcome {
                let mut seed = [6; 48];
                make_secret(&mut seed[..32])?;
                let key = SigningKey::<$set>::from_seed(&seed);
                look(key.as_bytes());
                Ok(())
            }
        }
    };
}

slh_dsa!(slh_dsa_sha2: crate::SlhDsaSha2_128f);
slh_dsa!(slh_dsa_shake: crate::SlhDsaShake128f);

/// `N` secret bytes, all of them 9.
fn secret<const N: usize>() -> Result<[u8; N], Box<dyn Error>> {
    let mut bytes = [9; N];
    make_secret(&mut bytes)?;
    Ok(bytes)
}

/// Adds zeros from standard input, which the caller of this program marks as secret.
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
