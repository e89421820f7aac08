//! Content of messages, and its types.

use arbitrary::Arbitrary;
use pq_cms::ObjectIdentifier;

use super::ber::{OID, SEQUENCE, SET, constructed, encode, primitive};
use crate::der::OCTET_STRING;

#[derive(Arbitrary, Debug)]
pub struct AnyContent {
    len: Len,
    filling: Filling,
}

/// Lengths close to those of the pieces in which content is read.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Len {
    Few(u8),
    Piece(i8),
    Pieces(i8),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Filling {
    Byte(u8),
    Counted,
    /// A SET that could be taken for signed attributes.
    Attributes,
}

/// The length of the pieces in which content is read.
pub const PIECE: usize = 64 * 1024;

impl AnyContent {
    pub fn bytes(&self) -> Vec<u8> {
        let len = match self.len {
            Len::Few(len) => len.into(),
            Len::Piece(more) => PIECE.saturating_add_signed(more.into()),
            Len::Pieces(more) => (2 * PIECE).saturating_add_signed(more.into()),
        };
        match self.filling {
            Filling::Byte(byte) => vec![byte; len],
            Filling::Counted => (0..len).map(|at| (at / 5) as u8).collect(),
            Filling::Attributes => {
                let value = primitive(OCTET_STRING, &vec![0; len]);
                let values = constructed(SET, vec![value]);
                let attribute = vec![primitive(OID, &[0x2a, 3]), values];
                encode(&constructed(SET, vec![constructed(SEQUENCE, attribute)]), 0)
            }
        }
    }

    /// Whether it could be taken for signed attributes, and so is never signed without attributes.
    pub fn is_attributes(&self) -> bool {
        matches!(self.filling, Filling::Attributes)
    }
}

/// Plain data, the only content type that is signed without attributes.
pub const DATA: ObjectIdentifier = oid("1.2.840.113549.1.7.1");

/// Content types.
pub const TYPES: [ObjectIdentifier; 3] = [
    DATA,
    oid("1.2.840.113549.1.7.2"),
    oid("1.3.6.1.4.1.99999.1"),
];

const fn oid(text: &str) -> ObjectIdentifier {
    ObjectIdentifier::new_unwrap(text)
}
