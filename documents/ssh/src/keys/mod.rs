//! Public keys: their bytes, their names, and the lines that contain them.

// This room uses `encoding`.

mod authorized;
mod error;
mod name;
mod options;
mod public_key;

pub use authorized::AuthorizedKey;
pub use error::KeyError;
pub use name::KeyName;
pub(crate) use options::{Options, begins_with_key, split_options, unquoted};
pub use public_key::PublicKey;
pub(crate) use public_key::{ALGORITHM, read_name};
