//! The AEADs of HPKE with their numbers and names, and a keyed cipher that encrypts in place.

use aes_gcm::aead::{AeadInOut, KeyInit, Nonce, Tag};
use aes_gcm::{Aes128Gcm, Aes256Gcm};
use chacha20poly1305::ChaCha20Poly1305;

/// Length of a nonce, in bytes.
pub(crate) const NONCE_LEN: usize = 12;

/// Length of a tag, in bytes.
pub(crate) const TAG_LEN: usize = 16;

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
    Aes128Gcm(Box<Aes128Gcm>),
    Aes256Gcm(Box<Aes256Gcm>),
    ChaCha20Poly1305(Box<ChaCha20Poly1305>),
}

/// The text was changed, or is longer than what one nonce encrypts.
#[derive(Debug)]
pub(crate) struct Refused;

impl Cipher {
    /// `None` if the key has another length than the cipher needs.
    pub(crate) fn new(aead: Aead, key: &[u8]) -> Option<Self> {
        Some(Self(match aead {
            Aead::Aes128Gcm => Keyed::Aes128Gcm(Box::new(KeyInit::new_from_slice(key).ok()?)),
            Aead::Aes256Gcm => Keyed::Aes256Gcm(Box::new(KeyInit::new_from_slice(key).ok()?)),
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
            Keyed::Aes128Gcm(cipher) => seal(&**cipher, nonce, aad, text),
            Keyed::Aes256Gcm(cipher) => seal(&**cipher, nonce, aad, text),
            Keyed::ChaCha20Poly1305(cipher) => seal(&**cipher, nonce, aad, text),
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
            Keyed::Aes128Gcm(cipher) => open(&**cipher, nonce, aad, text, tag),
            Keyed::Aes256Gcm(cipher) => open(&**cipher, nonce, aad, text, tag),
            Keyed::ChaCha20Poly1305(cipher) => open(&**cipher, nonce, aad, text, tag),
        }
    }
}

fn seal<C: AeadInOut>(
    cipher: &C,
    nonce: &[u8; NONCE_LEN],
    aad: &[u8],
    text: &mut [u8],
) -> Result<[u8; TAG_LEN], Refused> {
    let nonce = Nonce::<C>::try_from(&nonce[..]).map_err(|_| Refused)?;
    let tag = cipher.encrypt_inout_detached(&nonce, aad, text.into());
    tag.ok()
        .and_then(|tag| tag.as_slice().try_into().ok())
        .ok_or(Refused)
}

fn open<C: AeadInOut>(
    cipher: &C,
    nonce: &[u8; NONCE_LEN],
    aad: &[u8],
    text: &mut [u8],
    tag: &[u8; TAG_LEN],
) -> Result<(), Refused> {
    let nonce = Nonce::<C>::try_from(&nonce[..]).map_err(|_| Refused)?;
    let tag = Tag::<C>::try_from(&tag[..]).map_err(|_| Refused)?;
    let opened = cipher.decrypt_inout_detached(&nonce, aad, text.into(), &tag);
    opened.map_err(|_| Refused)
}
