//! The encoding of rows and entries: numbers of fixed length, big-endian, and texts and bytes after their length. Each
//! value has one encoding, and readers take no other.

// This room uses no other.

/// Why bytes are no row, entry or attestation.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRecord {
    /// It is of another format, perhaps a newer one.
    #[error("it has format {0}, which is not known; use a newer program")]
    Format(u8),
    /// It ends too early.
    #[error("it is cut short")]
    CutShort,
    /// Something follows its end.
    #[error("bytes follow its end")]
    Trailing,
    /// A value can't be there.
    #[error("{0}")]
    Value(&'static str),
}

/// Appends values to bytes.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// Begins with the number of a format.
    pub(crate) fn of_format(format: u8) -> Self {
        Self(vec![format])
    }

    pub(crate) fn u8(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.array(&value.to_be_bytes())
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.array(&value.to_be_bytes())
    }

    pub(crate) fn bool(&mut self, value: bool) -> &mut Self {
        self.u8(value.into())
    }

    /// Bytes whose number is fixed.
    pub(crate) fn array(&mut self, value: &[u8]) -> &mut Self {
        self.0.extend_from_slice(value);
        self
    }

    /// Bytes of any number. More than 2³² - 1, which no limit here permits, are not written.
    pub(crate) fn bytes(&mut self, value: &[u8]) -> &mut Self {
        let len = u32::try_from(value.len()).unwrap_or(u32::MAX);
        self.u32(len).array(value)
    }

    pub(crate) fn text(&mut self, value: &str) -> &mut Self {
        self.bytes(value.as_bytes())
    }

    /// A number that is there or not.
    pub(crate) fn optional(&mut self, value: Option<u64>) -> &mut Self {
        match value {
            Some(value) => self.bool(true).u64(value),
            None => self.bool(false),
        }
    }

    pub(crate) fn finish(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.0)
    }
}

/// Takes values from bytes.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads what begins without a format.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Reads what begins with the number of this format.
    pub(crate) fn of_format(format: u8, bytes: &'a [u8]) -> Result<Self, InvalidRecord> {
        let mut reader = Self(bytes);
        match reader.u8()? {
            found if found == format => Ok(reader),
            found => Err(InvalidRecord::Format(found)),
        }
    }

    /// Reads what begins with the number of one of some formats, and says which.
    pub(crate) fn of_formats(formats: &[u8], bytes: &'a [u8]) -> Result<(Self, u8), InvalidRecord> {
        let mut reader = Self(bytes);
        match reader.u8()? {
            found if formats.contains(&found) => Ok((reader, found)),
            found => Err(InvalidRecord::Format(found)),
        }
    }

    /// The next bytes, as many as this.
    fn take(&mut self, len: usize) -> Result<&'a [u8], InvalidRecord> {
        let (taken, rest) = self
            .0
            .split_at_checked(len)
            .ok_or(InvalidRecord::CutShort)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], InvalidRecord> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(InvalidRecord::CutShort)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, InvalidRecord> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, InvalidRecord> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, InvalidRecord> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn bool(&mut self) -> Result<bool, InvalidRecord> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(InvalidRecord::Value("a truth value is neither 0 nor 1")),
        }
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], InvalidRecord> {
        let len = self.u32()?;
        self.take(usize::try_from(len).map_err(|_| InvalidRecord::CutShort)?)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, InvalidRecord> {
        let text = core::str::from_utf8(self.bytes()?);
        text.map_err(|_| InvalidRecord::Value("a text is not UTF-8"))
    }

    pub(crate) fn optional(&mut self) -> Result<Option<u64>, InvalidRecord> {
        Ok(match self.bool()? {
            true => Some(self.u64()?),
            false => None,
        })
    }

    /// That nothing is left.
    pub(crate) fn finish(self) -> Result<(), InvalidRecord> {
        match self.0 {
            [] => Ok(()),
            _ => Err(InvalidRecord::Trailing),
        }
    }
}
