//! graviola's cipher suites, with what they lack: those of TLS 1.3 with our HKDF, with keys after
//! which upper halves are [`cleared`], and with QUIC keys where they are wanted; those of TLS 1.2
//! for ECDSA with Ed25519, which they are for as well (RFC 8422, section 2).

use rustls::crypto::{CipherSuiteCommon, CryptoProvider};
use rustls::{SignatureScheme, SupportedCipherSuite, Tls12CipherSuite, Tls13CipherSuite};
use rustls_graviola::suites;

use crate::cleared;
use crate::hkdf::{HKDF_SHA256, HKDF_SHA384};
#[cfg(feature = "quic")]
use crate::quic as quic_keys;

/// `provider`, which is graviola's, with the suites of this module in place of its own.
pub(crate) fn in_place(mut provider: CryptoProvider) -> CryptoProvider {
    for suite in &mut provider.cipher_suites {
        let same = |ours: &&SupportedCipherSuite| ours.suite() == suite.suite();
        if let Some(ours) = OURS.iter().find(same) {
            *suite = *ours;
        }
    }
    provider
}

static OURS: [SupportedCipherSuite; 6] = [
    SupportedCipherSuite::Tls13(&AES_128_GCM),
    SupportedCipherSuite::Tls13(&AES_256_GCM),
    SupportedCipherSuite::Tls13(&CHACHA20_POLY1305),
    SupportedCipherSuite::Tls12(&ECDSA_WITH_AES_128_GCM),
    SupportedCipherSuite::Tls12(&ECDSA_WITH_AES_256_GCM),
    SupportedCipherSuite::Tls12(&ECDSA_WITH_CHACHA20_POLY1305),
];

/// Copies of graviola's suites of TLS 1.3, each with what is ours.
macro_rules! tls13_suites {
    ($($name:ident = $theirs:ident with $hkdf:ident;)*) => {$(
        pub(crate) static $name: Tls13CipherSuite = {
            static AEAD: cleared::RecordProtection = cleared::RecordProtection(tls13(&suites::$theirs).aead_alg);
            Tls13CipherSuite {
                common: copied(&tls13(&suites::$theirs).common),
                hkdf_provider: &$hkdf,
                aead_alg: &AEAD,
                quic: quic_keys::$name,
            }
        };
    )*};
}

tls13_suites! {
    AES_128_GCM = TLS13_AES_128_GCM_SHA256 with HKDF_SHA256;
    AES_256_GCM = TLS13_AES_256_GCM_SHA384 with HKDF_SHA384;
    CHACHA20_POLY1305 = TLS13_CHACHA20_POLY1305_SHA256 with HKDF_SHA256;
}

/// Copies of graviola's suites of TLS 1.2 for ECDSA, each with Ed25519 before it.
macro_rules! tls12_suites {
    ($($name:ident = $theirs:ident;)*) => {$(
        static $name: Tls12CipherSuite = {
            static SIGN: &[SignatureScheme] = &with_ed25519(tls12(&suites::$theirs).sign);
            let theirs = tls12(&suites::$theirs);
            Tls12CipherSuite {
                common: copied(&theirs.common),
                prf_provider: theirs.prf_provider,
                kx: theirs.kx,
                sign: SIGN,
                aead_alg: theirs.aead_alg,
            }
        };
    )*};
}

tls12_suites! {
    ECDSA_WITH_AES_128_GCM = TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256;
    ECDSA_WITH_AES_256_GCM = TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384;
    ECDSA_WITH_CHACHA20_POLY1305 = TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256;
}

/// In the order of rustls's own providers.
const fn with_ed25519(ecdsa: &[SignatureScheme]) -> [SignatureScheme; 4] {
    let &[p521, p384, p256] = ecdsa else {
        panic!("these are for three curves, and lack Ed25519");
    };
    [SignatureScheme::ED25519, p521, p384, p256]
}

const fn copied(common: &CipherSuiteCommon) -> CipherSuiteCommon {
    CipherSuiteCommon {
        suite: common.suite,
        hash_provider: common.hash_provider,
        confidentiality_limit: common.confidentiality_limit,
    }
}

/// Evaluated by the compiler, panic included, as is [`tls12`].
const fn tls13(suite: &'static SupportedCipherSuite) -> &'static Tls13CipherSuite {
    let SupportedCipherSuite::Tls13(suite) = suite else {
        panic!("these are suites of TLS 1.3");
    };
    suite
}

const fn tls12(suite: &'static SupportedCipherSuite) -> &'static Tls12CipherSuite {
    let SupportedCipherSuite::Tls12(suite) = suite else {
        panic!("these are suites of TLS 1.2");
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
