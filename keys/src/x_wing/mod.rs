//! X-Wing, and its keys, raw and in PKCS#8 or SubjectPublicKeyInfo. It is ML-KEM-768 and X25519 at once: an attacker has to
//! break both. The draft may still change; this is draft-connolly-cfrg-xwing-kem-10.
//!
//! It uses `keys` and `encoding`.

mod error;
mod mechanism;
mod private_key;
mod public_key;

pub use error::XWingError;
pub use mechanism::CIPHERTEXT_LEN;
pub use private_key::XWingPrivateKey;
pub use public_key::XWingPublicKey;

use pkcs8::{AlgorithmIdentifierRef, ObjectIdentifier};

use crate::keys::KeyAlgorithm;

/// Length of a shared secret, in bytes.
pub const SECRET_LEN: usize = 32;

/// The object identifier of keys of X-Wing, private and public.
pub const OID: ObjectIdentifier = KeyAlgorithm::X_WING;

/// What the algorithm is called.
pub const NAME: &str = KeyAlgorithm::X_WING_NAME;

/// The AlgorithmIdentifier of private and public keys. Its parameters are absent.
const IDENTIFIER: AlgorithmIdentifierRef<'static> = AlgorithmIdentifierRef {
    oid: OID,
    parameters: None,
};

fn check_identifier(found: &AlgorithmIdentifierRef<'_>) -> Result<(), XWingError> {
    match *found == IDENTIFIER {
        true => Ok(()),
        false if found.oid == OID => Err(XWingError::ParametersPresent),
        false => Err(XWingError::OtherAlgorithm(found.oid)),
    }
}
