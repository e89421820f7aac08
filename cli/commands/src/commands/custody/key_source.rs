//! What `--key` names for a command that signs: a file, or a key in a store.

use core::fmt;
use std::ffi::OsString;

use pq_keys::Signer;
use pq_keys::VerifyingKey;

use super::key_name::KeyOrVersion;
use super::place::{Access, Location, Place};
use super::signer::{AnySigner, KeyInStore};
use crate::documents;
use crate::failure::{Failure, StoreFailure};
use crate::files::Source;
use crate::passphrases::PassphraseOptions;

/// How the name of a key in a store begins. A file whose name does is `./store:…`.
pub(super) const PREFIX: &str = "store:";

/// A private key that signs.
#[derive(Clone, Debug)]
pub(in crate::commands) enum KeySource {
    File(Source),
    /// The name, after `store:`.
    Store(String),
}

impl KeySource {
    /// The file, if it is in one.
    pub(in crate::commands) fn file(&self) -> Option<Source> {
        match self {
            Self::File(file) => Some(file.clone()),
            Self::Store(_) => None,
        }
    }
}

impl From<OsString> for KeySource {
    fn from(argument: OsString) -> Self {
        match argument.to_str().and_then(|text| text.strip_prefix(PREFIX)) {
            Some(name) => Self::Store(name.into()),
            None => Self::File(argument.into()),
        }
    }
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(source) => source.fmt(f),
            Self::Store(name) => write!(f, "{PREFIX}{name}"),
        }
    }
}

/// The key store of a key that signs, if it is in one.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::commands) struct SignerStore {
    #[command(flatten)]
    place: Place,
}

impl SignerStore {
    /// A store whose place and access are options of their own.
    pub(in crate::commands) fn at(location: Location, access: Access) -> Self {
        Self {
            place: Place { location, access },
        }
    }

    /// The key, of any algorithm that signs.
    pub(in crate::commands) fn signer(
        &self,
        key: &KeySource,
        passphrase: &PassphraseOptions,
    ) -> Result<AnySigner, Failure> {
        Ok(match key {
            KeySource::File(file) => AnySigner::File(documents::signing_key(file, passphrase)?),
            KeySource::Store(name) => AnySigner::Stored(self.key(name)?),
        })
    }

    /// The key, which has to be a post-quantum one, and its public key.
    pub(in crate::commands) fn post_quantum_signer(
        &self,
        key: &KeySource,
        passphrase: &PassphraseOptions,
    ) -> Result<(Box<dyn Signer>, VerifyingKey), Failure> {
        Ok(match key {
            KeySource::File(file) => {
                let key = documents::post_quantum_signing_key(file, passphrase)?;
                let public = key.verifying_key().clone();
                (Box::new(key), public)
            }
            KeySource::Store(name) => {
                let key = self.key(name)?;
                let public = key.verifying_key()?;
                (Box::new(AnySigner::Stored(key)), public)
            }
        })
    }

    /// A key in the store: its newest version that signs, or one version.
    pub(in crate::commands) fn key(&self, name: &str) -> Result<KeyInStore, Failure> {
        let named: KeyOrVersion = name.parse().map_err(StoreFailure::KeyName)?;
        self.place.custodian()?.signer(&named.name, named.version)
    }
}
