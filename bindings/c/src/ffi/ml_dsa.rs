//! ML-DSA (FIPS 204).

use core::ffi::{c_int, c_void};

use pq_core::ml_dsa::{
    ExpandedVerifyingKey, MlDsa44, MlDsa65, MlDsa87, SEED_LEN, Signature, SigningKey, VerifyingKey,
};
use zeroize::Zeroizing;

use super::memory::{Given, Region, apart, copy, finish, fixed, status};
use super::random::{Random, draw};
use super::storage::{
    Kind, algorithm_of, draw_for, export, fits, key as key_in, make, make_of, region,
};
use crate::algorithms::{self, PQTLS_ML_DSA_44, PQTLS_ML_DSA_65, PQTLS_ML_DSA_87};
use crate::error::{Code, PQTLS_ERROR_CONTEXT, PQTLS_ERROR_NO_SEED, code};
use crate::sizes::*;

const _: () = {
    assert!(fits::<SigningKey<MlDsa44>>(
        PQTLS_ML_DSA_44_SIGNING_KEY_STORAGE_BYTES
    ));
    assert!(fits::<ExpandedVerifyingKey<MlDsa44>>(
        PQTLS_ML_DSA_44_VERIFYING_KEY_STORAGE_BYTES
    ));
    assert!(fits::<SigningKey<MlDsa65>>(
        PQTLS_ML_DSA_65_SIGNING_KEY_STORAGE_BYTES
    ));
    assert!(fits::<ExpandedVerifyingKey<MlDsa65>>(
        PQTLS_ML_DSA_65_VERIFYING_KEY_STORAGE_BYTES
    ));
    assert!(fits::<SigningKey<MlDsa87>>(
        PQTLS_ML_DSA_87_SIGNING_KEY_STORAGE_BYTES
    ));
    assert!(fits::<ExpandedVerifyingKey<MlDsa87>>(
        PQTLS_ML_DSA_87_VERIFYING_KEY_STORAGE_BYTES
    ));
};

/// A signing key of ML-DSA, in storage of the caller.
pub struct SigningKeyStorage;

/// A verifying key of ML-DSA, prepared for use, in storage of the caller.
pub struct VerifyingKeyStorage;

/// Does something for the parameter set with this number.
macro_rules! for_set {
    ($algorithm:expr, $set:ident => $do:expr) => {
        for_set_of!($algorithm, $set => $do, {
            PQTLS_ML_DSA_44: MlDsa44,
            PQTLS_ML_DSA_65: MlDsa65,
            PQTLS_ML_DSA_87: MlDsa87,
        })
    };
}

/// Makes a signing key of PQTLS_ML_DSA_44, PQTLS_ML_DSA_65 or PQTLS_ML_DSA_87 from fresh randomness
/// (ML-DSA.KeyGen, FIPS 204, algorithm 1).
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_dsa_generate(
    algorithm: i32,
    random: Random,
    random_context: *mut c_void,
    key: *mut SigningKeyStorage,
    key_bytes: usize,
) -> c_int {
    let storage = key.cast();
    let mut seed = Zeroizing::new([0; SEED_LEN]);
    status(|| {
        // SAFETY: what this function asks for
        unsafe { draw_for(storage, key_bytes, (random, random_context), &mut *seed)? };
        let what = (Kind::Signing, algorithm);
        for_set!(algorithm, P => {
            // SAFETY: what this function asks for; `draw_for` accepted the storage.
            unsafe {
                make(storage, key_bytes, what, |place| {
                    SigningKey::<P>::from_seed_into(&seed, place);
                    Ok(())
                })
            }
        })
    })
}

/// Makes the signing key from a seed of 32 bytes, xi (ML-DSA.KeyGen_internal, algorithm 6).
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_dsa_from_seed(
    algorithm: i32,
    seed: *const u8,
    seed_len: usize,
    key: *mut SigningKeyStorage,
    key_bytes: usize,
) -> c_int {
    let what = (Kind::Signing, algorithm);
    status(|| {
        for_set!(algorithm, P => {
            // SAFETY: what this function asks for
            unsafe {
                make_of((seed, seed_len), (key.cast(), key_bytes), what, |seed, place| {
                    SigningKey::<P>::from_seed_into(fixed(seed)?, place);
                    Ok(())
                })
            }
        })
    })
}

/// Makes a signing key from its expanded form, if the coefficients are in range and the parts belong together.
/// The seed stays unknown.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_dsa_from_expanded(
    algorithm: i32,
    expanded: *const u8,
    expanded_len: usize,
    key: *mut SigningKeyStorage,
    key_bytes: usize,
) -> c_int {
    let what = (Kind::Signing, algorithm);
    status(|| {
        for_set!(algorithm, P => {
            // SAFETY: what this function asks for
            unsafe {
                make_of((expanded, expanded_len), (key.cast(), key_bytes), what, |bytes, place| {
                    SigningKey::<P>::from_expanded_into(bytes, place).map_err(code)?;
                    Ok(())
                })
            }
        })
    })
}

