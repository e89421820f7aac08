//! Changes to encrypted messages, and a model of what they do.

use arbitrary::Arbitrary;
use pq_cms::{ContentCipher, ObjectIdentifier};

use super::recipients::AnyKey;
use crate::cms::ber::{INTEGER, OID, SEQUENCE, SET, constructed, context, primitive};
use crate::cms::content::TYPES;
use crate::cms::message::{content_of, fields, place};
use crate::der::{Contents, Element, OCTET_STRING, inner};
use crate::one_of;

/// A change to a message, some parts of which are not authenticated.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Change {
    AddRecipient {
        kind: Foreign,
        at: u8,
    },
    AddOriginator,
    AddUnauthenticated,
    RemoveAttributes,
    RepeatAttribute,
    CutTag(u8),
    CutContent(u8),
    AddUkm(u8),
    RetypeContent(u8),
    RemoveContent,
    Version(u8),
    /// Another last byte for an object identifier.
    Rename {
        which: u8,
        by: u8,
    },
    Trail,
}

/// Recipients whose keys are not here.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Foreign {
    Transport,
    Password,
    Other,
    OtherVersion,
    OfCertificate,
    Shared,
    Unknown,
    Large,
    Many,
}

/// The result that an opener must come to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    Opens,
    IsRefused,
    /// The model can't predict it.
    Unpredictable,
}

pub struct Expected {
    pub content_type: ObjectIdentifier,
    pub recipients: u64,
}

/// Tags of recipients.
const KEM: u8 = context(4);
const AGREEMENT: u8 = context(1);

impl Change {
    /// Changes the message, and returns the result that an opener must come to.
    pub fn apply(
        self,
        message: &mut Element,
        key: AnyKey,
        cipher: ContentCipher,
        expected: &mut Expected,
    ) -> Fate {
        if let Self::CutContent(len) = self {
            return cut_content(message, len.into());
        }
        let is_authenticated = cipher.is_authenticated();
        let noticed = match is_authenticated {
            true => Fate::IsRefused,
            false => Fate::Opens,
        };
        let fields = fields(message);
        match self {
            Self::AddRecipient { kind, at } => {
                let set = place(fields, SET).expect("recipients");
                let recipients = inner(&mut fields[set]);
                let at = usize::from(at) % (recipients.len() + 1);
                let new = kind.recipients();
                expected.recipients += new.len() as u64;
                recipients.splice(at..at, new);
                Fate::Opens
            }
            Self::AddOriginator => {
                if fields[1].tag != context(0) {
                    fields.insert(1, constructed(context(0), Vec::new()));
                }
                Fate::Opens
            }
            Self::AddUnauthenticated => {
                let tag = context(if is_authenticated { 2 } else { 1 });
                if fields.last().is_some_and(|last| last.tag != tag) {
                    fields.push(constructed(tag, Vec::new()));
                }
                Fate::Opens
            }
            Self::RemoveAttributes | Self::RepeatAttribute if !is_authenticated => Fate::Opens,
            Self::RemoveAttributes => match place(fields, context(1)) {
                Some(at) => {
                    fields.remove(at);
                    Fate::IsRefused
                }
                None => Fate::Opens,
            },
            Self::RepeatAttribute => match place(fields, context(1)) {
                Some(at) => {
                    let attributes = inner(&mut fields[at]);
                    attributes.extend(attributes.first().cloned());
                    Fate::IsRefused
                }
                None => Fate::Opens,
            },
            Self::CutTag(len) => match place(fields, OCTET_STRING) {
                Some(at) => match &mut fields[at].contents {
                    Contents::Bytes(tag) if usize::from(len) < tag.len() => {
                        tag.truncate(len.into());
                        Fate::IsRefused
                    }
                    _ => Fate::Opens,
                },
                None => Fate::Opens,
            },
            Self::CutContent(_) => unreachable!("it was cut above"),
            Self::AddUkm(len) => {
                let ukm = vec![primitive(OCTET_STRING, &vec![9; len.into()])];
                let set = place(fields, SET).expect("recipients");
                for recipient in inner(&mut fields[set]) {
                    let tag = recipient.tag;
                    let parts = inner(recipient);
                    match (tag, parts.get(1).map(|it| it.tag)) {
                        (KEM, Some(SEQUENCE)) => {
                            inner(&mut parts[1]).insert(6, constructed(context(0), ukm.clone()));
                        }
                        (AGREEMENT, Some(_)) if parts.len() > 2 => {
                            parts.insert(2, constructed(AGREEMENT, ukm.clone()));
                        }
                        _ => {}
                    }
                }
                // The keys that are derived from a secret depend on this, too.
                match key {
                    AnyKey::Shared(_) => Fate::Opens,
                    _ => Fate::IsRefused,
                }
            }
            Self::RetypeContent(by) => {
                let by = one_of(&TYPES, by);
                let at = place(fields, SEQUENCE).expect("content");
                inner(&mut fields[at])[0] = primitive(OID, by.as_bytes());
                match by == expected.content_type {
                    true => Fate::Opens,
                    false => {
                        // A further change may undo it.
                        expected.content_type = by;
                        match noticed {
                            Fate::Opens => Fate::Opens,
                            _ => Fate::Unpredictable,
                        }
                    }
                }
            }
            Self::RemoveContent => {
                let at = place(fields, SEQUENCE).expect("content");
                inner(&mut fields[at]).truncate(2);
                Fate::IsRefused
            }
            Self::Version(version) => {
                fields[0] = primitive(INTEGER, &[version & 0x7f]);
                let is_known = match is_authenticated {
                    true => version & 0x7f == 0,
                    false => matches!(version & 0x7f, 0 | 2..=4),
                };
                match is_known {
                    true => Fate::Opens,
                    // A further change may undo it.
                    false => Fate::Unpredictable,
                }
            }
            Self::Rename { which, by } => {
                rename(message, which, by);
                Fate::Unpredictable
            }
            Self::Trail => Fate::IsRefused,
        }
    }
}

