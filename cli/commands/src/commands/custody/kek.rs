//! What the store is sealed under: a passphrase, a file, a credential of systemd, a key in a token, or one of Vault or OpenBao.

use std::path::PathBuf;

use pq_keystore::StoreError;
use pq_keystore::custody::Pkcs11Kek;
use pq_keystore::sealing::{CredentialKek, Kek, KekError, KeyFileKek, PassphraseKek};

use super::token::TokenOptions;
use super::transit::TransitKey;
use crate::commands::servers::variable;
use crate::failure::{Failure, StoreFailure};
use crate::files::Source;
use crate::passphrases::{NewStorePassphraseOptions, PassphraseError, StorePassphraseOptions};
use crate::report;

/// What names it if no option does.
const VARIABLE: &str = "PQTLS_STORE_KEK";

/// What the store is sealed under.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::commands) struct KekOptions {
    /// A file of 32 bytes that the store is sealed under, which only its owner may read [default: the environment
    /// variable PQTLS_STORE_KEK]
    #[arg(
        long,
        value_name = "FILE",
        display_order = 802,
        conflicts_with_all = ["kek_credential", "kek_pkcs11", "kek_transit", "StorePassphraseOptions"]
    )]
    kek_file: Option<PathBuf>,

    /// A credential of systemd that the store is sealed under, of 32 bytes
    #[arg(
        long,
        value_name = "NAME",
        display_order = 803,
        conflicts_with_all = ["kek_pkcs11", "kek_transit", "StorePassphraseOptions"]
    )]
    kek_credential: Option<String>,

    /// The label of an AES key in the token that the store is sealed under
    #[arg(
        long,
        value_name = "LABEL",
        display_order = 804,
        conflicts_with_all = ["kek_transit", "StorePassphraseOptions"]
    )]
    kek_pkcs11: Option<String>,

    /// The address of a key of Vault or OpenBao that the store is sealed under, as docs/keys.md explains it [default: the
    /// environment variable PQTLS_STORE_KEK, if it has one]
    #[arg(
        long,
        value_name = "ADDRESS",
        display_order = 805,
        conflicts_with = "StorePassphraseOptions"
    )]
    kek_transit: Option<TransitKey>,

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
        warn_if_open(self.passphrase.file());
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
        warn_if_open(self.passphrase.file());
        match self.named().map_err(of_new)? {
            Some(kek) => Ok(kek),
            None => match self.passphrase.of_new() {
                Ok(passphrase) => Ok(Box::new(PassphraseKek::new(&passphrase))),
                Err(PassphraseError::NeededToWrite { .. }) => Err(StoreFailure::NoNewKek.into()),
                Err(error) => Err(error.into()),
            },
        }
    }

    /// The key in a file or of a server, if one is named.
    fn named(&self) -> Result<Option<Box<dyn Kek>>, Failure> {
        if let Some(kek) = from_files(self.kek_file.as_ref(), self.kek_credential.as_ref())? {
            return Ok(Some(kek));
        }
        if let Some(key) = self.transit() {
            return in_transit(&key).map(Some);
        }
        match variable(VARIABLE).filter(|_| !self.passphrase.is_given()) {
            Some(file) => from_files(Some(&file), None),
            None => Ok(None),
        }
    }

    /// The key of a server, if one is named and nothing else is.
    fn transit(&self) -> Option<TransitKey> {
        let is_other = self.kek_file.is_some()
            || self.kek_credential.is_some()
            || self.kek_pkcs11.is_some()
            || self.passphrase.is_given();
        match &self.kek_transit {
            Some(key) => Some(key.clone()),
            None if is_other => None,
            None => TransitKey::in_variable(VARIABLE),
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
        conflicts_with_all = ["new_kek_credential", "new_kek_pkcs11", "new_kek_transit", "NewStorePassphraseOptions"]
    )]
    new_kek_file: Option<PathBuf>,

    /// A credential of systemd to seal the store under, of 32 bytes
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["new_kek_pkcs11", "new_kek_transit", "NewStorePassphraseOptions"]
    )]
    new_kek_credential: Option<String>,

    /// The label of an AES key in the token to seal the store under, which is made if there is none
    #[arg(
        long,
        value_name = "LABEL",
        conflicts_with_all = ["new_kek_transit", "NewStorePassphraseOptions"]
    )]
    new_kek_pkcs11: Option<String>,

    /// The address of a key of Vault or OpenBao to seal the store under, as docs/keys.md explains it
    #[arg(
        long,
        value_name = "ADDRESS",
        conflicts_with = "NewStorePassphraseOptions"
    )]
    new_kek_transit: Option<TransitKey>,

    #[command(flatten)]
    passphrase: NewStorePassphraseOptions,
}

impl NewKekOptions {
    /// The key that takes the place of this one.
    pub(in crate::commands) fn kek(&self, before: &KekOptions) -> Result<Box<dyn Kek>, Failure> {
        if let Some(label) = &self.new_kek_pkcs11 {
            return new_in_token(&before.token, label);
        }
        if let Some(key) = &self.new_kek_transit {
            if let Some(before) = before.transit() {
                before.check_beside(key).map_err(StoreFailure::from)?;
            }
            return in_transit(key);
        }
        let (file, credential) = (self.new_kek_file.as_ref(), self.new_kek_credential.as_ref());
        warn_if_open(self.passphrase.file());
        match from_files(file, credential).map_err(of_new)? {
            Some(kek) => Ok(kek),
            None => Ok(Box::new(PassphraseKek::new(&self.passphrase.of_new()?))),
        }
    }
}

/// No refusal, as of other secrets in files: there are scripts that give such a file.
fn warn_if_open(file: Option<&Source>) {
    if let Some(file) = file.filter(|file| file.is_open_to_others()) {
        report::warn(format_args!(
            "others may read {file}, which has the passphrase of the store; permit it to its owner alone (chmod 600)"
        ));
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

fn in_transit(key: &TransitKey) -> Result<Box<dyn Kek>, Failure> {
    Ok(Box::new(key.kek().map_err(StoreFailure::from)?))
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
