//! Distinguished names in a form in which equal ones are equal bytes.

use der::{Tag, Tagged};
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::name::{Name, RelativeDistinguishedName};

use super::unseen::characters;

/// A distinguished name for comparisons by RFC 5280 section 7.1: the type of a string makes no difference, nor do
/// the cases of letters, nor how many spaces there are between words.
///
/// Of RFC 4518's preparation, the mapping of cases and spaces is done, and Unicode is not normalised: names that
/// differ in that are different here. Whoever needs to know that two names are different for everybody can't rely on
/// this. It serves to find what may be about a name.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct CanonicalName(Vec<u8>);

impl CanonicalName {
    pub(crate) fn of(name: &Name) -> Self {
        Self::of_parts(name.iter_rdn())
    }

    /// The name that has one part more than another (nameRelativeToCRLIssuer).
    pub(crate) fn below(name: &Name, part: &RelativeDistinguishedName) -> Self {
        Self::of_parts(name.iter_rdn().chain([part]))
    }

    fn of_parts<'a>(parts: impl Iterator<Item = &'a RelativeDistinguishedName>) -> Self {
        let mut bytes = Vec::new();
        for part in parts {
            let mut attributes: Vec<_> = part.iter().map(attribute).collect();
            attributes.sort_unstable();
            for attribute in attributes {
                append(&mut bytes, &attribute);
            }
            // after the last one, as no attribute is empty
            append(&mut bytes, &[]);
        }
        Self(bytes)
    }
}

/// The type and the value of an attribute.
fn attribute(attribute: &AttributeTypeAndValue) -> Vec<u8> {
    let mut bytes = Vec::new();
    append(&mut bytes, attribute.oid.as_bytes());
    let (tag, value) = (attribute.value.tag(), attribute.value.value());
    match tag {
        Tag::Utf8String
        | Tag::PrintableString
        | Tag::Ia5String
        | Tag::VisibleString
        | Tag::NumericString
        | Tag::TeletexString
        | Tag::BmpString => bytes.extend(folded(&characters(tag, value)).bytes()),
        _ => {
            // No text begins with this byte.
            bytes.push(0xff);
            append(&mut bytes, tag.to_string().as_bytes());
            bytes.extend(value);
        }
    }
    bytes
}

fn folded(text: &[char]) -> String {
    let text: String = text.iter().flat_map(|one| one.to_lowercase()).collect();
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ")
}

/// Appends a part with its length in front of it, so that no two sequences of parts have the same bytes.
fn append(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend((part.len() as u64).to_be_bytes());
    bytes.extend(part);
}

#[cfg(test)]
mod tests {
    use const_oid::ObjectIdentifier;
    use der::asn1::{Any, SetOfVec};
    use der::{Decode, Encode};

    use super::*;

    const CN: &str = "2.5.4.3";
    const O: &str = "2.5.4.10";

    /// A name whose parts have these attributes.
    fn name(parts: &[&[(&str, Tag, &[u8])]]) -> Name {
        let part = |attributes: &&[(&str, Tag, &[u8])]| {
            let attributes = attributes.iter().map(|(oid, tag, value)| {
                let oid = ObjectIdentifier::new_unwrap(oid);
                let value = Any::new(*tag, *value).unwrap();
                AttributeTypeAndValue { oid, value }
            });
            SetOfVec::try_from(attributes.collect::<Vec<_>>()).unwrap()
        };
        let parts: Vec<_> = parts.iter().map(part).collect();
        Name::from_der(&parts.to_der().unwrap()).unwrap()
    }

    fn of_cn(tag: Tag, value: &[u8]) -> CanonicalName {
        CanonicalName::of(&name(&[&[(CN, tag, value)]]))
    }

    #[test]
    fn names_that_are_equal() {
        let expected = of_cn(Tag::PrintableString, b"Example CA");
        for (tag, value) in [
            (Tag::Utf8String, &b"Example CA"[..]),
            (Tag::Utf8String, b"  eXAMPLE   ca "),
            (Tag::Ia5String, b"example ca"),
            (Tag::TeletexString, b"example CA"),
            (Tag::BmpString, b"\0E\0x\0a\0m\0p\0l\0e\0 \0C\0A"),
        ] {
            assert_eq!(of_cn(tag, value), expected, "{tag} {value:?}");
        }
        assert_eq!(
            of_cn(Tag::Utf8String, "Ünal".as_bytes()),
            of_cn(Tag::TeletexString, b"\xfcNAL")
        );
        // A BMPString with pairs of surrogates.
        assert_eq!(
            of_cn(Tag::Utf8String, "a\u{e0041}\u{1d573}".as_bytes()),
            of_cn(Tag::BmpString, b"\0a\xdb\x40\xdc\x41\xd8\x35\xdd\x73")
        );
        let both = [
            [(CN, Tag::Utf8String, &b"b"[..]), (O, Tag::Utf8String, b"A")],
            [
                (O, Tag::PrintableString, b"a"),
                (CN, Tag::PrintableString, b"B"),
            ],
        ];
        let [one, other] = both.map(|part| CanonicalName::of(&name(&[&part])));
        assert_eq!(one, other);
    }

    #[test]
    fn names_that_differ() {
        let text = Tag::Utf8String;
        let names = [
            name(&[]),
            name(&[&[(CN, text, b"a")]]),
            name(&[&[(CN, text, b"ab")]]),
            name(&[&[(CN, text, b"a b")]]),
            name(&[&[(O, text, b"a")]]),
            name(&[&[(CN, Tag::OctetString, b"a")]]),
            name(&[&[(CN, text, b"a"), (O, text, b"b")]]),
            name(&[&[(CN, text, b"a")], &[(O, text, b"b")]]),
            name(&[&[(O, text, b"b")], &[(CN, text, b"a")]]),
        ];
        for (place, one) in names.iter().enumerate() {
            for other in &names[..place] {
                assert_ne!(
                    CanonicalName::of(one),
                    CanonicalName::of(other),
                    "{one} {other}"
                );
            }
        }
        let below = name(&[&[(CN, text, b"a")], &[(O, text, b"b")]]);
        let mut parts = below.iter_rdn();
        let (first, second) = (parts.next().unwrap(), parts.next().unwrap());
        let above = name(&[&[(CN, Tag::PrintableString, b"A")]]);
        assert_eq!(above.iter_rdn().count(), 1);
        assert_eq!(
            CanonicalName::below(&above, second),
            CanonicalName::of(&below)
        );
        assert_ne!(
            CanonicalName::below(&above, first),
            CanonicalName::of(&below)
        );
    }
}
