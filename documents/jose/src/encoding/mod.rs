//! How keys and signatures are encoded: base64url, JSON and CBOR, all read strictly. The first two are for other documents
//! around signatures, too, such as the requests of ACME.
//!
//! This room uses nothing.

pub mod base64url;
pub(crate) mod cbor;
pub mod json;

pub use base64url::Base64Error;
pub use cbor::CborError;
pub use json::JsonError;

/// Escapes and shortens untrusted text for messages: nothing in it starts a line or moves a cursor.
pub fn shown(text: &str) -> String {
    let visible = |character: char| match character {
        ' '..='~' => character.to_string(),
        _ => character.escape_default().to_string(),
    };
    text.chars().take(MAX_SHOWN).map(visible).collect()
}

/// How many characters of a text are shown in a message.
const MAX_SHOWN: usize = 128;
