//! Changes to signed messages, and what they affect.

use arbitrary::Arbitrary;
use pq_cms::ObjectIdentifier;

use crate::cms::ber::{OID, SEQUENCE, SET, constructed, context, encode, primitive};
use crate::cms::content::TYPES;
use crate::cms::message::{fields, place};
use crate::der::{Element, inner};
use crate::one_of;

/// A change to a signed message.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum SignedChange {
    /// A certificate of another kind than X.509, which verifiers ignore.
    AddCertificate(u8),
    AddList {
        is_other: bool,
    },
    RepeatDigest,
    AddDigest,
    ManyDigests,
    SwapAttributes(u8),
    RepeatAttribute(u8),
    RepeatValue(u8),
    ManyAttributes(u8),
    RetypeContent(u8),
    RemoveDigests,
    AddNulls,
    RemoveSigners,
    Trail,
}

/// The effects of the changes to a message.
pub struct Changed {
    pub content_type: ObjectIdentifier,
    /// The version that its certificates and lists require.
    pub least_version: u8,
    /// The signed attributes differ from those that were signed.
    pub attributes: bool,
    /// It announces the hash functions of its signers.
    pub has_digests: bool,
    /// It announces hash functions with NULL parameters, which only those of SHA-2 may have.
    pub has_nulls: bool,
    pub has_signers: bool,
}

impl SignedChange {
    pub fn apply(self, message: &mut Element, changed: &mut Changed) {
        let fields = fields(message);
        let signers = fields.len() - 1;
        match self {
            Self::AddCertificate(kind) => {
                let kind = kind % 3 + 1;
                let at = match place(fields, context(0)) {
                    Some(at) => at,
                    None => {
                        fields.insert(3, constructed(context(0), Vec::new()));
                        3
                    }
                };
                inner(&mut fields[at]).push(constructed(context(kind), Vec::new()));
                changed.least_version = changed.least_version.max(kind + 2);
            }
            Self::AddList { is_other } => {
                let at = match place(fields, context(1)) {
                    Some(at) => at,
                    None => {
                        fields.insert(signers, constructed(context(1), Vec::new()));
                        signers
                    }
                };
                let tag = if is_other { context(1) } else { SEQUENCE };
                inner(&mut fields[at]).push(constructed(tag, Vec::new()));
                if is_other {
                    changed.least_version = 5;
                }
            }
            Self::RepeatDigest => {
                let digests = inner(&mut fields[1]);
                digests.extend(digests.first().cloned());
            }
            Self::AddDigest => {
                let unknown = primitive(OID, &[0x2a, 3]);
                inner(&mut fields[1]).push(constructed(SEQUENCE, vec![unknown]));
            }
            Self::ManyDigests => {
                let digests = inner(&mut fields[1]);
                let one = digests.first().cloned();
                digests.extend(one.into_iter().cycle().take(300));
            }
            // A second swap might undo the first.
            Self::SwapAttributes(_) if changed.attributes => {}
            Self::SwapAttributes(at) => {
                changed.attributes = true;
                change_attributes(&mut fields[signers], |attributes| {
                    let len = attributes.len();
                    attributes.swap(usize::from(at) % len, (usize::from(at) + 1) % len);
                });
            }
            Self::RepeatAttribute(at) => {
                changed.attributes = true;
                change_attributes(&mut fields[signers], |attributes| {
                    let at = usize::from(at) % attributes.len();
                    attributes.insert(at, attributes[at].clone());
                });
            }
            Self::RepeatValue(at) => {
                changed.attributes = true;
                change_attributes(&mut fields[signers], |attributes| {
                    let at = usize::from(at) % attributes.len();
                    let values = inner(&mut inner(&mut attributes[at])[1]);
                    values.extend(values.first().cloned());
                });
            }
            Self::RetypeContent(by) => {
                changed.content_type = one_of(&TYPES, by);
                let at = place(fields, SEQUENCE).expect("content");
                inner(&mut fields[at])[0] = primitive(OID, changed.content_type.as_bytes());
            }
            Self::RemoveDigests => {
                inner(&mut fields[1]).clear();
                changed.has_digests = false;
            }
            Self::AddNulls => {
                changed.has_nulls = true;
                for digest in inner(&mut fields[1]) {
                    let parts = inner(digest);
                    if parts.len() == 1 {
                        parts.push(primitive(0x05, &[]));
                    }
                }
            }
            Self::ManyAttributes(more) => {
                changed.attributes = true;
                change_attributes(&mut fields[signers], |attributes| {
                    for number in 0..=more {
                        let ends = [number >> 7 | 0x80, number & 0x7f];
                        let id = primitive(OID, &[&[0x2a, 0x86][..], &ends].concat());
                        let values = constructed(SET, Vec::new());
                        attributes.push(constructed(SEQUENCE, vec![id, values]));
                    }
                    attributes.sort_by_key(|it| encode(it, 0));
                });
            }
            Self::RemoveSigners => {
                inner(&mut fields[signers]).clear();
                changed.has_signers = false;
            }
            // The byte is added after the message is encoded.
            Self::Trail => {}
        }
    }
}

/// Changes the attributes of every signer that has any.
fn change_attributes(signers: &mut Element, change: impl Fn(&mut Vec<Element>)) {
    for signer in inner(signers) {
        let fields = inner(signer);
        if let Some(at) = (1..fields.len()).rfind(|at| fields[*at].tag == context(0)) {
            change(inner(&mut fields[at]));
        }
    }
}
