//! The AEADs of HPKE with their numbers and names, and a keyed cipher that encrypts in place.

use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use pq_keys::gcm;
// those of all AEADs here
pub(crate) use pq_keys::gcm::{NONCE_LEN, TAG_LEN};

/// The cipher that encrypts and authenticates (RFC 9180, section 7.3).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Aead {
    /// AES-128-GCM.
    Aes128Gcm,
    /// AES-256-GCM.
    #[default]
    Aes256Gcm,
    /// ChaCha20-Poly1305, for CPUs without instructions for AES.
    ChaCha20Poly1305,
}

impl Aead {
    /// All AEADs of this crate.
    pub const ALL: &'static [Self] = &[Self::Aes128Gcm, Self::Aes256Gcm, Self::ChaCha20Poly1305];

    /// Its number in HPKE.
    pub const fn id(self) -> u16 {
        match self {
            Self::Aes128Gcm => 1,
            Self::Aes256Gcm => 2,
            Self::ChaCha20Poly1305 => 3,
        }
    }

    /// The AEAD with this number, if it is known here.
    pub fn from_id(id: u16) -> Option<Self> {
        Self::ALL.iter().copied().find(|aead| aead.id() == id)
    }

    /// The usual name, such as `AES-256-GCM`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aes128Gcm => "AES-128-GCM",
            Self::Aes256Gcm => "AES-256-GCM",
            Self::ChaCha20Poly1305 => "ChaCha20-Poly1305",
        }
    }

    /// Length of a key, in bytes.
    pub(crate) const fn key_len(self) -> usize {
        match self {
            Self::Aes128Gcm => 16,
            Self::Aes256Gcm | Self::ChaCha20Poly1305 => 32,
        }
    }
}

/// A cipher with its key, wiped when dropped.
pub(crate) struct Cipher(Keyed);

enum Keyed {
    AesGcm(gcm::Key),
    ChaCha20Poly1305(Box<ChaCha20Poly1305>),
}

/// The text was changed, or is longer than what one nonce encrypts.
#[derive(Debug)]
pub(crate) struct Refused;

impl Cipher {
    /// `None` if the key has another length than the cipher needs.
    pub(crate) fn new(aead: Aead, key: &[u8]) -> Option<Self> {
        if key.len() != aead.key_len() {
            return None;
        }
        Some(Self(match aead {
            Aead::Aes128Gcm | Aead::Aes256Gcm => Keyed::AesGcm(gcm::Key::new(key)?),
            Aead::ChaCha20Poly1305 => {
                Keyed::ChaCha20Poly1305(Box::new(KeyInit::new_from_slice(key).ok()?))
            }
        }))
    }

    /// Encrypts the text in place, and returns its tag.
    pub(crate) fn seal(
        &self,
        nonce: &[u8; NONCE_LEN],
        aad: &[u8],
        text: &mut [u8],
    ) -> Result<[u8; TAG_LEN], Refused> {
        match &self.0 {
            Keyed::AesGcm(key) => key.seal(nonce, aad, text).map_err(|_| Refused),
            Keyed::ChaCha20Poly1305(cipher) => {
                let tag = cipher.encrypt_inout_detached(nonce.into(), aad, text.into());
                tag.map(Into::into).map_err(|_| Refused)
            }
        }
    }

    /// Decrypts a text in place, if it is authentic.
    pub(crate) fn open(
        &self,
        nonce: &[u8; NONCE_LEN],
        aad: &[u8],
        text: &mut [u8],
        tag: &[u8; TAG_LEN],
    ) -> Result<(), Refused> {
        match &self.0 {
            Keyed::AesGcm(key) => key.open(nonce, aad, text, tag).map_err(|_| Refused),
            Keyed::ChaCha20Poly1305(cipher) => {
                let opened =
                    cipher.decrypt_inout_detached(nonce.into(), aad, text.into(), tag.into());
                opened.map_err(|_| Refused)
            }
        }
    }
}
