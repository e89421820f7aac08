//! A store that a command uses, wherever it is.

use pq_keystore::policy::{Input, Policy, Principal, UseAudit, Verb, Verbs};
use pq_keystore::{KeyDetails, StoreError, Version, VersionState};

use super::door::DoorKeys;
use super::key_name::{KeyLabel, KeyOrVersion};
use super::opened::Opened;
use super::signer::KeyInStore;
use crate::failure::{DoorFailure, Failure, StoreFailure};
use crate::keys::{Algorithm, PublicKey};

/// A store that this process has open, or one behind a door.
#[derive(Clone)]
pub(in crate::commands) enum Custodian {
    Here(Opened),
    Door(DoorKeys),
}

impl Custodian {
    /// A key that signs: its newest version that is enabled, or one version.
    pub(in crate::commands) fn signer(
        &self,
        key: &KeyLabel,
        version: Option<Version>,
    ) -> Result<KeyInStore, Failure> {
        match (self, version) {
            (Self::Here(opened), None) => KeyInStore::newest(opened.clone(), key.in_store()?),
            (Self::Here(opened), Some(version)) => {
                KeyInStore::at(opened.clone(), &key.in_store()?.at(version))
            }
            (Self::Door(door), version) => {
                let signer = door.signer(key, version)?;
                Ok(KeyInStore::at_door(door.clone(), key, signer))
            }
        }
    }

    /// The public key of a version: one, or the newest that is enabled.
    pub(in crate::commands) fn public_key(
        &self,
        KeyOrVersion { name, version }: &KeyOrVersion,
    ) -> Result<(Version, PublicKey), Failure> {
        match self {
            Self::Here(Opened { store, principal }) => {
                let details = store.show(principal, name.in_store()?)?;
                Ok(chosen(&details, *version)?)
            }
            Self::Door(door) => door.public_key(name, *version),
        }
    }

    /// Signs by a version: one, or the newest that is enabled.
    pub(in crate::commands) fn sign(
        &self,
        KeyOrVersion { name, version }: &KeyOrVersion,
        input: Input<'_>,
    ) -> Result<(Version, Vec<u8>), Failure> {
        match self {
            Self::Here(Opened { store, principal }) => {
                let name = name.in_store()?;
                let signed = match version {
                    None => store.sign(principal, name, input)?,
                    Some(version) => store.sign_by(principal, &name.at(*version), input)?,
                };
                Ok((signed.id.version(), signed.signature))
            }
            Self::Door(_) => {
                let key = self.signer(name, *version)?;
                Ok((key.id().version, key.sign_input(input)?))
            }
        }
    }

    /// Verifies a signature by a version: the one that is named, or one of the newest, which it returns. `None` stands for a
    /// signature that is not valid.
    pub(in crate::commands) fn verify(
        &self,
        KeyOrVersion { name, version }: &KeyOrVersion,
        input: Input<'_>,
        signature: &[u8],
    ) -> Result<Option<Version>, Failure> {
        match self {
            Self::Here(Opened { store, principal }) => {
                match store.verify(principal, name.in_store()?, *version, input, signature) {
                    Ok(id) => Ok(Some(id.version())),
                    Err(StoreError::InvalidSignature) => Ok(None),
                    Err(error) => Err(error.into()),
                }
            }
            Self::Door(door) => {
                let version = version.ok_or(DoorFailure::VersionNeeded)?;
                let name = name.at_door()?;
                // Whoever may only verify isn't told the public key, which most keys need not know.
                let store = match door.store.public_key(name, Some(version)) {
                    Ok((_, key)) => door.store.for_key(&key),
                    Err(_) => door.store.clone(),
                };
                let verified = store.verify(name, version, input, signature);
                let is_valid = verified.map_err(|error| door.failed(error))?;
                Ok(is_valid.then_some(version))
            }
        }
    }

    /// The algorithm of a key that is there.
    pub(in crate::commands) fn algorithm(&self, key: &KeyLabel) -> Result<Algorithm, Failure> {
        match self {
            Self::Here(Opened { store, principal }) => {
                Ok(store.show(principal, key.in_store()?)?.algorithm)
            }
            Self::Door(door) => door.algorithm(key),
        }
    }

    /// Makes the next version of a key.
    pub(in crate::commands) fn rotate(&self, key: &KeyLabel) -> Result<Version, Failure> {
        match self {
            Self::Here(Opened { store, principal }) => {
                Ok(store.rotate(principal, key.in_store()?)?.version())
            }
            Self::Door(door) => door.rotate(key),
        }
    }

