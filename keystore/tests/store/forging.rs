//! What somebody can write who knows the key of a store: rows with a right MAC that the store never wrote.

use std::sync::{Mutex, PoisonError};

use hmac::{Hmac, KeyInit, Mac};
use pq_keystore::Store;
use pq_keystore::sealing::{KEY_LEN, Kek, KekError, WrappedKey};
use pq_keystore::storage::RowKey;
use sha2::Sha256;

/// The length of the MAC at the end of a row.
pub(crate) const TAG_LEN: usize = 32;

/// A KEK that hides nothing, and tells the key of the store that it wrapped last.
#[derive(Default)]
pub(crate) struct OpenKek(Mutex<[u8; KEY_LEN]>);

impl Kek for OpenKek {
    fn kind(&self) -> &'static str {
        "open"
    }

    fn wrap(&self, store_key: &[u8; KEY_LEN], bound: &[u8]) -> Result<WrappedKey, KekError> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = *store_key;
        Ok(WrappedKey {
            parameters: bound.into(),
            ciphertext: store_key.into(),
        })
    }

    fn unwrap(
        &self,
        wrapped: &WrappedKey,
        bound: &[u8],
    ) -> Result<zeroize::Zeroizing<[u8; KEY_LEN]>, KekError> {
        let kind = self.kind();
        if wrapped.parameters != bound {
            return Err(KekError::Wrong { kind });
        }
        let key = <[u8; KEY_LEN]>::try_from(&wrapped.ciphertext[..]);
        Ok(key.map_err(|_| KekError::Wrong { kind })?.into())
    }
}

/// Writes rows as a store does.
pub(crate) struct Forger(Hmac<Sha256>);

impl Forger {
    /// With the key that a store was created under last by this KEK.
    pub(crate) fn new(store: &Store, kek: &OpenKek) -> Self {
        let store_key = *kek.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut mac = keyed(&store_key);
        mac.update(&with_length(b"pq-keystore rows"));
        mac.update(&store.id());
        Self(keyed(&mac.finalize().into_bytes().into()))
    }

    /// The value of a row with this record.
    pub(crate) fn value(&self, row: &RowKey, record: &[u8]) -> Vec<u8> {
        let mut mac = self.0.clone();
        mac.update(&with_length(row.as_str().as_bytes()));
        mac.update(record);
        [record, &mac.finalize().into_bytes()].concat()
    }
}

fn keyed(key: &[u8; KEY_LEN]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("a key of any length")
}

fn with_length(bytes: &[u8]) -> Vec<u8> {
    let len = u32::try_from(bytes.len()).expect("a short text");
    [&len.to_be_bytes(), bytes].concat()
}
