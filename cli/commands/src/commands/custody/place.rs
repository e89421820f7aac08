//! Options that commands on a key store share: where it is (`--store` or `PQTLS_STORE`), who asks (`--as` or
//! `PQTLS_STORE_AS`), and what it is sealed under.

use alloc::sync::Arc;
use core::convert::Infallible;
use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use pq_keystore::policy::Principal;
use pq_keystore::storage::{PostgresStorage, RedbStorage, Storage, StorageError};
use pq_keystore::{KeyId, KeyName, Store, StoreError, StoreOptions};

use super::custodian::Custodian;
use super::door::{DoorAddress, DoorOptions};
use super::kek::KekOptions;
use super::key_name::{KeyLabel, KeyVersion};
use super::opened::Opened;
use crate::commands::servers::DatabaseAddress;
use crate::failure::{DoorFailure, Failure, StoreFailure};
use crate::files::Source;
use crate::report;
use crate::shell;

/// A place of a store.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::commands) enum StorePlace {
    /// A file, for one process at a time.
    File(PathBuf),
    /// A database, for several.
    Postgres(DatabaseAddress),
    /// A server, which has it open.
    Door(DoorAddress),
}

impl FromStr for StorePlace {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let database = || DatabaseAddress::in_text(text).map(Self::Postgres);
        let address = database().or_else(|| DoorAddress::in_text(text).map(Self::Door));
        Ok(address.unwrap_or_else(|| Self::File(text.into())))
    }
}

impl fmt::Display for StorePlace {
    /// An address has no password once it was [opened](Self::open).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Postgres(address) => address.fmt(f),
            Self::Door(address) => address.fmt(f),
        }
    }
}

impl StorePlace {
    /// Where a store is unless a command line says it.
    fn by_default() -> Self {
        match env::var_os("PQTLS_STORE").filter(|place| !place.is_empty()) {
            Some(place) => match place.to_str().map(str::parse) {
                Some(Ok(place)) => place,
                None => Self::File(place.into()),
            },
            None => Self::File("keys.redb".into()),
        }
    }

    /// The file, if it is one.
    pub(in crate::commands) fn file(&self) -> Option<Source> {
        match self {
            Self::File(path) => Some(Source::File(path.clone())),
            Self::Postgres(_) | Self::Door(_) => None,
        }
    }

    /// The same place, whatever the folder of the process.
    pub(in crate::commands) fn absolute(self) -> io::Result<Self> {
        Ok(match self {
            Self::File(path) => Self::File(std::path::absolute(path)?),
            Self::Postgres(address) => Self::Postgres(address.with_absolute_files()?),
            Self::Door(address) => Self::Door(address),
        })
    }

    /// Whether two names are of one place.
    pub(in crate::commands) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(other)) => {
                one == other
                    || one
                        .canonicalize()
                        .is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
            }
            _ => self.to_string() == other.to_string(),
        }
    }

    /// What is there; a database gets its tables, if it has none.
    pub(in crate::commands) fn open(&self) -> Result<Arc<dyn Storage>, Failure> {
        Ok(match self {
            Self::File(path) => Arc::new(open_file(path)?),
            Self::Postgres(address) => {
                let options = address.options().map_err(StoreFailure::from)?;
                Arc::new(PostgresStorage::open(options).map_err(StoreError::Storage)?)
            }
            Self::Door(address) => return Err(address.needs_store()),
        })
    }
}

/// Opens a store's file once no other process has it open.
fn open_file(path: &Path) -> Result<RedbStorage, StoreError> {
    once_free(|| RedbStorage::open(path))
}

/// Opens a file once no other process has it open: most have for a moment only.
pub(in crate::commands) fn once_free(
    open: impl Fn() -> Result<RedbStorage, StorageError>,
) -> Result<RedbStorage, StoreError> {
    const MOST: Duration = Duration::from_secs(10);
    const SILENTLY: Duration = Duration::from_secs(1);
    const EVERY: Duration = Duration::from_millis(50);
    let begun = Instant::now();
    let mut has_said = false;
    loop {
        match open() {
            Err(StorageError::InUse { storage }) if begun.elapsed() < MOST => {
                if begun.elapsed() >= SILENTLY && !has_said {
                    report::say(format_args!(
                        "waiting for another process that uses {storage}"
                    ));
                    has_said = true;
                }
                thread::sleep(EVERY);
            }
            opened => return opened.map_err(StoreError::Storage),
        }
    }
}

/// Where the store is.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::commands) struct Location {
    /// The store: a file, or the address of a PostgreSQL database, which begins with postgres://, or of a "pqtls store serve", as
    /// https://HOST:PORT/v1/MOUNT; docs/keys.md explains both [default: the environment variable PQTLS_STORE, or else keys.redb]
    #[arg(long, value_name = "STORE", display_order = 800)]
    store: Option<StorePlace>,
}

impl Location {
    /// Where it is.
    pub(in crate::commands) fn place(&self) -> StorePlace {
        self.store.clone().unwrap_or_else(StorePlace::by_default)
    }

