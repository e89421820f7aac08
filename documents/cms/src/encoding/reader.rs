//! The parser of messages: it enters and leaves nested values of a BER stream, and hands out content piece by piece. It
//! limits how deeply values are nested and how much is read into memory.

use std::io::BufRead;

use const_oid::ObjectIdentifier;

use super::error::EncodingError;
use super::fields::object_identifier;
use super::pieces::{PIECE, buffered, fill_buffer};
use super::tag::{CONSTRUCTED, OBJECT_IDENTIFIER, OCTET_STRING};
use super::writer::push_header;

/// How deeply values may be nested. A message has some ten levels.
const MAX_DEPTH: usize = 32;

/// Reads BER (X.690) from a stream: definite and indefinite lengths, strings in one piece or in many.
///
/// Tag numbers above 30, which CMS never uses, are refused.
pub(crate) struct BerReader<R> {
    from: R,
    /// What was taken out of `from` to look further ahead than its buffer reaches.
    ahead: Vec<u8>,
    /// How many bytes were taken.
    at: u64,
    /// The values around the next one.
    open: Vec<Open>,
}

/// A value that consists of others.
#[derive(Clone, Copy)]
struct Open {
    /// Where it ends at the latest; if its length is indefinite, the limit of the value around it.
    limit: u64,
    /// Ends with an end-of-contents, and not at `limit`.
    is_indefinite: bool,
}

#[derive(Clone, Copy)]
struct Header {
    tag: u8,
    /// `None` if it is indefinite.
    len: Option<u64>,
}

/// A value that is larger than allowed; its contents come next.
struct TooLarge(Header);

/// The most bytes that an AlgorithmIdentifier, an object identifier or a version may have.
pub(crate) const MAX_IDENTIFIER: usize = 256;

impl<R: BufRead> BerReader<R> {
    pub(crate) fn new(from: R) -> Self {
        Self {
            from,
            ahead: Vec::new(),
            at: 0,
            open: Vec::new(),
        }
    }

