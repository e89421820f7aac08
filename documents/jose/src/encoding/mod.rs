//! How keys and signatures are encoded: base64url, JSON and CBOR, all read strictly.
//!
//! This room uses nothing.

pub(crate) mod base64url;
pub(crate) mod cbor;
pub(crate) mod json;

pub use base64url::Base64Error;
pub use cbor::CborError;
pub use json::JsonError;

/// Escapes and shortens untrusted text for messages: nothing in it starts a line or moves a cursor.
pub(crate) fn shown(text: &str) -> String {
    let visible = |character: char| match character {
        ' '..='~' => character.to_string(),
        _ => character.escape_default().to_string(),
    };
    text.chars().take(MAX_SHOWN).map(visible).collect()
}

/// How many characters of a text are shown in a message.
const MAX_SHOWN: usize = 128;
