//! PEM (RFC 7468) for messages that are larger than memory.
//!
//! pq-keys has the reader of all PEM that fits in memory. The one here finds and judges blocks by the same marks, and
//! differs only in that it decodes a block before it has seen its end.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use std::io::{self, BufRead, Cursor, ErrorKind, Read, Write};

use base64_simd::STANDARD;
use pq_keys::encoding::pem::{Damage, Mark, PemError, is_after_text};

use super::error::EncodingError;
use super::pieces::fill;
use super::tag;

/// The label of RFC 7468, section 9. Older ones that mean the same are read, too.
const LABEL: &str = "CMS";

/// Characters in a line; the last line may have fewer.
const LINE: usize = 64;

/// Returns the DER or BER of a message that may be in PEM.
///
/// Text and other blocks before the first block with the label `CMS`, or an older one such as `PKCS7`, are skipped, and so
/// is everything after it.
///
/// # Errors
///
/// [`EncodingError::NoPem`] if it is neither DER nor such a text; [`EncodingError::Pem`] if such a block can't be read;
/// [`EncodingError::Read`] if reading fails. If the block turns out to be damaged later, reading from the returned reader
/// fails.
pub fn decode_if_pem<'r>(from: impl BufRead + 'r) -> Result<Box<dyn BufRead + 'r>, EncodingError> {
    let mut from = from;
    let mut start = vec![0; 3];
    let len = fill(&mut from, &mut start)?;
    start.truncate(len);
    // A SEQUENCE. No text begins so: its length or the byte after it is no printable character.
    let is_der = matches!(
        &*start,
        [0x30, 0x80..=0x88, ..] | [0x30, _, tag::OBJECT_IDENTIFIER]
    );
    if is_der {
        return Ok(Box::new(Cursor::new(start).chain(from)));
    }
    start.resize(HEADERS, 0);
    let more = fill(&mut from, &mut start[len..])?;
    start.truncate(len + more);
    let is_mime = is_mime(&start);
    let from = Cursor::new(start).chain(from);
    let mut text = Text {
        from,
        bytes: Vec::new(),
        start: 0,
        is_at_end: false,
        line: 1,
        is_after_text: false,
    };
    let block = text.find().map_err(|error| match error {
        EncodingError::NoPem if is_mime => EncodingError::Mime,
        other => other,
    })?;
    Ok(Box::new(PemReader {
        text,
        block,
        state: State::Lines,
        pending: Vec::new(),
        decoded: Vec::new(),
        start: 0,
    }))
}

/// As many bytes have the headers of a message in MIME.
const HEADERS: usize = 1024;

/// Whether a text begins as an S/MIME message (RFC 8551 section 3): one of its first lines names the type.
fn is_mime(start: &[u8]) -> bool {
    let mut lines = start.split(|byte| *byte == b'\n');
    lines.any(|line| {
        let line = line.to_ascii_lowercase();
        let types = line.strip_prefix(b"content-type:").map(<[u8]>::trim_ascii);
        let all: [&[u8]; 3] = [
            b"multipart/signed",
            b"application/pkcs7-mime",
            b"application/x-pkcs7-mime",
        ];
        types.is_some_and(|types| all.iter().any(|one| types.starts_with(one)))
    })
}

/// A text of which a part is in memory: its window.
struct Text<R> {
    from: R,
    bytes: Vec<u8>,
    /// Where in these the window begins.
    start: usize,
    is_at_end: bool,
    /// The line in which the window begins, from 1 on.
    line: usize,
    /// Whether other text stands in front of the window in this line, behind the last mark.
    is_after_text: bool,
}

/// The most bytes that are read at once.
const AT_ONCE: usize = 8 * 1024;

/// Where a block begins.
struct Begin {
    label: Vec<u8>,
    line: usize,
}

impl Begin {
    fn unreadable(&self, damage: Damage) -> PemError {
        PemError::Unreadable {
            label: String::from_utf8_lossy(&self.label).into_owned(),
            line: self.line,
            damage,
        }
    }
}

