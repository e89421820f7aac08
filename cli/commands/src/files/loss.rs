//! What a file has that must not be lost when another one takes its place.

use memchr::memmem;
use pq_keys::encoding::pem;

use crate::kind::{Kind, OfStore};

/// The longest file that is looked at. Those with keys are shorter.
pub(super) const LIMIT: u64 = 1 << 20;

/// As much of a file as tells what it is, if nothing may take its place.
pub(super) const BEGINNING: u64 = 64;

/// What a file is whose place nothing may take, as far as its beginning tells: others can't make it again.
pub(super) fn irreplaceable(beginning: &[u8]) -> Option<&'static str> {
    match OfStore::of(beginning)? {
        OfStore::Store => Some("a key store"),
        OfStore::Reference => Some("what says which key in a key store is the CA's"),
        OfStore::Head | OfStore::Attestation | OfStore::Signature => None,
    }
}

/// As many bytes as a key has that a store is sealed under.
const KEK_LEN: usize = 32;

/// Whether bytes that only their owner may read may be what a key store is sealed under, of which nothing else tells.
pub(super) fn may_be_kek(bytes: &[u8]) -> bool {
    bytes.len() == KEK_LEN
}

/// Whether what replaces such bytes may be a secret of as many, which was to be replaced: raw, or a line in hexadecimal or base64.
pub(super) fn may_be_secret(bytes: &[u8]) -> bool {
    const HEX: usize = 2 * KEK_LEN;
    const BASE64: usize = KEK_LEN.div_ceil(3) * 4;
    let line = bytes.trim_ascii_end();
    may_be_kek(bytes) || [HEX, BASE64].contains(&line.len())
}

/// What is in a file and in nothing that takes its place: a private key, or certificates beside one. Commands take from
/// a file what they need, and some write a file of the same name; so `--force` alone must not be the end of a key.
pub(super) fn lost(old: &[u8], new: &[u8]) -> Option<&'static str> {
    if !has_private_key(old) {
        return None;
    }
    if !has_private_key(new) {
        return Some("a private key");
    }
    (has_certificate(old) && !has_certificate(new)).then_some("certificates beside the private key")
}

fn has_certificate(bytes: &[u8]) -> bool {
    pem::blocks(bytes).any(|block| block.is_of("CERTIFICATE"))
}

/// In PEM, in DER, or in a JSON Web Key; whether it is encrypted or not.
fn has_private_key(bytes: &[u8]) -> bool {
    let is_der = || {
        matches!(
            Kind::of_der(bytes),
            Some(Kind::PrivateKey | Kind::EncryptedPrivateKey | Kind::Pkcs12)
        ) || Kind::is_begun_pkcs12(bytes)
    };
    let is_jwk = || {
        let members = ["\"d\"", "\"priv\""];
        has(bytes, "\"kty\"") && members.iter().any(|member| has(bytes, member))
    };
    // As the reader of PEM takes it, blanks around the label included; and where the BEGIN line is damaged.
    let is_key =
        |block: pem::Block<'_>| block.label().ends_with("PRIVATE KEY") || block.is_of("PKCS12");
    let is_pem = || has(bytes, "PRIVATE KEY-----") || pem::blocks(bytes).any(is_key);
    is_pem() || is_der() || is_jwk()
}

fn has(bytes: &[u8], text: &str) -> bool {
    memmem::find(bytes, text.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMA==\n-----END PRIVATE KEY-----\n";
    const ENCRYPTED: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n";
    const SSH: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
    const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----";
    const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\n";

    #[test]
    fn a_private_key_in_whatever_form() {
        // The outlines of PrivateKeyInfo, EncryptedPrivateKeyInfo and PFX.
        let der = [
            &[0x30, 7, 2, 1, 0, 0x30, 0, 4, 0][..],
            &[0x30, 4, 0x30, 0, 4, 0],
            &[0x30, 7, 2, 1, 3, 0x30, 0, 0x30, 0],
            &[0x30, 0x80, 2, 1, 3, 0x30, 0x80, 0, 0, 0, 0],
        ];
        let texts = [
            KEY,
            ENCRYPTED,
            SSH,
            "-----BEGIN  EC PRIVATE KEY -----\n",
            "-----BEGIN PKCS12-----\nMA==\n-----END PKCS12-----\n",
            r#"{"kty":"AKP","priv":"AA"}"#,
            r#"{ "d": "AA", "kty": "EC" }"#,
        ];
        let all = texts.iter().map(|text| text.as_bytes()).chain(der);
        for old in all.clone() {
            for new in [b"".as_slice(), PUBLIC.as_bytes(), CERTIFICATE.as_bytes()] {
                assert_eq!(lost(old, new), Some("a private key"));
            }
            for new in all.clone() {
                assert_eq!(lost(old, new), None);
            }
        }
        for old in [
            PUBLIC,
            CERTIFICATE,
            r#"{"kty":"AKP","pub":"AA"}"#,
            "",
            "text",
        ] {
            assert_eq!(lost(old.as_bytes(), b""), None);
        }
    }

    #[test]
    fn certificates_beside_a_private_key() {
        let both = [KEY, CERTIFICATE].concat();
        let lost = |new: &str| lost(both.as_bytes(), new.as_bytes());
        assert_eq!(lost(ENCRYPTED), Some("certificates beside the private key"));
        assert_eq!(lost(&[ENCRYPTED, CERTIFICATE].concat()), None);
    }
}
