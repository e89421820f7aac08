//! CBOR with any parameters.

use std::collections::BTreeSet;

use arbitrary::Arbitrary;

use super::{COSE_NUMBERS, KEYS, Word, index, seed};
use crate::one_of;

#[derive(Arbitrary, Clone, Debug)]
pub enum Cbor<'a> {
    /// One of [`LABELS`].
    Label(u8),
    Number(i8),
    Wide(i64),
    /// A number too large for a label.
    Huge {
        is_negative: bool,
    },
    Bytes(&'a [u8]),
    Text(Word<'a>),
    Array(Vec<Cbor<'a>>),
    Map(Vec<(Cbor<'a>, Cbor<'a>)>),
    Tag(u16, Box<Cbor<'a>>),
    Bool(bool),
    Null,
    Deep(u8),
    Algorithm(u8),
    Public(u8),
    Seed(u8),
    Malformed(u8),
}

/// CBOR that no reader accepts: not in the shortest form, of indefinite length, or not used in COSE.
const MALFORMED: [&[u8]; 10] = [
    &[0x18, 1],
    &[0x19, 0, 1],
    &[0x58, 1, 0],
    &[0x9f, 0xff],
    &[0x5f, 0xff],
    &[0xf9, 0, 0],
    &[0xf7],
    &[0xff],
    &[0x1c],
    &[0x61, 0xff],
];

const LABELS: [i64; 8] = [4, 1, 2, 3, -1, -2, 7, 0x1_0000];

const MAX_DEPTH: usize = 16;

/// The initial bytes of an item.
pub fn write_head(major: u8, argument: u64, bytes: &mut Vec<u8>) {
    let all = argument.to_be_bytes();
    let (information, len) = match argument {
        0..24 => (argument as u8, 0),
        24..0x100 => (24, 1),
        0x100..0x1_0000 => (25, 2),
        0x1_0000..0x1_0000_0000 => (26, 4),
        _ => (27, 8),
    };
    bytes.push(major << 5 | information);
    bytes.extend(&all[8 - len..]);
}

impl<'a> Cbor<'a> {
    pub fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Huge { is_negative } => write_head((*is_negative).into(), u64::MAX, bytes),
            Self::Bytes(string) => write_string(2, string, bytes),
            Self::Text(word) => write_string(3, word.text().as_bytes(), bytes),
            Self::Array(all) => {
                write_head(4, all.len() as u64, bytes);
                all.iter().for_each(|it| it.write(bytes));
            }
            Self::Map(all) => {
                write_head(5, all.len() as u64, bytes);
                for (key, value) in all {
                    key.write(bytes);
                    value.write(bytes);
                }
            }
            Self::Tag(tag, value) => {
                write_head(6, (*tag).into(), bytes);
                value.write(bytes);
            }
            Self::Bool(value) => bytes.push(0xf4 | u8::from(*value)),
            Self::Null => bytes.push(0xf6),
            Self::Deep(depth) => {
                bytes.extend(vec![0x81; (*depth).into()]);
                bytes.push(0);
            }
            Self::Public(of) => {
                write_string(2, KEYS[index(*of)].0.verifying_key().as_bytes(), bytes);
            }
            Self::Seed(of) => write_string(2, &seed(*of), bytes),
            Self::Malformed(which) => {
                bytes.extend(one_of(&MALFORMED, *which));
            }
            Self::Label(_) | Self::Number(_) | Self::Wide(_) | Self::Algorithm(_) => {
                let number = self.number().expect("a number");
                match u64::try_from(number) {
                    Ok(number) => write_head(0, number, bytes),
                    Err(_) => write_head(1, number.unsigned_abs() - 1, bytes),
                }
            }
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes
    }

    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Label(which) => Some(one_of(&LABELS, *which)),
            Self::Number(number) => Some((*number).into()),
            Self::Wide(number) => Some(*number),
            Self::Deep(0) => Some(0),
            Self::Algorithm(of) => Some(one_of(&COSE_NUMBERS, *of)),
            _ => None,
        }
    }

    pub fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Bytes(bytes) => Some(bytes.to_vec()),
            Self::Public(of) => Some(KEYS[index(*of)].0.verifying_key().as_bytes().to_vec()),
            Self::Seed(of) => Some(seed(*of).to_vec()),
            _ => None,
        }
    }

    pub fn is_label(&self) -> bool {
        self.number().is_some() || matches!(self, Self::Text(_))
    }

    /// Whether readers ignore it, at this depth.
    pub fn is_sound(&self, depth: usize) -> bool {
        let deeper = depth < MAX_DEPTH;
        match self {
            Self::Malformed(_) => false,
            Self::Deep(more) => depth + usize::from(*more) <= MAX_DEPTH,
            Self::Array(all) => deeper && all.iter().all(|it| it.is_sound(depth + 1)),
            Self::Map(all) => {
                let mut keys = BTreeSet::new();
                deeper
                    && all.iter().all(|(key, value)| {
                        key.is_sound(depth + 1)
                            && value.is_sound(depth + 1)
                            && keys.insert(key.to_bytes())
                    })
            }
            Self::Tag(_, value) => deeper && value.is_sound(depth + 1),
            _ => true,
        }
    }
}

fn write_string(major: u8, string: &[u8], bytes: &mut Vec<u8>) {
    write_head(major, string.len() as u64, bytes);
    bytes.extend(string);
}

/// A parameter that is added, or replaces the parameter with the same label.
#[derive(Arbitrary, Clone, Debug)]
pub struct Parameter<'a> {
    pub replaces: bool,
    pub label: AnyLabel<'a>,
    pub value: Cbor<'a>,
}

#[derive(Arbitrary, Clone, Debug)]
pub enum AnyLabel<'a> {
    Known(u8),
    Any(Cbor<'a>),
}

pub type Parameters<'a> = Vec<(Cbor<'a>, Cbor<'a>)>;

pub fn with_parameters<'a>(mut all: Parameters<'a>, changes: &[Parameter<'a>]) -> Parameters<'a> {
    for change in changes {
        let of = match &change.label {
            AnyLabel::Known(which) => Cbor::Label(*which),
            AnyLabel::Any(label) => label.clone(),
        };
        let label = of.to_bytes();
        let mut there = all.iter_mut();
        let place = there.find(|it| change.replaces && it.0.to_bytes() == label);
        match place {
            Some((_, value)) => *value = change.value.clone(),
            None => {
                let at = label.iter().map(|byte| usize::from(*byte)).sum::<usize>();
                all.insert(at % (all.len() + 1), (of, change.value.clone()));
            }
        }
    }
    all
}

pub fn parameter<'p, 'a>(all: &'p Parameters<'a>, number: i64) -> Option<&'p Cbor<'a>> {
    let found = all.iter().find(|(label, _)| label.number() == Some(number));
    found.map(|(_, value)| value)
}

/// Whether all labels are integers or texts and unique, and readers can ignore the values of unknown ones.
pub fn are_labels(all: &Parameters<'_>, known: &[i64]) -> bool {
    let mut labels = BTreeSet::new();
    all.iter().all(|(label, value)| {
        let is_known = label.number().is_some_and(|it| known.contains(&it));
        label.is_label() && labels.insert(label.to_bytes()) && (is_known || value.is_sound(0))
    })
}
