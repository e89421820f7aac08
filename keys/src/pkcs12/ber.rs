//! BER (X.690) made into DER, as far as PKCS#12 files have it. RFC 7292 demands no more than BER, and NSS, with it Firefox
//! and Thunderbird, and Bouncy Castle write lengths that are indefinite and strings in pieces.

use alloc::vec::Vec;

use thiserror::Error;
use zeroize::Zeroizing;

/// Why bytes are no BER that is read here.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum BerError {
    /// A value goes on after what it is in, or after the end of the file.
    #[error("ends in the middle of the value at byte {0}")]
    CutShort(usize),
    /// A length is none, or indefinite where only the length of a constructed value may be.
    #[error("has an invalid length at byte {0}")]
    Length(usize),
    /// A type that isn't in such files, or a piece of a string that is none.
    #[error("has something at byte {0} that may not be there")]
    Tag(usize),
    /// Something follows the value.
    #[error("goes on after its end, at byte {0}")]
    Trailing(usize),
    /// Values are in each other, deeper than in any such file.
    #[error("has values in each other at byte {0}, deeper than anybody writes them")]
    TooDeep(usize),
}

/// How deep values may be in each other. In files there are ten or so.
const MAX_DEPTH: usize = 32;

const OCTET_STRING: u8 = 0x04;
const CONSTRUCTED: u8 = 0x20;

/// The DER of a value, with the same contents. It is wiped when dropped: it may be a private key.
///
/// Only lengths change, and that an OCTET STRING is in one piece. Whether the values themselves are DER, and whether a SET
/// is in order, is for readers to judge.
///
/// It takes as much memory as the value, and as much time as moving that once for each level.
///
/// # Errors
///
/// A [`BerError`] that says where.
pub fn to_der(ber: &[u8]) -> Result<Zeroizing<Vec<u8>>, BerError> {
    // A length in DER may have up to two bytes more than an indefinite one and its end, if the contents have 64 kB or
    // more; and as many such values as levels lie over each byte. The buffer doesn't grow, which would leave copies.
    let room = ber.len() + ber.len() / 512 + 4 * MAX_DEPTH;
    let mut writer = Writer {
        der: Zeroizing::new(Vec::with_capacity(room)),
        open: Vec::new(),
    };
    let mut at = 0;
    loop {
        while let Some(innermost) = writer.open.last() {
            let is_over = match innermost.is_indefinite {
                true => ber[at..innermost.limit].starts_with(&[0, 0]),
                false => at == innermost.limit,
            };
            if !is_over {
                break;
            }
            at += if innermost.is_indefinite { 2 } else { 0 };
            writer.close();
        }
        let limit = match writer.open.last() {
            Some(innermost) => innermost.limit,
            None if at == 0 => ber.len(),
            None if at == ber.len() => return Ok(writer.der),
            None => return Err(BerError::Trailing(at)),
        };
        let (header, len) = Header::read(&ber[..limit], at)?;
        let contents = at + len;
        let is_constructed = header.tag & CONSTRUCTED != 0;
        let is_piece = writer
            .open
            .last()
            .is_some_and(|open| open.tag == OCTET_STRING);
        match header.tag & !CONSTRUCTED {
            OCTET_STRING => {}
            _ if is_piece => return Err(BerError::Tag(at)),
            // Of the universal types, only these two are constructed; and 31 begins a tag of several bytes.
            SEQUENCE | SET if is_constructed => {}
            tag if tag & 0x1f == 0x1f => return Err(BerError::Tag(at)),
            tag if tag < CONTEXT && (is_constructed || matches!(tag, 0 | SEQUENCE | SET)) => {
                return Err(BerError::Tag(at));
            }
            _ => {}
        }
        if is_constructed {
            if writer.open.len() == MAX_DEPTH {
                return Err(BerError::TooDeep(at));
            }
            let tag = match header.tag & !CONSTRUCTED {
                OCTET_STRING => OCTET_STRING,
                _ => header.tag,
            };
            writer.open.push(Open {
                tag,
                start: writer.der.len(),
                limit: header.len.map_or(limit, |len| contents + len),
                is_indefinite: header.len.is_none(),
            });
            at = contents;
        } else {
            let end = contents + header.len.ok_or(BerError::Length(at))?;
            if !is_piece {
                writer.header(header.tag, end - contents, writer.der.len());
            }
            writer.der.extend_from_slice(&ber[contents..end]);
            at = end;
        }
    }
}

const SEQUENCE: u8 = 0x10;
const SET: u8 = 0x11;
/// The least tag of a class other than the universal one.
const CONTEXT: u8 = 0x40;

/// What a value begins with.
struct Header {
    tag: u8,
    /// Without one, the length is indefinite.
    len: Option<usize>,
}

