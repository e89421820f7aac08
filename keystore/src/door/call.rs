//! What a request of somebody who is known has, under a mount.

use pq_keys::any::AnyAlgorithm;

use super::body::Text;
use super::refusal::Refusal;
use crate::name::KeyName;
use crate::policy::{Policy, Principal, Verb};
use crate::store::{Store, StoreError};

/// A prefix of paths, and the keys that are there.
pub(super) struct Mount {
    pub(super) path: String,
    pub(super) tenant: String,
    pub(super) purpose: String,
}

/// A request of somebody who is known, under a mount.
pub(super) struct Call<'a> {
    pub(super) store: &'a Store,
    /// The policy of new keys.
    pub(super) template: &'a Policy,
    pub(super) mount: &'a Mount,
    pub(super) principal: &'a Principal,
    pub(super) query: Option<&'a str>,
    pub(super) body: &'a [u8],
    /// Whether nobody waits for the answer any more.
    pub(super) is_gone: &'a (dyn Fn() -> bool + Sync),
    /// Whether there is room for an answer of so many bytes.
    pub(super) room: &'a (dyn Fn(usize) -> bool + Sync),
}

/// What an item of an answer takes at most besides what it is about.
pub(super) const ITEM_LEN: usize = 512;

/// What a version of a key takes in an answer at most, with what is read of it for that: its key in PEM, twice, and its row.
pub(super) fn version_len(algorithm: AnyAlgorithm) -> usize {
    match algorithm {
        AnyAlgorithm::Classical(_) => 4 * 1024,
        _ => 16 * 1024,
    }
}

/// How long bytes are in base64.
pub(super) fn base64_len(bytes: usize) -> usize {
    bytes.div_ceil(3).saturating_mul(4)
}

impl Call<'_> {
    /// The key that the mount has under a name.
    pub(super) fn name(&self, name: &str) -> Result<KeyName, Refusal> {
        KeyName::new(&self.mount.tenant, &self.mount.purpose, name)
            .map_err(|error| Refusal::bad(error.to_string()))
    }

    /// Checks a name that a body repeats. Vault's paths have it, and some clients send it again.
    pub(super) fn check_named(
        &self,
        name: &KeyName,
        named: &Option<Text<'_>>,
    ) -> Result<(), Refusal> {
        let named = named.as_ref().map(Text::as_str);
        match named.is_some_and(|named| !["", name.name()].contains(&named)) {
            true => Err(Refusal::bad("name is another one than the path's")),
            false => Ok(()),
        }
    }

    /// Ends what takes long if nobody waits for it.
    pub(super) fn check_client(&self) -> Result<(), Refusal> {
        match (self.is_gone)() {
            true => Err(Refusal::gone()),
            false => Ok(()),
        }
    }

    /// Waits for room for an answer that takes this many bytes of memory.
    pub(super) fn reserve(&self, len: usize) -> Result<(), Refusal> {
        if (self.room)(len) {
            return Ok(());
        }
        self.check_client()?;
        Err(Refusal::new(
            503,
            "there is no room for the answer now; try again",
        ))
    }

    /// The same for a batch, each of whose items takes so many, some of which repeat parts of the body.
    pub(super) fn reserve_batch(
        &self,
        items: usize,
        item_len: usize,
        repeats: bool,
    ) -> Result<(), Refusal> {
        // Once as they are, and once in the answer.
        let repeated = if repeats { 2 * self.body.len() } else { 0 };
        let items = items.saturating_mul(item_len.saturating_add(ITEM_LEN));
        self.reserve(items.saturating_add(repeated))
    }

    /// Checks the right to something before anything else is looked at.
    pub(super) fn require(&self, verb: Verb, name: &KeyName) -> Result<(), Refusal> {
        match self.store.algorithm(self.principal, verb, name) {
            // That there is no such key is told by what wanted to use it.
            Ok(_) | Err(StoreError::NotFound(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
