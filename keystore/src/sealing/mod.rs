//! How rows are protected: a key of the store, from which all others are derived, is wrapped by the operator's key, the
//! [`Kek`].
//!
//! * Each row has a MAC over its key and all that it says, so that none can be changed or moved to another place.
//! * Each entry of the log has a MAC over itself and the hash of the entry before, under a key of its own.
//! * A private key is encrypted by XChaCha20-Poly1305 with a random nonce, bound to the store, the name, the version, the
//!   algorithm, the public key, and whether it may be exported. States and policies stand in the row of the key, whose MAC
//!   covers them; so changing them encrypts nothing anew.
//! * The operator's key encrypts nothing but the store's key. Exchanging it rewrites one row.

// This room uses `encoding`.

mod cipher;
mod file;
mod kek;
mod passphrase;
mod sealer;

#[cfg(feature = "door")]
pub(crate) use self::cipher::{open, seal};
pub use self::file::{CredentialKek, KeyFileKek};
pub(crate) use self::kek::KekRecord;
pub use self::kek::{Kek, KekError, KekForm, KekServerProblem, WrappedKey};
pub use self::passphrase::{Argon2Cost, PassphraseKek};
#[cfg(feature = "remote")]
pub(crate) use self::sealer::check_value;
pub(crate) use self::sealer::{Bound, Sealer, new_store_key};

/// The length of the store's key and of those that wrap it, in bytes.
pub const KEY_LEN: usize = 32;
