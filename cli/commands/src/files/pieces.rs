//! Reads a file of any size in pieces that end at a mark, such as the end of a PEM block, each with a limit.

use alloc::boxed::Box;
use std::io::{ErrorKind, Read};

use memchr::{memchr, memmem};
use zeroize::Zeroizing;

use super::source::{InputError, Source};

/// A file of any size in pieces. Each ends with a mark and the blanks in the rest of its line; the last piece is the rest.
pub(crate) struct Pieces {
    source: Source,
    from: Box<dyn Read + Send>,
    /// How the mark begins and ends. If the end isn't in the same line, the mark ends with the line.
    mark: [&'static [u8]; 2],
    limit: usize,
    /// It is wiped, since it may hold a private key.
    buffer: Zeroizing<Vec<u8>>,
    /// Where in the buffer the next piece begins.
    start: usize,
    /// Where the bytes end that were read.
    end: usize,
    is_at_end: bool,
}

impl Source {
    /// The pieces of this, each with at most `limit` bytes.
    pub(crate) fn pieces(
        &self,
        mark: [&'static [u8]; 2],
        limit: usize,
    ) -> Result<Pieces, InputError> {
        Ok(Pieces {
            source: self.clone(),
            from: self.open()?,
            mark,
            limit,
            buffer: Zeroizing::new(vec![0; FIRST]),
            start: 0,
            end: 0,
            is_at_end: false,
        })
    }
}

impl Pieces {
    /// The next one, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, InputError> {
        let [begin, close] = self.mark;
        // There is no mark before this.
        let mut searched = 0;
        let len = loop {
            let piece = &self.buffer[self.start..self.end];
            if let Some(at) = memmem::find(&piece[searched..], begin) {
                searched += at;
                if let Some(end) = memchr(b'\n', &piece[searched..]) {
                    let after = searched + begin.len();
                    let line = piece.get(after..searched + end).unwrap_or_default();
                    let closed = memmem::find(line, close).map(|at| at + close.len());
                    // The next piece may begin in the same line.
                    let next = closed.filter(|at| !line[*at..].trim_ascii().is_empty());
                    break next.map_or(searched + end + 1, |at| after + at);
                }
            } else {
                searched = piece.len().saturating_sub(begin.len());
            }
            if piece.len() > self.limit {
                return Err(InputError::TooLarge {
                    file: self.source.to_string(),
                    limit: self.limit,
                });
            }
            if self.is_at_end {
                break piece.len();
            }
            self.read()?;
        };
        let start = self.start;
        self.start += len;
        Ok((len > 0).then(|| &self.buffer[start..start + len]))
    }

    /// Reads no more.
    pub(crate) fn stop(&mut self) {
        self.start = self.end;
        self.is_at_end = true;
    }

    /// Makes room, and reads more.
    fn read(&mut self) -> Result<(), InputError> {
        let kept = self.start..self.end;
        let len = self.buffer.len();
        let is_of_large_file = self.end == len && len < CHUNK;
        if kept.len() > len / 2 || is_of_large_file {
            let mut larger = Zeroizing::new(vec![0; CHUNK.max(2 * len)]);
            larger[..kept.len()].copy_from_slice(&self.buffer[kept]);
            self.buffer = larger;
        } else {
            self.buffer.copy_within(kept, 0);
        }
        (self.start, self.end) = (0, self.end - self.start);
        loop {
            match self.from.read(&mut self.buffer[self.end..]) {
                Ok(read) => {
                    self.is_at_end = read == 0;
                    self.end += read;
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.source.unreadable(error)),
            }
        }
    }
}

/// More than most requests have, and quickly wiped. Half of it is the size of standard input's buffer: reads of
/// that size or more bypass the buffer, which nobody wipes.
const FIRST: usize = 16 * 1024;

/// A hundred requests.
const CHUNK: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time, as a pipe may.
    struct Dribble(Vec<u8>, usize);

    impl Read for Dribble {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let len = self.1.min(self.0.len()).min(buffer.len());
            buffer[..len].copy_from_slice(&self.0[..len]);
            self.0.drain(..len);
            Ok(len)
        }
    }

    fn pieces(
        text: &[u8],
        at_once: usize,
        room: usize,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>, InputError> {
        let mut pieces = Pieces {
            source: Source::StandardInput,
            from: Box::new(Dribble(text.to_vec(), at_once)),
            mark: [b"END", b"!"],
            limit,
            buffer: Zeroizing::new(vec![0; room]),
            start: 0,
            end: 0,
            is_at_end: false,
        };
        let mut found = Vec::new();
        while let Some(piece) = pieces.next()? {
            found.push(piece.to_vec());
        }
        Ok(found)
    }

    #[test]
    fn pieces_end_with_the_line_of_a_mark() {
        let text =
            b"one\nEND of it\nE\nEN\nxENDx\n\nEND\nEND!two END of two! \nrest, \nEND without a line";
        let expected: [&[u8]; 6] = [
            b"one\nEND of it\n",
            b"E\nEN\nxENDx\n",
            b"\nEND\n",
            b"END!",
            b"two END of two! \n",
            b"rest, \nEND without a line",
        ];
        for at_once in [1, 2, 3, 7, 1000] {
            for room in [1, 2, 5, 16, 1000] {
                assert_eq!(pieces(text, at_once, room, 100).unwrap(), expected);
            }
        }
        assert!(pieces(b"", 1, 1, 1).unwrap().is_empty());
    }

    #[test]
    fn no_piece_is_larger_than_the_limit() {
        let endless = vec![b'a'; 5000];
        for (at_once, room) in [(1, 1), (100, 16), (5000, 64)] {
            let failed = pieces(&endless, at_once, room, 1000).unwrap_err();
            assert!(matches!(failed, InputError::TooLarge { limit: 1000, .. }));
        }
        assert_eq!(pieces(&endless, 7, 16, 5000).unwrap(), [endless]);
    }
}
