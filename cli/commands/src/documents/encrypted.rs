//! Decrypts private keys of any kind (EncryptedPrivateKeyInfo, RFC 5958). If the cipher authenticates nothing, an
//! unsound key counts as a wrong passphrase or a changed file.

use pq_x509::{EncryptedPrivateKey, KeyError, Protection, ProtectionError};
use zeroize::Zeroizing;

use super::contents::{Block, Contents};
use super::error::DocumentError;
use crate::keys::{self, FromPkcs8};
use crate::passphrases::{Passphrase, PassphraseError};

/// A private key that was encrypted.
pub(super) struct Decrypted<K> {
    pub(super) key: K,
    pub(super) pkcs8: Zeroizing<Vec<u8>>,
    pub(super) protection: Protection,
}

/// Decrypts a key of any kind with the passphrase for its file.
pub(super) fn decrypt<K: FromPkcs8>(
    contents: &Contents,
    block: &Block,
    passphrase: impl FnOnce(&str) -> Result<Passphrase, PassphraseError>,
) -> Result<Decrypted<K>, DocumentError> {
    let file = contents.file();
    let refused = |error| DocumentError::Encrypted {
        file: file.into(),
        error,
    };
    let encrypted = EncryptedPrivateKey::from_der(&block.der).map_err(refused)?;
    let pkcs8 = encrypted.decrypt(&passphrase(file)?).map_err(refused)?;
    let protection = encrypted.protection();
    let of_key = |error| DocumentError::Key {
        file: file.into(),
        error,
    };
    let key = match encrypted.key_of(&pkcs8) {
        Ok(key) => K::from_post_quantum(key).map_err(of_key)?,
        Err(ProtectionError::Key(error @ KeyError::UnsupportedAlgorithm(_))) => {
            K::from_other(&pkcs8, &error).map_err(|error| {
                match is_changed(&protection, &error) {
                    true => refused(ProtectionError::WrongPassphraseOrChanged),
                    false => of_key(error),
                }
            })?
        }
        Err(error) => return Err(refused(error)),
    };
    Ok(Decrypted {
        key,
        pkcs8,
        protection,
    })
}

/// Whether the key may be unsound because the ciphertext was changed.
fn is_changed(protection: &Protection, error: &keys::KeyError) -> bool {
    !protection.cipher().is_authenticated() && error.is_refusal()
}