    /// Makes a key, or the next version of the one that has the name, and returns the version that this process made: no other
    /// process is given it. A key that is new has this policy, unless a door gives it one. One that is there already may not be
    /// exportable; and, unless it `is_own` of whoever asks, no policy that permits others more than this one does, as far as it
    /// can be seen: a door doesn't show it.
    pub(in crate::commands) fn new_version(
        &self,
        key: &KeyLabel,
        algorithm: Algorithm,
        policy: impl FnOnce(&Principal) -> Policy,
        is_own: bool,
    ) -> Result<Version, Failure> {
        let Opened { store, principal } = match self {
            Self::Here(opened) => opened,
            Self::Door(door) => return door.new_version(key, algorithm),
        };
        let (name, wanted) = (key.in_store()?, policy(principal));
        match store.create_key(principal, name, algorithm, &wanted) {
            Err(StoreError::Exists(_)) => {}
            made => return Ok(made?.version()),
        }
        let KeyDetails {
            algorithm: found,
            policy,
            ..
        } = store.show(principal, name)?;
        if found != algorithm {
            return Err(StoreFailure::OtherAlgorithm {
                key: name.to_string(),
                found: found.name(),
                asked: algorithm.name(),
            }
            .into());
        }
        if policy.exportable {
            return Err(StoreFailure::ExportableKey(name.to_string()).into());
        }
        let wider = wider(&policy, &wanted, principal);
        if !is_own && !wider.is_empty() {
            return Err(StoreFailure::OtherPolicy {
                key: name.to_string(),
                found: wider.join(", "),
            }
            .into());
        }
        Ok(store.rotate(principal, name)?.version())
    }
}

/// By what a policy permits more than another one, which is for one principal.
fn wider(found: &Policy, wanted: &Policy, principal: &Principal) -> Vec<String> {
    // What public keys are for, anybody may do.
    let public = [Verb::Verify, Verb::Encapsulate, Verb::Show, Verb::Attest];
    let more = |who: &str, verbs: Verbs| {
        let verbs = verbs.iter().filter(|verb| !public.contains(verb));
        let names: Vec<_> = verbs.map(Verb::name).collect();
        (!names.is_empty()).then(|| format!("{who} may {} by it", names.join(", ")))
    };
    let grants = &found.grants;
    let others = grants.principals().filter(|(one, _)| *one != principal);
    let mut wider: Vec<_> = more("anyone", grants.anyone()).into_iter().collect();
    wider.extend(others.filter_map(|(one, verbs)| more(one.as_str(), verbs)));
    if wanted.audit == UseAudit::Each && found.audit != UseAudit::Each {
        wider.push("not each use has an entry in the audit log (audit = \"each\")".into());
    }
    wider
}

/// Whether nothing of a version is of use any more: it was destroyed, and verifies nothing. A key was deleted of which each
/// version is like this.
fn is_gone(state: VersionState) -> bool {
    state == VersionState::Destroyed { verifies: false }
}

/// The version that was asked for, or the newest one that is enabled.
fn chosen(
    details: &KeyDetails,
    version: Option<Version>,
) -> Result<(Version, PublicKey), StoreError> {
    let mut newest_first = details.versions.iter().rev();
    let found = newest_first.find(|one| match version {
        Some(version) => one.version == version,
        None => one.state == VersionState::Enabled,
    });
    let missing = || match version {
        Some(version) => StoreError::VersionNotFound(details.name.at(version)),
        None if details.versions.iter().all(|one| is_gone(one.state)) => {
            StoreError::Deleted(details.name.clone())
        }
        None => StoreError::NoEnabledVersion(details.name.clone()),
    };
    let found = found.ok_or_else(missing)?;
    Ok((found.version, found.public_key.clone()))
}

#[cfg(test)]
mod tests {
    use pq_keystore::policy::Grants;

    use super::*;

    /// Everybody who may do more is named, and nobody who may not.
    #[test]
    fn a_wider_policy_is_told_in_full() {
        let [own, reader, signer, exporter] =
            ["own", "a-reader", "b-signer", "c-exporter"].map(|name| Principal::new(name).unwrap());
        let verbs = |verbs: &[Verb]| verbs.iter().copied().collect::<Verbs>();
        let grants = Grants::default()
            .grant(&own, verbs(&[Verb::Sign, Verb::Rotate]))
            .grant(&reader, verbs(&[Verb::Show, Verb::Verify]))
            .grant(&signer, verbs(&[Verb::Sign, Verb::Show]))
            .grant(&exporter, verbs(&[Verb::Export]))
            .grant_anyone(verbs(&[Verb::Verify, Verb::Decapsulate]));
        let mut found = Policy::default();
        found.grants = grants;
        let mut wanted = Policy::default();
        wanted.audit = UseAudit::Each;
        let expected = [
            "anyone may decapsulate by it",
            "b-signer may sign by it",
            "c-exporter may export by it",
            "not each use has an entry in the audit log (audit = \"each\")",
        ];
        assert_eq!(wider(&found, &wanted, &own), expected);
        assert_eq!(wider(&wanted, &wanted, &own), [""; 0]);
    }
}
