//! Files of any size, encrypted to one key in constant memory: the form that the crate's documentation
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

/// How much content a chunk has, but for the last one.
const CHUNK_LEN: usize = 64 * 1024;

/// At most so many chunks are encrypted by one key, which are 256 TiB: of as many, AES-GCM can be told from
/// random bytes with a probability below 2⁻⁴⁰.
const MAX_CHUNKS: u64 = 1 << 32;

/// The additional data of a chunk, which says whether another one follows.
fn aad(is_last: bool) -> [u8; 1] {
    [u8::from(is_last)]
}
