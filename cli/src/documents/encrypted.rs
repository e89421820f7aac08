use pq_x509::{EncryptedPrivateKey, KeyError, Protection, ProtectionError};
use zeroize::Zeroizing;

use super::contents::{Block, Contents};
use super::error::DocumentError;
use crate::keys::{self, PrivateKey};
use crate::passphrases::{Passphrase, PassphraseError};

/// A private key that was under a passphrase.
pub(super) struct Decrypted {
    pub(super) key: PrivateKey,
    pub(super) pkcs8: Zeroizing<Vec<u8>>,
    pub(super) protection: Protection,
}

/// Decrypts a key of either kind by the passphrase that is given for its file.
pub(super) fn decrypt(
    contents: &Contents,
    block: &Block,
    passphrase: impl FnOnce(&str) -> Result<Passphrase, PassphraseError>,
) -> Result<Decrypted, DocumentError> {
    let file = contents.file();
    let refused = |error| DocumentError::Encrypted {
        file: file.into(),
        error,
    };
    let encrypted = EncryptedPrivateKey::from_der(&block.der).map_err(refused)?;
    let pkcs8 = encrypted.decrypt(&passphrase(file)?).map_err(refused)?;
    let protection = encrypted.protection();
    let key = match encrypted.key_of(&pkcs8) {
        Ok(key) => PrivateKey::PostQuantum(key),
        Err(ProtectionError::Key(KeyError::UnsupportedAlgorithm(_))) => {
            PrivateKey::from_der(&pkcs8).map_err(|error| match is_changed(&protection, &error) {
                true => refused(ProtectionError::WrongPassphraseOrChanged),
                false => DocumentError::Key {
                    file: file.into(),
                    error,
                },
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

/// Whether that a key is unsound may come of another ciphertext.
fn is_changed(protection: &Protection, error: &keys::KeyError) -> bool {
    !protection.cipher().is_authenticated() && error.is_refusal()
}
