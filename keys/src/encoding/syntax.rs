//! Checks what `der` and crates on top of it leave unchecked if nothing needs the value: contents of strings in
//! names, and of object identifiers. Its functions are for x509, which reads documents by the same rules.

use der::asn1::{AnyRef, BitStringRef};
use der::{Decode, ErrorKind, Header, Length, Reader, SliceReader, Tag, TagNumber};

use crate::errors::from_causes;

/// Why a value in a document is not valid for its type.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SyntaxError {
    /// A part of it is not DER.
    #[error("is not valid DER: {0}; have it encoded again by a conforming tool")]
    Der(der::Error),
    /// It is DER, but a part of it has another form than its standard defines, or a value that is not read here.
    #[error(
        "is DER, but {place} has {found}; have it made again in the form that its standard defines"
    )]
    Form {
        /// The part, such as "its subject".
        place: String,
        /// What is there.
        found: String,
    },
    /// An object identifier has a number with a leading zero (X.690 section 8.19.2): one
    /// identifier would have many encodings, and readers would disagree on which it is.
    #[error(
        "has an object identifier with a leading zero, the byte 0x80, in a number (X.690 section \
         8.19.2): {0}; have it encoded again by a conforming tool"
    )]
    ObjectIdentifier(String),
    /// A string has contents that its type doesn't allow, such as a UTF8String that is not UTF-8.
    #[error(
        "has a {0} with contents that this type does not allow; have it made again by a conforming \
         tool"
    )]
    String(Tag),
    /// It has more values than any useful document, and reading them would take much memory.
    #[error(
        "has more than {0} values in it; have it made again with fewer names, attributes or extensions"
    )]
    TooMany(usize),
    /// A subjectAltName extension names nobody.
    #[error(
        "has an empty subjectAltName (RFC 5280 section 4.2.1.6); have it issued again with a name \
         in that extension, or without the extension"
    )]
    NoAlternativeName,
}

from_causes!(SyntaxError: Der(der::Error));

/// How many values a document may have, and each of its extensions: some take a hundred times as many bytes in memory as
/// in DER. Certificates have some hundreds, and a name more takes one or two.
#[doc(hidden)]
pub const MAX_VALUES: usize = 10_000;

/// Refuses a document with more values than [`MAX_VALUES`], before it is read. What isn't DER is for the reader to
/// refuse.
///
/// # Errors
///
/// [`SyntaxError::TooMany`].
#[doc(hidden)]
pub fn check_number(der: &[u8]) -> Result<(), SyntaxError> {
    check_number_within(der, MAX_VALUES)
}

/// [`check_number`] with another limit.
///
/// # Errors
///
/// [`SyntaxError::TooMany`].
#[doc(hidden)]
pub fn check_number_within(der: &[u8], limit: usize) -> Result<(), SyntaxError> {
    // A value takes two bytes or more: most documents are too short for so many.
    if der.len() / 2 <= limit {
        return Ok(());
    }
    match walk_within(limit, der, |_, _| Ok(())) {
        Err(error @ SyntaxError::TooMany(_)) => Err(error),
        _ => Ok(()),
    }
}

/// The values of which the contents of a constructed value consist, up to where they aren't DER any more.
#[doc(hidden)]
pub fn values(contents: &[u8]) -> impl Iterator<Item = AnyRef<'_>> {
    let mut reader = SliceReader::new(contents).ok();
    core::iter::from_fn(move || {
        let reader = reader.as_mut().filter(|reader| !reader.is_finished())?;
        AnyRef::decode(reader).ok()
    })
}

/// Checks a document, except the contents of octet strings and bit strings.
///
/// # Errors
///
/// A [`SyntaxError`] that names the value.
#[doc(hidden)]
pub fn check(der: &[u8]) -> Result<(), SyntaxError> {
    walk(der, check_primitive)
}

/// The contents of a BIT STRING that has no unused bits.
///
/// # Errors
///
/// If it has unused bits.
#[doc(hidden)]
pub fn whole_octets(bits: BitStringRef<'_>) -> der::Result<&[u8]> {
    if bits.unused_bits() != 0 {
        return Err(Tag::BitString.value_error().into());
    }
    Ok(bits.raw_bytes())
}

