//! Keys in tokens: made before the rows that refer to them, removed after, and found if either was cut short.
//!
//! A key is made in its token first, and committed then, so that no version is acknowledged without its key. Whoever removes
//! keys that no version refers to writes the row of the store in between: a key that was made before, and isn't committed yet,
//! can't be committed any more, since its commit expects that row as it was. So no clock decides which keys are too old.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::slice;
use std::collections::HashSet;

use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnyPublicKey};

use super::Store;
use super::error::StoreError;
use super::held::{HeldKey, KeyInToken, check_made_in};
use super::inner::Inner;
use super::log_check::LogCheck;
use super::rows::Rows;
use crate::audit::Deed;
use crate::custody::answers::InvalidAnswer;
use crate::custody::{ObjectId, Token, TokenError, TokenName};
use crate::name::{KeyId, KeyName};
use crate::policy::{Principal, Verb};
use crate::record::{PrivatePart, TokenPlace, VersionRecord, VersionState};
use crate::storage::RowKey;

/// How often a key is made anew because others were removed meanwhile.
const TRIES: usize = 8;

/// A key in a token that no version of the store refers to. It was made for a version that was not committed, or is about to
/// be; or its version was destroyed or removed while the token was away.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct Orphan {
    /// The token.
    pub token: TokenName,
    /// The key in it.
    pub object: ObjectId,
}

/// A key that was made in a token, for a version that isn't committed yet.
pub(super) struct MadeInToken {
    pub(super) place: TokenPlace,
    pub(super) public: AnyPublicKey,
    /// The revision of the store's own row before it was made.
    before: Option<u64>,
}

impl MadeInToken {
    /// Checks that nobody removed keys from tokens since it was made, among which it may have been.
    pub(super) fn check_kept(&self, rows: &Rows<'_>) -> Result<(), StoreError> {
        match rows.row_revision(&RowKey::store()) == self.before {
            true => Ok(()),
            false => Err(StoreError::Contended),
        }
    }
}

/// Where a private key is, or was until its version was destroyed.
pub(super) struct PlaceInToken {
    place: TokenPlace,
    is_destroyed: bool,
}

impl PlaceInToken {
    /// Where that of a version is, if in a token.
    pub(super) fn of(private: &PrivatePart) -> Option<Self> {
        private.in_token().map(|place| Self {
            place: place.clone(),
            is_destroyed: !private.exists(),
        })
    }
}

impl Store {
    /// Removes keys of this store from the tokens that it was given, if no version refers to them, and returns them. A key that is
    /// being made at the same time is made anew.
    ///
    /// Keys that were made after the backup from which a store was restored are removed, too: its rows don't refer to them.
    ///
    /// # Errors
    ///
    /// [`StoreError::Denied`] if the principal may not [administer](Verb::Administer) the store; [`StoreError::Damaged`] if a row
    /// is damaged, missing or put back, by what the log says, and [`StoreError::Log`] if the log was changed, since any may have
    /// referred to one, and then nothing is removed; [`StoreError::Token`]; and those of the storage. Some may
    /// have been removed before an error.
    pub fn remove_orphans(&self, principal: &Principal) -> Result<Vec<Orphan>, StoreError> {
        let inner = self.inner();
        inner.check_store_right(&inner.grants(), principal, Verb::Administer)?;
        let mut orphans = Vec::new();
        for (name, token) in &inner.options.tokens {
            let objects = inner.objects(name, token)?;
            orphans.extend(objects.into_iter().map(|object| Orphan {
                token: name.clone(),
                object,
            }));
        }
        if orphans.is_empty() {
            return Ok(orphans);
        }
        inner.touch_store(principal, Deed::RemoveOrphans)?;
        let referred = inner.referred()?;
        orphans.retain(|orphan| !referred.contains(&orphan.object));
        for orphan in &orphans {
            match inner.token(&orphan.token)?.destroy(&orphan.object) {
                // Others may have removed it since.
                Ok(()) | Err(TokenError::NoObject(_)) => {}
                Err(error) => return Err(failed(&orphan.token, error)),
            }
        }
        Ok(orphans)
    }
}

fn failed(token: &TokenName, error: impl Into<TokenError>) -> StoreError {
    StoreError::Token {
        token: token.clone(),
        error: error.into(),
    }
}

/// A public key, if the token has its private key, as it was seen to.
fn tried_out(
    place: &TokenPlace,
    token: &Arc<dyn Token>,
    public: AnyPublicKey,
) -> Result<AnyPublicKey, StoreError> {
    let key = KeyInToken {
        place: place.clone(),
        token: token.clone(),
        public,
    };
    key.try_out()?;
    Ok(key.public)
}

impl Inner {
    /// A token that the store was given.
    pub(super) fn token(&self, name: &TokenName) -> Result<&Arc<dyn Token>, StoreError> {
        let token = self.options.tokens.get(name);
        token.ok_or_else(|| failed(name, TokenError::NotGiven))
    }

