//! What protects a key under a passphrase, for a caller to choose: key derivations with their costs, and ciphers.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5911::{
    ID_AES_128_CBC, ID_AES_128_GCM, ID_AES_192_CBC, ID_AES_256_CBC, ID_AES_256_GCM,
};
use const_oid::db::rfc6268::{ID_HMAC_WITH_SHA_256, ID_HMAC_WITH_SHA_384, ID_HMAC_WITH_SHA_512};

use super::asn1::HMAC_WITH_SHA_1;

/// How a private key is protected: the key derivation with its cost, and the cipher.
///
/// Every reader of PKCS#8 knows the default, including OpenSSL in FIPS mode, GnuTLS and Java:
/// PBKDF2 with HMAC-SHA-256 and 600,000 iterations (OWASP's figure, and far above the 2,048 of
/// OpenSSL's own files), and AES-256-CBC. Two things are better if the reader knows them:
///
/// * scrypt takes memory as well as time, so that special hardware helps an attacker less:
///   [`KeyDerivation::SCRYPT`], which OpenSSL reads, and
///   [`KeyDerivation::STRONG_SCRYPT`], which it refuses for its 128 MiB.
/// * AES-GCM is authenticated. OpenSSL and others read no AES-GCM in PKCS#8. With AES-CBC, a change is detected by a digest
///   beside the key: see [`EncryptedPrivateKey`](super::EncryptedPrivateKey).
///
/// ```
/// use pq_keys::protection::{Cipher, KeyDerivation, Protection};
///
/// let protection = Protection::default()
///     .with_key_derivation(KeyDerivation::STRONG_SCRYPT)
///     .with_cipher(Cipher::Aes256Gcm);
/// assert!(protection.cipher().is_authenticated());
/// ```
///
/// `pq_serving::Protection` is something else: what protects a connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Protection {
    key_derivation: KeyDerivation,
    cipher: Cipher,
}

impl Protection {
    /// Sets the key derivation, with its cost.
    pub fn with_key_derivation(self, key_derivation: KeyDerivation) -> Self {
        Self {
            key_derivation,
            ..self
        }
    }

    /// Sets the cipher.
    pub fn with_cipher(self, cipher: Cipher) -> Self {
        Self { cipher, ..self }
    }

    /// Whether the key derivation is PBKDF2 by HMAC-SHA-1, which is read and never written.
    pub fn is_by_sha1(&self) -> bool {
        self.key_derivation.is_by_sha1()
    }

    /// The key derivation, with its cost.
    pub fn key_derivation(&self) -> KeyDerivation {
        self.key_derivation
    }

    /// The cipher.
    pub fn cipher(&self) -> Cipher {
        self.cipher
    }
}

/// A key derivation function for passphrases, with its cost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum KeyDerivation {
    /// PBKDF2 (RFC 8018 section 5.2), which takes time.
    Pbkdf2 {
        /// The hash function of its HMAC.
        prf: Prf,
        /// How often HMAC is computed for each block of the key, at least once.
        iterations: u32,
    },
    /// scrypt (RFC 7914), which takes 128·N·r bytes of memory, and time that grows with N·r·p.
    Scrypt {
        /// N is two to the power of this, which is at least 1.
        log_n: u8,
        /// The size of a block, at least 1.
        r: u32,
        /// How many times scrypt mixes, one after another here, at least 1.
        p: u32,
    },
}

impl KeyDerivation {
    /// PBKDF2 with HMAC-SHA-256 and the 600,000 iterations that OWASP asks for.
    pub const PBKDF2: Self = Self::Pbkdf2 {
        prf: Prf::HmacSha256,
        iterations: 600_000,
    };

    /// scrypt with N = 2¹⁴, r = 8 and p = 5. Of the settings that OWASP considers equally hard, this one
    /// needs so little memory (16 MiB) that OpenSSL reads it.
    pub const SCRYPT: Self = Self::Scrypt {
        log_n: 14,
        r: 8,
        p: 5,
    };

