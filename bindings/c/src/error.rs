//! Numbers of errors, and the sentences that explain them.

use core::ffi::CStr;

use pq_core::Error;
use pq_keys::KeyError;

/// One of the numbers below.
pub(crate) type Code = i32;

/// All went well.
pub const PQTLS_OK: i32 = 0;
/// A pointer is null.
pub const PQTLS_ERROR_NULL: i32 = -1;
/// A key, ciphertext, signature, digest or other buffer has the wrong number of bytes.
pub const PQTLS_ERROR_WRONG_LENGTH: i32 = -2;
/// The function doesn't know the algorithm, hash function, form or encoding.
pub const PQTLS_ERROR_ALGORITHM: i32 = -3;
/// The storage of a key is not aligned to PQTLS_KEY_ALIGNMENT.
pub const PQTLS_ERROR_MISALIGNED: i32 = -4;
/// A storage or an output is too small.
pub const PQTLS_ERROR_TOO_SMALL: i32 = -5;
/// An output overlaps another output, an input or a key.
pub const PQTLS_ERROR_OVERLAP: i32 = -6;
/// There is no key in the storage, or one of another kind.
pub const PQTLS_ERROR_NO_KEY: i32 = -7;
/// There was no randomness: the callback failed, or the operating system did.
pub const PQTLS_ERROR_RANDOMNESS: i32 = -8;
/// The key fails a check of its standard.
pub const PQTLS_ERROR_MALFORMED_KEY: i32 = -9;
/// The context string is longer than 255 bytes, or one was given together with µ.
pub const PQTLS_ERROR_CONTEXT: i32 = -10;
/// The signature is not valid for this key, message and context.
pub const PQTLS_ERROR_INVALID_SIGNATURE: i32 = -11;
/// The key was made from its expanded form, which does not contain the seed.
pub const PQTLS_ERROR_NO_SEED: i32 = -12;
/// The PEM or DER can't be read.
pub const PQTLS_ERROR_SYNTAX: i32 = -13;
/// Another error, for which this version has no number.
pub const PQTLS_ERROR_OTHER: i32 = -14;

/// The number for an error of pq-core.
pub(crate) fn code(error: Error) -> Code {
    match error {
        Error::WrongLength { .. } => PQTLS_ERROR_WRONG_LENGTH,
        Error::UnreducedCoefficient
        | Error::HashMismatch
        | Error::SecretOutOfRange
        | Error::InconsistentKey => PQTLS_ERROR_MALFORMED_KEY,
        Error::ContextTooLong => PQTLS_ERROR_CONTEXT,
        // not one for this key
        Error::WeakHash { .. } => PQTLS_ERROR_ALGORITHM,
        Error::InvalidSignature => PQTLS_ERROR_INVALID_SIGNATURE,
        _ => PQTLS_ERROR_OTHER,
    }
}

/// The number for an error of pq-keys.
pub(crate) fn key_code(error: &KeyError) -> Code {
    match error {
        KeyError::Malformed { error, .. } | KeyError::Operation { error, .. } => match code(*error)
        {
            PQTLS_ERROR_WRONG_LENGTH => PQTLS_ERROR_WRONG_LENGTH,
            _ => PQTLS_ERROR_MALFORMED_KEY,
        },
        KeyError::SeedMismatch(_) | KeyError::PublicKeyMismatch(_) => PQTLS_ERROR_MALFORMED_KEY,
        KeyError::NoSeed(_) => PQTLS_ERROR_NO_SEED,
        KeyError::Randomness(_) => PQTLS_ERROR_RANDOMNESS,
        KeyError::UnsupportedAlgorithm(_)
        | KeyError::HashMlDsa(_)
        | KeyError::NotASignatureKey(_)
        | KeyError::NotAKemKey(_) => PQTLS_ERROR_ALGORITHM,
        _ => PQTLS_ERROR_SYNTAX,
    }
}

/// The sentence that explains a number.
pub(crate) fn text(code: Code) -> &'static CStr {
    match code {
        PQTLS_OK => c"no error",
        PQTLS_ERROR_NULL => c"a pointer is null",
        PQTLS_ERROR_WRONG_LENGTH => c"wrong length",
        PQTLS_ERROR_ALGORITHM => c"unknown algorithm, hash function, form or encoding, or not one for this function",
        PQTLS_ERROR_MISALIGNED => c"the storage of a key is not aligned: declare it with PQTLS_STORAGE",
        PQTLS_ERROR_TOO_SMALL => c"the storage of a key, or an output, is too small",
        PQTLS_ERROR_OVERLAP => c"an output overlaps another output, an input or a key",
        PQTLS_ERROR_NO_KEY => c"the storage has no key of this kind: it was not made, was wiped, or is of another kind",
        PQTLS_ERROR_RANDOMNESS => c"there is no randomness: the callback or the operating system gave none",
        PQTLS_ERROR_MALFORMED_KEY => c"malformed key: it fails a check of its standard",
        PQTLS_ERROR_CONTEXT => c"the context is longer than 255 bytes, or was given with a message's representative",
        PQTLS_ERROR_INVALID_SIGNATURE => c"invalid signature",
        PQTLS_ERROR_NO_SEED => c"this key has no seed: it was made from its expanded form",
        PQTLS_ERROR_SYNTAX => c"the PEM or DER is not a key that can be read",
        PQTLS_ERROR_OTHER => c"something else went wrong",
        _ => c"this is not the number of an error",
    }
}
