//! CBOR (RFC 8949) with one encoding for each value: lengths and numbers are as short as possible (section 4.2.1),
//! nothing has an indefinite length, and no key of a map occurs twice.
//!
//! This module uses no CBOR crate: they accept other encodings, too, and only the five lines that read a head would
//! remain useful. Values are borrowed from the document, so a secret in it is not copied.
//!
//! One rule of section 4.2.1 applies only to writing: the keys of a map are sorted. Examples in RFC 9964 have
//! unsorted keys.

use alloc::collections::BTreeSet;

use thiserror::Error;

/// Why bytes can't be read as CBOR.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum CborError {
    /// The CBOR ends before it is complete.
    #[error("the CBOR is cut short; copy it again")]
    CutShort,
    /// There are bytes after the end of the CBOR.
    #[error(
        "there are {0} bytes after the end of the CBOR; cut them off, if they are not part of it"
    )]
    TrailingBytes(usize),
    /// A number or a length is longer than it has to be.
    #[error(
        "the CBOR has a number or a length that is longer than it has to be, so it is not deterministic \
         (RFC 8949 section 4.2.1); have it encoded deterministically"
    )]
    NotShortest,
    /// A string, an array or a map has no length.
    #[error(
        "the CBOR has something of indefinite length, so it is not deterministic (RFC 8949 section 4.2.1); \
         have it encoded deterministically"
    )]
    Indefinite,
    /// A key is twice in one map. Readers differ about which of the two counts.
    #[error("the CBOR has a key twice in one map; don't trust it, and ask its sender for another")]
    Duplicate,
    /// Arrays, maps and tags are nested too deeply.
    #[error(
        "the CBOR has arrays, maps and tags nested deeper than {MAX_DEPTH} levels; make it flatter"
    )]
    TooDeep,
    /// There are too many values: each takes many times more memory than its bytes.
    #[error("the CBOR has more than {MAX_VALUES} values; make it shorter")]
    TooManyValues,
    /// A text is not UTF-8.
    #[error("the CBOR has a text that is not UTF-8; have it encoded again by a conforming tool")]
    NotUtf8,
    /// A value of a kind that keys and signatures don't use.
    #[error(
        "the CBOR has an unsupported simple value, such as a floating-point number; only false, true and null \
         are supported"
    )]
    Simple,
    /// Another value was expected.
    #[error("the CBOR has something else where {0} is expected")]
    Unexpected(&'static str),
}

/// How many levels of arrays, maps and tags may be nested.
pub(crate) const MAX_DEPTH: usize = 16;

/// How many values there may be: more than any key or signed message has.
pub(crate) const MAX_VALUES: usize = 64 * 1024;

/// A value, or the beginning of a value that contains others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Item<'a> {
    Unsigned(u64),
    /// −1 − n
    Negative(u64),
    Bytes(&'a [u8]),
    Text(&'a str),
    /// This many values follow.
    Array(u64),
    /// This many pairs follow.
    Map(u64),
    /// One value follows.
    Tag(u64),
    Simple,
    Null,
}

/// A key of a map, of a kind that COSE uses.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Label<'a> {
    Number(i64),
    Text(&'a str),
}

/// Reads one value after another.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    /// How many more values are read.
    left: usize,
}

