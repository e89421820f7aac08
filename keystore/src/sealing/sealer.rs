//! The keys that are derived from the store's key, and what they protect.

use hmac::{Hmac, KeyInit, Mac};
use pq_keys::random;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::{KEY_LEN, cipher};
use crate::encoding::Writer;

const TAG_LEN: usize = 32;

/// What the text of private keys is bound to begins with this.
const SEAL_FORMAT: u8 = 1;

/// A row isn't as the store wrote it, or stands in another place.
#[derive(Debug)]
pub(crate) struct Unauthentic;

/// A new key for a store.
pub(crate) fn new_store_key() -> Result<Zeroizing<[u8; KEY_LEN]>, random::RandomnessError> {
    let mut key = Zeroizing::new([0; KEY_LEN]);
    random::fill(&mut *key)?;
    Ok(key)
}

/// Seals and opens what a store writes.
pub(crate) struct Sealer {
    store: [u8; 16],
    store_key: Zeroizing<[u8; KEY_LEN]>,
    seal_key: Zeroizing<[u8; KEY_LEN]>,
    /// With the key in it, so that it is hashed once.
    mac: Hmac<Sha256>,
    /// The same for entries of the log.
    log_mac: Hmac<Sha256>,
    /// And for the places of rows in the index.
    place_mac: Hmac<Sha256>,
}

impl Sealer {
    /// The keys of the store with this number.
    pub(crate) fn new(store: [u8; 16], store_key: Zeroizing<[u8; KEY_LEN]>) -> Self {
        let seal_key = derive(&store_key, &store, b"pq-keystore seal");
        let mac_key = derive(&store_key, &store, b"pq-keystore rows");
        let log_key = derive(&store_key, &store, b"pq-keystore log");
        let place_key = derive(&store_key, &store, b"pq-keystore index");
        Self {
            store,
            store_key,
            seal_key,
            mac: keyed(&mac_key),
            log_mac: keyed(&log_key),
            place_mac: keyed(&place_key),
        }
    }

    /// The store's key, to be wrapped anew.
    pub(crate) fn store_key(&self) -> &[u8; KEY_LEN] {
        &self.store_key
    }

    /// A record with its MAC, for the row with this key.
    pub(crate) fn authenticate(&self, row: &str, mut record: Vec<u8>) -> Vec<u8> {
        let tag = self.tag(row, &record).finalize().into_bytes();
        record.extend_from_slice(&tag);
        record
    }

    /// The record in a row.
    pub(crate) fn check<'a>(&self, row: &str, value: &'a [u8]) -> Result<&'a [u8], Unauthentic> {
        let (record, tag) = value.split_last_chunk::<TAG_LEN>().ok_or(Unauthentic)?;
        let checked = self.tag(row, record).verify_slice(tag);
        checked.map_err(|_| Unauthentic)?;
        Ok(record)
    }

    /// What a row says, if it is long enough to say anything. Whether it is right isn't checked.
    pub(crate) fn unchecked<'a>(&self, value: &'a [u8]) -> Option<&'a [u8]> {
        value
            .split_last_chunk::<TAG_LEN>()
            .map(|(record, _)| record)
    }

    fn tag(&self, row: &str, record: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        mac.update(&Writer::default().text(row).finish());
        mac.update(record);
        mac
    }

    /// What says in which place of the index a row stands. Nobody who doesn't know the key can choose names by it.
    pub(crate) fn place(&self, row: &str) -> [u8; 32] {
        let mut mac = self.place_mac.clone();
        mac.update(row.as_bytes());
        mac.finalize().into_bytes().into()
    }

    /// The MAC of an entry of the log after the one with the hash `before`.
    pub(crate) fn entry_tag(&self, before: &[u8; 32], record: &[u8]) -> [u8; TAG_LEN] {
        self.log_tag(before, record).finalize().into_bytes().into()
    }

    /// Checks the MAC of an entry of the log.
    pub(crate) fn check_entry(
        &self,
        before: &[u8; 32],
        record: &[u8],
        tag: &[u8; TAG_LEN],
    ) -> Result<(), Unauthentic> {
        let checked = self.log_tag(before, record).verify_slice(tag);
        checked.map_err(|_| Unauthentic)
    }

    fn log_tag(&self, before: &[u8; 32], record: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.log_mac.clone();
        mac.update(before);
        mac.update(record);
        mac
    }

    /// Seals a private key, bound to what it is.
    pub(crate) fn seal(
        &self,
        bound: &Bound<'_>,
        text: &[u8],
    ) -> Result<Vec<u8>, random::RandomnessError> {
        cipher::seal(&self.seal_key, &self.aad(bound), text)
    }

    /// Opens a private key.
    pub(crate) fn open(
        &self,
        bound: &Bound<'_>,
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, Unauthentic> {
        cipher::open(&self.seal_key, &self.aad(bound), sealed).map_err(|_| Unauthentic)
    }

    fn aad(&self, bound: &Bound<'_>) -> Vec<u8> {
        Writer::of_format(SEAL_FORMAT)
            .array(&self.store)
            .text(bound.row)
            .text(bound.algorithm)
            .bytes(bound.spki)
            .bool(bound.exportable)
            .finish()
    }
}

/// What a sealed private key is bound to.
pub(crate) struct Bound<'a> {
    /// The key of the row that it stands in, which has the name and the version.
    pub(crate) row: &'a str,
    pub(crate) algorithm: &'a str,
    pub(crate) spki: &'a [u8],
    pub(crate) exportable: bool,
}

/// HMAC with a key that is shorter than a block, which it fills with zeros (RFC 2104).
fn keyed(key: &[u8; KEY_LEN]) -> Hmac<Sha256> {
    let mut block = Zeroizing::new([0; 64]);
    block[..KEY_LEN].copy_from_slice(key);
    Hmac::new((&*block).into())
}

/// What shows that a key which somebody else unwrapped is the store's, and that it was wrapped for this place. It tells nothing
/// about the key.
#[cfg(feature = "remote")]
pub(crate) fn check_value(store_key: &[u8; KEY_LEN], place: &[u8]) -> Hmac<Sha256> {
    let mut mac = keyed(store_key);
    let purpose = b"pq-keystore wrapped elsewhere";
    mac.update(&Writer::default().bytes(purpose).bytes(place).finish());
    mac
}

/// A key for one purpose: HMAC-SHA256 of the purpose under the store's key.
fn derive(store_key: &[u8; KEY_LEN], store: &[u8; 16], purpose: &[u8]) -> Zeroizing<[u8; KEY_LEN]> {
    let mut mac = keyed(store_key);
    mac.update(&Writer::default().bytes(purpose).array(store).finish());
    let mut derived = mac.finalize().into_bytes();
    let mut key = Zeroizing::new([0; KEY_LEN]);
    key.copy_from_slice(&derived);
    zeroize::Zeroize::zeroize(derived.as_mut_slice());
    key
}
