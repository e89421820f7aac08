//! ML-KEM (FIPS 203).

use core::ffi::{c_int, c_void};

use pq_core::ml_kem::{
    DecapsulationKey, EncapsulationKey, MlKem512, MlKem768, MlKem1024, SEED_LEN,
};
use zeroize::Zeroizing;

use super::memory::{Region, apart, copy, finish, fixed, fixed_mut, status};
use super::random::{Random, draw};
use super::storage::{
    Kind, algorithm_of, draw_for, export, fits, key as key_in, make, make_of, region,
};
use crate::algorithms::{PQTLS_ML_KEM_512, PQTLS_ML_KEM_768, PQTLS_ML_KEM_1024};
use crate::error::{Code, PQTLS_ERROR_NO_SEED, code};
use crate::sizes::*;

const _: () = {
    assert!(fits::<DecapsulationKey<MlKem512>>(
        PQTLS_ML_KEM_512_DECAPSULATION_KEY_STORAGE_BYTES
    ));
    assert!(fits::<EncapsulationKey<MlKem512>>(
        PQTLS_ML_KEM_512_ENCAPSULATION_KEY_STORAGE_BYTES
    ));
    assert!(fits::<DecapsulationKey<MlKem768>>(
        PQTLS_ML_KEM_768_DECAPSULATION_KEY_STORAGE_BYTES
    ));
    assert!(fits::<EncapsulationKey<MlKem768>>(
        PQTLS_ML_KEM_768_ENCAPSULATION_KEY_STORAGE_BYTES
    ));
    assert!(fits::<DecapsulationKey<MlKem1024>>(
        PQTLS_ML_KEM_1024_DECAPSULATION_KEY_STORAGE_BYTES
    ));
    assert!(fits::<EncapsulationKey<MlKem1024>>(
        PQTLS_ML_KEM_1024_ENCAPSULATION_KEY_STORAGE_BYTES
    ));
};

/// A decapsulation key of ML-KEM, in storage of the caller.
pub struct DecapsulationKeyStorage;

/// An encapsulation key of ML-KEM, prepared for use, in storage of the caller.
pub struct EncapsulationKeyStorage;

/// Does something for the parameter set with this number.
macro_rules! for_set {
    ($algorithm:expr, $set:ident => $do:expr) => {
        for_set_of!($algorithm, $set => $do, {
            PQTLS_ML_KEM_512: MlKem512,
            PQTLS_ML_KEM_768: MlKem768,
            PQTLS_ML_KEM_1024: MlKem1024,
        })
    };
}

/// Makes a decapsulation key of PQTLS_ML_KEM_512, PQTLS_ML_KEM_768 or PQTLS_ML_KEM_1024 from fresh
/// randomness (ML-KEM.KeyGen, FIPS 203, algorithm 19).
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_kem_generate(
    algorithm: i32,
    random: Random,
    random_context: *mut c_void,
    key: *mut DecapsulationKeyStorage,
    key_bytes: usize,
) -> c_int {
    let storage = key.cast();
    let mut seed = Zeroizing::new([0; SEED_LEN]);
    status(|| {
        // SAFETY: what this function asks for
        unsafe { draw_for(storage, key_bytes, (random, random_context), &mut *seed)? };
        let what = (Kind::Decapsulation, algorithm);
        for_set!(algorithm, P => {
            // SAFETY: what this function asks for; `draw_for` accepted the storage.
            unsafe {
                make(storage, key_bytes, what, |place| {
                    DecapsulationKey::<P>::from_seed_into(&seed, place);
                    Ok(())
                })
            }
        })
    })
}

/// Makes the decapsulation key from a seed of 64 bytes, d and z (ML-KEM.KeyGen_internal, algorithm 16).
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_kem_from_seed(
    algorithm: i32,
    seed: *const u8,
    seed_len: usize,
    key: *mut DecapsulationKeyStorage,
    key_bytes: usize,
) -> c_int {
    let what = (Kind::Decapsulation, algorithm);
    status(|| {
        for_set!(algorithm, P => {
            // SAFETY: what this function asks for
            unsafe {
                make_of((seed, seed_len), (key.cast(), key_bytes), what, |seed, place| {
                    DecapsulationKey::<P>::from_seed_into(fixed(seed)?, place);
                    Ok(())
                })
            }
        })
    })
}

