//! A certificate with its key, in one file: both are replaced at once.

use alloc::sync::Arc;
use std::fs;
use std::io;
use std::path::Path;

use pq_acme::client::lacking_name;
use pq_acme::identifier::Identifier;
use pq_keys::files::{Access, Draft, FileError, folder_of, read_private, write_over};
use pq_x509::certificate::Certificate;
use rustls::crypto::CryptoProvider;
use rustls_pq::identity::{Identity, IdentityError};
use zeroize::Zeroizing;

use super::error::SourceError;

/// The most bytes of a file: chains of SLH-DSA have some hundreds of kilobytes.
const LIMIT: usize = 4 << 20;

/// A certificate that can be served.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) identity: Arc<Identity>,
    pub(super) leaf: Certificate,
}

/// Why a file has no certificate that can be served.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unfit {
    #[error("it can't be read: {0}")]
    Read(io::Error),
    #[error("{0}")]
    Identity(#[from] IdentityError),
    #[error("its certificate can't be read: {0}")]
    Certificate(pq_x509::certificate::CertificateError),
    #[error("it is not for {0}")]
    LacksName(Identifier),
}

/// Makes the folder, for its owner alone, and finds out whether it can be written to.
pub(super) fn make_folder(folder: &Path) -> Result<(), SourceError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(folder)
        .map_err(|error| SourceError::Folder {
            folder: folder.into(),
            error,
        })?;
    check_place_of(&folder.join("certificate"))
}

/// Whether a file can be written to its folder.
pub(super) fn check_place_of(file: &Path) -> Result<(), SourceError> {
    match Draft::beside(file, Access::Private) {
        Ok(_) => Ok(()),
        Err(error) => Err(SourceError::Folder {
            folder: folder_of(file).into(),
            error: error.into(),
        }),
    }
}

impl Kept {
    /// A key and its chain, in one text of PEM.
    pub(super) fn parse(text: &[u8], provider: &CryptoProvider) -> Result<Self, Unfit> {
        let identity = Arc::new(Identity::from_pem(text, text, provider)?);
        let leaf = identity
            .chain()
            .first()
            .ok_or(IdentityError::NoCertificate)?;
        let leaf = Certificate::from_der(leaf).map_err(Unfit::Certificate)?;
        Ok(Self { identity, leaf })
    }

    /// What is in a file, if there is one. It has to be for these names.
    pub(super) fn read(
        file: &Path,
        names: &[Identifier],
        provider: &CryptoProvider,
    ) -> Result<Option<Self>, Unfit> {
        let text = match read_private(file, LIMIT) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Unfit::Read(error)),
        };
        let kept = Self::parse(&text, provider)?;
        match lacking_name(&kept.leaf, names) {
            Some(name) => Err(Unfit::LacksName(name.clone())),
            None => Ok(Some(kept)),
        }
    }
}

/// A key and its chain as the text of a file.
pub(super) fn text(key: &str, chain: &[Certificate]) -> Zeroizing<String> {
    Zeroizing::new([key, &Certificate::chain_to_pem(chain)].concat())
}

/// Writes that text, for the owner alone.
pub(super) fn write(file: &Path, text: &str) -> Result<(), FileError> {
    write_over(file, text.as_bytes(), Access::Private)
}
