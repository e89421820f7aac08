//! Keys are used: to sign, encapsulate and decapsulate.

use alloc::sync::Arc;

use pq_keys::any::{AnyKeyError, AnyPublicKey};
use pq_keys::spki::AlgorithmIdentifierOwned;
use pq_keys::{PublicKey, SubjectKey};
use zeroize::Zeroizing;

use super::Store;
use super::cache::CachedKey;
use super::error::StoreError;
use super::held::HeldKey;
use super::inner::Inner;
use super::making::require_enabled;
use super::signatures::cannot;
use super::uses::outcome;
use crate::audit::Event;
use crate::name::{KeyId, KeyName, Version};
use crate::policy::{Input, Principal, UseAudit, Verb};

/// How often a key is read again whose state changed while it was read.
const TRIES: usize = 8;

/// A signature, and the version that made it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Signed {
    /// Which version of the key.
    pub id: KeyId,
    /// The signature, as in certificates.
    pub signature: Vec<u8>,
}

/// A secret that was encapsulated, and the version that decapsulates it.
#[non_exhaustive]
pub struct Encapsulated {
    /// Which version of the key.
    pub id: KeyId,
    /// What the holder of the private key gets.
    pub ciphertext: Vec<u8>,
    /// The shared secret.
    pub secret: Zeroizing<[u8; 32]>,
}

/// The version of a key that signs now.
pub(super) struct SigningKey {
    pub(super) key: Arc<CachedKey>,
    pub(super) version: Version,
    pub(super) private: Arc<HeldKey>,
}

impl SigningKey {
    /// Signs, if the policy permits such an input.
    pub(super) fn sign(&self, input: Input<'_>) -> Result<Signed, StoreError> {
        check_input(&self.key, input)?;
        let signature = self.private.sign(input)?;
        let id = self.key.name.at(self.version);
        Ok(Signed { id, signature })
    }
}

impl Store {
    /// Signs by the newest enabled version.
    ///
    /// # Errors
    ///
    /// [`StoreError::Denied`], [`StoreError::NotFound`], [`StoreError::NoEnabledVersion`], [`StoreError::BelowMinimum`] if all
    /// enabled versions are older than the policy permits; if the policy permits no such
    /// input or no such long one, or keys of this algorithm take none; [`StoreError::Away`]; and those of the storage, for
    /// keys that are not in memory or whose uses are audited one by one.
    pub fn sign(
        &self,
        principal: &Principal,
        name: &KeyName,
        input: Input<'_>,
    ) -> Result<Signed, StoreError> {
        let inner = self.inner();
        let (signed, event) = inner.sign(principal, name, input)?;
        inner.log_use(event)?;
        Ok(signed)
    }

    /// The version that signs now, its public key as SubjectPublicKeyInfo, and the identifier of its signatures.
    pub(crate) fn signing_version(
        &self,
        principal: &Principal,
        name: &KeyName,
    ) -> Result<(KeyId, Vec<u8>, AlgorithmIdentifierOwned), StoreError> {
        let found = self.inner().signing_key(principal, name)?;
        let (spki, algorithm) = found.private.as_signer()?;
        Ok((name.at(found.version), spki, algorithm))
    }

