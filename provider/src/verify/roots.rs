//! Which kinds of signatures to ask a peer for, post-quantum or classical, by the keys of the roots that its chain can
//! end at.

use pq_x509::x509_cert::der::asn1::AnyRef;
use pq_x509::x509_cert::der::{self, Decode, SliceReader};
use rustls::pki_types::TrustAnchor;
use rustls::{RootCertStore, SignatureScheme};

use super::{Algorithm, SlhDsa, post_quantum_schemes};
use crate::Error;
use crate::algorithms::KeyAlgorithm;

/// The keys of the roots that chains have to end at. They tell the kinds of the chains: a CA for
/// post-quantum keys has a post-quantum root, and a CA for classical keys a classical root.
#[derive(Clone, Debug, Default)]
pub(crate) struct RootKeys {
    /// Each key once.
    keys: Vec<RootKey>,
    /// A root whose key isn't understood rules nothing out.
    has_unreadable: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct RootKey {
    algorithm: KeyAlgorithm,
    /// The content of the SEQUENCE of its AlgorithmIdentifier.
    identifier: Vec<u8>,
}

impl RootKeys {
    pub(crate) fn of(roots: &RootCertStore) -> Self {
        let mut keys = Self::default();
        for root in &roots.roots {
            match RootKey::of(root) {
                Ok(key) if keys.keys.contains(&key) => {}
                Ok(key) => keys.keys.push(key),
                Err(_) => keys.has_unreadable = true,
            }
        }
        keys
    }

    /// The kinds of the roots whose keys `accepted` has an algorithm for: accepted chains end at no
    /// other roots.
    pub(crate) fn kinds(&self, accepted: &[Algorithm]) -> Result<Kinds, Error> {
        if self.has_unreadable {
            return Ok(Kinds::ALL);
        }
        if self.keys.is_empty() {
            return Err(Error::NoRoots);
        }
        let mut kinds = Kinds::NONE;
        for key in self.keys.iter().filter(|key| key.is_for_one_of(accepted)) {
            kinds.add(key.algorithm);
        }
        match kinds == Kinds::NONE {
            true => Err(self.refused()),
            false => Ok(kinds),
        }
    }

    /// The error that no chain that ends at one of these roots would be accepted.
    pub(crate) fn refused(&self) -> Error {
        let mut roots = Vec::new();
        for key in &self.keys {
            if !roots.contains(&key.algorithm) {
                roots.push(key.algorithm);
            }
        }
        Error::NoSchemeForRoots { roots }
    }
}

impl RootKey {
    fn of(root: &TrustAnchor<'_>) -> der::Result<Self> {
        let algorithm = KeyAlgorithm::of_trust_anchor(root)?;
        // A SubjectPublicKeyInfo without its header, which begins with the identifier.
        let mut fields = SliceReader::new(&root.subject_public_key_info)?;
        let identifier = AnyRef::decode(&mut fields)?.value().to_vec();
        Ok(Self {
            algorithm,
            identifier,
        })
    }

    /// Compares as webpki does.
    fn is_for_one_of(&self, accepted: &[Algorithm]) -> bool {
        let mut identifiers = accepted.iter().map(|known| known.public_key_alg_id());
        identifiers.any(|known| known.as_ref() == self.identifier)
    }
}

/// The kinds of signatures that are asked for in handshakes.
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

    const NONE: Self = Self {
        post_quantum: false,
        classical: false,
    };

    fn add(&mut self, algorithm: KeyAlgorithm) {
        // What only the base knows can be of either kind.
        let is_unknown = matches!(algorithm, KeyAlgorithm::Other(_));
        self.post_quantum |= is_unknown || algorithm.is_post_quantum();
        self.classical |= is_unknown || !algorithm.is_post_quantum();
    }

    pub(crate) fn include(self, scheme: SignatureScheme) -> bool {
        match post_quantum_schemes(SlhDsa::InChainsAndHandshakes).contains(&scheme) {
            true => self.post_quantum,
            false => self.classical,
        }
    }
}
