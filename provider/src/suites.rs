//! graviola's cipher suites of TLS 1.3, with our HKDF, and with QUIC keys where they are
//! wanted.

use rustls::crypto::tls13::Hkdf;
use rustls::crypto::{CipherSuiteCommon, CryptoProvider};
use rustls::{CipherSuite, SupportedCipherSuite, Tls13CipherSuite, quic};
use rustls_graviola::suites;

use crate::hkdf::{HKDF_SHA256, HKDF_SHA384};
#[cfg(feature = "quic")]
use crate::quic as quic_keys;

/// `provider`, which is graviola's, with the suites of this module in place of its own.
pub(crate) fn in_place(mut provider: CryptoProvider) -> CryptoProvider {
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

pub(crate) static AES_128_GCM: Tls13CipherSuite = {
    let suite = tls13(&suites::TLS13_AES_128_GCM_SHA256);
    with(suite, &HKDF_SHA256, quic_keys::AES_128_GCM)
};

pub(crate) static AES_256_GCM: Tls13CipherSuite = {
    let suite = tls13(&suites::TLS13_AES_256_GCM_SHA384);
    with(suite, &HKDF_SHA384, quic_keys::AES_256_GCM)
};

pub(crate) static CHACHA20_POLY1305: Tls13CipherSuite = {
    let suite = tls13(&suites::TLS13_CHACHA20_POLY1305_SHA256);
    with(suite, &HKDF_SHA256, quic_keys::CHACHA20_POLY1305)
};

/// Evaluated by the compiler, panic included.
const fn tls13(suite: &'static SupportedCipherSuite) -> &'static Tls13CipherSuite {
    let SupportedCipherSuite::Tls13(suite) = suite else {
        panic!("these are suites of TLS 1.3");
    };
    suite
}

/// A copy of `suite` that has these.
const fn with(
    suite: &'static Tls13CipherSuite,
    hkdf_provider: &'static dyn Hkdf,
    quic: Option<&'static dyn quic::Algorithm>,
) -> Tls13CipherSuite {
    Tls13CipherSuite {
        common: CipherSuiteCommon {
            suite: suite.common.suite,
            hash_provider: suite.common.hash_provider,
            confidentiality_limit: suite.common.confidentiality_limit,
        },
        hkdf_provider,
        aead_alg: suite.aead_alg,
        quic,
    }
}

#[cfg(not(feature = "quic"))]
mod quic_keys {
    use rustls::quic::Algorithm;

    pub(super) const AES_128_GCM: Option<&'static dyn Algorithm> = None;
    pub(super) const AES_256_GCM: Option<&'static dyn Algorithm> = None;
    pub(super) const CHACHA20_POLY1305: Option<&'static dyn Algorithm> = None;
}