/// Calls `check` for each primitive value, however deep it is.
///
/// # Errors
///
/// The first error of `check`, and [`SyntaxError::Der`].
#[doc(hidden)]
pub fn walk(
    der: &[u8],
    check: impl Fn(Tag, &[u8]) -> Result<(), SyntaxError>,
) -> Result<(), SyntaxError> {
    walk_within(usize::MAX, der, check)
}

/// [`walk`] over a limited number of values.
fn walk_within(
    limit: usize,
    der: &[u8],
    check: impl Fn(Tag, &[u8]) -> Result<(), SyntaxError>,
) -> Result<(), SyntaxError> {
    // `der` has no longer documents.
    Length::try_from(der.len())?;
    let (mut number, mut position) = (0, 0);
    // The ends of the values that `position` is in. There is no recursion, because the document's author
    // chooses the depth.
    let mut ends = Vec::with_capacity(16);
    ends.push(der.len());
    while let Some(&end) = ends.last() {
        if position == end {
            ends.pop();
            continue;
        }
        let (tag, start, len) = header(der, position)?;
        number += 1;
        if number > limit {
            return Err(SyntaxError::TooMany(limit));
        }
        let value_end = start.checked_add(len).filter(|value_end| *value_end <= end);
        let Some(value_end) = value_end else {
            let position = Length::try_from(start)?;
            return Err(der::Error::new(ErrorKind::Overlength, position).into());
        };
        position = match tag {
            Kind::Of(tag) if !tag.is_constructed() => {
                check(tag, &der[start..value_end])?;
                value_end
            }
            Kind::Unnamed {
                is_constructed: false,
            } => value_end,
            _ => {
                ends.push(value_end);
                start
            }
        };
    }
    Ok(())
}

/// What a header says about its value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Of(Tag),
    /// It is of a universal type for which `der` has no name, such as UniversalString.
    Unnamed {
        is_constructed: bool,
    },
}

/// The kind of the value at `position`, where its contents start, and how long they are. Headers as nearly all are, are
/// read here; others, right or wrong, by `der`, and those that it doesn't know again here.
fn header(der: &[u8], position: usize) -> der::Result<(Kind, usize, usize)> {
    let usual = match &der[position..] {
        [tag, len @ 0..=0x7f, ..] => Some((*tag, 2, usize::from(*len))),
        [tag, 0x81, len @ 0x80..=0xff, ..] => Some((*tag, 3, usize::from(*len))),
        [tag, 0x82, high @ 1..=0xff, low, ..] => {
            Some((*tag, 4, usize::from(u16::from_be_bytes([*high, *low]))))
        }
        _ => None,
    };
    if let Some((tag, header, len)) = usual
        && let Some(tag) = usual_tag(tag)
        && len <= der.len() - position - header
    {
        return Ok((Kind::Of(tag), position + header, len));
    }
    let mut reader = SliceReader::new(der)?;
    reader.read_slice(Length::try_from(position)?)?;
    match Header::decode(&mut reader) {
        Ok(header) => {
            let start = usize::try_from(reader.position())?;
            Ok((
                Kind::Of(header.tag()),
                start,
                usize::try_from(header.length())?,
            ))
        }
        Err(error) => {
            let element = elements(&der[position..]).next().ok_or(error)?;
            let is_constructed = element.tag & 0x20 != 0;
            let start = position + element.whole.len() - element.value.len();
            match is_unnamed(element.tag) {
                true => Ok((Kind::Unnamed { is_constructed }, start, element.value.len())),
                false => Err(error),
            }
        }
    }
}

/// Whether a value with this first byte is of a universal type that `der` doesn't know: ObjectDescriptor, EXTERNAL,
/// EMBEDDED PDV, TIME, GraphicString, UniversalString, CHARACTER STRING, and those with numbers above 30.
fn is_unnamed(tag: u8) -> bool {
    matches!(tag, 0x07 | 0x28 | 0x2b | 0x0e | 0x19 | 0x1c | 0x3d | 0x1f)
}

/// A value of any type, also of those that `der` doesn't know.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Element<'a> {
    /// The first byte of the tag.
    pub tag: u8,
    /// The contents.
    pub value: &'a [u8],
    /// The tag, the length and the contents.
    pub whole: &'a [u8],
}

