//! Signers, and a model of what they can sign.

use arbitrary::Arbitrary;
use pq_cms::{ObjectIdentifier, digests};
use pq_x509::keys::signing::PreHash;

use crate::cms::content::{AnyContent, DATA};
use crate::cms::keys::SIGNER_DIGESTS;
use crate::one_of;

#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct AnySigner {
    key: u8,
    /// The certificate belongs to another key.
    pub is_other: bool,
    digest: Option<u8>,
    pub without_attributes: bool,
    pub by_key_identifier: bool,
}

impl AnySigner {
    pub fn place(&self) -> usize {
        usize::from(self.key) % SIGNER_DIGESTS.len()
    }

    /// The hash function that was set, if any.
    pub fn chosen_digest(&self) -> Option<PreHash> {
        let all: Vec<PreHash> = digests().collect();
        self.digest.map(|digest| one_of(&all, digest))
    }

    pub fn digest(&self) -> PreHash {
        let usual = SIGNER_DIGESTS[self.place()][0];
        self.chosen_digest().unwrap_or(usual)
    }

    /// Whether it signs this content.
    pub fn signs(&self, content_type: ObjectIdentifier, content: &AnyContent) -> bool {
        let is_plain = content_type == DATA && !content.is_attributes();
        !self.is_other
            && SIGNER_DIGESTS[self.place()].contains(&self.digest())
            && (is_plain || !self.without_attributes)
    }
}
