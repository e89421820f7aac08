//! The content of a pair of files, and of the OCSP response beside it.

use core::hash::BuildHasher;
use std::fs::{File, Metadata};
use std::hash::RandomState;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use pq_keys::encoding::pem;
use zeroize::Zeroizing;

use crate::identity::IdentityError;
use crate::watching::FileTraits;

/// The content of a pair of files.
pub(super) struct Content {
    pub(super) chain: Zeroizing<Vec<u8>>,
    pub(super) key: Zeroizing<Vec<u8>>,
    /// What the system said of them before they were read.
    pub(super) traits: [FileTraits; 2],
    /// The mode of the file with the key, if everybody can read it, or others than its owner can
    /// write it.
    pub(super) exposed_by: Option<u32>,
}

impl Content {
    pub(super) fn read(chain: &Path, key: &Path) -> Result<Self, IdentityError> {
        let (chain, of_chain) = read(chain)?;
        let (key, of_key) = read(key)?;
        Ok(Self {
            chain,
            key,
            traits: [&of_chain, &of_key].map(FileTraits::of),
            exposed_by: exposure(&of_key),
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
            Ok((file, metadata)) => Ok(Self {
                der: Some(der_in(file)?),
                traits: Some(FileTraits::of(&metadata)),
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

fn read(path: &Path) -> Result<(Zeroizing<Vec<u8>>, Metadata), IdentityError> {
    let failed = |error| IdentityError::File {
        path: path.into(),
        error,
    };
    // Opening a device may have effects, so the path is checked before. The open file is checked as
    // well, because this is what is read.
    check(path, &path.metadata().map_err(failed)?)?;
    let file = open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    check(path, &metadata)?;

    // With room for one byte more than is read, the buffer never moves, which would leave a key behind.
    let mut content = Zeroizing::new(Vec::with_capacity(metadata.len() as usize + 1));
    let mut file = file.take(metadata.len());
    file.read_to_end(&mut content).map_err(failed)?;
    Ok((content, metadata))
}

fn check(path: &Path, metadata: &Metadata) -> Result<(), IdentityError> {
    if !metadata.is_file() {
        return Err(IdentityError::NoRegularFile { path: path.into() });
    }
    if metadata.len() > LIMIT {
        return Err(IdentityError::FileTooLarge {
            path: path.into(),
            len: metadata.len(),
            limit: LIMIT,
        });
    }
    Ok(())
}

/// Opens a file without blocking, in case it is a pipe by now.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
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
