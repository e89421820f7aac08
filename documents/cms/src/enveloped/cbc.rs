//! AES-CBC for messages without authentication, with the padding of RFC 5652, section 6.3, which is checked in constant
//! time.

use aes::cipher::{Array, BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
use aes::{Aes128, Aes256};
use subtle::{ConditionallySelectable, ConstantTimeEq, ConstantTimeLess};

pub(super) const BLOCK: usize = 16;

/// AES-CBC (SP 800-38A) for content that comes in pieces of whole blocks.
pub(super) enum CbcEncryption {
    Aes128(cbc::Encryptor<Aes128>),
    Aes256(cbc::Encryptor<Aes256>),
}

impl CbcEncryption {
    /// `None` if the key has neither 16 nor 32 bytes.
    pub(super) fn new(key: &[u8], iv: &[u8; BLOCK]) -> Option<Self> {
        Some(match key.len() {
            16 => Self::Aes128(cbc::Encryptor::new(key.try_into().ok()?, iv.into())),
            _ => Self::Aes256(cbc::Encryptor::new(key.try_into().ok()?, iv.into())),
        })
    }

    pub(super) fn encrypt(&mut self, blocks: &mut [u8]) {
        let (blocks, _) = Array::slice_as_chunks_mut(blocks);
        match self {
            Self::Aes128(cbc) => cbc.encrypt_blocks(blocks),
            Self::Aes256(cbc) => cbc.encrypt_blocks(blocks),
        }
    }
}

/// The same for decryption.
pub(super) enum CbcDecryption {
    Aes128(cbc::Decryptor<Aes128>),
    Aes256(cbc::Decryptor<Aes256>),
}

impl CbcDecryption {
    /// `None` if the key has neither 16 nor 32 bytes.
    pub(super) fn new(key: &[u8], iv: &[u8; BLOCK]) -> Option<Self> {
        Some(match key.len() {
            16 => Self::Aes128(cbc::Decryptor::new(key.try_into().ok()?, iv.into())),
            _ => Self::Aes256(cbc::Decryptor::new(key.try_into().ok()?, iv.into())),
        })
    }

    pub(super) fn decrypt(&mut self, blocks: &mut [u8]) {
        let (blocks, _) = Array::slice_as_chunks_mut(blocks);
        match self {
            Self::Aes128(cbc) => cbc.decrypt_blocks(blocks),
            Self::Aes256(cbc) => cbc.decrypt_blocks(blocks),
        }
    }
}

/// Fills up the last block, or adds one (RFC 5652, section 6.3).
pub(super) fn pad(content: &mut Vec<u8>) {
    let len = BLOCK - content.len() % BLOCK;
    content.resize(content.len() + len, len as u8);
}

/// The length of the content in the last blocks; `None` if their padding is wrong. The bytes are secret, and
/// are compared in constant time.
pub(super) fn unpadded_len(blocks: &[u8]) -> Option<usize> {
    let (_, [.., last]) = blocks.split_last_chunk::<BLOCK>()?;
    let mut is_good = last.ct_lt(&(BLOCK as u8 + 1)) & !last.ct_eq(&0);
    for (from_end, byte) in (0..BLOCK as u8).zip(blocks.iter().rev()) {
        // before the padding any byte is good
        let expected = u8::conditional_select(byte, last, from_end.ct_lt(last));
        is_good &= byte.ct_eq(&expected);
    }
    bool::from(is_good).then(|| blocks.len() - usize::from(*last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding() {
        for len in 0..100 {
            let mut content = vec![1; len];
            pad(&mut content);
            assert_eq!(content.len() % BLOCK, 0);
            assert_eq!(unpadded_len(&content), Some(len));
        }
        for bad in [0, 17, 255] {
            assert_eq!(unpadded_len(&[bad; 32]), None);
        }
        let mut bytes = [3; 16];
        assert_eq!(unpadded_len(&bytes), Some(13));
        bytes[13] = 4;
        assert_eq!(unpadded_len(&bytes), None);
        assert_eq!(unpadded_len(&[]), None);
    }
}