/// Reads a verifying key, and computes what all verifications have in common.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_dsa_from_verifying_key(
    algorithm: i32,
    bytes: *const u8,
    bytes_len: usize,
    key: *mut VerifyingKeyStorage,
    key_bytes: usize,
) -> c_int {
    let what = (Kind::Verifying, algorithm);
    status(|| {
        for_set!(algorithm, P => {
            // SAFETY: what this function asks for
            unsafe {
                make_of((bytes, bytes_len), (key.cast(), key_bytes), what, |bytes, place| {
                    *place = Some(VerifyingKey::<P>::from_bytes(bytes).map_err(code)?.expand());
                    Ok(())
                })
            }
        })
    })
}

/// Writes the verifying key that belongs to a signing key.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_dsa_verifying_key_of(
    key: *const SigningKeyStorage,
    output: *mut u8,
    output_len: usize,
) -> c_int {
    let output = (output, output_len);
    // SAFETY: what this function asks for
    status(|| unsafe {
        for_set!(algorithm_of(key.cast(), Kind::Signing)?, P => {
            export::<SigningKey<P>>(key.cast(), output, |key, output| copy(key.verifying_key().as_bytes(), output))
        })
    })
}

/// Writes the seed that a signing key was made from. A key that was made from its expanded form has no seed:
/// PQTLS_ERROR_NO_SEED.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_dsa_seed(
    key: *const SigningKeyStorage,
    output: *mut u8,
    output_len: usize,
) -> c_int {
    let output = (output, output_len);
    // SAFETY: what this function asks for
    status(|| unsafe {
        for_set!(algorithm_of(key.cast(), Kind::Signing)?, P => {
            export::<SigningKey<P>>(key.cast(), output, |key, output| copy(key.seed().ok_or(PQTLS_ERROR_NO_SEED)?, output))
        })
    })
}

/// Writes a signing key as FIPS 204 encodes it.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_dsa_expanded(
    key: *const SigningKeyStorage,
    output: *mut u8,
    output_len: usize,
) -> c_int {
    let output = (output, output_len);
    // SAFETY: what this function asks for
    status(|| unsafe {
        for_set!(algorithm_of(key.cast(), Kind::Signing)?, P => {
            export::<SigningKey<P>>(key.cast(), output, |key, output| key.to_expanded_into(output).map_err(code))
        })
    })
}

/// Signs a message with a context of at most 255 bytes, which may be empty (ML-DSA.Sign, FIPS 204,
/// algorithm 2; HashML-DSA.Sign, algorithm 4). `kind` says what the message is: PQTLS_PURE, a
/// PQTLS_HASH_..., one of these with PQTLS_DIGEST added, or PQTLS_MU.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_dsa_sign(
    key: *const SigningKeyStorage,
    random: Random,
    random_context: *mut c_void,
    kind: i32,
    message: *const u8,
    message_len: usize,
    context: *const u8,
    context_len: usize,
    signature: *mut u8,
    signature_len: usize,
) -> c_int {
    let message = (kind, (message, message_len), (context, context_len));
    // SAFETY: what this function asks for
    status(|| unsafe {
        sign(
            key.cast(),
            &[],
            message,
            (signature, signature_len),
            |rnd| draw(random, random_context, rnd),
        )
    })
}

/// Does the same as pqtls_ml_dsa_sign, with randomness of 32 bytes, rnd, as an argument. If these are zeros, or
/// `randomness` is null and randomness_len 0, it is the deterministic variant: an attacker who can measure or
/// disturb it can have the same computation repeated.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_dsa_sign_derand(
    key: *const SigningKeyStorage,
    randomness: *const u8,
    randomness_len: usize,
    kind: i32,
    message: *const u8,
    message_len: usize,
    context: *const u8,
    context_len: usize,
    signature: *mut u8,
    signature_len: usize,
) -> c_int {
    let message = (kind, (message, message_len), (context, context_len));
    status(|| {
        let given = Region::input(randomness, randomness_len)?;
        // SAFETY: what this function asks for
        unsafe {
            sign(
                key.cast(),
                &[given],
                message,
                (signature, signature_len),
                |rnd| match given.as_slice() {
                    [] => Ok(()),
                    given => copy(given, rnd),
                },
            )
        }
    })
}

