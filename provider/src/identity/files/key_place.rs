//! Where the key of a chain in a file is.

use alloc::sync::Arc;
use core::error::Error;
use core::fmt;
use std::path::{Path, PathBuf};

use pq_x509::keys::Signer;
use rustls::pki_types::SubjectPublicKeyInfoDer;

/// Gives the signers for chains whose private keys are elsewhere, such as versions of a key in a key store: see
/// [`FilePair::with_signers`](super::FilePair::with_signers).
pub trait SignerSource: Send + Sync {
    /// The signer with this public key, which is that of a chain's leaf. One that may be slow, hang or fail should be
    /// within bounds: [`BoundedSigner`](crate::sign::BoundedSigner).
    ///
    /// The thread that watches the files calls this, and watches nothing while it waits.
    ///
    /// # Errors
    ///
    /// Why there is none, with what to do.
    fn signer(
        &self,
        spki: &SubjectPublicKeyInfoDer<'_>,
    ) -> Result<Arc<dyn Signer>, Box<dyn Error + Send + Sync>>;

    /// What errors and the log call the key.
    fn description(&self) -> String;
}

/// Where the private key of a chain is.
#[derive(Clone)]
pub(super) enum KeyPlace {
    File(PathBuf),
    Signers(Arc<dyn SignerSource>),
}

impl KeyPlace {
    /// The file, if it is in one.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Signers(_) => None,
        }
    }
}

impl fmt::Display for KeyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Signers(source) => source.description().fmt(f),
        }
    }
}

impl fmt::Debug for KeyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
