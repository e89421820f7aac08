//! DER as a tree, to change something in it and write it again.

use const_oid::ObjectIdentifier;

#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// A value with other values in it.
    Inner(u8, Vec<Self>),
    /// Any other value.
    Leaf(u8, Vec<u8>),
}

impl Node {
    /// Reads bytes that are exactly one value.
    pub(crate) fn read(der: &[u8]) -> Self {
        let mut nodes = Self::read_all(der);
        assert_eq!(nodes.len(), 1);
        nodes.remove(0)
    }

    pub(crate) fn read_all(mut der: &[u8]) -> Vec<Self> {
        let mut nodes = Vec::new();
        while let &[tag, first, ref rest @ ..] = der {
            let octets = match first {
                0x80.. => usize::from(first - 0x80),
                _ => 0,
            };
            let (len, rest) = rest.split_at(octets);
            let len = match octets {
                0 => first.into(),
                _ => len
                    .iter()
                    .fold(0, |len, octet| len << 8 | usize::from(*octet)),
            };
            let (value, rest) = rest.split_at(len);
            nodes.push(match tag & 0x20 {
                0 => Self::Leaf(tag, value.to_vec()),
                _ => Self::Inner(tag, Self::read_all(value)),
            });
            der = rest;
        }
        nodes
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        match self {
            Self::Inner(tag, nodes) => tlv(
                *tag,
                &nodes.iter().flat_map(Self::write).collect::<Vec<_>>(),
            ),
            Self::Leaf(tag, value) => tlv(*tag, value),
        }
    }

    pub(crate) fn nodes(&mut self) -> &mut Vec<Self> {
        match self {
            Self::Inner(_, nodes) => nodes,
            other => panic!("{other:?} has no values in it"),
        }
    }

    pub(crate) fn value(&mut self) -> &mut Vec<u8> {
        match self {
            Self::Leaf(_, value) => value,
            other => panic!("{other:?} has values in it"),
        }
    }

    pub(crate) fn set_tag(&mut self, tag: u8) {
        match self {
            Self::Inner(old, _) | Self::Leaf(old, _) => *old = tag,
        }
    }
}

pub(crate) fn tlv(tag: u8, value: &[u8]) -> Vec<u8> {
    let len = value.len();
    let mut der = match len {
        ..0x80 => vec![tag, len as u8],
        0x80..0x100 => vec![tag, 0x81, len as u8],
        0x100..0x1_0000 => vec![tag, 0x82, (len >> 8) as u8, len as u8],
        _ => vec![tag, 0x83, (len >> 16) as u8, (len >> 8) as u8, len as u8],
    };
    der.extend(value);
    der
}

pub(crate) fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    tlv(0x30, &parts.concat())
}

pub(crate) fn oid(oid: ObjectIdentifier) -> Vec<u8> {
    tlv(6, oid.as_bytes())
}

/// A name with one attribute, its value of this type.
pub(crate) fn name(kind: ObjectIdentifier, tag: u8, value: &[u8]) -> Node {
    let attribute = sequence(&[oid(kind), tlv(tag, value)]);
    Node::read(&sequence(&[tlv(0x31, &attribute)]))
}
