//! Versions of keys are read from the storage and opened, and kept in memory.

use alloc::sync::Arc;

use pq_keys::any::{AnyPrivateKey, AnyPublicKey, Readable};
use pq_keys::{PublicKey, SubjectKey};

use super::cache::CachedKey;
use super::error::{Damage, StoreError};
use super::held::{HeldKey, KeyInToken};
use super::inner::Inner;
use super::making::require_enabled;
use super::rows::Rows;
use crate::name::{KeyId, Version};
use crate::policy::Verb;
use crate::record::{PrivatePart, VersionRecord};
use crate::sealing::Bound;
use crate::storage::RowKey;

impl Inner {
    /// The rows of a key and a version of it, of one moment; the key in memory is not older.
    fn read_version(
        &self,
        key: &CachedKey,
        version: Version,
    ) -> Result<(Rows<'_>, Arc<CachedKey>), StoreError> {
        let row = RowKey::version(&key.name.at(version));
        let rows = self.table.read(&[RowKey::key(&key.name), row])?;
        let kept = self.keep(&key.name, &rows)?;
        let kept = kept.ok_or_else(|| StoreError::NotFound(key.name.clone()))?;
        Ok((rows, kept))
    }

    /// The private key of a version, which has to be enabled.
    pub(super) fn private(
        &self,
        key: &CachedKey,
        version: Version,
        verb: Verb,
    ) -> Result<Arc<HeldKey>, StoreError> {
        let id = key.name.at(version);
        require_enabled(&key.record, &id, verb)?;
        if let Some(private) = key.private(version) {
            return Ok(private);
        }
        let (rows, kept) = self.read_version(key, version)?;
        let record = rows
            .key(&key.name)?
            .ok_or_else(|| StoreError::NotFound(key.name.clone()))?;
        require_enabled(&record, &id, verb)?;
        let found = rows.version(&id, &record)?;
        let private = Arc::new(self.held(&id, &found)?);
        if require_enabled(&kept.record, &id, verb).is_ok() {
            kept.keep_private(version, &private);
        }
        Ok(private)
    }

    /// The private key of a record, wherever it is. A token isn't asked yet.
    pub(super) fn held(&self, id: &KeyId, record: &VersionRecord) -> Result<HeldKey, StoreError> {
        let Some(place) = record.private.in_token() else {
            return self.open_private(id, record).map(HeldKey::Here);
        };
        Ok(HeldKey::InToken(KeyInToken {
            token: self.token(&place.token)?.clone(),
            place: place.clone(),
            public: expanded(&record.spki)?,
        }))
    }

    /// Opens a private key that is sealed in its row.
    pub(super) fn open_private(
        &self,
        id: &KeyId,
        record: &VersionRecord,
    ) -> Result<AnyPrivateKey, StoreError> {
        let row = RowKey::version(id);
        let damaged = || StoreError::damaged(&row, Damage::PrivateKey);
        let bound = Bound {
            row: row.as_str(),
            algorithm: record.algorithm.name(),
            spki: &record.spki,
            exportable: record.exportable,
        };
        let PrivatePart::Sealed(Some(sealed)) = &record.private else {
            return Err(damaged());
        };
        let opened = self
            .table
            .sealer
            .open(&bound, sealed)
            .map_err(|_| damaged())?;
        let key = AnyPrivateKey::from_der(&opened).map_err(|_| damaged())?;
        match key.algorithm() == record.algorithm && *key.spki() == *record.spki {
            true => Ok(key),
            false => Err(damaged()),
        }
    }

    /// The public key of a version, in the form that verifies fastest.
    pub(super) fn public(
        &self,
        key: &CachedKey,
        version: Version,
    ) -> Result<Arc<AnyPublicKey>, StoreError> {
        if let Some(public) = key.public(version) {
            return Ok(public);
        }
        let (rows, kept) = self.read_version(key, version)?;
        let record = rows
            .key(&key.name)?
            .ok_or_else(|| StoreError::NotFound(key.name.clone()))?;
        let id = key.name.at(version);
        let found = rows.version(&id, &record)?;
        let public = Arc::new(expanded(&found.spki)?);
        kept.keep_public(version, &public);
        Ok(public)
    }
}

/// The public key in a SubjectPublicKeyInfo, in the form that verifies fastest.
fn expanded(spki: &[u8]) -> Result<AnyPublicKey, StoreError> {
    Ok(match AnyPublicKey::from_spki_der(spki)? {
        AnyPublicKey::PostQuantum(PublicKey::Verifying(key)) => key.expand().into(),
        other => other,
    })
}
