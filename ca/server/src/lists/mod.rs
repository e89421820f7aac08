//! Revocation lists: made when they are due, in files that processes of one machine share, and published once.

// This room uses `algorithms`, `clock`, `http` and `keys`.

mod keeper;

pub use self::keeper::{ListError, ListSettings};
pub(crate) use self::keeper::{Lists, Published, of_key};
