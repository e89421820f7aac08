//! The tags that CMS uses, of one byte each.

pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const SET: u8 = 0x31;

/// The bit which says that a value consists of others.
pub(crate) const CONSTRUCTED: u8 = 0x20;

/// A context-specific tag of a value that is not made of others.
pub(crate) const fn context(number: u8) -> u8 {
    0x80 | number
}

/// A context-specific tag of a value that consists of others.
pub(crate) const fn context_constructed(number: u8) -> u8 {
    context(number) | CONSTRUCTED
}
