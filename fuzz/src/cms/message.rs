//! The parts of a message, and other encodings of it.

use arbitrary::Arbitrary;

use super::ber::{CONSTRUCTED, SEQUENCE, constructed, context, encode, primitive};
use crate::der::{Contents, Element, OCTET_STRING, inner};

/// How the same message is encoded again, in BER.
#[derive(Arbitrary, Debug)]
pub struct Rewriting {
    /// How many outer levels have indefinite lengths.
    indefinite: u8,
    /// Lengths of the pieces that content is split into.
    pieces: Vec<u8>,
    /// Every second piece is within another OCTET STRING.
    are_nested: bool,
}

impl Rewriting {
    pub fn write(&self, mut message: Element) -> Vec<u8> {
        if let Some(content) = content_of(&mut message)
            && let Contents::Bytes(bytes) = &content.contents
            && !self.pieces.is_empty()
        {
            let mut rest = &**bytes;
            let mut pieces = Vec::new();
            for (index, len) in self.pieces.iter().enumerate() {
                let (piece, after) = rest.split_at(rest.len().min(usize::from(*len)));
                rest = after;
                pieces.push(match self.are_nested && index % 2 == 0 {
                    true => constructed(
                        OCTET_STRING | CONSTRUCTED,
                        vec![primitive(OCTET_STRING, piece)],
                    ),
                    false => primitive(OCTET_STRING, piece),
                });
            }
            pieces.push(primitive(OCTET_STRING, rest));
            *content = constructed(content.tag | CONSTRUCTED, pieces);
        }
        encode(&message, usize::from(self.indefinite % 10))
    }
}

/// The fields of a SignedData or an EnvelopedData.
pub fn fields(message: &mut Element) -> &mut Vec<Element> {
    inner(&mut inner(&mut inner(message)[1])[0])
}

/// Where the first field with this tag is.
pub fn place(fields: &[Element], tag: u8) -> Option<usize> {
    fields.iter().position(|field| field.tag == tag)
}

/// The OCTET STRING with the content, if it is there and in one piece.
pub fn content_of(message: &mut Element) -> Option<&mut Element> {
    let fields = fields(message);
    let at = place(fields, SEQUENCE)?;
    match inner(&mut fields[at]).last_mut() {
        Some(content) if content.tag == 0x80 => Some(content),
        Some(content) if content.tag == context(0) => match inner(content).as_mut_slice() {
            [octets] => Some(octets),
            _ => None,
        },
        _ => None,
    }
}