    /// Where it is, if it is to be opened here and not behind a door.
    pub(in crate::commands) fn place_here(&self) -> Result<StorePlace, Failure> {
        match self.place() {
            StorePlace::Door(address) => Err(address.needs_store()),
            place => Ok(place),
        }
    }

    /// What is there. A file is opened by this process alone.
    pub(in crate::commands) fn storage(&self) -> Result<Arc<dyn Storage>, Failure> {
        self.place().open()
    }
}

/// Where the store is, who asks, and what it is sealed under.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::commands) struct Place {
    #[command(flatten)]
    pub(in crate::commands) location: Location,

    #[command(flatten)]
    pub(in crate::commands) access: Access,
}

/// Who asks, and what the store is sealed under.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::commands) struct Access {
    /// Who you are, for policies and the audit log [default: the environment variable PQTLS_STORE_AS, or else operator]
    #[arg(long = "as", value_name = "NAME", display_order = 801)]
    principal: Option<Principal>,

    #[command(flatten)]
    pub(in crate::commands) kek: KekOptions,

    #[command(flatten)]
    door: DoorOptions,

    #[arg(skip)]
    open: OpenStores,
}

/// The stores that a command uses, by their places: a file can't be opened twice.
#[derive(Clone, Default)]
struct OpenStores(Arc<Mutex<Vec<(StorePlace, Custodian)>>>);

impl OpenStores {
    /// Each change of the list is one step, so a panic leaves it whole.
    fn list(&self) -> MutexGuard<'_, Vec<(StorePlace, Custodian)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for OpenStores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.list();
        f.debug_list()
            .entries(open.iter().map(|(place, _)| place))
            .finish()
    }
}

impl Place {
    /// The store, which has to be one that is opened here.
    pub(in crate::commands) fn open(&self) -> Result<Opened, Failure> {
        let place = self.location.place_here()?;
        match self.access.custodian_at(&place)? {
            Custodian::Here(opened) => Ok(opened),
            Custodian::Door(door) => Err(door.address().needs_store()),
        }
    }

    /// The store, which has to be one that is opened here, and what the key is called there. A name for a store behind a door is
    /// told of only where the store is none.
    pub(in crate::commands) fn open_for<'a>(
        &self,
        key: &'a KeyLabel,
    ) -> Result<(Opened, &'a KeyName), Failure> {
        self.location.place_here()?;
        let name = key.in_store()?;
        Ok((self.open()?, name))
    }

    /// The same for one version of a key.
    pub(in crate::commands) fn open_for_version(
        &self,
        version: &KeyVersion,
    ) -> Result<(Opened, KeyId), Failure> {
        let (opened, name) = self.open_for(&version.key)?;
        Ok((opened, name.at(version.version)))
    }

    /// The store, wherever it is.
    pub(in crate::commands) fn custodian(&self) -> Result<Custodian, Failure> {
        self.access.custodian_at(&self.location.place())
    }
}

impl Access {
    pub(in crate::commands) fn principal(&self) -> Result<Principal, Failure> {
        if let Some(principal) = &self.principal {
            return Ok(principal.clone());
        }
        let named = env::var_os("PQTLS_STORE_AS").filter(|name| !name.is_empty());
        let name = named.map(|name| name.to_string_lossy().into_owned());
        let principal = Principal::new(name.as_deref().unwrap_or("operator"));
        Ok(principal.map_err(StoreFailure::Principal)?)
    }

    /// The store at a place, which is opened unless this command has it open.
    pub(in crate::commands) fn custodian_at(
        &self,
        place: &StorePlace,
    ) -> Result<Custodian, Failure> {
        if !place.is(&StorePlace::by_default()) {
            shell::uses_store(&place.to_string());
        }
        let known = self
            .open
            .list()
            .iter()
            .find(|(other, _)| other.is(place))
            .cloned();
        if let Some((_, custodian)) = known {
            return Ok(custodian);
        }
        let custodian = match place {
            StorePlace::Door(_) if self.principal.is_some() => return Err(DoorFailure::As.into()),
            StorePlace::Door(address) => Custodian::Door(self.door.at(address)?),
            StorePlace::File(_) | StorePlace::Postgres(_) => {
                // Before a passphrase is asked for
                self.principal()?;
                Custodian::Here(self.open_in(place.open()?)?)
            }
        };
        self.open.list().push((place.clone(), custodian.clone()));
        Ok(custodian)
    }

    /// Opens the store in a storage.
    pub(in crate::commands) fn open_in(
        &self,
        storage: Arc<dyn Storage>,
    ) -> Result<Opened, Failure> {
        let place = format!("the store in {}", storage.description());
        self.open_named(storage, &place)
    }

    /// The same, of which a person knows the storage by another name.
    pub(in crate::commands) fn open_named(
        &self,
        storage: Arc<dyn Storage>,
        place: &str,
    ) -> Result<Opened, Failure> {
        let principal = self.principal()?;
        let kek = self.kek.kek(place)?;
        let options = self.kek.token.add_to(StoreOptions::default())?;
        let store = Store::open(storage, &*kek, options).map_err(StoreFailure::not_opened)?;
        Ok(Opened { store, principal })
    }
}
