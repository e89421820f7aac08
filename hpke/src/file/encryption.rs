//! Encrypts files: the header, the encapsulated secret, and chunks that each have a tag.

use std::io::{Read, Write};

use super::chunks::{Chunk, Chunks};
use super::error::EncryptionError;
use super::header::Header;
use super::{CHUNK_LEN, MAX_CHUNKS, aad};
use crate::context::Sender;
use crate::recipient::RecipientPublicKey;
use crate::suite::{Suite, TAG_LEN};

/// Encrypts files to one key.
///
/// ```
/// use pq_hpke::{Decryptor, Encryptor, XWingPrivateKey};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let key = XWingPrivateKey::generate()?;
///
/// let mut file = Vec::new();
/// Encryptor::new(key.public_key().clone()).encrypt(&b"a secret"[..], &mut file)?;
///
/// let mut content = Vec::new();
/// Decryptor::new(key).decrypt(&file[..], &mut content)?;
/// assert_eq!(content, b"a secret");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Encryptor {
    recipient: RecipientPublicKey,
    suite: Suite,
    info: Vec<u8>,
}

impl Encryptor {
    /// Encrypts to this key, with the default suite and an empty info.
    pub fn new(recipient: impl Into<RecipientPublicKey>) -> Self {
        Self {
            recipient: recipient.into(),
            suite: Suite::default(),
            info: Vec::new(),
        }
    }

    /// Encrypts with another suite, which the file names.
    pub fn suite(mut self, suite: Suite) -> Self {
        self.suite = suite;
        self
    }

    /// Sets what the file is for, such as the name of an application, in 65,521 bytes at most. The file doesn't
    /// contain it: whoever decrypts has to know it.
    pub fn info(mut self, info: &[u8]) -> Self {
        self.info = info.to_vec();
        self
    }

    /// Encrypts content, which is read once, in constant memory, and returns its length.
    ///
    /// # Errors
    ///
    /// An [`EncryptionError`] that says what is wrong. What was written by then is not a whole file, and
    /// [`Decryptor`](super::Decryptor) refuses it.
    pub fn encrypt(&self, content: impl Read, mut to: impl Write) -> Result<u64, EncryptionError> {
        let header = Header {
            kem: self.recipient.kem(),
            suite: self.suite,
        };
        let info = header.info(&self.info)?;
        let (enc, mut sender) = Sender::new(&self.recipient, self.suite, &info)?;
        to.write_all(&header.to_bytes())
            .map_err(EncryptionError::Write)?;
        to.write_all(&enc).map_err(EncryptionError::Write)?;
        let mut chunks = Chunks::new(content, CHUNK_LEN, TAG_LEN);
        let mut total = 0;
        for _ in 0..MAX_CHUNKS {
            let Chunk {
                buffer,
                len,
                is_last,
            } = chunks.next().map_err(EncryptionError::Read)?;
            let tag = sender.seal_in_place(&aad(is_last), &mut buffer[..len])?;
            buffer[len..][..TAG_LEN].copy_from_slice(&tag);
            to.write_all(&buffer[..len + TAG_LEN])
                .map_err(EncryptionError::Write)?;
            total += len as u64;
            if is_last {
                to.flush().map_err(EncryptionError::Write)?;
                return Ok(total);
            }
        }
        Err(EncryptionError::TooLong)
    }
}
