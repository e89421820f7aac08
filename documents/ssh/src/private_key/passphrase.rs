//! Derives keys from passphrases by bcrypt, as OpenSSH does. It limits the rounds of bcrypt that a file can ask for.

use core::fmt;

use bcrypt_pbkdf::bcrypt_pbkdf_with_memory;
use zeroize::Zeroizing;

use super::cipher::{Cipher, MAX_KEY_AND_IV};
use super::error::PrivateKeyError;

/// A passphrase, and limits for the work that it takes.
///
/// OpenSSH derives keys with bcrypt (`bcrypt_pbkdf`) and encrypts with AES-256 in counter mode, or with another cipher that
/// `ssh-keygen -Z` names: AES with shorter keys, AES-GCM and ChaCha20-Poly1305 are read, too. Each round of bcrypt takes
/// some milliseconds.
pub struct Passphrase<'p> {
    bytes: &'p [u8],
    rounds: u32,
    accepted_rounds: u32,
}

impl<'p> Passphrase<'p> {
    /// The number of rounds in new files by default, as in OpenSSH.
    pub const DEFAULT_ROUNDS: u32 = 24;

    /// The number of rounds that are accepted in a file by default: some seconds of work.
    pub const DEFAULT_ACCEPTED_ROUNDS: u32 = 512;

    /// A passphrase of any bytes: OpenSSH hashes them as they come from the terminal.
    pub fn new(bytes: &'p [u8]) -> Self {
        Self {
            bytes,
            rounds: Self::DEFAULT_ROUNDS,
            accepted_rounds: Self::DEFAULT_ACCEPTED_ROUNDS,
        }
    }

    /// Writes files with this many rounds, as `ssh-keygen -a` does.
    #[must_use]
    pub fn rounds(self, rounds: u32) -> Self {
        Self { rounds, ..self }
    }

    /// Reads files that have up to this many rounds.
    #[must_use]
    pub fn accept_rounds(self, accepted_rounds: u32) -> Self {
        Self {
            accepted_rounds,
            ..self
        }
    }

    pub(super) fn rounds_to_write(&self) -> u32 {
        self.rounds
    }

    pub(super) fn check_rounds(&self, rounds: u32) -> Result<(), PrivateKeyError> {
        match rounds > self.accepted_rounds {
            true => Err(PrivateKeyError::TooManyRounds {
                rounds,
                limit: self.accepted_rounds,
            }),
            false => Ok(()),
        }
    }

    /// Key and IV of a cipher.
    pub(super) fn derive(
        &self,
        cipher: Cipher,
        salt: &[u8],
        rounds: u32,
    ) -> Result<Zeroizing<Vec<u8>>, PrivateKeyError> {
        let len = cipher.key_and_iv().iter().sum();
        let mut derived = Zeroizing::new(vec![0; len]);
        let mut memory = Zeroizing::new([0; MAX_KEY_AND_IV]);
        let memory = &mut memory[..len.next_multiple_of(HASH_LEN)];
        // It refuses only an empty passphrase, an empty salt and zero rounds.
        bcrypt_pbkdf_with_memory(self.bytes, salt, rounds, &mut derived, memory)
            .map_err(|_| PrivateKeyError::EmptyPassphrase)?;
        Ok(derived)
    }
}

impl fmt::Debug for Passphrase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passphrase")
            .field("rounds", &self.rounds)
            .field("accepted_rounds", &self.accepted_rounds)
            .finish_non_exhaustive()
    }
}

/// The output length of one bcrypt hash.
const HASH_LEN: usize = 32;
