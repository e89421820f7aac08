//! The ciphers of private key files, by OpenSSH's names: AES in counter mode and GCM, and OpenSSH's own ChaCha20 with
//! Poly1305 (PROTOCOL.chacha20poly1305).

use aes::{Aes128, Aes192, Aes256};
use aes_gcm::aead::{AeadInOut, Nonce, Tag};
use aes_gcm::{Aes128Gcm, Aes256Gcm, KeyInit};
use chacha20::ChaCha20;
use ctr::Ctr128BE;
use ctr::cipher::{KeyIvInit, StreamCipher};
use poly1305::Poly1305;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// A cipher that a file may name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Cipher {
    Aes128Ctr,
    Aes192Ctr,
    Aes256Ctr,
    Aes128Gcm,
    Aes256Gcm,
    ChaCha20Poly1305,
}

impl Cipher {
    pub(super) const ALL: [Self; 6] = [
        Self::Aes128Ctr,
        Self::Aes192Ctr,
        Self::Aes256Ctr,
        Self::Aes128Gcm,
        Self::Aes256Gcm,
        Self::ChaCha20Poly1305,
    ];

    /// The one that OpenSSH writes unless it is told otherwise.
    pub(super) const DEFAULT: Self = Self::Aes256Ctr;

    pub(super) fn of_name(name: &[u8]) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|cipher| cipher.name().as_bytes() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Aes128Ctr => "aes128-ctr",
            Self::Aes192Ctr => "aes192-ctr",
            Self::Aes256Ctr => "aes256-ctr",
            Self::Aes128Gcm => "aes128-gcm@openssh.com",
            Self::Aes256Gcm => "aes256-gcm@openssh.com",
            Self::ChaCha20Poly1305 => "chacha20-poly1305@openssh.com",
        }
    }

    /// How many bytes key and IV have.
    pub(super) fn key_and_iv(self) -> [usize; 2] {
        match self {
            Self::Aes128Ctr => [16, 16],
            Self::Aes192Ctr => [24, 16],
            Self::Aes256Ctr => [32, 16],
            Self::Aes128Gcm => [16, 12],
            Self::Aes256Gcm => [32, 12],
            // The second half is for the lengths of packets, which files don't have.
            Self::ChaCha20Poly1305 => [64, 0],
        }
    }

    /// The section is padded to a multiple of this many bytes.
    pub(super) fn block_len(self) -> usize {
        match self {
            Self::ChaCha20Poly1305 => 8,
            _ => 16,
        }
    }

    /// How many bytes follow the section, by which changes are noticed.
    pub(super) fn tag_len(self) -> usize {
        match self {
            Self::Aes128Ctr | Self::Aes192Ctr | Self::Aes256Ctr => 0,
            Self::Aes128Gcm | Self::Aes256Gcm | Self::ChaCha20Poly1305 => TAG_LEN,
        }
    }

    /// Decrypts a section; a cipher in counter mode also encrypts it so. `None` if its tag is that of another one, or of
    /// another key.
    pub(super) fn apply(self, key_and_iv: &[u8], section: &mut [u8], tag: &[u8]) -> Option<()> {
        let (key, iv) = key_and_iv.split_at_checked(self.key_and_iv()[0])?;
        match self {
            Self::Aes128Ctr => counter_mode::<Ctr128BE<Aes128>>(key, iv, section),
            Self::Aes192Ctr => counter_mode::<Ctr128BE<Aes192>>(key, iv, section),
            Self::Aes256Ctr => counter_mode::<Ctr128BE<Aes256>>(key, iv, section),
            Self::Aes128Gcm => gcm::<Aes128Gcm>(key, iv, section, tag),
            Self::Aes256Gcm => gcm::<Aes256Gcm>(key, iv, section, tag),
            Self::ChaCha20Poly1305 => chacha20_poly1305(&key[..32], section, tag),
        }
    }
}

fn counter_mode<C: KeyIvInit + StreamCipher>(
    key: &[u8],
    iv: &[u8],
    section: &mut [u8],
) -> Option<()> {
    C::new_from_slices(key, iv).ok()?.apply_keystream(section);
    Some(())
}

fn gcm<C: KeyInit + AeadInOut>(
    key: &[u8],
    nonce: &[u8],
    section: &mut [u8],
    tag: &[u8],
) -> Option<()> {
    let cipher = C::new_from_slice(key).ok()?;
    let nonce = Nonce::<C>::try_from(nonce).ok()?;
    let tag = Tag::<C>::try_from(tag).ok()?;
    cipher
        .decrypt_inout_detached(&nonce, &[], section.into(), &tag)
        .ok()
}

/// The nonce is the number of a packet, which is 0 in files. With it, RFC 8439's ChaCha20 is that of OpenSSH. The tag is
/// Poly1305's of the section alone, without the lengths of RFC 8439.
fn chacha20_poly1305(key: &[u8], section: &mut [u8], tag: &[u8]) -> Option<()> {
    let mut cipher = ChaCha20::new_from_slices(key, &[0; 12]).ok()?;
    // The first block is for the other key, and the section begins with the second.
    let mut first_block = Zeroizing::new([0; 64]);
    cipher.apply_keystream(&mut *first_block);
    let mac = Poly1305::new_from_slice(&first_block[..32]).ok()?;
    if !bool::from(mac.compute_unpadded(section)[..].ct_eq(tag)) {
        return None;
    }
    cipher.apply_keystream(section);
    Some(())
}

const TAG_LEN: usize = 16;

/// Room for key and IV of each.
pub(super) const MAX_KEY_AND_IV: usize = 64;
