//! What a file without a structure may mean.

use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

/// What the file may mean: hexadecimal digits, base64, or its bytes themselves.
pub(crate) fn readings(bytes: Zeroizing<Vec<u8>>) -> Vec<Zeroizing<Vec<u8>>> {
    let mut text = Zeroizing::new(Vec::with_capacity(bytes.len()));
    text.extend(bytes.iter().filter(|byte| !byte.is_ascii_whitespace()));
    let mut readings = Vec::new();
    for decode in [from_hex, from_base64] {
        readings.extend(decode(&text));
    }
    readings.push(bytes);
    readings
}

fn from_hex(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut raw = Zeroizing::new(vec![0; text.len() / 2]);
    let len = base16ct::mixed::decode(text, &mut raw).ok()?.len();
    raw.truncate(len);
    Some(raw)
}

fn from_base64(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut raw = Zeroizing::new(vec![0; text.len() / 4 * 3]);
    let len = Base64::decode(text, &mut raw).ok()?.len();
    raw.truncate(len);
    Some(raw)
}
