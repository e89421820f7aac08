//! What a file has that must not be lost when another one takes its place.

use memchr::memmem;
use pq_keys::encoding::pem;

use crate::kind::Kind;

/// The longest file that is looked at. Those with keys are shorter.
pub(super) const LIMIT: u64 = 1 << 20;

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
