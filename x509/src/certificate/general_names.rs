//! The names in subjectAltName extensions (GeneralNames, RFC 5280 section 4.2.1.6), of every kind: those that this crate
//! uses as what they are, and others as names of their kind.

use const_oid::ObjectIdentifier;
use der::asn1::AnyRef;
use der::{Decode, Tag, TagNumber, Tagged};
use pq_keys::encoding::syntax::{self, Element, SyntaxError};
use x509_cert::name::Name;

use super::universal_string::name_from_der;

/// A name, as far as it is understood.
#[derive(Debug)]
pub(crate) enum GeneralName<'a> {
    Email(&'a str),
    Dns(&'a str),
    Directory(Name),
    Uri(&'a str),
    /// Four octets or 16, unless the name is malformed.
    Ip(&'a [u8]),
    /// A mailbox outside of ASCII (RFC 9598).
    Utf8Email,
    /// A name of the kind with this tag number.
    Other(TagNumber),
}

pub(crate) const EMAIL: TagNumber = TagNumber(1);
pub(crate) const DNS: TagNumber = TagNumber(2);
pub(crate) const DIRECTORY: TagNumber = TagNumber(4);
pub(crate) const URI: TagNumber = TagNumber(6);
pub(crate) const IP: TagNumber = TagNumber(7);

/// Reads the value of a subjectAltName extension.
///
/// # Errors
///
/// [`SyntaxError::Der`] and [`SyntaxError::Form`] if it is no GeneralNames, or if a name has other characters than its
/// kind allows.
pub(crate) fn read(der: &[u8]) -> Result<Vec<GeneralName<'_>>, SyntaxError> {
    let names = AnyRef::from_der(der)?;
    if names.tag() != Tag::Sequence {
        return Err(form(format!("a {} in place of a SEQUENCE", names.tag())));
    }
    let mut read = Vec::new();
    let mut rest = names.value().len();
    for name in syntax::elements(names.value()) {
        rest -= name.whole.len();
        let of_kind = one(name)?;
        read.push(
            of_kind
                .ok_or_else(|| form(format!("a name with the unknown tag 0x{:02x}", name.tag)))?,
        );
    }
    match rest {
        0 => Ok(read),
        _ => Err(der::Error::from(Tag::Sequence.length_error()).into()),
    }
}

/// The error for what is no GeneralNames, though DER.
fn form(found: String) -> SyntaxError {
    SyntaxError::Form {
        place: "its subjectAltName extension".into(),
        found,
    }
}

/// The name, if it is of a known kind.
fn one(name: Element<'_>) -> Result<Option<GeneralName<'_>>, SyntaxError> {
    let value = name.value;
    let text = || match core::str::from_utf8(value) {
        Ok(text) if text.is_ascii() => Ok(text),
        _ => Err(form("a name with characters outside of ASCII".into())),
    };
    // The tags are context-specific; bit 6 is set in those of constructed values.
    Ok(Some(match name.tag {
        0x81 => GeneralName::Email(text()?),
        0x82 => GeneralName::Dns(text()?),
        0x86 => GeneralName::Uri(text()?),
        0x87 => GeneralName::Ip(value),
        0xa4 => match name_from_der(value) {
            Ok(name) => GeneralName::Directory(name),
            Err(_) => GeneralName::Other(DIRECTORY),
        },
        0xa0 if is_of_type(value, SMTP_UTF8_MAILBOX) => GeneralName::Utf8Email,
        0xa0 | 0xa3 | 0xa5 | 0x88 => GeneralName::Other(TagNumber((name.tag & 0x1f).into())),
        _ => return Ok(None),
    }))
}

/// id-on-SmtpUTF8Mailbox (RFC 9598 section 3).
const SMTP_UTF8_MAILBOX: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.8.9");

/// Whether an OtherName is of this type.
fn is_of_type(other_name: &[u8], kind: ObjectIdentifier) -> bool {
    let first = syntax::values(other_name).next();
    first.is_some_and(|id| id.tag() == Tag::ObjectIdentifier && id.value() == kind.as_bytes())
}
