//! Keys in PEM and DER, which pq-keys reads and writes.

use core::ffi::c_int;

use pq_keys::encoding::pem;
use pq_keys::{Algorithm, DecapsulationKey, PrivateKey, PrivateKeyForm, PublicKey, SigningKey};

use zeroize::{Zeroize, Zeroizing};

use super::memory::{Region, apart, status};
use crate::algorithms::{self, PQTLS_DER, PQTLS_FORM_EXPANDED, PQTLS_FORM_SEED, PQTLS_PEM, number};
use crate::error::{
    Code, PQTLS_ERROR_ALGORITHM, PQTLS_ERROR_MALFORMED_KEY, PQTLS_ERROR_TOO_SMALL,
    PQTLS_ERROR_WRONG_LENGTH, key_code,
};

/// Reads a private key of any algorithm from PKCS#8 in DER or PEM (RFC 9881, RFC 9909, RFC 9935), with all
/// checks. `form` gets PQTLS_FORM_SEED, or PQTLS_FORM_EXPANDED if there is no seed in the file. For SLH-DSA it
/// is always PQTLS_FORM_EXPANDED, the signing key.
///
/// `output_len` gets the length of the result, and the rest of `output` gets zeros. If output_size is smaller
/// than the result, all of `output` gets zeros, and the function returns PQTLS_ERROR_TOO_SMALL; the length and
/// the other numbers are set. To ask for the length, pass a null `output` with a size of 0. The function
/// allocates memory to read the file, and wipes it.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_private_key_read(
    file: *const u8,
    file_len: usize,
    algorithm: *mut i32,
    form: *mut i32,
    output: *mut u8,
    output_size: usize,
    output_len: *mut usize,
) -> c_int {
    status(|| {
        let file = Region::input(file, file_len)?;
        let output = Room::new(output, output_size, output_len)?;
        let numbers = [scalar(algorithm)?, scalar(form)?];
        apart(&[numbers[0], numbers[1], output.bytes, output.len], &[file])?;
        // SAFETY: the caller answers for the outputs, which are apart from each other and the file.
        unsafe {
            output.clear();
            algorithm.write_unaligned(0);
            form.write_unaligned(0);
        }
        // SAFETY: the caller answers for it being readable, and nothing is written meanwhile.
        let file = unsafe { file.as_slice() };
        let key = match pem::is_der(file) {
            false => PrivateKey::from_pkcs8_pem(file),
            true => PrivateKey::from_pkcs8_der(file),
        }
        .map_err(|error| key_code(&error))?;
        // the seed of SLH-DSA is part of the signing key, its only form
        let seed = key
            .seed()
            .filter(|_| key.algorithm().preferred_form() == PrivateKeyForm::Seed);
        // SAFETY: the caller answers for the pointers, which are not null and apart from each other.
        unsafe {
            algorithm.write_unaligned(number(key.algorithm())?);
            match seed {
                Some(seed) => {
                    form.write_unaligned(PQTLS_FORM_SEED);
                    output.write(seed)
                }
                None => {
                    form.write_unaligned(PQTLS_FORM_EXPANDED);
                    output.write(&key.to_expanded())
                }
            }
        }
    })
}

/// Writes a private key as PKCS#8 in PQTLS_DER or PQTLS_PEM. `key` is the seed of an ML-KEM or ML-DSA key, or an
/// SLH-DSA signing key. For `output` see pqtls_private_key_read.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_private_key_write(
    algorithm: i32,
    key: *const u8,
    key_len: usize,
    encoding: i32,
    output: *mut u8,
    output_size: usize,
    output_len: *mut usize,
) -> c_int {
    let output = (output, output_size, output_len);
    let encode = |key: &[u8]| {
        let key = private_key(algorithms::algorithm(algorithm)?, key)?;
        match encoding {
            PQTLS_DER => key.to_pkcs8_der(),
            PQTLS_PEM => key
                .to_pkcs8_pem()
                .map(|pem| Zeroizing::new(pem.as_bytes().to_vec())),
            _ => return Err(PQTLS_ERROR_ALGORITHM),
        }
        .map_err(|error| key_code(&error))
    };
    // SAFETY: what this function asks for
    status(|| unsafe { write((key, key_len), output, encode) })
}

/// Reads a public key of any algorithm from a SubjectPublicKeyInfo in DER or PEM, with all checks, and writes it
/// in the encoding of its FIPS. For `output` see pqtls_private_key_read.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_public_key_read(
    file: *const u8,
    file_len: usize,
    algorithm: *mut i32,
    output: *mut u8,
    output_size: usize,
    output_len: *mut usize,
) -> c_int {
    status(|| {
        let file = Region::input(file, file_len)?;
        let output = Room::new(output, output_size, output_len)?;
        apart(&[scalar(algorithm)?, output.bytes, output.len], &[file])?;
        // SAFETY: the caller answers for the outputs, which are apart from each other and the file.
        unsafe {
            output.clear();
            algorithm.write_unaligned(0);
        }
        // SAFETY: the caller answers for it being readable, and nothing is written meanwhile.
        let file = unsafe { file.as_slice() };
        let key = match pem::is_der(file) {
            false => PublicKey::from_spki_pem(file),
            true => PublicKey::from_spki_der(file),
        }
        .map_err(|error| key_code(&error))?;
        // SAFETY: the caller answers for the pointers, which are not null and apart from each other.
        unsafe {
            algorithm.write_unaligned(number(key.algorithm())?);
            output.write(key.as_bytes())
        }
    })
}

