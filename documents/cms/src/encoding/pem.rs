//! PEM (RFC 7468) for messages that are larger than memory.

use alloc::boxed::Box;
use std::io::{self, BufRead, Cursor, Read, Write};

use base64_simd::STANDARD;

use super::error::EncodingError;
use super::pieces::fill;
use super::tag;

/// The label of RFC 7468, section 9, and the older one of section 8, which is read too.
const LABELS: [&str; 2] = ["CMS", "PKCS7"];

/// Characters in a line; the last line may have fewer.
const LINE: usize = 64;

/// More characters than a line of PEM, or of the text before it, has.
const MAX_LINE: u64 = 64 * 1024;

/// Returns the DER or BER of a message that may be in PEM.
///
/// Text before the first block with the label `CMS` or `PKCS7` is skipped, and so is everything after it.
///
/// # Errors
///
/// [`EncodingError::NoPem`] if it is neither DER nor such a text; [`EncodingError::Read`] if reading
/// fails. If the block is damaged, reading from the returned reader fails.
pub fn decode_if_pem<'r>(from: impl BufRead + 'r) -> Result<Box<dyn BufRead + 'r>, EncodingError> {
    let mut from = from;
    let mut start = vec![0; 3];
    let len = fill(&mut from, &mut start)?;
    start.truncate(len);
    // A SEQUENCE. No text begins so: its length or the byte after it is no printable character.
    let is_der = matches!(
        &*start,
        [0x30, 0x80..=0xff, ..] | [0x30, _, tag::OBJECT_IDENTIFIER]
    );
    let mut from = Cursor::new(start).chain(from);
    if is_der {
        return Ok(Box::new(from));
    }
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut from).take(MAX_LINE).read_until(b'\n', &mut line);
        if read.map_err(EncodingError::Read)? == 0 {
            return Err(EncodingError::NoPem);
        }
        let text = line.trim_ascii_end();
        let label = LABELS
            .iter()
            .find(|label| text == format!("-----BEGIN {label}-----").as_bytes());
        if let Some(label) = label {
            return Ok(Box::new(PemReader {
                from,
                end: format!("-----END {label}-----"),
                state: State::Lines,
                pending: Vec::new(),
                decoded: Vec::new(),
                start: 0,
            }));
        }
    }
}

struct PemReader<R> {
    from: R,
    /// The line that ends the block.
    end: String,
    state: State,
    /// Characters that don't make up four yet.
    pending: Vec<u8>,
    decoded: Vec<u8>,
    /// How much of `decoded` was taken.
    start: usize,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum State {
    Lines,
    /// There was padding: only the end may follow.
    Padded,
    Ended,
}

impl<R: BufRead> PemReader<R> {
    /// Decodes some more lines.
    fn fill(&mut self) -> io::Result<()> {
        self.decoded.clear();
        self.start = 0;
        let mut line = Vec::new();
        while self.decoded.len() < 32 * 1024 && self.state != State::Ended {
            line.clear();
            if (&mut self.from)
                .take(MAX_LINE)
                .read_until(b'\n', &mut line)?
                == 0
            {
                return Err(damaged("it does not end"));
            }
            let text = line.trim_ascii();
            if text == self.end.as_bytes() {
                if !self.pending.is_empty() {
                    return Err(damaged("characters are missing"));
                }
                self.state = State::Ended;
            } else if !text.is_empty() {
                self.decode(text)?;
            }
        }
        Ok(())
    }

    fn decode(&mut self, text: &[u8]) -> io::Result<()> {
        if self.state == State::Padded {
            return Err(damaged("something follows its last characters"));
        }
        self.pending.extend_from_slice(text);
        let whole = self.pending.len() / 4 * 4;
        STANDARD
            .decode_append(&self.pending[..whole], &mut self.decoded)
            .map_err(|error| damaged(&error.to_string()))?;
        if self.pending[..whole].ends_with(b"=") {
            self.state = State::Padded;
        }
        self.pending.drain(..whole);
        Ok(())
    }
}

fn damaged(why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the PEM block is damaged: {why}; get it again"),
    )
}

impl<R: BufRead> Read for PemReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.fill_buf()?.read(buffer)?;
        self.consume(len);
        Ok(len)
    }
}

impl<R: BufRead> BufRead for PemReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.start == self.decoded.len() && self.state != State::Ended {
            self.fill()?;
        }
        Ok(&self.decoded[self.start..])
    }

    fn consume(&mut self, len: usize) {
        self.start += len;
    }
}

/// Writes what it is given as a PEM block with the label `CMS` (RFC 7468, section 9).
///
/// ```
/// use std::io::Write;
///
/// let mut text = Vec::new();
/// let mut pem = pq_cms::PemWriter::new(&mut text)?;
/// pem.write_all(b"a message in DER")?;
/// pem.finish()?;
/// assert!(text.starts_with(b"-----BEGIN CMS-----\n"));
/// assert!(text.ends_with(b"-----END CMS-----\n"));
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct PemWriter<W> {
    to: W,
    pending: Vec<u8>,
}

/// Bytes that make up whole lines.
const BLOCK: usize = LINE / 4 * 3 * 256;

impl<W: Write> PemWriter<W> {
    /// Writes the first line.
    ///
    /// # Errors
    ///
    /// If that can't be written.
    pub fn new(mut to: W) -> io::Result<Self> {
        writeln!(to, "-----BEGIN {}-----", LABELS[0])?;
        Ok(Self {
            to,
            pending: Vec::with_capacity(BLOCK),
        })
    }

    /// Writes the rest and the last line. Without this call the block has no end.
    ///
    /// # Errors
    ///
    /// If that can't be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.lines()?;
        writeln!(self.to, "-----END {}-----", LABELS[0])?;
        self.to.flush()?;
        Ok(self.to)
    }

    fn lines(&mut self) -> io::Result<()> {
        let mut text = String::with_capacity(self.pending.len() * 3 / 2);
        for line in self.pending.chunks(LINE / 4 * 3) {
            STANDARD.encode_append(line, &mut text);
            text.push('\n');
        }
        self.pending.clear();
        self.to.write_all(text.as_bytes())
    }
}

impl<W: Write> Write for PemWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(BLOCK - self.pending.len());
        self.pending.extend_from_slice(&bytes[..len]);
        if self.pending.len() == BLOCK {
            self.lines()?;
        }
        Ok(len)
    }

    /// What doesn't fill a block of 256 lines yet is not written.
    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