/// Makes a decapsulation key from its expanded form, if it passes the checks of FIPS 203, section 7.3, and its
/// parts belong together. The seed stays unknown.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_kem_from_expanded(
    algorithm: i32,
    expanded: *const u8,
    expanded_len: usize,
    key: *mut DecapsulationKeyStorage,
    key_bytes: usize,
) -> c_int {
    let what = (Kind::Decapsulation, algorithm);
    status(|| {
        for_set!(algorithm, P => {
            // SAFETY: what this function asks for
            unsafe {
                make_of((expanded, expanded_len), (key.cast(), key_bytes), what, |bytes, place| {
                    DecapsulationKey::<P>::from_expanded_into(bytes, place).map_err(code)?;
                    Ok(())
                })
            }
        })
    })
}

/// Reads an encapsulation key, with the checks of FIPS 203, section 7.2.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_kem_from_encapsulation_key(
    algorithm: i32,
    bytes: *const u8,
    bytes_len: usize,
    key: *mut EncapsulationKeyStorage,
    key_bytes: usize,
) -> c_int {
    let what = (Kind::Encapsulation, algorithm);
    status(|| {
        for_set!(algorithm, P => {
            // SAFETY: what this function asks for
            unsafe {
                make_of((bytes, bytes_len), (key.cast(), key_bytes), what, |bytes, place| {
                    *place = Some(EncapsulationKey::<P>::from_bytes(bytes).map_err(code)?);
                    Ok(())
                })
            }
        })
    })
}

/// Writes the encapsulation key that belongs to a decapsulation key.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_kem_encapsulation_key_of(
    key: *const DecapsulationKeyStorage,
    output: *mut u8,
    output_len: usize,
) -> c_int {
    let output = (output, output_len);
    // SAFETY: what this function asks for
    status(|| unsafe {
        for_set!(algorithm_of(key.cast(), Kind::Decapsulation)?, P => {
            export::<DecapsulationKey<P>>(key.cast(), output, |key, output| copy(key.encapsulation_key().as_bytes(), output))
        })
    })
}

/// Writes the seed that a decapsulation key was made from. A key that was made from its expanded form has no
/// seed: PQTLS_ERROR_NO_SEED.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_kem_seed(
    key: *const DecapsulationKeyStorage,
    output: *mut u8,
    output_len: usize,
) -> c_int {
    let output = (output, output_len);
    // SAFETY: what this function asks for
    status(|| unsafe {
        for_set!(algorithm_of(key.cast(), Kind::Decapsulation)?, P => {
            export::<DecapsulationKey<P>>(key.cast(), output, |key, output| copy(key.seed().ok_or(PQTLS_ERROR_NO_SEED)?, output))
        })
    })
}

/// Writes a decapsulation key as FIPS 203 encodes it.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_kem_expanded(
    key: *const DecapsulationKeyStorage,
    output: *mut u8,
    output_len: usize,
) -> c_int {
    let output = (output, output_len);
    // SAFETY: what this function asks for
    status(|| unsafe {
        for_set!(algorithm_of(key.cast(), Kind::Decapsulation)?, P => {
            export::<DecapsulationKey<P>>(key.cast(), output, |key, output| key.to_expanded_into(output).map_err(code))
        })
    })
}

/// Makes a shared secret and its ciphertext (ML-KEM.Encaps, algorithm 20).
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_kem_encapsulate(
    key: *const EncapsulationKeyStorage,
    random: Random,
    random_context: *mut c_void,
    ciphertext: *mut u8,
    ciphertext_len: usize,
    secret: *mut u8,
    secret_len: usize,
) -> c_int {
    let outputs = ((ciphertext, ciphertext_len), (secret, secret_len));
    // SAFETY: what this function asks for
    status(|| unsafe {
        encapsulate(key.cast(), &[], outputs, |m| {
            draw(random, random_context, m)
        })
    })
}

