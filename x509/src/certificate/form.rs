//! What is wrong with a document that its reader refused: whether it is no DER, or which of its parts has another form
//! than its standard defines, or a value that is not read here.
//!
//! A document is taken apart again only after it was refused.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::{
    ID_CE_AUTHORITY_KEY_IDENTIFIER, ID_CE_BASIC_CONSTRAINTS, ID_CE_CRL_NUMBER, ID_CE_CRL_REASONS,
    ID_CE_EXT_KEY_USAGE, ID_CE_ISSUING_DISTRIBUTION_POINT, ID_CE_KEY_USAGE, ID_CE_NAME_CONSTRAINTS,
    ID_CE_SUBJECT_ALT_NAME, ID_CE_SUBJECT_KEY_IDENTIFIER,
};
use const_oid::db::rfc6960::ID_PKIX_OCSP_NONCE;
use der::asn1::{AnyRef, BitString, IntRef};
use der::{Decode, Tag, Tagged};
use pq_keys::encoding::syntax::{self, Element, SyntaxError, found};
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use x509_cert::certificate::Version;
use x509_cert::ext::Extension;
use x509_cert::serial_number::SerialNumber;
use x509_cert::time::Time;

use super::readable::{is_critical, is_long};
use super::universal_string::name_from_der;

/// A part of a document, in its place.
pub(crate) struct Part {
    name: &'static str,
    /// The first bytes of the tags of an optional part.
    optional: &'static [u8],
    check: fn(Element<'_>) -> Result<(), String>,
}

const fn part(name: &'static str, check: fn(Element<'_>) -> Result<(), String>) -> Part {
    optional(name, &[], check)
}

const fn optional(
    name: &'static str,
    tags: &'static [u8],
    check: fn(Element<'_>) -> Result<(), String>,
) -> Part {
    Part {
        name,
        optional: tags,
        check,
    }
}

/// TBSCertificate (RFC 5280 section 4.1).
pub(crate) static CERTIFICATE: &[Part] = &[
    optional("version", &[0xa0], |element| {
        decoded::<Version>(inside(element)?)
    }),
    part("serial number", serial_number),
    part("signature algorithm", |element| {
        borrowed::<AlgorithmIdentifierRef<'_>>(element)
    }),
    part("issuer", name),
    part("validity", |element| {
        contents(
            element,
            &[
                part("notBefore", decoded::<Time>),
                part("notAfter", decoded::<Time>),
            ],
        )
        .map_err(|(name, found)| format!("{found} as its {name}"))
    }),
    part("subject", name),
    part("public key", |element| {
        borrowed::<SubjectPublicKeyInfoRef<'_>>(element)
    }),
    optional("issuerUniqueID", &[0x81], |_| Ok(())),
    optional("subjectUniqueID", &[0x82], |_| Ok(())),
    optional("list of extensions", &[0xa3], extensions),
];

/// TBSCertList (RFC 5280 section 5.1).
pub(crate) static REVOCATION_LIST: &[Part] = &[
    optional("version", &[0x02], decoded::<Version>),
    part("signature algorithm", |element| {
        borrowed::<AlgorithmIdentifierRef<'_>>(element)
    }),
    part("issuer", name),
    part("thisUpdate", |_| Ok(())),
    optional("nextUpdate", &[0x17, 0x18], |_| Ok(())),
    optional("list of revoked certificates", &[0x30], |list| {
        let mut entries = syntax::elements(list.value);
        entries.try_for_each(|entry| {
            let mut fields = syntax::elements(entry.value);
            fields.next().map_or(Ok(()), serial_number)
        })
    }),
    optional("list of extensions", &[0xa0], extensions),
];

/// CertificationRequestInfo (RFC 2986 section 4.1).
pub(crate) static REQUEST: &[Part] = &[
    part("version", decoded::<Version>),
    part("subject", name),
    part("public key", |element| {
        borrowed::<SubjectPublicKeyInfoRef<'_>>(element)
    }),
    part("list of attributes", |element| match element.tag {
        0xa0 => Ok(()),
        other => Err(format!("a value with the unexpected tag 0x{other:02x}")),
    }),
];

/// Why a document that consists of a body with these parts, an algorithm and a signature was refused with an error.
pub(crate) fn explain<E>(der: &[u8], parts: &[Part], error: der::Error) -> E
where
    E: From<der::Error> + From<SyntaxError>,
{
    if !syntax::is_der(der) {
        return error.into();
    }
    let mut whole = syntax::elements(der);
    let document = whole.next().filter(|_| whole.next().is_none());
    let body = document.and_then(|document| syntax::elements(document.value).next());
    let of_envelope = |document| {
        let envelope = [
            part("signed part", |_| Ok(())),
            part("signature algorithm", |element| {
                borrowed::<AlgorithmIdentifierRef<'_>>(element)
            }),
            part("signature", decoded::<BitString>),
        ];
        contents(document, &envelope)
    };
    let wrong = document.and_then(|document| of_envelope(document).err());
    let wrong = wrong.or_else(|| contents(body?, parts).err());
    let (name, found) = wrong.unwrap_or_else(|| ("form", found(error)));
    SyntaxError::Form {
        place: format!("its {name}"),
        found,
    }
    .into()
}

/// Why a document whose parts are not told apart was refused with an error.
pub(crate) fn of_document<E>(der: &[u8], error: der::Error) -> E
where
    E: From<der::Error> + From<SyntaxError>,
{
    if !syntax::is_der(der) {
        return error.into();
    }
    SyntaxError::Form {
        place: "one of its parts".into(),
        found: found(error),
    }
    .into()
}

/// Why the contents of an extension were refused with an error.
pub(crate) fn of_extension(
    kind: ObjectIdentifier,
    contents: &[u8],
    error: der::Error,
) -> SyntaxError {
    SyntaxError::Form {
        place: format!("its {} extension", extension_name(kind)),
        found: match syntax::is_der(contents) {
            true => found(error),
            false => format!("contents that are no DER: {error}"),
        },
    }
}

/// The first of the parts that is wrong, by its name, and what is there.
fn contents(element: Element<'_>, parts: &[Part]) -> Result<(), (&'static str, String)> {
    let mut elements = syntax::elements(element.value).peekable();
    for part in parts {
        let is_here = |element: &Element<'_>| {
            part.optional.is_empty() || part.optional.contains(&element.tag)
        };
        match elements.next_if(is_here) {
            Some(element) => (part.check)(element).map_err(|found| (part.name, found))?,
            None if part.optional.is_empty() => return Err(("form", format!("no {}", part.name))),
            None => {}
        }
    }
    match elements.next() {
        Some(element) => Err((
            "form",
            format!("an unknown field (tag 0x{:02x})", element.tag),
        )),
        None => Ok(()),
    }
}

