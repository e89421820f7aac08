//! Protection of QUIC packets' payloads (RFC 9001, section 5.3), with graviola's AEADs, and how many packets a key may
//! protect (section 6.6).

use graviola::aead::{AesGcm, ChaCha20Poly1305};
use pq_keys::classical::Clearing;
use rustls::Error;
use rustls::crypto::cipher::{AeadKey, Iv, NONCE_LEN, Nonce};
use rustls::quic::{PacketKey, Tag};

use super::{Aead, key_bytes};

/// The key that protects the payloads of packets (RFC 9001, section 5.3).
pub(super) struct PayloadKey {
    cipher: Cipher,
    iv: Iv,
    _clearing: Clearing,
}

impl PayloadKey {
    pub(super) fn new(aead: Aead, key: &AeadKey, iv: Iv) -> Self {
        Self {
            cipher: match aead {
                Aead::Aes128Gcm => Cipher::AesGcm(AesGcm::new(key_bytes::<16>(key)).into()),
                Aead::Aes256Gcm => Cipher::AesGcm(AesGcm::new(key_bytes::<32>(key)).into()),
                Aead::ChaCha20Poly1305 => {
                    Cipher::ChaCha20Poly1305(Box::new(ChaCha20Poly1305::new(*key_bytes(key))))
                }
            },
            iv,
            _clearing: Clearing,
        }
    }

    fn encrypt(&self, nonce: &Nonce, header: &[u8], payload: &mut [u8]) -> Result<Tag, Error> {
        if payload.len() as u64 > MAX_PAYLOAD_LEN {
            return Err(Error::EncryptError);
        }

        let mut tag = [0; TAG_LEN];
        self.cipher.encrypt(&nonce.0, header, payload, &mut tag);
        Ok(Tag::from(tag.as_slice()))
    }

    fn decrypt<'a>(
        &self,
        nonce: &Nonce,
        header: &[u8],
        payload: &'a mut [u8],
    ) -> Result<&'a [u8], Error> {
        let (payload, tag) = payload.split_last_chunk_mut().ok_or(Error::DecryptError)?;
        self.cipher
            .decrypt(&nonce.0, header, payload, tag)
            .map_err(|_| Error::DecryptError)?;
        Ok(payload)
    }
}

impl PacketKey for PayloadKey {
    fn encrypt_in_place(
        &self,
        packet_number: u64,
        header: &[u8],
        payload: &mut [u8],
    ) -> Result<Tag, Error> {
        self.encrypt(&Nonce::new(&self.iv, packet_number), header, payload)
    }

    fn encrypt_in_place_for_path(
        &self,
        path_id: u32,
        packet_number: u64,
        header: &[u8],
        payload: &mut [u8],
    ) -> Result<Tag, Error> {
        let nonce = Nonce::for_path(path_id, &self.iv, packet_number);
        self.encrypt(&nonce, header, payload)
    }

    fn decrypt_in_place<'a>(
        &self,
        packet_number: u64,
        header: &[u8],
        payload: &'a mut [u8],
    ) -> Result<&'a [u8], Error> {
        self.decrypt(&Nonce::new(&self.iv, packet_number), header, payload)
    }

    fn decrypt_in_place_for_path<'a>(
        &self,
        path_id: u32,
        packet_number: u64,
        header: &[u8],
        payload: &'a mut [u8],
    ) -> Result<&'a [u8], Error> {
        let nonce = Nonce::for_path(path_id, &self.iv, packet_number);
        self.decrypt(&nonce, header, payload)
    }

    fn tag_len(&self) -> usize {
        TAG_LEN
    }

    /// RFC 9001, section 6.6. Packet numbers end at 2⁶², below the limit of ChaCha20-Poly1305.
    fn confidentiality_limit(&self) -> u64 {
        match self.cipher {
            Cipher::AesGcm(_) => 1 << 23,
            Cipher::ChaCha20Poly1305(_) => u64::MAX,
        }
    }

    /// RFC 9001, section 6.6.
    fn integrity_limit(&self) -> u64 {
        match self.cipher {
            Cipher::AesGcm(_) => 1 << 52,
            Cipher::ChaCha20Poly1305(_) => 1 << 36,
        }
    }
}

enum Cipher {
    // Boxed, so that keys are not moved again: graviola takes and returns keys by value.
    AesGcm(Box<AesGcm>),
    ChaCha20Poly1305(Box<ChaCha20Poly1305>),
}

impl Cipher {
    fn encrypt(
        &self,
        nonce: &[u8; NONCE_LEN],
        header: &[u8],
        payload: &mut [u8],
        tag: &mut [u8; TAG_LEN],
    ) {
        match self {
            Self::AesGcm(key) => key.encrypt(nonce, header, payload, tag),
            Self::ChaCha20Poly1305(key) => key.encrypt(nonce, header, payload, tag),
        }
    }

    fn decrypt(
        &self,
        nonce: &[u8; NONCE_LEN],
        header: &[u8],
        payload: &mut [u8],
        tag: &[u8; TAG_LEN],
    ) -> Result<(), graviola::Error> {
        match self {
            Self::AesGcm(key) => key.decrypt(nonce, header, payload, tag),
            Self::ChaCha20Poly1305(key) => key.decrypt(nonce, header, payload, tag),
        }
    }
}

const TAG_LEN: usize = 16;

/// The longest plaintext of AES-GCM (RFC 5116, section 5.1); ChaCha20-Poly1305 takes more.
const MAX_PAYLOAD_LEN: u64 = (1 << 36) - 31;
