//! The encryption in AES-GCM, without the tag: AES in counter mode, by pq-core on CPUs that are fast with it, and
//! otherwise by RustCrypto.

use alloc::boxed::Box;

use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes256};
#[cfg(target_arch = "x86_64")]
use pq_core::aes_ctr::AesCtr;
use zeroize::{Zeroize, Zeroizing};

/// Length of a nonce, in bytes.
pub const NONCE_LEN: usize = 12;

pub(super) type Block = [u8; 16];

/// How many blocks of the keystream are made at a time. With fewer, the CPU waits for blocks that were only
/// just written.
const BLOCKS: usize = 256;

/// An AES key for counter mode as in GCM (SP 800-38D, section 6.5), where a counter of 32 bits follows the nonce.
pub(super) struct CounterKey(Implementation);

enum Implementation {
    /// For CPUs that encrypt two blocks in a register: takes half the time of the others on AMD's Zen 3.
    #[cfg(target_arch = "x86_64")]
    PqCore(Box<AesCtr>),
    RustCrypto(Box<Cipher>),
}

impl CounterKey {
    /// `None` if the key has neither 16 nor 32 bytes.
    pub(super) fn new(key: &[u8]) -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if let Some(aes) = AesCtr::new(key) {
            return Some(Self(Implementation::PqCore(aes.into())));
        }
        Self::portable(key)
    }

    pub(super) fn portable(key: &[u8]) -> Option<Self> {
        let cipher = Cipher::new(key)?;
        Some(Self(Implementation::RustCrypto(cipher.into())))
    }

    /// A block of zeros, encrypted: the hash key.
    pub(super) fn encrypted_zeros(&self) -> Zeroizing<Block> {
        // which is block 0 of the keystream for nonce 0
        let mut zeros = Zeroizing::new([0; 16]);
        self.apply(&[0; NONCE_LEN], 0, &mut *zeros);
        zeros
    }

    /// Encrypts or decrypts bytes, where `first` is the counter of the first block. The rest of the last block of the
    /// keystream is not used.
    pub(super) fn apply(&self, nonce: &[u8; NONCE_LEN], first: u32, bytes: &mut [u8]) {
        match &self.0 {
            #[cfg(target_arch = "x86_64")]
            Implementation::PqCore(aes) => aes.apply(nonce, first, bytes),
            Implementation::RustCrypto(cipher) => cipher.apply(nonce, first, bytes),
        }
    }
}

/// A cipher that makes keystream in a buffer. The crate `ctr` takes a third more time with AVX-512: it writes one
/// counter at a time, and the cipher reads four at once.
enum Cipher {
    Aes128(Aes128),
    Aes256(Aes256),
}

impl Cipher {
    fn new(key: &[u8]) -> Option<Self> {
        Some(match key.len() {
            16 => Self::Aes128(Aes128::new_from_slice(key).ok()?),
            _ => Self::Aes256(Aes256::new_from_slice(key).ok()?),
        })
    }

    fn apply(&self, nonce: &[u8; NONCE_LEN], first: u32, bytes: &mut [u8]) {
        let mut block = [0; 16];
        block[..NONCE_LEN].copy_from_slice(nonce);
        let nonce = u128::from_be_bytes(block);
        let mut next = first;
        let mut buffer = [[0; 16]; BLOCKS];
        let used = bytes.len().div_ceil(16).min(BLOCKS);
        for bytes in bytes.chunks_mut(16 * BLOCKS) {
            let keystream = &mut buffer[..bytes.len().div_ceil(16)];
            for block in &mut *keystream {
                *block = (nonce | u128::from(next)).to_be_bytes();
                next = next.wrapping_add(1);
            }
            let blocks = Array::cast_slice_from_core_mut(keystream);
            match self {
                Self::Aes128(cipher) => cipher.encrypt_blocks(blocks),
                Self::Aes256(cipher) => cipher.encrypt_blocks(blocks),
            }
            for (byte, key) in bytes.iter_mut().zip(keystream.as_flattened()) {
                *byte ^= key;
            }
        }
        // as one slice: an array of arrays takes a store for each byte
        buffer[..used].as_flattened_mut().zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By pq-core, where the CPU allows it, and by RustCrypto, of any length, also where the counter wraps.
    #[test]
    fn both_implementations_agree() {
        for key in [&[3; 16][..], &[4; 32]] {
            let bytes = |key: CounterKey| {
                let mut all = key.encrypted_zeros().to_vec();
                for first in [1, 2, u32::MAX - 20] {
                    for len in [16, 256, 16 * 1024, 0, 48, 272, 4096 + 16, 1003] {
                        let mut bytes = vec![len as u8; len];
                        key.apply(&[5; NONCE_LEN], first, &mut bytes);
                        all.extend(bytes);
                    }
                }
                all
            };
            let portable = CounterKey::portable(key).unwrap();
            assert_eq!(bytes(CounterKey::new(key).unwrap()), bytes(portable));
        }
    }
}