/// Reads all bytes with `by`.
pub(crate) fn read<'a, T, E: From<CborError>>(
    bytes: &'a [u8],
    by: impl FnOnce(&mut Reader<'a>) -> Result<T, E>,
) -> Result<T, E> {
    let mut reader = Reader {
        rest: bytes,
        left: MAX_VALUES,
    };
    let value = by(&mut reader)?;
    match reader.rest.len() {
        0 => Ok(value),
        more => Err(CborError::TrailingBytes(more).into()),
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn bytes(&mut self, what: &'static str) -> Result<&'a [u8], CborError> {
        match self.item()? {
            Item::Bytes(bytes) => Ok(bytes),
            _ => Err(CborError::Unexpected(what)),
        }
    }

    /// A byte string, or `None` for null.
    pub(crate) fn bytes_or_null(
        &mut self,
        what: &'static str,
    ) -> Result<Option<&'a [u8]>, CborError> {
        match self.item()? {
            Item::Bytes(bytes) => Ok(Some(bytes)),
            Item::Null => Ok(None),
            _ => Err(CborError::Unexpected(what)),
        }
    }

    pub(crate) fn label(&mut self, what: &'static str) -> Result<Label<'a>, CborError> {
        let item = self.item()?;
        label(item).ok_or(CborError::Unexpected(what))
    }

    /// The beginning of an array of `len` values.
    pub(crate) fn array(&mut self, len: u64, what: &'static str) -> Result<(), CborError> {
        match self.item()? {
            Item::Array(found) if found == len => Ok(()),
            _ => Err(CborError::Unexpected(what)),
        }
    }

    /// The beginning of an array of any length.
    pub(crate) fn any_array(&mut self, what: &'static str) -> Result<u64, CborError> {
        match self.item()? {
            Item::Array(len) => Ok(len),
            _ => Err(CborError::Unexpected(what)),
        }
    }

    /// The tag, if a tag comes next.
    pub(crate) fn tag(&mut self) -> Result<Option<u64>, CborError> {
        let rest = self.rest;
        match self.item()? {
            Item::Tag(tag) => Ok(Some(tag)),
            _ => {
                self.rest = rest;
                Ok(None)
            }
        }
    }

    /// Reads a map whose keys are labels. For each label, `by` reads the value and returns `true`, or returns
    /// `false` to have the value skipped.
    pub(crate) fn map<E: From<CborError>>(
        &mut self,
        what: &'static str,
        mut by: impl FnMut(Label<'a>, &mut Self) -> Result<bool, E>,
    ) -> Result<(), E> {
        let Item::Map(len) = self.item()? else {
            return Err(CborError::Unexpected(what).into());
        };
        let mut labels = BTreeSet::new();
        for _ in 0..len {
            let label = self.label("a label, a number or a text,")?;
            if !labels.insert(label) {
                return Err(CborError::Duplicate.into());
            }
            if !by(label, self)? {
                self.skip(MAX_DEPTH)?;
            }
        }
        Ok(())
    }

    /// Skips a value, which may have `depth` nested levels.
    fn skip(&mut self, depth: usize) -> Result<(), CborError> {
        let deeper = || depth.checked_sub(1).ok_or(CborError::TooDeep);
        match self.item()? {
            Item::Array(len) => {
                let depth = deeper()?;
                (0..len).try_for_each(|_| self.skip(depth))
            }
            Item::Map(len) => {
                let depth = deeper()?;
                let mut keys = BTreeSet::new();
                for _ in 0..len {
                    let start = self.rest;
                    self.skip(depth)?;
                    // Each value has one encoding, so its bytes identify the key.
                    if !keys.insert(&start[..start.len() - self.rest.len()]) {
                        return Err(CborError::Duplicate);
                    }
                    self.skip(depth)?;
                }
                Ok(())
            }
            Item::Tag(_) => self.skip(deeper()?),
            _ => Ok(()),
        }
    }

    fn item(&mut self) -> Result<Item<'a>, CborError> {
        let left = self.left.checked_sub(1);
        self.left = left.ok_or(CborError::TooManyValues)?;
        let initial = self.take(1)?[0];
        let (major, information) = (initial >> 5, initial & 0x1f);
        if major == 7 {
            return match information {
                20 | 21 => Ok(Item::Simple),
                22 => Ok(Item::Null),
                31 => Err(CborError::Indefinite),
                _ => Err(CborError::Simple),
            };
        }
        let argument = match information {
            0..24 => u64::from(information),
            24..28 => self.argument(1 << (information - 24))?,
            31 if (2..6).contains(&major) => return Err(CborError::Indefinite),
            _ => return Err(CborError::Unexpected("a value")),
        };
        Ok(match major {
            0 => Item::Unsigned(argument),
            1 => Item::Negative(argument),
            2 => Item::Bytes(self.string(argument)?),
            3 => Item::Text(
                core::str::from_utf8(self.string(argument)?).map_err(|_| CborError::NotUtf8)?,
            ),
            4 => Item::Array(argument),
            5 => Item::Map(argument),
            _ => Item::Tag(argument),
        })
    }

    /// A number of `len` bytes that does not fit in fewer bytes.
    fn argument(&mut self, len: usize) -> Result<u64, CborError> {
        let bytes = self.take(len)?;
        let argument = bytes
            .iter()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let least = if len == 1 { 24 } else { 1 << (4 * len) };
        match argument < least {
            true => Err(CborError::NotShortest),
            false => Ok(argument),
        }
    }

    fn string(&mut self, len: u64) -> Result<&'a [u8], CborError> {
        self.take(usize::try_from(len).map_err(|_| CborError::CutShort)?)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], CborError> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(CborError::CutShort)?;
        self.rest = rest;
        Ok(taken)
    }
}

fn label(item: Item<'_>) -> Option<Label<'_>> {
    match item {
        Item::Unsigned(number) => Some(Label::Number(i64::try_from(number).ok()?)),
        Item::Negative(number) => Some(Label::Number(-1 - i64::try_from(number).ok()?)),
        Item::Text(text) => Some(Label::Text(text)),
        _ => None,
    }
}

/// Writes one value after another. A buffer with enough room is not reallocated, so it leaves no copies behind.
pub(crate) struct Writer<'a>(pub(crate) &'a mut Vec<u8>);

