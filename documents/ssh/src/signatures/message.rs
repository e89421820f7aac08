//! Messages of any length are hashed before they are signed: the hash functions that SSHSIG permits, and a hasher for
//! pieces.

use core::fmt;
use std::io;

use pq_core::ml_dsa::{PreHash, PreHasher};

/// How a message is hashed before it is signed.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum HashAlgorithm {
    /// SHA-256
    Sha256,
    /// SHA-512, OpenSSH's default.
    #[default]
    Sha512,
}

impl HashAlgorithm {
    /// Both algorithms.
    pub const ALL: &'static [Self] = &[Self::Sha256, Self::Sha512];

    /// The name in signatures, such as `sha512`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
        }
    }

    pub(super) fn read(name: &[u8]) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|known| known.as_str().as_bytes() == name)
    }
}

impl fmt::Display for HashAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Hashes a message that comes in pieces.
#[derive(Debug)]
pub struct MessageHasher {
    algorithm: HashAlgorithm,
    hasher: PreHasher,
}

impl MessageHasher {
    /// Begins a message.
    pub fn new(algorithm: HashAlgorithm) -> Self {
        let hash = match algorithm {
            HashAlgorithm::Sha256 => PreHash::Sha256,
            HashAlgorithm::Sha512 => PreHash::Sha512,
        };
        Self {
            algorithm,
            hasher: hash.hasher(),
        }
    }

    /// Adds the next bytes of the message. Large pieces are faster.
    pub fn update(&mut self, message: &[u8]) {
        self.hasher.update(message);
    }

    /// Ends the message.
    pub fn finish(self) -> HashedMessage {
        HashedMessage {
            algorithm: self.algorithm,
            digest: self.hasher.finish().as_bytes().to_vec(),
        }
    }
}

/// The hash of a message that is to be signed or verified.
///
/// It is for signatures as OpenSSH has them; `pq_keys::signing::HashedMessage` is for bare signatures.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HashedMessage {
    algorithm: HashAlgorithm,
    digest: Vec<u8>,
}

impl HashedMessage {
    /// Reads a message of any length to its end, in constant memory.
    ///
    /// # Errors
    ///
    /// The error of the reader.
    pub fn read(algorithm: HashAlgorithm, mut message: impl io::Read) -> io::Result<Self> {
        let mut hasher = MessageHasher::new(algorithm);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match message.read(&mut buffer) {
                Ok(0) => return Ok(hasher.finish()),
                Ok(len) => hasher.update(&buffer[..len]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The hash function that was used.
    pub fn algorithm(&self) -> HashAlgorithm {
        self.algorithm
    }

    pub(super) fn digest(&self) -> &[u8] {
        &self.digest
    }
}