impl<R: BufRead> Text<R> {
    fn read_more(&mut self) -> io::Result<()> {
        let read = loop {
            match self.from.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        let len = read.len().min(AT_ONCE);
        self.bytes.drain(..self.start);
        self.start = 0;
        self.bytes.extend_from_slice(&read[..len]);
        self.from.consume(len);
        self.is_at_end = len == 0;
        Ok(())
    }

    fn window(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Goes on in the text, beyond the beginning of the window.
    fn pass(&mut self, len: usize) {
        let passed = &self.bytes[self.start..][..len];
        self.is_after_text = is_after_text(self.is_after_text, passed);
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.start += len;
    }

    /// Whether a mark that begins at this place of the window is in it to its end.
    fn has_mark(&self, at: usize) -> bool {
        self.is_at_end || at + Mark::MAX_LEN <= self.window().len()
    }

    /// Whether something else than blanks stands in the line in which the window begins. Passes the blanks.
    fn is_before_text(&mut self) -> Result<bool, EncodingError> {
        loop {
            let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\x0b' | b'\x0c');
            let text = self.window().iter().position(|byte| !is_blank(byte));
            match text {
                Some(at) => return Ok(!matches!(self.window()[at], b'\n' | b'\r')),
                None if self.is_at_end => return Ok(false),
                None => self.pass(self.window().len()),
            }
            self.read_more().map_err(EncodingError::Read)?;
        }
    }

    /// Goes behind the BEGIN line of the message.
    fn find(&mut self) -> Result<Begin, EncodingError> {
        // Another block that has not ended.
        let mut open: Option<Begin> = None;
        loop {
            match Mark::first_in(self.window()) {
                Some(Mark { start, .. }) if !self.has_mark(start) => self.pass(start),
                Some(mark) => {
                    let is_message = mark.is_of(LABEL);
                    let (is_begin, is_whole) = (mark.is_begin, mark.is_whole);
                    let (label, start, end) = (mark.label.to_vec(), mark.start, mark.end);
                    self.pass(start);
                    let (line, is_after_text) = (self.line, self.is_after_text);
                    self.pass(end - start);
                    self.is_after_text = false;
                    let before = open.take();
                    let block = Begin { label, line };
                    match (is_begin, before) {
                        (true, _) if !is_message => open = Some(block),
                        (true, _) if is_whole => {
                            return match is_after_text && self.is_before_text()? {
                                true => Err(block.unreadable(Damage::WithinLine).into()),
                                false => Ok(block),
                            };
                        }
                        (true, _) => return Err(block.unreadable(Damage::Dashes).into()),
                        (false, _) if !is_message => {}
                        (false, None) => return Err(block.unreadable(Damage::NoBegin).into()),
                        (false, Some(before)) => {
                            let label = String::from_utf8_lossy(&block.label).into_owned();
                            return Err(before.unreadable(Damage::OtherEnd(label)).into());
                        }
                    }
                    continue;
                }
                None if self.is_at_end => return Err(EncodingError::NoPem),
                // A mark may begin here.
                None => self.pass(self.window().len().saturating_sub(Mark::MAX_LEN)),
            }
            self.read_more().map_err(EncodingError::Read)?;
        }
    }
}

struct PemReader<R> {
    text: Text<R>,
    block: Begin,
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
    /// There was something.
    Filled,
    /// There was padding: only the end may follow.
    Padded,
    Ended,
}

impl<R: BufRead> PemReader<R> {
    /// Decodes some more.
    fn fill(&mut self) -> io::Result<()> {
        self.decoded.clear();
        self.start = 0;
        while self.decoded.is_empty() && self.state != State::Ended {
            let window = self.text.window();
            let dash = window.iter().position(|byte| *byte == b'-');
            match dash {
                Some(at) if !self.text.has_mark(at) => self.text.read_more()?,
                Some(at) => {
                    let mark = Mark::first_in(window).filter(|mark| mark.start == at);
                    let ended = match mark {
                        Some(mark) => mark.check_as_end_of(&self.block.label),
                        None => Err(Damage::in_text(window)),
                    };
                    self.decode(at)?;
                    ended
                        .and_then(|()| self.check_contents())
                        .map_err(|damage| self.damaged(damage))?;
                    self.state = State::Ended;
                }
                None if window.is_empty() && self.text.is_at_end => {
                    return Err(self.damaged(Damage::NoEnd));
                }
                None => {
                    self.decode(window.len())?;
                    self.text.read_more()?;
                }
            }
        }
        Ok(())
    }

    /// Whether what was decoded is complete.
    fn check_contents(&self) -> Result<(), Damage> {
        match self.state {
            _ if !self.pending.is_empty() => Err(Damage::Base64),
            State::Lines => Err(Damage::Empty),
            _ => Ok(()),
        }
    }

    /// Decodes the beginning of the window, and forgets it.
    fn decode(&mut self, len: usize) -> io::Result<()> {
        let text = &self.text.window()[..len];
        let before = self.pending.len();
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
        self.pending
            .extend(text.iter().filter(|byte| !is_blank(byte)));
        let is_more = self.pending.len() > before;
        if self.state == State::Padded && is_more {
            return Err(self.damaged(Damage::Base64));
        }
        let whole = self.pending.len() / 4 * 4;
        let decoded = STANDARD.decode_append(&self.pending[..whole], &mut self.decoded);
        if decoded.is_err() {
            return Err(self.damaged(Damage::in_text(text)));
        }
        if self.pending[..whole].ends_with(b"=") {
            self.state = State::Padded;
        } else if is_more {
            self.state = State::Filled;
        }
        self.pending.drain(..whole);
        self.text.pass(len);
        Ok(())
    }

    fn damaged(&self, damage: Damage) -> io::Error {
        io::Error::new(ErrorKind::InvalidData, self.block.unreadable(damage))
    }
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
        writeln!(to, "-----BEGIN {}-----", LABEL)?;
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
        writeln!(self.to, "-----END {}-----", LABEL)?;
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
