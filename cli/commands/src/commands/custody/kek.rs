//! What the store is sealed under: a passphrase, a file or a credential of systemd.

use std::path::PathBuf;

use pq_keystore::StoreError;
use pq_keystore::sealing::{CredentialKek, Kek, KeyFileKek, PassphraseKek};

use crate::failure::{Failure, StoreFailure};
use crate::passphrases::{NewStorePassphraseOptions, PassphraseError, StorePassphraseOptions};

/// What the store is sealed under.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::commands) struct KekOptions {
    /// A file of 32 bytes that the store is sealed under, which only its owner may read [default: the environment
    /// variable PQTLS_STORE_KEK]
    #[arg(
        long,
        value_name = "FILE",
        display_order = 802,
        conflicts_with_all = ["kek_credential", "StorePassphraseOptions"]
    )]
    kek_file: Option<PathBuf>,

    /// A credential of systemd that the store is sealed under, of 32 bytes
    #[arg(
        long,
        value_name = "NAME",
        display_order = 803,
        conflicts_with = "StorePassphraseOptions"
    )]
    kek_credential: Option<String>,

    #[command(flatten)]
    passphrase: StorePassphraseOptions,
}

impl KekOptions {
    /// The key of a store that is there.
    pub(in crate::commands) fn kek(&self, store: &str) -> Result<Box<dyn Kek>, Failure> {
        if let Some(kek) = self.named()? {
            return Ok(kek);
        }
        match self.passphrase.of(store) {
            Ok(passphrase) => Ok(Box::new(PassphraseKek::new(&passphrase))),
            Err(PassphraseError::NeededToRead { .. }) => {
                Err(StoreFailure::NoKek(store.into()).into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The key of a new store.
    pub(in crate::commands) fn of_new(&self) -> Result<Box<dyn Kek>, Failure> {
        match self.named()? {
            Some(kek) => Ok(kek),
            None => Ok(Box::new(PassphraseKek::new(&self.passphrase.of_new()?))),
        }
    }

    /// The key in a file, if one is named.
    fn named(&self) -> Result<Option<Box<dyn Kek>>, Failure> {
        if let Some(kek) = from_files(self.kek_file.as_ref(), self.kek_credential.as_ref())? {
            return Ok(Some(kek));
        }
        let file = std::env::var_os("PQTLS_STORE_KEK").filter(|file| !file.is_empty());
        match file.filter(|_| !self.passphrase.is_given()) {
            Some(file) => from_files(Some(&file.into()), None),
            None => Ok(None),
        }
    }
}

/// What the store is to be sealed under.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::commands) struct NewKekOptions {
    /// A file of 32 bytes to seal the store under, which only its owner may read
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["new_kek_credential", "NewStorePassphraseOptions"]
    )]
    new_kek_file: Option<PathBuf>,

    /// A credential of systemd to seal the store under, of 32 bytes
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "NewStorePassphraseOptions"
    )]
    new_kek_credential: Option<String>,

    #[command(flatten)]
    passphrase: NewStorePassphraseOptions,
}

impl NewKekOptions {
    pub(in crate::commands) fn kek(&self) -> Result<Box<dyn Kek>, Failure> {
        let (file, credential) = (self.new_kek_file.as_ref(), self.new_kek_credential.as_ref());
        match from_files(file, credential)? {
            Some(kek) => Ok(kek),
            None => Ok(Box::new(PassphraseKek::new(&self.passphrase.of_new()?))),
        }
    }
}

fn from_files(
    file: Option<&PathBuf>,
    credential: Option<&String>,
) -> Result<Option<Box<dyn Kek>>, Failure> {
    Ok(match (file, credential) {
        (Some(file), _) => Some(Box::new(KeyFileKek::read(file).map_err(StoreError::Kek)?)),
        (None, Some(name)) => Some(Box::new(
            CredentialKek::read(name).map_err(StoreError::Kek)?,
        )),
        (None, None) => None,
    })
}
