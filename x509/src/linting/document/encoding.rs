//! Finds where a document breaks the rules of DER (X.690) and of its string types, because the lenient reader accepts
//! such encodings.

use alloc::collections::BTreeMap;

use der::Tag;
use pq_keys::encoding::syntax::{self, SyntaxError};

use super::element::{Element, Elements, tag};
use super::extension::{Extension, known};
use crate::linting::listed::{Listed, quoted};

/// How an encoding may break the rules of ASN.1.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Flaw {
    Length,
    Integer,
    Boolean,
    BitString,
    SetOrder,
    ObjectIdentifier,
    String,
    PrintableString,
}

/// The flaws in a document's encoding, each kind with its places.
#[derive(Debug, Default)]
pub(crate) struct Flaws(BTreeMap<Flaw, Listed>);

impl Flaws {
    /// Looks at a whole document, and into the extensions whose contents RFC 5280 defines.
    pub(crate) fn of(der: &[u8], extensions: &[Extension<'_>]) -> Self {
        let mut flaws = Self::default();
        flaws.look_at(Elements::of(der, 0));
        for extension in extensions {
            if known(extension.oid).is_some() {
                flaws.look_at(extension.elements());
            }
        }
        flaws
    }

    /// The places of the flaws of this kind, if there are any.
    pub(crate) fn of_kind(&self, flaw: Flaw) -> Option<String> {
        self.0.get(&flaw)?.text()
    }

    fn look_at(&mut self, elements: Elements<'_>) {
        // The rest of the elements that are being looked at. There is no recursion, because whoever made
        // the document chose the depth.
        let mut open = vec![elements];
        while let Some(elements) = open.last_mut() {
            let Some(element) = elements.next() else {
                open.pop();
                continue;
            };
            self.look_at_one(&element);
            if element.is_constructed() {
                open.push(element.elements());
            }
        }
    }

    fn look_at_one(&mut self, element: &Element<'_>) {
        let value = element.value();
        if !element.has_shortest_length() {
            self.add(Flaw::Length, element);
        }
        let flaw = match element.tag {
            tag::INTEGER | tag::ENUMERATED if !is_shortest_integer(value) => Flaw::Integer,
            tag::BOOLEAN if !matches!(value, [0x00 | 0xff]) => Flaw::Boolean,
            tag::BIT_STRING if !has_clean_unused_bits(value) => Flaw::BitString,
            tag::SET if !is_in_order(element) => Flaw::SetOrder,
            kind => match string_type(kind).map(|kind| syntax::check_primitive(kind, value)) {
                Some(Err(SyntaxError::ObjectIdentifier(_))) => Flaw::ObjectIdentifier,
                Some(Err(_)) => Flaw::String,
                _ if kind == tag::PRINTABLE_STRING && !value.iter().all(is_printable) => {
                    let texts = self.0.entry(Flaw::PrintableString).or_default();
                    return texts.push(|| quoted(value));
                }
                _ => return,
            },
        };
        self.add(flaw, element);
    }

    fn add(&mut self, flaw: Flaw, element: &Element<'_>) {
        let places = self.0.entry(flaw).or_default();
        places.push(|| element.at.to_string());
    }
}

/// X.690 section 8.3.2.
fn is_shortest_integer(value: &[u8]) -> bool {
    !matches!(value, [] | [0, 0..=0x7f, ..] | [0xff, 0x80..=0xff, ..])
}

/// X.690 sections 8.6.2 and 11.2.1.
fn has_clean_unused_bits(value: &[u8]) -> bool {
    match value {
        [unused, .., last] => *unused < 8 && *last & ((1 << *unused) - 1) == 0,
        [unused] => *unused == 0,
        [] => false,
    }
}

/// X.690 section 11.6. All sets here are SET OF.
fn is_in_order(set: &Element<'_>) -> bool {
    set.elements()
        .zip(set.elements().skip(1))
        .all(|(one, next)| one.whole() <= next.whole())
}

/// X.680 section 41.4.
fn is_printable(octet: &u8) -> bool {
    octet.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(octet)
}

/// The types whose contents are checked.
fn string_type(identifier: u8) -> Option<Tag> {
    /// Of a GeneralName. No document here uses the tag for anything else.
    const REGISTERED_ID: u8 = tag::context(8);
    Some(match identifier {
        tag::OBJECT_IDENTIFIER | REGISTERED_ID => Tag::ObjectIdentifier,
        tag::UTF8_STRING => Tag::Utf8String,
        tag::NUMERIC_STRING => Tag::NumericString,
        tag::PRINTABLE_STRING => Tag::PrintableString,
        tag::IA5_STRING => Tag::Ia5String,
        tag::VISIBLE_STRING => Tag::VisibleString,
        tag::BMP_STRING => Tag::BmpString,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_shortest() {
        for value in [
            &[0][..],
            &[0x7f],
            &[0, 0x80],
            &[0xff],
            &[0xff, 0x7f],
            &[0x80],
        ] {
            assert!(is_shortest_integer(value), "{value:x?}");
        }
        for value in [&[][..], &[0, 0], &[0, 0x7f], &[0xff, 0x80], &[0xff, 0xff]] {
            assert!(!is_shortest_integer(value), "{value:x?}");
        }
    }

    #[test]
    fn unused_bits_are_clean() {
        for value in [&[0][..], &[0, 0xff], &[7, 0x80], &[3, 0xff, 0xf8]] {
            assert!(has_clean_unused_bits(value), "{value:x?}");
        }
        for value in [&[][..], &[1], &[8, 0], &[7, 0xc0], &[1, 0x01]] {
            assert!(!has_clean_unused_bits(value), "{value:x?}");
        }
    }
}
