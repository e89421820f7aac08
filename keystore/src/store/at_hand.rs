//! Keys that sign at once: all that it takes is in memory, and quickly done.

use pq_keys::any::AnyAlgorithm;
use pq_keys::classical::ClassicalAlgorithm;
use pq_keys::{Algorithm, SignatureAlgorithm};

use super::Store;
use super::error::StoreError;
use super::held::HeldKey;
use super::inner::Inner;
use super::using::{Signed, SigningKey, check_signing_minimum};
use crate::name::KeyName;
use crate::policy::{Input, Principal, UseAudit, Verb};

/// A key that signs without asking the storage or a token, and within some 100 microseconds.
pub(crate) struct KeyAtHand<'a> {
    inner: &'a Inner,
    found: SigningKey,
}

impl Store {
    /// The newest enabled version of a key, if a principal may sign with it now, and it is at hand. Nothing is noted if not:
    /// [`sign`](Self::sign) says why. It takes no lock that anybody holds who waits for the storage.
    pub(crate) fn at_hand(&self, principal: &Principal, name: &KeyName) -> Option<KeyAtHand<'_>> {
        let inner = self.inner();
        let key = inner.cache.get(name)?;
        let policy = &key.record.policy;
        if policy.audit == UseAudit::Each
            || !is_quick(key.record.algorithm)
            || !inner.permits(Some(&key.record), principal, Verb::Sign, name)
            || !inner.was_reached(&key).ok()?
        {
            return None;
        }
        let version = key.newest_enabled?;
        check_signing_minimum(&key, version).ok()?;
        let private = key.private(version)?;
        match *private {
            HeldKey::Here(_) => {}
            HeldKey::InToken(_) => return None,
        }
        Some(KeyAtHand {
            inner,
            found: SigningKey {
                key,
                version,
                private,
            },
        })
    }
}

impl KeyAtHand<'_> {
    pub(crate) fn algorithm(&self) -> AnyAlgorithm {
        self.found.key.record.algorithm
    }

    /// Signs, and counts that. `None` if it can't be counted before what was counted is written: then the signature is none.
    ///
    /// # Errors
    ///
    /// Those of [`Store::sign`] that are about the input.
    pub(crate) fn sign(
        &self,
        principal: &Principal,
        input: Input<'_>,
    ) -> Result<Option<Signed>, StoreError> {
        let SigningKey { key, version, .. } = &self.found;
        let version = Some(*version);
        if !key.counts.has_room(principal, Verb::Sign, version, None) {
            // Before it is signed and measured, which happens once more elsewhere.
            return Ok(None);
        }
        let signed = self
            .inner
            .measured(Verb::Sign, &key.name, || self.found.sign(input))?;
        let counted = key.counts.add(principal, Verb::Sign, version, None);
        Ok(counted.is_ok().then_some(signed))
    }
}

/// Whether a signature takes some 100 microseconds at most, on whatever CPU and with whatever provides the algorithm.
fn is_quick(algorithm: AnyAlgorithm) -> bool {
    match algorithm {
        AnyAlgorithm::PostQuantum(Algorithm::Signature(set)) => {
            SignatureAlgorithm::ML_DSA.contains(&set)
        }
        AnyAlgorithm::Classical(classical) => matches!(
            classical,
            ClassicalAlgorithm::EcdsaP256 | ClassicalAlgorithm::Ed25519
        ),
        _ => false,
    }
}
