//! Names with texts of UniversalString, which `der` can't read: the same texts of UTF8String stand for them.

use der::asn1::AnyRef;
use der::{Decode, Encode, Tag};
use pq_keys::encoding::syntax;
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
    let mut has_any = false;
    let mut parts = Vec::new();
    for part in syntax::elements(name.value()) {
        let mut attributes = Vec::new();
        for attribute in syntax::elements(part.value) {
            let mut fields = syntax::elements(attribute.value);
            let (kind, value) = (fields.next()?, fields.next()?);
            if value.tag != UNIVERSAL_STRING {
                attributes.push(attribute.whole.to_vec());
                continue;
            }
            has_any = true;
            let text = AnyRef::new(Tag::Utf8String, text(value.value)?.as_bytes())
                .ok()?
                .to_der();
            attributes.push(constructed(
                Tag::Sequence,
                &[kind.whole, &text.ok()?].concat(),
            )?);
        }
        // in the order of DER
        attributes.sort_unstable();
        parts.extend(constructed(Tag::Set, &attributes.concat())?);
    }
    has_any.then(|| constructed(Tag::Sequence, &parts))?
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
