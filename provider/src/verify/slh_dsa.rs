//! SLH-DSA (FIPS 205) in certificate chains, and with
//! [`Builder::experimental_slh_dsa`](crate::Builder::experimental_slh_dsa) in CertificateVerify.
//!
//! IANA registered the code points for draft-reddy-tls-slhdsa, which has expired and is not a
//! standard.

#[cfg(feature = "slh-dsa")]
use pq_x509::verification;
use rustls::SignatureScheme;
use rustls::crypto::WebPkiSupportedAlgorithms;

macro_rules! schemes {
    ($($(#[$attribute:meta])* $scheme:ident = $code:literal: $pure:ident, $hash:ident;)+) => {
        $($(#[$attribute])* pub const $scheme: SignatureScheme = SignatureScheme::Unknown($code);)+

        /// SLH-DSA for chains and for CertificateVerify (draft-reddy-tls-slhdsa), and HashSLH-DSA
        /// for chains (RFC 9909). Without this crate's feature `slh-dsa` there are none.
        #[cfg(feature = "slh-dsa")]
        pub static SLH_DSA: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
            all: &[$(verification::$pure),+, $(verification::$hash),+],
            mapping: &[$(($scheme, &[verification::$pure])),+],
        };
    };
}

schemes! {
    /// slhdsa_sha2_128s
    SLHDSA_SHA2_128S = 0x0911: SLH_DSA_SHA2_128S, HASH_SLH_DSA_SHA2_128S_WITH_SHA256;
    /// slhdsa_sha2_128f
    SLHDSA_SHA2_128F = 0x0912: SLH_DSA_SHA2_128F, HASH_SLH_DSA_SHA2_128F_WITH_SHA256;
    /// slhdsa_sha2_192s
    SLHDSA_SHA2_192S = 0x0913: SLH_DSA_SHA2_192S, HASH_SLH_DSA_SHA2_192S_WITH_SHA512;
    /// slhdsa_sha2_192f
    SLHDSA_SHA2_192F = 0x0914: SLH_DSA_SHA2_192F, HASH_SLH_DSA_SHA2_192F_WITH_SHA512;
    /// slhdsa_sha2_256s
    SLHDSA_SHA2_256S = 0x0915: SLH_DSA_SHA2_256S, HASH_SLH_DSA_SHA2_256S_WITH_SHA512;
    /// slhdsa_sha2_256f
    SLHDSA_SHA2_256F = 0x0916: SLH_DSA_SHA2_256F, HASH_SLH_DSA_SHA2_256F_WITH_SHA512;
    /// slhdsa_shake_128s
    SLHDSA_SHAKE_128S = 0x0917: SLH_DSA_SHAKE_128S, HASH_SLH_DSA_SHAKE_128S_WITH_SHAKE128;
    /// slhdsa_shake_128f
    SLHDSA_SHAKE_128F = 0x0918: SLH_DSA_SHAKE_128F, HASH_SLH_DSA_SHAKE_128F_WITH_SHAKE128;
    /// slhdsa_shake_192s
    SLHDSA_SHAKE_192S = 0x0919: SLH_DSA_SHAKE_192S, HASH_SLH_DSA_SHAKE_192S_WITH_SHAKE256;
    /// slhdsa_shake_192f
    SLHDSA_SHAKE_192F = 0x091A: SLH_DSA_SHAKE_192F, HASH_SLH_DSA_SHAKE_192F_WITH_SHAKE256;
    /// slhdsa_shake_256s
    SLHDSA_SHAKE_256S = 0x091B: SLH_DSA_SHAKE_256S, HASH_SLH_DSA_SHAKE_256S_WITH_SHAKE256;
    /// slhdsa_shake_256f
    SLHDSA_SHAKE_256F = 0x091C: SLH_DSA_SHAKE_256F, HASH_SLH_DSA_SHAKE_256F_WITH_SHAKE256;
}

/// None, as this crate is compiled without its feature `slh-dsa`.
#[cfg(not(feature = "slh-dsa"))]
pub static SLH_DSA: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: &[],
    mapping: &[],
};
