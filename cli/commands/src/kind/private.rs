//! Whether a file has a private key, in any form that commands read, whether or not it is one that they can use: what tells
//! such files from others that may be replaced.

use memchr::memmem;
use pq_keys::Algorithm;
use pq_keys::classical::{AgreementAlgorithm, ClassicalAlgorithm};
use pq_keys::encoding::pem::{self, Mark};
use pq_keys::x_wing::XWingPrivateKey;
use serde::Deserialize;
use serde::de::IgnoredAny;
use zeroize::Zeroizing;

use super::{Kind, json, raw};

/// The longest file of which a command reads a key.
pub(crate) const LONGEST: usize = 16 * 1024 * 1024;

/// In PEM, in DER, in a JSON Web Key or a set of them, or in a COSE_Key; whether it is encrypted or not.
pub(crate) fn has_private_key(bytes: &[u8]) -> bool {
    is_in_pem(bytes) || is_der(bytes) || is_in_json(bytes) || is_cose(bytes)
}

/// Whether a file has one private key in PEM or DER, and nothing else, not even text, but for the name of its curve, which the
/// key has, too.
pub(crate) fn is_one_private_key(bytes: &[u8]) -> bool {
    if !pem::is_in(bytes) {
        let kind = Kind::of_der(bytes);
        return matches!(kind, Some(Kind::PrivateKey | Kind::EncryptedPrivateKey));
    }
    let is_key = |block: &pem::Block<'_>| {
        let is_key = |kind| matches!(kind, Kind::PrivateKey | Kind::EncryptedPrivateKey);
        Kind::of_block(block).into_iter().all(is_key) && block.decode().is_ok()
    };
    blocks_alone(bytes).is_some_and(|mut blocks| {
        blocks.retain(|block| !block.is_of("EC PARAMETERS"));
        blocks.len() == 1 && blocks.iter().all(is_key)
    })
}

/// The blocks of a text with nothing around them.
pub(crate) fn blocks_alone(text: &[u8]) -> Option<Vec<pem::Block<'_>>> {
    let mut rest = text.trim_ascii();
    while !rest.is_empty() {
        let begin = Mark::first_in(rest).filter(|mark| mark.is_begin && mark.start == 0)?;
        let end = Mark::first_in(&rest[begin.end..]).filter(|mark| !mark.is_begin)?;
        rest = rest[begin.end + end.end..].trim_ascii_start();
    }
    Some(pem::blocks(text).collect())
}

/// Whether a file may be a private key without a structure, or what a key store is sealed under: bytes, hexadecimal or base64 of
/// such a length. Much else is as long.
pub(crate) fn is_raw_secret(bytes: &[u8]) -> bool {
    /// Twice what the longest has in hexadecimal.
    const MOST: usize = 32 * 1024;
    let has_structure = || {
        pem::is_in(bytes)
            || Kind::of_der(bytes).is_some()
            || json::text(bytes).is_some_and(json::is_object)
    };
    if bytes.len() > MOST || has_structure() {
        return false;
    }
    // Bytes that are all characters of a text are one, or digits of a key.
    let is_text = bytes
        .iter()
        .all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    let readings = raw::readings(Zeroizing::new(bytes.to_vec()));
    let mut readings = readings.iter().filter(|one| !is_text || ***one != *bytes);
    readings.any(|reading| is_len_of_key(reading.len()))
}

fn is_len_of_key(len: usize) -> bool {
    let of_algorithm =
        |algorithm: &Algorithm| [algorithm.seed_len(), algorithm.expanded_len()].contains(&len);
    let is_classical =
        |algorithm: &ClassicalAlgorithm| algorithm.raw_private_key_len() == Some(len);
    let agrees = |algorithm: &AgreementAlgorithm| algorithm.raw_private_key_len() == len;
    len == XWingPrivateKey::LEN
        || Algorithm::ALL.iter().any(of_algorithm)
        || ClassicalAlgorithm::ALL.iter().any(is_classical)
        || AgreementAlgorithm::ALL.iter().any(agrees)
}

/// As the reader of PEM takes it, blanks around the label included; and where the BEGIN line is damaged.
fn is_in_pem(bytes: &[u8]) -> bool {
    let is_key =
        |block: pem::Block<'_>| block.label().ends_with("PRIVATE KEY") || block.is_of("PKCS12");
    has(bytes, "PRIVATE KEY-----") || pem::blocks(bytes).any(is_key)
}

