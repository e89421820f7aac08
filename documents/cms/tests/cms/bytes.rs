//! Messages as bytes: made by hand, taken apart, and read in pieces.

use std::io::{self, BufRead, BufReader, Read};

/// A value with a definite length.
pub(crate) fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let contents = parts.concat();
    let len = contents.len();
    let mut der = vec![tag];
    match len {
        0..0x80 => der.push(len as u8),
        _ => {
            der.push(0x84);
            der.extend((len as u32).to_be_bytes());
        }
    }
    // In the shortest form, as DER requires.
    if der.len() == 6 {
        let zeros = der[2..].iter().take_while(|byte| **byte == 0).count();
        der.drain(2..2 + zeros);
        der[1] -= zeros as u8;
    }
    [der, contents].concat()
}

/// A value with an indefinite length.
pub(crate) fn indefinite(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    [&[tag, 0x80][..], &parts.concat(), &[0, 0]].concat()
}

/// The values inside a value.
pub(crate) fn parts(der: &[u8]) -> Vec<&[u8]> {
    let (mut at, end) = contents(der, 0);
    let mut parts = Vec::new();
    while at < end {
        let (_, next) = contents(der, at);
        parts.push(&der[at..next]);
        at = next;
    }
    parts
}

fn contents(der: &[u8], at: usize) -> (usize, usize) {
    match der[at + 1] {
        len @ ..0x80 => (at + 2, at + 2 + usize::from(len)),
        bytes => {
            let start = at + 2 + usize::from(bytes & 0x7f);
            let len = der[at + 2..start]
                .iter()
                .fold(0, |len, byte| len << 8 | usize::from(*byte));
            (start, start + len)
        }
    }
}

/// The contents of a value.
pub(crate) fn value(der: &[u8]) -> &[u8] {
    let (start, end) = contents(der, 0);
    &der[start..end]
}

/// Changed copies of the bytes, as many as a test has time for: some bits of each byte.
pub(crate) fn changed(bytes: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    (0..bytes.len()).flat_map(move |at| {
        let masks: &[u8] = match bytes.len() < 1000 {
            true => &[1, 0x20, 0x80, 0xff],
            false => &[1],
        };
        masks.iter().map(move |mask| {
            let mut bytes = bytes.to_vec();
            bytes[at] ^= mask;
            (at, bytes)
        })
    })
}

/// Gives one byte at a time, as a socket may.
pub(crate) struct OneByOne<'b>(pub(crate) &'b [u8]);

impl Read for OneByOne<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(1);
        self.0.read(&mut buffer[..len])
    }
}

impl BufRead for OneByOne<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(&self.0[..self.0.len().min(1)])
    }

    fn consume(&mut self, len: usize) {
        self.0.consume(len);
    }
}

/// Gives a start, then a pattern many times, then an end: messages too large for any memory.
pub(crate) struct Repeated {
    pub(crate) start: Vec<u8>,
    pub(crate) pattern: Vec<u8>,
    pub(crate) times: u64,
    pub(crate) end: Vec<u8>,
    pub(crate) at: usize,
}

impl Repeated {
    pub(crate) fn new(
        start: Vec<u8>,
        pattern: Vec<u8>,
        times: u64,
        end: Vec<u8>,
    ) -> BufReader<Self> {
        let repeated = Self {
            start,
            pattern,
            times,
            end,
            at: 0,
        };
        BufReader::with_capacity(64 * 1024, repeated)
    }
}

impl Read for Repeated {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            let from = match (self.start.is_empty(), self.times) {
                (false, _) => &self.start,
                (true, 1..) => &self.pattern,
                (true, 0) => &self.end,
            };
            let len = (from.len() - self.at).min(buffer.len() - filled);
            buffer[filled..filled + len].copy_from_slice(&from[self.at..self.at + len]);
            filled += len;
            self.at += len;
            if self.at == from.len() {
                self.at = 0;
                match (self.start.is_empty(), self.times) {
                    (false, _) => self.start.clear(),
                    (true, 1..) => self.times -= 1,
                    (true, 0) => {
                        self.end.clear();
                        break;
                    }
                }
            }
        }
        Ok(filled)
    }
}
