use rustls::{RootCertStore, SignatureScheme};

use super::{SlhDsa, post_quantum_schemes};
use crate::KeyAlgorithm;

/// The keys of the roots that chains have to end at, which say what the chains are made of: whoever
/// certifies post-quantum keys has a post-quantum root, and whoever certifies classical ones a
/// classical root.
#[derive(Clone, Debug, Default)]
pub(crate) struct RootKeys {
    /// Each once.
    pub(crate) algorithms: Vec<KeyAlgorithm>,
    /// A root that isn't understood rules nothing out.
    has_unknown: bool,
}

impl RootKeys {
    pub(crate) fn of(roots: &RootCertStore) -> Self {
        let mut keys = Self::default();
        for root in &roots.roots {
            match KeyAlgorithm::of_trust_anchor(root) {
                Ok(key) if keys.algorithms.contains(&key) => {}
                Ok(key) => keys.algorithms.push(key),
                Err(_) => keys.has_unknown = true,
            }
        }
        keys
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.algorithms.is_empty() && !self.has_unknown
    }

    pub(crate) fn kinds(&self) -> Kinds {
        let has = |is_post_quantum| {
            let mut kinds = self.algorithms.iter().map(|key| key.is_post_quantum());
            self.has_unknown || kinds.any(|kind| kind == is_post_quantum)
        };
        Kinds {
            post_quantum: has(true),
            classical: has(false),
        }
    }
}

/// Which signatures are asked for in handshakes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Kinds {
    post_quantum: bool,
    classical: bool,
}

impl Kinds {
    pub(crate) const ALL: Self = Self {
        post_quantum: true,
        classical: true,
    };

    pub(crate) fn include(self, scheme: SignatureScheme) -> bool {
        match post_quantum_schemes(SlhDsa::InChainsAndHandshakes).contains(&scheme) {
            true => self.post_quantum,
            false => self.classical,
        }
    }
}
