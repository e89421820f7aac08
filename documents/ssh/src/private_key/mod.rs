//! Private keys in files, with or without a passphrase (OpenSSH's PROTOCOL.key).

// This room uses `encoding` and `keys`.

mod cipher;
mod error;
mod file;
mod key;
mod passphrase;

pub use error::PrivateKeyError;
pub use key::PrivateKey;
pub use passphrase::Passphrase;