    /// The version with this public key, the newest if several have it.
    pub(crate) fn version_with_key(
        &self,
        principal: &Principal,
        name: &KeyName,
        spki: &[u8],
    ) -> Result<KeyId, StoreError> {
        let inner = self.inner();
        inner.permitted(principal, Verb::Sign, name)?;
        // Another process may have made it just now.
        let key = inner.load(name)?;
        let key = key.ok_or_else(|| StoreError::NotFound(name.clone()))?;
        let mut damaged = None;
        for (version, _) in key.record.newest_first() {
            match inner.public(&key, version) {
                Ok(public) if *public.spki() == *spki => return Ok(name.at(version)),
                Ok(_) => {}
                // Others can be used.
                Err(error @ StoreError::Damaged { .. }) => damaged = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(damaged.unwrap_or_else(|| StoreError::NoVersionWithKey(name.clone())))
    }

    /// The public key of one version, which may sign now, and the identifier of its signatures.
    pub(crate) fn version_that_signs(
        &self,
        principal: &Principal,
        id: &KeyId,
    ) -> Result<(Vec<u8>, AlgorithmIdentifierOwned), StoreError> {
        let inner = self.inner();
        let key = inner.usable_at(principal, Verb::Sign, id)?;
        check_signing_minimum(&key, id.version())?;
        let private = inner.private(&key, id.version(), Verb::Sign)?;
        private.as_signer()
    }

    /// Signs by one version, for signatures that have to be by the key that somebody knows.
    ///
    /// # Errors
    ///
    /// [`StoreError::State`] unless it is enabled, [`StoreError::VersionNotFound`], [`StoreError::BelowMinimum`], and those of
    /// [`sign`](Self::sign).
    pub fn sign_by(
        &self,
        principal: &Principal,
        id: &KeyId,
        input: Input<'_>,
    ) -> Result<Signed, StoreError> {
        self.inner().measured(Verb::Sign, id.name(), || {
            let (inner, version) = (self.inner(), id.version());
            let key = inner.usable_at(principal, Verb::Sign, id)?;
            check_signing_minimum(&key, version)?;
            check_input(&key, input)?;
            let private = inner.private(&key, version, Verb::Sign)?;
            let signature = private.sign(input)?;
            inner.log_use(inner.used(&key, principal, Verb::Sign, Some(version), None)?)?;
            let id = id.clone();
            Ok(Signed { id, signature })
        })
    }

    /// Encapsulates a new secret to the newest enabled version of a key of ML-KEM or X-Wing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Algorithm`] for a key that signs, and those of [`sign`](Self::sign).
    pub fn encapsulate(
        &self,
        principal: &Principal,
        name: &KeyName,
    ) -> Result<Encapsulated, StoreError> {
        self.inner().measured(Verb::Encapsulate, name, || {
            let inner = self.inner();
            let key = inner.usable(principal, Verb::Encapsulate, name)?;
            let version = key.newest_enabled.ok_or_else(|| no_version(&key))?;
            check_signing_minimum(&key, version)?;
            let public = inner.public(&key, version)?;
            let mut secret = Zeroizing::new([0; 32]);
            let ciphertext = match &*public {
                AnyPublicKey::PostQuantum(PublicKey::Encapsulation(key)) => key
                    .encapsulate_into(&mut secret)
                    .map_err(AnyKeyError::from)?,
                AnyPublicKey::XWing(key) => key
                    .encapsulate_into(&mut secret)
                    .map_err(AnyKeyError::from)?,
                _ => return Err(cannot(key.record.algorithm, "encapsulate")),
            };
            inner.log_use(inner.used(
                &key,
                principal,
                Verb::Encapsulate,
                Some(version),
                None,
            )?)?;
            Ok(Encapsulated {
                id: name.at(version),
                ciphertext,
                secret,
            })
        })
    }

    /// Decapsulates a secret by the version that it was encapsulated to.
    ///
    /// # Errors
    ///
    /// [`StoreError::State`] unless the version is enabled, [`StoreError::BelowMinimum`], [`StoreError::Key`] for a
    /// ciphertext of a wrong length, and those of [`encapsulate`](Self::encapsulate). A changed ciphertext gives another
    /// secret (FIPS 203, algorithm 18).
    pub fn decapsulate(
        &self,
        principal: &Principal,
        id: &KeyId,
        ciphertext: &[u8],
    ) -> Result<Zeroizing<[u8; 32]>, StoreError> {
        self.inner().measured(Verb::Decapsulate, id.name(), || {
            let (inner, version) = (self.inner(), id.version());
            let key = inner.usable_at(principal, Verb::Decapsulate, id)?;
            check_minimum(&key, version)?;
            require_enabled(&key.record, id, Verb::Decapsulate)?;
            let private = inner.private(&key, version, Verb::Decapsulate)?;
            let secret = private.decapsulate(ciphertext)?;
            inner.log_use(inner.used(
                &key,
                principal,
                Verb::Decapsulate,
                Some(version),
                None,
            )?)?;
            Ok(secret)
        })
    }
}

pub(super) fn no_version(key: &CachedKey) -> StoreError {
    let name = key.name.clone();
    match key.record.is_deleted() {
        true => StoreError::Deleted(name),
        false => StoreError::NoEnabledVersion(name),
    }
}

pub(super) fn check_minimum(key: &CachedKey, version: Version) -> Result<(), StoreError> {
    check_not_below(&key.name.at(version), key.record.policy.min_version)
}

/// For signing and encapsulating: a version that is too old to verify or decapsulate does neither.
pub(super) fn check_signing_minimum(key: &CachedKey, version: Version) -> Result<(), StoreError> {
    let policy = &key.record.policy;
    let min_version = policy.min_signing_version.max(policy.min_version);
    check_not_below(&key.name.at(version), min_version)
}

pub(super) fn check_not_below(id: &KeyId, min_version: Version) -> Result<(), StoreError> {
    match id.version() < min_version {
        true => Err(StoreError::BelowMinimum {
            id: id.clone(),
            min_version,
        }),
        false => Ok(()),
    }
}

/// Checks what the policy says about the input.
pub(super) fn check_input(key: &CachedKey, input: Input<'_>) -> Result<(), StoreError> {
    let policy = &key.record.policy;
    if !policy.inputs.contains(input.kind()) {
        return Err(StoreError::InputNotPermitted {
            key: key.name.clone(),
            kind: input.kind(),
        });
    }
    let len = match input {
        Input::Message { message, .. } => message.len(),
        Input::Digest { .. } | Input::Mu(_) => 0,
    };
    match u64::try_from(len).is_ok_and(|len| len <= policy.max_message) {
        true => Ok(()),
        false => Err(StoreError::MessageTooLong {
            key: key.name.clone(),
            limit: policy.max_message,
        }),
    }
}

impl Inner {
    /// Signs, and says what is to be written to the log before the signature is given out.
    pub(super) fn sign(
        &self,
        principal: &Principal,
        name: &KeyName,
        input: Input<'_>,
    ) -> Result<(Signed, Option<Event>), StoreError> {
        self.measured(Verb::Sign, name, || {
            self.sign_newest(principal, name, input)
        })
    }

    fn sign_newest(
        &self,
        principal: &Principal,
        name: &KeyName,
        input: Input<'_>,
    ) -> Result<(Signed, Option<Event>), StoreError> {
        let found = self.signing_key(principal, name)?;
        let signed = found.sign(input)?;
        let version = Some(found.version);
        let event = self.used(&found.key, principal, Verb::Sign, version, None)?;
        Ok((signed, event))
    }

    /// The version that signs now, with its private key.
    fn signing_key(&self, principal: &Principal, name: &KeyName) -> Result<SigningKey, StoreError> {
        let mut tries = 0;
        loop {
            let key = self.usable(principal, Verb::Sign, name)?;
            let version = key.newest_enabled.ok_or_else(|| no_version(&key))?;
            check_signing_minimum(&key, version)?;
            match self.private(&key, version, Verb::Sign) {
                Ok(private) => {
                    return Ok(SigningKey {
                        key,
                        version,
                        private,
                    });
                }
                // Another version is the newest enabled one since.
                Err(StoreError::State { .. } | StoreError::VersionNotFound(_)) if tries < TRIES => {
                    tries += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The key, if the principal may do this with it, and the storage was reached lately enough.
    pub(super) fn usable(
        &self,
        principal: &Principal,
        verb: Verb,
        name: &KeyName,
    ) -> Result<Arc<CachedKey>, StoreError> {
        let key = self.permitted(principal, verb, name)?;
        self.check_reached(&key)?;
        Ok(key)
    }

    /// The same for a version, which another process may have made since the key was read.
    pub(super) fn usable_at(
        &self,
        principal: &Principal,
        verb: Verb,
        id: &KeyId,
    ) -> Result<Arc<CachedKey>, StoreError> {
        let key = self.usable(principal, verb, id.name())?;
        if id.version() <= key.record.newest() {
            return Ok(key);
        }
        self.load(id.name())?;
        self.usable(principal, verb, id.name())
    }

    /// Counts a use, or returns the entry of it.
    pub(super) fn used(
        &self,
        key: &CachedKey,
        principal: &Principal,
        verb: Verb,
        version: Option<Version>,
        code: Option<&'static str>,
    ) -> Result<Option<Event>, StoreError> {
        if key.record.policy.audit == UseAudit::Each {
            let mut event = Event::done(principal, verb).with(&key.name, version);
            event.outcome = outcome(code);
            return Ok(Some(event));
        }
        while key.counts.add(principal, verb, version, code).is_err() {
            self.flush(false)?;
        }
        Ok(None)
    }

    pub(super) fn log_use(&self, event: Option<Event>) -> Result<(), StoreError> {
        match event {
            Some(event) => self.log(&[event]),
            None => Ok(()),
        }
    }
}
