//! Names with texts of UniversalString, which `der` can't read: the same texts of UTF8String stand for them where names
//! are compared and shown. What is written again has the bytes that were read, or is refused.

use der::asn1::AnyRef;
use der::{Decode, Encode, Tag, Tagged};
use pq_keys::encoding::syntax::{self, Element, SyntaxError};
use x509_cert::name::Name;

/// A name, also one with texts that `x509-cert` can't read.
pub(crate) fn name_from_der(der: &[u8]) -> der::Result<Name> {
    Name::from_der(der).or_else(|error| {
        let read = AnyRef::from_der(der).ok().and_then(read_name);
        Name::from_der(&read.ok_or(error)?)
    })
}

/// A value of a constructed type.
pub(crate) fn constructed(tag: Tag, contents: &[u8]) -> Option<Vec<u8>> {
    AnyRef::new(tag, contents).ok()?.to_der().ok()
}

/// The name with its texts of UniversalString as UTF8String, if it has any and is otherwise of the right form.
pub(crate) fn read_name(name: AnyRef<'_>) -> Option<Vec<u8>> {
    if name.tag() != Tag::Sequence {
        return None;
    }
    let mut has_any = false;
    let mut parts = Vec::new();
    for part in all(name.value())? {
        let mut attributes = Vec::new();
        for attribute in within(Tag::Set, part)? {
            let [kind, value] = within(Tag::Sequence, attribute)?.try_into().ok()?;
            if value.tag != UNIVERSAL_STRING {
                attributes.extend(attribute.whole);
                continue;
            }
            has_any = true;
            let text = AnyRef::new(Tag::Utf8String, text(value.value)?.as_bytes())
                .ok()?
                .to_der();
            attributes.extend(constructed(
                Tag::Sequence,
                &[kind.whole, &text.ok()?].concat(),
            )?);
        }
        parts.extend(constructed(Tag::Set, &attributes)?);
    }
    has_any.then(|| constructed(Tag::Sequence, &parts))?
}

/// Refuses a name that would have other bytes if it were written again, since many programs compare the bytes of names.
/// `der` also puts attributes of one part in the order of DER as it reads them.
pub(crate) fn check_rewritten(der: &[u8], name: &Name, place: &str) -> Result<(), SyntaxError> {
    match name.to_der()? == der {
        true => Ok(()),
        false => Err(SyntaxError::Form {
            place: place.into(),
            found: "a UniversalString, or attributes in another order than DER's, and can't be written again with the \
                    same bytes"
                .into(),
        }),
    }
}

/// The elements of a value of this constructed type, and nothing else.
fn within(tag: Tag, element: Element<'_>) -> Option<Vec<Element<'_>>> {
    let expected = AnyRef::from_der(element.whole).ok()?.tag() == tag;
    expected.then(|| all(element.value))?
}

/// The elements of which the contents consist to their end.
fn all(contents: &[u8]) -> Option<Vec<Element<'_>>> {
    let found: Vec<_> = syntax::elements(contents).collect();
    let length: usize = found.iter().map(|element| element.whole.len()).sum();
    (length == contents.len()).then_some(found)
}

/// The tag of UniversalString, which `der` doesn't know.
const UNIVERSAL_STRING: u8 = 28;

/// The text of a UniversalString: four bytes for each character.
fn text(value: &[u8]) -> Option<String> {
    let (characters, rest) = value.as_chunks();
    let mut characters = characters
        .iter()
        .map(|bytes| char::from_u32(u32::from_be_bytes(*bytes)));
    rest.is_empty().then(|| characters.by_ref().collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(tag: u8, contents: &[u8]) -> Vec<u8> {
        [&[tag, contents.len() as u8], contents].concat()
    }

    /// Only the types of texts change. What is no name beside them does not become one.
    #[test]
    fn nothing_else_is_repaired() {
        let kind = [6, 3, 0x55, 4, 3];
        let text = value(28, &[0, 0, 0, b'a']);
        let name = |parts: &[u8]| value(0x30, parts);
        let part = |attributes: &[u8]| value(0x31, attributes);
        let attribute = |fields: &[&[u8]]| value(0x30, &fields.concat());
        let good = attribute(&[&kind, &text]);
        assert!(name_from_der(&name(&part(&good))).is_ok());
        for bad in [
            // a third field, and bytes that are no element
            name(&part(&attribute(&[&kind, &text, &[5, 0]]))),
            name(&part(&attribute(&[&kind, &text, &[5]]))),
            name(&part(&[&good[..], &[0x30]].concat())),
            name(&[&part(&good)[..], &[0x31]].concat()),
            // other types
            name(&value(0x30, &good)),
            name(&part(&value(0x31, &good[2..]))),
            value(0x31, &part(&good)),
            name(&part(&attribute(&[&kind]))),
        ] {
            assert!(name_from_der(&bad).is_err(), "{bad:02x?}");
        }
    }
}
