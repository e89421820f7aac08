//! Reads content in pieces of one length, which is why content of any size takes constant memory. A reader that has
//! ended is not asked again.

use std::io::{BufRead, ErrorKind, Read};

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

/// Hands out all content in pieces, and returns its length. All pieces have the same length, except the last
/// one, which is shorter.
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

/// The same for content that is not changed: a piece that is whole in the reader's buffer is not copied.
pub(crate) fn for_each_piece_there<E: From<EncodingError>>(
    from: &mut impl BufRead,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<u64, E> {
    let mut total = 0;
    loop {
        let there = buffered(from)?;
        if there.is_empty() {
            return Ok(total);
        }
        let Some(piece) = there.get(..PIECE) else {
            return Ok(total + for_each_piece(from, |piece| take(piece))?);
        };
        take(piece)?;
        from.consume(PIECE);
        total += PIECE as u64;
    }
}

/// What the reader has in its buffer; nothing at the end. It is not asked again there: a terminal would go on.
pub(super) fn buffered(from: &mut impl BufRead) -> Result<&[u8], EncodingError> {
    match fill_buffer(from)? {
        0 => Ok(&[]),
        // no second read: a loop can't return what it borrowed
        _ => from.fill_buf().map_err(EncodingError::Read),
    }
}

/// How many bytes the reader has in its buffer. If it is empty, it is filled first.
pub(super) fn fill_buffer(from: &mut impl BufRead) -> Result<usize, EncodingError> {
    loop {
        match from.fill_buf() {
            Ok(there) => return Ok(there.len()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // such as the error of a damaged PEM block
            Err(error) => return Err(EncodingError::Read(error)),
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

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader};

    use super::*;

    /// Is interrupted before each read, and may be asked only once at its end.
    struct Terminal<'c> {
        content: &'c [u8],
        is_interrupted: bool,
        is_at_end: bool,
    }

    impl<'c> Terminal<'c> {
        fn new(content: &'c [u8]) -> BufReader<Self> {
            let terminal = Self {
                content,
                is_interrupted: false,
                is_at_end: false,
            };
            BufReader::with_capacity(PIECE, terminal)
        }
    }

    impl Read for Terminal<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            assert!(!self.is_at_end, "read after the end");
            self.is_interrupted = !self.is_interrupted;
            if self.is_interrupted {
                return Err(ErrorKind::Interrupted.into());
            }
            let read = self.content.read(buffer)?;
            self.is_at_end = read == 0;
            Ok(read)
        }
    }

    #[test]
    fn an_end_is_seen_once() {
        for len in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            let content = vec![1; len];
            let none = |_: &[u8]| Ok::<_, EncodingError>(());
            let total = for_each_piece_there(&mut Terminal::new(&content), none);
            assert_eq!(total.unwrap(), len as u64);
        }
        assert_eq!(buffered(&mut Terminal::new(b"")).unwrap(), b"");
        assert_eq!(buffered(&mut Terminal::new(b"a")).unwrap(), b"a");
    }

    /// The same pieces, however much the reader has in its buffer.
    #[test]
    fn pieces_are_of_one_length() {
        for len in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 7] {
            let content: Vec<u8> = (0..len).map(|i| (i / 251) as u8).collect();
            let expected: Vec<Vec<u8>> = content.chunks(PIECE).map(Vec::from).collect();
            let check = |from: &mut dyn BufRead| {
                let mut from = from;
                let mut pieces = Vec::new();
                let total = for_each_piece_there(&mut from, |piece| {
                    if !piece.is_empty() {
                        pieces.push(piece.to_vec());
                    }
                    Ok::<_, EncodingError>(())
                });
                assert_eq!(total.unwrap(), len as u64);
                assert!(pieces == expected, "{len}");
            };
            check(&mut &*content);
            for capacity in [1, 1000, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 5] {
                check(&mut BufReader::with_capacity(capacity, &*content));
            }
        }
    }
}
