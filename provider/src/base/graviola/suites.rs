//! graviola's cipher suites, with additions.
//!
//! The TLS 1.3 suites get our HKDF, keys after which upper halves are [`cleared`], and, with the
//! feature `quic`, QUIC keys. The TLS 1.2 suites for ECDSA get Ed25519, which they are for as well
//! (RFC 8422, section 2).

use rustls::crypto::{CipherSuiteCommon, CryptoProvider};
use rustls::{SignatureScheme, SupportedCipherSuite, Tls12CipherSuite, Tls13CipherSuite};
use rustls_graviola::suites;

use super::cleared;
use super::hkdf::{HKDF_SHA256, HKDF_SHA384};
#[cfg(feature = "quic")]
use super::quic as quic_keys;

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

/// Copies of graviola's suites of TLS 1.3 with our additions.
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

/// Copies of graviola's suites of TLS 1.2 for ECDSA, each for Ed25519 as well.
macro_rules! tls12_suites {
    ($($name:ident = $theirs:ident;)*) => {$(
        static $name: Tls12CipherSuite = {
            const SIGN: &[SignatureScheme] = tls12(&suites::$theirs).sign;
            static WITH_ED25519: [SignatureScheme; len_with_ed25519(SIGN)] = with_ed25519(SIGN);
            let theirs = tls12(&suites::$theirs);
            Tls12CipherSuite {
                common: copied(&theirs.common),
                prf_provider: theirs.prf_provider,
                kx: theirs.kx,
                sign: &WITH_ED25519,
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

/// Ed25519 and then `theirs`, the order of rustls's own providers; or just `theirs`, if graviola lists
/// Ed25519 itself. `N` is [`len_with_ed25519`].
const fn with_ed25519<const N: usize>(theirs: &[SignatureScheme]) -> [SignatureScheme; N] {
    let mut all = [SignatureScheme::ED25519; N];
    let (_, behind) = all.split_at_mut(N - theirs.len());
    behind.copy_from_slice(theirs);
    all
}

const fn len_with_ed25519(theirs: &[SignatureScheme]) -> usize {
    let mut at = 0;
    while at < theirs.len() {
        if matches!(theirs[at], SignatureScheme::ED25519) {
            return theirs.len();
        }
        at += 1;
    }
    theirs.len() + 1
}

const fn copied(common: &CipherSuiteCommon) -> CipherSuiteCommon {
    CipherSuiteCommon {
        suite: common.suite,
        hash_provider: common.hash_provider,
        confidentiality_limit: common.confidentiality_limit,
    }
}

/// Evaluated at compile time, panic included, like [`tls12`].
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The next version of graviola may list Ed25519, and other curves too.
    #[test]
    fn ed25519_is_added_where_it_is_missing() {
        use SignatureScheme as S;
        for (theirs, expected) in [
            (&[][..], &[S::ED25519][..]),
            (
                &[S::ECDSA_NISTP256_SHA256],
                &[S::ED25519, S::ECDSA_NISTP256_SHA256],
            ),
            (
                &[
                    S::ECDSA_NISTP521_SHA512,
                    S::ECDSA_NISTP384_SHA384,
                    S::ECDSA_NISTP256_SHA256,
                ],
                &[
                    S::ED25519,
                    S::ECDSA_NISTP521_SHA512,
                    S::ECDSA_NISTP384_SHA384,
                    S::ECDSA_NISTP256_SHA256,
                ],
            ),
            (
                &[S::ECDSA_NISTP256_SHA256, S::ED25519],
                &[S::ECDSA_NISTP256_SHA256, S::ED25519],
            ),
            (
                &[S::ED25519, S::ECDSA_NISTP256_SHA256],
                &[S::ED25519, S::ECDSA_NISTP256_SHA256],
            ),
        ] {
            let extended = match len_with_ed25519(theirs) {
                1 => with_ed25519::<1>(theirs).to_vec(),
                2 => with_ed25519::<2>(theirs).to_vec(),
                4 => with_ed25519::<4>(theirs).to_vec(),
                other => panic!("{other} of {theirs:?}"),
            };
            assert_eq!(extended, expected);
        }
    }
}
