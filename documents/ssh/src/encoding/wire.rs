//! SSH's data types (RFC 4251, section 5), read strictly.

/// Why bytes can't be read as SSH's data types.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The bytes end before a value ends, or a length in them is too large.
    #[error("{0} ends too early: the file is damaged or cut off")]
    Truncated(&'static str),
    /// Extra bytes follow the end.
    #[error("there are {count} bytes too many at the end of {what}")]
    TrailingBytes {
        /// What should have ended, such as `the public key`.
        what: &'static str,
        /// How many extra bytes follow.
        count: usize,
    },
}

/// Reads one value after another. It copies nothing, so even a huge length costs nothing.
pub(crate) struct Reader<'b> {
    what: &'static str,
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    /// `what` names the bytes in errors, such as `the public key`.
    pub(crate) fn new(what: &'static str, bytes: &'b [u8]) -> Self {
        Self { what, rest: bytes }
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Result<&'b [u8], WireError> {
        let (taken, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or(WireError::Truncated(self.what))?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn uint32(&mut self) -> Result<u32, WireError> {
        let (taken, rest) = self
            .rest
            .split_first_chunk()
            .ok_or(WireError::Truncated(self.what))?;
        self.rest = rest;
        Ok(u32::from_be_bytes(*taken))
    }

    pub(crate) fn string(&mut self) -> Result<&'b [u8], WireError> {
        // A length that does not fit in a usize exceeds any input.
        let len = usize::try_from(self.uint32()?).unwrap_or(usize::MAX);
        self.bytes(len)
    }

    /// The bytes that were not read yet.
    pub(crate) fn rest(self) -> &'b [u8] {
        self.rest
    }

    pub(crate) fn finish(self) -> Result<(), WireError> {
        match self.rest.len() {
            0 => Ok(()),
            count => Err(WireError::TrailingBytes {
                what: self.what,
                count,
            }),
        }
    }
}

/// Appends a `string`.
pub(crate) fn put_string(to: &mut Vec<u8>, bytes: &[u8]) {
    let len = u32::try_from(bytes.len()).expect("texts and keys are far shorter than 4 GiB");
    to.extend_from_slice(&len.to_be_bytes());
    to.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_was_written() {
        let mut bytes = 7_u32.to_be_bytes().to_vec();
        put_string(&mut bytes, b"");
        put_string(&mut bytes, b"text");
        let mut reader = Reader::new("it", &bytes);
        assert_eq!(reader.uint32(), Ok(7));
        assert_eq!(reader.string(), Ok(&b""[..]));
        assert_eq!(reader.string(), Ok(&b"text"[..]));
        assert_eq!(reader.finish(), Ok(()));
    }

    #[test]
    fn lengths_beyond_the_end_are_refused() {
        for bytes in [&b"\0\0\0"[..], b"\0\0\0\x02a", b"\xff\xff\xff\xffa"] {
            let read = Reader::new("it", bytes).string();
            assert_eq!(read, Err(WireError::Truncated("it")), "{bytes:?}");
        }
        let trailing = Reader::new("it", b"abc").finish();
        assert_eq!(
            trailing,
            Err(WireError::TrailingBytes {
                what: "it",
                count: 3
            })
        );
    }
}
