//! Private keys under a passphrase: EncryptedPrivateKeyInfo (RFC 5958) with PBES2 (RFC 8018), the cost of
//! trying a passphrase, and the limits on the cost that a file may demand.
//!
//! It uses `keys`, [`encoding`](crate::encoding) and [`errors`](crate::errors).

mod algorithms;
mod asn1;
mod cipher;
pub(crate) mod cost;
mod encrypted_key;
mod error;
mod integrity;
mod key_derivation;
mod keys;
// pq-x509 uses it by `for_pkcs12`.
#[cfg_attr(not(feature = "pkcs12"), allow(unreachable_pub))]
pub(crate) mod pbes2;

pub use algorithms::{Cipher, KeyDerivation, Prf, Protection};
pub use cost::CostLimits;
pub use encrypted_key::EncryptedPrivateKey;
pub use error::ProtectionError;
#[cfg(feature = "pkcs12")]
pub(crate) use {
    asn1::number,
    key_derivation::{Derivation, MAX_SALT_LEN, params, read_iterations, read_prf},
};
