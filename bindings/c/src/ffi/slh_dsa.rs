//! SLH-DSA (FIPS 205), whose keys are few bytes and need no preparation.

use core::ffi::{c_int, c_void};

use pq_core::Dimension;
use pq_core::slh_dsa::*;
use zeroize::Zeroizing;

use super::memory::{Given, Region, apart, copy, finish, status};
use super::random::{Random, draw};
use crate::algorithms::*;
use crate::error::{Code, PQTLS_ERROR_ALGORITHM, PQTLS_ERROR_WRONG_LENGTH, code};
use crate::sizes::PQTLS_SLH_DSA_SHAKE_256F_SEED_BYTES as MAX_SEED_BYTES;

/// Does something for the parameter set with this number.
macro_rules! for_set {
    ($algorithm:expr, $set:ident => $do:expr) => {
        for_set_of!($algorithm, $set => $do, {
            PQTLS_SLH_DSA_SHA2_128S: SlhDsaSha2_128s,
            PQTLS_SLH_DSA_SHA2_128F: SlhDsaSha2_128f,
            PQTLS_SLH_DSA_SHA2_192S: SlhDsaSha2_192s,
            PQTLS_SLH_DSA_SHA2_192F: SlhDsaSha2_192f,
            PQTLS_SLH_DSA_SHA2_256S: SlhDsaSha2_256s,
            PQTLS_SLH_DSA_SHA2_256F: SlhDsaSha2_256f,
            PQTLS_SLH_DSA_SHAKE_128S: SlhDsaShake128s,
            PQTLS_SLH_DSA_SHAKE_128F: SlhDsaShake128f,
            PQTLS_SLH_DSA_SHAKE_192S: SlhDsaShake192s,
            PQTLS_SLH_DSA_SHAKE_192F: SlhDsaShake192f,
            PQTLS_SLH_DSA_SHAKE_256S: SlhDsaShake256s,
            PQTLS_SLH_DSA_SHAKE_256F: SlhDsaShake256f,
        })
    };
}

/// Makes a key pair of one of PQTLS_SLH_DSA_... from fresh randomness (slh_keygen, FIPS 205, algorithm 21).
/// Both keys are as the standard encodes them.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_slh_dsa_generate(
    algorithm: i32,
    random: Random,
    random_context: *mut c_void,
    signing_key: *mut u8,
    signing_key_len: usize,
    verifying_key: *mut u8,
    verifying_key_len: usize,
) -> c_int {
    let outputs = (
        (signing_key, signing_key_len),
        (verifying_key, verifying_key_len),
    );
    // SAFETY: what this function asks for
    status(|| unsafe {
        make(algorithm, &[], outputs, |seed| {
            draw(random, random_context, seed)
        })
    })
}

/// Makes the key pair from a seed of 3n bytes, SK.seed, SK.prf and PK.seed (slh_keygen_internal, algorithm 18).
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_slh_dsa_from_seed(
    algorithm: i32,
    seed: *const u8,
    seed_len: usize,
    signing_key: *mut u8,
    signing_key_len: usize,
    verifying_key: *mut u8,
    verifying_key_len: usize,
) -> c_int {
    let outputs = (
        (signing_key, signing_key_len),
        (verifying_key, verifying_key_len),
    );
    status(|| {
        let given = Region::input(seed, seed_len)?;
        // SAFETY: what this function asks for
        unsafe {
            make(algorithm, &[given], outputs, |seed| {
                copy(given.as_slice(), seed)
            })
        }
    })
}

/// Makes a key pair from the seed that `draw` writes.
///
/// # Safety
///
/// As the head of the header says.
unsafe fn make(
    algorithm: i32,
    inputs: &[Region],
    (signing_key, verifying_key): ((*mut u8, usize), (*mut u8, usize)),
    draw: impl FnOnce(&mut [u8]) -> Result<(), Code>,
) -> Result<(), Code> {
    let signing_key = Region::output(signing_key.0, signing_key.1)?;
    let verifying_key = Region::output(verifying_key.0, verifying_key.1)?;
    apart(&[signing_key, verifying_key], inputs)?;
    let mut seed = Zeroizing::new([0; MAX_SEED_BYTES]);
    for_set!(algorithm, P => {
        let seed = &mut seed[..<P as ParameterSet>::SeedLen::N];
        // before there is a reference to memory that the callback might reach
        let drawn = draw(seed);
        // SAFETY: the caller answers for the pointers, and the outputs are apart from the rest.
        let (signing_key, verifying_key) =
            unsafe { (signing_key.as_mut_slice(), verifying_key.as_mut_slice()) };
        let result = drawn.and_then(|()| pair::<P>(seed, signing_key, verifying_key));
        finish(result, &mut [signing_key, verifying_key])
    })
}

fn pair<P: ParameterSet>(
    bytes: &[u8],
    signing_key: &mut [u8],
    verifying_key: &mut [u8],
) -> Result<(), Code> {
    if signing_key.len() != P::SIGNING_KEY_LEN || verifying_key.len() != P::VERIFYING_KEY_LEN {
        return Err(PQTLS_ERROR_WRONG_LENGTH);
    }
    let mut seed = Zeroizing::new(P::SeedLen::from_fn(|_| 0));
    copy(bytes, (*seed).as_mut())?;
    let mut place = None;
    let key = SigningKey::<P>::from_seed_into(&seed, &mut place);
    copy(key.as_bytes(), signing_key)?;
    copy(key.verifying_key().as_bytes(), verifying_key)
}