/// Signs with what `draw` writes over 32 zeros.
///
/// # Safety
///
/// As the head of the header says.
unsafe fn sign(
    storage: *const c_void,
    inputs: &[Region],
    (kind, message, context): Given,
    signature: (*mut u8, usize),
    draw: impl FnOnce(&mut [u8]) -> Result<(), Code>,
) -> Result<(), Code> {
    // SAFETY: what this function asks for
    let algorithm = unsafe { algorithm_of(storage, Kind::Signing)? };
    let message = Region::input(message.0, message.1)?;
    let context = Region::input(context.0, context.1)?;
    let output = Region::output(signature.0, signature.1)?;
    apart(&[output], &[message, context])?;
    apart(&[output], inputs)?;
    for_set!(algorithm, P => {
        apart(&[output], &[region::<SigningKey<P>>(storage)?])?;
        let mut rnd = Zeroizing::new([0; PQTLS_ML_DSA_RANDOMNESS_BYTES]);
        // before there is a reference to memory that the callback might reach
        let drawn = draw(&mut *rnd);
        // SAFETY: the caller answers for the pointers, and the output is apart from the rest.
        let output = unsafe { output.as_mut_slice() };
        let result = drawn.and_then(|()| {
            // SAFETY: as above; the storage has a key of this kind and set, which nobody writes to.
            let (key, message, context) = unsafe {
                (key_in::<SigningKey<P>>(storage)?, message.as_slice(), context.as_slice())
            };
            let signature: Signature<P> = match algorithms::Kind::from_number(kind)? {
                algorithms::Kind::Pure => key.sign(message, context, &rnd).map_err(code)?,
                algorithms::Kind::Hashed(hash) => {
                    key.hash_sign(hash, message, context, &rnd).map_err(code)?
                }
                algorithms::Kind::Digest(hash) => {
                    key.sign_digest(hash, message, context, &rnd).map_err(code)?
                }
                algorithms::Kind::Mu => key.sign_mu(mu(message, context)?, &rnd),
            };
            copy(signature.as_bytes(), output)
        });
        finish(result, &mut [output])
    })
}

/// The representative of a message, which can't have a context.
fn mu<'a>(message: &'a [u8], context: &[u8]) -> Result<&'a [u8; PQTLS_ML_DSA_MU_BYTES], Code> {
    if context.is_empty() {
        fixed(message)
    } else {
        Err(PQTLS_ERROR_CONTEXT)
    }
}

/// Verifies a signature (ML-DSA.Verify, FIPS 204, algorithm 3; HashML-DSA.Verify, algorithm 5). `kind` must be
/// the same as when the message was signed. Returns PQTLS_OK only if the signature is valid.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_dsa_verify(
    key: *const VerifyingKeyStorage,
    kind: i32,
    message: *const u8,
    message_len: usize,
    context: *const u8,
    context_len: usize,
    signature: *const u8,
    signature_len: usize,
) -> c_int {
    status(|| {
        // SAFETY: what this function asks for
        let algorithm = unsafe { algorithm_of(key.cast(), Kind::Verifying)? };
        let message = Region::input(message, message_len)?;
        let context = Region::input(context, context_len)?;
        let signature = Region::input(signature, signature_len)?;
        // SAFETY: the caller answers for the pointers, and nothing is written.
        let (message, context, signature) =
            unsafe { (message.as_slice(), context.as_slice(), signature.as_slice()) };
        for_set!(algorithm, P => {
            // SAFETY: the storage has a key of this kind and set.
            let key = unsafe { key_in::<ExpandedVerifyingKey<P>>(key.cast())? };
            let signature = Signature::<P>::from_bytes(signature).map_err(code)?;
            match algorithms::Kind::from_number(kind)? {
                algorithms::Kind::Pure => key.verify(message, context, &signature),
                algorithms::Kind::Hashed(hash) => {
                    key.hash_verify(hash, message, context, &signature)
                }
                algorithms::Kind::Digest(hash) => {
                    key.verify_digest(hash, message, context, &signature)
                }
                algorithms::Kind::Mu => key.verify_mu(mu(message, context)?, &signature),
            }
            .map_err(code)
        })
    })
}

/// Computes the representative of a message, mu, for PQTLS_MU: 64 bytes (FIPS 204, algorithm 7, line 6).
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_dsa_mu(
    key: *const VerifyingKeyStorage,
    message: *const u8,
    message_len: usize,
    context: *const u8,
    context_len: usize,
    mu: *mut u8,
    mu_len: usize,
) -> c_int {
    status(|| {
        // SAFETY: what this function asks for
        let algorithm = unsafe { algorithm_of(key.cast(), Kind::Verifying)? };
        let message = Region::input(message, message_len)?;
        let context = Region::input(context, context_len)?;
        apart(&[Region::output(mu, mu_len)?], &[message, context])?;
        for_set!(algorithm, P => {
            let write = |key: &ExpandedVerifyingKey<P>, mu: &mut [u8]| {
                // SAFETY: the caller answers for the pointers; the output is elsewhere.
                let (message, context) = unsafe { (message.as_slice(), context.as_slice()) };
                copy(&key.verifying_key().mu(message, context).map_err(code)?, mu)
            };
            // SAFETY: the storage has a key of this kind and set, and the output is writable.
            unsafe { export(key.cast(), (mu, mu_len), write) }
        })
    })
}