impl Foreign {
    fn recipients(self) -> Vec<Element> {
        let number = |number| primitive(INTEGER, &[number]);
        let octets = |bytes: &[u8]| primitive(OCTET_STRING, bytes);
        let algorithm = || constructed(SEQUENCE, vec![primitive(OID, &[0x2a, 3])]);
        let id = || constructed(SEQUENCE, vec![octets(b"id")]);
        let shared = |version| vec![number(version), id(), algorithm(), octets(b"key")];
        vec![match self {
            Self::Transport => {
                let name = primitive(0x80, b"id");
                constructed(SEQUENCE, vec![number(2), name, algorithm(), octets(b"key")])
            }
            Self::Password => constructed(context(3), vec![number(0), algorithm(), octets(b"key")]),
            Self::Other => constructed(context(4), vec![primitive(OID, &[0x2a, 3]), octets(b"")]),
            Self::OtherVersion => constructed(context(1), vec![number(9)]),
            Self::OfCertificate => {
                let originator = constructed(context(0), vec![primitive(0x80, b"id")]);
                constructed(context(1), vec![number(3), originator])
            }
            Self::Shared => constructed(context(2), shared(4)),
            Self::Unknown => constructed(context(5), shared(4)),
            Self::Large => constructed(context(4), vec![octets(&[0; 70_000])]),
            Self::Many => {
                return vec![constructed(context(3), vec![number(0)]); 1030];
            }
        }]
    }
}

/// Cuts bytes off the end of the encrypted content.
fn cut_content(message: &mut Element, len: usize) -> Fate {
    match content_of(message) {
        Some(Element {
            contents: Contents::Bytes(bytes),
            ..
        }) if (1..=bytes.len()).contains(&len) => {
            bytes.truncate(bytes.len() - len);
            // The remaining whole blocks may end like padding.
            Fate::Unpredictable
        }
        _ => Fate::Opens,
    }
}

/// Changes the last byte of one of the object identifiers.
fn rename(element: &mut Element, which: u8, by: u8) {
    fn all<'e>(element: &'e mut Element, found: &mut Vec<&'e mut u8>) {
        match &mut element.contents {
            Contents::Bytes(bytes) => {
                if element.tag == OID {
                    found.extend(bytes.last_mut());
                }
            }
            Contents::Elements(_, inner) => inner.iter_mut().for_each(|it| all(it, found)),
        }
    }
    let mut found = Vec::new();
    all(element, &mut found);
    let at = usize::from(which) % found.len();
    // The ends of identifiers of hash functions, ciphers, key wraps and key derivations.
    const ENDS: [u8; 14] = [1, 2, 3, 5, 6, 19, 20, 21, 28, 29, 30, 42, 45, 46];
    *found[at] = one_of(&ENDS, by);
}