fn is_der(bytes: &[u8]) -> bool {
    let kind = Kind::of_der(bytes);
    matches!(
        kind,
        Some(Kind::PrivateKey | Kind::EncryptedPrivateKey | Kind::Pkcs12)
    ) || Kind::is_begun_pkcs12(bytes)
}

/// Names in JSON may be written with escapes. What isn't quite JSON may have a key that somebody can still take out.
fn is_in_json(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Key {
        kty: Option<IgnoredAny>,
        d: Option<IgnoredAny>,
        k: Option<IgnoredAny>,
        r#priv: Option<IgnoredAny>,
    }

    impl Key {
        fn is_private(&self) -> bool {
            let parts = [&self.d, &self.k, &self.r#priv];
            self.kty.is_some() && parts.iter().any(|part| part.is_some())
        }
    }

    #[derive(Deserialize)]
    struct Set {
        keys: Vec<Key>,
    }

    let Some(text) = json::text(bytes).filter(|text| json::is_object(text)) else {
        return false;
    };
    let is_key = || serde_json::from_str(text).is_ok_and(|key: Key| key.is_private());
    let is_set =
        || serde_json::from_str(text).is_ok_and(|set: Set| set.keys.iter().any(Key::is_private));
    let members = ["\"d\"", "\"priv\""];
    let has_names = || has(bytes, "\"kty\"") && members.iter().any(|member| has(bytes, member));
    is_key() || is_set() || has_names()
}

fn is_cose(bytes: &[u8]) -> bool {
    json::is_map(bytes) && pq_jose::cose::CosePrivateKey::from_cbor(bytes).is_ok()
}

fn has(bytes: &[u8], text: &str) -> bool {
    memmem::find(bytes, text.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMA==\n-----END PRIVATE KEY-----\n";

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
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\n",
            "-----BEGIN OPENSSH PRIVATE KEY-----\n",
            "-----BEGIN  EC PRIVATE KEY -----\n",
            "-----BEGIN PKCS12-----\nMA==\n-----END PKCS12-----\n",
            r#"{"kty":"AKP","priv":"AA"}"#,
            r#"{ "d": "AA", "kty": "EC" }"#,
            r#"{"\u006bty":"AKP","pri\u0076":"AA"}"#,
            r#"{"keys":[{"kty":"oct","k":"AA"}]}"#,
            "{\"kty\": \"EC\", \"d\": \"AA\"",
        ];
        for one in texts.iter().map(|text| text.as_bytes()).chain(der) {
            assert!(has_private_key(one), "{}", String::from_utf8_lossy(one));
        }
        for other in [
            "-----BEGIN PUBLIC KEY-----\n",
            "-----BEGIN CERTIFICATE-----",
            r#"{"kty":"AKP","pub":"AA"}"#,
            r#"{"keys":[{"kty":"AKP","pub":"AA"}]}"#,
            "",
            "text",
        ] {
            assert!(!has_private_key(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn one_key_and_nothing_else() {
        assert!(is_one_private_key(KEY.as_bytes()));
        assert!(is_one_private_key(&[0x30, 4, 0x30, 0, 4, 0]));
        let request = KEY.replace("PRIVATE KEY", "CERTIFICATE REQUEST");
        for other in [
            KEY.repeat(2),
            format!("mine\n{KEY}"),
            format!("{KEY}mine\n"),
            format!("{KEY}{request}"),
            request,
            "{}".into(),
        ] {
            assert!(!is_one_private_key(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn what_is_as_long_as_a_key() {
        for (len, is) in [
            (32, true),
            (64, true),
            (4032, true),
            (33, false),
            (0, false),
        ] {
            let bytes = vec![7; len];
            assert_eq!(is_raw_secret(&bytes), is, "{len}");
            let hex = base16ct::lower::encode_string(&bytes) + "\n";
            assert_eq!(is_raw_secret(hex.as_bytes()), is, "{len}");
        }
        // A text can be as long by chance.
        assert!(!is_raw_secret(format!("{KEY:128}").as_bytes()));
    }
}
