//! How keys and signatures are written down: base64url, JSON and CBOR, each by its strict reading.
//!
//! This room uses nothing.

pub(crate) mod base64url;
pub(crate) mod cbor;
pub(crate) mod json;

pub use base64url::Base64Error;
pub use cbor::CborError;
pub use json::JsonError;

/// What anybody may have written, for messages: cut off, and with nothing that starts a line or moves a
/// cursor.
pub(crate) fn shown(text: &str) -> String {
    let visible = |character: char| match character {
        ' '..='~' => character.to_string(),
        _ => character.escape_default().to_string(),
    };
    text.chars().take(MAX_SHOWN).map(visible).collect()
}

/// As many characters of a text are in a message.
const MAX_SHOWN: usize = 128;
