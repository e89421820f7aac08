//! Where private keys are: sealed in the rows of the store, or in a token, which they never leave.
//!
//! A [`Token`] is any place that makes keys, keeps them, and uses them for others: `Pkcs11Token` (feature `pkcs11`) is a
//! hardware module, or a program that behaves like one, behind PKCS#11. A store is given its tokens by name, with
//! [`StoreOptions::token`](crate::StoreOptions::token); the record of a version names the token, its serial number
//! and the object in it.
//!
//! An object has an [identifier](ObjectId) that begins with the number of the store, so that one that no version refers to is
//! found: it was made for a version that was never committed, or its version was destroyed while the token was away.
//! [`Store::check`](crate::Store::check) names them, and [`Store::remove_orphans`](crate::Store::remove_orphans) removes them.

// This room uses `sealing`, `policy`, `name` and `encoding`.

pub mod answers;
mod error;
mod object;
#[cfg(feature = "pkcs11")]
mod pkcs11;
mod token;

pub use self::error::TokenError;
pub use self::object::{InvalidTokenName, ObjectId, TokenName, TokenSerial};
#[cfg(feature = "pkcs11")]
pub use self::pkcs11::{Pin, Pkcs11Kek, Pkcs11Options, Pkcs11Token};
pub use self::token::{Token, TokenInput};
