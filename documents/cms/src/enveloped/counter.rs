//! The encryption in AES-GCM, without the tag: AES in counter mode, by pq-core on CPUs that are fast with it, and
//! otherwise by RustCrypto.

use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes256};
#[cfg(target_arch = "x86_64")]
use pq_core::aes_ctr::AesCtr;
use zeroize::Zeroizing;

pub(super) const NONCE_LEN: usize = 12;

pub(super) type Block = [u8; 16];

/// How many blocks of the keystream are made at a time. With fewer, the CPU waits for blocks that were only
/// just written.
const BLOCKS: usize = 256;

/// AES in counter mode as in GCM (SP 800-38D, section 6.5): a counter of 32 bits follows the nonce.
pub(super) struct Counter {
    by: Implementation,
    nonce: [u8; NONCE_LEN],
    next: u32,
}

enum Implementation {
    /// For CPUs that encrypt two blocks in a register: takes half the time of the others on AMD's Zen 3.
    #[cfg(target_arch = "x86_64")]
    PqCore(Box<AesCtr>),
    RustCrypto(Box<Buffered>),
}

impl Counter {
    /// Counts from 1. `None` if the key has neither 16 nor 32 bytes.
    pub(super) fn new(key: &[u8], nonce: &[u8; NONCE_LEN]) -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if let Some(aes) = AesCtr::new(key) {
            return Some(Self::by(Implementation::PqCore(aes.into()), nonce));
        }
        Self::portable(key, nonce)
    }

    fn portable(key: &[u8], nonce: &[u8; NONCE_LEN]) -> Option<Self> {
        let buffered = Buffered::new(key)?;
        Some(Self::by(Implementation::RustCrypto(buffered.into()), nonce))
    }

    fn by(by: Implementation, nonce: &[u8; NONCE_LEN]) -> Self {
        Self {
            by,
            nonce: *nonce,
            next: 1,
        }
    }

    /// A block of zeros, encrypted: the hash key.
    pub(super) fn encrypted_zeros(&mut self) -> Zeroizing<Block> {
        // which is block 0 of the keystream for nonce 0
        let mut zeros = Zeroizing::new([0; 16]);
        self.by.apply(&[0; NONCE_LEN], 0, &mut *zeros);
        zeros
    }

    /// Encrypts or decrypts bytes. The rest of the last block of the keystream is not used.
    pub(super) fn apply(&mut self, bytes: &mut [u8]) {
        self.by.apply(&self.nonce, self.next, bytes);
        self.next = self.next.wrapping_add(bytes.len().div_ceil(16) as u32);
    }
}

impl Implementation {
    fn apply(&mut self, nonce: &[u8; NONCE_LEN], first: u32, bytes: &mut [u8]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::PqCore(aes) => aes.apply(nonce, first, bytes),
            Self::RustCrypto(buffered) => buffered.apply(nonce, first, bytes),
        }
    }
}

/// A cipher and a buffer for its keystream. The crate `ctr` takes a third more time with AVX-512: it writes one
/// counter at a time, and the cipher reads four at once.
struct Buffered {
    cipher: Cipher,
    keystream: Zeroizing<Vec<Block>>,
}

enum Cipher {
    Aes128(Aes128),
    Aes256(Aes256),
}

impl Buffered {
    fn new(key: &[u8]) -> Option<Self> {
        let cipher = match key.len() {
            16 => Cipher::Aes128(Aes128::new_from_slice(key).ok()?),
            _ => Cipher::Aes256(Aes256::new_from_slice(key).ok()?),
        };
        Some(Self {
            cipher,
            keystream: Zeroizing::new(vec![[0; 16]; BLOCKS]),
        })
    }

    fn apply(&mut self, nonce: &[u8; NONCE_LEN], first: u32, bytes: &mut [u8]) {
        let mut block = [0; 16];
        block[..NONCE_LEN].copy_from_slice(nonce);
        let nonce = u128::from_be_bytes(block);
        let mut next = first;
        for bytes in bytes.chunks_mut(16 * BLOCKS) {
            let keystream = &mut self.keystream[..bytes.len().div_ceil(16)];
            for block in &mut *keystream {
                *block = (nonce | u128::from(next)).to_be_bytes();
                next = next.wrapping_add(1);
            }
            let blocks = Array::cast_slice_from_core_mut(keystream);
            match &self.cipher {
                Cipher::Aes128(cipher) => cipher.encrypt_blocks(blocks),
                Cipher::Aes256(cipher) => cipher.encrypt_blocks(blocks),
            }
            for (byte, key) in bytes.iter_mut().zip(keystream.as_flattened()) {
                *byte ^= key;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By pq-core, where the CPU allows it, and by RustCrypto, in pieces of whole blocks and a last one.
    #[test]
    fn both_implementations_agree() {
        for key in [&[3; 16][..], &[4; 32]] {
            let counter = |new: fn(&[u8], &[u8; NONCE_LEN]) -> Option<Counter>| {
                let mut counter = new(key, &[5; NONCE_LEN]).unwrap();
                let mut all = counter.encrypted_zeros().to_vec();
                for len in [16, 256, 16 * 1024, 0, 48, 272, 4096 + 16, 1003] {
                    let mut bytes = vec![len as u8; len];
                    counter.apply(&mut bytes);
                    all.extend(bytes);
                }
                all
            };
            assert_eq!(counter(Counter::new), counter(Counter::portable));
        }
    }
}
