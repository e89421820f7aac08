//! Reads large files ahead in a second thread, so that reading and hashing or encrypting take place at once in little
//! memory.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc;
use std::{fs, thread};

use zeroize::Zeroize;

use super::source::{InputError, Source};

/// The size of a piece: a few of them take little memory, and threads seldom have to wait for one.
const PIECE: usize = 512 * 1024;

/// How many pieces there are: one that is taken, one that is read, and one in between.
const PIECES: usize = 3;

impl Source {
    /// Hands everything to `take`, piece by piece, and returns how many bytes there were. While one piece is
    /// taken, the next ones are read: this takes as long as the slower of the two, and only a few pieces are in
    /// memory.
    pub(crate) fn stream(&self, take: impl FnMut(&[u8])) -> Result<u64, InputError> {
        stream(self.open()?, take).map_err(|error| self.unreadable(error))
    }

    /// Opens it as [`open`](Self::open) does, and lets a thread read ahead: while one piece is used, the next
    /// ones are read, so that the kernel's work costs no time.
    pub(crate) fn read_ahead(&self) -> Result<Box<dyn BufRead + Send>, InputError> {
        let from = self.open()?;
        match self.len() {
            // Most files are small, and need no thread. Encrypting reads as much as the buffer holds, and such
            // reads bypass it: plaintext is left in it only if a file gives less than it has.
            Some(..=SMALL) => Ok(Box::new(BufReader::with_capacity(64 * 1024, from))),
            _ => match ReadAhead::of(from) {
                Ok(ahead) => Ok(Box::new(ahead)),
                Err(error) => Err(self.unreadable(error)),
            },
        }
    }

    /// Its length in bytes, if that is known before it is read.
    pub(crate) fn len(&self) -> Option<u64> {
        match self {
            Self::StandardInput => None,
            Self::File(path) => {
                let metadata = fs::metadata(path).ok()?;
                metadata.is_file().then_some(metadata.len())
            }
        }
    }
}

fn stream(mut from: impl Read + Send, mut take: impl FnMut(&[u8])) -> io::Result<u64> {
    let mut first = Piece::new();
    first.fill(&mut from)?;
    take(first.filled());
    if !first.is_full() {
        // Most files are small, and need no thread.
        return Ok(first.len as u64);
    }
    thread::scope(|scope| {
        let (free, to_fill) = mpsc::channel();
        let (filled, to_take) = mpsc::channel();
        for piece in [first].into_iter().chain((1..PIECES).map(|_| Piece::new())) {
            // The receiver is still there: the thread below gets it.
            let _ = free.send(piece);
        }
        thread::Builder::new().spawn_scoped(scope, move || read(from, &to_fill, &filled))?;
        let mut total = PIECE as u64;
        for piece in to_take {
            let piece = piece?;
            take(piece.filled());
            total += piece.len as u64;
            // The reader is gone if this was the last one.
            let _ = free.send(piece);
        }
        Ok(total)
    })
}

/// The longest file that is read without a thread.
const SMALL: u64 = PIECE as u64;

/// What is read at once. It is wiped, since it may hold plaintext that is to be encrypted. Only the part that
/// was ever filled is wiped, since wiping all of it takes longer than reading a small file.
struct Piece {
    bytes: Vec<u8>,
    /// How much of it is filled.
    len: usize,
    /// How much of it was ever filled.
    written: usize,
}

impl Piece {
    fn new() -> Self {
        Self {
            bytes: vec![0; PIECE],
            len: 0,
            written: 0,
        }
    }

    fn filled(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// A piece that is not full is the last one.
    fn is_full(&self) -> bool {
        self.len == PIECE
    }

    /// Reads until it is full or there is nothing more.
    fn fill(&mut self, from: &mut impl Read) -> io::Result<()> {
        self.len = 0;
        while !self.is_full() {
            match from.read(&mut self.bytes[self.len..]) {
                Ok(0) => break,
                Ok(read) => self.len += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            self.written = self.written.max(self.len);
        }
        Ok(())
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.bytes[..self.written].zeroize();
    }
}

/// Pieces that a thread reads ahead.
struct ReadAhead {
    free: mpsc::Sender<Piece>,
    filled: mpsc::Receiver<Filled>,
    /// None yet, at the beginning.
    piece: Option<Piece>,
    /// How much of the piece was used.
    taken: usize,
}

impl ReadAhead {
    fn of(from: impl Read + Send + 'static) -> io::Result<Self> {
        let (free, to_fill) = mpsc::channel();
        let (filling, filled) = mpsc::channel();
        for _ in 0..PIECES {
            // The receiver is still there: the thread below gets it.
            let _ = free.send(Piece::new());
        }
        thread::Builder::new().spawn(move || read(from, &to_fill, &filling))?;
        Ok(Self {
            free,
            filled,
            piece: None,
            taken: 0,
        })
    }
}

impl Read for ReadAhead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.fill_buf()?.read(buffer)?;
        self.consume(len);
        Ok(len)
    }
}

