//! Which token it is, and how it is used.

use core::fmt;
use core::time::Duration;
use std::path::{Path, PathBuf};

use pq_keys::files::{credential_file, read_private_line};
use zeroize::Zeroizing;

use crate::custody::TokenError;

/// The most bytes of a PIN.
const MAX_PIN_LEN: usize = 256;

/// The PIN of a token's user. It is wiped when it is dropped, and never printed.
#[derive(Clone)]
pub struct Pin(Zeroizing<String>);

impl Pin {
    /// This PIN.
    pub fn new(pin: &str) -> Self {
        Self(Zeroizing::new(pin.into()))
    }

    /// The PIN in a file, which nobody but its owner may read. One end of line after it is no part of it.
    ///
    /// # Errors
    ///
    /// [`TokenError::PinSource`] if it can't be read, is empty, has more than 256 bytes, or is no text.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let read = read_private_line(path, "a PIN", MAX_PIN_LEN);
        read.map(Self)
            .map_err(|error| TokenError::PinSource(format!("{}: {error}", path.display())))
    }

    /// The PIN in a credential of systemd (`LoadCredential=`, `LoadCredentialEncrypted=`): a file in the folder that
    /// `$CREDENTIALS_DIRECTORY` names.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and if the variable isn't set or the name isn't one of a file.
    pub fn credential(name: &str) -> Result<Self, TokenError> {
        let file = credential_file(std::env::var_os("CREDENTIALS_DIRECTORY"), name);
        Self::read(&file.map_err(|reason| TokenError::PinSource(reason.into()))?)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pin")
    }
}

/// Which token it is, and how it is used. By default there are at most eight sessions, and whoever finds all of them in use
/// waits five seconds for one.
#[derive(Clone, Debug)]
pub struct Pkcs11Options {
    pub(super) module: PathBuf,
    pub(super) label: String,
    pub(super) serial: Option<String>,
    pub(super) pin: Option<Pin>,
    pub(super) sessions: usize,
    pub(super) wait: Duration,
}

impl Pkcs11Options {
    /// The token with this label (`CKA_LABEL` as `C_GetTokenInfo` gives it, without trailing spaces), behind a module, which is
    /// a library that is loaded into this process. Whoever writes that file runs code in this process.
    pub fn new(module: impl Into<PathBuf>, label: impl Into<String>) -> Self {
        Self {
            module: module.into(),
            label: label.into(),
            serial: None,
            pin: None,
            sessions: 8,
            wait: Duration::from_secs(5),
        }
    }

    /// Its serial number, where several tokens have one label.
    pub fn serial(self, serial: impl Into<String>) -> Self {
        Self {
            serial: Some(serial.into()),
            ..self
        }
    }

    /// The PIN of its user. Without it, the token is taken to ask for it itself, or to want none.
    pub fn pin(self, pin: Pin) -> Self {
        Self {
            pin: Some(pin),
            ..self
        }
    }

    /// How many sessions there are at most, 1 to 1,024: as many calls go on at once. Each reads and writes.
    pub fn sessions(self, sessions: usize) -> Self {
        Self {
            sessions: sessions.clamp(1, 1024),
            ..self
        }
    }

    /// How long to wait for a session while all are in use.
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }
}
