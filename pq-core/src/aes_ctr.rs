//! AES in counter mode (SP 800-38A, section 6.5), on CPUs that encrypt two blocks in a register.
//!
//! It exists for pq-keys' AES-GCM, whose content has any length and comes in pieces. Other crates that
//! use these instructions take a whole message, write counters to memory and read them again, or need
//! AVX-512. On other CPUs pq-keys uses the crate `aes`.
//!
//! Counter mode alone does not authenticate a message: the caller has to authenticate the
//! ciphertext.

use zeroize::Zeroizing;

use crate::arch::{BLOCKS, RoundKey, Vaes};

/// A key of 128 or 256 bits, its round keys, and the instructions of this CPU.
///
/// Dropping it wipes the round keys.
pub struct AesCtr {
    instructions: Vaes,
    round_keys: Zeroizing<[RoundKey; MAX_ROUNDS + 1]>,
    rounds: usize,
}

const MAX_ROUNDS: usize = 14;

impl AesCtr {
    /// `None` if this CPU lacks the instructions, or if the key has neither 16 nor 32 bytes.
    pub fn new(key: &[u8]) -> Option<Self> {
        if !matches!(key.len(), 16 | 32) {
            return None;
        }
        let (key, _) = key.as_chunks::<4>();
        let rounds = key.len() + 6;
        let mut new = Self {
            instructions: Vaes::detect()?,
            round_keys: Zeroizing::new([[0; 4]; MAX_ROUNDS + 1]),
            rounds,
        };
        let words = new.round_keys[..=rounds].as_flattened_mut();
        for (word, bytes) in words.iter_mut().zip(key) {
            *word = u32::from_le_bytes(*bytes);
        }
        new.instructions.expand(key.len(), words);
        Some(new)
    }

    /// Encrypts or decrypts bytes, in place.
    ///
    /// `first` is the counter of the first block; it follows the nonce, big-endian. After 2³² - 1
    /// the counter goes on with 0, as GCM's inc₃₂ does (SP 800-38D, section 6.2).
    ///
    /// ```
    /// # let key = [7; 32];
    /// use pq_core::aes_ctr::AesCtr;
    ///
    /// if let Some(aes) = AesCtr::new(&key) {
    ///     let mut bytes = *b"some bytes";
    ///     aes.apply(&[1; 12], 2, &mut bytes);
    ///     aes.apply(&[1; 12], 2, &mut bytes);
    ///     assert_eq!(&bytes, b"some bytes");
    /// }
    /// ```
    pub fn apply(&self, nonce: &[u8; 12], first: u32, bytes: &mut [u8]) {
        let mut counter = [0, 0, 0, first];
        for (word, bytes) in counter.iter_mut().zip(nonce.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        let round_keys = &self.round_keys[..=self.rounds];
        let (chunks, rest) = bytes.as_chunks_mut();
        self.instructions.apply(round_keys, &mut counter, chunks);
        if !rest.is_empty() {
            let mut chunk = Zeroizing::new([[0; 16 * BLOCKS]]);
            chunk[0][..rest.len()].copy_from_slice(rest);
            self.instructions
                .apply(round_keys, &mut counter, &mut *chunk);
            rest.copy_from_slice(&chunk[0][..rest.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4";
    const KEY_128: &str = "2b7e151628aed2a6abf7158809cf4f3c";
    const CONTENT: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
         30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";

    fn bytes<const N: usize>(digits: &str) -> [u8; N] {
        let mut bytes = [0; N];
        hex::decode_to_slice(digits, &mut bytes).unwrap();
        bytes
    }

    /// `None` if the CPU lacks the instructions and `PQ_CORE_REQUIRE` doesn't ask for them.
    fn aes(key: &[u8]) -> Option<AesCtr> {
        crate::arch::require();
        let aes = AesCtr::new(key);
        assert_eq!(aes.is_some(), Vaes::detect().is_some());
        aes
    }

    /// FIPS 197, appendices A.1 and A.3: the last word of each key.
    #[test]
    fn keys_are_expanded() {
        for (key, word) in [
            (&bytes::<16>(KEY_128)[..], "b6630ca6"),
            (&bytes::<32>(KEY), "706c631e"),
        ] {
            let Some(aes) = aes(key) else { return };
            let last = aes.round_keys[aes.rounds][3];
            assert_eq!(last.to_le_bytes(), bytes(word));
        }
    }

    /// SP 800-38A, appendices F.5.1 and F.5.5.
    #[test]
    fn known_answers() {
        let nonce = bytes("f0f1f2f3f4f5f6f7f8f9fafb");
        for (key, ciphertext) in [
            (
                &bytes::<16>(KEY_128)[..],
                "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff\
                 5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee",
            ),
            (
                &bytes::<32>(KEY),
                "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5\
                 2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
            ),
        ] {
            let Some(aes) = aes(key) else { return };
            let mut content = bytes::<64>(CONTENT);
            aes.apply(&nonce, 0xfcfd_feff, &mut content);
            assert_eq!(content, bytes(ciphertext));
            aes.apply(&nonce, 0xfcfd_feff, &mut content);
            assert_eq!(content, bytes(CONTENT));
        }
    }

    /// Each block gets the keystream of its number, at any position in a call, also around 2³².
    #[test]
    fn blocks_are_counted() {
        let Some(aes) = aes(&[7; 32]) else { return };
        let nonce = [9; 12];
        for first in [0, 1, u32::MAX - 20, u32::MAX] {
            for len in [0, 1, 15, 16, 17, 255, 256, 257, 767, 1000] {
                let mut all = [0; 1000];
                aes.apply(&nonce, first, &mut all[..len]);
                for (i, block) in all[..len].chunks(16).enumerate() {
                    let mut alone = [0; 16];
                    aes.apply(&nonce, first.wrapping_add(i as u32), &mut alone);
                    assert_eq!(block, &alone[..block.len()], "{first} {len} {i}");
                }
            }
        }
    }

    #[test]
    fn keys_of_other_lengths_are_refused() {
        for len in [0, 15, 17, 24, 31, 33] {
            assert!(AesCtr::new(&[1; 33][..len]).is_none());
        }
    }
}
