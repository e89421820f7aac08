use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes256};
use zeroize::Zeroizing;

pub(super) const NONCE_LEN: usize = 12;

pub(super) type Block = [u8; 16];

/// As many blocks of the keystream are made at a time. With fewer the CPU waits for blocks that were only
/// just written.
const BLOCKS: usize = 256;

/// AES in counter mode, as GCM has it (SP 800-38D, section 6.5): 32 bits count, and stand behind the
/// nonce.
///
/// That of the crate `ctr` takes a third more time with AVX-512: it writes a counter at a time, of which the
/// cipher reads four at once.
pub(super) struct Counter {
    cipher: Cipher,
    /// With zeros for the counter.
    nonce: u128,
    next: u32,
    keystream: Zeroizing<Vec<Block>>,
}

enum Cipher {
    Aes128(Aes128),
    Aes256(Aes256),
}

impl Cipher {
    fn encrypt(&self, blocks: &mut [Block]) {
        let blocks = Array::cast_slice_from_core_mut(blocks);
        match self {
            Self::Aes128(cipher) => cipher.encrypt_blocks(blocks),
            Self::Aes256(cipher) => cipher.encrypt_blocks(blocks),
        }
    }
}

impl Counter {
    /// Counts from 1. `None` if the key is of neither length.
    pub(super) fn new(key: &[u8], nonce: &[u8; NONCE_LEN]) -> Option<Self> {
        let cipher = match key.len() {
            16 => Cipher::Aes128(Aes128::new_from_slice(key).ok()?),
            _ => Cipher::Aes256(Aes256::new_from_slice(key).ok()?),
        };
        let mut first = [0; 16];
        first[..NONCE_LEN].copy_from_slice(nonce);
        Some(Self {
            cipher,
            nonce: u128::from_be_bytes(first),
            next: 1,
            keystream: Zeroizing::new(vec![[0; 16]; BLOCKS]),
        })
    }

    /// Zeros, encrypted by the cipher alone: the key of the hash.
    pub(super) fn encrypted_zeros(&self) -> Zeroizing<Block> {
        let mut zeros = Zeroizing::new([[0; 16]]);
        self.cipher.encrypt(&mut *zeros);
        Zeroizing::new(zeros[0])
    }

    /// Encrypts or decrypts bytes. What is left of the last block is not used.
    pub(super) fn apply(&mut self, bytes: &mut [u8]) {
        for bytes in bytes.chunks_mut(16 * BLOCKS) {
            let keystream = &mut self.keystream[..bytes.len().div_ceil(16)];
            for block in &mut *keystream {
                *block = (self.nonce | u128::from(self.next)).to_be_bytes();
                self.next = self.next.wrapping_add(1);
            }
            self.cipher.encrypt(keystream);
            for (byte, key) in bytes.iter_mut().zip(keystream.as_flattened()) {
                *byte ^= key;
            }
        }
    }
}
