//! Signatures of files (OpenSSH's PROTOCOL.sshsig), and lists of allowed signers.

// This room uses `encoding`, `keys` and `private_key`.

mod allowed;
mod error;
mod message;
mod pattern;
mod signature;
mod time;

pub use allowed::AllowedSigners;
pub use error::{AllowedSignersError, LineError, NotAllowed, SignatureError};
pub use message::{HashAlgorithm, HashedMessage, MessageHasher};
pub use signature::Signature;
