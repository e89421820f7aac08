//! The encoding of numbers and texts: numbers in groups of seven bits, lowest first, with the top bit set
//! in all bytes except the last (LEB128), and texts after their lengths.

use std::io::{self, ErrorKind, Read};

pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads encoded values, and counts their bytes.
pub(super) struct Decoder<R> {
    source: R,
    /// How many bytes were read.
    position: u64,
}

impl<R: Read> Decoder<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source,
            position: 0,
        }
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    pub(super) fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.source.read_exact(&mut byte)?;
        self.position += 1;
        Ok(byte[0])
    }

    pub(super) fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.source.read_exact(&mut bytes)?;
        self.position += N as u64;
        Ok(bytes)
    }

    pub(super) fn number(&mut self) -> io::Result<u64> {
        let mut number = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(ErrorKind::InvalidData.into())
    }

    pub(super) fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let length = self.number()?;
        let mut bytes = Vec::new();
        // The vector grows with the bytes that are really there, not with the claimed length.
        (&mut self.source).take(length).read_to_end(&mut bytes)?;
        self.advance(length, bytes.len() as u64)?;
        Ok(bytes)
    }

    pub(super) fn text(&mut self) -> io::Result<String> {
        String::from_utf8(self.bytes()?).map_err(|_| ErrorKind::InvalidData.into())
    }

    fn advance(&mut self, length: u64, read: u64) -> io::Result<()> {
        if read != length {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.position += length;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for number in [
            0,
            1,
            0x7f,
            0x80,
            0x3fff,
            0x4000,
            u64::from(u32::MAX),
            u64::MAX,
        ] {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            let mut decoder = Decoder::new(bytes.as_slice());
            assert_eq!(decoder.number().unwrap(), number);
            assert_eq!(decoder.position(), bytes.len() as u64);
        }
    }

    #[test]
    fn numbers_past_64_bits_are_refused() {
        for bytes in [
            [0xff; 9]
                .iter()
                .chain(&[0x02])
                .copied()
                .collect::<Vec<u8>>(),
            vec![0x80; 11],
        ] {
            let error = Decoder::new(bytes.as_slice()).number().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData);
        }
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        let mut bytes = Vec::new();
        put_bytes(&mut bytes, b"some text");
        for length in 0..bytes.len() {
            let error = Decoder::new(&bytes[..length]).text().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        }
        assert_eq!(Decoder::new(bytes.as_slice()).text().unwrap(), "some text");
        let error = Decoder::new(&bytes[..3]).array::<4>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    }
}