/// The values of which the contents of a constructed value consist, up to where their tags and lengths aren't DER any
/// more.
#[doc(hidden)]
pub fn elements(mut contents: &[u8]) -> impl Iterator<Item = Element<'_>> {
    core::iter::from_fn(move || {
        let element = first_element(contents)?;
        contents = &contents[element.whole.len()..];
        Some(element)
    })
}

fn first_element(der: &[u8]) -> Option<Element<'_>> {
    let (&tag, rest) = der.split_first()?;
    let after_tag = match tag & 0x1f {
        0x1f => {
            let last = rest.iter().position(|byte| *byte < 0x80)?;
            // The number takes as few bytes as possible, and is too large for one.
            let is_shortest = rest[0] != 0x80 && (last > 0 || rest[0] > 30);
            is_shortest.then(|| &rest[last + 1..])?
        }
        _ => rest,
    };
    let (&first, rest) = after_tag.split_first()?;
    let (len, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (octets, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            let len = octets.iter().try_fold(0_usize, |len, octet| {
                len.checked_mul(0x100)?.checked_add(usize::from(*octet))
            })?;
            let is_shortest = octets[0] != 0 && len > 0x7f;
            (is_shortest.then_some(len)?, rest)
        }
        _ => return None,
    };
    let value = rest.get(..len)?;
    let whole = &der[..der.len() - rest.len() + len];
    Some(Element { tag, value, whole })
}

/// Whether a document is one value of DER: whether all its tags and lengths are, and its booleans, integers, bit strings, strings
/// and object identifiers. Whatever is in octet strings doesn't count.
#[doc(hidden)]
pub fn is_der(der: &[u8]) -> bool {
    let mut values = elements(der);
    let is_one = values
        .next()
        .is_some_and(|one| one.whole.len() == der.len());
    is_one && walk(der, check_strictly).is_ok()
}

/// What an error is about, for documents that are DER: the texts of `der` blame the encoding.
#[doc(hidden)]
pub fn found(error: der::Error) -> String {
    match error.kind() {
        ErrorKind::TagUnexpected {
            expected: Some(expected),
            actual,
        } => format!("a value of type {actual} in place of {expected}"),
        ErrorKind::TagUnexpected { actual, .. } => format!("a value of the unexpected type {actual}"),
        ErrorKind::TagUnknown { byte } => format!("a value of a type that is not read here (tag 0x{byte:02x})"),
        ErrorKind::TagNumberInvalid => "a value of a type that is not read here".into(),
        ErrorKind::OidMalformed => {
            "an object identifier that is too long, or has a number above 32 bits, and is not read here".into()
        }
        ErrorKind::Value { tag } | ErrorKind::Length { tag } => {
            format!("a value of type {tag} that is not allowed there, or not read here")
        }
        ErrorKind::DateTime => "a time that is not read here".into(),
        ErrorKind::SetOrdering => "a SET whose elements are not in the order of DER".into(),
        ErrorKind::TrailingData { .. } => "more in it than its standard defines".into(),
        ErrorKind::Incomplete { .. } => "less in it than its standard defines".into(),
        ErrorKind::Overlength | ErrorKind::Overflow => "a value that is too long, or not read here".into(),
        _ => "a value that its standard does not define, or that is not read here".into(),
    }
}

/// [`check_primitive`] for the types, too, that readers check where they need a value.
fn check_strictly(tag: Tag, value: &[u8]) -> Result<(), SyntaxError> {
    let is_sound = match tag {
        Tag::Boolean => matches!(value, [0x00 | 0xff]),
        Tag::Integer | Tag::Enumerated => {
            !matches!(value, [] | [0, 0..=0x7f, ..] | [0xff, 0x80..=0xff, ..])
        }
        Tag::BitString => match value {
            [unused, .., last] => *unused < 8 && last & ((1 << *unused) - 1) == 0,
            rest => rest == [0],
        },
        Tag::Null => value.is_empty(),
        Tag::ObjectIdentifier => {
            value.last().is_some_and(|last| *last < 0x80) && check_primitive(tag, value).is_ok()
        }
        _ => check_primitive(tag, value).is_ok(),
    };
    match is_sound {
        true => Ok(()),
        false => Err(SyntaxError::Der(tag.value_error().into())),
    }
}

