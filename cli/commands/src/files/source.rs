//! Reads a whole file or standard input, up to a limit and into memory that is wiped. Here is why an input can't be
//! read, too.

use alloc::boxed::Box;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use zeroize::Zeroizing;

use super::private;

/// A file to read, or standard input, which is written `-`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Source {
    StandardInput,
    File(PathBuf),
}

impl Source {
    /// All there is to read, at most `limit` bytes, in a buffer that is wiped, since it may be a
    /// private key.
    pub(crate) fn read(&self, limit: usize) -> Result<Zeroizing<Vec<u8>>, InputError> {
        match self.read_message(limit)? {
            None => Err(InputError::TooLarge {
                file: self.to_string(),
                limit,
            }),
            Some(bytes) if bytes.is_empty() => Err(InputError::Empty(self.to_string())),
            Some(bytes) => Ok(bytes),
        }
    }

    /// The same for a file that may be empty, or too large: then this is `None`.
    pub(crate) fn read_message(
        &self,
        limit: usize,
    ) -> Result<Option<Zeroizing<Vec<u8>>>, InputError> {
        let bytes = read_all(self.open()?, limit);
        bytes.map_err(|error| self.unreadable(error))
    }

    /// The same for a file that may be larger, up to `most` bytes, if it begins with the right `limit` bytes; `None` if it
    /// is too large.
    pub(crate) fn read_further(
        &self,
        limit: usize,
        most: usize,
        goes_on: impl FnOnce(&[u8]) -> bool,
    ) -> Result<Option<Zeroizing<Vec<u8>>>, InputError> {
        let mut goes_on = Some(goes_on);
        // A file that goes on is read into one buffer of its size.
        let room = move |read: usize| match self {
            Self::File(path) if read > limit => {
                let len = path.metadata().map_or(0, |about| about.len());
                usize::try_from(len).unwrap_or(most).min(most)
            }
            _ => 0,
        };
        let bytes = read_while(self.open()?, room, |bytes| match bytes.len() {
            len if len <= limit => true,
            len => len <= most && goes_on.take().is_none_or(|goes_on| goes_on(bytes)),
        });
        match bytes.map_err(|error| self.unreadable(error))? {
            Some(bytes) if bytes.is_empty() => Err(InputError::Empty(self.to_string())),
            bytes => Ok(bytes),
        }
    }

    /// Whether it is a file that others than its owner may read.
    pub(crate) fn is_open_to_others(&self) -> bool {
        let metadata = match self {
            Self::StandardInput => return false,
            Self::File(path) => path.metadata(),
        };
        metadata.is_ok_and(|metadata| metadata.is_file() && !private::is_private(&metadata))
    }

    /// Opens it for reading. Standard input can be opened only once.
    pub(crate) fn open(&self) -> Result<Box<dyn Read + Send>, InputError> {
        match self {
            Self::StandardInput => {
                if STANDARD_INPUT_IS_READ.swap(true, Ordering::Relaxed) {
                    return Err(InputError::StandardInputTwice);
                }
                Ok(Box::new(io::stdin()))
            }
            Self::File(path) => match File::open(path) {
                Ok(file) => Ok(Box::new(file)),
                Err(error) => Err(self.unreadable(error)),
            },
        }
    }

    pub(super) fn unreadable(&self, error: io::Error) -> InputError {
        if let Self::File(path) = self
            && error.kind() == io::ErrorKind::NotFound
            && path.as_os_str().as_encoded_bytes().starts_with(b"store:")
        {
            return InputError::InStore(path.display().to_string());
        }
        if let Self::File(path) = self
            && is_like_token(&path.to_string_lossy())
        {
            return InputError::TokenForFile;
        }
        InputError::Read {
            file: self.to_string(),
            error,
        }
    }
}

impl From<OsString> for Source {
    fn from(argument: OsString) -> Self {
        match argument == "-" {
            true => Self::StandardInput,
            false => Self::File(argument.into()),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StandardInput => f.write_str("standard input"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// Whether a text is like a token (RFC 7515 section 7.1, RFC 7516 section 7.1): whoever has it may use it, so that no message
/// repeats it.
fn is_like_token(text: &str) -> bool {
    let is_base64url = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    text.starts_with("eyJ")
        && text.matches('.').count() >= 2
        && text.split('.').all(|part| part.bytes().all(is_base64url))
}

/// If `-` were read for two files, the second would be empty.
static STANDARD_INPUT_IS_READ: AtomicBool = AtomicBool::new(false);

/// `None` if there is more than the limit.
fn read_all(from: impl Read, limit: usize) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    read_while(from, |_| 0, |bytes| bytes.len() <= limit)
}

/// Reads as long as `goes_on` says of what was read that it may, and returns `None` if it may not. `room` says, of the
/// number of bytes that were read, how many there may be.
fn read_while(
    mut from: impl Read,
    room: impl Fn(usize) -> usize,
    mut goes_on: impl FnMut(&[u8]) -> bool,
) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    // Most files leave enough room, so that it doesn't have to grow.
    let mut bytes = Zeroizing::new(vec![0; 2 * CHUNK]);
    let mut len = 0;
    loop {
        if bytes.len() - len < CHUNK {
            // A vector that grows by itself leaves a copy of its contents behind.
            let known = room(len) + 2 * CHUNK;
            let len_of_larger = match known > bytes.len() + CHUNK {
                true => known,
                false => 2 * bytes.len() + CHUNK,
            };
            let mut larger = Zeroizing::new(vec![0; len_of_larger]);
            larger[..len].copy_from_slice(&bytes[..len]);
            bytes = larger;
        }
        match from.read(&mut bytes[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if !goes_on(&bytes[..len]) {
            return Ok(None);
        }
    }
    bytes.truncate(len);
    Ok(Some(bytes))
}

/// The size of standard input's buffer: reads of that size or more bypass the buffer, which nobody wipes.
const CHUNK: usize = 16 * 1024;

/// Why nothing could be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InputError {
    #[error("can't read {file}: {error}; {}", advice(.error))]
    Read { file: String, error: io::Error },
    #[error("{file} is larger than {limit} bytes, more than such a file has; is it the right one?")]
    TooLarge { file: String, limit: usize },
    #[error("{0} is empty; check that the program that wrote it succeeded")]
    Empty(String),
    #[error(
        "a token was given in the place of a file's name; write it to a file that only you can read, or to standard input, \
         and name that: on a command line, other users can read it"
    )]
    TokenForFile,
    #[error(
        "{0} is a key in a key store, and this takes a file: \"pqtls store public\" writes its public key to one, and to decrypt \
         with it there is \"pqtls store decaps\"; a file of this name is ./{0}"
    )]
    InStore(String),
    #[error("standard input can be read once; name a file in place of one of the \"-\"")]
    StandardInputTwice,
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "check the name",
        io::ErrorKind::PermissionDenied => "ask its owner for it, or run this as its owner",
        io::ErrorKind::IsADirectory => "name a file in it",
        _ => "try again, or copy it elsewhere first",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_read_up_to_the_limit() {
        for len in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK] {
            let bytes: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let read = |limit| read_all(&bytes[..], limit).unwrap();
            assert_eq!(read(len).unwrap().as_slice(), bytes);
            assert!(len == 0 || read(len - 1).is_none());
        }
    }
}
