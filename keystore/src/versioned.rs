//! Signatures and ciphertexts as Transit writes them.

// This room uses `name`.

use base64ct::{Base64, Encoding};

use crate::name::Version;

/// Bytes of a version of a key: `vault:v3:` and base64.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Versioned {
    pub(crate) version: Version,
    pub(crate) bytes: Vec<u8>,
}

impl Versioned {
    /// Reads the text, which has one spelling for each value.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (version, bytes) = text.strip_prefix("vault:v")?.split_once(':')?;
        Some(Self {
            // A reader that took 0 or +1 for a version would give it a second name.
            version: version.parse().ok()?,
            bytes: Base64::decode_vec(bytes).ok()?,
        })
    }

    pub(crate) fn write(version: Version, bytes: &[u8]) -> String {
        format!("vault:v{version}:{}", Base64::encode_string(bytes))
    }
}