impl Header {
    /// Reads the header at this place, and says how long it is. The value ends within the bytes.
    fn read(bytes: &[u8], at: usize) -> Result<(Self, usize), BerError> {
        let [tag, first, rest @ ..] = &bytes[at..] else {
            return Err(BerError::CutShort(at));
        };
        let (len, header_len) = match first {
            0x80 => (None, 2),
            0..0x80 => (Some(usize::from(*first)), 2),
            _ => {
                let count = usize::from(first & 0x7f);
                let octets = rest.get(..count).ok_or(BerError::CutShort(at))?;
                let significant = octets.iter().position(|octet| *octet != 0).unwrap_or(count);
                // More is longer than any file.
                if count - significant > 4 {
                    return Err(BerError::Length(at));
                }
                let value = octets[significant..]
                    .iter()
                    .fold(0_u64, |len, octet| len << 8 | u64::from(*octet));
                let len = usize::try_from(value).map_err(|_| BerError::Length(at))?;
                (Some(len), 2 + count)
            }
        };
        let room = bytes.len() - at - header_len;
        match len {
            Some(len) if len > room => Err(BerError::CutShort(at)),
            _ => Ok((Self { tag: *tag, len }, header_len)),
        }
    }
}

/// A constructed value of which the end was not read yet.
struct Open {
    /// The tag in DER.
    tag: u8,
    /// Where its contents begin in DER.
    start: usize,
    /// Where it ends in BER, or at the latest, if its length is indefinite.
    limit: usize,
    is_indefinite: bool,
}

struct Writer {
    der: Zeroizing<Vec<u8>>,
    /// The outermost first.
    open: Vec<Open>,
}

impl Writer {
    /// Ends the innermost value.
    fn close(&mut self) {
        let Some(Open { tag, start, .. }) = self.open.pop() else {
            return;
        };
        let is_piece = self
            .open
            .last()
            .is_some_and(|open| open.tag == OCTET_STRING);
        if !is_piece {
            self.header(tag, self.der.len() - start, start);
        }
    }

