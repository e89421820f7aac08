//! Private keys come in wrapped under a key of the store: RSA-OAEP of an AES key, and AES-KWP of the private key (RFC 5649),
//! as PKCS#11's `CKM_RSA_AES_KEY_WRAP` does it.

use core::slice;

use aes_kw::{KeyInit, KwpAes256};
use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnyPublicKey, Readable};
use pq_keys::classical::ClassicalAlgorithm;
use pq_keys::{SubjectKey, random};
use rsa::PrivateKey as RsaKey;
use rsa::pkcs8::DecodePrivateKey;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::Store;
use super::commit::Plan;
use super::error::{Damage, StoreError};
use super::inner::Inner;
use crate::audit::{Deed, Event};
use crate::policy::{Principal, Verb};
use crate::record::WrappingRecord;
use crate::sealing::Bound;
use crate::storage::RowKey;

/// What Vault has, too.
const ALGORITHM: AnyAlgorithm = AnyAlgorithm::Classical(ClassicalAlgorithm::Rsa4096);

/// The length of the AES key under RSA-4096.
const WRAPPED_SECRET_LEN: usize = 512;

/// How much longer AES-KWP makes a key at least.
const CHECK_LEN: usize = 8;

/// The most bytes of a wrapped key: those of SLH-DSA and RSA-4096 are shorter by far.
const MAX_LEN: usize = WRAPPED_SECRET_LEN + 16 * 1024;

impl Store {
    /// The public key under which keys are wrapped that are to be imported. It is made when it is first asked for, and
    /// stays. Whoever may import some keys may know it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Denied`], [`StoreError::Damaged`] if it was changed, and those of the storage.
    pub(crate) fn wrapping_key(&self, principal: &Principal) -> Result<AnyPublicKey, StoreError> {
        let inner = self.inner();
        if !inner.grants().permits_some(principal, Verb::Import) {
            return Err(inner.denied(principal, Verb::Import, None));
        }
        let row = RowKey::wrapping();
        let found = inner.table.read(slice::from_ref(&row))?.wrapping()?;
        let spki = match found {
            Some(found) => found.spki,
            None => inner.make_wrapping_key(principal)?,
        };
        Ok(AnyPublicKey::from_spki_der(&spki)?)
    }

    /// Unwraps a private key. Nothing says which part of a wrapped key was wrong, so that nobody learns anything of others'
    /// by trying.
    ///
    /// # Errors
    ///
    /// [`StoreError::Wrapped`]; [`StoreError::Key`] if what was wrapped is no private key; [`StoreError::Damaged`], and those
    /// of the storage.
    pub(crate) fn unwrap_key(&self, wrapped: &[u8]) -> Result<AnyPrivateKey, StoreError> {
        let key = self.inner().unwrapping_key()?.ok_or(StoreError::Wrapped)?;
        let text = unwrap(&key, wrapped)?;
        Ok(AnyPrivateKey::from_der(&text)?)
    }
}

impl Inner {
    /// Makes the key, unless another process has made it meanwhile. Returns the public key.
    fn make_wrapping_key(&self, principal: &Principal) -> Result<Vec<u8>, StoreError> {
        let key = AnyPrivateKey::generate(ALGORITHM)?;
        let spki = key.spki().to_vec();
        let sealed = self
            .table
            .sealer
            .seal(&bound(&spki), &key.to_pkcs8_der()?)?;
        let (store, row) = (RowKey::store(), RowKey::wrapping());
        let (spki, _) = self.commit(&[store.clone(), row.clone()], |rows, now| {
            if !rows.store()?.grants.permits_some(principal, Verb::Import) {
                return Err(self.denied(principal, Verb::Import, None));
            }
            if let Some(found) = rows.wrapping()? {
                return Ok(Plan {
                    rows: Vec::new(),
                    events: Vec::new(),
                    value: found.spki,
                });
            }
            let record = WrappingRecord {
                created: now,
                spki: spki.clone(),
                sealed: sealed.clone(),
            };
            let mut draft = rows.change();
            draft.rely_on(&store);
            draft.set_serial(&row, 1)?;
            draft.put(&row, record.encode());
            Ok(Plan {
                rows: draft.finish(),
                events: vec![Event::done(principal, Deed::MakeWrappingKey)],
                value: record.spki,
            })
        })?;
        Ok(spki)
    }

    /// The private key, if there is one.
    pub(super) fn unwrapping_key(&self) -> Result<Option<RsaKey>, StoreError> {
        let row = RowKey::wrapping();
        let Some(found) = self.table.read(slice::from_ref(&row))?.wrapping()? else {
            return Ok(None);
        };
        let damaged = || StoreError::damaged(&row, Damage::PrivateKey);
        let opened = self.table.sealer.open(&bound(&found.spki), &found.sealed);
        let opened = opened.map_err(|_| damaged())?;
        let key = AnyPrivateKey::from_der(&opened).map_err(|_| damaged())?;
        if key.algorithm() != ALGORITHM || *key.spki() != *found.spki {
            return Err(damaged());
        }
        RsaKey::from_pkcs8_der(&opened)
            .map(Some)
            .map_err(|_| damaged())
    }
}

/// What the private key is bound to.
fn bound(spki: &[u8]) -> Bound<'_> {
    Bound {
        row: "wrapping",
        algorithm: ALGORITHM.name(),
        spki,
        exportable: false,
    }
}

fn unwrap(key: &RsaKey, wrapped: &[u8]) -> Result<Zeroizing<Vec<u8>>, StoreError> {
    let (secret, text) = wrapped
        .split_at_checked(WRAPPED_SECRET_LEN)
        .filter(|_| wrapped.len() <= MAX_LEN)
        .ok_or(StoreError::Wrapped)?;
    let len = text.len().checked_sub(CHECK_LEN);
    let mut key_text = Zeroizing::new(vec![0; len.ok_or(StoreError::Wrapped)?]);
    // With a random key in the place of one that wasn't right, the second step fails as after a right one.
    let mut aes_key = Zeroizing::new([0; 32]);
    random::fill(&mut *aes_key)?;
    let opened = key.oaep_decrypt::<Sha256>(secret).map(Zeroizing::new);
    if let Ok(opened) = opened
        && opened.len() == aes_key.len()
    {
        aes_key.copy_from_slice(&opened);
    }
    let cipher = KwpAes256::new((&*aes_key).into());
    let unwrapped = cipher.unwrap_key(text, &mut key_text);
    let len = unwrapped.map_err(|_| StoreError::Wrapped)?.len();
    key_text.truncate(len);
    Ok(key_text)
}
