//! Signatures and ciphertexts as Transit writes them.

// This room uses `name`.

use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

use crate::name::Version;

/// Bytes of a version of a key: `vault:v3:` and base64.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Versioned {
    pub(crate) version: Version,
    pub(crate) bytes: Vec<u8>,
}

impl Versioned {
    /// Reads the text, which has one spelling for each value but for line breaks in its base64.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (version, bytes) = text.strip_prefix("vault:v")?.split_once(':')?;
        Some(Self {
            // A reader that took 0 or +1 for a version would give it a second name.
            version: version.parse().ok()?,
            bytes: core::mem::take(&mut *decode(bytes)?),
        })
    }

    pub(crate) fn write(version: Version, bytes: &[u8]) -> String {
        format!("vault:v{version}:{}", Base64::encode_string(bytes))
    }
}

/// Reads base64 with padding. Line breaks are skipped, as Go does it, and so Vault.
pub(crate) fn decode(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let is_break = |c: char| matches!(c, '\r' | '\n');
    let joined = text.contains(is_break).then(|| {
        // As long as it may become, so that no shorter buffer is left behind.
        let mut joined = Zeroizing::new(String::with_capacity(text.len()));
        joined.extend(text.split(is_break));
        joined
    });
    let text = joined.as_ref().map_or(text, |joined| joined.as_str());
    Base64::decode_vec(text).map(Zeroizing::new).ok()
}
