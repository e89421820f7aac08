//! The attributes of distinguished names, and GeneralNames by their kind.

use const_oid::ObjectIdentifier;

use super::element::{Element, tag};

/// An attribute of a distinguished name (RFC 5280 section 4.1.2.4).
pub(crate) struct Attribute<'a> {
    pub(crate) kind: ObjectIdentifier,
    pub(crate) value: Element<'a>,
}

/// A GeneralName (RFC 5280 section 4.2.1.6).
#[derive(Clone, Copy)]
pub(crate) struct GeneralName<'a>(Element<'a>);

/// The attributes of a distinguished name.
pub(crate) fn attributes<'a>(name: &Element<'a>) -> impl Iterator<Item = Attribute<'a>> + use<'a> {
    let parts = name.elements().flat_map(|part| part.elements());
    parts.filter_map(|attribute| {
        let mut fields = attribute.elements();
        let kind = fields.next_if(tag::OBJECT_IDENTIFIER)?;
        Some(Attribute {
            kind: ObjectIdentifier::from_bytes(kind.value()).ok()?,
            value: fields.next()?,
        })
    })
}

/// The names of GeneralNames.
pub(crate) fn general_names<'a>(
    names: &Element<'a>,
) -> impl Iterator<Item = GeneralName<'a>> + use<'a> {
    names.elements().map(GeneralName)
}

impl<'a> GeneralName<'a> {
    pub(crate) fn of(element: Element<'a>) -> Self {
        Self(element)
    }

    /// An rfc822Name.
    pub(crate) fn email(&self) -> Option<&'a [u8]> {
        self.with_tag(tag::context(1))
    }

    /// A dNSName.
    pub(crate) fn dns(&self) -> Option<&'a [u8]> {
        self.with_tag(tag::context(2))
    }

    /// A uniformResourceIdentifier.
    pub(crate) fn uri(&self) -> Option<&'a [u8]> {
        self.with_tag(tag::context(6))
    }

    /// An iPAddress; in name constraints, with its mask.
    pub(crate) fn address(&self) -> Option<&'a [u8]> {
        self.with_tag(tag::context(7))
    }

    /// The name of a kind that nothing constrains: x400Address, ediPartyName or registeredID.
    pub(crate) fn unconstrained_kind(&self) -> Option<&'static str> {
        const X400_ADDRESS: u8 = tag::around(3);
        const EDI_PARTY_NAME: u8 = tag::around(5);
        const REGISTERED_ID: u8 = tag::context(8);
        match self.0.tag {
            X400_ADDRESS => Some("x400Address"),
            EDI_PARTY_NAME => Some("ediPartyName"),
            REGISTERED_ID => Some("registeredID"),
            _ => None,
        }
    }

    fn with_tag(&self, tag: u8) -> Option<&'a [u8]> {
        (self.0.tag == tag).then(|| self.0.value())
    }
}
