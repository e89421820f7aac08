//! Keys of each KEM.

use pq_hpke::{Kem, RecipientKey, RecipientPublicKey, XWingPrivateKey};
use pq_keys::{DecapsulationKey, KemAlgorithm};

/// A key of this KEM, and its public half. The same number gives the same key.
pub(crate) fn pair(kem: Kem, number: u8) -> (RecipientKey, RecipientPublicKey) {
    let algorithm = match kem {
        Kem::MlKem512 => KemAlgorithm::MlKem512,
        Kem::MlKem768 => KemAlgorithm::MlKem768,
        Kem::MlKem1024 => KemAlgorithm::MlKem1024,
        Kem::DhP256 | Kem::DhX25519 => {
            let key = RecipientKey::from_bytes(kem, &[number; 32]).unwrap();
            let public_key = key.public_key();
            return (key, public_key);
        }
        _ => {
            let key = XWingPrivateKey::from_bytes(&[number; 32]).unwrap();
            let public_key = key.public_key().clone();
            return (key.into(), public_key.into());
        }
    };
    let key = DecapsulationKey::from_seed(algorithm, &[number; 64]).unwrap();
    let public_key = key.encapsulation_key().clone();
    (key.try_into().unwrap(), public_key.try_into().unwrap())
}
