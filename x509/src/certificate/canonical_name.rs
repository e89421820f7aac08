//! Distinguished names in a form in which equal ones are equal bytes.

use const_oid::ObjectIdentifier;
use const_oid::db::{rfc3280, rfc4519};
use der::{Tag, Tagged};
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::name::{Name, RelativeDistinguishedName};

use super::unseen::characters;

/// Whether two distinguished names are the same for whoever compares them by RFC 5280 section 7.1: the types of their
/// strings make no difference, nor do the cases of letters, nor how many spaces there are between words.
///
/// Unicode is not normalised: names that differ in that alone are different here.
///
/// ```
/// use pq_x509::certificate::is_same_name;
/// use pq_x509::x509_cert::name::Name;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let [one, other]: [Name; 2] = ["CN=Example CA".parse()?, "CN=example  ca".parse()?];
/// assert!(is_same_name(&one, &other));
/// # Ok(())
/// # }
/// ```
pub fn is_same_name(one: &Name, other: &Name) -> bool {
    CanonicalName::of(one) == CanonicalName::of(other)
}

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

    /// The name as it links certificates to their issuers (RFC 5280 section 6.1.3, step (a)(4)): values are folded only
    /// if their types are compared in letters of any case, so that names are the same only if they are by that section.
    pub(crate) fn in_paths(name: &Name) -> Self {
        Self::folded_if(name.iter_rdn(), ignores_case)
    }

    /// Bytes that are the same for equal names.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn of_parts<'a>(parts: impl Iterator<Item = &'a RelativeDistinguishedName>) -> Self {
        Self::folded_if(parts, |_| true)
    }

    fn folded_if<'a>(
        parts: impl Iterator<Item = &'a RelativeDistinguishedName>,
        is_folded: fn(ObjectIdentifier) -> bool,
    ) -> Self {
        let mut bytes = Vec::with_capacity(128);
        for part in parts {
            match part.len() {
                1 => part
                    .iter()
                    .for_each(|one| append_attribute(&mut bytes, one, is_folded)),
                _ => append_in_order(&mut bytes, part, is_folded),
            }
            // after the last one, as no attribute is empty
            append(&mut bytes, &[]);
        }
        Self(bytes)
    }
}

/// Appends the attributes of a part in an order that doesn't depend on theirs.
fn append_in_order(
    bytes: &mut Vec<u8>,
    part: &RelativeDistinguishedName,
    is_folded: fn(ObjectIdentifier) -> bool,
) {
    let attribute = |attribute| {
        let mut bytes = Vec::new();
        append_attribute(&mut bytes, attribute, is_folded);
        bytes
    };
    let mut attributes: Vec<_> = part.iter().map(attribute).collect();
    attributes.sort_unstable();
    bytes.extend(attributes.into_iter().flatten());
}

const TEXTS: [Tag; 7] = [
    Tag::Utf8String,
    Tag::PrintableString,
    Tag::Ia5String,
    Tag::VisibleString,
    Tag::NumericString,
    Tag::TeletexString,
    Tag::BmpString,
];

/// Appends the type and the value of an attribute, with the length of both in front of them.
fn append_attribute(
    bytes: &mut Vec<u8>,
    attribute: &AttributeTypeAndValue,
    is_folded: fn(ObjectIdentifier) -> bool,
) {
    let start = bytes.len();
    append(bytes, &[]);
    append(bytes, attribute.oid.as_bytes());
    let (tag, value) = (attribute.value.tag(), attribute.value.value());
    if !(TEXTS.contains(&tag) && is_folded(attribute.oid)) {
        // No text begins with this byte.
        bytes.push(0xff);
        append(bytes, tag.to_string().as_bytes());
        bytes.extend(value);
    } else if tag != Tag::BmpString && value.is_ascii() {
        append_folded(bytes, value);
    } else {
        bytes.extend(folded(&characters(tag, value)).bytes());
    }
    let len = len_of(&bytes[start + LENGTH..]);
    bytes[start..][..LENGTH].copy_from_slice(&len);
}

/// Whether values of this type are compared in letters of any case: strings of X.520, domain
/// components, user identifiers and e-mail addresses are.
pub(crate) fn ignores_case(attribute: ObjectIdentifier) -> bool {
    const X520: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4");
    attribute.starts_with(X520)
        || [rfc4519::DC, rfc4519::UID, rfc3280::EMAIL_ADDRESS].contains(&attribute)
}

/// The words of a text in lower case, one space between them.
fn folded(text: &[char]) -> String {
    let text: String = text.iter().flat_map(|one| one.to_lowercase()).collect();
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ")
}

/// Appends what [`folded`] makes of a text in ASCII, as nearly all are: a search through revocation lists begins with it.
fn append_folded(bytes: &mut Vec<u8>, text: &[u8]) {
    let words = text.split(|byte| char::from(*byte).is_whitespace());
    for (place, word) in words.filter(|word| !word.is_empty()).enumerate() {
        bytes.extend((place > 0).then_some(b' '));
        bytes.extend(word.iter().map(u8::to_ascii_lowercase));
    }
}

const LENGTH: usize = 8;

fn len_of(part: &[u8]) -> [u8; LENGTH] {
    (part.len() as u64).to_be_bytes()
}

/// Appends a part with its length in front of it, so that no two sequences of parts have the same bytes.
fn append(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend(len_of(part));
    bytes.extend(part);
}

#[cfg(test)]
mod tests {
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

    /// Nothing is known of how values of other types are compared, so that only equal ones link certificates.
    #[test]
    fn names_in_paths() {
        const PRIVATE: &str = "1.3.6.1.4.1.99999.1";
        let same = |oid, one: &[u8], tag, other: &[u8]| {
            let of = |tag, value| CanonicalName::in_paths(&name(&[&[(oid, tag, value)]]));
            of(Tag::Utf8String, one) == of(tag, other)
        };
        assert!(same(
            CN,
            b"Example CA",
            Tag::PrintableString,
            b"EXAMPLE  ca"
        ));
        assert!(same(PRIVATE, b"a", Tag::Utf8String, b"a"));
        assert!(!same(PRIVATE, b"a", Tag::Utf8String, b"A"));
        assert!(!same(PRIVATE, b"a", Tag::PrintableString, b"a"));
    }

    #[test]
    fn text_in_ascii_is_folded_like_any_other() {
        for byte in 0..0x80 {
            for text in [&[byte][..], &[b'A', byte, byte, b'Z'], &[byte, b'm', byte]] {
                let mut bytes = Vec::new();
                append_folded(&mut bytes, text);
                assert_eq!(
                    bytes,
                    folded(&characters(Tag::Utf8String, text)).as_bytes(),
                    "{text:?}"
                );
            }
        }
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
