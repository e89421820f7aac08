//! The content of a pair of files, and of the OCSP response beside it.

use core::hash::BuildHasher;
use std::fs::Metadata;
use std::hash::RandomState;
use std::io::{self, ErrorKind};
use std::path::Path;

use pq_keys::encoding::pem;
use zeroize::Zeroizing;

use super::key_place::KeyPlace;
use crate::identity::IdentityError;
use crate::watching::{FileTraits, ReadError, WholeFile};

/// What the system says of a chain's file, and of that of its key if there is one.
pub(super) type PairTraits = (FileTraits, Option<FileTraits>);

/// What the system says of a pair now.
pub(super) fn traits_of_pair(chain: &Path, key: &KeyPlace) -> io::Result<PairTraits> {
    let key = key.file().map(FileTraits::look).transpose()?;
    Ok((FileTraits::look(chain)?, key))
}

/// The content of a pair of files.
pub(super) struct Content {
    pub(super) chain: Zeroizing<Vec<u8>>,
    /// Empty if it is in no file.
    pub(super) key: Zeroizing<Vec<u8>>,
    /// What the system said of them before they were read.
    pub(super) traits: PairTraits,
    /// The mode of the file with the key, if everybody can read it, or others than its owner can
    /// write it.
    pub(super) exposed_by: Option<u32>,
}

impl Content {
    pub(super) fn read(chain: &Path, key: &KeyPlace) -> Result<Self, IdentityError> {
        let (chain, key) = (read(chain)?, key.file().map(read).transpose()?);
        Ok(Self {
            traits: (chain.traits(), key.as_ref().map(WholeFile::traits)),
            exposed_by: key.as_ref().and_then(|key| exposure(&key.metadata)),
            chain: chain.content,
            key: key.map(|key| key.content).unwrap_or_default(),
        })
    }

    /// The hash is keyed, and says nothing about the private key.
    pub(super) fn stamp(&self, hasher: &RandomState) -> u64 {
        hasher.hash_one((&*self.chain, &*self.key))
    }
}

/// An OCSP response in a file, if there is such a file.
pub(super) struct Response {
    pub(super) der: Option<Zeroizing<Vec<u8>>>,
    /// What the system said of it before it was read.
    pub(super) traits: Option<FileTraits>,
}

impl Response {
    pub(super) fn read(path: &Path) -> Result<Self, IdentityError> {
        match read(path) {
            Ok(file) => Ok(Self {
                traits: Some(file.traits()),
                der: Some(der_in(file.content)?),
            }),
            Err(IdentityError::File { error, .. }) if error.kind() == ErrorKind::NotFound => {
                Ok(Self {
                    der: None,
                    traits: None,
                })
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn stamp(&self, hasher: &RandomState) -> u64 {
        hasher.hash_one(self.der.as_deref())
    }
}

/// The response in a file. In PEM, it has the label that OpenSSL gives it.
fn der_in(file: Zeroizing<Vec<u8>>) -> Result<Zeroizing<Vec<u8>>, IdentityError> {
    match pem::is_in(&file) {
        true => pem::decode_first(&*file, "OCSP RESPONSE").map_err(IdentityError::OcspPem),
        false => Ok(file),
    }
}

/// More than the PEM text of any chain that a handshake can carry, and little enough to read.
const LIMIT: u64 = 1 << 20;

fn read(path: &Path) -> Result<WholeFile, IdentityError> {
    WholeFile::read(path, LIMIT).map_err(|error| match error {
        ReadError::File(error) => IdentityError::File {
            path: path.into(),
            error,
        },
        ReadError::NoRegularFile => IdentityError::NoRegularFile { path: path.into() },
        ReadError::TooLarge { len, limit } => IdentityError::FileTooLarge {
            path: path.into(),
            len,
            limit,
        },
    })
}

#[cfg(unix)]
fn exposure(metadata: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;

    let mode = metadata.permissions().mode() & 0o777;
    // A group that can read it is often the service's own: `ssl-cert`, or that of a container.
    (mode & 0o026 != 0).then_some(mode)
}

/// On other systems modes say nothing.
#[cfg(not(unix))]
fn exposure(_: &Metadata) -> Option<u32> {
    None
}