/// The tag of one byte, if documents have it often.
fn usual_tag(byte: u8) -> Option<Tag> {
    Some(match byte {
        0x01 => Tag::Boolean,
        0x02 => Tag::Integer,
        0x03 => Tag::BitString,
        0x04 => Tag::OctetString,
        0x05 => Tag::Null,
        0x06 => Tag::ObjectIdentifier,
        0x0a => Tag::Enumerated,
        0x0c => Tag::Utf8String,
        0x13 => Tag::PrintableString,
        0x16 => Tag::Ia5String,
        0x17 => Tag::UtcTime,
        0x18 => Tag::GeneralizedTime,
        0x30 => Tag::Sequence,
        0x31 => Tag::Set,
        0x80..=0x9e | 0xa0..=0xbe => Tag::ContextSpecific {
            constructed: byte & 0x20 != 0,
            number: TagNumber((byte & 0x1f).into()),
        },
        _ => return None,
    })
}

/// The rules of X.680 (section 41) and X.690 (section 8) for a value of a universal type, with
/// two exceptions. A PrintableString may have all visible characters of ASCII, because CAs write
/// `@`, `_`, `*` and `&` in it; a TeletexString may have any bytes, which in practice are Latin-1.
///
/// # Errors
///
/// [`SyntaxError::String`] and [`SyntaxError::ObjectIdentifier`].
#[doc(hidden)]
pub fn check_primitive(tag: Tag, value: &[u8]) -> Result<(), SyntaxError> {
    let is_sound = match tag {
        Tag::ObjectIdentifier => return check_object_identifier(value),
        Tag::Utf8String => core::str::from_utf8(value).is_ok(),
        Tag::PrintableString | Tag::VisibleString => {
            value.iter().all(|byte| matches!(byte, b' '..=b'~'))
        }
        Tag::Ia5String => value.is_ascii(),
        Tag::NumericString => value.iter().all(|byte| matches!(byte, b'0'..=b'9' | b' ')),
        Tag::BmpString => is_utf_16(value),
        _ => true,
    };
    match is_sound {
        true => Ok(()),
        false => Err(SyntaxError::String(tag)),
    }
}

/// A BMPString has no characters beyond the basic plane, but some programs write UTF-16 in it.
fn is_utf_16(value: &[u8]) -> bool {
    let (units, rest) = value.as_chunks();
    let units = units.iter().map(|unit| u16::from_be_bytes(*unit));
    rest.is_empty() && char::decode_utf16(units).all(|character| character.is_ok())
}

