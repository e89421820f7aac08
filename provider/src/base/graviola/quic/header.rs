//! Header protection of QUIC packets (RFC 9001, section 5.4), with the ciphers of RustCrypto.

use aes::cipher::{BlockCipherEncrypt, KeyInit, KeyIvInit, StreamCipherCore};
use aes::{Aes128, Aes256};
use chacha20::variants::Ietf;
use chacha20::{ChaChaCore, R20};
use rustls::Error;
use rustls::crypto::cipher::AeadKey;
use rustls::quic::HeaderProtectionKey;
use zeroize::Zeroizing;

use super::{Aead, key_bytes};

/// The key that protects the headers of packets (RFC 9001, section 5.4).
pub(super) struct HeaderKey(Cipher);

impl HeaderKey {
    pub(super) fn new(aead: Aead, key: &AeadKey) -> Self {
        Self(match aead {
            Aead::Aes128Gcm => Cipher::Aes128(Box::new(Aes128::new(key_bytes::<16>(key).into()))),
            Aead::Aes256Gcm => Cipher::Aes256(Box::new(Aes256::new(key_bytes::<32>(key).into()))),
            Aead::ChaCha20Poly1305 => {
                let mut place = Box::new(Zeroizing::new([0; 32]));
                place.copy_from_slice(key_bytes::<32>(key));
                Cipher::ChaCha20(place)
            }
        })
    }

    /// The first byte's mask and the packet number's, after all checks of the caller's input.
    fn masks(&self, sample: &[u8], packet_number: &[u8]) -> Result<(u8, [u8; 4]), Error> {
        let sample = sample
            .try_into()
            .map_err(|_| Error::General("sample of invalid length".into()))?;
        let [first, packet_number_mask @ ..] = self.0.mask(sample);
        if packet_number.len() > packet_number_mask.len() {
            return Err(Error::General("packet number too long".into()));
        }
        Ok((first, packet_number_mask))
    }
}

/// RFC 9001, section 5.4.1.
impl HeaderProtectionKey for HeaderKey {
    fn encrypt_in_place(
        &self,
        sample: &[u8],
        first: &mut u8,
        packet_number: &mut [u8],
    ) -> Result<(), Error> {
        let (first_mask, packet_number_mask) = self.masks(sample, packet_number)?;
        let len = packet_number_len(*first);
        *first ^= first_mask & protected_bits(*first);
        xor(packet_number, &packet_number_mask[..len]);
        Ok(())
    }

    fn decrypt_in_place(
        &self,
        sample: &[u8],
        first: &mut u8,
        packet_number: &mut [u8],
    ) -> Result<(), Error> {
        let (first_mask, packet_number_mask) = self.masks(sample, packet_number)?;
        *first ^= first_mask & protected_bits(*first);
        let len = packet_number_len(*first);
        xor(packet_number, &packet_number_mask[..len]);
        Ok(())
    }

    fn sample_len(&self) -> usize {
        SAMPLE_LEN
    }
}

enum Cipher {
    // Boxed, so that keys are not moved again: RustCrypto returns round keys by value.
    Aes128(Box<Aes128>),
    Aes256(Box<Aes256>),
    ChaCha20(Box<Zeroizing<[u8; 32]>>),
}

impl Cipher {
    fn mask(&self, sample: &[u8; SAMPLE_LEN]) -> [u8; MASK_LEN] {
        match self {
            Self::Aes128(key) => encrypted(&**key, sample),
            Self::Aes256(key) => encrypted(&**key, sample),
            Self::ChaCha20(key) => key_stream(key, sample),
        }
    }
}

/// RFC 9001, section 5.4.3.
fn encrypted<C>(cipher: &C, sample: &[u8; SAMPLE_LEN]) -> [u8; MASK_LEN]
where
    C: BlockCipherEncrypt<BlockSize = aes::cipher::consts::U16>,
{
    let mut block = aes::Block::from(*sample);
    cipher.encrypt_block(&mut block);
    start_of(&block)
}

/// RFC 9001, section 5.4.4.
fn key_stream(key: &[u8; 32], sample: &[u8; SAMPLE_LEN]) -> [u8; MASK_LEN] {
    let [c0, c1, c2, c3, nonce @ ..] = *sample;
    let mut cipher = ChaChaCore::<R20, Ietf>::new(key.into(), &nonce.into());
    // Block by block, because `ChaCha20` refuses the last counter, which a sample may contain.
    cipher.set_block_pos(u32::from_le_bytes([c0, c1, c2, c3]));
    let mut block = Default::default();
    cipher.write_keystream_block(&mut block);
    start_of(&block)
}

fn start_of(block: &[u8]) -> [u8; MASK_LEN] {
    *block
        .first_chunk()
        .expect("blocks are 16 bytes of AES and 64 of ChaCha20")
}

/// The bits of the first byte that are protected: those after the type of a long
/// header, and after the spin bit of a short one.
fn protected_bits(first: u8) -> u8 {
    const LONG_HEADER: u8 = 0x80;
    match first & LONG_HEADER {
        0 => 0x1f,
        _ => 0x0f,
    }
}

/// The length of the packet number, in bytes, from the unprotected first byte.
fn packet_number_len(first: u8) -> usize {
    usize::from(first & 0x03) + 1
}

fn xor(bytes: &mut [u8], mask: &[u8]) {
    for (byte, mask) in bytes.iter_mut().zip(mask) {
        *byte ^= mask;
    }
}

const SAMPLE_LEN: usize = 16;

/// One byte for the header's first byte, four for the packet number.
const MASK_LEN: usize = 5;
