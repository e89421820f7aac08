//! Base64url without padding (RFC 7515, section 2), with exactly one encoding for each value.
//!
//! On CPUs with the right instructions, the crate base64-simd is as fast as a copy. The crate base64ct, which is used
//! for private keys, runs in constant time.

use base64_simd::URL_SAFE_NO_PAD;
use base64ct::{Base64UrlUnpadded, Encoding};
use thiserror::Error;
use zeroize::Zeroizing;

/// The text is not base64url without padding.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error(
    "not base64url without padding (RFC 7515 section 2): a character, the length or the last bits are \
     wrong; copy it again, with nothing around it"
)]
pub struct Base64Error;

/// The text of these bytes.
pub fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode_to_string(bytes)
}

/// Appends the text of these bytes.
pub fn encode_to(bytes: &[u8], text: &mut String) {
    URL_SAFE_NO_PAD.encode_append(bytes, text);
}

/// Decodes a text. Each value has only one text: unused last bits have to be zero.
///
/// # Errors
///
/// [`Base64Error`] if the text is none.
pub fn decode(text: &str) -> Result<Vec<u8>, Base64Error> {
    let bytes = URL_SAFE_NO_PAD.decode_to_vec(text);
    bytes.map_err(|_| Base64Error)
}

/// The length of the text for this many bytes.
pub fn encoded_len(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4 - (3 - bytes % 3) % 3
}

/// Appends the text of a secret, in constant time. The string has to have room for it: a reallocation would leave a
/// copy of the secret behind.
pub(crate) fn encode_secret_to(secret: &[u8], text: &mut String) {
    let encoded = Zeroizing::new(Base64UrlUnpadded::encode_string(secret));
    text.push_str(&encoded);
}

/// Does the same as [`decode`] for a secret, in constant time.
pub(crate) fn decode_secret(text: &str) -> Result<Zeroizing<Vec<u8>>, Base64Error> {
    // One buffer that is long enough leaves no copies behind.
    let mut bytes = Zeroizing::new(vec![0; text.len()]);
    let len = Base64UrlUnpadded::decode(text, &mut bytes).map_err(|_| Base64Error)?;
    let len = len.len();
    bytes.truncate(len);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(bytes: &[u8]) -> String {
        let mut text = String::new();
        encode_secret_to(bytes, &mut text);
        text
    }

    #[test]
    fn both_implementations_agree() {
        for len in 0..=100_u8 {
            let bytes: Vec<u8> = (0..len).map(|i| i.wrapping_mul(151)).collect();
            let text = encode(&bytes);
            assert_eq!(text.len(), encoded_len(bytes.len()));
            assert_eq!(secret(&bytes), text);
            assert_eq!(decode(&text).unwrap(), bytes);
            assert_eq!(*decode_secret(&text).unwrap(), bytes);
        }
    }

    /// So no two texts decode to the same bytes, with either implementation.
    #[test]
    fn what_is_read_would_be_written_so() {
        let check = |text: &str| {
            let read = decode(text);
            let of_secret = decode_secret(text).map(|bytes| bytes.to_vec());
            assert_eq!(read, of_secret, "{text:?}");
            assert!(read.is_err() || read.is_ok_and(|bytes| encode(&bytes) == text));
        };
        for len in [0, 1, 2, 3, 4] {
            let text = encode(&vec![0xa5; len]);
            for at in 0..text.len() {
                check(&text[..at]);
                for other in 0..128 {
                    let mut changed = text.clone().into_bytes();
                    changed[at] = other;
                    check(&String::from_utf8(changed).unwrap());
                }
            }
        }
        for bad in [
            "AA==", "AA=", "A", "AB", "AAB", "AA\n", " AA", "+/+/", "AA.A", "ä",
        ] {
            assert_eq!(decode(bad), Err(Base64Error), "{bad:?}");
            check(bad);
        }
    }
}
