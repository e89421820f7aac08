//! Encodes values: in memory as DER, and as a stream of BER with indefinite lengths around content whose length is not
//! known.

use std::io::Write;

use super::error::EncodingError;
use super::tag::{CONSTRUCTED, OCTET_STRING};

/// A value in DER: its tag, its length and its parts.
pub(crate) fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let len = parts.iter().map(|part| part.len()).sum();
    let mut der = Vec::with_capacity(len + 10);
    push_header(&mut der, tag, len);
    for part in parts {
        der.extend_from_slice(part);
    }
    der
}

pub(super) fn push_header(der: &mut Vec<u8>, tag: u8, len: usize) {
    der.push(tag);
    if len < 0x80 {
        der.push(len as u8);
        return;
    }
    let bytes = (len as u64).to_be_bytes();
    let zeros = (len as u64).leading_zeros() as usize / 8;
    der.push(0x80 | (bytes.len() - zeros) as u8);
    der.extend_from_slice(&bytes[zeros..]);
}

/// Writes values of indefinite length around content whose length is not known.
pub(crate) struct BerWriter<W> {
    to: W,
    open: usize,
}

impl<W: Write> BerWriter<W> {
    pub(crate) fn new(to: W) -> Self {
        Self { to, open: 0 }
    }

    /// Begins a value of indefinite length, which consists of others.
    pub(crate) fn begin(&mut self, tag: u8) -> Result<(), EncodingError> {
        self.open += 1;
        self.raw(&[tag | CONSTRUCTED, 0x80])
    }

    /// Ends the value that was begun last.
    pub(crate) fn end(&mut self) -> Result<(), EncodingError> {
        self.open = self.open.saturating_sub(1);
        self.raw(&[0, 0])
    }

    /// Writes a piece of an OCTET STRING that was begun.
    pub(crate) fn piece(&mut self, piece: &[u8]) -> Result<(), EncodingError> {
        let mut header = Vec::with_capacity(10);
        push_header(&mut header, OCTET_STRING, piece.len());
        self.raw(&header)?;
        self.raw(piece)
    }

    /// Writes values that are encoded already.
    pub(crate) fn raw(&mut self, der: &[u8]) -> Result<(), EncodingError> {
        self.to.write_all(der).map_err(EncodingError::Write)
    }

    /// Ends all values, and the message.
    pub(crate) fn finish(mut self) -> Result<(), EncodingError> {
        while self.open > 0 {
            self.end()?;
        }
        self.to.flush().map_err(EncodingError::Write)
    }
}
