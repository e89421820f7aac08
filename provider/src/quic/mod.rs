//! QUIC's keys (RFC 9001, section 5) for the cipher suites of graviola, which come
//! without.
//!
//! Packets are protected by graviola's AEADs. graviola has no block cipher and no
//! stream cipher on their own, which headers need; those are RustCrypto's.

mod header;
mod packet;

#[cfg(test)]
mod tests;

use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::crypto::{CipherSuiteCommon, CryptoProvider};
use rustls::quic::{Algorithm, HeaderProtectionKey, PacketKey};
use rustls::{CipherSuite, SupportedCipherSuite, Tls13CipherSuite};
use rustls_graviola::suites;

use self::header::HeaderKey;
use self::packet::PayloadKey;

/// `provider`, which is graviola's, with QUIC keys in its TLS 1.3 suites.
pub(crate) fn with_keys(mut provider: CryptoProvider) -> CryptoProvider {
    for suite in &mut provider.cipher_suites {
        *suite = match suite.suite() {
            CipherSuite::TLS13_AES_128_GCM_SHA256 => SupportedCipherSuite::Tls13(&AES_128_GCM),
            CipherSuite::TLS13_AES_256_GCM_SHA384 => SupportedCipherSuite::Tls13(&AES_256_GCM),
            CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => {
                SupportedCipherSuite::Tls13(&CHACHA20_POLY1305)
            }
            _ => *suite,
        };
    }
    provider
}

static AES_128_GCM: Tls13CipherSuite =
    with_quic(&suites::TLS13_AES_128_GCM_SHA256, &Aead::Aes128Gcm);

static AES_256_GCM: Tls13CipherSuite =
    with_quic(&suites::TLS13_AES_256_GCM_SHA384, &Aead::Aes256Gcm);

static CHACHA20_POLY1305: Tls13CipherSuite = with_quic(
    &suites::TLS13_CHACHA20_POLY1305_SHA256,
    &Aead::ChaCha20Poly1305,
);

/// A copy of `suite` that has `quic`. Evaluated by the compiler, panic included.
const fn with_quic(
    suite: &'static SupportedCipherSuite,
    quic: &'static dyn Algorithm,
) -> Tls13CipherSuite {
    let SupportedCipherSuite::Tls13(suite) = suite else {
        panic!("QUIC is TLS 1.3 only");
    };
    Tls13CipherSuite {
        common: CipherSuiteCommon {
            suite: suite.common.suite,
            hash_provider: suite.common.hash_provider,
            confidentiality_limit: suite.common.confidentiality_limit,
        },
        hkdf_provider: suite.hkdf_provider,
        aead_alg: suite.aead_alg,
        quic: Some(quic),
    }
}

/// The AEADs of QUIC (RFC 9001, section 5.3), each with the cipher that protects
/// headers beside it (section 5.4).
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

/// The key as an array, whose length rustls has from [`Algorithm::aead_key_len()`].
fn key_bytes<const LEN: usize>(key: &AeadKey) -> &[u8; LEN] {
    key.as_ref()
        .first_chunk()
        .expect("rustls makes keys of the length that it was told")
}
