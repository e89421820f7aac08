//! Decrypts files chunk by chunk, and notices one that was cut short.

use std::io::{Read, Write};

use super::chunks::{Chunk, Chunks, fill};
use super::error::DecryptionError;
use super::header::Header;
use super::{CHUNK_LEN, MAX_CHUNKS, aad};
use crate::context::{HpkeError, Receiver};
use crate::recipient::{Kem, RecipientKey};
use crate::suite::{Suite, TAG_LEN};

/// Decrypts files with the key that they were encrypted to.
#[derive(Clone, Debug)]
#[must_use]
pub struct Decryptor {
    key: RecipientKey,
    info: Vec<u8>,
}

/// A file that was decrypted, all of it authentic.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Decrypted {
    /// The KEM of the key.
    pub kem: Kem,
    /// The suite that it was encrypted with.
    pub suite: Suite,
    /// Length of the content, in bytes.
    pub len: u64,
}

impl Decryptor {
    /// Decrypts with this key and an empty info.
    pub fn new(key: impl Into<RecipientKey>) -> Self {
        Self {
            key: key.into(),
            info: Vec::new(),
        }
    }

    /// Sets the info that the file was encrypted with.
    pub fn info(mut self, info: &[u8]) -> Self {
        self.info = info.to_vec();
        self
    }

    /// Decrypts a file, which is read once, in constant memory.
    ///
    /// Each piece that is written is authentic. **Only `Ok` shows that none is missing**: of a file that was cut
    /// short, the beginning is written, and there is an error. A file does not show who encrypted it: whoever
    /// knows the public key can encrypt.
    ///
    /// # Errors
    ///
    /// A [`DecryptionError`] that says what is wrong, and how much was written.
    pub fn decrypt(
        &self,
        mut file: impl Read,
        mut content_to: impl Write,
    ) -> Result<Decrypted, DecryptionError> {
        let header = Header::read(&mut file)?;
        if header.kem != self.key.kem() {
            return Err(DecryptionError::OtherKem {
                file: header.kem,
                key: self.key.kem(),
            });
        }
        let mut enc = vec![0; header.kem.enc_len()];
        if fill(&mut file, &mut enc).map_err(DecryptionError::Read)? < enc.len() {
            return Err(DecryptionError::NoChunk);
        }
        let info = header.info(&self.info)?;
        let mut receiver = Receiver::new(&self.key, header.suite, &enc, &info)?;
        let mut chunks = Chunks::new(file, CHUNK_LEN + TAG_LEN, 0);
        let mut written = 0;
        for index in 0..MAX_CHUNKS {
            let Chunk {
                buffer,
                len,
                is_last,
            } = chunks.next().map_err(DecryptionError::Read)?;
            match (index, len) {
                (0, 0) => return Err(DecryptionError::NoChunk),
                // Only a sole chunk may be empty: so each content has one encoding.
                (1.., TAG_LEN) => return Err(DecryptionError::Altered { written }),
                _ => {}
            }
            let opened = receiver.open_in_place(&aad(is_last), &mut buffer[..len]);
            let content = opened.map_err(|error| match (error, index) {
                (HpkeError::NotAuthentic, 0) => DecryptionError::NotForThisKey,
                (HpkeError::NotAuthentic, _) => DecryptionError::Altered { written },
                (error, _) => error.into(),
            })?;
            content_to
                .write_all(content)
                .map_err(DecryptionError::Write)?;
            written += content.len() as u64;
            if is_last {
                content_to.flush().map_err(DecryptionError::Write)?;
                return Ok(Decrypted {
                    kem: header.kem,
                    suite: header.suite,
                    len: written,
                });
            }
        }
        Err(DecryptionError::Altered { written })
    }
}
