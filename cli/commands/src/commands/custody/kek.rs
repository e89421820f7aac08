//! What the store is sealed under: a passphrase, a file, a credential of systemd or a key in a token.

use std::path::PathBuf;

use pq_keystore::StoreError;
use pq_keystore::custody::Pkcs11Kek;
use pq_keystore::sealing::{CredentialKek, Kek, KekError, KeyFileKek, PassphraseKek};

use super::token::TokenOptions;
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
        conflicts_with_all = ["kek_credential", "kek_pkcs11", "StorePassphraseOptions"]
    )]
    kek_file: Option<PathBuf>,

    /// A credential of systemd that the store is sealed under, of 32 bytes
    #[arg(
        long,
        value_name = "NAME",
        display_order = 803,
        conflicts_with_all = ["kek_pkcs11", "StorePassphraseOptions"]
    )]
    kek_credential: Option<String>,

    /// The label of an AES key in the token that the store is sealed under
    #[arg(
        long,
        value_name = "LABEL",
        display_order = 804,
        conflicts_with = "StorePassphraseOptions"
    )]
    kek_pkcs11: Option<String>,

    #[command(flatten)]
    pub(in crate::commands) token: TokenOptions,

    #[command(flatten)]
    passphrase: StorePassphraseOptions,
}

impl KekOptions {
    /// The key of a store that is there.
    pub(in crate::commands) fn kek(&self, store: &str) -> Result<Box<dyn Kek>, Failure> {
        if let Some(label) = &self.kek_pkcs11 {
            let (_, options) = self.token.needed()?;
            let kek = Pkcs11Kek::open(options, label).map_err(StoreError::Kek)?;
            return Ok(Box::new(kek));
        }
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
        if let Some(label) = &self.kek_pkcs11 {
            return new_in_token(&self.token, label);
        }
        match self.named().map_err(of_new)? {
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
        conflicts_with_all = ["new_kek_credential", "new_kek_pkcs11", "NewStorePassphraseOptions"]
    )]
    new_kek_file: Option<PathBuf>,

    /// A credential of systemd to seal the store under, of 32 bytes
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["new_kek_pkcs11", "NewStorePassphraseOptions"]
    )]
    new_kek_credential: Option<String>,

    /// The label of an AES key in the token to seal the store under, which is made if there is none
    #[arg(
        long,
        value_name = "LABEL",
        conflicts_with = "NewStorePassphraseOptions"
    )]
    new_kek_pkcs11: Option<String>,

    #[command(flatten)]
    passphrase: NewStorePassphraseOptions,
}

impl NewKekOptions {
    pub(in crate::commands) fn kek(&self, token: &TokenOptions) -> Result<Box<dyn Kek>, Failure> {
        if let Some(label) = &self.new_kek_pkcs11 {
            return new_in_token(token, label);
        }
        let (file, credential) = (self.new_kek_file.as_ref(), self.new_kek_credential.as_ref());
        match from_files(file, credential).map_err(of_new)? {
            Some(kek) => Ok(kek),
            None => Ok(Box::new(PassphraseKek::new(&self.passphrase.of_new()?))),
        }
    }
}

/// Only where a new key is to be made, to make one is the advice.
fn of_new(failure: Failure) -> Failure {
    match failure {
        Failure::Store(failure) => match *failure {
            StoreFailure::Store(StoreError::Kek(error @ KekError::Length { .. })) => {
                StoreFailure::NewKek(error).into()
            }
            other => other.into(),
        },
        other => other,
    }
}

/// A key in the token, which is made if there is none.
fn new_in_token(token: &TokenOptions, label: &str) -> Result<Box<dyn Kek>, Failure> {
    let (_, options) = token.needed()?;
    let kek = Pkcs11Kek::open_or_create(options, label).map_err(StoreError::Kek)?;
    Ok(Box::new(kek))
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
