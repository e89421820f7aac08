//! The command `pqtls store init`.

use alloc::sync::Arc;
use core::fmt;
use std::fs;

use pq_keystore::storage::{RedbStorage, Storage};
use pq_keystore::{Store, StoreError, StoreOptions};
use serde::Serialize;

use crate::commands::custody::{Place, StorePlace};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files;
use crate::report::{self, Report, fingerprint, hex};

/// Make a key store
///
/// It is one file, which only its owner can read, or a schema of a PostgreSQL database, which several machines share: see
/// "A store that several machines share" in docs/keys.md. Private keys in it are sealed under a key of the store, which is sealed
/// under your passphrase, under 32 random bytes in a file (--kek-file) or a credential of systemd (--kek-credential), under
/// an AES key in a token (--kek-pkcs11), which is made there if it has none of this label, or under a key of a transit engine of
/// Vault or OpenBao (--kek-transit https://HOST:PORT/v1/MOUNT/keys/NAME), which has to be there.
/// Whoever loses what the store is sealed under loses all keys in it.
///
/// Who makes the store, by default "operator", gets the right to make and manage keys and to say who may do what; to use a
/// key takes a grant of its own.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ (umask 077; head -c 32 /dev/urandom > kek)
  $ pqtls store init --kek-file kek";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let place = &arguments.place;
    let at = place.location.place_here()?;
    if let StorePlace::File(path) = &at {
        files::check_new(path)?;
    }
    let operator = place.access.principal()?;
    let kek = place.access.kek.of_new()?;
    let storage: Arc<dyn Storage> = match &at {
        StorePlace::File(path) => Arc::new(RedbStorage::create(path).map_err(StoreError::Storage)?),
        StorePlace::Postgres(_) | StorePlace::Door(_) => at.open()?,
    };
    let made = Store::create(storage, &*kek, &operator, StoreOptions::default());
    let store = made.inspect_err(|_| {
        if let StorePlace::File(path) = &at {
            // It has nothing yet, and was made here. What went wrong is told.
            let _ = fs::remove_file(path);
        }
    })?;
    let report = StoreMade {
        store: at.to_string(),
        id: hex(&store.id()),
        operator: operator.to_string(),
        sealed_under: kek.kind(),
        fingerprint: fingerprint(store.public_key().to_spki_der()),
    };
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct StoreMade {
    store: String,
    id: String,
    operator: String,
    sealed_under: &'static str,
    fingerprint: String,
}

impl Report for StoreMade {
    const SCHEMA: &'static str = "store-init/1";
}

impl fmt::Display for StoreMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: key store of {}", self.store, self.operator)?;
        writeln!(f, "  sealed under  {}", self.sealed_under)?;
        writeln!(f, "  fingerprint   {}", self.fingerprint)
    }
}
