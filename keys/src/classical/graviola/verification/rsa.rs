//! RSA by graviola, also for signatures whose algorithm identifier has no parameters.
//!
//! The parameters should be NULL, but readers must accept that they are absent (RFC 4055, section 5).
//! rustls's own providers do, with a separate algorithm for each hash; graviola's glue has none.

use graviola::signing::rsa::VerifyingKey;
use pki_types::{AlgorithmIdentifier, InvalidSignature, alg_id};

use crate::classical::verification::ClassicalVerification;

/// The object identifier below pkcs-1, 1.2.840.113549.1.1, with this last arc.
macro_rules! without_parameters {
    ($arc:literal) => {
        AlgorithmIdentifier::from_slice(&[
            0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, $arc,
        ])
    };
}

macro_rules! algorithms {
    ($($signature:expr => $verify:ident),+ $(,)?) => {
        [$(ClassicalVerification {
            name: "RSA",
            key: alg_id::RSA_ENCRYPTION,
            signature: $signature,
            verify: |public_key, message, signature| {
                VerifyingKey::from_pkcs1_der(public_key)
                    .and_then(|key| key.$verify(signature, message))
                    .map_err(|_| InvalidSignature)
            },
        }),+]
    };
}

/// The algorithms of graviola's glue, in its order.
pub(super) const WITH_PARAMETERS: [ClassicalVerification; 6] = algorithms![
    alg_id::RSA_PSS_SHA512 => verify_pss_sha512,
    alg_id::RSA_PSS_SHA384 => verify_pss_sha384,
    alg_id::RSA_PSS_SHA256 => verify_pss_sha256,
    alg_id::RSA_PKCS1_SHA512 => verify_pkcs1_sha512,
    alg_id::RSA_PKCS1_SHA384 => verify_pkcs1_sha384,
    alg_id::RSA_PKCS1_SHA256 => verify_pkcs1_sha256,
];

pub(super) const WITHOUT_PARAMETERS: [ClassicalVerification; 3] = algorithms![
    without_parameters!(0x0d) => verify_pkcs1_sha512,
    without_parameters!(0x0c) => verify_pkcs1_sha384,
    without_parameters!(0x0b) => verify_pkcs1_sha256,
];