impl BufRead for ReadAhead {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        // A piece that is not full is the last one. If none arrives, the thread has failed, and not everything
        // was read.
        let is_taken = |piece: &Piece| piece.is_full() && self.taken == PIECE;
        if self.piece.as_ref().is_none_or(is_taken) {
            let gone = |_| io::Error::other("the thread that reads it has failed");
            let piece = self.filled.recv().map_err(gone)??;
            self.taken = 0;
            if let Some(taken) = self.piece.replace(piece) {
                // The thread is gone if this was the last one.
                let _ = self.free.send(taken);
            }
        }
        let filled = self.piece.as_ref().map_or(&[][..], Piece::filled);
        Ok(&filled[self.taken..])
    }

    fn consume(&mut self, len: usize) {
        self.taken += len;
    }
}

type Filled = io::Result<Piece>;

/// Fills pieces until there is nothing more to read, or until nobody takes pieces any more.
fn read(mut from: impl Read, to_fill: &mpsc::Receiver<Piece>, filled: &mpsc::Sender<Filled>) {
    for mut piece in to_fill {
        let piece = piece.fill(&mut from).map(|()| piece);
        let is_last = !piece.as_ref().is_ok_and(Piece::is_full);
        if filled.send(piece).is_err() || is_last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time, as a pipe may, and fails in the end if it is to.
    struct Dribble {
        left: usize,
        fails: bool,
    }

    impl Read for Dribble {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.left == 0 && self.fails {
                return Err(io::Error::other("torn"));
            }
            if self.left % 5 == 1 {
                self.left -= 1;
                buffer[0] = self.left as u8;
                return Ok(1);
            }
            let len = buffer.len().min(self.left).min(100_003);
            for byte in &mut buffer[..len] {
                self.left -= 1;
                *byte = self.left as u8;
            }
            Ok(len)
        }
    }

    #[test]
    fn every_byte_comes_once_and_in_order() {
        for len in [
            0,
            1,
            PIECE - 1,
            PIECE,
            PIECE + 1,
            PIECES * PIECE,
            7 * PIECE + 7,
        ] {
            let expected: Vec<u8> = (0..len).rev().map(|left| left as u8).collect();
            let mut taken = Vec::new();
            let from = || Dribble {
                left: len,
                fails: false,
            };
            let total = stream(from(), |piece| taken.extend_from_slice(piece)).unwrap();
            assert_eq!(total, len as u64);
            assert!(taken == expected, "{len}");
            let mut ahead = Vec::new();
            let mut reader = ReadAhead::of(from()).unwrap();
            reader.read_to_end(&mut ahead).unwrap();
            assert!(ahead == expected, "{len}");
            assert_eq!(reader.read(&mut [0; 9]).unwrap(), 0);
        }
    }

    #[test]
    fn what_cant_be_read_is_an_error_wherever_it_begins() {
        for left in [0, 10, PIECE, PIECE + 10, 5 * PIECE] {
            let failed = stream(Dribble { left, fails: true }, |_| ());
            assert_eq!(failed.unwrap_err().to_string(), "torn");
            let mut ahead = ReadAhead::of(Dribble { left, fails: true }).unwrap();
            let failed = ahead.read_to_end(&mut Vec::new());
            assert_eq!(failed.unwrap_err().to_string(), "torn");
            // Reading on fails, too, so that nobody takes this for the end.
            assert!(ahead.read(&mut [0; 9]).is_err(), "{left}");
        }
    }

    /// Panics once some pieces were read.
    struct Broken(Dribble);

    impl Read for Broken {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            assert!(self.0.left > 0, "broken");
            self.0.read(buffer)
        }
    }

    #[test]
    fn a_thread_that_panics_is_no_end() {
        for left in [0, 10, 5 * PIECE] {
            let from = Broken(Dribble { left, fails: false });
            let mut ahead = ReadAhead::of(from).unwrap();
            assert!(ahead.read_to_end(&mut Vec::new()).is_err(), "{left}");
        }
    }
}
