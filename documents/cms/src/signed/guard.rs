//! Keeps signatures over content apart from signatures over attributes (RFC 9882, section 6): recognizes content that
//! some reader could take for signed attributes.

use zeroize::Zeroizing;

use crate::encoding::tag;

/// Sees whether content could pose as signed attributes, or attributes as content (RFC 9882, section 6).
///
/// A signature without signed attributes is over the content, and one with them is over a SET OF attributes. So
/// whoever has a signature over such a set may present it in either way: as one of the set itself, or as one of the
/// other content whose digest is in the set. [`SignedDataBuilder`](crate::SignedDataBuilder) and
/// [`Verifier`](crate::Verifier) refuse such content in messages without attributes. Programs that sign files
/// with the keys of certificates, by ML-DSA or SLH-DSA with an empty context, should ask this as well.
///
/// It is lenient on purpose: what any reader of BER may take for attributes counts, and so does what this one does
/// not understand. Object identifiers may have any length and any bytes, lengths any form, and something may
/// follow the set.
///
/// ```
/// use pq_cms::AttributesGuard;
///
/// let mut guard = AttributesGuard::new();
/// guard.update(b"1. Introduction");
/// assert!(!guard.may_be_attributes());
///
/// let mut guard = AttributesGuard::new();
/// guard.update(&[0x31, 0x09, 0x30, 0x07, 0x06, 0x03, 0x88, 0x37, 0x01, 0x31, 0x00]);
/// assert!(guard.may_be_attributes());
/// ```
#[derive(Clone, Debug, Default)]
pub struct AttributesGuard {
    /// How the content begins; only its first byte, if that is not the tag of a SET.
    start: Zeroizing<Vec<u8>>,
    /// The bytes before the next piece, in which the identifier may begin.
    before: Zeroizing<Vec<u8>>,
    names_message_digest: bool,
    len: u64,
}

/// The contents of messageDigest's identifier, 1.2.840.113549.1.9.4. Attributes without it are tied to no content, so
/// every verifier asks for this one, however it reads the others.
const MESSAGE_DIGEST: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 4];

/// How much of a SET is looked at. What is behind can't be seen, so it counts as attributes.
const SEEN: usize = 64 * 1024;

impl AttributesGuard {
    /// Begins with empty content.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece of the content.
    pub fn update(&mut self, piece: &[u8]) {
        let Some(first) = self.start.first().or_else(|| piece.first()).copied() else {
            return;
        };
        if first != tag::SET {
            if self.start.is_empty() {
                self.start.push(first);
            }
            return;
        }
        self.len = self.len.saturating_add(piece.len() as u64);
        let room = SEEN - self.start.len();
        self.start
            .extend_from_slice(&piece[..room.min(piece.len())]);
        if !self.names_message_digest {
            let next = &piece[..piece.len().min(MESSAGE_DIGEST.len() - 1)];
            self.before.extend_from_slice(next);
            self.names_message_digest =
                names_message_digest(&self.before) || names_message_digest(piece);
            let kept = match piece.len() < MESSAGE_DIGEST.len() {
                true => &self.before[..],
                false => piece,
            };
            let kept = &kept[kept.len().saturating_sub(MESSAGE_DIGEST.len() - 1)..];
            self.before = Zeroizing::new(kept.to_vec());
        }
    }

    /// Whether any reader may take all of this for signed attributes.
    pub fn may_be_attributes(&self) -> bool {
        match self.start.first() {
            Some(&tag::SET) => self.names_message_digest || self.has_their_shape(),
            _ => false,
        }
    }

    /// Whether it begins with a SET in which a SEQUENCE begins with an object identifier, or is a SET of
    /// nothing else than SEQUENCEs.
    fn has_their_shape(&self) -> bool {
        let mut values = Values { rest: &self.start };
        let Some(set) = values.header() else {
            return false;
        };
        let seen = (self.start.len() - values.rest.len()) as u64;
        let there = self.len.saturating_sub(seen);
        let (is_whole, is_cut) = match set.len {
            // No reader gets more than there is.
            Some(len) if len > there => return false,
            Some(len) => {
                let len = usize::try_from(len).unwrap_or(usize::MAX);
                let is_cut = len > values.rest.len();
                values.rest = &values.rest[..len.min(values.rest.len())];
                (len as u64 == there, is_cut)
            }
            None => (true, (self.start.len() as u64) < self.len),
        };
        let mut has_only_sequences = true;
        loop {
            if values.rest.is_empty() {
                // Where the set was cut, anything may follow. Without its end, nobody reads one of indefinite length.
                return is_cut || set.len.is_some() && is_whole && has_only_sequences;
            }
            let before = values.rest;
            let Some(header) = values.header() else {
                return is_cut;
            };
            if set.len.is_none() && before.starts_with(&[0, 0]) {
                return has_only_sequences && !is_cut && values.rest.is_empty();
            }
            match header.tag {
                tag::SEQUENCE if values.rest.first() == Some(&tag::OBJECT_IDENTIFIER) => {
                    return true;
                }
                tag::SEQUENCE => {}
                _ => has_only_sequences = false,
            }
            if values.skip(header).is_none() {
                return is_cut;
            }
        }
    }
}

fn names_message_digest(bytes: &[u8]) -> bool {
    bytes
        .windows(MESSAGE_DIGEST.len())
        .any(|window| window == MESSAGE_DIGEST)
}

/// Values in BER, read by shape alone.
struct Values<'a> {
    rest: &'a [u8],
}

struct ValueHeader {
    /// The first byte of the tag.
    tag: u8,
    /// `None` if it is indefinite; one that is too large for any content is `u64::MAX`.
    len: Option<u64>,
}

impl Values<'_> {
    /// `None` if it does not end.
    fn header(&mut self) -> Option<ValueHeader> {
        let tag = self.byte()?;
        if tag & 0x1f == 0x1f {
            while self.byte()? & 0x80 != 0 {}
        }
        let len = match self.byte()? {
            0x80 => None,
            len @ ..0x80 => Some(u64::from(len)),
            count => {
                let mut len: u64 = 0;
                for _ in 0x80..count {
                    let byte = u64::from(self.byte()?);
                    len = match len.leading_zeros() < 8 {
                        true => u64::MAX,
                        false => len << 8 | byte,
                    };
                }
                Some(len)
            }
        };
        Some(ValueHeader { tag, len })
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    /// Skips the contents of a value. `None` if they do not end.
    fn skip(&mut self, header: ValueHeader) -> Option<()> {
        let mut open = 0_u64;
        let mut next = header;
        loop {
            match next {
                ValueHeader {
                    tag: 0,
                    len: Some(0),
                } if open > 0 => open -= 1,
                ValueHeader { len: Some(len), .. } => {
                    let len = usize::try_from(len).ok()?;
                    self.rest = self.rest.get(len..)?;
                }
                ValueHeader { len: None, .. } => open += 1,
            }
            if open == 0 {
                return Some(());
            }
            next = self.header()?;
        }
    }
}
