//! PEM blocks (RFC 7468), found among other text and other blocks.
//!
//! This is the one reader of PEM. It is lax where section 2 allows it: blanks, empty lines and lines of any length may stand
//! between the marks, and anything around them. It is strict about the rest: what isn't base64 is refused, and a damaged
//! block with the label that is wanted is never passed over.
//!
//! [`blocks`] finds the blocks, and everything else here builds on it. What reads a text that is larger than memory builds
//! on [`Mark`].

mod blocks;
mod error;
mod marks;

use alloc::string::String;
use alloc::vec::Vec;

use der::pem::{self, LineEnding};
use zeroize::Zeroizing;

use super::base64;
use blocks::PUBLIC;

pub use blocks::{Block, blocks};
pub use error::{Damage, PemError};
pub use marks::{Mark, is_after_text};

/// Whether a file is a text with PEM in it, and not DER. DER that is longer than 127 bytes begins as no text does.
pub fn is_in(file: &[u8]) -> bool {
    !matches!(file, [0x30, 0x80..=0x88, ..]) && Mark::first_in(file).is_some()
}

/// Whether a file begins as DER does, and has no PEM in it.
pub fn is_der(file: &[u8]) -> bool {
    file.first() == Some(&0x30) && !is_in(file)
}

/// The contents of the first block with this label, such as `EC PRIVATE KEY`.
///
/// The buffer is wiped when dropped: the same function reads private keys.
///
/// # Errors
///
/// A [`PemError`] that says what is wrong with the text, or with the block.
pub fn decode_first(
    text: &(impl AsRef<[u8]> + ?Sized),
    label: &'static str,
) -> Result<Zeroizing<Vec<u8>>, PemError> {
    Ok(decode_first_of(text, &[label])?.1)
}

/// The first block with any of these labels: its label and contents.
///
/// The buffer is wiped when dropped, as by [`decode_first`].
///
/// # Errors
///
/// A [`PemError`] that says what is wrong with the text, or with the block. If there is none, it names the first label.
///
/// # Panics
///
/// If there are no labels.
pub fn decode_first_of(
    text: &(impl AsRef<[u8]> + ?Sized),
    labels: &[&'static str],
) -> Result<(&'static str, Zeroizing<Vec<u8>>), PemError> {
    let text = text.as_ref();
    let wanted = |block: Block<'_>| {
        let label = labels.iter().find(|label| block.is_of(label))?;
        Some(block.decode().map(|contents| (*label, contents)))
    };
    blocks(text)
        .find_map(wanted)
        .unwrap_or_else(|| Err(missing(text, labels[0])))
}

/// The contents of every block with this label, in order; at least one.
///
/// # Errors
///
/// A [`PemError`] that says what is wrong with the text, or with a block.
pub fn decode_all(
    text: &(impl AsRef<[u8]> + ?Sized),
    label: &'static str,
) -> Result<Vec<Zeroizing<Vec<u8>>>, PemError> {
    let text = text.as_ref();
    let contents = blocks(text)
        .filter(|block| block.is_of(label))
        .map(|block| block.decode())
        .collect::<Result<Vec<_>, _>>()?;
    if contents.is_empty() {
        return Err(missing(text, label));
    }
    Ok(contents)
}

/// The contents of every block with this label in a file, as [`decode_all`] gives them, or the file itself if it is DER.
///
/// # Errors
///
/// Those of [`decode_all`].
pub fn all_in(file: &[u8], label: &'static str) -> Result<Vec<Zeroizing<Vec<u8>>>, PemError> {
    match is_der(file) {
        true => Ok(vec![Zeroizing::new(file.to_vec())]),
        false => decode_all(file, label),
    }
}

fn missing(text: &[u8], label: &'static str) -> PemError {
    let found = blocks(text).map(|block| block.label());
    PemError::Missing {
        label,
        found: found.take(MAX_FOUND).collect(),
    }
}

/// As many labels are enough for an error. A text may have one in ten of its bytes.
const MAX_FOUND: usize = 16;

/// Encodes one block, in lines of 64 characters that end in a line feed. The caller must wipe the block of
/// a private key.
///
/// # Panics
///
/// If the label has other characters than RFC 7468 allows.
pub fn encode(label: &'static str, der: &[u8]) -> String {
    let mut text = String::new();
    append(&mut text, label, der);
    text
}

/// Appends a block to a text, as [`encode`] writes it. So a text of many blocks is not copied for each.
///
/// # Panics
///
/// As [`encode`] does.
pub fn append(text: &mut String, label: &'static str, der: &[u8]) {
    if !PUBLIC.contains(&label) {
        let block = pem::encode_string(label, LineEnding::LF, der);
        let block =
            block.expect("labels are constants, and the length of a block overflows no usize");
        text.push_str(&Zeroizing::new(block));
        return;
    }
    for (word, contents) in [("BEGIN", der), ("END", &[])] {
        text.extend(["-----", word, " ", label, "-----\n"]);
        base64::append(text, contents);
    }
}

#[cfg(test)]
mod tests;
