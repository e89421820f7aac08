//! Reads files whole: only regular ones, and not beyond a limit.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use zeroize::Zeroizing;

use super::FileTraits;

/// What is in a file. It may be a key, so it is wiped.
#[derive(Debug)]
pub struct WholeFile {
    /// All its bytes.
    pub content: Zeroizing<Vec<u8>>,
    /// What the system said of it before it was read.
    pub metadata: Metadata,
}

impl WholeFile {
    /// Reads a file of at most `limit` bytes. No pipe, device or directory is read, and none is waited for: it might
    /// never end, and whoever watches files would see no change of any.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if it can't be read, is no regular file or has more bytes.
    pub fn read(path: &Path, limit: u64) -> Result<Self, ReadError> {
        // Opening a device may have effects, so the path is checked before. The open file is checked as
        // well, because this is what is read.
        check(&path.metadata().map_err(ReadError::File)?, limit)?;
        let file = open(path).map_err(ReadError::File)?;
        let metadata = file.metadata().map_err(ReadError::File)?;
        check(&metadata, limit)?;

        // With room for one byte more than is read, the buffer never moves, which would leave a key behind.
        let mut content = Zeroizing::new(Vec::with_capacity(metadata.len() as usize + 1));
        let mut file = file.take(metadata.len());
        file.read_to_end(&mut content).map_err(ReadError::File)?;
        Ok(Self { content, metadata })
    }

    /// What the system said of it before it was read.
    pub fn traits(&self) -> FileTraits {
        FileTraits::of(&self.metadata)
    }
}

/// Why a file isn't read. As with [`IdentityError`](crate::identity::IdentityError), the text contains that of the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The system can't read it.
    #[error("the file can't be read: {0}")]
    File(io::Error),
    /// It is a directory, a pipe, a device or the like.
    #[error("it isn't a regular file, and only regular files are read; write its content into one")]
    NoRegularFile,
    /// It has more bytes than anything of its kind.
    #[error("it has {len} bytes, and at most {limit} are read")]
    TooLarge {
        /// Its length, in bytes.
        len: u64,
        /// What is accepted, in bytes.
        limit: u64,
    },
}

fn check(metadata: &Metadata, limit: u64) -> Result<(), ReadError> {
    if !metadata.is_file() {
        return Err(ReadError::NoRegularFile);
    }
    match metadata.len() {
        len if len > limit => Err(ReadError::TooLarge { len, limit }),
        _ => Ok(()),
    }
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