    /// The tag of the next value; `None` if there is no further one in the value that the reader is in.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, EncodingError> {
        if self.at_end()? {
            return Ok(None);
        }
        match self.available(1)? {
            [tag, ..] => Ok(Some(*tag)),
            [] => Err(EncodingError::Truncated(self.at)),
        }
    }

    /// Goes into the next value, which consists of others and must have this tag.
    pub(crate) fn enter(&mut self, tag: u8, wanted: &'static str) -> Result<(), EncodingError> {
        let header = self.header_of(wanted, |found| found == tag)?;
        self.push(header)
    }

    /// Goes out of the value that was entered last, in which nothing may be left.
    pub(crate) fn leave(&mut self) -> Result<(), EncodingError> {
        if let Some(found) = self.peek()? {
            return Err(EncodingError::Unexpected {
                at: self.at,
                found,
                wanted: "the end of a value",
            });
        }
        if self.open.pop().is_some_and(|open| open.is_indefinite) {
            self.take(2);
        }
        Ok(())
    }

    /// Makes sure that nothing follows the message.
    pub(crate) fn finish(mut self) -> Result<(), EncodingError> {
        match self.available(1)? {
            [] => Ok(()),
            [..] => Err(EncodingError::TrailingData(self.at)),
        }
    }

    /// The whole next value, header and contents, which must have this tag. A value of indefinite length is
    /// encoded again with a definite one. The contents of a value of definite length stay as they are.
    pub(crate) fn element(
        &mut self,
        tag: u8,
        limit: usize,
        wanted: &'static str,
    ) -> Result<Vec<u8>, EncodingError> {
        let at = self.at;
        let header = self.header_of(wanted, |found| found == tag)?;
        let element = self.rest_of_element(header, limit)?;
        element.map_err(|_| EncodingError::TooLarge { at, limit })
    }

    /// The same for a value with any tag. If it is too large, it is skipped and the result is `None`.
    pub(crate) fn element_within(
        &mut self,
        limit: usize,
    ) -> Result<Option<Vec<u8>>, EncodingError> {
        let depth = self.open.len();
        let header = self.header()?;
        match self.rest_of_element(header, limit)? {
            Ok(element) => Ok(Some(element)),
            Err(TooLarge(next)) => {
                self.skip_from(depth, next)?;
                Ok(None)
            }
        }
    }

    /// The next value, an object identifier.
    pub(crate) fn object_identifier(
        &mut self,
        wanted: &'static str,
    ) -> Result<ObjectIdentifier, EncodingError> {
        let der = self.element(OBJECT_IDENTIFIER, MAX_IDENTIFIER, wanted)?;
        Ok(object_identifier(&der)?)
    }

    fn rest_of_element(
        &mut self,
        header: Header,
        limit: usize,
    ) -> Result<Result<Vec<u8>, TooLarge>, EncodingError> {
        let mut taken = 0;
        let mut count = |len: u64| {
            taken = len.saturating_add(taken);
            taken <= limit as u64
        };
        let depth = self.open.len();
        // Values of indefinite length, which are encoded again: their contents so far, and their tags.
        let mut values = vec![Vec::new()];
        let mut tags = Vec::new();
        let mut next = Some(header);
        loop {
            match next.take() {
                Some(header) if !count(header.len.unwrap_or(0).saturating_add(2)) => {
                    return Ok(Err(TooLarge(header)));
                }
                Some(Header {
                    tag,
                    len: Some(len),
                }) => {
                    if let Some(value) = values.last_mut() {
                        push_header(value, tag, len as usize);
                        self.contents(len, |piece| {
                            value.extend_from_slice(piece);
                            Ok::<_, EncodingError>(())
                        })?;
                    }
                }
                Some(header) => {
                    self.push(header)?;
                    tags.push(header.tag);
                    values.push(Vec::new());
                }
                None if self.open.len() == depth => break,
                None if self.at_end()? => {
                    self.leave()?;
                    if let (Some(tag), Some(value)) = (tags.pop(), values.pop())
                        && let Some(outer) = values.last_mut()
                    {
                        push_header(outer, tag, value.len());
                        outer.extend_from_slice(&value);
                    }
                }
                None => next = Some(self.header()?),
            }
        }
        Ok(Ok(values.swap_remove(0)))
    }

    /// Skips the next value, however long it is.
    pub(crate) fn skip(&mut self) -> Result<(), EncodingError> {
        let depth = self.open.len();
        let header = self.header()?;
        self.skip_from(depth, header)
    }

    /// Skips the value with this header, and the rest of the values around it down to this depth.
    fn skip_from(&mut self, depth: usize, header: Header) -> Result<(), EncodingError> {
        let mut next = Some(header);
        loop {
            match next.take() {
                Some(Header { len: Some(len), .. }) => {
                    self.contents(len, |_| Ok::<_, EncodingError>(()))?;
                }
                Some(header) => self.push(header)?,
                None if self.open.len() == depth => return Ok(()),
                None if self.at_end()? => self.leave()?,
                None => next = Some(self.header()?),
            }
        }
    }

    /// Hands out the next value, an OCTET STRING with this tag, in pieces, and returns its length. The value
    /// may be primitive or constructed.
    pub(crate) fn octets<E: From<EncodingError>>(
        &mut self,
        tag: u8,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let depth = self.open.len();
        let header = self.header_of("an OCTET STRING", |found| found & !CONSTRUCTED == tag)?;
        let mut total = 0;
        let mut next = Header {
            tag: OCTET_STRING | header.tag & CONSTRUCTED,
            ..header
        };
        loop {
            match next {
                Header {
                    tag: OCTET_STRING,
                    len: Some(len),
                } => {
                    self.contents(len, &mut take)?;
                    total += len;
                }
                header => self.push(header)?,
            }
            while self.open.len() > depth && self.at_end()? {
                self.leave()?;
            }
            if self.open.len() == depth {
                return Ok(total);
            }
            next = self.header_of("a piece of an OCTET STRING", |found| {
                found & !CONSTRUCTED == OCTET_STRING
            })?;
        }
    }

    fn contents<E: From<EncodingError>>(
        &mut self,
        len: u64,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut left = len;
        while left > 0 {
            let at = self.at;
            let piece = self.available(1)?;
            if piece.is_empty() {
                return Err(EncodingError::Truncated(at).into());
            }
            let most = piece.len().min(PIECE);
            let len = usize::try_from(left).map_or(most, |left| left.min(most));
            take(&piece[..len])?;
            self.take(len);
            left -= len as u64;
        }
        Ok(())
    }

    fn push(&mut self, header: Header) -> Result<(), EncodingError> {
        if self.open.len() == MAX_DEPTH {
            return Err(EncodingError::TooDeep(self.at));
        }
        let limit = match header.len {
            // `header` has checked that it ends within the value around it
            Some(len) => self.at.saturating_add(len),
            None => self.limit(),
        };
        self.open.push(Open {
            limit,
            is_indefinite: header.len.is_none(),
        });
        Ok(())
    }

    /// Where the current value ends at the latest.
    fn limit(&self) -> u64 {
        self.open.last().map_or(u64::MAX, |open| open.limit)
    }

    /// Whether nothing is left of the current value.
    fn at_end(&mut self) -> Result<bool, EncodingError> {
        match self.open.last() {
            None => Ok(false),
            Some(open) if !open.is_indefinite => Ok(self.at >= open.limit),
            Some(_) => {
                let is_end = self.available(2)?.starts_with(&[0, 0]);
                match is_end && self.at.saturating_add(2) > self.limit() {
                    true => Err(EncodingError::Length(self.at)),
                    false => Ok(is_end),
                }
            }
        }
    }

    fn header_of(
        &mut self,
        wanted: &'static str,
        is_wanted: impl Fn(u8) -> bool,
    ) -> Result<Header, EncodingError> {
        let at = self.at;
        match self.peek()? {
            None => Err(EncodingError::Missing { at, wanted }),
            Some(found) if !is_wanted(found) => {
                Err(EncodingError::Unexpected { at, found, wanted })
            }
            Some(_) => self.header(),
        }
    }

    fn header(&mut self) -> Result<Header, EncodingError> {
        let at = self.at;
        let tag = self.byte()?;
        // An end-of-contents in the wrong place, or a tag of several bytes.
        if tag == 0 || tag & 0x1f == 0x1f {
            return Err(EncodingError::Unexpected {
                at,
                found: tag,
                wanted: "a value",
            });
        }
        let is_constructed = tag & CONSTRUCTED != 0;
        let len = match self.byte()? {
            0x80 if is_constructed => None,
            len @ ..0x80 => Some(len.into()),
            bytes @ 0x81..=0x88 => {
                let mut len = 0;
                for _ in 0x80..bytes {
                    len = len << 8 | u64::from(self.byte()?);
                }
                Some(len)
            }
            _ => return Err(EncodingError::Length(at)),
        };
        let end = self.at.checked_add(len.unwrap_or(0));
        match end.is_some_and(|end| end <= self.limit()) {
            true => Ok(Header { tag, len }),
            false => Err(EncodingError::Length(at)),
        }
    }

    fn byte(&mut self) -> Result<u8, EncodingError> {
        match self.available(1)? {
            [byte, ..] => {
                let byte = *byte;
                self.take(1);
                Ok(byte)
            }
            [] => Err(EncodingError::Truncated(self.at)),
        }
    }

    /// The next bytes, at least this many unless the input ends.
    fn available(&mut self, least: usize) -> Result<&[u8], EncodingError> {
        if self.ahead.is_empty() {
            match fill_buffer(&mut self.from)? {
                0 => return Ok(&[]),
                len if len >= least => return self.from.fill_buf().map_err(EncodingError::Read),
                _ => {}
            }
        }
        while self.ahead.len() < least {
            let [byte, ..] = *buffered(&mut self.from)? else {
                break;
            };
            self.ahead.push(byte);
            self.from.consume(1);
        }
        Ok(&self.ahead)
    }

    /// Passes over bytes that are available.
    fn take(&mut self, len: usize) {
        match self.ahead.is_empty() {
            true => self.from.consume(len),
            false => drop(self.ahead.drain(..len)),
        }
        self.at += len as u64;
    }
}
