use const_oid::ObjectIdentifier;
use thiserror::Error;

use crate::encoding::PemError;
use crate::errors::from_causes;
use crate::keys::{KeyError, RandomnessError};

/// Why a private key could not be put under a passphrase, or had back from under one.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ProtectionError {
    /// The bytes are not the DER of an EncryptedPrivateKeyInfo with its parameters.
    #[error("the encrypted private key is not valid DER: {0}; copy the file again")]
    Der(der::Error),
    /// The text holds no PEM block of the right kind, or a damaged one.
    #[error(transparent)]
    Pem(#[from] PemError),
    /// What was to be encrypted is no private key.
    #[error("what is to be encrypted is not the DER of a PKCS#8 private key: {0}")]
    NotPkcs8(KeyError),
    /// Something is to be encrypted under no passphrase.
    #[error("an empty passphrase protects nothing; choose one that nobody guesses")]
    EmptyPassphrase,
    /// The scheme is another one than PBES2, such as those of PKCS#12 or of PKCS#5 version 1.
    #[error(
        "no support for the encryption {0}, only for PBES2 (RFC 8018); have the key encrypted anew, such as \
         by \"openssl pkcs8 -topk8 -v2 aes-256-cbc\""
    )]
    UnsupportedScheme(ObjectIdentifier),
    /// The key derivation is neither PBKDF2 nor scrypt.
    #[error(
        "no support for the key derivation {0}, only for PBKDF2 and scrypt; have the key encrypted anew \
         with one of them"
    )]
    UnsupportedKeyDerivation(ObjectIdentifier),
    /// PBKDF2 is to use another function than HMAC with SHA-256, SHA-384 or SHA-512.
    #[error(
        "no support for PBKDF2 with the function {0}, only with HMAC of SHA-256, SHA-384 and SHA-512 \
         (1.2.840.113549.2.7, HMAC-SHA-1, is what it is without a word); have the key encrypted anew, such \
         as by \"openssl pkcs8 -topk8 -v2prf hmacWithSHA256\""
    )]
    UnsupportedPrf(ObjectIdentifier),
    /// The cipher is not AES in one of the modes that are known.
    #[error(
        "no support for the cipher {0}, only for AES-CBC with keys of 128, 192 and 256 bits and AES-GCM \
         with keys of 128 and 256; have the key encrypted anew with one of them"
    )]
    UnsupportedCipher(ObjectIdentifier),
    /// The parameters contradict each other, or what a standard says of them.
    #[error("the parameters of the encryption are refused: {0}; have the key encrypted anew")]
    Parameters(&'static str),
    /// The file says how long the derived key is, and that is not what its cipher needs.
    #[error(
        "the derived key is to have {found} bytes, and what it is for needs {needed}; have the key \
         encrypted anew"
    )]
    KeyLength {
        /// What the file says.
        found: u64,
        /// What the cipher, or the function of a MAC, needs.
        needed: usize,
    },
    /// The salt is longer than any that is of use.
    #[error("the salt has {found} bytes, more than the {limit} that are accepted")]
    SaltLength {
        /// How long it is.
        found: usize,
        /// How long it may be.
        limit: usize,
    },
    /// Deriving keys from the passphrase would take too long. Nothing was derived.
    #[error(
        "the file asks for {found} iterations, or more, before its passphrase can be tried, and the limit \
         is {limit}; don't trust this file, or allow it more by \
         CostLimits if its owner made it so"
    )]
    TooManyIterations {
        /// How many the file had asked for when the limit was passed; u64::MAX stands for more as well.
        found: u64,
        /// How many it may.
        limit: u64,
    },
    /// scrypt would take too much memory. None was taken.
    #[error(
        "the file asks for {found} bytes of memory, or more, before its passphrase can be tried, and the \
         limit is {limit}; don't trust this file, or allow it more by CostLimits if its owner made it so"
    )]
    TooMuchMemory {
        /// How much the file asks for; u64::MAX stands for more as well.
        found: u64,
        /// How much it may.
        limit: u64,
    },
    /// scrypt would take too long. Nothing was derived.
    #[error(
        "the file asks scrypt for work (N·r·p) of {found}, or more, and the limit is {limit}; don't trust \
         this file, or allow it more by CostLimits if its owner made it so"
    )]
    TooMuchWork {
        /// How much the file had asked for when the limit was passed; u64::MAX stands for more as well.
        found: u64,
        /// How much it may.
        limit: u64,
    },
    /// It can't be told which of the two it is.
    #[error(
        "wrong passphrase, or the file was changed; try the passphrase again, or another copy of the file"
    )]
    WrongPassphraseOrChanged,
    /// The key was decrypted, and is not one that can be used.
    #[error(transparent)]
    Key(KeyError),
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness: {0}")]
    Randomness(RandomnessError),
}

from_causes!(
    ProtectionError: Der(der::Error), Key(KeyError), Randomness(RandomnessError)
);