/// Whether an element can be decoded as this type.
fn decoded<T: for<'a> Decode<'a, Error = der::Error>>(element: Element<'_>) -> Result<(), String> {
    borrowed::<T>(element)
}

/// The same for a type that borrows from the element.
fn borrowed<'a, T: Decode<'a, Error = der::Error>>(element: Element<'a>) -> Result<(), String> {
    T::from_der(element.whole).map(drop).map_err(found)
}

/// The value in an explicit tag.
fn inside(element: Element<'_>) -> Result<Element<'_>, String> {
    syntax::elements(element.value)
        .next()
        .ok_or_else(|| "nothing in it".into())
}

fn name(element: Element<'_>) -> Result<(), String> {
    name_from_der(element.whole).map(drop).map_err(found)
}

fn serial_number(element: Element<'_>) -> Result<(), String> {
    match SerialNumber::<x509_cert::certificate::Rfc5280>::from_der(element.whole) {
        Ok(_) => Ok(()),
        Err(error) if IntRef::from_der(element.whole).is_err() => Err(found(error)),
        Err(_) => Err(format!(
            "{} octets, more than the 20 that RFC 5280 section 4.1.2.2 allows",
            element.value.len()
        )),
    }
}

fn extensions(element: Element<'_>) -> Result<(), String> {
    let mut seen = Vec::new();
    for extension in syntax::elements(inside(element)?.value) {
        let kind = syntax::elements(extension.value).next();
        match kind.filter(|kind| kind.tag == 6 && is_long(kind.value)) {
            Some(kind) if is_critical(extension) => {
                return Err(format!(
                    "the critical extension {}, which is not supported",
                    dotted(kind.value)
                ));
            }
            Some(kind) if seen.contains(&kind.value) => {
                return Err(format!(
                    "the extension {} more than once",
                    dotted(kind.value)
                ));
            }
            Some(kind) => seen.push(kind.value),
            None => decoded::<Extension>(extension)?,
        }
    }
    Ok(())
}

/// An object identifier with numbers of any length, as text.
fn dotted(identifier: &[u8]) -> String {
    let mut numbers = Vec::new();
    // The decimal digits of a number, the last one first.
    let mut digits = vec![0_u8];
    for byte in identifier {
        let mut carry = u32::from(byte & 0x7f);
        for digit in &mut digits {
            carry += u32::from(*digit) << 7;
            *digit = (carry % 10) as u8;
            carry /= 10;
        }
        while carry > 0 {
            digits.push((carry % 10) as u8);
            carry /= 10;
        }
        if byte & 0x80 == 0 {
            numbers.push(core::mem::replace(&mut digits, vec![0]));
        }
    }
    let text = |digits: &Vec<u8>| -> String {
        digits
            .iter()
            .rev()
            .map(|digit| char::from(b'0' + digit))
            .collect()
    };
    let Some((first, rest)) = numbers.split_first() else {
        return String::new();
    };
    // The first number has the first two arcs in it, and is 2.n for 80 + n.
    let first = match text(first).parse::<u32>() {
        Ok(first @ 0..=79) => format!("{}.{}", first / 40, first % 40),
        Ok(first) => format!("2.{}", first - 80),
        Err(_) => "2.(a number above 32 bits)".into(),
    };
    let rest = rest.iter().map(text);
    core::iter::once(first)
        .chain(rest)
        .collect::<Vec<_>>()
        .join(".")
}

/// The standard's name of an extension that readers use, or else its object identifier.
fn extension_name(kind: ObjectIdentifier) -> String {
    let known = [
        (ID_CE_AUTHORITY_KEY_IDENTIFIER, "authorityKeyIdentifier"),
        (ID_CE_BASIC_CONSTRAINTS, "basicConstraints"),
        (ID_CE_CRL_NUMBER, "cRLNumber"),
        (ID_CE_CRL_REASONS, "reasonCode"),
        (ID_CE_EXT_KEY_USAGE, "extKeyUsage"),
        (ID_CE_ISSUING_DISTRIBUTION_POINT, "issuingDistributionPoint"),
        (ID_CE_KEY_USAGE, "keyUsage"),
        (ID_CE_NAME_CONSTRAINTS, "nameConstraints"),
        (ID_CE_SUBJECT_ALT_NAME, "subjectAltName"),
        (ID_CE_SUBJECT_KEY_IDENTIFIER, "subjectKeyIdentifier"),
        (ID_PKIX_OCSP_NONCE, "nonce"),
    ];
    let found = known.iter().find(|(known, _)| *known == kind);
    found.map_or_else(|| kind.to_string(), |(_, name)| (*name).into())
}

/// The keyIdentifier of an authorityKeyIdentifier extension (RFC 5280 section 4.2.1.1), if it has one. Its other
/// fields can have any contents: nothing here uses them.
///
/// # Errors
///
/// If it is malformed.
pub(crate) fn authority_key_id(der: &[u8]) -> der::Result<Option<&[u8]>> {
    let fields = AnyRef::from_der(der)?;
    if fields.tag() != Tag::Sequence {
        return Err(fields.tag().unexpected_error(Some(Tag::Sequence)).into());
    }
    let mut rest = fields.value();
    let mut next = |tag| {
        let field = syntax::elements(rest)
            .next()
            .filter(|field| field.tag == tag)?;
        rest = &rest[field.whole.len()..];
        Some(field.value)
    };
    let key_id = next(0x80);
    let _ = next(0xa1);
    let _ = next(0x82);
    match rest {
        [] => Ok(key_id),
        _ => Err(Tag::Sequence.value_error().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_of_any_length() {
        for (bytes, expected) in [
            (&[0x2a, 0x03][..], "1.2.3"),
            (&[0x88, 0x37, 0x01], "2.999.1"),
            (&[0x69, 0x90, 0x80, 0x80, 0x80, 0x00], "2.25.4294967296"),
            (
                &[
                    0x69, 131, 240, 157, 167, 235, 207, 222, 224, 199, 161, 167, 178, 192, 148,
                    140, 200, 249, 215, 118,
                ],
                "2.25.329800735698586629295641978511506172918",
            ),
        ] {
            let text = dotted(bytes);
            assert_eq!(text, expected);
        }
    }
}
