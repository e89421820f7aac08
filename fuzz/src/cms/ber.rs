//! Elements in BER. Unlike those of [`crate::der`], they have lengths of any size, also indefinite ones, and only
//! their tags say which contain others.

use crate::der::{Contents, Element};

pub const INTEGER: u8 = 0x02;
pub const OID: u8 = 0x06;
pub const SEQUENCE: u8 = 0x30;
pub const SET: u8 = 0x31;
/// The bit of a tag that says that the contents are elements.
pub const CONSTRUCTED: u8 = 0x20;

pub const fn context(number: u8) -> u8 {
    0x80 | CONSTRUCTED | number
}

pub fn primitive(tag: u8, bytes: &[u8]) -> Element {
    Element {
        tag,
        contents: Contents::Bytes(bytes.to_vec()),
    }
}

pub fn constructed(tag: u8, inner: Vec<Element>) -> Element {
    Element {
        tag,
        contents: Contents::Elements(Vec::new(), inner),
    }
}

/// Reads one element of any length, and its contents if its tag says that it is constructed.
pub fn parse(ber: &mut &[u8]) -> Element {
    let [tag, first, rest @ ..] = *ber else {
        panic!("cut short")
    };
    *ber = rest;
    let end = match first {
        0x80 => None,
        0..0x80 => Some(usize::from(*first)),
        _ => {
            let (len, rest) = ber.split_at(usize::from(first & 0x7f));
            *ber = rest;
            Some(
                len.iter()
                    .fold(0, |len, byte| len << 8 | usize::from(*byte)),
            )
        }
    };
    let mut inner = Vec::new();
    let Some(len) = end else {
        while !ber.starts_with(&[0, 0]) {
            inner.push(parse(ber));
        }
        *ber = &ber[2..];
        return constructed(*tag, inner);
    };
    let (mut bytes, rest) = ber.split_at(len);
    *ber = rest;
    if tag & CONSTRUCTED == 0 {
        return primitive(*tag, bytes);
    }
    while !bytes.is_empty() {
        inner.push(parse(&mut bytes));
    }
    constructed(*tag, inner)
}

/// The element in BER, with indefinite lengths in this many outer levels.
pub fn encode(element: &Element, indefinite: usize) -> Vec<u8> {
    let inner = match &element.contents {
        Contents::Bytes(bytes) => bytes.clone(),
        Contents::Elements(_, inner) => (inner.iter())
            .flat_map(|it| encode(it, indefinite.saturating_sub(1)))
            .collect(),
    };
    let is_definite = indefinite == 0 || element.tag & CONSTRUCTED == 0;
    let len = inner.len().to_be_bytes();
    let len = &len[len.iter().take_while(|byte| **byte == 0).count()..];
    let mut bytes = vec![element.tag];
    match len {
        _ if !is_definite => bytes.push(0x80),
        [] => bytes.push(0),
        [len @ 0..0x80] => bytes.push(*len),
        _ => {
            bytes.push(0x80 | len.len() as u8);
            bytes.extend(len);
        }
    }
    bytes.extend(inner);
    if !is_definite {
        bytes.extend([0, 0]);
    }
    bytes
}
