//! Why a key was not put under a passphrase, or not decrypted with one.

use const_oid::ObjectIdentifier;
use thiserror::Error;

use crate::encoding::pem::PemError;
use crate::errors::from_causes;
use crate::keys::KeyError;
use crate::keys::random::RandomnessError;

/// Why a private key could not be encrypted or decrypted with a passphrase.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ProtectionError {
    /// The bytes are not the DER of an EncryptedPrivateKeyInfo with its parameters.
    #[error("the encrypted private key is not valid DER: {0}; copy the file again")]
    Der(der::Error),
    /// The text holds no PEM block of the right kind, or a damaged one.
    #[error(transparent)]
    Pem(#[from] PemError),
    /// The input to encrypt is no private key.
    #[error("the input to encrypt is not the DER of a PKCS#8 private key: {0}")]
    NotPkcs8(KeyError),
    /// The passphrase to encrypt with is empty.
    #[error("an empty passphrase protects nothing; choose one that nobody guesses")]
    EmptyPassphrase,
    /// The scheme is not PBES2, but for example one of PKCS#12 or of PKCS#5 version 1.
    #[error(
        "no support for the encryption {0}, only for PBES2 (RFC 8018); encrypt the key again, for example \
         with \"openssl pkcs8 -topk8 -v2 aes-256-cbc\""
    )]
    UnsupportedScheme(ObjectIdentifier),
    /// The key derivation is neither PBKDF2 nor scrypt.
    #[error(
        "no support for the key derivation {0}, only for PBKDF2 and scrypt; encrypt the key again with one \
         of them"
    )]
    UnsupportedKeyDerivation(ObjectIdentifier),
    /// PBKDF2 uses another function than HMAC with SHA-256, SHA-384, SHA-512 or SHA-1.
    #[error(
        "no support for PBKDF2 with the function {0}, only with HMAC of SHA-256, SHA-384, SHA-512 and SHA-1; \
         encrypt the key again, for example with \"openssl pkcs8 -topk8 -v2prf hmacWithSHA256\""
    )]
    UnsupportedPrf(ObjectIdentifier),
    /// Something was to be written with HMAC-SHA-1.
    #[error("HMAC-SHA-1 is only read, and nothing is written with it; choose HMAC-SHA-256")]
    Sha1IsOnlyRead,
    /// The cipher is not AES in one of the supported modes.
    #[error(
        "no support for the cipher {0}, only for AES-CBC with keys of 128, 192 and 256 bits and AES-GCM \
         with keys of 128 and 256 bits; encrypt the key again with one of them"
    )]
    UnsupportedCipher(ObjectIdentifier),
    /// The parameters contradict each other, or a standard.
    #[error("the parameters of the encryption are refused: {0}; encrypt the key again")]
    Parameters(&'static str),
    /// The file gives another length for the derived key than its cipher needs.
    #[error(
        "the file says that the derived key has {found} bytes, but its cipher needs {needed}; encrypt the \
         key again"
    )]
    KeyLength {
        /// What the file says.
        found: u64,
        /// What the cipher needs.
        needed: usize,
    },
    /// The salt is longer than any useful one.
    #[error("the salt has {found} bytes, more than the {limit} that are accepted")]
    SaltLength {
        /// How long it is.
        found: usize,
        /// How long it may be.
        limit: usize,
    },
    /// Deriving keys from the passphrase would take too long. The key was not derived. [`CostLimits`](crate::protection::CostLimits)
    /// raise the limit.
    #[error(
        "the file asks for {found} iterations, or more, before its passphrase can be tried, and the limit \
         is {limit}; don't trust this file, or raise the limit if its owner chose this cost"
    )]
    TooManyIterations {
        /// How many the file had asked for when the limit was passed; u64::MAX stands for more as well.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// scrypt would take too much memory. The key was not derived. [`CostLimits`](crate::protection::CostLimits) raise the limit.
    #[error(
        "the file asks for {found} bytes of memory, or more, before its passphrase can be tried, and the \
         limit is {limit}; don't trust this file, or raise the limit if its owner chose this cost"
    )]
    TooMuchMemory {
        /// How much the file asks for; u64::MAX stands for more as well.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// scrypt would take too long. The key was not derived. [`CostLimits`](crate::protection::CostLimits) raise the limit.
    #[error(
        "the file asks scrypt for work (N·r·p) of {found}, or more, and the limit is {limit}; don't trust \
         this file, or raise the limit if its owner chose this cost"
    )]
    TooMuchWork {
        /// How much the file had asked for when the limit was passed; u64::MAX stands for more as well.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// The passphrase is wrong or the file was changed; the two cannot be told apart.
    #[error(
        "wrong passphrase, or the file was changed; try the passphrase again, or another copy of the file"
    )]
    WrongPassphraseOrChanged,
    /// The key was decrypted, but cannot be used.
    #[error(transparent)]
    Key(KeyError),
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness: {0}")]
    Randomness(RandomnessError),
}

from_causes!(
    ProtectionError: Der(der::Error), Key(KeyError), Randomness(RandomnessError)
);
