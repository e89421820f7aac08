//! QUIC keys (RFC 9001, section 5) for graviola's cipher suites, which have none.
//!
//! graviola's AEADs protect packets. Header protection needs a block cipher or a stream cipher alone,
//! which graviola lacks; these are RustCrypto's.

mod header;
mod packet;

#[cfg(test)]
mod tests;

use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::quic::{Algorithm, HeaderProtectionKey, PacketKey};

use self::header::HeaderKey;
use self::packet::PayloadKey;

/// For TLS13_AES_128_GCM_SHA256.
pub(crate) const AES_128_GCM: Option<&'static dyn Algorithm> = Some(&Aead::Aes128Gcm);

/// For TLS13_AES_256_GCM_SHA384.
pub(crate) const AES_256_GCM: Option<&'static dyn Algorithm> = Some(&Aead::Aes256Gcm);

/// For TLS13_CHACHA20_POLY1305_SHA256.
pub(crate) const CHACHA20_POLY1305: Option<&'static dyn Algorithm> = Some(&Aead::ChaCha20Poly1305);

/// The AEADs of QUIC (RFC 9001, section 5.3), each with its cipher for headers (section 5.4).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Aead {
    Aes128Gcm,
    Aes256Gcm,
    ChaCha20Poly1305,
}

impl Algorithm for Aead {
    fn packet_key(&self, key: AeadKey, iv: Iv) -> Box<dyn PacketKey> {
        Box::new(PayloadKey::new(*self, &key, iv))
    }

    fn header_protection_key(&self, key: AeadKey) -> Box<dyn HeaderProtectionKey> {
        Box::new(HeaderKey::new(*self, &key))
    }

    fn aead_key_len(&self) -> usize {
        match self {
            Self::Aes128Gcm => 16,
            Self::Aes256Gcm | Self::ChaCha20Poly1305 => 32,
        }
    }
}

/// The key as an array. rustls gets its length from [`Algorithm::aead_key_len()`].
fn key_bytes<const LEN: usize>(key: &AeadKey) -> &[u8; LEN] {
    key.as_ref()
        .first_chunk()
        .expect("rustls makes keys of the length that it was told")
}
