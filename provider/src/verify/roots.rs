//! Which kinds of signatures to ask a peer for, post-quantum or classical, and in which order, by the keys of the roots
//! that its chain can end at.

use pq_x509::x509_cert::der::asn1::AnyRef;
use pq_x509::x509_cert::der::{self, Decode, SliceReader};
use rustls::pki_types::TrustAnchor;
use rustls::{RootCertStore, SignatureScheme};

use super::{Algorithm, SlhDsa, post_quantum_schemes};
use crate::Error;
use crate::algorithms::KeyAlgorithm;

/// The keys of the roots that chains have to end at.
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

    /// What to ask for by the roots whose keys `accepted` has an algorithm for: accepted chains end at no
    /// other roots.
    pub(crate) fn kinds(&self, accepted: &[Algorithm]) -> Result<Kinds, Error> {
        if self.has_unreadable {
            return Ok(Kinds::All);
        }
        if self.keys.is_empty() {
            return Err(Error::NoRoots);
        }
        let usable = self.keys.iter().filter(|key| key.is_for_one_of(accepted));
        let kinds = usable.map(|key| Kinds::of(key.algorithm));
        kinds.reduce(Kinds::with).ok_or_else(|| self.refused())
    }

    /// The error that no chain that ends at one of these roots would be accepted.
    fn refused(&self) -> Error {
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

/// The kinds of signatures that are asked for in handshakes, by the kinds of the roots.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kinds {
    /// Both, as they are listed.
    All,
    /// Roots that are all post-quantum: a classical key in the handshake would make the connection weaker than
    /// they are.
    PostQuantum,
    /// Roots that are all classical: they also sign the certificates of post-quantum keys. Servers that follow the
    /// client's list, and have a chain of each kind, send the classical one.
    ClassicalFirst,
}

impl Kinds {
    /// The kinds to ask for if roots can have this key.
    fn of(algorithm: KeyAlgorithm) -> Self {
        match algorithm {
            // What only the base knows can be of either kind.
            KeyAlgorithm::Other(_) => Self::All,
            known if known.is_post_quantum() => Self::PostQuantum,
            _ => Self::ClassicalFirst,
        }
    }

    fn with(self, other: Self) -> Self {
        match self == other {
            true => self,
            false => Self::All,
        }
    }

    /// Leaves out and sorts the schemes of `entries`, which begin with the post-quantum ones.
    pub(crate) fn apply<T>(self, entries: &mut Vec<(SignatureScheme, T)>) {
        let post_quantum = post_quantum_schemes(SlhDsa::InChainsAndHandshakes);
        let is_post_quantum = |scheme: &SignatureScheme| post_quantum.contains(scheme);
        match self {
            Self::All => {}
            Self::PostQuantum => entries.retain(|(scheme, _)| is_post_quantum(scheme)),
            Self::ClassicalFirst => entries.sort_by_key(|(scheme, _)| is_post_quantum(scheme)),
        }
    }
}
