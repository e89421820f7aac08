//! Cuts a stream into chunks of one length. It reads a byte ahead, to know which chunk is the last.

use std::io::{self, ErrorKind, Read};

use zeroize::Zeroizing;

/// Reads chunks of one length, and knows which chunk is the last. Only the last one may be shorter.
pub(super) struct Chunks<R> {
    from: R,
    len: usize,
    /// A chunk, room for what is written behind it, and at the end the first byte of the next chunk.
    buffer: Zeroizing<Vec<u8>>,
    is_ahead: bool,
}

/// A chunk, with room behind it.
pub(super) struct Chunk<'c> {
    pub(super) buffer: &'c mut [u8],
    pub(super) len: usize,
    pub(super) is_last: bool,
}

impl<R: Read> Chunks<R> {
    pub(super) fn new(from: R, len: usize, room: usize) -> Self {
        Self {
            from,
            len,
            buffer: Zeroizing::new(vec![0; len + room + 1]),
            is_ahead: false,
        }
    }

    /// The next chunk. Not to be called after the last one.
    pub(super) fn next(&mut self) -> io::Result<Chunk<'_>> {
        let ahead = self.buffer.len() - 1;
        if self.is_ahead {
            self.buffer[0] = self.buffer[ahead];
        }
        let held = usize::from(self.is_ahead);
        let mut len = held + fill(&mut self.from, &mut self.buffer[held..=self.len])?;
        self.is_ahead = len > self.len;
        if self.is_ahead {
            len = self.len;
            self.buffer[ahead] = self.buffer[len];
        }
        Ok(Chunk {
            buffer: &mut self.buffer[..ahead],
            len,
            is_last: !self.is_ahead,
        })
    }
}

/// Reads until the buffer is full or there is nothing more.
pub(super) fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while len < buffer.len() {
        match from.read(&mut buffer[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_chunk_is_known() {
        for len in 0..20 {
            let bytes: Vec<u8> = (0..len).collect();
            let mut chunks = Chunks::new(&bytes[..], 4, 2);
            let mut read = Vec::new();
            loop {
                let chunk = chunks.next().unwrap();
                read.extend_from_slice(&chunk.buffer[..chunk.len]);
                // what is written there is in nobody's way
                chunk.buffer[chunk.len..][..2].fill(0xff);
                assert_eq!(chunk.is_last, read.len() == bytes.len(), "{len}");
                if chunk.is_last {
                    break;
                }
                assert_eq!(chunk.len, 4);
            }
            assert_eq!(read, bytes);
        }
    }
}
