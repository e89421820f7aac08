//! Names and identifiers of keys and certificates (RFC 2985 section 5.5).

use const_oid::ObjectIdentifier;
use const_oid::db::rfc2985::{PKCS_9_AT_FRIENDLY_NAME, PKCS_9_AT_LOCAL_KEY_ID};
use der::asn1::{Any, OctetStringRef, SetOfVec};
use der::{Tag, Tagged};
use pq_keys::pkcs12::for_pkcs12::bmp;
use x509_cert::attr::{Attribute, Attributes};

use super::error::Pkcs12Error;

/// A friendlyName and a localKeyId.
#[derive(Default)]
pub(super) struct Labels {
    pub(super) name: Option<String>,
    pub(super) id: Option<Vec<u8>>,
}

impl Labels {
    /// Reads these two attributes, and skips others, such as those of Java and Windows.
    pub(super) fn read(attributes: Option<&Attributes>) -> Result<Self, Pkcs12Error> {
        let mut labels = Self::default();
        for attribute in attributes.into_iter().flat_map(SetOfVec::iter) {
            let is_second = match attribute.oid {
                PKCS_9_AT_FRIENDLY_NAME => labels.name.replace(read_name(attribute)?).is_some(),
                PKCS_9_AT_LOCAL_KEY_ID => {
                    let octets = only_value(attribute)?.decode_as::<&OctetStringRef>()?;
                    labels.id.replace(octets.as_bytes().to_vec()).is_some()
                }
                _ => false,
            };
            // Readers would disagree on which one counts, and so on which certificate is the key's.
            if is_second {
                return Err(Pkcs12Error::Attribute("there may be only one of its kind"));
            }
        }
        Ok(labels)
    }
}

fn only_value(attribute: &Attribute) -> Result<&Any, Pkcs12Error> {
    match attribute.values.as_slice() {
        [value] => Ok(value),
        _ => Err(Pkcs12Error::Attribute("it must have exactly one value")),
    }
}

fn read_name(attribute: &Attribute) -> Result<String, Pkcs12Error> {
    let value = only_value(attribute)?;
    let (units, rest) = value.value().as_chunks();
    let units = units.iter().map(|unit| u16::from_be_bytes(*unit));
    let name: Result<String, _> = char::decode_utf16(units).collect();
    match name {
        Ok(name) if value.tag() == Tag::BmpString && rest.is_empty() => Ok(name),
        _ => Err(Pkcs12Error::Attribute("a friendlyName must be a BMPString")),
    }
}

/// `None` without a name and an identifier.
pub(super) fn write(
    name: Option<&str>,
    id: Option<&[u8]>,
) -> Result<Option<Attributes>, Pkcs12Error> {
    let mut attributes = Attributes::default();
    let mut add = |oid: ObjectIdentifier, value: Any| {
        let values = SetOfVec::try_from([value])?;
        attributes.insert(Attribute { oid, values })
    };
    if let Some(name) = name {
        let value = Any::new(Tag::BmpString, bmp(name))?;
        add(PKCS_9_AT_FRIENDLY_NAME, value)?;
    }
    if let Some(id) = id {
        add(PKCS_9_AT_LOCAL_KEY_ID, Any::new(Tag::OctetString, id)?)?;
    }
    Ok((!attributes.is_empty()).then_some(attributes))
}
