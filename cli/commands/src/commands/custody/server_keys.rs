//! The key of a TLS server: in a file beside its certificate, or in a key store.

use alloc::sync::Arc;
use core::error::Error;
use std::path::{Path, PathBuf};

use pq_keys::Signer;
use pq_keys::pki_types::SubjectPublicKeyInfoDer;
use pq_keystore::{KeyName, StoredSigner, Version};
use rustls_pq::identity::{FilePair, SignerSource};
use rustls_pq::sign::{BoundedSigner, Bounds};

use super::key_name::KeyOrVersion;
use super::key_source::{KeySource, PREFIX};
use super::opened::Opened;
use crate::failure::{Failure, StoreFailure};
use crate::files::Source;

impl KeySource {
    /// The certificate chain in a file, with this key.
    pub(in crate::commands) fn with_chain(
        &self,
        chain: &Path,
        opened: &Opened,
    ) -> Result<FilePair, Failure> {
        Ok(match self {
            Self::File(Source::File(key)) => FilePair::new(chain, key),
            // Servers read their keys again.
            Self::File(Source::StandardInput) => FilePair::new(chain, PathBuf::from("-")),
            Self::Store(name) => {
                let key: KeyOrVersion = name.parse().map_err(StoreFailure::KeyName)?;
                let keys = ServerKeys {
                    opened: opened.clone(),
                    name: key.name.in_store()?.clone(),
                    version: key.version,
                };
                FilePair::with_signers(chain, keys)
            }
        })
    }
}

/// A key in a store: the version that a certificate is for, or one version.
struct ServerKeys {
    opened: Opened,
    name: KeyName,
    version: Option<Version>,
}

impl SignerSource for ServerKeys {
    fn signer(
        &self,
        spki: &SubjectPublicKeyInfoDer<'_>,
    ) -> Result<Arc<dyn Signer>, Box<dyn Error + Send + Sync>> {
        let Opened { store, principal } = &self.opened;
        let signer = match self.version {
            Some(version) => StoredSigner::at(store, principal, &self.name.at(version)),
            None => StoredSigner::with_public_key(store, principal, &self.name, spki),
        };
        let signer = signer.map_err(StoreFailure::Store)?;
        Ok(Arc::new(BoundedSigner::new(
            Arc::new(signer),
            Bounds::default(),
        )?))
    }

    fn description(&self) -> String {
        match self.version {
            Some(version) => format!("{PREFIX}{}", self.name.at(version)),
            None => format!("{PREFIX}{}", self.name),
        }
    }
}
