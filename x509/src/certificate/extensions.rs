//! Extensions of certificates, revocation lists and OCSP messages, whatever they contain.

use alloc::collections::BTreeSet;

use const_oid::{AssociatedOid, ObjectIdentifier};
use der::asn1::{AnyRef, OctetString};
use der::{
    Decode, DecodeValue, Encode, EncodeValue, FixedTag, Header, Length, Reader, Tag, Tagged, Writer,
};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::{
    BasicConstraints, ExtendedKeyUsage, KeyUsage, NameConstraints, SubjectAltName,
};

use super::readable::is_long;

/// The extensions that validation by webpki and this crate processes. A certificate with any other
/// critical extension is refused (RFC 5280 section 4.2).
pub(crate) const PROCESSED: [ObjectIdentifier; 5] = [
    BasicConstraints::OID,
    ExtendedKeyUsage::OID,
    KeyUsage::OID,
    NameConstraints::OID,
    SubjectAltName::OID,
];

/// The extensions of a list or of an OCSP message, of an entry or an answer in it.
///
/// Those that are not critical are left out if their identifiers are too long for `const-oid`, such as UUIDs: nobody
/// here knows them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extensions(pub(crate) Vec<Extension>);

impl FixedTag for Extensions {
    const TAG: Tag = Tag::Sequence;
}

impl<'a> DecodeValue<'a> for Extensions {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, _: Header) -> der::Result<Self> {
        let mut extensions = Vec::new();
        while !reader.is_finished() {
            extensions.extend(Known::decode(reader)?.0);
        }
        Ok(Self(extensions))
    }
}

impl EncodeValue for Extensions {
    fn value_len(&self) -> der::Result<Length> {
        self.0.value_len()
    }

    fn encode_value(&self, writer: &mut impl Writer) -> der::Result<()> {
        self.0.encode_value(writer)
    }
}

/// An extension, unless it is left out.
struct Known(Option<Extension>);

impl FixedTag for Known {
    const TAG: Tag = Tag::Sequence;
}

impl<'a> DecodeValue<'a> for Known {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, _: Header) -> der::Result<Self> {
        let kind = AnyRef::decode(reader)?;
        kind.tag().assert_eq(Tag::ObjectIdentifier)?;
        let critical = Option::<bool>::decode(reader)?.unwrap_or_default();
        let extn_value = OctetString::decode(reader)?;
        match ObjectIdentifier::from_bytes(kind.value()) {
            Ok(extn_id) => Ok(Self(Some(Extension {
                extn_id,
                critical,
                extn_value,
            }))),
            Err(_) if !critical && is_long(kind.value()) => Ok(Self(None)),
            Err(error) => Err(error.into()),
        }
    }
}

/// An extension that occurs more than once, which RFC 5280 section 4.2 forbids.
pub(crate) fn repeated(extensions: &[Extension]) -> Option<ObjectIdentifier> {
    let mut seen = BTreeSet::new();
    let mut kinds = extensions.iter().map(|extension| extension.extn_id);
    kinds.find(|kind| !seen.insert(*kind))
}

/// A critical extension that is not among the processed ones.
pub(crate) fn critical_beside(
    processed: &[ObjectIdentifier],
    extensions: &[Extension],
) -> Option<ObjectIdentifier> {
    let unprocessed = |e: &&Extension| e.critical && !processed.contains(&e.extn_id);
    extensions.iter().find(unprocessed).map(|e| e.extn_id)
}

/// An extension as certificates and lists have it.
pub(crate) fn encode_extension<E: AssociatedOid + Encode>(
    critical: bool,
    extension: &E,
) -> der::Result<Extension> {
    Ok(Extension {
        extn_id: E::OID,
        critical,
        extn_value: OctetString::new(extension.to_der()?)?,
    })
}
