//! Encapsulation and decapsulation (sections 5.2 to 5.5 of the draft), over both halves of a key.

use pq_core::ml_kem::{MlKem768, ParameterSet, SEED_LEN};
use sha3::{Digest, Sha3_256};
use shake::{ExtendableOutput, Shake256, Update, XofReader};
use subtle::ConstantTimeEq;
use x25519_dalek::{X25519_BASEPOINT_BYTES, x25519};
use zeroize::{Zeroize, Zeroizing};

use super::SECRET_LEN;
use super::error::XWingError;

/// Length of a ciphertext, in bytes: ML-KEM-768's, followed by X25519's.
pub const CIPHERTEXT_LEN: usize = MlKem768::CIPHERTEXT_LEN + POINT_LEN;

/// Length of a private key, in bytes.
pub(super) const PRIVATE_KEY_LEN: usize = 32;

/// Length of a scalar and of a point of X25519, in bytes.
pub(super) const POINT_LEN: usize = 32;

/// Both halves of a private key.
pub(super) struct Expanded {
    pub(super) ml_kem: Zeroizing<[u8; SEED_LEN]>,
    pub(super) x25519: Zeroizing<[u8; POINT_LEN]>,
}

/// expandDecapsulationKey
pub(super) fn expand(private_key: &[u8; PRIVATE_KEY_LEN]) -> Expanded {
    let mut expanded = Expanded {
        ml_kem: Zeroizing::new([0; SEED_LEN]),
        x25519: Zeroizing::new([0; POINT_LEN]),
    };
    let mut hash = Shake256::default();
    hash.update(private_key);
    let mut output = hash.finalize_xof();
    output.read(&mut *expanded.ml_kem);
    output.read(&mut *expanded.x25519);
    expanded
}

/// The point that belongs to a scalar.
pub(super) fn point_of(scalar: &[u8; POINT_LEN]) -> [u8; POINT_LEN] {
    x25519(*scalar, X25519_BASEPOINT_BYTES)
}

/// The secret of X25519. A point of low order gives zero with every scalar; RFC 7748, section 6.1, allows
/// refusing it.
pub(super) fn agree(
    scalar: &[u8; POINT_LEN],
    point: &[u8; POINT_LEN],
) -> Result<Zeroizing<[u8; POINT_LEN]>, XWingError> {
    let secret = Zeroizing::new(x25519(*scalar, *point));
    match bool::from(secret.ct_eq(&[0; POINT_LEN])) {
        true => Err(XWingError::LowOrder),
        false => Ok(secret),
    }
}

/// The shared secret.
pub(super) fn combine(
    ml_kem: &[u8; SECRET_LEN],
    x25519: &[u8; POINT_LEN],
    x25519_ciphertext: &[u8; POINT_LEN],
    x25519_public_key: &[u8; POINT_LEN],
    secret: &mut [u8; SECRET_LEN],
) {
    let mut hash = Sha3_256::new();
    Digest::update(&mut hash, ml_kem);
    Digest::update(&mut hash, x25519);
    Digest::update(&mut hash, x25519_ciphertext);
    Digest::update(&mut hash, x25519_public_key);
    Digest::update(&mut hash, LABEL);
    let mut output = hash.finalize();
    secret.copy_from_slice(&output);
    output.as_mut_slice().zeroize();
}

/// The label of the draft: a picture of an X-wing.
const LABEL: &[u8; 6] = br"\.//^\";