    /// Puts a header in front of contents that begin at this place.
    fn header(&mut self, tag: u8, len: usize, start: usize) {
        let octets = len.to_be_bytes();
        let significant = &octets[octets
            .iter()
            .position(|octet| *octet != 0)
            .unwrap_or(octets.len())..];
        let old = self.der.len();
        self.der.push(tag);
        match len {
            0..0x80 => self.der.push(len as u8),
            _ => {
                self.der.push(0x80 | significant.len() as u8);
                self.der.extend_from_slice(significant);
            }
        }
        let header_len = self.der.len() - old;
        self.der[start..].rotate_right(header_len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value with a definite length of up to 127 bytes.
    fn value(tag: u8, contents: &[u8]) -> Vec<u8> {
        [&[tag, contents.len() as u8][..], contents].concat()
    }

    fn indefinite(tag: u8, contents: &[u8]) -> Vec<u8> {
        [&[tag, 0x80][..], contents, &[0, 0]].concat()
    }

    fn check(ber: &[u8], der: &[u8]) {
        let found = to_der(ber).unwrap();
        assert_eq!(*found, der, "{ber:02x?}");
        assert_eq!(*to_der(&found).unwrap(), der);
    }

    #[test]
    fn der_is_left_as_it_is() {
        for len in [0, 1, 127, 128, 255, 256, 65535, 65536, 100_000] {
            let octets = syntax_der(0x04, &vec![7; len]);
            let der = syntax_der(
                0x30,
                &[
                    &octets[..],
                    &[2, 1, 3],
                    &syntax_der(0xa0, &octets),
                    &[0x80, 0],
                ]
                .concat(),
            );
            check(&der, &der);
        }
        check(&[5, 0], &[5, 0]);
    }

    fn syntax_der(tag: u8, contents: &[u8]) -> Vec<u8> {
        use der::{Encode, Tag, asn1::AnyRef};
        let mut der = AnyRef::new(Tag::OctetString, contents)
            .unwrap()
            .to_der()
            .unwrap();
        der[0] = tag;
        der
    }

    #[test]
    fn lengths() {
        let number = [2, 1, 3];
        let der = value(0x30, &number);
        check(&indefinite(0x30, &number), &der);
        check(&[&[0x30, 0x81, 3][..], &number].concat(), &der);
        check(&[&[0x30, 0x84, 0, 0, 0, 3][..], &number].concat(), &der);
        check(
            &[&[0x30, 0x86, 0, 0, 0, 0, 0, 3][..], &number].concat(),
            &der,
        );
        check(&[0x30, 4, 2, 0x81, 1, 3], &der);
        check(&indefinite(0x30, &[]), &[0x30, 0]);
        let nested = indefinite(
            0x30,
            &[&indefinite(0x31, &indefinite(0xa0, &number)), &number[..]].concat(),
        );
        check(
            &nested,
            &value(
                0x30,
                &[&value(0x31, &value(0xa0, &number)), &number[..]].concat(),
            ),
        );
        check(&value(0x30, &indefinite(0x30, &[])), &[0x30, 2, 0x30, 0]);
        for len in [127, 128, 65535, 65536, 200_000] {
            let octets = syntax_der(0x04, &vec![7; len]);
            let levels = |wrap: &dyn Fn(&[u8]) -> Vec<u8>| {
                (0..MAX_DEPTH).fold(octets.clone(), |inner, _| wrap(&inner))
            };
            check(
                &levels(&|inner| indefinite(0x30, inner)),
                &levels(&|inner| syntax_der(0x30, inner)),
            );
        }
    }

    #[test]
    fn strings_in_pieces() {
        let pieces = [&value(4, b"ab")[..], &value(4, b""), &value(4, b"c")].concat();
        let whole = value(4, b"abc");
        check(&indefinite(0x24, &pieces), &whole);
        check(&value(0x24, &pieces), &whole);
        let within = [
            &value(4, b"1")[..],
            &indefinite(0x24, &value(0x24, &pieces)),
            &value(4, b"2"),
        ]
        .concat();
        check(&indefinite(0x24, &within), &value(4, b"1abc2"));
        check(&indefinite(0x24, &[]), &[4, 0]);
        // The tag of a context stays: whether it is a string's is for the reader to say.
        check(&indefinite(0xa0, &pieces), &value(0xa0, &pieces));
        check(
            &indefinite(0xa0, &value(0x24, &pieces)),
            &value(0xa0, &whole),
        );
    }

    #[test]
    fn what_is_refused() {
        let refused = |ber: &[u8], error: BerError| {
            assert_eq!(to_der(ber).map(|_| ()), Err(error), "{ber:02x?}")
        };
        refused(&[], BerError::CutShort(0));
        refused(&[0x30], BerError::CutShort(0));
        refused(&[0x30, 1], BerError::CutShort(0));
        refused(&[0x30, 0x82, 1], BerError::CutShort(0));
        refused(&[0x30, 0x80], BerError::CutShort(2));
        refused(&[0x30, 0x80, 0], BerError::CutShort(2));
        refused(&[0x30, 3, 0x30, 0x80, 0], BerError::CutShort(4));
        refused(&[0x30, 3, 0x30, 0x80, 0, 0, 0], BerError::CutShort(4));
        refused(&[0x30, 2, 4, 1, 0], BerError::CutShort(2));
        refused(&[4, 0x80, 0, 0], BerError::Length(0));
        refused(&[0x80, 0x80, 0, 0], BerError::Length(0));
        refused(&[0x30, 0x85, 1, 0, 0, 0, 0], BerError::Length(0));
        refused(&[0x30, 0xff], BerError::CutShort(0));
        refused(&[0x30, 0, 0], BerError::Trailing(2));
        refused(&[0x30, 0x80, 0, 0, 0, 0], BerError::Trailing(4));
        // an end where nothing of indefinite length is
        refused(&[0x30, 2, 0, 0], BerError::Tag(2));
        refused(&[0, 0], BerError::Tag(0));
        // tags of several bytes, other strings in pieces, pieces of another type, primitive sequences
        refused(&[0x1f, 1, 0], BerError::Tag(0));
        refused(&[0xbf, 1, 0], BerError::Tag(0));
        refused(&[0x23, 0], BerError::Tag(0));
        refused(&[0x3e, 0x80, 0, 0], BerError::Tag(0));
        refused(&[0x10, 0], BerError::Tag(0));
        refused(&[0x11, 0], BerError::Tag(0));
        refused(&[0x24, 3, 3, 1, 0], BerError::Tag(2));
        refused(&[0x24, 2, 0x30, 0], BerError::Tag(2));
        refused(&[0x24, 2, 0xa0, 0], BerError::Tag(2));
        let deep = [0x30, 0x80].repeat(MAX_DEPTH + 1);
        refused(&deep, BerError::TooDeep(2 * MAX_DEPTH));
        refused(
            &[0x30, 0x80].repeat(1_000_000),
            BerError::TooDeep(2 * MAX_DEPTH),
        );
    }

    /// Whatever the bytes are, the DER is no longer than there is room, and nothing panics.
    #[test]
    fn every_changed_byte() {
        let pieces = [&value(4, b"ab")[..], &value(4, b"c")].concat();
        let inner = [
            &indefinite(0x24, &pieces)[..],
            &indefinite(0xa0, &pieces),
            &[2, 1, 3],
        ]
        .concat();
        let whole = indefinite(
            0x30,
            &[&indefinite(0x31, &inner)[..], &value(0x30, &inner)].concat(),
        );
        for at in 0..whole.len() {
            for other in 0..=255 {
                let mut changed = whole.clone();
                changed[at] = other;
                if let Ok(der) = to_der(&changed) {
                    assert!(
                        der.capacity() < 2 * whole.len() + 4 * MAX_DEPTH,
                        "it has grown"
                    );
                    assert_eq!(*to_der(&der).unwrap(), *der);
                }
            }
            to_der(&whole[..at]).unwrap_err();
        }
    }
}
