//! The request in the path of a GET: base64 of its DER, escaped or not (RFC 6960 appendix A.1).

use base64ct::{Base64, Encoding};

/// The most characters that a request takes in a path. Clients send what is longer than 255 by POST.
const MAX_LEN: usize = 2048;

/// The request that follows the door's own path. `None` if it can't be read.
pub(super) fn request_in(rest: &str) -> Option<Vec<u8>> {
    // Some clients put a slash after a URL that ends with one. Base64 of a request begins with "M".
    let rest = rest.trim_start_matches('/');
    if rest.is_empty() || rest.len() > MAX_LEN {
        return None;
    }
    Base64::decode_vec(&unescaped(rest)?).ok()
}

/// Replaces each `%2B` and the like, once.
fn unescaped(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut unescaped = String::from(parts.next()?);
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let byte = u8::from_str_radix(digits, 16).ok()?;
        // No other character is in base64.
        unescaped.push(byte.is_ascii().then_some(byte.into())?);
        unescaped += rest;
    }
    Some(unescaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_with_and_without_escapes() {
        // Its base64 has "+", "/" twice in a row and "=".
        let request = [0x30, 0x0b, 0xef, 0xbe, 0xff, 0xff, 0xff, 0x00];
        let text = Base64::encode_string(&request);
        assert_eq!(text, "MAvvvv///wA=");
        for path in [
            "/MAvvvv///wA=",
            "MAvvvv///wA=",
            "//MAvvvv///wA=",
            "/MAvvvv%2F%2f/wA%3D",
            "/%4dAvvvv///wA=",
        ] {
            assert_eq!(request_in(path).as_deref(), Some(&request[..]), "{path}");
        }
    }

    #[test]
    fn what_is_no_base64_is_refused() {
        let long = format!("/{}", "AAAA".repeat(MAX_LEN / 4 + 1));
        for path in [
            "",
            "/",
            "///",
            "/MAvvvv///wA",
            "/MAvvvv///wA==",
            "/MAvvvv///wA%3",
            "/MAvvvv///wA%",
            "/MAvvvv///wA%3G",
            "/MAvvvv///wA%+3",
            "/MAvvvv%252F//wA=",
            "/MAvv%00",
            "/MAvv%C3%A9",
            "/MAvv%é",
            "/MAvv-_-_",
            "/MAvv MAv",
            &long,
        ] {
            assert_eq!(request_in(path), None, "{path}");
        }
        assert!(request_in(&long[..=MAX_LEN]).is_some());
    }
}
