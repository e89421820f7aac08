//! Edits of bytes for the fuzzer: bits are flipped, bytes set, inserted and removed, and coefficients of ML-KEM
//! changed.

use arbitrary::Arbitrary;

/// Bytes from the fuzzer: its own, or valid ones that it edits.
#[derive(Arbitrary, Debug)]
pub enum Bytes<'a> {
    Edited(Vec<Edit<'a>>),
    /// Repeated up to the length of the valid ones.
    Repeated(&'a [u8]),
    Whole(&'a [u8]),
}

impl Bytes<'_> {
    /// `valid` after the changes, or the fuzzer's own bytes.
    pub fn of(&self, valid: &[u8]) -> Vec<u8> {
        match self {
            Self::Edited(edits) => {
                let mut bytes = valid.to_vec();
                for edit in edits {
                    edit.apply(&mut bytes);
                }
                bytes
            }
            Self::Repeated(pattern) => pattern.iter().copied().cycle().take(valid.len()).collect(),
            Self::Whole(bytes) => bytes.to_vec(),
        }
    }
}

/// A change to bytes. Positions count from the front, and wrap around at the end.
#[derive(Arbitrary, Debug)]
pub enum Edit<'a> {
    Flip {
        at: u16,
        bit: u8,
    },
    Set {
        at: u16,
        bytes: &'a [u8],
    },
    /// Counted from the end, where hints, tags and digests are.
    SetBack {
        at: u8,
        byte: u8,
    },
    /// A number of twelve bits, as ML-KEM packs its coefficients.
    Coefficient {
        index: u16,
        value: u16,
    },
    Insert {
        at: u16,
        bytes: &'a [u8],
    },
    Remove {
        at: u16,
        len: u8,
    },
    Truncate {
        len: u16,
    },
}

impl Edit<'_> {
    /// Changes `bytes`, unless there are none.
    pub fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let len = bytes.len();
        let place = |at: u16| usize::from(at) % len;
        match *self {
            Self::Flip { at, bit } => bytes[place(at)] ^= 1 << (bit % 8),
            Self::Set { at, bytes: new } => {
                for (byte, new) in bytes[place(at)..].iter_mut().zip(new) {
                    *byte = *new;
                }
            }
            Self::SetBack { at, byte } => bytes[len - 1 - place(at.into())] = byte,
            Self::Coefficient { index, value } => {
                let pairs = bytes.as_chunks_mut::<3>().0;
                if pairs.is_empty() {
                    return;
                }
                let [low, middle, high] = &mut pairs[usize::from(index / 2) % pairs.len()];
                let [least, most] = (value & 0xfff).to_le_bytes();
                if index % 2 == 0 {
                    *low = least;
                    *middle = *middle & 0xf0 | most;
                } else {
                    *middle = *middle & 0x0f | least << 4;
                    *high = most << 4 | least >> 4;
                }
            }
            Self::Insert { at, bytes: new } => {
                let at = place(at);
                bytes.splice(at..at, new.iter().copied());
            }
            Self::Remove { at, len: removed } => {
                let at = place(at);
                bytes.drain(at..len.min(at + usize::from(removed)));
            }
            Self::Truncate { len } => bytes.truncate(place(len)),
        }
    }
}