/// Writes a public key as a SubjectPublicKeyInfo in PQTLS_DER or PQTLS_PEM. For `output` see
/// pqtls_private_key_read.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pqtls_public_key_write(
    algorithm: i32,
    key: *const u8,
    key_len: usize,
    encoding: i32,
    output: *mut u8,
    output_size: usize,
    output_len: *mut usize,
) -> c_int {
    let output = (output, output_size, output_len);
    let encode = |key: &[u8]| {
        let algorithm = algorithms::algorithm(algorithm)?;
        let key = PublicKey::from_bytes(algorithm, key).map_err(|error| key_code(&error))?;
        match encoding {
            PQTLS_DER => Ok(Zeroizing::new(key.to_spki_der().to_vec())),
            PQTLS_PEM => Ok(Zeroizing::new(key.to_spki_pem().into_bytes())),
            _ => Err(PQTLS_ERROR_ALGORITHM),
        }
    };
    // SAFETY: what this function asks for
    status(|| unsafe { write((key, key_len), output, encode) })
}

/// Writes the file that `encode` makes of a key.
///
/// # Safety
///
/// As the head of the header says.
unsafe fn write(
    (key, key_len): (*const u8, usize),
    (output, output_size, output_len): (*mut u8, usize, *mut usize),
    encode: impl FnOnce(&[u8]) -> Result<Zeroizing<Vec<u8>>, Code>,
) -> Result<(), Code> {
    let key = Region::input(key, key_len)?;
    let output = Room::new(output, output_size, output_len)?;
    apart(&[output.bytes, output.len], &[key])?;
    // SAFETY: the caller answers for the outputs, which are apart from each other and the key, and for the key
    // being readable.
    unsafe {
        output.clear();
        output.write(&encode(key.as_slice())?)
    }
}

/// An output whose length is known only when it is made.
struct Room {
    bytes: Region,
    len: Region,
    place: *mut usize,
    size: usize,
}

impl Room {
    fn new(output: *mut u8, size: usize, len: *mut usize) -> Result<Self, Code> {
        Ok(Self {
            bytes: Region::input(output, size)?,
            len: scalar(len)?,
            place: len,
            size,
        })
    }

    /// Writes zeros, which stay after an error.
    ///
    /// # Safety
    ///
    /// The caller of the library answers for both places being writable, and they are apart from all else.
    unsafe fn clear(&self) {
        // SAFETY: what this function asks for
        unsafe {
            self.place.write_unaligned(0);
            self.bytes.as_mut_slice().zeroize();
        }
    }

    /// # Safety
    ///
    /// As for [`clear`](Self::clear), `bytes` included.
    unsafe fn write(&self, bytes: &[u8]) -> Result<(), Code> {
        // SAFETY: what this function asks for
        unsafe {
            self.place.write_unaligned(bytes.len());
            if bytes.len() > self.size {
                return Err(PQTLS_ERROR_TOO_SMALL);
            }
            self.bytes.as_mut_slice()[..bytes.len()].copy_from_slice(bytes);
        }
        Ok(())
    }
}

/// Where a number goes.
fn scalar<T>(place: *mut T) -> Result<Region, Code> {
    Region::output(place.cast(), size_of::<T>())
}

/// The private key from what a caller passes: a seed, or an SLH-DSA signing key.
fn private_key(algorithm: Algorithm, bytes: &[u8]) -> Result<PrivateKey, Code> {
    if algorithm.preferred_form() == PrivateKeyForm::Seed {
        return from_seed(algorithm, bytes);
    }
    let seed = bytes
        .get(..algorithm.seed_len())
        .ok_or(PQTLS_ERROR_WRONG_LENGTH)?;
    if bytes.len() != algorithm.expanded_len() {
        return Err(PQTLS_ERROR_WRONG_LENGTH);
    }
    let key = from_seed(algorithm, seed)?;
    // Only the public part can differ.
    if *key.to_expanded() == bytes {
        Ok(key)
    } else {
        Err(PQTLS_ERROR_MALFORMED_KEY)
    }
}

fn from_seed(algorithm: Algorithm, seed: &[u8]) -> Result<PrivateKey, Code> {
    match algorithm {
        Algorithm::Signature(own) => SigningKey::from_seed(own, seed).map(PrivateKey::Signing),
        Algorithm::Kem(own) => {
            DecapsulationKey::from_seed(own, seed).map(PrivateKey::Decapsulation)
        }
        _ => return Err(PQTLS_ERROR_ALGORITHM),
    }
    .map_err(|error| key_code(&error))
}