    /// The keys of this store in a token.
    fn objects(
        &self,
        name: &TokenName,
        token: &Arc<dyn Token>,
    ) -> Result<Vec<ObjectId>, StoreError> {
        let store = self.table.store;
        let objects = token.objects(store).map_err(|error| failed(name, error))?;
        // Whatever the token says: keys of others are never removed.
        Ok(objects
            .into_iter()
            .filter(|object| object.is_of(store))
            .collect())
    }

    /// Makes a key in a token, tries it out there, and commits it; if it isn't committed, it is removed from there.
    pub(super) fn made_in_token<T>(
        &self,
        name: &TokenName,
        algorithm: AnyAlgorithm,
        label: &KeyName,
        commit: impl FnMut(&MadeInToken) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let make = |token: &Arc<dyn Token>, place: &TokenPlace| {
            let public = token.generate(algorithm, &place.object, &label.to_string());
            let public = public.map_err(|error| failed(name, error))?;
            if public.algorithm() != algorithm {
                return Err(failed(
                    name,
                    InvalidAnswer::Attribute("its algorithm is another"),
                ));
            }
            tried_out(place, token, public)
        };
        self.in_token(name, make, commit)
    }

    /// Puts a key into a token, tries it out there, and commits it; if it isn't committed, it is removed from there.
    pub(super) fn put_in_token<T>(
        &self,
        name: &TokenName,
        key: &AnyPrivateKey,
        label: &KeyName,
        commit: impl FnMut(&MadeInToken) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let put = |token: &Arc<dyn Token>, place: &TokenPlace| {
            let imported = token.import(key, &place.object, &label.to_string());
            imported.map_err(|error| failed(name, error))?;
            tried_out(place, token, key.public_half())
        };
        self.in_token(name, put, commit)
    }

    fn in_token<T>(
        &self,
        name: &TokenName,
        make: impl Fn(&Arc<dyn Token>, &TokenPlace) -> Result<AnyPublicKey, StoreError>,
        mut commit: impl FnMut(&MadeInToken) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let token = self.token(name)?;
        let mut tries = 0;
        loop {
            let row = RowKey::store();
            let before = self.table.read(slice::from_ref(&row))?.row_revision(&row);
            let serial = token.serial().map_err(|error| failed(name, error))?;
            let place = TokenPlace {
                token: name.clone(),
                serial,
                object: ObjectId::new(self.table.store)?,
            };
            // The token whose serial number was read is the one in which the key was tried out, if it is there before and after.
            let made = make(token, &place).and_then(|public| {
                let kept = check_made_in(&place, &**token);
                kept.map(|()| public).map_err(|error| failed(name, error))
            });
            let result = match made {
                Ok(public) => commit(&MadeInToken {
                    place: place.clone(),
                    public,
                    before,
                }),
                // It may have been removed as one that no version refers to, before it was known here.
                Err(_) if self.table.read(slice::from_ref(&row))?.row_revision(&row) != before => {
                    Err(StoreError::Contended)
                }
                Err(error) => Err(error),
            };
            match result {
                // It may have been committed. If it wasn't, it is found as one that no version refers to.
                Err(StoreError::OutcomeUnknown(_)) | Ok(_) => return result,
                Err(error) => {
                    // What can't be removed now is found later.
                    let _ = token.destroy(&place.object);
                    if !matches!(error, StoreError::Contended) || tries == TRIES {
                        return Err(error);
                    }
                    tries += 1;
                }
            }
        }
    }

    /// Removes the private key of a version that is destroyed.
    pub(super) fn remove_from_token(&self, left: &PlaceInToken) -> Result<(), StoreError> {
        let PlaceInToken {
            place,
            is_destroyed,
        } = left;
        let left = |error| StoreError::LeftInToken {
            token: place.token.clone(),
            error,
        };
        let token = self.options.tokens.get(&place.token);
        let token = token.ok_or_else(|| left(TokenError::NotGiven))?;
        // What another one removes, or doesn't have, is in the one where it was made as before.
        check_made_in(place, &**token).map_err(left)?;
        match token.destroy(&place.object) {
            // That of a version that was destroyed before is gone. Otherwise, another token may have it, which is called the same,
            // if it isn't known in which it was made.
            Err(TokenError::NoObject(_)) if *is_destroyed => Ok(()),
            removed => removed.map_err(left),
        }
    }

    /// Whether a version has a private key now.
    fn has_private(&self, id: &KeyId) -> Result<bool, StoreError> {
        let rows = [RowKey::key(id.name()), RowKey::version(id)];
        let rows = self.table.read(&rows)?;
        match rows.key(id.name())? {
            Some(record) if record.state(id.version()).is_some() => {
                Ok(rows.version(id, &record)?.private.exists())
            }
            _ => Ok(false),
        }
    }

