//! Keys and texts of which JSON and CBOR consist, and models of both: what is written, and what readers make of it.

pub mod cbor;
pub mod json;

use std::sync::LazyLock;

use arbitrary::Arbitrary;
use pq_jose::Algorithm;

use crate::one_of;
use crate::pki::FixedKey;

/// Two keys of ML-DSA-44, and one of each other algorithm.
pub static KEYS: LazyLock<[FixedKey; 4]> = LazyLock::new(|| {
    let mut number = 0;
    ALGORITHMS.map(|algorithm| {
        number += 1;
        FixedKey::new(algorithm.into(), number)
    })
});

/// The algorithms of [`KEYS`].
pub const ALGORITHMS: [Algorithm; 4] = [
    Algorithm::MlDsa44,
    Algorithm::MlDsa44,
    Algorithm::MlDsa65,
    Algorithm::MlDsa87,
];

/// The names of [`ALGORITHMS`] in JOSE and COSE (RFC 9964, section 5).
pub const ALGORITHM_NAMES: [&str; 4] = ["ML-DSA-44", "ML-DSA-44", "ML-DSA-65", "ML-DSA-87"];
pub const COSE_NUMBERS: [i64; 4] = [-48, -48, -49, -50];

/// The public halves of [`KEYS`] in base64url.
pub static PUBLIC: LazyLock<[String; 4]> = LazyLock::new(|| {
    KEYS.each_ref()
        .map(|key| base64url(key.0.verifying_key().as_bytes()))
});

/// The index of one of [`KEYS`].
pub fn index(of: u8) -> usize {
    usize::from(of) % ALGORITHMS.len()
}

pub fn seed(of: u8) -> [u8; 32] {
    [index(of) as u8 + 1; 32]
}

/// Checks that a text contains no seed, in any encoding.
pub fn check_secrecy(text: &str, of: u8) {
    let seed = seed(of);
    let list = format!("{seed:?}");
    let hex: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
    for secret in [list.trim_matches(['[', ']']), &hex, &base64url(&seed)] {
        assert!(!text.contains(secret));
    }
}

pub fn base64url(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| {
            bits << 8 | u32::from(chunk.get(at).copied().unwrap_or(0))
        });
        for digit in 0..=chunk.len() {
            text.push(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize].into());
        }
    }
    text
}

/// A text: a known name or value, or any other.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Word<'a> {
    Name(u8),
    Value(u8),
    Other(&'a str),
}

const NAMES: [&str; 24] = [
    "kid",
    "alg",
    "kty",
    "pub",
    "priv",
    "use",
    "key_ops",
    "typ",
    "cty",
    "crit",
    "b64",
    "iss",
    "sub",
    "aud",
    "exp",
    "nbf",
    "iat",
    "jti",
    "payload",
    "protected",
    "header",
    "signature",
    "signatures",
    "$serde_json::private::RawValue",
];

const VALUES: [&str; 16] = [
    "1",
    "2",
    "i",
    "a",
    "AKP",
    "EC",
    "ML-DSA-44",
    "ML-DSA-65",
    "ML-DSA-87",
    "none",
    "sig",
    "enc",
    "sign",
    "verify",
    "JWT",
    "application/at+jwt",
];

impl<'a> Word<'a> {
    pub fn text(self) -> &'a str {
        match self {
            Self::Name(name) => one_of(&NAMES, name),
            Self::Value(value) => one_of(&VALUES, value),
            Self::Other(text) => text,
        }
    }
}
