//! Hashes content while it passes, for all signatures of a message at once. It keeps short content for signatures that
//! need all of it.

use pq_keys::PublicKey;
use pq_keys::signing::{
    Digest, HashedMessage, MessageHasher, PreHash, PreHasher, SignatureOptions,
};
use pq_x509::certificate::Certificate;
use zeroize::Zeroizing;

use super::guard::AttributesGuard;

/// What signatures need from content that passes in pieces.
pub(super) struct Content {
    digests: Vec<(PreHash, PreHasher)>,
    /// For signatures of ML-DSA without attributes.
    messages: Vec<(Certificate, MessageHasher)>,
    /// All of the content, for signatures that need it at once, unless it is longer than the limit.
    whole: Option<Zeroizing<Vec<u8>>>,
    limit: usize,
    guard: AttributesGuard,
}

impl Content {
    pub(super) fn new(digests: &[PreHash]) -> Self {
        Self {
            digests: digests.iter().map(|hash| (*hash, hash.hasher())).collect(),
            messages: Vec::new(),
            whole: None,
            limit: 0,
            guard: AttributesGuard::new(),
        }
    }

    /// Hashes the content for a signature without attributes by a certificate's key. Only ML-DSA keys can use
    /// that. After the first 16 keys, others are ignored.
    pub(super) fn hash_for(&mut self, certificate: &Certificate) {
        let is_there = self.messages.iter().any(|(known, _)| known == certificate);
        if is_there || self.messages.len() == MAX_MESSAGES {
            return;
        }
        let Ok(PublicKey::Verifying(key)) = certificate.public_key() else {
            return;
        };
        if let Ok(hasher) = key.hasher(&SignatureOptions::new()) {
            self.messages.push((certificate.clone(), hasher));
        }
    }

    /// Keeps the content in memory, if it has no more than this many bytes.
    pub(super) fn keep(&mut self, limit: usize) {
        self.limit = limit;
        self.whole.get_or_insert_default();
    }

    pub(super) fn take(&mut self, piece: &[u8]) {
        self.guard.update(piece);
        for (_, hasher) in &mut self.digests {
            hasher.update(piece);
        }
        for (_, hasher) in &mut self.messages {
            hasher.update(piece);
        }
        if let Some(whole) = &mut self.whole {
            match whole.len() + piece.len() > self.limit {
                true => self.whole = None,
                false => whole.extend_from_slice(piece),
            }
        }
    }

    pub(super) fn finish(self) -> HashedContent {
        let digests = self.digests.into_iter();
        let messages = self.messages.into_iter();
        HashedContent {
            digests: digests
                .map(|(hash, hasher)| (hash, hasher.finish()))
                .collect(),
            messages: messages
                .map(|(certificate, hasher)| (certificate, hasher.finish()))
                .collect(),
            whole: self.whole,
            guard: self.guard,
        }
    }
}

/// For how many keys the content is hashed. Each hashes all of it.
const MAX_MESSAGES: usize = 16;

/// What signatures need from content that has ended.
pub(super) struct HashedContent {
    digests: Vec<(PreHash, Digest)>,
    messages: Vec<(Certificate, HashedMessage)>,
    whole: Option<Zeroizing<Vec<u8>>>,
    guard: AttributesGuard,
}

impl HashedContent {
    /// The digest by a hash function that was asked for.
    pub(super) fn digest(&self, hash: PreHash) -> Option<&[u8]> {
        let mut digests = self.digests.iter();
        let (_, digest) = digests.find(|(known, _)| *known == hash)?;
        Some(digest.as_bytes())
    }

    /// The content as it was hashed for this certificate's key.
    pub(super) fn message(&self, certificate: &Certificate) -> Option<&HashedMessage> {
        let mut messages = self.messages.iter();
        let (_, message) = messages.find(|(known, _)| known == certificate)?;
        Some(message)
    }

    /// Whether the content itself may be a set of signed attributes. A signature over it would also be valid
    /// for other content, which has these attributes (RFC 9882, section 6).
    pub(super) fn may_be_attributes(&self) -> bool {
        self.guard.may_be_attributes()
    }

    /// All of it, if it was kept.
    pub(super) fn whole(&self) -> Option<&[u8]> {
        self.whole.as_deref().map(Vec::as_slice)
    }
}