/// Refuses an object identifier if one of its numbers has a leading zero, the byte 0x80.
fn check_object_identifier(value: &[u8]) -> Result<(), SyntaxError> {
    // A byte below 0x80 is the last of a number. The 0 stands for what is before the first number.
    let before = [0].iter().chain(value);
    match before
        .zip(value)
        .any(|(before, byte)| *before < 0x80 && *byte == 0x80)
    {
        false => Ok(()),
        true => {
            let bytes: Vec<String> = value.iter().map(|byte| format!("{byte:02x}")).collect();
            Err(SyntaxError::ObjectIdentifier(bytes.join(" ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: [Tag; 7] = [
        Tag::Utf8String,
        Tag::PrintableString,
        Tag::VisibleString,
        Tag::Ia5String,
        Tag::NumericString,
        Tag::BmpString,
        Tag::TeletexString,
    ];

    /// Which types of string may have these contents.
    fn allowing(contents: &[u8]) -> Vec<Tag> {
        let is_allowed = |tag: &Tag| {
            let der = [
                &[tag.number().value() as u8, contents.len() as u8],
                contents,
            ]
            .concat();
            // At the depth of a name: RDNSequence, SET, AttributeTypeAndValue.
            let name = [0x30, 0x31, 0x30].iter().fold(der, |inner, tag| {
                [&[*tag, inner.len() as u8][..], &inner].concat()
            });
            match check(&name) {
                Ok(()) => true,
                Err(error) => {
                    assert_eq!(error, SyntaxError::String(*tag));
                    false
                }
            }
        };
        ANY.into_iter().filter(is_allowed).collect()
    }

    #[test]
    fn strings() {
        use Tag::{BmpString, NumericString, TeletexString, Utf8String};
        assert_eq!(allowing(b""), ANY);
        assert_eq!(allowing(b"10"), ANY);
        let but = |tags: &[Tag]| ANY.into_iter().filter(|tag| !tags.contains(tag)).collect();
        let expected: Vec<Tag> = but(&[NumericString, BmpString]);
        assert_eq!(allowing(b"a_b"), expected);
        assert_eq!(allowing(b"@*&"), expected);
        for control in [b"\0\0", b"a\n", b"\x7f\x7f"] {
            let expected: Vec<Tag> =
                but(&[NumericString, Tag::PrintableString, Tag::VisibleString]);
            assert_eq!(allowing(control), expected, "{control:?}");
        }
        assert_eq!(
            allowing("é".as_bytes()),
            [Utf8String, BmpString, TeletexString]
        );
        assert_eq!(allowing(b"\xe9"), [TeletexString]);
        // U+D800 alone, and U+10000 as UTF-16 has it.
        assert_eq!(allowing(&[0xd8, 0]), [TeletexString]);
        assert_eq!(allowing(&[0xd8, 0, 0xdc, 0]), [BmpString, TeletexString]);
    }

    #[test]
    fn object_identifiers() {
        // 2.16.840.1.101.3.4.3.17, and the same with a leading zero in each number.
        let good = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x11];
        let der = |value: &[u8]| [&[6, value.len() as u8], value].concat();
        assert_eq!(check(&der(&good)), Ok(()));
        for at in [0, 1, 3, 4, 5, 6, 7, 8] {
            let mut bad = good.to_vec();
            bad.insert(at, 0x80);
            let Err(SyntaxError::ObjectIdentifier(bytes)) = check(&der(&bad)) else {
                panic!("{bad:x?}");
            };
            assert_eq!(bytes.split(' ').count(), bad.len());
        }
        // 0x80 inside of a number is a digit.
        assert_eq!(check(&der(&[0x2a, 0x81, 0x80, 0x00])), Ok(()));
    }

    /// Whether `der` reads a document's headers, and what it says of the first one that it doesn't read. Types that it
    /// doesn't know are passed over.
    fn by_der(document: &[u8]) -> der::Result<Vec<(Tag, usize)>> {
        let mut reader = SliceReader::new(document)?;
        let mut found = Vec::new();
        let mut ends = vec![Length::try_from(document.len())?];
        while let Some(&end) = ends.last() {
            if reader.position() == end {
                ends.pop();
                continue;
            }
            let position = usize::try_from(reader.position())?;
            let unnamed = elements(&document[position..]).next();
            if let Some(unnamed) = unnamed.filter(|one| is_unnamed(one.tag)) {
                let len = Length::try_from(unnamed.value.len())?;
                let header = unnamed.whole.len() - unnamed.value.len();
                reader.read_slice(Length::try_from(header)?)?;
                let value_end = (reader.position() + len)?;
                if value_end > end {
                    return Err(reader.error(ErrorKind::Overlength));
                }
                match unnamed.tag & 0x20 {
                    0 => drop(reader.read_slice(len)?),
                    _ => ends.push(value_end),
                }
                continue;
            }
            let header = Header::decode(&mut reader)?;
            let value_end = (reader.position() + header.length())?;
            if value_end > end {
                return Err(reader.error(ErrorKind::Overlength));
            }
            match header.tag().is_constructed() {
                true => ends.push(value_end),
                false => {
                    found.push((header.tag(), reader.read_slice(header.length())?.len()));
                }
            }
        }
        Ok(found)
    }

    #[test]
    fn headers_are_read_as_der_reads_them() {
        let check = |document: &[u8]| {
            let found = core::cell::RefCell::new(Vec::new());
            let result = walk(document, |tag, value| {
                found.borrow_mut().push((tag, value.len()));
                Ok(())
            });
            let result = result.map(|()| found.into_inner());
            assert_eq!(
                result,
                by_der(document).map_err(SyntaxError::Der),
                "{document:x?}"
            );
        };
        // Each tag and first byte of a length, at the top and within a SEQUENCE, with enough behind it and with too little.
        for tag in 0..=0xff {
            for len in 0..=0xff {
                for rest in [
                    &[][..],
                    &[0],
                    &[0x7f; 2],
                    &[0x80; 3],
                    &[1, 0, 0, 0],
                    &[0; 400],
                ] {
                    let value = [&[tag, len], rest].concat();
                    check(&value);
                    let len = u16::try_from(value.len()).unwrap().to_be_bytes();
                    check(&[&[0x30, 0x82], &len[..], &value].concat());
                    check(&[&[0xa3, 0x04], &value[..], &[5, 0]].concat());
                }
            }
        }
        for len in [0x7f_usize, 0x80, 0xff, 0x100, 0xffff, 0x1_0000] {
            let bytes = len.to_be_bytes();
            let octets = (1..=4).map(|count| &bytes[8 - count..]);
            for octets in octets {
                let header = [&[4, 0x80 | octets.len() as u8], octets].concat();
                check(&[&header[..], &vec![0; len]].concat());
                check(&[&header[..], &vec![0; len - 1]].concat());
            }
        }
    }

    #[test]
    fn values_of_any_type() {
        for sound in [
            &[0x1c, 4, 0, 0, 0, b'a'][..],
            &[0x1f, 31, 1, 0],
            &[0x1f, 0x81, 0, 1, 0],
            &[0x30, 3, 0x19, 1, b'a'],
            &[1, 1, 0xff],
            &[2, 1, 0x80],
            &[3, 2, 7, 0x80],
            &[3, 1, 0],
        ] {
            assert!(is_der(sound), "{sound:x?}");
            assert_eq!(check(sound), Ok(()), "{sound:x?}");
            assert_eq!(elements(sound).next().unwrap().whole, sound);
        }
        for bad in [
            &[0x2c, 2, 0x0c, 0][..],
            &[0x1c, 4, 0, 0, 0],
            &[0x1f, 30, 1, 0],
            &[0x1f, 0x80, 31, 1, 0],
            &[0x1c, 0x81, 1, 0],
            &[0x24, 2, 4, 0],
            &[1, 1, 1],
            &[2, 0],
            &[2, 2, 0, 1],
            &[2, 2, 0xff, 0x80],
            &[3, 0],
            &[3, 2, 7, 1],
            &[3, 1, 1],
            &[3, 2, 8, 0],
            &[5, 1, 0],
            &[6, 0],
            &[6, 2, 0x2a, 0x81],
            &[0x30, 0x80, 0, 0],
            &[],
            &[5, 0, 5, 0],
        ] {
            assert!(!is_der(bad), "{bad:x?}");
        }
    }

    #[test]
    fn numbers() {
        let values = |number: usize| {
            let contents = [5, 0].repeat(number - 1);
            let len = u16::try_from(contents.len()).unwrap().to_be_bytes();
            [&[0x30, 0x82], &len[..], &contents].concat()
        };
        assert_eq!(check_number(&values(MAX_VALUES)), Ok(()));
        let error = SyntaxError::TooMany(MAX_VALUES);
        assert_eq!(check_number(&values(MAX_VALUES + 1)), Err(error.clone()));
        // Up to where it isn't DER any more, which is for the reader to refuse.
        let broken = |number: usize| {
            let mut der = values(number);
            let end = der.len() - 2;
            der[end..].copy_from_slice(&[0x30, 9]);
            der
        };
        assert_eq!(check_number(&broken(MAX_VALUES)), Ok(()));
        assert_eq!(check_number(&broken(MAX_VALUES + 1)), Err(error));
    }

    #[test]
    fn lengths() {
        for bad in [
            &[0x30, 3, 2, 2, 0][..],
            &[0x30, 1, 2, 1, 0],
            &[0x30, 0x80, 0, 0],
        ] {
            assert!(matches!(check(bad), Err(SyntaxError::Der(_))), "{bad:x?}");
        }
        // Extreme lengths and depths.
        let mut deep = vec![0x30; 200_000];
        for header in deep.chunks_exact_mut(2) {
            header[1] = 0;
        }
        assert_eq!(check(&deep), Ok(()));
        let nested = (0..20_000_usize)
            .rev()
            .fold(Vec::new(), |mut der: Vec<u8>, _| {
                let len = der.len() as u32;
                let header = match len {
                    0..0x80 => vec![len as u8, 0x30],
                    0x80..0x100 => vec![len as u8, 0x81, 0x30],
                    0x100..0x1_0000 => vec![len as u8, (len >> 8) as u8, 0x82, 0x30],
                    _ => vec![len as u8, (len >> 8) as u8, (len >> 16) as u8, 0x83, 0x30],
                };
                // The bytes are in reverse order, so that a header is added at the end.
                der.extend(header);
                der
            });
        let nested: Vec<u8> = nested.into_iter().rev().collect();
        assert_eq!(check(&nested), Ok(()));
    }
}
