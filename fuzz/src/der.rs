//! Edits of DER for the fuzzer: a document is taken apart into elements, changed, and encoded again, so that not every
//! change ends at a wrong length.

use arbitrary::Arbitrary;

use crate::Edit;

/// Changes to a DER document: first to its elements, whose lengths follow, then to its bytes.
#[derive(Arbitrary, Debug)]
pub struct DerEdits<'a> {
    elements: Vec<(u16, ElementEdit<'a>)>,
    bytes: Vec<Edit<'a>>,
}

impl DerEdits<'_> {
    /// `document` after these changes.
    pub fn of(&self, document: &[u8]) -> Vec<u8> {
        let mut bytes = document.to_vec();
        if !self.elements.is_empty()
            && let Some(mut elements) = parse(document)
        {
            for (index, edit) in &self.elements {
                edit.apply(&mut elements, usize::from(*index));
            }
            bytes.clear();
            encode(&elements, &mut bytes);
        }
        for edit in &self.bytes {
            edit.apply(&mut bytes);
        }
        bytes
    }
}

/// A change to an element of DER.
#[derive(Arbitrary, Debug)]
enum ElementEdit<'a> {
    Retag(u8),
    Fill(&'a [u8]),
    EditContents(Edit<'a>),
    Remove,
    Repeat,
    SwapWithNext,
    InsertBefore(u8, &'a [u8]),
    Wrap(u8),
}

impl ElementEdit<'_> {
    /// Changes the element with this index, in the order of the DER.
    fn apply(&self, elements: &mut Vec<Element>, index: usize) {
        let count = count(elements);
        if count == 0 {
            return;
        }
        let (siblings, at) = find(elements, index % count);
        let element = &mut siblings[at];
        match *self {
            Self::Retag(tag) => element.tag = tag,
            Self::Fill(bytes) => element.contents = Contents::Bytes(bytes.to_vec()),
            Self::EditContents(ref edit) => {
                if let Contents::Bytes(bytes) = &mut element.contents {
                    edit.apply(bytes);
                }
            }
            Self::Remove => drop(siblings.remove(at)),
            Self::Repeat => {
                let again = element.clone();
                siblings.insert(at, again);
            }
            Self::SwapWithNext => {
                let next = (at + 1) % siblings.len();
                siblings.swap(at, next);
            }
            Self::InsertBefore(tag, bytes) => siblings.insert(
                at,
                Element {
                    tag,
                    contents: Contents::Bytes(bytes.to_vec()),
                },
            ),
            Self::Wrap(tag) => {
                let inner = element.clone();
                *element = Element {
                    tag,
                    contents: Contents::Elements(Vec::new(), vec![inner]),
                };
            }
        }
    }
}

/// A tag of one byte, and the contents.
#[derive(Clone, Debug)]
pub struct Element {
    pub tag: u8,
    pub contents: Contents,
}

#[derive(Clone, Debug)]
pub enum Contents {
    Bytes(Vec<u8>),
    /// Elements, perhaps in a string, and the bytes before them: the number of unused bits of a BIT STRING.
    Elements(Vec<u8>, Vec<Element>),
}

/// The elements that `der` consists of; `None` if it has anything else.
pub fn parse(mut der: &[u8]) -> Option<Vec<Element>> {
    let mut elements = Vec::new();
    while !der.is_empty() {
        let (&[tag, first], rest) = der.split_first_chunk()?;
        let (len, rest) = match first {
            ..=0x7f => (usize::from(first), rest),
            0x81 => (usize::from(*rest.first()?), &rest[1..]),
            0x82 => {
                let (len, rest) = rest.split_first_chunk()?;
                (u16::from_be_bytes(*len).into(), rest)
            }
            _ => return None,
        };
        let (bytes, rest) = rest.split_at_checked(len)?;
        // The contents of a string need not be DER.
        let prefix = match (tag, bytes) {
            (BIT_STRING, [0, ..]) => Some(1),
            (OCTET_STRING, _) | (CONSTRUCTED.., _) => Some(0),
            _ => None,
        };
        let inner = prefix.map(|prefix| bytes.split_at(prefix));
        let inner = inner.and_then(|(prefix, inner)| {
            let inner = parse(inner).filter(|inner| !inner.is_empty())?;
            Some(Contents::Elements(prefix.to_vec(), inner))
        });
        elements.push(Element {
            tag,
            contents: inner.unwrap_or_else(|| Contents::Bytes(bytes.to_vec())),
        });
        der = rest;
    }
    Some(elements)
}

/// The elements of the SEQUENCE that the document consists of.
pub fn parts(document: &mut [Element]) -> &mut Vec<Element> {
    match document {
        [sequence] => inner(sequence),
        _ => unreachable!("a document is one SEQUENCE"),
    }
}

/// The elements that an element consists of.
pub fn inner(element: &mut Element) -> &mut Vec<Element> {
    match &mut element.contents {
        Contents::Elements(_, inner) => inner,
        Contents::Bytes(_) => panic!("{:02x} has nothing in it", element.tag),
    }
}

pub fn encode(elements: &[Element], output: &mut Vec<u8>) {
    for element in elements {
        let mut contents = Vec::new();
        match &element.contents {
            Contents::Bytes(bytes) => contents.extend(bytes),
            Contents::Elements(prefix, inner) => {
                contents.extend(prefix);
                encode(inner, &mut contents);
            }
        }
        output.push(element.tag);
        match contents.len() {
            len @ 0..0x80 => output.push(len as u8),
            len @ 0x80..0x100 => output.extend([0x81, len as u8]),
            len @ 0x100..0x1_0000 => {
                output.push(0x82);
                output.extend((len as u16).to_be_bytes());
            }
            len => {
                output.push(0x84);
                output.extend((len as u32).to_be_bytes());
            }
        }
        output.append(&mut contents);
    }
}

/// The number of elements, including nested ones.
fn count(elements: &[Element]) -> usize {
    let inner = |element: &Element| match &element.contents {
        Contents::Bytes(_) => 0,
        Contents::Elements(_, inner) => count(inner),
    };
    elements.iter().map(|element| 1 + inner(element)).sum()
}

/// Finds the element with this index among all: its siblings, and its index among them.
fn find(elements: &mut Vec<Element>, index: usize) -> (&mut Vec<Element>, usize) {
    let mut before = 0;
    for at in 0..elements.len() {
        if before == index {
            return (elements, at);
        }
        let size = count(&elements[at..=at]);
        if index < before + size {
            return find(inner(&mut elements[at]), index - before - 1);
        }
        before += size;
    }
    unreachable!("the index is below the count")
}

const BIT_STRING: u8 = 0x03;
pub const OCTET_STRING: u8 = 0x04;
/// The tags from here on: SEQUENCE, SET, and all constructed and primitive tags of other classes.
const CONSTRUCTED: u8 = 0x20;