    /// Removes the private key of a version that was destroyed before, if it is in a token yet. Otherwise, the error is why the
    /// version isn't destroyed again.
    pub(super) fn destroy_again(&self, id: &KeyId, error: StoreError) -> Result<(), StoreError> {
        let StoreError::State {
            state: VersionState::Destroyed { .. },
            ..
        } = &error
        else {
            return Err(error);
        };
        let (rows, record) = self.table.read_key(id.name(), &[id.version()])?;
        let found = rows.version(id, &record)?;
        let left = PlaceInToken::of(&found.private).filter(|_| !found.private.exists());
        let Some(left) = left else {
            return Err(error);
        };
        let place = &left.place;
        let token = self.token(&place.token)?;
        // Whether it is gone, only the one says where it was made.
        check_made_in(place, &**token).map_err(|error| failed(&place.token, error))?;
        match self.objects(&place.token, token)?.contains(&place.object) {
            true => self.remove_from_token(&left),
            false => Err(error),
        }
    }

    /// All keys in tokens that versions refer to. Which keys of the store there are, the log says: a row that somebody deleted or
    /// put back would refer to nothing, or to less.
    fn referred(&self) -> Result<HashSet<ObjectId>, StoreError> {
        let mut check = LogCheck::new(self.table.store, &[]);
        check.read_on(self)?;
        let mut referred = HashSet::new();
        for name in check.names().into_iter().flatten() {
            for (_, _, found) in check.whole(self, &name)?.versions {
                let private = found.private;
                let object = private.in_token().filter(|_| private.exists());
                referred.extend(object.map(|place| place.object));
            }
        }
        Ok(referred)
    }
}

/// What tokens had when a check began, and whether they have what versions refer to.
pub(super) struct TokensSeen {
    /// Keys that no version was found to refer to yet.
    unreferred: BTreeMap<TokenName, HashSet<ObjectId>>,
    /// Versions whose private keys tokens don't have as they should.
    damaged: Vec<StoreError>,
    /// Why tokens could not be asked, one of each.
    failed: BTreeMap<TokenName, StoreError>,
}

impl TokensSeen {
    /// Asks the tokens for their keys.
    pub(super) fn look(inner: &Inner) -> Self {
        let mut seen = Self {
            unreferred: BTreeMap::new(),
            damaged: Vec::new(),
            failed: BTreeMap::new(),
        };
        for (name, token) in &inner.options.tokens {
            match inner.objects(name, token) {
                Ok(objects) => {
                    let objects = objects.into_iter().collect();
                    seen.unreferred.insert(name.clone(), objects);
                }
                Err(error) => drop(seen.failed.insert(name.clone(), error)),
            }
        }
        seen
    }

    /// A version may refer to a key in a token, which is tried out.
    pub(super) fn refer(
        &mut self,
        inner: &Inner,
        id: &KeyId,
        found: &VersionRecord,
    ) -> Result<(), StoreError> {
        let private = &found.private;
        let Some(place) = private.in_token().filter(|_| private.exists()) else {
            return Ok(());
        };
        let TokenPlace { token, object, .. } = place;
        if let Some(objects) = self.unreferred.get_mut(token) {
            objects.remove(object);
        }
        // One that doesn't answer isn't waited for again.
        if self.failed.contains_key(token) {
            return Ok(());
        }
        let checked = match inner.held(id, found) {
            Ok(HeldKey::InToken(key)) => key.check(),
            Ok(HeldKey::Here(_)) => return Ok(()),
            Err(error) => Err(error),
        };
        match checked {
            Ok(Ok(())) => {}
            // It may have been destroyed since its row was read.
            Ok(Err(reason)) => {
                if inner.has_private(id)? {
                    let row = RowKey::version(id);
                    self.damaged.push(StoreError::damaged(&row, reason));
                }
            }
            // Others of its keys may be in the one at hand.
            Err(StoreError::Token {
                token,
                error: error @ TokenError::AnotherToken { .. },
            }) => {
                if inner.has_private(id)? {
                    let id = id.clone();
                    let error = StoreError::InAnotherToken { id, token, error };
                    self.damaged.push(error);
                }
            }
            Err(error @ StoreError::Token { .. }) => {
                self.failed.insert(token.clone(), error);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Says what is missing, and what nobody refers to.
    pub(super) fn finish(self, all_orphans: &mut Vec<Orphan>, damaged: &mut Vec<StoreError>) {
        let orphans = self.unreferred.into_iter().flat_map(|(token, objects)| {
            objects.into_iter().map(move |object| Orphan {
                token: token.clone(),
                object,
            })
        });
        all_orphans.extend(orphans);
        all_orphans.sort_unstable();
        damaged.extend(self.damaged);
        damaged.extend(self.failed.into_values());
    }
}
