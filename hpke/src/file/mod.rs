//! Files of any size, encrypted to one key in constant memory, in the format that the crate's documentation
//! describes.
//!
//! It uses [`context`](crate::context), [`recipient`](crate::recipient) and [`suite`](crate::suite).

mod chunks;
mod decryption;
mod encryption;
mod error;
mod header;

pub use decryption::{Decrypted, Decryptor};
pub use encryption::Encryptor;
pub use error::{DecryptionError, EncryptionError};

/// How much content a chunk has; the last one may have less.
const CHUNK_LEN: usize = 64 * 1024;

/// The most chunks that one key encrypts: 256 TiB. With that many, AES-GCM can be told from random bytes with
/// a probability below 2⁻⁴⁰.
const MAX_CHUNKS: u64 = 1 << 32;

/// The additional data of a chunk, which says whether another one follows.
fn aad(is_last: bool) -> [u8; 1] {
    [u8::from(is_last)]
}