/// Does the same as pqtls_ml_kem_encapsulate, with randomness of 32 bytes, m, as an argument
/// (ML-KEM.Encaps_internal, algorithm 17): for tests, and if you have randomness already. Never use it twice.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_kem_encapsulate_derand(
    key: *const EncapsulationKeyStorage,
    randomness: *const u8,
    randomness_len: usize,
    ciphertext: *mut u8,
    ciphertext_len: usize,
    secret: *mut u8,
    secret_len: usize,
) -> c_int {
    let outputs = ((ciphertext, ciphertext_len), (secret, secret_len));
    status(|| {
        let given = Region::input(randomness, randomness_len)?;
        // SAFETY: what this function asks for
        unsafe { encapsulate(key.cast(), &[given], outputs, |m| copy(given.as_slice(), m)) }
    })
}

/// Encapsulates with the randomness that `draw` writes. The outputs must not overlap `inputs`.
///
/// # Safety
///
/// As the head of the header says.
unsafe fn encapsulate(
    storage: *const c_void,
    inputs: &[Region],
    (ciphertext, secret): ((*mut u8, usize), (*mut u8, usize)),
    draw: impl FnOnce(&mut [u8]) -> Result<(), Code>,
) -> Result<(), Code> {
    // SAFETY: what this function asks for
    let algorithm = unsafe { algorithm_of(storage, Kind::Encapsulation)? };
    let ciphertext = Region::output(ciphertext.0, ciphertext.1)?;
    let secret = Region::output(secret.0, secret.1)?;
    apart(&[ciphertext, secret], inputs)?;
    for_set!(algorithm, P => {
        apart(&[ciphertext, secret], &[region::<EncapsulationKey<P>>(storage)?])?;
        let mut m = Zeroizing::new([0; PQTLS_ML_KEM_RANDOMNESS_BYTES]);
        // before there is a reference to memory that the callback might reach
        let drawn = draw(&mut *m);
        // SAFETY: the caller answers for the pointers, and the outputs are apart from the rest.
        let (ciphertext, secret) = unsafe { (ciphertext.as_mut_slice(), secret.as_mut_slice()) };
        let result = drawn.and_then(|()| {
            // SAFETY: the storage has a key of this kind and set, which nobody writes to.
            let key = unsafe { key_in::<EncapsulationKey<P>>(storage)? };
            key.encapsulate_into(&m, ciphertext, fixed_mut(secret)?).map_err(code)
        });
        finish(result, &mut [ciphertext, secret])
    })
}

/// Finds the shared secret of a ciphertext (ML-KEM.Decaps, algorithm 21). A ciphertext that was not made for
/// this key gives another secret, and no error.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_ml_kem_decapsulate(
    key: *const DecapsulationKeyStorage,
    ciphertext: *const u8,
    ciphertext_len: usize,
    secret: *mut u8,
    secret_len: usize,
) -> c_int {
    status(|| {
        // SAFETY: what this function asks for
        let algorithm = unsafe { algorithm_of(key.cast(), Kind::Decapsulation)? };
        let ciphertext = Region::input(ciphertext, ciphertext_len)?;
        apart(&[Region::output(secret, secret_len)?], &[ciphertext])?;
        for_set!(algorithm, P => {
            let write = |key: &DecapsulationKey<P>, output: &mut [u8]| {
                // SAFETY: the caller answers for it being readable; the output is elsewhere.
                let ciphertext = unsafe { ciphertext.as_slice() };
                key.decapsulate_into(ciphertext, fixed_mut(output)?).map_err(code)
            };
            // SAFETY: the storage has a key of this kind and set, and the output is writable.
            unsafe { export(key.cast(), (secret, secret_len), write) }
        })
    })
}
