use std::io::{ErrorKind, Read};

use zeroize::Zeroizing;

use super::error::EncodingError;

/// Content is read this many bytes at a time, which stay in the cache of one core.
pub(crate) const PIECE: usize = 64 * 1024;

/// The start of content: all of it, or as much as a piece has.
pub(crate) struct Start {
    pub(crate) bytes: Zeroizing<Vec<u8>>,
    /// Nothing follows.
    pub(crate) is_whole: bool,
}

/// Reads the start of content.
pub(crate) fn read_start(from: &mut impl Read) -> Result<Start, EncodingError> {
    let mut bytes = Zeroizing::new(vec![0; PIECE]);
    let len = fill(from, &mut bytes)?;
    bytes.truncate(len);
    Ok(Start {
        is_whole: len < PIECE,
        bytes,
    })
}

/// Hands out all there is to read, and returns how many bytes that was. All pieces are of one length, but
/// for the last one, which is shorter.
pub(crate) fn for_each_piece<E: From<EncodingError>>(
    from: &mut impl Read,
    mut take: impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<u64, E> {
    let mut piece = Zeroizing::new(vec![0; PIECE]);
    let mut total = 0;
    loop {
        let len = fill(from, &mut piece)?;
        total += len as u64;
        take(&mut piece[..len])?;
        if len < PIECE {
            return Ok(total);
        }
    }
}

/// Reads until the buffer is full or there is nothing more.
pub(super) fn fill(from: &mut impl Read, buffer: &mut [u8]) -> Result<usize, EncodingError> {
    let mut len = 0;
    while len < buffer.len() {
        match from.read(&mut buffer[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(EncodingError::Read(error)),
        }
    }
    Ok(len)
}
