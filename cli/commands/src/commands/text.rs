//! Bytes as a line of hexadecimal or base64, without copies of a secret left in memory.

use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

/// How bytes are written as text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum TextEncoding {
    Hex,
    Base64,
}

/// The bytes as a line of text, in one buffer: a buffer that grows leaves copies behind, and the bytes may be
/// a secret.
pub(super) fn line(bytes: &[u8], encoding: TextEncoding) -> Zeroizing<Vec<u8>> {
    let len = match encoding {
        TextEncoding::Hex => base16ct::encoded_len(bytes),
        TextEncoding::Base64 => Base64::encoded_len(bytes),
    };
    let mut line = Zeroizing::new(vec![b'\n'; len + 1]);
    let text = &mut line[..len];
    let is_written = match encoding {
        TextEncoding::Hex => base16ct::lower::encode(bytes, text).is_ok(),
        TextEncoding::Base64 => Base64::encode(bytes, text).is_ok(),
    };
    assert!(is_written, "both write what is as long as they say");
    line
}
