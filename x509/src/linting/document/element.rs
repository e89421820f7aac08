//! The reader below all others here: one value of BER, its contents and its place, and the tags that occur in
//! documents.

/// A value with its tag and length, read by the basic encoding rules (X.690 section 8) instead of the
/// stricter distinguished ones, so that a wrong encoding does not hide the contents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a> {
    /// The identifier octet: class, form and number.
    pub(crate) tag: u8,
    /// The octet of the document where it begins, counted from 0.
    pub(crate) at: usize,
    whole: &'a [u8],
    header_len: usize,
}

/// Identifier octets of universal types, and of the parts of names in extensions.
pub(crate) mod tag {
    pub(crate) const BOOLEAN: u8 = 0x01;
    pub(crate) const INTEGER: u8 = 0x02;
    pub(crate) const BIT_STRING: u8 = 0x03;
    pub(crate) const OCTET_STRING: u8 = 0x04;
    pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
    pub(crate) const ENUMERATED: u8 = 0x0a;
    pub(crate) const UTF8_STRING: u8 = 0x0c;
    pub(crate) const NUMERIC_STRING: u8 = 0x12;
    pub(crate) const PRINTABLE_STRING: u8 = 0x13;
    pub(crate) const TELETEX_STRING: u8 = 0x14;
    pub(crate) const IA5_STRING: u8 = 0x16;
    pub(crate) const UTC_TIME: u8 = 0x17;
    pub(crate) const GENERALIZED_TIME: u8 = 0x18;
    pub(crate) const VISIBLE_STRING: u8 = 0x1a;
    pub(crate) const UNIVERSAL_STRING: u8 = 0x1c;
    pub(crate) const BMP_STRING: u8 = 0x1e;
    pub(crate) const SEQUENCE: u8 = 0x30;
    pub(crate) const SET: u8 = 0x31;

    /// `[number]` of a primitive type.
    pub(crate) const fn context(number: u8) -> u8 {
        0x80 | number
    }

    /// `[number]` of a constructed type, or explicit around another tag.
    pub(crate) const fn around(number: u8) -> u8 {
        0xa0 | number
    }
}

impl<'a> Element<'a> {
    /// The element at the start of the bytes, if it has a definite length. No standard here uses
    /// tags of more than one octet, and nobody uses lengths of more than four.
    pub(crate) fn read(bytes: &'a [u8], at: usize) -> Option<Self> {
        let (&[tag, first], rest) = bytes.split_first_chunk()?;
        let (octets, len) = match first {
            0..=0x7f => (0, first.into()),
            0x81..=0x84 => {
                let octets = usize::from(first - 0x80);
                let len = rest.get(..octets)?.iter();
                (
                    octets,
                    len.fold(0, |len, octet| len << 8 | u64::from(*octet)),
                )
            }
            _ => return None,
        };
        if tag & 0x1f == 0x1f {
            return None;
        }
        let header_len = 2 + octets;
        let end = header_len.checked_add(usize::try_from(len).ok()?)?;
        Some(Self {
            tag,
            at,
            whole: bytes.get(..end)?,
            header_len,
        })
    }

    /// The element itself.
    pub(crate) fn whole(&self) -> &'a [u8] {
        self.whole
    }

    /// The contents.
    pub(crate) fn value(&self) -> &'a [u8] {
        &self.whole[self.header_len..]
    }

    /// The contents, element by element, up to one that can't be read.
    pub(crate) fn elements(&self) -> Elements<'a> {
        Elements {
            bytes: self.value(),
            at: self.at + self.header_len,
        }
    }

    pub(crate) fn is_constructed(&self) -> bool {
        self.tag & 0x20 != 0
    }

    /// Whether the length takes as few octets as possible (X.690 section 10.1).
    pub(crate) fn has_shortest_length(&self) -> bool {
        let octets = match self.value().len() {
            ..0x80 => 0,
            0x80..0x100 => 1,
            0x100..0x1_0000 => 2,
            0x1_0000..0x100_0000 => 3,
            _ => 4,
        };
        self.header_len == 2 + octets
    }

    /// The octets of a BIT STRING, if no bits are unused.
    pub(crate) fn whole_octets(&self) -> Option<&'a [u8]> {
        match self.value() {
            [0, octets @ ..] => Some(octets),
            _ => None,
        }
    }

    /// Whether a BOOLEAN is TRUE, in whatever encoding.
    pub(crate) fn is_true(&self) -> bool {
        self.value().iter().any(|octet| *octet != 0)
    }
}

/// Elements one after another.
#[derive(Clone, Debug)]
pub(crate) struct Elements<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Elements<'a> {
    /// The elements of these bytes, which begin at this octet of the document.
    pub(crate) fn of(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// Takes the next element if it has this tag; otherwise leaves it.
    pub(crate) fn next_if(&mut self, tag: u8) -> Option<Element<'a>> {
        let element = Element::read(self.bytes, self.at)?;
        (element.tag == tag).then(|| self.next())?
    }

    /// The first remaining element with this tag.
    pub(crate) fn with_tag(mut self, tag: u8) -> Option<Element<'a>> {
        self.find(|element| element.tag == tag)
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        let element = Element::read(self.bytes, self.at)?;
        self.bytes = &self.bytes[element.whole.len()..];
        self.at += element.whole.len();
        Some(element)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_may_be_longer_than_they_need_be() {
        let value = [7; 200];
        let with = |header: &[u8], len: usize| [header, &value[..len]].concat();
        for (bytes, len, is_shortest) in [
            (with(&[4, 3], 3), 3, true),
            (with(&[4, 0x81, 3], 3), 3, false),
            (with(&[4, 0x84, 0, 0, 0, 3], 3), 3, false),
            (with(&[4, 0x81, 200], 200), 200, true),
            (with(&[4, 0x82, 0, 200], 200), 200, false),
            (with(&[4, 0], 0), 0, true),
        ] {
            let element = Element::read(&bytes, 0).unwrap();
            assert_eq!(element.value(), &value[..len]);
            assert_eq!(element.whole(), bytes);
            assert_eq!(element.has_shortest_length(), is_shortest, "{bytes:x?}");
        }
    }

    #[test]
    fn what_has_no_end_is_no_element() {
        for bytes in [
            &[][..],
            &[4],
            &[4, 1],
            &[4, 0x80, 0, 0],
            &[4, 0x82, 0],
            &[4, 0x85, 0, 0, 0, 0, 1, 7],
            &[4, 0x84, 0xff, 0xff, 0xff, 0xff],
            &[4, 0xff],
            &[0x1f, 0x81, 0, 0],
        ] {
            assert!(Element::read(bytes, 0).is_none(), "{bytes:x?}");
        }
    }

    #[test]
    fn elements_know_where_they_are() {
        let bytes = [0x30, 7, 2, 1, 5, 0x30, 2, 1, 0, 9];
        let root = Element::read(&bytes, 0).unwrap();
        let mut inner = root.elements();
        assert!(inner.next_if(tag::BOOLEAN).is_none());
        assert_eq!(inner.next_if(tag::INTEGER).unwrap().at, 2);
        assert_eq!(inner.next().unwrap().elements().at, 7);
        assert!(inner.next().is_none());
    }
}