    /// scrypt with N = 2¹⁷, r = 8 and p = 1, which takes 128 MiB. OpenSSL refuses it as too large.
    pub const STRONG_SCRYPT: Self = Self::Scrypt {
        log_n: 17,
        r: 8,
        p: 1,
    };

    /// Whether it is PBKDF2 by HMAC-SHA-1.
    pub(crate) fn is_by_sha1(self) -> bool {
        matches!(
            self,
            Self::Pbkdf2 {
                prf: Prf::HmacSha1,
                ..
            }
        )
    }
}

impl Default for KeyDerivation {
    fn default() -> Self {
        Self::PBKDF2
    }
}

/// The pseudo-random function of PBKDF2.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Prf {
    /// HMAC with SHA-1, the default of RFC 8018: it is read, and never written. HMAC doesn't need that nobody finds
    /// collisions, but whoever still uses it should not.
    HmacSha1,
    /// HMAC with SHA-256.
    HmacSha256,
    /// HMAC with SHA-384.
    HmacSha384,
    /// HMAC with SHA-512.
    HmacSha512,
}

impl Prf {
    pub(crate) const ALL: [Self; 4] = [
        Self::HmacSha1,
        Self::HmacSha256,
        Self::HmacSha384,
        Self::HmacSha512,
    ];

    /// The object identifier (RFC 8018, appendix B.1.2).
    pub fn oid(self) -> ObjectIdentifier {
        match self {
            Self::HmacSha1 => HMAC_WITH_SHA_1,
            Self::HmacSha256 => ID_HMAC_WITH_SHA_256,
            Self::HmacSha384 => ID_HMAC_WITH_SHA_384,
            Self::HmacSha512 => ID_HMAC_WITH_SHA_512,
        }
    }

    pub(crate) fn of(oid: ObjectIdentifier) -> Option<Self> {
        Self::ALL.into_iter().find(|prf| prf.oid() == oid)
    }

    /// Length of the output, in bytes.
    pub fn output_len(self) -> usize {
        match self {
            Self::HmacSha1 => 20,
            Self::HmacSha256 => 32,
            Self::HmacSha384 => 48,
            Self::HmacSha512 => 64,
        }
    }
}

/// A cipher for private keys.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Cipher {
    /// AES-128 in CBC mode.
    Aes128Cbc,
    /// AES-192 in CBC mode.
    Aes192Cbc,
    /// AES-256 in CBC mode.
    #[default]
    Aes256Cbc,
    /// AES-128 in GCM mode with a nonce of 12 bytes and a tag of 16.
    Aes128Gcm,
    /// AES-256 in GCM mode with a nonce of 12 bytes and a tag of 16.
    Aes256Gcm,
}

impl Cipher {
    const ALL: [Self; 5] = [
        Self::Aes128Cbc,
        Self::Aes192Cbc,
        Self::Aes256Cbc,
        Self::Aes128Gcm,
        Self::Aes256Gcm,
    ];

    /// Whether any change of the ciphertext is detected.
    pub fn is_authenticated(self) -> bool {
        matches!(self, Self::Aes128Gcm | Self::Aes256Gcm)
    }

    pub(crate) fn oid(self) -> ObjectIdentifier {
        match self {
            Self::Aes128Cbc => ID_AES_128_CBC,
            Self::Aes192Cbc => ID_AES_192_CBC,
            Self::Aes256Cbc => ID_AES_256_CBC,
            Self::Aes128Gcm => ID_AES_128_GCM,
            Self::Aes256Gcm => ID_AES_256_GCM,
        }
    }

    pub(crate) fn of(oid: ObjectIdentifier) -> Option<Self> {
        Self::ALL.into_iter().find(|cipher| cipher.oid() == oid)
    }

    /// Length of the key, in bytes.
    pub(crate) fn key_len(self) -> usize {
        match self {
            Self::Aes128Cbc | Self::Aes128Gcm => 16,
            Self::Aes192Cbc => 24,
            Self::Aes256Cbc | Self::Aes256Gcm => 32,
        }
    }

    /// Length of the initialization vector or the nonce, in bytes.
    pub(crate) fn iv_len(self) -> usize {
        match self.is_authenticated() {
            true => 12,
            false => 16,
        }
    }
}
