//! Certificates of peers, checked by revocation lists: which lists count, and which of two is newer.
//!
//! [`RevocationFiles`] reads lists from files, and a [`Revocation`] checks servers' chains by them. [`RevocableClients`]
//! checks clients' chains, and takes changed files over without a new start.

// This room uses `lines`, and in tests `provider`.

mod clients;
mod error;
mod known_keys;
mod lists;
mod newest_lists;
#[cfg(test)]
mod tests;
mod watched_file;

pub use clients::{ListWatcher, ListsInUse, RevocableClients};
pub use error::RevocationError;
pub use lists::{Revocation, RevocationFiles};
