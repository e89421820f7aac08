//! What tells JSON and CBOR from other files.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The bytes as text, without the mark that some editors put before it (RFC 8259, section 8.1).
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    let text = core::str::from_utf8(bytes).ok()?;
    Some(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Whether a text is meant to be an object of JSON.
pub(crate) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Whether a text is meant to be a set of JSON Web Keys.
pub(crate) fn is_set(text: &str) -> bool {
    /// Everything else in the object is ignored.
    #[derive(Deserialize)]
    struct Set {
        #[serde(rename = "keys")]
        _keys: IgnoredAny,
    }

    is_object(text) && serde_json::from_str::<Set>(text).is_ok()
}

/// Whether bytes begin as a map of CBOR does, which no DER does.
pub(crate) fn is_map(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| first >> 5 == 5)
}
