//! The options for a key's encryption under a passphrase (PBES2: PBKDF2 or scrypt, AES-CBC or AES-GCM), and that
//! encryption, for `pqtls key`.

use clap::ValueEnum;
use pq_keys::protection::{Cipher, EncryptedPrivateKey, KeyDerivation, Protection};

use super::encode::{self, Encoding, Form};
use crate::failure::Failure;
use crate::keys::PrivateKey;
use crate::passphrases::Passphrase;

/// How a private key is to be protected.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct ProtectionOptions {
    /// The function that derives a key from the passphrase
    #[arg(long, value_enum, default_value = "pbkdf2", value_name = "KDF")]
    kdf: Kdf,

    /// The cipher
    #[arg(long, value_enum, default_value = "aes-256-cbc", value_name = "CIPHER")]
    cipher: CipherName,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Kdf {
    /// PBKDF2 with HMAC-SHA-256 and 600,000 iterations, which all programs read
    Pbkdf2,
    /// scrypt in 16 MiB of memory, which makes guessing more expensive; OpenSSL reads it
    Scrypt,
    /// scrypt in 128 MiB of memory; OpenSSL refuses that
    StrongScrypt,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum CipherName {
    /// AES-CBC, which all programs read, with a digest beside the key
    #[value(name = "aes-256-cbc")]
    Aes256Cbc,
    /// AES-GCM, which authenticates by itself; OpenSSL and most others don't read it
    #[value(name = "aes-128-gcm")]
    Aes128Gcm,
    /// The same with a longer key
    #[value(name = "aes-256-gcm")]
    Aes256Gcm,
}

impl ProtectionOptions {
    pub(super) fn protection(self) -> Protection {
        let derivation = match self.kdf {
            Kdf::Pbkdf2 => KeyDerivation::PBKDF2,
            Kdf::Scrypt => KeyDerivation::SCRYPT,
            Kdf::StrongScrypt => KeyDerivation::STRONG_SCRYPT,
        };
        let cipher = match self.cipher {
            CipherName::Aes256Cbc => Cipher::Aes256Cbc,
            CipherName::Aes128Gcm => Cipher::Aes128Gcm,
            CipherName::Aes256Gcm => Cipher::Aes256Gcm,
        };
        Protection::default()
            .with_key_derivation(derivation)
            .with_cipher(cipher)
    }
}

/// Encrypts the key in a form, as PEM or DER, and returns the form that it has in the file.
pub(in crate::commands) fn encrypted(
    key: &PrivateKey,
    form: Option<Form>,
    passphrase: &Passphrase,
    protection: &Protection,
    is_der: bool,
) -> Result<(Vec<u8>, Option<Form>), Failure> {
    let (pkcs8, form) = encode::private_key(key, form, Encoding::Der)?;
    let encrypted = EncryptedPrivateKey::encrypt(&pkcs8, passphrase, protection)?;
    let bytes = match is_der {
        true => encrypted.as_der().to_vec(),
        false => encrypted.to_pem().into_bytes(),
    };
    Ok((bytes, form))
}
