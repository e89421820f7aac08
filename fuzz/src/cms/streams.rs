//! Readers and writers that pass few bytes, are interrupted or fail.

use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};

use arbitrary::Arbitrary;
use pq_cms::{PemWriter, decode_if_pem};

use super::content::PIECE;
use crate::one_of;

/// How a reader gives bytes, and a writer takes them.
#[derive(Arbitrary, Debug)]
pub struct Pace {
    piece: u8,
    interrupts: bool,
    /// Fails after this many bytes.
    fails_at: Option<u16>,
}

impl Pace {
    fn piece(&self) -> usize {
        const PIECES: [usize; 8] = [PIECE, 1, 2, 7, 1000, PIECE - 1, PIECE + 1, 3 * PIECE];
        one_of(&PIECES, self.piece)
    }

    pub fn fails_at(&self) -> usize {
        self.fails_at.map_or(usize::MAX, Into::into)
    }

    pub fn reader<'b>(&self, bytes: &'b [u8]) -> BufReader<Source<'b>> {
        let source = Source {
            bytes,
            at: 0,
            piece: self.piece(),
            fails_at: self.fails_at(),
            interrupts: self.interrupts,
            is_interrupted: false,
        };
        BufReader::with_capacity(self.piece(), source)
    }

    pub fn writer(&self) -> Sink {
        Sink {
            bytes: Vec::new(),
            piece: self.piece(),
            fails_at: self.fails_at(),
        }
    }
}

pub struct Source<'b> {
    bytes: &'b [u8],
    at: usize,
    piece: usize,
    fails_at: usize,
    interrupts: bool,
    is_interrupted: bool,
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.is_interrupted = self.interrupts && !self.is_interrupted;
        if self.is_interrupted {
            return Err(ErrorKind::Interrupted.into());
        }
        if self.at >= self.fails_at {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let end = self.bytes.len().min(self.fails_at);
        let len = buffer.len().min(self.piece).min(end - self.at);
        buffer[..len].copy_from_slice(&self.bytes[self.at..][..len]);
        self.at += len;
        Ok(len)
    }
}

impl Seek for Source<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Start(at) => self.at = at as usize,
            SeekFrom::Current(by) => self.at = self.at.saturating_add_signed(by as isize),
            SeekFrom::End(_) => return Err(ErrorKind::Unsupported.into()),
        }
        Ok(self.at as u64)
    }
}

pub struct Sink {
    pub bytes: Vec<u8>,
    piece: usize,
    fails_at: usize,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(self.piece);
        let len = len.min(self.fails_at - self.bytes.len());
        if len == 0 && !bytes.is_empty() {
            return Err(ErrorKind::StorageFull.into());
        }
        self.bytes.extend(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The message after encoding in PEM and decoding.
pub fn through_pem(message: &[u8], pace: &Pace) -> Vec<u8> {
    let mut writer = PemWriter::new(Vec::new()).unwrap();
    for piece in message.chunks(pace.piece()) {
        writer.write_all(piece).unwrap();
        writer.flush().unwrap();
    }
    let pem = writer.finish().unwrap();
    let mut read = Vec::new();
    let slow = BufReader::with_capacity(pace.piece().max(32), &*pem);
    let taken = decode_if_pem(slow).unwrap().read_to_end(&mut read);
    assert_eq!(taken.unwrap(), message.len());
    read
}
