//! graviola's cipher suites of TLS 1.3, with our HKDF, with keys after which upper halves are
//! [`cleared`], and with QUIC keys where they are wanted.

use rustls::crypto::{CipherSuiteCommon, CryptoProvider};
use rustls::{SupportedCipherSuite, Tls13CipherSuite};
use rustls_graviola::suites;

use crate::cleared;
use crate::hkdf::{HKDF_SHA256, HKDF_SHA384};
#[cfg(feature = "quic")]
use crate::quic as quic_keys;

/// `provider`, which is graviola's, with the suites of this module in place of its own.
pub(crate) fn in_place(mut provider: CryptoProvider) -> CryptoProvider {
    for suite in &mut provider.cipher_suites {
        let same = |ours: &&Tls13CipherSuite| ours.common.suite == suite.suite();
        if let Some(ours) = OURS.iter().copied().find(same) {
            *suite = SupportedCipherSuite::Tls13(ours);
        }
    }
    provider
}

static OURS: [&Tls13CipherSuite; 3] = [&AES_128_GCM, &AES_256_GCM, &CHACHA20_POLY1305];

/// Copies of graviola's suites, each with what is ours.
macro_rules! suites {
    ($($name:ident = $theirs:ident with $hkdf:ident;)*) => {$(
        pub(crate) static $name: Tls13CipherSuite = {
            static AEAD: cleared::RecordProtection = cleared::RecordProtection(tls13(&suites::$theirs).aead_alg);
            let common = &tls13(&suites::$theirs).common;
            Tls13CipherSuite {
                common: CipherSuiteCommon {
                    suite: common.suite,
                    hash_provider: common.hash_provider,
                    confidentiality_limit: common.confidentiality_limit,
                },
                hkdf_provider: &$hkdf,
                aead_alg: &AEAD,
                quic: quic_keys::$name,
            }
        };
    )*};
}

suites! {
    AES_128_GCM = TLS13_AES_128_GCM_SHA256 with HKDF_SHA256;
    AES_256_GCM = TLS13_AES_256_GCM_SHA384 with HKDF_SHA384;
    CHACHA20_POLY1305 = TLS13_CHACHA20_POLY1305_SHA256 with HKDF_SHA256;
}

/// Evaluated by the compiler, panic included.
const fn tls13(suite: &'static SupportedCipherSuite) -> &'static Tls13CipherSuite {
    let SupportedCipherSuite::Tls13(suite) = suite else {
        panic!("these are suites of TLS 1.3");
    };
    suite
}

#[cfg(not(feature = "quic"))]
mod quic_keys {
    use rustls::quic::Algorithm;

    pub(super) const AES_128_GCM: Option<&'static dyn Algorithm> = None;
    pub(super) const AES_256_GCM: Option<&'static dyn Algorithm> = None;
    pub(super) const CHACHA20_POLY1305: Option<&'static dyn Algorithm> = None;
}