/// Signs a message with a context of at most 255 bytes, which may be empty (slh_sign, FIPS 205,
/// algorithm 22; hash_slh_sign, algorithm 23). `kind` says what the message is: PQTLS_PURE, a
/// PQTLS_HASH_..., or one of these with PQTLS_DIGEST added. If the public part of the key does not belong to
/// its secret part, nobody would accept the signature: PQTLS_ERROR_MALFORMED_KEY.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_slh_dsa_sign(
    algorithm: i32,
    signing_key: *const u8,
    signing_key_len: usize,
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
    let key = (signing_key, signing_key_len);
    // SAFETY: what this function asks for
    status(|| unsafe {
        sign(
            algorithm,
            key,
            &[],
            message,
            (signature, signature_len),
            |addrnd| draw(random, random_context, addrnd).map(|()| true),
        )
    })
}

/// Does the same as pqtls_slh_dsa_sign, with randomness of n bytes, addrnd, as an argument. If `randomness` is
/// null and randomness_len 0, it is the deterministic variant: an attacker who can measure or disturb it can
/// have the same computation repeated.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_slh_dsa_sign_derand(
    algorithm: i32,
    signing_key: *const u8,
    signing_key_len: usize,
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
    let key = (signing_key, signing_key_len);
    status(|| {
        let given = Region::input(randomness, randomness_len)?;
        // SAFETY: what this function asks for
        unsafe {
            sign(
                algorithm,
                key,
                &[given],
                message,
                (signature, signature_len),
                |addrnd| match given.as_slice() {
                    [] => Ok(false),
                    given => copy(given, addrnd).map(|()| true),
                },
            )
        }
    })
}

/// The message as pq-core takes it.
fn message(kind: i32, bytes: &[u8]) -> Result<Message<'_>, Code> {
    match Kind::from_number(kind)? {
        Kind::Pure => Ok(Message::Pure(bytes)),
        Kind::Hashed(hash) => Ok(Message::Hashed(hash, bytes)),
        Kind::Digest(hash) => Ok(Message::Digest(hash, bytes)),
        Kind::Mu => Err(PQTLS_ERROR_ALGORITHM),
    }
}

/// Signs with what `draw` writes, or deterministically if it says that it wrote nothing.
///
/// # Safety
///
/// As the head of the header says.
unsafe fn sign(
    algorithm: i32,
    key: (*const u8, usize),
    inputs: &[Region],
    (kind, text, context): Given,
    signature: (*mut u8, usize),
    draw: impl FnOnce(&mut [u8]) -> Result<bool, Code>,
) -> Result<(), Code> {
    let key = Region::input(key.0, key.1)?;
    let text = Region::input(text.0, text.1)?;
    let context = Region::input(context.0, context.1)?;
    let output = Region::output(signature.0, signature.1)?;
    apart(&[output], &[key, text, context])?;
    apart(&[output], inputs)?;
    for_set!(algorithm, P => {
        let mut addrnd = Zeroizing::new(<P as ParameterSet>::N::from_fn(|_| 0));
        // before there is a reference to memory that the callback might reach
        let drawn = draw((*addrnd).as_mut());
        // SAFETY: the caller answers for the pointers, and the output is apart from the rest.
        let output = unsafe { output.as_mut_slice() };
        let result = drawn.and_then(|hedged| {
            // SAFETY: as above
            let (key, text, context) =
                unsafe { (key.as_slice(), text.as_slice(), context.as_slice()) };
            let mut place = None;
            let key = SigningKey::<P>::from_bytes_into(key, &mut place).map_err(code)?;
            let (text, addrnd) = (message(kind, text)?, hedged.then_some(&*addrnd));
            key.sign_into(text, context, addrnd, &|_| (), output).map_err(code)
        });
        finish(result, &mut [output])
    })
}

/// Verifies a signature (slh_verify, FIPS 205, algorithm 24; hash_slh_verify, algorithm 25). `kind` must be the
/// same as when the message was signed. Returns PQTLS_OK only if the signature is valid.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_slh_dsa_verify(
    algorithm: i32,
    verifying_key: *const u8,
    verifying_key_len: usize,
    kind: i32,
    message: *const u8,
    message_len: usize,
    context: *const u8,
    context_len: usize,
    signature: *const u8,
    signature_len: usize,
) -> c_int {
    status(|| {
        let key = Region::input(verifying_key, verifying_key_len)?;
        let text = Region::input(message, message_len)?;
        let context = Region::input(context, context_len)?;
        let signature = Region::input(signature, signature_len)?;
        // SAFETY: the caller answers for the pointers, and nothing is written.
        let (key, text, context, signature) = unsafe {
            (
                key.as_slice(),
                text.as_slice(),
                context.as_slice(),
                signature.as_slice(),
            )
        };
        let text = self::message(kind, text)?;
        for_set!(algorithm, P => {
            let key = VerifyingKey::<P>::from_bytes(key).map_err(code)?;
            key.verify_bytes(text, context, signature).map_err(code)
        })
    })
}
