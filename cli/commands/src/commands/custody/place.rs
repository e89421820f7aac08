//! Options that commands of this group share: where the store is (`--store` or `PQTLS_STORE`), who asks (`--as` or
//! `PQTLS_STORE_AS`), and what it is sealed under.

use alloc::sync::Arc;
use std::env;
use std::path::PathBuf;

use pq_keystore::policy::Principal;
use pq_keystore::storage::{RedbStorage, Storage};
use pq_keystore::{Store, StoreError, StoreOptions};

use super::kek::KekOptions;
use crate::failure::{Failure, StoreFailure};

/// Where the store is.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Location {
    /// The store's file [default: the environment variable PQTLS_STORE, or else keys.redb]
    #[arg(long, value_name = "FILE", display_order = 800)]
    store: Option<PathBuf>,
}

impl Location {
    /// The store's file.
    pub(super) fn path(&self) -> Result<PathBuf, Failure> {
        let from_environment = || env::var_os("PQTLS_STORE").filter(|file| !file.is_empty());
        let path = self
            .store
            .clone()
            .or_else(|| from_environment().map(PathBuf::from))
            .unwrap_or_else(|| "keys.redb".into());
        let text = path.to_string_lossy();
        let is_address = ["postgres://", "postgresql://"]
            .iter()
            .any(|scheme| text.starts_with(scheme));
        match is_address {
            // It may have a password in it, so it is not shown.
            true => Err(StoreFailure::NoPostgres.into()),
            false => Ok(path),
        }
    }

    /// The file, opened by this process alone.
    pub(super) fn storage(&self) -> Result<RedbStorage, Failure> {
        Ok(RedbStorage::open(&self.path()?).map_err(StoreError::Storage)?)
    }
}

/// Where the store is, who asks, and what it is sealed under.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Place {
    #[command(flatten)]
    pub(super) location: Location,

    /// Who you are, for policies and the audit log [default: the environment variable PQTLS_STORE_AS, or else operator]
    #[arg(long = "as", value_name = "NAME", display_order = 801)]
    principal: Option<Principal>,

    #[command(flatten)]
    pub(super) kek: KekOptions,
}

/// A store, and who asks.
pub(super) struct Opened {
    pub(super) store: Store,
    pub(super) principal: Principal,
}

impl Place {
    pub(super) fn principal(&self) -> Result<Principal, Failure> {
        if let Some(principal) = &self.principal {
            return Ok(principal.clone());
        }
        let named = env::var_os("PQTLS_STORE_AS").filter(|name| !name.is_empty());
        let name = named.map(|name| name.to_string_lossy().into_owned());
        let principal = Principal::new(name.as_deref().unwrap_or("operator"));
        Ok(principal.map_err(StoreFailure::Principal)?)
    }

    pub(super) fn open(&self) -> Result<Opened, Failure> {
        let principal = self.principal()?;
        self.open_in(Arc::new(self.location.storage()?), principal)
    }

    /// Opens the store in a storage.
    pub(super) fn open_in(
        &self,
        storage: Arc<dyn Storage>,
        principal: Principal,
    ) -> Result<Opened, Failure> {
        let kek = self
            .kek
            .kek(&format!("the store in {}", storage.description()))?;
        let store = Store::open(storage, &*kek, StoreOptions::default())?;
        Ok(Opened { store, principal })
    }
}