impl Writer<'_> {
    pub(crate) fn number(&mut self, number: i64) {
        match u64::try_from(number) {
            Ok(number) => self.head(0, number),
            Err(_) => self.head(1, number.unsigned_abs() - 1),
        }
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.head(2, bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.head(3, text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn array(&mut self, len: u64) {
        self.head(4, len);
    }

    /// The beginning of a map, whose pairs the caller sorts by the bytes of their keys.
    pub(crate) fn map(&mut self, len: u64) {
        self.head(5, len);
    }

    pub(crate) fn tag(&mut self, tag: u64) {
        self.head(6, tag);
    }

    pub(crate) fn null(&mut self) {
        self.0.push(0xf6);
    }

    fn head(&mut self, major: u8, argument: u64) {
        let major = major << 5;
        let bytes = argument.to_be_bytes();
        let (information, len) = match argument {
            0..24 => return self.0.push(major | bytes[7]),
            24..=0xff => (24, 1),
            0x100..=0xffff => (25, 2),
            0x1_0000..=0xffff_ffff => (26, 4),
            _ => (27, 8),
        };
        self.0.push(major | information);
        self.0.extend_from_slice(&bytes[8 - len..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(bytes: &[u8]) -> Result<(), CborError> {
        read(bytes, |reader| reader.skip(MAX_DEPTH))
    }

    #[test]
    fn values_have_a_limit() {
        // the array is one, too
        let array = |count: usize| {
            let mut bytes = Vec::new();
            Writer(&mut bytes).array(count as u64 - 1);
            [bytes, vec![0x80; count - 1]].concat()
        };
        assert_eq!(skip(&array(MAX_VALUES)), Ok(()));
        assert_eq!(skip(&array(MAX_VALUES + 1)), Err(CborError::TooManyValues));
    }

    fn of_hex(hex: &str) -> Result<(), CborError> {
        skip(&hex::decode(hex).unwrap())
    }

    #[test]
    fn numbers_are_written_as_they_are_read() {
        for number in [
            0,
            1,
            23,
            24,
            255,
            256,
            65_535,
            65_536,
            u32::MAX.into(),
            i64::from(u32::MAX) + 1,
            i64::MAX,
        ] {
            for number in [number, -1 - number] {
                let mut bytes = Vec::new();
                Writer(&mut bytes).number(number);
                let label = read(&bytes, |reader| reader.label(""));
                assert_eq!(label, Ok(Label::Number(number)));
            }
        }
    }

    /// Examples of RFC 8949, appendix A.
    #[test]
    fn what_the_rfc_has_is_read() {
        for good in [
            "00",
            "1bffffffffffffffff",
            "3bffffffffffffffff",
            "f4",
            "f5",
            "f6",
            "c11a514b67b0",
            "d74401020304",
            "d818456449455446",
            "40",
            "60",
            "62c3bc",
            "80",
            "8301820203820405",
            "a26161016162820203",
            "826161a161626163",
        ] {
            assert_eq!(of_hex(good), Ok(()), "{good}");
        }
    }

    #[test]
    fn other_spellings_are_refused() {
        for longer in [
            "1817",
            "1900ff",
            "1a0000ffff",
            "1b00000000ffffffff",
            "3817",
            "5817",
            "7800",
            "980000",
            "b800",
            "d81700",
        ] {
            assert_eq!(of_hex(longer), Err(CborError::NotShortest), "{longer}");
        }
        for indefinite in ["5f40ff", "7f60ff", "9fff", "bfff", "ff", "8201ff"] {
            assert_eq!(
                of_hex(indefinite),
                Err(CborError::Indefinite),
                "{indefinite}"
            );
        }
        for simple in [
            "f7",
            "f0",
            "f8ff",
            "f93c00",
            "fa47c35000",
            "fb3ff199999999999a",
        ] {
            assert_eq!(of_hex(simple), Err(CborError::Simple), "{simple}");
        }
        for reserved in ["1c", "1d", "1e", "1f", "3f", "5c", "df"] {
            assert!(of_hex(reserved).is_err(), "{reserved}");
        }
        assert_eq!(of_hex("0000"), Err(CborError::TrailingBytes(1)));
        assert_eq!(of_hex("61ff"), Err(CborError::NotUtf8));
        assert_eq!(of_hex("a201000100"), Err(CborError::Duplicate));
        assert_eq!(of_hex("a1a2616101616102f6"), Err(CborError::Duplicate));
    }

    #[test]
    fn hostile_lengths_and_depths_take_no_time() {
        for short in [
            "",
            "18",
            "5bffffffffffffffff",
            "9bffffffffffffffff",
            "bb7fffffffffffffff",
        ] {
            assert_eq!(of_hex(short), Err(CborError::CutShort), "{short}");
        }
        for nest in [&[0x81][..], &[0xa1, 0], &[0xc1]] {
            let nested = |depth| [nest.repeat(depth), vec![0]].concat();
            assert_eq!(skip(&nested(MAX_DEPTH)), Ok(()));
            assert_eq!(skip(&nested(MAX_DEPTH + 1)), Err(CborError::TooDeep));
            assert_eq!(skip(&nested(10_000)), Err(CborError::TooDeep));
        }
    }
}
